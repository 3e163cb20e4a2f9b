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

/* Most commands of a pipeline, and arguments of a command */
#define MAX_COMMANDS 80
#define MAX_ARGS 500

/*
 * struct command - one command, and its reply
 * @text: the command, as it is sent
 * @reply: NULL if its reply was lost; then it was executed once, or not at all, and will
 *	not be executed any more
 * @repeatable: it may be sent again when its reply was lost
 * @lost: its reply was lost, and it is not sent again
 * @sent: it is part of the attempt that goes on
 */
struct command {
	char *text;
	int length;
	redisReply *reply;
	bool repeatable, lost, sent;
};

/* A pipeline of commands for one shard. Clear it before its first use. */
struct pipeline {
	struct command commands[MAX_COMMANDS];
	unsigned int used;
};

void link_open(const char *addresses, unsigned int shards,
	       unsigned int replicas);
const char *link_key(unsigned int shard);

/* A command is its words, then its arguments; pipeline_add() adds what these are. */
void command_words(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void command_arg(const void *arg, size_t length);
void pipeline_add(struct pipeline *pipeline, bool repeatable);
void pipeline_run(struct pipeline *pipeline, unsigned int shard);
void pipeline_clear(struct pipeline *pipeline);

/* The patience of the program, which is not limited while anything moves */
void patience_set(unsigned int seconds, void (*at_end)(void));
void progress(void);
void idle(unsigned int ms);

#endif
