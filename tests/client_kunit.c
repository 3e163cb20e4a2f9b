// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of kernel clients, with the module's own workers and clocks. They test
 * what the exported functions promise, and each race between a callback and a thread
 * that cancels, stops or destroys. They use nothing but <linux/hwtimer_client.h>.
 *
 * MODE_CASE() runs a test with callbacks in the worker and again with callbacks on a
 * workqueue. No test expects a fast machine.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <linux/hwtimer_client.h>

#include "random.h"

#define TICK (100 * NSEC_PER_USEC)
#define HOUR (3600ULL * NSEC_PER_SEC)

/* Time after which a callback counts as lost, jiffies; KUnit gives a test 300 s. */
#define PATIENCE (240 * HZ)

enum mode {
	IN_WORKER,
	ON_WORKQUEUE,
};

static const enum mode modes[] = { IN_WORKER, ON_WORKQUEUE };

static void mode_name(const enum mode *mode, char *name)
{
	strscpy(name, *mode == IN_WORKER ? "worker" : "workqueue",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(mode, modes, mode_name);

#define MODE_CASE(test_name) KUNIT_CASE_PARAM(test_name, mode_gen_params)

/**
 * struct party - a client, and what its callbacks have seen
 * @client: the client, or NULL if none exists
 * @other: a second client, where a test needs one
 * @queue: workqueue for callbacks, and for the work items of rivals
 * @changed: wait queue, woken when a callback has changed a field below
 * @calls: number of callbacks that have begun
 * @bad: number of things that must not happen
 * @returned: number of timers handed back; with expire_summing(), of expirations
 * @gone: no callback may run any more
 * @entered: a callback has begun
 * @left: a callback is about to return
 * @release: completion for which the callback expire_released() waits
 * @id: time at which expire_late() last returned, ns; 0 before
 * @results: results of the calls that a callback has tried
 */
struct party {
	struct hwtimer_client *client;
	struct hwtimer_client *other;
	struct workqueue_struct *queue;
	wait_queue_head_t changed;
	atomic_t calls;
	atomic_t bad;
	atomic_t returned;
	bool gone;
	bool entered;
	bool left;
	struct completion release;
	u64 id;
	int results[8];
};

typedef void (*expire_fn)(struct hwtimer_client *client,
			  const struct hwtimer_event *event);

static enum mode mode_of(const struct kunit *test)
{
	return *(const enum mode *)test->param_value;
}

static int client_test_init(struct kunit *test)
{
	struct party *party = kunit_kzalloc(test, sizeof(*party), GFP_KERNEL);

	if (!party)
		return -ENOMEM;
	party->queue = alloc_workqueue("hwtimer_test", WQ_UNBOUND, 0);
	if (!party->queue)
		return -ENOMEM;
	init_waitqueue_head(&party->changed);
	init_completion(&party->release);
	test->priv = party;
	return 0;
}

/* Runs also after a test that has failed half way. */
static void client_test_exit(struct kunit *test)
{
	struct party *party = test->priv;

	if (!party)
		return;
	complete_all(&party->release);
	hwtimer_client_destroy(party->client);
	hwtimer_client_destroy(party->other);
	destroy_workqueue(party->queue);
}

static struct hwtimer_client *create(struct kunit *test, expire_fn expire,
				     struct workqueue_struct *queue)
{
	const struct hwtimer_client_options options = {
		.expire = expire,
		.private = test->priv,
		.workqueue = queue,
		.tick = TICK,
	};

	return hwtimer_client_create(&options);
}

static struct party *begin(struct kunit *test, expire_fn expire)
{
	struct party *party = test->priv;
	struct workqueue_struct *queue =
		mode_of(test) == ON_WORKQUEUE ? party->queue : NULL;
	struct hwtimer_client *client = create(test, expire, queue);

	KUNIT_ASSERT_FALSE(test, IS_ERR(client));
	party->client = client;
	return party;
}

/* Destroys the client; no callback may run after this. */
static void end(struct kunit *test)
{
	struct party *party = test->priv;
	struct hwtimer_client *client = party->client;

	party->client = NULL;
	KUNIT_EXPECT_EQ(test, hwtimer_client_destroy(client), 0);
	WRITE_ONCE(party->gone, true);
}

static int schedule_timer(struct hwtimer_client *client, u64 delay,
			  u64 user_data, u64 *id)
{
	struct hwtimer_request request = { .time = delay,
					   .user_data = user_data };
	int err = hwtimer_client_schedule(client, &request);

	*id = request.id;
	return err;
}

static void must_schedule(struct kunit *test, struct hwtimer_request *request)
{
	struct party *party = test->priv;

	request->id = 0;
	KUNIT_ASSERT_EQ(test, hwtimer_client_schedule(party->client, request),
			0);
}

/* Schedules a timer with a delay, and returns its id. */
static u64 must_schedule_in(struct kunit *test, u64 delay, u64 user_data)
{
	struct hwtimer_request request = { .time = delay,
					   .user_data = user_data };

	must_schedule(test, &request);
	return request.id;
}

/* Schedules a periodic timer. */
static void must_repeat(struct kunit *test, u64 interval, u32 flags, u32 count,
			u64 *id)
{
	struct hwtimer_request request = {
		.time = interval,
		.interval = interval,
		.flags = flags,
		.count = count,
	};

	must_schedule(test, &request);
	*id = request.id;
}

#define WAIT_FOR(test, party, condition)                                    \
	KUNIT_ASSERT_GT_MSG(test,                                           \
			    wait_event_timeout((party)->changed, condition, \
					       PATIENCE),                   \
			    0, "timed out waiting for: " #condition)

/*
 * Waits until @calls callbacks have begun in all. Spins, because a thread that sleeps is
 * woken too late to meet the last callback while it runs.
 */
static void spin_for_calls(struct kunit *test, int calls)
{
	unsigned long limit = jiffies + PATIENCE;
	struct party *party = test->priv;

	while (atomic_read(&party->calls) < calls) {
		KUNIT_ASSERT_TRUE(test, time_before(jiffies, limit));
		cpu_relax();
		cond_resched();
	}
}

/* Every callback calls this first, and if it takes a while, saw_end() last. */
static struct party *saw(struct hwtimer_client *client,
			 const struct hwtimer_event *event)
{
	struct party *party = hwtimer_client_private(client);

	if (READ_ONCE(party->gone) || ktime_get_ns() < event->deadline)
		atomic_inc(&party->bad);
	atomic_inc(&party->calls);
	WRITE_ONCE(party->entered, true);
	wake_up(&party->changed);
	return party;
}

static void saw_end(struct party *party)
{
	WRITE_ONCE(party->left, true);
	wake_up(&party->changed);
}

static void expire_counted(struct hwtimer_client *client,
			   const struct hwtimer_event *event)
{
	saw(client, event);
}

static void expire_released(struct hwtimer_client *client,
			    const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);

	wait_for_completion(&party->release);
	saw_end(party);
}

static void expire_slowly(struct hwtimer_client *client,
			  const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);

	msleep(20);
	saw_end(party);
}

static void count_returned(struct hwtimer_client *client,
			   const struct hwtimer_unprocessed *timer)
{
	struct party *party = hwtimer_client_private(client);

	atomic_inc(&party->returned);
}

/* Checks the counters once all timers have ended. */
static void check_books(struct kunit *test)
{
	struct party *party = test->priv;
	struct hwtimer_stats stats;

	hwtimer_client_stats(party->client, &stats);
	KUNIT_EXPECT_EQ(test, stats.pending, 0);
	KUNIT_EXPECT_EQ(test, stats.ready, 0);
	KUNIT_EXPECT_EQ(test, stats.delivered, atomic_read(&party->calls));
	KUNIT_EXPECT_EQ(test, stats.scheduled + stats.rearmed,
			stats.cancelled + stats.delivered + stats.discarded +
				stats.unprocessed);
}

/* ---- callbacks ---- */

/* A timer that counts its callbacks. */
struct witness {
	u64 id;
	u64 deadline;
	atomic_t calls;
	int cancelled;
};

static struct witness *witness_of(u64 user_data)
{
	return (struct witness *)(unsigned long)user_data;
}

static void expire_witnessed(struct hwtimer_client *client,
			     const struct hwtimer_event *event)
{
	struct witness *witness = witness_of(event->user_data);
	struct party *party = hwtimer_client_private(client);

	if (witness->deadline && event->deadline != witness->deadline)
		atomic_inc(&party->bad);
	atomic_inc(&witness->calls);
	saw(client, event);
	udelay(event->id % 8);
}

static void callbacks_come_once_and_never_early(struct kunit *test)
{
	u32 i, count = hwtimer_test_scaled(5000);
	struct witness *all =
		kunit_kcalloc(test, count, sizeof(*all), GFP_KERNEL);
	struct party *party = begin(test, expire_witnessed);
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, all);
	hwtimer_test_seed(test, &state);
	for (i = 0; i < count; i++) {
		u32 delay = random_below(&state, 30 * NSEC_PER_MSEC);
		struct hwtimer_request request = {
			.flags = HWTIMER_ABSOLUTE,
			.time = ktime_get_ns() + delay,
			.user_data = (unsigned long)&all[i],
		};

		all[i].deadline = request.time;
		must_schedule(test, &request);
	}
	WAIT_FOR(test, party, atomic_read(&party->calls) >= count);
	end(test);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ_MSG(test, atomic_read(&all[i].calls), 1,
				    "timer %u", i);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* Callbacks must come in the order of deadlines, also across slices of the worker. */
static void expire_in_order(struct hwtimer_client *client,
			    const struct hwtimer_event *event)
{
	struct party *party = hwtimer_client_private(client);

	if (event->user_data != (u64)atomic_read(&party->calls))
		atomic_inc(&party->bad);
	saw(client, event);
}

static void callbacks_come_in_order(struct kunit *test)
{
	struct party *party = begin(test, expire_in_order);
	u64 deadline = ktime_get_ns() + 50 * NSEC_PER_MSEC;
	u32 i, count = 1000;

	for (i = 0; i < count; i++) {
		struct hwtimer_request request = {
			.flags = HWTIMER_ABSOLUTE,
			.time = deadline + i * 10 * NSEC_PER_USEC,
			.user_data = i,
		};

		/* A timer that is already overdue has no place in the order. */
		if (ktime_get_ns() + NSEC_PER_MSEC > deadline)
			break;
		must_schedule(test, &request);
	}
	WAIT_FOR(test, party, atomic_read(&party->calls) >= i);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
	kunit_info(test, "%u timers\n", i);
}

static void slow_callback_holds_up_nobody_else(struct kunit *test)
{
	struct party *party = test->priv;
	u64 id;
	int i;

	party->client = create(test, expire_released, party->queue);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->client));
	party->other =
		create(test, expire_counted,
		       mode_of(test) == ON_WORKQUEUE ? party->queue : NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->other));
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, 0, 0, &id), 0);
	WAIT_FOR(test, party, READ_ONCE(party->entered));

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test,
				schedule_timer(party->other, i * TICK, 0, &id),
				0);
	WAIT_FOR(test, party, atomic_read(&party->calls) == 1 + 10);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(party->left));
	complete_all(&party->release);
	WAIT_FOR(test, party, READ_ONCE(party->left));
}

/* ---- cancel ---- */

/* How many timers were cancelled in time, were running, or were over. */
struct tally {
	u32 in_time;
	u32 running;
	u32 over;
};

static void tally_add(struct kunit *test, struct tally *tally, int result)
{
	tally->in_time += result == 0;
	tally->running += result == -EALREADY;
	tally->over += result == -ENOENT;
	if (result != -EALREADY && result != -ENOENT)
		KUNIT_ASSERT_EQ(test, result, 0);
}

static void tally_show(struct kunit *test, const struct tally *tally)
{
	kunit_info(test, "%u cancelled, %u were running, %u were over\n",
		   tally->in_time, tally->running, tally->over);
}

#define CROWD 20

/* Schedules a crowd of timers for nearly the same time. */
static void crowd_schedule(struct kunit *test, struct witness *crowd,
			   struct rnd_state *state)
{
	u32 i;

	memset(crowd, 0, CROWD * sizeof(*crowd));
	for (i = 0; i < CROWD; i++)
		crowd[i].id = must_schedule_in(test,
					       random_below(state, 2 * TICK),
					       (unsigned long)&crowd[i]);
}

static void crowd_cancel(struct kunit *test, struct witness *crowd,
			 struct tally *tally)
{
	struct party *party = test->priv;
	u32 i;

	for (i = 0; i < CROWD; i++) {
		struct witness *witness = &crowd[i];

		witness->cancelled =
			hwtimer_client_cancel(party->client, witness->id);
		tally_add(test, tally, witness->cancelled);
		/* A timer that is over was called. */
		if (witness->cancelled == -ENOENT)
			KUNIT_ASSERT_EQ(test, atomic_read(&witness->calls), 1);
	}
}

static void cancelled_or_called_but_not_both(struct kunit *test)
{
	struct party *party = begin(test, expire_witnessed);
	u32 round, i, rounds = hwtimer_test_scaled(500);
	struct tally tally = {};
	struct rnd_state state;
	struct witness *crowd;

	crowd = kunit_kcalloc(test, CROWD, sizeof(*crowd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, crowd);
	hwtimer_test_seed(test, &state);
	for (round = 0; round < rounds; round++) {
		u32 begun = round ? random_below(&state, CROWD + 1) : CROWD;

		crowd_schedule(test, crowd, &state);
		spin_for_calls(test, tally.running + tally.over + begun);
		crowd_cancel(test, crowd, &tally);
		WAIT_FOR(test, party,
			 atomic_read(&party->calls) ==
				 tally.running + tally.over);
		for (i = 0; i < CROWD; i++)
			KUNIT_ASSERT_EQ(test, atomic_read(&crowd[i].calls),
					crowd[i].cancelled ? 1 : 0);
	}
	tally_show(test, &tally);
	KUNIT_EXPECT_GT(test, tally.over, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
	/* The last callback may not have returned yet; stop waits for it. */
	KUNIT_EXPECT_EQ(test, hwtimer_client_stop(party->client, NULL), 0);
	check_books(test);
}

/* The second timer has expired, but the callback of the first still runs. */
static void cancel_is_in_time_before_the_callback(struct kunit *test)
{
	struct party *party = begin(test, expire_released);
	u64 deadline = ktime_get_ns() + 10 * NSEC_PER_MSEC;
	struct hwtimer_stats stats;
	struct hwtimer_request request = { .flags = HWTIMER_ABSOLUTE,
					   .time = deadline };
	u64 first, second;

	must_schedule(test, &request);
	first = request.id;
	must_schedule(test, &request);
	second = request.id;
	WAIT_FOR(test, party, READ_ONCE(party->entered));

	hwtimer_client_stats(party->client, &stats);
	kunit_info(test, "%llu expired\n", stats.expired);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, first),
			-EALREADY);
	KUNIT_EXPECT_EQ(test,
			hwtimer_client_reschedule(party->client, first, 0, 0),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel_sync(party->client, second),
			0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, second),
			-ENOENT);
	complete_all(&party->release);
	KUNIT_EXPECT_NE(test, hwtimer_client_cancel_sync(party->client, first),
			0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, first),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->calls), 1);
	end(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

static void cancel_sync_waits_for_the_callback(struct kunit *test)
{
	struct party *party = begin(test, expire_slowly);
	u64 id = must_schedule_in(test, 0, 0);
	int err;

	WAIT_FOR(test, party, READ_ONCE(party->entered));
	err = hwtimer_client_cancel_sync(party->client, id);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(party->left));
	/* On a slow machine, the callback may have returned before the call. */
	KUNIT_EXPECT_TRUE(test, err == -EALREADY || err == -ENOENT);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel_sync(party->client, id),
			-ENOENT);
	check_books(test);
}

/* Memory that a timer's callback uses, and that the test frees after cancelling it. */
struct belongings {
	u32 magic;
	u32 touched;
};

#define MAGIC 0x600d600d

static void expire_touching(struct hwtimer_client *client,
			    const struct hwtimer_event *event)
{
	struct belongings *belongings =
		(struct belongings *)(unsigned long)event->user_data;
	struct party *party = saw(client, event);

	udelay(event->id % 64);
	if (READ_ONCE(belongings->magic) != MAGIC)
		atomic_inc(&party->bad);
	WRITE_ONCE(belongings->touched, belongings->touched + 1);
}

/*
 * Every other timer is periodic, so that its callback runs again and again. Most timers
 * are cancelled as a callback begins.
 */
static void cancel_sync_lets_memory_be_freed(struct kunit *test)
{
	struct party *party = begin(test, expire_touching);
	u32 round, rounds = hwtimer_test_scaled(600);
	struct tally tally = {};
	struct rnd_state state;

	hwtimer_test_seed(test, &state);
	for (round = 0; round < rounds; round++) {
		struct belongings *belongings =
			kzalloc(sizeof(*belongings), GFP_KERNEL);
		struct hwtimer_request request = {
			.time = random_below(&state, 4 * TICK),
			.interval = round % 2 ? TICK : 0,
			.user_data = (unsigned long)belongings,
		};
		int before = atomic_read(&party->calls);

		KUNIT_ASSERT_NOT_NULL(test, belongings);
		belongings->magic = MAGIC;
		must_schedule(test, &request);
		if (random_below(&state, 8))
			spin_for_calls(test, before + 1);
		tally_add(test, &tally,
			  hwtimer_client_cancel_sync(party->client,
						     request.id));
		belongings->magic = 0;
		kfree(belongings);
	}
	tally_show(test, &tally);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
	check_books(test);
}

/* ---- from a callback ---- */

static void expire_deadlocking(struct hwtimer_client *client,
			       const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);

	party->results[0] = hwtimer_client_cancel_sync(client, event->id);
	party->results[1] = hwtimer_client_stop(client, NULL);
	party->results[2] = hwtimer_client_stop(client, count_returned);
	party->results[3] = hwtimer_client_destroy(client);
	saw_end(party);
}

/*
 * The callbacks of a one-shot timer and of a periodic one try each call. The periodic
 * timer goes on.
 */
static void what_would_deadlock_is_refused(struct kunit *test)
{
	struct party *party = begin(test, expire_deadlocking);
	u64 id;
	int i;

	must_schedule_in(test, 0, 0);
	WAIT_FOR(test, party, READ_ONCE(party->left));
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ_MSG(test, party->results[i], -EDEADLK,
				    "call %d", i);
	must_repeat(test, TICK, 0, 0, &id);
	WAIT_FOR(test, party, atomic_read(&party->calls) >= 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->returned), 0);
	/* The test is not a callback, so its own call is not refused. */
	KUNIT_EXPECT_NE(test, hwtimer_client_cancel_sync(party->client, id),
			-EDEADLK);
	end(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* Cancels a timer of another client, whose id is the event's user_data. */
static void expire_cancelling(struct hwtimer_client *client,
			      const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);

	party->results[0] =
		hwtimer_client_cancel_sync(party->client, event->user_data);
	saw_end(party);
}

/* Both clients have the same thread, but the first one's callback is over. */
static void callback_may_wait_for_another_client(struct kunit *test)
{
	struct party *party = begin(test, expire_counted);
	struct workqueue_struct *queue =
		mode_of(test) == ON_WORKQUEUE ? party->queue : NULL;
	u64 id = must_schedule_in(test, 0, 0), other;

	WAIT_FOR(test, party, atomic_read(&party->calls) == 1);
	hwtimer_client_cancel_sync(party->client, id);
	party->other = create(test, expire_cancelling, queue);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->other));
	KUNIT_EXPECT_EQ(test, schedule_timer(party->other, 0, id, &other), 0);
	WAIT_FOR(test, party, READ_ONCE(party->left));
	KUNIT_EXPECT_EQ(test, party->results[0], -ENOENT);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

static void expire_doing_all_else(struct hwtimer_client *client,
				  const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);
	const struct hwtimer_client_options options = {
		.expire = expire_counted,
		.private = party,
	};
	struct hwtimer_client *other;
	u64 id;

	if (event->user_data)
		return;
	party->results[0] = schedule_timer(client, HOUR, 1, &id);
	party->results[1] = hwtimer_client_reschedule(client, id, 2 * HOUR, 0);
	party->results[2] = hwtimer_client_cancel(client, id);
	party->results[3] = schedule_timer(client, HOUR, 1, &id);
	party->results[4] = hwtimer_client_cancel_sync(client, id);
	party->results[5] = hwtimer_client_cancel(client, event->id);
	other = hwtimer_client_create(&options);
	party->results[6] = PTR_ERR_OR_ZERO(other) ?:
				    schedule_timer(other, HOUR, 1, &id);
	party->results[7] = hwtimer_client_destroy(other);
	saw_end(party);
}

static void callback_may_do_all_else(struct kunit *test)
{
	static const int expected[8] = { [5] = -EALREADY };
	struct party *party = begin(test, expire_doing_all_else);
	int i;

	must_schedule_in(test, 0, 0);
	WAIT_FOR(test, party, READ_ONCE(party->left));
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ_MSG(test, party->results[i], expected[i],
				    "call %d", i);
	KUNIT_EXPECT_EQ(test, hwtimer_client_stop(party->client, NULL), 0);
	check_books(test);
}

/* Schedules the next timer, until the client is stopped. */
static void expire_rearming(struct hwtimer_client *client,
			    const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);
	u64 id;
	int err =
		schedule_timer(client, event->user_data, event->user_data, &id);

	if (err && err != -ESHUTDOWN)
		atomic_inc(&party->bad);
}

static void timer_may_schedule_the_next(struct kunit *test)
{
	u32 wanted = hwtimer_test_scaled(1000);
	struct party *party = begin(test, expire_rearming);

	must_schedule_in(test, 0, 0);
	must_schedule_in(test, TICK, TICK);
	WAIT_FOR(test, party, atomic_read(&party->calls) >= wanted);
	KUNIT_EXPECT_GE(test,
			hwtimer_client_stop(party->client, count_returned), 0);
	KUNIT_EXPECT_LE(test, atomic_read(&party->returned), 2);
	check_books(test);
	end(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* ---- periodic timers ---- */

static void periodic_timer_ends_with_cancel_sync(struct kunit *test)
{
	struct party *party = begin(test, expire_counted);
	u32 round, rounds = hwtimer_test_scaled(100);
	u64 id;

	for (round = 0; round < rounds; round++) {
		int before = atomic_read(&party->calls), calls;

		must_repeat(test, TICK, 0, 0, &id);
		WAIT_FOR(test, party, atomic_read(&party->calls) >= before + 3);
		KUNIT_ASSERT_NE(test,
				hwtimer_client_cancel_sync(party->client, id),
				-ENOENT);
		calls = atomic_read(&party->calls);
		usleep_range(500, 600);
		KUNIT_ASSERT_EQ(test, atomic_read(&party->calls), calls);
		KUNIT_ASSERT_EQ(test, hwtimer_client_cancel(party->client, id),
				-ENOENT);
	}
	check_books(test);
	end(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

static void expire_summing(struct hwtimer_client *client,
			   const struct hwtimer_event *event)
{
	struct party *party = hwtimer_client_private(client);

	atomic_add(event->expirations, &party->returned);
	saw(client, event);
}

static void periodic_timer_ends_with_its_count(struct kunit *test)
{
	struct party *party = begin(test, expire_summing);
	u64 id;

	must_repeat(test, TICK, 0, 50, &id);
	WAIT_FOR(test, party, atomic_read(&party->returned) >= 50);
	KUNIT_EXPECT_NE(test, hwtimer_client_cancel_sync(party->client, id), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->returned), 50);
	check_books(test);
}

/* Keeps the time of its last return in party->id. */
static void expire_late(struct hwtimer_client *client,
			const struct hwtimer_event *event)
{
	struct party *party = saw(client, event);

	if (party->id && event->deadline < party->id + 2 * TICK)
		atomic_inc(&party->bad);
	usleep_range(3000, 4000);
	party->id = ktime_get_ns();
}

static void fixed_delay_counts_from_the_return(struct kunit *test)
{
	struct party *party = begin(test, expire_late);
	u64 id;

	must_repeat(test, 2 * TICK, HWTIMER_FIXED_DELAY, 0, &id);
	WAIT_FOR(test, party, atomic_read(&party->calls) >= 10);
	hwtimer_client_cancel_sync(party->client, id);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* ---- stop and destroy ---- */

/* A work item that stops a client while the test goes on. */
struct stopper {
	struct work_struct work;
	struct hwtimer_client *client;
	hwtimer_return_fn unprocessed;
	int result;
};

static void stopper_work(struct work_struct *work)
{
	struct stopper *stopper = container_of(work, struct stopper, work);

	stopper->result =
		hwtimer_client_stop(stopper->client, stopper->unprocessed);
}

/* Returns once the stop has begun, and no timer can be scheduled any more. */
static void stopper_start(struct kunit *test, struct stopper *stopper)
{
	int err;
	u64 id;

	INIT_WORK_ONSTACK(&stopper->work, stopper_work);
	schedule_work(&stopper->work);
	do {
		err = schedule_timer(stopper->client, 10 * HOUR, 0, &id);
		if (!err)
			hwtimer_client_cancel(stopper->client, id);
		cond_resched();
	} while (!err);
	KUNIT_EXPECT_EQ(test, err, -ESHUTDOWN);
}

static int stopper_join(struct stopper *stopper)
{
	flush_work(&stopper->work);
	destroy_work_on_stack(&stopper->work);
	return stopper->result;
}

/* The deadline of a timer must have passed if the timer has user_data, and only then. */
static void check_returned(struct hwtimer_client *client,
			   const struct hwtimer_unprocessed *timer)
{
	struct party *party = hwtimer_client_private(client);
	u64 id;

	if (timer->user_data ? timer->remaining : !timer->remaining)
		atomic_inc(&party->bad);
	if (hwtimer_client_cancel_sync(client, timer->id) != -EDEADLK ||
	    hwtimer_client_stop(client, check_returned) != -EDEADLK ||
	    hwtimer_client_destroy(client) != -EDEADLK ||
	    hwtimer_client_cancel(client, timer->id) != -EALREADY ||
	    schedule_timer(client, 0, 0, &id) != -ESHUTDOWN)
		atomic_inc(&party->bad);
	atomic_inc(&party->returned);
}

/* One callback runs, other timers are due, and most timers are pending. */
static void stop_hands_back_what_was_not_processed(struct kunit *test)
{
	struct party *party = begin(test, expire_released);
	struct hwtimer_request now = { .flags = HWTIMER_ABSOLUTE,
				       .user_data = 1 };
	struct stopper stopper = { .client = party->client,
				   .unprocessed = check_returned };
	struct hwtimer_stats stats;
	u32 i;

	for (i = 0; i < 500; i++)
		must_schedule_in(test, HOUR, 0);
	now.time = ktime_get_ns() + 20 * NSEC_PER_MSEC;
	for (i = 0; i < 300; i++) {
		now.interval = i % 2 ? HOUR : 0;
		must_schedule(test, &now);
	}
	WAIT_FOR(test, party, READ_ONCE(party->entered));
	/* A due timer that is cancelled is not handed back. */
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, now.id), 0);

	stopper_start(test, &stopper);
	complete_all(&party->release);
	KUNIT_EXPECT_EQ(test, stopper_join(&stopper), 500 + 300 - 2);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(party->left));
	KUNIT_EXPECT_EQ(test, atomic_read(&party->calls), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->returned), 500 + 300 - 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
	hwtimer_client_stats(party->client, &stats);
	KUNIT_EXPECT_EQ(test, stats.bytes > 0, true);
	check_books(test);
}

#define FAMILY 200

/* Timers that end together: the first one to be handed back cancels the others. */
struct family {
	struct party *party;
	u64 ids[FAMILY];
};

static void end_family(struct hwtimer_client *client,
		       const struct hwtimer_unprocessed *timer)
{
	struct family *family =
		(struct family *)(unsigned long)timer->user_data;
	struct party *party = family->party;
	u32 i;

	atomic_inc(&party->returned);
	for (i = 0; i < FAMILY; i++)
		if (family->ids[i] != timer->id &&
		    hwtimer_client_cancel_sync(client, family->ids[i]))
			atomic_inc(&party->bad);
	kfree(family);
}

/* The first @expired timers of a family have expired; another timer's callback runs. */
static void check_family(struct kunit *test, u32 expired)
{
	struct party *party = begin(test, expire_released);
	struct hwtimer_request request = { .flags = HWTIMER_ABSOLUTE };
	struct stopper stopper = { .client = party->client,
				   .unprocessed = end_family };
	struct family *family = kzalloc(sizeof(*family), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, family);
	family->party = party;
	request.time = ktime_get_ns() + 10 * NSEC_PER_MSEC;
	must_schedule(test, &request);
	request.user_data = (unsigned long)family;
	for (i = 0; i < FAMILY; i++) {
		if (i == expired)
			request.time += HOUR;
		must_schedule(test, &request);
		family->ids[i] = request.id;
	}
	WAIT_FOR(test, party, READ_ONCE(party->entered));
	stopper_start(test, &stopper);
	complete_all(&party->release);
	KUNIT_EXPECT_EQ(test, stopper_join(&stopper), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->returned), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
	check_books(test);
}

static void family_ends_as_an_expired_one_is_handed_back(struct kunit *test)
{
	check_family(test, FAMILY / 2);
}

static void family_ends_as_a_pending_one_is_handed_back(struct kunit *test)
{
	check_family(test, 0);
}

static void running_periodic_timer_is_handed_back(struct kunit *test)
{
	struct party *party = begin(test, expire_released);
	struct stopper stopper = { .client = party->client,
				   .unprocessed = count_returned };
	u64 id;

	must_repeat(test, TICK, 0, 0, &id);
	WAIT_FOR(test, party, READ_ONCE(party->entered));
	stopper_start(test, &stopper);
	complete_all(&party->release);
	KUNIT_EXPECT_EQ(test, stopper_join(&stopper), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->calls), 1);
}

static void nothing_is_scheduled_after_stop(struct kunit *test)
{
	struct party *party = begin(test, expire_counted);
	u64 ids[10], id;
	u32 i;

	for (i = 0; i < 10; i++)
		ids[i] = must_schedule_in(test, HOUR, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_stop(party->client, NULL), 0);
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, 0, 0, &id),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test,
			hwtimer_client_reschedule(party->client, ids[0], 0, 0),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, ids[0]), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel_sync(party->client, ids[1]),
			0);
	KUNIT_EXPECT_EQ(test,
			hwtimer_client_stop(party->client, count_returned), 8);
	KUNIT_EXPECT_EQ(test,
			hwtimer_client_stop(party->client, count_returned), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, ids[2]),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->returned), 8);
	check_books(test);
}

/*
 * The timer was due at the stop, but its callback had not begun. The client is destroyed
 * right after the cancel.
 */
static void expired_timer_is_cancelled_after_stop(struct kunit *test)
{
	struct party *party = begin(test, expire_released);
	struct hwtimer_request request = {
		.flags = HWTIMER_ABSOLUTE,
		.time = ktime_get_ns() + 10 * NSEC_PER_MSEC,
	};
	struct stopper stopper = { .client = party->client };

	must_schedule(test, &request);
	must_schedule(test, &request);
	WAIT_FOR(test, party, READ_ONCE(party->entered));
	stopper_start(test, &stopper);
	complete_all(&party->release);
	KUNIT_EXPECT_EQ(test, stopper_join(&stopper), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, request.id),
			0);
	end(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->calls), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* Some timers rearm themselves for ever, one is pending, and callbacks may be running. */
static void destroy_waits_for_callbacks(struct kunit *test)
{
	u32 round, rounds = hwtimer_test_scaled(60);
	struct party *party;
	struct rnd_state state;
	u32 i;

	hwtimer_test_seed(test, &state);
	for (round = 0; round < rounds; round++) {
		party = begin(test, expire_rearming);
		WRITE_ONCE(party->gone, false);
		for (i = 0; i < 5; i++)
			must_schedule_in(test, i * TICK, i * TICK);
		must_schedule_in(test, HOUR, 0);
		usleep_range(0, 1 + random_below(&state, 2000));
		end(test);
	}
	kunit_info(test, "%d callbacks in %u rounds\n",
		   atomic_read(&party->calls), rounds);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* Does not return before the callback of another client has begun. */
static void return_slowly(struct hwtimer_client *client,
			  const struct hwtimer_unprocessed *timer)
{
	struct party *party = hwtimer_client_private(client);
	u64 id;

	if (schedule_timer(party->other, 0, 0, &id) ||
	    !wait_event_timeout(party->changed, atomic_read(&party->calls),
				PATIENCE))
		atomic_inc(&party->bad);
	atomic_inc(&party->returned);
}

static void slow_hand_back_holds_up_nobody_else(struct kunit *test)
{
	struct party *party = begin(test, expire_counted);

	party->other = create(test, expire_counted, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->other));
	must_schedule_in(test, HOUR, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_stop(party->client, return_slowly),
			1);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

static void stop_is_over_after_a_slow_callback(struct kunit *test)
{
	struct party *party = begin(test, expire_slowly);

	must_schedule_in(test, 0, 0);
	WAIT_FOR(test, party, READ_ONCE(party->entered));
	KUNIT_EXPECT_EQ(test, hwtimer_client_stop(party->client, NULL), 0);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(party->left));
	check_books(test);
}

static void destroy_is_over_after_a_slow_callback(struct kunit *test)
{
	struct party *party = begin(test, expire_slowly);

	must_schedule_in(test, 0, 0);
	WAIT_FOR(test, party, READ_ONCE(party->entered));
	end(test);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(party->left));
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_destroy(NULL), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_client_destroy(ERR_PTR(-ENOMEM)), 0);
}

/* ---- all at once ---- */

#define RIVALS 3
#define RIVAL_TIMERS 30
/* How far a rival may be ahead of the callbacks, in timers of its own. */
#define RIVAL_LEAD 500

/* A work item that schedules and ends timers of a client, together with other rivals. */
struct rival {
	struct work_struct work;
	struct party *party;
	struct rnd_state state;
	u64 ids[RIVAL_TIMERS];
	u32 scheduled;
	u32 ended;
	int result;
};

/* Returns 0, -ESHUTDOWN, or an error that must not happen. */
static int rival_act(struct rival *rival)
{
	struct hwtimer_client *client = rival->party->client;
	u64 *id = &rival->ids[random_below(&rival->state, RIVAL_TIMERS)];
	u32 delay = random_below(&rival->state, 5 * TICK);
	int err;

	switch (random_below(&rival->state, 6)) {
	case 0:
		err = hwtimer_client_cancel(client, *id);
		rival->ended += !err;
		break;
	case 1:
		err = hwtimer_client_cancel_sync(client, *id);
		rival->ended += !err;
		break;
	case 2:
		err = hwtimer_client_reschedule(client, *id, delay, 0);
		break;
	default:
		err = schedule_timer(client, delay, 0, id);
		rival->scheduled += !err;
	}
	return err == -ENOENT || err == -EALREADY ? 0 : err;
}

static bool rival_leads(const struct rival *rival)
{
	u32 calls = atomic_read(&rival->party->calls);

	return rival->scheduled - rival->ended > calls / RIVALS + RIVAL_LEAD;
}

/* Rivals that do not rest may leave callbacks hardly any processor time. */
static void rival_work(struct work_struct *work)
{
	struct rival *rival = container_of(work, struct rival, work);

	while (!rival->result) {
		rival->result = rival_act(rival);
		if (rival_leads(rival))
			usleep_range(100, 200);
		cond_resched();
	}
}

static void every_timer_ends_once(struct kunit *test)
{
	struct party *party = begin(test, expire_counted);
	u32 i, wanted = hwtimer_test_scaled(8000), scheduled = 0, ended = 0;
	struct rival *rivals =
		kunit_kcalloc(test, RIVALS, sizeof(*rivals), GFP_KERNEL);
	struct rnd_state state;
	int returned;

	KUNIT_ASSERT_NOT_NULL(test, rivals);
	hwtimer_test_seed(test, &state);
	for (i = 0; i < RIVALS; i++) {
		rivals[i].party = party;
		prandom_seed_state(&rivals[i].state, prandom_u32_state(&state));
		INIT_WORK(&rivals[i].work, rival_work);
		queue_work(party->queue, &rivals[i].work);
	}
	wait_event_timeout(party->changed, atomic_read(&party->calls) >= wanted,
			   PATIENCE);
	returned = hwtimer_client_stop(party->client, count_returned);
	for (i = 0; i < RIVALS; i++) {
		flush_work(&rivals[i].work);
		KUNIT_EXPECT_EQ(test, rivals[i].result, -ESHUTDOWN);
		scheduled += rivals[i].scheduled;
		ended += rivals[i].ended;
	}
	kunit_info(test, "%u scheduled, %u cancelled, %d called, %d returned\n",
		   scheduled, ended, atomic_read(&party->calls), returned);
	KUNIT_EXPECT_GE(test, atomic_read(&party->calls), wanted);
	KUNIT_EXPECT_EQ(test, returned, atomic_read(&party->returned));
	KUNIT_EXPECT_EQ(test, scheduled,
			ended + atomic_read(&party->calls) + returned);
	check_books(test);
	end(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&party->bad), 0);
}

/* ---- options ---- */

static void bad_options_are_refused(struct kunit *test)
{
	static const struct hwtimer_client_options bad[] = {
		{ .expire = NULL },
		{ .expire = expire_counted, .tick = 9999 },
		{ .expire = expire_counted, .tick = HOUR + 1 },
		{ .expire = expire_counted, .buckets = 7 },
		{ .expire = expire_counted, .buckets = 1048577 },
		{ .expire = expire_counted, .kind = 3 },
		{ .expire = expire_counted, .timers = 1ULL << 40 },
		{ .expire = expire_counted,
		  .clock = HWTIMER_CLIENT_REALTIME + 1 },
		{ .expire = expire_counted, .clock = -1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    PTR_ERR(hwtimer_client_create(&bad[i])),
				    -EINVAL, "options %u", i);
}

#ifdef CONFIG_FAULT_INJECTION
/* Makes the @nth allocation of this thread from now on fail; 0: none. */
static void fail_allocation(unsigned int nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

/* Returns whether that allocation has failed. */
static bool allocation_failed(void)
{
	return !READ_ONCE(current->fail_nth);
}
#else
static void fail_allocation(unsigned int nth)
{
}

static bool allocation_failed(void)
{
	return false;
}
#endif

/* Makes the first allocation fail, then the second, and so on, until none is left. */
static void out_of_memory_is_clean(struct kunit *test)
{
	unsigned int nth = 0, refused = 0;
	bool failed;

	do {
		struct hwtimer_client *client;
		u64 id;
		int err;

		fail_allocation(++nth);
		client = create(test, expire_counted, NULL);
		err = PTR_ERR_OR_ZERO(client) ?:
			      schedule_timer(client, HOUR, 0, &id);
		failed = allocation_failed();
		fail_allocation(0);
		KUNIT_EXPECT_EQ(test, hwtimer_client_destroy(client), 0);
		KUNIT_EXPECT_TRUE(test, !err || (failed && err == -ENOMEM));
		refused += !!err;
	} while (failed && nth < 1000);
	kunit_info(test, "%u of %u failed allocations made a call fail\n",
		   refused, nth - 1);
	if (nth == 1)
		kunit_skip(test, "this kernel lets no allocation fail");
	/* At least the allocations of the client and of its instance make a call fail. */
	KUNIT_EXPECT_GE(test, refused, 2);
	KUNIT_EXPECT_LT(test, nth, 1000);
}

static void limit_is_the_clients_own(struct kunit *test)
{
	const struct hwtimer_client_options options = {
		.expire = expire_counted,
		.private = test->priv,
		.timers = 2,
	};
	struct party *party = test->priv;
	u64 first, id;

	party->client = hwtimer_client_create(&options);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->client));
	KUNIT_EXPECT_PTR_EQ(test, hwtimer_client_private(party->client),
			    (void *)party);
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, HOUR, 0, &first),
			0);
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, HOUR, 0, &id), 0);
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, HOUR, 0, &id),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, first), 0);
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, HOUR, 0, &id), 0);
}

static void bad_requests_are_refused(struct kunit *test)
{
	static const struct {
		struct hwtimer_request request;
		int err;
	} bad[] = {
		{ { .op = HWTIMER_OP_CANCEL }, -EINVAL },
		{ { .id = 1 }, -EINVAL },
		{ { .flags = HWTIMER_DISCARD }, -EINVAL },
		{ { .count = 1 }, -EINVAL },
		{ { .time = HWTIMER_NEVER }, -EINVAL },
		{ { .interval = TICK - 1 }, -ERANGE },
		{ { .slack = 1 }, -EDOM },
	};
	struct party *party = begin(test, expire_counted);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hwtimer_request request = bad[i].request;
		int err = hwtimer_client_schedule(party->client, &request);

		KUNIT_EXPECT_EQ_MSG(test, err, bad[i].err, "request %u", i);
	}
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel(party->client, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, hwtimer_client_cancel_sync(party->client, ~0ULL),
			-ENOENT);
	KUNIT_EXPECT_EQ(test,
			hwtimer_client_reschedule(party->client, 1, 0,
						  HWTIMER_FIXED_DELAY),
			-EINVAL);
	/* The caller would not learn the ids of these timers. */
	for (i = 0; i < 2; i++) {
		u64 id = i ? must_schedule_in(test, HOUR, 0) : 1;

		KUNIT_EXPECT_EQ(test,
				hwtimer_client_reschedule(party->client, id, 0,
							  HWTIMER_REARM),
				-EINVAL);
	}
}

static void clock_may_be_another(struct kunit *test)
{
	struct hwtimer_client_options options = {
		.expire = expire_counted,
		.private = test->priv,
		.clock = HWTIMER_CLIENT_REALTIME,
	};
	struct hwtimer_request request = { .flags = HWTIMER_ABSOLUTE,
					   .time = ktime_get_real_ns() };
	struct party *party = test->priv;
	u64 id;

	party->client = hwtimer_client_create(&options);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->client));
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, 0, 0, &id),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, hwtimer_client_schedule(party->client, &request),
			0);
	WAIT_FOR(test, party, atomic_read(&party->calls) == 1);
	end(test);

	options.clock = HWTIMER_CLIENT_BOOTTIME;
	party->gone = false;
	party->client = hwtimer_client_create(&options);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->client));
	KUNIT_EXPECT_EQ(test, schedule_timer(party->client, 0, 0, &id), 0);
	WAIT_FOR(test, party, atomic_read(&party->calls) == 2);
}

static struct kunit_case client_test_cases[] = {
	MODE_CASE(callbacks_come_once_and_never_early),
	MODE_CASE(callbacks_come_in_order),
	MODE_CASE(slow_callback_holds_up_nobody_else),
	MODE_CASE(cancelled_or_called_but_not_both),
	MODE_CASE(cancel_is_in_time_before_the_callback),
	MODE_CASE(cancel_sync_waits_for_the_callback),
	MODE_CASE(cancel_sync_lets_memory_be_freed),
	MODE_CASE(what_would_deadlock_is_refused),
	MODE_CASE(callback_may_wait_for_another_client),
	MODE_CASE(callback_may_do_all_else),
	MODE_CASE(timer_may_schedule_the_next),
	MODE_CASE(periodic_timer_ends_with_cancel_sync),
	MODE_CASE(periodic_timer_ends_with_its_count),
	MODE_CASE(fixed_delay_counts_from_the_return),
	MODE_CASE(stop_hands_back_what_was_not_processed),
	MODE_CASE(family_ends_as_an_expired_one_is_handed_back),
	MODE_CASE(family_ends_as_a_pending_one_is_handed_back),
	MODE_CASE(running_periodic_timer_is_handed_back),
	MODE_CASE(nothing_is_scheduled_after_stop),
	MODE_CASE(expired_timer_is_cancelled_after_stop),
	MODE_CASE(destroy_waits_for_callbacks),
	MODE_CASE(slow_hand_back_holds_up_nobody_else),
	MODE_CASE(stop_is_over_after_a_slow_callback),
	MODE_CASE(destroy_is_over_after_a_slow_callback),
	MODE_CASE(every_timer_ends_once),
	MODE_CASE(bad_requests_are_refused),
	KUNIT_CASE(bad_options_are_refused),
	KUNIT_CASE(out_of_memory_is_clean),
	KUNIT_CASE(limit_is_the_clients_own),
	KUNIT_CASE(clock_may_be_another),
	{}
};

static struct kunit_suite client_test_suite = {
	.name = "hwtimer_client",
	.init = client_test_init,
	.exit = client_test_exit,
	.test_cases = client_test_cases,
};

kunit_test_suite(client_test_suite);
