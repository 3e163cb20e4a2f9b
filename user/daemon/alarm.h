/* SPDX-License-Identifier: MIT */
/*
 * Alarms: one for each shard, in the wheel of /dev/hwtimer. Without the device, or when the
 * wheel fails, libevent's timers do the same, less exactly.
 */
#ifndef ALARM_H
#define ALARM_H

#include <event2/event.h>
#include <libhwtimer.h>
#include <stdbool.h>
#include <stdint.h>

#define NS_PER_MS 1000000LL

/**
 * struct alarm - calls a function once, at a time
 * @timer: the timer in the wheel
 * @event: the timer without a wheel
 * @ring: the function
 * @arg: its argument
 * @next: the next one in the list of all
 */
struct alarm {
	struct hwt_timer timer;
	struct event *event;
	void (*ring)(void *arg);
	void *arg;
	struct alarm *next;
};

int64_t now_ns(void);
void timer_set(struct event *timer, int64_t ms);

void alarms_open(struct event_base *base);
bool alarms_in_kernel(void);
void alarm_init(struct alarm *alarm, struct event_base *base,
		void (*ring)(void *arg), void *arg);
void alarm_set(struct alarm *alarm, int64_t ns);
void alarm_stop(struct alarm *alarm);

#endif /* ALARM_H */
