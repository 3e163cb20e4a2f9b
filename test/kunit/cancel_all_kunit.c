// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of CANCEL_ALL, in an instance that is stopped and in one that is not: which timers it
 * hands back, as what, and what is left when the memory of the program ends too soon. The clock
 * is a fake, and the memory is mapped for the test.
 */
#include <kunit/test.h>
#include <linux/uaccess.h>

#include "fake.h"

#define TICK NSEC_PER_MSEC
#define LIMIT (4 * HWTIMER_HOLD)

/* A prime number, so that holds and pages end at other timers than calls do */
#define SOME 7U

static int cancel_all_test_init(struct kunit *test)
{
	return fake_test_init(test, LIMIT);
}

/* Runs a test in an instance that is not stopped, and in one that it stops. */
static void run_both(struct kunit *test,
		     void (*body)(struct kunit *test, bool stop))
{
	body(test, false);
	fake_test_exit(test);
	KUNIT_ASSERT_EQ(test, cancel_all_test_init(test), 0);
	body(test, true);
}

static void stop_if(struct kunit *test, bool stop)
{
	if (stop)
		hwtimer_instance_stop(test->priv);
}

static u64 begin(struct kunit *test, u64 delay, u64 interval, u32 max,
		 u32 flags)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = flags,
		.time = delay,
		.interval = interval,
		.expirations_max = max,
	};

	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

/* Ends timers, with room for one. Returns what CANCEL_ALL returns, and the timer. */
static long end_one(struct kunit *test, u32 flags, struct hwtimer_timer *timer)
{
	struct hwtimer_timer __user *memory =
		fake_user_memory(test, sizeof(*memory));
	struct hwtimer_list list = { .timers = (uintptr_t)memory,
				     .count = 1,
				     .flags = flags };
	long ret = hwtimer_cancel_all(test->priv, &list);

	KUNIT_ASSERT_EQ(test, copy_from_user(timer, memory, sizeof(*timer)), 0);
	return ret;
}

/* Expects that CANCEL_ALL hands this timer back next. */
static void expect_back(struct kunit *test, u64 id, u64 deadline, u32 left)
{
	struct hwtimer_timer timer;

	KUNIT_ASSERT_EQ(test, end_one(test, 0, &timer), 1);
	KUNIT_EXPECT_EQ(test, timer.id, id);
	KUNIT_EXPECT_EQ(test, timer.deadline, deadline);
	KUNIT_EXPECT_EQ(test, timer.remaining,
			deadline - min(deadline, fake_now));
	KUNIT_EXPECT_EQ(test, timer.state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, timer.expirations_left, left);
	KUNIT_EXPECT_EQ(test, timer.expirations, 0);
}

static void expect_no_other(struct kunit *test)
{
	struct hwtimer_timer timer;

	KUNIT_EXPECT_EQ(test, end_one(test, 0, &timer), 0);
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
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

static void pending_timers(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 once = begin(test, 10 * TICK, 0, 0, 0);
	u64 often = begin(test, 20 * TICK, 30 * TICK, 5, 0);

	stop_if(test, stop);
	fake_now += 12 * TICK;
	expect_back(test, once, FAKE_START + 10 * TICK, 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, once, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 1);
	expect_back(test, often, FAKE_START + 20 * TICK, 5);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 2);
	expect_end(test);
}

static void pending_timers_are_handed_back(struct kunit *test)
{
	run_both(test, pending_timers);
}

/* What rests is handed back as it will be after its event, which stays, and is the last. */
static void resting_timer(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 7, 0);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	stop_if(test, stop);
	/* What passes after the stop does not count. */
	if (stop)
		fake_now = FAKE_START + 100 * TICK;
	expect_back(test, id, FAKE_START + 40 * TICK, 4);
	fake_now = FAKE_START + 100 * TICK;
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, instance->stats.rearmed, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 1);
	expect_event(test, id, 3);
	expect_no_other(test);
	expect_end(test);
}

static void resting_timer_is_handed_back_at_once(struct kunit *test)
{
	run_both(test, resting_timer);
}

/* With HWTIMER_REQ_FIXED_DELAY, the interval counts from the call that hands the timer back. */
static void resting_fixed_delay(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 7, HWTIMER_REQ_FIXED_DELAY);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	stop_if(test, stop);
	fake_now = FAKE_START + 100 * TICK;
	expect_back(test, id, FAKE_START + 110 * TICK, 6);
	expect_event(test, id, 1);
	expect_no_other(test);
	expect_end(test);
}

static void resting_timer_with_a_fixed_delay(struct kunit *test)
{
	run_both(test, resting_fixed_delay);
}

/* A timer that ends with its event does not come back. */
static void last_events(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 once = begin(test, 10 * TICK, 0, 0, 0);
	u64 ids[2] = { begin(test, 10 * TICK, 10 * TICK, 3, 0),
		       begin(test, 10 * TICK, 10 * TICK, 1,
			     HWTIMER_REQ_FIXED_DELAY) };
	u64 cancelled = begin(test, 10 * TICK, 10 * TICK, 0, 0);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, cancelled, 0), 1);
	stop_if(test, stop);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 0);
	expect_event(test, once, 1);
	expect_event(test, ids[0], 3);
	expect_event(test, ids[1], 1);
	expect_event(test, cancelled, 3);
	expect_end(test);
}

static void last_event_leaves_no_timer(struct kunit *test)
{
	run_both(test, last_events);
}

/* The timer is pending once its event was read, and then handed back as that. */
static void read_event(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 0, 0);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	stop_if(test, stop);
	expect_event(test, id, 3);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	expect_back(test, id, FAKE_START + 40 * TICK, 0);
	expect_no_other(test);
	expect_end(test);
}

static void event_that_was_read_first(struct kunit *test)
{
	run_both(test, read_event);
}

/* What was read and not acknowledged is handed back behind what the event has told. */
static void unacknowledged_timer(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 7, 0);

	instance->settings.flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
	fake_turn_until(instance, FAKE_START + 15 * TICK);
	expect_event(test, id, 1);
	fake_turn_until(instance, FAKE_START + 35 * TICK);
	stop_if(test, stop);
	expect_back(test, id, FAKE_START + 20 * TICK, 6);
	/* Read once more, it tells the same. */
	hwtimer_read_rewind(instance);
	expect_event(test, id, 1);
	expect_no_other(test);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	expect_end(test);
}

static void unacknowledged_timer_is_handed_back(struct kunit *test)
{
	run_both(test, unacknowledged_timer);
}

/*
 * The call decides what becomes of a timer whose event waits, as CANCEL does. When the clock is
 * set back afterwards, the event tells no less, and no other one comes.
 */
static void the_end_is_final_though_the_clock_is_set_back(struct kunit *test)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.time = FAKE_START + 10 * TICK,
		.interval = 10 * TICK,
		.expirations_max = 3,
	};
	struct hwtimer_instance *instance = test->priv;
	u64 last;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	last = request.id;
	request.expirations_max = 5;
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	fake_turn_until(instance, FAKE_START + 35 * TICK);
	expect_back(test, request.id, FAKE_START + 40 * TICK, 2);
	expect_no_other(test);
	fake_now = FAKE_START + 12 * TICK;
	expect_event(test, last, 3);
	expect_event(test, request.id, 3);
	expect_end(test);
}

/* With HWTIMER_LIST_DISCARD, nothing is left; what rests is handed back nevertheless. */
static void discarded_events(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_timer timer;
	u64 id;

	begin(test, 10 * TICK, 0, 0, 0);
	id = begin(test, 10 * TICK, 10 * TICK, 7, 0);
	begin(test, 10 * TICK, 10 * TICK, 3, 0);
	fake_turn_until(instance, FAKE_START + 35 * TICK);
	stop_if(test, stop);
	KUNIT_ASSERT_EQ(test, end_one(test, HWTIMER_LIST_DISCARD, &timer), 1);
	KUNIT_EXPECT_EQ(test, timer.id, id);
	KUNIT_EXPECT_EQ(test, timer.deadline, FAKE_START + 40 * TICK);
	KUNIT_EXPECT_EQ(test, timer.state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, timer.expirations_left, 4);
	KUNIT_EXPECT_EQ(test, end_one(test, HWTIMER_LIST_DISCARD, &timer), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.discarded, 3);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 1);
	expect_end(test);
}

static void events_are_discarded(struct kunit *test)
{
	run_both(test, discarded_events);
}

static void readers_are_told_when_all_events_are_discarded(struct kunit *test)
{
	struct hwtimer_list all = { .count = INT_MAX,
				    .flags = HWTIMER_LIST_DISCARD };
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;
	u32 i;

	for (i = 0; i < SOME; i++)
		begin(test, 10 * TICK, 0, 0, 0);
	fake_turn_until(instance, FAKE_START + 10 * TICK);
	hwtimer_instance_stop(instance);
	fake_fall_asleep(instance, &sleeper);
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &all), 0);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_drained(instance));
	remove_wait_queue(&instance->readers, &sleeper);
	expect_end(test);
}

/* Without an array, as many timers end as the caller says. */
static void the_count_is_kept_without_an_array(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_list list = {};
	u32 i;

	for (i = 0; i < SOME; i++)
		begin(test, 10 * TICK, i % 2 ? TICK : 0, 0, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, SOME);
	list.count = 2;
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), 2);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, SOME - 2);
	list.count = INT_MAX;
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), SOME - 2);
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), 0);
	expect_end(test);
}

static void any_cursor_is_harmless(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0, 0);
	u64 end = hwtimer_table_end(&instance->table);
	const u64 cursors[] = { end, end + 1, 1ULL << 32, id, U64_MAX };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cursors); i++) {
		struct hwtimer_list list = { .cursor = cursors[i], .count = 1 };

		KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), 0);
		KUNIT_EXPECT_EQ(test, list.cursor, cursors[i]);
	}
	expect_back(test, id, FAKE_START + 10 * TICK, 0);
	expect_end(test);
}

/* One hold of the lock checks HWTIMER_HOLD records. A signal ends the call after it. */
static void a_signal_is_noticed_after_a_hold(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_list list = { .count = INT_MAX };
	u32 i, index;

	/* Their records are the first ones, but for HWTIMER_NO_RECORD. */
	for (i = 0; i < 2 * HWTIMER_HOLD; i++)
		begin(test, FAKE_HOUR, 0, 0, 0);
	for (index = 1; index < HWTIMER_HOLD; index++) {
		const struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, index);

		KUNIT_ASSERT_EQ(test,
				fake_cancel(instance,
					    hwtimer_table_id(record, index), 0),
				0);
	}
	fake_kill();
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), -EINTR);
	KUNIT_EXPECT_EQ(test, list.cursor, HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, HWTIMER_HOLD + 1);
	/* If timers have ended, that is the result. */
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list),
			HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, list.cursor, 2 * HWTIMER_HOLD);
	fake_revive();
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &list), 0);
	expect_end(test);
}

/*
 * Hands all timers back, @count at most in each call, into memory that ends in the middle of
 * an element behind @room of them. Each comes once, and none is lost.
 */
static void hand_all_back(struct kunit *test, u32 count, u32 room, bool stop)
{
	static struct hwtimer_timer timers[LIMIT];
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_list list = { .count = count };
	const size_t size = sizeof(*timers);
	struct hwtimer_timer __user *memory;
	u32 i, all = 0;
	u64 sum = 0;
	long ret;

	for (i = 0; i < LIMIT; i++) {
		/* A third are pending, a third rest, and a third have an event, their last. */
		u64 delay = i % 3 ? TICK : FAKE_HOUR;
		u64 id = begin(test, delay, i % 3 == 1 ? TICK : 0, 0, 0);

		sum += i % 3 == 2 ? 0 : id;
	}
	while (instance->stats.expired < LIMIT / 3 * 2)
		fake_turn_until(instance, fake_now + TICK);
	stop_if(test, stop);
	memory = fake_user_memory(test, room * size + size / 2);
	list.timers = (uintptr_t)memory;
	do {
		ret = hwtimer_cancel_all(instance, &list);
		KUNIT_ASSERT_GE(test, ret, 0);
		KUNIT_ASSERT_LE(test, ret, min(count, room));
		KUNIT_ASSERT_EQ(test,
				copy_from_user(timers, memory, ret * size), 0);
		for (i = 0; i < ret; i++)
			sum -= timers[i].id;
		all += ret;
	} while (ret);
	KUNIT_EXPECT_EQ(test, sum, 0);
	KUNIT_EXPECT_EQ(test, all, instance->stats.cancelled);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test,
			all + instance->stats.expired - instance->stats.rearmed,
			LIMIT);
	fake_check_books(test, instance);
}

static void hand_few_back(struct kunit *test, bool stop)
{
	hand_all_back(test, SOME, SOME, stop);
}

static void each_timer_is_handed_back_once(struct kunit *test)
{
	run_both(test, hand_few_back);
}

static void all_timers_are_handed_back_in_one_call(struct kunit *test)
{
	hand_all_back(test, LIMIT, LIMIT, true);
}

static void memory_ends_too_soon(struct kunit *test)
{
	hand_all_back(test, SOME + 1, SOME, false);
}

/* Expects that CANCEL_ALL fails because no timer fits into the memory. */
static void expect_fault(struct kunit *test)
{
	void __user *memory =
		fake_user_memory(test, sizeof(struct hwtimer_timer) - 1);
	struct hwtimer_list list = { .timers = (uintptr_t)memory, .count = 2 };

	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(test->priv, &list), -EFAULT);
}

static void memory_without_room(struct kunit *test, bool stop)
{
	struct hwtimer_instance *instance = test->priv;
	u64 pending = begin(test, 50 * TICK, 0, 0, 0);
	u64 rests = begin(test, 10 * TICK, 10 * TICK, 0, 0);

	fake_turn_until(instance, FAKE_START + 35 * TICK);
	stop_if(test, stop);
	expect_fault(test);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 0);
	expect_back(test, pending, FAKE_START + 50 * TICK, 0);
	expect_fault(test);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 1);
	expect_back(test, rests, FAKE_START + 40 * TICK, 0);
	expect_no_other(test);
	expect_event(test, rests, 3);
	expect_end(test);
}

static void no_timer_fits(struct kunit *test)
{
	run_both(test, memory_without_room);
}

static struct kunit_case cancel_all_test_cases[] = {
	KUNIT_CASE(pending_timers_are_handed_back),
	KUNIT_CASE(resting_timer_is_handed_back_at_once),
	KUNIT_CASE(resting_timer_with_a_fixed_delay),
	KUNIT_CASE(last_event_leaves_no_timer),
	KUNIT_CASE(event_that_was_read_first),
	KUNIT_CASE(unacknowledged_timer_is_handed_back),
	KUNIT_CASE(the_end_is_final_though_the_clock_is_set_back),
	KUNIT_CASE(events_are_discarded),
	KUNIT_CASE(readers_are_told_when_all_events_are_discarded),
	KUNIT_CASE(the_count_is_kept_without_an_array),
	KUNIT_CASE(any_cursor_is_harmless),
	KUNIT_CASE(a_signal_is_noticed_after_a_hold),
	KUNIT_CASE(each_timer_is_handed_back_once),
	KUNIT_CASE(all_timers_are_handed_back_in_one_call),
	KUNIT_CASE(memory_ends_too_soon),
	KUNIT_CASE(no_timer_fits),
	{}
};

static struct kunit_suite cancel_all_test_suite = {
	.name = "hwtimer_cancel_all",
	.init = cancel_all_test_init,
	.exit = fake_test_exit,
	.test_cases = cancel_all_test_cases,
};

kunit_test_suite(cancel_all_test_suite);
