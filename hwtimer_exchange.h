/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an instance uses its rings: when they are made and mapped, who serves them, and when
 * the worker polls them. Called by the file operations (mmap, KICK), by the worker's turn
 * and chores, and by the life of the instance. hwtimer_submission.c and
 * hwtimer_completion.c are the two directions.
 */
#ifndef HWTIMER_EXCHANGE_H
#define HWTIMER_EXCHANGE_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct hwtimer_instance;
struct hwtimer_request;
struct hwtimer_ring;
struct mem_cgroup;
struct vm_area_struct;

/**
 * struct hwtimer_exchange - an instance's rings, and what is going on in them
 * @ring: the rings; NULL until they are mapped for the first time. Written once, under the
 *	instance's mutex setup and its lock. The submission ring is protected by @drain, the
 *	completion ring by the instance's lock
 * @drain: held by the thread that takes requests out of the submission ring
 * @requests: room for HWTIMER_HOLD requests; protected by @drain
 * @held: number of requests that were taken but could not be done yet; protected by @drain
 * @polls: number of polls that may still find nothing before the worker stops polling;
 *	protected by the instance's lock, as are @poll_at and @polling
 * @poll_at: when the worker polls next, ns on CLOCK_MONOTONIC
 * @polling: the worker polls the rings within a millisecond
 * @closing: nobody will see the results of requests any more; written once, read without
 *	a lock
 * @work: drains the submission ring where the worker cannot, as that may sleep
 * @memcg: the memory cgroup that pays for what @work allocates: that of the process that
 *	kicked last or, until the first KICK, mapped the rings first. Written before @ring,
 *	then protected by @drain
 */
struct hwtimer_exchange {
	struct hwtimer_ring *ring;
	struct mutex drain; /* see above */
	struct hwtimer_request *requests;
	u32 held;
	u32 polls;
	u64 poll_at;
	bool closing;
	bool polling;
	struct work_struct work;
	struct mem_cgroup *memcg;
};

void hwtimer_exchange_init(struct hwtimer_exchange *exchange);
void hwtimer_exchange_release(struct hwtimer_exchange *exchange);
int hwtimer_exchange_map(struct hwtimer_instance *instance,
			 struct vm_area_struct *vma);

long hwtimer_exchange_kick(struct hwtimer_instance *instance);
u32 hwtimer_exchange_serve(struct hwtimer_instance *instance);
void hwtimer_exchange_poll(struct hwtimer_instance *instance);
void hwtimer_exchange_stop_polling(struct hwtimer_instance *instance);
void hwtimer_exchange_stopped(struct hwtimer_instance *instance);

#endif /* HWTIMER_EXCHANGE_H */
