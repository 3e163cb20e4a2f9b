/* SPDX-License-Identifier: GPL-2.0 */
/* hrtimers, by which time passes; see test/sim/clock.c */
#ifndef SIM_LINUX_HRTIMER_H
#define SIM_LINUX_HRTIMER_H

#include <linux/ktime.h>
#include <linux/list.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS_HARD,
};

struct hrtimer {
	struct list_head entry;
	ktime_t expires;
	clockid_t clock;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
};

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *),
		   clockid_t clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *timer, ktime_t expires,
		   enum hrtimer_mode mode);
int hrtimer_try_to_cancel(struct hrtimer *timer);
#define hrtimer_cancel(timer) hrtimer_try_to_cancel(timer)
bool hrtimer_is_queued(struct hrtimer *timer);
ktime_t hrtimer_get_expires(const struct hrtimer *timer);

#endif /* SIM_LINUX_HRTIMER_H */
