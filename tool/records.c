// SPDX-License-Identifier: MIT
/*
 * Reads the output of hwtimerctl stats --json; see records.h. Members that this version
 * does not know are skipped, so that it can read what a newer one has written.
 */
#define _GNU_SOURCE
#include "records.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_JANSSON
#include <jansson.h>

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

static void take_lateness(struct instance *instance, const json_t *lateness)
{
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		instance->lateness[i] =
			json_integer_value(json_array_get(lateness, i));
}

static void take_instance(struct instance *instance, json_t *object)
{
	const char *name, *comm;
	json_t *value;

	instance->pid = json_integer_value(json_object_get(object, "pid"));
	instance->fd = json_integer_value(json_object_get(object, "fd"));
	comm = json_string_value(json_object_get(object, "comm"));
	snprintf(instance->comm, sizeof(instance->comm), "%s",
		 comm ? comm : "");
	take_lateness(instance, json_object_get(object, "lateness"));
	json_object_foreach(object, name, value)
	{
		if (json_is_integer(value) && strcmp(name, "pid") &&
		    strcmp(name, "fd"))
			instance_count(instance, name,
				       json_integer_value(value));
	}
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
	instances->time = json_integer_value(json_object_get(object, "time"));
	instances->realtime =
		json_integer_value(json_object_get(object, "realtime"));
	snprintf(instances->host, sizeof(instances->host), "%s",
		 host ? host : "");
	json_array_foreach(list, i, one)
	{
		if (!json_is_object(one))
			bad(place, "an instance that is no object");
		take_instance(instances_add(instances), one);
	}
}

bool records_next(struct records *records, struct instances *instances)
{
	struct place place = { records->name, ++records->line };
	json_error_t error;
	json_t *object;
	ssize_t length;

	*instances = (struct instances){ 0 };
	length = getline(&records->text, &records->room, records->file);
	if (length < 0) {
		if (ferror(records->file))
			err(1, "%s", records->name);
		return false;
	}
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
