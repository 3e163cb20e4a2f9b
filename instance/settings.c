// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the settings of instances, and sets them.
 */
#include <linux/log2.h>

#include "hwtimer.h"
#include "instance/instance.h"

#define HWTIMER_TICK_DEFAULT (1ULL * NSEC_PER_MSEC)
#define HWTIMER_BUCKETS_DEFAULT 4096U
#define HWTIMER_TIMERS_DEFAULT BIT(20)

static bool flags_valid(u32 flags, const struct hwtimer_clock_desc *clock)
{
	if (flags &
	    ~(HWTIMER_SETUP_REPORT_CLOCK_SET | HWTIMER_SETUP_AT_LEAST_ONCE))
		return false;
	return clock->settable || !(flags & HWTIMER_SETUP_REPORT_CLOCK_SET);
}

static bool wheel_valid(const struct hwtimer_setup *setup)
{
	return setup->tick >= HWTIMER_TICK_MIN &&
	       setup->tick <= HWTIMER_TICK_MAX &&
	       setup->buckets >= HWTIMER_BUCKETS_MIN &&
	       setup->buckets <= HWTIMER_BUCKETS_MAX;
}

/**
 * hwtimer_settings_choose - check the argument of SETUP, and turn it into settings
 * @settings: out: the settings, if the argument is valid
 * @argument: the argument, with any values. 0 in a field that has a default means the default
 *
 * Return: 0; -EINVAL: a value is out of range or unknown, see struct hwtimer_setup. Any
 * context.
 */
int hwtimer_settings_choose(struct hwtimer_settings *settings,
			    const struct hwtimer_setup *argument)
{
	const struct hwtimer_clock_desc *clock;
	struct hwtimer_setup setup = *argument;

	setup.tick = setup.tick ?: HWTIMER_TICK_DEFAULT;
	setup.clock = setup.clock ?: HWTIMER_CLOCK_MONOTONIC;
	setup.buckets = setup.buckets ?: HWTIMER_BUCKETS_DEFAULT;
	setup.timers = setup.timers ?: HWTIMER_TIMERS_DEFAULT;

	clock = hwtimer_clock_find(setup.clock);
	if (setup.reserved || !clock || !flags_valid(setup.flags, clock) ||
	    !wheel_valid(&setup) || setup.timers > HWTIMER_TIMERS_MAX)
		return -EINVAL;
	*settings = (struct hwtimer_settings){
		.shape = { .tick = setup.tick,
			   .kind = HWTIMER_KIND_HIERARCHICAL,
			   .buckets = roundup_pow_of_two(setup.buckets) },
		.timers = setup.timers,
		.flags = setup.flags,
		.clock = clock,
	};
	return 0;
}

/**
 * hwtimer_settings_default - get the settings of a new instance
 *
 * Return: the settings. Any context.
 */
struct hwtimer_settings hwtimer_settings_default(void)
{
	const struct hwtimer_setup defaults = {};
	struct hwtimer_settings settings = {};

	hwtimer_settings_choose(&settings, &defaults);
	return settings;
}

/**
 * hwtimer_settings_set - give an instance other settings
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @settings: settings from hwtimer_settings_choose()
 *
 * Return: 0; -EBUSY: the instance has started, or it is stopped; -EINTR: the caller is being
 * killed. May sleep; takes the mutex setup and the instance's lock.
 */
int hwtimer_settings_set(struct hwtimer_instance *instance,
			 const struct hwtimer_settings *settings)
{
	int err = 0;

	/* hwtimer_ioctl_waits() has said that this does not wait. */
	if (!hwtimer_instance_new(instance))
		return -EBUSY;
	/* Its holder may be a thread that hardly gets any processor time. */
	if (mutex_lock_killable(&instance->setup))
		return -EINTR;
	spin_lock(&instance->lock);
	if (hwtimer_instance_new(instance))
		instance->settings = *settings;
	else
		err = -EBUSY;
	spin_unlock(&instance->lock);
	mutex_unlock(&instance->setup);
	return err;
}
