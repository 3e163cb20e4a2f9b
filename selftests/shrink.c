// SPDX-License-Identifier: GPL-2.0
/*
 * An instance without timers gives its memory back, whatever it had; the ids from before are
 * nobody's, and the instance works on. Each wait ends when the memory is freed; no test is
 * decided by how long that takes.
 */
#include "hwtimer_test.h"

#define MANY 1000000
#define SOME 100000

/* Rounds of a race, each of which takes the time after which an instance counts as idle */
#define ROUNDS 4

/* The most that an idle instance may hold, where a page has 4 KB */
#define IDLE_BYTES (16 << 10)

static __u64 idle_bytes(void)
{
	return IDLE_BYTES - 4096 + sysconf(_SC_PAGESIZE);
}

/* Waits until @fd has given its memory back. Nothing is left to be freed then. */
static void await_small(int fd)
{
	while (stats_of(fd).bytes > idle_bytes())
		sleep_ns(10 * MS);
}

/* Waits until @fd has given some of its memory back, and @steps system calls longer. */
static void await_step(int fd, unsigned int steps)
{
	__u64 before = stats_of(fd).bytes;

	while (stats_of(fd).bytes == before)
		sched_yield();
	while (steps--)
		sched_yield();
}

enum end { CANCEL, CANCEL_ALL, EXPIRE, DISCARD, ACKNOWLEDGE, HAND_BACK };

static void hand_back(struct __test_metadata *_metadata, int fd, unsigned int n)
{
	struct hwtimer_timer timers[BATCH];
	__u64 cursor = 0;
	int ret;

	while ((ret = dev_stop(fd, timers, BATCH, &cursor))) {
		ASSERT_LT(0, ret);
		n -= ret;
	}
	ASSERT_EQ(0, n);
}

static void acknowledge(struct __test_metadata *_metadata, int fd,
			unsigned int n)
{
	struct hwtimer_event events[BATCH];

	while (n) {
		unsigned int got = n < BATCH ? n : BATCH;

		ASSERT_EQ(got, dev_collect(fd, events, got));
		ASSERT_EQ(got, dev_ack(fd, got));
		n -= got;
	}
}

/* Has @n timers come and go; their ids go to @ids. */
static void come_and_go(struct __test_metadata *_metadata, int fd,
			unsigned int n, enum end end, __u64 *ids)
{
	bool due = end == EXPIRE || end == DISCARD || end == ACKNOWLEDGE;
	__u64 delay = due ? 0 : HOUR;

	ASSERT_EQ(n, dev_schedule_many(fd, n, 0, delay, ids));
	switch (end) {
	case CANCEL:
		ASSERT_EQ(n, dev_cancel_many(fd, n, ids));
		break;
	case CANCEL_ALL:
		ASSERT_EQ(n, dev_cancel_all(fd, 0));
		break;
	case EXPIRE:
		ASSERT_EQ(n, dev_discard_events(fd, n));
		break;
	case DISCARD:
		ASSERT_EQ(n, dev_bulk(fd, HWTIMER_OP_CANCEL,
				      HWTIMER_REQ_DISCARD, ids, NULL, n));
		break;
	case ACKNOWLEDGE:
		acknowledge(_metadata, fd, n);
		break;
	case HAND_BACK:
		hand_back(_metadata, fd, n);
	}
}

/* None of @ids, which are from before, is that of a timer. */
static void expect_nobody(struct __test_metadata *_metadata, int fd,
			  unsigned int n, const __u64 *ids)
{
	/* QUERY and RESCHEDULE of some; CANCEL of all */
	for (unsigned int i = 0; i < n; i += 1 + n / 100) {
		struct hwtimer_timer query;

		ASSERT_EQ(-ENOENT, dev_query(fd, ids[i], &query));
		ASSERT_EQ(-ENOENT, dev_reschedule(fd, ids[i], 0, HOUR));
	}
	ASSERT_EQ(0, dev_cancel_many(fd, n, ids));
}

/* An instance, and room for the ids of its timers */
FIXTURE(shrink)
{
	int fd;
	unsigned int n;
	__u64 *ids, *others;
};

FIXTURE_SETUP(shrink)
{
	self->n = scaled(SOME);
	self->ids = calloc(self->n, sizeof(*self->ids));
	self->others = calloc(self->n, sizeof(*self->others));
	ASSERT_TRUE(self->ids && self->others);
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(shrink)
{
	expect_close(_metadata, self->fd);
	free(self->ids);
	free(self->others);
}

static void expect_small(struct __test_metadata *_metadata, int fd,
			 unsigned int n)
{
	__u64 most = stats_of(fd).bytes;

	await_small(fd);
	TH_LOG("%llu bytes after %u timers, before that %llu",
	       (unsigned long long)stats_of(fd).bytes, n,
	       (unsigned long long)most);
}

/* Again and again; each time, the new timers have all the places, but none of the ids. */
TEST_F(shrink, after_cancel)
{
	come_and_go(_metadata, self->fd, self->n, CANCEL, self->ids);
	for (unsigned int i = 0; i < 3; i++) {
		expect_small(_metadata, self->fd, self->n);
		ASSERT_EQ(self->n, dev_schedule_many(self->fd, self->n, 0, HOUR,
						     self->others));
		expect_nobody(_metadata, self->fd, self->n, self->ids);
		ASSERT_EQ(self->n,
			  dev_cancel_many(self->fd, self->n, self->others));
	}
}

TEST_F(shrink, after_cancel_all)
{
	come_and_go(_metadata, self->fd, self->n, CANCEL_ALL, self->ids);
	expect_small(_metadata, self->fd, self->n);
}

/* It works on. */
TEST_F(shrink, after_events_were_read)
{
	come_and_go(_metadata, self->fd, self->n, EXPIRE, self->ids);
	expect_small(_metadata, self->fd, self->n);
	come_and_go(_metadata, self->fd, self->n, EXPIRE, self->others);
	expect_nobody(_metadata, self->fd, self->n, self->ids);
}

TEST_F(shrink, after_events_were_discarded)
{
	come_and_go(_metadata, self->fd, self->n, DISCARD, self->ids);
	expect_small(_metadata, self->fd, self->n);
}

TEST_F(shrink, after_events_were_acknowledged)
{
	int fd = dev_open_as((struct hwtimer_setup){
		.flags = HWTIMER_SETUP_AT_LEAST_ONCE,
	});

	ASSERT_LE(0, fd);
	come_and_go(_metadata, fd, self->n, ACKNOWLEDGE, self->ids);
	expect_small(_metadata, fd, self->n);
	expect_close(_metadata, fd);
}

/* Each of them has two records. */
TEST_F(shrink, after_periodic_timers)
{
	unsigned int n = 1 + self->n / 10;

	for (unsigned int i = 0; i < n; i++) {
		self->ids[i] = dev_every(self->fd, HOUR, HOUR, 0);
		ASSERT_NE(0, self->ids[i]);
	}
	ASSERT_EQ(n, dev_cancel_many(self->fd, n, self->ids));
	expect_small(_metadata, self->fd, n);
	expect_nobody(_metadata, self->fd, n, self->ids);
}

TEST_F(shrink, after_timers_were_handed_back)
{
	come_and_go(_metadata, self->fd, self->n, HAND_BACK, self->ids);
	expect_small(_metadata, self->fd, self->n);
}

TEST_F(hwtimer, whatever_it_had)
{
	static const unsigned int counts[] = { 1, 1000, MANY };

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, MANY));
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int n = counts[i] < MANY ? counts[i] : scaled(MANY);
		__u64 *ids = calloc(n, sizeof(*ids));

		ASSERT_NE(NULL, ids);
		come_and_go(_metadata, self->fd, n, CANCEL, ids);
		expect_small(_metadata, self->fd, n);
		come_and_go(_metadata, self->fd, n, EXPIRE, ids);
		expect_small(_metadata, self->fd, n);
		free(ids);
	}
}

/* An event that waits is a timer, too, and keeps all that is needed to deliver it. */
TEST_F(shrink, event_that_waits_is_delivered)
{
	struct hwtimer_event event;
	int other;
	__u64 id;

	come_and_go(_metadata, self->fd, self->n, CANCEL, self->ids);
	id = dev_after(self->fd, 0, 7);
	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	/* Another instance, whose timers ended later, is small before. */
	other = dev_open(O_NONBLOCK);
	ASSERT_LE(0, other);
	come_and_go(_metadata, other, self->n, CANCEL, self->others);
	await_small(other);
	ASSERT_EQ(0, close(other));
	EXPECT_LT(idle_bytes(), stats_of(self->fd).bytes);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(7, event.user_data);
	await_small(self->fd);
}

/* Timers that come at any moment of the way back are served. */
TEST_F(shrink, timers_come_meanwhile)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct hwtimer_event event;
		__u64 id;

		come_and_go(_metadata, self->fd, self->n, CANCEL, self->ids);
		await_step(self->fd, i);
		id = dev_after(self->fd, 0, i);
		ASSERT_NE(0, id);
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(id, event.id);
		EXPECT_EQ(i, event.user_data);
		expect_nobody(_metadata, self->fd, self->n, self->ids);
	}
	await_small(self->fd);
}

/* Close comes at any moment of the way back. */
TEST_F(shrink, close_comes_meanwhile)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		int fd = dev_open(O_NONBLOCK);

		ASSERT_LE(0, fd);
		come_and_go(_metadata, fd, self->n, CANCEL, self->ids);
		await_step(fd, i);
		ASSERT_EQ(0, close(fd));
	}
}

/* Two threads schedule and cancel on one instance, which is now and then idle. */
struct pair {
	int fd;
	unsigned int n;
	unsigned int wrong;
};

static void *schedule_and_cancel(void *arg)
{
	struct pair *pair = arg;
	unsigned int n = pair->n < 3000 ? pair->n : 3000;
	__u64 *ids = calloc(2 * n, sizeof(*ids));
	unsigned int wrong = 0;

	for (unsigned int i = 0; ids && i < ROUNDS / 2; i++) {
		__u64 *now = ids + n * (i % 2), *before = ids + n * !(i % 2);

		wrong += dev_schedule_many(pair->fd, n, 0, HOUR, now) != n;
		wrong += i && dev_cancel_many(pair->fd, n, before);
		wrong += dev_cancel_many(pair->fd, n, now) != n;
		/* Where the other thread is as far, the instance is idle. */
		await_small(pair->fd);
	}
	__atomic_add_fetch(&pair->wrong, wrong + !ids, __ATOMIC_RELAXED);
	free(ids);
	return NULL;
}

TEST_F(shrink, two_threads)
{
	struct pair pair = { .fd = self->fd, .n = self->n };
	pthread_t threads[2];

	start_threads(threads, 2, schedule_and_cancel, &pair, 0);
	join_threads(threads, 2);
	EXPECT_EQ(0, pair.wrong);
	await_small(self->fd);
}

/* LIST and CANCEL_ALL go on with a cursor from before. */
TEST_F(shrink, cursors_from_before)
{
	struct hwtimer_timer listed[4];
	__u64 cursor, before;

	come_and_go(_metadata, self->fd, self->n, CANCEL, self->ids);
	before = (__u32)self->ids[self->n - 1] + 1;
	await_small(self->fd);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	cursor = before;
	EXPECT_EQ(0, dev_list(self->fd, listed, 4, &cursor));
	cursor = before;
	EXPECT_EQ(0, dev_cancel_some(self->fd, 0, listed, 4, &cursor));
	EXPECT_EQ(1, dev_cancel_some(self->fd, 0, listed, 4, NULL));
}

TEST_HARNESS_MAIN
