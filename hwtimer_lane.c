// SPDX-License-Identifier: GPL-2.0
/*
 * Opens and closes the lanes of an instance, and files the timers in their logs; see
 * hwtimer_lane.h.
 *
 * Callers of all these functions hold the instance's lock, but for those that allocate and
 * free a lane.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>

#include "hwtimer.h"
#include "hwtimer_memory.h"

/* A lane that was not opened for so long gives its slots to others, ns. */
#define LANE_IDLE NSEC_PER_SEC

static size_t bitmap_bytes(const struct hwtimer_table *table)
{
	return BITS_TO_LONGS(table->max_slots) * sizeof(unsigned long);
}

static size_t map_bytes(const struct hwtimer_table *table)
{
	return sizeof(struct hwtimer_lane_map) + table->max_slots;
}

/**
 * hwtimer_lane_bytes - compute what a lane takes
 * @table: the table of the instance, which has its arrays
 *
 * Return: bytes of kernel memory. Any context.
 */
u64 hwtimer_lane_bytes(const struct hwtimer_table *table)
{
	return sizeof(struct hwtimer_lane) +
	       HWTIMER_LANE_LOG * sizeof(struct hwtimer_logged) +
	       2 * bitmap_bytes(table) + map_bytes(table);
}

static void hand_drop(struct hwtimer_lane *lane)
{
	lane->hand = (struct hwtimer_hand){ .base = HWTIMER_HAND_NONE };
}

/**
 * hwtimer_lane_alloc - allocate a lane, closed
 * @table: the table of the instance, which has its arrays
 *
 * Return: the lane, or NULL. May sleep.
 */
struct hwtimer_lane *hwtimer_lane_alloc(const struct hwtimer_table *table)
{
	struct hwtimer_lane *lane =
		hwtimer_memory_get(sizeof(*lane), __GFP_ZERO);

	if (!lane)
		return NULL;
	lane->log =
		hwtimer_memory_get(HWTIMER_LANE_LOG * sizeof(*lane->log), 0);
	lane->vacant = hwtimer_memory_get(bitmap_bytes(table), __GFP_ZERO);
	lane->own = hwtimer_memory_get(bitmap_bytes(table), __GFP_ZERO);
	lane->map = hwtimer_memory_get(map_bytes(table), __GFP_ZERO);
	if (!lane->log || !lane->vacant || !lane->own || !lane->map) {
		hwtimer_lane_free(lane);
		return NULL;
	}
	memset(lane->map->owners, HWTIMER_LANE_NONE, table->max_slots);
	spin_lock_init(&lane->lock);
	hand_drop(lane);
	lane->dirty = U32_MAX;
	lane->earliest = HWTIMER_TICK_NONE;
	return lane;
}

/* Frees a lane, whose timers are forgotten. May sleep. */
void hwtimer_lane_free(struct hwtimer_lane *lane)
{
	if (!lane)
		return;
	kvfree(lane->vacant);
	kvfree(lane->map);
	kvfree(lane->own);
	kvfree(lane->log);
	kvfree(lane);
}

/**
 * hwtimer_lanes_allowed - whether timers of an instance may be scheduled through lanes
 * @instance: the instance; its lock is held
 *
 * Not if the clock may be set back, which moves the timers of the wheel.
 */
bool hwtimer_lanes_allowed(const struct hwtimer_instance *instance)
{
	return instance->manned && !instance->stopped &&
	       !instance->exchange.ring && !instance->consumer &&
	       !instance->wheel.rewinds;
}

/**
 * hwtimer_lanes_switched - note from which processor a request comes
 * @instance: the instance; its lock is held
 * @cpu: the processor
 */
void hwtimer_lanes_switched(struct hwtimer_instance *instance, u32 cpu)
{
	struct hwtimer_lanes *lanes = &instance->lanes;
	u64 now = get_jiffies_64();

	if (lanes->last == cpu)
		return;
	lanes->last = cpu;
	if (!lanes->nr)
		lanes->cpu = cpu;
	if (lanes->jiffy != now) {
		lanes->jiffy = now;
		lanes->switches = 0;
	}
	/*
	 * The clock must tell two requests apart of which one comes after the other. And a lane
	 * gets only timers that the account has granted in advance.
	 */
	if (++lanes->switches >= HWTIMER_LANE_SWITCHES && !lanes->pause &&
	    hwtimer_account_step() && hrtimer_resolution < NSEC_PER_USEC &&
	    !hwtimer_lanes_of(lanes, cpu % HWTIMER_LANES_MAX) &&
	    hwtimer_lanes_allowed(instance)) {
		WRITE_ONCE(lanes->wanted, true);
		WRITE_ONCE(lanes->attend, true);
	}
}

/**
 * hwtimer_lanes_free - free the lanes of an instance, whose timers are forgotten
 * @lanes: the lanes of an instance that is being freed, which nobody uses any more
 *
 * May sleep.
 */
void hwtimer_lanes_free(struct hwtimer_lanes *lanes)
{
	struct hwtimer_lane *of[HWTIMER_LANES_MAX];
	u32 i;

	if (!lanes->map)
		return;
	/* The map belongs to one of the lanes. */
	memcpy(of, lanes->map->of, sizeof(of));
	for (i = 0; i < HWTIMER_LANES_MAX; i++)
		hwtimer_lane_free(of[i]);
}

/* ---- what a lane borrows ---- */

/* Gives the free records of a lane's slots back to the table. */
static void return_records(struct hwtimer_table *table,
			   struct hwtimer_lane *lane)
{
	u32 i;

	if (lane->hand.free) {
		*hwtimer_table_word(table, lane->hand.base) |= lane->hand.free;
		hwtimer_lane_mark(lane, lane->hand.base >> HWTIMER_SLOT_SHIFT);
	}
	hand_drop(lane);
	if (lane->dirty_end)
		table->lowest =
			min(table->lowest, (u32)(lane->dirty * BITS_PER_LONG)
						   << HWTIMER_SLOT_SHIFT);
	for (i = lane->dirty; i < lane->dirty_end; i++) {
		table->vacant[i] |= lane->vacant[i];
		lane->vacant[i] = 0;
	}
	lane->dirty = U32_MAX;
	lane->dirty_end = 0;
}

/* When a timer expires: at its tick, which other timers share. */
static u64 expiry_of(const struct hwtimer_wheel *wheel, u64 deadline)
{
	if (deadline == HWTIMER_TICK_NONE)
		return HWTIMER_TICK_NONE;
	return hwtimer_wheel_time_of(wheel,
				     hwtimer_wheel_tick_of(wheel, deadline));
}

/*
 * Adds what a lane has done since the last time to the counters. It may schedule no more until
 * it is opened anew.
 */
static void settle(struct hwtimer_instance *instance, struct hwtimer_lane *lane)
{
	struct hwtimer_lanes *lanes = &instance->lanes;

	instance->stats.scheduled += lane->scheduled;
	instance->stats.cancelled += lane->cancelled;
	instance->stats.pending -= lane->buried;
	/* Those that it has scheduled are counted already, as its credit was. */
	instance->table.used -= lane->cancelled + lane->credit;
	lanes->done += lane->scheduled + lane->cancelled;
	/*
	 * While no compaction is due, requests owe nothing, as without lanes. One request has to
	 * pay for no more than this.
	 */
	lanes->buried = hwtimer_instance_compacts(instance) ?
				min(lanes->buried + lane->buried,
				    HWTIMER_LANES_MAX * HWTIMER_HOLD) :
				0;
	lanes->granted -= lane->scheduled + lane->credit;
	lanes->unfiled -= lane->cancelled - lane->buried + lane->credit;
	lanes->earliest = min(lanes->earliest,
			      expiry_of(&instance->wheel, lane->earliest));
	lane->scheduled = 0;
	lane->cancelled = 0;
	lane->buried = 0;
	lane->earliest = HWTIMER_TICK_NONE;
	lane->credit = 0;
}

/**
 * hwtimer_lane_settle - bring the counters of an instance up to date with a lane
 * @instance: the instance; its lock is held
 * @nr: number of the lane, which may be open. It may schedule no more until it is opened
 *	anew
 */
void hwtimer_lane_settle(struct hwtimer_instance *instance, u32 nr)
{
	struct hwtimer_lane *lane = instance->lanes.map->of[nr];

	lockdep_assert_held(&instance->lock);
	spin_lock(&lane->lock);
	settle(instance, lane);
	spin_unlock(&lane->lock);
}

/*
 * Pauses the lanes if they are closed all the time, or if the timers in their logs are soon
 * rescheduled: to file a timer costs more than the lane has saved.
 */
static void judge(struct hwtimer_lanes *lanes)
{
	u64 done = lanes->done - lanes->judged;

	if (done >= HWTIMER_LANE_USEFUL && lanes->moved <= done / 4) {
		lanes->useless = 0;
	} else if (++lanes->useless >= HWTIMER_LANE_USELESS) {
		lanes->useless = 0;
		hwtimer_lanes_pause(lanes);
	}
	lanes->judged = lanes->done;
	lanes->moved = 0;
}

static void close_one(struct hwtimer_instance *instance,
		      struct hwtimer_lane *lane)
{
	spin_lock(&lane->lock);
	settle(instance, lane);
	return_records(&instance->table, lane);
	lane->open = false;
	spin_unlock(&lane->lock);
}

/**
 * hwtimer_lanes_close - close all lanes
 * @instance: the instance; its lock is held
 *
 * Takes each open lane's lock; none of them is held for more than HWTIMER_HOLD timers.
 */
noinline void hwtimer_lanes_close(struct hwtimer_instance *instance)
{
	struct hwtimer_lanes *lanes = &instance->lanes;

	lockdep_assert_held(&instance->lock);
	for (; lanes->open; lanes->open &= lanes->open - 1)
		close_one(instance, lanes->map->of[__ffs(lanes->open)]);
	judge(lanes);
	if (!lanes->unfiled)
		lanes->earliest = HWTIMER_TICK_NONE;
}

/* The lanes that were not opened for @age jiffies, as a bitmap. */
static u32 lanes_closed(const struct hwtimer_lanes *lanes, u64 age)
{
	u64 now = get_jiffies_64();
	u32 i, closed = 0;

	for (i = 0; i < HWTIMER_LANES_MAX; i++) {
		const struct hwtimer_lane *lane = lanes->map->of[i];

		if (lane && !lane->open &&
		    time_after_eq64(now, lane->used + age))
			closed |= BIT(i);
	}
	return closed;
}

/* The lanes that are not in use. Others may have their slots. */
static u32 lanes_idle(const struct hwtimer_lanes *lanes)
{
	return lanes_closed(lanes, nsecs_to_jiffies64(LANE_IDLE));
}

/*
 * The slots of word @word of table->vacant that lane @nr may borrow: its own, those of the lanes
 * @others, and those that belong to no lane yet.
 */
static unsigned long slots_for(const struct hwtimer_instance *instance, u32 nr,
			       u32 others, u32 word)
{
	const struct hwtimer_lanes *lanes = &instance->lanes;
	u32 first = word * BITS_PER_LONG;
	unsigned long slots = lanes->map->of[nr]->own[word];

	for (; others; others &= others - 1)
		slots |= lanes->map->of[__ffs(others)]->own[word];
	if (lanes->assigned < first + BITS_PER_LONG)
		slots |= ~0UL << (max(lanes->assigned, first) - first);
	return slots & instance->table.vacant[word];
}

/* The words of table->vacant in which a slot may have a free record: from this one on, */
static u32 first_word(const struct hwtimer_table *table)
{
	return (table->lowest >> HWTIMER_SLOT_SHIFT) / BITS_PER_LONG;
}

/* and before this one. */
static u32 end_word(const struct hwtimer_table *table)
{
	return BITS_TO_LONGS(table->nr_slots);
}

/* The number of slots that slots_for() finds in all words, @max at most. */
static u32 slots_found(const struct hwtimer_instance *instance, u32 nr,
		       u32 others, u32 max)
{
	u32 word, found = 0;

	for (word = first_word(&instance->table);
	     word < end_word(&instance->table) && found < max; word++)
		found += hweight_long(slots_for(instance, nr, others, word));
	return min(found, max);
}

/*
 * The lanes whose slots lane @nr may have: those that are idle. If that gives it none, any closed
 * lane, as long as HWTIMER_LANE_SLOTS are left, which the other lane is lent when it is opened.
 * Otherwise, lanes would take the same slots from each other all the time.
 */
static u32 lanes_giving(const struct hwtimer_instance *instance, u32 nr)
{
	u32 idle = lanes_idle(&instance->lanes);
	u32 closed;

	if (slots_found(instance, nr, idle, 1))
		return idle;
	closed = lanes_closed(&instance->lanes, 0);
	if (slots_found(instance, nr, closed, 2 * HWTIMER_LANE_SLOTS) <
	    2 * HWTIMER_LANE_SLOTS)
		return idle;
	return closed;
}

/**
 * hwtimer_lane_finds_slot - whether a lane can be opened without another slot
 * @instance: the instance; its lock is held
 * @nr: number of the lane
 */
bool hwtimer_lane_finds_slot(const struct hwtimer_instance *instance, u32 nr)
{
	return slots_found(instance, nr, lanes_giving(instance, nr), 1);
}

/* Has a slot belong to lane @nr, which is locked. The lane to which it belonged is closed. */
static void own_slot(struct hwtimer_lanes *lanes, u32 nr, u32 slot)
{
	u32 before = lanes->map->owners[slot];

	if (before != HWTIMER_LANE_NONE)
		__clear_bit(slot, lanes->map->of[before]->own);
	__set_bit(slot, lanes->map->of[nr]->own);
	WRITE_ONCE(lanes->map->owners[slot], nr);
}

/* The slots of a word that a lane is not to have: the first @spare ones, which @spare loses. */
static unsigned long slots_spared(unsigned long slots, u32 *spare)
{
	unsigned long spared = 0;

	for (; slots && *spare; slots &= slots - 1, --*spare)
		spared |= slots & -slots;
	return spared;
}

/*
 * Lends lane @nr the free records of up to HWTIMER_LANE_SLOTS slots. Returns whether there are
 * any. Full slots may be marked as vacant; passes over HWTIMER_HOLD of them at most, and then
 * they are marked no more.
 */
static bool lend_slots(struct hwtimer_instance *instance, u32 nr)
{
	struct hwtimer_lanes *lanes = &instance->lanes;
	struct hwtimer_table *table = &instance->table;
	u32 others = lanes_giving(instance, nr);
	u32 spare = others & ~lanes_idle(lanes) ? HWTIMER_LANE_SLOTS : 0;
	u32 word, lent = 0, full = 0;

	for (word = first_word(table); word < end_word(table); word++) {
		unsigned long slots = slots_for(instance, nr, others, word);

		for (slots &= ~slots_spared(slots, &spare); slots;
		     slots &= slots - 1) {
			u32 slot = word * BITS_PER_LONG + __ffs(slots);

			if (lent == HWTIMER_LANE_SLOTS || full == HWTIMER_HOLD)
				return lent;
			__clear_bit(slot, table->vacant);
			if (hwtimer_table_slot_free(table, slot) ==
			    HWTIMER_NO_RECORD) {
				full++;
				continue;
			}
			own_slot(lanes, nr, slot);
			hwtimer_lane_mark(lanes->map->of[nr], slot);
			lent++;
		}
	}
	return lent;
}

/* Has the slots by which the table has grown belong to lane @nr. */
static void assign_slots(struct hwtimer_instance *instance, u32 nr)
{
	struct hwtimer_lanes *lanes = &instance->lanes;

	for (; lanes->assigned < instance->table.nr_slots; lanes->assigned++)
		own_slot(lanes, nr, lanes->assigned);
}

/* Whether an open lane may have no free records left. */
static bool lane_dry(const struct hwtimer_lane *lane)
{
	u32 i;

	if (lane->hand.free)
		return false;
	for (i = lane->dirty; i < lane->dirty_end; i++)
		if (lane->vacant[i])
			return false;
	return true;
}

/**
 * hwtimer_lane_open - open a lane, or let an open lane go on
 * @instance: the instance, which has memory for @credit more timers; its lock is held.
 *	Other lanes may be open
 * @nr: number of the lane
 * @credit: number of timers that the lane may schedule
 *
 * Return: whether the lane is open, and has free records if @credit is not 0.
 */
bool hwtimer_lane_open(struct hwtimer_instance *instance, u32 nr, u32 credit)
{
	struct hwtimer_lanes *lanes = &instance->lanes;
	struct hwtimer_lane *lane = lanes->map->of[nr];
	bool lent;

	lockdep_assert_held(&instance->lock);
	spin_lock(&lane->lock);
	settle(instance, lane);
	assign_slots(instance, nr);
	lane->from = instance->wakeup.at;
	if (credit)
		lane->used = get_jiffies_64();
	lent = !credit || !lane_dry(lane) || lend_slots(instance, nr);
	if (lent) {
		lane->open = true;
		lanes->open |= BIT(nr);
		lane->credit = credit;
		lane->places =
			min(HWTIMER_LANE_LOG, HWTIMER_LANE_LOGS / lanes->nr);
		lanes->granted += credit;
		lanes->unfiled += credit;
		instance->table.used += credit;
	}
	spin_unlock(&lane->lock);
	return lent;
}

/**
 * hwtimer_lanes_add - give an instance a lane
 * @instance: the instance, which has no lane @nr; its lock is held
 * @nr: number of the lane
 * @lane: the lane
 */
void hwtimer_lanes_add(struct hwtimer_instance *instance, u32 nr,
		       struct hwtimer_lane *lane)
{
	struct hwtimer_lanes *lanes = &instance->lanes;

	lockdep_assert_held(&instance->lock);
	/* Each lane has a map; that of the first one is used. */
	if (!lanes->map)
		/* Pairs with the smp_load_acquire() in hwtimer_lanes_of() and express_cancel(). */
		smp_store_release(&lanes->map, lane->map);
	lanes->cpu = U32_MAX;
	WRITE_ONCE(lanes->nr, lanes->nr + 1);
	/* Pairs with the smp_load_acquire() in hwtimer_lanes_of(). */
	smp_store_release(&lanes->map->of[nr], lane);
}

/* ---- the logs ---- */

/* The next timer in a lane's log, or NULL; passes over up to *@max others. */
static struct hwtimer_logged *log_next(struct hwtimer_lane *lane, u32 *max)
{
	for (; lane->head != lane->tail && *max; lane->head++, --*max) {
		struct hwtimer_logged *logged =
			hwtimer_lane_place(lane, lane->head);

		if (logged->index != HWTIMER_NO_RECORD)
			return logged;
	}
	return NULL;
}

/* The timer in the logs that was scheduled first, or NULL; as log_next(). */
static struct hwtimer_logged *logs_next(struct hwtimer_lanes *lanes, u32 *max)
{
	struct hwtimer_logged *first = NULL;
	u32 i;

	for (i = 0; i < HWTIMER_LANES_MAX && *max; i++) {
		struct hwtimer_logged *logged;

		if (!lanes->map->of[i])
			continue;
		logged = log_next(lanes->map->of[i], max);
		if (logged && (!first || logged->when < first->when))
			first = logged;
	}
	/* If *@max is 0, one that was not looked at may be older. */
	return *max ? first : NULL;
}

/* Moves a timer from its log to the wheel. */
static void file(struct hwtimer_instance *instance,
		 struct hwtimer_record *record, u32 index)
{
	hwtimer_lanes_strike(&instance->lanes, record);
	instance->lanes.unfiled--;
	hwtimer_record_become(record, HWTIMER_PENDING);
	hwtimer_wheel_add(&instance->wheel, record, index);
	instance->stats.pending++;
}

/**
 * hwtimer_lanes_file - file the oldest timers of the logs in the wheel
 * @instance: the instance; its lock is held, its lanes are closed, and its wheel follows the
 *	clock
 * @until: time, ns on the instance's clock: only timers that were scheduled until then
 * @max: maximum number of places of the logs to look at
 *
 * Return: whether there are more.
 */
bool hwtimer_lanes_file(struct hwtimer_instance *instance, u64 until, u32 max)
{
	struct hwtimer_lanes *lanes = &instance->lanes;

	lockdep_assert_held(&instance->lock);
	while (lanes->unfiled && max) {
		struct hwtimer_logged *logged = logs_next(lanes, &max);
		u32 index;

		/* All logs are empty, if @max is not used up. */
		if (!logged) {
			if (WARN_ON_ONCE(max))
				lanes->unfiled = 0;
			break;
		}
		if (logged->when > until)
			return false;
		index = logged->index;
		file(instance, hwtimer_table_record(&instance->table, index),
		     index);
	}
	if (!lanes->unfiled)
		lanes->earliest = HWTIMER_TICK_NONE;
	return lanes->unfiled;
}

/**
 * hwtimer_lanes_file_one - file a timer in the wheel, whatever its age
 * @instance: the instance; its lock is held, and its lanes are closed
 * @record: the timer's record, in state HWTIMER_LOGGED
 * @index: index of the record
 */
void hwtimer_lanes_file_one(struct hwtimer_instance *instance,
			    struct hwtimer_record *record, u32 index)
{
	lockdep_assert_held(&instance->lock);
	file(instance, record, index);
	instance->lanes.moved++;
}
