/* SPDX-License-Identifier: MIT */
/* Timers of the loop itself, for what is not a user's timer. */
#ifndef TIMER_H
#define TIMER_H

#include <event2/event.h>
#include <stdint.h>

void timer_set(struct event *timer, int64_t ms);
void timer_set_ns(struct event *timer, int64_t ns);
void timer_now(struct event *timer);

#endif /* TIMER_H */
