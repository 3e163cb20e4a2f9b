// SPDX-License-Identifier: MIT
/* hwtimerctl: inspects /dev/hwtimer, and schedules timers; see hwtimerctl(1). */
#include "../../version.h"
#include "commands.h"
#include "help.h"
#include "meant.h"
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

/* Returns whether @word is a long option, abbreviated or with a value, that has this letter. */
static bool is_long(const char *word, const struct option *options, int letter)
{
	if (strncmp(word, "--", 2))
		return false;
	word += 2;
	while (options->name &&
	       (options->val != letter ||
		strncmp(options->name, word, strcspn(word, "="))))
		options++;
	return options->name;
}

/* The word with the option optopt: getopt_long() passes a word only with its last letter. */
static const char *word_at(char **argv)
{
	const char *next = argv[optind];

	return next && *next == '-' && strchr(next + 1, optopt) ?
		       next :
		       argv[optind - 1];
}

/* The option that getopt_long() complains about, as the user has written it */
static const char *complaint(char **argv, const struct option *options)
{
	static char option[3] = "-?";
	const char *last = argv[optind - 1];

	if (!optopt || is_long(last, options, optopt))
		return last;
	if (!isgraph((unsigned char)optopt))
		return word_at(argv);
	option[1] = optopt;
	return option;
}

/* Ends the program: says what is wrong with the option at which getopt_long() has stopped. */
static void __attribute__((noreturn))
wrong_option(char **argv, const struct option *options)
{
	const char *word = complaint(argv, options);

	/* getopt_long() takes -1s for an option -1. */
	if (isdigit((unsigned char)word[1]))
		usage("\"%s\" is negative: times and counts begin at 0",
		      word_at(argv));
	if (strncmp(word, "--", 2))
		usage("unknown option: %s", word);
	if (optopt)
		usage("this option takes no value: %s", word);
	usage("unknown option: %s%s", word,
	      meant("--", word + 2, options, sizeof(*options)));
}

int next_option(int argc, char **argv, const char *letters,
		const struct option *options)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == ':')
		usage("%s needs a value", complaint(argv, options));
	if (option == '?')
		wrong_option(argv, options);
	if (option == 'h') {
		help_command(stdout, running);
		exit(finish(0));
	}
	return option;
}

void no_operands(int argc, char **argv)
{
	if (optind != argc)
		usage("unexpected argument: %s", argv[optind]);
}

void no_arguments(int argc, char **argv)
{
	static const struct option options[] = { OPTION_HELP, OPTION_END };

	next_option(argc, argv, ":h", options);
	no_operands(argc, argv);
}

bool json_argument(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		OPTION_HELP,
		OPTION_END,
	};
	bool json = false;

	while (next_option(argc, argv, ":hj", options) != -1)
		json = true;
	no_operands(argc, argv);
	return json;
}

uint64_t time_argument(const char *what, const char *text)
{
	uint64_t ns;
	const char *wrong = units_parse_time(text, &ns);

	if (!wrong)
		return ns;
	/* A number alone; not 0, as that is a time. */
	if (*text && !text[strspn(text, "0123456789.")])
		usage("invalid %s \"%s\": give a unit, e.g. %ss", what, text,
		      text);
	usage("invalid %s \"%s\": %s", what, text, wrong);
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
	"group hwtimer; see hwtimer(4)"
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

static void __attribute__((noreturn)) unknown_command(const char *name)
{
	usage("unknown command: %s%s", name,
	      meant("", name, help_commands, sizeof(*help_commands)));
}

/* hwtimerctl help [COMMAND]; @arguments: those after that, and NULL */
static int show_help(char **arguments)
{
	const char *name = *arguments;
	const struct command *command = name ? help_find(name) : NULL;

	if (name && !command)
		unknown_command(name);
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
		wrong_option(argv, options);
	if (optind == argc)
		usage("a command is missing");
	argc -= optind;
	argv += optind;
	if (!strcmp(argv[0], "help"))
		return show_help(argv + 1);
	running = help_find(argv[0]);
	if (!running)
		unknown_command(argv[0]);
	/* getopt_long() begins anew, with the command in the place of the program. */
	optind = 0;
	return finish(running->run(argc, argv));
}
