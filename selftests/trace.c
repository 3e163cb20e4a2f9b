// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints. They report each timer's life from its beginning to its end, whichever
 * call made it, and one timer can be followed among others by its id.
 *
 * The tests use the machine's one trace buffer: a new one for each test would take
 * seconds on older kernels. Without tracing in the kernel, all of them are skipped.
 */
#include "hwtimer_test.h"

#include <sys/mount.h>

#define TRACING "/sys/kernel/tracing"
#define EVENTS TRACING "/events/hwtimer"

/* Room for the names of a timer's events */
#define STORY 512

/* Room for a line of the trace */
#define LINE 1024

/* Mounts tracefs, unless it is mounted already; returns whether there are our events. */
static bool have_tracing(void)
{
	if (access(EVENTS, F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	return !access(EVENTS, F_OK);
}

static void clear_trace(void)
{
	int fd = open(TRACING "/trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		abort();
	close(fd);
}

FIXTURE(trace)
{
	int fd;
};

FIXTURE_SETUP(trace)
{
	self->fd = -1;
	if (!have_tracing())
		SKIP(return, "this kernel has no tracing");
	/* A clock that orders the events of all processors */
	ASSERT_TRUE(write_file(TRACING "/trace_clock", "global"));
	clear_trace();
	ASSERT_TRUE(write_file(EVENTS "/enable", "1"));
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(trace)
{
	if (self->fd >= 0)
		EXPECT_EQ(0, close(self->fd));
	write_file(EVENTS "/enable", "0");
	write_file(EVENTS "/filter", "0");
}

/* Returns the part of a trace line from the event's name on; NULL if it is not ours. */
static const char *event_in(const char *line)
{
	const char *event = strstr(line, ": hwtimer_");

	return event ? event + strlen(": hwtimer_") : NULL;
}

/* Returns the number of @field in an event, or -1. */
static long long field_of(const char *event, const char *field)
{
	char key[32];
	const char *found;

	snprintf(key, sizeof(key), " %s=", field);
	found = strstr(event, key);
	return found ? strtoll(found + strlen(key), NULL, 10) : -1;
}

/*
 * Returns the names of all events whose @field is @value, with a space behind each.
 * Copies the last of these events to @last, unless that is NULL.
 */
static const char *story(const char *field, __u64 value, char *last)
{
	static char names[STORY];
	FILE *trace = fopen(TRACING "/trace", "r");
	char line[LINE];

	if (!trace)
		abort();
	names[0] = '\0';
	while (fgets(line, sizeof(line), trace)) {
		const char *event = event_in(line);
		size_t length = strlen(names);

		if (!event || field_of(event, field) != (long long)value)
			continue;
		snprintf(names + length, sizeof(names) - length, "%.*s ",
			 (int)strcspn(event, ":"), event);
		if (last)
			snprintf(last, LINE, "%s", event);
	}
	fclose(trace);
	return names;
}

/* The same for one timer */
static const char *story_of(__u64 id)
{
	return story("id", id, NULL);
}

static void read_events(struct __test_metadata *_metadata, int fd,
			unsigned int count)
{
	struct hwtimer_event events[64];

	ASSERT_EQ(count, dev_collect(fd, events, count));
}

TEST_F(trace, a_timer_from_schedule_to_deliver)
{
	__u64 id = dev_after(self->fd, HOUR, 4711), soon = now_ns() + 5 * MS;
	struct hwtimer_event event;
	char last[LINE] = "";

	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, soon));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	ASSERT_STREQ("schedule reschedule expire deliver ",
		     story("id", id, last));
	EXPECT_EQ(told(self->fd, "instance"), field_of(last, "instance"));
	EXPECT_EQ(4711, field_of(last, "user_data"));
	EXPECT_EQ(soon, field_of(last, "deadline"));
	EXPECT_EQ(event.lateness, field_of(last, "lateness"));
	EXPECT_EQ(1, field_of(last, "expirations"));
}

TEST_F(trace, one_timer_among_others_by_its_id)
{
	char filter[64], last[1024] = "";
	__u64 ids[40];

	ASSERT_EQ(40, dev_schedule_many(self->fd, 40, 0, HOUR, ids));
	snprintf(filter, sizeof(filter), "id == %llu", ids[17]);
	clear_trace();
	/* Turns belong to no timer. */
	ASSERT_TRUE(write_file(EVENTS "/hwtimer_turn/enable", "0"));
	ASSERT_TRUE(write_file(EVENTS "/hwtimer_reschedule/filter", filter));
	ASSERT_TRUE(write_file(EVENTS "/hwtimer_expire/filter", filter));
	ASSERT_TRUE(write_file(EVENTS "/hwtimer_deliver/filter", filter));
	for (unsigned int i = 0; i < 40; i++)
		ASSERT_EQ(0, dev_reschedule(self->fd, ids[i], 0, 0));
	read_events(_metadata, self->fd, 40);
	EXPECT_STREQ("reschedule expire deliver ",
		     story("instance", told(self->fd, "instance"), last));
	EXPECT_EQ(ids[17], field_of(last, "id"));
	EXPECT_EQ(17, field_of(last, "user_data"));
}

TEST_F(trace, a_cancelled_timer)
{
	__u64 id = dev_after(self->fd, HOUR, 1);

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_STREQ("schedule cancel ", story_of(id));
}

TEST_F(trace, a_discarded_timer)
{
	__u64 id = dev_after(self->fd, 0, 1);

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_STREQ("schedule expire discard ", story_of(id));
}

TEST_F(trace, a_periodic_timer)
{
	static const char all[] =
		"schedule expire deliver rearm reschedule expire deliver rearm cancel ";
	__u64 id = dev_add(self->fd, (struct hwtimer_request){
					     .time = MS,
					     .interval = HOUR,
					     .user_data = 99,
				     });
	char last[LINE] = "";

	read_events(_metadata, self->fd, 1);
	EXPECT_STREQ("schedule expire deliver rearm ", story("id", id, last));
	EXPECT_EQ(99, field_of(last, "user_data"));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 0));
	read_events(_metadata, self->fd, 1);
	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_STREQ(all, story("id", id, last));
	EXPECT_EQ(99, field_of(last, "user_data"));
}

TEST_F(trace, a_timer_that_is_handed_back)
{
	struct hwtimer_timer timer;
	__u64 id = dev_after(self->fd, HOUR, 5);
	char last[LINE] = "";

	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_STREQ("schedule cancel ", story("id", id, last));
	EXPECT_EQ(5, field_of(last, "user_data"));
	EXPECT_EQ(timer.deadline, field_of(last, "deadline"));
}

TEST_F(trace, timers_of_a_submit)
{
	struct hwtimer_request requests[6];
	__u64 ids[6];

	fill_schedules(requests, 6, 0, HOUR, 0);
	ASSERT_EQ(6, dev_submit(self->fd, requests, 6));
	for (unsigned int i = 0; i < 6; i++)
		ids[i] = requests[i].id;
	fill_cancels(requests, 6, ids);
	requests[1].op = HWTIMER_OP_RESCHEDULE;
	requests[1].time = 2 * HOUR;
	/* The second cancel of the same timer finds no timer. */
	requests[2].id = ids[0];
	ASSERT_EQ(6, dev_submit(self->fd, requests, 6));
	EXPECT_STREQ("schedule cancel ", story_of(ids[0]));
	EXPECT_STREQ("schedule reschedule ", story_of(ids[1]));
	EXPECT_STREQ("schedule ", story_of(ids[2]));
	EXPECT_STREQ("schedule cancel ", story_of(ids[5]));
}

TEST_F(trace, timers_of_a_bulk)
{
	struct hwtimer_bulk_timer timers[3] = {
		{ .user_data = 7, .time = HOUR },
		{ .user_data = 8, .time = HOUR },
		{ .user_data = 9, .time = HOUR },
	};
	char last[LINE] = "";
	__u64 ids[3], results[3];

	ASSERT_EQ(3,
		  dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, 3));
	EXPECT_STREQ("schedule ", story("id", ids[1], last));
	EXPECT_EQ(8, field_of(last, "user_data"));
	for (unsigned int i = 0; i < 3; i++)
		timers[i].id = ids[i];
	ASSERT_EQ(3, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0, timers,
			      results, 3));
	results[0] = 0;
	ids[2] = ids[1];
	ASSERT_EQ(3, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, results, 3));
	EXPECT_EQ(0, results[1]);
	EXPECT_EQ(-ENOENT, (__s64)results[2]);
	EXPECT_STREQ("schedule reschedule cancel ", story_of(ids[0]));
	EXPECT_STREQ("schedule reschedule cancel ", story_of(ids[1]));
	EXPECT_STREQ("schedule reschedule ", story_of(timers[2].id));
}

TEST_F(trace, refused_timers_are_not_told_of)
{
	struct hwtimer_bulk_timer timers[4] = { 0 };
	char last[LINE] = "";
	__u64 ids[4];

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 1));
	for (unsigned int i = 0; i < 4; i++)
		timers[i] = (struct hwtimer_bulk_timer){ .time = HOUR };
	ASSERT_EQ(4,
		  dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, 4));
	EXPECT_EQ(-ENOSPC, (__s64)ids[1]);
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
	EXPECT_STREQ("open schedule ",
		     story("instance", told(self->fd, "instance"), last));
}

TEST_F(trace, turns_of_the_worker)
{
	char last[LINE] = "";

	ASSERT_EQ(50, dev_schedule_many(self->fd, 50, 0, 0, NULL));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 50));
	ASSERT_NE(0, strlen(story("expired", 50, last)));
	EXPECT_EQ(0, strncmp(last, "turn:", 5));
	EXPECT_EQ(told(self->fd, "instance"), field_of(last, "instance"));
	EXPECT_EQ(50, field_of(last, "ready"));
	EXPECT_LE(0, field_of(last, "late"));
}

TEST_F(trace, instances)
{
	long long nr = told(self->fd, "instance");
	char last[LINE] = "";

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	EXPECT_STREQ("open schedule close ", story("instance", nr, last));
	EXPECT_EQ(1, field_of(last, "pending"));
}

TEST_F(trace, what_is_not_listened_to_is_not_told)
{
	__u64 id;

	ASSERT_TRUE(write_file(EVENTS "/enable", "0"));
	id = dev_after(self->fd, 0, 0);
	read_events(_metadata, self->fd, 1);
	EXPECT_STREQ("", story_of(id));
}

TEST_HARNESS_MAIN
