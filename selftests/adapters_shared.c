// SPDX-License-Identifier: GPL-2.0
/*
 * libhwtimer in loops of sd-event and Boost.Asio; see adapters.h. libsystemd has no static
 * library, so this program needs its shared ones.
 */
#include "adapters.h"
#include "adapters_asio.h"

#include "hwtimer_sd_event.h"

/* ---- sd-event ---- */

static int on_sd_beat(sd_event_source *source, uint64_t time, void *arg)
{
	(void)source;
	(void)time;
	++*(unsigned int *)arg;
	return 0;
}

/* Runs a loop until the instance fails; @beats, if not NULL, counts other work. */
static int run_sd_event(struct hwt_sd_event *timers, unsigned int *beats)
{
	struct timers *ours = timers->arg;
	sd_event *loop;
	int err;

	if (sd_event_new(&loop) < 0)
		return -ENOMEM;
	err = hwt_sd_event_add(timers, loop);
	if (!err && beats)
		err = sd_event_add_time_relative(loop, NULL, CLOCK_MONOTONIC, 0,
						 1, on_sd_beat, beats);
	while (err >= 0 && !ours->errors)
		err = sd_event_run(loop, UINT64_MAX);
	/* The instance is out of the loop. */
	for (int i = 0; i < 10; i++)
		sd_event_run(loop, 1000);
	hwt_sd_event_remove(timers);
	hwt_sd_event_remove(timers); /* does nothing */
	sd_event_unref(loop);
	return err < 0 ? err : 0;
}

TEST_F(adapter, sd_event)
{
	struct hwt_sd_event timers = { .hwt = self->timers.hwt,
				       .callback = on_timer,
				       .arg = &self->timers,
				       .on_error = on_error };
	unsigned int beats = 0;

	ASSERT_EQ(0, run_sd_event(&timers, &beats));
	EXPECT_EQ(1, beats);
	EXPECT_EQ(1, self->timers.errors);
	EXPECT_EQ(-ENOTCONN, self->timers.err);
}

TEST_F(adapter, sd_event_takes_what_notify_leaves)
{
	struct hwt_sd_event timers = { .hwt = self->timers.hwt,
				       .callback = on_timer,
				       .arg = &self->timers,
				       .on_error = on_error };

	ASSERT_EQ(0, hwt_notify(self->timers.hwt, N, HWTIMER_NEVER));
	ASSERT_EQ(0, run_sd_event(&timers, NULL));
}

TEST_F(objects, sd_event)
{
	struct hwt_sd_event timers = { .hwt = self->timers.hwt,
				       .arg = &self->timers,
				       .on_error = on_refusal };

	ASSERT_EQ(0, run_sd_event(&timers, NULL));
	EXPECT_EQ(-ENOTCONN, self->timers.err);
}

static int on_work(sd_event_source *source, int fd, uint32_t events, void *more)
{
	(void)source;
	(void)fd;
	(void)events;
	*(bool *)more = busy_work();
	return 0;
}

TEST_F(busy, sd_event)
{
	struct hwt_sd_event timers = { .hwt = self->timers.hwt,
				       .arg = &self->timers,
				       .on_error = on_error };
	int always = eventfd(1, EFD_CLOEXEC);
	bool more = true;
	sd_event *loop;

	ASSERT_LE(0, sd_event_new(&loop));
	ASSERT_EQ(0, hwt_sd_event_add(&timers, loop));
	ASSERT_LE(0,
		  sd_event_add_io(loop, NULL, always, EPOLLIN, on_work, &more));
	while (more)
		ASSERT_LE(0, sd_event_run(loop, UINT64_MAX));
	hwt_sd_event_remove(&timers);
	sd_event_unref(loop);
	close(always);
}

static int on_sd_other(sd_event_source *source, int fd, uint32_t events,
		       void *arg)
{
	(void)fd;
	(void)events;
	(void)arg;
	flood_other();
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

TEST_F(flood, sd_event)
{
	struct hwt_sd_event timers = { .hwt = flood.hwt,
				       .callback = on_flood,
				       .arg = &self->timers,
				       .on_error = on_error };
	sd_event *loop;

	ASSERT_LE(0, sd_event_new(&loop));
	ASSERT_EQ(0, hwt_sd_event_add(&timers, loop));
	ASSERT_LE(0, sd_event_add_io(loop, NULL, flood.other, EPOLLIN,
				     on_sd_other, NULL));
	while (!self->timers.errors)
		ASSERT_LE(0, sd_event_run(loop, UINT64_MAX));
	hwt_sd_event_remove(&timers);
	sd_event_unref(loop);
}

TEST_F(flood, asio)
{
	ASSERT_EQ(0, asio_flood(flood.hwt, on_flood, on_error, &self->timers,
				flood.other, flood_other));
}

TEST_F(busy, asio)
{
	ASSERT_EQ(0, asio_busy(self->timers.hwt, on_error, &self->timers,
			       busy_work));
}

TEST_F(broken, sd_event)
{
	struct hwt_sd_event timers = { .hwt = self->timers.hwt,
				       .callback = break_descriptor,
				       .arg = &self->timers,
				       .on_error = on_error };

	ASSERT_EQ(0, run_sd_event(&timers, NULL));
}

TEST_F(adapter, sd_event_refuses_what_it_cannot_serve)
{
	struct hwt_sd_event timers = { .arg = &self->timers };

	ASSERT_EQ(0, hwt_open(&timers.hwt, 0));
	EXPECT_EQ(-EINVAL, run_sd_event(&timers, NULL));
	hwt_close(timers.hwt);
	/* The teardown wants all timers. */
	timers.hwt = self->timers.hwt;
	timers.callback = on_timer;
	timers.on_error = on_error;
	EXPECT_EQ(0, run_sd_event(&timers, NULL));
}

/* ---- Boost.Asio ---- */

TEST_F(adapter, asio)
{
	unsigned int beats = 0;

	ASSERT_EQ(0, asio_loop(self->timers.hwt, on_timer, on_error,
			       &self->timers, &beats));
	EXPECT_EQ(1, beats);
	EXPECT_EQ(1, self->timers.errors);
	EXPECT_EQ(-ENOTCONN, self->timers.err);
}

TEST_F(adapter, asio_in_a_strand)
{
	ASSERT_EQ(0, asio_strand(self->timers.hwt, on_timer, on_error,
				 &self->timers));
	EXPECT_EQ(-ENOTCONN, self->timers.err);
}

TEST_F(adapter, asio_takes_what_notify_leaves)
{
	ASSERT_EQ(0, hwt_notify(self->timers.hwt, N, HWTIMER_NEVER));
	ASSERT_EQ(0, asio_loop(self->timers.hwt, on_timer, NULL, &self->timers,
			       NULL));
}

TEST_F(objects, asio)
{
	ASSERT_EQ(0, asio_loop(self->timers.hwt, NULL, on_refusal,
			       &self->timers, NULL));
	EXPECT_TRUE(ended_with_the_last(&self->timers));
}

static int kept;

/*
 * Asio watches edges, and asks for them anew by the descriptor's number, which is the
 * directory's now. So if all events had come before that, it would wait for ever.
 */
static void break_and_go_on(void *arg, const struct hwtimer_event *event)
{
	struct timers *timers = arg;
	bool first = !timers->count;

	break_descriptor(arg, event);
	if (first && dev_schedule_many(kept, 1, 0, 20 * MS, NULL) != 1)
		abort();
}

TEST_F(broken, asio)
{
	kept = self->keep;
	ASSERT_TRUE(dev_wait_ready(kept, N));
	ASSERT_EQ(0, asio_loop(self->timers.hwt, break_and_go_on, on_error,
			       &self->timers, NULL));
}

/* One event, which can be read; none comes later */
static void make_event(void)
{
	struct hwtimer_stats stats;

	if (dev_schedule_many(kept, 1, 0, 0, NULL) != 1)
		abort();
	do {
		if (dev_stats(kept, &stats))
			abort();
	} while (stats.pending);
}

/* What Asio still has of an earlier start calls nothing, and does not start anything. */
TEST(asio_starts_again)
{
	struct hwt *hwt;

	ASSERT_EQ(0, hwt_open(&hwt, HWT_NONBLOCK));
	kept = hwt_fd(hwt);
	EXPECT_EQ(asio_restarted(hwt, make_event, 0),
		  asio_restarted(hwt, make_event, 100));
	hwt_close(hwt);
}

/* The adapter goes while Asio still has its handlers. */
TEST_F(adapter, asio_ends_before_its_loop)
{
	ASSERT_EQ(0, asio_abandoned(self->timers.hwt));
	ASSERT_EQ(0, asio_loop(self->timers.hwt, on_timer, on_error,
			       &self->timers, NULL));
}

TEST_F(adapter, asio_refuses_what_it_cannot_serve)
{
	struct hwt *blocking;

	ASSERT_EQ(0, hwt_open(&blocking, 0));
	EXPECT_EQ(-EINVAL, asio_loop(blocking, NULL, NULL, NULL, NULL));
	hwt_close(blocking);
	ASSERT_EQ(0, asio_loop(self->timers.hwt, on_timer, on_error,
			       &self->timers, NULL));
}

TEST_HARNESS_MAIN
