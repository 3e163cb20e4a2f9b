/* SPDX-License-Identifier: MIT */
/*
 * The commands of hwtimerctl, one file each: command_NAME.c. hwtimerctl.c calls them
 * with the command's name in argv[0] and its arguments after that. Each returns the exit
 * status, or ends the program with an error.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <libhwtimer.h>

#include <stdbool.h>
#include <stdint.h>

struct option;

int command_info(int argc, char **argv);
int command_stats(int argc, char **argv);
int command_next(int argc, char **argv);
int command_owners(int argc, char **argv);
int command_schedule(int argc, char **argv);
int command_watch(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_metrics(int argc, char **argv);
int command_list(int argc, char **argv);
int command_save(int argc, char **argv);
int command_restore(int argc, char **argv);

/* Functions of hwtimerctl.c for several commands */

/* Opens an instance. On failure, ends the program and says what the user can do. */
struct hwt *open_device(void);

/* Ends the program if the module is not loaded, and says what the user can do. */
void need_module(void);

/* In each command's table of options; next_option() acts on it. */
#define OPTION_HELP                            \
	{                                      \
		"help", no_argument, NULL, 'h' \
	}
#define OPTION_END               \
	{                        \
		NULL, 0, NULL, 0 \
	}

/*
 * Returns the next option, or -1. @letters: the short options, as for getopt(), with a
 * colon in front, and h. Ends the program if the option is wrong, or is --help.
 */
int next_option(int argc, char **argv, const char *letters,
		const struct option *options);

/* For commands without arguments; for those with --json only: returns whether it is there */
void no_arguments(int argc, char **argv);
bool json_argument(int argc, char **argv);

/* Ends the program if there is anything behind the options. */
void no_operands(int argc, char **argv);

/* Each returns the value of an argument, and ends the program if it is not valid. */
uint64_t time_argument(const char *what, const char *text);
uint64_t interval_argument(const char *text);
uint32_t count_argument(const char *what, const char *text);

/* Ends the program: says what is wrong with the arguments, and how to get help. */
void usage(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

#endif /* COMMANDS_H */
