// SPDX-License-Identifier: GPL-2.0
/*
 * Takes hwtimer and the floor through the same lives; see measure.h.
 *
 * A life: all timers are scheduled, a random half is cancelled, the others expire and are
 * delivered. Each pair has deadlines and an order of its own. Two lives come before the measured
 * ones, in the first of which all timers are cancelled; so all memory is there, and was used.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "../clock.h"
#include "../system_hwtimer.h"
#include "core.h"
#include "measure.h"

/* From the schedule to the first possible deadline, and from the last one to the expiry */
#define LEAD (20 * NSEC_PER_MSEC)
#define AFTER (10 * NSEC_PER_MSEC)

/* Seed of the first lives; each pair has one of its own. */
#define SEED 2015

const char *const phase_names[PHASES] = {
	[SCHEDULE] = "schedule",
	[CANCEL] = "cancel",
	[EXPIRE] = "expire + deliver",
};

/**
 * struct subject - a system that is measured
 * @system: the system
 * @row: the row
 * @load: the workload
 * @cancelled: number of timers that are cancelled
 */
struct subject {
	const struct system *system;
	const struct row *row;
	struct workload *load;
	__u32 cancelled;
};

double life_whole(const double *each)
{
	return each[SCHEDULE] + each[CANCEL] / 2 + each[EXPIRE] / 2;
}

/* ---- the phases ---- */

static void schedule(const struct subject *subject)
{
	subject->system->schedule(0, subject->load->timers);
}

static void cancel(const struct subject *subject)
{
	subject->system->cancel(0, subject->cancelled);
}

/*
 * Lets all timers become due, and expire. In a row that is stepwise, the program reads at each
 * tick; otherwise it comes late, and turns most of the wheel itself.
 */
static void expire_ours(const struct subject *subject)
{
	__u64 end = workload_last(subject->load) + AFTER;

	if (subject->row->stepwise)
		for (; core_now() < end; core_pass(subject->load->tick)) {
			core_run();
			subject->system->deliver();
		}
	else
		core_pass(end - core_now());
	core_run();
	subject->system->deliver();
}

static void expire(const struct subject *subject)
{
	if (subject->system == &system_hwtimer) {
		expire_ours(subject);
	} else {
		subject->system->expire(0);
		subject->system->deliver();
	}
}

static void (*const phases[PHASES])(const struct subject *subject) = {
	[SCHEDULE] = schedule,
	[CANCEL] = cancel,
	[EXPIRE] = expire,
};

/* Number of timers that go through a phase */
static __u32 phase_timers(const struct subject *subject, enum phase phase)
{
	if (phase == SCHEDULE)
		return subject->load->timers;
	if (phase == CANCEL)
		return subject->cancelled;
	return subject->load->timers - subject->cancelled;
}

/* What comes before a phase and is not measured */
static void prepare(const struct subject *subject, enum phase phase)
{
	const struct system *system = subject->system;

	if (system != &system_hwtimer)
		return;
	if (phase == SCHEDULE) {
		core_pass(subject->row->idle);
		core_run();
		subject->load->base = core_now() + LEAD;
	} else if (phase == CANCEL) {
		system->aim(0, subject->cancelled);
	}
}

typedef void phase_fn(const struct subject *subject, enum phase phase,
		      void *context);

/* A life; @go does what a phase does, and what is to be known of it. */
static void live(const struct subject *subject, phase_fn *go, void *context)
{
	enum phase phase;

	for (phase = 0; phase < PHASES; phase++) {
		prepare(subject, phase);
		if (phase_timers(subject, phase) || phase == EXPIRE)
			go(subject, phase, context);
	}
	workload_settle(subject->load, subject->system->name,
			subject->cancelled);
}

/* ---- rows ---- */

static void go_only(const struct subject *subject, enum phase phase,
		    void *unused)
{
	(void)unused;
	phases[phase](subject);
}

static unsigned int variant_of(const char *name)
{
	const char *const *variants = system_hwtimer.variants;
	unsigned int i;

	for (i = 0; variants[i]; i++)
		if (!strcmp(variants[i], name))
			return i;
	errx(1, "hwtimer has no variant '%s'", name);
}

static void subject_begin(struct subject *subject, const struct system *system,
			  const struct row *row, struct workload *load)
{
	bool ours = system == &system_hwtimer;

	*subject = (struct subject){ system, row, load, load->timers };
	system->setup(load, ours ? variant_of(row->variant) : 0);
	live(subject, go_only, NULL);
	subject->cancelled = load->timers / 2;
	live(subject, go_only, NULL);
}

static void row_begin(const struct row *row, struct workload *load,
		      struct subject *ours, struct subject *floors)
{
	workload_init(load, row->timers, NSEC_PER_MSEC, SEED);
	hwtimer_slack = row->slack;
	subject_begin(ours, &system_hwtimer, row, load);
	if (row->floor)
		subject_begin(floors, &system_floor, row, load);
}

/* ---- times ---- */

static void go_timed(const struct subject *subject, enum phase phase,
		     void *context)
{
	__u32 timers = phase_timers(subject, phase);
	struct life *life = context;
	__u64 start;

	start = cycles();
	phases[phase](subject);
	life->each[phase] = clock_ns(cycles() - start) / timers;
}

double measure_row(const struct row *row, __u32 count, struct life *ours,
		   struct life *floors)
{
	struct subject subject, floor;
	struct workload load;
	__u32 i;

	row_begin(row, &load, &subject, &floor);
	for (i = 0; i < count; i++) {
		workload_draw(&load, SEED + 1 + i);
		if (row->floor)
			live(&floor, go_timed, &floors[i]);
		live(&subject, go_timed, &ours[i]);
	}
	return (double)subject.system->bytes() / row->timers;
}

/* ---- counts ---- */

static void go_counted(const struct subject *subject, enum phase phase,
		       void *context)
{
	const char *suffix = context;
	char name[100];

	snprintf(name, sizeof(name), "%s%s|%u|%s|%u", subject->row->name,
		 suffix, subject->load->timers, phase_names[phase],
		 phase_timers(subject, phase));
	CALLGRIND_ZERO_STATS;
	CALLGRIND_TOGGLE_COLLECT;
	phases[phase](subject);
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS_AT(name);
}

void measure_counts(const struct row *row)
{
	struct subject subject, floor;
	struct workload load;

	row_begin(row, &load, &subject, &floor);
	CALLGRIND_START_INSTRUMENTATION;
	live(&subject, go_counted, "");
	if (row->floor)
		live(&floor, go_counted, " floor");
}
