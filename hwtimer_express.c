// SPDX-License-Identifier: GPL-2.0
/*
 * Schedules and cancels timers with a lane's lock held; see hwtimer_express.h.
 *
 * An operation that is not plain, or that needs something that the lane has not borrowed,
 * ends the lane's part of a bulk. The caller does the rest with the instance's lock held.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/nospec.h>

#include "hwtimer_bulk.h"
#include "hwtimer_lane.h"
#include "hwtimer_express.h"
#include "hwtimer_op.h"

/* ---- SCHEDULE ---- */

/* Takes free records of the lane's slots to hand. Returns whether there are any. */
static noinline bool hand_refill(const struct hwtimer_table *table,
				 struct hwtimer_lane *lane)
{
	u32 end = lane->dirty_end * BITS_PER_LONG;
	u32 slot =
		find_next_bit(lane->vacant, end, lane->dirty * BITS_PER_LONG);
	u32 index;

	for (; slot < end; slot = find_next_bit(lane->vacant, end, slot)) {
		index = hwtimer_table_slot_free(table, slot);
		if (index != HWTIMER_NO_RECORD) {
			hwtimer_hand_fill(table, &lane->hand, index);
			return true;
		}
		__clear_bit(slot, lane->vacant);
	}
	return false;
}

/* Passes over timers at the front of the log that were cancelled, @max at most. */
static void log_shed(struct hwtimer_lane *lane, u32 max)
{
	for (; max-- && lane->head != lane->tail; lane->head++)
		if (READ_ONCE(hwtimer_lane_place(lane, lane->head)->index) !=
		    HWTIMER_NO_RECORD)
			return;
}

/* How many timers the lane can schedule now, @count at most. */
static u32 lane_room(struct hwtimer_lane *lane, u32 count)
{
	u32 used;

	log_shed(lane, 2 * count);
	used = lane->tail - lane->head;
	return min3(count, lane->credit,
		    lane->places - min(lane->places, used));
}

static __always_inline void lane_fill(struct hwtimer_record *record,
				      u64 deadline, u64 user_data, u32 place)
{
	const struct hwtimer_record logged = { .state = HWTIMER_LOGGED };

	record->deadline = deadline;
	record->user_data = user_data;
	record->place = place;
	hwtimer_record_check(record, HWTIMER_LOGGED);
	record->status = logged.status;
}

/* Schedules up to @count timers; returns how many. */
static u32 lane_schedule(struct hwtimer_instance *instance,
			 struct hwtimer_lane *lane, u32 nr, u32 flags,
			 const u64 *words, u64 *results, u32 count)
{
	struct hwtimer_moment moment = { .instance = instance };
	u64 now = hwtimer_moment_now(&moment);
	u64 earliest = lane->earliest;
	u32 i, base = nr * HWTIMER_LANE_LOG;

	count = lane_room(lane, count);
	for (i = 0; i < count; i++, words += 2) {
		u64 user_data = words[0], time = words[1], deadline;
		struct hwtimer_record *record;
		struct hwtimer_logged *logged;
		u32 index;

		if (hwtimer_op_no_time(time, flags))
			break;
		deadline = hwtimer_op_deadline(time, flags, &moment);
		/* The worker must come earlier than it plans to. */
		if (unlikely(deadline < lane->from))
			break;
		if (unlikely(!lane->hand.free) &&
		    !hand_refill(&instance->table, lane))
			break;
		record = hwtimer_hand_take(&lane->hand, &index);
		lane_fill(record, deadline, user_data,
			  base + lane->tail % HWTIMER_LANE_LOG);
		results[i] = hwtimer_table_id(record, index);
		logged = hwtimer_lane_place(lane, lane->tail++);
		logged->when = now;
		logged->index = index;
		earliest = min(earliest, deadline);
	}
	lane->earliest = earliest;
	lane->scheduled += i;
	lane->credit -= i;
	return i;
}

/* ---- CANCEL ---- */

/* hwtimer_table_offer() for a lane's slots. */
static __always_inline void lane_offer(const struct hwtimer_table *table,
				       struct hwtimer_lane *lane, u32 index)
{
	if (hwtimer_table_mark_free(table, &lane->hand, index))
		hwtimer_lane_mark(lane, index >> HWTIMER_SLOT_SHIFT);
}

/* Cancels a timer in a slot of the lane; returns false if that is not for the lane to do. */
static __always_inline bool lane_cancel_one(struct hwtimer_instance *instance,
					    struct hwtimer_lane *lane, u64 id,
					    u32 index)
{
	const struct hwtimer_record ours = { .state = HWTIMER_LOGGED };
	const struct hwtimer_record filed = { .state = HWTIMER_PENDING };
	const struct hwtimer_table *table = &instance->table;
	struct hwtimer_record *record = hwtimer_table_record(table, index);

	if (unlikely(record->generation != upper_32_bits(id) ||
		     record->generation == HWTIMER_GENERATION_MAX))
		return false;
	if (likely(record->status == ours.status)) {
		hwtimer_lanes_strike(&instance->lanes, record);
	} else if (record->status == filed.status) {
		hwtimer_record_outdate(record);
		lane->buried++;
	} else {
		return false;
	}
	hwtimer_record_become(record, HWTIMER_FREE);
	lane_offer(table, lane, index);
	lane->cancelled++;
	return true;
}

/* hwtimer_table_prefetch() without the instance's lock: the table has @end records or more. */
static __always_inline void lane_fetch(const struct hwtimer_table *table,
				       u64 id, u32 end)
{
	u32 index = lower_32_bits(id);

	if (likely(index < end))
		prefetchw(hwtimer_table_record(table,
					       array_index_nospec(index, end)));
}

/*
 * Cancels timers in slots of lane @nr, which is locked, up to the first one that is not.
 * Returns how many it has cancelled.
 */
static u32 lane_cancel(struct hwtimer_instance *instance,
		       struct hwtimer_lane *lane, u32 nr, u64 *words, u32 count)
{
	const struct hwtimer_table *table = &instance->table;
	/* Pairs with the smp_store_release() in table_add_slot(). */
	u32 i, end = smp_load_acquire(&table->end);

	/* Each may leave a dead entry in the wheel. */
	count = min(count, HWTIMER_HOLD - min(lane->buried, HWTIMER_HOLD));
	for (i = 0; i < min_t(u32, count, HWTIMER_AHEAD); i++)
		lane_fetch(table, words[i], end);
	for (i = 0; i < count; i++) {
		u64 id = words[i];
		u32 index = lower_32_bits(id);

		if (i + HWTIMER_AHEAD < count)
			lane_fetch(table, words[i + HWTIMER_AHEAD], end);
		if (unlikely(index >= end))
			break;
		index = array_index_nospec(index, end);
		if (hwtimer_lanes_owner(&instance->lanes, index) != nr ||
		    !lane_cancel_one(instance, lane, id, index))
			break;
		words[i] = 0;
	}
	return i;
}

/* ---- opening a lane ---- */

/*
 * Whether a lane may be opened now. While timers are taken out of the logs, none comes to them,
 * so that this comes to an end. And if lanes have cancelled timers of the wheel while it is
 * compacted, a request without a lane pays for them first, see hwtimer_op_end().
 */
static bool lane_may_open(struct hwtimer_instance *instance)
{
	struct hwtimer_lanes *lanes = &instance->lanes;

	if (!hwtimer_lanes_allowed(instance)) {
		hwtimer_lanes_pause(lanes);
		return false;
	}
	if (lanes->filing || lanes->pause)
		return false;
	if (lanes->buried >= HWTIMER_HOLD &&
	    hwtimer_instance_compacts(instance))
		return false;
	return !lanes->unfiled || lanes->earliest == HWTIMER_TICK_NONE ||
	       lanes->earliest > hwtimer_instance_now(instance);
}

static u32 timers_left(const struct hwtimer_instance *instance)
{
	return instance->allowance.max - hwtimer_instance_timers(instance);
}

/*
 * The number of timers that lane @nr may have: an equal share, among the open lanes, of those
 * that the account has granted and that no timer needs. If they are fewer than a step, asks the
 * account for a step more, so that the instance has at most two of them, as without lanes. Does
 * not ask for the last timers: other instances of the user may need what a lane only might use.
 */
static u32 lane_room_left(struct hwtimer_instance *instance, u32 nr)
{
	const struct hwtimer_lanes *lanes = &instance->lanes;
	u32 users = hweight32(lanes->open | BIT(nr));
	u32 left = timers_left(instance);

	if (left + lanes->granted < hwtimer_account_step()) {
		hwtimer_allowance_ask(instance);
		left = timers_left(instance);
	}
	return min(left, max((left + lanes->granted) / users, 1U));
}

/*
 * Has the chores close the lanes after a while. So if nobody uses an instance any more, it does
 * not keep what its lanes have borrowed.
 */
static void lanes_watch(struct hwtimer_instance *instance)
{
	if (instance->lanes.watched)
		return;
	instance->lanes.watched = true;
	hwtimer_wakeup_chores(instance, ktime_get_ns() + NSEC_PER_SEC);
}

/*
 * Opens lane @nr if memory is there, for @credit timers or fewer; the instance's lock is held.
 * Returns whether it is open.
 */
static bool lane_try(struct hwtimer_instance *instance, u32 nr, u32 credit)
{
	struct hwtimer_demand demand = {};

	if (credit) {
		demand.timers = min(credit, lane_room_left(instance, nr));
		if (!demand.timers ||
		    !hwtimer_supply_lane_ready(instance, &demand))
			return false;
	}
	if (!hwtimer_lane_open(instance, nr, demand.timers))
		return false;
	lanes_watch(instance);
	return true;
}

/*
 * Gets the memory that lets all lanes be open at a time, and opens lane @nr to schedule. May
 * sleep.
 */
static void lane_try_hard(struct hwtimer_instance *instance, u32 nr)
{
	const struct hwtimer_demand demand = {
		.timers =
			min(READ_ONCE(instance->lanes.nr) * HWTIMER_LANE_CREDIT,
			    instance->settings.timers),
		.lane = true,
		.nr = nr,
	};
	bool open = !hwtimer_supply_reserve_lane(instance, &demand) &&
		    lane_may_open(instance) &&
		    lane_try(instance, nr, HWTIMER_LANE_CREDIT);

	/* The next attempts would hardly find more memory. */
	if (!open)
		hwtimer_lanes_pause(&instance->lanes);
	spin_unlock(&instance->lock);
}

/* Opens lane @nr, which may be open but used up, for @credit timers or fewer. May sleep. */
static void lane_renew(struct hwtimer_instance *instance, u32 nr, u32 credit)
{
	bool may, open;

	spin_lock(&instance->lock);
	hwtimer_lane_settle(instance, nr);
	may = lane_may_open(instance);
	open = may && lane_try(instance, nr, credit);
	spin_unlock(&instance->lock);
	if (may && !open && credit)
		lane_try_hard(instance, nr);
}

/* ---- bulks ---- */

/*
 * Locks lane @nr. If it is closed, opens it before. The same if it is open and @credit is not 0,
 * but it may schedule no more: then for up to @credit timers. Returns whether it is open. May
 * sleep.
 */
static bool lane_hold(struct hwtimer_instance *instance,
		      struct hwtimer_lane *lane, u32 nr, u32 credit)
	__acquires(&lane->lock)
{
	spin_lock(&lane->lock);
	if (likely(lane->open && (lane->credit || !credit)))
		return true;
	spin_unlock(&lane->lock);
	lane_renew(instance, nr, credit);
	spin_lock(&lane->lock);
	return lane->open;
}

/*
 * Schedules up to @count timers through lane @nr; returns how many. Opens the lane anew where it
 * may schedule no more. May sleep.
 */
static u32 express_schedule(struct hwtimer_instance *instance, u32 nr,
			    u32 flags, u64 *words, u32 count)
{
	struct hwtimer_lane *lane = hwtimer_lanes_of(&instance->lanes, nr);
	u32 some, done = 0;
	bool spent;

	do {
		some = 0;
		if (!lane)
			break;
		if (lane_hold(instance, lane, nr, HWTIMER_LANE_CREDIT))
			some = lane_schedule(instance, lane, nr, flags,
					     words + 2 * done, words + done,
					     count - done);
		spent = !lane->credit;
		spin_unlock(&lane->lock);
		done += some;
	} while (some && spent && done < count);
	if (unlikely(done < count))
		memmove(&words[done], &words[2 * done],
			2 * (count - done) * sizeof(*words));
	return done;
}

/*
 * Cancels timers in slots of lane @nr, as lane_cancel(). Opens the lane if it is closed. May
 * sleep.
 */
static u32 cancel_run(struct hwtimer_instance *instance, u32 nr, u64 *words,
		      u32 count)
{
	struct hwtimer_lane *lane = hwtimer_lanes_of(&instance->lanes, nr);
	u32 done = 0;

	if (!lane)
		return 0;
	if (lane_hold(instance, lane, nr, 0))
		done = lane_cancel(instance, lane, nr, words, count);
	spin_unlock(&lane->lock);
	return done;
}

/* Cancels timers, whatever lanes their slots belong to, up to one that is not plain. */
static u32 express_cancel(struct hwtimer_instance *instance, u64 *words,
			  u32 count)
{
	u32 done = 0, some;

	/* Pairs with the smp_store_release() in hwtimer_lanes_add(). */
	if (!smp_load_acquire(&instance->lanes.map))
		return 0;
	do {
		u32 index = lower_32_bits(words[done]);
		/* Pairs with the smp_store_release() in table_add_slot(). */
		u32 end = smp_load_acquire(&instance->table.end);

		if (index >= end)
			break;
		index = array_index_nospec(index, end);
		some = cancel_run(instance,
				  hwtimer_lanes_owner(&instance->lanes, index),
				  &words[done], count - done);
		done += some;
	} while (some && done < count);
	return done;
}

/* ---- what other files call ---- */

/*
 * Gives an instance the whole wheel and table, if it still has those with which it started.
 * Returns whether it has them; with a limit of a few timers, it never needs them.
 */
static bool wheel_provide(struct hwtimer_instance *instance)
{
	const struct hwtimer_demand demand = { .timers =
						       HWTIMER_START_ENTRIES };
	bool whole = !hwtimer_supply_reserve(instance, &demand) &&
		     instance->wheel.room == U64_MAX && !instance->table.start;

	spin_unlock(&instance->lock);
	return whole;
}

/**
 * hwtimer_express_provide - give an instance another lane
 * @instance: the instance, which has started; none of its locks is held
 * @nr: number of the lane, hwtimer_lane_here()
 *
 * Without memory, the instance goes on without it. May sleep.
 */
void hwtimer_express_provide(struct hwtimer_instance *instance, u32 nr)
{
	struct hwtimer_lane *lane = NULL;

	WRITE_ONCE(instance->lanes.wanted, false);
	if (hwtimer_lanes_of(&instance->lanes, nr))
		return;
	if (wheel_provide(instance))
		lane = hwtimer_supply_lane(instance);
	spin_lock(&instance->lock);
	if (lane) {
		if (!hwtimer_lanes_of(&instance->lanes, nr)) {
			hwtimer_lanes_add(instance, nr, lane);
			lane = NULL;
		}
		hwtimer_supply_lane_got(instance);
	} else { /* The next attempts would hardly find more memory. */
		hwtimer_lanes_pause(&instance->lanes);
	}
	spin_unlock(&instance->lock);
	hwtimer_lane_free(lane);
}

static bool bulk_plain(const struct hwtimer_bulk *bulk)
{
	if (trace_hwtimer_schedule_enabled() || trace_hwtimer_cancel_enabled())
		return false;
	if (bulk->op == HWTIMER_OP_SCHEDULE)
		return !bulk->slack && !(bulk->flags & ~HWTIMER_ABSOLUTE);
	return bulk->op == HWTIMER_OP_CANCEL;
}

/**
 * hwtimer_express_run - do a bulk, or the beginning of it, through a lane
 * @instance: the instance; none of its locks is held
 * @nr: number of the lane, hwtimer_lane_here()
 * @bulk: the bulk, which is not general, and valid; only op, flags and slack are used
 * @words: in: the timers; out: the results, and behind them the timers whose operations were
 *	not done; see hwtimer_bulk.c
 * @count: number of operations, at most HWTIMER_HOLD
 *
 * Return: the number of operations that were done. May sleep; takes the lane's lock, and maybe
 * the instance's.
 */
noinline u32 hwtimer_express_run(struct hwtimer_instance *instance, u32 nr,
				 const struct hwtimer_bulk *bulk, u64 *words,
				 u32 count)
{
	/* hwtimer_supply_reserve() counts it down, with the lock held all the same. */
	if (READ_ONCE(instance->lanes.pause))
		return 0;
	if (unlikely(READ_ONCE(instance->lanes.wanted)))
		hwtimer_express_provide(instance, nr);
	if (!bulk_plain(bulk))
		return 0;
	if (bulk->op == HWTIMER_OP_CANCEL)
		return express_cancel(instance, words, count);
	return express_schedule(instance, nr, bulk->flags, words, count);
}

/**
 * hwtimer_express_request - do a single request through a lane
 * @instance: the instance; none of its locks is held
 * @nr: number of the lane, hwtimer_lane_here()
 * @request: in: the request, which is valid; out: its result, and the id of a new timer
 *
 * Return: whether it was done. Otherwise nothing has changed. As hwtimer_express_run().
 */
noinline bool hwtimer_express_request(struct hwtimer_instance *instance, u32 nr,
				      struct hwtimer_request *request)
{
	bool schedule = request->op == HWTIMER_OP_SCHEDULE;
	const struct hwtimer_bulk bulk = { .op = request->op,
					   .flags = request->flags,
					   .slack = request->slack };
	u64 words[2] = { request->user_data, request->time };

	if (schedule && request->interval)
		return false;
	if (!schedule)
		words[0] = request->id;
	if (!hwtimer_express_run(instance, nr, &bulk, words, 1))
		return false;
	if (schedule)
		request->id = words[0];
	return true;
}
