/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parses the command lines of the demo and of both benchmarks. A program lists its
 * options in a table; parse_options() stores the arguments. A wrong command line ends
 * the program with status 2 and a message that says what would be right.
 */
#ifndef BENCH_PARSE_H
#define BENCH_PARSE_H

#include <linux/types.h>

#define LIST_MAX 32

/**
 * struct list - the numbers of an option like --timers 1000,2000,3000
 * @count: number of values
 * @values: the numbers
 */
struct list {
	__u32 count;
	__u32 values[LIST_MAX];
};

/**
 * struct parse_option - one option of a program
 * @name: the name, without its dashes; NULL ends the table
 * @argument: the argument as --help shows it; NULL: the option has none
 * @help: the description that --help shows
 * @parse: the function that parses the argument; it determines the type of @value
 * @value: where the parsed argument is stored
 * @min: the smallest number allowed
 * @max: the greatest number allowed
 * @most: parse_list(): the most numbers allowed, at most LIST_MAX
 * @names: parse_names(): the names allowed; a NULL ends them
 */
struct parse_option {
	const char *name;
	const char *argument;
	const char *help;
	void (*parse)(const struct parse_option *option, char *text);
	void *value;
	__u64 min;
	__u64 max;
	__u32 most;
	char *const *names;
};

void parse_options(const struct parse_option *options, int argc, char **argv);

/* Functions for @parse. Each comment names the type of @value. */

/* bool: becomes true */
void parse_flag(const struct parse_option *option, char *text);

/* const char *: points to the argument */
void parse_text(const struct parse_option *option, char *text);

/* __u32: one number */
void parse_u32(const struct parse_option *option, char *text);

/* __u64: one number */
void parse_u64(const struct parse_option *option, char *text);

/* struct list: numbers with commas between them */
void parse_list(const struct parse_option *option, char *text);

/* bool[]: for each of @names, whether the argument lists it */
void parse_names(const struct parse_option *option, char *text);

#endif /* BENCH_PARSE_H */
