/* SPDX-License-Identifier: MIT */
/* The texts of --help, and the table of commands. Used by hwtimerctl.c. */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

/**
 * struct command - a command of hwtimerctl
 * @name: the word that chooses it
 * @run: see commands.h
 * @arguments: its arguments, as a synopsis
 * @does: what it does, in one line
 * @options: its options, a line each
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *does;
	const char *options;
};

/* All commands, and a last one without a name */
extern const struct command help_commands[];

/* Returns NULL if there is no such command. */
const struct command *help_find(const char *name);

void help_all(FILE *to);
void help_command(FILE *to, const struct command *command);

#endif /* HELP_H */
