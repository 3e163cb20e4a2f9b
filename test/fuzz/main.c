// SPDX-License-Identifier: GPL-2.0
/*
 * A fuzzer of /dev/hwtimer, for a test machine: several processes of several threads make
 * all calls with all kinds of arguments, beside neighbours who must not notice.
 *
 * A run consists of phases, and a phase of worlds (see world.h). The choices of each thread
 * depend only on the seed and the numbers of the phase, the world and the thread. So a
 * phase can be repeated alone: --seed S --first N --phases 1, with the same --steps. Which
 * thread comes first is up to the kernel.
 *
 * Prints TAP. It does not look for reports of the kernel: test/vm/run.sh does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "neighbour.h"
#include "parse.h"
#include "world.h"

/* Worlds of a phase; the first one is root's, the others belong to users from UID on */
#define WORLDS 3
#define UID 1000

/* The world with little memory */
#define POOR_WORLD 2

/* Phases between two reloads of the module */
#define RELOAD_EVERY 10

/*
 * A phase that takes longer is ended. If a world does not end then, the program waits for it,
 * silent, and test/vm/run.sh ends the machine.
 */
#define PHASE_SECONDS 60

/* In so many phases, each call is used, many times over */
#define PHASES_MAX 200

static __u64 seed;
static __u32 seconds = 30;
static __u32 first;
static __u32 phases;
static __u32 steps = 1000;
static __u32 actors = 3;
static __u32 faults = 1000;
static const char *module;
static const char *cgroup;

static const struct parse_option options[] = {
	{ "seed", "N", "seed of all choices", parse_u64, &seed, 0, -1 },
	{ "seconds", "N", "how long to go on", parse_u32, &seconds, 1,
	  1 << 30 },
	{ "first", "N", "first phase", parse_u32, &first, 0, 1 << 30 },
	{ "phases", "N", "number of phases, however long they take; 0: any",
	  parse_u32, &phases, 0, 1 << 30 },
	{ "steps", "N", "steps of a thread in a phase", parse_u32, &steps, 1,
	  1 << 30 },
	{ "actors", "N", "threads of a world", parse_u32, &actors, 1,
	  ARENA_ACTORS },
	{ "faults", "N", "loads of the module with a fault, at most", parse_u32,
	  &faults, 0, 1 << 20 },
	{ "module", "FILE", "load and unload it", parse_text, &module },
	{ "cgroup", "DIR", "a cgroup with little memory", parse_text, &cgroup },
	{ 0 }
};

/**
 * struct run - a run of the fuzzer
 * @arena: descriptor of the memory for arguments
 * @channel: sockets for descriptors
 * @good_neighbours: the neighbours have all ended well
 * @phase: number of the next phase
 * @worlds: number of worlds that were started
 * @killed: of these, killed
 * @damaged: of these, ended by damage that they did to themselves
 * @reloads: number of times that the module was loaded anew
 * @loads: what became of loads with faults
 * @can_fault: the kernel can inject faults
 * @began: when the run began, ns
 */
struct run {
	int arena;
	int channel[2];
	bool good_neighbours;
	unsigned int phase;
	unsigned int worlds;
	unsigned int killed;
	unsigned int damaged;
	unsigned int reloads;
	struct loads loads;
	bool can_fault;
	__u64 began;
};

static void fatal(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- phases ---- */

static struct plan plan_of(const struct run *run, unsigned int number)
{
	return (struct plan){
		.seed = seed,
		.phase = run->phase,
		.number = number,
		.actors = actors,
		.steps = steps,
		.uid = number ? UID + number : 0,
		.cgroup = number == POOR_WORLD ? cgroup : NULL,
	};
}

/* Notes how a world has ended. */
static void settle(struct run *run, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		run->killed++;
	else if (WIFSIGNALED(status) || WEXITSTATUS(status) == 3)
		run->damaged++;
	else if (status)
		wrong(WILD, "a world could not begin");
}

/*
 * Ends the children that a world has left behind. Otherwise one of them might put an instance into
 * the channel after drain(), where it would stay and keep the module from being unloaded.
 */
static void end_children(pid_t world)
{
	kill(-world, SIGKILL);
	while (waitpid(-world, NULL, 0) > 0)
		;
}

/* Waits for those @worlds that still run, until @end. Returns how many are left. */
static unsigned int await(struct run *run, pid_t worlds[WORLDS], __u64 end)
{
	for (;;) {
		unsigned int left = 0;

		for (unsigned int i = 0; i < WORLDS; i++) {
			int status;

			if (!worlds[i])
				continue;
			if (waitpid(worlds[i], &status, WNOHANG) == worlds[i]) {
				settle(run, status);
				end_children(worlds[i]);
				worlds[i] = 0;
			} else {
				left++;
			}
		}
		if (!left || clock_ns(CLOCK_MONOTONIC) >= end)
			return left;
		sleep_ns(5 * MS);
	}
}

/* Closes the descriptors that are in flight. No process that could send others is left. */
static void drain(struct run *run)
{
	char byte;

	while (recv(run->channel[1], &byte, 1, MSG_DONTWAIT) >= 0)
		;
}

static void kill_worlds(const pid_t worlds[WORLDS])
{
	for (unsigned int i = 0; i < WORLDS; i++)
		if (worlds[i])
			kill(worlds[i], SIGKILL);
}

/* Every other phase, a world is killed in the middle of it. */
static void run_phase(struct run *run)
{
	struct rng rng = rng_of(seed, run->phase, WORLDS, 0);
	unsigned int victim = rng_below(&rng, 2 * WORLDS);
	pid_t worlds[WORLDS];

	for (unsigned int i = 0; i < WORLDS; i++) {
		struct plan plan = plan_of(run, i);

		worlds[i] = world_start(&plan, run->arena, run->channel);
		if (worlds[i] < 0)
			fatal("fork");
		run->worlds++;
	}
	if (victim < WORLDS) {
		sleep_ns(rng_below(&rng, 300) * MS);
		kill(worlds[victim], SIGKILL);
	}
	if (await(run, worlds,
		  clock_ns(CLOCK_MONOTONIC) + PHASE_SECONDS * SEC)) {
		kill_worlds(worlds);
		await(run, worlds, UINT64_MAX);
	}
	drain(run);
	run->phase++;
}

/* ---- the module ---- */

/* While the module is used, this is refused, see step_unload(). Now its users end. */
static void unload(struct run *run)
{
	if (!neighbours_end())
		run->good_neighbours = false;
	if (module && module_unload())
		wrong(WILD, "the module cannot be unloaded: %s",
		      strerror(errno));
}

static void load(void)
{
	if (module && module_load(module))
		fatal("hwtimer.ko");
	/* The device belongs to root, but all worlds may use it. */
	if (chmod("/dev/hwtimer", 0666))
		fatal("/dev/hwtimer");
	if (!neighbours_start(rng_next(&(struct rng){ seed })))
		fatal("fork");
}

static void reload(struct run *run)
{
	unload(run);
	load();
	run->reloads++;
}

/* ---- results ---- */

static unsigned int tests;
static unsigned int failures;

static void result(bool good, const char *name)
{
	failures += !good;
	printf("%sok %u %s\n", good ? "" : "not ", ++tests, name);
}

static void print_tally(enum call call)
{
	struct tally *tally = &tallies->calls[call];

	printf("# %-16s %10llu succeeded %10llu failed\n", call_name(call),
	       tally_get(&tally->succeeded), tally_get(&tally->failed));
}

/* Each call must have succeeded, and mostly also failed. */
static bool was_used(enum call call)
{
	struct tally *tally = &tallies->calls[call];

	return tally_get(&tally->succeeded) &&
	       (tally_get(&tally->failed) || !call_must_fail(call));
}

static void report_calls(void)
{
	for (enum call call = 0; call < CALLS; call++)
		print_tally(call);
	for (enum call call = 0; call < CALLS_CORE; call++) {
		char name[80];

		snprintf(name, sizeof(name), "%s succeeds%s", call_name(call),
			 call_must_fail(call) ? ", and is refused" : "");
		result(was_used(call), name);
	}
}

/* What a kernel may lack: at least one attempt has come to an end, or it is a SKIP. */
static void report_extra(void)
{
	for (enum call call = CALLS_CORE; call < CALLS; call++) {
		struct tally *tally = &tallies->calls[call];
		bool tried = tally_get(&tally->succeeded) +
			     tally_get(&tally->failed);

		printf("ok %u %s is tried%s\n", ++tests, call_name(call),
		       tried ? "" : " # SKIP not in this kernel, or not done");
	}
}

static void report_neighbours(const struct run *run)
{
	atomic_ulong *dones = board->dones;
	bool right = board_faults() == board->wrongs[WILD];

	neighbours_tell();
	result(dones[EXPIRED] && dones[STARTED] == dones[RETIRED] && right,
	       "neighbour: never early, nothing lost, once");
	result(run->good_neighbours, "the neighbours end well");
}

static void report_worlds(struct run *run)
{
	unsigned long complaints = board->wrongs[WILD];
	bool checks;

	printf("# %lu complaints; %llu bytes of output searched, ", complaints,
	       tally_get(&tallies->checked));
	printf("%llu STATS added up\n", tally_get(&tallies->balanced));
	/* A run that has checked nothing is no success. */
	checks = tally_get(&tallies->checked) && tally_get(&tallies->balanced);
	result(checks && !complaints, "results are right");
	printf("# %u worlds, %u killed, %u damaged by themselves; ",
	       run->worlds, run->killed, run->damaged);
	printf("%llu signals, %llu steps ended by a fault\n",
	       tally_get(&tallies->signals), tally_get(&tallies->rescued));
	/* A hostile address may be one of the program's own; that is rare. */
	result(run->damaged <= 1 + run->worlds / 20,
	       "few worlds damage themselves");
}

static void report_module(struct run *run)
{
	if (!module)
		return;
	printf("# %u reloads; %u loads with a fault, ", run->reloads,
	       run->loads.faults);
	printf("%u of them failed, %u wrongly\n", run->loads.failed,
	       run->loads.wrong);
	if (run->can_fault && faults)
		result(run->loads.failed && !run->loads.wrong,
		       "loads without memory fail, and leave nothing");
	else
		printf("ok %u loads without memory # SKIP no faults here\n",
		       ++tests);
}

static void report(struct run *run)
{
	double elapsed = (clock_ns(CLOCK_MONOTONIC) - run->began) / 1e9;
	__u64 made = tally_get(&tallies->steps);

	report_calls();
	report_extra();
	report_neighbours(run);
	report_worlds(run);
	report_module(run);
	printf("# %llu steps in %.1f s, %.0f steps a second; phases %u to %u\n",
	       made, elapsed, made / elapsed, first, run->phase - 1);
	printf("1..%u\n", tests);
}

/* ---- the run ---- */

static void prepare(struct run *run)
{
	const struct rlimit files = { 4096, 4096 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!seed)
		seed = clock_ns(CLOCK_REALTIME);
	setrlimit(RLIMIT_NOFILE, &files);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	run->good_neighbours = true;
	run->phase = first;
	run->began = clock_ns(CLOCK_MONOTONIC);
	run->arena = arena_create();
	tallies = board_share(sizeof(*tallies));
	if (!board_make(seed) || !tallies || run->arena < 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, run->channel))
		fatal("cannot begin");
	printf("TAP version 13\n");
	printf("# replay: --seed %llu --steps %u --actors %u --first PHASE --phases 1\n",
	       seed, steps, actors);
}

static bool all_used(void)
{
	for (enum call call = 0; call < CALLS_CORE; call++)
		if (!was_used(call))
			return false;
	return true;
}

/*
 * A machine that gets hardly any processor time makes few steps. It goes on until each call
 * was used, which report_calls() demands, or for so many phases that each should have been.
 */
static bool is_over(const struct run *run)
{
	__u64 elapsed = clock_ns(CLOCK_MONOTONIC) - run->began,
	      limit = seconds * SEC;

	if (phases)
		return run->phase - first >= phases;
	if (elapsed < limit)
		return false;
	return all_used() || run->phase - first >= PHASES_MAX;
}

static void run_phases(struct run *run)
{
	while (!is_over(run)) {
		printf("# phase %u at %.1f s, %llu steps\n", run->phase,
		       (clock_ns(CLOCK_MONOTONIC) - run->began) / 1e9,
		       tally_get(&tallies->steps));
		run_phase(run);
		if (module && (run->phase - first) % RELOAD_EVERY == 0)
			reload(run);
	}
}

int main(int argc, char **argv)
{
	static struct run run;

	parse_options(options, argc, argv);
	prepare(&run);
	if (module && faults)
		run.can_fault =
			module_load_with_faults(module, &run.loads, faults);
	load();
	run_phases(&run);
	unload(&run);
	report(&run);
	return failures ? 1 : 0;
}
