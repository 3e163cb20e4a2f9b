// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimer_torture: kernel clients of hwtimer under torture, in the manner of rcutorture.
 *
 * From when the module is loaded, threads create and destroy clients, and schedule,
 * reschedule and cancel timers at random, also from callbacks. Each timer has an account
 * (account.c), from which follows what may happen to it: it is never early, called once
 * for each expiration, and not called after its cancel has returned. Every stat_interval
 * seconds the module writes its counters to the kernel's log; when it is unloaded, it ends
 * everything and writes a verdict:
 *
 *	hwtimer-torture: End of test: SUCCESS
 *
 * or FAILURE, with each counter that should be 0. torture/torture.c does the same with
 * programs, and does to the machine what is bad for both.
 *
 * The threads are plain kthreads: stock kernels do not have the kernel's own torture.h.
 */
#define pr_fmt(fmt) "hwtimer-torture: " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "report.h"
#include "seat.h"

#define THREADS_MAX 64
#define SEATS_MAX 64

/* One operation in so many replaces a client. */
#define REPLACE_ONE_IN 2000

/* One operation in so many moves the thread to another processor. */
#define MOVE_ONE_IN 500

/* Time for which the clerk sleeps, us */
#define CLERK_SLEEP 10000

static unsigned int threads = 3;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "Number of threads");

static unsigned int clients = 6;
module_param(clients, uint, 0444);
MODULE_PARM_DESC(clients, "Number of clients at a time");

static unsigned int pause_us = 200;
module_param(pause_us, uint, 0644);
MODULE_PARM_DESC(pause_us,
		 "Longest pause of a thread after an operation, us; 0: none");

static unsigned int stat_interval = 60;
module_param(stat_interval, uint, 0644);
MODULE_PARM_DESC(stat_interval, "Seconds between lines of statistics");

unsigned long torture_seed;
module_param_named(seed, torture_seed, ulong, 0444);
MODULE_PARM_DESC(seed, "Seed of all random choices; 0: a new one");

static struct torture_seat *seats;
static struct task_struct *workers[THREADS_MAX];
static struct task_struct *clerk;

/* Moves this thread to one processor, or lets it run on all. One may go off meanwhile. */
static void move(struct rnd_state *random)
{
	unsigned int cpu = torture_below(random, nr_cpu_ids);

	if (cpu_online(cpu) && torture_below(random, 2))
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
	else
		set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void pause_a_moment(struct rnd_state *random)
{
	unsigned int most = READ_ONCE(pause_us);
	unsigned int us = most ? torture_below(random, most) : 0;

	if (us)
		usleep_range(us, us + 50);
	else
		cond_resched();
}

static int torture_thread(void *data)
{
	struct rnd_state random;

	prandom_seed_state(&random, torture_seed + (unsigned long)data);
	while (!kthread_should_stop()) {
		struct torture_seat *seat =
			&seats[torture_below(&random, clients)];

		if (torture_below(&random, REPLACE_ONE_IN) == 0)
			torture_seat_replace(seat, &random);
		else
			torture_seat_use(seat, &random);
		if (torture_below(&random, MOVE_ONE_IN) == 0)
			move(&random);
		pause_a_moment(&random);
	}
	return 0;
}

/* Writes the statistics, and watches whether timers that are due are called. */
static int torture_clerk(void *data)
{
	unsigned long next = jiffies + READ_ONCE(stat_interval) * HZ;
	unsigned int i;

	while (!kthread_should_stop()) {
		usleep_range(CLERK_SLEEP, CLERK_SLEEP + 1000);
		for (i = 0; i < clients; i++)
			torture_seat_watch(&seats[i]);
		if (time_before(jiffies, next))
			continue;
		torture_tell("so far");
		next = jiffies + READ_ONCE(stat_interval) * HZ;
	}
	return 0;
}

static void end_thread(struct task_struct **thread)
{
	if (*thread)
		kthread_stop(*thread);
	*thread = NULL;
}

static void torture_end(void)
{
	unsigned int i;

	for (i = 0; i < threads; i++)
		end_thread(&workers[i]);
	end_thread(&clerk);
	for (i = 0; i < clients; i++)
		torture_seat_clear(&seats[i]);
	vfree(seats);
}

static int begin_thread(struct task_struct **thread, int (*run)(void *data),
			unsigned long nr)
{
	struct task_struct *task =
		kthread_run(run, (void *)nr, "hwtimer_torture");

	if (IS_ERR(task))
		return PTR_ERR(task);
	*thread = task;
	return 0;
}

static int torture_begin(void)
{
	struct rnd_state random;
	unsigned long i;
	int err;

	prandom_seed_state(&random, torture_seed);
	for (i = 0; i < clients; i++) {
		torture_seat_init(&seats[i], i);
		torture_seat_replace(&seats[i], &random);
	}
	err = begin_thread(&clerk, torture_clerk, 0);
	for (i = 0; !err && i < threads; i++)
		err = begin_thread(&workers[i], torture_thread, i + 1);
	return err;
}

static int __init torture_init(void)
{
	int err;

	if (!threads || threads > THREADS_MAX || !clients ||
	    clients > SEATS_MAX)
		return -EINVAL;
	if (!torture_seed)
		torture_seed = get_random_u32();
	pr_info("Start of test: seed=%lu threads=%u clients=%u pause_us=%u\n",
		torture_seed, threads, clients, pause_us);
	seats = vzalloc(array_size(clients, sizeof(*seats)));
	if (!seats)
		return -ENOMEM;
	err = torture_begin();
	if (err)
		torture_end();
	return err;
}

static void __exit torture_exit(void)
{
	torture_end();
	torture_tell("in all");
	torture_verdict();
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_DESCRIPTION("Torture test of hwtimer's kernel clients");
MODULE_AUTHOR("The hwtimer developers");
MODULE_LICENSE("GPL");
