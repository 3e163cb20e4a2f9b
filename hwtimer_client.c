// SPDX-License-Identifier: GPL-2.0
/*
 * Gives other modules timers: each client owns an instance, whose events are delivered by
 * callbacks. Other modules call the exported functions; see <linux/hwtimer_client.h>.
 *
 * A client is the consumer of its instance. hwtimer_notice_wake() calls client_wake(),
 * which queues the client's work item. For a client without a workqueue, it kicks the
 * alarm job.chores instead, and the worker calls client_chore().
 *
 * So callbacks run in the worker or in a work item. Both handle events as read() does,
 * but one at a time. They hold instance->harvest from before they take an event until the
 * callback has returned and the event is finished. Therefore
 *
 *   a record in state HWTIMER_LEAVING is one whose callback runs, or is about to run;
 *   a thread that finds such a record, and then takes the mutex, knows that this callback
 *   has returned;
 *   a thread that stops the instance, and then takes the mutex, knows that no further
 *   callback will start.
 *
 * One event is taken at a time, so that all other timers can still be cancelled. After
 * HWTIMER_CLIENT_SLICE callbacks, the next slice is queued behind other work that waits
 * for the worker or the workqueue.
 *
 * Each client has its own lockdep classes, for the mutex and for the work item. So
 * lockdep reports a thread that waits for a callback and holds a lock that the callback
 * takes, but lets a callback of one client wait for a callback of another.
 */
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <linux/hwtimer_client.h>

#include "hwtimer.h"
#include "hwtimer_instance.h"
#include "hwtimer_owner.h"
#include "hwtimer_request.h"
#include "hwtimer_stats.h"

/* Maximum number of callbacks per slice */
#define HWTIMER_CLIENT_SLICE 32

/**
 * struct hwtimer_client - an instance that belongs to another module
 * @instance: the instance; constant
 * @options: the options of hwtimer_client_create(); constant
 * @consumer: functions that the instance calls; constant
 * @work: work item that calls callbacks on options.workqueue
 * @caller: task that runs a function of the client: options.expire, or the one passed to
 *	hwtimer_client_stop(); NULL: none. Written with the instance's harvest held. Read
 *	without a lock, but only to compare it with the current task
 * @called: id of the timer that the function is called for; written with the instance's
 *	harvest held, read by @caller only
 * @harvest_key: lockdep's class of the instance's harvest
 * @work_key: lockdep's class of @work
 */
struct hwtimer_client {
	struct hwtimer_instance *instance;
	struct hwtimer_client_options options;
	struct hwtimer_consumer consumer;
	struct work_struct work;
	struct task_struct *caller;
	u64 called;
	struct lock_class_key harvest_key;
	struct lock_class_key work_key;
};

static_assert((int)HWTIMER_CLIENT_MONOTONIC == (int)HWTIMER_MONOTONIC);
static_assert((int)HWTIMER_CLIENT_BOOTTIME == (int)HWTIMER_BOOTTIME);
static_assert((int)HWTIMER_CLIENT_REALTIME == (int)HWTIMER_REALTIME);

/* Whether the current task runs a function of the client, see @caller. */
static bool client_calls_us(const struct hwtimer_client *client)
{
	return READ_ONCE(client->caller) == current;
}

/* Notes that the current task is about to call a function of the client for timer @id. */
static void client_enter(struct hwtimer_client *client, u64 id)
{
	lockdep_assert_held(&client->instance->harvest);
	client->called = id;
	WRITE_ONCE(client->caller, current);
}

/* Notes that the function has returned. */
static void client_leave(struct hwtimer_client *client)
{
	lockdep_assert_held(&client->instance->harvest);
	WRITE_ONCE(client->caller, NULL);
}

/* ---- callbacks ---- */

/*
 * Takes the first event for a callback; returns whether one was taken. Before that, frees
 * up to HWTIMER_HOLD discarded events in front, and adds their number to @discarded.
 */
static bool client_take(struct hwtimer_client *client, u32 *discarded)
{
	struct hwtimer_instance *instance = client->instance;
	u64 now;

	/* The thread that stopped the client waits for this slice, so end it. */
	if (READ_ONCE(instance->stopped))
		return false;
	*discarded += hwtimer_harvest_discarded(instance);
	return hwtimer_harvest_take(instance, 1, &now);
}

/* Delivers the first event by a callback. Parameters and result as client_take(). */
static bool client_call(struct hwtimer_client *client, u32 *discarded)
{
	struct hwtimer_instance *instance = client->instance;
	const struct hwtimer_event *event = instance->leaving.page;
	bool taken;

	mutex_lock(&instance->harvest);
	taken = client_take(client, discarded);
	if (taken) {
		client_enter(client, event->id);
		client->options.expire(client, event);
		client_leave(client);
		hwtimer_harvest_finish(instance, 1, 1,
				       hwtimer_instance_now(instance));
	}
	mutex_unlock(&instance->harvest);
	return taken;
}

/* Queues a slice of callbacks, in the worker or the work item. Does not sleep. */
static void client_kick(struct hwtimer_client *client)
{
	struct hwtimer_instance *instance = client->instance;

	/*
	 * A stop wakes readers, and so does the end of the last event after it. But a
	 * stopped client calls no callbacks.
	 */
	if (READ_ONCE(instance->stopped))
		return;
	if (client->options.workqueue)
		queue_work(client->options.workqueue, &client->work);
	else
		/*
		 * The present time has the worker do it after this slice. The
		 * instance's lock is not needed: an unnecessary kick does no harm, and no
		 * kick is served once the job is detached.
		 */
		hwtimer_worker_kick(&instance->job.chores, ktime_get_ns());
}

/* One slice: calls callbacks, and kicks the next slice if events are left. */
static void client_serve(struct hwtimer_client *client)
{
	const struct hwtimer_instance *instance = client->instance;
	unsigned int left = HWTIMER_CLIENT_SLICE;
	u32 discarded = 0;

	while (left-- && discarded < HWTIMER_HOLD &&
	       client_call(client, &discarded))
		cond_resched();
	if (READ_ONCE(instance->stats.ready))
		client_kick(client);
}

static void client_work(struct work_struct *work)
{
	client_serve(container_of(work, struct hwtimer_client, work));
}

/* Called by the worker in each slice of chores, even if it is due for another reason. */
static void client_chore(struct hwtimer_consumer *consumer)
{
	struct hwtimer_client *client =
		container_of(consumer, struct hwtimer_client, consumer);

	if (!client->options.workqueue)
		client_serve(client);
}

/* Called when the instance wakes its readers. */
static void client_wake(struct hwtimer_consumer *consumer)
{
	client_kick(container_of(consumer, struct hwtimer_client, consumer));
}

/* ---- creating and ending a client ---- */

static int client_settings(const struct hwtimer_client_options *options,
			   struct hwtimer_settings *settings)
{
	struct hwtimer_setup setup = {
		.tick = options->tick,
		.timers = options->timers,
		.buckets = options->buckets,
		.kind = options->kind,
	};

	if (!options->expire || (u32)options->clock >= HWTIMER_CLOCKS)
		return -EINVAL;
	setup.clock = hwtimer_clocks[options->clock].number;
	return hwtimer_settings_choose(settings, &setup);
}

static void client_init_work(struct hwtimer_client *client)
{
	INIT_WORK(&client->work, client_work);
#ifdef CONFIG_LOCKDEP
	lockdep_init_map(&client->work.lockdep_map, "hwtimer_client_work",
			 &client->work_key, 0);
#endif
}

static void client_register_keys(struct hwtimer_client *client)
{
	lockdep_register_key(&client->harvest_key);
	lockdep_register_key(&client->work_key);
	lockdep_set_class_and_name(&client->instance->harvest,
				   &client->harvest_key, "hwtimer_client");
}

/* Frees a client that no thread uses. A work item still queued would have no effect. */
static void client_free(struct hwtimer_client *client)
{
	cancel_work_sync(&client->work);
	hwtimer_instance_destroy(client->instance);
	lockdep_unregister_key(&client->harvest_key);
	lockdep_unregister_key(&client->work_key);
	kfree(client);
}

/* Returns a client whose instance has the default settings, or NULL. */
static struct hwtimer_client *
client_alloc(const struct hwtimer_client_options *options, u32 timers)
{
	struct hwtimer_client *client = kzalloc(sizeof(*client), GFP_KERNEL);

	if (!client)
		return NULL;
	client->instance = hwtimer_instance_create(timers, NULL);
	if (!client->instance) {
		kfree(client);
		return NULL;
	}
	client->options = *options;
	client_register_keys(client);
	client_init_work(client);
	client->consumer = (struct hwtimer_consumer){ .wake = client_wake,
						      .chore = client_chore };
	client->instance->consumer = &client->consumer;
	return client;
}

/**
 * hwtimer_client_create - create a client, with its wheel
 * @options: the options; copied, so they may be freed afterwards
 *
 * The limits of instances and of users are for programs only; clients do not count.
 *
 * Return: the client, or ERR_PTR(): -EINVAL (an option is out of range or unknown, or
 * there is no callback), -ENOMEM; for the first client also -EAGAIN (the machine has too
 * many threads) and -EINTR (the caller is being killed). May sleep.
 */
struct hwtimer_client *
hwtimer_client_create(const struct hwtimer_client_options *options)
{
	struct hwtimer_settings settings;
	struct hwtimer_client *client;
	int err = client_settings(options, &settings);

	might_sleep();
	if (err)
		return ERR_PTR(err);
	client = client_alloc(options, settings.timers);
	if (!client)
		return ERR_PTR(-ENOMEM);
	err = hwtimer_owner_employ(&client->instance->job, HWTIMER_DUTY_KERNEL) ?:
		      hwtimer_settings_set(client->instance, &settings) ?:
		      hwtimer_supply_start(client->instance);
	if (err) {
		client_free(client);
		return ERR_PTR(err);
	}
	return client;
}
EXPORT_SYMBOL_GPL(hwtimer_client_create);

/*
 * Stops the instance, and waits until no callback runs. Afterwards no callback begins,
 * see client_kick(). So neither the worker nor the workqueue waits for the mutex harvest
 * while timers are handed back.
 */
static void client_quiesce(struct hwtimer_client *client)
{
	struct hwtimer_instance *instance = client->instance;

	/* Lockdep does not see that hwtimer_worker_detach() may wait for a callback. */
	might_lock(&instance->harvest);
	hwtimer_instance_stop(instance);
	hwtimer_worker_detach(&instance->job);
	cancel_work_sync(&client->work);
}

/* Hands the timer in instance->leaving.page back to the client. */
static void client_return(struct hwtimer_client *client,
			  hwtimer_return_fn unprocessed)
{
	const struct hwtimer_unprocessed *timer =
		client->instance->leaving.page;

	client_enter(client, timer->id);
	unprocessed(client, timer);
	client_leave(client);
}

/*
 * Hands all timers back to the client, expired ones first; returns their number. Takes
 * one timer at a time, because @unprocessed may cancel any other timer, and free the
 * memory to which the user_data of that timer points.
 */
static u32 client_hand_back(struct hwtimer_client *client,
			    hwtimer_return_fn unprocessed)
{
	struct hwtimer_instance *instance = client->instance;
	u32 taken, count = 0;
	bool more;

	lockdep_assert_held(&instance->harvest);
	do {
		taken = hwtimer_harvest_take_expired(instance, &more);
		if (taken) {
			client_return(client, unprocessed);
			hwtimer_harvest_finish_expired(instance);
		}
		count += taken;
		cond_resched();
	} while (more);
	do {
		taken = hwtimer_harvest_take_pending(instance, 1, &more);
		if (taken)
			client_return(client, unprocessed);
		hwtimer_harvest_finish_pending(instance, taken, taken);
		count += taken;
		cond_resched();
	} while (more);
	return count;
}

/**
 * hwtimer_client_stop - stop a client, wait for its callback, and get its timers back
 * @client: the client; may be stopped already
 * @unprocessed: function to call for each timer whose callback has not begun, and each
 *	periodic timer that has not ended; NULL: no timer is handed back yet
 *
 * No timer can be scheduled any more. Before the function hands timers back, it waits
 * until no callback runs; then no further callback begins. Each timer is handed back
 * once, even if several calls hand timers back. If @unprocessed is not NULL, the client
 * has no timers afterwards.
 *
 * Return: the number of timers handed back; -EDEADLK: a function of this client called
 * this, and nothing has changed. May sleep; takes the mutex harvest, and holds it while
 * @unprocessed runs.
 */
int hwtimer_client_stop(struct hwtimer_client *client,
			hwtimer_return_fn unprocessed)
{
	struct hwtimer_instance *instance = client->instance;
	int count;

	might_sleep();
	if (client_calls_us(client))
		return -EDEADLK;
	client_quiesce(client);
	if (!unprocessed)
		return 0;
	mutex_lock(&instance->harvest);
	count = client_hand_back(client, unprocessed);
	mutex_unlock(&instance->harvest);
	return count;
}
EXPORT_SYMBOL_GPL(hwtimer_client_stop);

/**
 * hwtimer_client_destroy - free a client and all its timers
 * @client: the client, which no other thread but its callbacks uses now or later. With
 *	NULL or an ERR_PTR() nothing happens
 *
 * Stops the client, and waits for a running callback. Timers that were not processed are
 * dropped; to get them back, call hwtimer_client_stop() first.
 *
 * A module has to call this before it is unloaded: in its exit function, and in its init
 * function if that fails. Before the call, the module must end everything that may use
 * the client, except for callbacks: this function waits for those. After the call, the
 * module may destroy the workqueue.
 *
 * Return: 0; -EDEADLK: a function of this client called this, and nothing has changed.
 * May sleep.
 */
int hwtimer_client_destroy(struct hwtimer_client *client)
{
	int err;

	if (IS_ERR_OR_NULL(client))
		return 0;
	err = hwtimer_client_stop(client, NULL);
	if (err)
		return err;
	client_free(client);
	return 0;
}
EXPORT_SYMBOL_GPL(hwtimer_client_destroy);

/* ---- timers ---- */

static int client_run(struct hwtimer_client *client,
		      struct hwtimer_request *request)
{
	might_sleep();
	hwtimer_request_run_one(client->instance, request);
	return request->result;
}

/**
 * hwtimer_client_schedule - schedule a new timer
 * @client: the client
 * @request: as for HWTIMER_IOC_SCHEDULE. In: time, user_data and, if wanted, flags,
 *	interval, slack and count; everything else 0. Out: id and result
 *
 * The callback may begin before this function returns. With HWTIMER_FIXED_DELAY, the
 * interval counts from the return of the callback.
 *
 * Return: 0; -EINVAL, -ERANGE, -EDOM, -ENOSPC or -ENOMEM, as struct hwtimer_request says;
 * -ENOMEM also if memory has to be allocated while the calling task is being killed;
 * -ESHUTDOWN: the client is stopped. May sleep to wait for memory, even in a callback.
 */
int hwtimer_client_schedule(struct hwtimer_client *client,
			    struct hwtimer_request *request)
{
	if (request->op != HWTIMER_OP_NONE &&
	    request->op != HWTIMER_OP_SCHEDULE)
		return -EINVAL;
	request->op = HWTIMER_OP_SCHEDULE;
	return client_run(client, request);
}
EXPORT_SYMBOL_GPL(hwtimer_client_schedule);

/**
 * hwtimer_client_reschedule - give a pending timer another deadline
 * @client: the client
 * @id: id of the timer, any number; the timer keeps it
 * @time: delay or deadline, ns, as in struct hwtimer_request
 * @flags: HWTIMER_ABSOLUTE or 0
 *
 * Return: 0; -EALREADY: the timer has expired, and its callback runs or will run;
 * -ENOENT: the client has no such timer; -EINVAL; -ENOMEM; -ESHUTDOWN: the client is
 * stopped. After an error the timer has not changed. May sleep.
 */
int hwtimer_client_reschedule(struct hwtimer_client *client, u64 id, u64 time,
			      u32 flags)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_RESCHEDULE,
		.flags = flags,
		.id = id,
		.time = time,
	};

	/* HWTIMER_REARM may make a timer with another id, which the caller would never learn. */
	if (flags & ~HWTIMER_ABSOLUTE)
		return -EINVAL;
	return client_run(client, &request);
}
EXPORT_SYMBOL_GPL(hwtimer_client_reschedule);

/**
 * hwtimer_client_cancel - cancel a timer
 * @client: the client
 * @id: id of the timer; any number
 *
 * Return: 0: the timer's callback is not running, and will not run (again); -EALREADY:
 * the callback is running or about to run, for the last time, or hwtimer_client_stop() is
 * handing the timer back; -ENOENT: the client has no such timer: its last callback has
 * returned, or it was cancelled or handed back. May sleep.
 */
int hwtimer_client_cancel(struct hwtimer_client *client, u64 id)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_CANCEL,
		/* Cancels an expired timer that waits for its callback, too. */
		.flags = HWTIMER_DISCARD,
		.id = id,
	};

	return client_run(client, &request);
}
EXPORT_SYMBOL_GPL(hwtimer_client_cancel);

/**
 * hwtimer_client_cancel_sync - cancel a timer, and wait for its callback
 * @client: the client
 * @id: id of the timer; any number
 *
 * Afterwards the callback is not running for this timer and will not run, so memory that
 * the callback uses may be freed. Waits only if the callback is running or about to run,
 * or if the timer is being handed back. A callback of another timer of this client may
 * call this and does not wait: a client's callbacks never run at the same time.
 *
 * Return: as hwtimer_client_cancel(), where -EALREADY means that this function has
 * waited; -EDEADLK: called from the callback of this very timer, or from the function to
 * which hwtimer_client_stop() is handing the timer back, and nothing has changed. May
 * sleep; takes the mutex harvest to wait.
 */
int hwtimer_client_cancel_sync(struct hwtimer_client *client, u64 id)
{
	struct hwtimer_instance *instance = client->instance;
	int err;

	if (client_calls_us(client))
		return client->called == id ? -EDEADLK :
					      hwtimer_client_cancel(client, id);
	might_lock(&instance->harvest);
	err = hwtimer_client_cancel(client, id);
	if (err == -EALREADY) {
		mutex_lock(&instance->harvest);
		mutex_unlock(&instance->harvest);
	}
	return err;
}
EXPORT_SYMBOL_GPL(hwtimer_client_cancel_sync);

/* ---- information about a client ---- */

/**
 * hwtimer_client_private - get the private pointer of a client
 * @client: the client
 *
 * Return: the member private of the options. Any context.
 */
void *hwtimer_client_private(const struct hwtimer_client *client)
{
	return client->options.private;
}
EXPORT_SYMBOL_GPL(hwtimer_client_private);

/**
 * hwtimer_client_stats - read the counters of a client
 * @client: the client
 * @stats: out: the counters, as HWTIMER_IOC_STATS. delivered counts callbacks that have
 *	returned. Of the timers that hwtimer_client_stop() has handed back, unprocessed
 *	counts those that were pending, and discarded those that had expired
 *
 * May sleep.
 */
void hwtimer_client_stats(struct hwtimer_client *client,
			  struct hwtimer_stats *stats)
{
	might_sleep();
	hwtimer_stats_get(client->instance, stats);
	stats->size = sizeof(*stats);
}
EXPORT_SYMBOL_GPL(hwtimer_client_stats);
