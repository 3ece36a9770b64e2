/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/comm, stat and schedstat, which programs choose in part: the three behind each other, with
 * NULs between. */
#include "fuzz/fuzz.h"
#include "lib/files.h"
#include "observe/processes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"proc/300/comm", "proc/300/stat", "proc/300/schedstat"};
	struct processes p = {};
	struct task_stat st;
	uint64_t waited[3];
	struct files f;
	char text[256];

	files_init(&f);
	for (size_t i = 0; i < ELEMENTSOF(names); i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;

		files_put(&f, names[i], n ? (const char *)data : "", n);
		data = end ? end + 1 : data + size;
		size -= end ? n + 1 : size;
	}
	must(processes_scan(&f.io, 4, &p) == 0);
	must(p.n_irq_threads <= 1 && p.n_napi_threads <= 1);
	for (unsigned cpu = 0; cpu < p.n_cpus; cpu++)
		must(p.ksoftirqd[cpu] == 0 || p.ksoftirqd[cpu] == 300);
	rivals_to_string(p.rivals, text, sizeof(text));
	processes_done(&p);
	if (task_stat_read(&f.io, 300, &st) == 0)
		must(strnlen(st.comm, sizeof(st.comm)) < sizeof(st.comm));
	(void)schedstat_read(&f.io, 300, waited);
	files_done(&f);
	return 0;
}
