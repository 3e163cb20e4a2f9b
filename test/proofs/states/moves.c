// SPDX-License-Identifier: GPL-2.0
/*
 * Does a move; see moves.h. Moves are numbered, kind by kind, and within a kind by timer
 * and time.
 */
#include <stdio.h>

#include "duties.h"
#include "moves.h"

/*
 * Budgets of a call: the smallest one, with which it does a single step, and one that is
 * never used up.
 */
static const unsigned int holds[] = { HWTIMER_CHUNK_ENTRIES + 1, 256 };
#define HOLDS 2

/* Turns after which a worker has more than all entries behind it */
#define TURNS_MAX 100

static struct hwtimer_wheel *const wheel = &world.wheel;

/* With a tick's last ns as the deadline, or the one before, rounding is tested, too. */
static u64 deadline_of(u64 tick)
{
	return tick * wheel->shape.tick - (tick & 1);
}

static u64 dead(void)
{
	u64 entries = wheel->entries;
	u32 i;

	for (i = 1; i <= config.timers; i++)
		entries -= world.duties[i].pending;
	return entries;
}

/* The tick at which a timer of @tick with a slack of one tick (@align: 1) expires */
static u64 aligned(u64 tick, u8 align)
{
	if (align && deadline_of(tick) <= (u64)INT64_MAX)
		tick += tick & 1;
	return tick;
}

static bool add(u32 nr, u32 time)
{
	u8 align = nr;
	u32 index = 1;
	struct hwtimer_record *record;

	while (index <= config.timers && world.duties[index].pending)
		index++;
	if (index > config.timers)
		return false;
	record = &world.records[index];
	record->deadline = deadline_of(config.times[time]);
	record->align = align;
	record->state = HWTIMER_PENDING;
	world.free &= ~BIT(index);
	duty_added(index, aligned(config.times[time], align));
	hwtimer_wheel_add(wheel, record, index);
	return true;
}

static bool cancel(u32 timer, u32 time)
{
	u32 index = timer + 1;
	struct hwtimer_record *record = &world.records[index];

	if (!world.duties[index].pending || dead() == config.dead)
		return false;
	hwtimer_wheel_remove(wheel, record);
	record->state = HWTIMER_FREE;
	world.free |= BIT(index);
	duty_cancelled(index);
	return true;
}

static bool move(u32 timer, u32 time)
{
	u32 index = timer + 1;
	struct hwtimer_record *record = &world.records[index];
	u64 deadline = deadline_of(config.times[time]);
	bool later = deadline >= record->deadline;

	if (!world.duties[index].pending || deadline == record->deadline ||
	    (!later && dead() == config.dead))
		return false;
	duty_moved(index, aligned(config.times[time], record->align), later);
	hwtimer_wheel_move(wheel, record, index, deadline);
	return true;
}

static bool advance(u32 hold, u32 time)
{
	u64 tick = config.times[time];

	if (tick < wheel->current_tick)
		return false;
	duty_advance(tick, holds[hold]);
	return true;
}

static bool forward(u32 nr, u32 time)
{
	u64 tick = config.times[time];

	return tick >= wheel->current_tick &&
	       hwtimer_wheel_forward(wheel, tick * wheel->shape.tick);
}

static bool rewind_to(u32 nr, u32 time)
{
	u64 tick = config.times[time];

	if (tick >= wheel->current_tick)
		return false;
	duty_rewound(tick);
	hwtimer_wheel_rewind(wheel, tick * wheel->shape.tick);
	return true;
}

static bool rewind_step(u32 hold, u32 time)
{
	if (!wheel->refile.active)
		return false;
	states_hold = holds[hold];
	hwtimer_wheel_refile_step(wheel);
	return true;
}

static bool skim(u32 hold, u32 time)
{
	/* A skim looks at the entries of a chunk twice. */
	hwtimer_wheel_skim(wheel, holds[hold] + HWTIMER_CHUNK_ENTRIES);
	return true;
}

/* As the worker does until it may sleep: that must not take for ever. */
static bool settle(u32 hold, u32 time)
{
	unsigned int turns = 0;

	if (wheel->refile.active)
		return false;
	do {
		if (++turns > TURNS_MAX)
			fail("the worker never sleeps");
		duty_advance(wheel->current_tick, holds[hold]);
		hwtimer_wheel_skim(wheel, holds[hold] + HWTIMER_CHUNK_ENTRIES);
	} while (hwtimer_wheel_next(wheel) <= wheel->current_tick);
	return true;
}

static bool compact(u32 hold, u32 time)
{
	states_hold = holds[hold];
	hwtimer_wheel_compact(wheel, true);
	return true;
}

/**
 * struct kind - a kind of move
 * @name: its name
 * @count: number of timers, budgets or alignments that it has to choose from
 * @timed: it has a time to choose, too
 * @do_it: does the move; returns whether it is possible
 */
struct kind {
	const char *name;
	u32 count;
	bool timed;
	bool (*do_it)(u32 nr, u32 time);
};

#define KINDS 10
static struct kind kinds[KINDS];

static void kinds_init(void)
{
	const u32 timers = config.timers;

	kinds[0] = (struct kind){ "add", 1 + config.slack, true, add };
	kinds[1] = (struct kind){ "cancel", config.dead ? timers : 0, false,
				  cancel };
	kinds[2] = (struct kind){ "reschedule", config.moves ? timers : 0, true,
				  move };
	kinds[3] = (struct kind){ "advance", HOLDS, true, advance };
	kinds[4] = (struct kind){ "forward", 1, true, forward };
	kinds[5] = (struct kind){ "rewind", config.rewinds, true, rewind_to };
	kinds[6] = (struct kind){ "rewind step", config.rewinds ? HOLDS : 0,
				  false, rewind_step };
	kinds[7] = (struct kind){ "skim", HOLDS, false, skim };
	kinds[8] = (struct kind){ "compact", config.compacts ? HOLDS : 0, false,
				  compact };
	kinds[9] = (struct kind){ "settle", HOLDS, false, settle };
}

static u32 size_of(const struct kind *kind)
{
	return kind->count * (kind->timed ? config.nr_times : 1);
}

/* The number of moves; some of them are not possible in some worlds. */
move_t moves_count(void)
{
	move_t count = 0;
	u32 i;

	if (!kinds[0].name)
		kinds_init();
	for (i = 0; i < KINDS; i++)
		count += size_of(&kinds[i]);
	return count;
}

/* Subtracts from *@move the number of the first move of its kind. */
static const struct kind *kind_of(move_t *move)
{
	const struct kind *kind = kinds;

	while (*move >= size_of(kind))
		*move -= size_of(kind++);
	return kind;
}

/* Does @move to the world; returns false if it is not possible, or would do nothing. */
bool move_do(move_t move)
{
	const struct kind *kind = kind_of(&move);

	if (!kind->timed)
		return kind->do_it(move, 0);
	return kind->do_it(move / config.nr_times, move % config.nr_times);
}

/* The name of @move, in a buffer that the next call overwrites */
const char *move_name(move_t move)
{
	static char name[64];
	const struct kind *kind = kind_of(&move);

	if (kind->timed)
		snprintf(name, sizeof(name), "%s %u, tick %llu", kind->name,
			 move / config.nr_times,
			 config.times[move % config.nr_times]);
	else
		snprintf(name, sizeof(name), "%s %u", kind->name, move);
	return name;
}
