/* SPDX-License-Identifier: MIT */
/* What the sources of libhwtimer share, and nobody else sees. */
#ifndef LIBHWTIMER_INTERNAL_H
#define LIBHWTIMER_INTERNAL_H

#include <stdbool.h>
#include <time.h>

#include "checkers.h"
#include "libhwtimer.h"

/* Number of events that the module copies at a time */
#define EVENTS 120

/*
 * Value of hwt.now while the time is not known. The sum of it and a timeout is negative, as
 * no deadline is.
 */
#define NOW_UNKNOWN INT64_MIN

/**
 * struct hwt - see libhwtimer.h
 * @fd: descriptor of the device, or of @manual
 * @manual: the instance in this program that answers in place of the device; NULL: the device does
 * @waits: reading waits for events: it was opened without HWT_NONBLOCK
 * @clock_known: @clock and @keeps are those of the instance
 * @clock: clock of the instance
 * @keeps: it has HWTIMER_SETUP_AT_LEAST_ONCE
 * @now: time of hwt_now(), or NOW_UNKNOWN
 * @uncached: hwt_now() always reads the clock, as it does if that is moved by hand
 * @told: @on_change was called since hwt_flush()
 * @on_change: function to call at the first change after hwt_flush(); NULL: none
 * @on_change_arg: its argument
 * @cancellations: number of times that hwt_cancel_all() has ended all timers; any thread may
 *	count
 * @wrapper: function that calls the callbacks of timer objects; NULL: none
 * @wrapper_arg: its first argument
 * @depth: number of hwt_dispatch() that run: one may run in a callback of another one
 * @broken: so many of them, the outer ones, call no further callback: hwt_break()
 * @left: the last one has ended before it knew that no event waits
 * @closed: hwt_close() was called in a callback; the outermost hwt_dispatch() frees this
 * @timers: what timer.c keeps; NULL: no timer object was started
 * @first: index in @events of the first event that was not returned yet
 * @count: number of events from @first on
 * @reader: thread whose calls may look at these: the last one that has read; 0: there are none
 * @watermark: somebody may have asked by hwt_notify() for more than one event at a time; any
 *	thread may set it
 * @drained: the last read found fewer events than there was room for
 * @events: buffer of events that were read
 */
struct hwt {
	int fd;
	struct manual *manual;
	bool waits;
	bool clock_known;
	clockid_t clock;
	bool keeps;
	int64_t now;
	bool uncached;
	bool told;
	void (*on_change)(void *arg);
	void *on_change_arg;
	unsigned int cancellations;
	void (*wrapper)(void *arg, struct hwt_timer *timer);
	void *wrapper_arg;
	unsigned int depth;
	unsigned int broken;
	bool left;
	bool closed;
	struct timers *timers;
	unsigned int first;
	unsigned int count;
	unsigned int reader;
	bool watermark;
	bool drained;
	struct hwtimer_event events[EVENTS];
};

/*
 * Handles @event if it is one of a timer object, also of one that was stopped. Returns
 * whether it is.
 */
bool hwt_timers_take(struct hwt *hwt, const struct hwtimer_event *event);

/*
 * Calls the callbacks of up to @max timer objects that are due and that the module refused
 * to take. Returns their number.
 */
unsigned int hwt_timers_serve_refused(struct hwt *hwt, unsigned int max);

/* Deadlines beyond HWTIMER_NEVER count as that. */
static inline int64_t hwt_deadline_time(uint64_t deadline)
{
	return deadline < HWTIMER_NEVER ? deadline : HWTIMER_NEVER;
}

/* A sum of times that are not negative, at most HWTIMER_NEVER */
static inline int64_t hwt_time_add(int64_t time, int64_t delay)
{
	return delay > HWTIMER_NEVER - time ? HWTIMER_NEVER : time + delay;
}

/* Instances without the device, see manual.c. A new one is its descriptor, or a negative errno. */
int hwt_manual_new(struct manual **manual);
void hwt_manual_free(struct manual *manual);
int hwt_manual_call(struct manual *manual, unsigned long command,
		    void *argument);
int hwt_manual_read(struct manual *manual, struct hwtimer_event *events,
		    unsigned int count, bool waits);
int64_t hwt_manual_now(struct manual *manual);
int hwt_manual_advance(struct manual *manual, int64_t ns);

/* The time on the clock of @hwt, which is known */
static inline int64_t hwt_read_clock(const struct hwt *hwt)
{
	struct timespec time;

	if (hwt->manual)
		return hwt_manual_now(hwt->manual);
	clock_gettime(hwt->clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Gives the program a number. */
static inline void hwt_give(uint64_t *to, uint64_t value)
{
	*to = value;
	hwt_written(to, sizeof(*to));
}

/* A number other than 0 that no other thread has, also none that begins after this one's end */
unsigned int hwt_this_thread(void);

/* How many times this process, and those that it comes from, were forked */
unsigned int hwt_forks(void);

/* Whether the innermost hwt_dispatch() calls no further callback. */
static inline bool hwt_ends(const struct hwt *hwt)
{
	return hwt->closed || hwt->depth <= hwt->broken;
}

/* Whether there are timer objects, of a process that has forked this one. */
bool hwt_timers_foreign(const struct hwt *hwt);

/* Whether events stay until they are acknowledged; also if the module does not tell. */
bool hwt_keeps(struct hwt *hwt);

/* Makes all timer objects inactive: hwt_cancel_all() has ended the module's timers. */
void hwt_timers_end(struct hwt *hwt);

/* Frees what timer.c keeps for @hwt. */
void hwt_timers_free(struct hwt *hwt);

#endif /* LIBHWTIMER_INTERNAL_H */
