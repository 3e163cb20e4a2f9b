/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes the ioctls that do many operations, SUBMIT and BULK.
 */
#ifndef HWTIMER_BATCH_H
#define HWTIMER_BATCH_H

struct hwtimer_bulk;
struct hwtimer_instance;
struct hwtimer_submit;

long hwtimer_batch_submit(struct hwtimer_instance *instance,
			  const struct hwtimer_submit *submit);
long hwtimer_batch_bulk(struct hwtimer_instance *instance,
			const struct hwtimer_bulk *bulk);

#endif /* HWTIMER_BATCH_H */
