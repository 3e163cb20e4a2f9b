// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel client: another module that schedules timers, some of them from its callbacks.
 * It belongs to the kernel's side, but checks like a program.
 */
#include <errno.h>

#include <linux/err.h>
#include <linux/hwtimer_client.h>
#include <linux/workqueue.h>

#include "oracle.h"
#include "world.h"

#define KEPT 32
/* Numbers of clients' oracles, beside those of the sites */
#define FIRST_NR 100

/**
 * struct client - what the module that has the client knows
 * @client: the client
 * @oracle: its timers
 * @calls: it may be called back
 * @called: a callback runs now: there must not be two
 * @timers: some of its timers
 * @nr_timers: their number
 */
struct client {
	struct hwtimer_client *client;
	struct oracle *oracle;
	bool calls;
	bool called;
	struct oracle_timer *timers[KEPT];
	unsigned int nr_timers;
};

static void client_keep(struct client *client, struct oracle_timer *timer)
{
	sim_lock();
	if (client->nr_timers < KEPT)
		client->timers[client->nr_timers++] = timer;
	else
		client->timers[sim_below(KEPT)] = timer;
	sim_unlock();
}

static void client_schedule(struct client *client)
{
	struct hwtimer_request request = { .time = sim_below(50000000) };
	struct oracle_timer *timer;
	int ret;

	if (!sim_below(4)) {
		request.interval = sim_between(10000000, 50000000);
		request.count = sim_below(4);
	}
	timer = oracle_schedule(client->oracle, &request);
	ret = hwtimer_client_schedule(client->client, &request);
	oracle_scheduled(timer, request.id, ret);
	if (ret && !result_excused(ret))
		sim_fail("hwtimer_client_schedule() has failed with %d", ret);
	if (!ret)
		client_keep(client, timer);
}

static void client_expire(struct hwtimer_client *handle,
			  const struct hwtimer_event *event)
{
	struct client *client = hwtimer_client_private(handle);
	struct oracle_span span;

	if (!__atomic_load_n(&client->calls, __ATOMIC_ACQUIRE))
		sim_fail("a client that was stopped is called back");
	if (__atomic_exchange_n(&client->called, true, __ATOMIC_ACQ_REL))
		sim_fail("two callbacks of a client run at a time");
	span = oracle_read_begin(client->oracle);
	/* It was taken before the callback began. */
	span.since = event->deadline;
	oracle_event(client->oracle, event, &span, false);
	oracle_read_end(client->oracle);
	if (!sim_below(4))
		client_schedule(client);
	__atomic_store_n(&client->called, false, __ATOMIC_RELEASE);
}

static void client_unprocessed(struct hwtimer_client *handle,
			       const struct hwtimer_unprocessed *timer)
{
	struct client *client = hwtimer_client_private(handle);
	struct oracle_span span = oracle_begin(client->oracle);

	oracle_returned(client->oracle, timer, &span);
}

static void client_cancel(struct client *client)
{
	struct oracle_span span = oracle_begin(client->oracle);
	struct oracle_timer *timer = NULL;
	int ret;

	sim_lock();
	if (client->nr_timers)
		timer = client->timers[sim_below(client->nr_timers)];
	sim_unlock();
	if (!timer)
		return;
	oracle_change(timer);
	ret = sim_below(2) ?
		      hwtimer_client_cancel(client->client, timer->id) :
		      hwtimer_client_cancel_sync(client->client, timer->id);
	oracle_cancelled(timer, &span, ret);
	if (ret && ret != -ENOENT && ret != -EALREADY)
		sim_fail("hwtimer_client_cancel() has failed with %d", ret);
}

static void client_use(struct client *client)
{
	struct hwtimer_stats stats;

	while (!sim_ending()) {
		switch (sim_below(8)) {
		case 0:
		case 1:
			client_cancel(client);
			break;
		case 2:
			hwtimer_client_stats(client->client, &stats);
			oracle_stats(client->oracle, &stats);
			break;
		default:
			client_schedule(client);
			break;
		}
		world_count(1);
		if (!sim_below(4))
			sim_sleep(sim_below(20000000));
	}
}

/* Stops the client; unless it drops its timers, all come back. */
static void client_end(struct client *client)
{
	struct hwtimer_stats stats;
	bool back = sim_below(2);

	if (back) {
		/* Handing back comes after the last callback, but counts as no event. */
		__atomic_store_n(&client->oracle->stopping, true,
				 __ATOMIC_RELAXED);
		hwtimer_client_stop(client->client, client_unprocessed);
		oracle_stopped(client->oracle);
		hwtimer_client_stats(client->client, &stats);
		if (stats.pending || stats.ready)
			sim_fail(
				"a client that was stopped has %llu timers and %llu events",
				stats.pending, stats.ready);
	}
	hwtimer_client_destroy(client->client);
	__atomic_store_n(&client->calls, false, __ATOMIC_RELEASE);
}

void act_client(struct actor *actor)
{
	struct client client = { .calls = true };
	struct hwtimer_client_options options = {
		.expire = client_expire,
		.private = &client,
		.tick = 1000000,
		.timers = sim_below(2) ? 1000 : 20,
		.buckets = 64,
		.kind = sim_between(1, 2),
	};

	if (sim_below(2))
		options.workqueue = alloc_workqueue("client", WQ_UNBOUND, 1);
	client.oracle =
		oracle_create(FIRST_NR, CLOCK_MONOTONIC, 0, options.tick);
	client.client = hwtimer_client_create(&options);
	if (!IS_ERR(client.client)) {
		client_use(&client);
		client_end(&client);
	} else if (!result_excused(PTR_ERR(client.client))) {
		sim_fail("hwtimer_client_create() has failed with %ld",
			 PTR_ERR(client.client));
	}
	if (options.workqueue)
		destroy_workqueue(options.workqueue);
}
