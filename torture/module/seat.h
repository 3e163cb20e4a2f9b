/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A seat: a place for a client of hwtimer, in which one client after another is created,
 * used and destroyed. main.c has threads that call the functions here; any number of them
 * may do so at a time.
 */
#ifndef TORTURE_SEAT_H
#define TORTURE_SEAT_H

#include <linux/atomic.h>
#include <linux/prandom.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>

#include <linux/hwtimer_client.h>

#include "account.h"

/* Timers of each client */
#define TORTURE_TIMERS 256

/**
 * struct torture_seat - a place for a client
 * @nr: number of the seat
 * @sitting: read: the client stays. write: the client is created or destroyed
 * @client: the client; NULL: none. Protected by @sitting
 * @queue: workqueue of the client; NULL: callbacks run in hwtimer's worker
 * @options: options of the client; protected by @sitting
 * @accounts: accounts of its timers
 * @random: random numbers for callbacks, which never run at the same time
 * @stopping: the client is being stopped, so callbacks can schedule nothing
 * @inside: 1 while a callback runs
 * @horizon: latest deadline of a callback, ns; written by callbacks only
 * @called: callbacks of this client
 * @scheduled: timers scheduled on this client
 * @calm_called: value of @called when the clerk found that timers were due
 * @calm: number of times since then that the clerk slept and woke up, and found that timers
 *	were still due; used by the clerk only
 */
struct torture_seat {
	unsigned int nr;
	struct rw_semaphore sitting;
	struct hwtimer_client *client;
	struct workqueue_struct *queue;
	struct hwtimer_client_options options;
	struct torture_account accounts[TORTURE_TIMERS];
	struct rnd_state random;
	bool stopping;
	atomic_t inside;
	u64 horizon;
	atomic64_t called;
	atomic64_t scheduled;
	u64 calm_called;
	unsigned int calm;
};

void torture_seat_init(struct torture_seat *seat, unsigned int nr);
void torture_seat_replace(struct torture_seat *seat, struct rnd_state *random);
void torture_seat_use(struct torture_seat *seat, struct rnd_state *random);
void torture_seat_watch(struct torture_seat *seat);
void torture_seat_clear(struct torture_seat *seat);

/* Returns a random number below @below. */
static inline u32 torture_below(struct rnd_state *random, u32 below)
{
	return prandom_u32_state(random) % below;
}

#endif /* TORTURE_SEAT_H */
