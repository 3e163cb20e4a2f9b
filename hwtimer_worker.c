// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the workers; see hwtimer_worker.h.
 *
 * A worker keeps the alarms of its jobs in timerqueues, one for each clock. It takes the
 * queues in turn, and serves the first alarm of a queue when it is due. Serving an alarm
 * takes one slice, which hwtimer_turn.c bounds. An instance that has more to do kicks its
 * alarm for the present time. That puts the alarm behind all alarms that are already due,
 * so a burst in one instance does not hold up the others.
 *
 * Each hrtimer is armed for the first alarm of its queue and for nothing else. While the
 * queues are empty, or their first alarms are an hour ahead, the worker sleeps. An
 * hrtimer follows its clock, so alarms follow CLOCK_REALTIME when it is set.
 *
 * An alarm goes into and out of its queue in O(log n). After CLOCK_REALTIME was set,
 * worker_follow_clock() changes all alarms by that clock in one hold of the worker's
 * lock. There is one such alarm for each instance by that clock; programs can have
 * max_instances instances, 4,096 by default. Only a suspend, or setting the clock, which
 * needs CAP_SYS_TIME, causes this.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "compat.h"
#include "hwtimer_clock.h"
#include "hwtimer_wheel.h"
#include "hwtimer_worker.h"

/**
 * struct hwtimer_worker_queue - a worker's alarms by one clock
 * @alarms: the alarms in the order of their times; protected by the worker's lock
 * @timer: hrtimer that wakes the worker for the first alarm; armed with the worker's lock
 *	held, while the worker sleeps
 * @worker: the worker; constant
 */
struct hwtimer_worker_queue {
	struct timerqueue_head alarms;
	struct hrtimer timer;
	struct hwtimer_worker *worker;
};

/**
 * struct hwtimer_worker - one kthread
 * @task: the kthread; constant
 * @lock: spinlock; protects all members below, except for @due. May be taken inside an
 *	instance's lock
 * @queues: the alarms, by the number of their clock
 * @next_queue: number of the queue to check first, so that the queues take turns
 * @offset: hwtimer_clock_offset() when the worker last read it
 * @running: the job that is being served; NULL: none. hwtimer_worker_detach() waits while
 *	it is the job to be detached
 * @idle: wait queue of hwtimer_worker_detach(), woken when @running has changed; its own
 *	lock is taken inside @lock
 * @sleeping: the worker found no due alarm and armed the hrtimers; so a kick has to arm
 *	them anew
 * @wakeups: number of times the worker woke up
 * @due: room for the indices of the timers that expire in one slice; used by the kthread
 *	only
 */
struct hwtimer_worker {
	struct task_struct *task;

	spinlock_t lock; /* see above */
	struct hwtimer_worker_queue queues[HWTIMER_CLOCKS];
	unsigned int next_queue;
	s64 offset;
	const struct hwtimer_job *running;
	wait_queue_head_t idle;
	bool sleeping;
	u64 wakeups;

	u32 due[HWTIMER_HOLD];
};

static struct hwtimer_worker *hwtimer_workers;
static unsigned int hwtimer_nr_workers;
static atomic_t hwtimer_next_worker;

/* Wakes the worker. Runs in hard interrupt context, on PREEMPT_RT, too. */
static enum hrtimer_restart queue_timer_fn(struct hrtimer *timer)
{
	struct hwtimer_worker_queue *queue =
		container_of(timer, struct hwtimer_worker_queue, timer);

	wake_up_process(queue->worker->task);
	return HRTIMER_NORESTART;
}

/* Arms the hrtimer for the first alarm of the queue; cancels it if there is none. */
static void queue_arm(struct hwtimer_worker_queue *queue)
{
	struct timerqueue_node *first = timerqueue_getnext(&queue->alarms);
	struct hrtimer *timer = &queue->timer;

	lockdep_assert_held(&queue->worker->lock);
	if (!first || first->expires == KTIME_MAX)
		hrtimer_try_to_cancel(timer);
	else if (!hrtimer_is_queued(timer) ||
		 hrtimer_get_expires(timer) != first->expires)
		hrtimer_start(timer, first->expires, HRTIMER_MODE_ABS_HARD);
}

/*
 * Returns whether CLOCK_REALTIME was set. If it was, makes all alarms by that clock due
 * now, in the order of their queue. If the clock was set back while the worker was busy,
 * an alarm that was kicked for the present time of the old clock would otherwise come
 * much too late.
 *
 * The loop runs over all alarms by that clock. It cannot be done in pieces, because an
 * alarm that is not changed yet could stand behind one that is not due. It is rare: see
 * the top of this file.
 */
static bool worker_follow_clock(struct hwtimer_worker *worker)
{
	struct timerqueue_head *alarms =
		&worker->queues[HWTIMER_REALTIME].alarms;
	struct timerqueue_node *node = timerqueue_getnext(alarms);
	s64 offset;

	lockdep_assert_held(&worker->lock);
	if (!node)
		return false;
	offset = hwtimer_clock_offset();
	if (worker->offset == offset)
		return false;
	worker->offset = offset;
	for (; node; node = timerqueue_iterate_next(node))
		node->expires = 0;
	return true;
}

/* Takes the first alarm out of queue @nr if it is due; otherwise returns NULL. */
static struct hwtimer_alarm *queue_pick(struct hwtimer_worker *worker,
					unsigned int nr)
{
	struct timerqueue_head *alarms = &worker->queues[nr].alarms;
	struct timerqueue_node *first = timerqueue_getnext(alarms);

	lockdep_assert_held(&worker->lock);
	if (!first || first->expires > (s64)hwtimer_clocks[nr].now())
		return NULL;
	timerqueue_del(alarms, first);
	return container_of(first, struct hwtimer_alarm, node);
}

/* Takes a due alarm out of one of the queues, which take turns; NULL: none is due. */
static struct hwtimer_alarm *queues_pick(struct hwtimer_worker *worker)
{
	unsigned int i;

	for (i = 0; i < HWTIMER_CLOCKS; i++) {
		unsigned int nr = worker->next_queue;
		struct hwtimer_alarm *alarm = queue_pick(worker, nr);

		worker->next_queue = (nr + 1) % HWTIMER_CLOCKS;
		if (alarm)
			return alarm;
	}
	return NULL;
}

static void worker_set_running(struct hwtimer_worker *worker,
			       const struct hwtimer_job *job)
{
	lockdep_assert_held(&worker->lock);
	worker->running = job;
	/* Pairs with the barrier in prepare_to_wait(), before worker_left(). */
	if (wq_has_sleeper(&worker->idle))
		wake_up(&worker->idle);
}

/*
 * Takes out a due alarm, as queues_pick(). If the clock is set while the queues are
 * checked, checks them again.
 */
static struct hwtimer_alarm *worker_pick(struct hwtimer_worker *worker)
{
	struct hwtimer_alarm *alarm;

	worker_follow_clock(worker);
	do {
		alarm = queues_pick(worker);
	} while (!alarm && worker_follow_clock(worker));
	return alarm;
}

/*
 * Prepares the worker to sleep until the first alarm of a queue is due.
 *
 * The task's state is set before the hrtimers are armed. Otherwise an hrtimer could wake
 * the worker before the state is set, and the wake-up would be lost. The state is also
 * set before the lock is dropped, because a kick that finds @sleeping set arms an
 * hrtimer, too.
 */
static void worker_falls_asleep(struct hwtimer_worker *worker)
{
	unsigned int nr;

	lockdep_assert_held(&worker->lock);
	worker->sleeping = true;
	set_current_state(TASK_IDLE);
	for (nr = 0; nr < HWTIMER_CLOCKS; nr++)
		queue_arm(&worker->queues[nr]);
}

static void worker_wakes_up(struct hwtimer_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	worker->sleeping = false;
	worker->wakeups++;
}

/* Counts the last wake-up for @job, which the worker serves now; each wake-up once. */
static void worker_count_wakeup(const struct hwtimer_worker *worker,
				struct hwtimer_job *job)
{
	lockdep_assert_held(&worker->lock);
	if (job->served_at == worker->wakeups)
		return;
	job->served_at = worker->wakeups;
	job->wakeups++;
}

static int hwtimer_worker_run(void *data)
{
	struct hwtimer_worker *worker = data;

	spin_lock(&worker->lock);
	while (!kthread_should_stop()) {
		struct hwtimer_alarm *alarm = worker_pick(worker);

		if (!alarm) {
			worker_falls_asleep(worker);
			spin_unlock(&worker->lock);
			if (!kthread_should_stop())
				schedule();
			__set_current_state(TASK_RUNNING);
			spin_lock(&worker->lock);
			worker_wakes_up(worker);
			continue;
		}
		worker_set_running(worker, alarm->job);
		worker_count_wakeup(worker, alarm->job);
		spin_unlock(&worker->lock);

		alarm->serve(alarm, worker->due);
		cond_resched();

		spin_lock(&worker->lock);
		worker_set_running(worker, NULL);
	}
	spin_unlock(&worker->lock);
	return 0;
}

/**
 * hwtimer_worker_kick - have the worker serve an alarm at a given time
 * @alarm: the alarm; its job was attached
 * @time: ns on the alarm's clock, plus the alarm's offset; a time beyond the range of
 *	that clock never comes
 *
 * An earlier time that the alarm already has stays. If the job is detached, nothing
 * happens. A caller that computes @time from the state of an instance holds that
 * instance's lock. Any context but an interrupt; does not sleep; takes the worker's lock.
 */
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time)
{
	const struct hwtimer_job *job = alarm->job;
	struct hwtimer_worker *worker = job->worker;
	struct hwtimer_worker_queue *queue = &worker->queues[alarm->clock];
	struct timerqueue_node *node = &alarm->node;
	ktime_t expires = hwtimer_clock_host_time(time, alarm->offset);

	spin_lock(&worker->lock);
	if (job->detached)
		goto unlock;
	if (!RB_EMPTY_NODE(&node->node)) {
		if (node->expires <= expires)
			goto unlock;
		timerqueue_del(&queue->alarms, node);
	}
	node->expires = expires;
	if (timerqueue_add(&queue->alarms, node) && worker->sleeping)
		queue_arm(queue);
unlock:
	spin_unlock(&worker->lock);
}

/* Takes an alarm out of its queue; while the worker sleeps, arms the hrtimer anew. */
static void worker_forget(struct hwtimer_worker *worker,
			  struct hwtimer_alarm *alarm)
{
	struct hwtimer_worker_queue *queue;
	bool first;

	lockdep_assert_held(&worker->lock);
	/* Its clock may not be final before the first kick. */
	if (RB_EMPTY_NODE(&alarm->node.node))
		return;
	queue = &worker->queues[alarm->clock];
	first = timerqueue_getnext(&queue->alarms) == &alarm->node;
	timerqueue_del(&queue->alarms, &alarm->node);
	if (first && worker->sleeping)
		queue_arm(queue);
}

/**
 * hwtimer_worker_forget - take the alarms of a job out of the worker's queues
 * @job: the job; was attached
 *
 * The worker serves the alarms again only after another hwtimer_worker_kick(). Does not
 * wait if the worker is just serving one of them. Does not sleep; takes the worker's
 * lock.
 */
void hwtimer_worker_forget(struct hwtimer_job *job)
{
	struct hwtimer_worker *worker = job->worker;

	spin_lock(&worker->lock);
	worker_forget(worker, &job->turns);
	worker_forget(worker, &job->chores);
	spin_unlock(&worker->lock);
}

/**
 * hwtimer_worker_wakeups - count the wake-ups after which a worker served a job
 * @job: the job; was attached
 *
 * Return: the number of wake-ups. A wake-up after which the worker served only other jobs
 * does not count. Does not sleep; takes the worker's lock.
 */
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job)
{
	struct hwtimer_worker *worker = job->worker;
	u64 wakeups;

	spin_lock(&worker->lock);
	wakeups = job->wakeups;
	spin_unlock(&worker->lock);
	return wakeups;
}

static void worker_alarm_init(struct hwtimer_alarm *alarm,
			      struct hwtimer_job *job, hwtimer_serve_fn *serve)
{
	timerqueue_init(&alarm->node);
	alarm->job = job;
	alarm->serve = serve;
	alarm->clock = HWTIMER_MONOTONIC;
	alarm->offset = 0;
}

/**
 * hwtimer_worker_attach - give a job to a worker
 * @job: the job; all 0
 * @turn: function that serves the alarm @job->turns
 * @chores: function that serves the alarm @job->chores
 *
 * Jobs go to the workers in turn. The worker does not serve the job before one of its
 * alarms is kicked. Does not sleep; takes no lock.
 */
void hwtimer_worker_attach(struct hwtimer_job *job, hwtimer_serve_fn *turn,
			   hwtimer_serve_fn *chores)
{
	unsigned int nr = (unsigned int)atomic_inc_return(&hwtimer_next_worker);

	worker_alarm_init(&job->turns, job, turn);
	worker_alarm_init(&job->chores, job, chores);
	job->worker = &hwtimer_workers[nr % hwtimer_nr_workers];
	/* No wake-up has this number, so the first one for the job counts. */
	job->served_at = U64_MAX;
}

static bool worker_left(struct hwtimer_worker *worker,
			const struct hwtimer_job *job)
{
	bool left;

	spin_lock(&worker->lock);
	left = worker->running != job;
	spin_unlock(&worker->lock);
	return left;
}

/**
 * hwtimer_worker_detach - take a job away from its worker
 * @job: the job; was attached, and may be detached already
 *
 * Afterwards the worker does not touch the job, even if one of its alarms is kicked.
 * Sleeps until the worker has finished the slice of this job that is running, if one is.
 * Takes the worker's lock. Must not be called by a function that serves the job.
 */
void hwtimer_worker_detach(struct hwtimer_job *job)
{
	struct hwtimer_worker *worker = job->worker;

	spin_lock(&worker->lock);
	job->detached = true;
	worker_forget(worker, &job->turns);
	worker_forget(worker, &job->chores);
	spin_unlock(&worker->lock);
	wait_event(worker->idle, worker_left(worker, job));
}

/*
 * Not sched_set_fifo(): it is for drivers, which cannot know what else runs on the
 * machine. Here the administrator chooses the number, to rank the worker among the
 * machine's other real-time threads. By default the worker is an ordinary thread. chrt
 * can change the priority later; the module parameter sets it before the first timer,
 * each time the module is loaded.
 */
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

static void queue_init(struct hwtimer_worker_queue *queue,
		       struct hwtimer_worker *worker, unsigned int clock)
{
	queue->worker = worker;
	timerqueue_init_head(&queue->alarms);
	hrtimer_setup(&queue->timer, queue_timer_fn, hwtimer_clocks[clock].id,
		      HRTIMER_MODE_ABS_HARD);
}

static int worker_start(struct hwtimer_worker *worker, unsigned int nr,
			unsigned int rt_prio)
{
	unsigned int clock;
	int err;

	spin_lock_init(&worker->lock);
	init_waitqueue_head(&worker->idle);
	worker->offset = hwtimer_clock_offset();
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		queue_init(&worker->queues[clock], worker, clock);

	worker->task =
		kthread_create(hwtimer_worker_run, worker, "hwtimer/%u", nr);
	if (IS_ERR(worker->task))
		return PTR_ERR(worker->task);
	/* An armed hrtimer may wake the task even after the thread has ended. */
	get_task_struct(worker->task);
	err = worker_set_priority(worker, rt_prio);
	if (err) {
		kthread_stop(worker->task);
		put_task_struct(worker->task);
		return err;
	}
	wake_up_process(worker->task);
	return 0;
}

static void worker_stop(struct hwtimer_worker *worker)
{
	unsigned int clock;

	kthread_stop(worker->task);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		hrtimer_cancel(&worker->queues[clock].timer);
	put_task_struct(worker->task);
}

/**
 * hwtimer_workers_start - start the workers, at module load
 * @count: number of workers, at least 1
 * @rt_prio: SCHED_FIFO priority of the workers; 0: ordinary threads
 *
 * Return: 0, -ENOMEM, or the error of kthread_create() or of setting the priority; after
 * an error no worker is left. May sleep.
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

/**
 * hwtimer_workers_stop - stop the workers, at module unload
 *
 * No instance is left. May sleep.
 */
void hwtimer_workers_stop(void)
{
	while (hwtimer_nr_workers)
		worker_stop(&hwtimer_workers[--hwtimer_nr_workers]);
	kfree(hwtimer_workers);
	hwtimer_workers = NULL;
}
