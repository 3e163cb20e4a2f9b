// SPDX-License-Identifier: GPL-2.0
/*
 * One measurement: schedule, cancel, expire, read. What each figure is, is
 * said at enum figure.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "worker_time.h"

#define BATCH 4096
#define LEAD_MIN (20 * NSEC_PER_MSEC)

static __u64 seed = 2015;

static __u32 smaller(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

static void check(struct run *run, const struct hwtimer_request *request)
{
	if (request->result == -EALREADY)
		run->late = true;
	else if (request->result)
		errx(1, "operation %u: %s", request->op,
		     strerror(-request->result));
}

/* Returns how long it took, ns. */
static __u64 submit(struct run *run, __u32 count)
{
	__u64 start = now_ns();
	__u64 ns;
	__u32 i;

	device_submit(run->fd, run->requests, count);
	ns = now_ns() - start;
	for (i = 0; i < count; i++)
		check(run, &run->requests[i]);
	return ns;
}

static __u64 schedule_batch(struct run *run, __u32 done, __u32 count,
			    __u64 first, __u64 horizon)
{
	__u64 ns, delay;
	__u32 i;

	for (i = 0; i < count; i++) {
		delay = horizon ? random_next(&seed) % horizon : 0;
		run->requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_SCHEDULE,
			.flags = HWTIMER_ABSOLUTE,
			.time = first + delay,
			.user_data = done + i,
		};
	}
	ns = submit(run, count);
	for (i = 0; i < count; i++)
		run->ids[done + i] = run->requests[i].id;
	return ns;
}

static void schedule_all(struct run *run, __u64 first, __u64 horizon)
{
	__u64 ns = 0;
	__u32 done, count;

	for (done = 0; done < run->timers; done += count) {
		count = smaller(run->timers - done, BATCH);
		ns += schedule_batch(run, done, count, first, horizon);
	}
	run->last = first + horizon;
	run->figures[SCHEDULE] = (double)ns / run->timers;
}

static void shuffle(__u64 *values, __u32 count)
{
	__u64 value;
	__u32 i, other;

	for (i = count; i > 1; i--) {
		other = random_next(&seed) % i;
		value = values[i - 1];
		values[i - 1] = values[other];
		values[other] = value;
	}
}

static __u64 cancel_batch(struct run *run, __u32 done, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		run->requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_CANCEL,
			.id = run->ids[done + i],
		};
	return submit(run, count);
}

static void cancel_half(struct run *run)
{
	__u32 half = run->timers / 2;
	__u64 ns = 0;
	__u32 done, count;

	shuffle(run->ids, run->timers);
	for (done = 0; done < half; done += count) {
		count = smaller(half - done, BATCH);
		ns += cancel_batch(run, done, count);
	}
	run->left = run->timers - half;
	run->figures[CANCEL] = (double)ns / half;
}

static void sleep_until(__u64 time)
{
	struct timespec until = {
		.tv_sec = time / NSEC_PER_SEC,
		.tv_nsec = time % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

static void await_ready(struct run *run)
{
	struct hwtimer_stats stats;

	sleep_until(run->last);
	device_stats(run->fd, &stats);
	while (stats.ready < run->left) {
		if (now_ns() > run->last + 60 * NSEC_PER_SEC)
			errx(1, "%llu of %u timers expired", stats.ready,
			     run->left);
		sleep_until(now_ns() + NSEC_PER_MSEC / 10);
		device_stats(run->fd, &stats);
	}
	run->figures[SETTLED] = (now_ns() - run->last) / 1e3;
	run->figures[WALKED] = (double)stats.walked / run->left;
	run->figures[BYTES] = (double)stats.bytes_peak / run->timers;
}

/* @workers: the processor time of the workers when the run began */
static void expire_rest(struct run *run, __u64 workers)
{
	await_ready(run);
	/* The worker's time is accounted for when it sleeps. */
	sleep_until(now_ns() + 5 * NSEC_PER_MSEC);
	run->figures[EXPIRE] = (double)(workers_ns() - workers) / run->left;
}

static void read_all(struct run *run)
{
	__u64 ns = 0;
	__u64 start;
	__u32 left, count;

	for (left = run->left; left; left -= count) {
		start = now_ns();
		count = device_read(run->fd, run->events, BATCH);
		ns += now_ns() - start;
		if (!count || count > left)
			errx(1, "read %u events of %u", count, left);
	}
	run->figures[READ] = (double)ns / run->left;
}

/*
 * The first timer makes the instance allocate its wheel. It is one of its own,
 * and ended at once, so that schedule_all() measures only timers.
 */
static void start(struct run *run)
{
	struct hwtimer_stats stats;

	run->requests[0] = (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE,
		.time = HWTIMER_NEVER,
	};
	run->figures[START] = submit(run, 1) / 1e3;
	device_stats(run->fd, &stats);
	run->figures[EMPTY] = stats.bytes / 1024.0;
	run->ids[0] = run->requests[0].id;
	cancel_batch(run, 0, 1);
}

/* Returns whether the first deadline came after the last cancel. */
static bool run_phases(struct run *run, const struct options *options,
		       __u64 lead)
{
	__u64 workers = workers_ns();
	__u64 first = now_ns() + lead;

	schedule_all(run, first, options->horizon);
	cancel_half(run);
	if (run->late || now_ns() >= first)
		return false;
	expire_rest(run, workers);
	read_all(run);
	return true;
}

static bool run_once(struct run *run, const struct options *options,
		     __u32 buckets, __u64 lead)
{
	bool done;

	run->late = false;
	run->fd = device_open();
	device_setup(run->fd, options->kind, options->tick, buckets,
		     run->timers);
	start(run);
	done = run_phases(run, options, lead);
	close(run->fd);
	return done;
}

/* Keeps the lead that was long enough, for the next run. */
void run_measure(struct run *run, const struct options *options, __u32 buckets)
{
	static __u64 lead = LEAD_MIN;

	while (!run_once(run, options, buckets, lead))
		lead *= 2;
}

void run_init(struct run *run, __u32 timers)
{
	*run = (struct run){ .timers = timers };
	run->ids = allocate(timers, sizeof(*run->ids));
	run->requests = allocate(BATCH, sizeof(*run->requests));
	run->events = allocate(BATCH, sizeof(*run->events));
}

void run_release(struct run *run)
{
	free(run->ids);
	free(run->requests);
	free(run->events);
}
