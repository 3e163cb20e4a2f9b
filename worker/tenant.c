// SPDX-License-Identifier: GPL-2.0
/*
 * Shares a worker among its tenants: which alarm comes next; see worker/worker.h.
 *
 * All programs share the workers, so a worker is fair on two levels: it goes round by
 * tenant, that is, by the user and the cgroup of the process that started the instance, and
 * then by the jobs of the tenant. Serving an alarm takes one slice, which events/turn.c
 * bounds. An instance that has more to do kicks its alarm for the present time.
 *
 * A tenant keeps the alarms of its jobs in timerqueues, one for each clock. The worker has
 * one queue of tenants for each clock, by the tenants' first alarms. Tenants that have an
 * alarm that is due move to one more queue, the ready queue, where they stand in the order
 * of their ranks. The worker picks the first of them. Only then it finds which of the
 * tenant's alarms are due, so a burst of alarms of one tenant costs other tenants nothing.
 * Among these alarms, it serves that of the job with the lowest rank.
 *
 * A rank grows by the time that the slices take. So tenants, and the jobs of a tenant, share
 * the worker by time, not by turns. A tenant that was not due for a while gets no credit for
 * that: its rank is raised to that of the tenant which was picked last. That is still the
 * lowest rank of all, or nearly, so a tenant that is rarely due is served at once. The same
 * holds for a job among those of its tenant. This is how virtual time works in fair
 * schedulers of processors.
 *
 * A tenant that goes takes its rank with it. So a new one begins with a higher rank than the
 * tenant which was picked last. Otherwise tenants that come for a slice, and go, would be served
 * before one that waits, for as long as they come.
 *
 * A tenant is in one of three places: in the ready queue; being served; or it rests, and
 * then it is in the worker's queue of each clock on which it has an alarm.
 *
 * An alarm goes into and out of the queues in O(log n). All tenants are in a tree, by their
 * users and cgroups. So finding one takes O(log n), too, however many cgroups a user has.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "alloc.h"
#include "worker/tenant.h"

/* Maximum number of due tenants, or of a tenant's due alarms, that move at a time */
#define HWTIMER_COLLECT 16

/*
 * By how much a slice makes ranks grow, ns: by the time that it took, within these bounds. A
 * slice that did next to nothing has cost a lookup. One that took longer than the highest
 * was held up by the machine, for which its tenant need not wait.
 */
#define HWTIMER_CHARGE_MIN NSEC_PER_USEC
#define HWTIMER_CHARGE_MAX (10 * NSEC_PER_MSEC)

/*
 * By how much the rank of a new tenant is above that of the one which was picked last, ns: by
 * what a slice takes in which as many timers expire as may.
 */
#define HWTIMER_CHARGE_NEW (40 * NSEC_PER_USEC)

/* ---- who the tenants are ---- */

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
		/* It may have been due with an alarm of a job that was taken away then. */
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
 *
 * Return: the time of all slices of the tenant's jobs, ns, since the tenant has had one; those
 * of jobs that are gone by now count, too. Does not sleep; takes the worker's lock.
 */
u64 hwtimer_tenant_spent(const struct hwtimer_tenant *tenant)
{
	u64 spent;

	raw_spin_lock(&tenant->worker->lock);
	spent = tenant->spent;
	raw_spin_unlock(&tenant->worker->lock);
	return spent;
}

/* ---- where a tenant is ---- */

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

/* Whether a tenant is in the queues by clock, if it has an alarm. */
static bool tenant_rests(const struct hwtimer_tenant *tenant)
{
	const struct hwtimer_job *running = tenant->worker->running;

	return RB_EMPTY_NODE(&tenant->place.node) &&
	       !(running && running->tenant == tenant);
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
		hwtimer_worker_arm(queue);
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
	tenant->rank = tenant->rank ?: worker->rank + HWTIMER_CHARGE_NEW;
	tenant->place.expires = max(tenant->rank, worker->rank);
	timerqueue_add(&worker->ready, &tenant->place);
}

/* Puts a tenant that the worker has picked where it belongs now. The worker is awake. */
void hwtimer_tenant_return(struct hwtimer_tenant *tenant)
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
 * most. If more are due, later calls move them.
 */
static void queue_collect(struct hwtimer_worker_queue *queue, s64 time)
{
	unsigned int left = HWTIMER_COLLECT;
	struct timerqueue_node *node;

	lockdep_assert_held(&queue->worker->lock);
	while (left-- && (node = first_due(&queue->tenants, time))) {
		struct hwtimer_tenant *tenant =
			container_of(node, struct hwtimer_tenant_queue, node)
				->tenant;

		tenant_withdraw(tenant);
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
	struct hwtimer_job *job = alarm->job;

	lockdep_assert_held(&tenant->worker->lock);
	alarm->ready = true;
	job->rank = job->rank ?: tenant->job_rank + HWTIMER_CHARGE_NEW;
	alarm->node.expires = max(job->rank, tenant->job_rank);
	timerqueue_add(&tenant->ready, &alarm->node);
}

/* The alarm of a node of a tenant's queue */
static struct hwtimer_alarm *alarm_of(struct timerqueue_node *node)
{
	return container_of(node, struct hwtimer_alarm, node);
}

/* As queue_collect(), for the alarms of a tenant. */
static void tenant_collect(struct hwtimer_tenant_queue *own, s64 time)
{
	struct hwtimer_tenant *tenant = own->tenant;
	unsigned int left = HWTIMER_COLLECT;
	struct timerqueue_node *node;

	lockdep_assert_held(&tenant->worker->lock);
	while (left-- && (node = first_due(&own->alarms, time))) {
		struct hwtimer_alarm *alarm = alarm_of(node);

		alarm_del(own, alarm);
		alarm_make_ready(tenant, alarm);
	}
}

/* Takes the first of a tenant's alarms that are due; returns NULL if none is. */
struct hwtimer_alarm *hwtimer_tenant_pick(struct hwtimer_tenant *tenant,
					  u64 now)
{
	struct hwtimer_alarm *alarm;
	struct timerqueue_node *node;
	unsigned int clock;

	for_each_set_bit(clock, &tenant->clocks, HWTIMER_CLOCKS)
		tenant_collect(&tenant->queues[clock], clock_time(clock, now));
	node = timerqueue_getnext(&tenant->ready);
	if (!node)
		return NULL;
	timerqueue_del(&tenant->ready, node);
	alarm = alarm_of(node);
	alarm->ready = false;
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
struct hwtimer_tenant *hwtimer_tenant_next(struct hwtimer_worker *worker,
					   u64 now)
{
	unsigned int clock;

	lockdep_assert_held(&worker->lock);
	for_each_set_bit(clock, &worker->clocks, HWTIMER_CLOCKS)
		queue_collect(&worker->queues[clock], clock_time(clock, now));
	return worker_first(worker);
}

/* Puts an alarm into its tenant's queue of its clock, unless it is in one for an earlier time. */
void hwtimer_tenant_enter(struct hwtimer_tenant *tenant,
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
void hwtimer_tenant_forget(struct hwtimer_tenant *tenant,
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

/* Charges a job and its tenant for the slice that has ended; the next one begins. */
void hwtimer_tenant_charge(struct hwtimer_worker *worker,
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
