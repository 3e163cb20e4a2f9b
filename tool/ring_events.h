/* SPDX-License-Identifier: MIT */
/*
 * Copies the events that wait in the completion ring of an instance. LIST does not know
 * them: for the kernel, they are delivered. Used by save.
 */
#ifndef RING_EVENTS_H
#define RING_EVENTS_H

#include <libhwtimer.h>

/**
 * struct ring_events - a copy of events
 * @list: the events, oldest first
 * @count: number of events
 */
struct ring_events {
	struct hwtimer_event *list;
	unsigned int count;
};

struct ring_events ring_events_copy(struct hwt *hwt);
void ring_events_free(struct ring_events *events);

#endif /* RING_EVENTS_H */
