// SPDX-License-Identifier: MIT
/*
 * Calls the library from several threads at once, as its header allows, for ThreadSanitizer to
 * find what the library itself does not do atomically. The device is a function that keeps
 * nothing, and orders nothing: with a lock, it would hide what is looked for. Built and run by
 * test/vm/userland.sh.
 *
 *	usage: threads_test [ROUNDS]
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libhwtimer.h>

#include "check.h"
#include "wrapped.h"

#define THREADS 3
#define OBJECTS 100

/* Timers of a call for many */
#define N 20

static struct hwt *hwt;
static unsigned int rounds = 300;

/* All threads meet here before and after each half of a round. */
static pthread_barrier_t barrier;

/* ---- in place of the C library ---- */

/* One in three times, something fails, or there is no event. */
static bool fails(void)
{
	static __thread unsigned int times;

	return ++times % 3 == 0;
}

static uint64_t new_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* Returns an id, or an error. */
static int64_t schedule(void)
{
	return fails() ? -ENOMEM : (int64_t)new_id();
}

static int request_one(struct hwtimer_request *request)
{
	int64_t id = schedule();

	if (id < 0)
		return id;
	request->id = id;
	return 0;
}

static int bulk(struct hwtimer_bulk *bulk)
{
	uint64_t *results = (void *)bulk->results;
	unsigned int i;

	for (i = 0; results && i < bulk->count; i++)
		results[i] = bulk->op == HWTIMER_OP_SCHEDULE ? schedule() : 0;
	return bulk->count;
}

static int submit(struct hwtimer_submit *submit)
{
	struct hwtimer_request *requests = (void *)submit->requests;
	unsigned int i;

	for (i = 0; i < submit->count; i++)
		requests[i].result = request_one(&requests[i]);
	return submit->count;
}

int answer(unsigned long number, void *argument)
{
	switch (number) {
	case HWTIMER_IOC_INFO:
		*(struct hwtimer_info *)argument = (struct hwtimer_info){
			.abi_version = HWTIMER_ABI_VERSION,
			.clock = HWTIMER_CLOCK_MONOTONIC,
		};
		return 0;
	case HWTIMER_IOC_SCHEDULE:
	case HWTIMER_IOC_RESCHEDULE:
		return request_one(argument);
	case HWTIMER_IOC_BULK:
		return bulk(argument);
	case HWTIMER_IOC_SUBMIT:
		return submit(argument);
	default:
		return 0;
	}
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	struct hwtimer_event *event = buffer;

	(void)fd;
	if (fails())
		return returned(-EAGAIN);
	memset(event, 0, sizeof(*event));
	event->id = new_id();
	(void)size;
	return sizeof(*event);
}

/* ---- what any thread may call ---- */

static void call_for_one(void)
{
	struct hwtimer_request request = { .time = 1 };
	struct hwtimer_timer timer = { .id = 1 };
	uint64_t id = 0;

	hwt_schedule(hwt, 1, 0, &id);
	hwt_schedule_at(hwt, 1, 0, NULL);
	hwt_schedule_request(hwt, &request);
	hwt_reschedule(hwt, id, 1);
	hwt_reschedule_at(hwt, id, 1);
	hwt_reschedule_request(hwt, &request);
	hwt_rearm(hwt, &id, 1, 0);
	hwt_rearm_at(hwt, &id, 1, 0);
	hwt_query(hwt, &timer);
	hwt_cancel(hwt, id);
	hwt_discard(hwt, id);
}

static void call_for_many(void)
{
	struct hwtimer_bulk_timer timers[N] = { 0 };
	struct hwtimer_request requests[N] = { 0 };
	struct hwtimer_bulk same = { .op = HWTIMER_OP_SCHEDULE,
				     .count = N,
				     .timers = (uintptr_t)timers };
	uint64_t results[N];

	CHECK(hwt_schedule_many(hwt, 0, timers, results, N) == N);
	CHECK(hwt_reschedule_many(hwt, 0, timers, results, N) == N);
	CHECK(hwt_cancel_many(hwt, 0, results, NULL, N) == N);
	CHECK(hwt_bulk(hwt, &same) == N);
	CHECK(hwt_submit(hwt, requests, N) == N);
}

static void call_for_all(void)
{
	struct hwtimer_timer listed[1];
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	struct hwtimer_info info;
	uint64_t number = 0;

	hwt_fd(hwt);
	CHECK(!hwt_info(hwt, &info));
	CHECK(!hwt_stats(hwt, &stats));
	CHECK(!hwt_next_time(hwt, &number));
	number = 0;
	CHECK(!hwt_list(hwt, &number, listed, 1));
	CHECK(!hwt_stop(hwt, &number, listed, 1));
	CHECK(!hwt_notify(hwt, fails() ? 1 : 2, 0));
	hwt_read(hwt, &event, 1);
	hwt_dispatch_check(hwt);
}

/* The second half of a round is for what may be called while no timer object is active. */
static void *other_thread(void *unused)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&barrier);
		call_for_one();
		call_for_many();
		call_for_all();
		pthread_barrier_wait(&barrier);
		CHECK(!hwt_cancel_all(hwt, 0, NULL));
		call_for_all();
	}
	return unused;
}

/* ---- the thread that runs the loop ---- */

static struct hwt_timer objects[OBJECTS];
static unsigned int callbacks, events;

static void on_timer(struct hwt_timer *timer)
{
	(void)timer;
	callbacks++;
}

static void on_event(void *arg, const struct hwtimer_event *event)
{
	(void)event;
	++*(unsigned int *)arg;
}

static void start_objects(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		CHECK(!hwt_timer_start(&objects[i], i % 2 ? 0 : 1000000000));
}

static void stop_objects(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		hwt_timer_stop(&objects[i]);
}

static void loop_with_objects(void)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&barrier);
		start_objects();
		hwt_flush(hwt);
		hwt_dispatch(hwt, on_event, &events, 100);
		/* One is refused, so what is due is served. */
		CHECK(!hwt_timer_start(&objects[0], 0));
		hwt_flush(hwt);
		hwt_dispatch(hwt, on_event, &events, 100);
		stop_objects();
		pthread_barrier_wait(&barrier);
		hwt_flush(hwt);
		hwt_now(hwt);
		hwt_dispatch(hwt, on_event, &events, 10);
	}
}

static void loop_without_objects(void)
{
	struct hwtimer_event event;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		pthread_barrier_wait(&barrier);
		hwt_next(hwt, &event);
		hwt_dispatch(hwt, on_event, &events, 100);
		pthread_barrier_wait(&barrier);
		hwt_next(hwt, &event);
	}
}

static void run(void (*loop)(void))
{
	pthread_t threads[THREADS];
	unsigned int i;

	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	for (i = 0; i < OBJECTS; i++)
		hwt_timer_init(&objects[i], hwt, on_timer);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, other_thread, NULL));
	loop();
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	hwt_close(hwt);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	CHECK(!pthread_barrier_init(&barrier, NULL, THREADS + 1));
	run(loop_without_objects);
	run(loop_with_objects);
	printf("%u callbacks, %u events\n", callbacks, events);
	return !callbacks || !events;
}
