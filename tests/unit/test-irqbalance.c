/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What irqbalance answers on its socket, from a fake one; whose interrupts are placed then. */
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "lib/whole.h"
#include "observe/irqbalance.h"

#define SOCKET "run/irqbalance/irqbalance4000.sock"

static struct machine *m;
static struct engine *e;
static struct tree *config;
static struct complaints complaints;
static pid_t server;

static void boot_with(unsigned queues)
{
	struct machine_nic nic = {.name = "eth0", .kind = MACHINE_I40E, .queues = queues};

	m = machine_new(
		&(struct machine_spec){.cpus = 4, .nics = &nic, .n_nics = 1, .irqbalance = true});
	tree_mkdir(m->tree, "run/irqbalance");
}

static void boot(void)
{
	boot_with(2);
}

/* As sock_handle() of irqbalance 1.9.2: one request with credentials, one answer, closed. NULL: it hangs.
 */
static void serve_at(const char *name, const char *answer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", m->io.root,
		 name);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	server = fork();
	ck_assert_int_ge(server, 0);
	if (server > 0) {
		close(fd);
		return;
	}
	for (;;) {
		char text[500], control[CMSG_SPACE(sizeof(struct ucred))];
		struct iovec iov = {.iov_base = text, .iov_len = sizeof(text)};
		struct msghdr message = {.msg_iov = &iov,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};
		int connection = accept(fd, NULL, NULL);
		struct ucred who = {.uid = 12345};
		ssize_t n = recvmsg(connection, &message, 0);
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);

		if (header && header->cmsg_type == SCM_CREDENTIALS)
			memcpy(&who, CMSG_DATA(header), sizeof(who));
		while (!answer)
			pause();
		if (n == 5 && memcmp(text, "setup", 5) == 0 && who.uid == geteuid())
			(void)send(connection, answer, strlen(answer), MSG_NOSIGNAL);
		close(connection);
	}
}

static void serve(const char *answer)
{
	serve_at(SOCKET, answer);
}

static void end_server(void)
{
	if (server <= 0)
		return;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	server = 0;
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	end_server();
	if (m)
		machine_free(TAKE_PTR(m));
	if (config)
		tree_free(TAKE_PTR(config));
}

static int start(void)
{
	return whole_start(m, &config, "apply",
			   "nics = ( { match = \"eth*\"; placement = \"spread\"; } );\n",
			   &complaints, &e);
}

static unsigned irq_of(const char *name)
{
	return m->irq[machine_irq(m, name)].number;
}

START_TEST(parser)
{
	static const struct {
		const char *text;
		int error;
		unsigned n, last;
	} rows[] = {
		{"SLEEP 10 BANNED 00000000", 0, 0, 0},
		{"SLEEP 10 IRQ 30 LOAD 0 DIFF 0 CLASS 5 BANNED 00000000,00000001", 0, 1, 30},
		{"SLEEP 10 IRQ 30 LOAD 7 DIFF 2 CLASS 5 IRQ 0 LOAD 0 DIFF 0 CLASS 0 BANNED 0", 0, 2,
		 0},
		{"SLEEP 10 IRQ 30 LOAD 0 DIFF 0", -EBADMSG, 0, 0},
		{"SLEEP 10 IRQ x LOAD 0 BANNED 0", -EBADMSG, 0, 0},
		{"SLEEP 10 IRQ 99999999999 BANNED 0", -EBADMSG, 0, 0},
		{"SLEEP 10 IRQ BANNED 0", -EBADMSG, 0, 0},
		{"TYPE 0 NUMBER 0 LOAD 0 SAVE_MODE 0 ", -EBADMSG, 0, 0},
		{"", -EBADMSG, 0, 0},
		{"SLEEP", -EBADMSG, 0, 0},
		{"BANNED 0", -EBADMSG, 0, 0},
	};
	static struct irqbalance answer;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		ck_assert_msg(irqbalance_parse(rows[i].text, strlen(rows[i].text), &answer) ==
				      rows[i].error,
			      "%s", rows[i].text);
		ck_assert(answer.told == (rows[i].error == 0));
		if (rows[i].error == 0) {
			ck_assert_uint_eq(answer.n, rows[i].n);
			ck_assert(answer.n == 0 || answer.banned[answer.n - 1] == rows[i].last);
		}
	}
}
END_TEST

START_TEST(moves_are_named_with_the_option)
{
	json_t *d, *i, *move;
	char option[64];

	boot();
	serve("SLEEP 10 BANNED 00000000");
	ck_assert_int_eq(start(), 0);
	ck_assert(e->topology->irqbalance_told);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	d = engine_status(e);
	i = json_object_get(d, "irqbalance");
	ck_assert(json_is_true(json_object_get(i, "told")));
	move = json_array_get(json_object_get(i, "moves"), 0);
	snprintf(option, sizeof(option), "--banirq=%u --banirq=%u", irq_of("i40e-eth0-TxRx-0"),
		 irq_of("i40e-eth0-TxRx-1"));
	ck_assert_str_eq(json_string_value(json_object_get(move, "option")), option);
	json_decref(d);
}
END_TEST

/* Of many interrupts each number is there, and whole. */
START_TEST(the_option_is_never_cut)
{
	json_t *d, *move;
	const char *option;
	size_t i;
	json_t *irq;

	boot_with(128);
	serve("SLEEP 10 BANNED 00000000");
	ck_assert_int_eq(start(), 0);
	d = engine_status(e);
	move = json_array_get(json_object_get(json_object_get(d, "irqbalance"), "moves"), 0);
	option = json_string_value(json_object_get(move, "option"));
	ck_assert_uint_eq(json_array_size(json_object_get(move, "irqs")), 128);
	json_array_foreach (json_object_get(move, "irqs"), i, irq) {
		char one[32];

		snprintf(one, sizeof(one), "--banirq=%lld", json_integer_value(irq));
		ck_assert_msg(strncmp(option, one, strlen(one)) == 0, "%s in %s", one, option);
		option += strlen(one);
		option += *option == ' ';
	}
	ck_assert_str_eq(option, "");
	json_decref(d);
}
END_TEST

START_TEST(banned_interrupts_are_placed)
{
	char answer[256];
	json_t *d;

	boot();
	snprintf(answer, sizeof(answer),
		 "SLEEP 10 IRQ %u LOAD 0 DIFF 0 CLASS 5 IRQ %u LOAD 0 DIFF 0 CLASS 5 BANNED 0",
		 irq_of("i40e-eth0-TxRx-0"), irq_of("i40e-eth0-TxRx-1"));
	serve(answer);
	ck_assert_int_eq(start(), 0);
	ck_assert_uint_gt(ledger_size(e->ledger), 0);
	d = engine_status(e);
	ck_assert_uint_eq(
		json_array_size(json_object_get(json_object_get(d, "irqbalance"), "moves")), 0);
	json_decref(d);
}
END_TEST

/* One of two: the NIC is irqbalance's still. */
START_TEST(half_banned)
{
	char answer[256];

	boot();
	snprintf(answer, sizeof(answer), "SLEEP 10 IRQ %u LOAD 0 DIFF 0 CLASS 5 BANNED 0",
		 irq_of("i40e-eth0-TxRx-0"));
	serve(answer);
	ck_assert_int_eq(start(), 0);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
}
END_TEST

/* `systemctl restart irqbalance` with what the status says, between two slow looks. One that was killed left
 * its socket behind. */
START_TEST(restarted_with_the_ban)
{
	char half[256], whole[256];

	boot();
	snprintf(half, sizeof(half), "SLEEP 10 IRQ %u LOAD 0 DIFF 0 CLASS 5 BANNED 0",
		 irq_of("i40e-eth0-TxRx-0"));
	snprintf(whole, sizeof(whole),
		 "SLEEP 10 IRQ %u LOAD 0 DIFF 0 CLASS 5 IRQ %u LOAD 0 DIFF 0 CLASS 5 BANNED 0",
		 irq_of("i40e-eth0-TxRx-0"), irq_of("i40e-eth0-TxRx-1"));
	serve(half);
	ck_assert_int_eq(start(), 0);
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	end_server();
	if (_i == 0)
		tree_remove(m->tree, SOCKET);
	serve_at("run/irqbalance/irqbalance4712.sock", whole);
	for (unsigned i = 0; i < 20; i++) {
		machine_advance(m, USEC_PER_SEC);
		machine_write(m);
		ck_assert_int_eq(engine_tick(e), 0);
	}
	ck_assert_uint_gt(ledger_size(e->ledger), 0);
}
END_TEST

START_TEST(no_answer)
{
	static const char *const answers[] = {NULL, "", "nonsense", "SLEEP 10 IRQ 30"};

	for (size_t i = 0; i < ELEMENTSOF(answers); i++) {
		static struct irqbalance answer;
		boot();
		/* The machine's clock stands still: the socket's own time limit has to do, or this
		 * test's. */
		serve(answers[i]);
		ck_assert_int_lt(irqbalance_ask(&m->io, &answer), 0);
		ck_assert(!answer.told);
		ck_assert_int_eq(start(), 0);
		ck_assert(!e->topology->irqbalance_told);
		ck_assert_uint_eq(ledger_size(e->ledger), 0);
		teardown();
	}
	/* A file that is no socket, and none. */
	boot();
	static struct irqbalance answer;

	ck_assert_int_eq(irqbalance_ask(&m->io, &answer), -ENOENT);
	tree_write(m->tree, SOCKET, "");
	ck_assert_int_eq(irqbalance_ask(&m->io, &answer), -ECONNREFUSED);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("irqbalance");

	tcase_set_timeout(c, 30);
	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_add_test(c, parser);
	tcase_add_test(c, moves_are_named_with_the_option);
	tcase_add_test(c, the_option_is_never_cut);
	tcase_add_test(c, banned_interrupts_are_placed);
	tcase_add_test(c, half_banned);
	tcase_add_loop_test(c, restarted_with_the_ban, 0, 2);
	tcase_add_test(c, no_answer);
	return run_suite("irqbalance", c);
}
