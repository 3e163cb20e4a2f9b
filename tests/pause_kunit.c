// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of periodic timers that are paused: they were due, but their previous event
 * is unread in the completion ring. The test is the program, which reads the ring or does
 * not, and the worker. The clock is a fake. The numbers of events begin shortly before
 * they wrap.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "../hwtimer_completion.h"
#include "../hwtimer_notice.h"
#include "../hwtimer_query.h"
#include "../hwtimer_ring.h"
#include "../hwtimer_stats.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define TICK NSEC_PER_MSEC
#define LIMIT 2000
#define SUBMISSIONS 8U
#define COMPLETIONS 1024U

/* Where the numbers of events begin: 5 before they wrap to 0. */
#define BEGIN (0U - 5)

static int pause_test_init(struct kunit *test)
{
	struct hwtimer_instance *instance;
	struct hwtimer_ring *ring;
	int err = fake_test_init(test, kind_of(test), LIMIT);

	if (err)
		return err;
	instance = test->priv;
	if (!fake_add_rings(instance, SUBMISSIONS, COMPLETIONS))
		return -ENOMEM;
	ring = instance->exchange.ring;
	ring->put = BEGIN;
	ring->head = BEGIN;
	ring->shared->completion_head = BEGIN;
	ring->shared->completion_tail = BEGIN;
	return 0;
}

static struct hwtimer_ring *ring_of(struct kunit *test)
{
	return ((struct hwtimer_instance *)test->priv)->exchange.ring;
}

static void turn_until(struct kunit *test, u64 time)
{
	fake_turn_until(test->priv, time);
}

/* Schedules a periodic timer, first due one interval from now; returns its id. */
static u64 begin(struct kunit *test, u64 interval, u32 count, u32 flags)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = flags,
		.time = interval,
		.interval = interval,
		.count = count,
		.user_data = interval,
	};

	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

static void begin_many(struct kunit *test, u64 interval, u32 timers)
{
	while (timers--)
		begin(test, interval, 0, 0);
}

/* Takes the next event out of the ring. */
static struct hwtimer_event take(struct kunit *test)
{
	struct hwtimer_rings *shared = ring_of(test)->shared;
	struct hwtimer_event event;

	KUNIT_ASSERT_NE(test, shared->completion_head, shared->completion_tail);
	event = *hwtimer_ring_event(ring_of(test), shared->completion_head);
	shared->completion_head++;
	return event;
}

static void take_all(struct kunit *test)
{
	struct hwtimer_rings *shared = ring_of(test)->shared;

	shared->completion_head = shared->completion_tail;
}

/* Lets @timers timers, due every tick, be paused; no program reads their events. */
static void pause_many(struct kunit *test, u32 timers)
{
	begin_many(test, TICK, timers);
	turn_until(test, fake_now + 10 * TICK);
	KUNIT_ASSERT_EQ(test, ring_of(test)->paused, timers);
}

/* Lets one timer, with an interval of 10 ticks, be paused; returns its id. */
static u64 pause_one(struct kunit *test, u32 count, u32 flags)
{
	u64 id = begin(test, 10 * TICK, count, flags);

	turn_until(test, FAKE_START + 35 * TICK);
	KUNIT_ASSERT_EQ(test, ring_of(test)->paused, 1);
	return id;
}

/* Checks what must be true at all times, whatever the program writes into the ring. */
static void check(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	const struct hwtimer_ring *ring = instance->exchange.ring;
	u32 paused = 0, number, slot;

	KUNIT_ASSERT_LE(test, ring->put - ring->head, COMPLETIONS);
	for (slot = 0; slot < COMPLETIONS; slot++)
		paused += *hwtimer_ring_pause(ring, slot) != HWTIMER_NO_RECORD;
	KUNIT_ASSERT_EQ(test, ring->paused, paused);
	/* All of them are on slots that the kernel takes for unread. */
	for (number = ring->head; number != ring->put; number++)
		paused -= *hwtimer_ring_pause(ring, number) !=
			  HWTIMER_NO_RECORD;
	KUNIT_ASSERT_EQ(test, paused, 0);
	KUNIT_ASSERT_GE(test, instance->wheel.entries, instance->stats.pending);
	fake_check_books(test, instance);
}

/* Each timer of a program that does not run is due twice, and puts one event. */
static void stopped_program_causes_no_work(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_stats *before, *after;
	u32 i;

	before = kunit_kcalloc(test, 2, sizeof(*before), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before);
	after = before + 1;

	for (i = 1; i <= 40; i++)
		begin(test, i * TICK, 0, i % 2 ? 0 : HWTIMER_FIXED_DELAY);
	turn_until(test, FAKE_START + 100 * TICK);
	KUNIT_EXPECT_EQ(test, ring_of(test)->paused, 40);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, HWTIMER_TICK_NONE);
	hwtimer_stats_get(instance, before);
	KUNIT_EXPECT_EQ(test, before->expired, 40);
	KUNIT_EXPECT_EQ(test, before->completed, 40);
	KUNIT_EXPECT_EQ(test, before->rearmed, 40);
	KUNIT_EXPECT_EQ(test, before->pending, 40);
	KUNIT_EXPECT_EQ(test, before->ready, 0);
	KUNIT_EXPECT_EQ(test, before->overflowed, 0);
	KUNIT_EXPECT_EQ(test, before->dead, 0);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 40);
	KUNIT_EXPECT_EQ(test, fake_turn_until(instance, FAKE_START + FAKE_HOUR),
			0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	hwtimer_stats_get(instance, after);
	KUNIT_EXPECT_EQ(test, memcmp(before, after, sizeof(*before)), 0);
	check(test);
}

/* A program that reads each event before the next is due never has a timer paused. */
static void running_program_loses_no_precision(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	begin(test, TICK, 0, 0);
	for (i = 1; i <= 5000; i++) {
		struct hwtimer_event event;

		turn_until(test, FAKE_START + i * TICK);
		event = take(test);
		KUNIT_ASSERT_EQ(test, event.deadline, FAKE_START + i * TICK);
		KUNIT_ASSERT_EQ(test, event.expirations, 1);
		KUNIT_ASSERT_EQ(test, ring_of(test)->shared->waiting, 0);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.missed, 0);
	check(test);
}

static void paused_timer_counts_all_deadlines(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	pause_one(test, 0, 0);
	turn_until(test, FAKE_START + 100005 * TICK);
	event = take(test);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, event.expirations, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 1);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	/* It is overdue, so it expires at the next turn. */
	turn_until(test, FAKE_START + 100006 * TICK);
	event = take(test);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 20 * TICK);
	KUNIT_EXPECT_EQ(test, event.expirations, 9999);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, FAKE_START + 100010 * TICK);
	check(test);
}

/* The event that a paused timer puts in the end may be its last. */
static void count_is_exact(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = pause_one(test, 50, 0);
	struct hwtimer_event event;

	turn_until(test, FAKE_START + 100005 * TICK);
	take_all(test);
	hwtimer_exchange_serve(instance);
	turn_until(test, FAKE_START + 100006 * TICK);
	event = take(test);
	KUNIT_EXPECT_EQ(test, event.expirations, 49);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	check(test);
}

/* The interval counts from when the event went into the ring, not from the pause. */
static void fixed_delay_is_one_expiration(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	pause_one(test, 0, HWTIMER_FIXED_DELAY);
	turn_until(test, FAKE_START + 1000 * TICK + TICK / 2);
	take_all(test);
	hwtimer_exchange_serve(instance);
	turn_until(test, FAKE_START + 1001 * TICK);
	event = take(test);
	KUNIT_EXPECT_EQ(test, event.expirations, 1);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 20 * TICK);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, FAKE_START + 1011 * TICK);
	check(test);
}

static void others_pass_a_paused_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;
	u32 i;

	pause_many(test, 3);
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, TICK, &id), 0);
		turn_until(test, fake_now + 2 * TICK);
		KUNIT_EXPECT_EQ(test, hwtimer_completion_unread(instance),
				3 + i + 1);
		KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	}
	check(test);
}

static void cancel_while_paused(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = pause_one(test, 0, 0);

	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	take_all(test);
	hwtimer_exchange_serve(instance);
	turn_until(test, FAKE_START + 1000 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_completion_unread(instance), 0);
	check(test);
}

static void reschedule_while_paused(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = pause_one(test, 0, 0);
	struct hwtimer_event event;

	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, 100 * TICK), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.rescheduled, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, FAKE_START + 135 * TICK);
	check(test);
	/* The program still has not read the event. */
	turn_until(test, FAKE_START + 200 * TICK);
	KUNIT_EXPECT_EQ(test, ring_of(test)->paused, 1);
	take_all(test);
	hwtimer_exchange_serve(instance);
	turn_until(test, FAKE_START + 201 * TICK);
	event = take(test);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 135 * TICK);
	KUNIT_EXPECT_EQ(test, event.expirations, 7);
	check(test);
}

static void query_says_pending(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_query query = { .id = pause_one(test, 5, 0) };

	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, query.deadline, FAKE_START + 20 * TICK);
	KUNIT_EXPECT_EQ(test, query.remaining, 0);
	KUNIT_EXPECT_EQ(test, query.count, 4);
	KUNIT_EXPECT_EQ(test, query.interval, 10 * TICK);
}

/* Takes all timers that STOP hands back, of which @copied of each call arrive. */
static u32 hand_back(struct kunit *test, u32 copied)
{
	struct hwtimer_instance *instance = test->priv;
	bool more = true;
	u32 taken, sum = 0;

	mutex_lock(&instance->harvest);
	while (more) {
		taken = hwtimer_harvest_take_pending(instance, 10, &more);
		KUNIT_EXPECT_EQ(test, instance->stats.unprocessed, sum);
		hwtimer_harvest_finish_pending(instance, taken,
					       min(taken, copied));
		sum += min(taken, copied);
		if (taken > copied)
			more = true;
	}
	mutex_unlock(&instance->harvest);
	return sum;
}

static void stop_hands_back_paused_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	pause_many(test, 100);
	begin_many(test, FAKE_HOUR, 100);
	hwtimer_instance_stop(instance);
	check(test);
	/* The program goes on to read meanwhile. */
	ring_of(test)->shared->completion_head += 30;
	while (hwtimer_exchange_serve(instance) >= HWTIMER_HOLD)
		;
	KUNIT_EXPECT_EQ(test, ring_of(test)->paused, 70);
	KUNIT_EXPECT_EQ(test, hand_back(test, 3), 200);
	KUNIT_EXPECT_EQ(test, ring_of(test)->paused, 0);
	/* So a program that empties the ring need not kick. */
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.unprocessed, 200);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 100);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	check(test);
}

/* STOP says how many timers it has left, and none of these paused ones rests. */
static void stop_counts_paused_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	ssize_t ret;
	u64 left = 0;

	pause_many(test, 7);
	hwtimer_instance_stop(instance);
	ret = hwtimer_harvest_unprocessed(instance, NULL, 0, &left);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, left, 7);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_drained(instance));
}

/* A timer whose deadline is in the future again expires at its deadline, not earlier. */
static void clock_is_set_back_during_a_pause(struct kunit *test)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE,
		.time = FAKE_START + 10 * TICK,
		.interval = 10 * TICK,
	};
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_ASSERT_EQ(test,
			fake_schedule_at(instance, FAKE_START + 500 * TICK), 0);
	turn_until(test, FAKE_START + 600 * TICK);
	KUNIT_ASSERT_EQ(test, ring_of(test)->paused, 1);
	fake_now = FAKE_START - FAKE_HOUR;
	take_all(test);
	KUNIT_EXPECT_GT(test, hwtimer_exchange_serve(instance), 0);
	turn_until(test, FAKE_START + 20 * TICK - 1);
	KUNIT_EXPECT_EQ(test, hwtimer_completion_unread(instance), 0);
	turn_until(test, FAKE_START + 20 * TICK);
	event = take(test);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 20 * TICK);
	KUNIT_EXPECT_EQ(test, event.expirations, 1);
	check(test);
}

/* However many slots become free, and however many timers are paused on them. */
static void slices_are_bounded(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_ring *ring = ring_of(test);
	u32 left;

	pause_many(test, COMPLETIONS);
	take_all(test);
	for (left = COMPLETIONS; left; left -= HWTIMER_HOLD) {
		KUNIT_EXPECT_EQ(test, ring->paused, left);
		instance->exchange.poll_at = 0;
		KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance),
				HWTIMER_HOLD);
		/* The worker comes again at once for the rest. */
		KUNIT_EXPECT_EQ(test, instance->exchange.poll_at != 0,
				left > HWTIMER_HOLD);
		check(test);
	}
	KUNIT_EXPECT_EQ(test, ring->paused, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	turn_until(test, fake_now + 2 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_completion_unread(instance), COMPLETIONS);
	check(test);
}

/* One KICK does all of it, and also moves the events that wait. */
static void kick_resumes_all(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;
	u32 i;

	pause_many(test, COMPLETIONS);
	for (i = 0; i < 500; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, TICK, &id), 0);
	turn_until(test, fake_now + 2 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 500);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting,
			500 + COMPLETIONS);
	take_all(test);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	KUNIT_EXPECT_EQ(test, ring_of(test)->paused, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	check(test);
}

/* A slot is used again only after the timer that is paused there has gone on. */
static void slots_are_checked_before_they_are_used(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_ring *ring = ring_of(test);
	u64 id;
	u32 i;

	pause_many(test, COMPLETIONS);
	for (i = 0; i < 500; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, TICK, &id), 0);
	take_all(test);
	spin_lock(&instance->lock);
	KUNIT_EXPECT_FALSE(test, hwtimer_ring_find_room(ring));
	spin_unlock(&instance->lock);
	/* Each slice of the worker checks HWTIMER_HOLD slots, and fills as many. */
	for (i = 0; i < 20; i++) {
		turn_until(test, fake_now + TICK);
		check(test);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 500);
	take_all(test);
	hwtimer_exchange_kick(instance);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	check(test);
}

/* A program that reads while the worker stops polling, or while a timer is paused. */
static void no_wakeup_is_lost(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;

	pause_one(test, 0, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	spin_lock(&instance->lock);
	hwtimer_exchange_stop_polling(instance);
	KUNIT_EXPECT_FALSE(test, exchange->polling);
	exchange->polling = true;
	take_all(test);
	hwtimer_exchange_stop_polling(instance);
	KUNIT_EXPECT_TRUE(test, exchange->polling);
	/* The program saw no waiting timer before this. */
	exchange->poll_at = 0;
	hwtimer_completion_publish(instance);
	KUNIT_EXPECT_NE(test, exchange->poll_at, 0);
	spin_unlock(&instance->lock);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 1);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
}

/* While the program does not read, paused timers do not keep the worker polling. */
static void worker_stops_polling(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 polls;

	pause_one(test, 0, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	for (polls = 0; exchange->polling && polls < 100; polls++) {
		exchange->poll_at = 0;
		hwtimer_exchange_poll(instance);
	}
	KUNIT_EXPECT_LE(test, polls, 8);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->flags,
			HWTIMER_RING_NEED_KICK);
}

/*
 * A program that waits for more events than its timers can put, however long, is told
 * when a timer is paused.
 */
static void reader_does_not_wait_for_ever(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	__poll_t mask, readable = EPOLLIN | EPOLLRDNORM;

	hwtimer_notice_set(instance, 64, HWTIMER_NEVER, NULL);
	begin(test, 10 * TICK, 0, 0);
	turn_until(test, FAKE_START + 15 * TICK);
	spin_lock(&instance->lock);
	mask = hwtimer_notice_mask(instance);
	spin_unlock(&instance->lock);
	KUNIT_EXPECT_FALSE(test, mask);
	turn_until(test, FAKE_START + 25 * TICK);
	KUNIT_EXPECT_EQ(test, ring_of(test)->paused, 1);
	spin_lock(&instance->lock);
	mask = hwtimer_notice_mask(instance);
	take_all(test);
	/* Nothing is left to read, although the timer is still paused. */
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_mask(instance));
	spin_unlock(&instance->lock);
	KUNIT_EXPECT_FALSE(test, mask ^ readable);
}

/* The number of an event may come again after 2^32 others. Nothing is lost then. */
static void numbers_that_repeat_do_no_harm(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_ring *ring = ring_of(test);
	u64 other = begin(test, 20 * TICK, 0, 0), id;

	turn_until(test, FAKE_START + 20 * TICK);
	take_all(test);
	id = begin(test, 10 * TICK, 0, 0);
	turn_until(test, FAKE_START + 35 * TICK);
	KUNIT_ASSERT_EQ(test, ring->paused, 0);
	/* As if 2^32 - 1 events had come between the two. */
	hwtimer_table_find(&instance->table, other)->last_event =
		hwtimer_table_find(&instance->table, id)->last_event;
	turn_until(test, FAKE_START + 45 * TICK);
	KUNIT_EXPECT_EQ(test, ring->paused, 1);
	check(test);
	take_all(test);
	hwtimer_exchange_serve(instance);
	KUNIT_EXPECT_EQ(test, ring->paused, 0);
	turn_until(test, FAKE_START + 100 * TICK);
	KUNIT_EXPECT_EQ(test, ring->paused, 2);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, other, 0), 0);
	check(test);
}

/* Whatever head the program writes, no more happens than pauses until it is right. */
static void heads_that_cannot_be(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_ring *ring = ring_of(test);
	struct rnd_state state;
	u32 i;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < 50; i++)
		begin(test, (1 + i % 7) * TICK, 0, 0);
	for (i = 0; i < hwtimer_test_scaled(20000); i++) {
		u32 garbage = prandom_u32_state(&state);
		u64 id;

		switch (random_below(&state, 4)) {
		case 0:
			ring->shared->completion_head = garbage;
			break;
		case 1:
			ring->shared->completion_head =
				ring->put -
				(garbage >> random_below(&state, 32));
			break;
		case 2:
			ring->shared->completion_head += garbage % 8 - 4;
			break;
		default:
			fake_schedule(instance, TICK, &id);
		}
		if (garbage & 1 << 20)
			hwtimer_exchange_serve(instance);
		turn_until(test, fake_now + random_below(&state, 3 * TICK));
		if (!(i % 64))
			check(test);
	}
	/* Once the head is right again, all timers go on. */
	for (i = 0; i < 100; i++) {
		take_all(test);
		hwtimer_exchange_kick(instance);
		turn_until(test, fake_now + TICK);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	take_all(test);
	hwtimer_exchange_kick(instance);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 50);
	check(test);
}

/**
 * struct periodic - a timer of accounts_balance(), and what was told of it
 * @id: its id
 * @interval: ns
 * @next: the first deadline that no event has reported
 */
struct periodic {
	u64 id;
	u64 interval;
	u64 next;
};

#define ACCOUNTS 60

/* Reads up to @max events; each must continue where the timer's previous one ended. */
static void read_some(struct kunit *test, struct periodic *timers, u32 max)
{
	struct hwtimer_rings *shared = ring_of(test)->shared;
	u64 seen = 0;

	while (max-- && shared->completion_head != shared->completion_tail) {
		struct hwtimer_event event = take(test);
		struct periodic *timer = &timers[event.user_data];

		if (event.user_data == ACCOUNTS)
			continue;
		KUNIT_ASSERT_EQ(test, event.id, timer->id);
		KUNIT_ASSERT_EQ(test, event.deadline, timer->next);
		timer->next += event.expirations * timer->interval;
		KUNIT_ASSERT_LE(test, timer->next - timer->interval, fake_now);
		/* At most one event of a timer is in the ring. */
		KUNIT_ASSERT_FALSE(test, seen & BIT_ULL(event.user_data));
		seen |= BIT_ULL(event.user_data);
	}
}

/* Schedules timer @nr, cancels it and schedules another, or reschedules it. */
static void change(struct kunit *test, struct rnd_state *state,
		   struct periodic *timers, u32 nr)
{
	struct hwtimer_instance *instance = test->priv;
	struct periodic *timer = &timers[nr];
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE,
		.time = fake_now + random_below(state, 20 * TICK),
		.interval = TICK + random_below(state, 50 * TICK),
		.user_data = nr,
	};

	KUNIT_ASSERT_EQ(test, fake_cancel(instance, timer->id, 0), 0);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	*timer = (struct periodic){ .id = request.id,
				    .interval = request.interval,
				    .next = request.time };
}

/*
 * A program that reads now and then, and changes its timers. No deadline is lost, none is
 * told twice, and none is told early. An event with the number ACCOUNTS is of a timer
 * without interval.
 */
static void accounts_balance(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct periodic *timers =
		kunit_kcalloc(test, ACCOUNTS, sizeof(*timers), GFP_KERNEL);
	struct rnd_state state;
	u32 i, nr;

	KUNIT_ASSERT_NOT_NULL(test, timers);
	hwtimer_test_seed(test, &state);
	for (i = 0; i < ACCOUNTS; i++) {
		timers[i].interval = TICK + random_below(&state, 30 * TICK);
		timers[i].next = FAKE_START + timers[i].interval;
		timers[i].id = begin(test, timers[i].interval, 0, 0);
		hwtimer_table_record(&instance->table,
				     hwtimer_table_find(&instance->table,
							timers[i].id)
					     ->extension)
			->user_data = i;
	}
	for (i = 0; i < hwtimer_test_scaled(20000); i++) {
		struct hwtimer_request once = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = random_below(&state, 20 * TICK),
			.user_data = ACCOUNTS,
		};

		turn_until(test, fake_now + random_below(&state, 5 * TICK));
		switch (random_below(&state, 8)) {
		case 0:
			read_some(test, timers, U32_MAX);
			break;
		case 1:
			read_some(test, timers, random_below(&state, 30));
			break;
		case 2:
			hwtimer_exchange_serve(instance);
			break;
		case 3:
			fake_run(instance, &once);
			break;
		case 4:
			/* All that was put has to be known before a CANCEL. */
			read_some(test, timers, U32_MAX);
			change(test, &state, timers,
			       random_below(&state, ACCOUNTS));
			break;
		default:
			break;
		}
		if (!(i % 64))
			check(test);
	}
	read_some(test, timers, U32_MAX);
	for (nr = 0; nr < ACCOUNTS; nr++) {
		struct hwtimer_query query = { .id = timers[nr].id };

		KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
		KUNIT_ASSERT_EQ(test, query.deadline, timers[nr].next);
	}
	/* After a turn with an empty ring, all deadlines have been told. */
	hwtimer_exchange_kick(instance);
	turn_until(test, fake_now + TICK);
	read_some(test, timers, U32_MAX);
	for (nr = 0; nr < ACCOUNTS; nr++)
		KUNIT_EXPECT_GT(test, timers[nr].next, fake_now - TICK);
	KUNIT_EXPECT_GT(test, instance->stats.missed, 0);
	kunit_info(test, "%llu events, %llu missed, %llu cancelled\n",
		   instance->stats.completed, instance->stats.missed,
		   instance->stats.cancelled);
}

static struct kunit_case pause_test_cases[] = {
	KIND_CASE(stopped_program_causes_no_work),
	KIND_CASE(running_program_loses_no_precision),
	KIND_CASE(paused_timer_counts_all_deadlines),
	KIND_CASE(count_is_exact),
	KIND_CASE(fixed_delay_is_one_expiration),
	KIND_CASE(others_pass_a_paused_timer),
	KIND_CASE(cancel_while_paused),
	KIND_CASE(reschedule_while_paused),
	KIND_CASE(query_says_pending),
	KIND_CASE(stop_hands_back_paused_timers),
	KIND_CASE(stop_counts_paused_timers),
	KIND_CASE(clock_is_set_back_during_a_pause),
	KIND_CASE(slices_are_bounded),
	KIND_CASE(kick_resumes_all),
	KIND_CASE(slots_are_checked_before_they_are_used),
	KIND_CASE(no_wakeup_is_lost),
	KIND_CASE(worker_stops_polling),
	KIND_CASE(reader_does_not_wait_for_ever),
	KIND_CASE(numbers_that_repeat_do_no_harm),
	KIND_CASE(heads_that_cannot_be),
	KIND_CASE(accounts_balance),
	{}
};

static struct kunit_suite pause_test_suite = {
	.name = "hwtimer_pause",
	.init = pause_test_init,
	.exit = fake_test_exit,
	.test_cases = pause_test_cases,
};

kunit_test_suite(pause_test_suite);
