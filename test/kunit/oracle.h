/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel under test, with an oracle beside it. The oracle keeps the same timers in a
 * sorted queue (the kernel's timerqueue), and compares every expiration with that. The
 * unit tests of every kind of wheel behind wheel/wheel.h use it.
 *
 * As in an instance, expired timers go to a queue of events that takes its chunks from
 * the wheel's pool. The oracle keeps exactly as many spare chunks in the pool as
 * hwtimer_wheel_reserve() asks for. If the wheel or the queue takes more, the pool is
 * empty, and the module warns.
 */
#ifndef HWTIMER_TESTS_ORACLE_H
#define HWTIMER_TESTS_ORACLE_H

#include <kunit/test.h>
#include <linux/timerqueue.h>

#include "wheel/wheel.h"

/* Maximum number of timers at a time. */
#define ORACLE_TIMERS 4000

/* Number of turns from one reading of the queue of events to the next. */
#define ORACLE_TURNS_UNREAD 5

/*
 * While timers may repeat, one of ORACLE_REPEATS_EVERY does, each time after fewer than
 * ORACLE_REPEATS_WITHIN ticks.
 */
#define ORACLE_REPEATS_EVERY 8
#define ORACLE_REPEATS_WITHIN 200

/**
 * struct oracle_timer - what the oracle knows of one timer
 * @node: node in oracle.pending, sorted by the last tick at which the timer may expire
 * @sequence: number of timers scheduled up to this one
 * @index: index of its record
 * @position: its position in oracle.live
 * @slack: slack, ns
 * @repeats: the timer is filed again when its event has been read
 * @unordered: its place in the order of expiration is not defined, because it was
 *	rescheduled, has slack, or was overdue when it was scheduled. An overdue timer
 *	has no defined tick either
 */
struct oracle_timer {
	struct timerqueue_node node;
	u64 sequence;
	u32 index;
	u32 position;
	u64 slack;
	bool repeats;
	bool unordered;
};

/**
 * struct oracle - a wheel and what it should do
 * @test: the test to which failures are reported
 * @table: the wheel's table
 * @pool: the wheel's pool
 * @wheel: the wheel under test
 * @memory: memory of the wheel's buckets
 * @timers: all timers, by the index of their record
 * @pending: pending timers, sorted by the last tick at which they may expire
 * @live: pending timers in no order
 * @nr_live: number of pending timers
 * @now: the time, ns
 * @sequence: number of timers scheduled so far
 * @expired: number of timers expired so far
 * @queued: number of events that were not read
 * @nr_turns: number of turns so far
 * @repeats: some of the next timers repeat
 * @repeating: number of timers that repeat, pending or queued
 * @queued_repeats: number of queued events whose timers repeat
 * @order_tick: tick of the last timer that expired in this turn and has a place in
 *	the order of expiration
 * @order_sequence: sequence number of that timer
 * @between: function to call after each slice of a turn, or NULL
 * @due: indices of the timers that one slice has found due
 */
struct oracle {
	struct kunit *test;
	struct hwtimer_table table;
	struct hwtimer_pool pool;
	struct hwtimer_wheel wheel;
	void *memory;
	struct oracle_timer *timers;
	struct timerqueue_head pending;
	struct oracle_timer *live[ORACLE_TIMERS];
	u32 nr_live;
	u64 now;
	u64 sequence;
	u64 expired;
	u64 queued;
	u64 nr_turns;
	bool repeats;
	u32 repeating;
	u32 queued_repeats;
	u64 order_tick;
	u64 order_sequence;
	void (*between)(struct oracle *oracle);
	u32 due[HWTIMER_HOLD];
};

struct oracle *oracle_create(struct kunit *test,
			     const struct hwtimer_shape *shape, u64 now);
void oracle_destroy(struct oracle *oracle);

struct oracle_timer *oracle_schedule(struct oracle *oracle, u64 deadline);
struct oracle_timer *oracle_schedule_slack(struct oracle *oracle, u64 deadline,
					   u64 slack);
void oracle_may_be_set_back(struct oracle *oracle);
void oracle_set_back(struct oracle *oracle, u64 now);
void oracle_cancel(struct oracle *oracle, struct oracle_timer *timer);
void oracle_move(struct oracle *oracle, struct oracle_timer *timer,
		 u64 deadline);
bool oracle_idle(struct oracle *oracle, u64 now);
void oracle_turn(struct oracle *oracle, u64 now);
void oracle_read(struct oracle *oracle);
void oracle_compact(struct oracle *oracle);
void oracle_grow(struct oracle *oracle, const struct hwtimer_shape *shape);

/* Returns the record of a timer. */
static inline struct hwtimer_record *
oracle_record(struct oracle *oracle, const struct oracle_timer *timer)
{
	return hwtimer_table_record(&oracle->table, timer->index);
}

/* Returns the time at which tick @tick begins, ns. */
static inline u64 oracle_time(const struct oracle *oracle, u64 tick)
{
	return hwtimer_wheel_time_of(&oracle->wheel, tick);
}

#endif /* HWTIMER_TESTS_ORACLE_H */
