// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the ring of events: its bound, who turns the wheel at it, and events that stay
 * until they are acknowledged. The clock is a fake, and the worker is the test. Most use the
 * ring with which an instance starts, as that is soon full.
 */
#include <kunit/test.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "fake.h"
#include "random.h"

#define TICK NSEC_PER_MSEC
#define RECORDS HWTIMER_START_RECORDS
#define LIMIT 5000U

static int events_test_init(struct kunit *test)
{
	return fake_test_init(test, LIMIT);
}

static u64 begin(struct kunit *test, u64 delay, u64 interval, u32 max)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = delay,
		.interval = interval,
		.expirations_max = max,
	};

	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

/* Ends a timer whose event waits, and drops the event. */
static void discard(struct kunit *test, u64 id)
{
	KUNIT_ASSERT_EQ(test, fake_cancel(test->priv, id, HWTIMER_REQ_DISCARD),
			0);
}

/* Lets a timer expire, and drops its event: what is left is a dead entry. */
static void waste_entry(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, TICK, 0, 0);

	fake_turn_until(instance, fake_now + TICK);
	discard(test, id);
}

static u32 used(const struct hwtimer_instance *instance)
{
	return instance->events.tail - instance->events.head;
}

/*
 * Fills the ring with one event, and dead entries behind it, until nothing can expire any
 * more. Returns the id of the event's timer.
 */
static u64 fill(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, TICK, 0, 0);

	fake_turn_until(instance, fake_now + TICK);
	while (!hwtimer_events_full(&instance->events))
		waste_entry(test);
	KUNIT_ASSERT_EQ(test, instance->stats.ready, 1);
	KUNIT_ASSERT_EQ(test, used(instance), instance->events.bound + 1);
	return id;
}

/* A reader without the lock may see a tail from before, and the head of now. */
static void an_old_tail_is_not_full(struct kunit *test)
{
	struct hwtimer_events events = { .head = 102,
					 .tail = 100,
					 .bound = 64 };

	KUNIT_EXPECT_FALSE(test, hwtimer_events_full(&events));
	events.tail += 2 + events.bound;
	KUNIT_EXPECT_FALSE(test, hwtimer_events_full(&events));
	events.tail++;
	KUNIT_EXPECT_TRUE(test, hwtimer_events_full(&events));
}

static void set_threshold(struct kunit *test, u32 events)
{
	hwtimer_notice_set(test->priv, events, HWTIMER_NEVER);
}

static void turn_once(struct hwtimer_instance *instance)
{
	hwtimer_turn(&instance->job.turns);
}

/* Expects that the next event is that of the timer @id. */
static void expect_read(struct kunit *test, u64 id, u32 expirations)
{
	struct hwtimer_event event = {};

	KUNIT_ASSERT_EQ(test, fake_read(test->priv, &event), 1);
	KUNIT_EXPECT_EQ(test, event.id, id);
	KUNIT_EXPECT_EQ(test, event.expirations, expirations);
}

static void expect_none(struct kunit *test)
{
	struct hwtimer_event event;

	KUNIT_EXPECT_EQ(test, fake_read(test->priv, &event), 0);
}

/* Expects that the timers of all events have ended, and that the ring is empty. */
static void expect_nothing_left(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	expect_none(test);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	KUNIT_EXPECT_EQ(test, instance->events.unread, 0);
	KUNIT_EXPECT_EQ(test, instance->events.read, 0);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	fake_check_books(test, instance);
}

/* Schedules @count timers for one tick, and numbers them by their user_data. */
static void begin_numbered(struct kunit *test, u64 delay, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = delay,
			.user_data = i,
		};

		KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	}
}

/* Reads up to @max events. The first of them must have the number @first. */
static u32 read_numbered(struct kunit *test, u32 first, u32 max)
{
	static struct hwtimer_event events[LIMIT];
	u32 i, n = fake_read_some(test->priv, events, max);

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, events[i].user_data, first + i);
	return n;
}

/* ---- the bound ---- */

static void nothing_expires_while_the_ring_is_full(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	u64 last, turns;
	int i;

	set_threshold(test, 100);
	fill(test);
	/* Whatever the threshold is */
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_enough(instance));
	last = begin(test, TICK, 0, 0);
	turns = instance->turns;
	fake_now += 10 * TICK;
	for (i = 0; i < 3; i++)
		turn_once(instance);
	KUNIT_EXPECT_EQ(test, instance->turns, turns);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);

	/* The program comes, and reads on without the worker. */
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.id, last);
	KUNIT_EXPECT_EQ(test, event.lateness, 9 * TICK);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	fake_check_books(test, instance);
}

/* Making room while nothing is to be read wakes the worker. */
static void discard_has_the_worker_come(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = fill(test);

	begin(test, TICK, 0, 0);
	fake_now += 10 * TICK;
	turn_once(instance);
	KUNIT_ASSERT_TRUE(test, instance->events.parked);
	discard(test, id);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	fake_turn_until(instance, fake_now);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
}

static void threshold_has_the_worker_come(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	/* A reader has turned the wheel, and left one event of two, and more that is due. */
	begin(test, TICK, 0, 0);
	begin(test, TICK, 0, 0);
	fake_now += 10 * TICK;
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_ASSERT_EQ(test, instance->events.unread, 1);
	instance->events.parked = true;
	set_threshold(test, 1);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	set_threshold(test, 2);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
}

/* Few timers have many events behind one that waits: they are dropped. */
static void ring_grows_before_it_is_full(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, TICK, 0, 0);

	fake_turn_until(instance, fake_now + TICK);
	while (instance->events.mask + 1 == HWTIMER_START_EVENTS) {
		KUNIT_ASSERT_FALSE(test,
				   hwtimer_events_full(&instance->events));
		waste_entry(test);
	}
	KUNIT_EXPECT_GE(test, used(instance), HWTIMER_START_EVENTS / 2);
	KUNIT_EXPECT_FALSE(test, hwtimer_events_full(&instance->events));
	expect_read(test, id, 1);
	expect_nothing_left(test);
}

/* A timer that is moved takes no second place. */
static void moves_need_no_larger_ring(struct kunit *test)
{
	const struct hwtimer_bulk bulk = { .op = HWTIMER_OP_RESCHEDULE };
	struct hwtimer_instance *instance = test->priv;
	u64 words[2 * (RECORDS - 1)];
	int err;
	u32 i;

	if (2 * (RECORDS - 1) > HWTIMER_START_ENTRIES)
		kunit_skip(test, "the first wheel has no room for the moves");
	for (i = 0; i < RECORDS - 1; i++) {
		words[2 * i] = begin(test, FAKE_HOUR, 0, 0);
		words[2 * i + 1] = 2 * FAKE_HOUR;
	}
	err = hwtimer_bulk_run(instance, &bulk, words, RECORDS - 1);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, instance->events.mask + 1, HWTIMER_START_EVENTS);
	KUNIT_EXPECT_EQ(test, instance->stats.rescheduled, RECORDS - 1);
}

static void readers_are_told_by_the_reader_that_turns(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;
	struct hwtimer_event event;

	begin(test, TICK, 0, 0);
	begin(test, TICK, 0, 0);
	fake_now += 10 * TICK;
	fake_fall_asleep(instance, &sleeper);
	/* It leaves one of the two events that it let come. */
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	remove_wait_queue(&instance->readers, &sleeper);
}

/*
 * A reader that leaves events tells others, as they may be exclusive waiters, and the worker that
 * is parked tells nobody. One that is not will do it.
 */
static void readers_are_told_while_the_worker_is_parked(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;
	u32 read;

	begin_numbered(test, TICK, LIMIT);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_ASSERT_TRUE(test, instance->events.parked);
	fake_fall_asleep(instance, &sleeper);
	read = read_numbered(test, 0, 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	/* Nothing is left to be read. */
	read += read_numbered(test, read, LIMIT);
	KUNIT_EXPECT_EQ(test, read, LIMIT);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);

	begin_numbered(test, TICK, 2);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 2);
	KUNIT_EXPECT_EQ(test, read_numbered(test, 0, 1), 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 2);
	KUNIT_EXPECT_EQ(test, read_numbered(test, 1, 1), 1);
	remove_wait_queue(&instance->readers, &sleeper);
	expect_nothing_left(test);
}

/* Events come in order, and once, whatever the sizes of buffers are. */
static void ring_goes_round(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	static struct hwtimer_event events[RECORDS];
	u64 next = 0, read = 0;
	u32 i, n;

	while (read < 5 * HWTIMER_START_EVENTS) {
		for (i = 0; i < 1 + read % (RECORDS / 2); i++) {
			struct hwtimer_request request = {
				.op = HWTIMER_OP_SCHEDULE,
				.time = TICK,
				.user_data = next++,
			};

			KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
			waste_entry(test);
		}
		do {
			n = fake_read_some(instance, events, 1 + read % 7);
			for (i = 0; i < n; i++)
				KUNIT_ASSERT_EQ(test, events[i].user_data,
						read++);
		} while (n);
		KUNIT_ASSERT_EQ(test, read, next);
	}
	fake_check_books(test, instance);
}

/*
 * The bound is reached with more timers in one tick than events can wait. What is due beyond it
 * stays in the wheel, where CANCEL ends it.
 */
static void burst_fills_the_ring_exactly(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 over = LIMIT - HWTIMER_EVENTS, read;
	u64 last, turns;

	begin_numbered(test, TICK, LIMIT - 1);
	last = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	KUNIT_EXPECT_EQ(test, used(instance), instance->events.unread);
	KUNIT_EXPECT_LE(test, used(instance), HWTIMER_EVENTS);
	KUNIT_EXPECT_GT(test, used(instance), HWTIMER_EVENTS - HWTIMER_HOLD);
	KUNIT_EXPECT_GE(test, instance->stats.pending, over);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, last, 0), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 1);

	/* Not read to the end, it stays readable, and the worker away. */
	turns = instance->turns;
	read = read_numbered(test, 0, 2 * HWTIMER_HOLD);
	KUNIT_ASSERT_EQ(test, read, 2 * HWTIMER_HOLD);
	KUNIT_EXPECT_FALSE(test, hwtimer_events_full(&instance->events));
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	KUNIT_EXPECT_EQ(test, instance->turns, turns);
	/* A reader whose buffer is large enough gets all that is due. */
	read += read_numbered(test, read, LIMIT);
	KUNIT_EXPECT_EQ(test, read, LIMIT - 1);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	expect_nothing_left(test);
}

/* Below the threshold nobody would come, so the worker does. */
static void room_has_the_worker_come_below_the_threshold(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 read, wanted = HWTIMER_EVENTS - HWTIMER_HOLD;

	set_threshold(test, wanted);
	begin_numbered(test, TICK, LIMIT);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_ASSERT_TRUE(test, instance->events.parked);
	/* As many as the threshold are left, and then one less. */
	read = read_numbered(test, 0, instance->events.unread - wanted);
	KUNIT_EXPECT_FALSE(test, hwtimer_events_full(&instance->events));
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_enough(instance));
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	read += read_numbered(test, read, 1);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	KUNIT_EXPECT_LE(test, instance->wakeup.at, fake_now);
	fake_turn_until(instance, fake_now);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_enough(instance));
	read += read_numbered(test, read, LIMIT);
	KUNIT_EXPECT_EQ(test, read, LIMIT);
	expect_nothing_left(test);
}

/*
 * A reader that turns the wheel leaves events, and timers that are due. It is for readers to go
 * on, until one of them has left nothing.
 */
static void reader_leaves_what_is_due_to_readers(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 timers = 2 * HWTIMER_HOLD + 1, left, read;

	begin_numbered(test, TICK, timers);
	fake_now += 10 * TICK;
	read = read_numbered(test, 0, 1);
	KUNIT_EXPECT_EQ(test, read, 1);
	KUNIT_EXPECT_EQ(test, instance->turns, 1);
	left = instance->events.unread;
	KUNIT_ASSERT_GT(test, left, 0);
	KUNIT_EXPECT_LT(test, left, HWTIMER_HOLD);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_readable(instance));
	/* Exactly what waits: the reader has nothing to turn the wheel for. */
	read += read_numbered(test, read, left);
	KUNIT_EXPECT_EQ(test, instance->turns, 1);
	KUNIT_EXPECT_EQ(test, instance->events.unread, 0);
	/* Nothing is readable, so the worker comes. */
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	KUNIT_EXPECT_LE(test, instance->wakeup.at, fake_now);
	fake_turn_until(instance, fake_now);
	KUNIT_EXPECT_EQ(test, instance->events.unread, timers - read);
	read += read_numbered(test, read, LIMIT);
	KUNIT_EXPECT_EQ(test, read, timers);
	expect_nothing_left(test);
}

/* The delay of NOTIFY counts from what a reader has let come, too. */
static void reader_begins_the_delay(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_notice *notice = &instance->notice;

	hwtimer_notice_set(instance, 100, FAKE_HOUR);
	begin_numbered(test, TICK, 2);
	fake_now += 10 * TICK;
	KUNIT_EXPECT_EQ(test, notice->first, HWTIMER_TICK_NONE);
	KUNIT_EXPECT_EQ(test, read_numbered(test, 0, 1), 1);
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_enough(instance));
	KUNIT_EXPECT_NE(test, notice->first, HWTIMER_TICK_NONE);
	KUNIT_EXPECT_EQ(test, notice->due, notice->first + FAKE_HOUR);
	KUNIT_EXPECT_EQ(test, read_numbered(test, 1, 1), 1);
	KUNIT_EXPECT_EQ(test, notice->first, HWTIMER_TICK_NONE);
	KUNIT_EXPECT_EQ(test, notice->due, HWTIMER_TICK_NONE);
	expect_nothing_left(test);
}

/* A stopped wheel does not turn, whoever reads. */
static void nothing_expires_in_a_stopped_instance(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;
	u64 id = begin(test, TICK, 0, 0);

	fake_turn_until(instance, fake_now + TICK);
	begin(test, TICK, 0, 0);
	hwtimer_instance_stop(instance);
	fake_now += 10 * TICK;
	KUNIT_EXPECT_FALSE(test, hwtimer_instance_drained(instance));
	fake_fall_asleep(instance, &sleeper);
	expect_read(test, id, 1);
	/* No other event will come. */
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_drained(instance));
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	expect_none(test);
	turn_once(instance);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	remove_wait_queue(&instance->readers, &sleeper);
}

/* When no other timer can come, readers are told whatever the threshold is. */
static void limit_of_timers_is_enough(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	/* Events that were read and are not acknowledged count. */
	instance->settings.flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
	instance->settings.timers = 5;
	set_threshold(test, 100);
	for (i = 1; i <= 5; i++)
		begin(test, i * TICK, 0, 0);
	fake_turn_until(instance, FAKE_START + 4 * TICK);
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_enough(instance));
	KUNIT_EXPECT_EQ(test, read_numbered(test, 0, 1), 1);
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_enough(instance));
	fake_turn_until(instance, FAKE_START + 5 * TICK);
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_enough(instance));
	/* There is nothing to be read any more. */
	while (instance->events.unread)
		KUNIT_ASSERT_EQ(test, read_numbered(test, 0, 1), 1);
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_enough(instance));
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 5), 5);
	expect_nothing_left(test);
}

/* The ring goes on in a larger one, wherever in it the events are. */
static void events_move_to_the_larger_ring(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i, timers = RECORDS / 2;
	u64 ids[RECORDS / 2];

	/* The events lie across the end of the ring, in the third round. */
	while (instance->events.head != 3 * HWTIMER_START_EVENTS - timers / 2) {
		u64 id = begin(test, TICK, 0, 0);

		fake_turn_until(instance, fake_now + TICK);
		expect_read(test, id, 1);
	}
	for (i = 0; i < timers; i++)
		ids[i] = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_ASSERT_EQ(test, instance->events.mask + 1, HWTIMER_START_EVENTS);
	KUNIT_ASSERT_EQ(test, instance->events.unread, timers);
	begin_numbered(test, FAKE_HOUR, 2 * RECORDS);
	KUNIT_ASSERT_EQ(test, instance->events.mask + 1, HWTIMER_EVENTS);
	KUNIT_EXPECT_EQ(test, instance->events.unread, timers);
	for (i = 0; i < timers; i++)
		KUNIT_ASSERT_EQ(test,
				*hwtimer_events_id(&instance->events,
						   instance->events.head + i),
				ids[i]);
	for (i = 0; i < timers; i++)
		expect_read(test, ids[i], 1);
	fake_turn_until(instance, fake_now + FAKE_HOUR);
	KUNIT_EXPECT_EQ(test, read_numbered(test, 0, LIMIT), 2 * RECORDS);
	expect_nothing_left(test);
}

/* Dead entries at the head, in the middle and at the end, also with no live one between. */
static void dead_entries_are_passed_over(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	/* A bit for each event that is dropped: of 5 */
	u32 drop, i, bits = 5;
	u64 ids[5];

	for (drop = 0; drop < 1U << bits; drop++) {
		u32 live = bits - hweight32(drop), tail;

		for (i = 0; i < bits; i++)
			ids[i] = begin(test, TICK, 0, 0);
		fake_turn_until(instance, fake_now + TICK);
		tail = instance->events.tail;
		for (i = 0; i < bits; i++)
			if (drop & BIT(i))
				discard(test, ids[i]);
		KUNIT_EXPECT_EQ(test, instance->events.unread, live);
		KUNIT_EXPECT_EQ(test, instance->stats.ready, live);
		/* Without any event, the entries go. Otherwise they stay until it is read. */
		KUNIT_EXPECT_EQ(test, used(instance), live ? bits : 0);
		if (live)
			KUNIT_EXPECT_EQ(test, instance->events.tail, tail);
		for (i = 0; i < bits; i++)
			if (!(drop & BIT(i)))
				expect_read(test, ids[i], 1);
		KUNIT_EXPECT_EQ(test, used(instance), 0);
	}
	expect_nothing_left(test);
}

/* What lies across two buffers arrives; what does not fit stays. */
static void event_may_lie_across_buffers(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event events[3];
	char *memory = (char *)events;
	struct kvec buffers[] = { { memory, 20 },
				  { memory + 20, 13 },
				  { memory + 33, 50 } };
	struct iov_iter to;
	u64 ids[3];
	u32 i;

	for (i = 0; i < 3; i++)
		ids[i] = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	iov_iter_kvec(&to, READ, buffers, 3, 83);
	KUNIT_ASSERT_EQ(test, hwtimer_read_events(instance, &to),
			2 * sizeof(*events));
	KUNIT_EXPECT_EQ(test, events[0].id, ids[0]);
	KUNIT_EXPECT_EQ(test, events[1].id, ids[1]);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &events[2]), 1);
	KUNIT_EXPECT_EQ(test, events[2].id, ids[2]);
}

/*
 * The memory of the program ends in the middle of an event: what arrived whole is gone, and the
 * rest still waits. It is all the same whether the events were described together.
 */
static void read_until_memory_ends(struct kunit *test, u32 timers, u32 room)
{
	struct hwtimer_instance *instance = test->priv;
	const size_t size = sizeof(struct hwtimer_event);
	static struct hwtimer_event events[LIMIT];
	bool keep = instance->settings.flags & HWTIMER_SETUP_AT_LEAST_ONCE;
	void __user *memory;
	struct iov_iter to;
	ssize_t ret;
	u32 i;

	begin_numbered(test, TICK, timers);
	fake_turn_until(instance, fake_now + TICK);
	memory = fake_user_memory(test, room * size + size - 1);
	iov_iter_ubuf(&to, ITER_DEST, memory, timers * size);
	ret = hwtimer_read_events(instance, &to);
	KUNIT_ASSERT_EQ(test, ret, room ? (ssize_t)(room * size) : -EFAULT);
	KUNIT_ASSERT_EQ(test, copy_from_user(events, memory, room * size), 0);
	for (i = 0; i < room; i++)
		KUNIT_EXPECT_EQ(test, events[i].user_data, i);
	KUNIT_EXPECT_EQ(test, instance->stats.ready,
			keep ? timers : timers - room);
	KUNIT_EXPECT_EQ(test, instance->events.read, keep ? room : 0);
	/* Otherwise reading on might not end. */
	KUNIT_ASSERT_EQ(test, instance->events.unread, timers - room);
	KUNIT_ASSERT_EQ(test, instance->events.tail - instance->events.next,
			timers - room);
	fake_check_books(test, instance);
	KUNIT_EXPECT_EQ(test, read_numbered(test, room, LIMIT), timers - room);
	if (keep)
		KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, timers),
				timers);
	expect_nothing_left(test);
}

static void fault_loses_no_event(struct kunit *test)
{
	read_until_memory_ends(test, 3, 0);
	read_until_memory_ends(test, 3, 2);
	read_until_memory_ends(test, 100, 1);
	read_until_memory_ends(test, 100, 37);
	read_until_memory_ends(test, 1000, 777);
}

static void fault_loses_no_event_that_stays(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	instance->settings.flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
	fault_loses_no_event(test);
}

/* A periodic timer whose event did not arrive still rests. */
static void fault_rearms_no_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 10 * TICK, 0);
	struct iov_iter to;
	void __user *memory;

	fake_turn_until(instance, FAKE_START + 15 * TICK);
	memory = fake_user_memory(test, sizeof(struct hwtimer_event) - 1);
	iov_iter_ubuf(&to, ITER_DEST, memory, sizeof(struct hwtimer_event));
	KUNIT_EXPECT_EQ(test, hwtimer_read_events(instance, &to), -EFAULT);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	fake_turn_until(instance, FAKE_START + 35 * TICK);
	expect_read(test, id, 3);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 0);
	expect_nothing_left(test);
}

/* ---- at least once ---- */

static struct hwtimer_instance *at_least_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	instance->settings.flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
	return instance;
}

static void events_stay_until_they_are_acknowledged(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct hwtimer_event event;
	u64 ids[4];
	u32 i;

	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), -EINVAL);
	for (i = 0; i < 4; i++)
		ids[i] = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	for (i = 0; i < 3; i++)
		expect_read(test, ids[i], 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 4);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	KUNIT_EXPECT_EQ(test, instance->stats.delivered, 1);
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), -EINVAL);
	for (i = 1; i < 4; i++)
		expect_read(test, ids[i], 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 3), 3);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	fake_check_books(test, instance);
}

static void without_the_flag_nothing_is_acknowledged(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(test->priv, 0), -EINVAL);
}

/* An event that was dropped after it was read counts; one that was dropped before does not. */
static void dropped_events_count_if_they_were_read(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	u64 ids[4];
	u32 i;

	for (i = 0; i < 4; i++)
		ids[i] = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	discard(test, ids[1]);
	expect_read(test, ids[0], 1);
	expect_read(test, ids[2], 1);
	discard(test, ids[0]);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 2), 2);
	KUNIT_EXPECT_EQ(test, instance->stats.delivered, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.discarded, 2);
	expect_read(test, ids[3], 1);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	fake_check_books(test, instance);
}

/* Behind an event that was read, dead entries fill the ring. They go with it. */
static void acknowledging_has_the_worker_come(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct hwtimer_event event;
	u64 id = fill(test), last;

	expect_read(test, id, 1);
	last = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	fake_turn_until(instance, fake_now + TICK);
	expect_read(test, last, 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
}

/* A periodic timer goes on behind the deadlines that the acknowledged event has told. */
static void periodic_timer_goes_on_when_acknowledged(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	u64 start = fake_now, id = begin(test, 10 * TICK, 10 * TICK, 0);
	struct hwtimer_event event;

	fake_turn_until(instance, start + 35 * TICK);
	expect_read(test, id, 3);
	fake_turn_until(instance, start + 55 * TICK);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	fake_turn_until(instance, start + 65 * TICK);
	/* 40, 50 and 60. Read anew, it tells one more. */
	expect_read(test, id, 3);
	fake_turn_until(instance, start + 75 * TICK);
	hwtimer_read_rewind(instance);
	expect_read(test, id, 4);
	KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	fake_turn_until(instance, start + 80 * TICK);
	expect_read(test, id, 1);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 1);
	KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

static void all_of_a_full_ring_comes_again(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	static struct hwtimer_event events[RECORDS];
	u32 i, n = RECORDS / 2;

	for (i = 0; i < n; i++)
		begin(test, (i + 1) * TICK, 0, 0);
	fake_turn_until(instance, fake_now + (n + 1) * TICK);
	KUNIT_ASSERT_EQ(test, fake_read_some(instance, events, RECORDS), n);
	for (i = 0; i < 3; i++) {
		hwtimer_read_rewind(instance);
		KUNIT_EXPECT_EQ(test, instance->events.unread, n);
		KUNIT_EXPECT_EQ(test, instance->events.read, 0);
		KUNIT_ASSERT_EQ(test, fake_read_some(instance, events, RECORDS),
				n);
	}
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, n), n);
	fake_check_books(test, instance);
}

/* How many events ACK may end: those that were read, whether or not they were dropped since. */
static u32 acknowledgeable(const struct hwtimer_instance *instance)
{
	return instance->events.read + instance->events.dropped;
}

/*
 * As many events as several holds of the lock end, acknowledged in pieces. Those that were
 * dropped before they could be read do not count, and those that were dropped afterwards do.
 */
static void many_events_are_acknowledged_in_pieces(struct kunit *test)
{
	u32 i, timers = 3 * HWTIMER_HOLD + 5, half = timers / 2, unseen = 0;
	struct hwtimer_instance *instance = at_least_once(test);
	static u64 ids[3 * HWTIMER_HOLD + 5];
	u32 dropped = 0, left;

	for (i = 0; i < timers; i++)
		ids[i] = begin(test, TICK, 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	for (i = half; i < timers; i += 3, unseen++)
		discard(test, ids[i]);
	for (i = 0; i < timers; i++)
		if (i < half || (i - half) % 3)
			expect_read(test, ids[i], 1);
	for (i = 0; i < half; i += 2, dropped++)
		discard(test, ids[i]);
	left = timers - unseen;
	KUNIT_EXPECT_EQ(test, acknowledgeable(instance), left);
	while (left) {
		u32 some = min(left, HWTIMER_HOLD + 3);

		KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, left + 1),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 0), 0);
		KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, 1), 1);
		KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, some - 1),
				some - 1);
		left -= some;
		KUNIT_EXPECT_EQ(test, acknowledgeable(instance), left);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.discarded, unseen + dropped);
	KUNIT_EXPECT_EQ(test, instance->stats.delivered,
			timers - unseen - dropped);
	expect_nothing_left(test);
}

/* A program that does not acknowledge holds up itself, until it makes room for a hold. */
static void unacknowledged_events_fill_the_ring(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	u32 read, room;

	begin_numbered(test, TICK, LIMIT);
	fake_turn_until(instance, fake_now + TICK);
	read = read_numbered(test, 0, LIMIT);
	KUNIT_EXPECT_LE(test, read, HWTIMER_EVENTS);
	KUNIT_EXPECT_GT(test, read, HWTIMER_EVENTS - HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, read_numbered(test, read, LIMIT), 0);
	turn_once(instance);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_enough(instance));
	/* One entry too few for a hold, and then enough. */
	room = read - (HWTIMER_EVENTS - HWTIMER_HOLD) - 1;
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, room), room);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	KUNIT_EXPECT_EQ(test, read_numbered(test, read, LIMIT), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	fake_turn_until(instance, fake_now);
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_enough(instance));
	/* All come again, and in the same order. */
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, instance->events.read, 0);
	while (instance->stats.ready) {
		u32 first = instance->stats.delivered;
		u32 some = read_numbered(test, first, LIMIT);

		KUNIT_ASSERT_GT(test, some, 0);
		KUNIT_ASSERT_EQ(test, hwtimer_read_ack(instance, some), some);
		fake_turn_until(instance, fake_now);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.delivered, LIMIT);
	expect_nothing_left(test);
}

/* Also if the clock was set back since: a program may have acted on what the event told. */
static void event_takes_nothing_back(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.time = FAKE_START + 10 * TICK,
		.interval = 10 * TICK,
		.expirations_max = 7,
	};
	u64 id;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	id = request.id;
	fake_turn_until(instance, FAKE_START + 35 * TICK);
	expect_read(test, id, 3);
	fake_now = FAKE_START + 12 * TICK;
	hwtimer_read_rewind(instance);
	expect_read(test, id, 3);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	fake_turn_until(instance, FAKE_START + 39 * TICK);
	expect_none(test);
	fake_turn_until(instance, FAKE_START + 1000 * TICK);
	/* The last four of seven. With the next event, the timer starts from nothing. */
	expect_read(test, id, 4);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	expect_nothing_left(test);
}

static void fixed_delay_counts_from_ack(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_FIXED_DELAY,
		.time = 10 * TICK,
		.interval = 10 * TICK,
		.expirations_max = 2,
	};

	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	fake_turn_until(instance, FAKE_START + 25 * TICK);
	expect_read(test, request.id, 1);
	fake_turn_until(instance, FAKE_START + 55 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	fake_turn_until(instance, FAKE_START + 64 * TICK);
	expect_none(test);
	fake_turn_until(instance, FAKE_START + 65 * TICK);
	expect_read(test, request.id, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	expect_nothing_left(test);
}

/* What was read is dropped, or rearmed. It does not come again, but counts until a rewind. */
static void rewind_passes_over_what_was_dropped(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct hwtimer_request rearm = { .op = HWTIMER_OP_RESCHEDULE,
					 .flags = HWTIMER_REQ_REARM,
					 .time = 50 * TICK };
	u64 ids[5];
	u32 i;

	for (i = 0; i < 5; i++)
		ids[i] = begin(test, TICK, i == 4 ? TICK : 0, 0);
	fake_turn_until(instance, fake_now + TICK);
	for (i = 0; i < 5; i++)
		expect_read(test, ids[i], 1);
	discard(test, ids[1]);
	rearm.id = ids[3];
	KUNIT_ASSERT_EQ(test, fake_run(instance, &rearm), 0);
	discard(test, ids[4]);
	KUNIT_EXPECT_EQ(test, instance->events.read, 5);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 2);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, instance->events.read, 0);
	KUNIT_EXPECT_EQ(test, instance->events.unread, 1);
	expect_read(test, ids[2], 1);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	fake_turn_until(instance, fake_now + 50 * TICK);
	expect_read(test, rearm.id, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	expect_nothing_left(test);
}

/*
 * All that was read was dropped since. So the ring has room, and the worker comes, although the
 * dropped events can still be acknowledged, until a rewind.
 */
static void dropped_events_make_room(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	static struct hwtimer_event events[LIMIT];
	u32 i, read;

	begin_numbered(test, TICK, LIMIT);
	fake_turn_until(instance, fake_now + TICK);
	read = fake_read_some(instance, events, LIMIT);
	KUNIT_EXPECT_TRUE(test, instance->events.parked);
	for (i = 0; i < read; i++)
		discard(test, events[i].id);
	KUNIT_EXPECT_FALSE(test, instance->events.parked);
	KUNIT_EXPECT_EQ(test, used(instance), 0);
	KUNIT_EXPECT_EQ(test, acknowledgeable(instance), read);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), -EINVAL);
	fake_turn_until(instance, fake_now);
	KUNIT_EXPECT_EQ(test, read_numbered(test, read, LIMIT), LIMIT - read);
}

static void rewind_tells_readers(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct wait_queue_entry sleeper;
	u64 ids[2] = { begin(test, TICK, 0, 0), begin(test, TICK, 0, 0) };

	fake_turn_until(instance, fake_now + TICK);
	expect_read(test, ids[0], 1);
	expect_read(test, ids[1], 1);
	fake_fall_asleep(instance, &sleeper);
	set_threshold(test, 3);
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 0);
	expect_read(test, ids[0], 1);
	set_threshold(test, 2);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 0);
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	expect_read(test, ids[0], 1);
	expect_read(test, ids[1], 1);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 2), 2);
	/* Nothing is left to be told. */
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	remove_wait_queue(&instance->readers, &sleeper);
	expect_nothing_left(test);
}

/* A stopped instance is readable whatever the threshold is, and was drained before. */
static void rewind_after_stop_tells_readers(struct kunit *test)
{
	struct hwtimer_instance *instance = at_least_once(test);
	struct wait_queue_entry sleeper;
	u64 id = begin(test, TICK, 0, 0);

	set_threshold(test, 2);
	fake_turn_until(instance, fake_now + TICK);
	expect_read(test, id, 1);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_drained(instance));
	fake_fall_asleep(instance, &sleeper);
	hwtimer_read_rewind(instance);
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_readable(instance));
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	expect_read(test, id, 1);
	remove_wait_queue(&instance->readers, &sleeper);
	KUNIT_EXPECT_EQ(test, hwtimer_read_ack(instance, 1), 1);
	expect_nothing_left(test);
}

/*
 * All timers of the random test, in the order in which their events must come. An event that
 * was dropped before it was read does not count for ACK, and one that was dropped afterwards
 * does.
 */
struct plan {
	struct {
		u64 id;
		bool dropped;
		bool read;
	} timers[20000];
	u32 end; /* timers to be scheduled */
	u32 nr; /* timers scheduled */
	u32 next; /* the timer that is read next, or a later one */
	u32 oldest; /* the oldest one that is not acknowledged, or a later one */
	u32 read; /* number of events to be acknowledged */
	u32 alive; /* number of timers that have not ended */
	u64 again; /* number of events that came once more */
};

static void plan_schedule(struct kunit *test, struct plan *plan, u32 count)
{
	count = min3(count, LIMIT - plan->alive, plan->end - plan->nr);
	plan->alive += count;
	while (count--)
		plan->timers[plan->nr++].id = begin(test, TICK, 0, 0);
}

static void plan_drop(struct kunit *test, struct plan *plan, u32 nr)
{
	if (nr < plan->oldest || nr >= plan->nr || plan->timers[nr].dropped)
		return;
	KUNIT_ASSERT_EQ(test,
			fake_cancel(test->priv, plan->timers[nr].id,
				    HWTIMER_REQ_DISCARD),
			0);
	plan->timers[nr].dropped = true;
	plan->alive--;
}

static void plan_ack(struct kunit *test, struct plan *plan, u32 count)
{
	long ret = hwtimer_read_ack(test->priv, count);

	if (count > plan->read) {
		KUNIT_ASSERT_EQ(test, ret, -EINVAL);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, count);
	plan->read -= count;
	for (; count; plan->oldest++) {
		if (!plan->timers[plan->oldest].read)
			continue;
		plan->alive -= !plan->timers[plan->oldest].dropped;
		count--;
	}
}

/* Events that are not kept end as soon as they are read. */
static void plan_read(struct kunit *test, struct plan *plan, u32 max, bool keep)
{
	static struct hwtimer_event events[LIMIT];
	u32 i, n = fake_read_some(test->priv, events, max);

	for (i = 0; i < n; i++, plan->next++) {
		while (plan->next < plan->nr &&
		       plan->timers[plan->next].dropped)
			plan->next++;
		KUNIT_ASSERT_LT(test, plan->next, plan->nr);
		KUNIT_ASSERT_EQ(test, events[i].id,
				plan->timers[plan->next].id);
		plan->timers[plan->next].read = true;
	}
	plan->read += n;
	if (keep)
		return;
	plan->oldest = plan->next;
	plan->alive -= n;
	plan->read = 0;
}

static void plan_rewind(struct kunit *test, struct plan *plan)
{
	u32 nr;

	hwtimer_read_rewind(test->priv);
	for (nr = plan->oldest; nr < plan->next; nr++) {
		plan->timers[nr].read = false;
		plan->again += !plan->timers[nr].dropped;
	}
	plan->next = plan->oldest;
	plan->read = 0;
}

/* Nobody waits for anybody else: whoever is to go on, can and knows. */
static void expect_progress(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	const struct hwtimer_events *events = &instance->events;

	if (events->parked)
		KUNIT_ASSERT_TRUE(test,
				  hwtimer_events_full(events) ||
					  hwtimer_notice_enough(instance));
	else if (instance->stats.pending)
		KUNIT_ASSERT_LE(test, instance->wakeup.at, fake_now + TICK);
	KUNIT_ASSERT_LE(test, used(instance), events->mask + 1);
}

static void random_events(struct kunit *test, bool keep)
{
	struct plan *plan = kunit_kzalloc(test, sizeof(*plan), GFP_KERNEL);
	struct hwtimer_instance *instance = test->priv;
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, plan);
	plan->end =
		LIMIT + hwtimer_test_scaled(ARRAY_SIZE(plan->timers) - LIMIT);
	if (keep)
		at_least_once(test);
	hwtimer_test_seed(test, &state);
	/* It begins at the bound. */
	plan_schedule(test, plan, LIMIT);
	fake_turn_until(instance, fake_now + TICK);
	KUNIT_ASSERT_TRUE(test, instance->events.parked);
	while (plan->nr < plan->end) {
		u32 most = 1 + random_below(&state, 1000);
		u32 some = 1 + random_below(&state, most);

		switch (random_below(&state, 9)) {
		case 0 ... 1:
			plan_schedule(test, plan, some);
			break;
		case 2:
			fake_turn_until(instance, fake_now + TICK);
			break;
		case 3:
			for (; some; some--)
				plan_drop(test, plan,
					  plan->oldest +
						  random_below(&state, 1000));
			break;
		case 4 ... 5:
			/* For a while, the program reads little. */
			plan_read(test, plan,
				  plan->nr / 2500 % 2 ? 1 + some / 16 : some,
				  keep);
			break;
		case 6:
			set_threshold(test, random_below(&state, 2) ? some : 1);
			break;
		case 7:
			if (keep)
				plan_ack(test, plan, min(some, plan->read + 1));
			break;
		default:
			if (keep && !random_below(&state, 4))
				plan_rewind(test, plan);
		}
		expect_progress(test);
	}
	set_threshold(test, 1);
	while (plan->alive) {
		u32 alive = plan->alive;

		fake_turn_until(instance, fake_now + TICK);
		plan_read(test, plan, LIMIT, keep);
		if (keep)
			plan_ack(test, plan, plan->read);
		KUNIT_ASSERT_LT(test, plan->alive, alive);
	}
	kunit_info(test, "%llu delivered, %llu discarded, %llu again\n",
		   instance->stats.delivered, instance->stats.discarded,
		   plan->again);
	expect_nothing_left(test);
}

static void each_event_comes_once_and_in_order(struct kunit *test)
{
	random_events(test, false);
}

static void each_event_comes_until_it_is_acknowledged(struct kunit *test)
{
	random_events(test, true);
}

static struct kunit_case events_test_cases[] = {
	KUNIT_CASE(an_old_tail_is_not_full),
	KUNIT_CASE(nothing_expires_while_the_ring_is_full),
	KUNIT_CASE(discard_has_the_worker_come),
	KUNIT_CASE(threshold_has_the_worker_come),
	KUNIT_CASE(ring_grows_before_it_is_full),
	KUNIT_CASE(moves_need_no_larger_ring),
	KUNIT_CASE(readers_are_told_by_the_reader_that_turns),
	KUNIT_CASE(readers_are_told_while_the_worker_is_parked),
	KUNIT_CASE(burst_fills_the_ring_exactly),
	KUNIT_CASE(room_has_the_worker_come_below_the_threshold),
	KUNIT_CASE(reader_leaves_what_is_due_to_readers),
	KUNIT_CASE(reader_begins_the_delay),
	KUNIT_CASE(nothing_expires_in_a_stopped_instance),
	KUNIT_CASE(limit_of_timers_is_enough),
	KUNIT_CASE(events_move_to_the_larger_ring),
	KUNIT_CASE(dead_entries_are_passed_over),
	KUNIT_CASE(ring_goes_round),
	KUNIT_CASE(event_may_lie_across_buffers),
	KUNIT_CASE(fault_loses_no_event),
	KUNIT_CASE(fault_loses_no_event_that_stays),
	KUNIT_CASE(fault_rearms_no_timer),
	KUNIT_CASE(events_stay_until_they_are_acknowledged),
	KUNIT_CASE(without_the_flag_nothing_is_acknowledged),
	KUNIT_CASE(dropped_events_count_if_they_were_read),
	KUNIT_CASE(acknowledging_has_the_worker_come),
	KUNIT_CASE(periodic_timer_goes_on_when_acknowledged),
	KUNIT_CASE(all_of_a_full_ring_comes_again),
	KUNIT_CASE(many_events_are_acknowledged_in_pieces),
	KUNIT_CASE(unacknowledged_events_fill_the_ring),
	KUNIT_CASE(event_takes_nothing_back),
	KUNIT_CASE(fixed_delay_counts_from_ack),
	KUNIT_CASE(rewind_passes_over_what_was_dropped),
	KUNIT_CASE(dropped_events_make_room),
	KUNIT_CASE(rewind_tells_readers),
	KUNIT_CASE(rewind_after_stop_tells_readers),
	KUNIT_CASE(each_event_comes_once_and_in_order),
	KUNIT_CASE(each_event_comes_until_it_is_acknowledged),
	{}
};

static struct kunit_suite events_test_suite = {
	.name = "hwtimer_events",
	.init = events_test_init,
	.exit = fake_test_exit,
	.test_cases = events_test_cases,
};

kunit_test_suite(events_test_suite);
