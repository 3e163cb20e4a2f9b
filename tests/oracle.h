/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel under test with an oracle beside it: the same timers in a sorted
 * queue (the kernel's timerqueue), with which every expiration is compared.
 * Whatever kind of wheel is behind hwtimer_wheel.h is tested through this.
 *
 * What expires goes to a queue of the same pool, as in an instance. The pool is kept
 * at exactly what hwtimer_wheel_reserve() asks for, so that a wheel, or its queue,
 * that takes more than it said finds it empty, and warns.
 */
#ifndef HWTIMER_TESTS_ORACLE_H
#define HWTIMER_TESTS_ORACLE_H

#include <kunit/test.h>
#include <linux/timerqueue.h>

#include "../hwtimer_wheel.h"

/* Most timers at a time. */
#define ORACLE_TIMERS 4000

/* The queue of events is read every so many turns. */
#define ORACLE_TURNS_UNREAD 5

/* Of those that may repeat, one of so many does, within so many ticks. */
#define ORACLE_REPEATS_EVERY 8
#define ORACLE_REPEATS_WITHIN 200

/**
 * struct oracle_timer - what the oracle knows of one timer
 * @node: in oracle.pending, by the tick at which it must expire
 * @sequence: when it was scheduled
 * @index: of its record
 * @position: in oracle.live
 * @slack: ns
 * @repeats: when its event has been read it is filed again
 * @unordered: it was rescheduled, or scheduled for the past: its place within
 *	its tick is not defined, nor is the tick of one that came too late
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
 * @test: to which failures are reported
 * @table: of the wheel
 * @pool: of the wheel
 * @wheel: under test
 * @memory: of the wheel
 * @timers: by index
 * @pending: sorted
 * @live: pending timers in no order
 * @nr_live: how many
 * @now: ns
 * @sequence: of the next timer
 * @expired: how many have
 * @ready: indices of those that have
 * @queued: how many they are
 * @nr_turns: so far
 * @repeats: some of the next timers repeat
 * @repeating: timers that repeat, pending or queued
 * @queued_repeats: those that are queued
 * @order_tick: of the last expired timer
 * @order_sequence: of the last expired one that has a place
 * @between: called between two slices of a turn, if set
 * @due: of one slice
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
	struct hwtimer_queue ready;
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
			     const struct hwtimer_shape *shape, u64 base);
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

/* The record of a timer. */
static inline struct hwtimer_record *
oracle_record(struct oracle *oracle, const struct oracle_timer *timer)
{
	return hwtimer_table_record(&oracle->table, timer->index);
}

/* The time at which tick @tick begins. */
static inline u64 oracle_time(const struct oracle *oracle, u64 tick)
{
	return hwtimer_wheel_time_of(&oracle->wheel, tick);
}

#endif /* HWTIMER_TESTS_ORACLE_H */
