/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks and sets the settings of an instance, and has the module parameters that limit
 * them. instance/ioctl.c chooses settings, for SETUP. Code that holds no lock of
 * the instance reads its settings by hwtimer_settings_get(). hwtimer_main.c has the
 * module parameters checked.
 */
#ifndef HWTIMER_SETTINGS_H
#define HWTIMER_SETTINGS_H

#include <linux/time64.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

#include "worker/clock.h"
#include "wheel/wheel.h"

#define HWTIMER_TICK_MIN (10ULL * NSEC_PER_USEC)
#define HWTIMER_TICK_MAX (3600ULL * NSEC_PER_SEC)

struct hwtimer_instance;

/* Module parameter max_timers; constant once the module is loaded */
extern unsigned int hwtimer_max_timers;

/**
 * struct hwtimer_settings - the settings of an instance
 * @shape: tick, kind and buckets of the wheel
 * @timers: limit of pending timers and unread events
 * @flags: HWTIMER_SETUP_REPORT_CLOCK_SET, HWTIMER_SETUP_AT_LEAST_ONCE
 * @clock: the clock by which the wheel turns
 *
 * struct hwtimer_instance says how those of an instance are protected.
 */
struct hwtimer_settings {
	struct hwtimer_shape shape;
	u32 timers;
	u32 flags;
	const struct hwtimer_clock_desc *clock;
};

bool hwtimer_settings_in_range(const char *name, unsigned int value,
			       unsigned int min, unsigned int max);
bool hwtimer_settings_parameters_valid(void);
struct hwtimer_settings hwtimer_settings_default(void);
int hwtimer_settings_choose(struct hwtimer_settings *settings,
			    const struct hwtimer_setup *wish);
int hwtimer_settings_set(struct hwtimer_instance *instance,
			 const struct hwtimer_settings *settings);
const struct hwtimer_settings *
hwtimer_settings_get(struct hwtimer_instance *instance,
		     struct hwtimer_settings *copy);

#endif /* HWTIMER_SETTINGS_H */
