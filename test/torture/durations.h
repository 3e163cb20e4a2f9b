/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A log of durations in memory that processes share.
 */
#ifndef TORTURE_DURATIONS_H
#define TORTURE_DURATIONS_H

#include <stdlib.h>

#include <linux/types.h>

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
 * log_percentile() - a percentile of what was measured lately
 * @since: value of log->count when the time in question began
 * @now: its end. A duration that has not ended counts as long as it is so far
 * @percent: which one; 100: the longest duration
 */
static inline __u64 log_percentile(struct durations *log, unsigned int since,
				   __u64 now, unsigned int percent)
{
	unsigned int count = __atomic_load_n(&log->count, __ATOMIC_ACQUIRE);
	__u64 begun = __atomic_load_n(&log->since, __ATOMIC_ACQUIRE);
	unsigned int n = 0, rank;
	__u64 *sorted, result;

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
	rank = n * percent / 100;
	result = n ? sorted[rank < n ? rank : n - 1] : 0;
	free(sorted);
	return result;
}

#endif /* TORTURE_DURATIONS_H */
