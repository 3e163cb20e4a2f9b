// SPDX-License-Identifier: GPL-2.0
/*
 * The module beside libhwtimer's instances on a manual clock, user/lib/manual.c: both get the same
 * random calls at the same times, and have to say the same. Ids and the order in which a table is
 * listed are their own; so ids are compared by the timers that they belong to.
 *
 * The module is a program without a scheduler (bare.c). Its worker runs at the beginning of each
 * tick, so it is as punctual as the other one, and even lateness is the same.
 *
 * In a run that is `ordered`, all timers have a place in their tick that <linux/hwtimer.h>
 * promises: then events come in the same order, and programs read and acknowledge some of them.
 * In the other runs there are all kinds of timers, and programs read all events that wait.
 *
 *	usage: manual [--seeds FIRST-LAST]
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "bare.h"
#include "device.h"
#include "internal.h"

#define STEPS 60
/* Calls of a step, at most */
#define CALLS 12
/* Timers of a run, and timers and requests of a call, at most */
#define TIMERS 20000
#define BATCH 40
/* As many events as ever wait */
#define EVENTS_MAX 3500

/* The two that are compared */
enum side { MODULE, MANUAL, SIDES };

/**
 * struct pair - a timer
 * @id: its ids; 0 after it has ended
 * @interval: as scheduled
 * @loose: when it expires is not said to the tick: it was overdue when it was filed
 */
struct pair {
	uint64_t id[SIDES];
	uint64_t interval;
	bool loose;
};

static struct pair pairs[TIMERS];
static unsigned int nr_pairs;

static struct file *file;
static struct manual *manual;
static struct hwtimer_setup setup;
static clockid_t clock_id;
static int descriptor;
static bool ordered, keeps, stopped, any_loose;
/* Programs do something to timers: until advance() */
static bool calling;
static unsigned int unacknowledged;
static uint64_t seed, calls, events_seen;

#define FAIL(...)                                                \
	do {                                                     \
		printf("seed %llu: ", (unsigned long long)seed); \
		printf(__VA_ARGS__);                             \
		printf(" (line %d)\n", __LINE__);                \
		exit(1);                                         \
	} while (0)
#define EXPECT(condition)                       \
	do {                                    \
		if (!(condition))               \
			FAIL("%s", #condition); \
	} while (0)

/* ---- random numbers ---- */

static struct sim_random dice;

static uint64_t below(uint64_t limit)
{
	return sim_random_below(&dice, limit);
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

/* ---- both ---- */

static uint64_t now(void)
{
	return sim_now(clock_id);
}

/*
 * Both are ready, or none. The end of the module is no POLLIN. The worker may have to come for
 * that, but not as long as timers are loose: they may expire in this tick or the next one.
 */
static void compare_ready(void)
{
	struct pollfd poller = { .fd = descriptor, .events = POLLIN };
	int module, other;

	if (calling && !ordered)
		return;
	sim_bare_run();
	module = sim_poll(file, POLLIN, 0);
	other = poll(&poller, 1, 0);
	if (other != !!module)
		FAIL("poll() says %d, and not %x", other, module);
}

static long one(enum side side, unsigned long command, void *argument)
{
	return side == MODULE ? sim_ioctl(file, command, argument) :
				hwt_manual_call(manual, command, argument);
}

/* The same structure for both, which holds no id */
static long both(unsigned long command, void *argument, size_t size)
{
	char copy[sizeof(struct hwtimer_stats) + 16];
	long ret;

	calls++;
	memcpy(copy, argument, size);
	ret = one(MODULE, command, argument);
	EXPECT(one(MANUAL, command, copy) == ret);
	compare_ready();
	return ret;
}

/* ---- timers ---- */

static unsigned int pair_of(enum side side, uint64_t id)
{
	unsigned int i;

	for (i = nr_pairs; i--;)
		if (pairs[i].id[side] == id)
			return i;
	FAIL("an unknown id %llx", (unsigned long long)id);
}

static unsigned int pick_pair(void)
{
	/* Mostly one of the last ones */
	unsigned int span = one_in(8) || nr_pairs < 100 ? nr_pairs : 100;

	return nr_pairs - 1 - below(span);
}

/* Whether a timer that is filed now has its tick behind it. */
static bool is_loose(uint64_t deadline, uint64_t slack)
{
	uint64_t align = 1, tick = setup.tick, nr;

	if (deadline >= HWTIMER_NEVER)
		return false;
	while (2 * align <= slack / tick + 1)
		align *= 2;
	nr = (deadline + tick - 1) / tick;
	nr = (nr + align - 1) / align * align;
	return nr <= now() / tick;
}

static bool settable(void)
{
	return setup.clock == HWTIMER_CLOCK_REALTIME ||
	       setup.clock == HWTIMER_CLOCK_TAI;
}

static int64_t pick_time(uint32_t *flags)
{
	bool absolute = *flags & HWTIMER_REQ_ABSTIME;
	int64_t from = absolute ? now() : 0, tick = setup.tick;

	if (ordered)
		return from + tick * (1 + below(8)) + below(2);
	switch (below(16)) {
	case 0:
		return from - below(3 * tick);
	case 1:
		/* A periodic timer has no more deadlines than one event can tell. */
		return settable() ? from : -(int64_t)below(3);
	case 2:
		return HWTIMER_NEVER - below(2);
	case 3:
		return from + below(tick * 100000);
	default:
		return from + below(tick * 30);
	}
}

static uint64_t pick_slack(void)
{
	if (!one_in(4))
		return 0;
	return one_in(20) ? HWTIMER_NEVER - below(2) : below(20 * setup.tick);
}

/* A request, whose id is the index of a pair */
static struct hwtimer_request pick_request(void)
{
	struct hwtimer_request request = {
		.op = 1 + below(3),
		.user_data = below(1000),
		.slack = pick_slack(),
		.id = nr_pairs ? pick_pair() : 0,
	};

	if (settable() ? !one_in(30) : one_in(2))
		request.flags |= HWTIMER_REQ_ABSTIME;
	request.time = pick_time(&request.flags);
	if (one_in(2) && request.op == HWTIMER_OP_CANCEL)
		request.flags |= HWTIMER_REQ_DISCARD;
	if (ordered) {
		if (request.op == HWTIMER_OP_RESCHEDULE)
			request.op = HWTIMER_OP_SCHEDULE;
		return request;
	}
	if (one_in(4)) {
		request.interval = 50000 + below(5 * setup.tick);
		request.expirations_max = one_in(2) ? 0 : 1 + below(20);
		if (one_in(50))
			request.interval = HWTIMER_NEVER - below(2);
		if (one_in(4))
			request.flags |= HWTIMER_REQ_FIXED_DELAY;
	}
	if (request.op == HWTIMER_OP_RESCHEDULE) {
		if (one_in(3))
			request.flags |= HWTIMER_REQ_SET;
		if (one_in(3))
			request.flags |= HWTIMER_REQ_REARM;
		if (one_in(3))
			request.flags |= HWTIMER_REQ_CREATE;
	}
	/* Not ABSTIME, which would make the delay a deadline of 1970; see pick_time(). */
	if (one_in(60))
		request.flags |= 1U << (1 + below(31));
	if (one_in(200))
		request.reserved = 1;
	if (one_in(200))
		request.op = below(6);
	if (one_in(100))
		request.slack = 1ULL << 63;
	if (one_in(100))
		request.interval = 1ULL << 63;
	return request;
}

/* The request for one of the two, of a pair or of no timer at all */
static struct hwtimer_request request_for(enum side side,
					  struct hwtimer_request request)
{
	if (request.op == HWTIMER_OP_SCHEDULE)
		request.id = 0;
	else if (nr_pairs && request.user_data % 32)
		request.id = pairs[request.id].id[side];
	else
		request.id = request.user_data;
	return request;
}

static uint64_t deadline_of(const struct hwtimer_request *request)
{
	int64_t time = request->time < 0 ? 0 : request->time;

	if (request->flags & HWTIMER_REQ_ABSTIME)
		return time;
	return time > (int64_t)(HWTIMER_NEVER - now()) ?
		       (uint64_t)HWTIMER_NEVER :
		       now() + time;
}

static bool sets(const struct hwtimer_request *request)
{
	return request->op == HWTIMER_OP_SCHEDULE ||
	       request->flags & (HWTIMER_REQ_SET | HWTIMER_REQ_REARM);
}

/* Notes what has become of the timer of a request, which both have done with the same result. */
static void note(const struct hwtimer_request *request,
		 const struct hwtimer_request *module,
		 const struct hwtimer_request *other, int result)
{
	struct pair *pair;

	if (result || request->op == HWTIMER_OP_CANCEL)
		return;
	if (request->op == HWTIMER_OP_RESCHEDULE &&
	    (!(request->flags & HWTIMER_REQ_REARM) ||
	     (nr_pairs && pairs[request->id].id[MODULE] == module->id))) {
		/* The other one has also kept its id. */
		pair = &pairs[pair_of(MODULE, module->id)];
		EXPECT(pair->id[MANUAL] == other->id);
	} else {
		EXPECT(nr_pairs < TIMERS);
		pair = &pairs[nr_pairs++];
		*pair = (struct pair){ { module->id, other->id } };
	}
	if (sets(request))
		pair->interval = request->interval;
	pair->loose = is_loose(deadline_of(request), 0);
	any_loose |= pair->loose;
}

static unsigned long command_of(uint32_t op)
{
	return op == HWTIMER_OP_SCHEDULE ? HWTIMER_IOC_SCHEDULE :
	       op == HWTIMER_OP_CANCEL	 ? HWTIMER_IOC_CANCEL :
					   HWTIMER_IOC_RESCHEDULE;
}

static void call_one(void)
{
	struct hwtimer_request request = pick_request(), each[SIDES];
	long ret;
	int i;

	if (request.op < 1 || request.op > 3)
		return;
	for (i = 0; i < SIDES; i++)
		each[i] = request_for(i, request);
	calls++;
	ret = one(MODULE, command_of(request.op), &each[MODULE]);
	if (one(MANUAL, command_of(request.op), &each[MANUAL]) != ret)
		FAIL("op %u flags %x: the module says %ld", request.op,
		     request.flags, ret);
	note(&request, &each[MODULE], &each[MANUAL], ret);
	compare_ready();
}

static void call_submit(void)
{
	struct hwtimer_request requests[BATCH], each[SIDES][BATCH];
	struct hwtimer_submit submit = { .count = below(BATCH + 1),
					 .flags = one_in(50) };
	long ret[SIDES];
	unsigned int i;
	int side;

	for (i = 0; i < submit.count; i++) {
		requests[i] = pick_request();
		each[MODULE][i] = request_for(MODULE, requests[i]);
		each[MANUAL][i] = request_for(MANUAL, requests[i]);
	}
	for (side = 0; side < SIDES; side++) {
		submit.requests = (uintptr_t)each[side];
		ret[side] = one(side, HWTIMER_IOC_SUBMIT, &submit);
	}
	EXPECT(ret[MODULE] == ret[MANUAL]);
	for (i = 0; (long)i < ret[MODULE]; i++) {
		if (each[MODULE][i].result != each[MANUAL][i].result)
			FAIL("op %u flags %x in SUBMIT: the module says %d, and not %d",
			     requests[i].op, requests[i].flags,
			     each[MODULE][i].result, each[MANUAL][i].result);
		note(&requests[i], &each[MODULE][i], &each[MANUAL][i],
		     each[MODULE][i].result);
	}
	calls += submit.count;
	compare_ready();
}

static void call_bulk(void)
{
	struct hwtimer_bulk_timer each[SIDES][BATCH];
	uint64_t results[SIDES][BATCH];
	struct hwtimer_bulk bulk = {
		.op = 1 + below(3),
		.count = below(BATCH + 1),
		.slack = pick_slack(),
		.flags = one_in(2) || settable() ? HWTIMER_REQ_ABSTIME : 0,
	};
	struct hwtimer_request request;
	long ret[SIDES];
	unsigned int i, at[BATCH];
	bool ignored;
	int side;

	if (!nr_pairs || (ordered && bulk.op == HWTIMER_OP_RESCHEDULE))
		bulk.op = HWTIMER_OP_SCHEDULE;
	if (one_in(2) && bulk.op == HWTIMER_OP_CANCEL)
		bulk.flags |= HWTIMER_REQ_DISCARD;
	ignored = one_in(20) && bulk.op != HWTIMER_OP_RESCHEDULE;
	if (one_in(50))
		bulk.flags |= 1U << below(32);
	if (one_in(100))
		bulk.reserved = 1;
	if (one_in(100))
		bulk.slack = 1ULL << 63;
	for (i = 0; i < bulk.count; i++) {
		int64_t time = pick_time(&bulk.flags);
		uint64_t data = below(1000);

		at[i] = nr_pairs ? pick_pair() : 0;
		for (side = 0; side < SIDES; side++) {
			each[side][i].time = time;
			each[side][i].id = bulk.op == HWTIMER_OP_SCHEDULE ?
						   data :
						   pairs[at[i]].id[side];
		}
	}
	for (side = 0; side < SIDES; side++) {
		uint64_t *ids = results[side];

		if (bulk.op == HWTIMER_OP_CANCEL)
			for (i = 0; i < bulk.count; i++)
				ids[i] = each[side][i].id;
		bulk.timers = bulk.op == HWTIMER_OP_CANCEL ?
				      (uintptr_t)ids :
				      (uintptr_t)each[side];
		bulk.results = ignored ? 0 : (uintptr_t)ids;
		ret[side] = one(side, HWTIMER_IOC_BULK, &bulk);
	}
	EXPECT(ret[MODULE] == ret[MANUAL]);
	for (i = 0; !ignored && (long)i < ret[MODULE]; i++) {
		struct hwtimer_request done[SIDES] = { 0 };

		EXPECT(hwt_error(results[MODULE][i]) ==
		       hwt_error(results[MANUAL][i]));
		request = (struct hwtimer_request){
			.op = bulk.op,
			.flags = bulk.flags,
			.id = at[i],
			.time = each[MODULE][i].time,
		};
		for (side = 0; side < SIDES; side++)
			done[side].id = bulk.op == HWTIMER_OP_SCHEDULE ?
						results[side][i] :
						each[side][i].id;
		if (bulk.op != HWTIMER_OP_SCHEDULE)
			EXPECT(results[MODULE][i] == results[MANUAL][i]);
		note(&request, &done[MODULE], &done[MANUAL],
		     hwt_error(results[MODULE][i]));
	}
	calls += bulk.count;
	compare_ready();
}

/* ---- what there is ---- */

static unsigned int side_sorted;

static int by_pair(const void *a, const void *b)
{
	const struct hwtimer_timer *first = a, *second = b;

	return (int)first->id - (int)second->id;
}

/* Gets all pages of a LIST or a CANCEL_ALL, with pairs in place of ids. */
static unsigned int pages(enum side side, unsigned long command,
			  unsigned int flags, struct hwtimer_timer *timers)
{
	struct hwtimer_list list = { .flags = flags };
	unsigned int done = 0, i;
	long ret;

	do {
		list.timers = (uintptr_t)&timers[done];
		list.count = 1 + below(100);
		ret = one(side, command, &list);
		EXPECT(ret >= 0 && ret <= list.count);
		done += ret;
	} while (ret);
	for (i = 0; i < done; i++)
		timers[i].id = pair_of(side, timers[i].id);
	side_sorted = side;
	qsort(timers, done, sizeof(*timers), by_pair);
	return done;
}

static struct hwtimer_timer listed[SIDES][TIMERS];

static void compare_pages(unsigned long command, unsigned int flags)
{
	unsigned int count[SIDES], i;
	int side;

	for (side = 0; side < SIDES; side++)
		count[side] = pages(side, command, flags, listed[side]);
	if (count[MODULE] != count[MANUAL])
		FAIL("%u timers, and not %u", count[MANUAL], count[MODULE]);
	for (i = 0; i < count[MODULE]; i++)
		if (memcmp(&listed[MODULE][i], &listed[MANUAL][i],
			   sizeof(listed[0][0])))
			FAIL("timer %llu is described in another way",
			     (unsigned long long)listed[MODULE][i].id);
	calls += 2;
	compare_ready();
}

static void call_query(void)
{
	struct hwtimer_timer timers[SIDES];
	unsigned int at;
	int side;
	long ret[SIDES];

	if (!nr_pairs)
		return;
	at = pick_pair();
	memset(timers, 0xff, sizeof(timers));
	for (side = 0; side < SIDES; side++) {
		timers[side].id = pairs[at].id[side];
		ret[side] = one(side, HWTIMER_IOC_QUERY, &timers[side]);
		timers[side].id = 0;
	}
	EXPECT(ret[MODULE] == ret[MANUAL]);
	EXPECT(!memcmp(&timers[MODULE], &timers[MANUAL], sizeof(timers[0])));
	calls++;
}

static void call_info(void)
{
	struct hwtimer_info info[SIDES];
	int side;

	for (side = 0; side < SIDES; side++)
		EXPECT(!one(side, HWTIMER_IOC_INFO, &info[side]));
	/* The module may look earlier at its wheel. */
	EXPECT(info[MODULE].until_next <= info[MANUAL].until_next);
	info[MODULE].until_next = info[MANUAL].until_next;
	EXPECT(!memcmp(&info[MODULE], &info[MANUAL], sizeof(info[0])));
	calls++;
}

static void call_stats(void)
{
	struct hwtimer_stats stats[SIDES];
	int side;

	for (side = 0; side < SIDES; side++) {
		EXPECT(!one(side, HWTIMER_IOC_STATS, &stats[side]));
		stats[side].bytes = 0;
		stats[side].bytes_peak = 0;
		if (!any_loose)
			continue;
		stats[side].lateness_max = 0;
		stats[side].lateness_sum = 0;
		memset(stats[side].lateness, 0, sizeof(stats[side].lateness));
	}
	EXPECT(!memcmp(&stats[MODULE], &stats[MANUAL], sizeof(stats[0])));
	calls++;
}

static void call_notify(void)
{
	static const uint32_t numbers[] = { 0, 1, 2, 3, 10, 50, 4096, 4097 };
	struct hwtimer_notify notify = {
		.events = numbers[below(8)],
		.delay = one_in(2) ? 0 : below(30 * setup.tick),
		.flags = one_in(50),
	};

	if (one_in(30))
		notify.delay = HWTIMER_NEVER + below(2);
	both(HWTIMER_IOC_NOTIFY, &notify, sizeof(notify));
}

static void call_setup(void)
{
	struct hwtimer_setup other = {
		.tick = one_in(2) ? 0 : below(1000000),
		.timers = below(1U << 25),
		.buckets = below(1U << 21),
		.clock = one_in(2) ? 0 : HWTIMER_CLOCK(below(12)),
		.flags = below(5),
		.reserved = one_in(10),
	};

	/* Before the first timer, it may succeed. */
	if (nr_pairs)
		both(HWTIMER_IOC_SETUP, &other, sizeof(other));
}

static void call_cancel_all(void)
{
	struct hwtimer_list list = { .flags = 1U << below(32) };
	unsigned int flags = one_in(2) ? HWTIMER_LIST_DISCARD : 0;

	if (!one_in(20)) {
		list.flags &= ~HWTIMER_LIST_STOP;
		both(HWTIMER_IOC_CANCEL_ALL, &list, sizeof(list));
		return;
	}
	if (one_in(3)) {
		flags |= HWTIMER_LIST_STOP;
		stopped = true;
	}
	if (stopped && one_in(2)) {
		/* Without the timers, which are handed back later */
		list.flags = HWTIMER_LIST_STOP;
		both(HWTIMER_IOC_CANCEL_ALL, &list, sizeof(list));
		return;
	}
	compare_pages(HWTIMER_IOC_CANCEL_ALL, flags);
}

/* ---- events ---- */

static int by_due(const void *a, const void *b)
{
	const struct hwtimer_event *first = a, *second = b;

	return (int)first->id - (int)second->id;
}

static int take(enum side side, struct hwtimer_event *events,
		unsigned int count)
{
	int ret, i;

	if (side == MODULE) {
		ret = sim_read(file, events, count * sizeof(*events), true);
		ret = ret > 0 ? ret / (int)sizeof(*events) :
		      ret     ? ret :
				-ENOTCONN;
	} else {
		ret = hwt_manual_read(manual, events, count, false);
	}
	for (i = 0; i < ret; i++)
		events[i].id = pair_of(side, events[i].id);
	if (!ordered && ret > 0)
		qsort(events, ret, sizeof(*events), by_due);
	return ret;
}

static void compare_event(struct hwtimer_event *module,
			  struct hwtimer_event *other)
{
	const struct pair *pair = &pairs[module->id];

	/* With acknowledgements, a periodic timer may be filed with a deadline that has passed. */
	if (pair->loose || (keeps && pair->interval)) {
		module->lateness = 0;
		other->lateness = 0;
	}
	if (memcmp(module, other, sizeof(*module)))
		FAIL("event of %llu with %u expirations, not of %llu with %u",
		     (unsigned long long)module->id, module->expirations,
		     (unsigned long long)other->id, other->expirations);
}

/* Returns the number of events. */
static int read_some(unsigned int count)
{
	static struct hwtimer_event events[SIDES][EVENTS_MAX];
	int side, i, ret[SIDES];

	for (side = 0; side < SIDES; side++)
		ret[side] = take(side, events[side], count);
	if (ret[MODULE] != ret[MANUAL])
		FAIL("read() says %d, and not %d", ret[MANUAL], ret[MODULE]);
	for (i = 0; i < ret[MODULE]; i++)
		compare_event(&events[MODULE][i], &events[MANUAL][i]);
	compare_ready();
	calls++;
	if (ret[MODULE] <= 0)
		return 0;
	events_seen += ret[MODULE];
	unacknowledged += keeps ? ret[MODULE] : 0;
	return ret[MODULE];
}

static void acknowledge(void)
{
	struct hwtimer_ack ack = {
		.count = ordered ? below(unacknowledged + 2) : unacknowledged,
		.flags = one_in(4) ? HWTIMER_ACK_REWIND : 0,
	};
	long ret;

	/* It may file periodic timers that are overdue. */
	calling = true;
	if (one_in(30))
		ack.flags |= 1U << below(32);
	/* Not all of them: they would be others. */
	if (!ordered && one_in(4))
		ack.count = 0;
	ret = both(HWTIMER_IOC_ACK, &ack, sizeof(ack));
	if (ret < 0)
		return;
	any_loose |= !ordered;
	unacknowledged -= ret;
	if (ack.flags & HWTIMER_ACK_REWIND)
		unacknowledged = 0;
}

static void read_phase(void)
{
	if (one_in(3))
		return;
	if (ordered)
		read_some(1 + below(30));
	else
		while (read_some(EVENTS_MAX))
			;
	if (!one_in(3))
		acknowledge();
}

/* ---- a run ---- */

/* Has the module's worker run at the beginning of each tick. */
static void advance(uint64_t ns)
{
	uint64_t target = now() + ns, tick;

	calling = false;
	while (now() < target) {
		tick = (now() / setup.tick + 1) * setup.tick;
		sim_clock_advance((tick < target ? tick : target) - now());
		sim_bare_run();
	}
	EXPECT(!hwt_manual_advance(manual, ns));
	EXPECT(now() == (uint64_t)hwt_manual_now(manual));
	compare_ready();
}

static void call_any(void)
{
	switch (below(16)) {
	case 0:
		call_query();
		break;
	case 1:
		call_info();
		break;
	case 2:
		call_stats();
		break;
	case 3:
		call_notify();
		break;
	case 4:
		compare_pages(HWTIMER_IOC_LIST, 0);
		break;
	case 5:
		call_setup();
		break;
	case 6:
		call_cancel_all();
		break;
	case 7:
	case 8:
		call_submit();
		break;
	case 9:
	case 10:
		call_bulk();
		break;
	default:
		call_one();
	}
}

static void setup_choose(void)
{
	static const uint32_t clocks[] = { HWTIMER_CLOCK_MONOTONIC,
					   HWTIMER_CLOCK_BOOTTIME,
					   HWTIMER_CLOCK_REALTIME,
					   HWTIMER_CLOCK_TAI };
	static const uint64_t ticks[] = { 10000, 1000000, 7777777, 100000000 };

	setup = (struct hwtimer_setup){
		.tick = ticks[below(4)],
		.timers = one_in(2) ? 20 + below(200) : EVENTS_MAX,
		.buckets = 8 + below(100),
		.clock = clocks[below(4)],
		.flags = one_in(3) ? HWTIMER_SETUP_AT_LEAST_ONCE : 0,
	};
	keeps = setup.flags & HWTIMER_SETUP_AT_LEAST_ONCE;
	ordered = one_in(2);
	clock_id = HWTIMER_CLOCKID(setup.clock);
}

static void begin(void)
{
	int err;

	sim_bare_begin();
	EXPECT(sim_module_load());
	sim_bare_run();
	file = sim_open(&err);
	EXPECT(file);
	descriptor = hwt_manual_new(&manual);
	EXPECT(descriptor >= 0);
	/* Both begin with the same time. */
	sim_clock_advance(hwt_manual_now(manual) - sim_now(CLOCK_MONOTONIC));
	setup_choose();
	both(HWTIMER_IOC_SETUP, &setup, sizeof(setup));
	EXPECT(!hwt_manual_advance(manual, now() - hwt_manual_now(manual)));
}

static void run(void)
{
	unsigned int step, n;

	dice.state = seed;
	begin();
	for (step = 0; step < STEPS && !stopped; step++) {
		calling = true;
		for (n = below(CALLS); n && !stopped; n--)
			call_any();
		advance(setup.tick * (1 + below(one_in(20) ? 3000 : 12)) +
			below(setup.tick));
		read_phase();
	}
	/* What is left, after the end of a stopped one, too */
	calling = true;
	for (n = 0; n < 20; n++)
		call_any();
	ordered = false;
	advance(setup.tick * 40);
	compare_pages(HWTIMER_IOC_LIST, 0);
	while (read_some(EVENTS_MAX))
		;
	compare_pages(HWTIMER_IOC_CANCEL_ALL, 0);
	call_stats();
	compare_pages(HWTIMER_IOC_LIST, 0);
}

int main(int argc, char **argv)
{
	unsigned long long first = 1, last = 300, total[2] = { 0 }, got[2];
	int pipes[2], status;

	if (argc > 1 && (argc != 3 || strcmp(argv[1], "--seeds") ||
			 sscanf(argv[2], "%llu-%llu", &first, &last) != 2)) {
		fprintf(stderr, "usage: manual [--seeds FIRST-LAST]\n");
		return 2;
	}
	for (seed = first; seed <= last; seed++) {
		if (pipe(pipes))
			return 2;
		/* The module can be loaded once in a process. */
		if (!fork()) {
			run();
			got[0] = calls;
			got[1] = events_seen;
			exit(write(pipes[1], got, sizeof(got)) != sizeof(got));
		}
		close(pipes[1]);
		if (wait(&status) < 0 || status) {
			printf("repeat it with --seeds %llu-%llu\n",
			       (unsigned long long)seed,
			       (unsigned long long)seed);
			return 1;
		}
		if (read(pipes[0], got, sizeof(got)) != sizeof(got))
			return 2;
		close(pipes[0]);
		total[0] += got[0];
		total[1] += got[1];
	}
	printf("%llu operations and %llu events: no difference\n", total[0],
	       total[1]);
	return 0;
}
