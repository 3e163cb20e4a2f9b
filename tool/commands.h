/* SPDX-License-Identifier: MIT */
/*
 * The commands of hwtimerctl, one file each: command_NAME.c. Called by
 * hwtimerctl.c with what follows the command's name; each returns the exit status,
 * or ends the program with an error.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <libhwtimer.h>

#include <stdint.h>

int command_info(int argc, char **argv);
int command_stats(int argc, char **argv);
int command_schedule(int argc, char **argv);
int command_watch(int argc, char **argv);
int command_plot(int argc, char **argv);

/* hwtimerctl.c: what several commands need */

/* An instance of our own; ends the program with what the user can do about it. */
struct hwt *open_device(void);

/* Ends the program with what to do if the module is not loaded. */
void need_module(void);

/* The value of an option; each ends the program if it is none. */
uint64_t time_argument(const char *what, const char *text);
uint32_t count_argument(const char *what, const char *text);

/* Ends the program: what is wrong with the arguments, and how to get help. */
void usage(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

#endif /* COMMANDS_H */
