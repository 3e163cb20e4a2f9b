// SPDX-License-Identifier: MIT
/* Writes and reads snapshots; see snapshot.h. */
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "hwtimer-snapshot"
#define VERSION 1

/* A space and eight digits */
#define SUM_LENGTH 9

/* The largest number of the clocks, and of SETUP and SCHEDULE: the kernel's KTIME_MAX */
#define TIME_MAX HWTIMER_NEVER

static const char *const clock_names[] = {
	[HWTIMER_CLOCK_REALTIME] = "realtime",
	[HWTIMER_CLOCK_MONOTONIC] = "monotonic",
	[HWTIMER_CLOCK_BOOTTIME] = "boottime",
	[HWTIMER_CLOCK_TAI] = "tai",
};

static const char *const state_names[] = {
	[HWTIMER_STATE_PENDING] = "pending",
	[HWTIMER_STATE_EXPIRED] = "expired",
};

/* The types of timers: without an interval, with a fixed rate, with a fixed delay */
enum { ONCE, RATE, DELAY };

static const char *const type_names[] = { "once", "rate", "delay" };

#define COUNT_OF(names) (sizeof(names) / sizeof((names)[0]))

const char *snapshot_clock_name(uint32_t clock)
{
	return clock < COUNT_OF(clock_names) ? clock_names[clock] : NULL;
}

/* Continues a CRC-32 (of Ethernet and gzip), which begins and ends inverted. */
static uint32_t sum_of(uint32_t sum, const char *text, size_t length)
{
	static uint32_t table[256];
	unsigned int i, bit;

	for (i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^
				   (table[i] & 1 ? 0xedb88320 : 0);
	}
	sum = ~sum;
	while (length--)
		sum = sum >> 8 ^ table[(sum ^ (unsigned char)*text++) & 0xff];
	return ~sum;
}

/* ---- write ---- */

/* Writes a line with its checksum. */
static bool __attribute__((format(printf, 2, 3)))
put(struct snapshot_writer *writer, const char *format, ...)
{
	char line[SNAPSHOT_LINE + 2];
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	writer->sum = sum_of(writer->sum, line, length);
	length += snprintf(line + length, sizeof(line) - length,
			   " %08" PRIx32 "\n", writer->sum);
	return fwrite(line, 1, length, writer->file) == length;
}

/* Begins a snapshot; writer->file is set. */
bool snapshot_write_header(struct snapshot_writer *writer,
			   const struct snapshot_header *header)
{
	const struct hwtimer_setup *setup = &header->setup;

	writer->timers = 0;
	writer->sum = 0;
	return put(writer, "%s %d", FORMAT, VERSION) &&
	       put(writer, "boot-id %s", header->boot_id) &&
	       put(writer, "clock %s", clock_names[setup->clock]) &&
	       put(writer, "clock-now %" PRIu64, header->clock_now) &&
	       put(writer, "realtime-now %" PRIu64, header->real_now) &&
	       put(writer, "clock-offset %" PRId64, header->clock_offset) &&
	       put(writer, "tick %llu", setup->tick) &&
	       put(writer, "buckets %u", setup->buckets) &&
	       put(writer, "limit %llu", setup->timers) &&
	       put(writer, "flags %u", setup->flags) &&
	       put(writer, "nonblock %d", header->nonblock);
}

bool snapshot_write_timer(struct snapshot_writer *writer,
			  const struct snapshot_timer *timer)
{
	unsigned int type = !timer->interval			   ? ONCE :
			    timer->flags & HWTIMER_REQ_FIXED_DELAY ? DELAY :
								     RATE;

	writer->timers++;
	return put(writer,
		   "timer %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		   " %" PRIu64 " %" PRIu32 " %s %s",
		   timer->id, timer->user_data, timer->deadline,
		   timer->interval, timer->slack, timer->count,
		   type_names[type], state_names[timer->state]);
}

bool snapshot_write_end(struct snapshot_writer *writer)
{
	return put(writer, "end %" PRIu64, writer->timers);
}

/* ---- read a line ---- */

/* Notes the first thing that is wrong with the line; returns false. */
static bool __attribute__((format(printf, 2, 3)))
wrong(struct snapshot_reader *reader, const char *format, ...)
{
	va_list arguments;

	if (*reader->problem)
		return false;
	va_start(arguments, format);
	vsnprintf(reader->problem, sizeof(reader->problem), format, arguments);
	va_end(arguments);
	return false;
}

/* Reads a line, except its checksum and its end. */
static bool read_text(struct snapshot_reader *reader, size_t *length)
{
	int c;

	reader->line++;
	*length = 0;
	while ((c = getc_unlocked(reader->file)) != '\n') {
		if (c == EOF && ferror(reader->file))
			return wrong(reader, "%s", strerror(errno));
		if (c == EOF)
			return wrong(reader, "the file is cut off here");
		if (c < ' ' || c > '~')
			return wrong(reader, "byte %#x is not text", c);
		if (*length == SNAPSHOT_LINE)
			return wrong(reader, "the line is too long");
		reader->text[(*length)++] = c;
	}
	reader->text[*length] = '\0';
	return true;
}

/* Whether @text is a space and @sum. */
static bool is_sum(const char *text, uint32_t sum)
{
	unsigned int digit;

	if (*text++ != ' ')
		return false;
	for (digit = 8; digit--; text++)
		if (*text != "0123456789abcdef"[sum >> 4 * digit & 0xf])
			return false;
	return true;
}

/* Reads a line, and removes its checksum. */
static bool read_line(struct snapshot_reader *reader)
{
	size_t length;

	if (!read_text(reader, &length))
		return false;
	if (length < SUM_LENGTH)
		return wrong(reader, "the line has no checksum");
	length -= SUM_LENGTH;
	reader->sum = sum_of(reader->sum, reader->text, length);
	if (!is_sum(reader->text + length, reader->sum))
		return wrong(reader,
			     "the checksum is wrong: the file was changed");
	reader->text[length] = '\0';
	reader->rest = reader->text;
	return true;
}

/* ---- parse a line ---- */

/* Takes @word if it is the next one. */
static bool take_word(struct snapshot_reader *reader, const char *word)
{
	size_t length = strlen(word);
	const char *rest = reader->rest;

	if (strncmp(rest, word, length) ||
	    (rest[length] && rest[length] != ' '))
		return false;
	reader->rest += length + (rest[length] == ' ');
	return true;
}

static bool need_end(struct snapshot_reader *reader)
{
	return !*reader->rest ||
	       wrong(reader, "the line has more than it should");
}

/* Takes digits, without a sign and leading zeros, as they are written here. */
static bool take_digits(struct snapshot_reader *reader, uint64_t *number)
{
	const char *c = reader->rest;

	*number = 0;
	for (; *c >= '0' && *c <= '9'; c++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *c - '0', number))
			return false;
	if (c == reader->rest || (*c && *c != ' ') ||
	    (*reader->rest == '0' && c - reader->rest > 1))
		return false;
	reader->rest = c + (*c == ' ');
	return true;
}

/* Takes a number from @min to @max. */
static bool take_number(struct snapshot_reader *reader, const char *what,
			uint64_t min, uint64_t max, uint64_t *number)
{
	if (!take_digits(reader, number))
		return wrong(reader, "%s is not a number", what);
	if (*number < min || *number > max)
		return wrong(reader, "%s is not from %" PRIu64 " to %" PRIu64,
			     what, min, max);
	return true;
}

static bool take_number_32(struct snapshot_reader *reader, const char *what,
			   uint32_t max, uint32_t *number)
{
	uint64_t value = 0;

	if (!take_number(reader, what, 0, max, &value))
		return false;
	*number = value;
	return true;
}

/* Takes one of @names, which may have gaps, and sets *@index to its index. */
static bool take_name(struct snapshot_reader *reader, const char *what,
		      const char *const *names, unsigned int count,
		      uint32_t *index)
{
	for (*index = 0; *index < count; ++*index)
		if (names[*index] && take_word(reader, names[*index]))
			return true;
	*index = 0;
	return wrong(reader, "%s is unknown", what);
}

/* ---- read the header ---- */

/* Reads a line that must begin with @key; leaves the rest to the caller. */
static bool need_key(struct snapshot_reader *reader, const char *key)
{
	if (!read_line(reader))
		return false;
	return take_word(reader, key) ||
	       wrong(reader, "the line does not begin with \"%s\"", key);
}

static bool need_number(struct snapshot_reader *reader, const char *key,
			uint64_t min, uint64_t max, uint64_t *number)
{
	return need_key(reader, key) &&
	       take_number(reader, key, min, max, number) && need_end(reader);
}

static bool need_number_32(struct snapshot_reader *reader, const char *key,
			   uint32_t max, uint32_t *number)
{
	return need_key(reader, key) &&
	       take_number_32(reader, key, max, number) && need_end(reader);
}

static bool need_name(struct snapshot_reader *reader, const char *key,
		      const char *const *names, unsigned int count,
		      uint32_t *index)
{
	return need_key(reader, key) &&
	       take_name(reader, key, names, count, index) && need_end(reader);
}

/* Before the checksum, so that any other file is told from a damaged one. */
static bool need_format(struct snapshot_reader *reader)
{
	static const char format[] = FORMAT " ";
	uint64_t version;

	if (!read_line(reader)) {
		if (reader->line == 1 && !ferror(reader->file) &&
		    strncmp(reader->text, format, strlen(format))) {
			*reader->problem = '\0';
			wrong(reader,
			      "this is not a file of 'hwtimerctl save'");
		}
		return false;
	}
	if (!take_word(reader, FORMAT))
		return wrong(reader, "this is not a file of 'hwtimerctl save'");
	if (!take_number(reader, "the version", 0, UINT64_MAX, &version))
		return false;
	if (version != VERSION)
		return wrong(reader,
			     "the format has version %" PRIu64
			     ", this hwtimerctl knows version %d",
			     version, VERSION);
	return need_end(reader);
}

static bool need_boot_id(struct snapshot_reader *reader)
{
	char *boot_id = reader->header.boot_id;

	if (!need_key(reader, "boot-id"))
		return false;
	if (strlen(reader->rest) != SNAPSHOT_BOOT_ID - 1 ||
	    strspn(reader->rest, "0123456789abcdef-") != SNAPSHOT_BOOT_ID - 1)
		return wrong(reader, "boot-id is not the id of a boot");
	memcpy(boot_id, reader->rest, SNAPSHOT_BOOT_ID);
	return true;
}

static bool need_offset(struct snapshot_reader *reader)
{
	uint64_t size = 0;
	bool negative;

	if (!need_key(reader, "clock-offset"))
		return false;
	negative = *reader->rest == '-';
	reader->rest += negative;
	if (!take_number(reader, "clock-offset", negative, TIME_MAX, &size) ||
	    !need_end(reader))
		return false;
	reader->header.clock_offset = negative ? -(int64_t)size : (int64_t)size;
	return true;
}

/* What the module refuses whatever its parameters are is refused here, with the line. */
static bool need_settings(struct snapshot_reader *reader)
{
	struct hwtimer_setup *setup = &reader->header.setup;
	uint64_t tick = 0, limit = 0;
	uint32_t nonblock = 0;
	bool good;

	good = need_number(reader, "tick", 1, TIME_MAX, &tick) &&
	       need_number_32(reader, "buckets", UINT32_MAX, &setup->buckets) &&
	       need_number(reader, "limit", 1, TIME_MAX, &limit) &&
	       need_number_32(reader, "flags",
			      HWTIMER_SETUP_REPORT_CLOCK_SET |
				      HWTIMER_SETUP_AT_LEAST_ONCE,
			      &setup->flags) &&
	       need_number_32(reader, "nonblock", 1, &nonblock);
	setup->tick = tick;
	setup->timers = limit;
	reader->header.nonblock = nonblock;
	return good;
}

/**
 * snapshot_read_header - begin to read a snapshot
 * @reader: out: the reader, with the header
 * @file: the file, from its beginning
 *
 * Return: whether the header is right; if not, reader->problem and reader->line tell.
 */
bool snapshot_read_header(struct snapshot_reader *reader, FILE *file)
{
	struct snapshot_header *header = &reader->header;

	*reader = (struct snapshot_reader){ .file = file };
	return need_format(reader) && need_boot_id(reader) &&
	       need_name(reader, "clock", clock_names, COUNT_OF(clock_names),
			 &header->setup.clock) &&
	       need_number(reader, "clock-now", 0, TIME_MAX,
			   &header->clock_now) &&
	       need_number(reader, "realtime-now", 0, TIME_MAX,
			   &header->real_now) &&
	       need_offset(reader) && need_settings(reader);
}

/* ---- read timers ---- */

/* Refuses what no instance has, and so what SCHEDULE refuses. */
static bool timer_valid(struct snapshot_reader *reader,
			const struct snapshot_timer *timer, uint32_t type)
{
	uint32_t clock = reader->header.setup.clock;
	bool once = type == ONCE;

	if (!timer->interval != once)
		return wrong(reader, "the interval is not one of \"%s\"",
			     type_names[type]);
	if (!timer->interval && timer->count)
		return wrong(reader, "a timer without an interval has a count");
	if (timer->flags && snapshot_clock_may_be_set(clock))
		return wrong(reader,
			     "a fixed delay on a clock that may be set");
	if (timer->state == HWTIMER_STATE_EXPIRED &&
	    timer->deadline == HWTIMER_NEVER)
		return wrong(reader, "a timer without a deadline has expired");
	return true;
}

static bool take_timer(struct snapshot_reader *reader,
		       struct snapshot_timer *timer)
{
	uint32_t type = ONCE;

	*timer = (struct snapshot_timer){ 0 };
	if (!take_number(reader, "the id", 1, UINT64_MAX, &timer->id) ||
	    !take_number(reader, "user_data", 0, UINT64_MAX,
			 &timer->user_data) ||
	    !take_number(reader, "the deadline", 0, TIME_MAX,
			 &timer->deadline) ||
	    !take_number(reader, "the interval", 0, TIME_MAX,
			 &timer->interval) ||
	    !take_number(reader, "the slack", 0, TIME_MAX, &timer->slack) ||
	    !take_number_32(reader, "the count", UINT32_MAX, &timer->count) ||
	    !take_name(reader, "the type", type_names, COUNT_OF(type_names),
		       &type) ||
	    !take_name(reader, "the state", state_names, COUNT_OF(state_names),
		       &timer->state) ||
	    !need_end(reader))
		return false;
	timer->flags = type == DELAY ? HWTIMER_REQ_FIXED_DELAY : 0;
	return timer_valid(reader, timer, type);
}

/* Checks the number of the last line, and that it is the last. */
static bool take_end(struct snapshot_reader *reader)
{
	uint64_t timers;

	if (!take_number(reader, "the number of timers", 0, UINT64_MAX,
			 &timers) ||
	    !need_end(reader))
		return false;
	if (timers != reader->timers)
		return wrong(reader,
			     "there should be %" PRIu64 " timers, not %" PRIu64,
			     timers, reader->timers);
	reader->line++;
	if (getc(reader->file) != EOF)
		return wrong(reader, "there is something after the end");
	if (ferror(reader->file))
		return wrong(reader, "%s", strerror(errno));
	return true;
}

/**
 * snapshot_read - read the next timer
 * @reader: the reader
 * @timer: out: the timer
 *
 * Return: what it is, or SNAPSHOT_END, or SNAPSHOT_WRONG: reader->problem and
 * reader->line tell what is wrong.
 */
enum snapshot_record snapshot_read(struct snapshot_reader *reader,
				   struct snapshot_timer *timer)
{
	if (!read_line(reader))
		return SNAPSHOT_WRONG;
	if (take_word(reader, "timer")) {
		if (!take_timer(reader, timer))
			return SNAPSHOT_WRONG;
		reader->timers++;
		return SNAPSHOT_TIMER;
	}
	if (take_word(reader, "end"))
		return take_end(reader) ? SNAPSHOT_END : SNAPSHOT_WRONG;
	wrong(reader, "the line is neither a timer nor the end");
	return SNAPSHOT_WRONG;
}
