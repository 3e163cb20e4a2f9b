/* SPDX-License-Identifier: MIT */
/*
 * The file format of hwtimerctl save: the settings of an instance, and its timers. Each
 * line ends with a checksum of the file up to there, so that a damaged line is known by
 * its number. hwtimerctl(1) describes the format. Nothing here ends the program or
 * trusts the file. Used by save and restore.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <linux/hwtimer.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Longest line, without its end. The longest line that is written has 137 characters. */
#define SNAPSHOT_LINE 200

/* Length of a boot id, with its end */
#define SNAPSHOT_BOOT_ID 37

/**
 * struct snapshot_header - what a snapshot says before its timers
 * @boot_id: the boot of the machine, as /proc/sys/kernel/random/boot_id
 * @clock_now: time of the save on the instance's clock, ns
 * @real_now: time of the save on CLOCK_REALTIME, ns; read after @clock_now
 * @clock_offset: ns by which the instance's time namespace has that clock ahead of the
 *	machine's
 * @setup: settings of the instance: the clock, and all that INFO tells
 * @nonblock: whether reading does not wait for events
 */
struct snapshot_header {
	char boot_id[SNAPSHOT_BOOT_ID];
	uint64_t clock_now;
	uint64_t real_now;
	int64_t clock_offset;
	struct hwtimer_setup setup;
	bool nonblock;
};

/**
 * struct snapshot_timer - a timer
 * @id: its id in the instance that was saved
 * @user_data: as scheduled
 * @deadline: ns on the instance's clock, or HWTIMER_NEVER; of an expired timer, that of its
 *	event
 * @interval: as scheduled
 * @slack: ns
 * @count: expirations left, with those of an event that waits; 0: no limit
 * @flags: HWTIMER_REQ_FIXED_DELAY
 * @state: enum hwtimer_state
 */
struct snapshot_timer {
	uint64_t id;
	uint64_t user_data;
	uint64_t deadline;
	uint64_t interval;
	uint64_t slack;
	uint32_t count;
	uint32_t flags;
	uint32_t state;
};

/**
 * struct snapshot_writer - a snapshot that is being written
 * @file: the file
 * @timers: number of timers that were written so far
 * @sum: checksum so far
 */
struct snapshot_writer {
	FILE *file;
	uint64_t timers;
	uint32_t sum;
};

/* Each returns whether the file could be written; if not, errno has the reason. */
bool snapshot_write_header(struct snapshot_writer *writer,
			   const struct snapshot_header *header);
bool snapshot_write_timer(struct snapshot_writer *writer,
			  const struct snapshot_timer *timer);
bool snapshot_write_end(struct snapshot_writer *writer);

/* The kinds of lines after the header */
enum snapshot_record {
	SNAPSHOT_TIMER,
	SNAPSHOT_END,
	SNAPSHOT_WRONG,
};

/**
 * struct snapshot_reader - a snapshot that is being read
 * @file: the file
 * @header: what snapshot_read_header() has read
 * @timers: number of timers that were read so far
 * @line: number of the current line
 * @sum: checksum so far
 * @rest: the part of the current line that was not parsed yet
 * @text: the current line, without its checksum
 * @problem: what is wrong with the current line; "": nothing
 */
struct snapshot_reader {
	FILE *file;
	struct snapshot_header header;
	uint64_t timers;
	unsigned long line;
	uint32_t sum;
	const char *rest;
	char text[SNAPSHOT_LINE + 1];
	char problem[160];
};

bool snapshot_read_header(struct snapshot_reader *reader, FILE *file);
enum snapshot_record snapshot_read(struct snapshot_reader *reader,
				   struct snapshot_timer *timer);

/* Returns the name of an enum hwtimer_clock; NULL: there is none. */
const char *snapshot_clock_name(uint32_t clock);

/* Such a clock has deadlines only, and is the same in all time namespaces. */
static inline bool snapshot_clock_may_be_set(uint32_t clock)
{
	return clock == HWTIMER_CLOCK_REALTIME || clock == HWTIMER_CLOCK_TAI;
}

#endif /* SNAPSHOT_H */
