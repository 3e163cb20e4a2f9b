/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_KCSAN_CHECKS_H
#define BENCH_LINUX_KCSAN_CHECKS_H

static inline void kcsan_disable_current(void)
{
}

static inline void kcsan_enable_current(void)
{
}

#endif /* BENCH_LINUX_KCSAN_CHECKS_H */
