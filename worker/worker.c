// SPDX-License-Identifier: GPL-2.0
/*
 * The thread of a worker: it sleeps until an alarm is due, and serves one alarm after the other;
 * see worker/worker.h.
 *
 * Each hrtimer is armed for the first tenant of its queue only. Until one of these alarms
 * is due, the worker sleeps. An hrtimer follows its clock, so alarms follow CLOCK_REALTIME and
 * CLOCK_TAI when they are set. If one is set back, an alarm that was just due comes
 * later, by as much. worker/wakeup.c sees to it that no timer does.
 *
 * The worker's lock is a raw spinlock: on PREEMPT_RT, a holder that can be preempted might
 * be a tenant that hardly gets any processor time, and everybody would wait. The worker
 * serves or skips one tenant in a hold of the lock.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "compat.h"
#include "worker/tenant.h"

/* Wakes the worker. Runs in hard interrupt context, on PREEMPT_RT, too. */
static enum hrtimer_restart queue_timer_fn(struct hrtimer *timer)
{
	struct hwtimer_worker_queue *queue =
		container_of(timer, struct hwtimer_worker_queue, timer);

	wake_up_process(queue->worker->task);
	return HRTIMER_NORESTART;
}

/* Arms the hrtimer for the first alarm; cancels the hrtimer if no alarm can come due. */
void hwtimer_worker_arm(struct hwtimer_worker_queue *queue)
{
	struct timerqueue_node *first = timerqueue_getnext(&queue->tenants);
	struct hrtimer *timer = &queue->timer;
	ktime_t expires;

	lockdep_assert_held(&queue->worker->lock);
	if (!first || first->expires == KTIME_MAX) {
		hrtimer_try_to_cancel(timer);
		return;
	}
	expires = first->expires;
	if (hrtimer_is_queued(timer) && hrtimer_get_expires(timer) == expires)
		return;
	if (unlikely(queue->bit == BIT(HWTIMER_REALTIME)) &&
	    hwtimer_clock_stands() &&
	    expires > (s64)hwtimer_clocks[HWTIMER_REALTIME].now())
		expires = max_t(ktime_t, expires, ktime_get_real() + TICK_NSEC);
	hrtimer_start(timer, expires, HRTIMER_MODE_ABS_HARD);
}

/*
 * Prepares the worker to sleep until the first alarm of a queue is due.
 *
 * The task's state is set before the hrtimers are armed: a wake-up before that would be
 * lost. It is also set before the lock is released, because a kick that finds @sleeping
 * set arms an hrtimer, too.
 */
static void worker_falls_asleep(struct hwtimer_worker *worker)
{
	unsigned int clock;

	lockdep_assert_held(&worker->lock);
	worker->sleeping = true;
	set_current_state(TASK_IDLE);
	/* The hrtimer of a queue that is empty now may still be armed. */
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		hwtimer_worker_arm(&worker->queues[clock]);
}

static void worker_wakes_up(struct hwtimer_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	worker->sleeping = false;
	worker->wakeups++;
	worker->slice_start = ktime_get_ns();
}

/*
 * Arms the hrtimers for the next alarm, and sleeps. Releases the lock
 * meanwhile. Returns false, at once, if the thread is to exit.
 */
static bool worker_sleep(struct hwtimer_worker *worker)
	__must_hold(&worker->lock)
{
	bool stop;

	worker_falls_asleep(worker);
	raw_spin_unlock(&worker->lock);
	/* After the state was set, as kthread_stop() wakes the thread only once. */
	stop = kthread_should_stop();
	if (!stop)
		schedule();
	else
		__set_current_state(TASK_RUNNING);
	raw_spin_lock(&worker->lock);
	worker_wakes_up(worker);
	return !stop;
}

/* Counts the worker's latest wake-up for @job, unless it is counted for @job already. */
static void worker_count_wakeup(const struct hwtimer_worker *worker,
				struct hwtimer_job *job)
{
	lockdep_assert_held(&worker->lock);
	if (job->served_at == worker->wakeups)
		return;
	job->served_at = worker->wakeups;
	job->wakeups++;
}

/*
 * Notes that the worker does not serve @job any more. If hwtimer_worker_leave() has come
 * meanwhile, tells that the worker has left the job, and releases the lock meanwhile. Then
 * the job and its tenant may be gone.
 */
static void worker_end_slice(struct hwtimer_worker *worker,
			     struct hwtimer_job *job) __must_hold(&worker->lock)
{
	hwtimer_left_fn *left = job->left;

	hwtimer_tenant_charge(worker, job);
	worker->running = NULL;
	hwtimer_tenant_return(job->tenant);
	if (unlikely(left)) {
		raw_spin_unlock(&worker->lock);
		left(job);
		raw_spin_lock(&worker->lock);
	}
}

/* Serves an alarm for one slice. Releases the lock meanwhile. */
static void worker_serve(struct hwtimer_worker *worker,
			 struct hwtimer_alarm *alarm) __must_hold(&worker->lock)
{
	struct hwtimer_job *job = alarm->job;

	worker->running = job;
	worker_count_wakeup(worker, job);
	raw_spin_unlock(&worker->lock);

	alarm->serve(alarm);
	/*
	 * Tenants can keep the worker busy for as long as they like. Being preempted does
	 * not count for RCU Tasks, so without this call ftrace, kprobes and BPF would wait
	 * until the worker sleeps.
	 */
	cond_resched_tasks_rcu_qs();

	raw_spin_lock(&worker->lock);
	worker_end_slice(worker, job);
}

/*
 * Returns a tenant that has nothing due: its jobs were taken away, or the clock was set back.
 * Then releases the lock and takes it again, because many such tenants may follow each other.
 */
static void worker_skip(struct hwtimer_worker *worker,
			struct hwtimer_tenant *tenant)
	__must_hold(&worker->lock)
{
	hwtimer_tenant_return(tenant);
	raw_spin_unlock(&worker->lock);
	cond_resched_tasks_rcu_qs();
	raw_spin_lock(&worker->lock);
	/* The next tenant is not charged for this one. */
	worker->slice_start = ktime_get_ns();
}

/* Serves a tenant for one slice, if it has an alarm that is due. Releases the lock meanwhile. */
static void worker_serve_tenant(struct hwtimer_worker *worker,
				struct hwtimer_tenant *tenant)
	__must_hold(&worker->lock)
{
	struct hwtimer_alarm *alarm =
		hwtimer_tenant_pick(tenant, worker->slice_start);

	worker->rank = max(worker->rank, tenant->rank);
	if (alarm)
		worker_serve(worker, alarm);
	else
		worker_skip(worker, tenant);
}

static int hwtimer_worker_run(void *data)
{
	struct hwtimer_worker *worker = data;
	bool goes_on = true;

	/* It has no job any more when it is stopped, so it comes to sleep. */
	raw_spin_lock(&worker->lock);
	worker->slice_start = ktime_get_ns();
	while (goes_on) {
		struct hwtimer_tenant *tenant;

		tenant = hwtimer_tenant_next(worker, worker->slice_start);
		if (tenant)
			worker_serve_tenant(worker, tenant);
		else
			goes_on = worker_sleep(worker);
	}
	raw_spin_unlock(&worker->lock);
	return 0;
}

static void queue_init(struct hwtimer_worker_queue *queue,
		       struct hwtimer_worker *worker, unsigned int clock)
{
	queue->bit = BIT(clock);
	queue->worker = worker;
	timerqueue_init_head(&queue->tenants);
	hrtimer_setup(&queue->timer, queue_timer_fn, hwtimer_clocks[clock].id,
		      HRTIMER_MODE_ABS_HARD);
}

static void worker_init(struct hwtimer_worker *worker)
{
	unsigned int clock;

	raw_spin_lock_init(&worker->lock);
	worker->tenants = RB_ROOT;
	timerqueue_init_head(&worker->ready);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		queue_init(&worker->queues[clock], worker, clock);
}

/*
 * Not sched_set_fifo(), which is for drivers: they cannot know the machine's other
 * real-time threads. The administrator knows them, and ranks the worker among them by a
 * module parameter. chrt can change the priority later. SCHED_RR, as the worker may be busy for as
 * long as programs like, and threads of the kernel that others wait for have the priority 1.
 */
static int task_set_priority(struct task_struct *task, unsigned int priority)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_RR,
		.sched_priority = priority,
	};

	return priority ? sched_setattr_nocheck(task, &attr) : 0;
}

/**
 * hwtimer_worker_create - create a worker without tenants
 * @nr: number of the worker, for the name of its thread
 * @priority: priority of the thread under SCHED_RR; 0: an ordinary thread
 *
 * The thread belongs to no user, is in no cgroup of a program, and its memory is charged to
 * no user. It prefers no node: since 6.14 kthreads that do are reset to its processors when
 * one comes online, although an administrator may have bound them to others.
 *
 * Return: the worker, or ERR_PTR(): -ENOMEM (also: too many threads), -EINTR (the caller is
 * being killed). May sleep.
 */
struct hwtimer_worker *hwtimer_worker_create(unsigned int nr,
					     unsigned int priority)
{
	struct hwtimer_worker *worker = kzalloc(sizeof(*worker), GFP_KERNEL);
	int err;

	if (!worker)
		return ERR_PTR(-ENOMEM);
	worker_init(worker);
	worker->task =
		kthread_create(hwtimer_worker_run, worker, "hwtimer/%u", nr);
	if (IS_ERR(worker->task)) {
		err = PTR_ERR(worker->task);
		kfree(worker);
		/* EAGAIN: too many threads. Programs take it for something else. */
		return ERR_PTR(err == -EAGAIN ? -ENOMEM : err);
	}
	err = task_set_priority(worker->task, priority);
	if (err) {
		hwtimer_worker_stop(worker);
		hwtimer_worker_free(worker);
		return ERR_PTR(err);
	}
	wake_up_process(worker->task);
	return worker;
}

/**
 * hwtimer_worker_stop - end the thread of a worker whose jobs were all taken away
 * @worker: the worker
 *
 * Waits until the thread has exited. It may just end a slice, and tell that it has left the
 * job. May sleep.
 */
void hwtimer_worker_stop(struct hwtimer_worker *worker)
{
	unsigned int clock;

	kthread_stop(worker->task);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		hrtimer_cancel(&worker->queues[clock].timer);
}

/**
 * hwtimer_worker_free - free a worker that has stopped
 * @worker: the worker, which has no tenant any more
 */
void hwtimer_worker_free(struct hwtimer_worker *worker)
{
	WARN_ON_ONCE(!RB_EMPTY_ROOT(&worker->tenants));
	kfree(worker);
}
