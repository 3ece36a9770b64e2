// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test only: a cpufreq driver with three speeds and policies of "group" CPUs,
 * which unlike a real one can be taken away at run time. Only for guests
 * without the P-state table of ssdt.asl.
 */
#include <linux/cpufreq.h>
#include <linux/cpumask.h>
#include <linux/module.h>

static unsigned int group = 1;
module_param(group, uint, 0444);

static struct cpufreq_frequency_table table[] = {
	{ .frequency = 1000000 },
	{ .frequency = 1500000 },
	{ .frequency = 2000000 },
	{ .frequency = CPUFREQ_TABLE_END },
};

static unsigned int current_khz[NR_CPUS];

static unsigned int first_of(unsigned int cpu)
{
	return cpu - cpu % group;
}

static int test_init(struct cpufreq_policy *policy)
{
	unsigned int first = first_of(policy->cpu), i;

	for (i = first; i < first + group && i < nr_cpu_ids; i++)
		cpumask_set_cpu(i, policy->cpus);
	policy->freq_table = table;
	policy->cpuinfo.transition_latency = 1000;
	current_khz[first] = 2000000;
	return 0;
}

static int test_target_index(struct cpufreq_policy *policy, unsigned int index)
{
	current_khz[first_of(policy->cpu)] = table[index].frequency;
	return 0;
}

static unsigned int test_get(unsigned int cpu)
{
	return current_khz[first_of(cpu)];
}

static struct cpufreq_driver driver = {
	.name		= "softnet-cpufreq",
	.flags		= CPUFREQ_HAVE_GOVERNOR_PER_POLICY,
	.init		= test_init,
	.verify		= cpufreq_generic_frequency_table_verify,
	.target_index	= test_target_index,
	.get		= test_get,
};

static int __init test_cpufreq_init(void)
{
	if (!group || group > nr_cpu_ids)
		return -EINVAL;
	return cpufreq_register_driver(&driver);
}

static void __exit test_cpufreq_exit(void)
{
	cpufreq_unregister_driver(&driver);
}

module_init(test_cpufreq_init);
module_exit(test_cpufreq_exit);
MODULE_DESCRIPTION("Test only: a cpufreq driver without hardware");
MODULE_LICENSE("GPL");
