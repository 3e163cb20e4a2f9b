/* SPDX-License-Identifier: MIT */
/* What hwt_stats says of a shard: timers, and groups of consumers of "due". */
#ifndef SURVEY_H
#define SURVEY_H

#include "reply.h"

#define GROUP_ROOM 64

/**
 * struct survey_group - a group of consumers
 * @name: its name, printable
 * @pending: entries that were delivered and not acknowledged
 * @unread: ms since the first entry that was not delivered to it; 0: there is none
 * @lag: number of entries that were not; -1: Redis does not know
 */
struct survey_group {
	char name[GROUP_ROOM];
	int64_t pending;
	int64_t unread;
	int64_t lag;
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

const struct redisReply *survey_find(const struct redisReply *stats,
				     const char *name);
int64_t survey_number(const struct redisReply *stats, const char *name);
void survey_take(struct survey *survey, const struct redisReply *stats);

#endif /* SURVEY_H */
