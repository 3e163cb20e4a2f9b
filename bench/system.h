/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the phases (phases.c) and a system of timers: hwtimer, or a
 * rival. Each system_*.c implements one system.
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stdbool.h>
#include <linux/types.h>

#include "clock.h"
#include "workload.h"

/* The exit status when a timer was due before it could be cancelled */
#define SYSTEM_LATE 75

/**
 * enum expiry - how a system's timers expire, and so how their expiry is timed
 * @EXPIRY_CALLED: in @expire, which has a clock of its own
 * @EXPIRY_WORKER: some in a kthread on the benchmark's processor, and all others in
 *	@deliver
 * @EXPIRY_INTERRUPT: in interrupts on the benchmark's processor; the benchmark reads
 *	the clock without pause and adds up the gaps, which only interrupts cause
 * @EXPIRY_DELIVERS: in @deliver, after all timers are due
 */
enum expiry {
	EXPIRY_CALLED,
	EXPIRY_WORKER,
	EXPIRY_INTERRUPT,
	EXPIRY_DELIVERS,
};

/**
 * struct system - one system; its functions end the program if anything fails
 * @name: the name in the results
 * @variants: names of the variants; a NULL ends them
 * @expiry: how its timers expire
 * @tick: length of a tick, ns; the deadlines are spread over WORKLOAD_TICKS of them
 * @timers_max: returns the most timers that it can have here, or handle in a tolerable
 *	time; NULL: memory is the only limit
 * @calls: returns the number of system calls in a timer's life; NULL: not limited
 * @batch: returns the number of timers that one call schedules; NULL: one
 * @missing: returns the reason why it cannot run here, or NULL if it can; no function:
 *	it always can
 * @setup: prepares @variant for @load; not timed, including the making of handles
 * @teardown: frees everything
 * @schedule: schedules timers @first to @first + @count - 1, at workload_deadline()
 * @aim: looks up the handles of load->order[@first] and the @count - 1 after it, for
 *	@cancel and @reschedule; not timed, because a program keeps handles in its own
 *	structures; NULL: needs none
 * @cancel: cancels those timers, in that order
 * @reschedule: moves those timers, in that order, to their workload_deadline(), which
 *	has changed; NULL: not possible
 * @expire: EXPIRY_CALLED: expires all timers. EXPIRY_WORKER: waits until one of @count
 *	timers has expired
 * @deliver: passes all expired timers to workload_deliver()
 * @bytes: returns the peak of its memory; NULL: memory is measured from outside
 * @worker_pid: EXPIRY_WORKER: returns the process id of the kthread
 */
struct system {
	const char *name;
	const char *const *variants;
	enum expiry expiry;
	__u64 tick;
	__u32 (*timers_max)(void);
	double (*calls)(unsigned int variant);
	__u32 (*batch)(unsigned int variant);
	const char *(*missing)(void);
	void (*setup)(struct workload *load, unsigned int variant);
	void (*teardown)(void);
	void (*schedule)(__u32 first, __u32 count);
	void (*aim)(__u32 first, __u32 count);
	void (*cancel)(__u32 first, __u32 count);
	void (*reschedule)(__u32 first, __u32 count);
	void (*expire)(__u32 count);
	void (*deliver)(void);
	__u64 (*bytes)(void);
	int (*worker_pid)(void);
};

extern const struct system system_hwtimer;
extern const struct system system_floor;
extern const struct system system_floor_list;
extern const struct system system_timerfd;
extern const struct system system_uring;
extern const struct system system_libuv;
extern const struct system system_libevent;

#endif /* BENCH_SYSTEM_H */
