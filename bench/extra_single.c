// SPDX-License-Identifier: GPL-2.0
/*
 * Compares one timer by one ioctl with one timerfd_settime(), and with one of 16 commands of
 * io_uring by one call. The calls take turns, some of each kind per turn; the figure is the
 * median of the turns.
 */
#include <err.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "numbers.h"
#include "processor.h"
#include "system_hwtimer.h"

#include "../user/lib/adapters/hwtimer_uring.h"

#define TURN 64
#define ENTRIES 16
#define TURNS 301
#define FAR (3600 * NSEC_PER_SEC)

enum call { SCHEDULE, CANCEL, SET, UNSET, RING_SCHEDULE, RING_CANCEL, CALLS };

static const char *const phases[CALLS] = {
	"one SCHEDULE",
	"one CANCEL",
	"one settime",
	"one settime to 0",
	"one SCHEDULE of 16 by io_uring",
	"one CANCEL of 16 by io_uring",
};

static int device, timer;
static __u64 ids[TURN];
static __u64 seed;
static struct io_uring ring;
static struct hwtimer_request requests[ENTRIES];

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

/* Does the commands of all requests, by one system call. */
static void enter(void)
{
	struct io_uring_cqe *cqe;
	int i, done = io_uring_submit_and_wait(&ring, ENTRIES);

	if (done != ENTRIES)
		errx(1, "io_uring: submitted %d of %d", done, ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		if (io_uring_peek_cqe(&ring, &cqe) || cqe->res)
			errx(1, "io_uring: a timer was refused");
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* Adds a command to the ring; with the last of ENTRIES, does them. */
static void ring_once(enum call call, __u64 time, int i)
{
	struct hwtimer_request *request = &requests[i % ENTRIES];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	int j;

	if (call == RING_SCHEDULE) {
		*request = (struct hwtimer_request){
			.flags = HWTIMER_REQ_ABSTIME,
			.time = time,
		};
		hwt_prep_schedule(sqe, device, request);
	} else {
		*request = (struct hwtimer_request){ .id = ids[i] };
		hwt_prep_cancel(sqe, device, request);
	}
	if (i % ENTRIES != ENTRIES - 1)
		return;
	enter();
	for (j = 0; j < ENTRIES; j++)
		ids[i / ENTRIES * ENTRIES + j] = requests[j].id;
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
	case UNSET:
		set(0);
		break;
	default:
		ring_once(call, time, i);
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
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
	};
	int turn, call, calls = CALLS;

	seed = run->seed;
	processor_pin(0, run->cpu);
	device = device_open();
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (timer < 0)
		err(1, "timerfd_create");
	if (io_uring_queue_init_params(ENTRIES, &ring, &params))
		calls = RING_SCHEDULE; /* it is missing or not allowed */
	for (turn = 0; turn < TURNS; turn++)
		for (call = 0; call < calls; call++)
			values[call][turn] = timed(call);
	for (call = 0; call < calls; call++)
		emit(phases[call], quantile(values[call], TURNS, 0.5), "ns");
	close(timer);
	close(device);
}
