/* SPDX-License-Identifier: MIT */
/*
 * The functions that headers define inline, as symbols of the shared library, for languages
 * that cannot include C. They have the same names there, and other ones here.
 */
#ifndef LIBHWTIMER_EXPORTED_H
#define LIBHWTIMER_EXPORTED_H

#include <libhwtimer.h>

int exported_setup(struct hwt *hwt, const struct hwtimer_setup *setup);
int exported_info(struct hwt *hwt, struct hwtimer_info *info);
int exported_stats(struct hwt *hwt, struct hwtimer_stats *stats);
int exported_error(uint64_t result);
int exported_dispatch_failed(int ret);

#endif /* LIBHWTIMER_EXPORTED_H */
