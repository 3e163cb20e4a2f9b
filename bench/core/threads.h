/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two threads do at a time: with an instance each, and with one for both.
 */
#ifndef BENCH_CORE_THREADS_H
#define BENCH_CORE_THREADS_H

#include <linux/types.h>

/*
 * Prints a line for each size of a batch; results for report.py if @rep, the number of a
 * repetition, is not negative. @only: as the option of that name.
 */
void threads_measure(const char *only, __u32 rounds, int rep);

#endif /* BENCH_CORE_THREADS_H */
