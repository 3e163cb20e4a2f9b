/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The board: memory that the attacker, the victim and the tester share. A tenant writes to
 * it what it has made and measured.
 */
#ifndef TENANTS_BOARD_H
#define TENANTS_BOARD_H

#include "hwtimer_test.h"

#include <sys/prctl.h>

#define SAMPLES_MAX 65536

/**
 * struct durations - durations that one process measures and another one reads
 * @since: when the duration that is measured now began, ns; 0: none
 * @count: number of durations so far, ever
 * @ns: duration n is in [n % SAMPLES_MAX]
 */
struct durations {
	__u64 since;
	unsigned int count;
	__u64 ns[SAMPLES_MAX];
};

static inline void log_begin(struct durations *log, __u64 time)
{
	__atomic_store_n(&log->since, time, __ATOMIC_RELEASE);
}

static inline void log_end(struct durations *log, __u64 now)
{
	log->ns[log->count % SAMPLES_MAX] =
		now > log->since ? now - log->since : 0;
	__atomic_store_n(&log->count, log->count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&log->since, 0, __ATOMIC_RELEASE);
}

static inline int compare_times(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/**
 * log_p99() - the 99th percentile of what was measured lately
 * @since: value of log->count when the time in question began
 * @now: its end. A duration that has not ended counts as long as it is so far
 */
static inline __u64 log_p99(struct durations *log, unsigned int since,
			    __u64 now)
{
	unsigned int count = __atomic_load_n(&log->count, __ATOMIC_ACQUIRE);
	__u64 begun = __atomic_load_n(&log->since, __ATOMIC_ACQUIRE), p99;
	unsigned int n = 0;
	__u64 *sorted;

	if (count - since > SAMPLES_MAX)
		since = count - SAMPLES_MAX;
	sorted = calloc(count - since + 1, sizeof(*sorted));
	if (!sorted)
		abort();
	while (since != count)
		sorted[n++] = log->ns[since++ % SAMPLES_MAX];
	if (begun && now > begun)
		sorted[n++] = now - begun;
	qsort(sorted, n, sizeof(*sorted), compare_times);
	p99 = n ? sorted[n * 99 / 100 < n ? n * 99 / 100 : n - 1] : 0;
	free(sorted);
	return p99;
}

/**
 * struct board - what the tenants tell the tester
 * @lateness: of the victim's timers
 * @forks: time that the victim needs for fork() and wait()
 * @starts: time that the victim needs for a first timer and close()
 * @closes: time that the victim needs to close a descriptor that the attacker sent
 * @first: the shortest time that a first timer took, ns
 * @further: the same of a further one
 * @start: time that the attacker needed until it was ready, ns
 * @made: number of objects that the attacker has made (instances, timers, waiters)
 * @bytes: kernel memory of the attacker's instances by STATS
 * @refused: errno with which the attacker was refused; 0: it was not
 * @ready: set once the attacker has made its objects
 * @socket: the ends of a socket from the attacker [0] to the victim [1]
 */
struct board {
	struct durations lateness;
	struct durations forks;
	struct durations starts;
	struct durations closes;
	__u64 first;
	__u64 further;
	__u64 start;
	unsigned long made;
	unsigned long long bytes;
	int refused;
	int ready;
	int socket[2];
};

static inline void board_set(int *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static inline int board_get(int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

#endif /* TENANTS_BOARD_H */
