// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test only: makes on purpose the softirq trouble that is to be seen, counted
 * and cured. Loading it starts one of three things on one CPU; the results
 * are its parameters, in /sys/module/softnet_trouble/parameters.
 *
 * mode=pending	count times, gap_ms apart: vector nr is left pending when the
 *		CPU goes idle, as by a driver that raises it from a task and
 *		does not wake up ksoftirqd.
 * mode=late	the same with a tasklet that was never announced to ksoftirqd;
 *		max_delay_us is the longest time that one had to wait, and
 *		late_runs counts those that waited for three ticks or longer.
 * mode=rearm	for hog_ms, a tasklet takes step_us a run and schedules itself
 *		again; it starts in a timer interrupt. inline_runs is how
 *		often it ran before ksoftirqd took over.
 * mode=raise	a task raises a tasklet count times, which wakes up ksoftirqd.
 */
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync del_timer_sync
#endif

static char *mode = "pending";
module_param(mode, charp, 0444);
static int cpu = 1;
module_param(cpu, int, 0444);
static unsigned int nr = NET_RX_SOFTIRQ;
module_param(nr, uint, 0444);
static unsigned int count = 1;
module_param(count, uint, 0444);
static unsigned int gap_ms = 20;
module_param(gap_ms, uint, 0444);
static unsigned int hog_ms = 300;
module_param(hog_ms, uint, 0444);
static unsigned int step_us = 10;
module_param(step_us, uint, 0444);

/* results */
static unsigned int done;
module_param(done, uint, 0444);
static unsigned long runs;
module_param(runs, ulong, 0444);
static unsigned long inline_runs;
module_param(inline_runs, ulong, 0444);
static unsigned long max_delay_us;
module_param(max_delay_us, ulong, 0444);
static unsigned long late_runs;
module_param(late_runs, ulong, 0444);

static struct task_struct *thread;
static struct tasklet_struct tasklet;
static struct timer_list timer;
static unsigned long until;
static ktime_t raised;
static bool rearm, seen_ksoftirqd;

/* udelay() is calibrated at boot, and in an emulated guest badly so. */
static void busy(unsigned int us)
{
	ktime_t end = ktime_add_us(ktime_get(), us);

	while (ktime_before(ktime_get(), end))
		cpu_relax();
}

static void tasklet_fn(struct tasklet_struct *t)
{
	unsigned long us;

	runs++;
	if (!rearm) {
		us = ktime_us_delta(ktime_get(), raised);
		max_delay_us = max(max_delay_us, us);
		if (us >= jiffies_to_usecs(3))
			late_runs++;
		return;
	}

	busy(step_us);
	if (!strncmp(current->comm, "ksoftirqd", 9))
		seen_ksoftirqd = true;
	else if (!seen_ksoftirqd)
		inline_runs++;
	if (time_before(jiffies, READ_ONCE(until)))
		tasklet_schedule(&tasklet);
}

static void timer_fn(struct timer_list *t)
{
	tasklet_schedule(&tasklet);
}

static void leave_pending(void)
{
	local_irq_disable();
	or_softirq_pending(1UL << nr);
	local_irq_enable();
}

/* Bottom halves are enabled again without running what is pending. */
static int leave_tasklet(void)
{
#ifdef CONFIG_PREEMPT_RT
	return -EOPNOTSUPP;
#else
	local_bh_disable();
	raised = ktime_get();
	tasklet_schedule(&tasklet);
	local_irq_disable();
	_local_bh_enable();
	local_irq_enable();
	return 0;
#endif
}

static void one(void)
{
	if (!strcmp(mode, "pending")) {
		leave_pending();
	} else if (!strcmp(mode, "late")) {
		leave_tasklet();
	} else {
		raised = ktime_get();
		tasklet_schedule(&tasklet);
	}
}

static int thread_fn(void *unused)
{
	unsigned int i;

	if (rearm) {
		WRITE_ONCE(until, jiffies + msecs_to_jiffies(hog_ms) + 20);
		timer.expires = jiffies + 20;
		add_timer_on(&timer, cpu);
		schedule_timeout_interruptible(msecs_to_jiffies(hog_ms) + 40);
	} else {
		for (i = 0; i < count && !kthread_should_stop(); i++) {
			one();
			schedule_timeout_interruptible(msecs_to_jiffies(gap_ms));
		}
	}
	WRITE_ONCE(done, 1);

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static int __init trouble_init(void)
{
	rearm = !strcmp(mode, "rearm");
	if (!rearm && strcmp(mode, "pending") && strcmp(mode, "late") &&
	    strcmp(mode, "raise"))
		return -EINVAL;
	if (nr >= NR_SOFTIRQS || cpu < 0 || cpu >= nr_cpu_ids ||
	    !cpu_online(cpu) || step_us > 10000 || hog_ms > 10000)
		return -EINVAL;
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !strcmp(mode, "late"))
		return -EOPNOTSUPP;

	tasklet_setup(&tasklet, tasklet_fn);
	timer_setup(&timer, timer_fn, TIMER_PINNED);
	thread = kthread_create(thread_fn, NULL, "softnet_trouble");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	return 0;
}

static void __exit trouble_exit(void)
{
	WRITE_ONCE(until, jiffies);
	kthread_stop(thread);
	timer_delete_sync(&timer);
	tasklet_kill(&tasklet);
}

module_init(trouble_init);
module_exit(trouble_exit);
MODULE_DESCRIPTION("Test only: makes softirq trouble on purpose");
MODULE_LICENSE("GPL");
