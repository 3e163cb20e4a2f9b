// SPDX-License-Identifier: GPL-2.0
/*
 * Drives a wheel under test and compares it with the oracle; see oracle.h.
 */
#include <linux/mm.h>

#include "oracle.h"
#include "wheel/kinds.h"

static void grow_table(struct oracle *oracle)
{
	struct hwtimer_block block;

	while (hwtimer_table_spare(&oracle->table) < ORACLE_TIMERS) {
		KUNIT_ASSERT_EQ(oracle->test,
				hwtimer_table_alloc_block(1, 0, &block), 0);
		KUNIT_ASSERT_TRUE(oracle->test,
				  hwtimer_table_add_block(&oracle->table,
							  &block));
	}
}

/**
 * oracle_create - create an empty wheel with an oracle
 * @test: the test, whose priv will be the oracle; its exit function has to call
 *	oracle_destroy()
 * @shape: the shape of the wheel
 * @now: the time at which the wheel begins, ns
 */
struct oracle *oracle_create(struct kunit *test,
			     const struct hwtimer_shape *shape, u64 now)
{
	struct oracle *oracle = kvzalloc(sizeof(*oracle), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, oracle);
	test->priv = oracle;
	oracle->test = test;
	timerqueue_init_head(&oracle->pending);
	oracle->now = now;
	KUNIT_ASSERT_EQ(test, hwtimer_table_init(&oracle->table, ORACLE_TIMERS),
			0);
	grow_table(oracle);
	oracle->timers = kvcalloc(hwtimer_table_end(&oracle->table),
				  sizeof(*oracle->timers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, oracle->timers);
	oracle->memory = kvmalloc(hwtimer_wheel_memory(shape), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, oracle->memory);
	oracle->wheel.table = &oracle->table;
	oracle->wheel.pool = &oracle->pool;
	hwtimer_wheel_init(&oracle->wheel, shape, oracle->memory, now);
	return oracle;
}

void oracle_destroy(struct oracle *oracle)
{
	if (!oracle)
		return;
	hwtimer_wheel_drain(&oracle->wheel);
	hwtimer_pool_drain(&oracle->pool);
	hwtimer_table_destroy(&oracle->table);
	kvfree(oracle->memory);
	kvfree(oracle->timers);
	kvfree(oracle);
}

/* Leaves exactly @wanted spare chunks. */
static void provide_exactly(struct oracle *oracle, u32 wanted)
{
	struct hwtimer_pool other = {};

	if (oracle->pool.spares < wanted) {
		KUNIT_ASSERT_EQ(oracle->test,
				hwtimer_pool_fill(&other,
						  wanted - oracle->pool.spares),
				0);
		hwtimer_pool_merge(&oracle->pool, &other);
	}
	hwtimer_pool_trim(&oracle->pool, oracle->pool.spares - wanted, &other);
	hwtimer_pool_drain(&other);
}

/*
 * Leaves exactly the spare chunks that one move (@moves is 1) or one new timer (@moves is
 * 0) may need, and that @repeating timers may need besides.
 */
static void provide_chunks(struct oracle *oracle, u32 moves, u32 repeating)
{
	const struct hwtimer_outlook outlook = {
		.adds = !moves,
		.moves = moves,
		.resting = repeating,
		.live = oracle->nr_live + !moves + repeating,
	};

	provide_exactly(oracle,
			hwtimer_wheel_reserve(&oracle->wheel, &outlook));
}

static void expect_at(struct oracle *oracle, struct oracle_timer *timer,
		      u64 tick)
{
	timer->node.expires = min_t(u64, tick, KTIME_MAX);
	timerqueue_add(&oracle->pending, &timer->node);
}

/* Returns the last tick at which a timer may expire. */
static u64 tick_allowed(const struct oracle *oracle, u64 deadline, u64 slack)
{
	return hwtimer_wheel_tick_of(&oracle->wheel,
				     deadline + min(slack, U64_MAX - deadline));
}

/* The last tick for a timer filed now: an overdue one may wait for the next turn. */
static u64 tick_expected(const struct oracle *oracle, u64 deadline, u64 slack)
{
	return max(tick_allowed(oracle, deadline, slack),
		   oracle->wheel.current_tick + 1);
}

/* Returns the wheel's next tick, and has the wheel note what makes it earlier. */
static u64 next_begin(struct oracle *oracle)
{
	oracle->wheel.soonest = HWTIMER_TICK_NONE;
	return hwtimer_wheel_next(&oracle->wheel);
}

/* Checks what the wheel has noted since next_begin() has returned @before. */
static void next_end(struct oracle *oracle, u64 before)
{
	KUNIT_ASSERT_GE(oracle->test, hwtimer_wheel_next(&oracle->wheel),
			min(before, oracle->wheel.soonest));
}

/* Files a new timer; takes only chunks that the pool has already. */
static struct oracle_timer *file_timer(struct oracle *oracle, u64 deadline,
				       u64 slack, bool repeats)
{
	struct hwtimer_record *record;
	struct oracle_timer *timer;
	u64 next = next_begin(oracle);
	u32 index;

	index = hwtimer_table_get(&oracle->table);
	record = hwtimer_table_record(&oracle->table, index);
	record->deadline = deadline;
	record->align = hwtimer_wheel_align(&oracle->wheel, slack);
	hwtimer_record_become(record, HWTIMER_PENDING);
	hwtimer_wheel_add(&oracle->wheel, record, index);
	next_end(oracle, next);

	timer = &oracle->timers[index];
	timerqueue_init(&timer->node);
	timer->sequence = ++oracle->sequence;
	timer->index = index;
	timer->slack = slack;
	timer->repeats = repeats;
	timer->unordered = slack ||
			   hwtimer_wheel_tick_of(&oracle->wheel, deadline) <=
				   oracle->wheel.current_tick;
	timer->position = oracle->nr_live;
	oracle->live[oracle->nr_live++] = timer;
	expect_at(oracle, timer, tick_expected(oracle, deadline, slack));
	return timer;
}

/**
 * oracle_schedule_slack - schedule a timer with slack
 * @oracle: the oracle, with fewer than ORACLE_TIMERS pending timers
 * @deadline: deadline, ns
 * @slack: slack, ns
 */
struct oracle_timer *oracle_schedule_slack(struct oracle *oracle, u64 deadline,
					   u64 slack)
{
	bool repeats = oracle->repeats &&
		       oracle->sequence % ORACLE_REPEATS_EVERY == 0;

	oracle->repeating += repeats;
	provide_chunks(oracle, 0, oracle->repeating);
	return file_timer(oracle, deadline, slack, repeats);
}

/* Does the same as oracle_schedule_slack(), without slack. */
struct oracle_timer *oracle_schedule(struct oracle *oracle, u64 deadline)
{
	return oracle_schedule_slack(oracle, deadline, 0);
}

static void forget(struct oracle *oracle, struct oracle_timer *timer)
{
	struct oracle_timer *last = oracle->live[--oracle->nr_live];

	timerqueue_del(&oracle->pending, &timer->node);
	oracle->live[timer->position] = last;
	last->position = timer->position;
	hwtimer_table_put(&oracle->table, timer->index);
}

/* Cancels a pending timer. */
void oracle_cancel(struct oracle *oracle, struct oracle_timer *timer)
{
	hwtimer_wheel_remove(&oracle->wheel, oracle_record(oracle, timer));
	oracle->repeating -= timer->repeats;
	forget(oracle, timer);
}

/* Gives a pending timer another deadline, ns. */
void oracle_move(struct oracle *oracle, struct oracle_timer *timer,
		 u64 deadline)
{
	u64 tick = tick_expected(oracle, deadline, timer->slack);
	u64 next = next_begin(oracle);

	/* With a later deadline, its entry stays where it is until the old tick. */
	if (deadline >= oracle_record(oracle, timer)->deadline)
		tick = max_t(u64, timer->node.expires,
			     tick_allowed(oracle, deadline, timer->slack));
	provide_chunks(oracle, 1, oracle->repeating);
	hwtimer_wheel_move(&oracle->wheel, oracle_record(oracle, timer),
			   timer->index, deadline);
	next_end(oracle, next);
	timerqueue_del(&oracle->pending, &timer->node);
	timer->unordered = true;
	expect_at(oracle, timer, tick);
}

static void check_order(struct oracle *oracle, const struct oracle_timer *timer)
{
	struct kunit *test = oracle->test;

	if (timer->unordered)
		return;
	KUNIT_ASSERT_GE(test, timer->node.expires, oracle->order_tick);
	if (timer->node.expires > oracle->order_tick)
		oracle->order_sequence = 0;
	oracle->order_tick = timer->node.expires;
	/*
	 * With small stamps, a dead entry may match its record again. A later timer then
	 * takes the place of an earlier one, within the tick.
	 */
	if (HWTIMER_STAMP_MAX == U32_MAX)
		KUNIT_ASSERT_GT(test, timer->sequence, oracle->order_sequence);
	oracle->order_sequence = timer->sequence;
}

static void check_expired(struct oracle *oracle, u32 index)
{
	struct oracle_timer *timer = &oracle->timers[index];
	struct kunit *test = oracle->test;

	/* A timer expires only while it is pending, so only once; and never early. */
	KUNIT_ASSERT_LT(test, timer->position, oracle->nr_live);
	KUNIT_ASSERT_PTR_EQ(test, oracle->live[timer->position], timer);
	KUNIT_ASSERT_LE(test, oracle_record(oracle, timer)->deadline,
			oracle->now);
	check_order(oracle, timer);
	forget(oracle, timer);
	oracle->expired++;
	oracle->queued++;
	oracle->queued_repeats += timer->repeats;
}

/*
 * Files a repeating timer once more, without another call of provide_chunks(). Ends the
 * timer if timers no longer repeat, or if too many are pending.
 */
static void repeat(struct oracle *oracle)
{
	u64 distance = oracle->sequence % ORACLE_REPEATS_WITHIN;

	oracle->queued_repeats--;
	if (oracle->repeats && oracle->nr_live < ORACLE_TIMERS)
		file_timer(oracle,
			   oracle->now + distance * oracle->wheel.shape.tick, 0,
			   true);
	else
		oracle->repeating--;
}

static void read_events(struct oracle *oracle, u64 count)
{
	oracle->queued -= count;
	/*
	 * These may be other timers than those whose events were read. Only their number
	 * matters.
	 */
	while (count-- && oracle->queued_repeats)
		repeat(oracle);
}

/* Leaves a few events. */
static void read_most_events(struct oracle *oracle)
{
	read_events(oracle, oracle->queued - oracle->queued % 59);
}

/* Reads all events, so that only the wheel uses chunks of the pool. */
void oracle_read(struct oracle *oracle)
{
	read_events(oracle, oracle->queued);
}

static void check_bounds(struct oracle *oracle)
{
	struct kunit *test = oracle->test;

	KUNIT_ASSERT_GE(test, oracle->wheel.entries, oracle->nr_live);
	KUNIT_ASSERT_LE(test, oracle->wheel.postponed, oracle->nr_live);
}

/*
 * In a hashed wheel, the earliest tick of a bucket belongs in that bucket, even if an
 * entry there has come to stand for another timer.
 */
static void check_place(struct oracle *oracle)
{
	struct hwtimer_wheel *wheel = &oracle->wheel;
	struct kunit *test = oracle->test;
	u64 tick;
	u32 nr;

	if (!hwtimer_is_hashed(wheel) || hwtimer_wheel_busy(wheel))
		return;
	tick = hwtimer_kind_first(wheel, &nr);
	if (tick == HWTIMER_TICK_NONE)
		return;
	KUNIT_ASSERT_EQ(test, nr, hwtimer_kind_place(wheel, tick));
	KUNIT_ASSERT_EQ(test, wheel->buckets[nr].earliest, tick);
}

/**
 * oracle_turn - turn the wheel to a time, and compare
 * @oracle: the oracle of the wheel
 * @now: the time, ns
 */
void oracle_turn(struct oracle *oracle, u64 now)
{
	struct hwtimer_wheel *wheel = &oracle->wheel;
	struct kunit *test = oracle->test;
	struct timerqueue_node *first;
	unsigned int slices = 0;

	oracle->now = now;
	oracle->order_tick = 0;
	if (oracle->nr_turns++ % ORACLE_TURNS_UNREAD == 0)
		read_most_events(oracle);
	do {
		u64 walked = wheel->stats.walked;
		unsigned int i, expired = hwtimer_wheel_advance(wheel, now,
								oracle->due);

		KUNIT_ASSERT_LE(test, wheel->stats.walked - walked,
				HWTIMER_HOLD);
		for (i = 0; i < expired; i++)
			check_expired(oracle, oracle->due[i]);
		check_bounds(oracle);
		check_place(oracle);
		if (oracle->between)
			oracle->between(oracle);
		/* The turn must end, although @between may add work. */
		KUNIT_ASSERT_LT(test, slices++, 25600000 / HWTIMER_HOLD);
	} while (hwtimer_wheel_next(wheel) <= wheel->current_tick);

	/* No timer is pending after a turn that has passed its last tick. */
	first = timerqueue_getnext(&oracle->pending);
	if (first)
		KUNIT_ASSERT_GT(test, first->expires, wheel->current_tick);
	/* The wheel asks for its next turn early enough for the next timer. */
	if (first && first->expires != KTIME_MAX)
		KUNIT_ASSERT_LE(test, hwtimer_wheel_next(wheel),
				first->expires);
}

/**
 * oracle_idle - let time go on without a turn, and have the wheel follow the clock
 * @oracle: the oracle of the wheel
 * @now: the new time, ns
 *
 * Return: true if the wheel could follow; false if a turn has something to do first.
 */
bool oracle_idle(struct oracle *oracle, u64 now)
{
	struct hwtimer_wheel *wheel = &oracle->wheel;
	struct timerqueue_node *first = timerqueue_getnext(&oracle->pending);
	u64 next = hwtimer_wheel_next(wheel), before = wheel->current_tick;
	bool followed;

	oracle->now = now;
	followed = hwtimer_wheel_forward(wheel, now);
	KUNIT_ASSERT_GE(oracle->test, wheel->current_tick, before);
	KUNIT_ASSERT_LE(oracle->test, wheel->current_tick,
			max(before, hwtimer_wheel_tick_at(wheel, now)));
	/* The wheel passes no timer, and asks for the same next turn as before. */
	if (first && wheel->current_tick != before)
		KUNIT_ASSERT_GT(oracle->test, first->expires,
				wheel->current_tick);
	if (next > before)
		KUNIT_ASSERT_EQ(oracle->test, hwtimer_wheel_next(wheel), next);
	return followed;
}

/* Does one whole pass of the compaction, after which no entry is dead. */
void oracle_compact(struct oracle *oracle)
{
	struct hwtimer_wheel *wheel = &oracle->wheel;

	while (wheel->sweeping)
		hwtimer_wheel_compact(wheel, false);
	do {
		u64 walked = wheel->stats.walked;

		hwtimer_wheel_compact(wheel, true);
		KUNIT_ASSERT_LE(oracle->test, wheel->stats.walked - walked,
				HWTIMER_HOLD);
	} while (wheel->sweeping);
	KUNIT_EXPECT_EQ(oracle->test, wheel->entries, oracle->nr_live);
}

/**
 * oracle_grow - replace the wheel by a larger one, as memory/start.c does
 * @oracle: the oracle of the wheel
 * @shape: the shape of the larger wheel; its tick is that of the wheel
 */
void oracle_grow(struct oracle *oracle, const struct hwtimer_shape *shape)
{
	const struct hwtimer_outlook outlook = {
		.resting = oracle->repeating,
		.live = oracle->nr_live + oracle->repeating,
	};
	struct hwtimer_wheel *wheel = &oracle->wheel;
	struct hwtimer_wheel *larger =
		kunit_kzalloc(oracle->test, sizeof(*larger), GFP_KERNEL);
	void *memory = kvmalloc(hwtimer_wheel_memory(shape), GFP_KERNEL);
	u64 entries = wheel->entries;
	u32 chunks;

	KUNIT_ASSERT_NOT_NULL(oracle->test, larger);
	KUNIT_ASSERT_NOT_NULL(oracle->test, memory);
	while (wheel->refile.active)
		hwtimer_wheel_refile_step(wheel);
	larger->table = wheel->table;
	larger->pool = wheel->pool;
	larger->rewinds = wheel->rewinds;
	hwtimer_wheel_init(larger, shape, memory, oracle->now);
	provide_exactly(oracle,
			hwtimer_wheel_reserve_growth(wheel, larger, &outlook));
	chunks = oracle->pool.chunks;
	hwtimer_wheel_grow(wheel, larger);
	/* Not one was allocated meanwhile, and there are enough for what may come. */
	KUNIT_ASSERT_EQ(oracle->test, oracle->pool.chunks, chunks);
	KUNIT_ASSERT_GE(oracle->test, oracle->pool.spares,
			hwtimer_wheel_reserve(wheel, &outlook));
	kvfree(oracle->memory);
	oracle->memory = memory;
	kunit_kfree(oracle->test, larger);
	KUNIT_ASSERT_LE(oracle->test, wheel->entries, entries);
	check_bounds(oracle);
	check_place(oracle);
}

/* Called before the first timer, because the number of reserved chunks depends on it. */
void oracle_may_be_set_back(struct oracle *oracle)
{
	oracle->wheel.rewinds = true;
}

/* Sets the clock back to @now (ns). The oracle then expects each timer at a new tick. */
void oracle_set_back(struct oracle *oracle, u64 now)
{
	struct hwtimer_wheel *wheel = &oracle->wheel;
	u32 i;

	oracle->now = now;
	/* As in hwtimer_wakeup_follow(): no later tick was turned, so rewind none. */
	if (hwtimer_wheel_tick_at(wheel, now) >= wheel->current_tick)
		return;
	hwtimer_wheel_rewind(wheel, now);
	for (i = 0; i < oracle->nr_live; i++) {
		struct oracle_timer *timer = oracle->live[i];
		u64 deadline = oracle_record(oracle, timer)->deadline;
		u64 tick = tick_expected(oracle, deadline, timer->slack);

		timerqueue_del(&oracle->pending, &timer->node);
		expect_at(oracle, timer, tick);
	}
}
