/* SPDX-License-Identifier: MIT */
/* What Redis says of a shard for the metrics: timers, and consumers of "due". */
#ifndef SURVEY_H
#define SURVEY_H

#include "reply.h"

#define SURVEY_GROUPS_MAX 64
#define GROUP_ROOM 64

/**
 * struct survey_group - a group of consumers
 * @name: its name, printable
 * @lag: entries that were not delivered to it yet; -1: Redis does not know
 * @pending: entries that were delivered and not acknowledged
 */
struct survey_group {
	char name[GROUP_ROOM];
	int64_t lag;
	int64_t pending;
};

/**
 * struct survey - what Redis said
 * @pending: timers
 * @due: entries of the stream "due"
 * @groups: the groups
 * @nr_groups: length of @groups
 */
struct survey {
	int64_t pending;
	int64_t due;
	struct survey_group *groups;
	unsigned int nr_groups;
};

bool survey_field(const struct redisReply *reply, const char *name,
		  int64_t *number);
void survey_take_stats(struct survey *survey, const struct redisReply *reply);
void survey_take_groups(struct survey *survey, const struct redisReply *reply);
void survey_free(struct survey *survey);

#endif /* SURVEY_H */
