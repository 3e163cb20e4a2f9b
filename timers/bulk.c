// SPDX-License-Identifier: GPL-2.0
/*
 * Does bulks: the same operation on many timers, which differ only in time, user_data and
 * id. Called by timers/run.c, which has copied the timers into the kernel.
 *
 * The words of a bulk are an array of u64. Before the operations it has a struct
 * hwtimer_bulk_timer, two words, for each timer; for CANCEL, only the id. Each operation
 * then writes its result, one word, so the results overwrite the array from its front on.
 *
 * A bulk is faster than requests for two reasons: its input and output are these words
 * only, and each loop knows at compile time what is constant.
 */
#include <linux/bitops.h>

#include "timers/op.h"
#include "timers/timers.h"

/* The flags that a bulk may have; struct hwtimer_bulk has no room for the others' fields. */
#define BULK_FLAGS (HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD)

/*
 * Whether a bulk is valid, whatever the settings of the instance are. Most bulks are: a
 * CANCEL, or a SCHEDULE or RESCHEDULE with deadlines and without a slack. Each clock takes
 * deadlines.
 */
static bool bulk_plain(const struct hwtimer_bulk *bulk)
{
	if (bulk->op == HWTIMER_OP_CANCEL)
		return !(bulk->flags & ~BULK_FLAGS);
	return bulk->flags == HWTIMER_REQ_ABSTIME && !bulk->slack &&
	       (bulk->op == HWTIMER_OP_SCHEDULE ||
		bulk->op == HWTIMER_OP_RESCHEDULE);
}

/**
 * hwtimer_bulk_check - check the operation, the flags and the slack of a bulk
 * @instance: the instance; its lock is not held
 * @bulk: the bulk; only op, flags and slack are used
 *
 * Return: 0 or -EINVAL. Does not sleep; may take the instance's lock.
 */
int hwtimer_bulk_check(struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk)
{
	struct hwtimer_settings copy;
	struct hwtimer_request request = {
		.op = bulk->op,
		.flags = bulk->flags,
		.slack = bulk->slack,
	};

	if (likely(bulk_plain(bulk)))
		return 0;
	if (bulk->flags & ~BULK_FLAGS)
		return -EINVAL;
	return hwtimer_request_check(hwtimer_settings_get(instance, &copy),
				     &request);
}

/*
 * Schedules up to @count timers, one for each free record of the table's window. @words has
 * the timers, and @results gets their ids.
 * @align is what hwtimer_wheel_align() makes of @slack. Always inline: where @flags or
 * @slack are constant, the loop does not test them.
 */
static __always_inline u32 bulk_window(struct hwtimer_instance *instance,
				       const struct hwtimer_intake *intake,
				       u32 flags, u64 slack, u8 align,
				       const u64 *words, u64 *results,
				       u32 count, struct hwtimer_moment *moment)
{
	struct hwtimer_table *table = &instance->table;
	struct hwtimer_window window = table->window;
	u32 i, index;

	count = min_t(u32, count, hweight_long(window.free));
	for (i = 0; i < count; i++, words += 2) {
		u64 user_data = words[0], deadline, tick;
		struct hwtimer_record *record;

		deadline = hwtimer_op_deadline(words[1], flags, moment);
		record = hwtimer_window_take(&window, &index);
		hwtimer_op_fill(record, deadline, user_data);
		tick = hwtimer_scale_tick_of(&intake->scale, deadline);
		if (slack) {
			record->align = align;
			tick = hwtimer_tick_align(tick, deadline, align);
		}
		results[i] = hwtimer_table_id(record, index);
		hwtimer_intake_file(intake,
				    (struct hwtimer_entry){
					    .index = index,
					    .stamp = record->stamp,
				    },
				    tick);
		trace_hwtimer_schedule(instance, index);
	}
	table->window = window;
	table->used += i;
	return i;
}

/*
 * bulk_window() for deadlines, for delays, and for both with a slack. Not inline, so that
 * each loop has all registers for itself.
 */
static noinline u32 bulk_deadlines(struct hwtimer_instance *instance,
				   const struct hwtimer_intake *intake,
				   const u64 *words, u64 *results, u32 count)
{
	return bulk_window(instance, intake, HWTIMER_REQ_ABSTIME, 0, 0, words,
			   results, count, NULL);
}

static noinline u32 bulk_delays(struct hwtimer_instance *instance,
				const struct hwtimer_intake *intake,
				const u64 *words, u64 *results, u32 count,
				struct hwtimer_moment *moment)
{
	return bulk_window(instance, intake, 0, 0, 0, words, results, count,
			   moment);
}

static noinline u32 bulk_slack(struct hwtimer_instance *instance,
			       const struct hwtimer_intake *intake,
			       const struct hwtimer_bulk *bulk,
			       const u64 *words, u64 *results, u32 count,
			       struct hwtimer_moment *moment)
{
	u8 align = hwtimer_wheel_align(intake->wheel, bulk->slack);

	return bulk_window(instance, intake, bulk->flags, bulk->slack, align,
			   words, results, count, moment);
}

/* Schedules @count timers, and writes their results. */
static void bulk_schedule(struct hwtimer_instance *instance,
			  const struct hwtimer_bulk *bulk, u64 *words,
			  u32 count, struct hwtimer_moment *moment)
{
	struct hwtimer_intake intake = hwtimer_intake_begin(&instance->wheel);
	u32 i = 0, filed = 0;

	while (i < count) {
		u32 room = hwtimer_op_room(instance, count - i);
		const u64 *timers = &words[2 * i];
		u32 done;

		if (unlikely(!room || !hwtimer_table_ready(&instance->table)))
			done = 0;
		else if (unlikely(bulk->slack))
			done = bulk_slack(instance, &intake, bulk, timers,
					  &words[i], room, moment);
		else if (bulk->flags & HWTIMER_REQ_ABSTIME)
			done = bulk_deadlines(instance, &intake, timers,
					      &words[i], room);
		else
			done = bulk_delays(instance, &intake, timers, &words[i],
					   room, moment);
		if (unlikely(!done)) {
			words[i++] = room ? -ENOMEM :
					    hwtimer_op_refusal(instance);
		}
		i += done;
		filed += done;
	}
	hwtimer_intake_end(&intake, filed);
	hwtimer_op_count_filed(instance, filed);
}

/*
 * Starts to fetch the records of @count timers. Sets @records to their addresses, and @ids as
 * hwtimer_table_fetch() does. If the maps are large, they are hardly in the cache, so fetches
 * their words, too.
 */
static __always_inline void cancel_fetch(const struct hwtimer_table *table,
					 struct hwtimer_record **records,
					 u64 *ids, u32 count)
{
	bool large = table->nr_slots > HWTIMER_SLOTS_CACHED;
	u32 i;

	for (i = 0; i < count; i++) {
		records[i] = hwtimer_table_fetch(table, &ids[i]);
		if (unlikely(large))
			hwtimer_table_prefetch_word(table, ids[i]);
	}
}

/*
 * Cancels the timer whose id is in *@word, as hwtimer_table_fetch() has left it, and writes
 * the result there. Returns whether the timer was not plain.
 */
static __always_inline bool cancel_fetched(struct hwtimer_instance *instance,
					   u32 flags,
					   struct hwtimer_record *record,
					   u64 *word,
					   struct hwtimer_moment *moment)
{
	u64 id = *word;

	*word = 0;
	if (likely(hwtimer_op_cancel_plain(instance, record, id)))
		return false;
	*word = hwtimer_op_cancel_other(instance, id, flags, moment);
	return true;
}

/*
 * Cancels HWTIMER_AHEAD timers at a time, and meanwhile has the processor fetch the records
 * of the next ones. Computes the address of each record once.
 */
static noinline void bulk_cancel(struct hwtimer_instance *instance, u32 flags,
				 u64 *words, u32 count,
				 struct hwtimer_moment *moment)
{
	struct hwtimer_record *records[2][HWTIMER_AHEAD] __uninitialized;
	u32 here = min_t(u32, count, HWTIMER_AHEAD);
	u32 i, left = count, others = 0;
	unsigned int turn = 0;

	cancel_fetch(&instance->table, records[turn], words, here);
	while (here) {
		u32 next = min_t(u32, left - here, HWTIMER_AHEAD);

		cancel_fetch(&instance->table, records[!turn], words + here,
			     next);
		for (i = 0; i < here; i++)
			others += cancel_fetched(instance, flags,
						 records[turn][i], &words[i],
						 moment);
		words += here;
		left -= here;
		here = next;
		turn = !turn;
	}
	hwtimer_op_count_cancelled(instance, count - others);
}

/* Always inline: @flags are constant, so the loop does not test them. */
static __always_inline void bulk_reschedule(struct hwtimer_instance *instance,
					    u32 flags, u64 *words, u32 count,
					    struct hwtimer_moment *moment)
{
	u32 i;

	for (i = 0; i < min_t(u32, count, HWTIMER_AHEAD); i++)
		hwtimer_table_prefetch(&instance->table, words[2 * i]);
	for (i = 0; i < count; i++) {
		if (i + HWTIMER_AHEAD < count)
			hwtimer_table_prefetch(&instance->table,
					       words[2 * (i + HWTIMER_AHEAD)]);
		words[i] = hwtimer_op_reschedule(instance, words[2 * i],
						 words[2 * i + 1], flags,
						 moment);
	}
}

/*
 * Does @count operations, and then the steps that they owe, see hwtimer_op_end(). Called
 * with the instance's lock held; releases it.
 */
static void bulk_run_locked(struct hwtimer_instance *instance,
			    const struct hwtimer_bulk *bulk, u64 *words,
			    u32 count) __releases(&instance->lock)
{
	struct hwtimer_moment moment;
	bool absolute = bulk->flags & HWTIMER_REQ_ABSTIME;

	hwtimer_op_begin(instance, &moment);
	if (bulk->op == HWTIMER_OP_CANCEL)
		bulk_cancel(instance, bulk->flags, words, count, &moment);
	else if (bulk->op == HWTIMER_OP_SCHEDULE)
		bulk_schedule(instance, bulk, words, count, &moment);
	else if (absolute)
		bulk_reschedule(instance, HWTIMER_REQ_ABSTIME, words, count,
				&moment);
	else
		bulk_reschedule(instance, 0, words, count, &moment);
	hwtimer_op_end(instance, count, &moment);
}

/*
 * Checks the bulk, and starts the instance if the operation needs that. Until the instance
 * has started, SETUP may change the settings, so checks again afterwards. Returns 0, -EINVAL,
 * or 1: the operations have their results, because the instance has no timer.
 */
static noinline int bulk_prepare(struct hwtimer_instance *instance,
				 const struct hwtimer_bulk *bulk, u64 *words,
				 u32 count)
{
	for (;;) {
		bool started = hwtimer_instance_started(instance);
		int err = hwtimer_bulk_check(instance, bulk);

		if (err || started)
			return err;
		if (bulk->op == HWTIMER_OP_SCHEDULE)
			err = hwtimer_supply_start(instance);
		else
			err = hwtimer_op_no_timer(instance, bulk->op);
		if (err) {
			while (count--)
				*words++ = err;
			return 1;
		}
	}
}

static __always_inline struct hwtimer_demand
bulk_demand(const struct hwtimer_bulk *bulk, u32 count)
{
	struct hwtimer_demand demand = {};

	if (bulk->op == HWTIMER_OP_CANCEL)
		return demand;
	if (bulk->op == HWTIMER_OP_SCHEDULE)
		demand.timers = count;
	else
		demand.moves = count;
	return demand;
}

/* Locks the instance; returns 0 if it has memory for @count operations, or -ENOMEM. */
static __always_inline int bulk_reserve(struct hwtimer_instance *instance,
					const struct hwtimer_bulk *bulk,
					u32 count) __acquires(&instance->lock)
{
	struct hwtimer_demand demand = bulk_demand(bulk, count);

	return hwtimer_supply_reserve(instance, &demand);
}

/*
 * Does @count operations one by one, when there is not enough memory for all at once:
 * there may be enough for some of them. CANCEL never gets here, because it needs no
 * memory.
 */
static noinline void bulk_run_singly(struct hwtimer_instance *instance,
				     const struct hwtimer_bulk *bulk,
				     u64 *words, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 one[2] = { words[2 * i], words[2 * i + 1] };
		int err = bulk_reserve(instance, bulk, 1);

		if (err) {
			hwtimer_shrink_ended(instance);
			spin_unlock(&instance->lock);
			one[0] = err;
		} else {
			bulk_run_locked(instance, bulk, one, 1);
		}
		words[i] = one[0];
	}
}

/**
 * hwtimer_bulk_run - do the operations of a bulk, in their order
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @bulk: the bulk; only op, flags and slack are used
 * @words: in: the timers; out: the results; see the top of this file
 * @count: number of operations, at most HWTIMER_HOLD
 *
 * Return: 0: each operation has a result; -EINVAL: the settings have changed, and no operation
 * was done. May sleep.
 */
int hwtimer_bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count)
{
	/* Most bulks are valid anyway, and most instances are ready. */
	if (unlikely(!bulk_plain(bulk) ||
		     !hwtimer_instance_started(instance))) {
		int ret = bulk_prepare(instance, bulk, words, count);

		if (ret)
			return min(ret, 0);
	}
	if (likely(!bulk_reserve(instance, bulk, count))) {
		bulk_run_locked(instance, bulk, words, count);
	} else {
		spin_unlock(&instance->lock);
		bulk_run_singly(instance, bulk, words, count);
	}
	return 0;
}
