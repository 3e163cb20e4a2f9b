/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What RESCHEDULE does beyond another deadline: it changes any property of a pending timer,
 * and ends the timer that HWTIMER_REQ_REARM makes anew.
 */
#ifndef HWTIMER_CHANGE_H
#define HWTIMER_CHANGE_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_instance;
struct hwtimer_hold;

/* Flags of a RESCHEDULE that gives the timer all fields of the request */
#define HWTIMER_CHANGE_FLAGS (HWTIMER_REQ_SET | HWTIMER_REQ_REARM)

int hwtimer_change_pending(struct hwtimer_instance *instance,
			   const struct hwtimer_request *request,
			   struct hwtimer_hold *hold);
int hwtimer_change_end(struct hwtimer_instance *instance,
		       const struct hwtimer_request *request);

#endif /* HWTIMER_CHANGE_H */
