/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types and functions that the parts of the demo share. Two threads work on one
 * instance: the submitter schedules and cancels timers, the harvester reads events. Each
 * thread writes only its own column of the bookkeeping. So the columns need no lock, and
 * an event may arrive before its SUBMIT has returned. The audit compares the columns
 * when both threads are done.
 */
#ifndef DEMO_DEMO_H
#define DEMO_DEMO_H

#include <stdatomic.h>
#include <stdbool.h>

#include "device.h"

/**
 * struct options - the command line
 * @timers: number of timers
 * @seconds: time over which the deadlines are spread, s
 * @batch: the most requests in one SUBMIT
 * @seed: seed of the random numbers
 * @plain: print progress in separate lines, even on a terminal
 */
struct options {
	__u32 timers;
	__u32 seconds;
	__u32 batch;
	__u64 seed;
	bool plain;
};

/**
 * enum fate - the end of a timer, as the submitter knows it
 * @FATE_UNSCHEDULED: not scheduled, or refused
 * @FATE_EXPIRES: scheduled, and not cancelled so far
 * @FATE_CANCELLED: CANCEL succeeded: no event may come
 * @FATE_TOO_LATE: CANCEL came after the expiry: the event has come or will come
 */
enum fate {
	FATE_UNSCHEDULED,
	FATE_EXPIRES,
	FATE_CANCELLED,
	FATE_TOO_LATE,
};

/**
 * struct timer - the submitter's column: one timer as it was requested
 * @id: the id from SCHEDULE
 * @deadline: the absolute deadline, ns
 * @next: the next victim in the same slot; see submitter.c
 * @fate: the end of the timer, enum fate
 */
struct timer {
	__u64 id;
	__u64 deadline;
	__u32 next;
	__u32 fate;
};

/**
 * struct sighting - the harvester's column: one timer as its event reports it
 * @id: the event's id
 * @deadline: the event's deadline, ns
 * @seen: the time after the read() that returned the event, ns
 * @lateness: the event's lateness, ns
 * @times: number of events of this timer
 */
struct sighting {
	__u64 id;
	__u64 deadline;
	__u64 seen;
	__u32 lateness;
	__u32 times;
};

/**
 * struct submitted - the submitter's totals
 * @schedule_ns: time from the start of the run to the last SCHEDULE, ns
 * @refused: number of SCHEDULEs that failed
 * @refusal: errno of the first failed SCHEDULE
 * @attempts: number of CANCELs
 * @unread: number of CANCELs that came too late, and the event was unread (1)
 * @gone: number of CANCELs that came too late, and the event was read (ENOENT)
 * @odd: number of CANCELs with another result
 * @peak: the most timers in the instance, including those with an unread event
 */
struct submitted {
	__u64 schedule_ns;
	__u32 refused;
	int refusal;
	__u32 attempts;
	__u32 unread;
	__u32 gone;
	__u32 odd;
	__u64 peak;
};

/**
 * struct harvested - the harvester's totals
 * @reads: number of read() calls that returned events
 * @foreign: number of events with a user_data that belongs to no timer
 * @miscounted: number of events with expirations other than 1
 * @stalled: whether the harvester gave up, because no more events came
 */
struct harvested {
	__u32 reads;
	__u32 foreign;
	__u32 miscounted;
	bool stalled;
};

/**
 * struct demo - one run
 * @options: the command line
 * @fd: descriptor of the instance
 * @start: the start of the run, ns
 * @timers: the submitter's column
 * @sightings: the harvester's column
 * @submitted: the submitter's totals, valid once @submitter_done is true
 * @harvested: the harvester's totals
 * @scheduled: number of timers scheduled so far
 * @cancelled: number of timers cancelled so far
 * @delivered: number of timers with an event so far
 * @submitter_done: whether the submitter has finished
 */
struct demo {
	struct options options;
	int fd;
	__u64 start;
	struct timer *timers;
	struct sighting *sightings;
	struct submitted submitted;
	struct harvested harvested;
	atomic_uint scheduled;
	atomic_uint cancelled;
	atomic_uint delivered;
	atomic_bool submitter_done;
};

/**
 * struct audit - the result of the comparison
 * @scheduled: number of timers that SCHEDULE accepted
 * @cancelled: number of timers that CANCEL ended
 * @delivered: number of timers with an event
 * @early: number of timers delivered before their deadline
 * @lost: number of timers neither cancelled nor delivered
 * @duplicate: number of timers delivered twice, or cancelled and delivered
 * @problems: number of all problems, including @early, @lost and @duplicate
 */
struct audit {
	__u32 scheduled;
	__u32 cancelled;
	__u32 delivered;
	__u32 early;
	__u32 lost;
	__u32 duplicate;
	__u32 problems;
};

/* The submitter's thread */
void *submitter_run(void *demo);
void harvester_run(struct demo *demo);
void audit_run(const struct demo *demo, const struct hwtimer_stats *stats,
	       struct audit *audit);
void report_intro(const struct demo *demo);
void report_result(const struct demo *demo, const struct hwtimer_stats *stats);

/* The line about the progress, which is updated during the run */
void progress_start(const struct demo *demo);
void progress_show(const struct demo *demo);
void progress_end(const struct demo *demo);

#endif /* DEMO_DEMO_H */
