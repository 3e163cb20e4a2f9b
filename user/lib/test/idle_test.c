// SPDX-License-Identifier: MIT
/*
 * Counts the memory that the library keeps for timer objects after a burst of them. Built with
 * sanitizers and run by test/vm/userland.sh; see device.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libhwtimer.h>

#include "check.h"
#include "device.h"
#include "memory.h"

#define N 1000000

/* What an idle instance may keep of it, bytes; at its height it has 48 of each object. */
#define KEPT 65536

static struct hwt *hwt;
static struct hwt_timer timers[N];
static unsigned int order[N];

static void on_timer(struct hwt_timer *timer)
{
	(void)timer;
	abort();
}

/* Starts all objects, and tells the module about them. */
static void start(void)
{
	unsigned int i;

	for (i = 0; i < N; i++) {
		hwt_timer_init(&timers[i], hwt, on_timer);
		CHECK(!hwt_timer_start_at(&timers[i], HWTIMER_NEVER));
	}
	CHECK(!hwt_flush(hwt));
	CHECK(allocated > 40L * N);
}

static void shuffle(void)
{
	unsigned int i, j, other;

	srand(1);
	for (i = 0; i < N; i++) {
		j = rand() % (i + 1);
		other = i == j ? i : order[j];
		order[i] = other;
		order[j] = i;
	}
}

static void check_idle(void)
{
	CHECK(!hwt_flush(hwt));
	CHECK(allocated < KEPT);
}

/* In the order of @first to @first + N, or in no order; @left of them stay. */
static void stop(unsigned int left, bool shuffled)
{
	unsigned int i;

	for (i = left; i < N; i++)
		hwt_timer_stop(&timers[shuffled ? order[i] : i]);
}

static void bursts_of_what_is_stopped(unsigned int left, bool shuffled)
{
	int passes = 2;

	while (passes--) {
		start();
		stop(left, shuffled);
		check_idle();
		CHECK(hwt_active(hwt) == left);
		stop(0, shuffled);
		check_idle();
	}
}

/* Each stop is told to the module, so that the memory is given back step by step. */
static void stop_with_flushes(void)
{
	unsigned int i;

	start();
	for (i = 0; i < N; i++) {
		hwt_timer_stop(&timers[order[i]]);
		if (i % 1000 == 0)
			CHECK(!hwt_flush(hwt));
	}
	check_idle();
}

static void burst_of_what_is_cancelled(void)
{
	start();
	CHECK(!hwt_cancel_all(hwt, 0, NULL));
	check_idle();
}

/* A program that starts one timer again and again allocates nothing. */
static void little_stays(void)
{
	unsigned int i;

	CHECK(!hwt_timer_start_at(&timers[0], HWTIMER_NEVER));
	CHECK(!hwt_flush(hwt));
	allocations_left = 0;
	for (i = 0; i < 1000; i++) {
		hwt_timer_stop(&timers[0]);
		CHECK(!hwt_flush(hwt));
		CHECK(!hwt_timer_start_at(&timers[0], HWTIMER_NEVER));
		CHECK(!hwt_flush(hwt));
	}
	allocations_left = -1;
	hwt_timer_stop(&timers[0]);
	check_idle();
}

int main(void)
{
	device_events = 0;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	shuffle();
	bursts_of_what_is_stopped(0, false);
	bursts_of_what_is_stopped(0, true);
	bursts_of_what_is_stopped(1, false);
	bursts_of_what_is_stopped(1, true);
	stop_with_flushes();
	burst_of_what_is_cancelled();
	little_stays();
	hwt_close(hwt);
	CHECK(!allocated);
	printf("all is well\n");
	return 0;
}
