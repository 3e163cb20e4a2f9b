/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_WORKER_TIME_H
#define BENCH_WORKER_TIME_H

#include <linux/types.h>

/* Processor time of all kthreads hwtimer/N since the module was loaded, ns */
__u64 workers_ns(void);

#endif /* BENCH_WORKER_TIME_H */
