// SPDX-License-Identifier: GPL-2.0
/*
 * Does bulks: the same operation on many timers, which differ only in time, user_data and
 * id. Called by hwtimer_batch.c and hwtimer_submission.c, which have copied the timers into
 * the kernel.
 *
 * The words of a bulk are an array of u64. Before the operations it has a struct
 * hwtimer_bulk_timer, two words, for each timer; for CANCEL, only the id. Each operation
 * then writes its result, one word, so the results overwrite the array from its front on.
 *
 * A bulk is faster than requests for two reasons: its input and output are these words
 * only, and each loop knows at compile time what is constant. SCHEDULE with a slack has a
 * loop of its own, and so have few timers: to prepare the other loops would take longer than
 * to do the operations. A bulk with an interval or other flags is general, as is a RESCHEDULE
 * with a slack: its words become requests, so that the loops need not know of them.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>

#include "hwtimer_adopt.h"
#include "hwtimer_bulk.h"
#include "hwtimer_intake.h"
#include "hwtimer_op.h"
#include "hwtimer_request.h"
#include "hwtimer_ring.h"

/* The maximum number of timers that bulk_schedule_few() and bulk_cancel_few() take */
#define BULK_FEW 4U

/* hwtimer_bulk_check() where the settings count. Not inline: CANCEL needs no request. */
static noinline int bulk_check_request(struct hwtimer_instance *instance,
				       const struct hwtimer_bulk *bulk)
{
	struct hwtimer_settings copy;
	struct hwtimer_request request = {
		.op = bulk->op,
		.flags = bulk->flags,
	};

	if (bulk->flags & ~HWTIMER_COMPACT_FLAGS)
		return -EINVAL;
	return hwtimer_request_check(hwtimer_settings_get(instance, &copy),
				     &request);
}

/*
 * Whether a bulk has delays without a slack, and is valid. Only with the instance's settings
 * can that be known, and they are constant once the instance has started.
 */
static bool bulk_takes_delays(const struct hwtimer_instance *instance,
			      const struct hwtimer_bulk *bulk)
{
	return !bulk->flags && !bulk->slack &&
	       (bulk->op == HWTIMER_OP_SCHEDULE ||
		bulk->op == HWTIMER_OP_RESCHEDULE) &&
	       hwtimer_instance_started(instance) &&
	       instance->settings.clock->nr != HWTIMER_REALTIME;
}

/**
 * hwtimer_bulk_check - check the operation and the flags of a bulk
 * @instance: the instance; its lock is not held
 * @bulk: the bulk, which is not general; only op, flags and slack are used
 *
 * Return: 0, -EINVAL or -EDOM. Does not sleep; may take the instance's lock.
 */
int hwtimer_bulk_check(struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk)
{
	if (likely(hwtimer_bulk_plain(bulk) ||
		   bulk_takes_delays(instance, bulk)))
		return 0;
	if (unlikely(bulk->slack))
		return hwtimer_bulk_check_general(instance, bulk);
	return bulk_check_request(instance, bulk);
}

/**
 * hwtimer_bulk_check_general - check all of a bulk but its timers
 * @instance: the instance; its lock is not held
 * @bulk: the bulk, which may be general; not used: count, timers and results
 *
 * Checks it with a time that allows as much slack as any.
 *
 * Return: 0, -EINVAL, -ERANGE or -EDOM. Does not sleep; may take the instance's lock.
 */
int hwtimer_bulk_check_general(struct hwtimer_instance *instance,
			       const struct hwtimer_bulk *bulk)
{
	struct hwtimer_settings copy;
	struct hwtimer_request request = {
		.op = bulk->op,
		.flags = bulk->flags,
		.interval = bulk->interval,
		.slack = bulk->slack,
		.count = bulk->expirations,
	};

	if (bulk->reserved ||
	    bulk->flags & (HWTIMER_REARM | HWTIMER_SET_USER_DATA))
		return -EINVAL;
	if (bulk->slack)
		request.time = bulk->flags & HWTIMER_ABSOLUTE ? HWTIMER_NEVER :
								KTIME_MAX / 2;
	return hwtimer_request_check(hwtimer_settings_get(instance, &copy),
				     &request);
}

/* Why the time of a timer is refused, in a bulk with @slack; 0: it is not. */
static __always_inline int bulk_time_error(u64 time, u32 flags, u64 slack)
{
	if (hwtimer_op_no_time(time, flags))
		return -EINVAL;
	return unlikely(slack > hwtimer_op_slack_max(time)) ? -EDOM : 0;
}

/*
 * Schedules up to @count timers, one for each free record of the table's hand. Ends before
 * a timer whose time is refused. @words has the timers, and @results gets their ids.
 * @align is what hwtimer_wheel_align() makes of @slack. Always inline: where @flags or
 * @slack are constant, the loop does not test them.
 */
static __always_inline u32 bulk_hand(struct hwtimer_instance *instance,
				     const struct hwtimer_intake *intake,
				     u32 flags, u64 slack, u8 align,
				     const u64 *words, u64 *results, u32 count,
				     struct hwtimer_moment *moment)
{
	struct hwtimer_table *table = &instance->table;
	struct hwtimer_hand hand = table->hand;
	u32 i, index;

	count = min_t(u32, count, hweight_long(hand.free));
	for (i = 0; i < count; i++, words += 2) {
		u64 user_data = words[0], time = words[1], deadline, tick;
		struct hwtimer_record *record;

		if (bulk_time_error(time, flags, slack))
			break;
		deadline = hwtimer_op_deadline(time, flags, moment);
		record = hwtimer_hand_take(&hand, &index);
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
	table->hand = hand;
	table->used += i;
	return i;
}

/*
 * bulk_hand() for deadlines, for delays, and for both with a slack. Not inline, so that
 * each loop has all registers for itself.
 */
static noinline u32 bulk_deadlines(struct hwtimer_instance *instance,
				   const struct hwtimer_intake *intake,
				   const u64 *words, u64 *results, u32 count)
{
	return bulk_hand(instance, intake, HWTIMER_ABSOLUTE, 0, 0, words,
			 results, count, NULL);
}

static noinline u32 bulk_delays(struct hwtimer_instance *instance,
				const struct hwtimer_intake *intake,
				const u64 *words, u64 *results, u32 count,
				struct hwtimer_moment *moment)
{
	return bulk_hand(instance, intake, 0, 0, 0, words, results, count,
			 moment);
}

static noinline u32 bulk_slack(struct hwtimer_instance *instance,
			       const struct hwtimer_intake *intake, u32 flags,
			       u64 slack, const u64 *words, u64 *results,
			       u32 count, struct hwtimer_moment *moment)
{
	u8 align = hwtimer_wheel_align(intake->wheel, slack);

	return bulk_hand(instance, intake, flags, slack, align, words, results,
			 count, moment);
}

/* The error for a timer that was not scheduled. @room: the limit leaves room for it. */
static int bulk_refusal(const struct hwtimer_instance *instance,
			const struct hwtimer_bulk *bulk, u64 time, bool room)
{
	int err = bulk_time_error(time, bulk->flags, bulk->slack);

	if (err)
		return err;
	return room ? -ENOMEM : hwtimer_op_refusal(instance);
}

/* Schedules up to @count timers, as bulk_hand(). */
static __always_inline u32 bulk_some(struct hwtimer_instance *instance,
				     const struct hwtimer_intake *intake,
				     const struct hwtimer_bulk *bulk,
				     const u64 *words, u64 *results, u32 count,
				     struct hwtimer_moment *moment)
{
	if (unlikely(bulk->slack))
		return bulk_slack(instance, intake, bulk->flags, bulk->slack,
				  words, results, count, moment);
	if (bulk->flags & HWTIMER_ABSOLUTE)
		return bulk_deadlines(instance, intake, words, results, count);
	return bulk_delays(instance, intake, words, results, count, moment);
}

/*
 * Schedules timers @first to @count - 1, and writes their results. Returns how many it
 * scheduled.
 */
static __always_inline u32 bulk_schedule(struct hwtimer_instance *instance,
					 const struct hwtimer_bulk *bulk,
					 u64 *words, u32 first, u32 count,
					 struct hwtimer_moment *moment)
{
	struct hwtimer_intake intake = hwtimer_intake_begin(&instance->wheel);
	struct hwtimer_table *table = &instance->table;
	u32 i = first, filed = 0;

	while (i < count) {
		u32 room = hwtimer_op_room(instance, count - i);
		u32 done = 0;

		if (room && hwtimer_table_ready(table))
			done = bulk_some(instance, &intake, bulk, &words[2 * i],
					 &words[i], room, moment);
		if (unlikely(!done)) {
			words[i] = bulk_refusal(instance, bulk,
						words[2 * i + 1], room);
			i++;
		}
		i += done;
		filed += done;
	}
	hwtimer_intake_end(&intake, filed);
	return filed;
}

/*
 * Schedules @count timers with deadlines, if the limit leaves room for all of them. Returns
 * how many it scheduled: it ends before one for which no record is free. @words has the
 * timers, and @results gets their ids.
 */
static noinline u32 bulk_schedule_few(struct hwtimer_instance *instance,
				      const u64 *words, u64 *results, u32 count)
{
	struct hwtimer_table *table = &instance->table;
	struct hwtimer_intake intake;
	u32 i, index;

	if (unlikely(hwtimer_op_room(instance, count) < count))
		return 0;
	intake = hwtimer_intake_begin(&instance->wheel);
	for (i = 0; i < count; i++, words += 2) {
		u64 user_data = words[0], time = words[1], deadline;
		struct hwtimer_record *record;

		if (unlikely(!hwtimer_table_ready(table)))
			break;
		deadline = hwtimer_op_deadline(time, HWTIMER_ABSOLUTE, NULL);
		record = hwtimer_hand_take(&table->hand, &index);
		hwtimer_op_fill(record, deadline, user_data);
		results[i] = hwtimer_table_id(record, index);
		hwtimer_intake_file(&intake,
				    (struct hwtimer_entry){
					    .index = index,
					    .stamp = record->stamp,
				    },
				    hwtimer_scale_tick_of(&intake.scale,
							  deadline));
		trace_hwtimer_schedule(instance, index);
	}
	table->used += i;
	hwtimer_intake_end(&intake, i);
	return i;
}

static __always_inline void bulk_schedule_all(struct hwtimer_instance *instance,
					      const struct hwtimer_bulk *bulk,
					      u64 *words, u32 count,
					      struct hwtimer_moment *moment)
{
	u32 filed = 0;

	if (count <= BULK_FEW && bulk->flags == HWTIMER_ABSOLUTE &&
	    !bulk->slack)
		filed = bulk_schedule_few(instance, words, words, count);
	if (unlikely(filed < count))
		filed += bulk_schedule(instance, bulk, words, filed, count,
				       moment);
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

/* Cancels @count timers of an instance that has not started, so that it has none. */
static void bulk_cancel_none(u64 *words, u32 count)
{
	while (count--)
		*words++ = -ENOENT;
}

/*
 * Cancels HWTIMER_AHEAD timers at a time, and meanwhile has the processor fetch the records
 * of the next ones. Computes the address of each record once.
 */
static noinline void bulk_cancel_all(struct hwtimer_instance *instance,
				     u32 flags, u64 *words, u32 count,
				     struct hwtimer_moment *moment)
{
	struct hwtimer_record *records[2][HWTIMER_AHEAD] __uninitialized;
	u32 here = min_t(u32, count, HWTIMER_AHEAD);
	u32 i, left = count, others = 0;
	unsigned int turn = 0;

	if (unlikely(!hwtimer_table_end(&instance->table))) {
		bulk_cancel_none(words, count);
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
						 moment);
		words += here;
		left -= here;
		here = next;
		turn = !turn;
	}
	hwtimer_op_count_cancelled(instance, count - others);
}

/*
 * Cancels so few timers that the processor fetches all of their records at once by itself.
 * Always inline, as its caller has saved the registers already.
 */
static __always_inline void bulk_cancel_few(struct hwtimer_instance *instance,
					    u32 flags, u64 *words, u32 count,
					    struct hwtimer_moment *moment)
{
	u32 i, others = 0;

	if (unlikely(!hwtimer_table_end(&instance->table))) {
		bulk_cancel_none(words, count);
		return;
	}
	for (i = 0; i < count; i++) {
		struct hwtimer_record *record =
			hwtimer_table_fetch(&instance->table, &words[i]);

		others += cancel_fetched(instance, flags, record, &words[i],
					 moment);
	}
	hwtimer_op_count_cancelled(instance, count - others);
}

static __always_inline int bulk_reschedule(struct hwtimer_instance *instance,
					   u64 id, u64 time, u32 flags,
					   struct hwtimer_moment *moment)
{
	/* A request checks its time before its id, too. */
	if (hwtimer_op_no_time(time, flags))
		return -EINVAL;
	return hwtimer_op_reschedule(instance, id, time, flags, moment);
}

/* Always inline: @flags are constant, so the loop does not test them. */
static __always_inline void
bulk_reschedule_all(struct hwtimer_instance *instance, u32 flags, u64 *words,
		    u32 count, struct hwtimer_moment *moment)
{
	u32 i;

	for (i = 0; i < min_t(u32, count, HWTIMER_AHEAD); i++)
		hwtimer_table_prefetch(&instance->table, words[2 * i]);
	for (i = 0; i < count; i++) {
		if (i + HWTIMER_AHEAD < count)
			hwtimer_table_prefetch(&instance->table,
					       words[2 * (i + HWTIMER_AHEAD)]);
		words[i] = bulk_reschedule(instance, words[2 * i],
					   words[2 * i + 1], flags, moment);
	}
}

static __always_inline void bulk_cancel(struct hwtimer_instance *instance,
					u32 flags, u64 *words, u32 count,
					struct hwtimer_moment *moment)
{
	if (count <= BULK_FEW)
		bulk_cancel_few(instance, flags, words, count, moment);
	else
		bulk_cancel_all(instance, flags, words, count, moment);
}

static noinline void bulk_reschedule_any(struct hwtimer_instance *instance,
					 u32 flags, u64 *words, u32 count,
					 struct hwtimer_moment *moment)
{
	if (flags & HWTIMER_ABSOLUTE)
		bulk_reschedule_all(instance, HWTIMER_ABSOLUTE, words, count,
				    moment);
	else
		bulk_reschedule_all(instance, 0, words, count, moment);
}

/* Does bulk_run_locked(). Always inline, as hwtimer_bulk_run() nearly always does it. */
static __always_inline void run_locked(struct hwtimer_instance *instance,
				       const struct hwtimer_bulk *bulk,
				       u64 *words, u32 count, u64 most)
	__releases(&instance->lock)
{
	struct hwtimer_moment moment;

	hwtimer_op_begin(instance, &moment);
	/* CANCEL of few timers takes least, so it comes first: a test would cost it most. */
	if (bulk->op == HWTIMER_OP_CANCEL)
		bulk_cancel(instance, bulk->flags, words, count, &moment);
	else if (bulk->op == HWTIMER_OP_SCHEDULE)
		bulk_schedule_all(instance, bulk, words, count, &moment);
	else
		bulk_reschedule_any(instance, bulk->flags, words, count,
				    &moment);
	hwtimer_op_end(instance, count, &moment, most);
}

/*
 * Does @count operations, and then the steps that they owe, @most at most, see
 * hwtimer_op_end(). Called with the instance's lock held; releases it.
 */
static noinline void bulk_run_locked(struct hwtimer_instance *instance,
				     const struct hwtimer_bulk *bulk,
				     u64 *words, u32 count, u64 most)
	__releases(&instance->lock)
{
	run_locked(instance, bulk, words, count, most);
}

/*
 * Checks the bulk, and starts or adopts the instance if the operation needs that. Until
 * the instance has started, SETUP may change the settings, so checks again afterwards.
 */
static noinline int bulk_prepare(struct hwtimer_instance *instance,
				 const struct hwtimer_bulk *bulk)
{
	for (;;) {
		bool manned = hwtimer_instance_manned(instance);
		bool started = manned || hwtimer_instance_started(instance);
		int err = hwtimer_bulk_check(instance, bulk);

		if (err || manned || bulk->op == HWTIMER_OP_CANCEL)
			return err;
		err = hwtimer_supply_start(instance);
		if (err || started)
			return err;
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

		/* To refuse the time of a timer needs no memory. */
		if (err && !bulk_time_error(one[1], bulk->flags, bulk->slack)) {
			spin_unlock(&instance->lock);
			one[0] = err;
		} else {
			bulk_run_locked(instance, bulk, one, 1,
					HWTIMER_STEPS_OWED);
		}
		words[i] = one[0];
	}
}

/**
 * hwtimer_bulk_run - do the operations of a bulk, in their order
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @bulk: the bulk, which is not general; only op, flags and slack are used
 * @words: in: the timers; out: the results; see the top of this file
 * @count: number of operations, at most HWTIMER_HOLD
 *
 * Frees discarded events first, which makes room for new timers.
 *
 * Return: 0: each operation has a result; -EINVAL, -ENOMEM: no operation was done. May
 * sleep.
 */
int hwtimer_bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count)
{
	int err;

	hwtimer_op_make_room(instance);
	/* Most bulks are valid anyway, and most instances are ready. */
	if (unlikely(!hwtimer_bulk_plain(bulk) ||
		     !hwtimer_instance_manned(instance))) {
		err = bulk_prepare(instance, bulk);
		if (err)
			return err;
	}
	if (likely(!bulk_reserve(instance, bulk, count))) {
		run_locked(instance, bulk, words, count, HWTIMER_STEPS_OWED);
	} else {
		spin_unlock(&instance->lock);
		bulk_run_singly(instance, bulk, words, count);
	}
	/* As in hwtimer_request_run() */
	if (bulk->op != HWTIMER_OP_CANCEL)
		hwtimer_adopt_if_left(instance);
	return 0;
}

/* The request for the timer of a general bulk that has the words @timer. */
static struct hwtimer_request general_request(const struct hwtimer_bulk *bulk,
					      const u64 *timer)
{
	bool schedule = bulk->op == HWTIMER_OP_SCHEDULE;

	return (struct hwtimer_request){
		.op = bulk->op,
		.flags = bulk->flags,
		.id = schedule ? 0 : timer[0],
		.time = timer[1],
		.interval = bulk->interval,
		.slack = bulk->slack,
		.user_data = schedule ? timer[0] : 0,
		.count = bulk->expirations,
	};
}

/**
 * hwtimer_bulk_run_general - do the operations of a general bulk, in their order
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @bulk: the bulk, which hwtimer_bulk_check_general() has accepted; it is no CANCEL
 * @words: in: the timers; out: the results; see the top of this file
 * @requests: room for @count requests
 * @count: number of operations, at most HWTIMER_HOLD
 *
 * Return: as hwtimer_bulk_run(), but also the errors of starting or adopting the instance.
 * May sleep.
 */
int hwtimer_bulk_run_general(struct hwtimer_instance *instance,
			     const struct hwtimer_bulk *bulk, u64 *words,
			     struct hwtimer_request *requests, u32 count)
{
	/* Otherwise each request would have the error of starting the instance. */
	int err = hwtimer_supply_start(instance);
	u32 i;

	if (err)
		return err;
	for (i = 0; i < count; i++)
		requests[i] = general_request(bulk, &words[2 * i]);
	hwtimer_request_run(instance, requests, count);
	for (i = 0; i < count; i++) {
		words[i] = 0;
		if (requests[i].result)
			words[i] = (u64)(s64)requests[i].result;
		else if (bulk->op == HWTIMER_OP_SCHEDULE)
			words[i] = requests[i].id;
	}
	return 0;
}

/**
 * hwtimer_bulk_try - do a bulk, if the worker can do it in one slice
 * @instance: the instance; its lock is not held
 * @bulk: the bulk, which is not general; only op, flags and slack are used
 * @words: in: the timers; out: the results; see the top of this file
 * @count: number of operations, at most HWTIMER_HOLD
 *
 * As hwtimer_request_try(). Called by the worker, in hwtimer_submission_try().
 *
 * Return: 0: each operation has a result; -EINVAL: no operation was done; -EAGAIN: the
 * worker cannot do them, and @words are as they were. Does not wait, but may reschedule;
 * takes the instance's lock.
 */
int hwtimer_bulk_try(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count)
{
	struct hwtimer_demand demand = bulk_demand(bulk, count);
	int err;

	if (!hwtimer_instance_started(instance))
		return -EAGAIN;
	hwtimer_op_make_room(instance);
	err = hwtimer_bulk_check(instance, bulk);
	if (err)
		return err;
	if (!hwtimer_supply_lock_ready(instance, &demand) ||
	    !hwtimer_op_fits_slice(instance, count)) {
		spin_unlock(&instance->lock);
		return -EAGAIN;
	}
	bulk_run_locked(instance, bulk, words, count, HWTIMER_STEPS_SLICE);
	return 0;
}

/**
 * hwtimer_bulk_undo - cancel new timers whose ids user space did not get
 * @instance: the instance; its lock is not held
 * @results: results of a SCHEDULE by hwtimer_bulk_run(); overwritten
 * @count: number of results, at most HWTIMER_HOLD
 *
 * Discards the event of a timer that has expired meanwhile. A timer that was delivered or
 * handed back meanwhile cannot be undone. May reschedule; takes the instance's lock.
 */
void hwtimer_bulk_undo(struct hwtimer_instance *instance, u64 *results,
		       u32 count)
{
	const struct hwtimer_bulk cancel = {
		.op = HWTIMER_OP_CANCEL,
		.flags = HWTIMER_DISCARD,
	};

	spin_lock(&instance->lock);
	/* A result that is an error is no timer's id, so it cancels nothing. */
	bulk_run_locked(instance, &cancel, results, count, HWTIMER_STEPS_OWED);
}
