// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of STOP: which timers it hands back, as what, and what is left when the memory of
 * the program ends too soon. The clock is a fake, and the memory is mapped for the test.
 */
#include <kunit/test.h>
#include <linux/uaccess.h>

#include "../hwtimer_read.h"
#include "../hwtimer_stop.h"
#include "fake.h"
#include "kinds.h"

#define TICK NSEC_PER_MSEC
#define LIMIT (4 * HWTIMER_HOLD)

/* A prime number, so that holds and pages end at other timers than calls do */
#define SOME 7U

static int stop_test_init(struct kunit *test)
{
	return fake_test_init(test, kind_of(test), LIMIT);
}

static u64 begin(struct kunit *test, u64 delay, u64 interval, u32 count,
		 u32 flags)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = flags,
		.time = delay,
		.interval = interval,
		.count = count,
	};

	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

/* STOPs with room for one timer. Returns what STOP returns, and the timer. */
static ssize_t stop_one(struct kunit *test, struct hwtimer_unprocessed *timer,
			u64 *left)
{
	struct hwtimer_unprocessed __user *memory =
		fake_user_memory(test, sizeof(*memory));
	ssize_t ret = hwtimer_stop_timers(test->priv, memory, 1, left);

	KUNIT_ASSERT_EQ(test, copy_from_user(timer, memory, sizeof(*timer)), 0);
	return ret;
}

/* Expects that STOP hands this timer back next. */
static void expect_back(struct kunit *test, u64 id, u64 deadline, u32 count)
{
	struct hwtimer_unprocessed timer;
	u64 left;

	KUNIT_ASSERT_EQ(test, stop_one(test, &timer, &left), 1);
	KUNIT_EXPECT_EQ(test, timer.id, id);
	KUNIT_EXPECT_EQ(test, timer.deadline, deadline);
	KUNIT_EXPECT_EQ(test, timer.remaining,
			deadline - min(deadline, fake_now));
	KUNIT_EXPECT_EQ(test, timer.count, count);
}

static void expect_no_other(struct kunit *test)
{
	struct hwtimer_unprocessed timer;
	u64 left = 1;

	KUNIT_EXPECT_EQ(test, stop_one(test, &timer, &left), 0);
	KUNIT_EXPECT_EQ(test, left, 0);
}

static void expect_event(struct kunit *test, u64 id, u32 expirations)
{
	struct hwtimer_event event = {};

	KUNIT_ASSERT_EQ(test, fake_read(test->priv, &event), 1);
	KUNIT_EXPECT_EQ(test, event.id, id);
	KUNIT_EXPECT_EQ(test, event.expirations, expirations);
}

/* Expects that no event waits, and that nothing is left of any timer. */
static void expect_end(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	KUNIT_EXPECT_EQ(test, instance->resting, 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

static void pending_timers_are_handed_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 once = begin(test, 10 * TICK, 0, 0, 0);
	u64 often = begin(test, 20 * TICK, 30 * TICK, 5, 0);

	hwtimer_instance_stop(instance);
	fake_now += 12 * TICK;
	expect_back(test, once, FAKE_START + 10 * TICK, 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, once, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, often, HWTIMER_DISCARD), 0);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, instance->stats.unprocessed, 1);
	expect_end(test);
}

/* What rests is handed back as it will be after its event, which stays, and is the last. */
static void resting_timer_is_handed_back_at_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 7, 0);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	fake_now = FAKE_START + 100 * TICK;
	KUNIT_EXPECT_EQ(test, instance->resting, 1);
	expect_back(test, id, FAKE_START + 40 * TICK, 4);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, instance->stats.unprocessed, 1);
	expect_event(test, id, 3);
	expect_no_other(test);
	expect_end(test);
}

/* With HWTIMER_FIXED_DELAY, the interval counts from the call that hands the timer back. */
static void resting_timer_with_a_fixed_delay(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 7, HWTIMER_FIXED_DELAY);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	fake_now = FAKE_START + 100 * TICK;
	expect_back(test, id, FAKE_START + 110 * TICK, 6);
	expect_event(test, id, 1);
	expect_no_other(test);
	expect_end(test);
}

/* A timer that ends with its event does not come back, and nobody waits for it. */
static void last_event_leaves_no_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[2] = { begin(test, 10 * TICK, 10 * TICK, 3, 0),
		       begin(test, 10 * TICK, 10 * TICK, 1,
			     HWTIMER_FIXED_DELAY) };
	u64 cancelled = begin(test, 10 * TICK, 10 * TICK, 0, 0), left;

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, cancelled, 0), -EALREADY);
	hwtimer_instance_stop(instance);
	/* Nobody has looked at the timers yet. */
	KUNIT_EXPECT_EQ(test, hwtimer_stop_timers(instance, NULL, 0, &left), 0);
	KUNIT_EXPECT_EQ(test, left, 2);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, instance->stats.unprocessed, 0);
	expect_event(test, ids[0], 3);
	expect_event(test, ids[1], 1);
	expect_event(test, cancelled, 3);
	expect_end(test);
}

/* The timer is pending once its event was read, and then handed back as that. */
static void event_that_was_read_first(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 0, 0);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	expect_event(test, id, 3);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	expect_back(test, id, FAKE_START + 40 * TICK, 0);
	expect_no_other(test);
	expect_end(test);
}

/* What was read and not acknowledged is handed back behind what the event has told. */
static void unacknowledged_timer_is_handed_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 7, 0);

	instance->settings.flags |= HWTIMER_AT_LEAST_ONCE;
	fake_turn_until(instance, FAKE_START + 15 * TICK);
	expect_event(test, id, 1);
	fake_turn_until(instance, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	expect_back(test, id, FAKE_START + 20 * TICK, 6);
	/* Read once more, it tells the same. */
	KUNIT_EXPECT_EQ(test, hwtimer_read_rewind(instance), 0);
	expect_event(test, id, 1);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	expect_end(test);
}

/*
 * Hands all timers back, @count at most in each call, into memory that ends in the middle of
 * an element behind @room of them. Each comes once, and none is lost.
 */
static void hand_all_back(struct kunit *test, u32 count, u32 room)
{
	static struct hwtimer_unprocessed timers[LIMIT];
	struct hwtimer_instance *instance = test->priv;
	const size_t size = sizeof(*timers);
	static u64 ids[LIMIT];
	struct hwtimer_unprocessed __user *memory;
	u64 sum = 0, left = LIMIT;
	u32 i, all = 0;
	ssize_t ret;

	for (i = 0; i < LIMIT; i++) {
		/* A third are pending, a third rest, and a third have an event, their last. */
		u64 delay = i % 3 ? TICK : FAKE_HOUR;

		ids[i] = begin(test, delay, i % 3 == 1 ? TICK : 0, 0, 0);
		sum += i % 3 == 2 ? 0 : ids[i];
	}
	while (instance->stats.expired < LIMIT / 3 * 2)
		fake_turn_until(instance, fake_now + TICK);
	hwtimer_instance_stop(instance);
	memory = fake_user_memory(test, room * size + size / 2);
	do {
		ret = hwtimer_stop_timers(instance, memory, count, &left);
		KUNIT_ASSERT_GE(test, ret, 0);
		KUNIT_ASSERT_LE(test, ret, min(count, room));
		KUNIT_ASSERT_EQ(test,
				copy_from_user(timers, memory, ret * size), 0);
		for (i = 0; i < ret; i++)
			sum -= timers[i].id;
		all += ret;
	} while (ret);
	KUNIT_EXPECT_EQ(test, left, 0);
	KUNIT_EXPECT_EQ(test, sum, 0);
	KUNIT_EXPECT_EQ(test, all, instance->stats.unprocessed);
	KUNIT_EXPECT_EQ(test,
			all + instance->stats.expired - instance->stats.rearmed,
			LIMIT);
	fake_check_books(test, instance);
}

static void each_timer_is_handed_back_once(struct kunit *test)
{
	hand_all_back(test, SOME, SOME);
}

static void all_timers_are_handed_back_in_one_call(struct kunit *test)
{
	hand_all_back(test, LIMIT, LIMIT);
}

static void memory_ends_too_soon(struct kunit *test)
{
	hand_all_back(test, SOME + 1, SOME);
}

static void no_timer_fits(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 pending = begin(test, 50 * TICK, 0, 0, 0);
	u64 rests = begin(test, 10 * TICK, 10 * TICK, 0, 0), left;
	void __user *memory;

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	memory = fake_user_memory(test, sizeof(struct hwtimer_unprocessed) - 1);
	KUNIT_EXPECT_EQ(test, hwtimer_stop_timers(instance, memory, 2, &left),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, left, 2);
	expect_back(test, pending, FAKE_START + 50 * TICK, 0);
	memory = fake_user_memory(test, sizeof(struct hwtimer_unprocessed) - 1);
	KUNIT_EXPECT_EQ(test, hwtimer_stop_timers(instance, memory, 2, &left),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, left, 1);
	expect_back(test, rests, FAKE_START + 40 * TICK, 0);
	expect_no_other(test);
	expect_event(test, rests, 3);
	expect_end(test);
}

static struct kunit_case stop_test_cases[] = {
	KIND_CASE(pending_timers_are_handed_back),
	KIND_CASE(resting_timer_is_handed_back_at_once),
	KIND_CASE(resting_timer_with_a_fixed_delay),
	KIND_CASE(last_event_leaves_no_timer),
	KIND_CASE(event_that_was_read_first),
	KIND_CASE(unacknowledged_timer_is_handed_back),
	KIND_CASE(each_timer_is_handed_back_once),
	KIND_CASE(all_timers_are_handed_back_in_one_call),
	KIND_CASE(memory_ends_too_soon),
	KIND_CASE(no_timer_fits),
	{}
};

static struct kunit_suite stop_test_suite = {
	.name = "hwtimer_stop",
	.init = stop_test_init,
	.exit = fake_test_exit,
	.test_cases = stop_test_cases,
};

kunit_test_suite(stop_test_suite);
