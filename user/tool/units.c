// SPDX-License-Identifier: MIT
/* Parses and formats times and numbers; see units.h. */
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {
	{ "ns", 1 },	 { "us", 1e3 },	   { "ms", 1e6 },
	{ "s", 1e9 },	 { "min", 60e9 },  { "m", 60e9 },
	{ "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 },
};

static const struct unit multiples[] = {
	{ "k", 1e3 },
	{ "M", 1e6 },
	{ "G", 1e9 },
	{ NULL, 0 },
};

/* Returns the factor of the unit at *@text, and moves *@text behind it; 0: no unit. */
static double take_unit(const char **text, const struct unit *units)
{
	size_t length = 0;

	while (isalpha((unsigned char)(*text)[length]))
		length++;
	for (; units->name; units++)
		if (strlen(units->name) == length &&
		    !strncmp(units->name, *text, length)) {
			*text += length;
			return units->factor;
		}
	return 0;
}

/* Reads the decimal number at *@text, and moves *@text behind it. */
static bool take_number(const char **text, double *number)
{
	char *end;

	/* strtod() also takes signs, spaces, hexadecimal numbers and names. */
	if (!isdigit((unsigned char)**text) && **text != '.')
		return false;
	errno = 0;
	*number = strtod(*text, &end);
	if (errno || end == *text || memchr(*text, 'x', end - *text) ||
	    memchr(*text, 'X', end - *text))
		return false;
	*text = end;
	return true;
}

/* Rounds @value to *@number; returns false if it is negative or too large. */
static bool whole(double value, uint64_t *number)
{
	/* 2^63: no clock and no count gets beyond */
	if (!(value >= 0 && value < 9223372036854775808.0))
		return false;
	*number = llround(value);
	return true;
}

/**
 * units_parse_time - parse a duration
 * @text: numbers with units, the longest unit first: 1h30m, 1.5s, 200ms
 * @ns: out: the duration in ns
 *
 * Return: NULL, or what is wrong with @text. A number other than 0 needs a unit.
 */
const char *units_parse_time(const char *text, uint64_t *ns)
{
	static const char misspelt[] = "write it like 1.5s or 200ms";
	bool zero = !strcmp(text, "0");
	double sum = 0, last = HUGE_VAL;

	if (text[0] == '-' && isdigit((unsigned char)text[1]))
		return "it must not be negative";
	if (!*text)
		return misspelt;
	while (*text && !zero) {
		double number, factor;

		if (!take_number(&text, &number))
			return misspelt;
		factor = take_unit(&text, times);
		if (!factor || factor >= last)
			return misspelt;
		last = factor;
		sum += number * factor;
	}
	if (!whole(sum, ns))
		return "it is too large: at most 106751d, that is 292 years";
	/* A time that is not 0 must not be rounded to 0. */
	return *ns || !sum ? NULL : "it is less than 1ns";
}

/* Parses a count, with or without a multiple: 1000000, 64k, 1.5M. Not 1.5: half of what? */
bool units_parse_number(const char *text, uint64_t *number)
{
	double value, factor = 1;

	if (!take_number(&text, &value))
		return false;
	if (*text)
		factor = take_unit(&text, multiples);
	value *= factor;
	/* 2.3 cannot be represented, and so 2.3M may miss its number by a little. */
	return factor && !*text && whole(value, number) &&
	       fabs(value - *number) < 0.001;
}

/* Formats with three or four digits, in the unit that fits: 1.50s, 213us. */
static const char *format(double value, const struct unit *units,
			  char room[UNITS_ROOM])
{
	const struct unit *unit = units;

	while (unit[1].name && value >= unit[1].factor)
		unit++;
	value /= unit->factor;
	snprintf(room, UNITS_ROOM, "%.*f%s",
		 unit == units || value >= 100 ? 0 :
		 value >= 10		       ? 1 :
						 2,
		 value, unit->name);
	return room;
}

const char *units_format_time(uint64_t ns, char room[UNITS_ROOM])
{
	static const struct unit shown[] = {
		{ "ns", 1 },	  { "us", 1e3 },   { "ms", 1e6 },
		{ "s", 1e9 },	  { "min", 60e9 }, { "h", 3600e9 },
		{ "d", 86400e9 }, { NULL, 0 },
	};

	return format(ns, shown, room);
}

const char *units_format_number(uint64_t number, char room[UNITS_ROOM])
{
	static const struct unit shown[] = {
		{ "", 1 },    { "k", 1e3 }, { "M", 1e6 },
		{ "G", 1e9 }, { NULL, 0 },
	};

	return format(number, shown, room);
}

const char *units_format_bytes(uint64_t bytes, char room[UNITS_ROOM])
{
	static const struct unit shown[] = {
		{ "B", 1 },	    { "KiB", 1024 },
		{ "MiB", 1048576 }, { "GiB", 1073741824 },
		{ NULL, 0 },
	};

	return format(bytes, shown, room);
}
