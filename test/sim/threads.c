// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the threads of the simulation as real threads, as they like: for ThreadSanitizer,
 * which reports accesses to the same memory that no lock and no barrier orders. Then a run
 * does not depend on its seed alone, and cannot be repeated.
 *
 * One more thread lets the time pass, and serves hrtimers.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include "process.h"
#include "sim.h"

#define THREADS_MAX 512

/* How long the clock's thread sleeps, and by how much it then moves the clock */
#define CLOCK_SLEEP_US 50
#define CLOCK_STEP 200000

/**
 * struct sim_thread - a thread
 * @task: what the kernel knows of it
 * @lock: protects task.state
 * @woken: signalled when that becomes TASK_RUNNING
 * @main: what it does
 * @argument: for @main
 * @name: its name
 * @random: its random numbers
 */
struct sim_thread {
	struct task_struct task;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	sim_main_fn *main;
	void *argument;
	char name[32];
	struct sim_random random;
};

struct sim_run sim_run;
struct sim_counts sim_counts;

static __thread struct sim_thread *running;
static pthread_mutex_t data_lock;
static struct sim_thread *threads[THREADS_MAX];
static int nr_threads;
static bool finished;
static uint64_t steps;

struct task_struct *sim_current(void)
{
	return &running->task;
}

struct sim_random *sim_dice(void)
{
	return &running->random;
}

/* Each call gets a number of its own. */
uint64_t sim_step(void)
{
	return __atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
}

void sim_fail(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr,
		"# seed %llu, thread %s: ", (unsigned long long)sim_run.seed,
		running ? running->name : "-");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	_exit(1);
}

void sim_trace(const char *format, ...)
{
}

/* Now and then, another thread may run, so that not all meet at the same places. */
void sim_breathe(void)
{
	if (running && !sim_below(512))
		sched_yield();
}

void sim_might_sleep(const char *function, int line)
{
	if (running->task.spins || running->task.rcu)
		sim_fail("%s:%d: may sleep, with a lock held", function, line);
}

void sim_lock(void)
{
	pthread_mutex_lock(&data_lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&data_lock);
}

/* ---- sleeping ---- */

void sim_task_lock(struct task_struct *task)
{
	pthread_mutex_lock(&task->thread->lock);
}

void sim_task_unlock(struct task_struct *task)
{
	pthread_mutex_unlock(&task->thread->lock);
}

void sim_unpark(struct task_struct *task)
{
	pthread_cond_signal(&task->thread->woken);
}

void sim_park(void)
{
	sim_task_lock(&running->task);
	while (running->task.state != TASK_RUNNING)
		pthread_cond_wait(&running->woken, &running->lock);
	sim_task_unlock(&running->task);
}

/* ---- spinlocks ---- */

void spin_lock(spinlock_t *lock)
{
	sim_breathe();
	pthread_mutex_lock(&lock->mutex);
	__atomic_store_n(&lock->owner, &running->task, __ATOMIC_RELAXED);
	running->task.spins++;
}

void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->owner, NULL, __ATOMIC_RELAXED);
	running->task.spins--;
	pthread_mutex_unlock(&lock->mutex);
}

/* ---- threads ---- */

static void *thread_begin(void *argument)
{
	running = argument;
	/* A new thread sleeps until wake_up_process(). */
	sim_park();
	running->main(running->argument);
	sim_thread_exit();
}

struct task_struct *sim_thread_create(const char *name, sim_main_fn *main,
				      void *argument)
{
	struct sim_thread *thread = calloc(1, sizeof(*thread));
	pthread_attr_t attributes;
	pthread_t id;

	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->woken, NULL);
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->main = main;
	thread->argument = argument;
	thread->task.thread = thread;
	thread->task.state = TASK_NEW;
	thread->task.usage = 1;
	sim_lock();
	if (nr_threads == THREADS_MAX)
		sim_fail("too many threads");
	threads[nr_threads++] = thread;
	thread->random.state =
		sim_run.seed * 0x9e3779b97f4a7c15ull + sim_step();
	sim_unlock();
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id, &attributes, thread_begin, thread))
		sim_fail("no thread");
	pthread_attr_destroy(&attributes);
	return &thread->task;
}

static void threads_forget(struct sim_thread *thread)
{
	int i;

	sim_lock();
	for (i = 0; threads[i] != thread; i++)
		;
	threads[i] = threads[--nr_threads];
	sim_unlock();
}

void sim_thread_exit(void)
{
	struct sim_thread *thread = running;

	threads_forget(thread);
	sim_free_rcu(&thread->task.rcu_head, NULL);
	pthread_exit(NULL);
}

/* What a thread has left is freed with the process: it may just be unlocking its lock. */
void sim_thread_free(struct task_struct *task)
{
}

void sim_threads_each(void (*look)(struct task_struct *task))
{
	int i;

	sim_lock();
	for (i = 0; i < nr_threads; i++)
		look(&threads[i]->task);
	sim_unlock();
}

/* ---- a run ---- */

/**
 * struct director - the first thread
 * @main: what it does
 * @argument: for @main
 */
struct director {
	sim_main_fn *main;
	void *argument;
};

static void director_main(void *argument)
{
	struct director *director = argument;

	director->main(director->argument);
	__atomic_store_n(&finished, true, __ATOMIC_RELEASE);
	/* All that the run had is gone; the process ends before this thread could. */
	for (;;)
		pause();
}

/* Lets time pass until the director has finished. This is the clock's thread. */
static void pass_time(void)
{
	static struct sim_thread clock = { .name = "clock" };

	running = &clock;
	clock.random.state = sim_run.seed;
	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
		usleep(CLOCK_SLEEP_US);
		sim_clock_advance(sim_below(2 * CLOCK_STEP));
		sim_clock_interrupt(true);
	}
}

void sim_schedule(sim_main_fn *main, void *argument)
{
	struct director director = { .main = main, .argument = argument };
	pthread_mutexattr_t attributes;
	struct task_struct *task;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&data_lock, &attributes);
	/* There are no switches at which the clock could be set. */
	sim_run.jolts = 0;
	running = calloc(1, sizeof(*running));
	task = sim_thread_create("director", director_main, &director);
	sim_process_join(task, sim_process_first());
	wake_up_process(task);
	pass_time();
	sim_counts.steps = sim_step();
}
