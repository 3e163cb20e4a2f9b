/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_STRING_H
#define BENCH_LINUX_STRING_H

#include <string.h>

#endif /* BENCH_LINUX_STRING_H */
