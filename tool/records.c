// SPDX-License-Identifier: MIT
/*
 * Reads the output of hwtimerctl stats --json; see records.h. Accepts any JSON array of
 * objects, and skips members that it does not know.
 */
#include "records.h"

#include <ctype.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

/* Limit of nested values, because each takes some of the stack; stats writes fewer. */
#define DEEPEST 100

/**
 * struct reader - a file that is being read
 * @file: the file
 * @name: name of the file, for messages
 */
struct reader {
	FILE *file;
	const char *name;
};

static void bad(const struct reader *reader)
{
	long place = ftell(reader->file);
	char where[48] = "";

	/* A pipe has no position. */
	if (place >= 0)
		snprintf(where, sizeof(where), " (near byte %ld)", place);
	errx(1, "%s is not what 'hwtimerctl stats --json' writes%s",
	     reader->name, where);
}

/* Returns the next character that is not a space, without taking it, or EOF. */
static int peek(const struct reader *reader)
{
	int c;

	do {
		c = getc(reader->file);
	} while (isspace(c));
	if (c != EOF)
		ungetc(c, reader->file);
	return c;
}

/* Takes @c if it is next; returns whether it was. */
static bool take(const struct reader *reader, int c)
{
	if (peek(reader) != c)
		return false;
	getc(reader->file);
	return true;
}

/* Takes @c, which must be next, except at the end of the file: see records_next(). */
static void need(const struct reader *reader, int c)
{
	if (!take(reader, c) && peek(reader) != EOF)
		bad(reader);
}

/* Returns whether there is something before @c; if not, takes @c. */
static bool more_before(const struct reader *reader, int c)
{
	return !take(reader, c) && peek(reader) != EOF;
}

/* Cuts a string that does not fit into @room; an escaped character stands for itself. */
static void read_string(const struct reader *reader, char *room, size_t size)
{
	size_t length = 0;
	int c;

	need(reader, '"');
	while ((c = getc(reader->file)) != '"') {
		if (c == '\\')
			c = getc(reader->file);
		if (c == EOF)
			break;
		if (length + 1 < size)
			room[length++] = c;
	}
	room[length] = '\0';
}

static uint64_t read_number(const struct reader *reader)
{
	char digits[64];
	size_t length = 0;
	int c = peek(reader);

	while ((c = getc(reader->file)) != EOF &&
	       (isalnum(c) || c == '-' || c == '+' || c == '.'))
		if (length + 1 < sizeof(digits))
			digits[length++] = c;
	if (c != EOF)
		ungetc(c, reader->file);
	if (!length && c != EOF)
		bad(reader);
	digits[length] = '\0';
	return strtoull(digits, NULL, 10);
}

/* Skips any value; @depth: how many values may be nested */
static void skip(const struct reader *reader, unsigned int depth)
{
	char string[2];

	if (!depth)
		bad(reader);
	if (peek(reader) == '"') {
		read_string(reader, string, sizeof(string));
	} else if (take(reader, '[')) {
		while (more_before(reader, ']')) {
			skip(reader, depth - 1);
			take(reader, ',');
		}
	} else if (take(reader, '{')) {
		while (more_before(reader, '}')) {
			read_string(reader, string, sizeof(string));
			need(reader, ':');
			skip(reader, depth - 1);
			take(reader, ',');
		}
	} else {
		read_number(reader);
	}
}

static void read_lateness(const struct reader *reader,
			  struct instance *instance)
{
	unsigned int i = 0;

	need(reader, '[');
	while (more_before(reader, ']')) {
		uint64_t count = read_number(reader);

		if (i < HWTIMER_LATENESS_BUCKETS)
			instance->lateness[i++] = count;
		take(reader, ',');
	}
}

static void read_member(const struct reader *reader,
			struct instances *instances, struct instance *instance)
{
	char name[32];

	read_string(reader, name, sizeof(name));
	need(reader, ':');
	if (!strcmp(name, "pid"))
		instance->pid = read_number(reader);
	else if (!strcmp(name, "fd"))
		instance->fd = read_number(reader);
	else if (!strcmp(name, "time"))
		instances->time = read_number(reader);
	else if (!strcmp(name, "lateness"))
		read_lateness(reader, instance);
	else if (isdigit(peek(reader)))
		instance_count(instance, name, read_number(reader));
	else
		skip(reader, DEEPEST);
}

/**
 * records_next - read the next sample
 * @file: file to read from
 * @name: name of the file, for messages
 * @instances: out: the sample; the caller frees it with instances_free()
 *
 * Warns about a record that the end of the file cuts, and ignores it: the program that
 * wrote it may have been stopped.
 *
 * Return: false at the end of the file. Ends the program if the file has other contents.
 */
bool records_next(FILE *file, const char *name, struct instances *instances)
{
	const struct reader reader = { .file = file, .name = name };

	*instances = (struct instances){ 0 };
	if (peek(&reader) == EOF) {
		if (ferror(file))
			err(1, "%s", name);
		return false;
	}
	need(&reader, '[');
	while (more_before(&reader, ']')) {
		struct instance *instance = instances_add(instances);

		need(&reader, '{');
		while (more_before(&reader, '}')) {
			read_member(&reader, instances, instance);
			take(&reader, ',');
		}
		take(&reader, ',');
	}
	/* A complete record ends before the end of the file is reached. */
	if (!feof(file) && !ferror(file))
		return true;
	warnx("%s: the last record is cut off, and ignored", name);
	instances_free(instances);
	return false;
}
