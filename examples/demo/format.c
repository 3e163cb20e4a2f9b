// SPDX-License-Identifier: GPL-2.0
/*
 * Formats counts with separators and times with units; see format.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format.h"

const char *format_count(struct text *text, __u64 count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", count);
	char *out = text->chars;
	int i;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return text->chars;
}

const char *format_ns(struct text *text, __u64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = ns;
	size_t unit = 0;
	int digits;

	while (value >= 999.5 && unit < 3) {
		value /= 1000;
		unit++;
	}
	digits = !unit || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	snprintf(text->chars, sizeof(text->chars), "%.*f %s", digits, value,
		 units[unit]);
	return text->chars;
}

const char *format_lateness(struct text *text, __u32 ns)
{
	format_ns(text, ns);
	if (ns == UINT32_MAX) {
		memmove(text->chars + 3, text->chars, 16);
		memcpy(text->chars, ">= ", 3);
	}
	return text->chars;
}
