/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formats numbers for people. Each function writes to @text and returns its characters.
 */
#ifndef DEMO_FORMAT_H
#define DEMO_FORMAT_H

#include <linux/types.h>

struct text {
	char chars[32];
};

/* 1234567 as "1,234,567" */
const char *format_count(struct text *text, __u64 count);

/* 1234567 ns as "1.23 ms" */
const char *format_ns(struct text *text, __u64 ns);

/* As format_ns(), but ">= 4.29 s" for the greatest lateness that an event can hold */
const char *format_lateness(struct text *text, __u32 ns);

#endif /* DEMO_FORMAT_H */
