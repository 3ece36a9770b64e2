/* SPDX-License-Identifier: GPL-2.0-or-later */
/* org.softnetd1(5) and the polkit actions against what the object itself says. */
#include "lib/bus-fixture.h"

/* The value of ATTRIBUTE of the XML element on this line, into BUF; "" when it has none. */
static const char *attribute(const char *line, const char *name, char *buf, size_t size)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), " %s=\"", name);
	at = strstr(line, key);
	buf[0] = '\0';
	if (at) {
		at += strlen(key);
		snprintf(buf, size, "%.*s", (int)strcspn(at, "\""), at);
	}
	return buf;
}

/* What the manual page says about the interface, made of sd-bus's XML: it has one element a line. */
static char *synopsis(char *xml)
{
	char member[2048] = "", name[64], type[32], direction[8], value[16];
	bool inside = false, args = false;
	char *text, *save = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	for (char *line = strtok_r(xml, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strstr(line, "<interface "))
			inside = strstr(line, "\"" MANAGER_INTERFACE "\"");
		if (!inside)
			continue;
		attribute(line, "name", name, sizeof(name));
		attribute(line, "type", type, sizeof(type));
		if (strstr(line, "<property ")) {
			ck_assert_str_eq(attribute(line, "access", value, sizeof(value)), "read");
			snprintf(member, sizeof(member), "readonly %s %s;", type, name);
		} else if (strstr(line, "EmitsChangedSignal")) {
			fprintf(f, "  @%s(\"%s\")\n", name,
				attribute(line, "value", value, sizeof(value)));
		} else if (strstr(line, "<method ") || strstr(line, "<signal ")) {
			snprintf(member, sizeof(member), "%s%s(",
				 strstr(line, "<signal ") ? "signal " : "", name);
			args = false;
		} else if (strstr(line, "<arg ")) {
			attribute(line, "direction", direction, sizeof(direction));
			append_text(member, sizeof(member), "%s%s%s%s %s", args ? ", " : "",
				    direction, *direction ? " " : "", type, name);
			args = true;
		}
		if (strstr(line, "</method>") || strstr(line, "</signal>"))
			append_text(member, sizeof(member), ");");
		if (strstr(line, "</property>") || strstr(line, "</method>") ||
		    strstr(line, "</signal>"))
			fprintf(f, "  %s\n", member);
	}
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static char *read_file(const char *path)
{
	_cleanup_(io_freep) struct io *here = NULL;
	char *text;
	size_t size;

	ck_assert_int_eq(io_new(".", &here), 0);
	ck_assert_msg(io_read_all(here, path, &text, &size) >= 0, "%s", path);
	return text;
}

static char *introspect(void)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_unrefp) sd_bus *bus = connect_client();
	const char *xml;

	ck_assert_int_ge(sd_bus_call_method(bus, NULL, MANAGER_PATH,
					    "org.freedesktop.DBus.Introspectable", "Introspect",
					    NULL, &reply, ""),
			 0);
	ck_assert_int_ge(sd_bus_message_read(reply, "s", &xml), 0);
	return strdup(xml);
}

/* Every member with its signature, none missing, none too many, in their order. */
START_TEST(test_man_page_has_the_interface)
{
	_cleanup_free_ char *xml = NULL, *want = NULL, *page = read_file("man/org.softnetd1.5");
	static const char begin[] = "interface " MANAGER_INTERFACE " {\n";
	char *from, *to;

	start(3);
	xml = introspect();
	want = synopsis(xml);
	stop();
	ck_assert_ptr_nonnull(strstr(want, "  SetSetting("));
	from = strstr(page, begin);
	ck_assert_ptr_nonnull(from);
	from += strlen(begin);
	to = strstr(from, "}\n");
	ck_assert_ptr_nonnull(to);
	*to = '\0';
	ck_assert_str_eq(from, want);
}
END_TEST

/* … and a paragraph of its own. */
START_TEST(test_man_page_explains_each_member)
{
	_cleanup_free_ char *xml = NULL, *page = read_file("man/org.softnetd1.5");
	char *save = NULL;
	bool inside = false;
	unsigned n = 0;

	start(3);
	xml = introspect();
	stop();
	for (char *line = strtok_r(xml, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char name[64], tag[96], second[96];

		if (strstr(line, "<interface "))
			inside = strstr(line, "\"" MANAGER_INTERFACE "\"");
		if (!inside || !(strstr(line, "<method ") || strstr(line, "<signal ") ||
				 strstr(line, "<property ")))
			continue;
		attribute(line, "name", name, sizeof(name));
		snprintf(tag, sizeof(tag), "\n.TP\n.B %s", name);
		snprintf(second, sizeof(second), "\\fR, \\fP%s\n", name);
		ck_assert_msg(strstr(page, tag) || strstr(page, second), "%s", name);
		n++;
	}
	ck_assert_uint_gt(n, 20);
}
END_TEST

START_TEST(test_man_page_has_the_errors)
{
	static const char *const errors[] = {
		MANAGER_ERROR_NOT_AUTHORIZED, MANAGER_ERROR_NO_SUCH_SETTING,
		MANAGER_ERROR_INVALID_VALUE,  MANAGER_ERROR_NO_SUCH_CHANGE,
		MANAGER_ERROR_NO_SUCH_HOLD,   MANAGER_ERROR_READ_ONLY,
		MANAGER_ERROR_CONFIGURATION,  MANAGER_ERROR_REFUSED,
	};
	_cleanup_free_ char *page = read_file("man/org.softnetd1.5");
	char tag[96];

	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		snprintf(tag, sizeof(tag), "\n.TP\n.B %s\n", errors[i]);
		ck_assert_msg(strstr(page, tag) != NULL, "%s", errors[i]);
	}
	snprintf(tag, sizeof(tag), "At most %d calls of one uid, and %d in all", QUESTIONS_PER_UID,
		 QUESTIONS_MAX);
	ck_assert_ptr_nonnull(strstr(page, tag));
}
END_TEST

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

/* The actions that are asked about are those that polkit is given, and all need an administrator. */
START_TEST(test_polkit_actions)
{
	_cleanup_free_ char *policy = read_file("config/org.softnetd1.policy"),
			    *page = read_file("man/org.softnetd1.5");

	for (unsigned i = 0; i < _ACTION_MAX; i++) {
		char action[96], escaped[96] = "";

		snprintf(action, sizeof(action), "<action id=\"%s\">", manager_action_name(i));
		ck_assert_msg(strstr(policy, action) != NULL, "%s", action);
		for (const char *c = manager_action_name(i); *c; c++)
			append_text(escaped, sizeof(escaped), "%s%c", *c == '-' ? "\\" : "", *c);
		ck_assert_msg(count(page, escaped) >= 2, "%s", escaped);
	}
	ck_assert_uint_eq(count(policy, "<action "), _ACTION_MAX);
	ck_assert_uint_eq(count(policy, ">auth_admin<"), 3 * _ACTION_MAX);
	ck_assert_uint_eq(count(policy, "<allow_"), 3 * _ACTION_MAX);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("introspection");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_man_page_has_the_interface);
	tcase_add_test(t, test_man_page_explains_each_member);
	tcase_add_test(t, test_man_page_has_the_errors);
	tcase_add_test(t, test_polkit_actions);
	return run_suite("introspection", t);
}
