// SPDX-License-Identifier: GPL-2.0
/*
 * Runs an instance and its worker without a kernel; see harness.h.
 *
 * A function's comment names the function of the module that it stands for. The
 * functions here leave out the work for other parts of the module: statistics, periodic
 * timers and notices.
 */
#include <err.h>
#include <string.h>

#include <linux/math64.h>
#include <linux/prefetch.h>

#include "device.h"
#include "harness.h"
#include "kernel.h"

/* As in hwtimer_op.[ch] */
#define AHEAD 32
#define DEAD_SPARED 32768
#define DEAD_DURING 16384

/**
 * harness_init - wheel_begin() in memory/start.c
 * @harness: the harness to initialize
 * @shape: shape of the wheel
 * @timers: limit of pending timers
 *
 * Only one harness can exist at a time, because it uses the whole arena.
 */
void harness_init(struct harness *harness, const struct hwtimer_shape *shape,
		  u32 timers)
{
	*harness = (struct harness){
		.now = TIMERS_START,
		.wake = HWTIMER_TICK_NONE,
		.wheel = { .table = &harness->table, .pool = &harness->pool },
	};
	if (hwtimer_chunk_cache_create() ||
	    hwtimer_table_init(&harness->table, 2 * timers))
		errx(1, "no memory");
	harness->memory = arena_alloc(hwtimer_wheel_memory(shape), 64);
	harness->room = timers;
	harness->ready = arena_alloc(timers * sizeof(*harness->ready), 64);
	hwtimer_wheel_init(&harness->wheel, shape, harness->memory,
			   harness->now);
}

void harness_destroy(struct harness *harness)
{
	hwtimer_wheel_drain(&harness->wheel);
	hwtimer_pool_drain(&harness->pool);
	hwtimer_table_destroy(&harness->table);
	hwtimer_chunk_cache_destroy();
	arena_reset();
}

/* chunks_missing() */
static u32 chunks_wanted(const struct harness *harness, u32 timers)
{
	struct hwtimer_outlook outlook = {
		.adds = timers,
		.live = harness->pending + timers,
	};

	return hwtimer_wheel_reserve(&harness->wheel, &outlook);
}

static void grow_table(struct harness *harness)
{
	u32 slots = hwtimer_table_growth(&harness->table);
	struct hwtimer_block block;

	if (!slots || hwtimer_table_alloc_block(slots, 0, &block) ||
	    !hwtimer_table_add_block(&harness->table, &block))
		errx(1, "the table cannot grow");
}

/**
 * harness_reserve - hwtimer_supply_reserve()
 * @harness: the harness that needs memory
 * @timers: number of timers that will be scheduled
 */
void harness_reserve(struct harness *harness, u32 timers)
{
	u32 wanted = chunks_wanted(harness, timers);
	struct hwtimer_pool supply = {};

	while (hwtimer_table_spare(&harness->table) < timers)
		grow_table(harness);
	if (wanted > harness->pool.spares &&
	    hwtimer_pool_fill(&supply, wanted - harness->pool.spares))
		errx(1, "no memory for chunks");
	hwtimer_pool_merge(&harness->pool, &supply);
}

/* hwtimer_wakeup_next() */
static u64 next_turn(const struct harness *harness)
{
	if (!harness->pending && !hwtimer_wheel_busy(&harness->wheel))
		return HWTIMER_TICK_NONE;
	return hwtimer_wheel_time_of(&harness->wheel,
				     hwtimer_wheel_next(&harness->wheel));
}

/* hwtimer_wakeup_rearm() */
static void rearm(struct harness *harness)
{
	u64 next = next_turn(harness);

	if (next < harness->wake && harness->wake > harness->now)
		harness->wake = next;
}

/* request_schedule() */
static void schedule(struct harness *harness, struct timer *timer, u32 number)
{
	u32 index = hwtimer_table_get(&harness->table);
	struct hwtimer_record *record =
		hwtimer_table_record(&harness->table, index);

	record->deadline = timer->deadline;
	record->user_data = number;
	record->align = timer->slack ? hwtimer_wheel_align(&harness->wheel,
							   timer->slack) :
				       0;
	record->flags = 0;
	record->state = HWTIMER_PENDING;
	hwtimer_wheel_add(&harness->wheel, record, index);
	timer->id = hwtimer_table_id(record, index);
	harness->pending++;
}

/**
 * harness_schedule - hwtimer_hold_locked(), scheduling
 * @harness: the harness, with memory from harness_reserve()
 * @timers: all timers
 * @first: number of the first timer to schedule
 * @count: number of timers to schedule, at most HWTIMER_HOLD
 */
void harness_schedule(struct harness *harness, struct timer *timers, u32 first,
		      u32 count)
{
	u32 i;

	for (i = first; i < first + count; i++)
		schedule(harness, &timers[i], i);
	rearm(harness);
}

/* hwtimer_op_cancel() */
static void cancel(struct harness *harness, u64 id)
{
	struct hwtimer_record *record = hwtimer_table_find(&harness->table, id);

	if (!record || record->state != HWTIMER_PENDING)
		errx(1, "timer %llx cannot be cancelled", id);
	hwtimer_wheel_remove(&harness->wheel, record);
	hwtimer_table_put(&harness->table, lower_32_bits(id));
	harness->pending--;
}

/**
 * harness_cancel - hwtimer_hold_locked(), cancelling
 * @harness: the harness
 * @ids: ids of pending timers
 * @count: number of ids, at most HWTIMER_HOLD
 */
void harness_cancel(struct harness *harness, const u64 *ids, u32 count)
{
	u32 i;

	for (i = 0; i < min_t(u32, count, AHEAD); i++)
		hwtimer_table_prefetch(&harness->table, ids[i]);
	for (i = 0; i < count; i++) {
		if (i + AHEAD < count)
			hwtimer_table_prefetch(&harness->table, ids[i + AHEAD]);
		cancel(harness, ids[i]);
	}
	rearm(harness);
}

static bool compaction_due(const struct harness *harness)
{
	return harness->wheel.entries - harness->pending >
	       harness->pending + DEAD_SPARED;
}

/* compaction_steps() */
u64 harness_compaction_steps(const struct harness *harness, u32 requests)
{
	const struct hwtimer_wheel *wheel = &harness->wheel;
	u64 work = wheel->entries + wheel->nr_buckets;

	if (!wheel->sweeping && !compaction_due(harness))
		return 0;
	return DIV_ROUND_UP_ULL(requests * (1 + work / DEAD_DURING),
				HWTIMER_HOLD / 2);
}

/* One step of instance_compact(); returns whether another step is left. */
bool harness_compact(struct harness *harness)
{
	hwtimer_wheel_compact(&harness->wheel, compaction_due(harness));
	return harness->wheel.sweeping;
}

/* hwtimer_events_turn() */
static void expire(struct harness *harness, u32 index)
{
	struct hwtimer_record *record =
		hwtimer_table_record(&harness->table, index);
	u64 lateness = harness->now - record->deadline;

	if (record->deadline > harness->now)
		errx(1, "timer %llu is early by %lld ns", record->user_data,
		     -lateness);
	record->state = HWTIMER_EXPIRED;
	record->lateness = min_t(u64, lateness, U32_MAX);
	harness->ready[harness->last++ % harness->room] = index;
	harness->pending--;
}

/* hwtimer_turn() */
static void turn(struct harness *harness)
{
	struct hwtimer_wheel *wheel = &harness->wheel;
	unsigned int i, expired;

	expired = hwtimer_wheel_advance(wheel, harness->now, harness->due);
	for (i = 0; i < expired; i++)
		expire(harness, harness->due[i]);
	if (!expired)
		hwtimer_wheel_skim(wheel, HWTIMER_HOLD);
	harness->wake = next_turn(harness);
	if (harness->wake != HWTIMER_TICK_NONE)
		harness->wake = max(harness->wake, harness->now);
}

/**
 * harness_wake_up - hwtimer_worker_run(), from one sleep to the next
 * @harness: the harness; its @wake must be a time, and becomes its @now
 */
void harness_wake_up(struct harness *harness)
{
	harness->now = max(harness->now, harness->wake);
	do
		turn(harness);
	while (harness->wake <= harness->now);
	harness->wakeups++;
}

/**
 * harness_read - hwtimer_read_events() of one event
 * @harness: the harness
 * @event: out: the event
 *
 * Return: whether an event was ready.
 */
bool harness_read(struct harness *harness, struct event *event)
{
	struct hwtimer_record *record;
	u32 index;

	if (harness->first == harness->last)
		return false;
	index = harness->ready[harness->first++ % harness->room];
	record = hwtimer_table_record(&harness->table, index);
	if (record->state != HWTIMER_EXPIRED)
		errx(1, "record %u is queued, but its state is %u", index,
		     record->state);
	*event = (struct event){
		.number = record->user_data,
		.deadline = record->deadline,
		.lateness = record->lateness,
	};
	hwtimer_table_put(&harness->table, index);
	return true;
}
