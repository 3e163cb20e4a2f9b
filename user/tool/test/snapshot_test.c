// SPDX-License-Identifier: MIT
/*
 * Tests what hwtimerctl save and restore do without the module: the file format, with
 * files that are damaged or lie, and what restore computes of a timer. Built with
 * sanitizers and run by test/vm/userland.sh. Prints what is wrong; the exit status is 0 if
 * nothing is. With the name of a file, writes a snapshot there.
 */
#define _GNU_SOURCE
#include "../revival.h"
#include "../snapshot.h"
#include "expect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000LL
#define HOUR (3600 * SECOND)
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER_BOOT "11234567-89ab-cdef-0123-456789abcdef"

/* Number of files with changed values that are tried */
#define LIES 200000

/* Longest file that is tried */
#define ROOM 8192

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* ---- a file ---- */

static const struct snapshot_header header = {
	.boot_id = BOOT,
	.clock_now = 1000 * SECOND,
	.real_now = 2000000000 * SECOND,
	.clock_offset = -5,
	.setup = {
		.tick = 1000000,
		.buckets = 4096,
		.clock = HWTIMER_CLOCK_MONOTONIC,
		.timers = 1000,
	},
	.nonblock = true,
};

static const struct snapshot_timer timers[] = {
	{ 1, UINT64_MAX, 1001 * SECOND, 0, 0, 0, 0, HWTIMER_STATE_PENDING },
	{ 2, 0, HWTIMER_NEVER, 0, SECOND, 0, 0, HWTIMER_STATE_PENDING },
	{ 3, 7, 0, SECOND, SECOND, 5, 0, HWTIMER_STATE_EXPIRED },
	{ UINT64_MAX, 8, 1000 * SECOND, SECOND, 0, 0, HWTIMER_REQ_FIXED_DELAY,
	  HWTIMER_STATE_EXPIRED },
	{ 5, 9, HWTIMER_NEVER - 1, INT64_MAX, INT64_MAX, UINT32_MAX, 0,
	  HWTIMER_STATE_PENDING },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A file in memory */
struct text {
	char bytes[ROOM];
	size_t length;
};

static struct text written(void)
{
	struct text text = { 0 };
	struct snapshot_writer writer = { .file = tmpfile() };
	bool good;

	if (!writer.file)
		abort();
	good = snapshot_write_header(&writer, &header);
	for (size_t i = 0; i < COUNT(timers); i++)
		good &= snapshot_write_timer(&writer, &timers[i]);
	EXPECT(good && snapshot_write_end(&writer));
	rewind(writer.file);
	text.length = fread(text.bytes, 1, ROOM, writer.file);
	fclose(writer.file);
	return text;
}

/*
 * Reads a file to its end, and closes it. Returns 0, or the number of the line that is
 * refused. Calls @see for each timer.
 */
static unsigned long read_file(FILE *file, struct snapshot_reader *reader,
			       void (*see)(const struct snapshot_reader *reader,
					   const struct snapshot_timer *timer))
{
	struct snapshot_timer timer;
	enum snapshot_record kind;
	bool good = snapshot_read_header(reader, file);

	while (good) {
		kind = snapshot_read(reader, &timer);
		if (kind == SNAPSHOT_END)
			break;
		good = kind != SNAPSHOT_WRONG;
		if (good && see)
			see(reader, &timer);
	}
	fclose(file);
	EXPECT(good == !*reader->problem);
	return good ? 0 : reader->line;
}

/* The same for a file in memory */
static unsigned long read_all(const struct text *text,
			      struct snapshot_reader *reader,
			      void (*see)(const struct snapshot_reader *reader,
					  const struct snapshot_timer *timer))
{
	FILE *file = fmemopen((void *)text->bytes, text->length ?: 1, "r");

	if (!file)
		abort();
	if (!text->length)
		getc(file);
	return read_file(file, reader, see);
}

/* ---- good files and damaged ones ---- */

static void same_as_written(const struct snapshot_reader *reader,
			    const struct snapshot_timer *timer)
{
	const struct snapshot_timer *wanted = &timers[reader->timers - 1];

	EXPECT(timer->id == wanted->id);
	EXPECT(timer->user_data == wanted->user_data);
	EXPECT(timer->deadline == wanted->deadline);
	EXPECT(timer->interval == wanted->interval);
	EXPECT(timer->slack == wanted->slack);
	EXPECT(timer->count == wanted->count);
	EXPECT(timer->flags == wanted->flags);
	EXPECT(timer->state == wanted->state);
}

static void test_round_trip(const struct text *text)
{
	struct snapshot_reader reader;

	EXPECT(!read_all(text, &reader, same_as_written));
	EXPECT(reader.timers == COUNT(timers));
	EXPECT(!strcmp(reader.header.boot_id, header.boot_id));
	EXPECT(reader.header.clock_now == header.clock_now);
	EXPECT(reader.header.real_now == header.real_now);
	EXPECT(reader.header.clock_offset == header.clock_offset);
	EXPECT(reader.header.nonblock);
	EXPECT(!memcmp(&reader.header.setup, &header.setup,
		       sizeof(header.setup)));
}

/* Returns the number of the line that has the byte at @place. */
static unsigned long line_of(const struct text *text, size_t place)
{
	unsigned long line = 1;

	for (size_t i = 0; i < place; i++)
		line += text->bytes[i] == '\n';
	return line;
}

/* A file that ends anywhere is refused in the line where it ends. */
static void test_truncated(const struct text *text)
{
	struct snapshot_reader reader;

	for (size_t length = 0; length < text->length; length++) {
		struct text cut = *text;

		cut.length = length;
		EXPECT(read_all(&cut, &reader, NULL) == line_of(text, length));
	}
}

/* A changed bit, wherever it is, is found in its line. */
static void test_flipped(const struct text *text)
{
	struct snapshot_reader reader;

	for (size_t bit = 0; bit < text->length * 8; bit++) {
		struct text flipped = *text;

		flipped.bytes[bit / 8] ^= 1 << bit % 8;
		EXPECT(read_all(&flipped, &reader, NULL) ==
		       line_of(text, bit / 8));
	}
}

/* Other bytes at random places, several at a time; also a part that is there twice. */
static void test_random(const struct text *text)
{
	struct snapshot_reader reader;

	for (unsigned int i = 0; i < LIES / 10; i++) {
		struct text random = *text;

		for (uint64_t n = 1 + next_random() % 4; n; n--)
			random.bytes[next_random() % random.length] =
				next_random();
		if (!memcmp(random.bytes, text->bytes, text->length))
			continue;
		EXPECT(read_all(&random, &reader, NULL));
	}
}

static void test_ends(const struct text *text)
{
	struct snapshot_reader reader;
	struct text more = *text;

	more.bytes[more.length++] = '\n';
	EXPECT(read_all(&more, &reader, NULL) == line_of(text, text->length));
	memset(&more, 'x', sizeof(more));
	more.length = ROOM;
	EXPECT(read_all(&more, &reader, NULL) == 1);
	memset(&more, 0, sizeof(more));
	more.length = ROOM;
	EXPECT(read_all(&more, &reader, NULL) == 1);
	EXPECT(strstr(reader.problem, "not a file of"));
}

/* ---- files that lie: their checksums are right ---- */

static uint32_t sum_of(uint32_t sum, const char *text, size_t length)
{
	sum = ~sum;
	for (; length; length--) {
		sum ^= (unsigned char)*text++;
		for (unsigned int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

/* Replaces the checksum of each line by the right one. */
static struct text sealed(const struct text *text)
{
	struct text out = { 0 };
	const char *line = text->bytes;
	uint32_t sum = 0;

	while (line < text->bytes + text->length) {
		size_t length = strcspn(line, "\n");
		size_t content = length < 9 ? length : length - 9;

		sum = sum_of(sum, line, content);
		out.length += snprintf(out.bytes + out.length,
				       ROOM - out.length,
				       "%.*s %08" PRIx32 "\n", (int)content,
				       line, sum);
		line += length + 1;
	}
	return out;
}

/* Values that are at the ends of ranges, or beyond, or nonsense */
static const char *const values[] = {
	"0",
	"1",
	"2",
	"9223372036854775807",
	"9223372036854775808",
	"18446744073709551615",
	"18446744073709551616",
	"4294967295",
	"4294967296",
	"-1",
	"+1",
	"01",
	"",
	" ",
	"0x10",
	"1e9",
	"pending",
	"expired",
	"rate",
	"delay",
	"once",
	"timer",
	"end",
	"realtime",
	"monotonic",
	"boottime",
	"tai",
	"1000000",
	"999999",
	"99999999999999999999999999999999999999999999999999",
	"1001000000000"
};

/* Puts another value in the place of any word of the file. */
static struct text lie(const struct text *text)
{
	const char *value = values[next_random() % COUNT(values)];
	size_t begin = next_random() % text->length, end;
	struct text out = { 0 };

	while (begin && !strchr("\n ", text->bytes[begin - 1]))
		begin--;
	end = begin + strcspn(text->bytes + begin, "\n ");
	out.length = snprintf(out.bytes, ROOM, "%.*s%s%s", (int)begin,
			      text->bytes, value, text->bytes + end);
	return out;
}

static unsigned long accepted;

/* Whether the module takes a SCHEDULE: what <linux/hwtimer.h> says of it. */
static bool schedule_valid(const struct hwtimer_request *request,
			   const struct hwtimer_setup *setup)
{
	bool delay = request->flags & HWTIMER_REQ_FIXED_DELAY;

	return request->op == HWTIMER_OP_SCHEDULE && !request->id &&
	       request->flags & HWTIMER_REQ_ABSTIME && request->time >= 0 &&
	       request->slack <= INT64_MAX && !request->reserved &&
	       request->interval <= INT64_MAX &&
	       (request->interval || !(request->expirations_max || delay)) &&
	       !(delay && snapshot_clock_may_be_set(setup->clock));
}

/* Whatever the file says, what restore would schedule is valid. */
static void see_lie(const struct snapshot_reader *reader,
		    const struct snapshot_timer *timer)
{
	const struct moment now = {
		.boot_id = OTHER_BOOT,
		.clock_now = next_random() >> (1 + next_random() % 63),
		.real_before = next_random() >> (1 + next_random() % 63),
	};
	const struct revival revival =
		revival_of(&reader->header, &now, next_random() % 4 == 0);
	struct hwtimer_request requests[2];
	unsigned int count;

	count = revival_timer(&revival, timer, requests);
	EXPECT(count == 1 || count == 2);
	while (count--)
		EXPECT(schedule_valid(&requests[count], &reader->header.setup));
	accepted++;
}

static void test_lies(const struct text *text)
{
	struct snapshot_reader reader;

	for (unsigned int i = 0; i < LIES; i++) {
		struct text liar = lie(text);

		if (next_random() % 2)
			liar = lie(&liar);
		liar = sealed(&liar);
		read_all(&liar, &reader, see_lie);
	}
	EXPECT(accepted > LIES);
}

/* Replaces @from, which the file has once, by @to; expects @problem in the line. */
static void expect_problem(const struct text *text, const char *from,
			   const char *to, const char *problem)
{
	const char *place = strstr(text->bytes, from);
	struct text liar = { 0 };
	struct snapshot_reader reader;

	if (!place)
		abort();
	liar.length = snprintf(liar.bytes, ROOM, "%.*s%s%s",
			       (int)(place - text->bytes), text->bytes, to,
			       place + strlen(from));
	liar = sealed(&liar);
	if (read_all(&liar, &reader, NULL) !=
		    line_of(text, place - text->bytes) ||
	    !strstr(reader.problem, problem)) {
		failures++;
		printf("%s: line %lu: %s\n", to, reader.line, reader.problem);
	}
}

static void test_problems(const struct text *text)
{
	expect_problem(text, "snapshot 1", "snapshot 2", "version 2");
	expect_problem(text, "hwtimer-sn", "hwtimer_sn", "not a file of");
	expect_problem(text, "boot-id 0", "boot-id X", "boot");
	expect_problem(text, "clock mono", "clock stereo", "clock");
	expect_problem(text, "tick 1000000", "tick 0", "tick");
	expect_problem(text, "limit 1000", "limit 0", "limit");
	expect_problem(text, "flags 0", "flags 4", "flags");
	expect_problem(text, "flags 0", "flag 0", "\"flags\"");
	expect_problem(text, "nonblock 1", "nonblock 2", "nonblock");
	expect_problem(text, "nonblock 1", "nonblock 1 1", "more than");
	expect_problem(text, "timer 1 ", "timer 0 ", "the id");
	expect_problem(text, "timer 1 ", "timer 01 ", "the id");
	expect_problem(text, "timer 2 0 ", "timer 2 184467440737095516150 ",
		       "user_data");
	expect_problem(text, "timer 2 0 ", "timer 2 18446744073709551616 ",
		       "user_data");
	expect_problem(text, "timer 2 0 9223372036854775807",
		       "timer 2 0 9223372036854775808", "deadline");
	expect_problem(text, "timer 3 7 0 1000000000",
		       "timer 3 7 0 9223372036854775808", "the interval");
	expect_problem(text, "timer 3 7 0 1000000000 1000000000",
		       "timer 3 7 0 1000000000 9223372036854775808", "slack");
	expect_problem(text, "timer 3 7 0 1000000000 1000000000",
		       "timer 3 7 0 0 1000000000", "the interval");
	expect_problem(text, "0 0 0 once", "0 0 1 once", "has a count");
	expect_problem(text, "timer 3 7 0 ", "timer 3 7 9223372036854775807 ",
		       "has expired");
	expect_problem(text, "timer 3", "timed 3", "neither");
	expect_problem(text, "end 5", "end 4", "4 timers");
	expect_problem(text, "end 5", "end 5 2", "more than");
	expect_problem(text, "end 5", "end", "number of timers");
}

/* Clocks that may be set have no timers with a fixed delay; the file has one. */
static void test_clocks(const struct text *text)
{
	static const char *const names[] = { "realtime", "tai", "boottime",
					     "monotonic" };
	static const uint32_t clocks[] = { HWTIMER_CLOCK_REALTIME,
					   HWTIMER_CLOCK_TAI,
					   HWTIMER_CLOCK_BOOTTIME,
					   HWTIMER_CLOCK_MONOTONIC };
	const char *place = strstr(text->bytes, "monotonic");
	const char *timer = strstr(text->bytes, "timer 18446744073709551615");

	for (size_t i = 0; i < COUNT(names); i++) {
		bool may_be_set = i < 2;
		struct snapshot_reader reader;
		struct text other = { 0 };

		other.length = snprintf(other.bytes, ROOM, "%.*s%s%s",
					(int)(place - text->bytes), text->bytes,
					names[i], place + strlen("monotonic"));
		other = sealed(&other);
		EXPECT(read_all(&other, &reader, NULL) ==
		       (may_be_set ? line_of(text, timer - text->bytes) : 0));
		EXPECT(!may_be_set ||
		       strstr(reader.problem, "a clock that may be set"));
		EXPECT(reader.header.setup.clock == clocks[i]);
		EXPECT(!strcmp(snapshot_clock_name(clocks[i]), names[i]));
	}
	EXPECT(!snapshot_clock_name(HWTIMER_CLOCK_DEFAULT));
	EXPECT(!snapshot_clock_name(HWTIMER_CLOCK_REALTIME - 1));
	EXPECT(!snapshot_clock_name(HWTIMER_CLOCK_TAI + 1));
}

/* ---- a file that cannot be read ---- */

/* A file on a bad disk: its first @length bytes can be read */
struct bad_disk {
	const struct text *text;
	size_t length, read;
};

static ssize_t read_bad_disk(void *cookie, char *buffer, size_t size)
{
	struct bad_disk *disk = cookie;
	size_t rest = disk->length - disk->read;

	if (!rest) {
		errno = EIO;
		return -1;
	}
	if (size > rest)
		size = rest;
	memcpy(buffer, disk->text->bytes + disk->read, size);
	disk->read += size;
	return size;
}

/* Wherever the disk fails, after the last byte, too, the error is told. */
static void test_read_errors(const struct text *text)
{
	const cookie_io_functions_t functions = { .read = read_bad_disk };
	struct snapshot_reader reader;

	for (size_t length = 0; length <= text->length; length++) {
		struct bad_disk disk = { .text = text, .length = length };
		FILE *file = fopencookie(&disk, "r", functions);

		if (!file)
			abort();
		EXPECT(read_file(file, &reader, NULL));
		EXPECT(!strcmp(reader.problem, strerror(EIO)));
	}
}

/* ---- times ---- */

static struct moment moment_after(const char *boot_id, int64_t clock,
				  int64_t real)
{
	struct moment moment = {
		.clock_now = clock,
		.real_before = header.real_now + real,
		.clock_offset = header.clock_offset,
	};

	memcpy(moment.boot_id, boot_id, sizeof(moment.boot_id));
	return moment;
}

/* Returns the deadline of what makes the timer go on, and keeps all. */
static struct hwtimer_request out[2];
static unsigned int nr_out;

static uint64_t revive(const struct revival *revival, int64_t deadline,
		       uint64_t interval, uint32_t count, uint32_t state)
{
	const struct snapshot_timer timer = {
		.id = 1,
		.user_data = 42,
		.deadline = deadline,
		.interval = interval,
		.count = count,
		.state = state,
	};

	nr_out = revival_timer(revival, &timer, out);
	EXPECT(out[0].user_data == 42);
	return out[0].time;
}

#define PENDING HWTIMER_STATE_PENDING
#define EXPIRED HWTIMER_STATE_EXPIRED

/* During the same boot, deadlines stay, but follow the namespace. */
static void test_same_boot(void)
{
	struct moment now = moment_after(BOOT, 1500 * SECOND, 500 * SECOND);
	struct revival revival = revival_of(&header, &now, false);

	EXPECT(revival.same_boot && revival.passed == 500ULL * SECOND);
	EXPECT(revive(&revival, 1200 * SECOND, 0, 0, PENDING) ==
	       1200ULL * SECOND);
	EXPECT(revive(&revival, HWTIMER_NEVER, 0, 0, PENDING) == HWTIMER_NEVER);
	EXPECT(revive(&revival, 999 * SECOND, 7 * SECOND, 9, EXPIRED) ==
	       999ULL * SECOND);
	EXPECT(nr_out == 1 && out[0].expirations_max == 9);
	now.clock_offset += HOUR;
	now.clock_now += HOUR;
	revival = revival_of(&header, &now, false);
	EXPECT(revival.passed == 500ULL * SECOND);
	EXPECT(revive(&revival, 1200 * SECOND, 0, 0, PENDING) ==
	       1200ULL * SECOND + HOUR);
}

static void test_other_boot(void)
{
	/* 300 s have passed, and the machine has been up for 100 s. */
	struct moment now =
		moment_after(OTHER_BOOT, 100 * SECOND, 300 * SECOND);
	struct revival revival = revival_of(&header, &now, false);

	EXPECT(!revival.same_boot && !revival.set_back);
	/* 1,000 s left at the save, 700 now */
	EXPECT(revive(&revival, 2000 * SECOND, 0, 0, PENDING) ==
	       800ULL * SECOND);
	/* Due 50 s ago, and 250 s ago */
	EXPECT(revive(&revival, 1250 * SECOND, 0, 0, PENDING) ==
	       50ULL * SECOND);
	EXPECT(revive(&revival, 1050 * SECOND, 0, 0, PENDING) == 0);
	/* The clock went back: nothing is early. */
	now = moment_after(OTHER_BOOT, 100 * SECOND, -300 * SECOND);
	revival = revival_of(&header, &now, false);
	EXPECT(revival.set_back && !revival.passed);
	EXPECT(revive(&revival, 2000 * SECOND, 0, 0, PENDING) ==
	       1100ULL * SECOND);
}

/* With --paused, the time left counts, whatever the clock and the boot. */
static void test_paused(void)
{
	struct snapshot_header on_realtime = header;
	struct moment now = moment_after(BOOT, 5000 * SECOND, 4000 * SECOND);
	struct revival revival = revival_of(&header, &now, true);

	EXPECT(revive(&revival, 1200 * SECOND, 0, 0, PENDING) ==
	       5200ULL * SECOND);
	EXPECT(revival.passed == 0);
	on_realtime.setup.clock = HWTIMER_CLOCK_REALTIME;
	on_realtime.clock_now = on_realtime.real_now;
	now.clock_now = now.real_before;
	revival = revival_of(&on_realtime, &now, true);
	EXPECT(revive(&revival, on_realtime.real_now + SECOND, 0, 0, PENDING) ==
	       now.clock_now + SECOND);
}

/* The next deadlines keep their phase, and what is due already comes at once. */
static void test_periodic(void)
{
	struct moment now =
		moment_after(OTHER_BOOT, 100 * SECOND, 300 * SECOND);
	struct revival revival = revival_of(&header, &now, false);

	/* 260 s ago, every 30 s: the first deadline of this boot was 80 s ago. */
	EXPECT(revive(&revival, 1040 * SECOND, 30 * SECOND, 20, PENDING) ==
	       20ULL * SECOND);
	EXPECT(nr_out == 1 && out[0].expirations_max == 14);
	/* 250 s ago, every hour: the event is due, and the next in 3,350 s. */
	EXPECT(revive(&revival, 1050 * SECOND, HOUR, 20, PENDING) ==
	       3450ULL * SECOND);
	EXPECT(nr_out == 2 && out[0].expirations_max == 19);
	EXPECT(!out[1].time && !out[1].interval);
	EXPECT(out[1].user_data == 42);
	EXPECT(revive(&revival, 1050 * SECOND, HOUR, 0, PENDING) ==
	       3450ULL * SECOND);
	EXPECT(nr_out == 2 && !out[0].expirations_max);
	/* The last expiration has passed. */
	EXPECT(revive(&revival, 1050 * SECOND, HOUR, 1, EXPIRED) == 0);
	EXPECT(nr_out == 1 && out[0].expirations_max == 1);
	EXPECT(out[0].interval == HOUR);
}

/* An event that waited is due although the clock was set back. */
static void test_set_back(uint32_t clock)
{
	struct snapshot_header set = header;
	struct moment now = moment_after(BOOT, 0, -HOUR);
	struct revival revival;
	int64_t saved = header.real_now;

	set.setup.clock = clock;
	now.clock_now = now.real_before;
	revival = revival_of(&set, &now, false);
	EXPECT(revive(&revival, saved, 0, 0, PENDING) == (uint64_t)saved);
	EXPECT(revive(&revival, saved, 0, 0, EXPIRED) == now.clock_now);
	EXPECT(revive(&revival, saved, SECOND, 3, EXPIRED) ==
	       (uint64_t)saved + SECOND);
	EXPECT(nr_out == 2 && out[0].expirations_max == 2);
	EXPECT(out[1].time == (int64_t)now.clock_now);
	/* The last expiration */
	EXPECT(revive(&revival, saved, SECOND, 1, EXPIRED) == now.clock_now);
	EXPECT(nr_out == 1 && out[0].expirations_max == 1);
}

/* Slack stays, also if it is longer than the deadline on the new clock. */
static void test_slack(void)
{
	struct moment now =
		moment_after(OTHER_BOOT, 100 * SECOND, 300 * SECOND);
	struct revival revival = revival_of(&header, &now, false);
	struct snapshot_timer timer = {
		.id = 1,
		.deadline = 1202 * SECOND,
		.slack = 10 * SECOND,
		.state = PENDING,
	};

	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 2 * SECOND && out[0].slack == 10 * SECOND);
	timer.deadline = HWTIMER_NEVER;
	timer.slack = INT64_MAX;
	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == HWTIMER_NEVER && out[0].slack == INT64_MAX);
}

/* A deadline that ends beyond the range of the new clock never comes. */
static void test_never(void)
{
	struct moment now = moment_after(OTHER_BOOT, HOUR, 0);
	struct revival revival = revival_of(&header, &now, false);

	EXPECT(revive(&revival, HWTIMER_NEVER, 0, 0, PENDING) == HWTIMER_NEVER);
	EXPECT(revive(&revival, HWTIMER_NEVER - 1, 0, 0, PENDING) ==
	       HWTIMER_NEVER);
	EXPECT(revive(&revival, HWTIMER_NEVER - 1, 1, 5, PENDING) ==
	       HWTIMER_NEVER);
}

/* The slack of a timer does not delay an event that waited; the timer keeps it. */
static void test_slack_of_events(void)
{
	struct moment now =
		moment_after(OTHER_BOOT, 100 * SECOND, 300 * SECOND);
	struct revival revival = revival_of(&header, &now, false);
	struct snapshot_timer timer = {
		.id = 1,
		.deadline = 1298 * SECOND, /* 2 s ago */
		.slack = 10 * SECOND,
		.state = EXPIRED,
	};

	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 98 * SECOND && !out[0].slack);
	timer.interval = HOUR;
	timer.count = 3;
	EXPECT(revival_timer(&revival, &timer, out) == 2);
	EXPECT(out[0].time == 98 * SECOND + HOUR);
	EXPECT(out[0].slack == 10 * SECOND);
	EXPECT(out[0].expirations_max == 2);
	EXPECT(out[1].time == 98 * SECOND && !out[1].slack);
	EXPECT(!out[1].interval && !out[1].expirations_max);
	timer.count = 1;
	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 98 * SECOND && !out[0].slack);
	EXPECT(out[0].interval == HOUR && out[0].expirations_max == 1);
	/* Its slack has passed: the event reports all expirations. */
	timer.count = 3;
	timer.deadline = 1290 * SECOND;
	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 90 * SECOND && out[0].expirations_max == 3);
	timer.flags = HWTIMER_REQ_FIXED_DELAY;
	timer.deadline = 1298 * SECOND;
	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 90 * SECOND && out[0].expirations_max == 3);
	EXPECT(out[0].slack == 10 * SECOND);
	timer.count = 1;
	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 98 * SECOND && !out[0].slack);
	EXPECT(out[0].flags & HWTIMER_REQ_FIXED_DELAY);
	/* In the same boot, it has been rounded to the same moment before. */
	now = moment_after(BOOT, 1300 * SECOND, 300 * SECOND);
	revival = revival_of(&header, &now, false);
	timer.count = 3;
	timer.flags = 0;
	EXPECT(revival_timer(&revival, &timer, out) == 1);
	EXPECT(out[0].time == 1298 * SECOND && out[0].expirations_max == 3);
}

static int write_to(const char *path, const struct text *text)
{
	FILE *file = fopen(path, "w");

	return !file || !fwrite(text->bytes, text->length, 1, file) ||
	       fclose(file);
}

int main(int argc, char **argv)
{
	struct text text = written();

	if (argc > 1)
		return write_to(argv[1], &text);
	test_round_trip(&text);
	test_truncated(&text);
	test_flipped(&text);
	test_random(&text);
	test_ends(&text);
	test_problems(&text);
	test_clocks(&text);
	test_lies(&text);
	test_read_errors(&text);
	test_same_boot();
	test_other_boot();
	test_paused();
	test_periodic();
	test_set_back(HWTIMER_CLOCK_REALTIME);
	test_set_back(HWTIMER_CLOCK_TAI);
	test_slack();
	test_never();
	test_slack_of_events();
	printf("%u failures, %lu records of lies accepted\n", failures,
	       accepted);
	return failures > 0;
}
