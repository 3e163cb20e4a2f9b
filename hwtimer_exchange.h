/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creates, maps and serves the rings of an instance, and decides when the worker polls
 * them.
 *
 * hwtimer_main.c calls this for mmap(), hwtimer_ioctl.c for KICK, hwtimer_turn.c for each
 * turn and the chores, hwtimer_instance.c when an instance is stopped and freed.
 * hwtimer_submission.c handles requests, hwtimer_completion.c events.
 */
#ifndef HWTIMER_EXCHANGE_H
#define HWTIMER_EXCHANGE_H

#include <linux/mutex.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

#include "hwtimer_worker.h"

struct hwtimer_instance;
struct hwtimer_request;
struct hwtimer_ring;
struct mem_cgroup;
struct vm_area_struct;

/**
 * struct hwtimer_exchange - the rings of an instance, and how they are served
 * @ring: the rings; NULL until they are mapped for the first time. Written once, under
 *	the instance's mutex setup and its lock. The submission ring is protected by
 *	@drain, the completion ring by the instance's lock
 * @drain: held by the thread that takes requests out of the submission ring
 * @requests: array of HWTIMER_HOLD requests that were taken out of the submission ring;
 *	allocated before @ring is written, its content is protected by @drain
 * @words: the same memory, for requests that are run as a bulk: see hwtimer_bulk.c
 * @bulk: operation and flags of the bulk in @words; protected by @drain
 * @alike: the requests are in @words; false: in @requests. Protected by @drain
 * @cut: when the requests were taken, the ring had more, but of another kind than those in
 *	@words. Protected by @drain
 * @held: number of requests in @requests that were not run yet; protected by @drain
 * @polls: number of polls that may still find nothing before the worker stops polling;
 *	protected by the instance's lock
 * @poll_at: time of the worker's next poll, ns on CLOCK_MONOTONIC; protected by the
 *	instance's lock
 * @closing: the instance is being freed, so nobody will read the results of requests;
 *	written once, read without a lock
 * @polling: the worker polls the rings every millisecond; protected by the instance's
 *	lock
 * @errand: drains the submission ring, in another worker, if the worker must not, because
 *	that may sleep or take long. Only its alarm turns is used
 * @memcg: the memory cgroup that pays for what @errand allocates: that of the process that
 *	kicked last or, until the first KICK, mapped the rings first. Written before
 *	@ring, then protected by @drain
 */
struct hwtimer_exchange {
	struct hwtimer_ring *ring;
	struct mutex drain; /* see above */
	union {
		struct hwtimer_request *requests;
		u64 *words;
	};
	struct hwtimer_bulk bulk;
	bool alike;
	bool cut;
	u32 held;
	u32 polls;
	u64 poll_at;
	bool closing;
	bool polling;
	struct hwtimer_job errand;
	struct mem_cgroup *memcg;
};

void hwtimer_exchange_release(struct hwtimer_exchange *exchange);
int hwtimer_exchange_map(struct hwtimer_instance *instance,
			 struct vm_area_struct *vma);

long hwtimer_exchange_kick(struct hwtimer_instance *instance);
u32 hwtimer_exchange_serve(struct hwtimer_instance *instance);
void hwtimer_exchange_poll(struct hwtimer_instance *instance);
void hwtimer_exchange_stop_polling(struct hwtimer_instance *instance);
void hwtimer_exchange_stopped(struct hwtimer_instance *instance);
void hwtimer_exchange_deserted(struct hwtimer_instance *instance);
void hwtimer_exchange_leave(struct hwtimer_instance *instance);

#endif /* HWTIMER_EXCHANGE_H */
