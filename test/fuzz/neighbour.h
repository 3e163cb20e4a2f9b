/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The well-behaved processes beside the fuzzer. One is a worker of the torture program, which
 * keeps exact accounts of its timers. Two wait for one timer after another, one of hwtimer and
 * one of timerfd, to tell how late the module and the machine are.
 */
#ifndef FUZZ_NEIGHBOUR_H
#define FUZZ_NEIGHBOUR_H

#include <stdbool.h>

#include <linux/types.h>

bool neighbours_start(__u64 seed);
bool neighbours_end(void);
void neighbours_tell(void);

#endif /* FUZZ_NEIGHBOUR_H */
