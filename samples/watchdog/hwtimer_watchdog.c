// SPDX-License-Identifier: GPL-2.0
/*
 * A sample to be copied: a module that schedules timers with hwtimer.
 *
 * A heart beats a few times, and each beat feeds a watchdog. Once the heart has stopped
 * and the dog has not been fed for a while, the dog bites. The heart's callback is short,
 * and runs in hwtimer's worker. The dog's callback takes longer, and runs on the module's
 * own workqueue.
 *
 * The module writes to the kernel's log what happened, and refuses to load if the number
 * of beats or the time of the bite is wrong. So loading lasts until the dog has bitten.
 *
 * Kbuild says how to build the module. Documentation/kernel-clients.md explains it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include <linux/hwtimer_client.h>

/* Maximum time to wait for the bite, jiffies */
#define PATIENCE (60 * HZ)

#define BEAT_INTERVAL (20 * NSEC_PER_MSEC)

static unsigned int beats = 5;
module_param(beats, uint, 0444);
MODULE_PARM_DESC(beats, "Number of heartbeats, at least 1");

static unsigned int timeout_ms = 200;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "Time without food after which the dog bites");

/**
 * struct watchdog - a heart and a dog
 * @heart: client whose callbacks run in the worker
 * @dog: client whose callbacks run on @queue
 * @queue: the module's own workqueue
 * @pulse: id of the periodic timer of @heart
 * @bite: id of the timer of @dog that every beat postpones
 * @beaten: number of beats so far
 * @fed: time when the dog was last fed, ns
 * @early: whether the dog has bitten too early
 * @bitten: completed when the dog has bitten
 */
struct watchdog {
	struct hwtimer_client *heart;
	struct hwtimer_client *dog;
	struct workqueue_struct *queue;
	u64 pulse;
	u64 bite;
	unsigned int beaten;
	u64 fed;
	bool early;
	struct completion bitten;
};

static struct watchdog watchdog;

static u64 timeout(void)
{
	return timeout_ms * (u64)NSEC_PER_MSEC;
}

/* Runs in the worker, so it is short and does not wait. */
static void heart_beats(struct hwtimer_client *heart,
			const struct hwtimer_event *event)
{
	struct watchdog *watchdog = hwtimer_client_private(heart);
	u64 now = ktime_get_ns();

	/* If the callback is late, one event stands for several beats. */
	watchdog->beaten += event->expirations;
	/* This fails if the dog has bitten by now: its timer has ended. */
	if (!hwtimer_client_reschedule(watchdog->dog, watchdog->bite, timeout(),
				       0))
		WRITE_ONCE(watchdog->fed, now);
}

/* Runs on our workqueue, so it may sleep; it delays only the dog's own timers. */
static void dog_bites(struct hwtimer_client *dog,
		      const struct hwtimer_event *event)
{
	struct watchdog *watchdog = hwtimer_client_private(dog);
	u64 hunger = ktime_get_ns() - READ_ONCE(watchdog->fed);

	msleep(20);
	watchdog->early = hunger < timeout();
	pr_info("the dog bites, %llu ms after it was fed\n",
		hunger / NSEC_PER_MSEC);
	complete(&watchdog->bitten);
}

static struct hwtimer_client *heart_create(struct watchdog *watchdog)
{
	const struct hwtimer_client_options options = {
		.expire = heart_beats,
		.private = watchdog,
	};

	return hwtimer_client_create(&options);
}

static struct hwtimer_client *dog_create(struct watchdog *watchdog)
{
	const struct hwtimer_client_options options = {
		.expire = dog_bites,
		.private = watchdog,
		.workqueue = watchdog->queue,
	};

	return hwtimer_client_create(&options);
}

/* Schedules the dog's timers first, because the heart's callback needs them. */
static int watchdog_schedule(struct watchdog *watchdog)
{
	struct hwtimer_request bite = { .time = timeout() };
	struct hwtimer_request never = { .time = 3600 * NSEC_PER_SEC };
	struct hwtimer_request pulse = { .time = BEAT_INTERVAL,
					 .interval = BEAT_INTERVAL,
					 .count = beats };
	int err;

	watchdog->fed = ktime_get_ns();
	err = hwtimer_client_schedule(watchdog->dog, &bite) ?:
		      hwtimer_client_schedule(watchdog->dog, &never);
	if (err)
		return err;
	watchdog->bite = bite.id;
	err = hwtimer_client_schedule(watchdog->heart, &pulse);
	watchdog->pulse = pulse.id;
	return err;
}

/* Waits for the bite, and checks the number of beats and the time of the bite. */
static int watchdog_check(struct watchdog *watchdog)
{
	bool all;

	if (!wait_for_completion_timeout(&watchdog->bitten, PATIENCE)) {
		pr_err("the dog has not bitten\n");
		return -ETIMEDOUT;
	}
	/* On a slow machine the heart may still beat; then fewer beats are right. */
	all = hwtimer_client_cancel_sync(watchdog->heart, watchdog->pulse) ==
	      -ENOENT;
	if (watchdog->early || (all && watchdog->beaten != beats)) {
		pr_err("%u beats of %u, bitten%s\n", watchdog->beaten, beats,
		       watchdog->early ? " too early" : "");
		return -EIO;
	}
	pr_info("%u beats and a bite: all is well\n", watchdog->beaten);
	return 0;
}

static void dog_lost(struct hwtimer_client *dog,
		     const struct hwtimer_unprocessed *timer)
{
	pr_info("a timer was not processed, with %llu s left\n",
		timer->remaining / NSEC_PER_SEC);
}

/* Ends the clients; watchdog_begin() may have created only some of them. */
static void watchdog_end(struct watchdog *watchdog)
{
	/* The heart's callback uses the dog, and the dog's callback runs on the queue. */
	hwtimer_client_destroy(watchdog->heart);
	if (!IS_ERR_OR_NULL(watchdog->dog))
		hwtimer_client_stop(watchdog->dog, dog_lost);
	hwtimer_client_destroy(watchdog->dog);
	if (watchdog->queue)
		destroy_workqueue(watchdog->queue);
}

static int watchdog_begin(struct watchdog *watchdog)
{
	init_completion(&watchdog->bitten);
	watchdog->queue = alloc_workqueue("hwtimer_watchdog", WQ_UNBOUND, 0);
	if (!watchdog->queue)
		return -ENOMEM;
	watchdog->dog = dog_create(watchdog);
	if (IS_ERR(watchdog->dog))
		return PTR_ERR(watchdog->dog);
	watchdog->heart = heart_create(watchdog);
	if (IS_ERR(watchdog->heart))
		return PTR_ERR(watchdog->heart);
	return watchdog_schedule(watchdog) ?: watchdog_check(watchdog);
}

static int __init watchdog_init(void)
{
	int err = beats ? watchdog_begin(&watchdog) : -EINVAL;

	if (err)
		watchdog_end(&watchdog);
	return err;
}

static void __exit watchdog_exit(void)
{
	watchdog_end(&watchdog);
}

module_init(watchdog_init);
module_exit(watchdog_exit);

MODULE_DESCRIPTION("Sample of a kernel client of hwtimer: a watchdog");
MODULE_AUTHOR("The hwtimer developers");
MODULE_LICENSE("GPL");
