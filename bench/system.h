/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmark wants of a system of timers: hwtimer, or a rival. One file
 * a system, named system_*.c; the phases (phases.c) know them by this only.
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stdbool.h>
#include <linux/types.h>

#include "clock.h"
#include "workload.h"

/* The exit status if a timer was due before it could be cancelled */
#define SYSTEM_LATE 75

/**
 * enum expiry - how a system's timers come to expire, and so how it is timed
 * @EXPIRY_CALLED: by calling @expire, which has a clock of its own
 * @EXPIRY_HELD: in a kthread on our processor: it is held up until all are
 *	due, then it catches up in one turn
 * @EXPIRY_INTERRUPT: in interrupts on our processor: we look at the clock, and
 *	add up when we could not; nothing but interrupts comes between
 * @EXPIRY_DELIVERS: within @deliver, when all are due
 */
enum expiry {
	EXPIRY_CALLED,
	EXPIRY_HELD,
	EXPIRY_INTERRUPT,
	EXPIRY_DELIVERS,
};

/**
 * struct system - one system; the calls end the program if anything goes wrong
 * @name: in the results
 * @variants: their names, up to a NULL
 * @expiry: how its timers expire
 * @tick: ns, the length of a tick; how long the deadlines are spread follows
 * @timers_max: how many it can do here, or in a time that one would wait; NULL:
 *	as many as memory has room for
 * @calls: of a variant, how many system calls a timer's life takes
 * @batch: of a variant, how many timers it schedules in one go; NULL: one
 * @missing: why it cannot run here; NULL: it can
 * @setup: of @variant for @load; what setting handles up takes is not timed
 * @teardown: gives everything back
 * @schedule: timers @first to @first + @count, due at workload_deadline()
 * @aim: before @cancel and @reschedule and not timed: look the handles of
 *	load->order[@first...] up, which a program has in its own structures
 * @cancel: those, in that order
 * @reschedule: those, in that order, to their workload_deadline(), which has
 *	changed; NULL if it cannot
 * @watch: EXPIRY_HELD: before @expire, and not timed
 * @expire: EXPIRY_CALLED: expires all. EXPIRY_HELD: returns when @count
 *	have expired
 * @deliver: hands all that have expired to workload_deliver()
 * @bytes: memory that it holds or has held at the most; NULL: measured from
 *	outside
 * @expired: EXPIRY_HELD: how many have expired so far
 * @lateness: EXPIRY_HELD: the longest so far, ns
 * @worker_pid: EXPIRY_HELD: the kthread
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
	void (*watch)(__u32 count);
	void (*expire)(__u32 count);
	void (*deliver)(void);
	__u64 (*bytes)(void);
	__u64 (*expired)(void);
	double (*lateness)(void);
	int (*worker_pid)(void);
};

extern const struct system system_hwtimer;
extern const struct system system_floor;
extern const struct system system_floor_list;
extern const struct system system_timerfd;
extern const struct system system_posix;
extern const struct system system_uring;
extern const struct system system_libuv;
extern const struct system system_libevent;

#endif /* BENCH_SYSTEM_H */
