// SPDX-License-Identifier: GPL-2.0
/*
 * An inserted leap second. CLOCK_REALTIME repeats the last second of the day: timers at and
 * after midnight wait until both have passed. CLOCK_TAI does not repeat it. The test has the
 * kernel insert one, and measures by CLOCK_MONOTONIC, which knows nothing of it.
 */
#include "hwtimer_test.h"

#include <sys/timex.h>

/*
 * Each instance has so many timers; all deadlines together are SPACING apart. CLOCK_TAI is so
 * many seconds ahead of CLOCK_REALTIME before the leap second.
 */
#define INSTANCES 40
#define TIMERS 32
#define SPACING (10 * US)
#define TAI 37

/* @before: what adjtimex() said then; @offset: CLOCK_REALTIME minus CLOCK_MONOTONIC then */
FIXTURE(leap)
{
	int fds[INSTANCES];
	struct timex before;
	__u64 offset;
};

static void set_clock(__u64 time)
{
	struct timespec ts = { .tv_sec = time / SEC, .tv_nsec = time % SEC };

	clock_settime(CLOCK_REALTIME, &ts);
}

/* Sets what to do at midnight, and the offset of CLOCK_TAI; returns what adjtimex() does. */
static int set_status(int status, int tai)
{
	struct timex timex = { .modes = ADJ_STATUS | ADJ_MAXERROR,
			       .status = status };
	struct timex offset = { .modes = ADJ_TAI, .constant = tai };

	return adjtimex(&timex) < 0 ? -1 : adjtimex(&offset);
}

/* Waits until the kernel has a plan for midnight, or until it has none. */
static void wait_for_plan(bool wanted)
{
	struct timex timex = { 0 };

	while ((adjtimex(&timex) != TIME_OK) != wanted)
		sleep_ns(5 * MS);
}

FIXTURE_SETUP(leap)
{
	self->offset = clock_ns(CLOCK_REALTIME) - now_ns();
	ASSERT_LE(0, adjtimex(&self->before));
	if (set_status(self->before.status, self->before.tai) < 0)
		SKIP(return, "adjtimex() is refused");
	memset(self->fds, -1, sizeof(self->fds));
}

FIXTURE_TEARDOWN(leap)
{
	for (unsigned int i = 0; i < INSTANCES; i++)
		close(self->fds[i]);
	set_clock(now_ns() + self->offset);
	set_status(self->before.status, self->before.tai);
}

/* Opens an instance with timers around @midnight; user_data: when due, if the clock counts on. */
static int open_around(struct __test_metadata *_metadata, unsigned int nth,
		       __u64 midnight)
{
	bool tai = nth % 5 == 4;
	struct hwtimer_setup setup = {
		.tick = 10 * US,
		.clock = HWTIMER_CLOCK(tai ? CLOCK_TAI : CLOCK_REALTIME),
	};
	int fd = dev_open_as(setup);

	EXPECT_LE(0, fd);
	for (unsigned int i = 0; i < TIMERS; i++) {
		__u64 time = midnight + (i * INSTANCES + nth) * SPACING -
			     50 * SPACING;
		__u64 due = !tai && time >= midnight ? time + SEC : time;

		EXPECT_NE(0, dev_at(fd, tai ? time + TAI * SEC : time, due));
	}
	return fd;
}

/*
 * Has the kernel plan a leap second, and opens all instances. Returns CLOCK_REALTIME minus
 * CLOCK_MONOTONIC, or a bit more. If the machine is too slow, tries again with more time.
 */
static __u64 plan(struct __test_metadata *_metadata, int *fds, __u64 midnight)
{
	for (__u64 lead = 3 * SEC;; lead *= 2) {
		__u64 offset = UINT64_MAX, now;
		struct timex timex = { 0 };

		set_clock(midnight - lead);
		set_status(0, TAI);
		for (unsigned int i = 0; i < INSTANCES; i++) {
			close(fds[i]);
			fds[i] = open_around(_metadata, i, midnight);
		}
		wait_for_plan(false);
		set_status(STA_INS, TAI);
		wait_for_plan(true);
		for (unsigned int i = 0; i < 1000; i++) {
			now = now_ns();
			now = clock_ns(CLOCK_REALTIME) - now;
			offset = now < offset ? now : offset;
		}
		/* It must not have come yet, and not be planned for the next day. */
		if (clock_ns(CLOCK_REALTIME) < midnight - 50 * MS &&
		    adjtimex(&timex) == TIME_INS)
			return offset;
		TH_LOG("%llu s were too short", lead / SEC);
	}
}

TEST_F(leap, nothing_is_early)
{
	const unsigned int n = INSTANCES * TIMERS;
	const __u64 day = 24 * HOUR;
	__u64 midnight = (clock_ns(CLOCK_REALTIME) / day + 1) * day;

	for (unsigned int round = 0; round < 5; round++) {
		__u64 offset = plan(_metadata, self->fds, midnight);
		struct hwtimer_event event;
		struct timex timex = { 0 };
		unsigned int got = 0;

		for (unsigned int i = 0; got < n; i = (i + 1) % INSTANCES) {
			if (!i)
				sleep_ns(MS);
			for (; dev_read(self->fds[i], &event, 1) == 1; got++)
				EXPECT_LE(event.user_data, now_ns() + offset);
		}
		/* There was a leap second. */
		ASSERT_LE(0, adjtimex(&timex));
		EXPECT_EQ(TAI + 1, timex.tai);
	}
}

TEST_HARNESS_MAIN
