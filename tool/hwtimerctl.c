// SPDX-License-Identifier: MIT
/* hwtimerctl: a look at /dev/hwtimer, and timers from the shell; hwtimerctl(1). */
#include "commands.h"

#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "info", command_info,
	  "info                          what the module is and can do\n" },
	{ "stats", command_stats,
	  "stats [--json]                counters of all instances that can be seen\n" },
	{ "schedule", command_schedule,
	  "schedule TIME [--repeat TIME] [--count N] [--slack TIME]\n"
	  "         [--clock monotonic|boottime]\n"
	  "                              a timer, and a line for each expiration\n" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *to)
{
	unsigned int i;

	fputs("usage: hwtimerctl COMMAND ...\n\n", to);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %s", commands[i].help);
	fputs("\nTimes are written like 1.5s, 200ms, 50us, 1h30m; numbers like\n"
	      "1000, 64k, 1M. More is in hwtimerctl(1).\n",
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

/* What to do about an error of hwt_open() */
static const char *advice(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "the module is not loaded: sudo modprobe hwtimer";
	case EACCES:
	case EPERM:
		return "no permission: run this as root, or see \"udev\" in hwtimerctl(1)";
	case EPROTO:
		return "the module is of another ABI: install both of one version";
	case ENFILE:
		return "as many instances as max_instances allows, or files as the machine does";
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

/* What was printed is part of what was asked for. */
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
	usage("there is no command %s", argv[1]);
}
