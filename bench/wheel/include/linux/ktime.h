/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_KTIME_H
#define BENCH_LINUX_KTIME_H

#define KTIME_MAX INT64_MAX

#endif /* BENCH_LINUX_KTIME_H */
