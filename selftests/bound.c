// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of unread events is bounded. What does not fit stays pending, so a program that
 * does not read causes no work. Whoever listens, in whatever way, hears of every event, also
 * of those that expire only when there is room for them.
 */
#include "hwtimer_test.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* With so many, no other timer may expire, as a hold of 256 would not fit. */
#define FULL (EVENTS_MAX - 255)

/* Room for more events than can wait */
#define ROOMY (2 * EVENTS_MAX)

/* The worker's wake-ups that may come meanwhile, to free memory */
#define CHORES 2

/* ---- many timers, and their events ---- */

FIXTURE(bound)
{
	int fd;
	struct hwtimer_event *events;
	__u64 *ids;
	unsigned int n;
};

FIXTURE_SETUP(bound)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->n = 3 * EVENTS_MAX;
	self->events = calloc(ROOMY, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	self->ids = calloc(self->n, sizeof(*self->ids));
	ASSERT_NE(NULL, self->ids);
}

FIXTURE_TEARDOWN(bound)
{
	if (self->fd >= 0)
		expect_close(_metadata, self->fd);
}

/*
 * Schedules @n timers for one tick, which count up from 0. None of them is due before all
 * are scheduled. Returns their deadline.
 */
static __u64 burst(struct __test_metadata *_metadata, int fd, unsigned int n,
		   __u64 *ids)
{
	for (__u64 lead = 50 * MS + n * US;; lead *= 3) {
		__u64 deadline = now_ns() + lead;

		ASSERT_EQ(n, dev_schedule_many(fd, n, HWTIMER_REQ_ABSTIME,
					       deadline, ids));
		if (now_ns() < deadline)
			return deadline;
		TH_LOG("%llu ms were too short", lead / MS);
		ASSERT_LE(0, dev_cancel_all(fd, HWTIMER_LIST_DISCARD));
	}
}

/* Waits until the queue is full, and the worker does no more. */
static struct hwtimer_stats wait_until_full(int fd)
{
	while (stats_of(fd).ready < FULL)
		sleep_ns(MS);
	dev_wait_rest(fd);
	return stats_of(fd);
}

/* Schedules @n timers and lets them come due, unread. */
static struct hwtimer_stats overflow(struct __test_metadata *_metadata, int fd,
				     unsigned int n, __u64 *ids)
{
	struct hwtimer_stats stats;

	burst(_metadata, fd, n, ids);
	stats = wait_until_full(fd);
	ASSERT_LE(FULL, stats.ready);
	ASSERT_GE(EVENTS_MAX, stats.ready);
	EXPECT_EQ(n, stats.ready + stats.pending);
	return stats;
}

/**
 * struct tally - the events that have come
 * @came: for each timer, the number of its events
 * @n: number of timers
 * @total: number of events so far
 * @wrong: number of events that came twice, or that nobody scheduled
 * @disorder: number of events that one reader got in the wrong order
 */
struct tally {
	unsigned char *came;
	unsigned int n;
	unsigned int total;
	unsigned int wrong;
	unsigned int disorder;
};

static void tally_begin(struct __test_metadata *_metadata, struct tally *tally,
			unsigned int n)
{
	memset(tally, 0, sizeof(*tally));
	tally->n = n;
	tally->came = calloc(n, 1);
	ASSERT_NE(NULL, tally->came);
}

static unsigned int tally_total(struct tally *tally)
{
	return __atomic_load_n(&tally->total, __ATOMIC_ACQUIRE);
}

/* Counts events that one reader got. *@next is the first that may come to this reader. */
static void tally_add(struct tally *tally, const struct hwtimer_event *events,
		      unsigned int count, __u64 *next)
{
	for (unsigned int i = 0; i < count; i++) {
		__u64 nr = events[i].user_data;

		if (nr >= tally->n ||
		    __atomic_fetch_add(&tally->came[nr], 1, __ATOMIC_RELAXED))
			__atomic_fetch_add(&tally->wrong, 1, __ATOMIC_RELAXED);
		if (nr < *next)
			__atomic_fetch_add(&tally->disorder, 1,
					   __ATOMIC_RELAXED);
		*next = nr + 1;
	}
	__atomic_fetch_add(&tally->total, count, __ATOMIC_RELEASE);
}

/* Each event came once, and each reader got its part in the order of their timers. */
static void expect_all(struct __test_metadata *_metadata, struct tally *tally)
{
	EXPECT_EQ(tally->n, tally->total);
	EXPECT_EQ(0, tally->wrong);
	EXPECT_EQ(0, tally->disorder);
	free(tally->came);
}

/* Reads all events that there still are, by poll(), and counts them. */
static void read_rest(struct __test_metadata *_metadata, int fd,
		      struct tally *tally, __u64 *next, unsigned int room)
{
	struct hwtimer_event *events = calloc(room, sizeof(*events));

	ASSERT_NE(NULL, events);
	while (tally->total < tally->n) {
		int ret;

		ASSERT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
		ret = dev_read(fd, events, room);
		ASSERT_LT(0, ret);
		tally_add(tally, events, ret, next);
	}
	free(events);
}

/* ---- the bound itself ---- */

TEST_F(bound, notify_is_refused_beyond_it)
{
	EXPECT_EQ(0, dev_notify(self->fd, EVENTS_MAX, HWTIMER_NEVER));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, EVENTS_MAX + 1, HWTIMER_NEVER));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, EVENTS_MAX + 1, HOUR));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, UINT_MAX, HWTIMER_NEVER));
	/* The choice before is still there. */
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
}

TEST_F(bound, what_does_not_fit_stays_pending)
{
	struct hwtimer_stats before, after;
	struct tally tally;
	long long wakeups;
	__u64 next = 0;

	tally_begin(_metadata, &tally, self->n);
	before = overflow(_metadata, self->fd, self->n, NULL);
	wakeups = told(self->fd, "wakeups");
	sleep_ns(100 * MS);
	after = stats_of(self->fd);
	EXPECT_EQ(before.ready, after.ready);
	EXPECT_EQ(before.expired, after.expired);
	EXPECT_GE(wakeups + CHORES, told(self->fd, "wakeups"));
	read_rest(_metadata, self->fd, &tally, &next, 100);
	expect_all(_metadata, &tally);
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, self->events, ROOMY));
}

/* However many events a program reads, no more than the bound wait afterwards. */
TEST_F(bound, is_never_passed)
{
	unsigned int total = 0;

	burst(_metadata, self->fd, self->n, NULL);
	for (unsigned int room = 1; total < self->n; room = room % 700 + 13) {
		int ret;

		ASSERT_GE(EVENTS_MAX, stats_of(self->fd).ready);
		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ret = dev_read(self->fd, self->events, room);
		ASSERT_LT(0, ret);
		total += ret;
	}
}

/* Ticks, and the order in which timers were scheduled within a tick, also at the bound */
TEST_F(bound, order_is_that_of_ticks)
{
	struct hwtimer_request *requests = calloc(self->n, sizeof(*requests));
	unsigned int total = 0;
	__u64 last = 0;

	ASSERT_NE(NULL, requests);
	ASSERT_EQ(0, dev_setup(self->fd, 10 * MS, 0, self->n));
	fill_schedules(requests, self->n, 0, 0, 0);
	for (unsigned int i = 0; i < self->n; i++)
		requests[i].time = (i * 7919ULL + 13) % 17 * 10 * MS;
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests,
			 self->n, 100 * MS);
	wait_until_full(self->fd);
	while (total < self->n) {
		int ret;

		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ret = dev_read(self->fd, self->events, 1000);
		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++, total++) {
			/* Deadlines are whole ticks apart, so they have the order of ticks. */
			__u64 place = self->events[i].deadline * self->n +
				      self->events[i].user_data;

			EXPECT_LT(last, place);
			last = place;
		}
	}
	free(requests);
}

/* ---- timers that are due, and do not fit ---- */

/* The last timer of self->n is the last to expire. */
TEST_F(bound, cancel_of_a_due_timer_that_does_not_fit)
{
	struct hwtimer_timer query;
	struct tally tally;
	unsigned int first;
	__u64 next = 0;

	tally_begin(_metadata, &tally, self->n);
	first = overflow(_metadata, self->fd, self->n, self->ids).ready;
	query = query_of(_metadata, self->fd, self->ids[self->n - 1]);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(0, query.remaining);
	for (unsigned int i = first; i < self->n; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, self->ids[i], 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, self->ids[self->n - 1], 0));
	tally.n = first;
	read_rest(_metadata, self->fd, &tally, &next, ROOMY);
	expect_all(_metadata, &tally);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, self->events, 1));
}

TEST_F(bound, due_timers_that_do_not_fit_can_be_moved)
{
	struct tally tally;
	__u64 next = 0;

	tally_begin(_metadata, &tally, self->n);
	overflow(_metadata, self->fd, self->n, self->ids);
	for (unsigned int i = self->n - 100; i < self->n; i++)
		ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[i], 0, HOUR));
	tally.n -= 100;
	read_rest(_metadata, self->fd, &tally, &next, 1000);
	expect_all(_metadata, &tally);
	EXPECT_EQ(100, stats_of(self->fd).pending);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, self->events, 1));
}

TEST_F(bound, list_tells_what_fits_from_what_does_not)
{
	struct hwtimer_timer *timers = calloc(self->n, sizeof(*timers));
	unsigned int expired = 0, pending = 0;
	struct hwtimer_stats stats;
	__u64 cursor = 0;
	int ret;

	ASSERT_NE(NULL, timers);
	stats = overflow(_metadata, self->fd, self->n, NULL);
	while ((ret = dev_list(self->fd, timers, self->n, &cursor)) > 0) {
		for (int i = 0; i < ret; i++) {
			if (timers[i].state == HWTIMER_STATE_EXPIRED)
				expired++;
			else
				pending++;
			EXPECT_EQ(0, timers[i].remaining);
		}
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(stats.ready, expired);
	EXPECT_EQ(stats.pending, pending);
	free(timers);
}

/* CANCEL_ALL hands back what has not expired, due or not. */
TEST_F(bound, stop_hands_back_what_does_not_fit)
{
	struct hwtimer_timer *timers = calloc(self->n, sizeof(*timers));
	struct hwtimer_stats stats;
	struct tally tally;
	__u64 cursor = 0, next = 0;
	unsigned int total = 0;
	int ret;

	ASSERT_NE(NULL, timers);
	tally_begin(_metadata, &tally, self->n);
	stats = overflow(_metadata, self->fd, self->n, NULL);
	while ((ret = dev_stop(self->fd, timers, 1000, &cursor)) > 0) {
		total += ret;
		for (int i = 0; i < ret; i++) {
			EXPECT_EQ(0, timers[i].remaining);
			ASSERT_GT(self->n, timers[i].user_data);
			EXPECT_EQ(0, tally.came[timers[i].user_data]++);
		}
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(stats.pending, total);
	tally.total = total;
	read_rest(_metadata, self->fd, &tally, &next, 1000);
	expect_all(_metadata, &tally);
	EXPECT_EQ(0, dev_read(self->fd, self->events, 1));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	free(timers);
}

/* Room in the ring makes the worker go on, also without a read(). */
TEST_F(bound, discarded_events_make_room)
{
	struct hwtimer_stats stats;
	unsigned int gone = 0;
	__u64 discarded;

	stats = overflow(_metadata, self->fd, self->n, self->ids);
	discarded = stats.discarded;
	for (;;) {
		unsigned int ready = stats.ready;

		for (unsigned int i = 0; i < ready; i++)
			ASSERT_EQ(0, dev_cancel(self->fd, self->ids[gone + i],
						HWTIMER_REQ_DISCARD));
		gone += ready;
		if (self->n - gone < FULL)
			break;
		stats = wait_until_full(self->fd);
	}
	ASSERT_TRUE(dev_wait_ready(self->fd, self->n - gone));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(self->n - gone, dev_read(self->fd, self->events, ROOMY));
	EXPECT_EQ(discarded + gone, stats_of(self->fd).discarded);
}

/* The events in the middle are dropped: room comes when those ahead of them are gone. */
TEST_F(bound, discarded_events_in_the_middle_are_no_obstacle)
{
	struct tally tally;
	__u64 next = 0;

	tally_begin(_metadata, &tally, self->n);
	overflow(_metadata, self->fd, self->n, self->ids);
	for (unsigned int i = 1; i < FULL; i++) {
		ASSERT_EQ(0, dev_cancel(self->fd, self->ids[i],
					HWTIMER_REQ_DISCARD));
		tally.came[i] = 1;
	}
	tally.total = FULL - 1;
	read_rest(_metadata, self->fd, &tally, &next, 1);
	expect_all(_metadata, &tally);
}

TEST_F(bound, cancel_all_ends_what_does_not_fit)
{
	struct hwtimer_stats stats;

	stats = overflow(_metadata, self->fd, self->n, NULL);
	EXPECT_EQ(stats.pending, dev_cancel_all(self->fd, 0));
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(stats.ready, dev_read(self->fd, self->events, ROOMY));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, self->events, ROOMY));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	/* The instance works on. */
	ASSERT_NE(0, dev_after(self->fd, MS, 7));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* The events that it drops make room, so other timers may expire meanwhile: they end, too. */
TEST_F(bound, cancel_all_with_discard_leaves_nothing)
{
	struct hwtimer_stats before, after;
	int ended;

	before = overflow(_metadata, self->fd, self->n, NULL);
	ended = dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD);
	after = stats_of(self->fd);
	EXPECT_EQ(0, after.pending + after.ready);
	EXPECT_EQ(before.cancelled + ended, after.cancelled);
	EXPECT_EQ(after.scheduled, after.cancelled + after.discarded);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, self->events, 1));
	ASSERT_NE(0, dev_after(self->fd, MS, 7));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* More periodic timers than events can wait: each of them comes, and no deadline is lost. */
TEST_F(bound, periodic_timers_take_turns)
{
	unsigned int n = EVENTS_MAX + 500, total = 0, twice = 0;
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));
	__u64 *deadlines = calloc(n, sizeof(*deadlines));
	unsigned char *came = calloc(n, 1);
	const __u64 interval = 50 * MS;
	struct hwtimer_stats stats;
	__u64 base;

	ASSERT_NE(NULL, requests);
	ASSERT_NE(NULL, deadlines);
	ASSERT_NE(NULL, came);
	fill_schedules(requests, n, 0, 0, 0);
	for (unsigned int i = 0; i < n; i++)
		requests[i].interval = interval;
	base = schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests,
				n, 50 * MS);
	for (unsigned int i = 0; i < n; i++)
		deadlines[i] = base;
	stats = wait_until_full(self->fd);
	EXPECT_GE(EVENTS_MAX, stats.ready);
	EXPECT_EQ(n, stats.ready + stats.pending);
	while (twice < n) {
		int ret;

		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ret = dev_read(self->fd, self->events, 1000);
		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++) {
			struct hwtimer_event *event = &self->events[i];

			ASSERT_GT(n, event->user_data);
			ASSERT_EQ(deadlines[event->user_data], event->deadline);
			deadlines[event->user_data] +=
				event->expirations * interval;
			if (came[event->user_data] < 2)
				twice += ++came[event->user_data] == 2;
		}
		total += ret;
	}
	TH_LOG("%u timers, %u events", n, total);
	free(came);
	free(deadlines);
	free(requests);
}

/* ---- who listens hears ---- */

/**
 * struct way - a way to listen
 * @threads: number of threads that do
 * @room: number of events for which a read() has room
 * @kind: see below
 * @flags: of epoll
 * @notify: NOTIFY's number of events: the bound, or none
 */
struct way {
	unsigned int threads;
	unsigned int room;
	enum { POLL, BLOCK, EPOLL, AIO } kind;
	__u32 flags;
	bool short_read_is_end; /* with EPOLLET; otherwise only EAGAIN is */
	bool notify;
};

/* A thread that listens, until the instance is stopped */
struct listener {
	const struct way *way;
	int fd;
	int epoll;
	aio_context_t aio;
	struct tally *tally;
	struct hwtimer_event *events;
	__u64 next;
	int error;
};

static int listener_read(struct listener *listener)
{
	int ret = dev_read(listener->fd, listener->events, listener->way->room);

	if (ret > 0)
		tally_add(listener->tally, listener->events, ret,
			  &listener->next);
	return ret;
}

/*
 * Waits for something to read. Returns what the read() is then: a number of events, 0 at the
 * end, -EAGAIN if another listener was faster.
 */
static int listen_poll(struct listener *listener)
{
	dev_poll(listener->fd, POLLIN, -1);
	return listener_read(listener);
}

static int listen_epoll(struct listener *listener)
{
	const struct way *way = listener->way;
	struct epoll_event event = { 0 };
	int ret;

	do {
		ret = epoll_wait(listener->epoll, &event, 1, -1);
	} while (ret < 0 && errno == EINTR);
	if (way->flags & EPOLLET) {
		do {
			ret = listener_read(listener);
		} while (ret > 0 &&
			 !(way->short_read_is_end && ret < (int)way->room));
	} else {
		ret = listener_read(listener);
	}
	if (way->flags & EPOLLONESHOT) {
		event.events = EPOLLIN | way->flags;
		if (epoll_ctl(listener->epoll, EPOLL_CTL_MOD, listener->fd,
			      &event))
			return -errno;
	}
	return ret;
}

static int listen_aio(struct listener *listener)
{
	struct iocb iocb = {
		.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = listener->fd,
		.aio_buf = POLLIN,
	};
	struct iocb *list = &iocb;
	struct io_event event;

	if (syscall(__NR_io_submit, listener->aio, 1L, &list) != 1)
		return -errno;
	while (syscall(__NR_io_getevents, listener->aio, 1L, 1L, &event,
		       NULL) != 1)
		if (errno != EINTR)
			return -errno;
	return listener_read(listener);
}

static void *listen_all(void *arg)
{
	struct listener *listener = arg;
	int ret;

	do {
		switch (listener->way->kind) {
		case POLL:
			ret = listen_poll(listener);
			break;
		case EPOLL:
			ret = listen_epoll(listener);
			break;
		case AIO:
			ret = listen_aio(listener);
			break;
		default:
			ret = listener_read(listener);
		}
	} while (ret > 0 || ret == -EAGAIN);
	listener->error = ret;
	return NULL;
}

static void listener_begin(struct __test_metadata *_metadata,
			   struct listener *listener, const struct way *way,
			   int fd, struct tally *tally)
{
	memset(listener, 0, sizeof(*listener));
	listener->way = way;
	listener->fd = fd;
	listener->tally = tally;
	listener->epoll = -1;
	listener->events = calloc(way->room, sizeof(*listener->events));
	ASSERT_NE(NULL, listener->events);
	if (way->kind == EPOLL) {
		listener->epoll = epoll_watch(fd, EPOLLIN | way->flags);
		ASSERT_LE(0, listener->epoll);
	}
	if (way->kind == AIO)
		ASSERT_EQ(0, syscall(__NR_io_setup, 4, &listener->aio));
}

static void listener_end(struct __test_metadata *_metadata,
			 struct listener *listener)
{
	EXPECT_EQ(0, listener->error);
	if (listener->epoll >= 0)
		close(listener->epoll);
	if (listener->aio)
		syscall(__NR_io_destroy, listener->aio);
	free(listener->events);
}

#define LISTENERS_MAX 4

/*
 * Has @n timers expire in one tick; waits until all events have come to those who listen. If
 * @full, they begin to listen when the queue is full already.
 */
static void hear(struct __test_metadata *_metadata, int fd,
		 const struct way *way, unsigned int n, bool full)
{
	struct listener listeners[LISTENERS_MAX];
	pthread_t threads[LISTENERS_MAX];
	struct tally tally;

	tally_begin(_metadata, &tally, n);
	if (way->kind == BLOCK)
		ASSERT_EQ(0, fcntl(fd, F_SETFL, 0));
	if (way->notify)
		ASSERT_EQ(0, dev_notify(fd, EVENTS_MAX, 50 * MS));
	if (full) {
		burst(_metadata, fd, n, NULL);
		wait_until_full(fd);
	}
	for (unsigned int i = 0; i < way->threads; i++)
		listener_begin(_metadata, &listeners[i], way, fd, &tally);
	/* Nobody reads what may have to be scheduled again. */
	if (!full)
		burst(_metadata, fd, n, NULL);
	start_threads(threads, way->threads, listen_all, listeners,
		      sizeof(listeners[0]));
	/* If one is lost, this waits for ever, and test/vm/run.sh ends the machine. */
	while (tally_total(&tally) < n)
		sleep_ns(MS);
	EXPECT_EQ(0, stats_of(fd).pending);
	ASSERT_EQ(0, dev_stop(fd, NULL, 0, NULL));
	join_threads(threads, way->threads);
	for (unsigned int i = 0; i < way->threads; i++)
		listener_end(_metadata, &listeners[i]);
	expect_all(_metadata, &tally);
}

FIXTURE(hears)
{
	int fd;
};

FIXTURE_VARIANT(hears)
{
	struct way way;
};

FIXTURE_SETUP(hears)
{
	aio_context_t aio = 0;

	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 1000000));
	/* Here, as SKIP() in a function of the test's would return from that function only. */
	if (variant->way.kind != AIO)
		return;
	if (syscall(__NR_io_setup, 1, &aio))
		SKIP(return, "this kernel has no AIO");
	syscall(__NR_io_destroy, aio);
}

FIXTURE_TEARDOWN(hears)
{
	expect_close(_metadata, self->fd);
}

/* clang-format off */
FIXTURE_VARIANT_ADD(hears, poll_with_little_room)
{
	.way = { .threads = 1, .room = 3, .kind = POLL },
};

FIXTURE_VARIANT_ADD(hears, poll_with_much_room)
{
	.way = { .threads = 1, .room = ROOMY, .kind = POLL },
};

FIXTURE_VARIANT_ADD(hears, polls_of_four)
{
	.way = { .threads = 4, .room = 100, .kind = POLL },
};

FIXTURE_VARIANT_ADD(hears, read_with_little_room)
{
	.way = { .threads = 1, .room = 3, .kind = BLOCK },
};

FIXTURE_VARIANT_ADD(hears, read_one_by_one)
{
	.way = { .threads = 1, .room = 1, .kind = BLOCK },
};

FIXTURE_VARIANT_ADD(hears, read_with_much_room)
{
	.way = { .threads = 1, .room = ROOMY, .kind = BLOCK },
};

FIXTURE_VARIANT_ADD(hears, reads_of_four)
{
	.way = { .threads = 4, .room = 100, .kind = BLOCK },
};

FIXTURE_VARIANT_ADD(hears, reads_of_four_at_the_bound)
{
	.way = { .threads = 4, .room = 100, .kind = BLOCK, .notify = true },
};

FIXTURE_VARIANT_ADD(hears, poll_at_the_bound)
{
	.way = { .threads = 1, .room = 77, .kind = POLL, .notify = true },
};

FIXTURE_VARIANT_ADD(hears, level)
{
	.way = { .threads = 1, .room = 100, .kind = EPOLL },
};

FIXTURE_VARIANT_ADD(hears, edge_with_little_room)
{
	.way = { .threads = 1, .room = 3, .kind = EPOLL, .flags = EPOLLET },
};

FIXTURE_VARIANT_ADD(hears, edge_with_much_room)
{
	.way = { .threads = 1, .room = ROOMY, .kind = EPOLL, .flags = EPOLLET },
};

FIXTURE_VARIANT_ADD(hears, edge_until_a_short_read)
{
	.way = {
		.threads = 1, .room = 5000, .kind = EPOLL, .flags = EPOLLET,
		.short_read_is_end = true,
	},
};

FIXTURE_VARIANT_ADD(hears, edge_until_a_short_read_of_few)
{
	.way = {
		.threads = 1, .room = 100, .kind = EPOLL, .flags = EPOLLET,
		.short_read_is_end = true,
	},
};

FIXTURE_VARIANT_ADD(hears, edge_at_the_bound)
{
	.way = {
		.threads = 1, .room = 100, .kind = EPOLL, .flags = EPOLLET,
		.notify = true,
	},
};

FIXTURE_VARIANT_ADD(hears, edges_of_four)
{
	.way = { .threads = 4, .room = 100, .kind = EPOLL, .flags = EPOLLET },
};

FIXTURE_VARIANT_ADD(hears, one_shot)
{
	.way = {
		.threads = 1, .room = 100, .kind = EPOLL, .flags = EPOLLONESHOT,
	},
};

FIXTURE_VARIANT_ADD(hears, exclusive_ones)
{
	.way = {
		.threads = 4, .room = 100, .kind = EPOLL,
		.flags = EPOLLEXCLUSIVE,
	},
};

FIXTURE_VARIANT_ADD(hears, exclusive_edges)
{
	.way = {
		.threads = 4, .room = 100, .kind = EPOLL,
		.flags = EPOLLEXCLUSIVE | EPOLLET,
	},
};

FIXTURE_VARIANT_ADD(hears, aio)
{
	.way = { .threads = 1, .room = 100, .kind = AIO },
};

/* clang-format on */

TEST_F(hears, of_all_in_one_tick)
{
	hear(_metadata, self->fd, &variant->way,
	     EVENTS_MAX + scaled(4 * EVENTS_MAX) + 3, false);
}

TEST_F(hears, of_what_waits_already)
{
	hear(_metadata, self->fd, &variant->way,
	     EVENTS_MAX + scaled(2 * EVENTS_MAX), true);
}

/* ---- poll() is exact ---- */

/* Whenever poll() says POLLIN to the only reader, read() has an event. */
TEST_F(bound, readable_means_that_read_gets_something)
{
	unsigned int seed = 1, total = 0, polls = 0, ready = 0;

	burst(_metadata, self->fd, self->n, NULL);
	while (total < self->n) {
		unsigned int room = next_random(&seed) % 300 + 1;
		int ret;

		polls++;
		if (dev_poll(self->fd, POLLIN, 0) != POLLIN) {
			sched_yield();
			continue;
		}
		ready++;
		ret = dev_read(self->fd, self->events, room);
		ASSERT_LT(0, ret);
		ASSERT_GE(room, ret);
		total += ret;
	}
	TH_LOG("%u of %u polls said POLLIN", ready, polls);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, self->events, 1));
}

/* The queue is full before each read(), so something is left after it. */
TEST_F(bound, readable_after_a_read_with_little_room)
{
	overflow(_metadata, self->fd, self->n, NULL);
	for (unsigned int i = 0; i < 100; i++) {
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
		ASSERT_EQ(2, dev_read(self->fd, self->events, 2));
	}
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
}

/* While timers enough are due, there is always enough to read, or the queue is full. */
TEST_F(bound, blocking_reads_at_the_highest_number)
{
	unsigned int n = EVENTS_MAX + 2000, got = 0;
	struct tally tally;
	__u64 next = 0;

	tally_begin(_metadata, &tally, n);
	ASSERT_EQ(0, dev_notify(self->fd, EVENTS_MAX, HWTIMER_NEVER));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	burst(_metadata, self->fd, n, NULL);
	for (; got + FULL <= n; got++) {
		ASSERT_EQ(1, dev_read(self->fd, self->events, 1));
		tally_add(&tally, self->events, 1, &next);
	}
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0));
	read_rest(_metadata, self->fd, &tally, &next, ROOMY);
	expect_all(_metadata, &tally);
}

/* Where nothing more can expire, nobody waits for more. */
TEST_F(bound, full_is_as_good_as_the_highest_number)
{
	ASSERT_EQ(0, dev_notify(self->fd, EVENTS_MAX, HWTIMER_NEVER));
	make_ready(_metadata, self->fd, FULL - 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(FULL, dev_read(self->fd, self->events, ROOMY));
}

/* NOTIFY comes when the queue is full already. */
TEST_F(bound, highest_number_that_comes_later)
{
	int epoll;

	overflow(_metadata, self->fd, self->n, NULL);
	ASSERT_EQ(0, dev_notify(self->fd, EVENTS_MAX, HWTIMER_NEVER));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, epoll);
	for (unsigned int i = 0; i < 3; i++) {
		struct epoll_event event;

		ASSERT_EQ(1, epoll_wait(epoll, &event, 1, -1));
		ASSERT_LT(0, dev_read(self->fd, self->events, 1500));
	}
	close(epoll);
}

/* ---- a program that does not run ---- */

/* What a child that is stopped shares with its parent */
struct shared {
	__u64 continued; /* when the parent has had it go on */
	unsigned int n;
	struct tally tally;
	unsigned char came[3 * EVENTS_MAX];
	unsigned int before; /* number of events that were queued before that */
	unsigned int saturated; /* number of events that do not tell */
};

/* Reads one event, stops itself, and reads the others. */
static int read_and_stop(struct shared *shared, int fd)
{
	struct hwtimer_event *events = calloc(ROOMY, sizeof(*events));
	__u64 next = 0;
	int ret = 0;

	for (bool stopped = false; shared->tally.total < shared->n;
	     stopped = true) {
		dev_poll(fd, POLLIN, -1);
		ret = dev_read(fd, events, stopped ? 1000 : 1);
		if (ret <= 0)
			break;
		tally_add(&shared->tally, events, ret, &next);
		for (int i = 0; i < ret; i++) {
			__u64 queued = events[i].deadline + events[i].lateness;

			shared->saturated += events[i].lateness == UINT_MAX;
			shared->before += queued < shared->continued;
		}
		if (!stopped)
			raise(SIGSTOP);
	}
	free(events);
	return ret <= 0;
}

/*
 * While its only reader is stopped, an instance causes no work, however many timers are due.
 * What expires afterwards is late by as much as the reader is.
 */
TEST_F(bound, a_stopped_reader_stops_the_wheel)
{
	struct shared *shared = mmap(NULL, sizeof(*shared),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hwtimer_stats before, after;
	long long wakeups;
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, shared);
	shared->n = self->n;
	shared->tally.n = self->n;
	shared->tally.came = shared->came;
	burst(_metadata, self->fd, self->n, NULL);
	pid = fork();
	if (!pid)
		_exit(read_and_stop(shared, self->fd));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	/* It may have left one less than that. */
	while (stats_of(self->fd).ready < FULL - 1)
		sleep_ns(MS);
	dev_wait_rest(self->fd);
	before = stats_of(self->fd);
	wakeups = told(self->fd, "wakeups");
	EXPECT_GE(EVENTS_MAX, before.ready);
	sleep_ns(200 * MS);
	after = stats_of(self->fd);
	EXPECT_EQ(before.expired, after.expired);
	EXPECT_GE(wakeups + CHORES, told(self->fd, "wakeups"));
	shared->continued = now_ns();
	ASSERT_EQ(0, kill(pid, SIGCONT));
	EXPECT_EQ(0, wait_for_child(pid));
	EXPECT_EQ(self->n, shared->tally.total);
	EXPECT_EQ(0, shared->tally.wrong);
	EXPECT_EQ(0, shared->tally.disorder);
	/* Of the first event, which it read before the stop, it did not know yet. */
	if (!shared->saturated)
		EXPECT_EQ(before.ready, shared->before);
}

/* The same on a clock that may be set: nobody waits for timers that may be due earlier then. */
TEST_F(bound, causes_no_work_on_a_settable_clock)
{
	const __u32 clocks[] = { HWTIMER_CLOCK_REALTIME, HWTIMER_CLOCK_TAI };
	long long wakeups;

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		const struct hwtimer_setup setup = { .clock = clocks[i],
						     .tick = 10 * US };

		ASSERT_TRUE(dev_renew(&self->fd));
		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		ASSERT_EQ(self->n,
			  dev_schedule_many(self->fd, self->n,
					    HWTIMER_REQ_ABSTIME, 0, NULL));
		while (stats_of(self->fd).ready < FULL)
			sleep_ns(MS);
		sleep_ns(50 * MS);
		wakeups = told(self->fd, "wakeups");
		sleep_ns(200 * MS);
		EXPECT_GE(wakeups + CHORES, told(self->fd, "wakeups"));
	}
}

/* The same beside another instance of the same program, which is read. */
TEST_F(bound, a_full_instance_does_not_disturb_others)
{
	int other = dev_open(O_NONBLOCK);
	struct hwtimer_stats before;
	long long turns;

	ASSERT_LE(0, other);
	before = overflow(_metadata, self->fd, self->n, NULL);
	turns = told(self->fd, "turns");
	for (unsigned int i = 0; i < 100; i++) {
		ASSERT_NE(0, dev_after(other, MS, i));
		ASSERT_EQ(POLLIN, dev_poll(other, POLLIN, -1));
		ASSERT_EQ(1, dev_read(other, self->events, 1));
		EXPECT_EQ(i, self->events[0].user_data);
	}
	EXPECT_EQ(turns, told(self->fd, "turns"));
	EXPECT_EQ(before.expired, stats_of(self->fd).expired);
	expect_close(_metadata, other);
}

/* close() and exit with a full queue */
TEST_F(bound, closes_when_full)
{
	for (unsigned int i = 0; i < 5; i++) {
		overflow(_metadata, self->fd, self->n, NULL);
		if (i % 2)
			ASSERT_EQ(3, dev_read(self->fd, self->events, 3));
		ASSERT_TRUE(dev_renew(&self->fd));
	}
}

TEST_HARNESS_MAIN
