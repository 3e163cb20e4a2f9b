// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the workers; see worker/worker.h.
 *
 * All programs share the workers, so a worker is fair on two levels: it goes round by
 * tenant, that is, by the user and the cgroup of the process that started the instance, and
 * then by the jobs of the tenant. Serving an alarm takes one slice, which events/turn.c
 * bounds. An instance that has more to do kicks its alarm for the present time.
 *
 * A tenant keeps the alarms of its jobs in timerqueues, one for each clock. The worker has
 * one queue of tenants for each clock, by the tenants' first alarms. Tenants that have an
 * alarm that is due move to one more queue, the ready queue, where they stand in the order
 * of their ranks. The worker picks the first of them. Only then it looks which of the
 * tenant's alarms are due, so a burst of alarms of one tenant is of no matter to others.
 * Among these alarms, it serves that of the job with the lowest rank.
 *
 * A rank grows by the time that the slices take. So tenants, and the jobs of a tenant, share
 * the worker by time, not by turns. A tenant that was not due for a while gets no credit for
 * that: its rank is raised to that of the tenant which was picked last. That is still the
 * lowest rank of all, or nearly, so a tenant that is rarely due is served at once. The same
 * holds for a job among those of its tenant. This is how virtual time works in fair
 * schedulers of processors.
 *
 * A tenant is in one of three places: in the ready queue; being served; or it rests, and
 * then it is in the worker's queue of each clock on which it has an alarm.
 *
 * Each hrtimer is armed for the first tenant of its queue only. Until one of these alarms
 * is due, the worker sleeps. An hrtimer follows its clock, so alarms follow CLOCK_REALTIME and
 * CLOCK_TAI when they are set. If one is set back, an alarm that was due a moment ago comes
 * later, by as much. worker/wakeup.c sees to it that no timer does.
 *
 * An alarm goes into and out of the queues in O(log n). All tenants are in a tree, by their
 * users and cgroups. So finding one takes O(log n), too, however many cgroups a user has.
 *
 * The worker's lock is a raw spinlock: on PREEMPT_RT, a holder that can be preempted might
 * be a tenant that hardly gets any processor time, and everybody would wait. The worker
 * serves or skips one tenant in a hold of the lock.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <uapi/linux/sched/types.h>

#include "alloc.h"
#include "compat.h"
#include "worker/worker.h"

/* Number of tenants, or of a tenant's alarms, that one look at a queue finds to be due */
#define HWTIMER_COLLECT 16

/*
 * By how much a slice makes ranks grow, ns: by the time that it took, within these bounds. A
 * slice that did next to nothing has cost a lookup. One that took longer than the highest
 * was held up by the machine, for which its tenant need not wait.
 */
#define HWTIMER_CHARGE_MIN NSEC_PER_USEC
#define HWTIMER_CHARGE_MAX (10 * NSEC_PER_MSEC)

/**
 * struct hwtimer_tenant_queue - a tenant's alarms on one clock
 * @alarms: the alarms in the order of their times
 * @node: entry in the worker's queue of tenants on this clock, with the time of the first
 *	alarm
 * @tenant: the tenant; constant
 * @common: the worker's queue of tenants on this clock; constant
 *
 * Protected by the worker's lock.
 */
struct hwtimer_tenant_queue {
	struct timerqueue_head alarms;
	struct timerqueue_node node;
	struct hwtimer_tenant *tenant;
	struct hwtimer_worker_queue *common;
};

/**
 * struct hwtimer_tenant - those for whom a worker works who share one user and one cgroup
 * @worker: the worker; constant
 * @id: the user and the cgroup; constant
 * @node: entry in the worker's tree of tenants
 * @users: number of references; see hwtimer_tenant_get()
 * @queues: the alarms, by the number of their clock
 * @clocks: the clocks whose queue is not empty, one bit for each
 * @ready: alarms that are due, by the rank of their jobs, which stands in their times
 * @job_rank: the rank of the job that was picked last, or a higher one that was picked before
 * @rank: the tenant's place among those that are due: the lowest is served first
 * @place: entry in the worker's queue of tenants that are due, by @rank
 * @spent: time that the worker has spent for the tenant, ns
 *
 * The worker's lock protects all members from @node on.
 */
struct hwtimer_tenant {
	struct hwtimer_worker *worker;
	struct hwtimer_tenant_id id;
	struct rb_node node;
	unsigned int users;
	struct hwtimer_tenant_queue queues[HWTIMER_CLOCKS];
	unsigned long clocks;
	struct timerqueue_head ready;
	u64 job_rank;
	u64 rank;
	struct timerqueue_node place;
	u64 spent;
};

/**
 * struct hwtimer_worker_queue - the tenants that have an alarm on one clock
 * @tenants: those that rest, in the order of their first alarms; protected by the worker's
 *	lock
 * @timer: hrtimer that wakes the worker for the first alarm; armed with the worker's lock
 *	held, while the worker sleeps
 * @bit: the bit of the clock in sets of clocks; constant
 * @worker: the worker; constant
 */
struct hwtimer_worker_queue {
	struct timerqueue_head tenants;
	struct hrtimer timer;
	unsigned long bit;
	struct hwtimer_worker *worker;
};

/**
 * struct hwtimer_worker - one kthread
 * @task: the kthread; constant
 * @nr: number of the worker; constant
 * @lock: raw spinlock; protects all members below, up to @wakeups. Taken inside an
 *	instance's lock
 * @tenants: all tenants, in the order of their users, and then of their cgroups
 * @queues: the tenants that rest, by the number of the clock
 * @clocks: the clocks whose queue is not empty
 * @ready: tenants that have an alarm that is due, by their rank
 * @rank: the rank of the tenant that was picked last, or a higher one that was picked before
 * @served: the tenant whose job is being served; NULL: none
 * @running: the job that is being served; NULL: none
 * @sleeping: the worker found no due alarm and armed the hrtimers; a kick that changes
 *	the first alarm of a queue arms that queue's hrtimer anew
 * @wakeups: number of times the worker woke up
 * @slice_start: time at which the slice began, ns on CLOCK_MONOTONIC; used by the kthread
 *	only
 */
struct hwtimer_worker {
	struct task_struct *task;
	unsigned int nr;

	raw_spinlock_t lock; /* see above */
	struct rb_root tenants;
	struct hwtimer_worker_queue queues[HWTIMER_CLOCKS];
	unsigned long clocks;
	struct timerqueue_head ready;
	u64 rank;
	const struct hwtimer_tenant *served;
	const struct hwtimer_job *running;
	bool sleeping;
	u64 wakeups;

	u64 slice_start;
};

/* Wakes the worker. Runs in hard interrupt context, on PREEMPT_RT, too. */
static enum hrtimer_restart queue_timer_fn(struct hrtimer *timer)
{
	struct hwtimer_worker_queue *queue =
		container_of(timer, struct hwtimer_worker_queue, timer);

	wake_up_process(queue->worker->task);
	return HRTIMER_NORESTART;
}

/* Arms the hrtimer for the first alarm; cancels the hrtimer if no alarm can come due. */
static void queue_arm(struct hwtimer_worker_queue *queue)
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

/* Enters a tenant by its first alarm on a clock, @own. Returns whether it is the first. */
static bool queue_add(struct hwtimer_tenant_queue *own)
{
	struct timerqueue_node *alarm = timerqueue_getnext(&own->alarms);
	struct hwtimer_worker_queue *queue = own->common;

	queue->worker->clocks |= queue->bit;
	own->node.expires = alarm->expires;
	return timerqueue_add(&queue->tenants, &own->node);
}

static void queue_del(struct hwtimer_tenant_queue *own)
{
	struct hwtimer_worker_queue *queue = own->common;

	if (!timerqueue_del(&queue->tenants, &own->node))
		queue->worker->clocks &= ~queue->bit;
}

/* ---- tenants ---- */

/* Orders tenants by their users, and those of a user by their cgroups. */
static int tenant_compare(struct rb_node *node, const struct rb_node *other)
{
	const struct hwtimer_tenant_id *a =
		&rb_entry(node, struct hwtimer_tenant, node)->id;
	const struct hwtimer_tenant_id *b =
		&rb_entry(other, struct hwtimer_tenant, node)->id;

	if (!uid_eq(a->uid, b->uid))
		return uid_lt(a->uid, b->uid) ? -1 : 1;
	if (a->cgroup != b->cgroup)
		return a->cgroup < b->cgroup ? -1 : 1;
	return 0;
}

static struct hwtimer_tenant *tenant_create(struct hwtimer_worker *worker,
					    const struct hwtimer_tenant_id *id)
{
	struct hwtimer_tenant *tenant = kzalloc(sizeof(*tenant), HWTIMER_GFP);
	unsigned int clock;

	if (!tenant)
		return NULL;
	tenant->worker = worker;
	tenant->id = *id;
	timerqueue_init(&tenant->place);
	timerqueue_init_head(&tenant->ready);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++) {
		timerqueue_init_head(&tenant->queues[clock].alarms);
		timerqueue_init(&tenant->queues[clock].node);
		tenant->queues[clock].tenant = tenant;
		tenant->queues[clock].common = &worker->queues[clock];
	}
	return tenant;
}

/**
 * hwtimer_tenant_get - find a tenant of a worker, or create it
 * @worker: the worker
 * @id: the user and the cgroup
 *
 * Return: the tenant, with a reference, which each of its jobs needs until nobody uses the
 * job any more; NULL: no memory. May sleep; takes the worker's lock.
 */
struct hwtimer_tenant *hwtimer_tenant_get(struct hwtimer_worker *worker,
					  const struct hwtimer_tenant_id *id)
{
	struct hwtimer_tenant *fresh = tenant_create(worker, id), *tenant;
	struct rb_node *found;

	if (!fresh)
		return NULL;
	raw_spin_lock(&worker->lock);
	found = rb_find_add(&fresh->node, &worker->tenants, tenant_compare);
	tenant = found ? rb_entry(found, struct hwtimer_tenant, node) : fresh;
	tenant->users++;
	raw_spin_unlock(&worker->lock);
	if (found)
		kfree(fresh);
	return tenant;
}

/**
 * hwtimer_tenant_put - release a reference of a tenant
 * @tenant: the tenant, or NULL
 *
 * The last reference frees the tenant. Its jobs were taken away before. Does not sleep; takes
 * the worker's lock.
 */
void hwtimer_tenant_put(struct hwtimer_tenant *tenant)
{
	struct hwtimer_worker *worker;
	bool last;

	if (!tenant)
		return;
	worker = tenant->worker;
	raw_spin_lock(&worker->lock);
	last = !--tenant->users;
	if (last) {
		/* It may have been due with an alarm that was forgotten then. */
		if (!RB_EMPTY_NODE(&tenant->place.node))
			timerqueue_del(&worker->ready, &tenant->place);
		rb_erase(&tenant->node, &worker->tenants);
	}
	raw_spin_unlock(&worker->lock);
	if (last)
		kfree(tenant);
}

/**
 * hwtimer_tenant_spent - the time that a worker has spent for a tenant
 * @tenant: the tenant
 * @nr: out: the number of the worker
 *
 * Return: the time of all slices of the tenant's jobs, ns, since the tenant has had one; those
 * of jobs that are gone by now count, too. Does not sleep; takes the worker's lock.
 */
u64 hwtimer_tenant_spent(struct hwtimer_tenant *tenant, unsigned int *nr)
{
	u64 spent;

	*nr = tenant->worker->nr;
	raw_spin_lock(&tenant->worker->lock);
	spent = tenant->spent;
	raw_spin_unlock(&tenant->worker->lock);
	return spent;
}

/* Whether a tenant is in the queues by clock, if it has an alarm. */
static bool tenant_rests(const struct hwtimer_tenant *tenant)
{
	return RB_EMPTY_NODE(&tenant->place.node) &&
	       tenant->worker->served != tenant;
}

/*
 * Moves a tenant that rests, and whose first alarm on a clock may be another one now, to its
 * place in the worker's queue of the clock; while the worker sleeps, arms the hrtimer anew.
 */
static void tenant_move(struct hwtimer_tenant *tenant, unsigned int clock)
{
	struct hwtimer_tenant_queue *own = &tenant->queues[clock];
	struct hwtimer_worker_queue *queue = own->common;
	struct timerqueue_node *alarm = timerqueue_getnext(&own->alarms);
	bool first = false;

	lockdep_assert_held(&tenant->worker->lock);
	if (!RB_EMPTY_NODE(&own->node.node)) {
		if (alarm && alarm->expires == own->node.expires)
			return;
		first = timerqueue_getnext(&queue->tenants) == &own->node;
		queue_del(own);
	}
	if (alarm)
		first |= queue_add(own);
	if (first && tenant->worker->sleeping)
		queue_arm(queue);
}

/* Takes a tenant that rests out of the queues by clock. */
static void tenant_withdraw(struct hwtimer_tenant *tenant)
{
	unsigned int clock;

	lockdep_assert_held(&tenant->worker->lock);
	for_each_set_bit(clock, &tenant->clocks, HWTIMER_CLOCKS)
		queue_del(&tenant->queues[clock]);
}

/* Enters a tenant into the ready queue. */
static void tenant_make_ready(struct hwtimer_tenant *tenant)
{
	struct hwtimer_worker *worker = tenant->worker;

	lockdep_assert_held(&worker->lock);
	tenant->place.expires = max(tenant->rank, worker->rank);
	timerqueue_add(&worker->ready, &tenant->place);
}

/* Puts a tenant that the worker has picked where it belongs now. The worker is awake. */
static void tenant_return(struct hwtimer_tenant *tenant)
{
	unsigned int clock;

	lockdep_assert_held(&tenant->worker->lock);
	if (timerqueue_getnext(&tenant->ready)) {
		tenant_make_ready(tenant);
		return;
	}
	for_each_set_bit(clock, &tenant->clocks, HWTIMER_CLOCKS)
		queue_add(&tenant->queues[clock]);
}

/* ---- which alarm comes next ---- */

/* The time on a clock; @now: that on CLOCK_MONOTONIC */
static s64 clock_time(unsigned int clock, u64 now)
{
	return clock == HWTIMER_MONOTONIC ? now : hwtimer_clocks[clock].now();
}

/* The first node of a queue, if it is due at @now. */
static struct timerqueue_node *first_due(struct timerqueue_head *queue, s64 now)
{
	struct timerqueue_node *first = timerqueue_getnext(queue);

	return first && first->expires <= now ? first : NULL;
}

/*
 * Moves tenants with alarms on a clock that are due to the ready queue, HWTIMER_COLLECT at
 * most. If more are due, later calls move them. As long as one is alone, it is in @only
 * instead.
 */
static void queue_collect(struct hwtimer_worker_queue *queue, s64 time,
			  struct hwtimer_tenant **only)
{
	unsigned int left = HWTIMER_COLLECT;
	struct timerqueue_node *node;

	lockdep_assert_held(&queue->worker->lock);
	while (left-- && (node = first_due(&queue->tenants, time))) {
		struct hwtimer_tenant *tenant =
			container_of(node, struct hwtimer_tenant_queue, node)
				->tenant;

		tenant_withdraw(tenant);
		if (!*only && !timerqueue_getnext(&queue->worker->ready)) {
			*only = tenant;
			continue;
		}
		if (*only)
			tenant_make_ready(*only);
		*only = NULL;
		tenant_make_ready(tenant);
	}
}

/* Takes an alarm out of its tenant's queue of a clock. */
static void alarm_del(struct hwtimer_tenant_queue *own,
		      struct hwtimer_alarm *alarm)
{
	if (!timerqueue_del(&own->alarms, &alarm->node))
		own->tenant->clocks &= ~BIT(alarm->clock);
}

/* Enters an alarm into its tenant's ready queue. */
static void alarm_make_ready(struct hwtimer_tenant *tenant,
			     struct hwtimer_alarm *alarm)
{
	lockdep_assert_held(&tenant->worker->lock);
	alarm->ready = true;
	alarm->node.expires = max(alarm->job->rank, tenant->job_rank);
	timerqueue_add(&tenant->ready, &alarm->node);
}

/* The alarm of a node of a tenant's queue */
static struct hwtimer_alarm *alarm_of(struct timerqueue_node *node)
{
	return container_of(node, struct hwtimer_alarm, node);
}

/* As queue_collect(), for the alarms of a tenant. */
static void tenant_collect(struct hwtimer_tenant_queue *own, s64 time,
			   struct hwtimer_alarm **only)
{
	struct hwtimer_tenant *tenant = own->tenant;
	unsigned int left = HWTIMER_COLLECT;
	struct timerqueue_node *node;

	lockdep_assert_held(&tenant->worker->lock);
	while (left-- && (node = first_due(&own->alarms, time))) {
		struct hwtimer_alarm *alarm = alarm_of(node);

		alarm_del(own, alarm);
		if (!*only && !timerqueue_getnext(&tenant->ready)) {
			*only = alarm;
			continue;
		}
		if (*only)
			alarm_make_ready(tenant, *only);
		*only = NULL;
		alarm_make_ready(tenant, alarm);
	}
}

/* Takes the first of a tenant's alarms that are due; returns NULL if none is. */
static struct hwtimer_alarm *tenant_pick(struct hwtimer_tenant *tenant, u64 now)
{
	struct hwtimer_alarm *alarm = NULL;
	struct timerqueue_node *node;
	unsigned int clock;

	for_each_set_bit(clock, &tenant->clocks, HWTIMER_CLOCKS)
		tenant_collect(&tenant->queues[clock], clock_time(clock, now),
			       &alarm);
	if (!alarm) {
		node = timerqueue_getnext(&tenant->ready);
		if (!node)
			return NULL;
		timerqueue_del(&tenant->ready, node);
		alarm = alarm_of(node);
		alarm->ready = false;
	}
	tenant->job_rank = max(tenant->job_rank, alarm->job->rank);
	return alarm;
}

/* Takes the first tenant of the ready queue; returns NULL if there is none. */
static struct hwtimer_tenant *worker_first(struct hwtimer_worker *worker)
{
	struct timerqueue_node *place = timerqueue_getnext(&worker->ready);

	if (!place)
		return NULL;
	timerqueue_del(&worker->ready, place);
	return container_of(place, struct hwtimer_tenant, place);
}

/*
 * Takes the tenant that comes next, after it has collected those that are due at @now, ns on
 * CLOCK_MONOTONIC. Returns NULL if none is due.
 */
static struct hwtimer_tenant *worker_pick(struct hwtimer_worker *worker,
					  u64 now)
{
	struct hwtimer_tenant *only = NULL;
	unsigned int clock;

	lockdep_assert_held(&worker->lock);
	for_each_set_bit(clock, &worker->clocks, HWTIMER_CLOCKS)
		queue_collect(&worker->queues[clock], clock_time(clock, now),
			      &only);
	return only ?: worker_first(worker);
}

/* Puts an alarm into its tenant's queue of its clock, unless it is in one for an earlier time. */
static void alarm_enter(struct hwtimer_tenant *tenant,
			struct hwtimer_alarm *alarm, ktime_t expires)
{
	struct hwtimer_tenant_queue *own = &tenant->queues[alarm->clock];
	struct timerqueue_node *node = &alarm->node;

	lockdep_assert_held(&tenant->worker->lock);
	/* An alarm that is ready already could not come earlier. */
	if (alarm->ready)
		return;
	if (!RB_EMPTY_NODE(&node->node)) {
		if (node->expires <= expires)
			return;
		timerqueue_del(&own->alarms, node);
	}
	node->expires = expires;
	tenant->clocks |= BIT(alarm->clock);
	if (timerqueue_add(&own->alarms, node) && tenant_rests(tenant))
		tenant_move(tenant, alarm->clock);
}

/* Takes an alarm out of its queue. */
static void alarm_forget(struct hwtimer_tenant *tenant,
			 struct hwtimer_alarm *alarm)
{
	lockdep_assert_held(&tenant->worker->lock);
	/* An alarm that was never kicked may have no valid @clock yet. */
	if (RB_EMPTY_NODE(&alarm->node.node))
		return;
	if (alarm->ready) {
		timerqueue_del(&tenant->ready, &alarm->node);
		alarm->ready = false;
		return;
	}
	alarm_del(&tenant->queues[alarm->clock], alarm);
	if (tenant_rests(tenant))
		tenant_move(tenant, alarm->clock);
}

/* ---- the thread ---- */

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
		queue_arm(&worker->queues[clock]);
}

static void worker_wakes_up(struct hwtimer_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	worker->sleeping = false;
	worker->wakeups++;
	worker->slice_start = ktime_get_ns();
}

/*
 * Has the hrtimers wake the thread for the next alarm, and sleeps. Releases the lock
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

/* Charges a job and its tenant for the slice that has ended; the next one begins. */
static void worker_count_slice(struct hwtimer_worker *worker,
			       struct hwtimer_job *job)
{
	struct hwtimer_tenant *tenant = job->tenant;
	u64 now = ktime_get_ns();
	u64 time = now - worker->slice_start;
	u64 charge = clamp_t(u64, time, HWTIMER_CHARGE_MIN, HWTIMER_CHARGE_MAX);

	lockdep_assert_held(&worker->lock);
	worker->slice_start = now;
	job->spent += time;
	tenant->spent += time;
	job->rank = max(job->rank, tenant->job_rank) + charge;
	tenant->rank = max(tenant->rank, worker->rank) + charge;
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

	worker_count_slice(worker, job);
	worker->running = NULL;
	worker->served = NULL;
	tenant_return(job->tenant);
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

	worker->served = job->tenant;
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
 * Returns a tenant that has nothing due: its alarms were forgotten, or the clock was set back.
 * Then releases the lock and takes it again, because many such tenants may follow each other.
 */
static void worker_skip(struct hwtimer_worker *worker,
			struct hwtimer_tenant *tenant)
	__must_hold(&worker->lock)
{
	tenant_return(tenant);
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
	struct hwtimer_alarm *alarm = tenant_pick(tenant, worker->slice_start);

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

		tenant = worker_pick(worker, worker->slice_start);
		if (tenant)
			worker_serve_tenant(worker, tenant);
		else
			goes_on = worker_sleep(worker);
	}
	raw_spin_unlock(&worker->lock);
	return 0;
}

/* ---- jobs ---- */

/**
 * hwtimer_worker_tenant - the tenant of a job
 * @job: the job
 *
 * Return: the tenant, which stays the job's; NULL: none yet. Any context.
 */
struct hwtimer_tenant *hwtimer_worker_tenant(const struct hwtimer_job *job)
{
	/* Pairs with the smp_store_release() in hwtimer_worker_attach(). */
	return smp_load_acquire(&job->tenant);
}

/* The worker of a job; NULL: none yet. */
static struct hwtimer_worker *job_worker(const struct hwtimer_job *job)
{
	struct hwtimer_tenant *tenant = hwtimer_worker_tenant(job);

	return likely(tenant) ? tenant->worker : NULL;
}

/**
 * hwtimer_worker_kick - have the worker serve an alarm at a given time
 * @alarm: the alarm; its job was attached
 * @time: ns on the alarm's clock, plus the alarm's offset; a time beyond the range of
 *	that clock never comes
 *
 * Nothing happens if the alarm has an earlier time already, or if the job is detached. A
 * caller that computes @time from the state of an instance holds that instance's lock.
 * Any context but an interrupt; does not sleep; takes the worker's lock.
 */
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time)
{
	struct hwtimer_tenant *tenant = hwtimer_worker_tenant(alarm->job);
	ktime_t expires = hwtimer_clock_host_time(time, alarm->offset);

	if (WARN_ON_ONCE(!tenant))
		return;
	raw_spin_lock(&tenant->worker->lock);
	if (!alarm->job->detached)
		alarm_enter(tenant, alarm, expires);
	raw_spin_unlock(&tenant->worker->lock);
}

/* Takes both alarms of a job out of the queues. */
static void job_forget(struct hwtimer_job *job)
{
	alarm_forget(job->tenant, &job->turns);
	alarm_forget(job->tenant, &job->chores);
}

/**
 * hwtimer_worker_forget - take the alarms of a job out of the worker's queues
 * @job: the job, which may have no worker yet
 *
 * The worker serves the alarms again only after another hwtimer_worker_kick(). A slice
 * that is running goes on; the function does not wait for it. Does not sleep; takes the
 * worker's lock.
 */
void hwtimer_worker_forget(struct hwtimer_job *job)
{
	struct hwtimer_worker *worker = job_worker(job);

	if (!worker)
		return;
	raw_spin_lock(&worker->lock);
	job_forget(job);
	raw_spin_unlock(&worker->lock);
}

/* Reads one of the numbers that the worker keeps for a job. */
static u64 job_read(const struct hwtimer_job *job, const u64 *number)
{
	struct hwtimer_worker *worker = job_worker(job);
	u64 value;

	if (!worker)
		return 0;
	raw_spin_lock(&worker->lock);
	value = *number;
	raw_spin_unlock(&worker->lock);
	return value;
}

/**
 * hwtimer_worker_wakeups - number of wake-ups after which a worker served a job
 * @job: the job, which may have no worker yet
 *
 * Return: the number, without wake-ups after which the worker served only other jobs.
 * Does not sleep; takes the worker's lock.
 */
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job)
{
	return job_read(job, &job->wakeups);
}

/**
 * hwtimer_worker_spent - the time that a worker has spent for a job
 * @job: the job, which may have no worker yet
 *
 * Return: the time from the beginning to the end of each of its slices, ns; that includes
 * time for which the thread had to wait for a processor. Does not sleep; takes the
 * worker's lock.
 */
u64 hwtimer_worker_spent(const struct hwtimer_job *job)
{
	return job_read(job, &job->spent);
}

/**
 * hwtimer_worker_pid - the thread of a job's worker
 * @job: the job
 * @namespace: a pid namespace
 *
 * Return: the pid of the thread in that namespace; 0: the job has no worker yet, or its thread
 * has no pid there. Does not sleep.
 */
pid_t hwtimer_worker_pid(const struct hwtimer_job *job,
			 struct pid_namespace *namespace)
{
	struct hwtimer_worker *worker = job_worker(job);

	return worker ? task_pid_nr_ns(worker->task, namespace) : 0;
}

static void job_alarm_init(struct hwtimer_alarm *alarm, struct hwtimer_job *job,
			   hwtimer_serve_fn *serve)
{
	timerqueue_init(&alarm->node);
	alarm->job = job;
	alarm->serve = serve;
	alarm->clock = HWTIMER_MONOTONIC;
}

/**
 * hwtimer_job_init - prepare a job
 * @job: the job; zeroed
 * @turn: function that serves the alarm @job->turns
 * @chores: function that serves the alarm @job->chores; NULL: it is never kicked
 *
 * The job has no worker yet. Any context.
 */
void hwtimer_job_init(struct hwtimer_job *job, hwtimer_serve_fn *turn,
		      hwtimer_serve_fn *chores)
{
	job_alarm_init(&job->turns, job, turn);
	job_alarm_init(&job->chores, job, chores);
	/* No wake-up has this number, so the job's first wake-up counts. */
	job->served_at = U64_MAX;
}

/**
 * hwtimer_worker_attach - give a job to a tenant, and so to its worker
 * @job: the job, which has no tenant
 * @tenant: the tenant; the caller's reference passes to the job, whose owner gives it up by
 *	hwtimer_tenant_put() when nobody uses the job any more
 *
 * The worker does not serve a job before one of the job's alarms is kicked. No other thread
 * attaches the job. Any context.
 */
void hwtimer_worker_attach(struct hwtimer_job *job,
			   struct hwtimer_tenant *tenant)
{
	/* Pairs with the smp_load_acquire() in hwtimer_worker_tenant(). */
	smp_store_release(&job->tenant, tenant);
}

/**
 * hwtimer_worker_leave - take a job away from its worker, without waiting
 * @job: the job, which may have no worker, and may be detached already
 * @left: called when the worker does not touch the job any more, unless it does not now
 *
 * Return: whether the worker is serving the job, and will call @left when that slice is
 * finished. If not, @left is not called. Does not sleep; takes the worker's lock.
 */
bool hwtimer_worker_leave(struct hwtimer_job *job, hwtimer_left_fn *left)
{
	struct hwtimer_worker *worker = job_worker(job);
	bool running;

	if (!worker)
		return false;
	raw_spin_lock(&worker->lock);
	job->detached = true;
	job_forget(job);
	running = worker->running == job;
	if (running)
		job->left = left;
	raw_spin_unlock(&worker->lock);
	return running;
}

/* ---- workers ---- */

static void queue_init(struct hwtimer_worker_queue *queue,
		       struct hwtimer_worker *worker, unsigned int clock)
{
	queue->bit = BIT(clock);
	queue->worker = worker;
	timerqueue_init_head(&queue->tenants);
	hrtimer_setup(&queue->timer, queue_timer_fn, hwtimer_clocks[clock].id,
		      HRTIMER_MODE_ABS_HARD);
}

static void worker_init(struct hwtimer_worker *worker, unsigned int nr)
{
	unsigned int clock;

	worker->nr = nr;
	raw_spin_lock_init(&worker->lock);
	worker->tenants = RB_ROOT;
	timerqueue_init_head(&worker->ready);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		queue_init(&worker->queues[clock], worker, clock);
}

/*
 * Not sched_set_fifo(), which is for drivers: they cannot know the machine's other
 * real-time threads. The administrator knows them, and ranks the worker among them by a
 * module parameter. chrt can change the priority later.
 */
static int task_set_priority(struct task_struct *task, unsigned int priority)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = priority,
	};

	return priority ? sched_setattr_nocheck(task, &attr) : 0;
}

/**
 * hwtimer_worker_create - create a worker without tenants
 * @nr: number of the worker, for the name of its thread
 * @priority: priority of the thread under SCHED_FIFO; 0: an ordinary thread
 *
 * The thread belongs to no user, is in no cgroup of a program, and its memory is charged to
 * nobody. It prefers no node: since 6.14 kthreads that do are reset to its processors when
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
	worker_init(worker, nr);
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
