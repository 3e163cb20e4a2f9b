/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_TIME64_H
#define SIM_LINUX_TIME64_H

#include <time.h>

#include <linux/types.h>

#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define TICK_NSEC 4000000UL

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

static inline s64 timespec64_to_ns(const struct timespec64 *time)
{
	return time->tv_sec * NSEC_PER_SEC + time->tv_nsec;
}

#endif /* SIM_LINUX_TIME64_H */
