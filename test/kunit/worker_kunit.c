// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of a worker, its tenants and their jobs: jobs of no instance, in a worker of the
 * test. KUnit runs these.
 *
 * The fence is a second job of the same worker. When the worker has served an alarm of
 * the fence, it has served or dropped everything that was due before that alarm.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "comes.h"
#include "worker/worker.h"

/* A job, and what the worker did for it */
struct test_job {
	struct hwtimer_job job;
	struct completion served;
	struct completion entered;
	struct completion released;
	struct completion gone;
	unsigned int turns;
	unsigned int chores;
	u64 at;
	pid_t pid;
	bool left;
};

struct worker_test {
	struct hwtimer_worker *worker;
	struct test_job job;
	struct test_job fence;
	struct test_job busy;
	struct test_job busy_too;
};

static void serve_turn(struct hwtimer_alarm *alarm)
{
	struct test_job *job = container_of(alarm, struct test_job, job.turns);

	job->turns++;
	job->at = ktime_get_ns();
	job->pid = task_pid_nr(current);
	complete(&job->served);
}

static void serve_chores(struct hwtimer_alarm *alarm)
{
	struct test_job *job = container_of(alarm, struct test_job, job.chores);

	job->chores++;
	complete(&job->served);
}

/* Keeps the worker busy until the test lets it go on. */
static void serve_until_released(struct hwtimer_alarm *alarm)
{
	struct test_job *job = container_of(alarm, struct test_job, job.turns);

	complete(&job->entered);
	wait_for_completion(&job->released);
	/* A worker that told too early that it has left would mostly do so before this. */
	msleep(20);
	WRITE_ONCE(job->left, true);
}

/* Waits until the worker has served @job once more; false: it does not come. */
static bool is_served(struct test_job *job)
{
	return comes(&job->served);
}

/* Waits until the worker has begun to serve a busy job; false: it does not come. */
static bool is_entered(struct test_job *job)
{
	return comes(&job->entered);
}

static void note_gone(struct hwtimer_job *job)
{
	complete(&container_of(job, struct test_job, job)->gone);
}

/* Takes a job away from its worker, if it has one, and waits until the worker has left it. */
static void leave(struct test_job *job)
{
	init_completion(&job->gone);
	if (hwtimer_worker_leave(&job->job, note_gone))
		wait_for_completion(&job->gone);
}

/* The same for a job that nobody kicks any more */
static void detach(struct test_job *job)
{
	leave(job);
	hwtimer_tenant_put(job->job.tenant);
	job->job.tenant = NULL;
}

static const struct hwtimer_tenant_id tenant = { KUIDT_INIT(1000), 1 };
static const struct hwtimer_tenant_id other_tenant = { KUIDT_INIT(1000), 2 };
/* A tenant for which the worker has done nothing yet */
static const struct hwtimer_tenant_id fresh_tenant = { KUIDT_INIT(1001), 1 };

/* Prepares a job of the tenant @id. */
static int job_init_for(struct worker_test *priv, struct test_job *job,
			hwtimer_serve_fn *turn,
			const struct hwtimer_tenant_id *id)
{
	struct hwtimer_tenant *owner = hwtimer_tenant_get(priv->worker, id);

	init_completion(&job->served);
	init_completion(&job->entered);
	init_completion(&job->released);
	hwtimer_job_init(&job->job, turn, serve_chores);
	if (!owner)
		return -ENOMEM;
	hwtimer_worker_attach(&job->job, owner);
	return 0;
}

static int job_init(struct worker_test *priv, struct test_job *job,
		    hwtimer_serve_fn *turn)
{
	return job_init_for(priv, job, turn, &tenant);
}

static int worker_test_init(struct kunit *test)
{
	struct worker_test *priv =
		kunit_kzalloc(test, sizeof(*priv), GFP_KERNEL);

	if (!priv)
		return -ENOMEM;
	priv->worker = hwtimer_worker_create(4711, 0);
	if (IS_ERR(priv->worker))
		return PTR_ERR(priv->worker);
	test->priv = priv;
	return job_init(priv, &priv->job, serve_turn)			 ?:
		       job_init(priv, &priv->fence, serve_turn)		 ?:
		       job_init(priv, &priv->busy, serve_until_released) ?:
		       job_init(priv, &priv->busy_too, serve_until_released);
}

static void worker_test_exit(struct kunit *test)
{
	struct worker_test *priv = test->priv;

	if (!priv)
		return;
	detach(&priv->job);
	detach(&priv->fence);
	complete(&priv->busy.released);
	detach(&priv->busy);
	complete(&priv->busy_too.released);
	detach(&priv->busy_too);
	hwtimer_worker_stop(priv->worker);
	hwtimer_worker_free(priv->worker);
}

static void pass_fence(struct kunit *test, u64 time)
{
	struct worker_test *priv = test->priv;

	hwtimer_worker_kick(&priv->fence.job.turns, time);
	KUNIT_ASSERT_TRUE(test, is_served(&priv->fence));
}

/* Each alarm is served by its own function, and only by that. */
static void an_alarm_is_served_by_its_function(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;

	hwtimer_worker_kick(&job->job.turns, 0);
	KUNIT_ASSERT_TRUE(test, is_served(job));
	KUNIT_EXPECT_EQ(test, job->turns, 1);
	KUNIT_EXPECT_EQ(test, job->chores, 0);
	hwtimer_worker_kick(&job->job.chores, 0);
	KUNIT_ASSERT_TRUE(test, is_served(job));
	KUNIT_EXPECT_EQ(test, job->turns, 1);
	KUNIT_EXPECT_EQ(test, job->chores, 1);
}

/* The pid of a job is that of its worker's thread. */
static void a_job_has_the_pid_of_its_thread(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct hwtimer_job free = {};

	hwtimer_job_init(&free, serve_turn, NULL);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_pid(&free, &init_pid_ns), 0);
	hwtimer_worker_kick(&priv->job.job.turns, 0);
	KUNIT_ASSERT_TRUE(test, is_served(&priv->job));
	KUNIT_EXPECT_EQ(test, hwtimer_worker_pid(&priv->job.job, &init_pid_ns),
			priv->job.pid);
}

/* The worker comes for the earliest kick, not before its time, and once. */
static void the_earliest_kick_counts(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;
	u64 now = ktime_get_ns();
	u64 time = now + 20 * NSEC_PER_MSEC;

	hwtimer_worker_kick(&job->job.turns, now + 3600 * NSEC_PER_SEC);
	hwtimer_worker_kick(&job->job.turns, time);
	hwtimer_worker_kick(&job->job.turns, now + 7200 * NSEC_PER_SEC);
	KUNIT_ASSERT_TRUE(test, is_served(job));
	KUNIT_EXPECT_GE(test, job->at, time);
	pass_fence(test, ktime_get_ns());
	KUNIT_EXPECT_EQ(test, job->turns, 1);
}

/* The offset of an alarm is taken off the times that kicks give. */
static void times_are_by_the_alarms_own_clock(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job, *later = &priv->busy;
	s64 hour = 3600 * (s64)NSEC_PER_SEC;
	u64 now = ktime_get_ns();

	job->job.turns.offset = hour;
	later->job.turns.offset = -hour;
	hwtimer_worker_kick(&later->job.turns, now);
	hwtimer_worker_kick(&job->job.turns, now + hour);
	KUNIT_EXPECT_TRUE(test, is_served(job));
	pass_fence(test, ktime_get_ns());
	/* The other one is due in an hour. */
	KUNIT_EXPECT_FALSE(test, completion_done(&later->entered));
}

/* Has the worker serve the busy job, until that is released. */
static void keep_busy(struct kunit *test)
{
	struct worker_test *priv = test->priv;

	hwtimer_worker_kick(&priv->busy.job.turns, 0);
	KUNIT_ASSERT_TRUE(test, is_entered(&priv->busy));
}

/* Alarms are served in the order of their times, not in that of the kicks. */
static void alarms_are_served_in_order(struct kunit *test)
{
	struct worker_test *priv = test->priv;

	keep_busy(test);
	hwtimer_worker_kick(&priv->fence.job.turns, 2);
	hwtimer_worker_kick(&priv->job.job.turns, 1);
	complete(&priv->busy.released);
	KUNIT_ASSERT_TRUE(test, is_served(&priv->fence));
	KUNIT_EXPECT_EQ(test, priv->job.turns, 1);
}

/* A job may be taken away while one of its alarms waits for its turn, because it is due. */
static void a_job_that_is_due_can_be_detached(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct hwtimer_alarm *alarm = &priv->job.job.turns;

	keep_busy(test);
	hwtimer_worker_kick(&priv->busy_too.job.turns, 0);
	hwtimer_worker_kick(alarm, 0);
	complete(&priv->busy.released);
	KUNIT_ASSERT_TRUE(test, is_entered(&priv->busy_too));
	/* The worker has found both due, and serves the other one. */
	KUNIT_EXPECT_TRUE(test, READ_ONCE(alarm->ready));
	leave(&priv->job);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(alarm->ready));
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_NODE(&alarm->node.node));
	complete(&priv->busy_too.released);
	pass_fence(test, 0);
	KUNIT_EXPECT_EQ(test, priv->job.turns, 0);
}

/* The worker does not wake up for a job that was detached while the worker slept. */
static void a_detached_job_wakes_nobody(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;
	u64 wakeup, time;
	bool in_time;

	pass_fence(test, 0);
	wakeup = priv->fence.job.served_at;
	time = ktime_get_ns() + 50 * NSEC_PER_MSEC;
	hwtimer_worker_kick(&job->job.turns, time);
	leave(job);
	in_time = ktime_get_ns() < time;
	msleep(100);
	pass_fence(test, 0);
	if (in_time)
		KUNIT_EXPECT_LE(test, priv->fence.job.served_at, wakeup + 1);
}

/*
 * Nor for one that was detached while the worker was awake. Its alarm was the only one on its
 * clock, and the hrtimer was armed before.
 */
static void a_job_detached_meanwhile_wakes_nobody(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;
	u64 time;

	job->job.turns.clock = HWTIMER_BOOTTIME;
	time = ktime_get_boottime_ns() + 100 * NSEC_PER_MSEC;
	hwtimer_worker_kick(&job->job.turns, time);
	/* Mostly the worker sleeps now. */
	msleep(20);
	keep_busy(test);
	leave(job);
	complete(&priv->busy.released);
	msleep(200);
	pass_fence(test, 0);
	if (!job->turns)
		KUNIT_EXPECT_LE(test, priv->fence.job.served_at,
				priv->busy.job.served_at + 1);
}

/* The worker does not serve a job that was detached, even if it is kicked. */
static void a_detached_job_is_not_served(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;

	hwtimer_worker_kick(&job->job.turns, KTIME_MAX - 1);
	KUNIT_EXPECT_FALSE(test, hwtimer_worker_leave(&job->job, note_gone));
	hwtimer_worker_kick(&job->job.turns, 0);
	hwtimer_worker_kick(&job->job.chores, 0);
	pass_fence(test, 0);
	KUNIT_EXPECT_EQ(test, job->turns + job->chores, 0);
	/* Once more changes nothing. */
	KUNIT_EXPECT_FALSE(test, hwtimer_worker_leave(&job->job, note_gone));
}

/* A wake-up counts for the jobs that were served after it, once for each. */
static void wakeups_are_counted_by_job(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;

	KUNIT_EXPECT_EQ(test, hwtimer_worker_wakeups(&job->job), 0);
	pass_fence(test, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_wakeups(&job->job), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_wakeups(&priv->fence.job), 1);
	hwtimer_worker_kick(&job->job.turns, 0);
	KUNIT_ASSERT_TRUE(test, is_served(job));
	KUNIT_EXPECT_EQ(test, hwtimer_worker_wakeups(&job->job), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_wakeups(&priv->fence.job), 1);
}

/* The worker does not sleep between two alarms that are due: that is one wake-up. */
static void two_alarms_are_one_wakeup(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;

	keep_busy(test);
	hwtimer_worker_kick(&job->job.turns, 0);
	hwtimer_worker_kick(&job->job.chores, 0);
	complete(&priv->busy.released);
	KUNIT_ASSERT_TRUE(test, is_served(job));
	KUNIT_ASSERT_TRUE(test, is_served(job));
	KUNIT_EXPECT_EQ(test, job->turns, 1);
	KUNIT_EXPECT_EQ(test, job->chores, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_wakeups(&job->job), 1);
}

static void note_left(struct hwtimer_job *job)
{
	complete(&container_of(job, struct test_job, job)->served);
}

/* leave does not wait: the worker itself tells that it has left. */
static void a_worker_tells_that_it_has_left(struct kunit *test)
{
	struct worker_test *priv = test->priv;

	KUNIT_EXPECT_FALSE(test,
			   hwtimer_worker_leave(&priv->job.job, note_left));
	KUNIT_EXPECT_FALSE(test, completion_done(&priv->job.served));
	keep_busy(test);
	KUNIT_EXPECT_TRUE(test,
			  hwtimer_worker_leave(&priv->busy.job, note_left));
	KUNIT_EXPECT_FALSE(test, completion_done(&priv->busy.served));
	complete(&priv->busy.released);
	KUNIT_ASSERT_TRUE(test, is_served(&priv->busy));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(priv->busy.left));
}

/* Jobs that are always due, and how many slices of each make the test end */
#define RIVALS 8
#define RIVAL_SLICES 200

struct rival {
	struct test_job job;
	struct rivals *all;
	unsigned int us;

	/* As they were at the end of the RIVAL_SLICES of the second rival */
	unsigned int turns;
	u64 spent;
};

struct rivals {
	struct rival rivals[RIVALS];
	struct test_job late;
	unsigned int slices;
	unsigned int kicked_at;
	unsigned int waited;
	unsigned int row;
};

/* The rivals go on until they are detached, one after the other. */
static void note_shares(struct rivals *all)
{
	unsigned int i;

	for (i = 0; i < RIVALS; i++) {
		all->rivals[i].turns = all->rivals[i].job.turns;
		all->rivals[i].spent = all->rivals[i].job.job.spent;
	}
}

static void serve_rival(struct hwtimer_alarm *alarm)
{
	struct rival *rival = container_of(alarm, struct rival, job.job.turns);
	u64 start = ktime_get_ns();

	udelay(rival->us);
	rival->job.at += ktime_get_ns() - start;
	rival->all->slices++;
	if (++rival->job.turns == RIVAL_SLICES) {
		if (rival == &rival->all->rivals[1])
			note_shares(rival->all);
		complete(&rival->job.served);
	}
	if (rival == &rival->all->rivals[RIVALS / 2] &&
	    rival->job.turns % 10 == 0) {
		rival->all->kicked_at = rival->all->slices;
		hwtimer_worker_kick(&rival->all->late.job.turns, 0);
	}
	hwtimer_worker_kick(alarm, ktime_get_ns());
}

static void serve_late(struct hwtimer_alarm *alarm)
{
	struct rivals *all = container_of(alarm, struct rivals, late.job.turns);

	all->late.turns++;
	all->waited += all->slices - all->kicked_at > RIVALS / 2;
}

/*
 * Has several jobs of a tenant compete for the worker. @us is how long a slice of the first
 * takes. The job @late is one of the tenant @id.
 */
static struct rivals *compete(struct kunit *test, unsigned int us,
			      hwtimer_serve_fn *late,
			      const struct hwtimer_tenant_id *id)
{
	struct worker_test *priv = test->priv;
	struct rivals *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	unsigned int i;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, all);
	keep_busy(test);
	KUNIT_ASSERT_EQ(test, job_init_for(priv, &all->late, late, id), 0);
	for (i = 0; i < RIVALS; i++) {
		all->rivals[i].all = all;
		all->rivals[i].us = i ? 10 : us;
		err = job_init(priv, &all->rivals[i].job, serve_rival);
		KUNIT_ASSERT_EQ(test, err, 0);
		hwtimer_worker_kick(&all->rivals[i].job.job.turns, 0);
	}
	complete(&priv->busy.released);
	return all;
}

/* Is always due from the first kick on, and notes how often it is served in a row. */
static void serve_greedy(struct hwtimer_alarm *alarm)
{
	struct rivals *all = container_of(alarm, struct rivals, late.job.turns);

	udelay(all->rivals[1].us);
	all->row = all->slices == all->kicked_at ? all->row + 1 : 1;
	all->kicked_at = all->slices;
	all->waited = max(all->waited, all->row);
	all->late.turns++;
	hwtimer_worker_kick(alarm, ktime_get_ns());
}

static void end_competition(struct rivals *all)
{
	unsigned int i;

	/* The late job first: it must not be alone. */
	leave(&all->late);
	for (i = 0; i < RIVALS; i++)
		detach(&all->rivals[i].job);
	detach(&all->late);
}

/* The largest number of slices of those rivals whose slices are short */
static unsigned int most_turns(const struct rivals *all)
{
	unsigned int most = 0, i;

	for (i = 1; i < RIVALS; i++)
		most = max(most, all->rivals[i].turns);
	return most;
}

/* A job whose slices take long gets fewer of them. */
static void jobs_share_by_time(struct kunit *test)
{
	struct rivals *all = compete(test, 190, serve_late, &tenant);

	KUNIT_EXPECT_TRUE(test, is_served(&all->rivals[1].job));
	end_competition(all);
	/*
	 * By turns it would be as many. By time it is a tenth, but more on a slow machine,
	 * where all slices take longer. If the machine stands still in the slices of a rival,
	 * that one gets fewer of them, but then it has had its share of time.
	 */
	KUNIT_EXPECT_LT(test, all->rivals[0].turns, most_turns(all) * 3 / 4);
	KUNIT_EXPECT_GT(test, all->rivals[0].turns, 0);
	if (all->rivals[2].turns <= RIVAL_SLICES / 4)
		KUNIT_EXPECT_GE(test, 2 * all->rivals[2].spent,
				all->rivals[1].spent);
	KUNIT_EXPECT_GE(test, all->rivals[0].job.job.spent,
			all->rivals[0].job.at);
}

/* Competitions in one of which the machine does not stand still in the others' slices */
#define COMPETITIONS 8

/* Repeats the competition until the job has had more than three slices, but not for ever */
static struct rivals *long_competition(struct kunit *test,
				       const struct hwtimer_tenant_id *id)
{
	struct rivals *all;
	unsigned int i = 0;

	do {
		all = compete(test, 10, serve_late, id);
		KUNIT_EXPECT_TRUE(test, is_served(&all->rivals[1].job));
		end_competition(all);
	} while (all->late.turns <= 3 && ++i < COMPETITIONS);
	return all;
}

static void served_soon(struct kunit *test, const struct hwtimer_tenant_id *id)
{
	struct rivals *all = long_competition(test, id);

	KUNIT_EXPECT_GT(test, all->late.turns, 3);
	/* More often only if the machine has stood still in its slices. */
	KUNIT_EXPECT_LE(test, all->waited, all->late.turns / 2);
}

/* A job that is rarely due does not wait for a whole round of the others. */
static void a_job_that_is_rarely_due_is_served_soon(struct kunit *test)
{
	served_soon(test, &tenant);
}

/* Neither does a tenant. */
static void a_tenant_that_is_rarely_due_is_served_soon(struct kunit *test)
{
	served_soon(test, &other_tenant);
}

/* Number of slices that a job gets in a row which rested until others had some */
static unsigned int row_after_rest(struct kunit *test)
{
	struct rivals *all = compete(test, 10, serve_greedy, &tenant);

	KUNIT_EXPECT_TRUE(test, is_served(&all->rivals[1].job));
	end_competition(all);
	KUNIT_EXPECT_GT(test, all->late.turns, 3);
	return all->waited;
}

/*
 * A job gets no credit for the time in which it was not due: others come between its slices.
 * With credit, it would have more of them in a row each time.
 */
static void a_job_that_rested_does_not_catch_up(struct kunit *test)
{
	unsigned int i, least = U32_MAX;

	for (i = 0; i < COMPETITIONS && least >= RIVALS; i++)
		least = min(least, row_after_rest(test));
	KUNIT_EXPECT_LT(test, least, RIVALS);
}

/*
 * Has one job of another tenant be always due, too. Returns the number of the slices of the
 * rivals for each ten of that job, until one of them has had RIVAL_SLICES.
 */
static unsigned int slices_of_the_many(struct kunit *test)
{
	struct rivals *all = compete(test, 10, serve_greedy, &other_tenant);
	unsigned int slices;

	hwtimer_worker_kick(&all->late.job.turns, 0);
	KUNIT_EXPECT_TRUE(test, is_served(&all->rivals[1].job));
	slices = 10 * all->slices / max(all->late.turns, 1U);
	end_competition(all);
	return slices;
}

/*
 * A tenant with one job gets as much as one with many. By jobs it would be a part in RIVALS,
 * that is, 80 for ten.
 */
static void tenants_share_by_time(struct kunit *test)
{
	unsigned int i, least = U32_MAX;

	for (i = 0; i < COMPETITIONS && least > 20; i++)
		least = min(least, slices_of_the_many(test));
	KUNIT_EXPECT_LE(test, least, 20);
	KUNIT_EXPECT_GT(test, least, 0);
}

/*
 * Slices of one that stays, and of those that come and go meanwhile. Each visit is worth 40 us
 * to the one that stays, and a slice 10 ms at most, however slow the machine is.
 */
#define TURNS 30
#define VISITS_MAX (2 * VISITORS * TURNS * 10 * 1000 / 40)

/* Those that come and go; all but one of them are there at a time */
#define VISITORS 4

struct visits;

/* A job that is there for one slice. Then its tenant is gone, unless that has other jobs. */
struct visitor {
	struct test_job job;
	struct hwtimer_tenant_id id;
	struct visits *all;
};

struct visits {
	struct worker_test *priv;
	struct visitor visitors[VISITORS];
	struct test_job resident;
	unsigned int begun;
	unsigned int ended;
	unsigned int turns;
	bool failed;
};

static void note_visit_over(struct hwtimer_job *job)
{
	hwtimer_tenant_put(job->tenant);
	job->tenant = NULL;
}

static void serve_visitor(struct hwtimer_alarm *alarm);

/* Has the next visitor come: the worker has left it, or it was not there yet. */
static void begin_visit(struct visits *all)
{
	struct visitor *visitor = &all->visitors[all->begun++ % VISITORS];

	memset(&visitor->job, 0, sizeof(visitor->job));
	if (job_init_for(all->priv, &visitor->job, serve_visitor, &visitor->id))
		all->failed = true;
	else
		hwtimer_worker_kick(&visitor->job.job.turns, 0);
}

/* The next one comes before this one goes, so there are always others that are due. */
static void serve_visitor(struct hwtimer_alarm *alarm)
{
	struct visitor *visitor =
		container_of(alarm, struct visitor, job.job.turns);
	struct visits *all = visitor->all;

	if (all->resident.turns < TURNS && all->begun < VISITS_MAX &&
	    !all->failed)
		begin_visit(all);
	hwtimer_worker_leave(&visitor->job.job, note_visit_over);
	if (++all->ended < all->begun)
		return;
	all->turns = all->resident.turns;
	complete(&all->resident.served);
}

/* Is always due. */
static void serve_resident(struct hwtimer_alarm *alarm)
{
	struct test_job *job = container_of(alarm, struct test_job, job.turns);

	job->turns++;
	hwtimer_worker_kick(alarm, ktime_get_ns());
}

/*
 * Returns the number of slices of a job that is always due while others come and go. @others: each
 * of these is of a tenant of its own; otherwise all are of one tenant.
 */
static unsigned int turns_of_a_resident(struct kunit *test, bool others)
{
	struct worker_test *priv = test->priv;
	struct visits *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, all);
	all->priv = priv;
	keep_busy(test);
	KUNIT_ASSERT_EQ(test,
			job_init_for(priv, &all->resident, serve_resident,
				     &other_tenant),
			0);
	hwtimer_worker_kick(&all->resident.job.turns, 0);
	for (i = 0; i < VISITORS; i++) {
		all->visitors[i].all = all;
		all->visitors[i].id = other_tenant;
		if (others)
			all->visitors[i].id.cgroup += 1 + i;
	}
	for (i = 0; i < VISITORS - 1; i++)
		begin_visit(all);
	complete(&priv->busy.released);
	KUNIT_EXPECT_TRUE(test, is_served(&all->resident));
	KUNIT_EXPECT_FALSE(test, all->failed);
	detach(&all->resident);
	return all->turns;
}

/* Tenants that come and go leave one that stays its share, though each of them is new. */
static void tenants_that_come_and_go_starve_nobody(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, turns_of_a_resident(test, true), TURNS);
}

/* So do jobs of one tenant. */
static void jobs_that_come_and_go_starve_nobody(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, turns_of_a_resident(test, false), TURNS);
}

/* A burst of alarms of one tenant, and what was served of it before another tenant's job */
#define BURST 1000

struct burst {
	struct test_job jobs[BURST];
	struct test_job other;
	unsigned int slices;
	unsigned int before;
};

static struct burst *burst;

static void serve_one_of_many(struct hwtimer_alarm *alarm)
{
	if (++burst->slices == BURST)
		complete(&burst->jobs[0].served);
}

static void serve_other(struct hwtimer_alarm *alarm)
{
	burst->before = burst->slices;
	complete(&burst->other.served);
}

/* The other tenant's alarm is due, and later than all of the burst, before any is served. */
static void a_burst_of_another_tenant_holds_up_nobody(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	unsigned int i;

	burst = kunit_kzalloc(test, sizeof(*burst), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, burst);
	keep_busy(test);
	for (i = 0; i < BURST; i++) {
		KUNIT_ASSERT_EQ(test,
				job_init_for(priv, &burst->jobs[i],
					     serve_one_of_many, &fresh_tenant),
				0);
		hwtimer_worker_kick(&burst->jobs[i].job.turns, 0);
	}
	KUNIT_ASSERT_EQ(test,
			job_init_for(priv, &burst->other, serve_other,
				     &other_tenant),
			0);
	hwtimer_worker_kick(&burst->other.job.turns, 1);
	complete(&priv->busy.released);
	KUNIT_EXPECT_TRUE(test, is_served(&burst->other));
	KUNIT_EXPECT_TRUE(test, is_served(&burst->jobs[0]));
	/* By the times of the alarms, it would be all of them. */
	KUNIT_EXPECT_LE(test, burst->before, 20);
	detach(&burst->other);
	for (i = 0; i < BURST; i++)
		detach(&burst->jobs[i]);
}

/* A tenant is found again as long as anybody has a reference, and keeps what it has spent. */
static void a_tenant_is_one_for_all_its_jobs(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct hwtimer_tenant *own = priv->job.job.tenant, *same, *other;
	u64 spent;

	same = hwtimer_tenant_get(priv->worker, &tenant);
	KUNIT_EXPECT_PTR_EQ(test, same, own);
	other = hwtimer_tenant_get(priv->worker, &other_tenant);
	KUNIT_EXPECT_PTR_NE(test, other, own);
	KUNIT_ASSERT_NOT_NULL(test, other);
	keep_busy(test);
	complete(&priv->busy.released);
	detach(&priv->busy);
	/* It has slept for more. */
	spent = hwtimer_tenant_spent(own);
	KUNIT_EXPECT_GE(test, spent, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, hwtimer_tenant_spent(other), 0);
	hwtimer_tenant_put(other);
	hwtimer_tenant_put(same);
}

/* Each user has a tenant for each cgroup, whichever bits of the two differ. */
static void tenants_are_told_apart(struct kunit *test)
{
	static const struct hwtimer_tenant_id ids[] = {
		{ KUIDT_INIT(1), 2 },
		{ KUIDT_INIT(2), 1 },
		{ KUIDT_INIT(1), 2 + BIT_ULL(32) },
		{ KUIDT_INIT(1), 2 + BIT_ULL(63) },
		{ KUIDT_INIT(1 + BIT(31)), 2 },
		{ KUIDT_INIT(2), 2 },
		{ KUIDT_INIT(1), 1 },
	};
	struct hwtimer_tenant *all[ARRAY_SIZE(ids)], *same;
	struct worker_test *priv = test->priv;
	unsigned int i, other;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		all[i] = hwtimer_tenant_get(priv->worker, &ids[i]);
		KUNIT_ASSERT_NOT_NULL(test, all[i]);
		for (other = 0; other < i; other++)
			KUNIT_EXPECT_PTR_NE(test, all[i], all[other]);
	}
	/* The tree loses no other one with the one that goes. */
	hwtimer_tenant_put(all[0]);
	for (i = 1; i < ARRAY_SIZE(ids); i++) {
		same = hwtimer_tenant_get(priv->worker, &ids[i]);
		KUNIT_EXPECT_PTR_EQ(test, same, all[i]);
		hwtimer_tenant_put(same);
		hwtimer_tenant_put(all[i]);
	}
}

/* One that the worker has found due may go when its job was taken away. */
static void a_tenant_that_was_due_can_go(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *job = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);
	struct test_job *first = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, job);
	KUNIT_ASSERT_NOT_NULL(test, first);
	keep_busy(test);
	KUNIT_ASSERT_EQ(test,
			job_init_for(priv, first, serve_until_released,
				     &fresh_tenant),
			0);
	KUNIT_ASSERT_EQ(test,
			job_init_for(priv, job, serve_turn, &other_tenant), 0);
	hwtimer_worker_kick(&first->job.turns, 0);
	hwtimer_worker_kick(&job->job.turns, 1);
	complete(&priv->busy.released);
	KUNIT_ASSERT_TRUE(test, is_entered(first));
	detach(job);
	complete(&first->released);
	detach(first);
	pass_fence(test, 0);
	KUNIT_EXPECT_EQ(test, job->turns, 0);
}

/* Number of tenants; not more than the worker finds due at a time */
#define TENANTS 12

/*
 * Prepares a job of each of several tenants. Has the worker find all tenants due, and serve
 * the first one until it is released.
 */
static struct test_job *find_due(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct test_job *jobs =
		kunit_kcalloc(test, TENANTS, sizeof(*jobs), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, jobs);
	keep_busy(test);
	for (i = 0; i < TENANTS; i++) {
		struct hwtimer_tenant_id id = { KUIDT_INIT(2000 + i), 1 };
		hwtimer_serve_fn *turn = i ? serve_turn : serve_until_released;

		KUNIT_ASSERT_EQ(test, job_init_for(priv, &jobs[i], turn, &id),
				0);
		hwtimer_worker_kick(&jobs[i].job.turns, i);
	}
	complete(&priv->busy.released);
	KUNIT_ASSERT_TRUE(test, is_entered(&jobs[0]));
	return jobs;
}

/*
 * The worker skips tenants that have nothing due any more. It does not sleep before it has
 * come to a tenant behind them that has. Those that were skipped are served when they are due
 * again.
 */
static void tenants_with_nothing_due_are_skipped(struct kunit *test)
{
	struct test_job *jobs = find_due(test), *last = &jobs[TENANTS - 1];
	struct test_job *others =
		kunit_kcalloc(test, TENANTS, sizeof(*others), GFP_KERNEL);
	u64 later = ktime_get_ns() + 50 * NSEC_PER_MSEC;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, others);
	for (i = 1; i < TENANTS - 1; i++) {
		struct hwtimer_tenant_id id = { KUIDT_INIT(2000 + i), 1 };

		KUNIT_ASSERT_EQ(test,
				job_init_for(test->priv, &others[i], serve_turn,
					     &id),
				0);
		leave(&jobs[i]);
		hwtimer_worker_kick(&others[i].job.turns, later);
	}
	complete(&jobs[0].released);
	KUNIT_EXPECT_TRUE(test, is_served(last));
	KUNIT_EXPECT_EQ(test, last->job.served_at, jobs[0].job.served_at);
	for (i = 1; i < TENANTS - 1 && is_served(&others[i]); i++) {
		KUNIT_EXPECT_GE(test, others[i].at, later);
		KUNIT_EXPECT_EQ(test, others[i].turns, 1);
		KUNIT_EXPECT_EQ(test, jobs[i].turns, 0);
		detach(&others[i]);
	}
	KUNIT_EXPECT_EQ(test, i, TENANTS - 1);
	for (i = 0; i < TENANTS; i++)
		detach(&jobs[i]);
}

/* Kicks its alarm again at once, so that the worker never sleeps. */
static void serve_on(struct hwtimer_alarm *alarm)
{
	struct test_job *job = container_of(alarm, struct test_job, job.turns);

	complete(&job->entered);
	hwtimer_worker_kick(alarm, ktime_get_ns());
}

/* The end of a grace period */
struct grace {
	struct rcu_head rcu;
	struct completion over;
};

static void grace_over(struct rcu_head *rcu)
{
	complete_all(&container_of(rcu, struct grace, rcu)->over);
}

/*
 * A tenant can keep a worker busy for as long as it likes. That must not hold up those who
 * wait until each task has slept or said that it could: ftrace, kprobes and BPF.
 */
static void a_busy_worker_holds_up_no_tracer(struct kunit *test)
{
	struct grace *grace = kunit_kzalloc(test, sizeof(*grace), GFP_KERNEL);
	struct worker_test *priv = test->priv;
	struct test_job *job = &priv->job;

	KUNIT_ASSERT_NOT_NULL(test, grace);
	init_completion(&grace->over);
	job->job.turns.serve = serve_on;
	hwtimer_worker_kick(&job->job.turns, 0);
	KUNIT_ASSERT_TRUE(test, is_entered(job));
	call_rcu_tasks(&grace->rcu, grace_over);
	KUNIT_EXPECT_TRUE(test, comes(&grace->over));
	/* Now it ends in any case. */
	detach(job);
	wait_for_completion(&grace->over);
}

static void the_time_of_a_worker_is_counted(struct kunit *test)
{
	struct worker_test *priv = test->priv;
	struct hwtimer_job *job = &priv->busy.job;
	struct hwtimer_job free = {};

	hwtimer_job_init(&free, serve_turn, NULL);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_spent(&free), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_worker_spent(job), 0);
	keep_busy(test);
	complete(&priv->busy.released);
	pass_fence(test, 0);
	/* It has slept for more. */
	KUNIT_EXPECT_GE(test, hwtimer_worker_spent(job), NSEC_PER_MSEC);
}

static struct kunit_case worker_test_cases[] = {
	KUNIT_CASE(an_alarm_is_served_by_its_function),
	KUNIT_CASE(a_job_has_the_pid_of_its_thread),
	KUNIT_CASE(the_earliest_kick_counts),
	KUNIT_CASE(times_are_by_the_alarms_own_clock),
	KUNIT_CASE(alarms_are_served_in_order),
	KUNIT_CASE(a_job_that_is_due_can_be_detached),
	KUNIT_CASE(a_detached_job_wakes_nobody),
	KUNIT_CASE(a_job_detached_meanwhile_wakes_nobody),
	KUNIT_CASE(a_detached_job_is_not_served),
	KUNIT_CASE(wakeups_are_counted_by_job),
	KUNIT_CASE(two_alarms_are_one_wakeup),
	KUNIT_CASE(a_worker_tells_that_it_has_left),
	KUNIT_CASE(jobs_share_by_time),
	KUNIT_CASE(a_job_that_is_rarely_due_is_served_soon),
	KUNIT_CASE(a_tenant_that_is_rarely_due_is_served_soon),
	KUNIT_CASE(a_job_that_rested_does_not_catch_up),
	KUNIT_CASE(tenants_share_by_time),
	KUNIT_CASE(tenants_that_come_and_go_starve_nobody),
	KUNIT_CASE(jobs_that_come_and_go_starve_nobody),
	KUNIT_CASE(a_burst_of_another_tenant_holds_up_nobody),
	KUNIT_CASE(a_tenant_is_one_for_all_its_jobs),
	KUNIT_CASE(tenants_are_told_apart),
	KUNIT_CASE(a_tenant_that_was_due_can_go),
	KUNIT_CASE(tenants_with_nothing_due_are_skipped),
	KUNIT_CASE(a_busy_worker_holds_up_no_tracer),
	KUNIT_CASE(the_time_of_a_worker_is_counted),
	{}
};

static struct kunit_suite worker_test_suite = {
	.name = "hwtimer_worker",
	.init = worker_test_init,
	.exit = worker_test_exit,
	.test_cases = worker_test_cases,
};

kunit_test_suite(worker_test_suite);
