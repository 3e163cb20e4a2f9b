// SPDX-License-Identifier: MIT
/*
 * A correct program that calls every function of the library, with the module, and branches on
 * all that these give it. MemorySanitizer and valgrind are to find nothing wrong with it. Nothing
 * that a function writes was written before. Built and run by test/vm/checkers.sh.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libhwtimer.h>

#include "check.h"

#define SECOND 1000000000LL

#define MANY 200

/* Memory that nobody has written, which is never freed */
static void *raw(size_t size)
{
	void *memory = malloc(size);

	CHECK(memory);
	return memory;
}

static volatile unsigned int used;

/* Does one thing or another, as each byte is. */
static void use(const void *memory, size_t size)
{
	const unsigned char *byte = memory;

	for (; size--; byte++)
		if (*byte == 77)
			used++;
}

#define USE(variable) use(&(variable), sizeof(variable))

static void use_number(long long number)
{
	if (number == 77)
		used++;
}

static void wait_for_event(struct hwt *hwt)
{
	struct pollfd fd = { .fd = hwt_fd(hwt), .events = POLLIN };

	CHECK(poll(&fd, 1, -1) == 1);
}

/* ---- the instance ---- */

static struct hwt *open_instance(void)
{
	struct hwtimer_info *info = raw(sizeof(*info));
	struct hwtimer_stats *stats = raw(sizeof(*stats));
	struct hwtimer_setup setup = { .timers = 1000 };
	struct hwt **hwt = raw(sizeof(*hwt));

	CHECK(hwt_open(hwt, 4711) == -EINVAL && !*hwt);
	hwt = raw(sizeof(*hwt));
	CHECK(hwt_from_fd(hwt, -1, 0) == -EBADF && !*hwt);
	hwt = raw(sizeof(*hwt));
	CHECK(!hwt_open(hwt, HWT_NONBLOCK));
	CHECK(hwt_version() == HWT_VERSION);
	CHECK(!hwt_setup(*hwt, &setup));
	CHECK(!hwt_setup_sized(*hwt, &setup, sizeof(setup)));
	CHECK(!hwt_info(*hwt, info) && info->timers == 1000);
	use(info, sizeof(*info));
	info = raw(sizeof(*info) + 8);
	CHECK(!hwt_info_sized(*hwt, info, sizeof(*info) + 8));
	use(info, sizeof(*info) + 8);
	CHECK(!hwt_stats(*hwt, stats));
	use(stats, sizeof(*stats));
	stats = raw(sizeof(*stats));
	CHECK(!hwt_stats_sized(*hwt, stats, sizeof(*stats)));
	use(stats, sizeof(*stats));
	CHECK(!hwt_dispatch_check(*hwt));
	return *hwt;
}

static struct hwt *adopt(struct hwt *hwt)
{
	struct hwt **twin = raw(sizeof(*twin));

	CHECK(!hwt_from_fd(twin, dup(hwt_fd(hwt)), HWT_NONBLOCK));
	CHECK(hwt_fd(*twin) != hwt_fd(hwt));
	return *twin;
}

/* ---- one timer ---- */

static void single(struct hwt *hwt)
{
	struct hwtimer_timer *timer = raw(sizeof(*timer));
	struct hwtimer_request request = { .time = SECOND };
	uint64_t *id = raw(sizeof(*id));
	uint64_t *left = raw(sizeof(*left));

	CHECK(!hwt_next_time(hwt, left) && *left == HWTIMER_NEVER);
	CHECK(!hwt_schedule(hwt, 3600 * SECOND, 7, id));
	CHECK(!hwt_reschedule(hwt, *id, 7200 * SECOND));
	left = raw(sizeof(*left));
	CHECK(!hwt_next_time(hwt, left) && *left);
	timer->id = *id;
	CHECK(!hwt_query(hwt, timer) && timer->user_data == 7);
	use(timer, sizeof(*timer));
	CHECK(!hwt_cancel(hwt, *id));
	timer = raw(sizeof(*timer));
	timer->id = *id;
	CHECK(hwt_query(hwt, timer) == -ENOENT);
	id = raw(sizeof(*id));
	CHECK(!hwt_schedule_at(hwt, HWTIMER_NEVER, 7, id));
	CHECK(!hwt_reschedule_at(hwt, *id, hwt_now(hwt) + 7200 * SECOND));
	CHECK(!hwt_rearm(hwt, id, SECOND, 8));
	CHECK(!hwt_rearm_at(hwt, id, HWTIMER_NEVER, 8));
	CHECK(!hwt_discard(hwt, *id) && hwt_discard(hwt, *id) == -ENOENT);
	CHECK(!hwt_rearm(hwt, id, SECOND, 8));
	USE(*id);
	CHECK(!hwt_schedule_request(hwt, &request));
	USE(request);
	request.flags = HWTIMER_REQ_REARM;
	CHECK(!hwt_reschedule_request(hwt, &request));
	USE(request);
	id = raw(sizeof(*id));
	CHECK(!hwt_cancel_all(hwt, HWTIMER_LIST_DISCARD, id));
	use_number(*id);
}

/* ---- many timers ---- */

static void use_results(uint64_t *results, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		CHECK(!hwt_error(results[i]));
	use(results, count * sizeof(*results));
}

static void bulks(struct hwt *hwt)
{
	struct hwtimer_bulk_timer timers[MANY];
	uint64_t *ids = raw(sizeof(*ids) * MANY);
	uint64_t *results = raw(sizeof(*results) * MANY);
	struct hwtimer_bulk bulk = {
		.op = HWTIMER_OP_CANCEL,
		.timers = (uintptr_t)ids,
		.count = MANY,
	};
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		timers[i].user_data = i;
		timers[i].time = 3600 * SECOND;
	}
	CHECK(hwt_schedule_many(hwt, 0, timers, ids, MANY) == MANY);
	use_results(ids, MANY);
	for (i = 0; i < MANY; i++)
		timers[i].id = ids[i];
	CHECK(hwt_reschedule_many(hwt, 0, timers, NULL, MANY) == MANY);
	CHECK(hwt_reschedule_many(hwt, 0, timers, results, MANY) == MANY);
	use_results(results, MANY);
	results = raw(sizeof(*results) * MANY);
	CHECK(hwt_cancel_many(hwt, 0, ids, results, MANY / 2) == MANY / 2);
	use_results(results, MANY / 2);
	CHECK(hwt_bulk(hwt, &bulk) == MANY);
}

/* What comes back need not have been written. */
static void submit(struct hwt *hwt)
{
	struct hwtimer_request *requests = raw(sizeof(*requests) * 2);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		requests[i].op = HWTIMER_OP_SCHEDULE;
		requests[i].flags = 0;
		requests[i].time = 3600 * SECOND;
		requests[i].interval = 0;
		requests[i].slack = 0;
		requests[i].user_data = i;
		requests[i].expirations_max = 0;
		requests[i].reserved = 0;
	}
	CHECK(hwt_submit(hwt, requests, 2) == 2);
	CHECK(!requests[0].result && requests[0].id);
	use(requests, sizeof(*requests) * 2);
}

/* ---- lists ---- */

static void lists(struct hwt *hwt)
{
	struct hwtimer_timer *timers = raw(sizeof(*timers) * MANY);
	uint64_t cursor = 0;
	int count;

	submit(hwt);
	while ((count = hwt_list(hwt, &cursor, timers, MANY)) > 0)
		use(timers, count * sizeof(*timers));
	CHECK(!count);
	USE(cursor);
}

static void stop(struct hwt *hwt)
{
	struct hwtimer_timer *timers = raw(sizeof(*timers) * MANY);
	uint64_t cursor = 0;
	int count;

	submit(hwt);
	CHECK(!hwt_stop(hwt, NULL, NULL, 0));
	while ((count = hwt_stop(hwt, &cursor, timers, MANY)) > 0)
		use(timers, count * sizeof(*timers));
	CHECK(!count);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1) == -ENOTCONN);
}

/* ---- events ---- */

/* Its padding is not written, and may be passed on nevertheless. */
struct padded {
	char byte;
	long numbers[4];
};

static __attribute__((noinline)) void take_padded(struct padded padded)
{
	use_number(padded.numbers[1]);
}

/* Leaves arguments behind where those of the next function will be. */
static void call_padded(void)
{
	struct padded *padded = raw(sizeof(*padded));

	padded->byte = 1;
	memset(padded->numbers, 0, sizeof(padded->numbers));
	take_padded(*padded);
}

static void on_event(void *arg, const struct hwtimer_event *event)
{
	unsigned int *count = arg;

	USE(*event);
	if (event->expirations)
		++*count;
	call_padded();
}

static void schedule_two(struct hwt *hwt)
{
	CHECK(!hwt_schedule(hwt, 0, 1, NULL));
	CHECK(!hwt_schedule(hwt, 0, 2, NULL));
	wait_for_event(hwt);
}

static void events(struct hwt *hwt)
{
	struct hwtimer_event *events = raw(sizeof(*events) * MANY);
	struct hwtimer_event *event = raw(sizeof(*event));
	unsigned int dispatched = 0;
	int count;

	CHECK(!hwt_notify(hwt, 2, 0));
	schedule_two(hwt);
	count = hwt_read(hwt, events, MANY);
	CHECK(count == 2);
	use(events, count * sizeof(*events));
	schedule_two(hwt);
	CHECK(hwt_next(hwt, event) == 1);
	USE(*event);
	CHECK(hwt_next(hwt, event) == 1 && hwt_next(hwt, event) == -EAGAIN);
	schedule_two(hwt);
	CHECK(hwt_dispatch(hwt, on_event, &dispatched, MANY) == 2);
	CHECK(dispatched == 2);
	CHECK(!hwt_dispatch_failed(-EAGAIN));
	CHECK(!hwt_notify(hwt, 0, 0));
}

static void acknowledge(void)
{
	struct hwtimer_setup setup = { .flags = HWTIMER_SETUP_AT_LEAST_ONCE };
	struct hwtimer_event *event = raw(sizeof(*event));
	struct hwt *hwt;

	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	CHECK(!hwt_setup(hwt, &setup));
	CHECK(!hwt_notify(hwt, 2, 0));
	schedule_two(hwt);
	CHECK(hwt_next(hwt, event) == 1);
	CHECK(!hwt_rewind(hwt));
	CHECK(hwt_read(hwt, event, 1) == 1);
	USE(*event);
	CHECK(hwt_ack(hwt, 1) == 1);
	hwt_close(hwt);
}

/* ---- timer objects ---- */

struct connection {
	struct hwt_timer timeout;
	unsigned int expired;
};

static void on_timeout(struct hwt_timer *timer)
{
	struct connection *connection =
		hwt_timer_object(timer, struct connection, timeout);

	connection->expired += hwt_timer_expirations(timer);
	if (!hwt_timer_active(timer))
		hwt_break(timer->hwt);
	call_padded();
}

static void on_change(void *arg)
{
	++*(unsigned int *)arg;
	call_padded();
}

static void wrapper(void *arg, struct hwt_timer *timer)
{
	++*(unsigned int *)arg;
	timer->callback(timer);
}

/* A loop that waits for @connection as the adapters do */
static void serve(struct hwt *hwt, struct connection *connection)
{
	struct pollfd fd = { .fd = hwt_fd(hwt), .events = POLLIN };

	connection->expired = 0;
	while (!connection->expired) {
		CHECK(!hwt_flush(hwt) && !hwt_refused(hwt));
		poll(&fd, 1, hwt_wait_ms(hwt, -1));
		use_number(hwt_dispatch(hwt, NULL, NULL, MANY));
	}
}

static void objects(struct hwt *hwt)
{
	struct connection *connections = raw(sizeof(*connections) * 2);
	struct connection *second = &connections[1];
	unsigned int changes = 0, wrapped = 0;

	hwt_on_change(hwt, on_change, &changes);
	hwt_wrap_callbacks(hwt, wrapper, &wrapped);
	hwt_cache_time(hwt, 1);
	hwt_timer_init(&connections->timeout, hwt, on_timeout);
	hwt_timer_init(&second->timeout, hwt, on_timeout);
	USE(connections->timeout);
	CHECK(!hwt_timer_start(&connections->timeout, SECOND / 100));
	CHECK(!hwt_timer_start_at(&second->timeout, HWTIMER_NEVER));
	CHECK(hwt_active(hwt) == 2);
	serve(hwt, connections);
	CHECK(!hwt_timer_again(&connections->timeout));
	serve(hwt, connections);
	CHECK(!hwt_timer_start_every(&second->timeout, 0, SECOND / 100, 0));
	use_number(hwt_timer_deadline(&second->timeout));
	serve(hwt, second);
	serve(hwt, second);
	hwt_timer_stop(&second->timeout);
	CHECK(!hwt_timer_active(&second->timeout) && changes && wrapped);
}

int main(void)
{
	struct hwt *hwt = open_instance(), *twin = adopt(hwt);

	single(hwt);
	bulks(hwt);
	lists(hwt);
	events(hwt);
	acknowledge();
	objects(hwt);
	stop(twin);
	hwt_close(twin);
	hwt_close(hwt);
	puts("all was done");
	return 0;
}
