/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How timers leave an instance: as events, by read(), the completion ring or a callback, or
 * handed back by STOP. Called by the file operations, hwtimer_ioctl.c, hwtimer_client.c, the
 * worker's turn, and by everyone who brings requests, to free discarded events first.
 */
#ifndef HWTIMER_HARVEST_H
#define HWTIMER_HARVEST_H

#include <linux/mm.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

#include "hwtimer_chunk.h"
#include "hwtimer_wheel.h"

struct hwtimer_instance;

/* Maximum number of events, or of timers from STOP, that go to user space at a time */
#define HWTIMER_BATCH (2U * HWTIMER_CHUNK_INDICES)
#define HWTIMER_STOP_BATCH \
	((u32)(PAGE_SIZE / sizeof(struct hwtimer_unprocessed)))

static_assert(HWTIMER_BATCH <= HWTIMER_HOLD);
static_assert(HWTIMER_BATCH * sizeof(struct hwtimer_event) <= PAGE_SIZE);

/**
 * struct hwtimer_leaving - the timers that are leaving at the moment
 * @page: one page of events or of unprocessed timers on their way to user space, or to a
 *	client
 * @free: the records of these timers are in state HWTIMER_FREE already
 * @refused: a reader that must not wait did not get the mutex harvest, and has to be woken
 *	when it is free; no lock, see harvest_lock()
 *
 * Protected by the instance's mutex harvest, except for @refused.
 */
struct hwtimer_leaving {
	void *page;
	bool free;
	bool refused;
};

/**
 * struct hwtimer_stopping - how far STOP has come
 * @at: when the instance was stopped, ns on its clock; constant once it is stopped
 * @cursor: STOP has handed back all pending timers of the records before this one
 * @surveyed: STOP has checked all records before this one for periodic timers that rest
 * @resting: number of periodic timers among those that rest: they become pending again when
 *	their event has been read
 *
 * Protected by the instance's lock.
 */
struct hwtimer_stopping {
	u64 at;
	u64 cursor;
	u64 surveyed;
	u32 resting;
};

unsigned int hwtimer_harvest_at_once(struct hwtimer_instance *instance,
				     const u32 *due, unsigned int count,
				     u64 now);
u32 hwtimer_harvest_flush(struct hwtimer_instance *instance);
u32 hwtimer_harvest_discarded(struct hwtimer_instance *instance);

u32 hwtimer_harvest_take(struct hwtimer_instance *instance, u32 max, u64 *now);
void hwtimer_harvest_finish(struct hwtimer_instance *instance, u32 taken,
			    u32 copied, u64 now);
ssize_t hwtimer_harvest_events(struct hwtimer_instance *instance,
			       char __user *buffer, size_t count,
			       bool nonblock);

u32 hwtimer_harvest_take_expired(struct hwtimer_instance *instance, bool *more);
void hwtimer_harvest_finish_expired(struct hwtimer_instance *instance);
u32 hwtimer_harvest_take_pending(struct hwtimer_instance *instance, u32 max,
				 bool *more);
void hwtimer_harvest_finish_pending(struct hwtimer_instance *instance,
				    u32 taken, u32 copied);
ssize_t hwtimer_harvest_unprocessed(struct hwtimer_instance *instance,
				    struct hwtimer_unprocessed __user *timers,
				    u32 count, u64 *left);

#endif /* HWTIMER_HARVEST_H */
