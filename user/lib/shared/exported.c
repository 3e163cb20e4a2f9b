// SPDX-License-Identifier: MIT
/* See exported.h. */
#include "exported.h"

#define EXPORT(function, name) \
	__asm__(".symver " #function ", " #name "@@LIBHWTIMER_0.9")

int exported_setup(struct hwt *hwt, const struct hwtimer_setup *setup)
{
	return hwt_setup(hwt, setup);
}

int exported_info(struct hwt *hwt, struct hwtimer_info *info)
{
	return hwt_info(hwt, info);
}

int exported_stats(struct hwt *hwt, struct hwtimer_stats *stats)
{
	return hwt_stats(hwt, stats);
}

int exported_error(uint64_t result)
{
	return hwt_error(result);
}

int exported_dispatch_failed(int ret)
{
	return hwt_dispatch_failed(ret);
}

EXPORT(exported_setup, hwt_setup);
EXPORT(exported_info, hwt_info);
EXPORT(exported_stats, hwt_stats);
EXPORT(exported_error, hwt_error);
EXPORT(exported_dispatch_failed, hwt_dispatch_failed);
