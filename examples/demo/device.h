/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of /dev/hwtimer, the clock, random numbers and memory, for the demo and the
 * benchmarks. An error ends the program with a message that says what to do.
 */
#ifndef DEMO_DEVICE_H
#define DEMO_DEVICE_H

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <linux/hwtimer.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/* Opens a new instance, and checks the ABI version of the module. */
int device_open(void);
/* Sets the instance up; 0 for @tick or @buckets means the module's default. */
void device_setup(int fd, __u64 tick, __u32 buckets, __u64 timers);
void device_info(int fd, struct hwtimer_info *info);
void device_stats(int fd, struct hwtimer_stats *stats);

/* Does all requests; stores the result of each in its @result. */
void device_submit(int fd, struct hwtimer_request *requests, __u32 count);

/* Reads up to @count events; returns their number, 0 if none waits. */
__u32 device_read(int fd, struct hwtimer_event *events, __u32 count);

/* Schedules one timer by its own ioctl; returns the id. */
__u64 device_schedule(int fd, __u64 deadline);
void device_cancel(int fd, __u64 id);

/* Returns zeroed memory. */
static inline void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		err(1, "no memory for %zu times %zu bytes", count, size);
	return memory;
}

static inline struct timespec timespec_of(__u64 ns)
{
	return (struct timespec){
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
}

static inline __u64 clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static inline __u64 now_ns(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

/* Sleeps until @time, ns of CLOCK_MONOTONIC; a signal does not shorten it. */
static inline void sleep_until(__u64 time)
{
	struct timespec until = timespec_of(time);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
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
