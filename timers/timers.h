/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program does to timers: requests, which are operations of any kind with all options;
 * bulks, which are many of one kind; and the end of all timers. README.md shows the way of one
 * of them.
 */
#ifndef HWTIMER_TIMERS_H
#define HWTIMER_TIMERS_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_bulk;
struct hwtimer_instance;
struct hwtimer_list;
struct hwtimer_record;
struct hwtimer_settings;
struct hwtimer_submit;
struct hwtimer_timer;

/* ---- batch.c ---- */

long hwtimer_batch_submit(struct hwtimer_instance *instance,
			  const struct hwtimer_submit *submit);
long hwtimer_batch_bulk(struct hwtimer_instance *instance,
			const struct hwtimer_bulk *bulk);

/* ---- request.c ---- */

/**
 * hwtimer_request_makes_id - whether a request that succeeds may make a new timer
 * @request: the request
 *
 * Return: whether it then writes an id.
 */
static inline bool
hwtimer_request_makes_id(const struct hwtimer_request *request)
{
	return request->op == HWTIMER_OP_SCHEDULE ||
	       (request->op == HWTIMER_OP_RESCHEDULE &&
		request->flags & HWTIMER_REQ_REARM);
}

void hwtimer_request_run(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count);
void hwtimer_request_run_one(struct hwtimer_instance *instance,
			     struct hwtimer_request *request);
int hwtimer_request_check(const struct hwtimer_settings *settings,
			  const struct hwtimer_request *request);

/* ---- bulk.c ---- */

int hwtimer_bulk_check(struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk);
int hwtimer_bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count);

/* ---- scan.c ---- */

/**
 * struct hwtimer_scan - a LIST or CANCEL_ALL on its way through the timers
 * @instance: the instance
 * @list: the argument of the ioctl, with the cursor
 * @visit: visit a record in use, at @index, with the lock held. Returns 1 if its timer counts, 0
 *	if not, or -EFAULT: the scan comes again to the same record
 * @ends: @visit ends timers
 * @done: number of timers that count so far, and so the next place in the array
 * @now: the time of this hold of the lock, ns on the instance's clock
 */
struct hwtimer_scan {
	struct hwtimer_instance *instance;
	struct hwtimer_list *list;
	int (*visit)(struct hwtimer_scan *scan, struct hwtimer_record *record,
		     u32 index);
	bool ends;
	u32 done;
	u64 now;
};

int hwtimer_scan_copy(const struct hwtimer_scan *scan,
		      const struct hwtimer_timer *timer);
long hwtimer_scan_run(struct hwtimer_scan *scan);

/* ---- cancel_all.c ---- */

long hwtimer_cancel_all(struct hwtimer_instance *instance,
			struct hwtimer_list *list);

#endif /* HWTIMER_TIMERS_H */
