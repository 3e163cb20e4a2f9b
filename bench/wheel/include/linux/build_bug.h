/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_BUILD_BUG_H
#define BENCH_LINUX_BUILD_BUG_H

/* static_assert() */
#include <assert.h>

#endif /* BENCH_LINUX_BUILD_BUG_H */
