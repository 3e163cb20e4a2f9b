// SPDX-License-Identifier: GPL-2.0
/*
 * Threads without a scheduler, for measuring: the threads of the module are coroutines that
 * run when the program calls sim_bare_run(), until they sleep. Nothing is drawn and no time
 * passes on its own, so each run does the same. Programs may be several real threads; each
 * of them may have the threads of the module run.
 *
 * test/sim/schedule.c is for all other purposes.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include "bare.h"
#include "process.h"
#include "stack.h"

#define STACK_SIZE (64UL << 10)

/**
 * struct sim_thread - a thread
 * @task: what the kernel knows of it
 * @sp: its stack pointer, while it does not run
 * @stack: its stack; NULL: it is a thread of a program
 * @main: what it does
 * @argument: for @main
 * @next: the next one that can run
 * @queued: it is among those
 * @ended: it has come to its end
 */
struct sim_thread {
	struct task_struct task;
	void *sp;
	char *stack;
	sim_main_fn *main;
	void *argument;
	struct sim_thread *next;
	bool queued;
	bool ended;
};

__thread struct task_struct *sim_task;
struct sim_run sim_run = { .seed = 1, .calm = true };
struct sim_counts sim_counts;

/* The thread of the program, and where it goes on when a coroutine sleeps */
static __thread struct sim_thread outside;

/* The threads that can run, in the order in which they were woken */
static DEFINE_SPINLOCK(ready_lock);
static struct sim_thread *first;
static struct sim_thread **end = &first;

static DEFINE_SPINLOCK(data_lock);

/* spin_lock() of a lock that is held or waited for, on a processor that begins with byte 0 */
void sim_spin_wait(spinlock_t *lock)
{
	/* Of several that wait, only one does so as in the kernel. */
	while (__atomic_fetch_or(&lock->locked, SIM_LOCK_WAITED,
				 __ATOMIC_ACQUIRE) &
	       SIM_LOCK_WAITED)
		while (__atomic_load_n(&lock->locked, __ATOMIC_RELAXED) &
		       SIM_LOCK_WAITED)
			__builtin_ia32_pause();
	while (__atomic_load_n((unsigned char *)&lock->locked,
			       __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	/* Nobody else writes these two bytes now. */
	__atomic_store_n((unsigned short *)&lock->locked, 1, __ATOMIC_RELAXED);
}

struct sim_random *sim_dice(void)
{
	static struct sim_random random;

	return &random;
}

uint64_t sim_step(void)
{
	return 0;
}

void sim_trace(const char *format, ...)
{
}

void sim_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

void sim_lock(void)
{
	spin_lock(&data_lock);
}

void sim_unlock(void)
{
	spin_unlock(&data_lock);
}

/* A task's state has no lock: a coroutine is woken by programs only while it sleeps. */
void sim_task_lock(struct task_struct *task)
{
}

void sim_task_unlock(struct task_struct *task)
{
}

/* ---- coroutines ---- */

static struct sim_thread *current_thread(void)
{
	return sim_task->thread;
}

static void thread_begin(void)
{
	struct sim_thread *thread = current_thread();

	thread->main(thread->argument);
	sim_thread_exit();
}

struct task_struct *sim_thread_create(const char *name, sim_main_fn *main,
				      void *argument)
{
	struct sim_thread *thread = calloc(1, sizeof(*thread));

	thread->stack = malloc(STACK_SIZE);
	thread->main = main;
	thread->argument = argument;
	thread->task.thread = thread;
	thread->task.state = TASK_NEW;
	thread->task.usage = 1;
	thread->sp =
		sim_stack_prepare(thread->stack + STACK_SIZE, thread_begin);
	return &thread->task;
}

void sim_thread_free(struct task_struct *task)
{
	free(task->thread->stack);
	free(task->thread);
}

void sim_threads_each(void (*look)(struct task_struct *task))
{
}

void sim_unpark(struct task_struct *task)
{
	struct sim_thread *thread = task->thread;

	spin_lock(&ready_lock);
	if (thread->stack && !thread->queued) {
		thread->queued = true;
		thread->next = NULL;
		*end = thread;
		end = &thread->next;
	}
	spin_unlock(&ready_lock);
}

static struct sim_thread *ready_take(void)
{
	struct sim_thread *thread;

	spin_lock(&ready_lock);
	thread = first;
	if (thread) {
		first = thread->next;
		thread->queued = false;
		if (!first)
			end = &first;
	}
	spin_unlock(&ready_lock);
	return thread;
}

static void thread_run(struct sim_thread *thread)
{
	sim_task = &thread->task;
	sim_stack_switch(&outside.sp, thread->sp);
	sim_task = &outside.task;
	if (thread->ended)
		sim_free_rcu(&thread->task.rcu_head, NULL);
}

void sim_bare_run(void)
{
	struct sim_thread *thread;

	do {
		sim_clock_interrupt(true);
		thread = ready_take();
		if (thread)
			thread_run(thread);
	} while (thread);
}

static void thread_leave(struct sim_thread *thread)
{
	sim_stack_switch(&thread->sp, outside.sp);
}

void sim_thread_exit(void)
{
	struct sim_thread *thread = current_thread();

	thread->ended = true;
	thread_leave(thread);
	__builtin_unreachable();
}

void sim_park(void)
{
	struct sim_thread *thread = current_thread();

	while (thread->task.state != TASK_RUNNING) {
		if (thread->stack) {
			thread_leave(thread);
			continue;
		}
		sim_bare_run();
		if (thread->task.state != TASK_RUNNING && !sim_clock_jump())
			sim_fail("deadlock: the program sleeps for ever");
	}
}

void sim_bare_begin(void)
{
	outside.task.thread = &outside;
	sim_task = &outside.task;
	sim_process_join(sim_task, sim_process_first());
}
