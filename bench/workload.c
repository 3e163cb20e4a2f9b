// SPDX-License-Identifier: GPL-2.0
/*
 * Draws the workload and checks its deliveries; see workload.h.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "workload.h"

void *allocate_touched(size_t count, size_t size)
{
	return memset(allocate(count, size), 0xff, count * size);
}

static void draw_order(struct workload *load, __u64 *seed)
{
	__u32 i, other, timer;

	for (i = 0; i < load->timers; i++)
		load->order[i] = i;
	for (i = load->timers; i > 1; i--) {
		other = random_next(seed) % i;
		timer = load->order[i - 1];
		load->order[i - 1] = load->order[other];
		load->order[other] = timer;
	}
}

void workload_init(struct workload *load, __u32 timers, __u64 tick, __u64 seed)
{
	*load = (struct workload){
		.timers = timers,
		.tick = tick,
		.offsets = allocate_touched(timers, sizeof(*load->offsets)),
		.ticks = allocate_touched(timers, sizeof(*load->ticks)),
		.order = allocate_touched(timers, sizeof(*load->order)),
		.delivered =
			allocate_touched(timers + 1, sizeof(*load->delivered)),
		.state = allocate_touched(timers, sizeof(*load->state)),
	};
	load->unit = (workload_horizon(load) >> 32) + 1;
	workload_draw(load, seed);
}

void workload_draw(struct workload *load, __u64 seed)
{
	__u32 i;

	for (i = 0; i < load->timers; i++) {
		__u64 offset = random_next(&seed) % workload_horizon(load);

		load->offsets[i] = offset / load->unit;
		load->ticks[i] = offset / load->tick + 1;
	}
	draw_order(load, &seed);
}

void workload_release(struct workload *load)
{
	free(load->offsets);
	free(load->ticks);
	free(load->order);
	free(load->delivered);
	free(load->state);
}

enum { GONE, DUE };

void workload_settle(struct workload *load, const char *who, __u32 from)
{
	__u32 i, timer;

	memset(load->state, GONE, load->timers);
	for (i = from; i < load->timers; i++)
		load->state[load->order[i]] = DUE;
	for (i = 0; i < load->delivered_count; i++) {
		timer = load->delivered[i];
		if (timer >= load->timers)
			errx(1, "%s: delivered timer %u of %u", who, timer,
			     load->timers);
		if (load->state[timer] != DUE)
			errx(1, "%s: timer %u was delivered %s", who, timer,
			     "twice, or after it was cancelled");
		load->state[timer] = GONE;
	}
	if (load->delivered_count != load->timers - from)
		errx(1, "%s: delivered %u of %u", who, load->delivered_count,
		     load->timers - from);
	load->delivered_count = 0;
}
