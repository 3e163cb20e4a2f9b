// SPDX-License-Identifier: MIT
/* Takes answers to hwt_stats; see survey.h. */
#include "survey.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Returns the value behind @name in a list of names and values; NULL: there is none. */
const struct redisReply *survey_find(const struct redisReply *stats,
				     const char *name)
{
	size_t i;

	if (stats->type != REDIS_REPLY_ARRAY)
		return NULL;
	for (i = 0; i + 1 < stats->elements; i += 2)
		if (reply_is(stats->element[i], name))
			return stats->element[i + 1];
	return NULL;
}

/* Returns the number behind @name; 0: there is none. */
int64_t survey_number(const struct redisReply *stats, const char *name)
{
	const struct redisReply *value = survey_find(stats, name);
	int64_t number;

	return value && reply_number(value, &number) ? number : 0;
}

/* The name becomes a label of the metrics, which must be UTF-8 and on one line. */
static void take_name(char room[GROUP_ROOM], const struct redisReply *name)
{
	size_t i, length = 0;

	if (reply_is_text(name))
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

/* Metrics must not have a label twice. Names that differ may be printed alike. */
static bool is_known(const struct survey *survey, const char *name)
{
	unsigned int i;

	for (i = 0; i < survey->nr_groups; i++)
		if (!strcmp(survey->groups[i].name, name))
			return true;
	return false;
}

static void take_group(struct survey *survey, const struct redisReply *reply,
		       int64_t now)
{
	struct survey_group *group = &survey->groups[survey->nr_groups];
	int64_t unread;

	if (!reply_is_array(reply, 4) ||
	    !reply_number(reply->element[1], &group->pending) ||
	    !reply_number(reply->element[2], &unread) ||
	    !reply_number(reply->element[3], &group->lag))
		return;
	group->unread = unread > 0 && unread < now ? now - unread : 0;
	take_name(group->name, reply->element[0]);
	survey->nr_groups += !is_known(survey, group->name);
}

/* An error leaves what was there: no shard, or no right. */
void survey_take(struct survey *survey, const struct redisReply *stats)
{
	const struct redisReply *groups = survey_find(stats, "groups");
	int64_t now = survey_number(stats, "time") / 1000;
	size_t i;

	if (!groups || groups->type != REDIS_REPLY_ARRAY)
		return;
	free(survey->groups);
	survey->nr_groups = 0;
	survey->pending = survey_number(stats, "pending");
	survey->due = survey_number(stats, "due");
	survey->groups = calloc(groups->elements, sizeof(*survey->groups));
	for (i = 0; survey->groups && i < groups->elements; i++)
		take_group(survey, groups->element[i], now);
}
