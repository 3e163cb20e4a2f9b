/* SPDX-License-Identifier: MIT */
/*
 * The timers of a shard that are due soon, in an instance of hwtimer.
 *
 * A timer goes through three states: new, when wheel_learn() gets to know it; armed, when
 * wheel_arm() has given it to the kernel; fired, when it has expired, until the caller
 * forgets it or arms it again.
 */
#ifndef WHEEL_H
#define WHEEL_H

#include "clock.h"
#include "record.h"

#include <hwtimer_libevent.h>

/**
 * struct wheel_events - functions of a wheel's owner; they must not close the wheel
 * @fired: timers have fired, or the alarm has
 * @clock_set: this machine's clock was set
 * @failed: the instance cannot be read, for the reason of that negative errno; nothing
 *	will come from this wheel any more
 */
struct wheel_events {
	void (*fired)(void *arg);
	void (*clock_set)(void *arg);
	void (*failed)(void *arg, int error);
};

/**
 * struct record_list - fired records, in the order in which they expired
 * @first: the first record; NULL: none
 * @last: the last one
 * @count: number of records
 */
struct record_list {
	struct record *first;
	struct record *last;
	size_t count;
};

/**
 * struct wheel - an instance and its timers
 * @hwt: the instance; NULL: the wheel is closed
 * @loop: the instance's part in the loop
 * @table: all timers by their ids
 * @fired: timers that have fired and were not taken yet
 * @events: functions of the owner
 * @arg: their argument
 * @clock: difference between Redis's clock, in which deadlines are, and ours
 * @armed_with: the difference with which timers were armed
 * @alarm: the kernel's id of the alarm; 0: none
 */
struct wheel {
	struct hwt *hwt;
	struct hwt_libevent loop;
	struct table table;
	struct record_list fired;
	const struct wheel_events *events;
	void *arg;
	const struct clock *clock;
	int64_t armed_with;
	uint64_t alarm;
};

int wheel_check(void);
int wheel_open(struct wheel *wheel, struct event_base *base,
	       const struct clock *clock, const struct wheel_events *events,
	       void *arg);
void wheel_close(struct wheel *wheel);
int wheel_learn(struct wheel *wheel, const char *id, size_t length,
		int64_t deadline);
int wheel_again(struct wheel *wheel, struct record *record, int64_t deadline);
int wheel_arm(struct wheel *wheel);
int wheel_rearm(struct wheel *wheel);
bool wheel_is_off(const struct wheel *wheel);
int wheel_alarm(struct wheel *wheel, int64_t time);
void wheel_forget(struct wheel *wheel, struct record *record);
int graver_error(int one, int other);

void list_add(struct record_list *list, struct record *record);
struct record *list_take(struct record_list *list);
void list_put_back(struct record_list *list, struct record_list *front);

#endif /* WHEEL_H */
