/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers on the command lines of both benchmarks. What is wrong ends the program
 * with a message that says what would be right.
 */
#ifndef BENCH_PARSE_H
#define BENCH_PARSE_H

#include <linux/types.h>

#define LIST_MAX 32

/**
 * struct list - numbers of an option: 1000,2000,3000
 * @count: how many
 * @values: they
 */
struct list {
	__u32 count;
	__u32 values[LIST_MAX];
};

/* The number that option @name has for its argument @text. */
__u32 parse_one(const char *name, const char *text, __u32 min, __u32 max);

/* The numbers, up to @most of them, each from @min to @max. */
void parse_list(struct list *list, __u32 most, const char *name, char *text,
		__u32 min, __u32 max);

#endif /* BENCH_PARSE_H */
