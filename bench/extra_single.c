// SPDX-License-Identifier: GPL-2.0
/*
 * Compares one timer by one ioctl with one timerfd_settime(). The calls take turns,
 * some of each kind per turn; the figure is the median of the turns.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "numbers.h"
#include "processor.h"
#include "system_hwtimer.h"

#define TURN 64
#define TURNS 301
#define FAR (3600 * NSEC_PER_SEC)

enum call { SCHEDULE, CANCEL, SET, UNSET, CALLS };

static const char *const phases[CALLS] = {
	"one SCHEDULE",
	"one CANCEL",
	"one settime",
	"one settime to 0",
};

static int device, timer;
static __u64 ids[TURN];
static __u64 seed;

static __u64 deadline(void)
{
	return now_ns() + FAR + random_next(&seed) % FAR;
}

static void set(__u64 time)
{
	struct itimerspec when = { .it_value = timespec_of(time) };

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL))
		err(1, "timerfd_settime");
}

static void call_once(enum call call, __u64 time, int i)
{
	switch (call) {
	case SCHEDULE:
		ids[i] = device_schedule(device, time);
		break;
	case CANCEL:
		device_cancel(device, ids[i]);
		break;
	case SET:
		set(time);
		break;
	default:
		set(0);
		break;
	}
}

/* Returns the time of one call in a turn. */
static double timed(enum call call)
{
	__u64 times[TURN], start;
	int i;

	for (i = 0; i < TURN; i++)
		times[i] = deadline();
	start = cycles();
	for (i = 0; i < TURN; i++)
		call_once(call, times[i], i);
	return clock_ns(cycles() - start) / TURN;
}

void extra_single(const struct run *run)
{
	static double values[CALLS][TURNS];
	int turn, call;

	seed = run->seed;
	processor_pin(0, run->cpu);
	device = device_open();
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (timer < 0)
		err(1, "timerfd_create");
	for (turn = 0; turn < TURNS; turn++)
		for (call = 0; call < CALLS; call++)
			values[call][turn] = timed(call);
	for (call = 0; call < CALLS; call++)
		emit(phases[call], quantile(values[call], TURNS, 0.5), "ns");
	close(timer);
	close(device);
}
