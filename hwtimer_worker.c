// SPDX-License-Identifier: GPL-2.0
/*
 * Workers; see hwtimer_worker.h.
 *
 * A worker keeps its instances in a timerqueue, by the time at which each next
 * needs it, and serves the first in slices of HWTIMER_HOLD timers. An instance
 * with more to do goes back to the queue as of now, behind all that are due
 * already: a burst in one does not hold up the others.
 *
 * The hrtimer is armed for the first of the queue and for nothing else: over an
 * empty queue, or until a timer an hour ahead, nobody wakes up.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "compat.h"
#include "hwtimer.h"
#include "hwtimer_worker.h"

/**
 * struct hwtimer_worker - one kthread
 * @task: the kthread
 * @timer: wakes it up; armed only while it sleeps
 * @lock: protects all below; taken inside of an instance's lock
 * @queue: instances by the time at which they next need the worker
 * @running: the instance that is being served; it is not freed meanwhile
 * @idle: woken when @running has changed
 * @sleeping: the worker has seen all of @queue, and armed @timer for its first
 * @wakeups: how often it woke up
 * @due: records that expire in this slice; the worker's own
 */
struct hwtimer_worker {
	struct task_struct *task;
	struct hrtimer timer;

	spinlock_t lock; /* see above */
	struct timerqueue_head queue;
	struct hwtimer_instance *running;
	wait_queue_head_t idle;
	bool sleeping;
	u64 wakeups;

	u32 due[HWTIMER_HOLD];
};

static struct hwtimer_worker *hwtimer_workers;
static unsigned int hwtimer_nr_workers;
static atomic_t hwtimer_next_worker;

/* In hard interrupt context, on PREEMPT_RT too. */
static enum hrtimer_restart hwtimer_worker_tick(struct hrtimer *timer)
{
	struct hwtimer_worker *worker =
		container_of(timer, struct hwtimer_worker, timer);

	wake_up_process(worker->task);
	return HRTIMER_NORESTART;
}

/* The hrtimer's time for @time, which may be beyond its range. */
static ktime_t worker_expiry(u64 time)
{
	return min_t(u64, time, KTIME_MAX);
}

/* Lets the worker wake up for the first of its queue, and for nothing else. */
static void worker_arm(struct hwtimer_worker *worker)
{
	struct timerqueue_node *first = timerqueue_getnext(&worker->queue);

	lockdep_assert_held(&worker->lock);
	if (first && first->expires != KTIME_MAX)
		hrtimer_start(&worker->timer, first->expires,
			      HRTIMER_MODE_ABS_HARD);
	else
		hrtimer_try_to_cancel(&worker->timer);
}

/* The first instance of the queue if it is due, taken out; otherwise NULL. */
static struct hwtimer_instance *worker_pick(struct hwtimer_worker *worker)
{
	struct timerqueue_node *first = timerqueue_getnext(&worker->queue);

	lockdep_assert_held(&worker->lock);
	if (!first || first->expires > ktime_get())
		return NULL;
	timerqueue_del(&worker->queue, first);
	return container_of(first, struct hwtimer_instance, node);
}

static void worker_set_running(struct hwtimer_worker *worker,
			       struct hwtimer_instance *instance)
{
	lockdep_assert_held(&worker->lock);
	worker->running = instance;
	wake_up(&worker->idle);
}

/*
 * The worker is about to sleep until the first instance of the queue is due.
 *
 * The state is set before the timer is armed and before the lock is dropped, so
 * that neither the timer nor whoever then finds @sleeping wakes it too early.
 */
static void worker_falls_asleep(struct hwtimer_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	worker->sleeping = true;
	set_current_state(TASK_IDLE);
	worker_arm(worker);
}

static void worker_wakes_up(struct hwtimer_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	worker->sleeping = false;
	worker->wakeups++;
}

static int hwtimer_worker_run(void *data)
{
	struct hwtimer_worker *worker = data;

	spin_lock(&worker->lock);
	while (!kthread_should_stop()) {
		struct hwtimer_instance *instance = worker_pick(worker);

		if (!instance) {
			worker_falls_asleep(worker);
			spin_unlock(&worker->lock);
			if (!kthread_should_stop())
				schedule();
			__set_current_state(TASK_RUNNING);
			spin_lock(&worker->lock);
			worker_wakes_up(worker);
			continue;
		}
		worker_set_running(worker, instance);
		spin_unlock(&worker->lock);

		hwtimer_instance_turn(instance, hwtimer_instance_now(instance),
				      worker->due);
		cond_resched();

		spin_lock(&worker->lock);
		worker_set_running(worker, NULL);
	}
	spin_unlock(&worker->lock);
	return 0;
}

/**
 * hwtimer_worker_kick - have the worker look at an instance
 * @instance: attached; its lock is held
 * @time: by when, ns
 */
void hwtimer_worker_kick(struct hwtimer_instance *instance, u64 time)
{
	struct hwtimer_worker *worker = instance->worker;
	struct timerqueue_node *node = &instance->node;
	ktime_t expires = worker_expiry(time);

	lockdep_assert_held(&instance->lock);
	spin_lock(&worker->lock);
	if (instance->detached)
		goto unlock;
	if (!RB_EMPTY_NODE(&node->node)) {
		if (node->expires <= expires)
			goto unlock;
		timerqueue_del(&worker->queue, node);
	}
	node->expires = expires;
	if (timerqueue_add(&worker->queue, node) && worker->sleeping)
		worker_arm(worker);
unlock:
	spin_unlock(&worker->lock);
}

/* Takes an instance out of the queue, and what the worker would wake up for. */
static void worker_forget(struct hwtimer_worker *worker,
			  struct hwtimer_instance *instance)
{
	struct timerqueue_node *first = timerqueue_getnext(&worker->queue);

	lockdep_assert_held(&worker->lock);
	if (RB_EMPTY_NODE(&instance->node.node))
		return;
	timerqueue_del(&worker->queue, &instance->node);
	if (first == &instance->node && worker->sleeping)
		worker_arm(worker);
}

/**
 * hwtimer_worker_forget - the worker need not look at an instance any more
 * @instance: attached; its lock is held
 */
void hwtimer_worker_forget(struct hwtimer_instance *instance)
{
	struct hwtimer_worker *worker = instance->worker;

	lockdep_assert_held(&instance->lock);
	spin_lock(&worker->lock);
	worker_forget(worker, instance);
	spin_unlock(&worker->lock);
}

/* How often the worker woke up, for any instance, since @instance came. */
u64 hwtimer_worker_wakeups(const struct hwtimer_instance *instance)
{
	struct hwtimer_worker *worker = instance->worker;
	u64 wakeups;

	spin_lock(&worker->lock);
	wakeups = worker->wakeups - instance->wakeups_before;
	spin_unlock(&worker->lock);
	return wakeups;
}

/* Gives @instance, which is new, a worker; they are chosen in turn. */
void hwtimer_worker_attach(struct hwtimer_instance *instance)
{
	unsigned int nr = (unsigned int)atomic_inc_return(&hwtimer_next_worker);

	timerqueue_init(&instance->node);
	instance->worker = &hwtimer_workers[nr % hwtimer_nr_workers];
	instance->wakeups_before = 0;
	instance->wakeups_before = hwtimer_worker_wakeups(instance);
}

static bool worker_left(struct hwtimer_worker *worker,
			const struct hwtimer_instance *instance)
{
	bool left;

	spin_lock(&worker->lock);
	left = worker->running != instance;
	spin_unlock(&worker->lock);
	return left;
}

/**
 * hwtimer_worker_detach - take an instance away from its worker
 * @instance: nobody else knows it any more
 *
 * Afterwards the worker does not touch it. Sleeps for one slice at the most.
 */
void hwtimer_worker_detach(struct hwtimer_instance *instance)
{
	struct hwtimer_worker *worker = instance->worker;

	spin_lock(&worker->lock);
	instance->detached = true;
	worker_forget(worker, instance);
	spin_unlock(&worker->lock);
	wait_event(worker->idle, worker_left(worker, instance));
}

static int worker_set_priority(struct hwtimer_worker *worker,
			       unsigned int rt_prio)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = rt_prio,
	};

	return rt_prio ? sched_setattr_nocheck(worker->task, &attr) : 0;
}

static int worker_start(struct hwtimer_worker *worker, unsigned int nr,
			unsigned int rt_prio)
{
	int err;

	spin_lock_init(&worker->lock);
	timerqueue_init_head(&worker->queue);
	init_waitqueue_head(&worker->idle);
	hrtimer_setup(&worker->timer, hwtimer_worker_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);

	worker->task =
		kthread_create(hwtimer_worker_run, worker, "hwtimer/%u", nr);
	if (IS_ERR(worker->task))
		return PTR_ERR(worker->task);
	err = worker_set_priority(worker, rt_prio);
	if (err) {
		kthread_stop(worker->task);
		return err;
	}
	wake_up_process(worker->task);
	return 0;
}

static void worker_stop(struct hwtimer_worker *worker)
{
	kthread_stop(worker->task);
	hrtimer_cancel(&worker->timer);
}

/**
 * hwtimer_workers_start - at module load
 * @count: how many, at least 1
 * @rt_prio: SCHED_FIFO priority; 0 for an ordinary thread
 *
 * Return: 0 or a negative errno. May sleep.
 */
int hwtimer_workers_start(unsigned int count, unsigned int rt_prio)
{
	int err;

	hwtimer_workers = kcalloc(count, sizeof(*hwtimer_workers), GFP_KERNEL);
	if (!hwtimer_workers)
		return -ENOMEM;
	for (hwtimer_nr_workers = 0; hwtimer_nr_workers < count;
	     hwtimer_nr_workers++) {
		err = worker_start(&hwtimer_workers[hwtimer_nr_workers],
				   hwtimer_nr_workers, rt_prio);
		if (err) {
			hwtimer_workers_stop();
			return err;
		}
	}
	return 0;
}

/* At module unload, when there is no instance any more. May sleep. */
void hwtimer_workers_stop(void)
{
	while (hwtimer_nr_workers)
		worker_stop(&hwtimer_workers[--hwtimer_nr_workers]);
	kfree(hwtimer_workers);
	hwtimer_workers = NULL;
}
