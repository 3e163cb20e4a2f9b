// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of LIST: which timers it lists while other calls are in the middle of their
 * work, and how many records it checks. The clock is a fake. Programs see the rest, so
 * selftests/list.c tests it.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../hwtimer_query.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define HOUR FAKE_HOUR
#define LIMIT 5000

/* Maximum number of events that a read() takes at a time, see hwtimer_harvest.c. */
#define BATCH HWTIMER_BATCH

static int list_test_init(struct kunit *test)
{
	return fake_test_init(test, kind_of(test), LIMIT);
}

static u64 begin(struct kunit *test, u64 delay, u64 interval)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = delay,
		.interval = interval,
		.user_data = 4711,
	};

	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

/* Lists all timers, up to @max at a time. Returns their number, which is @room at most. */
static u32 list_all(struct kunit *test, struct hwtimer_listed *timers, u32 room,
		    u32 max)
{
	u64 cursor = 0;
	u32 listed = 0;
	bool more = true;

	while (more && listed < room)
		listed += hwtimer_query_some(test->priv, &timers[listed],
					     &cursor, min(max, room - listed),
					     &more);
	return listed;
}

/* Expects that LIST lists the timer @id in @state, or not at all if that is 0. */
static void expect_listed(struct kunit *test, u64 id, u32 state)
{
	static struct hwtimer_listed timers[LIMIT];
	u32 i, listed = list_all(test, timers, LIMIT, HWTIMER_HOLD);
	u32 times = 0;

	for (i = 0; i < listed; i++) {
		if (timers[i].id != id)
			continue;
		times++;
		KUNIT_EXPECT_EQ(test, timers[i].state, state);
		KUNIT_EXPECT_EQ(test, timers[i].user_data, 4711);
	}
	KUNIT_EXPECT_EQ(test, times, state ? 1 : 0);
}

/* Expects that QUERY finds the timer @id in @state, or not at all if that is 0. */
static void expect_found(struct kunit *test, u64 id, u32 state)
{
	struct hwtimer_query query = { .id = id };

	KUNIT_EXPECT_EQ(test, hwtimer_query_timer(test->priv, &query),
			state ? 0 : -ENOENT);
	KUNIT_EXPECT_EQ(test, query.state, state);
}

static void before_the_first_timer_there_is_none(struct kunit *test)
{
	struct hwtimer_listed timer;
	u64 cursor = 0;
	bool more = true;
	u32 listed;

	listed = hwtimer_query_some(test->priv, &timer, &cursor, 1, &more);
	KUNIT_EXPECT_EQ(test, listed, 0);
	KUNIT_EXPECT_FALSE(test, more);
	KUNIT_EXPECT_EQ(test, cursor, 0);
}

static void any_cursor_is_harmless(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_listed timer;
	u64 id = begin(test, HOUR, 0);
	u64 end = hwtimer_table_end(&instance->table);
	const u64 cursors[] = { end,
				end + 1,
				U32_MAX,
				1ULL << 32,
				id,
				S64_MAX,
				U64_MAX - HWTIMER_HOLD,
				U64_MAX };
	bool more;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cursors); i++) {
		u64 cursor = cursors[i];

		more = true;
		KUNIT_EXPECT_EQ(test,
				hwtimer_query_some(instance, &timer, &cursor, 1,
						   &more),
				0);
		KUNIT_EXPECT_FALSE(test, more);
		KUNIT_EXPECT_EQ(test, cursor, cursors[i]);
	}
	for (i = 0; i < 3; i++) {
		u64 cursor = i;

		KUNIT_EXPECT_EQ(test,
				hwtimer_query_some(instance, &timer, &cursor, 1,
						   &more),
				i <= lower_32_bits(id));
	}
}

/*
 * The test takes events like a read() that is still copying them. The first of them
 * arrives, and the others do not. Meanwhile LIST lists them all. To QUERY, as to CANCEL,
 * those that will not come back if the read() succeeds are gone.
 */
static void read_fails(struct kunit *test, const u64 *ids, u32 count,
		       u32 first_state)
{
	struct hwtimer_instance *instance = test->priv;
	u64 now;
	u32 i;

	mutex_lock(&instance->harvest);
	KUNIT_ASSERT_EQ(test, hwtimer_harvest_take(instance, count, &now),
			count);
	for (i = 0; i < count; i++)
		expect_listed(test, ids[i], HWTIMER_STATE_EXPIRED);
	expect_found(test, ids[0], first_state ? HWTIMER_STATE_EXPIRED : 0);
	expect_found(test, ids[1], 0);
	hwtimer_harvest_finish(instance, count, 1, now);
	mutex_unlock(&instance->harvest);
	expect_listed(test, ids[0], first_state);
	for (i = 1; i < count; i++)
		expect_listed(test, ids[i], HWTIMER_STATE_EXPIRED);
}

static void what_is_being_read_is_listed(struct kunit *test)
{
	u64 waits, ids[BATCH];
	u32 i;

	for (i = 0; i < BATCH; i++)
		ids[i] = begin(test, HOUR, 0);
	waits = begin(test, 2 * HOUR, 0);
	fake_turn_until(test->priv, FAKE_START + 3 * HOUR);
	read_fails(test, ids, BATCH, 0);
	expect_listed(test, waits, HWTIMER_STATE_EXPIRED);
}

/* With a periodic timer in the instance, records that are being read are LEAVING. */
static void
what_is_being_read_beside_a_periodic_timer_is_listed(struct kunit *test)
{
	u64 ids[3];

	ids[0] = begin(test, HOUR, 5 * HOUR);
	ids[1] = begin(test, 2 * HOUR, 0);
	ids[2] = begin(test, 3 * HOUR, 5 * HOUR);
	fake_turn_until(test->priv, FAKE_START + 4 * HOUR);
	read_fails(test, ids, 3, HWTIMER_STATE_PENDING);
}

/* Records of a read() are far apart, and in the order of their deadlines. */
static void what_is_being_read_is_listed_wherever_it_is(struct kunit *test)
{
	u64 ids[BATCH];
	u32 i, n = LIMIT;

	for (i = 0; i < n; i++) {
		u32 nr = i % (n / BATCH) ? BATCH : i / (n / BATCH);
		u32 hours = nr < BATCH ? BATCH - nr : 2 * BATCH;
		u64 id = begin(test, hours * HOUR, 0);

		if (nr < BATCH)
			ids[BATCH - 1 - nr] = id;
	}
	fake_turn_until(test->priv, FAKE_START + (BATCH + 1) * HOUR);
	read_fails(test, ids, BATCH, 0);
}

/* The test does what STOP does while it copies timers to a program. */
static void what_is_being_handed_back_is_listed(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[2] = { begin(test, HOUR, 0), begin(test, HOUR, HOUR) };
	bool more;

	hwtimer_instance_stop(instance);
	mutex_lock(&instance->harvest);
	KUNIT_ASSERT_EQ(test, hwtimer_harvest_take_pending(instance, 3, &more),
			2);
	expect_listed(test, ids[0], HWTIMER_STATE_PENDING);
	expect_listed(test, ids[1], HWTIMER_STATE_PENDING);
	expect_found(test, ids[0], 0);
	expect_found(test, ids[1], 0);
	hwtimer_harvest_finish_pending(instance, 2, 1);
	mutex_unlock(&instance->harvest);
	expect_listed(test, ids[0], 0);
	expect_listed(test, ids[1], HWTIMER_STATE_PENDING);
}

static void discarded_event_is_not_listed(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 front = begin(test, HOUR, 0), behind = begin(test, HOUR, 0);

	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, behind, HWTIMER_DISCARD),
			0);
	KUNIT_ASSERT_EQ(test, instance->discards, 1);
	expect_listed(test, front, HWTIMER_STATE_EXPIRED);
	expect_listed(test, behind, 0);
}

/* Expects that a hold of the lock checks at most HWTIMER_HOLD - @reading records. */
static void expect_short_holds(struct kunit *test, u32 timers, u32 reading)
{
	struct hwtimer_instance *instance = test->priv;
	static struct hwtimer_listed some[HWTIMER_HOLD];
	u64 end = hwtimer_table_end(&instance->table);
	u64 cursor = 0, before;
	u32 listed = 0, holds = 0;
	bool more;

	do {
		before = cursor;
		listed += hwtimer_query_some(instance, some, &cursor,
					     HWTIMER_HOLD, &more);
		holds++;
		KUNIT_EXPECT_LE(test, cursor, before + HWTIMER_HOLD - reading);
		KUNIT_ASSERT_GT(test, cursor, before);
		KUNIT_EXPECT_EQ(test, more, cursor < end);
	} while (more);
	KUNIT_EXPECT_EQ(test, cursor, end);
	KUNIT_EXPECT_EQ(test, listed, timers);
	/* It does not dawdle, either. */
	KUNIT_EXPECT_LE(test, holds,
			DIV_ROUND_UP(end, HWTIMER_HOLD - BATCH - 1));
}

/* Unused records count, too: a table of millions may have a few timers left. */
static void holds_are_short(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	static u64 ids[LIMIT];
	u64 now;
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin(test, HOUR, 0);
	expect_short_holds(test, LIMIT, 0);
	for (i = 0; i < LIMIT - BATCH; i++)
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, ids[i], 0), 0);
	expect_short_holds(test, BATCH, 0);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	expect_short_holds(test, BATCH, 0);
	mutex_lock(&instance->harvest);
	KUNIT_ASSERT_EQ(test, hwtimer_harvest_take(instance, BATCH, &now),
			BATCH);
	expect_short_holds(test, BATCH, BATCH);
	hwtimer_harvest_finish(instance, BATCH, BATCH, now);
	mutex_unlock(&instance->harvest);
	expect_short_holds(test, 0, 0);
}

/*
 * A timer of the random test: @seen counts how often the listing that is under way has
 * listed it.
 */
struct fate {
	u64 id;
	bool always; /* exists since the listing began */
	u8 seen;
};

#define FATES 1000

static struct fate fates[FATES];

/* Without periodic timers, records that are being read are FREE; otherwise LEAVING. */
static bool fates_periodic;

static void begin_listing(void)
{
	u32 i;

	for (i = 0; i < FATES; i++) {
		fates[i].always = fates[i].id;
		fates[i].seen = 0;
	}
}

static void end_listing(struct kunit *test)
{
	u32 i;

	for (i = 0; i < FATES; i++) {
		KUNIT_ASSERT_LE(test, fates[i].seen, 1);
		if (fates[i].always)
			KUNIT_ASSERT_EQ(test, fates[i].seen, 1);
	}
}

/* A timer has ended: whether it is listed later does not matter. */
static void fate_ends(struct fate *fate)
{
	*fate = (struct fate){};
}

static void fate_begins(struct kunit *test, struct rnd_state *state, u32 nr)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = random_below(state, 100) * HOUR,
		.user_data = nr,
	};

	if (fates_periodic && !random_below(state, 4))
		request.interval = HOUR + random_below(state, 10) * HOUR;
	/* Discarded events count against the limit until they are freed. */
	if (fake_run(test->priv, &request) == -ENOSPC)
		return;
	KUNIT_ASSERT_EQ(test, request.result, 0);
	fates[nr].id = request.id;
}

/* A read() of up to @max events, of which some arrive. */
static void fates_read(struct kunit *test, struct rnd_state *state, u32 max)
{
	struct hwtimer_instance *instance = test->priv;
	const struct hwtimer_event *events = instance->leaving.page;
	u32 taken, copied, i;
	u64 now;

	hwtimer_harvest_discarded(instance);
	taken = hwtimer_harvest_take(instance, max, &now);
	copied = random_below(state, 2) ? taken :
					  random_below(state, taken + 1);
	for (i = 0; i < copied; i++) {
		struct fate *fate = &fates[events[i].user_data];
		u32 index = lower_32_bits(events[i].id);
		const struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, index);

		KUNIT_ASSERT_EQ(test, fate->id, events[i].id);
		if (!hwtimer_record_periodic(record) ||
		    record->flags & HWTIMER_RECORD_ENDING)
			fate_ends(fate);
	}
	hwtimer_harvest_finish(instance, taken, copied, now);
}

static void fates_change(struct kunit *test, struct rnd_state *state)
{
	struct hwtimer_instance *instance = test->priv;
	u32 nr = random_below(state, FATES);
	struct fate *fate = &fates[nr];

	switch (random_below(state, 8)) {
	case 0:
		if (!fake_cancel(instance, fate->id, HWTIMER_DISCARD))
			fate_ends(fate);
		break;
	case 1:
		/* EALREADY leaves the event of a periodic timer, its last. */
		if (!fake_cancel(instance, fate->id, 0))
			fate_ends(fate);
		break;
	case 2 ... 3:
		fake_reschedule(instance, fate->id,
				random_below(state, 100) * HOUR);
		break;
	case 4:
		fake_turn_until(instance, fake_now + HOUR / 4);
		break;
	case 5:
		mutex_lock(&instance->harvest);
		fates_read(test, state, 1 + random_below(state, BATCH));
		mutex_unlock(&instance->harvest);
		break;
	default:
		if (!fate->id)
			fate_begins(test, state, nr);
	}
}

/* Lists a page. Each timer in it must be one that exists. */
static bool fates_page(struct kunit *test, struct rnd_state *state, u64 *cursor)
{
	static struct hwtimer_listed timers[HWTIMER_HOLD];
	u32 max = 1 + random_below(state, 1 + random_below(state, 100));
	bool more;
	u32 i, listed;

	listed = hwtimer_query_some(test->priv, timers, cursor, max, &more);
	KUNIT_ASSERT_LE(test, listed, max);
	for (i = 0; i < listed; i++) {
		KUNIT_ASSERT_LT(test, timers[i].user_data, FATES);
		KUNIT_ASSERT_EQ(test, timers[i].id,
				fates[timers[i].user_data].id);
		fates[timers[i].user_data].seen++;
	}
	return more;
}

/* A page that is listed while a read() is copying; that read() fails. */
static bool fates_page_while_reading(struct kunit *test,
				     struct rnd_state *state, u64 *cursor)
{
	struct hwtimer_instance *instance = test->priv;
	bool more;
	u32 taken;
	u64 now;

	mutex_lock(&instance->harvest);
	taken = hwtimer_harvest_take(instance, BATCH, &now);
	more = fates_page(test, state, cursor);
	hwtimer_harvest_finish(instance, taken, 0, now);
	mutex_unlock(&instance->harvest);
	return more;
}

/*
 * While a listing is under way, timers begin, end, move, expire and are read. Each timer
 * that exists from its first page to its last is in it once, and no other one twice.
 */
static void each_timer_is_listed_once(struct kunit *test)
{
	u32 i, rounds = hwtimer_test_scaled(200) + 1;
	struct hwtimer_instance *instance = test->priv;
	struct rnd_state state;
	u64 pages = 0;

	hwtimer_test_seed(test, &state);
	memset(fates, 0, sizeof(fates));
	fates_periodic = false;
	for (i = 0; i < FATES; i++)
		fate_begins(test, &state, i);
	while (rounds--) {
		fates_periodic |= rounds == hwtimer_test_scaled(200) / 2;
		u64 cursor = 0;
		bool more = true;

		begin_listing();
		for (; more; pages++) {
			for (i = random_below(&state, 30); i; i--)
				fates_change(test, &state);
			more = random_below(&state, 3) ?
				       fates_page(test, &state, &cursor) :
				       fates_page_while_reading(test, &state,
								&cursor);
		}
		end_listing(test);
	}
	kunit_info(test,
		   "%llu pages; %llu scheduled, %llu expired, %llu delivered\n",
		   pages, instance->stats.scheduled, instance->stats.expired,
		   instance->stats.delivered);
	fake_check_books(test, instance);
}

static struct kunit_case list_test_cases[] = {
	KIND_CASE(before_the_first_timer_there_is_none),
	KIND_CASE(any_cursor_is_harmless),
	KIND_CASE(what_is_being_read_is_listed),
	KIND_CASE(what_is_being_read_beside_a_periodic_timer_is_listed),
	KIND_CASE(what_is_being_read_is_listed_wherever_it_is),
	KIND_CASE(what_is_being_handed_back_is_listed),
	KIND_CASE(discarded_event_is_not_listed),
	KIND_CASE(holds_are_short),
	KIND_CASE_SLOW(each_timer_is_listed_once),
	{}
};

static struct kunit_suite list_test_suite = {
	.name = "hwtimer_list",
	.init = list_test_init,
	.exit = fake_test_exit,
	.test_cases = list_test_cases,
};

kunit_test_suite(list_test_suite);
