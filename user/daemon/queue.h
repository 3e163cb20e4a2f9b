/* SPDX-License-Identifier: MIT */
/* The queues of the options, with their shards */
#ifndef QUEUE_H
#define QUEUE_H

#include "shard.h"

/**
 * struct queue - a queue
 * @config: its option
 * @counters: its counters
 * @shards: its shards
 */
struct queue {
	const struct queue_options *config;
	struct counters counters;
	struct shard *shards;
};

#endif /* QUEUE_H */
