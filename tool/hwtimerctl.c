// SPDX-License-Identifier: MIT
/* hwtimerctl: a look at /dev/hwtimer, and timers from the shell; hwtimerctl(1). */
#include "commands.h"
#include "units.h"

#include <err.h>
#include <errno.h>
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
	  "info                          what the module is and can do\n" },
	{ "stats", command_stats,
	  "stats [--json]                counters of all instances that can be seen\n" },
	{ "watch", command_watch,
	  "watch [--interval TIME] [--count N] [--once]\n"
	  "                              the same live: rates, lateness, where timers are\n" },
	{ "plot", command_plot,
	  "plot FILE.png|FILE.svg [--seconds N] [--count N] [--interval TIME]\n"
	  "         [--from FILE] [--pid PID] [--script]\n"
	  "                              rates and lateness as a picture, by gnuplot\n" },
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

uint64_t time_argument(const char *what, const char *text)
{
	uint64_t ns;

	if (!units_parse_time(text, &ns))
		usage("%s: \"%s\" is no time; write it like 1.5s or 200ms",
		      what, text);
	return ns;
}

uint32_t count_argument(const char *what, const char *text)
{
	uint64_t count;

	if (!units_parse_number(text, &count) || !count || count > UINT32_MAX)
		usage("%s: \"%s\" is no number from 1 to 4294967295", what,
		      text);
	return count;
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

/* In a container the device need not be there, but the module is known. */
static bool module_loaded(void)
{
	char line[128], name[64];
	bool found = false;
	FILE *file = fopen("/proc/misc", "r");

	if (!file)
		return true; /* who knows */
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
