// SPDX-License-Identifier: MIT
/*
 * Tests instances on a manual clock as a program uses them on a machine without the module: by
 * libhwtimer's functions alone. Nothing here waits for time to pass. test/sim/manual.c compares
 * them with the module. Built with sanitizers and run by test/vm/userland.sh.
 *
 *	usage: manual_test [PASSES]
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwtimer.h>

#include "check.h"
#include "memory.h"

#define MS 1000000LL
#define SECOND (1000 * MS)
#define START (86400 * SECOND)

/* Timers of a random run */
#define N 2000

static struct hwt *hwt;

static void begin(unsigned int flags)
{
	CHECK(!hwt_open_manual(&hwt, flags));
}

static void begin_with(struct hwtimer_setup setup)
{
	begin(HWT_NONBLOCK);
	CHECK(!hwt_setup(hwt, &setup));
}

static int ready(void)
{
	struct pollfd poller = { .fd = hwt_fd(hwt), .events = POLLIN };

	return poll(&poller, 1, 0);
}

static struct hwtimer_stats stats(void)
{
	struct hwtimer_stats stats;

	CHECK(!hwt_stats(hwt, &stats));
	return stats;
}

/* ---- never early, in order, and as late as tick and slack allow ---- */

static uint64_t random_state = 1;

static uint64_t pick(uint64_t limit)
{
	random_state = random_state * 6364136223846793005ULL + 1;
	return (random_state >> 33) % limit;
}

/* The deadlines and slacks of timers; user_data is the index. */
static int64_t deadlines[N], slacks[N];
static bool came[N];

static void expect_event(const struct hwtimer_event *event, int64_t tick,
			 int64_t *latest)
{
	uint64_t i = event->user_data;
	int64_t queued = event->deadline + event->lateness;

	CHECK(i < N && !came[i]);
	came[i] = true;
	CHECK((int64_t)event->deadline == deadlines[i]);
	CHECK(deadlines[i] <= queued && queued <= (int64_t)hwt_now(hwt));
	CHECK(queued % tick == 0 && queued >= *latest);
	CHECK(event->lateness < tick + slacks[i]);
	*latest = queued;
}

/* Some get their deadline later, and among them are some that are cancelled. */
static void schedule_random(int64_t tick)
{
	uint64_t cancelled[N];
	unsigned int i, n = 0;

	for (i = 0; i < N; i++) {
		struct hwtimer_request request = {
			.flags = HWTIMER_REQ_ABSTIME,
			.user_data = i,
			.time = START + 1 + pick(200 * tick),
			.slack = pick(2) * pick(20 * tick),
		};

		deadlines[i] = request.time;
		slacks[i] = request.slack;
		came[i] = false;
		CHECK(!hwt_schedule_request(hwt, &request));
		if (pick(2))
			CHECK(!hwt_schedule(hwt, pick(200 * tick), N,
					    &cancelled[n++]));
		if (pick(2))
			continue;
		deadlines[i] = START + 1 + pick(200 * tick);
		CHECK(!hwt_reschedule_at(hwt, request.id, deadlines[i]));
	}
	while (n--)
		CHECK(!hwt_cancel(hwt, cancelled[n]));
}

static void random_timers(void)
{
	int64_t tick = 10000 + pick(20 * MS), latest = START, now;
	struct hwtimer_event event;
	uint64_t remaining;
	unsigned int i;

	begin_with((struct hwtimer_setup){ .tick = tick });
	schedule_random(tick);
	do {
		CHECK(!hwt_advance(hwt,
				   pick(3) ? pick(40 * tick) : pick(tick)));
		now = hwt_now(hwt);
		while (hwt_next(hwt, &event) == 1)
			expect_event(&event, tick, &latest);
		for (i = 0; i < N; i++)
			CHECK(came[i] || deadlines[i] + slacks[i] + tick > now);
		CHECK(!hwt_next_time(hwt, &remaining));
	} while (remaining != HWTIMER_NEVER);
	for (i = 0; i < N; i++)
		CHECK(came[i]);
	hwt_close(hwt);
}

/* hwt_next_time() is exact: a ns before, nothing has expired. */
static void step_by_step(void)
{
	struct hwtimer_event event;
	uint64_t remaining;
	int i, count = 0;

	begin(HWT_NONBLOCK);
	for (i = 0; i < 100; i++)
		CHECK(!hwt_schedule(hwt, 1 + pick(SECOND), i, NULL));
	while (!hwt_next_time(hwt, &remaining) && remaining != HWTIMER_NEVER) {
		CHECK(remaining);
		CHECK(!hwt_advance(hwt, remaining - 1));
		CHECK(hwt_next(hwt, &event) == -EAGAIN && !ready());
		CHECK(!hwt_advance(hwt, 1));
		CHECK(ready());
		while (hwt_next(hwt, &event) == 1)
			count++;
		CHECK(!ready());
	}
	CHECK(count == 100);
	hwt_close(hwt);
}

/* ---- opening ---- */

static void open_and_close(void)
{
	struct hwtimer_event event;
	struct rlimit limit, few;
	struct hwt *other = NULL;
	int n, free_one;

	CHECK(hwt_open_manual(&hwt, 2) == -EINVAL && !hwt);
	begin(0);
	CHECK(hwt_now(hwt) == START);
	/* It is an instance of this process alone. */
	CHECK(hwt_from_fd(&other, hwt_fd(hwt), 0) == -ENOTTY && !other);
	CHECK(hwt_dispatch_check(hwt) == -EINVAL);
	/* Who reads without the library does not get what is no event. */
	CHECK(!hwt_schedule(hwt, 0, 0, NULL) && !hwt_advance(hwt, MS));
	CHECK(read(hwt_fd(hwt), &event, sizeof(event)) < 0 && errno == EINVAL);
	CHECK(hwt_next(hwt, &event) == 1);
	hwt_close(hwt);
	begin(HWT_NONBLOCK);
	CHECK(!hwt_dispatch_check(hwt));
	hwt_close(hwt);
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	/* It needs two, and there is none, or one. */
	few = limit;
	free_one = epoll_create1(EPOLL_CLOEXEC);
	close(free_one);
	for (n = 0; n < 2; n++) {
		few.rlim_cur = free_one + n;
		CHECK(!setrlimit(RLIMIT_NOFILE, &few));
		CHECK(hwt_open_manual(&hwt, 0) == -EMFILE && !hwt);
	}
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	n = 0;
	for (allocations_left = 0; hwt_open_manual(&hwt, 0) == -ENOMEM;
	     allocations_left = ++n)
		CHECK(!hwt);
	allocations_left = -1;
	CHECK(n == 2);
	hwt_close(hwt);
}

static void without_memory(void)
{
	uint64_t ids[100];
	unsigned int i;

	begin(HWT_NONBLOCK);
	allocations_left = 0;
	CHECK(hwt_schedule(hwt, 0, 0, NULL) == -ENOMEM);
	allocations_left = 1;
	CHECK(hwt_schedule(hwt, 0, 0, NULL) == -ENOMEM);
	allocations_left = 2;
	for (i = 0; !hwt_schedule(hwt, i, i, &ids[i]); i++)
		;
	CHECK(i > 1 && stats().pending == i);
	/* Those that it has expire without any. */
	CHECK(!hwt_advance(hwt, SECOND));
	CHECK(stats().ready == i);
	CHECK(!hwt_discard(hwt, ids[0]) && !hwt_schedule(hwt, 1, 1, NULL));
	allocations_left = -1;
	hwt_close(hwt);
}

static void clocks(void)
{
	static const uint32_t clocks[] = { HWTIMER_CLOCK_REALTIME,
					   HWTIMER_CLOCK_TAI };
	struct hwt_timer timer;
	uint64_t id;
	int i;

	for (i = 0; i < 2; i++) {
		begin_with((struct hwtimer_setup){ .clock = clocks[i] });
		CHECK(hwt_now(hwt) == START);
		CHECK(hwt_schedule(hwt, MS, 0, NULL) == -EINVAL);
		CHECK(!hwt_schedule_at(hwt, START + MS, 0, &id));
		CHECK(hwt_reschedule(hwt, id, MS) == -EINVAL);
		hwt_timer_init(&timer, hwt, (hwt_timer_callback)abort);
		CHECK(!hwt_timer_start(&timer, SECOND));
		CHECK(hwt_timer_deadline(&timer) == START + SECOND);
		CHECK(!hwt_advance(hwt, SECOND - MS) && ready());
		hwt_timer_stop(&timer);
		hwt_close(hwt);
	}
}

/* Programs that know other structures than the library, or that know nothing */
static void sizes(void)
{
	struct {
		struct hwtimer_info info;
		char more[8];
	} longer;
	struct {
		struct hwtimer_setup setup;
		char more[8];
	} setup = { .setup.tick = 5 * MS };
	/* Where nobody may write */
	static const struct {
		struct hwtimer_setup setup;
		char more[8];
	} constant = { .setup.tick = 7 * MS };

	begin(HWT_NONBLOCK);
	memset(&longer, 0xff, sizeof(longer));
	CHECK(!hwt_info_sized(hwt, &longer.info, sizeof(longer)));
	CHECK(longer.info.abi_version == HWTIMER_ABI_VERSION);
	CHECK(!longer.more[0] && !longer.more[7]);
	CHECK(hwt_info_sized(hwt, &longer.info, 8) == -EINVAL);
	CHECK(hwt_setup_sized(hwt, &setup.setup, 8) == -EINVAL);
	CHECK(!hwt_setup_sized(hwt, &setup.setup, sizeof(setup)));
	CHECK(!hwt_info(hwt, &longer.info) && longer.info.tick == 5 * MS);
	CHECK(!hwt_setup_sized(hwt, &constant.setup, sizeof(constant)));
	CHECK(!hwt_info(hwt, &longer.info) && longer.info.tick == 7 * MS);
	setup.more[7] = 1;
	CHECK(hwt_setup_sized(hwt, &setup.setup, sizeof(setup)) == -E2BIG);
	CHECK(hwt_read(hwt, NULL, 0) == -EINVAL);
	CHECK(hwt_ack(hwt, 0) == -EINVAL && hwt_rewind(hwt) == -EINVAL);
	hwt_close(hwt);
}

/* ---- the clock ---- */

static void advance_refuses(void)
{
	begin(HWT_NONBLOCK);
	CHECK(hwt_advance(hwt, -1) == -EINVAL);
	CHECK(hwt_advance(hwt, HWTIMER_NEVER) == -EINVAL);
	CHECK(hwt_advance(hwt, HWTIMER_NEVER - START) == -EINVAL);
	CHECK(hwt_now(hwt) == START);
	CHECK(!hwt_advance(hwt, HWTIMER_NEVER - START - 1));
	CHECK(hwt_advance(hwt, 1) == -EINVAL && !hwt_advance(hwt, 0));
	hwt_close(hwt);
}

/* What is due already waits for the next tick; the last tick comes, and never does not. */
static void ends_of_time(void)
{
	struct hwtimer_event event;
	uint64_t id, never;

	begin(HWT_NONBLOCK);
	CHECK(!hwt_schedule(hwt, 0, 1, NULL));
	CHECK(!hwt_schedule_at(hwt, 0, 2, NULL));
	CHECK(!hwt_schedule(hwt, -5, 3, NULL));
	CHECK(!hwt_advance(hwt, MS - 1) && !ready());
	CHECK(!hwt_advance(hwt, 1));
	for (id = 1; id <= 3; id++)
		CHECK(hwt_next(hwt, &event) == 1 && event.user_data == id);
	CHECK(!hwt_schedule_at(hwt, HWTIMER_NEVER - 2 * MS, 4, NULL));
	CHECK(!hwt_schedule(hwt, HWTIMER_NEVER, 5, &never));
	CHECK(!hwt_schedule(hwt, HWTIMER_NEVER - 1, 6, NULL));
	CHECK(!hwt_advance(hwt, HWTIMER_NEVER - 1 - hwt_now(hwt)));
	CHECK(hwt_next(hwt, &event) == 1 && event.user_data == 4);
	CHECK(hwt_next(hwt, &event) == -EAGAIN);
	CHECK(!hwt_cancel(hwt, never) && hwt_cancel(hwt, never) == -ENOENT);
	hwt_close(hwt);
}

/* ---- waiting ---- */

static void *advance_later(void *arg)
{
	(void)arg;
	CHECK(!hwt_advance(hwt, SECOND));
	return NULL;
}

static void *take_one(void *arg)
{
	struct hwtimer_event event;

	(void)arg;
	CHECK(hwt_read(hwt, &event, 1) == 1);
	CHECK(hwt_read(hwt, &event, 1) == -ENOTCONN);
	return NULL;
}

static void waits(void)
{
	struct hwtimer_event event;
	pthread_t thread;

	begin(0);
	CHECK(hwt_next(hwt, &event) == -EDEADLK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1) == -EDEADLK);
	CHECK(hwt_dispatch_failed(-EDEADLK));
	CHECK(!hwt_schedule(hwt, SECOND, 7, NULL));
	CHECK(hwt_read(hwt, &event, 1) == -EDEADLK);
	/* Another thread has become the one that moves the clock. */
	CHECK(!pthread_create(&thread, NULL, advance_later, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK(hwt_next(hwt, &event) == 1 && event.user_data == 7);
	CHECK(!hwt_advance(hwt, 0));
	CHECK(hwt_next(hwt, &event) == -EDEADLK);
	/* A thread that does not waits. */
	CHECK(!hwt_schedule(hwt, SECOND, 8, NULL));
	CHECK(!pthread_create(&thread, NULL, take_one, NULL));
	CHECK(!hwt_advance(hwt, SECOND));
	while (stats().ready)
		sched_yield();
	CHECK(!hwt_stop(hwt, NULL, NULL, 0));
	CHECK(!pthread_join(thread, NULL));
	hwt_close(hwt);
}

static int answer;
static bool answered;

static void *read_one(void *arg)
{
	struct hwtimer_event event;

	(void)arg;
	answer = hwt_read(hwt, &event, 1);
	__atomic_store_n(&answered, true, __ATOMIC_RELEASE);
	return NULL;
}

static void interrupted(int signal)
{
	(void)signal;
}

/* The thread that has moved the clock has ended. A new one, in its place in memory, waits. */
static void waits_in_the_place_of_another(void)
{
	const struct sigaction action = { .sa_handler = interrupted };
	pthread_t thread;

	begin(0);
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!pthread_create(&thread, NULL, advance_later, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!pthread_create(&thread, NULL, read_one, NULL));
	while (!__atomic_load_n(&answered, __ATOMIC_ACQUIRE)) {
		CHECK(!pthread_kill(thread, SIGUSR1));
		sched_yield();
	}
	CHECK(!pthread_join(thread, NULL));
	CHECK(answer == -EINTR);
	hwt_close(hwt);
}

/* ---- readiness ---- */

static void notify(void)
{
	struct hwtimer_event events[8];

	begin(HWT_NONBLOCK);
	CHECK(hwt_notify(hwt, HWTIMER_EVENTS_MAX + 1, 0) == -EINVAL);
	CHECK(!hwt_notify(hwt, 3, SECOND));
	CHECK(!hwt_schedule(hwt, MS, 0, NULL) &&
	      !hwt_schedule(hwt, MS, 0, NULL));
	CHECK(!hwt_advance(hwt, MS) && !ready());
	CHECK(!hwt_advance(hwt, SECOND - 1) && !ready());
	CHECK(!hwt_advance(hwt, 1) && ready());
	CHECK(hwt_read(hwt, events, 1) == 1 && ready());
	CHECK(hwt_read(hwt, events, 8) == 1 && !ready());
	CHECK(hwt_schedule(hwt, 0, 0, NULL) == 0 && !hwt_advance(hwt, MS));
	CHECK(!ready() && !hwt_notify(hwt, 0, 0) && ready());
	CHECK(!hwt_notify(hwt, 2, 0) && !ready());
	/* Below the number, a read that does not wait takes what there is. */
	CHECK(hwt_read(hwt, events, 8) == 1);
	CHECK(!hwt_schedule(hwt, 0, 0, NULL) && !hwt_advance(hwt, MS));
	CHECK(!ready() && !hwt_stop(hwt, NULL, NULL, 0) && ready());
	CHECK(hwt_read(hwt, events, 8) == 1);
	CHECK(hwt_read(hwt, events, 8) == -ENOTCONN && ready());
	hwt_close(hwt);
}

/* Edge-triggered epoll hears of new events though older ones were left. */
static void edges(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int i, epoll = epoll_create1(EPOLL_CLOEXEC);

	begin(HWT_NONBLOCK);
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, hwt_fd(hwt), &event));
	for (i = 0; i < 3; i++) {
		CHECK(!epoll_wait(epoll, &event, 1, 0));
		CHECK(!hwt_schedule(hwt, MS, 0, NULL));
		CHECK(!epoll_wait(epoll, &event, 1, 0));
		CHECK(!hwt_advance(hwt, MS));
		CHECK(epoll_wait(epoll, &event, 1, 0) == 1);
	}
	close(epoll);
	hwt_close(hwt);
}

/* More is due than may wait: nothing is lost, and the order stays. */
static void full(void)
{
	struct hwtimer_event event;
	unsigned int i, more = 100000, count = HWTIMER_EVENTS_MAX + more;
	uint64_t remaining;

	begin(HWT_NONBLOCK);
	for (i = 0; i < count; i++)
		CHECK(!hwt_schedule(hwt, (1 + i / 50) * MS, i, NULL));
	CHECK(!hwt_notify(hwt, HWTIMER_EVENTS_MAX, 0));
	CHECK(!hwt_advance(hwt, 3 * SECOND) && ready());
	CHECK(stats().ready == HWTIMER_EVENTS_MAX && stats().pending == more);
	for (i = 0; i < count; i++) {
		CHECK(hwt_next(hwt, &event) == 1 && event.user_data == i);
		/* Those that came late for the reader's sake are as late as it. */
		if (i >= HWTIMER_EVENTS_MAX)
			CHECK(event.deadline + event.lateness == hwt_now(hwt));
	}
	CHECK(hwt_next(hwt, &event) == -EAGAIN);
	CHECK(!hwt_next_time(hwt, &remaining) && remaining == HWTIMER_NEVER);
	hwt_close(hwt);
}

/* ---- periodic timers, and events that stay ---- */

static void periods(void)
{
	struct hwtimer_request request = { .time = 10 * MS,
					   .interval = 10 * MS,
					   .expirations_max = 7 };
	struct hwtimer_event event;
	struct hwtimer_timer timer;
	unsigned int left;

	begin(HWT_NONBLOCK);
	CHECK(!hwt_schedule_request(hwt, &request));
	for (left = 7; left;) {
		CHECK(!hwt_advance(hwt, 25 * MS));
		timer.id = request.id;
		CHECK(!hwt_query(hwt, &timer));
		CHECK(timer.expirations_left == left);
		CHECK(hwt_next(hwt, &event) == 1);
		CHECK(event.expirations == timer.expirations);
		left -= event.expirations;
		CHECK(hwt_next(hwt, &event) == -EAGAIN);
	}
	CHECK(hwt_query(hwt, &timer) == -ENOENT);
	request.flags = HWTIMER_REQ_FIXED_DELAY;
	CHECK(!hwt_schedule_request(hwt, &request));
	CHECK(!hwt_advance(hwt, 35 * MS));
	CHECK(hwt_next(hwt, &event) == 1 && event.expirations == 1);
	timer.id = request.id;
	CHECK(!hwt_query(hwt, &timer) && timer.remaining == 10 * MS);
	hwt_close(hwt);
}

static const struct hwtimer_setup keeping = {
	.flags = HWTIMER_SETUP_AT_LEAST_ONCE
};

static void at_least_once(void)
{
	struct hwtimer_event event;
	uint64_t ids[4];
	int i;

	begin_with(keeping);
	for (i = 0; i < 4; i++)
		CHECK(!hwt_schedule(hwt, MS, i, &ids[i]));
	CHECK(!hwt_advance(hwt, MS));
	for (i = 0; i < 3; i++)
		CHECK(hwt_next(hwt, &event) == 1);
	CHECK(!hwt_discard(hwt, ids[0]));
	/* It counts, as it was read. */
	CHECK(hwt_ack(hwt, 1) == 1);
	CHECK(!hwt_rewind(hwt));
	for (i = 1; i < 4; i++)
		CHECK(hwt_next(hwt, &event) == 1 && event.id == ids[i]);
	CHECK(hwt_ack(hwt, 4) == -EINVAL && hwt_ack(hwt, 3) == 3);
	CHECK(stats().delivered == 3 && stats().discarded == 1);
	hwt_close(hwt);
}

/* A ring that is full of events that nobody acknowledges is ready at once. */
static void full_of_unacknowledged(void)
{
	struct hwtimer_event event;
	unsigned int i;

	begin_with(keeping);
	for (i = 0; i < HWTIMER_EVENTS_MAX + 1; i++)
		CHECK(!hwt_schedule(hwt, MS, i, NULL));
	CHECK(!hwt_notify(hwt, 100, 0) && !hwt_advance(hwt, MS));
	for (i = 0; i < HWTIMER_EVENTS_MAX - 1; i++)
		CHECK(hwt_read(hwt, &event, 1) == 1);
	CHECK(ready() && hwt_read(hwt, &event, 1) == 1);
	CHECK(!ready() && hwt_read(hwt, &event, 1) == -EAGAIN);
	CHECK(hwt_ack(hwt, HWTIMER_EVENTS_MAX) == HWTIMER_EVENTS_MAX);
	CHECK(hwt_read(hwt, &event, 1) == 1);
	CHECK(event.user_data == HWTIMER_EVENTS_MAX);
	hwt_close(hwt);
}

/* ---- other processes ---- */

static void forks(void)
{
	struct hwt_timer timer;
	struct hwtimer_event event;
	int status;

	begin(HWT_NONBLOCK);
	CHECK(!hwt_schedule(hwt, MS, 0, NULL));
	hwt_timer_init(&timer, hwt, (hwt_timer_callback)abort);
	/* It knows its clock, which the child can therefore not ask for. */
	CHECK(hwt_now(hwt) == START);
	if (!fork()) {
		CHECK(hwt_schedule(hwt, MS, 0, NULL) == -EBADF);
		CHECK(hwt_advance(hwt, SECOND) == -EBADF);
		CHECK(hwt_next(hwt, &event) == -EBADF);
		CHECK(hwt_timer_start(&timer, MS) == -EBADF);
		hwt_close(hwt);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(!ready() && !hwt_advance(hwt, MS) && ready());
	CHECK(hwt_next(hwt, &event) == 1);
	hwt_close(hwt);
}

static void forks_with_an_object(void)
{
	struct hwt_timer timer;
	int status;

	begin(HWT_NONBLOCK);
	hwt_timer_init(&timer, hwt, (hwt_timer_callback)abort);
	CHECK(!hwt_timer_start(&timer, MS) && !hwt_flush(hwt));
	if (!fork()) {
		CHECK(hwt_timer_again(&timer) == -EBADF);
		hwt_close(hwt);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
	hwt_close(hwt);
}

/* ---- timer objects ---- */

struct object {
	struct hwt_timer timer;
	unsigned int calls;
	uint64_t at;
	void (*act)(struct object *object);
};

static struct object objects[3];

static void on_timer(struct hwt_timer *timer)
{
	struct object *object = hwt_timer_object(timer, struct object, timer);

	object->calls++;
	object->at = hwt_now(hwt);
	if (object->act)
		object->act(object);
}

static void begin_objects(unsigned int flags)
{
	int i;

	begin(flags);
	memset(objects, 0, sizeof(objects));
	for (i = 0; i < 3; i++)
		hwt_timer_init(&objects[i].timer, hwt, on_timer);
}

static int dispatch(void)
{
	return hwt_dispatch(hwt, NULL, NULL, 100);
}

/* A timeout that is pushed out: the test of a server's author */
static void push_out(void)
{
	struct hwt_timer *timer = &objects[0].timer;

	begin_objects(0);
	CHECK(!hwt_timer_start(timer, 30 * SECOND));
	CHECK(dispatch() == -EDEADLK);
	CHECK(!hwt_advance(hwt, 20 * SECOND));
	CHECK(!hwt_timer_again(timer));
	CHECK(hwt_timer_deadline(timer) == START + 50 * SECOND);
	/* The module's timer expires, and the object's does not. */
	CHECK(!hwt_advance(hwt, 29 * SECOND));
	CHECK(dispatch() == 1 && !objects[0].calls);
	CHECK(!hwt_advance(hwt, SECOND - 1));
	CHECK(dispatch() == -EDEADLK);
	CHECK(!hwt_advance(hwt, 1));
	CHECK(dispatch() == 1 && objects[0].calls == 1);
	CHECK(!hwt_active(hwt));
	/* The time that is asked for is never old, and cannot be made so. */
	hwt_cache_time(hwt, 1);
	CHECK(hwt_now(hwt) == START + 50 * SECOND);
	CHECK(!hwt_advance(hwt, 1) && hwt_now(hwt) == START + 50 * SECOND + 1);
	hwt_close(hwt);
}

static void takes_five_seconds(struct object *object)
{
	(void)object;
	CHECK(!hwt_advance(hwt, 5 * SECOND));
}

static void objects_with_periods(void)
{
	begin_objects(HWT_NONBLOCK);
	CHECK(!hwt_timer_start_every(&objects[0].timer, SECOND, SECOND, 0));
	CHECK(!hwt_timer_start_every(&objects[1].timer, SECOND, SECOND,
				     HWTIMER_REQ_FIXED_DELAY));
	CHECK(!hwt_advance(hwt, 3500 * MS));
	CHECK(dispatch() == 2);
	CHECK(hwt_timer_expirations(&objects[0].timer) == 3);
	CHECK(hwt_timer_deadline(&objects[0].timer) == START + 4 * SECOND);
	CHECK(hwt_timer_deadline(&objects[1].timer) == START + 4500 * MS);
	hwt_timer_stop(&objects[0].timer);
	/* It counts from the end of the callback. */
	objects[1].act = takes_five_seconds;
	CHECK(!hwt_advance(hwt, SECOND));
	CHECK(dispatch() >= 1 && objects[1].calls == 2);
	CHECK(hwt_timer_deadline(&objects[1].timer) == START + 10500 * MS);
	hwt_timer_stop(&objects[1].timer);
	hwt_close(hwt);
}

static void breaks(struct object *object)
{
	(void)object;
	hwt_break(hwt);
}

static void closes(struct object *object)
{
	(void)object;
	hwt_close(hwt);
}

static void break_and_close_in_callbacks(void)
{
	int i;

	begin_objects(HWT_NONBLOCK);
	for (i = 0; i < 3; i++)
		CHECK(!hwt_timer_start(&objects[i].timer, SECOND));
	objects[0].act = breaks;
	objects[1].act = closes;
	CHECK(!hwt_advance(hwt, SECOND));
	CHECK(dispatch() == 1 && !objects[1].calls);
	CHECK(!hwt_wait_ms(hwt, -1));
	CHECK(dispatch() == 1 && objects[1].calls == 1 && !objects[2].calls);
}

/* What the limit refuses is due nevertheless. */
static void refused(void)
{
	struct hwtimer_setup setup = { .timers = 1 };

	begin_objects(HWT_NONBLOCK);
	CHECK(!hwt_setup(hwt, &setup));
	CHECK(!hwt_timer_start(&objects[0].timer, SECOND));
	CHECK(!hwt_timer_start(&objects[1].timer, SECOND));
	CHECK(hwt_flush(hwt) == -ENOSPC);
	CHECK(!hwt_advance(hwt, SECOND));
	CHECK(dispatch() == 2 && objects[0].calls && objects[1].calls);
	CHECK(objects[1].at == START + SECOND);
	hwt_close(hwt);
}

static void starts_next(struct object *object)
{
	if (object < &objects[2])
		CHECK(!hwt_timer_start(&object[1].timer, 10 * SECOND));
}

/* A chain of timeouts, as a test of the guide has it */
static void chain(void)
{
	uint64_t remaining;
	int i;

	begin_objects(HWT_NONBLOCK);
	for (i = 0; i < 3; i++)
		objects[i].act = starts_next;
	CHECK(!hwt_timer_start(&objects[0].timer, 10 * SECOND));
	while (!hwt_flush(hwt) && !hwt_next_time(hwt, &remaining) &&
	       !hwt_advance(hwt, remaining))
		dispatch();
	for (i = 0; i < 3; i++)
		CHECK(objects[i].at - START == (i + 1) * 10ULL * SECOND);
	CHECK(remaining == HWTIMER_NEVER);
	hwt_close(hwt);
}

int main(int argc, char **argv)
{
	int passes = argc > 1 ? atoi(argv[1]) : 20;

	while (passes--)
		random_timers();
	step_by_step();
	open_and_close();
	without_memory();
	clocks();
	sizes();
	advance_refuses();
	ends_of_time();
	waits();
	waits_in_the_place_of_another();
	notify();
	edges();
	full();
	periods();
	at_least_once();
	full_of_unacknowledged();
	forks();
	forks_with_an_object();
	push_out();
	objects_with_periods();
	break_and_close_in_callbacks();
	refused();
	chain();
	printf("all is well\n");
	return 0;
}
