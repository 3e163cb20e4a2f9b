// SPDX-License-Identifier: GPL-2.0
/*
 * What a program itself spends on a timer through the rings, while the worker
 * does the rest on another processor: filling slots, publishing and taking
 * results is timed, and taking events; waiting for the worker is not. And what
 * the worker spends, whom a program that schedules all the time would wait for.
 *
 * The rings fit into a processor's cache: what is larger goes through memory, and
 * only saves a program that the worker does not keep up with from waiting.
 */
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "hwtimer_ring.h"
#include "processor.h"
#include "system_hwtimer.h"

#define SLOTS 4096
#define PART 1024
#define DELAY NSEC_PER_SEC
/* A deadline that does not come while we run */
#define FAR (3600 * NSEC_PER_SEC)

static struct hwtimer_ring ring;
static struct workload load;
static __u64 *ids;

static int set_up(__u32 timers)
{
	struct hwtimer_setup setup = {
		.size = sizeof(setup),
		.clock = CLOCK_MONOTONIC,
		.timers = timers,
		.submissions = SLOTS,
		.completions = SLOTS,
	};
	int fd = device_open();

	if (ioctl(fd, HWTIMER_IOC_SETUP, &setup) || hwtimer_ring_map(&ring, fd))
		err(1, "an instance with rings");
	return fd;
}

static void fill(__u32 first, __u32 count)
{
	struct hwtimer_request *slot;
	__u32 i;

	for (i = first; i < first + count; i++) {
		slot = hwtimer_ring_get_slot(&ring);
		if (!slot)
			errx(1, "the submission ring is full");
		slot->op = HWTIMER_OP_SCHEDULE;
		slot->flags = HWTIMER_ABSOLUTE;
		slot->time = workload_deadline(&load, i);
		slot->user_data = i;
	}
	if (hwtimer_ring_publish(&ring))
		err(1, "HWTIMER_IOC_KICK");
}

/* Takes the results there are; returns how many timers have theirs now. */
static __u32 take_results(__u32 done)
{
	__u64 result;

	while (hwtimer_ring_next_result(&ring, &result)) {
		if (hwtimer_ring_error(result))
			errx(1, "a request through the ring: %s",
			     strerror(hwtimer_ring_error(result)));
		ids[done++] = result;
	}
	return done;
}

/* Returns the ns. */
static double schedule_all(void)
{
	__u32 sent = 0, done = 0, before, count;
	__u64 start, sum = 0;

	while (done < load.timers) {
		start = cycles();
		before = done;
		done = take_results(done);
		count = load.timers - sent < PART ? load.timers - sent : PART;
		if (count > SLOTS - (sent - done))
			count = 0;
		if (count)
			fill(sent, count);
		sent += count;
		if (count || done > before)
			sum += cycles() - start;
		else
			clock_sleep_until(now_ns() + NSEC_PER_MSEC / 10);
	}
	return clock_ns(sum);
}

/* What is in the ring, up to a part; returns how many. */
static __u32 take_events(void)
{
	const struct hwtimer_event *event;
	__u32 count = 0;

	while (count < PART) {
		event = hwtimer_ring_next_event(&ring);
		if (!event)
			break;
		workload_deliver(&load, event->user_data);
		count++;
	}
	if (count && hwtimer_ring_consume(&ring))
		err(1, "HWTIMER_IOC_KICK");
	return count;
}

static double take_all(void)
{
	__u64 end = workload_last(&load) + 60 * NSEC_PER_SEC;
	__u64 start, sum = 0;

	while (load.delivered_count < load.timers) {
		start = cycles();
		if (take_events())
			sum += cycles() - start;
		else if (now_ns() > end)
			errx(1, "rings: %u of %u events came",
			     load.delivered_count, load.timers);
		else
			clock_sleep_until(now_ns() + NSEC_PER_MSEC / 10);
	}
	return clock_ns(sum);
}

/* So that the instance has its memory: otherwise others than the worker help. */
static void warm_up(int fd)
{
	struct hwtimer_bulk bulk = {
		.size = sizeof(bulk),
		.op = HWTIMER_OP_CANCEL,
		.count = load.timers,
		.timers = (uintptr_t)ids,
	};

	load.base = now_ns() + FAR;
	schedule_all();
	if (ioctl(fd, HWTIMER_IOC_BULK, &bulk) != (int)load.timers)
		err(1, "HWTIMER_IOC_BULK");
}

/* All are to be set before the first is due. */
static void measure_schedule(__u64 delay)
{
	int worker = hwtimer_worker_pid();
	double before = processor_time(worker);
	double ns;

	load.base = now_ns() + delay;
	ns = schedule_all();
	if (now_ns() >= load.base)
		exit(SYSTEM_LATE);
	emit("ring, the program's part of schedule", ns / load.timers,
	     "ns/timer");
	emit("ring, the worker's part of schedule",
	     (processor_time(worker) - before) / load.timers, "ns/timer");
}

void extra_rings(const struct run *run)
{
	int fd;

	processor_pin(0, 0);
	processor_pin(hwtimer_worker_pid(), run->cpu);
	workload_init(&load, run->timers, NSEC_PER_MSEC, run->seed);
	ids = allocate(load.timers, sizeof(*ids));
	memset(ids, 0xff, load.timers * sizeof(*ids));
	fd = set_up(run->timers);
	warm_up(fd);
	measure_schedule(DELAY * run->lead);
	emit("ring, the program's part of deliver", take_all() / load.timers,
	     "ns/timer");
	workload_settle(&load, "rings", 0);
	hwtimer_ring_unmap(&ring);
	close(fd);
	free(ids);
	workload_release(&load);
}
