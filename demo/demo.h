/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the demo share. Two threads work on one instance: the
 * submitter schedules and cancels, the harvester reads events. Each writes
 * only its own column of the bookkeeping, so that nothing needs a lock and an
 * event may arrive before SUBMIT has returned; the audit compares the columns
 * when both are done.
 */
#ifndef DEMO_DEMO_H
#define DEMO_DEMO_H

#include <stdatomic.h>
#include <stdbool.h>

#include "device.h"

/**
 * struct options - the command line
 * @timers: how many to schedule
 * @seconds: over how long their deadlines are spread
 * @batch: most requests in one SUBMIT
 * @seed: of everything that is random
 * @plain: progress in lines of its own, even on a terminal
 */
struct options {
	__u32 timers;
	__u32 seconds;
	__u32 batch;
	__u64 seed;
	bool plain;
};

/**
 * enum fate - what the submitter knows of a timer's end
 * @FATE_UNSCHEDULED: not scheduled, or refused
 * @FATE_EXPIRES: scheduled, and to be left alone or not yet cancelled
 * @FATE_CANCELLED: CANCEL succeeded: no event may come
 * @FATE_TOO_LATE: CANCEL found it expired: its event has come or will
 */
enum fate {
	FATE_UNSCHEDULED,
	FATE_EXPIRES,
	FATE_CANCELLED,
	FATE_TOO_LATE,
};

/**
 * struct timer - the submitter's column: one timer as it was asked for
 * @id: from SCHEDULE
 * @deadline: absolute, ns
 * @next: the next victim in the same slot of the plan of cancels
 * @fate: enum fate
 */
struct timer {
	__u64 id;
	__u64 deadline;
	__u32 next;
	__u32 fate;
};

/**
 * struct sighting - the harvester's column: one timer as its event said
 * @id: from the event
 * @deadline: from the event
 * @seen: the clock after the read() that brought it
 * @lateness: from the event
 * @times: how often it came
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
 * @schedule_ns: from the first SCHEDULE to the last
 * @refused: SCHEDULEs that failed
 * @refusal: errno of the first of them
 * @attempts: CANCELs
 * @unread: of those, the ones that found the event unread (EALREADY)
 * @gone: of those, the ones that found the event read (ENOENT)
 * @odd: of those, the ones that failed in another way
 * @peak: most timers that the instance held, unread events included
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
 * @reads: read() calls that brought events
 * @foreign: events whose user_data is no timer's
 * @miscounted: events whose expirations is not 1
 * @stalled: gave up, because nothing more came
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
 * @fd: the instance
 * @start: when the run began, ns
 * @timers: the submitter's column
 * @sightings: the harvester's column
 * @submitted: the submitter's, valid once @submitter_done
 * @harvested: the harvester's
 * @scheduled: how many so far
 * @cancelled: how many so far
 * @delivered: timers whose event has come so far
 * @submitter_done: nothing more will be scheduled or cancelled
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
 * struct audit - what the two columns say together
 * @scheduled: timers that SCHEDULE accepted
 * @cancelled: of those, the ones that CANCEL ended
 * @delivered: of those, the ones whose event came
 * @early: delivered before the deadline
 * @lost: neither cancelled nor delivered
 * @duplicate: delivered twice, or cancelled and delivered
 * @problems: everything that is wrong, these three included
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

void *submitter_run(void *demo);
void harvester_run(struct demo *demo);
void audit_run(const struct demo *demo, const struct hwtimer_stats *stats,
	       struct audit *audit);
void report_intro(const struct demo *demo);
void report_result(const struct demo *demo, const struct hwtimer_stats *stats);

/* The line that is updated while the demo works. */
void progress_start(const struct demo *demo);
void progress_show(const struct demo *demo);
void progress_end(const struct demo *demo);

#endif /* DEMO_DEMO_H */
