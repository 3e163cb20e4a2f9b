// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of memory/account.c, and of what memory/supply.c charges: the limit holds, and
 * nothing that was charged is lost.
 */
#include <kunit/test.h>
#include <linux/kthread.h>

#include "fake.h"

#define UID KUIDT_INIT(1000)
#define OTHER_UID KUIDT_INIT(1001)

#define LIMIT 1000
#define BYTES (16ULL << 20)

/* Stores the limit that the module has; the exit function restores it. */
static int account_test_init(struct kunit *test)
{
	u64 *limit = kunit_kzalloc(test, sizeof(*limit), GFP_KERNEL);

	if (!limit)
		return -ENOMEM;
	*limit = hwtimer_account_limit;
	test->priv = limit;
	return 0;
}

static void account_test_exit(struct kunit *test)
{
	const u64 *limit = test->priv;

	if (limit)
		hwtimer_account_limit = *limit;
}

static struct hwtimer_account *get_account(struct kunit *test, kuid_t uid)
{
	struct hwtimer_account *account = hwtimer_account_get(uid);

	KUNIT_ASSERT_NOT_NULL(test, account);
	return account;
}

static u64 used(const struct hwtimer_account *account)
{
	return atomic64_read(&account->bytes);
}

static void a_limit_is_exact(struct kunit *test)
{
	struct hwtimer_account *account = get_account(test, UID);

	hwtimer_account_limit = LIMIT;
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(account, LIMIT - 1));
	KUNIT_EXPECT_FALSE(test, hwtimer_account_charge(account, 2));
	KUNIT_EXPECT_EQ(test, used(account), LIMIT - 1);
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(account, 1));
	KUNIT_EXPECT_FALSE(test, hwtimer_account_charge(account, 1));
	hwtimer_account_uncharge(account, 10);
	KUNIT_EXPECT_FALSE(test, hwtimer_account_charge(account, 11));
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(account, 10));
	hwtimer_account_uncharge(account, LIMIT);
	hwtimer_account_put(account);
}

static void no_account_has_no_limit(struct kunit *test)
{
	hwtimer_account_limit = 1;
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(NULL, BYTES));
	hwtimer_account_uncharge(NULL, BYTES);
	hwtimer_account_put(NULL);
}

/* Each user has one account, and a limit of its own. */
static void users_are_told_apart(struct kunit *test)
{
	struct hwtimer_account *one = get_account(test, UID);
	struct hwtimer_account *same = get_account(test, UID);
	struct hwtimer_account *other = get_account(test, OTHER_UID);

	hwtimer_account_limit = LIMIT;
	KUNIT_EXPECT_PTR_EQ(test, one, same);
	KUNIT_EXPECT_PTR_NE(test, one, other);
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(one, LIMIT));
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(other, LIMIT));
	hwtimer_account_put(same);
	/* It is still the one with the charge. */
	same = get_account(test, UID);
	KUNIT_EXPECT_EQ(test, used(same), LIMIT);
	hwtimer_account_uncharge(one, LIMIT);
	hwtimer_account_uncharge(other, LIMIT);
	hwtimer_account_put(one);
	hwtimer_account_put(same);
	hwtimer_account_put(other);
}

#define THREADS 4

/* Charges and uncharges, until it is told to stop. Returns the number of errors. */
static int charge_again_and_again(void *data)
{
	struct hwtimer_account *account = data;
	int errors = 0;

	while (!kthread_should_stop()) {
		bool charged = hwtimer_account_charge(account, LIMIT / 3);

		errors += used(account) > LIMIT;
		if (charged)
			hwtimer_account_uncharge(account, LIMIT / 3);
		cond_resched();
	}
	return errors;
}

/* The account's end warns if the sum is not 0. */
static void threads_never_exceed_a_limit(struct kunit *test)
{
	struct hwtimer_account *account = get_account(test, UID);
	struct task_struct *threads[THREADS];
	int i;

	hwtimer_account_limit = LIMIT;
	for (i = 0; i < THREADS; i++) {
		threads[i] = kthread_run(charge_again_and_again, account,
					 "account-test/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(threads[i]));
	}
	schedule_timeout_uninterruptible(HZ / 10);
	for (i = 0; i < THREADS; i++)
		KUNIT_EXPECT_EQ(test, kthread_stop(threads[i]), 0);
	KUNIT_EXPECT_EQ(test, used(account), 0);
	hwtimer_account_put(account);
}

/**
 * struct pair - two instances of one user
 * @account: the user's account
 * @a: an instance
 * @b: another instance
 */
struct pair {
	struct hwtimer_account *account;
	struct hwtimer_instance *a;
	struct hwtimer_instance *b;
};

static struct pair *pair_create(struct kunit *test, u32 timers)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->account = get_account(test, UID);
	pair->a = fake_create_on(timers, pair->account);
	pair->b = fake_create_on(timers, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->a);
	KUNIT_ASSERT_NOT_NULL(test, pair->b);
	return pair;
}

static void pair_destroy(struct kunit *test, struct pair *pair)
{
	fake_check_books(test, pair->a);
	fake_check_books(test, pair->b);
	KUNIT_EXPECT_EQ(test, used(pair->account),
			pair->a->stats.bytes + pair->b->stats.bytes);
	hwtimer_instance_destroy(pair->a);
	hwtimer_instance_destroy(pair->b);
	KUNIT_EXPECT_EQ(test, used(pair->account), 0);
	hwtimer_account_put(pair->account);
}

/* Schedules up to @count timers one by one, and stores their ids; returns their number. */
static u32 schedule_up_to(struct hwtimer_instance *instance, u32 count,
			  u64 *ids, int *err)
{
	u64 id;
	u32 i;

	*err = 0;
	for (i = 0; i < count; i++) {
		*err = fake_schedule(instance, FAKE_HOUR, &id);
		if (*err)
			break;
		if (ids)
			ids[i] = id;
	}
	return i;
}

/* The same with one bulk. */
static u32 bulk_up_to(struct hwtimer_instance *instance, u32 count, int *err)
{
	static u64 words[2 * HWTIMER_HOLD];
	const struct hwtimer_bulk bulk = { .op = HWTIMER_OP_SCHEDULE };
	u32 i, done = 0;

	for (i = 0; i < count; i++) {
		words[2 * i] = i;
		words[2 * i + 1] = FAKE_HOUR;
	}
	*err = hwtimer_bulk_run(instance, &bulk, words, count);
	for (i = 0; !*err && i < count; i++) {
		if ((s64)words[i] < 0)
			*err = words[i];
		else
			done++;
	}
	return done;
}

/* In an instance that gets no more memory, a wrong request is still wrong. */
static void each_request_has_its_own_error(struct kunit *test,
					   struct hwtimer_instance *instance)
{
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_SCHEDULE, .flags = ~0U },
		{ .op = HWTIMER_OP_SCHEDULE, .time = FAKE_HOUR },
		{ .op = HWTIMER_OP_CANCEL, .id = 1 },
	};
	u64 id;

	while (!fake_schedule(instance, FAKE_HOUR, &id))
		;
	hwtimer_request_run(instance, requests, ARRAY_SIZE(requests));
	KUNIT_EXPECT_EQ(test, requests[0].result, -EINVAL);
	KUNIT_EXPECT_EQ(test, requests[1].result, -ENOMEM);
	KUNIT_EXPECT_EQ(test, requests[2].result, -ENOENT);
}

/* Neither the wheel nor the records of an instance may exceed the user's memory. */
static void memory_is_refused(struct kunit *test)
{
	struct pair *pair;
	u64 base, more;
	u32 count;
	int err;

	hwtimer_account_limit = BYTES;
	pair = pair_create(test, 1 << 20);
	base = used(pair->account);
	hwtimer_account_limit = base + 100;
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 0);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, used(pair->account), base);

	hwtimer_account_limit = BYTES;
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 1);
	/* Room for a few slots and their chunks, but not for a million timers */
	more = 32 * hwtimer_table_block_bytes(HWTIMER_SLOT_UNIT);
	hwtimer_account_limit = used(pair->account) + more;
	for (count = 0; count < 1 << 20 && !err; count += HWTIMER_HOLD)
		bulk_up_to(pair->a, HWTIMER_HOLD, &err);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_GT(test, count, 2 * HWTIMER_SLOT_RECORDS);
	KUNIT_EXPECT_LE(test, used(pair->account), hwtimer_account_limit);
	/* What is left may be enough for the little with which an instance starts. */
	hwtimer_account_limit = used(pair->account);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 1, NULL, &err), 0);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	each_request_has_its_own_error(test, pair->a);
	fake_check_books(test, pair->a);

	hwtimer_instance_destroy(pair->a);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 1, NULL, &err), 1);
	pair->a = fake_create_on(LIMIT, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->a);
	pair_destroy(test, pair);
}

/*
 * An instance that has used up what it starts with needs the whole wheel. If that is
 * refused, so is the timer. Those that are pending stay, and as many are possible as before.
 */
static void the_whole_wheel_is_refused(struct kunit *test)
{
	struct pair *pair;
	struct hwtimer_event event;
	u32 count, more, read = 0;
	u64 room;
	int err;

	hwtimer_account_limit = BYTES;
	pair = pair_create(test, 1 << 20);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 1);
	/* Room for chunks, for a slot and the arrays of the table, but for no whole wheel */
	room = hwtimer_wheel_memory(&pair->a->settings.shape);
	hwtimer_account_limit = used(pair->account) + room;
	count = 1 + schedule_up_to(pair->a, LIMIT, NULL, &err);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, count, HWTIMER_START_RECORDS - 1);
	KUNIT_EXPECT_EQ(test, pair->a->wheel.shape.buckets,
			HWTIMER_START_BUCKETS);
	fake_check_books(test, pair->a);
	fake_turn_until(pair->a, fake_now + 2 * FAKE_HOUR);
	for (; fake_read(pair->a, &event); read++)
		;
	KUNIT_EXPECT_EQ(test, read, count);
	count += schedule_up_to(pair->a, LIMIT, NULL, &err);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, count, 2 * read);

	hwtimer_account_limit = BYTES;
	more = schedule_up_to(pair->a, 100, NULL, &err);
	KUNIT_EXPECT_EQ(test, more, 100);
	KUNIT_EXPECT_EQ(test, pair->a->wheel.shape.buckets,
			pair->a->settings.shape.buckets);
	fake_check_books(test, pair->a);
	fake_turn_until(pair->a, fake_now + 2 * FAKE_HOUR);
	while (fake_read(pair->a, &event))
		read++;
	KUNIT_EXPECT_EQ(test, read, count + more);
	fake_check_books(test, pair->a);
	pair_destroy(test, pair);
}

/* Whoever cancels timers at the limit can schedule others. */
static void cancelled_timers_make_room(struct kunit *test)
{
	const u32 most = 1 << 18;
	u64 *ids = kvcalloc(most, sizeof(*ids), GFP_KERNEL);
	struct pair *pair;
	u32 count, more, i;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	hwtimer_account_limit = BYTES / 4;
	pair = pair_create(test, 1 << 20);
	count = schedule_up_to(pair->a, most, ids, &err);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_GT(test, count, 1000);
	for (i = 0; i < count; i += 2)
		KUNIT_ASSERT_EQ(test, fake_cancel(pair->a, ids[i], 0), 0);
	more = schedule_up_to(pair->a, count / 4, NULL, &err);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, more, count / 4);
	/* As often as one likes */
	for (i = 1; i < count; i += 2) {
		KUNIT_ASSERT_EQ(test, fake_cancel(pair->a, ids[i], 0), 0);
		KUNIT_ASSERT_EQ(test,
				fake_schedule(pair->a, FAKE_HOUR, &ids[i]), 0);
	}
	kvfree(ids);
	pair_destroy(test, pair);
}

/* Schedules timers until no record is left. Has chunks for moving them, and gets no more memory. */
static u32 use_all_records(struct kunit *test, struct pair *pair, u32 least,
			   u64 *ids)
{
	const struct hwtimer_demand moves = { .moves = 64 };
	u32 count = 0;

	hwtimer_account_limit = BYTES;
	do {
		KUNIT_EXPECT_EQ(test,
				fake_schedule(pair->a, FAKE_HOUR, &ids[count]),
				0);
		count++;
	} while (count < least || hwtimer_table_spare(&pair->a->table));
	KUNIT_EXPECT_EQ(test, hwtimer_supply_reserve(pair->a, &moves), 0);
	spin_unlock(&pair->a->lock);
	hwtimer_account_limit = used(pair->account);
	return count;
}

/* A pending timer keeps its record. So whoever cannot schedule can still push timers out. */
static void push_out_at_the_limit(struct kunit *test, u32 least)
{
	static u64 ids[4 * HWTIMER_SLOT_RECORDS];
	struct hwtimer_request requests[3] = {};
	struct pair *pair = pair_create(test, 1 << 20);
	u32 count = use_all_records(test, pair, least, ids);
	u32 i, round;
	u64 id;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(requests); i++)
			requests[i] = (struct hwtimer_request){
				.op = HWTIMER_OP_RESCHEDULE,
				.flags = HWTIMER_REQ_REARM,
				.time = 2 * FAKE_HOUR,
				.id = ids[(3 * round + i) % count],
			};
		hwtimer_request_run(pair->a, requests, round ? 3 : 1);
		for (i = 0; i < (round ? 3 : 1); i++)
			KUNIT_EXPECT_EQ(test, requests[i].result, 0);
	}
	/* What needs a record is refused, and changes nothing, also beside what needs none. */
	requests[0] = (struct hwtimer_request){ .op = HWTIMER_OP_SCHEDULE,
						.time = FAKE_HOUR };
	requests[1].flags = 0;
	hwtimer_request_run(pair->a, requests, 2);
	KUNIT_EXPECT_EQ(test, requests[0].result, -ENOMEM);
	KUNIT_EXPECT_EQ(test, requests[1].result, 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(pair->a, FAKE_HOUR, &id), -ENOMEM);
	requests[0] = (struct hwtimer_request){
		.op = HWTIMER_OP_RESCHEDULE,
		.flags = HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE,
		.time = FAKE_HOUR,
	};
	requests[1].flags = HWTIMER_REQ_REARM;
	requests[1].interval = FAKE_HOUR;
	hwtimer_request_run(pair->a, requests, 2);
	KUNIT_EXPECT_EQ(test, requests[0].result, -ENOMEM);
	KUNIT_EXPECT_EQ(test, requests[1].result, -ENOMEM);
	KUNIT_EXPECT_EQ(test, pair->a->stats.pending, count);
	hwtimer_account_limit = BYTES;
	pair_destroy(test, pair);
}

static void timers_are_pushed_out_at_the_limit(struct kunit *test)
{
	push_out_at_the_limit(test, 1);
	push_out_at_the_limit(test, HWTIMER_START_RECORDS + 1);
}

/* Frees all spare chunks that hwtimer_shrink_trim() would have freed some time. */
static void trim_all(struct hwtimer_instance *instance)
{
	struct hwtimer_pool surplus = {};
	u32 before;

	do {
		before = instance->pool.chunks;
		spin_lock(&instance->lock);
		hwtimer_shrink_trim(instance);
		instance->trim.at = min(instance->trim.at, ktime_get_ns());
		hwtimer_shrink_trim_some(instance, &surplus);
		spin_unlock(&instance->lock);
		hwtimer_pool_drain(&surplus);
	} while (instance->pool.chunks < before);
}

/* Chunks that are freed are the user's again, while the instance exists. */
static void chunks_that_are_freed_come_back(struct kunit *test)
{
	struct hwtimer_event event;
	struct pair *pair;
	u64 before;
	u32 chunks, i;
	int err;

	hwtimer_account_limit = BYTES;
	pair = pair_create(test, 1 << 20);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, bulk_up_to(pair->a, HWTIMER_HOLD, &err),
				HWTIMER_HOLD);
	before = used(pair->account);
	chunks = pair->a->pool.chunks;
	fake_turn_until(pair->a, FAKE_START + 2 * FAKE_HOUR);
	while (fake_read(pair->a, &event))
		;
	trim_all(pair->a);
	KUNIT_EXPECT_LT(test, pair->a->pool.chunks, chunks);
	KUNIT_EXPECT_EQ(test, used(pair->account),
			before - (u64)(chunks - pair->a->pool.chunks) *
					 HWTIMER_CHUNK_BYTES);
	pair_destroy(test, pair);
}

/*
 * A worker is just serving an instance that is closed. The user is charged for its memory
 * until it is freed.
 */
static void a_closed_instance_is_charged_until_it_is_freed(struct kunit *test)
{
	struct hwtimer_instance *closed;
	struct pair *pair;
	u64 before, bytes;

	hwtimer_account_limit = BYTES;
	pair = pair_create(test, LIMIT);
	before = used(pair->account);
	closed = pair->a;
	bytes = closed->stats.bytes;
	refcount_inc(&closed->users);
	hwtimer_instance_destroy(closed);
	KUNIT_EXPECT_EQ(test, used(pair->account), before);
	pair->a = fake_create_on(LIMIT, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->a);
	/* The worker leaves. */
	KUNIT_EXPECT_TRUE(test, refcount_dec_and_test(&closed->users));
	closed->free_work.func(&closed->free_work);
	KUNIT_EXPECT_EQ(test, used(pair->account),
			before - bytes + pair->a->stats.bytes);
	pair_destroy(test, pair);
}

/* Not even an instance is created that the user has no memory for. */
static void an_instance_is_memory_too(struct kunit *test)
{
	struct hwtimer_account *account = get_account(test, UID);

	hwtimer_account_limit = hwtimer_account_base_bytes() - 1;
	KUNIT_EXPECT_NULL(test, fake_create_on(LIMIT, account));
	KUNIT_EXPECT_EQ(test, used(account), 0);
	hwtimer_account_put(account);
}

static struct kunit_case account_test_cases[] = {
	KUNIT_CASE(a_limit_is_exact),
	KUNIT_CASE(no_account_has_no_limit),
	KUNIT_CASE(users_are_told_apart),
	KUNIT_CASE(threads_never_exceed_a_limit),
	KUNIT_CASE(memory_is_refused),
	KUNIT_CASE(the_whole_wheel_is_refused),
	KUNIT_CASE(cancelled_timers_make_room),
	KUNIT_CASE(timers_are_pushed_out_at_the_limit),
	KUNIT_CASE(chunks_that_are_freed_come_back),
	KUNIT_CASE(a_closed_instance_is_charged_until_it_is_freed),
	KUNIT_CASE(an_instance_is_memory_too),
	{}
};

static struct kunit_suite account_test_suite = {
	.name = "hwtimer_account",
	.init = account_test_init,
	.exit = account_test_exit,
	.test_cases = account_test_cases,
};

kunit_test_suite(account_test_suite);
