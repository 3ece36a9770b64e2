/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Priority of NIC interrupts' threads: the right thread or none, from real time to real time, and
 * back. */
#include <check.h>
#include <sched.h>
#include <stdio.h>

#include "engine/internal.h"
#include "lib/machine.h"
#include "lib/run.h"
#include "observe/processes.h"

static const struct machine_nic nics[] = {{.name = "eth0", .kind = MACHINE_IXGBE, .queues = 2}};

static struct machine *m;
static struct engine *e;
static struct tree *config;
static const char *dirs[2];
static struct complaints complaints;
static unsigned calls;
static int refuse;         /* errno of the next sched_setattr() */
static unsigned number[2]; /* of the queues' interrupts */

static void count_first(enum log_level level, const char *line, void *userdata)
{
	unsigned *n = userdata;

	(void)level;
	*n += strstr(line, "before the interrupt threads of eth0") != NULL;
}

/* proc/PID/stat as fs/proc/array.c prints it: all 52 fields */
static void thread(pid_t pid, const char *comm, unsigned start, bool kernel, int policy,
		   int priority)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d/comm", pid);
	tree_printf(m->tree, path, "%s\n", comm);
	snprintf(path, sizeof(path), "proc/%d/schedstat", pid);
	tree_write(m->tree, path, "0 0 0\n");
	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	tree_printf(
		m->tree, path,
		"%d (%s) S %d 0 0 0 -1 %u 0 0 0 0 0 0 0 0 %d %d 1 0 %u 0 0 18446744073709551615 0 0 0 "
		"0 0 0 0 2147483647 0 0 0 0 17 1 %d %d 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, comm, kernel ? 2 : 1, kernel ? 2129984U : 4194560U, -1 - priority,
		policy == SCHED_OTHER ? -5 : 0, start, priority, policy);
}

static int fake_set_sched(struct io *io, pid_t pid, int policy, int priority)
{
	struct task_stat st;
	int r = refuse;

	calls++;
	refuse = 0;
	if (r)
		return -r;
	ck_assert_int_eq(task_stat_read(io, pid, &st), 0);
	thread(pid, st.comm, (unsigned)st.start, st.kernel_thread, policy, priority);
	return 0;
}

static void expect(pid_t pid, uint64_t policy, uint64_t priority)
{
	struct task_stat st;

	ck_assert_int_eq(task_stat_read(&m->io, pid, &st), 0);
	ck_assert_uint_eq(st.policy, policy);
	ck_assert_uint_eq(st.rt_priority, priority);
}

static void irq_thread(pid_t pid, unsigned irq, const char *action, unsigned start)
{
	char comm[64];

	snprintf(comm, sizeof(comm), "irq/%u-%s", irq, action);
	comm[15] = '\0';
	thread(pid, comm, start, true, SCHED_FIFO, 50);
}

static void setup(void)
{
	calls = 0;
	refuse = 0;
	config = tree_new();
	dirs[0] = tree_path(config);
	tree_write(config, "softnetd.conf", "mode = \"apply\";\nprofile = \"test\";\n");
	tree_write(config, "profiles/test.conf", "irq_thread_priority = 60;\n");
	tree_write(config, "profiles/none.conf", "description = \"nothing\";\n");
	m = machine_new(&(struct machine_spec){
		.cpus = 2, .nics = nics, .n_nics = 1, .cmdline = "threadirqs"});
	m->ops.set_sched = fake_set_sched;
	for (unsigned q = 0; q < 2; q++) {
		char name[32];

		snprintf(name, sizeof(name), "eth0-TxRx-%u", q);
		number[q] = m->irq[machine_irq(m, name)].number;
		irq_thread((pid_t)(300 + q), number[q], name, 1000 + q);
	}
	/* Not meant: the link interrupt, a disk, ksoftirqd; and a program that calls itself like
	 * one. */
	irq_thread(310, m->irq[machine_irq(m, "eth0")].number, "eth0", 1010);
	thread(311, "irq/9-acpi", 50, true, SCHED_FIFO, 50);
	thread(312, "irq/26-eth0-TxR", 2000, false, SCHED_FIFO, 50);
}

static void start(void)
{
	struct engine_options o = {.io = &m->io, .config_dirs = dirs, .lock = true};
	pid_t pid;

	ck_assert_int_eq(engine_new(&o, &complaints, &pid, &e), 0);
}

static void ticks(unsigned n)
{
	while (n-- > 0) {
		machine_advance(m, USEC_PER_SEC);
		machine_write(m);
		ck_assert_int_eq(engine_tick(e), 0);
	}
}

static void teardown(void)
{
	complaints_done(&complaints);
	engine_free(TAKE_PTR(e));
	machine_free(TAKE_PTR(m));
	tree_free(TAKE_PTR(config));
}

START_TEST(stat_of_a_task)
{
	struct task_stat st;

	thread(400, "a) (b", 77, true, SCHED_RR, 3);
	ck_assert_int_eq(task_stat_read(&m->io, 400, &st), 0);
	ck_assert_str_eq(st.comm, "a) (b");
	ck_assert(st.kernel_thread && st.start == 77 && st.policy == SCHED_RR &&
		  st.rt_priority == 3);
	thread(400, "x", 77, false, SCHED_OTHER, 0);
	ck_assert_int_eq(task_stat_read(&m->io, 400, &st), 0);
	ck_assert(!st.kernel_thread && st.nice == -5);
	/* Found by fuzz-processes: the smallest int64_t has no opposite. */
	tree_write(
		m->tree, "proc/400/stat",
		"400 (x) S 1 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 -9223372036854775808 1 0 77 0 0 0 0 0 0 "
		"0 0 0 0 0 0 0 0 0 17 1 0 0 0\n");
	ck_assert_int_eq(task_stat_read(&m->io, 400, &st), 0);
	ck_assert(st.nice == 0 && st.start == 77);
	tree_write(m->tree, "proc/400/stat", "400 (x) S 1 0 0\n");
	ck_assert_int_eq(task_stat_read(&m->io, 400, &st), -EBADMSG);
	tree_write(m->tree, "proc/400/stat", "400 x S 2\n");
	ck_assert_int_eq(task_stat_read(&m->io, 400, &st), -EBADMSG);
	tree_write(m->tree, "proc/400/stat", "");
	ck_assert_int_eq(task_stat_read(&m->io, 400, &st), -EBADMSG);
	ck_assert_int_eq(task_stat_read(&m->io, 401, &st), -ENOENT);
}
END_TEST

START_TEST(spelling)
{
	const struct tunable *t = &tunables[TUNABLE_IRQ_THREAD_PRIORITY];
	char buf[32];

	ck_assert_int_eq(tunable_canonical(t, "60", true, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "fifo:60");
	ck_assert(tunable_equal(t, "60", "fifo:60"));
	ck_assert(!tunable_equal(t, "rr:60", "fifo:60"));
	ck_assert_int_eq(tunable_canonical(t, "91", true, buf, sizeof(buf)), -ERANGE);
	ck_assert_int_eq(tunable_canonical(t, "fifo:0", true, buf, sizeof(buf)), -ERANGE);
	ck_assert_int_eq(tunable_canonical(t, "rr:50", true, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(tunable_canonical(t, "other:-5", false, buf, sizeof(buf)), 0);
	ck_assert_int_eq(tunable_canonical(t, "fifoo:5", false, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(tunable_canonical(t, "", true, buf, sizeof(buf)), -EINVAL);
}
END_TEST

START_TEST(queues_only)
{
	start();
	expect(300, SCHED_FIFO, 60);
	expect(301, SCHED_FIFO, 60);
	expect(310, SCHED_FIFO, 50);
	expect(311, SCHED_FIFO, 50);
	expect(312, SCHED_FIFO, 50);
	ck_assert_uint_eq(calls, 2);
	ticks(30);
	ck_assert_uint_eq(calls, 2);
	ck_assert_int_eq(engine_stop(e), 0);
	expect(300, SCHED_FIFO, 50);
	expect(301, SCHED_FIFO, 50);
	ck_assert(!tree_has(m->tree, "run/softnetd/ledger.json"));
}
END_TEST

/* The admin's own: another priority comes back as it was; one that is ordinary was made so on
 * purpose. */
START_TEST(originals)
{
	irq_thread(300, number[0], "eth0-TxRx-0", 1000);
	thread(300, "irq/0-x", 1000, true, SCHED_RR, 44);
	irq_thread(300, number[0], "eth0-TxRx-0", 1000);
	ck_assert_int_eq(m->ops.set_sched(&m->io, 300, SCHED_RR, 44), 0);
	ck_assert_int_eq(m->ops.set_sched(&m->io, 301, SCHED_OTHER, 0), 0);
	calls = 0;
	start();
	expect(300, SCHED_FIFO, 60);
	expect(301, SCHED_OTHER, 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert_int_eq(engine_set_profile(e, "none", &complaints), 0);
	expect(300, SCHED_RR, 44);
}
END_TEST

/* The pid is another thread's by now, or the same interrupt's next one: never written to. */
START_TEST(reused_pid)
{
	_cleanup_(restore_report_done) struct restore_report report = {};

	start();
	irq_thread(300, number[0], "eth0-TxRx-0", 9999);
	tree_remove(m->tree, "proc/301");
	thread(301, "irq/9-acpi", 1001, true, SCHED_FIFO, 50);
	ck_assert_int_eq(m->ops.set_sched(&m->io, 301, SCHED_FIFO, 60), 0);
	ck_assert_int_eq(m->ops.set_sched(&m->io, 300, SCHED_FIFO, 60), 0);
	calls = 0;
	ck_assert_int_eq(engine_give_back_all(e, &report), 0);
	ck_assert_uint_eq(report.n, 2);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_GONE);
	ck_assert_int_eq(report.item[1].verdict, RESTORE_GONE);
	ck_assert_uint_eq(calls, 0);
	expect(301, SCHED_FIFO, 60);
}
END_TEST

/* ifdown and ifup: new threads with the kernel's priority get it again, and the ledger forgets the
 * old. */
START_TEST(new_threads)
{
	start();
	ticks(2);
	ck_assert_uint_eq(ledger_size(e->ledger), 2);
	for (unsigned q = 0; q < 2; q++) {
		char path[32], name[32];

		snprintf(path, sizeof(path), "proc/%u", 300 + q);
		tree_remove(m->tree, path);
		snprintf(name, sizeof(name), "eth0-TxRx-%u", q);
		irq_thread((pid_t)(500 + q), number[q], name, 5000 + q);
	}
	ticks(20);
	expect(500, SCHED_FIFO, 60);
	expect(501, SCHED_FIFO, 60);
	ck_assert_uint_eq(ledger_size(e->ledger), 2);
}
END_TEST

START_TEST(refusals)
{
	refuse = EPERM;
	start();
	/* No right for one is none for all: said once, not tried on the next. */
	expect(300, SCHED_FIFO, 50);
	expect(301, SCHED_FIFO, 50);
	ck_assert_ptr_nonnull(act_family_blocked(e->actuator, TUNABLE_IRQ_THREAD_PRIORITY));
	ck_assert_uint_eq(ledger_size(e->ledger), 0);
	act_forget(e->actuator);
	refuse = ESRCH;
	ck_assert_int_eq(engine_policy(e), 0);
	expect(300, SCHED_FIFO, 50);
	expect(301, SCHED_FIFO, 60);
}
END_TEST

START_TEST(by_hand)
{
	char error[512];

	tree_write(config, "profiles/test.conf", "description = \"nothing\";\n");
	start();
	ck_assert_int_eq(engine_set(e, "irq_thread_priority", "301", "70", error), 0);
	expect(301, SCHED_FIFO, 70);
	expect(300, SCHED_FIFO, 50);
	ck_assert_int_eq(
		engine_set(e, "irq_thread_priority", e->topology->irq[0].thread_comm, "71", error),
		0);
	ck_assert_int_lt(engine_set(e, "irq_thread_priority", "312", "70", error), 0);
	ck_assert_ptr_nonnull(strstr(error, "no thread of a NIC interrupt 312"));
	ck_assert_int_lt(engine_set(e, "irq_thread_priority", "301", "99", error), 0);
	ck_assert_int_eq(engine_release(e, "irq_thread_priority", "", error), 0);
	expect(301, SCHED_FIFO, 50);
}
END_TEST

/* A program of user space with one more thread, both of them of that policy. */
static void application(pid_t pid, const char *comm, int policy, int priority, const char *cpus)
{
	for (pid_t tid = pid; tid < pid + 2; tid++) {
		char path[64];

		thread(tid, comm, 5000, false, policy, priority);
		format_into(path, sizeof(path), "proc/%d/task/%d/status", (int)pid, (int)tid);
		tree_printf(m->tree, path, "Name:\t%s\nCpus_allowed_list:\t%s\n", comm, cpus);
	}
}

static const char *goes_first(void)
{
	static char said[512];
	json_t *status = engine_status(e);
	const json_t *nic = json_array_get(json_object_get(status, "nics"), 0);
	const json_t *first = json_object_get(nic, "goes_first");

	ck_assert_ptr_nonnull(first);
	format_into(said, sizeof(said), "%s",
		    json_string_value(json_object_get(first, "text")) ?: "");
	json_decref(status);
	return said;
}

/* Case G18: an application above the interrupt threads is said, and left as it is. */
START_TEST(applications_above)
{
	unsigned notices = 0;

	application(500, "caserver", SCHED_FIFO, 80, "0-1");
	application(510, "below", SCHED_FIFO, 40, "0-1");
	application(520, "as high", SCHED_RR, 60, "0-1");
	application(530, "plain", SCHED_OTHER, 0, "0-1");
	log_set_hook(count_first, &notices);
	start();
	ticks(2);
	ck_assert_str_eq(goes_first(),
			 "caserver (task 500, priority 80; 2 such tasks) goes before the "
			 "interrupt threads of eth0 (priority 60) on CPU 0-1");
	ck_assert_uint_eq(notices, 1);
	expect(500, SCHED_FIFO, 80);
	expect(300, SCHED_FIFO, 60);
	/* Looked for every five minutes, and no news. */
	ticks(310);
	ck_assert_uint_eq(notices, 1);
	application(500, "caserver", SCHED_FIFO, 55, "0-1");
	ticks(310);
	ck_assert_str_eq(goes_first(), "");
	ck_assert_uint_eq(notices, 2);
	application(540, "reader", 6 /* SCHED_DEADLINE */, 0, "1");
	ticks(310);
	ck_assert_str_eq(goes_first(),
			 "reader (task 540, deadline; 2 such tasks) goes before the interrupt "
			 "threads of eth0 (priority 60) on CPU 1");
	log_set_hook(NULL, NULL);
}
END_TEST

START_TEST(applications_elsewhere)
{
	unsigned notices = 0;

	/* Both interrupts are on the other CPU. */
	tree_write(config, "profiles/test.conf",
		   "nics = ( { match = \"*\"; placement = \"pack\"; cpus = \"0\"; } );\n");
	application(500, "caserver", SCHED_FIFO, 80, "1");
	log_set_hook(count_first, &notices);
	start();
	ticks(2);
	ck_assert_str_eq(goes_first(), "");
	/* The threads are not real-time any more: whose turn it is cannot be told. */
	application(500, "caserver", SCHED_FIFO, 80, "0");
	thread(300, "irq/26-eth0-TxR", 1000, true, SCHED_OTHER, 0);
	thread(301, "irq/27-eth0-TxR", 1001, true, SCHED_OTHER, 0);
	ticks(310);
	ck_assert_str_eq(goes_first(), "");
	/* A task that cannot be read is left out. */
	thread(300, "irq/26-eth0-TxR", 1000, true, SCHED_FIFO, 50);
	tree_write(m->tree, "proc/500/task/500/status", "");
	tree_write(m->tree, "proc/501/stat", "501 (x");
	ticks(310);
	ck_assert_str_eq(goes_first(), "");
	ck_assert_uint_eq(notices, 0);
	application(500, "caserver", SCHED_FIFO, 80, "0");
	ticks(310);
	ck_assert_str_ne(goes_first(), "");
	ck_assert_uint_eq(notices, 1);
	log_set_hook(NULL, NULL);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("thread");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, stat_of_a_task);
	tcase_add_test(t, spelling);
	tcase_add_test(t, queues_only);
	tcase_add_test(t, originals);
	tcase_add_test(t, reused_pid);
	tcase_add_test(t, new_threads);
	tcase_add_test(t, refusals);
	tcase_add_test(t, by_hand);
	tcase_add_test(t, applications_above);
	tcase_add_test(t, applications_elsewhere);
	return run_suite("thread", t);
}
