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

/* Leaves a stack behind on which nobody has written. */
static __attribute__((noinline)) void leave_raw_stack(void)
{
	char raw_bytes[16384];

	__asm__ volatile("" : : "r"(raw_bytes) : "memory");
}

/* The condition, which calls the library, must hold. */
#define TRY(condition)             \
	do {                       \
		leave_raw_stack(); \
		CHECK(condition);  \
	} while (0)

/* Memory that nobody has written, which is never freed */
static void *raw(size_t size)
{
	void *memory = malloc(size);

	TRY(memory);
	return memory;
}

/* The compiler cannot leave it out. */
static inline void do_something(void)
{
	__asm__ volatile("");
}

/* Does one thing or another, as each byte is. */
static void use(const void *memory, size_t size)
{
	const unsigned char *byte = memory;

	for (; size--; byte++)
		if (*byte == 77)
			do_something();
}

#define USE(variable) use(&(variable), sizeof(variable))

static void use_number(long long number)
{
	if (number == 77)
		do_something();
}

static void wait_for_event(struct hwt *hwt)
{
	struct pollfd fd = { .fd = hwt_fd(hwt), .events = POLLIN };

	TRY(poll(&fd, 1, -1) == 1);
}

/* ---- the instance ---- */

static struct hwt *open_instance(void)
{
	struct hwtimer_info *info = raw(sizeof(*info));
	struct hwtimer_stats *stats = raw(sizeof(*stats));
	struct hwtimer_setup setup = { .timers = 1000 };
	struct hwt **hwt = raw(sizeof(*hwt));

	TRY(hwt_open(hwt, 4711) == -EINVAL && !*hwt);
	hwt = raw(sizeof(*hwt));
	TRY(hwt_from_fd(hwt, -1, 0) == -EBADF && !*hwt);
	hwt = raw(sizeof(*hwt));
	TRY(!hwt_open(hwt, HWT_NONBLOCK));
	TRY(hwt_version() == HWT_VERSION);
	TRY(!hwt_setup(*hwt, &setup));
	TRY(!hwt_setup_sized(*hwt, &setup, sizeof(setup)));
	TRY(!hwt_info(*hwt, info) && info->timers == 1000);
	use(info, sizeof(*info));
	info = raw(sizeof(*info) + 8);
	TRY(!hwt_info_sized(*hwt, info, sizeof(*info) + 8));
	use(info, sizeof(*info) + 8);
	TRY(!hwt_stats(*hwt, stats));
	use(stats, sizeof(*stats));
	stats = raw(sizeof(*stats));
	TRY(!hwt_stats_sized(*hwt, stats, sizeof(*stats)));
	use(stats, sizeof(*stats));
	TRY(!hwt_dispatch_check(*hwt));
	return *hwt;
}

static struct hwt *adopt(struct hwt *hwt)
{
	struct hwt **twin = raw(sizeof(*twin));

	TRY(!hwt_from_fd(twin, dup(hwt_fd(hwt)), HWT_NONBLOCK));
	TRY(hwt_fd(*twin) != hwt_fd(hwt));
	return *twin;
}

/* ---- one timer ---- */

static void single(struct hwt *hwt)
{
	struct hwtimer_timer *timer = raw(sizeof(*timer));
	struct hwtimer_request request = { .time = SECOND };
	uint64_t *id = raw(sizeof(*id));
	uint64_t *left = raw(sizeof(*left));

	TRY(!hwt_next_time(hwt, left) && *left == HWTIMER_NEVER);
	TRY(!hwt_schedule(hwt, 3600 * SECOND, 7, id));
	TRY(!hwt_reschedule(hwt, *id, 7200 * SECOND));
	left = raw(sizeof(*left));
	TRY(!hwt_next_time(hwt, left) && *left);
	timer->id = *id;
	TRY(!hwt_query(hwt, timer) && timer->user_data == 7);
	use(timer, sizeof(*timer));
	TRY(!hwt_cancel(hwt, *id));
	timer = raw(sizeof(*timer));
	timer->id = *id;
	TRY(hwt_query(hwt, timer) == -ENOENT);
	id = raw(sizeof(*id));
	TRY(!hwt_schedule_at(hwt, HWTIMER_NEVER, 7, id));
	TRY(!hwt_reschedule_at(hwt, *id, hwt_now(hwt) + 7200 * SECOND));
	TRY(!hwt_rearm(hwt, id, SECOND, 8));
	TRY(!hwt_rearm_at(hwt, id, HWTIMER_NEVER, 8));
	TRY(!hwt_discard(hwt, *id) && hwt_discard(hwt, *id) == -ENOENT);
	TRY(!hwt_rearm(hwt, id, SECOND, 8));
	USE(*id);
	TRY(!hwt_schedule_request(hwt, &request));
	USE(request);
	request.flags = HWTIMER_REQ_REARM;
	TRY(!hwt_reschedule_request(hwt, &request));
	USE(request);
	id = raw(sizeof(*id));
	TRY(!hwt_cancel_all(hwt, HWTIMER_LIST_DISCARD, id));
	use_number(*id);
}

/* ---- many timers ---- */

static void use_results(uint64_t *results, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		TRY(!hwt_error(results[i]));
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
	TRY(hwt_schedule_many(hwt, 0, timers, ids, MANY) == MANY);
	use_results(ids, MANY);
	for (i = 0; i < MANY; i++)
		timers[i].id = ids[i];
	TRY(hwt_reschedule_many(hwt, 0, timers, NULL, MANY) == MANY);
	TRY(hwt_reschedule_many(hwt, 0, timers, results, MANY) == MANY);
	use_results(results, MANY);
	results = raw(sizeof(*results) * MANY);
	TRY(hwt_cancel_many(hwt, 0, ids, results, MANY / 2) == MANY / 2);
	use_results(results, MANY / 2);
	TRY(hwt_bulk(hwt, &bulk) == MANY);
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
	TRY(hwt_submit(hwt, requests, 2) == 2);
	TRY(!requests[0].result && requests[0].id);
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
	TRY(!count);
	USE(cursor);
}

static void stop(struct hwt *hwt)
{
	struct hwtimer_timer *timers = raw(sizeof(*timers) * MANY);
	uint64_t cursor = 0;
	int count;

	submit(hwt);
	TRY(!hwt_stop(hwt, NULL, NULL, 0));
	while ((count = hwt_stop(hwt, &cursor, timers, MANY)) > 0)
		use(timers, count * sizeof(*timers));
	TRY(!count);
	TRY(hwt_dispatch(hwt, NULL, NULL, 1) == -ENOTCONN);
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
	TRY(!hwt_schedule(hwt, 0, 1, NULL));
	TRY(!hwt_schedule(hwt, 0, 2, NULL));
	wait_for_event(hwt);
}

static void events(struct hwt *hwt)
{
	struct hwtimer_event *events = raw(sizeof(*events) * MANY);
	struct hwtimer_event *event = raw(sizeof(*event));
	unsigned int dispatched = 0;
	int count;

	TRY(!hwt_notify(hwt, 2, 0));
	schedule_two(hwt);
	count = hwt_read(hwt, events, MANY);
	TRY(count == 2);
	use(events, count * sizeof(*events));
	schedule_two(hwt);
	TRY(hwt_next(hwt, event) == 1);
	USE(*event);
	TRY(hwt_next(hwt, event) == 1 && hwt_next(hwt, event) == -EAGAIN);
	schedule_two(hwt);
	TRY(hwt_dispatch(hwt, on_event, &dispatched, MANY) == 2);
	TRY(dispatched == 2);
	TRY(!hwt_dispatch_failed(-EAGAIN));
	TRY(!hwt_notify(hwt, 0, 0));
}

static void acknowledge(void)
{
	struct hwtimer_setup setup = { .flags = HWTIMER_SETUP_AT_LEAST_ONCE };
	struct hwtimer_event *event = raw(sizeof(*event));
	struct hwt *hwt;

	TRY(!hwt_open(&hwt, HWT_NONBLOCK));
	TRY(!hwt_setup(hwt, &setup));
	TRY(!hwt_notify(hwt, 2, 0));
	schedule_two(hwt);
	TRY(hwt_next(hwt, event) == 1);
	TRY(!hwt_rewind(hwt));
	TRY(hwt_read(hwt, event, 1) == 1);
	USE(*event);
	TRY(hwt_ack(hwt, 1) == 1);
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
		TRY(!hwt_flush(hwt) && !hwt_refused(hwt));
		poll(&fd, 1, hwt_wait_ms(hwt, -1));
		use_number(hwt_dispatch(hwt, NULL, NULL, MANY));
	}
}

/* Two callbacks, one after the other, and then none */
static void serve_two(struct hwt *hwt, struct connection *connections)
{
	int64_t deadline = hwt_now(hwt);

	connections[0].expired = 0;
	connections[1].expired = 0;
	TRY(!hwt_notify(hwt, 2, 0));
	TRY(!hwt_timer_start_at(&connections[0].timeout, deadline));
	TRY(!hwt_timer_start_at(&connections[1].timeout, deadline));
	TRY(!hwt_flush(hwt));
	wait_for_event(hwt);
	hwt_break(hwt);
	TRY(hwt_dispatch(hwt, NULL, NULL, MANY) == 2);
	TRY(connections[0].expired == 1 && connections[1].expired == 1);
	TRY(!hwt_notify(hwt, 0, 0));
}

/* The module refuses the second timer, so that hwt_dispatch() itself waits. */
static void refused(void)
{
	struct hwtimer_setup setup = { .timers = 1 };
	struct connection connections[2];
	struct hwt *hwt;
	int i;

	TRY(!hwt_open(&hwt, 0) && !hwt_setup(hwt, &setup));
	for (i = 0; i < 2; i++) {
		hwt_timer_init(&connections[i].timeout, hwt, on_timeout);
		TRY(!hwt_timer_start(&connections[i].timeout, 3600 * SECOND));
	}
	TRY(hwt_flush(hwt) == -ENOSPC && hwt_refused(hwt) == -ENOSPC);
	TRY(hwt_dispatch(hwt, NULL, NULL, MANY) == -EAGAIN);
	hwt_close(hwt);
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
	serve_two(hwt, connections);
	TRY(!hwt_timer_start(&connections->timeout, SECOND / 100));
	TRY(!hwt_timer_start_at(&second->timeout, HWTIMER_NEVER));
	TRY(hwt_active(hwt) == 2);
	serve(hwt, connections);
	TRY(!hwt_timer_again(&connections->timeout));
	serve(hwt, connections);
	TRY(!hwt_timer_start_every(&second->timeout, 0, SECOND / 100, 0));
	use_number(hwt_timer_deadline(&second->timeout));
	serve(hwt, second);
	serve(hwt, second);
	hwt_timer_stop(&second->timeout);
	TRY(!hwt_timer_active(&second->timeout) && changes && wrapped);
	refused();
}

/* ---- a manual clock, without the module ---- */

static void manual(void)
{
	struct hwtimer_event *event = raw(sizeof(*event));
	struct hwt **hwt = raw(sizeof(*hwt));

	TRY(!hwt_open_manual(hwt, HWT_NONBLOCK));
	single(*hwt);
	bulks(*hwt);
	lists(*hwt);
	TRY(!hwt_schedule(*hwt, SECOND, 1, NULL));
	TRY(!hwt_advance(*hwt, SECOND));
	wait_for_event(*hwt);
	TRY(hwt_read(*hwt, event, 1) == 1 && event->user_data == 1);
	USE(*event);
	stop(*hwt);
	hwt_close(*hwt);
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
	manual();
	printf("all was done\n");
	return 0;
}
