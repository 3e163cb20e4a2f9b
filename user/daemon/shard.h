/* SPDX-License-Identifier: MIT */
/*
 * A shard, as long as this daemon should serve it: its lease, its turns, its listener.
 *
 * A turn is one call of hwt_turn: it fires what has expired here, and brings timers that
 * are due soon. At most one is in flight. The kernel's events, an entry in the shard's
 * stream "near" and the alarm for the next slot each want a turn; the pace says how soon
 * after the last one it may start.
 *
 * What all groups of consumers have acknowledged is removed from the stream "due", unless
 * --keep says otherwise.
 *
 * The listener's connection may die without a word: a firewall forgets it, say. So each
 * renewal of the lease tells Redis the last entry of "near" that we know, and the answer
 * says whether there are later ones. If the listener has not told of them by the answer
 * to the next renewal, its connection is opened anew.
 *
 * The lease only keeps daemons out of each other's way. A turn does no harm if another
 * daemon serves the shard, too.
 */
#ifndef SHARD_H
#define SHARD_H

#include "link.h"
#include "survey.h"
#include "wheel.h"

#define KEY_ROOM (NAME_ROOM + 16)

/* Timers in one turn: fired ones, and new ones. The functions refuse more. */
#define TURN_MAX 1000

/* A cursor is two numbers of 20 digits with a sign in between. */
#define CURSOR_ROOM 48

/* Overwritten slots that are remembered, so that each is told of once */
#define OVERWRITTEN_MAX 16

enum shard_state {
	SHARD_IDLE, /* others serve it, and nothing is connected */
	SHARD_ASKING, /* for the lease */
	SHARD_SERVING,
	SHARD_RELEASING, /* the lease */
};

/**
 * struct shard_events - functions of a shard's owner
 * @released: the shard has become idle
 */
struct shard_events {
	void (*released)(void *arg);
};

/**
 * struct shard - a shard
 * @options: the options
 * @width: ms of a slot that --queue asks for, or 0
 * @counters: counters of the queue
 * @events: functions of the owner
 * @arg: their argument
 * @base: the loop
 * @key: key of the shard, like {orders:0}
 * @commander: the connection for all commands but the one that waits
 * @listener: the connection for the one that waits for entries in "near"
 * @clock: difference to the clock of the shard's Redis
 * @apart: the difference is too large to serve the shard
 * @failed: no wheel could be opened when it was tried last
 * @broken: the wheel has failed, and must be closed
 * @opened: CLOCK_BOOTTIME in ns at which it was opened
 * @open_next: CLOCK_BOOTTIME in ns before which no other one is opened
 * @failures: number of wheels that failed before they had worked for long
 * @state: state of the shard
 * @wanted: this daemon should serve the shard
 * @beat: timer for the lease
 * @asking: TIME or hwt_lease is in flight
 * @hurried: hwt_lease shall be called again if it is refused
 * @asked: when it was sent
 * @told: @cursor in that hwt_lease; empty: none
 * @untold: number of calls of hwt_lease without @cursor to come, because the functions are
 *	of an older version, which refuses it
 * @lease_until: CLOCK_BOOTTIME in ns at which our lease may have ended
 * @wheel: timers in the kernel; open while the shard is served
 * @pace: timer for the next turn
 * @flying: timers of the turn in flight
 * @in_turn: a turn is in flight
 * @stale: that turn began before we lost the shard
 * @turn_wanted: another turn should follow
 * @turn_asked: when the last turn was sent
 * @cursor: last entry of "near" that we know; empty: none, read all slots
 * @position: how far the slots are loaded, in the terms of hwt_turn
 * @listening: the listener waits
 * @overdue: there are entries that should have ended that wait
 * @trim_in: grants of the lease until hwt_trim is called; 0: it is not
 * @trim_wait: grants between that call and the next one
 * @trimming: hwt_trim is in flight
 * @trim_failures: number of calls on this connection that failed since one succeeded
 * @overwritten: hashes of the keys of slots of which a message has told that somebody else
 *	has overwritten them; 0: none
 * @nr_overwritten: number of messages that have told of them
 * @is_set_up: @width was asked for, or need not be
 * @survey: what Redis said for the metrics
 * @surveying: number of answers for @survey that will come
 */
struct shard {
	const struct options *options;
	uint64_t width;
	struct counters *counters;
	const struct shard_events *events;
	void *arg;
	struct event_base *base;
	char key[KEY_ROOM];
	struct link commander;
	struct link listener;
	struct clock clock;
	bool apart;
	bool failed;
	bool broken;
	int64_t opened;
	int64_t open_next;
	unsigned int failures;
	enum shard_state state;
	bool wanted;
	struct event *beat;
	bool asking;
	bool hurried;
	struct clock_question asked;
	char told[CURSOR_ROOM];
	unsigned int untold;
	int64_t lease_until;
	struct wheel wheel;
	struct event *pace;
	struct record_list flying;
	bool in_turn;
	bool stale;
	bool turn_wanted;
	struct clock_question turn_asked;
	char cursor[CURSOR_ROOM];
	char position[CURSOR_ROOM];
	bool listening;
	bool overdue;
	unsigned int trim_in;
	unsigned int trim_wait;
	bool trimming;
	unsigned int trim_failures;
	uint64_t overwritten[OVERWRITTEN_MAX];
	unsigned int nr_overwritten;
	bool is_set_up;
	struct survey survey;
	unsigned int surveying;
};

int shard_init(struct shard *shard, struct event_base *base,
	       const struct options *options, const struct queue_options *queue,
	       unsigned int number, struct counters *counters,
	       const struct shard_events *events, void *arg);
void shard_free(struct shard *shard);
void shard_want(struct shard *shard, bool wanted);
void shard_hurry(struct shard *shard);
void shard_survey(struct shard *shard);

#endif /* SHARD_H */
