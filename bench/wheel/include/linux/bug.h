/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_BUG_H
#define BENCH_LINUX_BUG_H

#include <err.h>

#include <linux/compiler.h>

/* A warning of the module ends the program. */
#define WARN_ON_ONCE(condition)                                           \
	do {                                                              \
		if (unlikely(condition))                                  \
			errx(1, "%s: WARN_ON(" #condition ")", __func__); \
	} while (0)

#endif /* BENCH_LINUX_BUG_H */
