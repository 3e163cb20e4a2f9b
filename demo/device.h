/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of /dev/hwtimer as the demo and the benchmark use them: whatever
 * cannot be helped ends the program with a message that says what to do.
 */
#ifndef DEMO_DEVICE_H
#define DEMO_DEVICE_H

#include <time.h>
#include <linux/hwtimer.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

int device_open(void);
void device_setup(int fd, __u32 kind, __u64 tick, __u32 buckets, __u64 timers);
void device_info(int fd, struct hwtimer_info *info);
void device_stats(int fd, struct hwtimer_stats *stats);

/* Does all requests; the outcome of each is in its @result. */
void device_submit(int fd, struct hwtimer_request *requests, __u32 count);

/* Returns how many events were read; 0 if there was none. */
__u32 device_read(int fd, struct hwtimer_event *events, __u32 count);

void *allocate(size_t count, size_t size);

static inline __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* splitmix64: the same numbers from the same seed on every machine */
static inline __u64 random_next(__u64 *state)
{
	__u64 z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif /* DEMO_DEVICE_H */
