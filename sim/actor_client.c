// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel client: another module that schedules timers, some of them from its callbacks.
 * It belongs to the kernel's side, but checks like a program.
 */
#include <errno.h>
#include <string.h>

#include <linux/err.h>
#include <linux/hwtimer_client.h>
#include <linux/workqueue.h>

#include "oracle.h"
#include "process.h"
#include "world.h"

#define KEPT 32
/* Numbers of clients' oracles, beside those of the sites */
#define FIRST_NR 100

/* Time after which a callback that is due is lost, ns */
#define SETTLE 30000000000ull

/**
 * struct client - what the module that has the client knows
 * @client: the client
 * @oracle: its timers
 * @calls: it may be called back
 * @called: a callback runs now: there must not be two
 * @called_id: the timer of that callback; 0: none runs
 * @nr_returned: number of timers handed back
 * @settling: callbacks do nothing more: what is due is waited for
 * @timers: some of its timers
 * @nr_timers: their number
 */
struct client {
	struct hwtimer_client *client;
	struct oracle *oracle;
	bool calls;
	bool called;
	uint64_t called_id;
	int nr_returned;
	bool settling;
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

static struct oracle_timer *client_pick(struct client *client)
{
	struct oracle_timer *timer = NULL;

	sim_lock();
	if (client->nr_timers)
		timer = client->timers[sim_below(client->nr_timers)];
	sim_unlock();
	return timer;
}

static void expect(const char *what, long result, long expected)
{
	if (result != expected)
		sim_fail("%s returns %ld, not %ld", what, result, expected);
}

/* What a function of the client may not do, as it would wait for itself */
static void client_would_deadlock(struct client *client, uint64_t id)
{
	expect("cancel_sync of the timer itself",
	       hwtimer_client_cancel_sync(client->client, id), -EDEADLK);
	expect("stop in a callback", hwtimer_client_stop(client->client, NULL),
	       -EDEADLK);
	expect("destroy in a callback", hwtimer_client_destroy(client->client),
	       -EDEADLK);
}

static void client_request(struct client *client,
			   struct hwtimer_request *request)
{
	struct oracle_timer *timer;
	int ret;

	if (sim_below(2))
		request->op = HWTIMER_OP_SCHEDULE;
	timer = oracle_schedule(client->oracle, request);
	ret = hwtimer_client_schedule(client->client, request);
	oracle_scheduled(timer, request->id, ret);
	if (ret && !result_excused(ret))
		sim_fail("hwtimer_client_schedule() has failed with %d", ret);
	if (!ret)
		client_keep(client, timer);
}

static void client_schedule(struct client *client)
{
	struct hwtimer_request request = { .time = sim_below(50000000) };

	if (!sim_below(4)) {
		request.interval = sim_between(10000000, 50000000);
		request.count = sim_below(4);
	}
	client_request(client, &request);
}

/* Many timers that are due at about the same time: more than one slice has callbacks */
static void client_burst(struct client *client)
{
	unsigned int left = sim_between(2, 200);

	while (left--) {
		struct hwtimer_request request = { .time = 2000000 };

		client_request(client, &request);
	}
}

static void client_cancel(struct client *client)
{
	struct oracle_span span = oracle_begin(client->oracle);
	struct oracle_timer *timer = client_pick(client);
	bool wait = sim_below(2);
	int ret;

	if (!timer)
		return;
	oracle_change(timer);
	ret = wait ? hwtimer_client_cancel_sync(client->client, timer->id) :
		     hwtimer_client_cancel(client->client, timer->id);
	/* A callback of another timer does not wait, and is not waited for. */
	if (wait &&
	    __atomic_load_n(&client->called_id, __ATOMIC_ACQUIRE) == timer->id)
		sim_fail("cancel_sync has not waited for the callback");
	oracle_cancelled(timer, &span, ret);
	if (ret && ret != -ENOENT && ret != -EALREADY)
		sim_fail("hwtimer_client_cancel() has failed with %d", ret);
}

static void client_reschedule(struct client *client)
{
	struct oracle_span span = oracle_begin(client->oracle);
	struct oracle_timer *timer = client_pick(client);
	uint64_t time = sim_below(50000000);
	bool absolute = sim_below(2);
	int ret;

	if (!timer)
		return;
	if (absolute)
		time += oracle_now(client->oracle);
	oracle_change(timer);
	ret = hwtimer_client_reschedule(client->client, timer->id, time,
					absolute ? HWTIMER_ABSOLUTE : 0);
	oracle_rescheduled(timer, time, absolute, &span, ret);
	if (ret && ret != -ENOENT && ret != -EALREADY && !result_excused(ret))
		sim_fail("hwtimer_client_reschedule() has failed with %d", ret);
}

static void client_callback(struct client *client, uint64_t id)
{
	if (__atomic_load_n(&client->settling, __ATOMIC_RELAXED))
		return;
	switch (sim_below(8)) {
	case 0:
	case 1:
		client_schedule(client);
		break;
	case 2:
		client_would_deadlock(client, id);
		break;
	case 3:
		sim_sleep(sim_below(3000000));
		break;
	default:
		break;
	}
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
	__atomic_store_n(&client->called_id, event->id, __ATOMIC_RELEASE);
	span = oracle_read_begin(client->oracle);
	/* It was taken before the callback began. */
	span.since = event->deadline;
	oracle_event(client->oracle, event, &span, false);
	oracle_read_end(client->oracle);
	client_callback(client, event->id);
	__atomic_store_n(&client->called_id, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&client->called, false, __ATOMIC_RELEASE);
}

static void client_unprocessed(struct hwtimer_client *handle,
			       const struct hwtimer_unprocessed *timer)
{
	struct client *client = hwtimer_client_private(handle);
	struct oracle_span span = oracle_begin(client->oracle);

	client->nr_returned++;
	oracle_returned(client->oracle, timer, &span);
	if (!sim_below(8))
		client_would_deadlock(client, timer->id);
}

/* Requests that are refused */
static void client_misuse(struct client *client)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_CANCEL };

	expect("schedule with another operation",
	       hwtimer_client_schedule(client->client, &request), -EINVAL);
	request = (struct hwtimer_request){ .flags = 1U << 31 };
	expect("schedule with an unknown flag",
	       hwtimer_client_schedule(client->client, &request), -EINVAL);
	expect("cancel of an id that is none",
	       hwtimer_client_cancel(client->client, sim_below(1000)), -ENOENT);
}

static void client_use(struct client *client)
{
	struct hwtimer_stats stats;

	while (!sim_ending()) {
		switch (sim_below(16)) {
		case 0:
		case 1:
		case 2:
		case 3:
			client_cancel(client);
			break;
		case 4:
			client_reschedule(client);
			break;
		case 5:
			memset(&stats, 0xff, sizeof(stats));
			hwtimer_client_stats(client->client, &stats);
			expect("the size of the counters", stats.size,
			       sizeof(stats));
			oracle_stats(client->oracle, &stats);
			break;
		case 6:
			client_misuse(client);
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

/* Each callback that is due comes. */
static void client_settle(struct client *client)
{
	uint64_t end = oracle_now(client->oracle) + SETTLE;

	__atomic_store_n(&client->settling, true, __ATOMIC_RELAXED);
	if (sim_below(2))
		client_burst(client);
	oracle_settle(client->oracle);
	do {
		/* The kernel's threads have no signals. */
		__atomic_store_n(&current->signal, false, __ATOMIC_RELAXED);
		sim_sleep(2 * client->oracle->tick);
		if (oracle_settled(client->oracle))
			return;
	} while (oracle_now(client->oracle) < end);
	oracle_unsettled(client->oracle);
}

static void client_stop(struct client *client)
{
	struct hwtimer_stats stats;
	int ret;

	/* Handing back comes after the last callback, but counts as no event. */
	__atomic_store_n(&client->oracle->stopping, true, __ATOMIC_RELAXED);
	if (sim_below(2))
		expect("stop", hwtimer_client_stop(client->client, NULL), 0);
	ret = hwtimer_client_stop(client->client, client_unprocessed);
	if (__atomic_load_n(&client->called, __ATOMIC_ACQUIRE))
		sim_fail("a callback runs after the client was stopped");
	__atomic_store_n(&client->calls, false, __ATOMIC_RELEASE);
	expect("stop", ret, client->nr_returned);
	expect("stop, once more",
	       hwtimer_client_stop(client->client, client_unprocessed), 0);
	oracle_stopped(client->oracle);
	hwtimer_client_stats(client->client, &stats);
	if (stats.pending || stats.ready)
		sim_fail(
			"a client that was stopped has %llu timers and %llu events",
			stats.pending, stats.ready);
}

/* Ends the client; if it is not stopped before, it drops its timers. */
static void client_end(struct client *client)
{
	if (sim_below(2))
		client_settle(client);
	if (sim_below(2))
		client_stop(client);
	expect("destroy", hwtimer_client_destroy(client->client), 0);
	__atomic_store_n(&client->calls, false, __ATOMIC_RELEASE);
	if (__atomic_load_n(&client->called, __ATOMIC_ACQUIRE))
		sim_fail("a callback runs after the client was destroyed");
}

/* Options that are refused */
static void client_refused(struct hwtimer_client_options options)
{
	options.clock = HWTIMER_CLIENT_REALTIME + 1;
	expect("create with an unknown clock",
	       PTR_ERR(hwtimer_client_create(&options)), -EINVAL);
	options.clock = HWTIMER_CLIENT_MONOTONIC;
	options.expire = NULL;
	expect("create without a callback",
	       PTR_ERR(hwtimer_client_create(&options)), -EINVAL);
	expect("destroy of a client that is none",
	       hwtimer_client_destroy(ERR_PTR(-EINVAL)), 0);
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
	client_refused(options);
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
