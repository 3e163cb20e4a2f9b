// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how long a SCHEDULE waits for the instance's lock while a crowd of timers
 * expires. It times single ioctls on one processor while the worker is busy on
 * another, and again while nothing is due. The time of a call also contains every
 * interruption, so the waits for locks are taken from the kernel's tracer where it is
 * available.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "lock_wait.h"
#include "numbers.h"
#include "processor.h"
#include "system_hwtimer.h"

#define CALLS_MAX 1000000
#define CALLS_MIN 100
#define BATCH 4096
#define LEAD NSEC_PER_SEC
#define FAR (3600 * NSEC_PER_SEC)

static int fd;
static double *calls;

/* Schedules the crowd. */
static void fill(__u32 timers, __u64 deadline)
{
	static struct hwtimer_request requests[BATCH];
	__u32 i, done, count;

	for (done = 0; done < timers; done += count) {
		count = timers - done < BATCH ? timers - done : BATCH;
		for (i = 0; i < count; i++)
			requests[i] = (struct hwtimer_request){
				.op = HWTIMER_OP_SCHEDULE,
				.flags = HWTIMER_ABSOLUTE,
				.time = deadline,
				.user_data = done + i,
			};
		device_submit(fd, requests, count);
		for (i = 0; i < count; i++)
			if (requests[i].result)
				errx(1, "schedule: %s",
				     strerror(-requests[i].result));
	}
}

/* Returns the time of a SCHEDULE; the timer is cancelled again. */
static double call_ns(__u64 deadline)
{
	__u64 start = cycles();
	__u64 id = device_schedule(fd, deadline);
	double ns = clock_ns(cycles() - start);

	device_cancel(fd, id);
	return ns;
}

/* Times calls until the whole crowd has expired; returns their number. */
static __u32 calls_during(__u64 deadline, __u32 timers)
{
	struct hwtimer_stats stats = { 0 };
	__u32 count = 0;

	clock_spin_until(deadline);
	while (stats.expired < timers && count < CALLS_MAX) {
		calls[count++] = call_ns(deadline + FAR);
		if (count % 8 == 0)
			device_stats(fd, &stats);
	}
	device_stats(fd, &stats);
	if (stats.lateness_max)
		emit("burst, the last is late", stats.lateness_max, "ns");
	return count;
}

static void emit_waits(void)
{
	struct lock_waits waits;

	lock_wait_end(&waits);
	emit("lock waits in a burst", waits.count, "count");
	emit("lock wait in a burst, 99 of 100", waits.usual, "ns");
	emit("lock wait in a burst, longest", waits.longest, "ns");
}

static void emit_calls(const char *const phases[3], __u32 count)
{
	emit(phases[0], quantile(calls, count, 0.5), "ns");
	emit(phases[1], quantile(calls, count, 0.99), "ns");
	emit(phases[2], quantile(calls, count, 1), "ns");
}

void extra_crowd(const struct run *run)
{
	static const char *const during[] = {
		"SCHEDULE in a burst, median",
		"SCHEDULE in a burst, 99 of 100",
		"SCHEDULE in a burst, longest",
	};
	static const char *const alone[] = {
		"SCHEDULE alone, median",
		"SCHEDULE alone, 99 of 100",
		"SCHEDULE alone, longest",
	};
	__u64 deadline;
	__u32 i, count;
	bool watching;

	calls = allocate(CALLS_MAX, sizeof(*calls));
	fd = device_open();
	device_setup(fd, HWTIMER_KIND_DEFAULT, 0, 0, run->timers + 1);
	processor_pin(0, 0);
	processor_pin(device_worker_pid(fd), run->cpu);
	watching = lock_wait_begin();
	deadline = now_ns() + LEAD * run->lead;
	fill(run->timers, deadline);
	if (now_ns() >= deadline)
		exit(SYSTEM_LATE);
	count = calls_during(deadline, run->timers);
	emit("SCHEDULE in a burst, how many", count, "count");
	emit_calls(during, count);
	if (count < CALLS_MIN)
		count = CALLS_MIN;
	for (i = 0; i < count; i++)
		calls[i] = call_ns(deadline + FAR);
	emit_calls(alone, count);
	if (watching)
		emit_waits();
	close(fd);
	free(calls);
}
