// SPDX-License-Identifier: GPL-2.0
/*
 * Takes a system through the phases; see phases.h.
 *
 * A warm-up on the same instance comes before the measured round. So the measured
 * round finds memory allocated and touched, as in a service that has run for a while.
 * The cost of scheduling in the very first round is emitted as a figure of its own.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit.h"
#include "memory.h"
#include "numbers.h"
#include "phases.h"
#include "processor.h"

/* A deadline that does not come during the run */
#define FAR (3600 * NSEC_PER_SEC)
/* All timers ought to have expired this long after the last deadline. */
#define GRACE (20 * NSEC_PER_MSEC)
/* Where the expiries can be observed, they are awaited for so many looks, of 1 ms or more. */
#define LOOKS_MAX 10000
/* The kernel lets real-time processes hold a processor for little longer than this. */
#define HOLD_MAX (800 * NSEC_PER_MSEC)
#define PAIRS_MAX 131072
/* Up to this many timers can be set within a few of the shortest ticks. */
#define MANY 100000
#define TICK_MAX (4 * NSEC_PER_MSEC)
#define QUIET_SAMPLES 9
#define QUIET_LENGTH (10 * NSEC_PER_MSEC)

/**
 * struct trial - the state of a measurement
 * @run: its settings
 * @system: the system of @run
 * @load: the workload
 * @left: number of timers that are not cancelled
 * @worker: what the worker has taken before the events were delivered, ns
 * @lead: time from the start of a round to the first deadline, ns
 * @quiet: the share of time in which the processor does not run this program although
 *	no timer is set, from 0 to 1
 * @measured: whether this round's figures are emitted
 */
struct trial {
	const struct run *run;
	const struct system *system;
	struct workload load;
	__u32 left;
	double worker;
	__u64 lead;
	double quiet;
	bool measured;
};

static void emit_each(const struct trial *trial, const char *phase, double ns,
		      __u32 count)
{
	if (trial->measured)
		emit(phase, ns / count, "ns/timer");
}

static void aim(struct trial *trial, __u32 first, __u32 count)
{
	if (trial->system->aim)
		trial->system->aim(first, count);
}

static double timed_schedule(struct trial *trial)
{
	__u64 start = cycles();

	trial->system->schedule(0, trial->load.timers);
	return clock_ns(cycles() - start);
}

static double timed_cancel(struct trial *trial, __u32 count)
{
	__u64 start;

	aim(trial, 0, count);
	start = cycles();
	trial->system->cancel(0, count);
	return clock_ns(cycles() - start);
}

static double timed_deliver(struct trial *trial)
{
	__u64 start = cycles();

	trial->system->deliver();
	return clock_ns(cycles() - start);
}

/* ---- expiry, of each kind ---- */

static double expire_called(struct trial *trial)
{
	__u64 start = cycles();

	trial->system->expire(trial->left);
	return clock_ns(cycles() - start);
}

/* Returns the gaps until @until, less the gaps that come even without timers. */
static double gaps_ns(struct trial *trial, __u64 until)
{
	__u64 start = now_ns();
	struct gaps gaps = clock_gaps_settled(until, GRACE);
	double ns = gaps.ns - trial->quiet * (until - start);

	return ns > 0 ? ns : 0;
}

static double expire_interrupt(struct trial *trial)
{
	double ns;

	processor_hold();
	ns = gaps_ns(trial, workload_last(&trial->load) + GRACE);
	processor_share();
	return ns;
}

static void sleep_past_all(struct trial *trial)
{
	sleep_until(workload_last(&trial->load) + trial->lead + GRACE);
}

static void expire(struct trial *trial)
{
	double ns;

	switch (trial->system->expiry) {
	case EXPIRY_CALLED:
		ns = expire_called(trial);
		break;
	case EXPIRY_WORKER:
		trial->worker = processor_time(trial->system->worker_pid());
		sleep_past_all(trial);
		trial->worker = processor_time(trial->system->worker_pid()) -
				trial->worker;
		return;
	case EXPIRY_INTERRUPT:
		if (trial->run->unseen) {
			sleep_past_all(trial);
			return;
		}
		ns = expire_interrupt(trial);
		break;
	default:
		sleep_past_all(trial);
		return;
	}
	emit_each(trial, "expire", ns, trial->left);
}

static void deliver_all(struct trial *trial)
{
	bool both = trial->system->expiry == EXPIRY_DELIVERS ||
		    trial->system->expiry == EXPIRY_WORKER;
	/* What the worker does meanwhile takes this processor, too. */
	double ns = timed_deliver(trial) + trial->worker;

	emit_each(trial, both ? "expire + deliver" : "deliver", ns,
		  trial->left);
	workload_settle(&trial->load, trial->system->name,
			trial->load.timers - trial->left);
}

/* ---- rounds ---- */

static bool real_time(const struct trial *trial)
{
	return trial->system->expiry != EXPIRY_CALLED;
}

static void exit_if_late(const struct trial *trial)
{
	if (real_time(trial) && now_ns() >= trial->load.base)
		exit(SYSTEM_LATE);
}

static void emit_bytes(struct trial *trial, double before)
{
	const struct system *system = trial->system;
	double bytes = system->bytes ? system->bytes() :
				       memory_bytes() - before;

	if (trial->measured)
		emit("peak", bytes / trial->load.timers, "bytes/timer");
}

/* Schedule all, cancel a half: what is to come before the first deadline. */
static void fill(struct trial *trial)
{
	__u32 timers = trial->load.timers;
	__u32 half = timers / 2;

	trial->load.base = now_ns() + trial->lead;
	emit_each(trial, "schedule", timed_schedule(trial), timers);
	emit_each(trial, "cancel", timed_cancel(trial, half), half);
	trial->left = timers - half;
	exit_if_late(trial);
}

static void round_of_life(struct trial *trial)
{
	fill(trial);
	expire(trial);
	deliver_all(trial);
}

static void forget_all(struct trial *trial)
{
	aim(trial, 0, trial->load.timers);
	trial->system->cancel(0, trial->load.timers);
	if (!real_time(trial))
		trial->system->expire(0);
}

/* Schedules all timers far ahead and cancels them; returns the time, ns. */
static double rehearse(struct trial *trial, double before)
{
	double ns;

	trial->load.base = now_ns() + FAR;
	ns = timed_schedule(trial);
	emit_each(trial, "schedule, first round", ns, trial->load.timers);
	emit_bytes(trial, before);
	trial->measured = false;
	ns += timed_cancel(trial, trial->load.timers);
	if (!real_time(trial))
		trial->system->expire(0);
	return ns;
}

/*
 * Touches all the memory that the timers need, and measures the time that setting
 * them takes, for the lead. Where a worker expires the timers, the lead has to be
 * short; so a second rehearsal measures that time with the memory at hand.
 */
static void warm_up(struct trial *trial, double before)
{
	double ns = rehearse(trial, before);

	if (trial->system->expiry == EXPIRY_WORKER)
		ns = rehearse(trial, before);
	trial->lead = trial->run->lead * (ns * 1.2 + 10 * NSEC_PER_MSEC);
}

/* ---- more phases ---- */

/*
 * Schedules a batch, as large as the system takes in one call, and cancels it in the
 * same order.
 */
static void hot_pairs(struct trial *trial, const __u32 *in_order)
{
	const struct system *system = trial->system;
	__u32 batch = system->batch ? system->batch(trial->run->variant) : 1;
	__u32 timers = trial->load.timers;
	__u32 *order = trial->load.order;
	__u32 i, count;
	__u64 start;

	trial->load.base = now_ns() + FAR;
	trial->load.order = (__u32 *)in_order;
	if (timers > PAIRS_MAX)
		timers = PAIRS_MAX;
	start = cycles();
	for (i = 0; i < timers; i += count) {
		count = timers - i < batch ? timers - i : batch;
		system->schedule(i, count);
		aim(trial, i, count);
		system->cancel(i, count);
	}
	emit_each(trial, "hot pair", clock_ns(cycles() - start), timers);
	trial->load.order = order;
	if (!real_time(trial))
		system->expire(0);
}

static void measure_pairs(struct trial *trial)
{
	__u32 *in_order = allocate(trial->load.timers, sizeof(*in_order));
	__u32 i;

	for (i = 0; i < trial->load.timers; i++)
		in_order[i] = i;
	hot_pairs(trial, in_order);
	free(in_order);
}

static double timed_reschedule(struct trial *trial)
{
	__u64 start = cycles();

	trial->system->reschedule(0, trial->load.timers);
	return clock_ns(cycles() - start);
}

/*
 * Reschedules all timers in random order: to later deadlines, and then to deadlines
 * that are earlier than the first ones.
 */
static void measure_reschedule(struct trial *trial)
{
	__u32 timers = trial->load.timers;
	__u64 horizon = workload_horizon(&trial->load);

	if (!trial->system->reschedule)
		return;
	trial->load.base = now_ns() + FAR;
	trial->system->schedule(0, timers);
	aim(trial, 0, timers);
	trial->load.base += horizon;
	emit_each(trial, "reschedule later", timed_reschedule(trial), timers);
	trial->load.base -= 2 * horizon;
	emit_each(trial, "reschedule earlier", timed_reschedule(trial), timers);
	forget_all(trial);
}

/* Times a burst that the program delivers itself, in one call, or in two. */
static struct gaps burst_delivered(struct trial *trial)
{
	__u64 start;

	sleep_until(trial->load.base + trial->lead);
	start = now_ns();
	if (trial->system->expiry == EXPIRY_CALLED)
		trial->system->expire(trial->load.timers);
	trial->system->deliver();
	return (struct gaps){
		.ns = now_ns() - start,
		.last = trial->load.base + (now_ns() - start),
	};
}

/* Times a burst that expires in interrupts; it ends when all timers are delivered. */
static struct gaps burst_seen(struct trial *trial)
{
	struct workload *load = &trial->load;
	__u64 until = load->base + NSEC_PER_MSEC;
	struct gaps gaps, sum = { 0 };
	unsigned int looks = 0;

	sleep_until(load->base - NSEC_PER_MSEC);
	do {
		processor_hold();
		gaps = clock_gaps_settled(until, HOLD_MAX);
		processor_share();
		sum.ns += gaps.ns;
		sum.last = gaps.last;
		trial->system->deliver();
		until = now_ns() + NSEC_PER_MSEC;
	} while (load->delivered_count < load->timers && ++looks < LOOKS_MAX);
	return sum;
}

/* ---- the entry points ---- */

/*
 * Measures the gaps that come while no timer is set. The figure is the median of short
 * samples, because a burst of another program would spoil a mean.
 */
static void measure_quiet(struct trial *trial)
{
	double shares[QUIET_SAMPLES];
	__u64 start;
	int i;

	processor_hold();
	for (i = 0; i < QUIET_SAMPLES; i++) {
		start = cycles();
		shares[i] = clock_gaps_until(now_ns() + QUIET_LENGTH).ns;
		shares[i] /= clock_ns(cycles() - start);
	}
	processor_share();
	trial->quiet = quantile(shares, QUIET_SAMPLES, 0.5);
}

/*
 * A worker goes by real time, so ticks pass while timers are being set. The ticks of
 * such a system grow with the number of timers, so that few of them pass and the
 * deadlines remain as many ticks ahead as the floor's.
 */
static __u64 tick_of(const struct run *run)
{
	const struct system *system = run->system;
	__u64 tick = system->tick;

	if (system->expiry == EXPIRY_WORKER && run->timers > MANY)
		tick = tick * run->timers / MANY;
	return tick < TICK_MAX ? tick : TICK_MAX;
}

static void begin(struct trial *trial, const struct run *run)
{
	const struct system *system = run->system;

	*trial = (struct trial){ .run = run, .system = system };
	workload_init(&trial->load, run->timers,
		      run->tick ? run->tick : tick_of(run), run->seed);
	processor_pin(0, run->cpu);
}

/* Sets the system up, and binds the worker, which that creates. */
static void set_up(struct trial *trial)
{
	const struct system *system = trial->system;

	system->setup(&trial->load, trial->run->variant);
	if (system->expiry == EXPIRY_WORKER)
		processor_pin(system->worker_pid(), trial->run->cpu);
}

static void end(struct trial *trial)
{
	trial->system->teardown();
	workload_release(&trial->load);
}

static bool rounds_are_short(const struct trial *trial)
{
	return trial->system->expiry == EXPIRY_CALLED ||
	       trial->system->expiry == EXPIRY_WORKER;
}

void phases_run(const struct run *run)
{
	struct trial trial;
	double before;

	begin(&trial, run);
	before = memory_bytes();
	set_up(&trial);
	if (run->system->expiry == EXPIRY_INTERRUPT)
		measure_quiet(&trial);
	trial.measured = true;
	warm_up(&trial, before);
	if (rounds_are_short(&trial))
		round_of_life(&trial);
	sleep_until(now_ns() + run->idle);
	trial.measured = true;
	round_of_life(&trial);
	measure_pairs(&trial);
	measure_reschedule(&trial);
	end(&trial);
}

/* Times a burst from its time to the last event; this program sleeps until the first one. */
static struct gaps burst_awaited(struct trial *trial)
{
	struct workload *load = &trial->load;
	struct gaps gaps;

	while (load->delivered_count < load->timers) {
		trial->system->expire(load->timers);
		trial->system->deliver();
	}
	gaps.last = now_ns();
	gaps.ns = gaps.last - load->base;
	return gaps;
}

static struct gaps burst(struct trial *trial)
{
	switch (trial->system->expiry) {
	case EXPIRY_WORKER:
		return burst_awaited(trial);
	case EXPIRY_INTERRUPT:
		return burst_seen(trial);
	default:
		return burst_delivered(trial);
	}
}

void phases_burst(const struct run *run)
{
	struct trial trial;
	struct workload *load = &trial.load;
	struct gaps gaps;

	if (run->system->expiry == EXPIRY_INTERRUPT && run->unseen)
		return;
	begin(&trial, run);
	set_up(&trial);
	warm_up(&trial, 0);
	memset(load->offsets, 0, load->timers * sizeof(*load->offsets));
	load->base = now_ns() + trial.lead;
	run->system->schedule(0, load->timers);
	exit_if_late(&trial);
	trial.left = load->timers;
	gaps = burst(&trial);
	workload_settle(load, run->system->name, 0);
	emit("burst", gaps.ns / load->timers, "ns/timer");
	emit("burst, the last is late", gaps.last - load->base, "ns");
	end(&trial);
}

/* The processor time of this program and of the worker, ns */
static double processor_both(const struct trial *trial)
{
	return processor_time(getpid()) +
	       processor_time(trial->system->worker_pid());
}

void phases_ticks(const struct run *run)
{
	struct trial trial;
	double ns;

	begin(&trial, run);
	set_up(&trial);
	warm_up(&trial, 0);
	fill(&trial);
	ns = processor_both(&trial);
	while (trial.load.delivered_count < trial.left) {
		run->system->expire(trial.left);
		run->system->deliver();
	}
	trial.measured = true;
	emit_each(&trial, "expire + deliver, tick by tick",
		  processor_both(&trial) - ns, trial.left);
	workload_settle(&trial.load, run->system->name,
			run->timers - trial.left);
	end(&trial);
}

/* ---- the check ---- */

static void check_none_early(struct trial *trial, __u32 first)
{
	struct workload *load = &trial->load;
	__u64 now = now_ns();
	__u32 i;

	for (i = first; i < load->delivered_count; i++)
		if (now < workload_deadline(load, load->delivered[i]))
			errx(1, "%s: timer %u was early", trial->system->name,
			     load->delivered[i]);
}

static void await_all(struct trial *trial)
{
	struct workload *load = &trial->load;
	__u64 end = workload_last(load) + trial->lead + NSEC_PER_SEC;
	__u32 first;

	while (load->delivered_count < trial->left && now_ns() < end) {
		first = load->delivered_count;
		trial->system->deliver();
		check_none_early(trial, first);
		sleep_until(now_ns() + NSEC_PER_MSEC / 5);
	}
}

void phases_check(const struct run *run)
{
	struct trial trial;

	begin(&trial, run);
	set_up(&trial);
	warm_up(&trial, 0);
	fill(&trial);
	if (real_time(&trial))
		await_all(&trial);
	else
		expire(&trial);
	deliver_all(&trial);
	measure_pairs(&trial);
	measure_reschedule(&trial);
	end(&trial);
}
