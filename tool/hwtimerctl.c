// SPDX-License-Identifier: MIT
/* hwtimerctl: inspects /dev/hwtimer, and schedules timers; see hwtimerctl(1). */
#include "commands.h"
#include "units.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "info", command_info,
	  "info                          features and limits of the module\n" },
	{ "stats", command_stats,
	  "stats [--json]                counters of all instances that you may see\n" },
	{ "owners", command_owners,
	  "owners [--json]               timers, memory and time by user and cgroup\n" },
	{ "watch", command_watch,
	  "watch [--interval TIME] [--count N] [--once]\n"
	  "                              live view: rates, lateness, where timers are\n" },
	{ "plot", command_plot,
	  "plot FILE.png|FILE.svg [--seconds N] [--count N] [--interval TIME]\n"
	  "         [--from FILE] [--pid PID] [--script]\n"
	  "                              draw rates and lateness with gnuplot\n" },
	{ "list", command_list,
	  "list PID FD | --fd N [--sort] [--json]\n"
	  "                              the timers of an instance\n" },
	{ "save", command_save,
	  "save PID FD FILE | --fd N FILE\n"
	  "                              write the timers of an instance to a file\n" },
	{ "restore", command_restore,
	  "restore FILE [--paused] [--limit N] [--ids FILE] [--name NAME]\n"
	  "         [--if-exists] -- COMMAND ...\n"
	  "                              give them to a command, in a new instance\n"
	  "  restore FILE --check [--paused] [--if-exists]\n"
	  "                              check the file, and say what is in it\n" },
	{ "schedule", command_schedule,
	  "schedule TIME [--repeat TIME] [--count N] [--slack TIME]\n"
	  "         [--clock monotonic|boottime]\n"
	  "                              schedule a timer, print a line for each event\n" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *to)
{
	unsigned int i;

	fputs("usage: hwtimerctl COMMAND ...\n\n", to);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %s", commands[i].help);
	fputs("\nTimes are written like 1.5s, 200ms, 50us, 1h30m; numbers like\n"
	      "1000, 64k, 1M. See hwtimerctl(1).\n",
	      to);
}

void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("hwtimerctl: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("\n'hwtimerctl --help' lists the commands.\n", stderr);
	va_end(arguments);
	exit(2);
}

int next_option(int argc, char **argv, const struct option *options)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, "", options, NULL);
	if (option == '?')
		usage("%s: unknown option, or option without its value: %s",
		      argv[0], argv[optind > 1 ? optind - 1 : 1]);
	return option;
}

uint64_t time_argument(const char *what, const char *text)
{
	uint64_t ns;

	if (!units_parse_time(text, &ns))
		usage("%s: \"%s\" is not a time; write it like 1.5s or 200ms",
		      what, text);
	return ns;
}

uint64_t interval_argument(const char *text)
{
	uint64_t interval = time_argument("--interval", text);

	if (interval < 10000000)
		usage("--interval must be at least 10ms");
	return interval;
}

uint32_t count_argument(const char *what, const char *text)
{
	uint64_t count;

	if (!units_parse_number(text, &count) || !count || count > UINT32_MAX)
		usage("%s: \"%s\" is not a number from 1 to 4294967295", what,
		      text);
	return count;
}

/* What the user can do about an error of hwt_open() */
static const char *advice(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "the module is not loaded: sudo modprobe hwtimer";
	case EACCES:
	case EPERM:
		return "no permission: run hwtimerctl as root, or see \"udev\" in hwtimerctl(1)";
	case EPROTO:
		return "the module has another ABI version: install the same version of both";
	case EMFILE:
		return "the limit max_instances_user, or this process's of files, is reached";
	case ENFILE:
		return "the limit max_instances, or the machine's limit of open files, is reached";
	default:
		return strerror(error);
	}
}

struct hwt *open_device(void)
{
	struct hwt *hwt;
	int error = -hwt_open(&hwt, 0);

	if (error)
		errx(1, "/dev/hwtimer: %s", advice(error));
	return hwt;
}

/* In a container /dev/hwtimer may be missing, but /proc/misc lists a loaded module. */
static bool module_loaded(void)
{
	char line[128], name[64];
	bool found = false;
	FILE *file = fopen("/proc/misc", "r");

	if (!file)
		return true; /* unknown: let the command try */
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*d %63s", name) == 1 &&
			!strcmp(name, "hwtimer");
	fclose(file);
	return found;
}

void need_module(void)
{
	if (!module_loaded())
		errx(1, "%s", advice(ENOENT));
}

/* Output that cannot be written is a failure, whatever the command says. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		err(1, "standard output");
	return status;
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc < 2)
		usage("a command is missing");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		help(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("hwtimerctl, with libhwtimer %u.%u\n",
		       hwt_version() >> 16, hwt_version() & 0xffff);
		return 0;
	}
	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return finish(commands[i].run(argc - 1, argv + 1));
	usage("unknown command: %s", argv[1]);
}
