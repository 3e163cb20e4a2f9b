// SPDX-License-Identifier: GPL-2.0
/*
 * Takes hwtimer and its rivals, as far as they can run here, through the same phases.
 * bench.sh runs this program in each place; report.py makes a table of its output.
 *
 * Every measurement runs in a process of its own, so that none finds memory or limits
 * that another has changed.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "options.h"
#include "phases.h"
#include "processor.h"
#include "system_hwtimer.h"

#define NULL_CALLS 20000
#define TRIES 6
/* A measurement takes all its timers through about this many lives. */
#define ROUNDS 4

static const struct system *const systems[] = {
	&system_floor, &system_floor_list, &system_hwtimer,  &system_timerfd,
	&system_uring, &system_libuv,	   &system_libevent,
};

#define SYSTEMS (sizeof(systems) / sizeof(*systems))

static double null_call_ns(void)
{
	__u64 start = cycles();
	int i;

	for (i = 0; i < NULL_CALLS; i++)
		syscall(SYS_getppid);
	return clock_ns(cycles() - start) / NULL_CALLS;
}

/* Returns the exit status of a child that runs @measure. */
static int in_child(void (*measure)(const struct run *run),
		    const struct run *run)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		measure(run);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Runs @how; repeats it with more time while timers are due too soon. */
static int try(void (*how)(const struct run *run), struct run *run)
{
	int status = SYSTEM_LATE;
	int i;

	for (i = 0; i < TRIES && status == SYSTEM_LATE; i++) {
		run->lead = 1 << i;
		status = in_child(how, run);
	}
	return status;
}

/* Returns the variant's name, with what the command line has changed. */
static const char *variant_name(const struct run *run)
{
	static char name[120];
	char idle[24] = "";

	if (run->idle)
		snprintf(idle, sizeof(idle), ", after %llu s",
			 (unsigned long long)(run->idle / NSEC_PER_SEC));
	snprintf(name, sizeof(name), "%s%s",
		 run->system->variants[run->variant], idle);
	return name;
}

static void measure(void (*how)(const struct run *run), struct run *run)
{
	int status = try(how, run);

	if (status)
		errx(1, "%s, %s, %u timers: failed with status %d",
		     run->system->name, variant_name(run), run->timers, status);
}

/* Rounds down to a number that is one digit and zeros. */
static __u32 rounded_down(double number)
{
	__u32 unit = 1;

	while (number / unit >= 10)
		unit *= 10;
	return (__u32)(number / unit) * unit;
}

/* Returns the most timers within the system's own limit and that of --calls. */
static __u32 timers_max(const struct options *options, const struct run *run)
{
	const struct system *system = run->system;
	__u32 max = system->timers_max ? system->timers_max() : UINT32_MAX;
	double calls = system->calls ? system->calls(run->variant) : 0;
	double in_time = calls ? options->calls / (calls * ROUNDS) : UINT32_MAX;

	return in_time < max ? rounded_down(in_time) : max;
}

/**
 * struct extra - a measurement beside the phases
 * @name: its name for --extra
 * @question: the measurement
 * @timers: the number of timers that it needs
 */
struct extra {
	const char *name;
	void (*question)(const struct run *run);
	__u32 timers;
};

static void ask(const struct options *options, struct run *run,
		const struct extra *extra)
{
	run->timers = extra->timers;
	emit_subject(run->system->name, variant_name(run), run->timers);
	if (options_want(options, run->system->name, variant_name(run)) &&
	    (!options->extra || !strcmp(options->extra, extra->name)))
		measure(extra->question, run);
}

/* Runs the extras on hwtimer. */
static void measure_extras(const struct options *options)
{
	const struct extra extras[] = {
		{ "threads", extra_threads, 1 },
		{ "single", extra_single, 1 },
		{ "instances", extra_instances, 1 },
		{ "dead", extra_dead, options->pairs },
	};
	struct run run = {
		.system = &system_hwtimer,
		.cpu = processor_last(),
		.seed = 2015 + options->rep,
	};
	unsigned int i;

	if (run.system->missing())
		return;
	for (i = 0; i < sizeof(extras) / sizeof(*extras); i++)
		ask(options, &run, &extras[i]);
}

static void measure_run(const struct options *options, struct run *run)
{
	emit_subject(run->system->name, variant_name(run), run->timers);
	run->tick = 0;
	measure(phases_run, run);
	if (options->turn || options->idle)
		return;
	measure(phases_burst, run);
	if (options->ticks && run->system->expiry == EXPIRY_WORKER) {
		run->tick = NSEC_PER_MSEC;
		measure(phases_ticks, run);
	}
}

/* Measures all numbers of timers; those that are too large become the most possible. */
static void measure_variant(const struct options *options, struct run *run)
{
	__u32 max = timers_max(options, run);
	__u32 i, last = 0;

	for (i = 0; i < options->timers.count; i++) {
		run->timers = options->timers.values[i];
		if (run->timers > max)
			run->timers = max;
		if (run->timers > last)
			measure_run(options, run);
		last = run->timers;
	}
}

/* Calls @what for each variant that the command line selects. */
static void
with_variants(const struct options *options, const struct system *system,
	      void (*what)(const struct options *options, struct run *run))
{
	struct run run = {
		.system = system,
		.unseen = options->unseen,
		.idle = options->idle * NSEC_PER_SEC,
		.cpu = processor_last(),
		.seed = 2015 + options->rep,
	};

	for (; system->variants[run.variant]; run.variant++)
		if (options_want(options, system->name, variant_name(&run)))
			what(options, &run);
}

static void measure_system(const struct options *options,
			   const struct system *system)
{
	const char *missing = system->missing ? system->missing() : NULL;

	if (!missing) {
		with_variants(options, system, measure_variant);
	} else if (options_want_system(options, system->name)) {
		emit_subject(system->name, "", 0);
		emit_skipped(missing);
	}
}

static void measure_systems(const struct options *options)
{
	__u32 i;

	emit_subject("null system call", "getppid", 1);
	emit("call", null_call_ns(), "ns");
	for (i = 0; i < SYSTEMS; i++)
		measure_system(options, systems[(i + options->rep) % SYSTEMS]);
}

/* ---- the check: TAP, one test per variant ---- */

static __u32 checks, failures;

static void count_check(const struct options *options, struct run *run)
{
	(void)options;
	(void)run;
	checks++;
}

static void check_variant(const struct options *options, struct run *run)
{
	const char *missing = run->system->missing ? run->system->missing() :
						     NULL;
	__u32 max = missing ? UINT32_MAX : timers_max(options, run);
	int status = 0;

	run->timers = options->timers.values[0];
	if (run->timers > max)
		run->timers = max;
	if (!missing)
		status = try(phases_check, run);
	if (status)
		failures++;
	printf("%sok %u %s, %s: %u timers, each once, none early%s%s\n",
	       status ? "not " : "", ++checks, run->system->name,
	       variant_name(run), run->timers, missing ? " # SKIP " : "",
	       missing ? missing : "");
	fflush(stdout);
}

static int check_systems(const struct options *options)
{
	__u32 i;

	for (i = 0; i < SYSTEMS; i++)
		with_variants(options, systems[i], count_check);
	printf("TAP version 13\n1..%u\n", checks);
	fflush(stdout);
	checks = 0;
	for (i = 0; i < SYSTEMS; i++)
		with_variants(options, systems[i], check_variant);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options options;

	options_parse(&options, argc, argv);
	clock_init();
	emit_place(options.where, options.rep, options.turn);
	if (options.check)
		return check_systems(&options);
	if (options.extras)
		measure_extras(&options);
	else
		measure_systems(&options);
	return 0;
}
