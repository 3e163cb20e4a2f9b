// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the wheel against what it owes to the timers; see duties.h.
 *
 * - No timer expires before its tick. After a turn that leaves nothing to do, no timer is
 *   left whose tick has come. A timer that is overdue when it is added, or when the wheel
 *   goes back, expires at the following tick.
 * - Timers expire in the order of their ticks, and within a tick as they were added. An
 *   overdue timer has no set place.
 * - hwtimer_wheel_next() is never later than the first tick. As long as all entries are
 *   live, it is a tick at which a timer may expire, or a heavy bucket should move down.
 * - Each pending timer has one live entry, each entry is counted, and the wheel knows
 *   which buckets have entries.
 * - A wheel that is turned whenever it asks for it delivers all timers, and is then
 *   empty.
 */
#include "duties.h"

/* More turns than any wheel here needs, so one that needs more does not end. */
#define TURNS_MAX 200

static struct hwtimer_wheel *const wheel = &world.wheel;

static bool wheel_busy(void)
{
	return hwtimer_wheel_busy(wheel);
}

/* Number of timers before the new one among those with the same @latest */
static u8 followers(u64 latest)
{
	u8 count = 0;
	u32 i;

	for (i = 1; i <= config.timers; i++)
		count += world.duties[i].ordered &&
			 world.duties[i].latest == latest;
	return count;
}

static u64 not_passed(u64 tick)
{
	return max(tick, wheel->current_tick + 1);
}

/* Timer @index was added, to expire at @tick. Called before the wheel knows it. */
void duty_added(u32 index, u64 tick)
{
	u64 latest = not_passed(tick);

	world.duties[index] = (struct duty){
		.pending = true,
		.ordered = tick > wheel->current_tick,
		.rank = followers(latest),
		.earliest = tick,
		.latest = latest,
	};
}

void duty_cancelled(u32 index)
{
	world.duties[index] = (struct duty){};
	world.exact = false;
}

/* Timer @index was rescheduled, to a @later time or an earlier one. */
void duty_moved(u32 index, u64 tick, bool later)
{
	struct duty *duty = &world.duties[index];

	world.exact = false;
	if (!later) {
		*duty = (struct duty){};
		duty_added(index, tick);
		return;
	}
	/* An entry moves on when its former tick comes, and behind those that are there. */
	duty->ordered = false;
	duty->rank = 0;
	duty->earliest = tick;
	duty->latest = max(tick, duty->latest);
}

/* The wheel goes back to @tick. */
void duty_rewound(u64 tick)
{
	struct duty *duty = &world.duties[1];

	for (; duty <= &world.duties[config.timers]; duty++) {
		if (!duty->pending)
			continue;
		duty->latest = max(duty->earliest, tick + 1);
		if (duty->latest == duty->earliest)
			continue;
		duty->ordered = false;
		duty->rank = 0;
	}
	world.exact = false;
}

/* Whether timer @a must expire before timer @b */
static bool goes_before(const struct duty *a, const struct duty *b)
{
	return a->latest < b->latest ||
	       (a->latest == b->latest && a->rank < b->rank);
}

static void expired(u32 index, u64 tick)
{
	struct duty *duty = &world.duties[index];
	u32 i;

	if (index > config.timers || !duty->pending)
		fail("record %u expires, but is not pending", index);
	if (duty->earliest > tick)
		fail("timer %u expires at tick %llu, before %llu", index, tick,
		     duty->earliest);
	for (i = 1; duty->ordered && i <= config.timers; i++)
		if (world.duties[i].ordered &&
		    goes_before(&world.duties[i], duty))
			fail("timer %u expires before timer %u", index, i);
	*duty = (struct duty){};
	world.records[index].state = HWTIMER_FREE;
	world.free |= BIT(index);
}

/* Turns the wheel at @tick, with a budget of @hold. */
void duty_advance(u64 tick, unsigned int hold)
{
	u32 due[TIMERS_MAX + 1];
	unsigned int i, count;

	states_hold = hold;
	count = hwtimer_wheel_advance(wheel, tick * wheel->shape.tick, due);
	if (count > config.timers)
		fail("%u timers expire at once", count);
	for (i = 0; i < count; i++)
		expired(due[i], tick);
	if (hwtimer_wheel_next(wheel) <= tick)
		return;
	for (i = 1; i <= config.timers; i++)
		if (world.duties[i].pending && world.duties[i].latest <= tick)
			fail("timer %u of tick %llu has not expired at tick %llu",
			     i, world.duties[i].latest, tick);
}

/* Whether a timer may expire at @tick. */
static bool some_may(u64 tick)
{
	u32 i;

	for (i = 1; i <= config.timers; i++)
		if (world.duties[i].pending && world.duties[i].earliest <= tick)
			return true;
	return false;
}

/* The first tick by which a timer must have expired */
static u64 first_tick(void)
{
	u64 first = HWTIMER_TICK_NONE;
	u32 i;

	for (i = 1; i <= config.timers; i++)
		if (world.duties[i].pending)
			first = min(first, world.duties[i].latest);
	return first;
}

static void check_next(void)
{
	u64 next = hwtimer_wheel_next(wheel);
	u64 first = first_tick();

	if (wheel_busy())
		return;
	if (next > first)
		fail("the wheel would come at tick %llu, after %llu", next,
		     first);
	if (!wheel->entries && !wheel->sweep.active &&
	    next == HWTIMER_TICK_NONE && !config.dead && !config.moves)
		world.exact = true;
	if (world.exact && next != first && !some_may(next) &&
	    next != hwtimer_kind_ahead_tick(wheel))
		fail("the wheel would come at tick %llu for nothing before %llu",
		     next, first);
}

/* Counts the entries of @queue, and the live ones of each timer. */
static u64 count_queue(const struct hwtimer_queue *queue, u32 *live)
{
	const struct hwtimer_chunk *chunk = queue->head;
	u64 entries = 0;

	for (; chunk; chunk = chunk == queue->tail ? NULL : chunk->next) {
		unsigned int slot = chunk == queue->head ? queue->first :
							   chunk->first;
		unsigned int end = hwtimer_queue_end(queue, chunk);

		if (slot >= end || end > HWTIMER_CHUNK_ENTRIES)
			fail("a chunk has entries from %u to %u", slot, end);
		entries += end - slot;
		for (; slot < end; slot++) {
			struct hwtimer_entry entry = chunk->entries[slot];
			bool alive = world_alive(entry);

			if (alive && chunk->dead & BIT(slot))
				fail("a live entry of timer %u is marked dead",
				     entry.index);
			live[entry.index] += alive;
		}
		if (entries > ENTRIES_MAX)
			fail("a queue does not end");
	}
	return entries;
}

static void check_entries(void)
{
	u32 live[TIMERS_MAX + 1] = {};
	u64 entries = 0, postponed = 0;
	u32 i;

	for (i = 0; i < world_queues(); i++)
		entries += count_queue(world_queue(i), live);
	if (entries != wheel->entries)
		fail("the wheel counts %llu entries, and has %llu",
		     wheel->entries, entries);
	for (i = 1; i <= config.timers; i++) {
		if (live[i] != world.duties[i].pending)
			fail("timer %u has %u live entries", i, live[i]);
		postponed += world.duties[i].pending &&
			     world.records[i].postponed;
	}
	if (postponed != wheel->postponed)
		fail("the wheel counts %llu postponed timers, not %llu",
		     wheel->postponed, postponed);
}

static void check_walk(const struct hwtimer_walk *walk)
{
	if (!walk->active && !hwtimer_queue_empty(&walk->source) &&
	    walk != &wheel->refile.walk)
		fail("a walk that has ended has entries");
	if (!walk->active && !hwtimer_queue_empty(&walk->kept))
		fail("a walk that has ended keeps entries");
}

static bool walked(const struct hwtimer_walk *walk, u32 nr)
{
	return walk->active && walk->bucket == nr;
}

/* Whether bucket @nr of level @level counts as occupied */
static bool occupied(unsigned int level, u32 nr)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u32 first = level ? wheel->shape.buckets +
				    (level - 1) * (2U << HWTIMER_LEVEL_SHIFT) :
			    0;

	if (level)
		return hierarchy->levels[level].occupied >> (nr - first) & 1;
	return hierarchy->occupied[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG &
	       1;
}

static void check_bucket(unsigned int level, u32 nr)
{
	const struct hwtimer_bucket *bucket = &wheel->buckets[nr];
	bool used = !hwtimer_queue_empty(&bucket->entries) ||
		    walked(&wheel->walk, nr) || walked(&wheel->ahead, nr) ||
		    walked(&wheel->sweep, nr);

	if (used && !occupied(level, nr))
		fail("bucket %u has entries, but counts as empty", nr);
	if (occupied(level, nr) && bucket->earliest == HWTIMER_TICK_NONE &&
	    !walked(&wheel->walk, nr))
		fail("bucket %u is occupied, but never due", nr);
	if (occupied(level, nr) && !(wheel->hierarchy.nonempty & BIT(level)))
		fail("level %u has bucket %u, but counts as empty", level, nr);
}

static void check_hierarchy(void)
{
	unsigned int level;
	u32 nr = 0, end = wheel->shape.buckets;

	for (level = 0; level < wheel->hierarchy.nr_levels; level++) {
		for (; nr < end; nr++)
			check_bucket(level, nr);
		end += 2U << HWTIMER_LEVEL_SHIFT;
	}
	if (wheel->hierarchy.position > wheel->current_tick)
		fail("the position %llu is after tick %llu",
		     wheel->hierarchy.position, wheel->current_tick);
}

/* The earliest ticks of the groups and of the wheel are those of their buckets. */
static void check_hashed(void)
{
	const struct hwtimer_hashed *hashed = &wheel->hashed;
	u64 first = HWTIMER_TICK_NONE;
	u32 i;

	/* During a walk of a due bucket, its earliest tick is not known. */
	if (wheel->walk.active)
		return;
	for (i = 0; i < wheel->nr_buckets; i++) {
		first = min(first, wheel->buckets[i].earliest);
		if (hashed->groups[i / HWTIMER_HASHED_GROUP] >
		    wheel->buckets[i].earliest)
			fail("bucket %u is earlier than its group", i);
	}
	if (hashed->first != first)
		fail("the earliest tick is %llu, not %llu", first,
		     hashed->first);
}

/* Checks the world after each move. */
void duties_check(void)
{
	check_next();
	check_entries();
	check_walk(&wheel->walk);
	check_walk(&wheel->ahead);
	check_walk(&wheel->sweep);
	check_walk(&wheel->refile.walk);
	if (wheel->refile.active)
		return;
	if (hwtimer_is_hashed(wheel))
		check_hashed();
	else
		check_hierarchy();
}

/* Turns the wheel at @tick until nothing is left to do then. */
static void turn(u64 tick)
{
	unsigned int turns = 0;

	while (hwtimer_wheel_next(wheel) <= tick) {
		if (turns++ == TURNS_MAX)
			fail("the turns at tick %llu do not end", tick);
		duty_advance(tick, 256);
	}
}

/* Turns the wheel until it is empty: it delivers all, without coming too often. */
void duties_settle(void)
{
	unsigned int wakes = 0;
	u64 tick = wheel->current_tick;

	for (;; tick = hwtimer_wheel_next(wheel)) {
		if (tick == HWTIMER_TICK_NONE)
			break;
		if (wakes++ == TURNS_MAX)
			fail("the wheel comes again and again, now at %llu",
			     tick);
		turn(tick);
	}
	if (first_tick() != HWTIMER_TICK_NONE)
		fail("the wheel has lost a timer of tick %llu", first_tick());
	if (wheel->entries && !wheel->sweep.active)
		fail("%llu entries are left in the wheel", wheel->entries);
}
