// SPDX-License-Identifier: GPL-2.0
/*
 * Bulks: the same operation on many timers, which differ only in time, user_data and id.
 *
 * The words of a bulk are an array of u64. Before the operations it has a struct
 * hwtimer_bulk_timer, two words, for each timer; for CANCEL, only the id. Each operation
 * then writes its result, one word, so the results overwrite the array from its front on.
 *
 * A bulk is faster than requests for two reasons: its input and output are these words
 * only, and each loop knows at compile time what is constant.
 */
#include <linux/bitops.h>

#include "timers/hold.h"
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

/* Checks the bulk. Its operations need no check. */
static __always_inline int bulk_check(const struct hwtimer_settings *settings,
				      const struct hwtimer_bulk *bulk,
				      void *operations, u32 count,
				      struct hwtimer_demand *demand)
{
	struct hwtimer_request request;

	*demand = (struct hwtimer_demand){};
	if (bulk->op == HWTIMER_OP_SCHEDULE)
		demand->timers = count;
	else if (bulk->op == HWTIMER_OP_RESCHEDULE)
		demand->moves = count;
	if (likely(bulk_plain(bulk)))
		return 0;
	if (bulk->flags & ~BULK_FLAGS)
		return -EINVAL;
	request = (struct hwtimer_request){
		.op = bulk->op,
		.flags = bulk->flags,
		.slack = bulk->slack,
	};
	return hwtimer_request_check(settings, &request);
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
	struct hwtimer_settings copy __uninitialized;
	struct hwtimer_demand demand;

	return bulk_check(hwtimer_settings_get(instance, &copy), bulk, NULL, 0,
			  &demand);
}

/*
 * Schedules up to @count timers: as many as there are free records next to each other, which
 * the table takes from its maps together. @words has the timers, and @results gets their ids.
 * @align is what hwtimer_wheel_align() makes of @slack. Always inline: where @flags and
 * @slack are constant, the loop does not test them. Returns the number of timers.
 */
static __always_inline u32 bulk_file(struct hwtimer_instance *instance,
				     const struct hwtimer_intake *intake,
				     u32 flags, u64 slack, u8 align,
				     const u64 *words, u64 *results, u32 count,
				     struct hwtimer_hold *hold)
{
	struct hwtimer_table *table = &instance->table;
	struct hwtimer_window window = table->window;
	u32 i, index;

	count = min_t(u32, count, hweight_long(window.free));
	for (i = 0; i < count; i++, words += 2) {
		u64 user_data = words[0], deadline, tick;
		struct hwtimer_record *record;

		deadline = hwtimer_op_deadline(words[1], flags, hold);
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

/* Most bulks have deadlines and no slack. Not inline, so that the loop has all registers. */
static noinline u32 bulk_deadlines(struct hwtimer_instance *instance,
				   const struct hwtimer_intake *intake,
				   const u64 *words, u64 *results, u32 count)
{
	return bulk_file(instance, intake, HWTIMER_REQ_ABSTIME, 0, 0, words,
			 results, count, NULL);
}

/* The others have delays, or a slack that all their timers share. */
static noinline u32 bulk_others(struct hwtimer_instance *instance,
				const struct hwtimer_intake *intake,
				const struct hwtimer_bulk *bulk,
				const u64 *words, u64 *results, u32 count,
				struct hwtimer_hold *hold)
{
	u8 align = hwtimer_wheel_align(intake->wheel, bulk->slack);

	return bulk_file(instance, intake, bulk->flags, bulk->slack, align,
			 words, results, count, hold);
}

/* Schedules @count timers, and writes their results. */
static void bulk_schedule(struct hwtimer_instance *instance,
			  const struct hwtimer_bulk *bulk, u64 *words,
			  u32 count, struct hwtimer_hold *hold)
{
	struct hwtimer_intake intake = hwtimer_intake_begin(&instance->wheel);
	u32 i = 0, filed = 0;

	while (i < count) {
		u32 room = hwtimer_op_room(instance, count - i);
		const u64 *timers = &words[2 * i];
		u32 done;

		if (unlikely(!room || !hwtimer_table_ready(&instance->table)))
			done = 0;
		else if (likely(bulk->flags == HWTIMER_REQ_ABSTIME &&
				!bulk->slack))
			done = bulk_deadlines(instance, &intake, timers,
					      &words[i], room);
		else
			done = bulk_others(instance, &intake, bulk, timers,
					   &words[i], room, hold);
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
					   u64 *word, struct hwtimer_hold *hold)
{
	u64 id = *word;

	*word = 0;
	if (likely(hwtimer_op_cancel_plain(instance, record, id)))
		return false;
	*word = hwtimer_op_cancel_other(instance, id, flags, hold);
	return true;
}

/* Gives each of @count operations the same result. */
static void words_fill(u64 *words, u32 count, int result)
{
	while (count--)
		*words++ = result;
}

/*
 * Cancels HWTIMER_AHEAD timers at a time, while the processor fetches the records of the next
 * ones. Computes the address of each record once.
 */
static noinline void bulk_cancel(struct hwtimer_instance *instance, u32 flags,
				 u64 *words, u32 count,
				 struct hwtimer_hold *hold)
{
	struct hwtimer_record *records[2][HWTIMER_AHEAD] __uninitialized;
	u32 here = min_t(u32, count, HWTIMER_AHEAD);
	u32 i, left = count, others = 0;
	unsigned int turn = 0;

	/* The instance was stopped before it started. */
	if (unlikely(!hwtimer_table_end(&instance->table))) {
		words_fill(words, count, -ENOENT);
		return;
	}
	cancel_fetch(&instance->table, records[turn], words, here);
	while (here) {
		u32 next = min_t(u32, left - here, HWTIMER_AHEAD);

		cancel_fetch(&instance->table, records[!turn], words + here,
			     next);
		for (i = 0; i < here; i++)
			others += cancel_fetched(instance, flags,
						 records[turn][i], &words[i],
						 hold);
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
					    struct hwtimer_hold *hold)
{
	u32 i;

	for (i = 0; i < min_t(u32, count, HWTIMER_AHEAD); i++)
		hwtimer_table_prefetch(&instance->table, words[2 * i]);
	for (i = 0; i < count; i++) {
		if (i + HWTIMER_AHEAD < count)
			hwtimer_table_prefetch(&instance->table,
					       words[2 * (i + HWTIMER_AHEAD)]);
		words[i] = hwtimer_op_reschedule(instance, words[2 * i],
						 words[2 * i + 1], flags, hold);
	}
}

static void bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, void *operations,
		     u32 count, struct hwtimer_hold *hold)
{
	u64 *words = operations;

	if (bulk->op == HWTIMER_OP_CANCEL)
		bulk_cancel(instance, bulk->flags, words, count, hold);
	else if (bulk->op == HWTIMER_OP_SCHEDULE)
		bulk_schedule(instance, bulk, words, count, hold);
	else if (bulk->flags & HWTIMER_REQ_ABSTIME)
		bulk_reschedule(instance, HWTIMER_REQ_ABSTIME, words, count,
				hold);
	else
		bulk_reschedule(instance, 0, words, count, hold);
}

static bool bulk_creates(const struct hwtimer_bulk *bulk,
			 const void *operations, u32 count)
{
	return bulk->op == HWTIMER_OP_SCHEDULE;
}

static void bulk_refuse(const struct hwtimer_bulk *bulk, void *operations,
			u32 count, int err, int other)
{
	words_fill(operations, count,
		   bulk->op == HWTIMER_OP_SCHEDULE ? err : other);
}

static const struct hwtimer_format bulk_format = {
	.size = sizeof(struct hwtimer_bulk_timer),
	.result_size = sizeof(u64),
	.check = bulk_check,
	.creates = bulk_creates,
	.refuse = bulk_refuse,
	.run = bulk_run,
};

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
	return hwtimer_hold_run(&bulk_format, instance, bulk, words, count);
}
