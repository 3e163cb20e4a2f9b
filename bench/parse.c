// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers on command lines; see parse.h.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>

#include "parse.h"

static __u32 parse_number(const char *name, const char *text, char **end,
			  __u32 min, __u32 max)
{
	unsigned long long value;

	errno = 0;
	value = strtoull(text, end, 10);
	if (errno || !isdigit(*text) || value < min || value > max)
		errx(2, "--%s: from %u to %u, not '%s'", name, min, max, text);
	return value;
}

__u32 parse_one(const char *name, const char *text, __u32 min, __u32 max)
{
	char *end;
	__u32 value = parse_number(name, text, &end, min, max);

	if (*end)
		errx(2, "--%s: one number, not '%s'", name, text);
	return value;
}

void parse_list(struct list *list, __u32 most, const char *name, char *text,
		__u32 min, __u32 max)
{
	list->count = 0;
	for (; list->count < most; text++) {
		list->values[list->count++] =
			parse_number(name, text, &text, min, max);
		if (*text != ',')
			break;
	}
	if (*text)
		errx(2,
		     "--%s: up to %u numbers, with commas between, not '...%s'",
		     name, most, text);
}
