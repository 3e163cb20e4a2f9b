/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The well-behaved processes beside the fuzzer. One has an instance of its own and keeps an
 * exact account of it; one uses a timerfd, to tell how late the machine itself is.
 */
#ifndef FUZZ_NEIGHBOUR_H
#define FUZZ_NEIGHBOUR_H

#include <sys/types.h>

#include "board.h"

#define NEIGHBOURS 2

bool neighbours_start(struct board *board, __u64 seed, pid_t pids[NEIGHBOURS]);
bool neighbours_end(struct board *board, pid_t pids[NEIGHBOURS]);

#endif /* FUZZ_NEIGHBOUR_H */
