/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Publishes and counts the events in the completion ring, and schedules the worker's
 * polls of the rings.
 *
 * hwtimer_turn.c, hwtimer_harvest.c, hwtimer_op.c and hwtimer_exchange.c publish, after
 * they have queued, moved, delivered or discarded events. hwtimer_notice.c counts, to
 * decide whether readers have to be told. hwtimer_stats.c, hwtimer_harvest.c and
 * hwtimer_instance.c count paused timers as pending. hwtimer_submission.c and
 * hwtimer_exchange.c keep the worker polling. hwtimer_harvest.c itself puts the events
 * into the ring.
 */
#ifndef HWTIMER_COMPLETION_H
#define HWTIMER_COMPLETION_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_ring;

struct hwtimer_ring *
hwtimer_completion_ring(const struct hwtimer_instance *instance);
u32 hwtimer_completion_unread(const struct hwtimer_instance *instance);
u32 hwtimer_completion_paused(const struct hwtimer_instance *instance);
bool hwtimer_completion_due(const struct hwtimer_instance *instance);
void hwtimer_completion_publish(struct hwtimer_instance *instance);

void hwtimer_completion_poll_in(struct hwtimer_instance *instance, u64 delay);
void hwtimer_completion_alive(struct hwtimer_instance *instance);

#endif /* HWTIMER_COMPLETION_H */
