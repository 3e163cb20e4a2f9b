/* SPDX-License-Identifier: MIT */
/* What hwtimerd serve has */
#ifndef SERVER_H
#define SERVER_H

#include "shard.h"

/**
 * struct queue - a queue
 * @name: its name
 * @counters: its counters
 */
struct queue {
	const char *name;
	struct counters counters;
};

/**
 * struct server - the daemon
 * @options: the options
 * @base: the loop
 * @queues: the queues of the options
 * @nr_queues: length of @queues
 * @shards: the shards of all queues
 * @nr_shards: length of @shards
 * @stopping: a signal has asked to stop
 */
struct server {
	const struct options *options;
	struct event_base *base;
	struct queue *queues;
	unsigned int nr_queues;
	struct shard *shards;
	unsigned int nr_shards;
	bool stopping;
};

#endif /* SERVER_H */
