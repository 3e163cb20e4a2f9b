// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of a timer through the rings, separately for the program and for
 * the worker, which runs on another processor. The program's part is filling slots,
 * publishing, and taking results and events, but not waiting for the worker. The
 * worker's part matters to a program that schedules all the time, because such
 * a program has to wait for the worker. Slots are of 64 bytes, and then compact ones.
 *
 * The rings fit into a processor's cache. Larger ones would go through memory, and
 * would only help a program that is faster than the worker.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
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
/* A deadline that does not come during the run */
#define FAR (3600 * NSEC_PER_SEC)

static struct hwtimer_ring ring;
static bool compact;
/* The thread that turns the wheel */
static int worker;
static struct workload load;
static __u64 *ids;
static __u64 *aimed;

static int set_up(__u32 timers)
{
	struct hwtimer_setup setup = {
		.size = sizeof(setup),
		.flags = compact ? HWTIMER_COMPACT_SLOTS : 0,
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

static void no_slot(void)
{
	errx(1, "the submission ring is full");
}

/* Always inline: each loop is compiled for one operation, as in a program. */
static __always_inline void fill_full(enum hwtimer_op op, __u32 first,
				      __u32 count)
{
	struct hwtimer_request *slot;
	__u32 i;

	for (i = first; i < first + count; i++) {
		slot = hwtimer_ring_get_slot(&ring);
		if (!slot)
			no_slot();
		slot->op = op;
		if (op == HWTIMER_OP_CANCEL) {
			slot->id = aimed[i];
			continue;
		}
		slot->flags = HWTIMER_ABSOLUTE;
		slot->time = workload_deadline(&load, i);
		slot->user_data = i;
	}
}

static __always_inline void fill_compact(enum hwtimer_op op, __u32 first,
					 __u32 count)
{
	const __u32 flags = op == HWTIMER_OP_SCHEDULE ? HWTIMER_ABSOLUTE : 0;
	struct hwtimer_bulk_timer *slots;
	__u32 i, run;

	for (; count; count -= run, first += run) {
		run = count;
		slots = hwtimer_ring_get_run(&ring, op, flags, &run);
		if (!slots)
			no_slot();
		for (i = 0; i < run; i++)
			if (op == HWTIMER_OP_CANCEL)
				slots[i] = (struct hwtimer_bulk_timer){
					.id = aimed[first + i],
				};
			else
				slots[i] = (struct hwtimer_bulk_timer){
					.user_data = first + i,
					.time = workload_deadline(&load,
								  first + i),
				};
	}
}

static __always_inline void fill(enum hwtimer_op op, __u32 first, __u32 count)
{
	if (compact)
		fill_compact(op, first, count);
	else
		fill_full(op, first, count);
	if (hwtimer_ring_publish(&ring))
		err(1, "HWTIMER_IOC_KICK");
}

/* Ends the program. After the deadline a CANCEL fails because the timer has expired. */
static void give_up(int error)
{
	if (now_ns() >= load.base)
		exit(SYSTEM_LATE);
	errx(1, "a request through the ring: %s", strerror(error));
}

/* Takes the results in the ring; returns how many timers have one now. */
static __always_inline __u32 take_results(enum hwtimer_op op, __u32 done)
{
	const __u64 *results;
	__u32 i, run;

	for (;; done += run) {
		run = SLOTS;
		results = hwtimer_ring_next_results(&ring, &run);
		if (!results)
			return done;
		for (i = 0; i < run; i++) {
			if (hwtimer_ring_error(results[i]))
				give_up(-hwtimer_ring_error(results[i]));
			if (op == HWTIMER_OP_SCHEDULE)
				ids[done + i] = results[i];
		}
	}
}

/* Does one operation on all timers; returns the program's part, ns. */
static __always_inline double do_all(enum hwtimer_op op, __u32 timers)
{
	__u32 sent = 0, done = 0, before, count;
	__u64 start, sum = 0;

	while (done < timers) {
		start = cycles();
		before = done;
		done = take_results(op, done);
		count = timers - sent < PART ? timers - sent : PART;
		if (count > SLOTS - (sent - done))
			count = 0;
		if (count)
			fill(op, sent, count);
		sent += count;
		if (count || done > before)
			sum += cycles() - start;
		else
			sleep_until(now_ns() + NSEC_PER_MSEC / 10);
	}
	return clock_ns(sum);
}

static double schedule_all(void)
{
	return do_all(HWTIMER_OP_SCHEDULE, load.timers);
}

/* Cancels a random half. The ids are looked up before, as a program knows them. */
static double cancel_half(void)
{
	__u32 i;

	for (i = 0; i < load.timers / 2; i++)
		aimed[i] = ids[load.order[i]];
	return do_all(HWTIMER_OP_CANCEL, load.timers / 2);
}

/* Takes the events of the timers that are left; returns the program's part, ns. */
static double take_all(__u32 left)
{
	__u64 start, sum = 0;

	while (load.delivered_count < left) {
		start = cycles();
		if (hwtimer_take_events(&ring, &load, PART))
			sum += cycles() - start;
		else
			sleep_until(now_ns() + NSEC_PER_MSEC / 10);
	}
	return clock_ns(sum);
}

/*
 * Makes the instance allocate its memory. Otherwise threads beside the worker would
 * take part in the measured work.
 */
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

static void emit_part(const char *whose, const char *phase, double ns,
		      __u32 count)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, the %s's part of %s",
		 compact ? "compact ring" : "ring", whose, phase);
	emit(name, ns / count, "ns/timer");
}

/* Emits the costs of @phase per timer, the program's and the worker's. */
static void measure_part(const char *phase, double (*what)(void), __u32 count)
{
	double before = processor_time(worker);
	double ns = what();

	emit_part("program", phase, ns, count);
	emit_part("worker", phase, processor_time(worker) - before, count);
}

/* All timers must be set, and half of them cancelled, before the first is due. */
static void measure_life(__u64 delay)
{
	__u32 half = load.timers / 2;
	__u32 left = load.timers - half;

	load.base = now_ns() + delay;
	measure_part("schedule", schedule_all, load.timers);
	measure_part("cancel", cancel_half, half);
	if (now_ns() >= load.base)
		exit(SYSTEM_LATE);
	emit_part("program", "deliver", take_all(left), left);
	workload_settle(&load, "rings", half);
}

static void measure_rings(const struct run *run)
{
	int fd = set_up(run->timers);

	worker = device_worker_pid(fd);
	processor_pin(worker, run->cpu);
	warm_up(fd);
	measure_life(DELAY * run->lead);
	hwtimer_ring_unmap(&ring);
	close(fd);
}

void extra_rings(const struct run *run)
{
	processor_pin(0, 0);
	workload_init(&load, run->timers, NSEC_PER_MSEC, run->seed);
	ids = allocate_touched(load.timers, sizeof(*ids));
	aimed = allocate_touched(load.timers, sizeof(*aimed));
	measure_rings(run);
	compact = true;
	measure_rings(run);
	free(aimed);
	free(ids);
	workload_release(&load);
}
