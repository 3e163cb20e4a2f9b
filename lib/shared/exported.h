/* SPDX-License-Identifier: MIT */
/*
 * The functions that headers define inline, as symbols of the shared library, for languages
 * that cannot include C. They have the same names there, and other ones here.
 */
#ifndef LIBHWTIMER_EXPORTED_H
#define LIBHWTIMER_EXPORTED_H

#include <hwtimer_ring.h>
#include <libhwtimer.h>

int exported_setup(struct hwt *hwt, struct hwtimer_setup *setup);
int exported_info(struct hwt *hwt, struct hwtimer_info *info);
int exported_stats(struct hwt *hwt, struct hwtimer_stats *stats);
int exported_error(uint64_t result);
int exported_dispatch_failed(int ret);

/* The size of struct hwtimer_ring, for callers that allocate one */
size_t exported_ring_size(void);
int exported_ring_map(struct hwtimer_ring *ring, int fd);
void exported_ring_unmap(struct hwtimer_ring *ring);
int exported_ring_kick(struct hwtimer_ring *ring);
struct hwtimer_request *exported_ring_get_slot(struct hwtimer_ring *ring);
struct hwtimer_bulk_timer *exported_ring_get_compact(struct hwtimer_ring *ring,
						     __u32 op, __u32 flags);
struct hwtimer_bulk_timer *exported_ring_get_run(struct hwtimer_ring *ring,
						 __u32 op, __u32 flags,
						 __u32 *count);
int exported_ring_publish(struct hwtimer_ring *ring);
bool exported_ring_next_result(struct hwtimer_ring *ring, uint64_t *result);
int exported_ring_error(uint64_t result);
const __u64 *exported_ring_next_results(struct hwtimer_ring *ring,
					__u32 *count);
const struct hwtimer_event *exported_ring_next_event(struct hwtimer_ring *ring);
const struct hwtimer_event *exported_ring_next_events(struct hwtimer_ring *ring,
						      __u32 *count);
int exported_ring_consume(struct hwtimer_ring *ring);

#endif /* LIBHWTIMER_EXPORTED_H */
