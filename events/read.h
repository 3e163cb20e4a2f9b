/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delivers events: read(), and what HWTIMER_SETUP_AT_LEAST_ONCE adds to it.
 */
#ifndef HWTIMER_READ_H
#define HWTIMER_READ_H

#include <linux/types.h>

struct hwtimer_instance;
struct iov_iter;

ssize_t hwtimer_read_events(struct hwtimer_instance *instance,
			    struct iov_iter *to);
long hwtimer_read_ack(struct hwtimer_instance *instance, u32 count);
void hwtimer_read_rewind(struct hwtimer_instance *instance);

#endif /* HWTIMER_READ_H */
