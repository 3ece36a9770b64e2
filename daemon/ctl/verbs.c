/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of verbs: dispatch, --help and completion follow from it, and a test holds the manual page
 * against it. */
#include <limits.h>

#include "ctl/ctl.h"

const struct verb ctl_verbs[] = {
	{
		.name = "status",
		.args = "",
		.help = "Show what softnetd sees, what binds, and what it changed",
		.more = "One screen: profile and mode, each CPU's packets, drops and squeezes, the NICs\n"
			"and where their interrupts arrive, what binds and by which numbers, the settings\n"
			"that are changed and why, and what cannot be seen on this host.",
		.method = "Describe",
		.remote = true,
		.run = verb_status,
	},
	{
		.name = "diagnose",
		.args = "",
		.help = "Look once: which limit binds, what would lift it, the commands",
		.more = "Asks softnetd when it runs; with -d or --root, or without softnetd, it watches by\n"
			"itself for 3 seconds or as long as -d says. Nothing is ever written.\n"
			"Exit status 0: nothing binds, 5: something does.",
		.method = "Diagnose",
		.duration = true,
		.remote = true,
		.run = verb_diagnose,
	},
	{
		.name = "get",
		.args = "[SETTING[@TARGET]]",
		.help = "Show settings: value, what the profile wants, original",
		.more = "A TARGET is an interrupt's number or action name, a cpufreq policy such as\n"
			"policy0, a CPU's number, the pid or name of an interrupt's thread, a NIC such as\n"
			"eth0, or one of its NAPI instances such as eth0:rx3. Without softnetd, the\n"
			"kernel's values are shown.",
		.method = "DescribeSettings",
		.max_args = 1,
		.remote = true,
		.complete = {COMPLETE_SETTING},
		.run = verb_get,
	},
	{
		.name = "set",
		.args = "SETTING[@TARGET] VALUE",
		.help = "Change a setting and pin it: softnetd leaves it until release",
		.more = "Without a TARGET, a setting of interrupts or policies is changed for all of them.\n"
			"The original comes back by release, by restore, or when softnetd stops. Needs root,\n"
			"or polkit's permission.",
		.method = "SetSetting",
		.min_args = 2,
		.max_args = 2,
		.remote = true,
		.complete = {COMPLETE_SETTING, COMPLETE_VALUE},
		.run = verb_set,
	},
	{
		.name = "release",
		.args = "SETTING[@TARGET]",
		.help = "Give a setting back: its original, or what the profile states",
		.more = "Needs root, or polkit's permission.",
		.method = "ReleaseSetting",
		.min_args = 1,
		.max_args = 1,
		.remote = true,
		.complete = {COMPLETE_SETTING},
		.run = verb_release,
	},
	{
		.name = "profile",
		.args = "list|show|check|set|clear …",
		.help = "Work with profiles",
		.more = "  profile list         Show all profiles; the active one is marked\n"
			"  profile show NAME    Show every value and the file and line it comes from\n"
			"  profile check FILE   Check a file without using it\n"
			"  profile set NAME     Use a profile until clear, or until softnetd stops\n"
			"  profile clear        Back to the profile of softnetd.conf\n"
			"set and clear need softnetd, and root or polkit's permission; the others need neither.",
		.method = "DescribeProfiles, DescribeProfile, SetProfile, ClearProfile",
		.min_args = 1,
		.max_args = 2,
		.remote = true,
		.complete = {COMPLETE_PROFILE_VERB, COMPLETE_PROFILE_WORD},
		.run = verb_profile,
	},
	{
		.name = "run",
		.args = "PROFILE [--reason TEXT] [--best-effort] [--] COMMAND …",
		.help = "Run a command with a profile in force",
		.more = "The profile is in force before the command begins and until it ends, also when\n"
			"softnetctl is killed meanwhile; of several holds the newest counts. Signals are\n"
			"handed on. Needs root, or polkit's permission; the command runs as the same user.\n"
			"Exit status: that of the command, 128 + N when signal N ended it, 127 when there\n"
			"is no such command and 126 when it cannot be executed. Without softnetd (3),\n"
			"permission (4) or that profile (1) the command is not run, unless with --best-effort.",
		.method = "HoldProcess",
		.min_args = 1,
		.max_args = UINT_MAX,
		.command = true,
		.complete = {COMPLETE_PROFILE, COMPLETE_COMMAND},
		.run = verb_run,
	},
	{
		.name = "history",
		.args = "",
		.help = "Show what softnetd did since it started",
		.more = "Oldest first. softnetd keeps the newest 256 entries.",
		.method = "History",
		.lines = true,
		.remote = true,
		.run = verb_history,
	},
	{
		.name = "explain",
		.args = "[ID]",
		.help = "Tell the story of one change: why, what else, what came of it",
		.more = "ID is a number of history, or a change's id as history and status show it (then the\n"
			"newest of that id); without one, the newest change.",
		.method = "Explain",
		.max_args = 1,
		.remote = true,
		.complete = {COMPLETE_CHANGE},
		.run = verb_explain,
	},
	{
		.name = "silence",
		.args = "ID",
		.help = "Do not say this advice any more",
		.more = "It is neither logged nor shown, only counted (in status), until unsilence or until\n"
			"softnetd stops; `silence` in softnetd.conf lasts. Needs root, or\n"
			"polkit's permission.",
		.method = "Silence",
		.min_args = 1,
		.max_args = 1,
		.remote = true,
		.complete = {COMPLETE_ADVICE},
		.run = verb_silence,
	},
	{
		.name = "unsilence",
		.args = "ID",
		.help = "Say that advice again",
		.more = "Needs root, or polkit's permission.",
		.method = "Unsilence",
		.min_args = 1,
		.max_args = 1,
		.remote = true,
		.complete = {COMPLETE_SILENCED},
		.run = verb_unsilence,
	},
	{
		.name = "reload",
		.args = "",
		.help = "Make softnetd read its configuration again",
		.more = "Everything is read and checked first; with a fault in any file nothing changes.\n"
			"Needs root, or polkit's permission.",
		.method = "Reload",
		.remote = true,
		.run = verb_reload,
	},
	{
		.name = "restore",
		.args = "",
		.help = "Give back the original of every setting softnetd changed",
		.more = "Works without softnetd too: after a crash, from the ledger it left. A setting that\n"
			"somebody else changed meanwhile is left alone and named. softnetd, when it runs,\n"
			"goes on with its profile at the next reload or profile change. Needs root, or with\n"
			"softnetd polkit's permission.",
		.method = "Restore",
		.remote = true,
		.run = verb_restore,
	},
	{
		.name = "cat-config",
		.args = "[PROFILE …]",
		.help = "Show the configuration files that count, in their order",
		.more = "softnetd.conf and the profile in force, or the PROFILEs: each with its drop-ins and,\n"
			"before it, what it inherits; later files are laid over earlier ones, key by key.",
		.max_args = UINT_MAX,
		.complete = {COMPLETE_PROFILE, COMPLETE_PROFILE},
		.run = verb_cat_config,
	},
	{
		.name = "decode",
		.args = "KIND FILE|-",
		.help = "Explain a pasted dump: softnet-stat, softirqs, interrupts or kmsg",
		.more = "KIND is what the dump was taken from: softnet-stat (/proc/net/softnet_stat),\n"
			"softirqs (/proc/softirqs), interrupts (/proc/interrupts) or kmsg (dmesg, journal,\n"
			"syslog or /dev/kmsg). FILE may come from any machine; - reads standard input.\n"
			"Lines that cannot be trusted are named and left out.",
		.min_args = 2,
		.max_args = 2,
		.complete = {COMPLETE_DUMP, COMPLETE_FILE},
		.run = verb_decode,
	},
	{
		.name = "record",
		.args = "-o FILE [-d SECONDS]",
		.help = "Write what is to be seen on this host into a file, for replay",
		.more = "Once a second until Ctrl-C, or for so many SECONDS; - writes to standard output.\n"
			"Needs no softnetd and changes nothing; a FILE that exists is not overwritten. What\n"
			"only root may read is missing from the recording of somebody else. The host's name,\n"
			"addresses and other lines of the kernel log are not in it.",
		.duration = true,
		.output = true,
		.run = verb_record,
	},
	{
		.name = "replay",
		.args = "FILE|-",
		.help = "Show what softnetd would have found and done on a recorded host",
		.more = "Runs the recording through the very code that decides in softnetd, with the profile\n"
			"that was recorded or another one of this host. Nothing of the past can be changed: a\n"
			"change that the recording shows as made is judged by what followed, every other one\n"
			"is advice without effect.",
		.min_args = 1,
		.max_args = 1,
		.profile = true,
		.complete = {COMPLETE_FILE},
		.run = verb_replay,
	},
	{
		.name = "version",
		.args = "",
		.help = "Show the versions of this program and of the softnetd that runs",
		.remote = true,
		.run = verb_version,
	},
	{
		/* For the shells' completion (config/completion), not for people. */
		.name = "complete",
		.args = "[--] WORDS …",
		.help = "What may stand in place of the last of WORDS, one a line",
		.hidden = true,
		.max_args = UINT_MAX,
		.run = verb_complete,
	},
	{.name = NULL},
};
