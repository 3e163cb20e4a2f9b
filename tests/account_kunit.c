// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of hwtimer_account.c and hwtimer_allowance.c, and of what hwtimer_supply.c
 * charges: limits hold, for each user in a chain; nothing that was charged is lost; and
 * what one instance gives up, another can take.
 */
#include <kunit/test.h>
#include <linux/kthread.h>

#include "../hwtimer_bulk.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define UID KUIDT_INIT(1000)
#define OTHER_UID KUIDT_INIT(1001)
#define CREATOR_UID KUIDT_INIT(999)

#define LIMIT 1000
#define BYTES (16ULL << 20)

/* Stores the limits that the module has; the exit function restores them. */
static int account_test_init(struct kunit *test)
{
	u64 *limits = kunit_kcalloc(test, HWTIMER_RESOURCES, sizeof(*limits),
				    GFP_KERNEL);
	unsigned int i;

	if (!limits)
		return -ENOMEM;
	for (i = 0; i < HWTIMER_RESOURCES; i++)
		limits[i] = hwtimer_account_limit(i);
	test->priv = limits;
	return 0;
}

static void account_test_exit(struct kunit *test)
{
	if (test->priv)
		hwtimer_account_set_limits(test->priv);
}

/* With these limits, the step is @timers / 16 / @instances. */
static void set_limits(u64 instances, u64 timers, u64 bytes)
{
	const u64 limits[HWTIMER_RESOURCES] = {
		[HWTIMER_INSTANCES] = instances,
		[HWTIMER_TIMERS] = timers,
		[HWTIMER_BYTES] = bytes,
	};

	hwtimer_account_set_limits(limits);
}

static struct hwtimer_account *get_account(struct kunit *test, kuid_t uid,
					   struct hwtimer_account *parent)
{
	struct hwtimer_account *account = hwtimer_account_get(uid, 0, parent);

	KUNIT_ASSERT_NOT_NULL(test, account);
	return account;
}

static u64 used(const struct hwtimer_account *account,
		enum hwtimer_resource resource)
{
	return atomic64_read(&account->used[resource]);
}

static void a_limit_is_exact(struct kunit *test)
{
	struct hwtimer_account *account = get_account(test, UID, NULL);
	u64 taken;

	set_limits(1, LIMIT, BYTES);
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(account, HWTIMER_TIMERS,
						       LIMIT - 1));
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_account_charge(account, HWTIMER_TIMERS, 2));
	KUNIT_EXPECT_EQ(test, used(account, HWTIMER_TIMERS), LIMIT - 1);
	KUNIT_EXPECT_TRUE(test,
			  hwtimer_account_charge(account, HWTIMER_TIMERS, 1));
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_account_charge(account, HWTIMER_TIMERS, 1));
	taken = hwtimer_account_take(account, HWTIMER_TIMERS, 1);
	KUNIT_EXPECT_EQ(test, taken, 0);
	hwtimer_account_uncharge(account, HWTIMER_TIMERS, 10);
	taken = hwtimer_account_take(account, HWTIMER_TIMERS, 11);
	KUNIT_EXPECT_EQ(test, taken, 10);
	hwtimer_account_uncharge(account, HWTIMER_TIMERS, LIMIT);
	hwtimer_account_put(account);
}

static void huge_requests_do_not_wrap(struct kunit *test)
{
	struct hwtimer_account *account = get_account(test, UID, NULL);
	u64 taken;

	set_limits(1, LIMIT, BYTES);
	KUNIT_EXPECT_TRUE(test, hwtimer_account_charge(account, HWTIMER_BYTES,
						       BYTES - 1));
	KUNIT_EXPECT_FALSE(test, hwtimer_account_charge(account, HWTIMER_BYTES,
							U64_MAX));
	KUNIT_EXPECT_FALSE(test, hwtimer_account_charge(account, HWTIMER_BYTES,
							S64_MAX));
	taken = hwtimer_account_take(account, HWTIMER_BYTES, U64_MAX);
	KUNIT_EXPECT_EQ(test, taken, 1);
	KUNIT_EXPECT_EQ(test, used(account, HWTIMER_BYTES), BYTES);
	hwtimer_account_uncharge(account, HWTIMER_BYTES, BYTES);
	hwtimer_account_put(account);
}

static void no_account_has_no_limit(struct kunit *test)
{
	set_limits(1, 1, 1);
	KUNIT_EXPECT_TRUE(test,
			  hwtimer_account_charge(NULL, HWTIMER_BYTES, U64_MAX));
	KUNIT_EXPECT_EQ(test, hwtimer_account_take(NULL, HWTIMER_TIMERS, LIMIT),
			LIMIT);
	hwtimer_account_uncharge(NULL, HWTIMER_BYTES, U64_MAX);
	hwtimer_account_close(NULL);
}

/* Two users below one creator, who has no more than one of them may have. */
static void the_creator_is_charged_for_all(struct kunit *test)
{
	struct hwtimer_account *creator = get_account(test, CREATOR_UID, NULL);
	struct hwtimer_account *one = get_account(test, UID, creator);
	struct hwtimer_account *two = get_account(test, OTHER_UID, creator);

	set_limits(1, LIMIT, BYTES);
	KUNIT_EXPECT_TRUE(test,
			  hwtimer_account_charge(one, HWTIMER_TIMERS, 600));
	/* The lower level would allow that; it must not keep any of it. */
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_account_charge(two, HWTIMER_TIMERS, 401));
	KUNIT_EXPECT_EQ(test, used(two, HWTIMER_TIMERS), 0);
	KUNIT_EXPECT_EQ(test, used(creator, HWTIMER_TIMERS), 600);
	KUNIT_EXPECT_EQ(test, hwtimer_account_take(two, HWTIMER_TIMERS, 401),
			400);
	KUNIT_EXPECT_EQ(test, used(two, HWTIMER_TIMERS), 400);
	KUNIT_EXPECT_EQ(test, used(creator, HWTIMER_TIMERS), LIMIT);
	hwtimer_account_uncharge(one, HWTIMER_TIMERS, 600);
	hwtimer_account_uncharge(two, HWTIMER_TIMERS, 400);
	KUNIT_EXPECT_EQ(test, used(creator, HWTIMER_TIMERS), 0);
	hwtimer_account_put(creator);
	hwtimer_account_put(one);
	hwtimer_account_put(two);
}

/* Returns the number of accounts, and checks that both ways to find them agree. */
static unsigned int count_accounts(struct kunit *test)
{
	struct hwtimer_account *account = hwtimer_account_at(0);
	unsigned int count = 0;

	while (account) {
		struct hwtimer_account *same = hwtimer_account_at(count);

		KUNIT_EXPECT_PTR_EQ(test, same, account);
		hwtimer_account_put(same);
		account = hwtimer_account_after(account);
		count++;
	}
	KUNIT_EXPECT_NULL(test, hwtimer_account_at(count));
	return count;
}

static void accounts_are_found_and_freed(struct kunit *test)
{
	unsigned int before = count_accounts(test);
	struct hwtimer_account *creator = get_account(test, CREATOR_UID, NULL);
	struct hwtimer_account *one = get_account(test, UID, creator);
	struct hwtimer_account *same = get_account(test, UID, creator);
	struct hwtimer_account *top = get_account(test, UID, NULL);
	struct hwtimer_account *grouped = hwtimer_account_get(UID, 7, NULL);

	KUNIT_ASSERT_NOT_NULL(test, grouped);
	KUNIT_EXPECT_PTR_EQ(test, one, same);
	KUNIT_EXPECT_PTR_NE(test, one, top);
	KUNIT_EXPECT_PTR_NE(test, grouped, top);
	KUNIT_EXPECT_EQ(test, count_accounts(test), before + 4);
	hwtimer_account_put(grouped);
	hwtimer_account_put(top);
	hwtimer_account_put(same);
	/* An account keeps its parent. */
	hwtimer_account_put(creator);
	KUNIT_EXPECT_EQ(test, count_accounts(test), before + 2);
	hwtimer_account_put(one);
	KUNIT_EXPECT_EQ(test, count_accounts(test), before);
}

/* A tree: account 0 is above 1 and 2, which is above 3. */
#define NODES 4
static const int above[NODES] = { -1, 0, 0, 2 };

/**
 * struct tree - a tree of accounts, and what the test has charged to each
 * @accounts: the accounts
 * @own: what was charged to an account itself, not to one below it
 */
struct tree {
	struct hwtimer_account *accounts[NODES];
	u64 own[NODES];
};

static void tree_create(struct kunit *test, struct tree *tree)
{
	int i;

	*tree = (struct tree){};
	for (i = 0; i < NODES; i++) {
		struct hwtimer_account *parent =
			above[i] < 0 ? NULL : tree->accounts[above[i]];

		tree->accounts[i] =
			get_account(test, KUIDT_INIT(2000 + i), parent);
	}
}

static void tree_destroy(struct tree *tree)
{
	int i;

	for (i = 0; i < NODES; i++) {
		hwtimer_account_uncharge(tree->accounts[i], HWTIMER_TIMERS,
					 tree->own[i]);
		hwtimer_account_put(tree->accounts[i]);
	}
}

/* What @node and all accounts below it have been charged. */
static u64 tree_sum(const struct tree *tree, int node)
{
	u64 sum = tree->own[node];
	int i;

	for (i = 0; i < NODES; i++)
		if (above[i] == node)
			sum += tree_sum(tree, i);
	return sum;
}

/* What can still be charged to @node. */
static u64 tree_room(const struct tree *tree, int node)
{
	u64 room = LIMIT;

	for (; node >= 0; node = above[node])
		room = min(room, LIMIT - tree_sum(tree, node));
	return room;
}

static void tree_check(struct kunit *test, const struct tree *tree)
{
	int i;

	for (i = 0; i < NODES; i++)
		KUNIT_ASSERT_EQ(test, used(tree->accounts[i], HWTIMER_TIMERS),
				tree_sum(tree, i));
}

static void tree_operate(struct kunit *test, struct tree *tree,
			 struct rnd_state *state)
{
	int node = random_below(state, NODES);
	struct hwtimer_account *account = tree->accounts[node];
	u64 count = random_below(state, LIMIT / 2);
	u64 room = tree_room(tree, node);
	u64 taken;

	switch (random_below(state, 3)) {
	case 0:
		taken = hwtimer_account_take(account, HWTIMER_TIMERS, count);
		KUNIT_ASSERT_EQ(test, taken, min(count, room));
		tree->own[node] += taken;
		break;
	case 1:
		KUNIT_ASSERT_EQ(test,
				hwtimer_account_charge(account, HWTIMER_TIMERS,
						       count),
				count <= room);
		tree->own[node] += count <= room ? count : 0;
		break;
	default:
		count = min(count, tree->own[node]);
		hwtimer_account_uncharge(account, HWTIMER_TIMERS, count);
		tree->own[node] -= count;
	}
}

static void random_charges_are_exact(struct kunit *test)
{
	struct rnd_state state;
	struct tree tree;
	u32 i;

	hwtimer_test_seed(test, &state);
	set_limits(1, LIMIT, BYTES);
	tree_create(test, &tree);
	for (i = 0; i < hwtimer_test_scaled(20000); i++) {
		tree_operate(test, &tree, &state);
		tree_check(test, &tree);
	}
	tree_destroy(&tree);
}

#define THREADS 4

/* Charges and uncharges at random, until it is told to stop. Returns the number of errors. */
static int charge_at_random(void *data)
{
	struct hwtimer_account *account = data;
	int errors = 0;

	while (!kthread_should_stop()) {
		u64 taken = hwtimer_account_take(account, HWTIMER_TIMERS,
						 LIMIT / 2 + 1);

		errors += used(account, HWTIMER_TIMERS) > LIMIT;
		if (hwtimer_account_charge(account, HWTIMER_TIMERS, 3))
			taken += 3;
		errors += used(account->parent, HWTIMER_TIMERS) > LIMIT;
		hwtimer_account_uncharge(account, HWTIMER_TIMERS, taken);
		cond_resched();
	}
	return errors;
}

/* Threads on two accounts below one; the accounts' end warns if the sums are not 0. */
static void threads_never_exceed_a_limit(struct kunit *test)
{
	struct hwtimer_account *creator = get_account(test, CREATOR_UID, NULL);
	struct hwtimer_account *accounts[] = {
		get_account(test, UID, creator),
		get_account(test, OTHER_UID, creator),
	};
	struct task_struct *threads[THREADS];
	int i;

	set_limits(1, LIMIT, BYTES);
	for (i = 0; i < THREADS; i++) {
		threads[i] = kthread_run(charge_at_random, accounts[i % 2],
					 "account-test/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(threads[i]));
	}
	schedule_timeout_uninterruptible(HZ / 10);
	for (i = 0; i < THREADS; i++)
		KUNIT_EXPECT_EQ(test, kthread_stop(threads[i]), 0);
	KUNIT_EXPECT_EQ(test, used(creator, HWTIMER_TIMERS), 0);
	hwtimer_account_put(accounts[0]);
	hwtimer_account_put(accounts[1]);
	hwtimer_account_put(creator);
}

/**
 * struct pair - two instances of one user
 * @account: the user's account
 * @a: an instance
 * @b: another instance
 * @ids: ids of the timers of @a
 */
struct pair {
	struct hwtimer_account *account;
	struct hwtimer_instance *a;
	struct hwtimer_instance *b;
	u64 ids[LIMIT];
};

static struct pair *pair_create(struct kunit *test, u32 timers)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->account = get_account(test, UID, NULL);
	pair->a = fake_create_on(kind_of(test), timers, pair->account);
	pair->b = fake_create_on(kind_of(test), timers, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->a);
	KUNIT_ASSERT_NOT_NULL(test, pair->b);
	return pair;
}

static void pair_destroy(struct kunit *test, struct pair *pair)
{
	fake_check_books(test, pair->a);
	fake_check_books(test, pair->b);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_INSTANCES), 2);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_BYTES),
			pair->a->charged + pair->b->charged);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS),
			pair->a->allowance.max + pair->b->allowance.max);
	hwtimer_instance_destroy(pair->a);
	hwtimer_instance_destroy(pair->b);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_INSTANCES), 0);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS), 0);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_BYTES), 0);
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

static void cancel_all(struct kunit *test, struct hwtimer_instance *instance,
		       const u64 *ids, u32 count)
{
	while (count--)
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, ids[count], 0), 0);
}

/* With many instances a user, there are no steps, and the limit is exact. */
static void what_one_gives_up_another_takes(struct kunit *test)
{
	struct pair *pair;
	int err;

	set_limits(512, LIMIT, BYTES);
	KUNIT_ASSERT_EQ(test, hwtimer_account_step(), 0);
	pair = pair_create(test, LIMIT);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 600, pair->ids, &err),
			600);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 600, NULL, &err), 400);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	KUNIT_EXPECT_EQ(test, bulk_up_to(pair->b, 1, &err), 0);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	cancel_all(test, pair->a, pair->ids, 600);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 601, NULL, &err), 600);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	pair_destroy(test, pair);
}

/* With steps, an instance keeps at most two of them from another. */
static void an_instance_keeps_two_steps_at_most(struct kunit *test)
{
	struct pair *pair;
	u32 step, most;
	int err;

	set_limits(2, LIMIT, BYTES);
	step = hwtimer_account_step();
	KUNIT_ASSERT_EQ(test, step, LIMIT / 32);
	pair = pair_create(test, LIMIT);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, pair->ids, &err), 1);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS), step);
	/* The last timers need not come in steps. */
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, LIMIT, NULL, &err),
			LIMIT - step);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	KUNIT_EXPECT_EQ(test,
			schedule_up_to(pair->a, LIMIT, pair->ids + 1, &err),
			step - 1);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	hwtimer_instance_destroy(pair->b);
	pair->b = fake_create_on(kind_of(test), LIMIT, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->b);

	KUNIT_EXPECT_EQ(test,
			schedule_up_to(pair->a, 600 - step, pair->ids + step,
				       &err),
			600 - step);
	cancel_all(test, pair->a, pair->ids, 600);
	KUNIT_EXPECT_LE(test, used(pair->account, HWTIMER_TIMERS), 2 * step);
	most = bulk_up_to(pair->b, HWTIMER_HOLD, &err);
	KUNIT_EXPECT_EQ(test, most, HWTIMER_HOLD);
	most += schedule_up_to(pair->b, LIMIT, NULL, &err);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	KUNIT_EXPECT_GE(test, most, LIMIT - 2 * step);
	pair_destroy(test, pair);
}

/* A bulk gets what is left, and its other timers are refused. */
static void a_bulk_takes_what_is_left(struct kunit *test)
{
	const u32 left = HWTIMER_HOLD / 2;
	struct pair *pair;
	int err;

	set_limits(512, LIMIT, BYTES);
	pair = pair_create(test, LIMIT);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, LIMIT - left, NULL, &err),
			LIMIT - left);
	KUNIT_EXPECT_EQ(test, bulk_up_to(pair->b, HWTIMER_HOLD, &err), left);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	pair_destroy(test, pair);
}

/* An instance that has reached its own limit takes no more from the user. */
static void the_limit_of_an_instance_holds_too(struct kunit *test)
{
	const u32 limit = HWTIMER_HOLD - 3;
	struct pair *pair;
	int err;

	set_limits(2, LIMIT, BYTES);
	pair = pair_create(test, limit);
	KUNIT_EXPECT_EQ(test, bulk_up_to(pair->a, HWTIMER_HOLD, &err), limit);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, limit + 1, NULL, &err),
			limit);
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS), 2 * limit);
	KUNIT_EXPECT_FALSE(test, hwtimer_instance_refused(pair->a));
	pair_destroy(test, pair);
}

/* Events that are read, and timers that STOP hands back, make room for others. */
static void timers_that_end_make_room(struct kunit *test)
{
	struct hwtimer_event event;
	struct pair *pair;
	bool more;
	u32 taken;
	int err;

	set_limits(512, LIMIT, BYTES);
	pair = pair_create(test, LIMIT);
	schedule_up_to(pair->a, LIMIT, NULL, &err);
	fake_turn_until(pair->a, FAKE_START + 2 * FAKE_HOUR);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 1, NULL, &err), 0);
	KUNIT_EXPECT_EQ(test, fake_read(pair->a, &event), 1);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 2, NULL, &err), 1);
	while (fake_read(pair->a, &event))
		;
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS), 1);

	/* STOP finds them all in one hold of the lock. */
	schedule_up_to(pair->a, 5, NULL, &err);
	hwtimer_instance_stop(pair->a);
	mutex_lock(&pair->a->harvest);
	taken = hwtimer_harvest_take_pending(pair->a, 5, &more);
	hwtimer_harvest_finish_pending(pair->a, taken, taken);
	mutex_unlock(&pair->a->harvest);
	KUNIT_EXPECT_EQ(test, taken, 5);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS), 1);
	pair_destroy(test, pair);
}

/*
 * HWTIMER_REARM of the timer whose event is next ends that timer, and schedules another one.
 * Meanwhile no other instance gets the room. Here, who gives back does not get it again.
 */
static void a_rearmed_timer_keeps_its_room(struct kunit *test)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_RESCHEDULE,
		.flags = HWTIMER_REARM,
		.time = FAKE_HOUR,
	};
	struct pair *pair;
	int err;

	set_limits(512, LIMIT, BYTES);
	pair = pair_create(test, LIMIT);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, &request.id, &err), 1);
	schedule_up_to(pair->b, LIMIT, NULL, &err);
	fake_turn_until(pair->a, FAKE_START + 2 * FAKE_HOUR);
	KUNIT_EXPECT_EQ(test, pair->a->stats.ready, 1);
	set_limits(512, LIMIT - 1, BYTES);
	hwtimer_request_run(pair->a, &request, 1);
	KUNIT_EXPECT_EQ(test, request.result, 0);
	KUNIT_EXPECT_EQ(test, pair->a->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_TIMERS), LIMIT);
	pair_destroy(test, pair);
}

/*
 * Returns two instances. A reader of the first one waits for 10 events; it has 5, and the other
 * instance has all timers.
 */
static struct pair *pair_of_which_one_waits(struct kunit *test)
{
	struct pair *pair;
	int err;

	set_limits(512, LIMIT, BYTES);
	pair = pair_create(test, LIMIT);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 5, NULL, &err), 5);
	hwtimer_notice_set(pair->a, 10, HWTIMER_NEVER);
	fake_turn_until(pair->a, FAKE_START + 2 * FAKE_HOUR);
	KUNIT_EXPECT_EQ(test, pair->a->stats.ready, 5);
	schedule_up_to(pair->b, LIMIT, NULL, &err);
	return pair;
}

/*
 * A reader waits for more events than can come while the other instance has all timers.
 * It is told once a timer was refused, and not before.
 */
static void readers_do_not_wait_for_refused_timers(struct kunit *test)
{
	struct pair *pair = pair_of_which_one_waits(test);
	struct wait_queue_entry sleeper;
	int err;

	KUNIT_EXPECT_FALSE(test, hwtimer_notice_readable(pair->a));
	fake_fall_asleep(pair->a, &sleeper);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 0);
	KUNIT_EXPECT_TRUE(test, hwtimer_notice_readable(pair->a));
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	remove_wait_queue(&pair->a->readers, &sleeper);
	hwtimer_instance_destroy(pair->b);
	pair->b = fake_create_on(kind_of(test), LIMIT, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->b);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 1);
	KUNIT_EXPECT_FALSE(test, hwtimer_notice_readable(pair->a));
	pair_destroy(test, pair);
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
	u64 base;
	u32 count;
	int err;

	set_limits(2, 1 << 20, BYTES);
	pair = pair_create(test, 1 << 20);
	base = used(pair->account, HWTIMER_BYTES);
	set_limits(2, 1 << 20, base + 100);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 0);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_BYTES), base);

	set_limits(2, 1 << 20, BYTES);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 1);
	/* Room for a few slots and their chunks, but not for a million timers */
	set_limits(2, 1 << 20,
		   used(pair->account, HWTIMER_BYTES) +
			   32 * hwtimer_table_block_bytes(HWTIMER_SLOT_UNIT));
	for (count = 0; count < 1 << 20 && !err; count += HWTIMER_HOLD)
		bulk_up_to(pair->a, HWTIMER_HOLD, &err);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_GT(test, count, 2 * HWTIMER_SLOT_RECORDS);
	KUNIT_EXPECT_LE(test, used(pair->account, HWTIMER_BYTES),
			hwtimer_account_limit(HWTIMER_BYTES));
	/* What is left may be enough for the little with which an instance starts. */
	set_limits(2, 1 << 20, used(pair->account, HWTIMER_BYTES));
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 1, NULL, &err), 0);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	each_request_has_its_own_error(test, pair->a);
	fake_check_books(test, pair->a);

	hwtimer_instance_destroy(pair->a);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->b, 1, NULL, &err), 1);
	pair->a = fake_create_on(kind_of(test), LIMIT, pair->account);
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
	int err;

	set_limits(2, 1 << 20, BYTES);
	pair = pair_create(test, 1 << 20);
	KUNIT_EXPECT_EQ(test, schedule_up_to(pair->a, 1, NULL, &err), 1);
	/* Room for chunks, for a slot and the arrays of the table, but for no whole wheel */
	set_limits(2, 1 << 20,
		   used(pair->account, HWTIMER_BYTES) +
			   hwtimer_wheel_memory(&pair->a->settings.shape));
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

	set_limits(2, 1 << 20, BYTES);
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

/* Frees all spare chunks that hwtimer_supply_trim() would have freed some time. */
static void trim_all(struct hwtimer_instance *instance)
{
	struct hwtimer_pool surplus = {};
	u32 before;

	do {
		before = instance->pool.chunks;
		spin_lock(&instance->lock);
		hwtimer_supply_trim(instance);
		instance->trim.at = min(instance->trim.at, ktime_get_ns());
		hwtimer_supply_trim_some(instance, &surplus);
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

	set_limits(2, 1 << 20, BYTES);
	pair = pair_create(test, 1 << 20);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, bulk_up_to(pair->a, HWTIMER_HOLD, &err),
				HWTIMER_HOLD);
	before = used(pair->account, HWTIMER_BYTES);
	chunks = pair->a->pool.chunks;
	fake_turn_until(pair->a, FAKE_START + 2 * FAKE_HOUR);
	while (fake_read(pair->a, &event))
		;
	trim_all(pair->a);
	KUNIT_EXPECT_LT(test, pair->a->pool.chunks, chunks);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_BYTES),
			before - (u64)(chunks - pair->a->pool.chunks) *
					 HWTIMER_CHUNK_BYTES);
	pair_destroy(test, pair);
}

/* Does what the worker does when the time has come to free chunks that stayed unused. */
static void free_unused(struct kunit *test, struct hwtimer_instance *instance)
{
	struct hwtimer_pool surplus = {};

	KUNIT_EXPECT_NE(test, instance->trim.at, HWTIMER_TICK_NONE);
	spin_lock(&instance->lock);
	while (instance->trim.at != HWTIMER_TICK_NONE) {
		instance->trim.at = min(instance->trim.at, ktime_get_ns());
		hwtimer_supply_trim_some(instance, &surplus);
	}
	spin_unlock(&instance->lock);
	hwtimer_pool_drain(&surplus);
}

static int schedule_periodic(struct hwtimer_instance *instance, u64 *id)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = FAKE_HOUR,
		.interval = FAKE_HOUR,
	};
	int err = fake_run(instance, &request);

	*id = request.id;
	return err;
}

/*
 * With its first periodic timer, a hashed wheel with many timers needs far more chunks. They
 * are freed again if there are too few, so that the timer is refused, and if it ends.
 */
static void chunks_in_vain_come_back(struct kunit *test)
{
	const u64 large = 1ULL << 30;
	u64 most, before, more, id;
	struct pair *pair;
	u32 i;
	int err;

	if (kind_of(test) != HWTIMER_KIND_HASHED)
		kunit_skip(test, "a hierarchical wheel always has the chunks");
	set_limits(2, 1 << 20, large);
	pair = pair_create(test, 1 << 20);
	for (i = 0; i < 16; i++)
		bulk_up_to(pair->a, HWTIMER_HOLD, &err);
	trim_all(pair->a);
	/* Chunks that an instance may keep, whatever happens */
	most = (HWTIMER_SPARE_CHUNKS + 16) * HWTIMER_CHUNK_BYTES;
	before = used(pair->account, HWTIMER_BYTES);
	more = 4 * HWTIMER_HOLD * HWTIMER_CHUNK_BYTES;

	set_limits(2, 1 << 20, before + more);
	KUNIT_EXPECT_EQ(test, schedule_periodic(pair->a, &id), -ENOMEM);
	KUNIT_EXPECT_GT(test, used(pair->account, HWTIMER_BYTES),
			before + more / 2);
	free_unused(test, pair->a);
	KUNIT_EXPECT_LE(test, used(pair->account, HWTIMER_BYTES),
			before + most);

	set_limits(2, 1 << 20, large);
	KUNIT_EXPECT_EQ(test, schedule_periodic(pair->a, &id), 0);
	KUNIT_EXPECT_GT(test, used(pair->account, HWTIMER_BYTES),
			before + more);
	KUNIT_EXPECT_EQ(test, fake_cancel(pair->a, id, 0), 0);
	free_unused(test, pair->a);
	KUNIT_EXPECT_LE(test, used(pair->account, HWTIMER_BYTES),
			before + most);
	fake_check_books(test, pair->a);
	pair_destroy(test, pair);
}

/*
 * A worker is just serving an instance that is closed. A user at the limit can open
 * another one at once, and is charged for the old one's memory until it is freed.
 */
static void a_closed_instance_makes_room_before_it_is_freed(struct kunit *test)
{
	struct hwtimer_instance *closed;
	struct pair *pair;
	u64 before, bytes;

	set_limits(2, LIMIT, BYTES);
	pair = pair_create(test, LIMIT);
	before = used(pair->account, HWTIMER_BYTES);
	closed = pair->a;
	bytes = closed->charged;
	refcount_inc(&closed->users);
	hwtimer_instance_destroy(closed);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_INSTANCES), 1);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_BYTES), before);
	pair->a = fake_create_on(kind_of(test), LIMIT, pair->account);
	KUNIT_ASSERT_NOT_NULL(test, pair->a);
	/* The worker leaves. */
	KUNIT_EXPECT_TRUE(test, refcount_dec_and_test(&closed->users));
	closed->free_work.func(&closed->free_work);
	KUNIT_EXPECT_EQ(test, used(pair->account, HWTIMER_BYTES),
			before - bytes + pair->a->charged);
	pair_destroy(test, pair);
}

/* Not even an instance is created that the user has no memory for. */
static void an_instance_is_memory_too(struct kunit *test)
{
	struct hwtimer_account *account = get_account(test, UID, NULL);

	set_limits(2, LIMIT, hwtimer_supply_base_bytes() - 1);
	KUNIT_EXPECT_NULL(test, fake_create_on(kind_of(test), LIMIT, account));
	KUNIT_EXPECT_EQ(test, used(account, HWTIMER_INSTANCES), 0);
	KUNIT_EXPECT_EQ(test, used(account, HWTIMER_BYTES), 0);
	hwtimer_account_put(account);
}

static struct kunit_case account_test_cases[] = {
	KUNIT_CASE(a_limit_is_exact),
	KUNIT_CASE(huge_requests_do_not_wrap),
	KUNIT_CASE(no_account_has_no_limit),
	KUNIT_CASE(the_creator_is_charged_for_all),
	KUNIT_CASE(accounts_are_found_and_freed),
	KUNIT_CASE(random_charges_are_exact),
	KUNIT_CASE(threads_never_exceed_a_limit),
	KIND_CASE(what_one_gives_up_another_takes),
	KIND_CASE(an_instance_keeps_two_steps_at_most),
	KIND_CASE(a_bulk_takes_what_is_left),
	KIND_CASE(the_limit_of_an_instance_holds_too),
	KIND_CASE(timers_that_end_make_room),
	KIND_CASE(a_rearmed_timer_keeps_its_room),
	KIND_CASE(readers_do_not_wait_for_refused_timers),
	KIND_CASE(memory_is_refused),
	KIND_CASE(the_whole_wheel_is_refused),
	KIND_CASE(chunks_that_are_freed_come_back),
	KIND_CASE(chunks_in_vain_come_back),
	KIND_CASE(a_closed_instance_makes_room_before_it_is_freed),
	KIND_CASE(an_instance_is_memory_too),
	{}
};

static struct kunit_suite account_test_suite = {
	.name = "hwtimer_account",
	.init = account_test_init,
	.exit = account_test_exit,
	.test_cases = account_test_cases,
};

kunit_test_suite(account_test_suite);
