/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long CPUs may need to wake up: a file per CPU, and a request that lives in a descriptor. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "decide/decide.h"
#include "lib/act-host.h"
#include "lib/run.h"

#define CPU_FILE "sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us"
#define DEVICE   "dev/cpu_dma_latency"

static struct act_host *h;
static struct act_session s;
static struct result res;

/* The device as the kernel has it: a request per descriptor, gone when it closes; the lowest
 * counts. */
static struct device {
	int (*open)(struct io *io, const char *path, int flags, mode_t mode);
	int (*write)(struct io *io, int fd, const void *buf, size_t size);
	int kernel, process; /* the two ends of the request's descriptor */
	int32_t ours, others;
	int refuse; /* errno of open */
	unsigned opened;
} dev;

static bool is_open(void)
{
	char c;

	return dev.kernel >= 0 && recv(dev.kernel, &c, 1, MSG_DONTWAIT) != 0;
}

static int32_t figure(void)
{
	return is_open() ? MIN(dev.ours, dev.others) : dev.others;
}

static int device_open(struct io *io, const char *path, int flags, mode_t mode)
{
	int32_t now = figure();
	int pair[2], fd;

	if (!streq(path, DEVICE) || flags & O_PATH)
		return dev.open(io, path, flags, mode);
	if (dev.refuse)
		return -dev.refuse;
	if ((flags & O_ACCMODE) == O_RDONLY) {
		fd = memfd_create("figure", MFD_CLOEXEC);
		ck_assert_int_eq(write(fd, &now, sizeof(now)), sizeof(now));
		ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
		return fd;
	}
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	if (dev.kernel >= 0)
		close(dev.kernel);
	dev.kernel = pair[0];
	dev.process = pair[1];
	dev.ours = CPU_DMA_LATENCY_NONE;
	dev.opened++;
	return pair[1];
}

static int device_write(struct io *io, int fd, const void *buf, size_t size)
{
	if (fd != dev.process || !is_open())
		return dev.write(io, fd, buf, size);
	ck_assert_uint_eq(size, sizeof(int32_t)); /* text would be hexadecimal */
	memcpy(&dev.ours, buf, size);
	return 0;
}

static void setup(void)
{
	h = act_host_new(EPP_FREE);
	dev = (struct device){.open = h->ops.open,
			      .write = h->ops.write,
			      .kernel = -1,
			      .process = -1,
			      .others = CPU_DMA_LATENCY_NONE};
	h->ops.open = device_open;
	h->ops.write = device_write;
	tree_write(h->tree, DEVICE, "");
	for (unsigned cpu = 0; cpu < 3; cpu++) {
		char path[128];

		snprintf(path, sizeof(path), CPU_FILE, cpu);
		tree_write(h->tree, path, "0\n");
		h->topology->cpu[cpu].present = true;
	}
	h->topology->cpu_latency = true;
	ck_assert_int_eq(act_session_open(&h->io, &s), 0);
}

static void teardown(void)
{
	act_session_close(&s);
	if (dev.kernel >= 0)
		close(dev.kernel);
	act_host_free(h);
}

static int apply(enum tunable_id id, struct target target, const char *to)
{
	struct change c = host_change(id, target, to);

	return act_apply(s.actuator, h->topology, &c, ON_FOREIGN_YIELD, &res);
}

static int dma(const char *to)
{
	return apply(TUNABLE_CPU_DMA_LATENCY, target_host(), to);
}

static char *cpu_value(unsigned cpu)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_FILE, cpu);
	return strstrip(tree_read(h->tree, path));
}

static void expect_cpu(unsigned cpu, const char *value)
{
	_cleanup_free_ char *now = cpu_value(cpu);

	ck_assert_str_eq(now, value);
}

/* A fresh process, without our descriptors. */
static void killed(void)
{
	act_session_close(&s);
	ck_assert_int_eq(act_session_open(&h->io, &s), 0);
}

START_TEST(spelling)
{
	const struct tunable *t = &tunables[TUNABLE_CPU_RESUME_LATENCY];
	char buf[32];

	ck_assert_int_eq(tunable_canonical(t, " n/a\n", true, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "n/a");
	ck_assert_int_eq(tunable_canonical(t, "20", true, buf, sizeof(buf)), 0);
	ck_assert_int_eq(tunable_canonical(t, "0", true, buf, sizeof(buf)), 0);
	ck_assert_int_eq(tunable_canonical(t, "100001", true, buf, sizeof(buf)), -ERANGE);
	ck_assert_int_eq(tunable_canonical(t, "-1", true, buf, sizeof(buf)), -ERANGE);
	ck_assert_int_eq(tunable_canonical(t, "none", true, buf, sizeof(buf)), -EINVAL);
	/* none tolerated and no limit are as far apart as can be */
	ck_assert(!tunable_equal(t, "n/a", "0"));
	ck_assert(tunable_equal(t, "n/a\n", "n/a"));
}
END_TEST

START_TEST(per_cpu)
{
	ck_assert_int_eq(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(1), "20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_DONE);
	expect_cpu(1, "20");
	ck_assert_int_eq(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(2), "n/a"), 0);
	expect_cpu(2, "n/a");
	ck_assert_int_eq(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(1), "20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNCHANGED);
	/* no such file, no such CPU */
	ck_assert_int_lt(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(3), "20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNSUPPORTED);
	ck_assert_int_lt(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(77), "20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNSUPPORTED);
	act_session_close(&s);
	ck_assert_int_eq(host_restore(h, &h->io, NULL), 0);
	expect_cpu(1, "0");
	expect_cpu(2, "0");
	host_expect_no_ledger(h, "restored");
	ck_assert_int_eq(act_session_open(&h->io, &s), 0);
}
END_TEST

/* An original that is not the kernel's default comes back in its own spelling. */
START_TEST(per_cpu_original)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_FILE, 0);
	tree_write(h->tree, path, "n/a\n");
	ck_assert_int_eq(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(0), "50"), 0);
	ck_assert_int_eq(act_release(s.actuator, h->topology, TUNABLE_CPU_RESUME_LATENCY,
				     &(struct target){.scope = SCOPE_CPU, .identity = "cpu0"},
				     &res),
			 0);
	expect_cpu(0, "n/a");
	/* A CPU that was taken out and put in again has the kernel's value: ours is made again. */
	tree_write(h->tree, path, "0\n");
	ck_assert_int_eq(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(0), "50"), 0);
	tree_write(h->tree, path, "0\n");
	ck_assert_int_eq(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(0), "50"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_DONE);
	expect_cpu(0, "50");
	/* Somebody else's wish is theirs. */
	tree_write(h->tree, path, "7\n");
	ck_assert_int_lt(apply(TUNABLE_CPU_RESUME_LATENCY, cpu_target(0), "50"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_FOREIGN);
	expect_cpu(0, "7");
}
END_TEST

START_TEST(request)
{
	ck_assert_int_eq(dma("20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_DONE);
	ck_assert_int_eq(figure(), 20);
	ck_assert_uint_eq(ledger_size(s.ledger), 1);
	ck_assert_int_eq(dma("20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNCHANGED);
	/* the same descriptor holds the next wish */
	ck_assert_int_eq(dma("0"), 0);
	ck_assert_int_eq(figure(), 0);
	ck_assert_uint_eq(dev.opened, 1);
	ck_assert_int_eq(act_release(s.actuator, h->topology, TUNABLE_CPU_DMA_LATENCY,
				     &(struct target){.scope = SCOPE_HOST, .identity = "host"},
				     &res),
			 0);
	ck_assert(!is_open());
	ck_assert_int_eq(figure(), CPU_DMA_LATENCY_NONE);
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	ck_assert_int_lt(dma("100001"), 0);
	ck_assert(!is_open());
}
END_TEST

/* Requests stand beside each other: a lower one of somebody else is no trouble and nobody's change.
 */
START_TEST(requests_of_others)
{
	dev.others = 5;
	ck_assert_int_eq(dma("20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_DONE);
	ck_assert_int_eq(figure(), 5);
	dev.others = 3;
	ck_assert_int_eq(dma("20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNCHANGED);
	ck_assert_int_eq(act_release(s.actuator, h->topology, TUNABLE_CPU_DMA_LATENCY,
				     &(struct target){.scope = SCOPE_HOST, .identity = "host"},
				     &res),
			 0);
	ck_assert_int_eq(res.outcome, OUTCOME_DONE);
	ck_assert(!is_open());
	ck_assert_int_eq(figure(), 3);
}
END_TEST

START_TEST(killed_process_has_no_request)
{
	struct restore_report report = {};

	ck_assert_int_eq(dma("20"), 0);
	killed();
	ck_assert(!is_open());
	ck_assert_uint_eq(ledger_size(s.ledger), 1);
	/* Its ledger does no harm, whatever others ask for meanwhile. */
	dev.others = 20;
	act_session_close(&s);
	ck_assert_int_eq(host_restore(h, &h->io, &report), 0);
	ck_assert_uint_eq(report.n, 1);
	ck_assert_int_eq(report.item[0].verdict, RESTORE_WAS_SO);
	restore_report_done(&report);
	host_expect_no_ledger(h, "after the kill");
	ck_assert_int_eq(act_session_open(&h->io, &s), 0);
}
END_TEST

START_TEST(over_a_restart)
{
	int kept;

	ck_assert_int_eq(dma("20"), 0);
	kept = dup(act_latency_fd(s.actuator)); /* the service manager's */
	killed();
	ck_assert_int_eq(act_latency_fd(s.actuator), -1);
	ck_assert(is_open());
	act_adopt_latency(s.actuator, kept);
	dev.process = kept;
	ck_assert_int_eq(dma("20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNCHANGED);
	ck_assert_int_eq(dma("30"), 0);
	ck_assert_int_eq(figure(), 30);
	ck_assert_uint_eq(dev.opened, 1);
	/* Without an entry in the ledger it is nobody's: closed. */
	kept = dup(act_latency_fd(s.actuator));
	ck_assert_int_eq(act_release(s.actuator, h->topology, TUNABLE_CPU_DMA_LATENCY,
				     &(struct target){.scope = SCOPE_HOST, .identity = "host"},
				     &res),
			 0);
	ck_assert(is_open());
	act_adopt_latency(s.actuator, kept);
	ck_assert(!is_open());
	ck_assert_int_eq(act_latency_fd(s.actuator), -1);
}
END_TEST

START_TEST(refusals)
{
	dev.refuse = EACCES;
	ck_assert_int_eq(dma("20"), -EACCES);
	ck_assert_int_eq(res.outcome, OUTCOME_READ_ONLY);
	ck_assert_uint_eq(ledger_size(s.ledger), 0);
	dev.refuse = 0;
	act_forget(s.actuator);
	tree_remove(h->tree, DEVICE);
	ck_assert_int_lt(dma("20"), 0);
	ck_assert_int_eq(res.outcome, OUTCOME_UNSUPPORTED);
}
END_TEST

/* ---- which CPUs ---- */

static struct profile *profile(const char *value)
{
	struct profile *p = calloc(1, sizeof(*p));

	ck_assert_ptr_nonnull(p);
	p->name = strdup("test");
	p->setting[TUNABLE_CPU_RESUME_LATENCY].kind = SETTING_VALUE;
	p->setting[TUNABLE_CPU_RESUME_LATENCY].value = strdup(value);
	return p;
}

START_TEST(cpus_that_matter)
{
	_cleanup_(profile_freep) struct profile *p = profile("20");
	static struct change changes[8];
	struct topology *t = h->topology;
	size_t at = 0, n;

	free(t->nic);
	t->nic = calloc(1, sizeof(*t->nic));
	ck_assert_ptr_nonnull(t->nic);
	t->n_nics = 1;

	for (unsigned i = 0; i < t->n_irqs; i++) {
		t->irq[i].nic = 0;
		t->irq[i].role = i == 0 ? IRQ_RX : IRQ_TX;
		t->irq[i].have_effective = true;
		t->irq[i].effective = cpuset_of(i == 0 ? 2 : 1);
	}
	t->nic[0].up = true;
	n = decide_power(t, p, &at, changes, ELEMENTSOF(changes));
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(changes[0].tunable, TUNABLE_CPU_RESUME_LATENCY);
	ck_assert_str_eq(changes[0].target.identity, "cpu2");
	ck_assert_str_eq(changes[0].to, "20");
	ck_assert_uint_eq(decide_power(t, p, &at, changes, ELEMENTSOF(changes)), 0);
	/* a NIC that is down needs nothing */
	t->nic[0].up = false;
	at = 0;
	ck_assert_uint_eq(decide_power(t, p, &at, changes, ELEMENTSOF(changes)), 0);
	t->nic[0].up = true;
	/* no CPU has a file: the host's limit stands for all */
	t->cpu_latency = false;
	at = 0;
	ck_assert_uint_eq(decide_power(t, p, &at, changes, ELEMENTSOF(changes)), 0);
	ck_assert_uint_eq(decide_policy(t, p, changes, ELEMENTSOF(changes)), 1);
	ck_assert_int_eq(changes[0].tunable, TUNABLE_CPU_DMA_LATENCY);
	ck_assert_str_eq(changes[0].to, "20");
	free(p->setting[TUNABLE_CPU_RESUME_LATENCY].value);
	p->setting[TUNABLE_CPU_RESUME_LATENCY].value = strdup("n/a");
	decide_policy(t, p, changes, ELEMENTSOF(changes));
	ck_assert_str_eq(changes[0].to, "0");
	/* no limit at all is none to ask for */
	free(p->setting[TUNABLE_CPU_RESUME_LATENCY].value);
	p->setting[TUNABLE_CPU_RESUME_LATENCY].value = strdup("0");
	ck_assert_uint_eq(decide_policy(t, p, changes, ELEMENTSOF(changes)), 0);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("latency");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, spelling);
	tcase_add_test(t, per_cpu);
	tcase_add_test(t, per_cpu_original);
	tcase_add_test(t, request);
	tcase_add_test(t, requests_of_others);
	tcase_add_test(t, killed_process_has_no_request);
	tcase_add_test(t, over_a_restart);
	tcase_add_test(t, refusals);
	tcase_add_test(t, cpus_that_matter);
	return run_suite("latency", t);
}
