// SPDX-License-Identifier: GPL-2.0
/*
 * Looks into the module when no thread can run: nobody may sleep then who has something to
 * do, unless somebody will come at a known time. Nothing else of the simulation knows the
 * module's structures.
 */
#include <linux/fs.h>
#include <linux/kernel.h>

#include "hwtimer.h"
#include "show/show.h"
#include "instance/instance.h"

#include "inspect.h"
#include "process.h"

bool sim_traced;

static bool queued(const struct hwtimer_alarm *alarm)
{
	return !RB_EMPTY_NODE(&alarm->node.node);
}

/**
 * sim_inspect_waiter - check whether somebody sleeps for a reason
 * @file: the file that the call is for
 * @how: the call, for the report
 * @events: what poll() was asked for; EPOLLEXCLUSIVE: somebody else may have been woken, and
 *	not wait now. All those read events at once. So if some are left, and the worker does
 *	not come, this one should have been woken, too
 */
void sim_inspect_waiter(struct file *file, const char *how, unsigned int events)
{
	struct hwtimer_instance *instance = file->private_data;
	__poll_t mask;

	if (events & EPOLLEXCLUSIVE &&
	    (!instance->events.parked || !sim_run.calm || sim_ending() ||
	     hwtimer_instance_stopped(instance)))
		return;
	mask = hwtimer_notice_mask(instance);
	if (!strcmp(how, "read()"))
		mask = hwtimer_notice_readable(instance) ? EPOLLIN : 0;
	if (mask & events)
		sim_fail(
			"a thread sleeps in %s, but instance %llu is ready, %#x: %u events, %u wanted, %u read, limit %u, overdue %d, stopped %d",
			how, instance->nr, mask, instance->events.unread,
			instance->notice.events, instance->events.read,
			instance->settings.timers, instance->notice.overdue,
			hwtimer_instance_stopped(instance));
}

/**
 * struct hold - what an instance looked like when its lock was released last
 * @stats: its counters
 * @walked: number of entries of its wheel that were visited
 * @head: number of the oldest entry of its ring of events
 * @ahead: number of timers that the worker has let expire since any event was taken or dropped
 */
struct hold {
	struct hwtimer_stats stats;
	u64 walked;
	u32 head;
	u64 ahead;
};

#define INSTANCES 256

/* Checks how many timers one hold of the lock has handled in each way. */
static void look_at_work(const struct hwtimer_instance *instance,
			 const struct hold *hold)
{
	const struct hwtimer_stats *before = &hold->stats;
	const struct hwtimer_stats *now = &instance->stats;
	/* A RESCHEDULE that makes another timer counts as a SCHEDULE, too. */
	u64 requests = max(now->scheduled - before->scheduled,
			   now->rescheduled - before->rescheduled) +
		       now->cancelled - before->cancelled;

	if (requests > HWTIMER_HOLD ||
	    now->expired - before->expired > HWTIMER_HOLD ||
	    now->delivered - before->delivered > HWTIMER_HOLD ||
	    now->discarded - before->discarded > HWTIMER_HOLD ||
	    instance->wheel.stats.walked - hold->walked > HWTIMER_HOLD)
		sim_fail(
			"one hold of the lock of instance %llu has handled more than %u timers",
			instance->nr, HWTIMER_HOLD);
}

/* Checks that the events are within their bound, and that the counters of them agree. */
static void look_at_events(const struct hwtimer_instance *instance)
{
	const struct hwtimer_events *events = &instance->events;
	u32 used = events->tail - events->head;
	u32 read = events->next - events->head;

	if (!events->ring)
		return;
	if (used > events->mask + 1 || read > used ||
	    events->unread > used - read || events->read > read ||
	    instance->stats.ready > used || (!events->unread && read < used) ||
	    (!events->read && read))
		sim_fail(
			"instance %llu has %llu events, %u unread and %u read, in %u and %u entries of %u",
			instance->nr, instance->stats.ready, events->unread,
			events->read, used - read, read, events->mask + 1);
	if (!hwtimer_instance_extended(instance) && hwtimer_events_full(events))
		sim_fail("the ring of instance %llu is full, and did not grow",
			 instance->nr);
}

/* Checks that the worker has not run ahead of the program. */
static void look_at_worker(const struct hwtimer_instance *instance,
			   struct hold *hold)
{
	const struct hwtimer_stats *before = &hold->stats;
	const struct hwtimer_stats *now = &instance->stats;

	if (now->delivered != before->delivered ||
	    now->discarded != before->discarded ||
	    instance->events.head != hold->head)
		hold->ahead = 0;
	if (current->flags & PF_KTHREAD)
		hold->ahead += now->expired - before->expired;
	if (hold->ahead && hold->ahead > instance->events.mask + 1)
		sim_fail(
			"the worker has let %llu timers of instance %llu expire, and nobody took any of %u events",
			hold->ahead, instance->nr, instance->events.mask + 1);
}

/* Checks that a table counts until it is freed. Only the worker looks, as it frees it. */
static void look_at_outgrown(const struct hwtimer_instance *instance)
{
	const struct hwtimer_shrink *shrink = &instance->shrink;

	if (!(current->flags & PF_KTHREAD) ||
	    !hwtimer_table_end(&shrink->outgrown))
		return;
	if (shrink->outgrown_bytes < hwtimer_table_bytes(&shrink->outgrown))
		sim_fail(
			"instance %llu has %llu bytes to free, and counts %llu of them",
			instance->nr, hwtimer_table_bytes(&shrink->outgrown),
			shrink->outgrown_bytes);
}

/* Called by the holder of an instance's lock, who is about to release it. */
static void look(struct spinlock *lock)
{
	static struct hold holds[INSTANCES];
	struct hwtimer_instance *instance =
		container_of(lock, struct hwtimer_instance, lock);
	struct hold *hold = &holds[instance->nr % INSTANCES];

	look_at_work(instance, hold);
	look_at_events(instance);
	look_at_worker(instance, hold);
	look_at_outgrown(instance);
	hold->stats = instance->stats;
	hold->head = instance->events.head;
	hold->walked = instance->wheel.stats.walked;
}

/**
 * sim_inspect_open - look at an instance from now on whenever its lock is released
 * @file: its file, which was just opened
 */
void sim_inspect_open(struct file *file)
{
	struct hwtimer_instance *instance = file->private_data;

	instance->lock.released = look;
}

/*
 * Whether the worker comes for an alarm: an hrtimer wakes it then, or before. Another worker's
 * hrtimer may be mistaken for it. A worker does not sleep while an alarm is ready.
 */
static bool comes(const struct hwtimer_alarm *alarm)
{
	return queued(alarm) && !alarm->ready &&
	       sim_clock_armed(hwtimer_clocks[alarm->clock].id,
			       alarm->node.expires);
}

/**
 * sim_inspect_alarm - check whether the worker comes in time for the earliest timer
 * @file: the file of the instance
 *
 * No thread runs. The alarm may be early, and if it is due, the hrtimer is late. Chores within
 * a tick do, too: they look after timers that were overdue when the clock was set.
 */
void sim_inspect_alarm(struct file *file)
{
	struct hwtimer_instance *instance = file->private_data;
	const struct hwtimer_alarm *turns = &instance->job.turns;
	const struct hwtimer_alarm *chores = &instance->job.chores;
	u64 time, soon;

	if (instance->life != HWTIMER_STARTED || !instance->stats.pending)
		return;
	/* Readers are to come first, or an ACK. */
	if (instance->events.parked) {
		if (hwtimer_notice_enough(instance) ||
		    hwtimer_events_full(&instance->events))
			return;
		sim_fail(
			"nobody turns the wheel of instance %llu: %u events, %u wanted",
			instance->nr, instance->events.unread,
			instance->notice.events);
	}
	time = hwtimer_clock_host_time(
		hwtimer_wheel_time_of(&instance->wheel,
				      hwtimer_wheel_next(&instance->wheel)),
		turns->offset);
	if (time == KTIME_MAX)
		return;
	if (comes(turns) &&
	    (turns->node.expires <= (s64)time ||
	     turns->node.expires <=
		     (s64)sim_now(hwtimer_clocks[turns->clock].id)))
		return;
	soon = sim_now(CLOCK_MONOTONIC) + 2 * instance->wheel.shape.tick;
	if (comes(chores) && chores->node.expires <= (s64)soon)
		return;
	sim_fail(
		"the wheel of instance %llu has to turn at %llu, but the worker comes at %lld; it is %llu",
		instance->nr, time,
		queued(turns) ? (long long)turns->node.expires : -1ll,
		(u64)sim_now(hwtimer_clocks[turns->clock].id));
}

/**
 * sim_inspect_idle - check whether somebody sees to it that an idle instance gets small
 * @file: the file of the instance
 */
void sim_inspect_idle(struct file *file)
{
	struct hwtimer_instance *instance = file->private_data;
	bool idle = !instance->table.used &&
		    instance->events.head == instance->events.tail;

	if (hwtimer_instance_new(instance))
		return;
	if (idle && instance->shrink.large)
		sim_fail("nobody watches instance %llu, which is idle",
			 instance->nr);
	if (instance->shrink.at != HWTIMER_TICK_NONE &&
	    !comes(&instance->job.chores))
		sim_fail("the worker does not come to shrink instance %llu",
			 instance->nr);
}

/*
 * Whether some of a table that the instance has given up is freed, and some is not. Only the worker
 * looks at that, so real threads must not.
 */
bool sim_inspect_frees(struct file *file)
{
#ifdef SIM_FREE
	return false;
#else
	struct hwtimer_instance *instance = file->private_data;

	return instance->shrink.outgrown.lowest;
#endif
}

/**
 * sim_inspect_events - check what is in the ring of events
 * @file: the file of the instance
 */
void sim_inspect_events(struct file *file)
{
	const struct hwtimer_instance *instance = file->private_data;
	const struct hwtimer_events *events = &instance->events;
	u32 nr, ready = 0, unread = 0, read = 0;

	if (!events->ring)
		return;
	for (nr = events->head; nr != events->tail; nr++) {
		u64 id = *hwtimer_events_id(events, nr);
		bool live = id && hwtimer_table_expired(&instance->table, id);

		ready += live;
		if ((s32)(nr - events->next) >= 0)
			unread += live;
		else
			read += !!id;
	}
	if (ready != instance->stats.ready || unread != events->unread ||
	    read != events->read)
		sim_fail(
			"instance %llu says %llu events, %u unread, %u read, and has %u, %u, %u",
			instance->nr, instance->stats.ready, events->unread,
			events->read, ready, unread, read);
}

/* The latest time at which the worker turns the wheel; KTIME_MAX: never */
static ktime_t turn_time(struct hwtimer_instance *instance)
{
	struct hwtimer_alarm *turns = &instance->job.turns;

	if (!queued(turns))
		return KTIME_MAX;
	return turns->ready ? 0 : turns->node.expires;
}

/* The latest time at which a pending timer may expire, ns on the instance's clock */
static u64 latest_expiry(const struct hwtimer_instance *instance,
			 const struct hwtimer_record *record)
{
	u64 tick = instance->wheel.shape.tick;
	u64 grace = ((1ULL << record->align) + 1) * tick;

	return record->deadline > KTIME_MAX / 2 ? KTIME_MAX :
						  record->deadline + grace;
}

/**
 * sim_inspect_deadlines - check whether the worker comes in time for each single timer
 * @file: the file of the instance
 *
 * If the clock is set, the wheel may stand ahead of it. Then it says nothing of when its timers
 * are due, but their records do.
 */
void sim_inspect_deadlines(struct file *file)
{
	struct hwtimer_instance *instance = file->private_data;
	struct hwtimer_alarm *chores = &instance->job.chores;
	u64 grace = 2 * instance->wheel.shape.tick;
	struct hwtimer_record *record;
	ktime_t turn = turn_time(instance);
	u64 cursor = 0, now;

	if (!instance->wheel.rewinds || !sim_clock_was_set() ||
	    instance->life != HWTIMER_STARTED || instance->events.parked)
		return;
	if (queued(chores) &&
	    (chores->ready ||
	     chores->node.expires <= (s64)(sim_now(CLOCK_MONOTONIC) + grace)))
		return;
	now = sim_now(instance->settings.clock->id) + grace;
	while ((record = hwtimer_table_next(&instance->table, &cursor,
					    U32_MAX))) {
		u64 latest = max(latest_expiry(instance, record), now);

		if (record->state == HWTIMER_PENDING && latest < KTIME_MAX &&
		    turn > (s64)latest)
			sim_fail(
				"a timer of instance %llu is for %llu, but the worker comes at %lld",
				instance->nr, record->deadline, turn);
		cursor++;
	}
}

/* Goes through the instances, as the file of debugfs does while they come and go. */
void sim_inspect_instances(void)
{
	struct hwtimer_instance *instance;
	struct hwtimer_tenant *tenant;
	struct hwtimer_stats stats;
	u64 last = 0, spent;

	while ((instance = hwtimer_registry_get(last + 1))) {
		if (instance->nr <= last)
			sim_fail("instance %llu comes after %llu", instance->nr,
				 (unsigned long long)last);
		last = instance->nr;
		hwtimer_stats_get(instance, &stats);
		spent = hwtimer_worker_spent(&instance->job);
		tenant = hwtimer_worker_tenant(&instance->job);
		if (tenant && hwtimer_tenant_spent(tenant) < spent)
			sim_fail("instance %llu has spent more than its tenant",
				 instance->nr);
		hwtimer_registry_put(instance);
	}
}
