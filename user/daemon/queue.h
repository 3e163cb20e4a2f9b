/* SPDX-License-Identifier: MIT */
/*
 * A queue, and this daemon's membership in it. All daemons of a queue are members of the
 * same set in Redis. Each computes which of them should serve which shard, by rendezvous
 * hashing: the shard goes to the member for which a hash of both is the largest. So a
 * member that comes or goes moves its own share of the shards only.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "shard.h"

struct queue;

/**
 * struct queue_events - functions of the owner of the queues
 * @left: all leases are released, and the other members know it
 */
struct queue_events {
	void (*left)(void *arg);
};

enum queue_state {
	QUEUE_JOINED,
	QUEUE_RELEASING, /* waits for the shards to become idle */
	QUEUE_LEAVING, /* waits for the answer to hwt_leave */
	QUEUE_LEFT,
};

/**
 * struct queue - a queue
 * @options: the options
 * @config: the queue's own
 * @counters: what is counted for it
 * @events: functions of the owner
 * @arg: their argument
 * @key: key of the members, like {orders}
 * @state: whether we are a member
 * @control: the connection for hwt_join
 * @listener: the connection that waits for changes
 * @listening: the listener waits
 * @seen: last entry of "changes" that we know, or $
 * @beat: timer for hwt_join; while we leave, the end of the patience with releases
 * @joining: hwt_join is in flight
 * @telling: the news of a released shard is in flight
 * @released: other shards were released meanwhile
 * @absent_until: CLOCK_BOOTTIME in ns until which we are no member, because we cannot
 *	serve; 0: we are
 * @idle: number of shards at the front that are idle, while we leave
 * @shards: the shards
 */
struct queue {
	const struct options *options;
	const struct queue_options *config;
	struct counters counters;
	const struct queue_events *events;
	void *arg;
	char key[KEY_ROOM];
	enum queue_state state;
	struct link control;
	struct link listener;
	bool listening;
	char seen[CURSOR_ROOM];
	struct event *beat;
	bool joining;
	bool telling;
	bool released;
	int64_t absent_until;
	unsigned int idle;
	struct shard *shards;
};

int queue_init(struct queue *queue, struct event_base *base,
	       const struct options *options,
	       const struct queue_options *config,
	       const struct queue_events *events, void *arg);
void queue_leave(struct queue *queue);
void queue_free(struct queue *queue);

#endif /* QUEUE_H */
