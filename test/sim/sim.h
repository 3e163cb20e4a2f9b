/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulation: what its parts, and those who build on it, call. test/sim/README.md tells how
 * it works. A source that is a program (test/sim/actor_*.c) includes this and <linux/hwtimer.h>
 * of uapi/ only; a source that is a part of the kernel includes <linux/...> of test/sim/include,
 * too.
 *
 * A run is what one seed decides: the module is loaded, programs use it for some time, it
 * is unloaded. Each run is a process of its own, so it depends on nothing but its seed.
 */
#ifndef SIM_H
#define SIM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include <sim/point.h>

struct file;
struct task_struct;

/* ---- random numbers ---- */

/**
 * struct sim_random - where choices come from
 * @state: of a generator of random numbers
 * @script: choices that a fuzzer has made, see fuzz.c; they come first
 * @script_end: the end of @script
 */
struct sim_random {
	uint64_t state;
	const uint16_t *script;
	const uint16_t *script_end;
};

static inline uint64_t sim_random(struct sim_random *random)
{
	uint64_t n = random->state += 0x9e3779b97f4a7c15ull;

	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	n ^= n >> 31;
	/* Who wants a number below another one uses the upper bits. */
	if (__builtin_expect(random->script != random->script_end, 0))
		n = (uint64_t)*random->script++ << 48 | n >> 16;
	return n;
}

/* A number below @below, which is not 0 */
static inline uint64_t sim_random_below(struct sim_random *random,
					uint64_t below)
{
	return (unsigned __int128)sim_random(random) * below >> 64;
}

/* The random numbers of the running thread */
struct sim_random *sim_dice(void);

static inline uint64_t sim_below(uint64_t below)
{
	return sim_random_below(sim_dice(), below);
}

static inline uint64_t sim_between(uint64_t low, uint64_t high)
{
	return low + sim_below(high - low + 1);
}

/* Whether something happens that happens @parts times in a million */
static inline bool sim_chance(uint32_t parts)
{
	return parts && sim_below(1000000) < parts;
}

/* ---- one run ---- */

/**
 * struct sim_run - what the seed and the command line decide for a run
 * @seed: the seed
 * @operations: number of operations after which the programs end
 * @trace: print each step from @trace_from on
 * @trace_from: number of the first step to be printed
 * @fuse: mean number of points between two switches
 * @stalls: how often a thread is held up for long, in millionths of the switches
 * @alloc_fails: how often an allocation fails, in millionths
 * @alloc_nth: the allocation of this number fails, the first of @refused_row; 0: none
 * @refusals: how often something fails in a system call, see sim_call_refuse(), in
 *	millionths
 * @refused_row: how many things in a row fail then, or at @alloc_nth
 * @faults: how often an access to a program's memory faults, in millionths
 * @kills: how often a signal is SIGKILL, in millionths; see call_end() in device.c
 * @wakes: how often a thread wakes up for no reason, in millionths
 * @jolts: how often CLOCK_REALTIME is set at a switch, in millionths
 * @pace: mean time between two switches, ns
 * @late: how late hrtimers may be after the machine has slept, ns
 * @calm: programs make no errors, nothing fails, and nobody is interrupted
 */
struct sim_run {
	uint64_t seed;
	uint64_t operations;
	bool trace;
	uint64_t trace_from;
	uint32_t fuse;
	uint32_t stalls;
	uint32_t alloc_fails;
	uint64_t alloc_nth;
	uint32_t refusals;
	uint32_t refused_row;
	uint32_t faults;
	uint32_t kills;
	uint32_t wakes;
	uint32_t jolts;
	uint32_t pace;
	uint32_t late;
	bool calm;
};

extern struct sim_run sim_run;

/*
 * Gives the thread of a number its script; 0 is the scheduler. NULL: there are no scripts.
 * Set before sim_schedule().
 */
extern void (*sim_script)(struct sim_random *random, int thread);

void sim_run_choose(struct sim_random *random);
void sim_run_limit(void);

/**
 * struct sim_counts - what runs have done; the parent adds up those of all runs
 * @operations: requests and other calls of programs
 * @events: events that programs got
 * @steps: points passed
 * @switches: switches from one thread to another
 * @stills: times at which no thread could run, so that time had to pass
 * @schedule: a hash of the order in which the threads ran
 */
struct sim_counts {
	uint64_t operations;
	uint64_t events;
	uint64_t steps;
	uint64_t switches;
	uint64_t stills;
	uint64_t schedule;
};

extern struct sim_counts sim_counts;

/* Prints a line if this run is traced. */
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number of points passed so far: a time by which calls can be told apart */
uint64_t sim_step(void);

/* ---- threads ---- */

typedef void sim_main_fn(void *argument);

/* Begins the simulation: @main is the first thread. Returns when it has returned. */
void sim_schedule(sim_main_fn *main, void *argument);

/* Creates a thread that sleeps until wake_up_process(); it has no process yet. */
struct task_struct *sim_thread_create(const char *name, sim_main_fn *main,
				      void *argument);
void sim_thread_exit(void) __attribute__((noreturn));

/* Waits until somebody sets the current task's state to running. */
void sim_park(void);

/* The task's state; nobody else changes it meanwhile. */
void sim_task_lock(struct task_struct *task);
void sim_task_unlock(struct task_struct *task);

/* Makes a thread runnable whose state was just set to running. */
void sim_unpark(struct task_struct *task);

/* The simulation's own data, for which the threads of a free run need a lock */
void sim_lock(void);
void sim_unlock(void);

/* ---- time ---- */

uint64_t sim_now(clockid_t clock);
/* The latest time that the clock has shown */
uint64_t sim_latest(clockid_t clock);
/* Sets CLOCK_REALTIME, or makes CLOCK_BOOTTIME jump ahead of CLOCK_MONOTONIC. */
void sim_clock_set(int64_t change);
void sim_clock_suspend(uint64_t time);
/* For the scheduler: sets CLOCK_REALTIME now and then, see sim_run.jolts. */
void sim_clock_jolt(void);
bool sim_clock_was_set(void);

/* For the scheduler: let time pass; serve hrtimers that are due. */
void sim_clock_advance(uint64_t time);
bool sim_clock_jump(void);
void sim_clock_interrupt(bool all);
bool sim_clock_armed(clockid_t clock, int64_t time);

/* Sleeps; a signal ends that. */
void sim_sleep(uint64_t time);

/* ---- what ends a run ---- */

/* Whether the current thread is to come to its end */
bool sim_ending(void);

/* Called when no thread can run, before time passes. */
void sim_inspect_still(void);

/* ---- memory ---- */

void sim_memory_check_empty(void);
void sim_rcu_finish(void);
/* Nothing fails any more. */
void sim_calm(void);
/* Whether something fails that needs memory, or another thing that may be short */
bool sim_short(void);
/* At the beginning and at the end of a system call */
#ifdef SIM_PLAIN
#define sim_call_refuse() ((void)0)
#define sim_call_end() ((void)0)
#else
void sim_call_refuse(void);
void sim_call_end(void);
#endif

#endif /* SIM_H */
