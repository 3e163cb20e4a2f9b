/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The systems that redis-drive drives.
 */
#ifndef REDIS_BENCH_SYSTEM_H
#define REDIS_BENCH_SYSTEM_H

#include "connection.h"
#include "ledger.h"

/**
 * struct system - a way to keep timers in Redis
 * @name: the name in results
 * @replies: sum of the integers that the server replies per timer scheduled; the same
 *	per timer cancelled
 * @turn: makes due timers fire, or waits some ms if none is due; a process of its own
 *	calls it again and again. NULL: take() makes them fire, or a daemon does
 * @takes_fire: whether take() makes timers fire
 * @prepare: prepares an empty server
 * @schedule: queues the commands that schedule timers, one batch
 * @cancel: the same for cancels
 * @left: returns the number of timers that the server still has
 * @take: takes what has fired, and enters it; waits some ms if there is nothing
 */
struct system {
	const char *name;
	__u32 replies;
	_Bool takes_fire;
	void (*turn)(struct connection *connection);
	void (*prepare)(struct connection *connection);
	void (*schedule)(struct connection *connection,
			 const struct timer *timers, __u32 count);
	void (*cancel)(struct connection *connection,
		       const struct timer *timers, __u32 count);
	__u64 (*left)(struct connection *connection);
	void (*take)(struct connection *connection, struct ledger *ledger);
};

extern const struct system system_hwtimerd;
extern const struct system system_poller;
extern const struct system system_stream_poller;

/* How often the pollers poll, in ms */
extern __u32 poller_period;

#endif /* REDIS_BENCH_SYSTEM_H */
