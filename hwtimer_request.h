/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests: operations of any kind, one or many at a time, each with all that it may ask for.
 * Called by hwtimer_ioctl.c, hwtimer_batch.c, hwtimer_submission.c and hwtimer_client.c, with
 * requests in the kernel's own memory.
 */
#ifndef HWTIMER_REQUEST_H
#define HWTIMER_REQUEST_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_request;
struct hwtimer_settings;

void hwtimer_request_run(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count);
bool hwtimer_request_try(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count);
void hwtimer_request_undo(struct hwtimer_instance *instance,
			  struct hwtimer_request *requests, u32 count);
int hwtimer_request_check(const struct hwtimer_settings *settings,
			  const struct hwtimer_request *request);

#endif /* HWTIMER_REQUEST_H */
