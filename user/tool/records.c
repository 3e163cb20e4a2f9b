// SPDX-License-Identifier: MIT
/*
 * Reads the output of hwtimerctl stats --json; see records.h. Members that this version
 * does not know are skipped, so that it can read what a newer one has written.
 */
#include "records.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_JANSSON
#include <jansson.h>

/* Longest line, bytes: room for a hundred thousand instances */
#define RECORD_MAX (256 << 20)

/**
 * struct place - a line of a file, for messages
 * @name: name of the file
 * @line: number of the line
 */
struct place {
	const char *name;
	unsigned int line;
};

/* What a file says may go to a terminal, which must not obey it. */
static const char *printable(const char *text)
{
	static char room[JSON_ERROR_TEXT_LENGTH];
	char *at;

	snprintf(room, sizeof(room), "%s", text);
	for (at = room; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return room;
}

static void __attribute__((noreturn))
bad(const struct place *place, const char *what)
{
	errx(1, "%s:%u: %s: this is not what 'hwtimerctl stats --json' writes",
	     place->name, place->line, printable(what));
}

/* Returns an integer from 0 to @max; 0 if @value is none, or missing. */
static int64_t number_of(const struct place *place, const json_t *value,
			 int64_t max)
{
	int64_t number = json_integer_value(value);

	if (number < 0 || number > max)
		bad(place, "a number that is negative or too large");
	return number;
}

/* The same for a member of an object */
static int64_t member(const struct place *place, const json_t *object,
		      const char *name, int64_t max)
{
	return number_of(place, json_object_get(object, name), max);
}

static void take_lateness(const struct place *place, struct instance *instance,
			  const json_t *lateness)
{
	const json_t *value;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++) {
		value = json_array_get(lateness, i);
		instance->lateness[i] = number_of(place, value, INT64_MAX);
	}
}

static void take_instance(const struct place *place,
			  struct instances *instances, json_t *object)
{
	struct instance instance = {
		.pid = member(place, object, "pid", INT32_MAX),
		.fd = member(place, object, "fd", INT32_MAX),
	};
	const char *name, *comm;
	json_t *value;

	comm = json_string_value(json_object_get(object, "comm"));
	snprintf(instance.comm, sizeof(instance.comm), "%s", comm ? comm : "");
	take_lateness(place, &instance, json_object_get(object, "lateness"));
	json_object_foreach(object, name, value)
	{
		if (json_is_integer(value) && strcmp(name, "pid") &&
		    strcmp(name, "fd"))
			instance_count(&instance, name,
				       number_of(place, value, INT64_MAX));
	}
	instances_add(instances, &instance);
}

static void take_sample(const struct place *place, json_t *object,
			struct instances *instances)
{
	const char *schema =
		json_string_value(json_object_get(object, "schema"));
	const char *host = json_string_value(json_object_get(object, "host"));
	json_t *list = json_object_get(object, "instances"), *one;
	size_t i;

	if (!schema)
		bad(place, "an object without a schema");
	if (strcmp(schema, INSTANCES_SCHEMA))
		errx(1, "%s:%u: the schema is %s, and this version reads %s",
		     place->name, place->line, printable(schema),
		     INSTANCES_SCHEMA);
	if (!json_is_array(list))
		bad(place, "an object without instances");
	instances->time = member(place, object, "time", INT64_MAX);
	instances->realtime = member(place, object, "realtime", INT64_MAX);
	snprintf(instances->host, sizeof(instances->host), "%s",
		 host ? host : "");
	json_array_foreach(list, i, one)
	{
		if (!json_is_object(one))
			bad(place, "an instance that is no object");
		take_instance(place, instances, one);
	}
	instances_finish(instances);
}

static void add_byte(struct records *records, size_t length, char byte)
{
	if (length == records->room) {
		records->room = records->room ? 2 * records->room : 4096;
		records->text = realloc(records->text, records->room);
		if (!records->text)
			err(1, "no memory");
	}
	records->text[length] = byte;
}

/*
 * Reads a line with its end; returns its length. What has no lines, as /dev/zero, must not
 * fill the memory: a 0 byte and a line that is too long end the program.
 */
static size_t read_line(const struct place *place, struct records *records)
{
	size_t length = 0;
	int c = 0;

	while (c != '\n' && (c = getc_unlocked(records->file)) != EOF) {
		if (!c)
			bad(place, "a 0 byte");
		if (length == RECORD_MAX)
			bad(place, "the line is too long");
		add_byte(records, length++, c);
	}
	if (ferror(records->file))
		err(1, "%s", records->name);
	return length;
}

bool records_next(struct records *records, struct instances *instances)
{
	struct place place = { records->name, ++records->line };
	json_error_t error;
	json_t *object;
	size_t length;

	*instances = (struct instances){ 0 };
	length = read_line(&place, records);
	if (!length)
		return false;
	object = json_loadb(records->text, length, 0, &error);
	if (!object && records->text[length - 1] != '\n') {
		warnx("%s:%u: the last record is cut off, and ignored",
		      place.name, place.line);
		return false;
	}
	if (!object)
		bad(&place, error.text);
	take_sample(&place, object, instances);
	json_decref(object);
	return true;
}

#else /* WITH_JANSSON */

bool records_next(struct records *records, struct instances *instances)
{
	(void)instances;
	errx(1, "%s: this hwtimerctl was built without jansson, which reads it",
	     records->name);
}

#endif /* WITH_JANSSON */

struct records records_open(const char *name)
{
	struct records records = { .name = name, .file = stdin };

	if (!strcmp(name, "-"))
		records.name = "standard input";
	else
		records.file = fopen(name, "re");
	if (!records.file)
		err(1, "%s", name);
	return records;
}

void records_close(struct records *records)
{
	free(records->text);
	if (records->file != stdin)
		fclose(records->file);
}
