// SPDX-License-Identifier: GPL-2.0
/*
 * Describes timers to programs; see hwtimer_query.h.
 *
 * LIST goes through the table of records. A timer has the same record from SCHEDULE to
 * its end, wherever it is meanwhile: in the wheel, or in the ring of events. So LIST finds each
 * timer once, and its cursor is an index. Nothing needs to be remembered between two calls.
 */
#include <linux/nospec.h>

#include "hwtimer.h"
#include "hwtimer_copy.h"
#include "hwtimer_period.h"
#include "hwtimer_query.h"

/* The state of a timer as programs see it; 0 if the record is no timer's. */
static u32 shown_state(const struct hwtimer_record *record)
{
	switch (record->state) {
	case HWTIMER_PENDING:
		return HWTIMER_STATE_PENDING;
	case HWTIMER_EXPIRED:
		return HWTIMER_STATE_EXPIRED;
	default:
		return 0;
	}
}

static void query_fill(const struct hwtimer_instance *instance,
		       struct hwtimer_query *query,
		       const struct hwtimer_record *record)
{
	struct hwtimer_unprocessed timer;

	hwtimer_period_describe(instance, lower_32_bits(query->id),
				hwtimer_instance_now(instance), &timer);
	*query = (struct hwtimer_query){
		.id = timer.id,
		.user_data = timer.user_data,
		.deadline = timer.deadline,
		.remaining = timer.remaining,
		.interval = timer.interval,
		.slack = timer.slack,
		.state = shown_state(record),
		.count = timer.count,
		.flags = timer.flags,
	};
}

/*
 * If the clock was set back, a timer that was overdue when it was scheduled may expire before
 * the tick under which it is filed. So the wheel has to go back first. The worker does that.
 */
static void query_follow(struct hwtimer_instance *instance, u64 now)
{
	if (likely(!instance->wheel.rewinds))
		return;
	hwtimer_wakeup_follow(instance, now);
	hwtimer_wakeup_rearm(instance);
}

/*
 * Describes the next event instead of a timer; see struct hwtimer_query. Returns 0 or
 * -ENOENT.
 */
static int query_next(struct hwtimer_instance *instance,
		      struct hwtimer_query *query)
{
	u64 now = hwtimer_instance_now(instance);

	lockdep_assert_held(&instance->lock);
	query_follow(instance, now);
	*query = (struct hwtimer_query){ .state = HWTIMER_STATE_EXPIRED,
					 .deadline = now };
	if (instance->events.unread)
		return 0;
	if (!instance->stats.pending)
		return -ENOENT;
	query->state = HWTIMER_STATE_PENDING;
	query->deadline = hwtimer_wakeup_earliest(instance);
	query->remaining = query->deadline - min(query->deadline, now);
	return 0;
}

/**
 * hwtimer_query_timer - HWTIMER_IOC_QUERY: describe one timer
 * @instance: the instance; its lock is not held
 * @query: in: the id, or 0: the next event; out: all other members, unless there is an error
 *
 * Return: 0; -ENOENT: no such timer, or nothing comes. Does not sleep; takes the instance's lock.
 */
int hwtimer_query_timer(struct hwtimer_instance *instance,
			struct hwtimer_query *query)
{
	const struct hwtimer_record *record;
	int err = -ENOENT;

	spin_lock(&instance->lock);
	if (!query->id) {
		err = query_next(instance, query);
		spin_unlock(&instance->lock);
		return err;
	}
	record = hwtimer_table_find(&instance->table, query->id);
	if (record) {
		query_fill(instance, query, record);
		err = 0;
	}
	spin_unlock(&instance->lock);
	return err;
}

/* The number of expirations that the event of a timer would report if it was read now. */
static u32 listed_expirations(const struct hwtimer_instance *instance,
			      const struct hwtimer_record *record, u32 state,
			      u64 now)
{
	if (state != HWTIMER_STATE_EXPIRED)
		return 0;
	if (likely(!hwtimer_record_periodic(record)))
		return 1;
	return hwtimer_period_expirations(instance, record, now);
}

static void listed_fill(const struct hwtimer_instance *instance,
			struct hwtimer_listed *listed, u32 index, u32 state,
			u64 now)
{
	const struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);
	struct hwtimer_unprocessed timer;

	hwtimer_period_describe(instance, index, now, &timer);
	*listed = (struct hwtimer_listed){
		.id = timer.id,
		.user_data = timer.user_data,
		.deadline = timer.deadline,
		.remaining = timer.remaining,
		.interval = timer.interval,
		.slack = timer.slack,
		.count = timer.count,
		.flags = timer.flags,
		.state = state,
		.expirations = listed_expirations(instance, record, state, now),
	};
}

/*
 * Lists the next timers, in one hold of the lock: checks HWTIMER_HOLD records at most. Adds
 * the number of timers to *@done. Returns 1 if there may be more, 0 if there is none, or
 * -EFAULT where the copy to user memory stops.
 */
static int list_some(const struct hwtimer_instance *instance,
		     struct hwtimer_list *list, u32 *done)
{
	struct hwtimer_listed __user *to = u64_to_user_ptr(list->timers);
	u64 table_end = hwtimer_table_end(&instance->table);
	u64 now = hwtimer_instance_now(instance);
	struct hwtimer_listed timer;
	u64 end;

	lockdep_assert_held(&instance->lock);
	if (list->cursor >= table_end)
		return 0;
	list->cursor = array_index_nospec(list->cursor, table_end);
	end = min(list->cursor + HWTIMER_HOLD, table_end);
	for (; list->cursor < end && *done < list->count; list->cursor++) {
		const struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, list->cursor);
		u32 state = shown_state(record);

		if (!state)
			continue;
		listed_fill(instance, &timer, list->cursor, state, now);
		if (copy_to_user_nofault(&to[*done], &timer, sizeof(timer)))
			return -EFAULT;
		++*done;
	}
	return list->cursor < table_end && *done < list->count;
}

/**
 * hwtimer_query_list - HWTIMER_IOC_LIST: list timers, and take none
 * @instance: the instance; its lock is not held
 * @list: argument of the ioctl; its size, flags and count are valid, the rest is
 *	unchecked. Out, also after an error: the cursor
 *
 * Return: the number of timers written to user space; 0: the end. If none was written,
 * also -EFAULT or -EINTR. Takes the lock; may sleep.
 */
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list)
{
	struct hwtimer_listed __user *to = u64_to_user_ptr(list->timers);
	unsigned int tries = 0;
	u32 done = 0, before;
	int ret;

	do {
		before = done;
		spin_lock(&instance->lock);
		ret = list_some(instance, list, &done);
		spin_unlock(&instance->lock);
		if (done != before)
			tries = 0;
		if (ret == -EFAULT)
			ret = hwtimer_copy_fault_in(&to[done], sizeof(*to), &tries) ?:
				      1;
		else if (ret && signal_pending(current))
			ret = -EINTR;
		cond_resched();
	} while (ret > 0);
	return done ? (long)done : ret;
}
