// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of LIST: which timers it lists while other calls are made between its pages, and
 * what it does when the memory of the program ends too soon. The clock is a fake, and the
 * memory is mapped for the test. Programs see the rest, so selftests/list.c tests it.
 */
#include <kunit/test.h>
#include <linux/uaccess.h>

#include "fake.h"
#include "random.h"
#include "show/show.h"

#define HOUR FAKE_HOUR
#define LIMIT 2000

/* Room for that many timers is in the memory of each test; then follows half of another one. */
#define ROOM (HWTIMER_HOLD + 5)
#define BYTES ((2 * ROOM + 1) * sizeof(struct hwtimer_timer) / 2)

/**
 * struct list_test - an instance, and memory to list its timers to
 * @instance: the instance
 * @memory: room for ROOM timers
 * @timers: the timers of a page
 */
struct list_test {
	struct hwtimer_instance *instance;
	struct hwtimer_timer __user *memory;
	struct hwtimer_timer timers[ROOM];
};

static int list_test_init(struct kunit *test)
{
	struct list_test *list;

	list = kunit_kzalloc(test, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	list->instance = fake_create(LIMIT);
	if (!list->instance)
		return -ENOMEM;
	test->priv = list;
	list->memory = fake_user_memory(test, BYTES);
	return 0;
}

static void list_test_exit(struct kunit *test)
{
	struct list_test *list = test->priv;

	if (list)
		hwtimer_instance_destroy(list->instance);
}

static struct hwtimer_instance *instance_of(const struct kunit *test)
{
	const struct list_test *list = test->priv;

	return list->instance;
}

static u64 begin(struct kunit *test, u64 delay, u64 interval)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = delay,
		.interval = interval,
		.user_data = 4711,
	};

	KUNIT_ASSERT_EQ(test, fake_run(instance_of(test), &request), 0);
	return request.id;
}

/* Lists a page of @max timers at most to list->timers. Returns what LIST returns. */
static long list_page(struct kunit *test, u64 *cursor, u32 max)
{
	struct list_test *list = test->priv;
	struct hwtimer_list page = {
		.timers = (uintptr_t)list->memory,
		.count = max,
		.cursor = *cursor,
	};
	long ret = hwtimer_query_list(list->instance, &page);

	*cursor = page.cursor;
	if (ret > 0)
		KUNIT_ASSERT_EQ(test,
				copy_from_user(list->timers, list->memory,
					       ret * sizeof(*list->timers)),
				0);
	return ret;
}

/*
 * Expects that LIST lists the timer @id in @state and with @expirations, or not at all if
 * @state is 0.
 */
static void expect_listed(struct kunit *test, u64 id, u32 state,
			  u32 expirations)
{
	const struct list_test *list = test->priv;
	u64 cursor = 0;
	u32 times = 0;
	long i, n;

	do {
		n = list_page(test, &cursor, ROOM);
		KUNIT_ASSERT_GE(test, n, 0);
		for (i = 0; i < n; i++) {
			const struct hwtimer_timer *timer = &list->timers[i];

			if (timer->id != id)
				continue;
			times++;
			KUNIT_EXPECT_EQ(test, timer->state, state);
			KUNIT_EXPECT_EQ(test, timer->expirations, expirations);
			KUNIT_EXPECT_EQ(test, timer->user_data, 4711);
		}
	} while (n);
	KUNIT_EXPECT_EQ(test, times, state ? 1 : 0);
}

static void before_the_first_timer_there_is_none(struct kunit *test)
{
	u64 cursor = 0;

	KUNIT_EXPECT_EQ(test, list_page(test, &cursor, 1), 0);
	KUNIT_EXPECT_EQ(test, cursor, 0);
}

static void any_cursor_is_harmless(struct kunit *test)
{
	struct hwtimer_instance *instance = instance_of(test);
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
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cursors); i++) {
		u64 cursor = cursors[i];

		KUNIT_EXPECT_EQ(test, list_page(test, &cursor, 1), 0);
		KUNIT_EXPECT_EQ(test, cursor, cursors[i]);
	}
	for (i = 0; i < 3; i++) {
		u64 cursor = i;

		KUNIT_EXPECT_EQ(test, list_page(test, &cursor, 1),
				i <= lower_32_bits(id));
	}
}

/* Also what was read and not acknowledged, which tells what it told its reader. */
static void each_state_is_listed(struct kunit *test)
{
	struct hwtimer_instance *instance = instance_of(test);
	u64 pending = begin(test, 10 * HOUR, 0), once = begin(test, HOUR, 0);
	u64 often = begin(test, HOUR, HOUR), dropped = begin(test, HOUR, 0);
	struct hwtimer_event event;

	instance->settings.flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
	fake_turn_until(instance, FAKE_START + 3 * HOUR);
	KUNIT_ASSERT_EQ(test,
			fake_cancel(instance, dropped, HWTIMER_REQ_DISCARD), 0);
	expect_listed(test, pending, HWTIMER_STATE_PENDING, 0);
	expect_listed(test, once, HWTIMER_STATE_EXPIRED, 1);
	expect_listed(test, often, HWTIMER_STATE_EXPIRED, 3);
	expect_listed(test, dropped, 0, 0);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	fake_turn_until(instance, FAKE_START + 5 * HOUR);
	expect_listed(test, once, HWTIMER_STATE_EXPIRED, 1);
	expect_listed(test, often, HWTIMER_STATE_EXPIRED, 3);
	KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, 2), 2);
	expect_listed(test, once, 0, 0);
	expect_listed(test, often, HWTIMER_STATE_PENDING, 0);
}

/* Memory that ends too soon: what fits is listed, and the cursor is behind that. */
static void memory_ends_too_soon(struct kunit *test)
{
	struct list_test *list = test->priv;
	struct hwtimer_timer __user *memory = list->memory;
	u64 last = 0, cursor = 0;
	u32 i, all = 0;
	long n;

	for (i = 0; i < LIMIT; i++)
		last = begin(test, HOUR, 0);
	/* Half of an element fits. */
	list->memory = memory + ROOM;
	KUNIT_EXPECT_EQ(test, list_page(test, &cursor, 1), -EFAULT);
	/* Three elements and a half fit. */
	list->memory = memory + ROOM - 3;
	for (; (n = list_page(test, &cursor, ROOM)) > 0; all += n)
		KUNIT_ASSERT_LE(test, n, 3);
	KUNIT_EXPECT_EQ(test, n, 0);
	KUNIT_EXPECT_EQ(test, all, LIMIT);
	KUNIT_EXPECT_EQ(test, list->timers[(LIMIT - 1) % 3].id, last);
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

	if (!random_below(state, 4))
		request.interval = HOUR + random_below(state, 10) * HOUR;
	KUNIT_ASSERT_EQ(test, fake_run(instance_of(test), &request), 0);
	fates[nr].id = request.id;
}

/* A read() of up to @max events */
static void fates_read(struct kunit *test, u32 max)
{
	struct hwtimer_instance *instance = instance_of(test);
	struct hwtimer_event event;

	for (; max && fake_read(instance, &event); max--) {
		struct fate *fate = &fates[event.user_data];

		KUNIT_ASSERT_EQ(test, fate->id, event.id);
		if (!hwtimer_table_find(&instance->table, event.id))
			fate_ends(fate);
	}
}

static void fates_change(struct kunit *test, struct rnd_state *state)
{
	struct hwtimer_instance *instance = instance_of(test);
	u32 nr = random_below(state, FATES);
	struct fate *fate = &fates[nr];

	switch (random_below(state, 8)) {
	case 0:
		if (!fake_cancel(instance, fate->id, HWTIMER_REQ_DISCARD))
			fate_ends(fate);
		break;
	case 1:
		/* With 1 as its result, an event of the timer stays. */
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
		fates_read(test, 1 + random_below(state, 50));
		break;
	default:
		if (!fate->id)
			fate_begins(test, state, nr);
	}
}

/* Lists a page. Each timer in it must be one that exists. Returns the number of timers. */
static long fates_page(struct kunit *test, struct rnd_state *state, u64 *cursor)
{
	u32 max = 1 + random_below(state, 1 + random_below(state, ROOM));
	const struct list_test *list = test->priv;
	long i, listed = list_page(test, cursor, max);

	KUNIT_ASSERT_GE(test, listed, 0);
	KUNIT_ASSERT_LE(test, listed, max);
	for (i = 0; i < listed; i++) {
		u64 nr = list->timers[i].user_data;

		KUNIT_ASSERT_LT(test, nr, FATES);
		KUNIT_ASSERT_EQ(test, list->timers[i].id, fates[nr].id);
		fates[nr].seen++;
	}
	return listed;
}

/*
 * While a listing is under way, timers begin, end, move, expire and are read. Each timer
 * that exists from its first page to its last is in it once, and no other one twice.
 */
static void each_timer_is_listed_once(struct kunit *test)
{
	u32 i, rounds = hwtimer_test_scaled(200) + 1;
	struct hwtimer_instance *instance = instance_of(test);
	struct rnd_state state;
	u64 pages = 0;

	hwtimer_test_seed(test, &state);
	memset(fates, 0, sizeof(fates));
	for (i = 0; i < FATES; i++)
		fate_begins(test, &state, i);
	while (rounds--) {
		u64 cursor = 0;

		begin_listing();
		do {
			for (i = random_below(&state, 30); i; i--)
				fates_change(test, &state);
			pages++;
		} while (fates_page(test, &state, &cursor));
		end_listing(test);
	}
	kunit_info(test,
		   "%llu pages; %llu scheduled, %llu expired, %llu delivered\n",
		   pages, instance->stats.scheduled, instance->stats.expired,
		   instance->stats.delivered);
	fake_check_books(test, instance);
}

static struct kunit_case list_test_cases[] = {
	KUNIT_CASE(before_the_first_timer_there_is_none),
	KUNIT_CASE(any_cursor_is_harmless),
	KUNIT_CASE(each_state_is_listed),
	KUNIT_CASE(memory_ends_too_soon),
	KUNIT_CASE_SLOW(each_timer_is_listed_once),
	{}
};

static struct kunit_suite list_test_suite = {
	.name = "hwtimer_list",
	.init = list_test_init,
	.exit = list_test_exit,
	.test_cases = list_test_cases,
};

kunit_test_suite(list_test_suite);
