/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A seat: the place of a worker process, with the accounts of its instance's timers and
 * all memory that its calls use. It is part of the board, so another worker can go on
 * where one was killed.
 */
#ifndef TORTURE_SEAT_H
#define TORTURE_SEAT_H

#include <stdatomic.h>
#include <sys/types.h>

#include <libhwtimer.h>

#include "account.h"
#include "board.h"
#include "rng.h"

/* Timers of an instance, operations of a call, events of a read() */
#define TIMERS 512
#define BATCH 64
#define EVENTS 128

/* Results that no call gives: of a BULK, and of a request of SUBMIT */
#define NO_RESULT ((__u64)0x7eadULL << 48)
#define NO_REQUEST_RESULT 0x7ead

/* user_data of a timer that never expires, and has no account */
#define PARKED (~0ULL)

/**
 * struct op - an operation that is under way
 * @what: HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL or HWTIMER_OP_RESCHEDULE
 * @timer: index of the timer
 * @discard: HWTIMER_REQ_DISCARD is set
 * @span: bounds of the new deadline
 * @delay: the delay, if @span is open
 */
struct op {
	__u32 what;
	__u32 timer;
	bool discard;
	struct span span;
	__u64 delay;
};

/* The call that is under way */
enum call {
	CALL_NONE,
	CALL_SUBMIT,
	CALL_BULK,
	CALL_SINGLE,
	CALL_READ,
	CALL_CANCEL_ALL
};

/**
 * struct watch - whether something follows when CLOCK_REALTIME is set
 * @since: board->sets_begun when it last did; only later sets count
 * @beats: number of beats since a set that was not followed
 */
struct watch {
	unsigned int since;
	unsigned int beats;
};

/**
 * struct seat - a worker's place
 * @nr: number of the seat
 * @pid: process id of the worker; 0: there is none
 * @fd: descriptor that the main process has opened and keeps, so that a worker can be
 *	killed without an end of the instance; -1: the worker opens its own
 * @alien: another user than the worker's has opened the instance
 * @mild: the worker takes no hoard, and no clock that may be set
 * @life: number of the instance on this seat
 * @rng: random numbers of the worker
 * @ready: the instance is set up
 * @done: the instance has ended, and all of its timers are accounted for
 * @clock: clock of the instance
 * @tick: tick of the instance, ns
 * @reports: the instance has HWTIMER_SETUP_REPORT_CLOCK_SET
 * @keeps: the instance has HWTIMER_SETUP_AT_LEAST_ONCE
 * @starving: rounds for which the instance gets no more memory
 * @updating: the worker writes into its accounts, so they cannot be judged if it is killed
 * @call: the call that is under way; its operations are in @ops
 * @count: number of operations of @call
 * @ops: operations of @call
 * @requests: requests of @call
 * @bulk: timers of a BULK
 * @ids: ids of a BULK that cancels
 * @results: results of a BULK
 * @events: events of a read(); those with an id have been taken
 * @returned: timers of a CANCEL_ALL; those with an id have been handed back
 * @stopping: the worker has begun to stop the instance
 * @timers: accounts of the timers
 * @horizon: latest deadline of an event, ns
 * @scheduled: number of timers scheduled, as STATS counts
 * @taken: number of events, as STATS counts
 * @exact: @scheduled and @taken are exact: no worker of this instance was killed
 * @beat: time of the last beat, ns
 * @calm: number of beats while timers were due and no event came
 * @calm_events: value of @taken when @calm was 0
 * @sets: board->sets_begun when the instance was set up
 * @reported: number of reports that the clock was set
 * @report: reports of read() that the clock was set
 * @notice: changes of @noticed
 * @noticed: how often the clock was set, as STATS counts
 * @quiet: number of rounds for which the worker only waits for events
 */
struct seat {
	unsigned int nr;
	pid_t pid;
	int fd;
	bool alien;
	bool mild;
	unsigned int life;
	struct rng rng;
	atomic_bool ready;
	atomic_bool done;
	clockid_t clock;
	__u64 tick;
	bool reports;
	bool keeps;
	int starving;
	atomic_bool updating;
	enum call call;
	unsigned int count;
	struct op ops[BATCH];
	struct hwtimer_request requests[BATCH];
	struct hwtimer_bulk_timer bulk[BATCH];
	uint64_t ids[BATCH];
	uint64_t results[BATCH];
	struct hwtimer_event events[EVENTS];
	struct hwtimer_timer returned[EVENTS];
	bool stopping;
	struct account timers[TIMERS];
	__u64 horizon;
	__u64 scheduled;
	__u64 taken;
	bool exact;
	__u64 beat;
	unsigned int calm;
	__u64 calm_events;
	unsigned int sets;
	unsigned int reported;
	struct watch report;
	struct watch notice;
	__u64 noticed;
	unsigned int quiet;
};

/* Whether the instance's clock may be set */
static inline bool seat_settable(const struct seat *seat)
{
	return seat->clock == CLOCK_REALTIME || seat->clock == CLOCK_TAI;
}

/* The time on the instance's clock, ns */
static inline __u64 seat_now(const struct seat *seat)
{
	return clock_ns(seat->clock);
}

#endif /* TORTURE_SEAT_H */
