/* SPDX-License-Identifier: MIT */
/*
 * A shard, of which this daemon is one of the daemons that would serve it.
 *
 * Redis keeps the timers, and decides what fires, and which daemon serves the shard. The
 * daemon only says when to look: it calls hwt_fire at the first deadline that the last call has
 * told, or that a program has scheduled since then; the listener hears of such ones. So
 * nothing happens if a daemon looks too often, and timers are late if it looks too late.
 *
 * Each third of the lease, a call also says that the daemon lives, and finds out what the
 * listener may have missed: its connection may have died without a word.
 *
 * A deadline is the time until then by Redis's clock, from the answer that told it on. So the
 * clock of this machine does not matter.
 */
#ifndef SHARD_H
#define SHARD_H

#include "alarm.h"
#include "link.h"
#include "survey.h"

/* Two numbers of 20 digits with a sign in between */
#define CURSOR_ROOM 48

/**
 * struct shard - a shard
 * @options: the options
 * @counters: counters of the queue
 * @key: key of the shard, like {orders:0}
 * @commander: the connection for all commands but the one that waits
 * @listener: the connection for the one that waits for an entry in the stream "news"
 * @cursor: the last one that we know
 * @alarm: for the next call of hwt_fire
 * @calling: hwt_fire is in flight
 * @earliest: CLOCK_MONOTONIC in ns of the next call at the earliest
 * @renew: the same, at which a call is to say that we live
 * @first: the same, of the first deadline; INT64_MAX: there is no timer
 * @heard: the same, of those that the listener has told of since that call
 * @is_ours: we serve the shard
 * @is_known: its keys were there since we know the shard
 * @evicts: Redis may evict its keys
 * @trim_in: renewals until hwt_fire removes what is acknowledged
 * @is_leaving: we have been told to leave the shard
 * @survey: what Redis said for the metrics
 * @surveying: an answer for @survey will come
 */
struct shard {
	const struct options *options;
	struct counters *counters;
	char key[KEY_ROOM];
	struct link commander;
	struct link listener;
	char cursor[CURSOR_ROOM];
	struct alarm alarm;
	bool calling;
	int64_t earliest;
	int64_t renew;
	int64_t first;
	int64_t heard;
	bool is_ours;
	bool is_known;
	bool evicts;
	unsigned int trim_in;
	bool is_leaving;
	struct survey survey;
	bool surveying;
};

void shard_init(struct shard *shard, struct event_base *base,
		const struct options *options, const char *queue,
		unsigned int number, struct counters *counters);
void shard_leave(struct shard *shard);
void shard_survey(struct shard *shard);

#endif /* SHARD_H */
