// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of hwtimer_crowd.c: how many waiters a piece of a wake-up wakes, in which
 * order, and that none is left out. The waiters are entries of the wait queue whose
 * function counts. KUnit runs these.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/poll.h>

#include "../hwtimer_crowd.h"
#include "../hwtimer_owner.h"
#include "fake.h"
#include "random.h"

#define CROWD 1000U
#define LIMIT 16U

/**
 * struct waiter - a waiter, and how it was woken
 * @entry: its entry in the queue
 * @test: the test
 * @woken: number of times that it was woken
 * @masks: all events that it was told
 * @last: number of the wake-up after which it was last woken
 * @since: number of the last wake-up before it came
 * @waits: whether it is in the queue; only for come_or_leave()
 * @accepts: it is woken, and does not only look on
 * @leaves: it leaves when it is woken
 */
struct waiter {
	struct wait_queue_entry entry;
	struct crowd_test *test;
	unsigned int woken;
	__poll_t masks;
	u64 last;
	u64 since;
	bool waits;
	bool accepts;
	bool leaves;
};

/**
 * struct crowd_test - a crowd and its waiters
 * @crowd: the crowd
 * @waiters: the waiters; not all need be in the crowd
 * @woken: number of times that waiters were woken
 * @wakes: number of times that the test has woken the crowd
 */
struct crowd_test {
	struct hwtimer_crowd crowd;
	struct waiter waiters[CROWD];
	unsigned int woken;
	u64 wakes;
};

static int waiter_wake(struct wait_queue_entry *entry, unsigned int mode,
		       int flags, void *key)
{
	struct waiter *waiter = container_of(entry, struct waiter, entry);

	waiter->woken++;
	waiter->masks |= key_to_poll(key);
	waiter->last = waiter->test->wakes;
	/* Pairs with the acquire in expect_worker_wakes(). */
	smp_store_release(&waiter->test->woken, waiter->test->woken + 1);
	if (waiter->leaves)
		list_del_init(&entry->entry);
	return waiter->accepts;
}

static int crowd_test_init(struct kunit *test)
{
	struct crowd_test *crowd;
	unsigned int i;

	crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	if (!crowd)
		return -ENOMEM;
	test->priv = crowd;
	hwtimer_crowd_init(&crowd->crowd);
	for (i = 0; i < CROWD; i++) {
		crowd->waiters[i].test = crowd;
		init_waitqueue_func_entry(&crowd->waiters[i].entry,
					  waiter_wake);
		INIT_LIST_HEAD(&crowd->waiters[i].entry.entry);
	}
	return 0;
}

/* Lets the first @count waiters wait, so that waiter 0 is woken first. */
static void join(struct crowd_test *crowd, unsigned int count)
{
	while (count--)
		add_wait_queue(&crowd->crowd.queue,
			       &crowd->waiters[count].entry);
}

/* As join(), but only one of the waiters that accept has to be woken. */
static void join_exclusive(struct crowd_test *crowd, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		add_wait_queue_exclusive(&crowd->crowd.queue,
					 &crowd->waiters[i].entry);
}

/* Wakes the crowd; expects that this wakes at most HWTIMER_WAITERS waiters. */
static bool wake(struct kunit *test, __poll_t mask)
{
	struct crowd_test *crowd = test->priv;
	unsigned int before = crowd->woken;
	bool left;

	crowd->wakes++;
	left = hwtimer_crowd_wake(&crowd->crowd, mask);
	KUNIT_EXPECT_LE(test, crowd->woken - before, HWTIMER_WAITERS);
	return left;
}

/* Does one piece of what is left; expects that it wakes at most HWTIMER_WAITERS. */
static bool go_on(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	unsigned int before = crowd->woken;
	bool left = hwtimer_crowd_go_on(&crowd->crowd);

	KUNIT_EXPECT_LE(test, crowd->woken - before, HWTIMER_WAITERS);
	return left;
}

/* Does all that is left, and returns the number of pieces. */
static unsigned int finish(struct kunit *test)
{
	unsigned int pieces = 1;

	while (go_on(test))
		if (++pieces > 10 * CROWD)
			KUNIT_FAIL_AND_ABORT(test, "the round does not end");
	return pieces;
}

/* Expects that waiters @from to @to - 1 were woken so often. */
static void expect_woken(struct kunit *test, unsigned int from, unsigned int to,
			 unsigned int woken)
{
	struct crowd_test *crowd = test->priv;

	for (; from < to; from++)
		KUNIT_EXPECT_EQ_MSG(test, crowd->waiters[from].woken, woken,
				    "waiter %u", from);
}

static void few_are_woken_at_once(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;

	KUNIT_EXPECT_FALSE(test, wake(test, EPOLLIN));
	join(crowd, HWTIMER_WAITERS);
	KUNIT_EXPECT_FALSE(test, wake(test, EPOLLIN));
	expect_woken(test, 0, HWTIMER_WAITERS, 1);
	KUNIT_EXPECT_FALSE(test, go_on(test));
	expect_woken(test, 0, HWTIMER_WAITERS, 1);
	KUNIT_EXPECT_TRUE(test, crowd->waiters[0].masks == EPOLLIN);
}

static void many_are_woken_in_pieces_and_in_order(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	unsigned int done;

	join(crowd, CROWD);
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	for (done = HWTIMER_WAITERS; done < CROWD; done += HWTIMER_WAITERS) {
		expect_woken(test, 0, done, 1);
		expect_woken(test, done, CROWD, 0);
		KUNIT_EXPECT_EQ(test, go_on(test),
				done + HWTIMER_WAITERS < CROWD);
	}
	expect_woken(test, 0, CROWD, 1);
	KUNIT_EXPECT_FALSE(test, go_on(test));
	expect_woken(test, 0, CROWD, 1);
}

/* The last piece wakes exactly as many as a piece may. */
static void round_ends_at_a_full_piece(struct kunit *test)
{
	join(test->priv, 3 * HWTIMER_WAITERS);
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	KUNIT_EXPECT_EQ(test, finish(test), 2);
	expect_woken(test, 0, 3 * HWTIMER_WAITERS, 1);
}

static void wake_up_in_a_round_makes_another_round(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	const unsigned int piece = HWTIMER_WAITERS;
	unsigned int i;

	join(crowd, CROWD);
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	KUNIT_EXPECT_TRUE(test, go_on(test));
	/* The waiters of the second piece were woken before this, and not after. */
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLHUP));
	expect_woken(test, 0, piece, 2);
	expect_woken(test, piece, 2 * piece, 1);
	finish(test);
	for (i = 0; i < CROWD; i++) {
		KUNIT_EXPECT_EQ_MSG(test, crowd->waiters[i].last, 2,
				    "waiter %u", i);
		KUNIT_EXPECT_TRUE(test, crowd->waiters[i].masks & EPOLLHUP);
	}
}

/* Nobody stands between the first waiters and the mark, so one round is enough. */
static void wake_up_before_the_mark_moves_is_in_the_round(struct kunit *test)
{
	join(test->priv, CROWD);
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLHUP));
	finish(test);
	expect_woken(test, 0, HWTIMER_WAITERS, 2);
	expect_woken(test, HWTIMER_WAITERS, CROWD, 1);
}

/* However often the first waiters are woken, the last ones get their turn. */
static void frequent_wake_ups_starve_nobody(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	join(crowd, CROWD);
	for (i = 0; i < 2 * CROWD / HWTIMER_WAITERS + 2; i++) {
		KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
		KUNIT_EXPECT_TRUE(test, go_on(test));
	}
	KUNIT_EXPECT_GE(test, crowd->waiters[CROWD - 1].woken, 2);
}

static void waiters_that_leave_do_not_matter(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	join(crowd, CROWD);
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	for (i = 0; i < CROWD - 1; i++)
		remove_wait_queue(&crowd->crowd.queue,
				  &crowd->waiters[i].entry);
	KUNIT_EXPECT_FALSE(test, go_on(test));
	expect_woken(test, HWTIMER_WAITERS, CROWD - 1, 0);
	expect_woken(test, CROWD - 1, CROWD, 1);

	/* In the next round, all leave. */
	join(crowd, CROWD - 1);
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	for (i = 0; i < CROWD; i++)
		remove_wait_queue(&crowd->crowd.queue,
				  &crowd->waiters[i].entry);
	KUNIT_EXPECT_FALSE(test, go_on(test));
	KUNIT_EXPECT_TRUE(test, list_empty(&crowd->crowd.queue.head));
}

/* As threads in read() do, a waiter leaves when it is woken, and comes again. */
static void waiters_that_come_again_do_not_prolong_the_round(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	unsigned int i;
	bool left;

	for (i = 0; i < CROWD; i++)
		crowd->waiters[i].leaves = true;
	join(crowd, CROWD);
	left = wake(test, EPOLLIN);
	while (left) {
		for (i = 0; i < CROWD; i++)
			if (list_empty(&crowd->waiters[i].entry.entry))
				add_wait_queue(&crowd->crowd.queue,
					       &crowd->waiters[i].entry);
		left = go_on(test);
	}
	expect_woken(test, 0, CROWD, 1);
}

static void one_exclusive_waiter_is_enough(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;

	join_exclusive(crowd, CROWD);
	crowd->waiters[10].accepts = true;
	KUNIT_EXPECT_FALSE(test, wake(test, EPOLLIN));
	expect_woken(test, 0, 11, 1);
	expect_woken(test, 11, CROWD, 0);
}

/* Exclusive waiters that do not accept are passed over, up to one that does. */
static void exclusive_waiter_in_a_later_piece(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	const unsigned int accepts = 5 * HWTIMER_WAITERS + 3;

	join_exclusive(crowd, CROWD);
	crowd->waiters[accepts].accepts = true;
	KUNIT_EXPECT_TRUE(test, wake(test, EPOLLIN));
	finish(test);
	expect_woken(test, 0, accepts + 1, 1);
	expect_woken(test, accepts + 1, CROWD, 0);
}

/* Lets a waiter that waits leave, and one that does not wait come. */
static void come_or_leave(struct crowd_test *crowd, struct waiter *waiter)
{
	if (waiter->waits) {
		remove_wait_queue(&crowd->crowd.queue, &waiter->entry);
	} else {
		add_wait_queue(&crowd->crowd.queue, &waiter->entry);
		waiter->since = crowd->wakes;
	}
	waiter->waits = !waiter->waits;
}

/* Those who waited at the time of the last wake-up have been woken after it. */
static void expect_none_lost(struct kunit *test)
{
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	for (i = 0; i < CROWD; i++) {
		struct waiter *waiter = &crowd->waiters[i];

		if (waiter->waits && waiter->since < crowd->wakes)
			KUNIT_ASSERT_EQ(test, waiter->last, crowd->wakes);
	}
}

/* Random wake-ups and pieces, and waiters that come and go. */
static void no_wake_up_is_lost(struct kunit *test)
{
	u32 steps = hwtimer_test_scaled(200000);
	struct crowd_test *crowd = test->priv;
	struct rnd_state random;

	hwtimer_test_seed(test, &random);
	while (steps--) {
		u32 nr = random_below(&random, 400);

		if (!nr) {
			finish(test);
			expect_none_lost(test);
		} else if (nr < 10) {
			wake(test, EPOLLIN);
		} else if (nr < 30) {
			go_on(test);
		} else {
			nr = random_below(&random, CROWD);
			come_or_leave(crowd, &crowd->waiters[nr]);
		}
	}
}

/* Waits until the worker has woken all waiters @times times. */
static void expect_worker_wakes(struct kunit *test, unsigned int times)
{
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	for (i = 0; i < 20 * 50; i++) {
		/* Pairs with the release in waiter_wake(): what it noted before is seen. */
		if (smp_load_acquire(&crowd->woken) >= times * CROWD)
			break;
		msleep(20);
	}
	expect_woken(test, 0, CROWD, times);
}

/* Destroys an instance, after its waiters have left it, as those of a file do. */
static void crowded_destroy(struct kunit *test,
			    struct hwtimer_instance *instance)
{
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	for (i = 0; i < CROWD; i++)
		remove_wait_queue(&instance->readers.queue,
				  &crowd->waiters[i].entry);
	hwtimer_instance_destroy(instance);
}

/* Lets all waiters wait for an instance that has a worker. */
static struct hwtimer_instance *crowded_instance(struct kunit *test)
{
	struct hwtimer_instance *instance = hwtimer_instance_create(NULL);
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_ASSERT_EQ(test,
			hwtimer_owner_employ(&instance->job, HWTIMER_DUTY_TURN),
			0);
	for (i = 0; i < CROWD; i++)
		add_wait_queue(&instance->readers.queue,
			       &crowd->waiters[i].entry);
	return instance;
}

static void worker_wakes_those_that_are_left(struct kunit *test)
{
	struct hwtimer_instance *instance = crowded_instance(test);

	hwtimer_notice_wake(instance, EPOLLIN);
	expect_worker_wakes(test, 1);
	hwtimer_notice_wake(instance, EPOLLIN);
	expect_worker_wakes(test, 2);
	crowded_destroy(test, instance);
}

/* Before the first timer there is no worker. Whoever stops the instance wakes them all. */
static void without_a_worker_the_waker_wakes_all(struct kunit *test)
{
	struct hwtimer_instance *instance = hwtimer_instance_create(NULL);
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, instance);
	for (i = 0; i < CROWD; i++)
		add_wait_queue(&instance->readers.queue,
			       &crowd->waiters[i].entry);
	hwtimer_instance_stop(instance);
	for (i = 0; i < CROWD; i++)
		KUNIT_EXPECT_EQ(test, crowd->waiters[i].woken, 1);
	crowded_destroy(test, instance);
}

/*
 * A round has begun, but the worker has forgotten it: as if the stop had come between the
 * wake-up and the worker's chores.
 */
static void stop_does_not_forget_those_that_are_left(struct kunit *test)
{
	struct hwtimer_instance *instance = crowded_instance(test);
	struct crowd_test *crowd = test->priv;
	unsigned int i;

	KUNIT_ASSERT_TRUE(test,
			  hwtimer_crowd_wake(&instance->readers, EPOLLIN));
	hwtimer_instance_stop(instance);
	for (i = 0; i < 20 * 50 && READ_ONCE(instance->readers.left); i++)
		msleep(20);
	for (i = 0; i < CROWD; i++)
		KUNIT_EXPECT_TRUE_MSG(test, crowd->waiters[i].masks & EPOLLHUP,
				      "waiter %u", i);
	crowded_destroy(test, instance);
}

/* An instance may end in the middle of a round: its waiters left before. */
static void instance_ends_in_a_round(struct kunit *test)
{
	struct hwtimer_instance *instance = crowded_instance(test);

	hwtimer_notice_wake(instance, EPOLLIN);
	crowded_destroy(test, instance);
}

static struct kunit_case crowd_cases[] = {
	KUNIT_CASE(few_are_woken_at_once),
	KUNIT_CASE(many_are_woken_in_pieces_and_in_order),
	KUNIT_CASE(round_ends_at_a_full_piece),
	KUNIT_CASE(wake_up_in_a_round_makes_another_round),
	KUNIT_CASE(wake_up_before_the_mark_moves_is_in_the_round),
	KUNIT_CASE(frequent_wake_ups_starve_nobody),
	KUNIT_CASE(waiters_that_leave_do_not_matter),
	KUNIT_CASE(waiters_that_come_again_do_not_prolong_the_round),
	KUNIT_CASE(one_exclusive_waiter_is_enough),
	KUNIT_CASE(exclusive_waiter_in_a_later_piece),
	KUNIT_CASE(no_wake_up_is_lost),
	KUNIT_CASE(worker_wakes_those_that_are_left),
	KUNIT_CASE(stop_does_not_forget_those_that_are_left),
	KUNIT_CASE(instance_ends_in_a_round),
	KUNIT_CASE(without_a_worker_the_waker_wakes_all),
	{}
};

static struct kunit_suite crowd_suite = {
	.name = "hwtimer_crowd",
	.init = crowd_test_init,
	.test_cases = crowd_cases,
};

kunit_test_suite(crowd_suite);
