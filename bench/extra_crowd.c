// SPDX-License-Identifier: GPL-2.0
/*
 * Measures how long a SCHEDULE waits for the instance's lock while a crowd of timers
 * expires. It times single ioctls on one processor while the worker is busy on
 * another, and again while nothing is due. The time of a call also contains every
 * interruption, so the waits for locks are taken from the kernel's tracer where it is
 * available. A burst is short, and 1 in 1,000 of its calls are few: run->bursts of them
 * give the figures.
 */
#include <err.h>
#include <stdio.h>
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

static int fd, worker;
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

/*
 * Times calls until the whole crowd has expired, which makes @expired timers; returns the
 * number of calls, @count of which were before.
 */
static __u32 calls_during(__u64 deadline, __u64 expired, __u32 count)
{
	struct hwtimer_stats stats = { 0 };
	__u32 i;

	clock_spin_until(deadline);
	for (i = 1; stats.expired < expired && count < CALLS_MAX; i++) {
		calls[count++] = call_ns(deadline + FAR);
		if (i % 8 == 0)
			device_stats(fd, &stats);
	}
	return count;
}

/* The crowd's events are not of interest, and would count against the limit of timers. */
static void drop_events(void)
{
	static struct hwtimer_event events[BATCH];

	while (device_read(fd, events, BATCH))
		;
}

/* Returns the number of calls during all bursts; emits what an expiration takes. */
static __u32 all_bursts(const struct run *run)
{
	struct hwtimer_stats stats;
	double spent, ns = 0;
	__u32 i, count = 0;
	__u64 deadline;

	for (i = 0; i < run->bursts; i++) {
		deadline = now_ns() + LEAD * run->lead;
		fill(run->timers, deadline);
		if (now_ns() >= deadline)
			exit(SYSTEM_LATE);
		spent = processor_time(worker);
		count = calls_during(deadline, (i + 1ULL) * run->timers, count);
		ns += processor_time(worker) - spent;
		drop_events();
	}
	device_stats(fd, &stats);
	if (stats.lateness_max)
		emit("burst, the last is late", stats.lateness_max, "ns");
	if (ns)
		emit("burst, the worker's time",
		     ns / (run->bursts * (double)run->timers), "ns/timer");
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

static void emit_calls(const char *when, __u32 count)
{
	static const struct {
		const char *name;
		double share;
	} which[] = {
		{ "median", 0.5 },
		{ "99 of 100", 0.99 },
		{ "999 of 1000", 0.999 },
		{ "longest", 1 },
	};
	char phase[64];
	unsigned int i;

	for (i = 0; i < sizeof(which) / sizeof(*which); i++) {
		snprintf(phase, sizeof(phase), "SCHEDULE %s, %s", when,
			 which[i].name);
		emit(phase, quantile(calls, count, which[i].share), "ns");
	}
}

void extra_crowd(const struct run *run)
{
	__u64 far;
	__u32 i, count;
	bool watching;

	calls = allocate(CALLS_MAX, sizeof(*calls));
	fd = device_open();
	device_setup(fd, HWTIMER_KIND_DEFAULT, 0, 0, run->timers + 1);
	processor_pin(0, 0);
	worker = device_worker_pid(fd);
	processor_pin(worker, run->cpu);
	watching = lock_wait_begin();
	count = all_bursts(run);
	emit("SCHEDULE in a burst, how many", count, "count");
	emit_calls("in a burst", count);
	if (count < CALLS_MIN)
		count = CALLS_MIN;
	far = now_ns() + FAR;
	for (i = 0; i < count; i++)
		calls[i] = call_ns(far);
	emit_calls("alone", count);
	if (watching)
		emit_waits();
	close(fd);
	free(calls);
}
