/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The completion ring as the rest of the module sees it: how many events are in it, letting
 * user space see them, and having the worker poll. Called under the instance's lock by
 * everyone who queues, delivers or discards events.
 */
#ifndef HWTIMER_COMPLETION_H
#define HWTIMER_COMPLETION_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_ring;

/* Number of polls that find nothing before the worker stops polling */
#define HWTIMER_IDLE_POLLS 8

/* Time between two polls, ns */
#define HWTIMER_POLL_INTERVAL NSEC_PER_MSEC

struct hwtimer_ring *
hwtimer_completion_ring(const struct hwtimer_instance *instance);
u32 hwtimer_completion_unread(const struct hwtimer_instance *instance);
void hwtimer_completion_publish(struct hwtimer_instance *instance);

void hwtimer_completion_poll_in(struct hwtimer_instance *instance, u64 delay);
void hwtimer_completion_alive(struct hwtimer_instance *instance);

#endif /* HWTIMER_COMPLETION_H */
