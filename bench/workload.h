/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workload, the same for every system: who is due when, who is cancelled
 * in which order, and the account of what was delivered.
 *
 * All that is random is drawn before anything is timed, for all systems alike:
 * the timed part reads it, one after the other.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * WORKLOAD_TICKS - over how many ticks the deadlines are spread
 */
#define WORKLOAD_TICKS 3000

/**
 * struct workload - N timers
 * @timers: N
 * @base: the earliest deadline there can be, ns of CLOCK_MONOTONIC
 * @tick: ns
 * @unit: of @offsets, ns: 1 as long as they fit
 * @offsets: of each timer, its deadline after @base, in units
 * @ticks: the same in ticks, rounded up: for systems with a clock of their own
 * @order: a random order of all timers: the first half is cancelled, in it
 * @delivered: which timers were delivered, as the system handed them over
 * @delivered_count: how many
 * @state: of each timer, for the account
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
 * Ends the program unless each of @order[from...] was delivered exactly once,
 * and nothing else was; then forgets the deliveries.
 */
void workload_settle(struct workload *load, const char *who, __u32 from);

#endif /* BENCH_WORKLOAD_H */
