// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the threads of the simulation, one at a time, as one seed decides; see test/sim/README.md.
 *
 * Each thread has a stack of its own. At each point (see test/sim/point.h), the running thread
 * burns a fuse; when that is at its end, the scheduler draws another thread, and a new
 * fuse. A thread that has to wait is not drawn. If none is left, time passes until an
 * hrtimer wakes one; if no hrtimer is armed, that is a deadlock.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include "process.h"
#include "sim.h"
#include "stack.h"

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#if __has_feature(memory_sanitizer)
#define SIM_MSAN 1
#endif
#endif

#ifdef SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(SIM_ASAN) || defined(SIM_MSAN)
#define STACK_SIZE (512UL << 10)
#else
#define STACK_SIZE (64UL << 10)
#endif

#define THREADS_MAX 512

/* Number of switches for which a thread is held up */
#define STALL_MAX 400

/* Number of switches without a still point after which something runs in circles */
#define SWITCHES_MAX (20ULL << 20)

/**
 * struct sim_thread - a thread
 * @task: what the kernel knows of it
 * @sp: its stack pointer, while it does not run
 * @stack: its stack
 * @stack_size: the size of that
 * @main: what it does
 * @argument: for @main
 * @name: its name
 * @random: its random numbers
 * @nr: its number
 * @place: its place among those that can run; -1: it cannot
 * @spinning: the spinlock that it waits for
 * @stalled: number of the switch until which it is held up
 * @where: where it stands, for reports
 * @fake: what AddressSanitizer keeps for it
 */
struct sim_thread {
	struct task_struct task;
	void *sp;
	char *stack;
	size_t stack_size;
	sim_main_fn *main;
	void *argument;
	char name[32];
	struct sim_random random;
	int nr;
	int place;
	spinlock_t *spinning;
	uint64_t stalled;
	const char *where;
	const char *function;
	int line;
	void *fake;
};

long sim_fuse;
struct sim_run sim_run;
void (*sim_script)(struct sim_random *random, int thread);
struct sim_counts sim_counts;

static struct sim_thread *threads[THREADS_MAX];
static int nr_threads;
static struct sim_thread *ready[THREADS_MAX];
static int nr_ready;
static int nr_spinning;
static struct sim_thread *running;
static struct sim_thread *finished;
static struct sim_thread outside;
static struct sim_random draws;
static bool interrupt;
static uint64_t steps;
static uint64_t steps_drawn;
static long fuse_left;
static uint64_t last_still;

struct task_struct *sim_current(void)
{
	return &running->task;
}

struct sim_random *sim_dice(void)
{
	return &running->random;
}

uint64_t sim_step(void)
{
	return sim_run.trace ? steps : steps_drawn - sim_fuse;
}

/* ---- reports ---- */

static void print_threads(void)
{
	int i;

	for (i = 0; i < nr_threads; i++) {
		const struct sim_thread *thread = threads[i];

		fprintf(stderr, "#   %-12s state %#x%s%s in %s() line %d, %s\n",
			thread->name, thread->task.state,
			thread->place >= 0 ? ", can run" : "",
			thread->spinning ? ", waits for a spinlock" : "",
			thread->function ?: "?", thread->line,
			thread->where ?: "?");
	}
}

void sim_fail(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "# seed %llu, step %llu, thread %s: ",
		(unsigned long long)sim_run.seed,
		(unsigned long long)sim_step(), running ? running->name : "-");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n# CLOCK_MONOTONIC %llu ns, threads:\n",
		(unsigned long long)sim_now(CLOCK_MONOTONIC));
	print_threads();
#ifdef SIM_ASAN
	__sanitizer_print_stack_trace();
#endif
	_exit(1);
}

void sim_trace(const char *format, ...)
{
	va_list arguments;

	if (!sim_run.trace || steps < sim_run.trace_from)
		return;
	printf("%10llu %14llu %-12s ", (unsigned long long)steps,
	       (unsigned long long)sim_now(CLOCK_MONOTONIC), running->name);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

/* ---- stacks ---- */

static void thread_begin(void);

static void stack_free(struct sim_thread *thread)
{
	munmap(thread->stack, STACK_SIZE);
	thread->stack = NULL;
}

/* Frees what a thread has left that was running when it ended. */
static void finished_free(void)
{
	struct sim_thread *thread = finished;

	finished = NULL;
	if (!thread)
		return;
	stack_free(thread);
	sim_free_rcu(&thread->task.rcu_head, NULL);
}

static void after_switch(void)
{
#ifdef SIM_ASAN
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(running->fake, &bottom, &size);
	/* The first switch is the only one from a stack that is not ours. */
	if (!outside.stack) {
		outside.stack = (char *)bottom;
		outside.stack_size = size;
	}
#endif
	finished_free();
}

static void switch_to(struct sim_thread *next)
{
	struct sim_thread *before = running;

	running = next;
#ifdef SIM_ASAN
	__sanitizer_start_switch_fiber(finished == before ? NULL :
							    &before->fake,
				       next->stack, next->stack_size);
#endif
	sim_stack_switch(&before->sp, next->sp);
	after_switch();
}

static void thread_begin(void)
{
	after_switch();
	running->main(running->argument);
	sim_thread_exit();
}

/* ---- who can run ---- */

static void ready_add(struct sim_thread *thread)
{
	if (thread->place >= 0)
		return;
	thread->place = nr_ready;
	ready[nr_ready++] = thread;
}

static void ready_remove(struct sim_thread *thread)
{
	struct sim_thread *last = ready[--nr_ready];

	ready[thread->place] = last;
	last->place = thread->place;
	thread->place = -1;
}

static uint64_t draw(uint64_t below)
{
	return sim_random_below(&draws, below);
}

static void fuse_draw(void)
{
	long fuse = draw(2 * sim_run.fuse);

	/* Now and then the thread runs on for long, as it does on a real machine. */
	if (!draw(16))
		fuse *= 16;
	steps_drawn += fuse + 1;
	sim_fuse = fuse;
	if (sim_run.trace) {
		fuse_left = fuse;
		sim_fuse = 0;
	}
}

/* Draws a thread that can run. One that is held up is drawn only if others are, too. */
static struct sim_thread *thread_draw(void)
{
	struct sim_thread *thread;
	int tries = 4;

	do {
		thread = ready[draw(nr_ready)];
	} while (thread->stalled > sim_counts.switches && --tries);
	if (sim_run.stalls && draw(1000000) < sim_run.stalls)
		thread->stalled = sim_counts.switches + draw(STALL_MAX);
	return thread;
}

static uint64_t time_passed(void)
{
	/* Now and then, the machine stands still for a while. */
	if (!draw(4096))
		return draw(4000000);
	return draw(2 * sim_run.pace);
}

/* Lets time pass until a thread can run. */
static void idle(void)
{
	while (!nr_ready) {
		sim_counts.stills++;
		last_still = sim_counts.switches;
		/* Who holds a spinlock does not sleep, so it waits for another one. */
		if (nr_spinning)
			sim_fail("deadlock of spinlocks");
		sim_inspect_still();
		if (!nr_ready && !sim_clock_jump())
			sim_fail("deadlock: no thread can run, and none will");
	}
}

static void reschedule(void)
{
	struct sim_thread *next;

	sim_clock_advance(time_passed());
	interrupt = true;
	sim_clock_interrupt(false);
	if (sim_run.jolts)
		sim_clock_jolt();
	if (sim_run.wakes && draw(1000000) < sim_run.wakes)
		sim_process_spurious();
	idle();
	interrupt = false;
	if (sim_counts.switches - last_still > SWITCHES_MAX)
		sim_fail("livelock: threads run in circles");
	next = thread_draw();
	fuse_draw();
	sim_counts.switches++;
	sim_counts.schedule =
		(sim_counts.schedule ^ next->nr) * 0x100000001b3ull;
	if (next != running)
		switch_to(next);
}

void sim_switch(const char *what, const char *function, int line)
{
	if (!running || interrupt) {
		sim_fuse = 0;
		return;
	}
	running->where = what;
	running->function = function;
	running->line = line;
	if (sim_run.trace) {
		steps++;
		sim_trace("%s() line %d: %s", function, line, what);
		if (fuse_left-- > 0) {
			sim_fuse = 0;
			return;
		}
	}
	reschedule();
}

#ifdef SIM_COUNTED
void sim_point_pass(const char *what, const char *function, int line)
{
	if (--sim_fuse < 0)
		sim_switch(what, function, line);
}
#endif

void sim_might_sleep(const char *function, int line)
{
	const struct task_struct *task = &running->task;

	if (interrupt)
		sim_fail("%s:%d: may sleep, in an interrupt", function, line);
	if (task->spins)
		sim_fail("%s:%d: may sleep, with a spinlock held", function,
			 line);
	if (task->rcu)
		sim_fail("%s:%d: may sleep, with the RCU read lock held",
			 function, line);
}

void sim_park(void)
{
	struct sim_thread *thread = running;

	if (thread->task.state == TASK_RUNNING)
		return;
	ready_remove(thread);
	thread->where = "sleeps";
	thread->function = "schedule";
	reschedule();
}

void sim_unpark(struct task_struct *task)
{
	/* Who waits for a spinlock does not sleep yet, whatever its state says. */
	if (!task->thread->spinning)
		ready_add(task->thread);
}

/* One thread at a time runs. */
void sim_task_lock(struct task_struct *task)
{
}

void sim_task_unlock(struct task_struct *task)
{
}

void sim_lock(void)
{
}

void sim_unlock(void)
{
}

/* ---- threads ---- */

struct task_struct *sim_thread_create(const char *name, sim_main_fn *main,
				      void *argument)
{
	struct sim_thread *thread = calloc(1, sizeof(*thread));
	static int last_nr;

	if (nr_threads == THREADS_MAX)
		sim_fail("too many threads");
	thread->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	thread->stack_size = STACK_SIZE;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->main = main;
	thread->argument = argument;
	thread->nr = ++last_nr;
	thread->random.state =
		sim_run.seed * 0x9e3779b97f4a7c15ull + thread->nr;
	if (sim_script)
		sim_script(&thread->random, thread->nr);
	thread->place = -1;
	thread->task.thread = thread;
	thread->task.state = TASK_NEW;
	thread->task.usage = 1;
	thread->sp =
		sim_stack_prepare(thread->stack + STACK_SIZE, thread_begin);
	threads[nr_threads++] = thread;
	return &thread->task;
}

static void threads_forget(struct sim_thread *thread)
{
	int i;

	for (i = 0; threads[i] != thread; i++)
		;
	threads[i] = threads[--nr_threads];
}

void sim_thread_exit(void)
{
	struct sim_thread *thread = running;

	if (thread->task.spins || thread->task.rcu)
		sim_fail("a thread ends with a lock held");
	threads_forget(thread);
	ready_remove(thread);
	finished = thread;
	if (!nr_threads)
		switch_to(&outside);
	else
		reschedule();
	__builtin_unreachable();
}

void sim_thread_free(struct task_struct *task)
{
	free(task->thread);
}

void sim_threads_each(void (*look)(struct task_struct *task))
{
	int i;

	for (i = 0; i < nr_threads; i++)
		look(&threads[i]->task);
}

void sim_schedule(sim_main_fn *main, void *argument)
{
	struct task_struct *task;

	draws.state = sim_run.seed;
	if (sim_script)
		sim_script(&draws, 0);
	fuse_draw();
	outside.place = -1;
	running = &outside;
	task = sim_thread_create("director", main, argument);
	sim_process_join(task, sim_process_first());
	task->state = TASK_RUNNING;
	ready_add(task->thread);
	switch_to(task->thread);
	running = NULL;
	sim_counts.steps = sim_step();
}

/* ---- spinlocks ---- */

void spin_lock(spinlock_t *lock)
{
	struct sim_thread *thread = running;

	sim_point("spin_lock");
	if (interrupt)
		sim_fail("spin_lock() in an interrupt");
	if (lock->owner == &thread->task)
		sim_fail("spin_lock() of a lock that the thread holds");
	while (lock->owner) {
		thread->spinning = lock;
		nr_spinning++;
		ready_remove(thread);
		reschedule();
	}
	lock->owner = &thread->task;
	thread->task.spins++;
}

static void spinners_release(const spinlock_t *lock)
{
	int i;

	for (i = 0; i < nr_threads; i++) {
		if (threads[i]->spinning != lock)
			continue;
		threads[i]->spinning = NULL;
		nr_spinning--;
		ready_add(threads[i]);
	}
}

void spin_unlock(spinlock_t *lock)
{
	if (lock->owner != &running->task)
		sim_fail(
			"spin_unlock() of a lock that the thread does not hold");
	if (lock->released)
		lock->released(lock);
	lock->owner = NULL;
	running->task.spins--;
	if (nr_spinning)
		spinners_release(lock);
	sim_point("spin_unlock");
}
