// SPDX-License-Identifier: MIT
/* hwtimerctl: inspects /dev/hwtimer, and schedules timers; see hwtimerctl(1). */
#include "../../version.h"
#include "commands.h"
#include "help.h"
#include "units.h"

#include <programs.h>

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The command that runs; NULL: none yet */
static const struct command *running;

void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("hwtimerctl: ", stderr);
	if (running)
		fprintf(stderr, "%s: ", running->name);
	vfprintf(stderr, format, arguments);
	if (running)
		fprintf(stderr,
			"\n'hwtimerctl %s --help' says what it takes.\n",
			running->name);
	else
		fputs("\n'hwtimerctl --help' lists the commands.\n", stderr);
	va_end(arguments);
	exit(2);
}

/* The option that getopt_long() complains about, as the user has written it */
static const char *complaint(char **argv)
{
	static char option[3] = "-?";

	if (optopt && optopt < 128 && isgraph(optopt) &&
	    strncmp(argv[optind - 1], "--", 2)) {
		option[1] = optopt;
		return option;
	}
	return argv[optind - 1];
}

int next_option(int argc, char **argv, const char *letters,
		const struct option *options)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == ':')
		usage("%s needs a value", complaint(argv));
	if (option == '?')
		usage("unknown option: %s", complaint(argv));
	if (option == 'h') {
		help_command(stdout, running);
		exit(finish(0));
	}
	return option;
}

void no_arguments(int argc, char **argv)
{
	static const struct option options[] = { OPTION_HELP, OPTION_END };

	next_option(argc, argv, ":h", options);
	if (optind != argc)
		usage("unexpected argument: %s", argv[optind]);
}

uint64_t time_argument(const char *what, const char *text)
{
	uint64_t ns;

	if (units_parse_time(text, &ns))
		return ns;
	/* A number alone; not 0, as that is a time. */
	if (*text && !text[strspn(text, "0123456789.")])
		usage("invalid %s \"%s\": give a unit, e.g. %ss", what, text,
		      text);
	usage("invalid %s \"%s\": write it like 1.5s or 200ms", what, text);
}

uint64_t interval_argument(const char *text)
{
	uint64_t interval = time_argument("--interval", text);

	if (interval < 10000000)
		usage("invalid --interval \"%s\": it must be at least 10ms",
		      text);
	return interval;
}

uint32_t count_argument(const char *what, const char *text)
{
	uint64_t count;

	if (!units_parse_number(text, &count) || !count || count > UINT32_MAX)
		usage("invalid %s \"%s\": give a number from 1 to 4294967295",
		      what, text);
	return count;
}

/* In a container /dev/hwtimer may be missing, but /proc/misc lists a loaded module. */
static bool module_loaded(bool unknown)
{
	char line[128], name[64];
	bool found = false;
	FILE *file = fopen("/proc/misc", "re");

	if (!file)
		return unknown;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*d %63s", name) == 1 &&
			!strcmp(name, "hwtimer");
	fclose(file);
	return found;
}

#define NOT_LOADED "the module is not loaded: sudo modprobe hwtimer"
#define NO_DEVICE                                            \
	"the module is loaded, but the device is not here: " \
	"start the container with --device /dev/hwtimer"
#define NO_PERMISSION                                         \
	"no permission: run hwtimerctl as root, or join the " \
	"group hwtimer; see \"UDEV\" in hwtimerctl(1)"
#define NOT_PERMITTED                                   \
	"not permitted here: start the container with " \
	"--device /dev/hwtimer, or the service with "   \
	"DeviceAllow=/dev/hwtimer rw"

/* What the user can do about an error of hwt_open() */
static const char *advice(int error)
{
	switch (error) {
	case ENOENT:
		if (module_loaded(false))
			return NO_DEVICE;
		return NOT_LOADED;
	case ENODEV:
	case ENXIO:
		return NOT_LOADED;
	case EACCES:
		return NO_PERMISSION;
	case EPERM:
		return NOT_PERMITTED;
	case EPROTO:
		return "the module has another ABI version: install the same version of both";
	case ENOMEM:
		return "no memory is left, or the user is at the limit max_memory_user";
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

void need_module(void)
{
	/* If it is not known, the command may try. */
	if (!module_loaded(true))
		errx(1, NOT_LOADED);
}

static int show_version(void)
{
	printf("hwtimerctl %s\n", HWTIMER_VERSION);
	return finish(0);
}

/* hwtimerctl help [COMMAND]; @arguments: those after that, and NULL */
static int show_help(char **arguments)
{
	const char *name = *arguments;
	const struct command *command = name ? help_find(name) : NULL;

	if (name && !command)
		usage("unknown command: %s", name);
	if (name && arguments[1])
		usage("unexpected argument: %s", arguments[1]);
	if (command)
		help_command(stdout, command);
	else
		help_all(stdout);
	return finish(0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "version", no_argument, NULL, 'V' },
		OPTION_HELP,
		OPTION_END,
	};
	int option;

	fill_standard_descriptors();
	opterr = 0;
	option = getopt_long(argc, argv, "+hV", options, NULL);
	if (option == 'h')
		return show_help(argv + argc);
	if (option == 'V')
		return show_version();
	if (option != -1)
		usage("unknown option: %s", complaint(argv));
	if (optind == argc)
		usage("a command is missing");
	argc -= optind;
	argv += optind;
	if (!strcmp(argv[0], "help"))
		return show_help(argv + 1);
	running = help_find(argv[0]);
	if (!running)
		usage("unknown command: %s", argv[0]);
	/* getopt_long() begins anew, with the command in the place of the program. */
	optind = 0;
	return finish(running->run(argc, argv));
}
