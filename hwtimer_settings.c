// SPDX-License-Identifier: GPL-2.0
/*
 * What may be chosen of an instance, and what comes of it: one answer for
 * HWTIMER_IOC_SETUP and for kernel clients.
 */
#include <linux/log2.h>
#include <linux/time.h>

#include "hwtimer.h"

static bool flags_valid(const struct hwtimer_setup *setup)
{
	if (setup->flags & ~HWTIMER_REPORT_CLOCK_SET || setup->reserved)
		return false;
	return !(setup->flags & HWTIMER_REPORT_CLOCK_SET) ||
	       setup->clock == CLOCK_REALTIME;
}

static bool wheel_valid(const struct hwtimer_setup *setup)
{
	return (setup->kind == HWTIMER_KIND_HASHED ||
		setup->kind == HWTIMER_KIND_HIERARCHICAL) &&
	       setup->tick >= HWTIMER_TICK_MIN &&
	       setup->tick <= HWTIMER_TICK_MAX &&
	       setup->buckets >= HWTIMER_BUCKETS_MIN &&
	       setup->buckets <= HWTIMER_BUCKETS_MAX;
}

static bool limits_valid(const struct hwtimer_setup *setup)
{
	return setup->timers <= hwtimer_max_timers &&
	       setup->submissions <= HWTIMER_SUBMISSIONS_MAX &&
	       setup->completions <= HWTIMER_COMPLETIONS_MAX;
}

/* The number of slots for a wish of @slots. */
static u32 ring_slots(u32 slots)
{
	return slots ? roundup_pow_of_two(slots) : 0;
}

/**
 * hwtimer_settings_choose - the settings that somebody asks for
 * @settings: out
 * @wish: any, but for the size; 0 means the default, where there is one
 *
 * Return: 0 or -EINVAL, as struct hwtimer_setup says.
 */
int hwtimer_settings_choose(struct hwtimer_settings *settings,
			    const struct hwtimer_setup *wish)
{
	struct hwtimer_setup setup = *wish;

	setup.kind = setup.kind ?: hwtimer_default_kind;
	setup.tick = setup.tick ?: HWTIMER_TICK_DEFAULT;
	setup.buckets = setup.buckets ?: HWTIMER_BUCKETS_DEFAULT;
	setup.timers = setup.timers ?: hwtimer_default_timers;

	if (!flags_valid(&setup) || !wheel_valid(&setup) ||
	    !limits_valid(&setup) || !hwtimer_clock_find(setup.clock))
		return -EINVAL;
	*settings = (struct hwtimer_settings){
		.shape = { .tick = setup.tick,
			   .kind = setup.kind,
			   .buckets = roundup_pow_of_two(setup.buckets) },
		.timers = setup.timers,
		.flags = setup.flags,
		.submissions = ring_slots(setup.submissions),
		.completions = ring_slots(setup.completions),
		.clock = hwtimer_clock_find(setup.clock),
	};
	return 0;
}
