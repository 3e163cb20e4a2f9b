// SPDX-License-Identifier: GPL-2.0
/*
 * Measures one run; see phases.h.
 *
 * In all workloads but CANCEL a run schedules the timers and cancels a random half of
 * them in random order. Then the clock goes from one wake-up to the next until no timer
 * is left. In CANCEL a run does the same for each millisecond: it schedules timers,
 * wakes the worker if that is due, and cancels those timers. Only the last 10 of 40 s
 * count, because by then the buckets of the first timeouts have come round.
 *
 * Costs are processor time of this thread, less the cost of reading it.
 *
 * Requests come in batches of HWTIMER_HOLD, as in the module. The memory for a batch is
 * allocated before the batch, outside the measured time.
 */
#include <err.h>
#include <string.h>

#include "device.h"
#include "phases.h"

#define TIMEOUT (30 * NSEC_PER_SEC)
#define CANCEL_MS 40000
#define CANCEL_WARM_MS 30000
#define MS_PER_S 1000

#define CLOCK_ROUNDS 1000
#define CLOCK_CALLS 100

/* The dead entries that the module tolerates; see timers/hold.c. */
#define DEAD_MAX (32768 + 16384)

/* Returns the processor time of this thread, without interruptions by others. */
static u64 cpu_ns(void)
{
	return clock_now(CLOCK_THREAD_CPUTIME_ID);
}

/* Returns the cost of a call of cpu_ns(): the least, because other programs interfere. */
static double clock_cost(void)
{
	u64 least = U64_MAX;
	u32 round, i;

	for (round = 0; round < CLOCK_ROUNDS; round++) {
		u64 begin = now_ns();

		for (i = 0; i < CLOCK_CALLS; i++)
			cpu_ns();
		least = min(least, now_ns() - begin);
	}
	return (double)least / CLOCK_CALLS;
}

/* Returns the processor time since cpu_ns() returned @begin, ns. */
static double cpu_since(u64 begin)
{
	static double cost;
	double ns = cpu_ns() - begin;

	if (!cost)
		cost = clock_cost();
	return max(ns - cost, 0.0);
}

/* Returns the time taken, ns; so do the functions below that return a double. */
static double schedule_batch(struct run *run, struct harness *harness,
			     u32 first, u32 count)
{
	u64 begin;

	harness_reserve(harness, count);
	begin = cpu_ns();
	harness_schedule(harness, run->timers, first, count);
	return cpu_since(begin);
}

static double schedule_timers(struct run *run, struct harness *harness,
			      u32 first, u32 count)
{
	double ns = 0;
	u32 done, batch;

	for (done = 0; done < count; done += batch) {
		batch = min(count - done, HWTIMER_HOLD);
		ns += schedule_batch(run, harness, first + done, batch);
	}
	return ns;
}

static double compact(struct harness *harness, u32 requests)
{
	u64 steps = harness_compaction_steps(harness, requests);
	bool more = true;
	double ns = 0;

	while (more && steps--) {
		u64 begin = cpu_ns();

		more = harness_compact(harness);
		ns += cpu_since(begin);
	}
	return ns;
}

/* Cancels timers by their numbers, with the compaction that this causes. */
static double cancel_batch(struct run *run, struct harness *harness,
			   const u32 *numbers, u32 count)
{
	u64 ids[HWTIMER_HOLD];
	double ns;
	u64 begin;
	u32 i;

	for (i = 0; i < count; i++)
		ids[i] = run->timers[numbers[i]].id;
	begin = cpu_ns();
	harness_cancel(harness, ids, count);
	ns = cpu_since(begin);
	return ns + compact(harness, count);
}

static double cancel_timers(struct run *run, struct harness *harness,
			    const u32 *numbers, u32 count)
{
	double ns = 0;
	u32 done, batch;

	for (done = 0; done < count; done += batch) {
		batch = min(count - done, HWTIMER_HOLD);
		ns += cancel_batch(run, harness, &numbers[done], batch);
	}
	return ns;
}

/* Cancels @count timers from number @first on, in the order of their scheduling. */
static double cancel_range(struct run *run, struct harness *harness, u32 first,
			   u32 count)
{
	u32 numbers[HWTIMER_HOLD];
	double ns = 0;
	u32 done, batch, i;

	for (done = 0; done < count; done += batch) {
		batch = min(count - done, HWTIMER_HOLD);
		for (i = 0; i < batch; i++)
			numbers[i] = first + done + i;
		ns += cancel_batch(run, harness, numbers, batch);
	}
	return ns;
}

/* Records in the ledger which timers have expired since the last call. */
static void read_events(struct run *run, struct harness *harness,
			struct ledger *ledger)
{
	struct event event;

	while (harness_read(harness, &event))
		ledger_expired(ledger, &event,
			       run->thorough ? harness->now :
					       event.deadline + event.lateness);
}

/* Schedules the next of the late timers, if one is left. */
static void schedule_late(struct run *run, struct harness *harness, u32 *late)
{
	u32 number = run->count - *late;

	if (!*late)
		return;
	run->timers[number].deadline += harness->now + 1 - TIMERS_START;
	schedule_timers(run, harness, number, 1);
	--*late;
}

static double expire_timers(struct run *run, struct harness *harness,
			    struct ledger *ledger)
{
	u32 late = run->late;
	u64 begin = cpu_ns();
	double ns;

	while (harness->wake != HWTIMER_TICK_NONE) {
		harness_wake_up(harness);
		if (run->thorough)
			read_events(run, harness, ledger);
		schedule_late(run, harness, &late);
	}
	ns = cpu_since(begin);
	read_events(run, harness, ledger);
	return ns;
}

/* @ended: number of timers that expired, or in CANCEL were cancelled */
static void figures_of_wheel(struct run *run, const struct harness *harness,
			     const struct hwtimer_wheel_stats *before,
			     u64 ended)
{
	const struct hwtimer_wheel_stats *stats = &harness->wheel.stats;
	double *figures = run->figures;

	figures[WALKED] = (double)(stats->walked - before->walked) / ended;
	figures[CASCADED] =
		(double)(stats->cascaded - before->cascaded) / ended;
}

static void run_phases(struct run *run, struct harness *harness)
{
	static const struct hwtimer_wheel_stats zero;
	u32 first = run->count - run->late;
	u32 left = run->count - run->cancelled;
	double *figures = run->figures;
	struct ledger ledger;
	u32 i;

	ledger_open(&ledger, &harness->wheel, run->timers, run->count);
	figures[SCHEDULE_NS] = schedule_timers(run, harness, 0, first) / first;
	figures[CANCEL_NS] =
		cancel_timers(run, harness, run->order, run->cancelled) /
		max(run->cancelled, 1U);
	for (i = 0; i < run->cancelled; i++)
		ledger_cancelled(&ledger, run->order[i]);
	figures[EXPIRE_NS] = expire_timers(run, harness, &ledger) / left;
	figures[WAKEUPS] = harness->wakeups;
	figures_of_wheel(run, harness, &zero, left);
	ledger_close(&ledger);
}

/* Checks the wheel after each millisecond of CANCEL. */
static void cancel_check(const struct harness *harness)
{
	if (harness->first != harness->last)
		errx(1, "a cancelled timer has expired");
	if (harness->wheel.entries > 2 * harness->pending + DEAD_MAX)
		errx(1, "%llu entries for %llu timers", harness->wheel.entries,
		     harness->pending);
}

/* Runs one millisecond of CANCEL with @count timers from number @first on. */
static void cancel_ms(struct run *run, struct harness *harness, u32 first,
		      u32 count)
{
	double *figures = run->figures;
	u64 begin;
	u32 i;

	for (i = first; i < first + count; i++)
		run->timers[i].deadline = harness->now + TIMEOUT;
	figures[SCHEDULE_NS] += schedule_timers(run, harness, first, count);
	harness->now += NSEC_PER_MSEC;
	begin = cpu_ns();
	while (harness->wake <= harness->now)
		harness_wake_up(harness);
	figures[EXPIRE_NS] += cpu_since(begin);
	figures[CANCEL_NS] += cancel_range(run, harness, first, count);
	cancel_check(harness);
}

static void run_cancel(struct run *run, struct harness *harness)
{
	u32 count = max(run->count / MS_PER_S, 1U);
	struct hwtimer_wheel_stats before = {};
	u64 wakeups = 0;
	double cancelled = (double)count * (CANCEL_MS - CANCEL_WARM_MS);
	u32 ms;

	for (ms = 0; ms < CANCEL_MS; ms++) {
		if (ms == CANCEL_WARM_MS) {
			memset(run->figures, 0, sizeof(run->figures));
			before = harness->wheel.stats;
			wakeups = harness->wakeups;
		}
		cancel_ms(run, harness, ms % 2 * count, count);
	}
	run->figures[SCHEDULE_NS] /= cancelled;
	run->figures[CANCEL_NS] /= cancelled;
	run->figures[EXPIRE_NS] /= cancelled;
	run->figures[WAKEUPS] = harness->wakeups - wakeups;
	figures_of_wheel(run, harness, &before, cancelled);
}

/* Stores the figures in @run->figures; any error ends the program. */
void run_measure(struct run *run)
{
	static struct harness harness;

	memset(run->figures, 0, sizeof(run->figures));
	harness_init(&harness, &run->shape, run->count);
	if (run->workload == CANCEL)
		run_cancel(run, &harness);
	else
		run_phases(run, &harness);
	harness_destroy(&harness);
}
