/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .link files of udev: which count, and what they set. */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/run.h"
#include "lib/tree.h"
#include "observe/link-files.h"

static struct tree *tree;
static struct io *io;
static struct link_claims claims;

static void setup(void)
{
	tree = tree_new();
	ck_assert_int_eq(io_new(tree_path(tree), &io), 0);
}

static void teardown(void)
{
	link_claims_done(&claims);
	io_free(io);
	tree_free(tree);
}

static void look(void)
{
	ck_assert_int_eq(link_claims_read(io, &claims), 0);
}

static void expect(size_t i, const char *file, unsigned line, const char *key, const char *value)
{
	ck_assert_uint_gt(claims.n, i);
	ck_assert_str_eq(claims.claim[i].file, file);
	ck_assert_uint_eq(claims.claim[i].line, line);
	ck_assert_str_eq(claims.claim[i].key, key);
	ck_assert_str_eq(claims.claim[i].value, value);
}

START_TEST(no_files)
{
	look();
	ck_assert_uint_eq(claims.n, 0);
	ck_assert_uint_eq(claims.unread, 0);
}
END_TEST

/* Debian's own sets names and addresses only. */
START_TEST(default_file_claims_nothing)
{
	tree_write(
		tree, "usr/lib/systemd/network/99-default.link",
		"[Match]\nOriginalName=*\n\n[Link]\nNamePolicy=keep kernel database onboard slot path\n"
		"AlternativeNamesPolicy=database onboard slot path\nMACAddressPolicy=persistent\n");
	look();
	ck_assert_uint_eq(claims.n, 0);
}
END_TEST

START_TEST(what_is_claimed)
{
	tree_write(tree, "etc/systemd/network/10-lan.link",
		   "# fast\n[Match]\nDriver=ice\nRxChannels=9\n\n[Link]\n; interrupts\n"
		   " IRQAffinityPolicy = spread \nRxCoalesceSec=\\\n# between\n  20us\n"
		   "CombinedChannels=8\nReceivePacketSteeringCPUMask=0-3\nMTUBytes=9000\n"
		   "[SR-IOV]\nTxChannels=2\n");
	look();
	ck_assert_uint_eq(claims.n, 4);
	expect(0, "/etc/systemd/network/10-lan.link", 8, "IRQAffinityPolicy", "spread");
	ck_assert_str_eq(claims.claim[0].of, "interrupts");
	ck_assert_str_eq(claims.claim[0].setting, "irq_affinity");
	expect(1, "/etc/systemd/network/10-lan.link", 12, "CombinedChannels", "8");
	ck_assert_ptr_null(claims.claim[1].setting);
	expect(2, "/etc/systemd/network/10-lan.link", 13, "ReceivePacketSteeringCPUMask", "0-3");
	expect(3, "/etc/systemd/network/10-lan.link", 9, "RxCoalesceSec", "20us");
}
END_TEST

START_TEST(stronger_directories_and_drop_ins)
{
	tree_write(tree, "usr/lib/systemd/network/10-a.link", "[Link]\nRxChannels=1\n");
	tree_write(tree, "run/systemd/network/10-a.link", "[Link]\nRxChannels=2\nTxChannels=2\n");
	tree_write(tree, "usr/lib/systemd/network/10-a.link.d/50.conf", "[Link]\nTxChannels=3\n");
	tree_write(tree, "etc/systemd/network/10-a.link.d/50.conf", "[Link]\nRxChannels=\n");
	tree_write(tree, "usr/lib/systemd/network/10-a.link.d/60.conf",
		   "[Link]\nIRQAffinity=0-1\nIRQAffinity=2\n");
	tree_write(tree, "usr/lib/systemd/network/05-b.link", "[Link]\nRxChannels=5\n");
	tree_write(tree, "usr/lib/systemd/network/10-a.link.d/70.text", "[Link]\nRxChannels=7\n");
	look();
	ck_assert_uint_eq(claims.n, 3);
	expect(0, "/usr/lib/systemd/network/05-b.link", 2, "RxChannels", "5");
	expect(1, "/usr/lib/systemd/network/10-a.link.d/60.conf", 3, "IRQAffinity", "2");
	expect(2, "/run/systemd/network/10-a.link", 3, "TxChannels", "2");
}
END_TEST

START_TEST(masked_files)
{
	tree_write(tree, "usr/lib/systemd/network/10-a.link", "[Link]\nRxChannels=1\n");
	tree_write(tree, "usr/lib/systemd/network/20-b.link", "[Link]\nRxChannels=1\n");
	tree_write(tree, "usr/lib/systemd/network/20-b.link.d/x.conf", "[Link]\nRxChannels=3\n");
	tree_write(tree, "usr/lib/systemd/network/30-c.link", "[Link]\nRxChannels=1\n");
	tree_write(tree, "etc/systemd/network/10-a.link", "");
	tree_link(tree, "etc/systemd/network/20-b.link", "/dev/null");
	look();
	ck_assert_uint_eq(claims.n, 1);
	ck_assert_uint_eq(claims.unread, 0);
	expect(0, "/usr/lib/systemd/network/30-c.link", 2, "RxChannels", "1");
}
END_TEST

START_TEST(malformed_files)
{
	static const char *const texts[] = {
		"\n",
		"[",
		"[Link",
		"[Link]",
		"[Link]\n=",
		"[Link]\n= 3",
		"[Link]\nRxChannels",
		"RxChannels=1",
		"[Link]\n\\",
		"[Link]\nRxChannels=\\",
		"[Link]\n\\\n\\\n\\\n",
		"[link]\nRxChannels=1",
		"\\\n[Link]x\nRxChannels=1",
		"[Link]\nrxchannels=1",
		"\xff\xfe[\x01",
		"[Link]\n#RxChannels=1\n  ;RxChannels=2\n",
	};

	tree_write(tree, "etc/systemd/network/10-a.link", texts[_i]);
	look();
	ck_assert_uint_eq(claims.n, 0);
}
END_TEST

START_TEST(long_lines_are_cut)
{
	_cleanup_free_ char *text = malloc(300000);
	char path[PATH_MAX];
	size_t n;

	ck_assert_ptr_nonnull(text);
	n = (size_t)sprintf(text, "[Link]\nIRQAffinity=");
	memset(text + n, '1', 2000);
	strcpy(text + n + 2000, "\nRxChannels=2\n");
	tree_write(tree, "etc/systemd/network/10-a.link", text);
	/* More than any of them has: left alone, and said. */
	memset(text, '#', 200000);
	text[200000] = '\0';
	tree_write(tree, "etc/systemd/network/20-b.link", text);
	/* Would wait for a writer for ever. */
	snprintf(path, sizeof(path), "%s/etc/systemd/network/30-c.link", tree_path(tree));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	look();
	ck_assert_uint_eq(claims.n, 2);
	ck_assert_uint_eq(strlen(claims.claim[0].value), sizeof(claims.claim[0].value) - 1);
	expect(1, "/etc/systemd/network/10-a.link", 3, "RxChannels", "2");
	ck_assert_uint_eq(claims.unread, 2);
}
END_TEST

START_TEST(again_after_a_change)
{
	tree_write(tree, "etc/systemd/network/10-a.link", "[Link]\nRxChannels=1\n");
	look();
	ck_assert_uint_eq(claims.n, 1);
	tree_write(tree, "etc/systemd/network/10-a.link", "[Link]\nRxChannels=2\n");
	look();
	ck_assert_uint_eq(claims.n, 1);
	expect(0, "/etc/systemd/network/10-a.link", 2, "RxChannels", "2");
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, no_files);
	tcase_add_test(t, default_file_claims_nothing);
	tcase_add_test(t, what_is_claimed);
	tcase_add_test(t, stronger_directories_and_drop_ins);
	tcase_add_test(t, masked_files);
	tcase_add_loop_test(t, malformed_files, 0, 16);
	tcase_add_test(t, long_lines_are_cut);
	tcase_add_test(t, again_after_a_change);
	return run_suite("link-files", t);
}
