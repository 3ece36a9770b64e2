/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applications that go before a NIC's interrupt threads (decide/ahead.h): looked for when the host changed
 * and now and then, said when it is news, and shown. */
#include <time.h>

#include "base/log.h"
#include "engine/internal.h"
#include "observe/rt-tasks.h"

#define LOOK_USEC (300 * USEC_PER_SEC)

static void ahead_text(const struct engine *e, unsigned nic, const struct ahead *a, char *buf,
		       size_t size)
{
	char cpus[CPUSET_LIST_MAX];

	*buf = '\0';
	if (cpuset_format_list(&a->cpus, cpus, sizeof(cpus)) < 0)
		strcpy(cpus, "?");
	append_text(buf, size, "%s (task %d, ", a->task->comm, (int)a->task->pid);
	if (a->task->rank == RANK_DEADLINE)
		append_text(buf, size, "deadline");
	else
		append_text(buf, size, "priority %u", a->task->rank);
	if (a->tasks > 1)
		append_text(buf, size, "; %u such tasks", a->tasks);
	append_text(buf, size, ") goes before the interrupt threads of %s (priority %u) on CPU %s",
		    e->topology->nic[nic].name, a->thread_rank, cpus);
}

static void note(struct engine *e, unsigned nic, const struct ahead *a)
{
	struct ahead_news *known = &e->ahead[nic];
	bool news;

	if (a->tasks == 0) {
		if (known->tasks > 0)
			log_notice(
				"No application goes before the interrupt threads of %s any more",
				e->topology->nic[nic].name);
		*known = (struct ahead_news){};
		return;
	}
	news = known->tasks == 0 || known->rank != a->task->rank ||
	       !streq(known->comm, a->task->comm);
	*known = (struct ahead_news){
		.tasks = a->tasks,
		.rank = a->task->rank,
		.thread_rank = a->thread_rank,
		.pid = a->task->pid,
		.cpus = a->cpus,
	};
	strcpy(known->nic, e->topology->nic[nic].name);
	strcpy(known->comm, a->task->comm);
	ahead_text(e, nic, a, known->text, sizeof(known->text));
	if (news)
		log_notice("%s: packets wait while it runs. Keep it off these CPUs, or state "
			   "irq_thread_priority in the profile, if that is not wanted",
			   known->text);
}

int engine_ahead_anew(struct engine *e)
{
	const struct topology *t = e->topology;
	struct ahead_news *news = calloc(MAX(t->n_nics, 1U), sizeof(*news));

	if (!news)
		return -ENOMEM;
	/* A NIC that is still there is no news. */
	for (unsigned i = 0; i < t->n_nics; i++)
		for (unsigned k = 0; k < e->n_ahead; k++)
			if (streq(t->nic[i].name, e->ahead[k].nic))
				news[i] = e->ahead[k];
	free(e->ahead);
	e->ahead = news;
	e->n_ahead = t->n_nics;
	e->next_ahead_usec = 0;
	return 0;
}

int engine_look_ahead(struct engine *e)
{
	_cleanup_free_ struct rt_task *tasks = NULL;
	uint64_t now = io_now(e->io, CLOCK_MONOTONIC);
	size_t n;
	int r;

	if (!e->topology->irq_threads || now < e->next_ahead_usec)
		return 0;
	e->next_ahead_usec = now + LOOK_USEC;
	r = rt_tasks_scan(e->io, &tasks, &n);
	if (r < 0) /* what cannot be listed is said of ksoftirqd already */
		return r == -ENOMEM ? r : 0;
	for (unsigned i = 0; i < e->topology->n_irqs; i++)
		if (e->topology->irq[i].thread > 0)
			e->topology->irq[i].thread_rank =
				rt_rank_read(e->io, e->topology->irq[i].thread);
	for (unsigned nic = 0; nic < e->n_ahead; nic++) {
		struct ahead a = ahead_of_nic(e->topology, nic, tasks, n);

		note(e, nic, &a);
	}
	return 0;
}
