// SPDX-License-Identifier: MIT
/* See exported.h. */
#include "exported.h"

#define EXPORT(function, name) \
	__asm__(".symver " #function ", " #name "@@LIBHWTIMER_1.0")

int exported_setup(struct hwt *hwt, struct hwtimer_setup *setup)
{
	return hwt_setup(hwt, setup);
}

int exported_info(struct hwt *hwt, struct hwtimer_info *info)
{
	return hwt_info(hwt, info);
}

int exported_stats(struct hwt *hwt, struct hwtimer_stats *stats)
{
	return hwt_stats(hwt, stats);
}

int exported_error(uint64_t result)
{
	return hwt_error(result);
}

int exported_dispatch_failed(int ret)
{
	return hwt_dispatch_failed(ret);
}

size_t exported_ring_size(void)
{
	return sizeof(struct hwtimer_ring);
}

int exported_ring_map(struct hwtimer_ring *ring, int fd)
{
	return hwtimer_ring_map(ring, fd);
}

void exported_ring_unmap(struct hwtimer_ring *ring)
{
	hwtimer_ring_unmap(ring);
}

int exported_ring_kick(struct hwtimer_ring *ring)
{
	return hwtimer_ring_kick(ring);
}

struct hwtimer_request *exported_ring_get_slot(struct hwtimer_ring *ring)
{
	return hwtimer_ring_get_slot(ring);
}

struct hwtimer_bulk_timer *exported_ring_get_compact(struct hwtimer_ring *ring,
						     __u32 op, __u32 flags)
{
	return hwtimer_ring_get_compact(ring, op, flags);
}

struct hwtimer_bulk_timer *exported_ring_get_run(struct hwtimer_ring *ring,
						 __u32 op, __u32 flags,
						 __u32 *count)
{
	return hwtimer_ring_get_run(ring, op, flags, count);
}

int exported_ring_publish(struct hwtimer_ring *ring)
{
	return hwtimer_ring_publish(ring);
}

bool exported_ring_next_result(struct hwtimer_ring *ring, uint64_t *result)
{
	return hwtimer_ring_next_result(ring, result);
}

int exported_ring_error(uint64_t result)
{
	return hwtimer_ring_error(result);
}

const __u64 *exported_ring_next_results(struct hwtimer_ring *ring, __u32 *count)
{
	return hwtimer_ring_next_results(ring, count);
}

const struct hwtimer_event *exported_ring_next_event(struct hwtimer_ring *ring)
{
	return hwtimer_ring_next_event(ring);
}

const struct hwtimer_event *exported_ring_next_events(struct hwtimer_ring *ring,
						      __u32 *count)
{
	return hwtimer_ring_next_events(ring, count);
}

int exported_ring_consume(struct hwtimer_ring *ring)
{
	return hwtimer_ring_consume(ring);
}

EXPORT(exported_setup, hwt_setup);
EXPORT(exported_info, hwt_info);
EXPORT(exported_stats, hwt_stats);
EXPORT(exported_error, hwt_error);
EXPORT(exported_dispatch_failed, hwt_dispatch_failed);
EXPORT(exported_ring_size, hwtimer_ring_size);
EXPORT(exported_ring_map, hwtimer_ring_map);
EXPORT(exported_ring_unmap, hwtimer_ring_unmap);
EXPORT(exported_ring_kick, hwtimer_ring_kick);
EXPORT(exported_ring_get_slot, hwtimer_ring_get_slot);
EXPORT(exported_ring_get_compact, hwtimer_ring_get_compact);
EXPORT(exported_ring_get_run, hwtimer_ring_get_run);
EXPORT(exported_ring_publish, hwtimer_ring_publish);
EXPORT(exported_ring_next_result, hwtimer_ring_next_result);
EXPORT(exported_ring_next_results, hwtimer_ring_next_results);
EXPORT(exported_ring_error, hwtimer_ring_error);
EXPORT(exported_ring_next_event, hwtimer_ring_next_event);
EXPORT(exported_ring_next_events, hwtimer_ring_next_events);
EXPORT(exported_ring_consume, hwtimer_ring_consume);
