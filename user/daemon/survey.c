// SPDX-License-Identifier: MIT
/* Takes answers to hwt_stats and XINFO GROUPS; see survey.h. */
#include "survey.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Returns the value behind @name in a list of names and values; NULL: there is none. */
static const struct redisReply *find(const struct redisReply *reply,
				     const char *name)
{
	size_t i;

	if (reply->type != REDIS_REPLY_ARRAY)
		return NULL;
	for (i = 0; i + 1 < reply->elements; i += 2)
		if (reply_is(reply->element[i], name))
			return reply->element[i + 1];
	return NULL;
}

/* Takes the number of that name; returns whether there is one. */
bool survey_field(const struct redisReply *reply, const char *name,
		  int64_t *number)
{
	const struct redisReply *value = find(reply, name);

	return value && reply_number(value, number);
}

void survey_take_stats(struct survey *survey, const struct redisReply *reply)
{
	survey_field(reply, "pending", &survey->pending);
	survey_field(reply, "due", &survey->due);
}

/* The name becomes a label of the metrics, which must be UTF-8 and on one line. */
static void take_name(char room[GROUP_ROOM], const struct redisReply *name)
{
	size_t i, length = 0;

	if (name && reply_is_text(name))
		length = (size_t)name->len < GROUP_ROOM ? (size_t)name->len :
							  GROUP_ROOM - 1;
	for (i = 0; i < length; i++) {
		unsigned char byte = name->str[i];

		room[i] = byte < 0x80 && isprint(byte) && byte != '"' &&
					  byte != '\\' ?
				  byte :
				  '?';
	}
	room[length] = '\0';
}

static void take_group(struct survey_group *group,
		       const struct redisReply *reply)
{
	group->lag = -1;
	group->pending = 0;
	take_name(group->name, find(reply, "name"));
	survey_field(reply, "lag", &group->lag);
	survey_field(reply, "pending", &group->pending);
}

/* Metrics must not have a label twice. Names that differ may be printed alike. */
static bool is_known(const struct survey *survey, const char *name)
{
	unsigned int i;

	for (i = 0; i < survey->nr_groups; i++)
		if (!strcmp(survey->groups[i].name, name))
			return true;
	return false;
}

/* Without the stream, the answer is an error, and there are no groups. */
void survey_take_groups(struct survey *survey, const struct redisReply *reply)
{
	size_t i, count = 0;

	survey_free(survey);
	if (reply->type == REDIS_REPLY_ARRAY)
		count = reply->elements < SURVEY_GROUPS_MAX ? reply->elements :
							      SURVEY_GROUPS_MAX;
	survey->groups = count ? calloc(count, sizeof(*survey->groups)) : NULL;
	if (!survey->groups)
		return;
	for (i = 0; i < count; i++) {
		struct survey_group *group = &survey->groups[survey->nr_groups];

		take_group(group, reply->element[i]);
		survey->nr_groups += !is_known(survey, group->name);
	}
}

void survey_free(struct survey *survey)
{
	free(survey->groups);
	survey->groups = NULL;
	survey->nr_groups = 0;
}
