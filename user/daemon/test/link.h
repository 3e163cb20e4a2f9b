/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The link to Redis, which may be one server, a master with replicas, or a Cluster. It
 * follows redirections, and connects again when a connection ends.
 */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <hiredis/hiredis.h>

/*
 * struct command - one command, and its reply
 * @repeatable: it may be sent again when its reply was lost
 * @reply: NULL if its reply was lost; then it was executed once, or not at all, and will
 *	not be executed any more
 */
struct command {
	int argc;
	char **argv;
	size_t *lengths;
	redisReply *reply;
	bool repeatable;
	bool lost;
};

/* A pipeline of commands for one shard. Clear it before its first use. */
struct pipeline {
	struct command *commands;
	size_t used, room;
};

void link_open(const char *addresses, const char *queue, unsigned int shards,
	       unsigned int replicas);
const char *link_key(unsigned int shard);
const char *link_due(unsigned int shard);

struct command *pipeline_add(struct pipeline *pipeline, bool repeatable);
void command_arg(struct command *command, const void *arg, size_t length);
void command_words(struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void pipeline_run(struct pipeline *pipeline, unsigned int shard);
void pipeline_clear(struct pipeline *pipeline);

/* The patience of the program, which is not limited while anything moves */
void patience_set(unsigned int seconds, void (*at_end)(void));
void progress(void);
void idle(unsigned int ms);

#endif
