/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workload, the same for every system: the deadlines of the timers, the order in
 * which they are cancelled, and the account of the deliveries.
 *
 * All random numbers are drawn before anything is timed, and the timed part reads them
 * in sequence. So they cost every system the same.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * WORKLOAD_TICKS - the number of ticks over which the deadlines are spread
 */
#define WORKLOAD_TICKS 3000

/**
 * struct workload - a set of timers
 * @timers: number of timers
 * @base: the earliest possible deadline, ns of CLOCK_MONOTONIC
 * @tick: length of a tick, ns
 * @unit: unit of @offsets, ns; 1 as long as the offsets fit
 * @offsets: for each timer, the time from @base to its deadline, in units
 * @ticks: the same times in ticks, rounded up, for systems with a clock of their own
 * @order: all timers in random order; the first half is cancelled, in this order
 * @delivered: the timers that were delivered, in the order of their delivery
 * @delivered_count: number of entries in @delivered
 * @state: for each timer, its state in workload_settle()
 */
struct workload {
	__u32 timers;
	__u64 base;
	__u64 tick;
	__u64 unit;
	__u32 *offsets;
	__u32 *ticks;
	__u32 *order;
	__u32 *delivered;
	__u32 delivered_count;
	__u8 *state;
};

/*
 * Returns memory whose pages have been touched, so that no measurement contains
 * their page faults. Its content has no meaning.
 */
void *allocate_touched(size_t count, size_t size);

void workload_init(struct workload *load, __u32 timers, __u64 tick, __u64 seed);
void workload_release(struct workload *load);

/*
 * Draws all deadlines and the order anew. Where a program goes through the same workload again
 * and again, some processors learn thousands of branches by heart.
 */
void workload_draw(struct workload *load, __u64 seed);

static inline __u64 workload_deadline(const struct workload *load, __u32 timer)
{
	return load->base + load->offsets[timer] * load->unit;
}

static inline __u64 workload_horizon(const struct workload *load)
{
	return WORKLOAD_TICKS * load->tick;
}

static inline __u64 workload_last(const struct workload *load)
{
	return load->base + workload_horizon(load);
}

static inline void workload_deliver(struct workload *load, __u32 timer)
{
	load->delivered[load->delivered_count++] = timer;
}

/*
 * Ends the program unless each timer of @order from index @from on was delivered
 * exactly once, and no other timer was. Then empties @delivered. @who is the system's
 * name, for messages.
 */
void workload_settle(struct workload *load, const char *who, __u32 from);

#endif /* BENCH_WORKLOAD_H */
