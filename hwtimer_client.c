// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel clients: an instance that belongs to another module, whose events are
 * callbacks instead of what read() delivers. The functions are exported; see
 * <linux/hwtimer_client.h>.
 *
 * Whoever calls callbacks, the worker or a work item, does what read() does, one
 * event at a time: takes it, calls, and finishes it, and holds instance->harvest
 * from before it takes the event until it has finished it. So
 *
 *   a record that is leaving is one whose callback runs, or is about to;
 *   who then takes the mutex knows that this callback is over;
 *   who has stopped the instance before that knows that no other will begin.
 *
 * Batches of one, as any other timer can still be cancelled then. What is done a
 * slice at a time is HWTIMER_CLIENT_SLICE callbacks, after which others that wait
 * for the worker, or for the workqueue, have their turn.
 *
 * Lockdep has a class for the mutex, and one for the work item, of each client:
 * so it sees whoever waits for a callback with a lock held that the callback
 * takes, and lets the callback of one client wait for another's.
 */
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <linux/hwtimer_client.h>

#include "hwtimer.h"
#include "hwtimer_instance.h"
#include "hwtimer_request.h"
#include "hwtimer_stats.h"
#include "hwtimer_turn.h"

/* So many callbacks the worker, or a work item, calls at a time. */
#define HWTIMER_CLIENT_SLICE 32

/**
 * struct hwtimer_client - a module's own instance
 * @instance: its
 * @options: as created; constant
 * @reader: waits in the instance's wait queue, as a thread in read() does
 * @chore: calls callbacks in the worker
 * @work: calls callbacks on options.workqueue
 * @caller: the task in which a function of the client's runs; NULL: none does.
 *	Written with the instance's harvest held; what others read of it tells
 *	them only whether it is they
 * @called: the timer that it runs for; for @caller only
 * @harvest_key: lockdep's class of the instance's harvest
 * @work_key: lockdep's class of @work
 */
struct hwtimer_client {
	struct hwtimer_instance *instance;
	struct hwtimer_client_options options;
	wait_queue_entry_t reader;
	struct hwtimer_chore chore;
	struct work_struct work;
	struct task_struct *caller;
	u64 called;
	struct lock_class_key harvest_key;
	struct lock_class_key work_key;
};

static_assert((int)HWTIMER_CLIENT_MONOTONIC == (int)HWTIMER_MONOTONIC);
static_assert((int)HWTIMER_CLIENT_BOOTTIME == (int)HWTIMER_BOOTTIME);
static_assert((int)HWTIMER_CLIENT_REALTIME == (int)HWTIMER_REALTIME);

/* Whether we are in a function of the client's. */
static bool client_calls_us(const struct hwtimer_client *client)
{
	return READ_ONCE(client->caller) == current;
}

/* A function of the client's is about to be called for timer @id. */
static void client_enter(struct hwtimer_client *client, u64 id)
{
	lockdep_assert_held(&client->instance->harvest);
	client->called = id;
	WRITE_ONCE(client->caller, current);
}

static void client_leave(struct hwtimer_client *client)
{
	lockdep_assert_held(&client->instance->harvest);
	WRITE_ONCE(client->caller, NULL);
}

/* ---- callbacks ---- */

/*
 * Takes the first event, of which a callback is to be told; false: none. Adds to
 * @discarded how many discarded ones were before it.
 */
static bool client_take(struct hwtimer_client *client, u32 *discarded)
{
	struct hwtimer_instance *instance = client->instance;
	u64 now;

	/* Whoever has stopped it waits until we leave. */
	if (READ_ONCE(instance->stopped))
		return false;
	*discarded += hwtimer_harvest_discarded(instance);
	return hwtimer_harvest_take(instance, 1, &now);
}

/* Calls the callback for the first event, as client_take() has it; false: none. */
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

/* Has some callbacks called, by the worker or a work item; any context but an interrupt. */
static void client_kick(struct hwtimer_client *client)
{
	struct hwtimer_instance *instance = client->instance;

	/* A stopped client calls no callbacks, but the last event to go wakes readers, too. */
	if (READ_ONCE(instance->stopped))
		return;
	if (client->options.workqueue)
		queue_work(client->options.workqueue, &client->work);
	else
		/* Behind the other alarms that are due by now. */
		hwtimer_worker_kick(&instance->job.chores, ktime_get_ns());
}

/* Calls some callbacks; if events are left, has others called later. */
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

/* The worker does its chores; the reason may be another one. */
static void client_chore(struct hwtimer_chore *chore)
{
	struct hwtimer_client *client =
		container_of(chore, struct hwtimer_client, chore);

	if (!client->options.workqueue)
		client_serve(client);
}

/* The instance wakes its readers; called with the lock of the wait queue held. */
static int client_wake(wait_queue_entry_t *reader, unsigned int mode, int flags,
		       void *key)
{
	client_kick(container_of(reader, struct hwtimer_client, reader));
	return 1;
}

/* ---- a client's life ---- */

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
	setup.clock = hwtimer_clocks[options->clock].id;
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

/* Nobody knows @client any more, but maybe the work item, which has nothing to do. */
static void client_free(struct hwtimer_client *client)
{
	remove_wait_queue(&client->instance->readers, &client->reader);
	cancel_work_sync(&client->work);
	hwtimer_instance_destroy(client->instance);
	lockdep_unregister_key(&client->harvest_key);
	lockdep_unregister_key(&client->work_key);
	kfree(client);
}

/* From now on the client is the reader of its instance. */
static void client_attach(struct hwtimer_client *client)
{
	struct hwtimer_instance *instance = client->instance;

	client->chore.run = client_chore;
	instance->chore = &client->chore;
	instance->callbacks = true;
	init_waitqueue_func_entry(&client->reader, client_wake);
	add_wait_queue(&instance->readers, &client->reader);
}

/* A client with the default settings, or NULL. */
static struct hwtimer_client *
client_alloc(const struct hwtimer_client_options *options, u32 timers)
{
	struct hwtimer_client *client = kzalloc(sizeof(*client), GFP_KERNEL);

	if (!client)
		return NULL;
	client->instance = hwtimer_instance_create(timers);
	if (!client->instance) {
		kfree(client);
		return NULL;
	}
	client->options = *options;
	client_register_keys(client);
	client_init_work(client);
	client_attach(client);
	return client;
}

/**
 * hwtimer_client_create - a client, with its wheel
 * @options: need not live on
 *
 * Clients do not count against max_instances, which is for programs.
 *
 * Return: the client, or ERR_PTR(): -EINVAL (an option out of range or unknown,
 * no callback), -ENOMEM. May sleep.
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
	err = hwtimer_settings_set(client->instance, &settings) ?:
		      hwtimer_supply_start(client->instance);
	if (err) {
		client_free(client);
		return ERR_PTR(err);
	}
	return client;
}
EXPORT_SYMBOL_GPL(hwtimer_client_create);

/*
 * Afterwards no callback runs, and none will be called, see client_kick(). So neither the
 * worker nor the workqueue waits for the mutex while timers are handed back.
 */
static void client_quiesce(struct hwtimer_client *client)
{
	struct hwtimer_instance *instance = client->instance;

	/* That it is a callback that we wait for, lockdep cannot see below. */
	might_lock(&instance->harvest);
	hwtimer_instance_stop(instance);
	hwtimer_worker_detach(&instance->job);
	cancel_work_sync(&client->work);
}

/* Hands the timer in the batch to the client. */
static void client_give(struct hwtimer_client *client,
			hwtimer_return_fn unprocessed)
{
	const struct hwtimer_unprocessed *timer =
		client->instance->leaving.page;

	client_enter(client, timer->id);
	unprocessed(client, timer);
	client_leave(client);
}

/*
 * Hands all timers back, those that are due first; returns how many. One at a time,
 * as @unprocessed may cancel any of the others, and free what they point to.
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
			client_give(client, unprocessed);
			hwtimer_harvest_finish_expired(instance);
		}
		count += taken;
		cond_resched();
	} while (more);
	do {
		taken = hwtimer_harvest_take_pending(instance, 1, &more);
		if (taken)
			client_give(client, unprocessed);
		hwtimer_harvest_finish_pending(instance, taken, taken);
		count += taken;
		cond_resched();
	} while (more);
	return count;
}

/**
 * hwtimer_client_stop - let no callback begin any more, and wait for one that runs
 * @client: of which; may be stopped already
 * @unprocessed: called for each timer that was not processed, that is, whose
 *	callback has not begun; NULL: they are not handed back yet
 *
 * From the beginning of the call on nothing can be scheduled. A timer is handed
 * back once, whichever call it is that does so; a periodic one is, if it had not
 * come to its end. Afterwards, if @unprocessed is not NULL, there is no timer.
 *
 * Return: how many were handed back; -EDEADLK from a function of this client's:
 * nothing has changed. May sleep.
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
 * hwtimer_client_destroy - the end of a client and of all its timers
 * @client: in whose functions nobody else is, or will be. NULL and ERR_PTR() are
 *	nobody
 *
 * Stops it, which waits for a callback that runs. Timers that were not processed
 * are dropped: call hwtimer_client_stop() before to have them.
 *
 * A module has to do this before it goes away: in its exit function, and in its
 * init function if that fails. Before, it must have ended all that may use the
 * client, but callbacks, which may until this waits for them; afterwards it may
 * destroy the workqueue.
 *
 * Return: 0; -EDEADLK from a function of this client's: nothing has changed. May
 * sleep.
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
	hwtimer_request_run(client->instance, request, 1);
	return request->result;
}

/**
 * hwtimer_client_schedule - a new timer
 * @client: whose
 * @request: as for HWTIMER_IOC_SCHEDULE: in: time, user_data and, if wanted,
 *	flags, interval, slack, count; all else 0. Out: id, and result
 *
 * The callback may begin before this returns.
 *
 * With HWTIMER_FIXED_DELAY, the interval counts from when the callback returns.
 *
 * Return: 0, -EINVAL, -ERANGE, -EDOM, -ENOSPC, -ENOMEM as struct hwtimer_request
 * says (-ENOMEM also where memory has to be brought, but the calling task is being
 * killed), -ESHUTDOWN (stopped). May sleep; from a callback too it may have to wait
 * for memory.
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
 * hwtimer_client_reschedule - another deadline for a timer
 * @client: whose
 * @id: of the timer; stays
 * @time: ns, as in struct hwtimer_request
 * @flags: HWTIMER_ABSOLUTE
 *
 * Return: 0; -EALREADY (it has expired: its callback runs, or will), -ENOENT
 * (there is no such timer any more), -EINVAL, -ENOMEM, -ESHUTDOWN (stopped):
 * nothing has changed. May sleep.
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

	return client_run(client, &request);
}
EXPORT_SYMBOL_GPL(hwtimer_client_reschedule);

/**
 * hwtimer_client_cancel - end a timer
 * @client: whose
 * @id: of the timer; anything
 *
 * Return: 0: its callback has not begun, and will not (of a periodic timer: not
 * again); -EALREADY: its callback is just running, or being entered, and is the
 * last, or it is just being handed back by hwtimer_client_stop(); -ENOENT: there
 * is no such timer any more: its last callback has returned, or it was cancelled
 * or handed back. May sleep.
 */
int hwtimer_client_cancel(struct hwtimer_client *client, u64 id)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_CANCEL,
		/* Of what waits for its callback, too. */
		.flags = HWTIMER_DISCARD,
		.id = id,
	};

	return client_run(client, &request);
}
EXPORT_SYMBOL_GPL(hwtimer_client_cancel);

/**
 * hwtimer_client_cancel_sync - end a timer, and wait for its callback
 * @client: whose
 * @id: of the timer; anything
 *
 * Afterwards the callback does not run for this timer, and will not: what it uses
 * may be freed. Waits only if it is just running.
 *
 * Return: as hwtimer_client_cancel(), -EALREADY meaning that it was waited for.
 * -EDEADLK from the callback of this very timer: nothing has changed. From that of
 * another timer of this client's it does not wait, as they never run at the same
 * time. May sleep.
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

/* ---- what it tells of itself ---- */

/* What the options said. Any context. */
void *hwtimer_client_private(const struct hwtimer_client *client)
{
	return client->options.private;
}
EXPORT_SYMBOL_GPL(hwtimer_client_private);

/**
 * hwtimer_client_stats - counters
 * @client: of which
 * @stats: out, as HWTIMER_IOC_STATS: delivered are the callbacks that have
 *	returned; of what stop has handed back, unprocessed are the timers that
 *	were pending, discarded those that had expired
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
