/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_KERNEL_H
#define SIM_LINUX_KERNEL_H

#include_next <linux/kernel.h>

#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <assert.h>
#include <errno.h>

#include <linux/bug.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(p, type, member) \
	((type *)((char *)(p)-offsetof(type, member)))
#define IS_ENABLED(option) 1
#define CONFIG_64BIT 1
#define CONFIG_CGROUPS 1
#define KBUILD_MODNAME "hwtimer"
#ifndef pr_fmt
#define pr_fmt(format) format
#endif
/* A parameter that is out of range; the caller returns an error, too. */
#define pr_err(format, ...) ((void)0)
#define clamp_t(type, value, low, high) \
	min_t(type, max_t(type, value, low), high)

#include <linux/bitops.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/cond_resched.h>

#endif /* SIM_LINUX_KERNEL_H */
