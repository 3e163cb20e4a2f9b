// SPDX-License-Identifier: MIT
/* Times and numbers as people write them; see units.h. */
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

/* The factor of the unit at *@text, which is moved behind it; 0: there is none. */
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

/* A decimal number at *@text, which is moved behind it. */
static bool take_number(const char **text, double *number)
{
	char *end;

	/* strtod() takes signs, spaces, hexadecimal and names, too. */
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

/* Stores @value if it is one of 64 bits. */
static bool whole(double value, uint64_t *number)
{
	/* 2^63: what is beyond no clock reaches, nor any count */
	if (!(value >= 0 && value < 9223372036854775808.0))
		return false;
	*number = llround(value);
	return true;
}

/**
 * units_parse_time - a duration
 * @text: numbers with units, from the longest on: 1h30m, 1.5s, 200ms
 * @ns: out
 *
 * Return: whether it is one. A number without a unit is none, but for 0.
 */
bool units_parse_time(const char *text, uint64_t *ns)
{
	double sum = 0, last = HUGE_VAL;

	if (!strcmp(text, "0"))
		return whole(0, ns);
	if (!*text)
		return false;
	while (*text) {
		double number, factor;

		if (!take_number(&text, &number))
			return false;
		factor = take_unit(&text, times);
		if (!factor || factor >= last)
			return false;
		last = factor;
		sum += number * factor;
	}
	/* Half a nanosecond is not what somebody meant by 0. */
	return whole(sum, ns) && (*ns || !sum);
}

/* A count, with or without a multiple: 1000000, 64k, 1.5M. */
bool units_parse_number(const char *text, uint64_t *number)
{
	double value, factor = 1;

	if (!take_number(&text, &value))
		return false;
	if (*text)
		factor = take_unit(&text, multiples);
	return factor && !*text && whole(value * factor, number);
}

/* With three digits or four, in the unit that fits: 1.50s, 213us. */
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
