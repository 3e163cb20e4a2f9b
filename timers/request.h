/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does requests: operations of any kind, one or many at a time, each with all its
 * options. Called by instance/ioctl.c and timers/run.c;
 * timers/bulk.c uses the check. The requests are in the kernel's own memory, so user
 * space cannot change them after they have been checked.
 */
#ifndef HWTIMER_REQUEST_H
#define HWTIMER_REQUEST_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_instance;
struct hwtimer_settings;

/* Whether a request that succeeds may make a new timer, and writes an id. */
static inline bool hwtimer_request_names(const struct hwtimer_request *request)
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

#endif /* HWTIMER_REQUEST_H */
