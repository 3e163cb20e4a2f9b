// SPDX-License-Identifier: GPL-2.0
/*
 * Describes timers to programs; see hwtimer_query.h.
 *
 * LIST goes through the table of records. A timer has the same record from SCHEDULE to
 * its end, wherever it is meanwhile: in the wheel, or in the queue of events. So LIST finds each
 * timer once, and its cursor is an index. Nothing needs to be remembered between two calls.
 *
 * Like read(), LIST copies to user space without the lock. It holds no mutex, either: a
 * reader whose buffer is never paged in must not keep LIST waiting. So LIST meets records
 * whose events are just being read. Their timers are listed, because the read may fail.
 */
#include <linux/bitmap.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "hwtimer_harvest.h"
#include "hwtimer_memory.h"
#include "hwtimer_period.h"
#include "hwtimer_query.h"

/* The state of a timer as programs see it; 0 if the record has none that they know of. */
static u32 shown_state(const struct hwtimer_record *record)
{
	switch (record->state) {
	case HWTIMER_PENDING:
	case HWTIMER_RETURNING:
		return HWTIMER_STATE_PENDING;
	case HWTIMER_EXPIRED:
	case HWTIMER_LEAVING:
		return HWTIMER_STATE_EXPIRED;
	default:
		return 0;
	}
}

/*
 * Whether QUERY finds the timer. As for CANCEL, a timer that STOP is handing back is gone,
 * and while its event is being read, so is one that is not periodic.
 */
static bool query_finds(const struct hwtimer_record *record)
{
	switch (record->state) {
	case HWTIMER_RETURNING:
		return false;
	case HWTIMER_LEAVING:
		return hwtimer_record_periodic(record);
	default:
		return shown_state(record);
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
	if (instance->stats.ready)
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
	if (record && query_finds(record)) {
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
 * Describes up to @max timers, from record *@cursor on, which is in the table. Checks up
 * to HWTIMER_HOLD records, those that are being read included. Sets *@cursor to the first
 * record that was not checked. Returns the number of timers.
 */
static u32 listed_fill_some(const struct hwtimer_instance *instance,
			    struct hwtimer_listed *timers, u64 *cursor, u32 max)
{
	u64 now = hwtimer_instance_now(instance);
	DECLARE_BITMAP(leaving, HWTIMER_HOLD);
	u64 first = *cursor;
	u64 end = first + HWTIMER_HOLD;
	u32 listed = 0;

	end -= hwtimer_harvest_leaving(instance, first, leaving);
	end = min(end, hwtimer_table_end(&instance->table));
	for (; *cursor < end && listed < max; ++*cursor) {
		const struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, *cursor);
		u32 state = test_bit(*cursor - first, leaving) ?
				    HWTIMER_STATE_EXPIRED :
				    shown_state(record);

		if (state)
			listed_fill(instance, &timers[listed++], *cursor, state,
				    now);
	}
	return listed;
}

/**
 * hwtimer_query_some - describe some timers, in one hold of the lock
 * @instance: the instance; its lock is not held
 * @timers: out: array with room for @max timers
 * @cursor: in: where to begin: 0, or anything, because it comes from user space; out:
 *	where to go on
 * @max: maximum number of timers, at least 1
 * @more: out: whether records are left to be checked
 *
 * Return: the number of timers; 0 does not mean the end. Does not sleep; takes the lock.
 */
u32 hwtimer_query_some(struct hwtimer_instance *instance,
		       struct hwtimer_listed *timers, u64 *cursor, u32 max,
		       bool *more)
{
	u32 listed = 0;
	u64 end;

	spin_lock(&instance->lock);
	end = hwtimer_table_end(&instance->table);
	if (*cursor < end) {
		*cursor = array_index_nospec(*cursor, end);
		listed = listed_fill_some(instance, timers, cursor, max);
	}
	*more = *cursor < end;
	spin_unlock(&instance->lock);
	return listed;
}

/*
 * Lists timers through @timers, which has room for @room. See hwtimer_query_list() for
 * the result.
 */
static long list_run(struct hwtimer_instance *instance,
		     struct hwtimer_list *list, struct hwtimer_listed *timers,
		     u32 room)
{
	struct hwtimer_listed __user *to = u64_to_user_ptr(list->timers);
	bool more = true;
	u32 done = 0;
	int err = 0;

	while (more && done < list->count && !err) {
		u32 max = min(list->count - done, room);
		u32 listed = hwtimer_query_some(instance, timers, &list->cursor,
						max, &more);
		size_t left = copy_to_user(to + done, timers,
					   listed * sizeof(*timers));
		u32 copied = listed - DIV_ROUND_UP(left, sizeof(*timers));

		done += copied;
		if (copied < listed) {
			list->cursor = lower_32_bits(timers[copied].id);
			err = -EFAULT;
		} else if (more && signal_pending(current)) {
			err = -EINTR;
		}
		cond_resched();
	}
	return done ? (long)done : err;
}

/**
 * hwtimer_query_list - HWTIMER_IOC_LIST: list timers, and take none
 * @instance: the instance; none of its locks is held
 * @list: argument of the ioctl; its size, flags and count are valid, the rest is
 *	unchecked. Out, also after an error: the cursor
 *
 * Return: the number of timers written to user space; 0: the end. If none was written,
 * also -EFAULT, -EINTR or -ENOMEM. Takes the lock; may sleep.
 */
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list)
{
	u32 room = min(list->count, HWTIMER_HOLD);
	struct hwtimer_listed *timers =
		hwtimer_memory_get(room * sizeof(*timers), 0);
	long ret;

	if (!timers)
		return -ENOMEM;
	ret = list_run(instance, list, timers, room);
	kvfree(timers);
	return ret;
}
