/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One open file: its calls, its settings, its life.
 */
#ifndef HWTIMER_INSTANCE_H
#define HWTIMER_INSTANCE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/time64.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_account;
struct hwtimer_instance;
struct hwtimer_settings;
struct io_uring_cmd;

/* ---- settings.c ---- */

#define HWTIMER_TICK_MIN (10ULL * NSEC_PER_USEC)
#define HWTIMER_TICK_MAX (3600ULL * NSEC_PER_SEC)

/*
 * Highest limit of timers. SCHEDULE searches a bitmap for a slot with a free record. With two
 * records for each timer and 1,024 records in a slot, the bitmap has about 32 KiB.
 */
#define HWTIMER_TIMERS_MAX BIT(27)

struct hwtimer_settings hwtimer_settings_default(void);
int hwtimer_settings_choose(struct hwtimer_settings *settings,
			    const struct hwtimer_setup *argument);
int hwtimer_settings_set(struct hwtimer_instance *instance,
			 const struct hwtimer_settings *settings);

/* ---- instance.c ---- */

struct hwtimer_instance *
hwtimer_instance_create(struct hwtimer_account *account);
void hwtimer_instance_destroy(struct hwtimer_instance *instance);
void hwtimer_instance_stop(struct hwtimer_instance *instance);

/* ---- ioctl.c ---- */

long hwtimer_ioctl(struct hwtimer_instance *instance, unsigned int number,
		   void __user *argument);
bool hwtimer_ioctl_waits(const struct hwtimer_instance *instance,
			 unsigned int number);

/* ---- uring.c ---- */

int hwtimer_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags);

#endif /* HWTIMER_INSTANCE_H */
