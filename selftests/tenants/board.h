/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The board: memory that the attacker, the victim and the tester share. A tenant writes to
 * it what it has made and measured.
 */
#ifndef TENANTS_BOARD_H
#define TENANTS_BOARD_H

#include "durations.h"
#include "hwtimer_test.h"

#include <sys/prctl.h>

/**
 * struct board - what the tenants tell the tester
 * @lateness: of the victim's timers
 * @forks: time that the victim needs for fork() and wait()
 * @starts: time that the victim needs for a first timer and close()
 * @closes: time that the victim needs to close a descriptor that the attacker sent
 * @first: the shortest time that a first timer took, ns
 * @further: the same of a further one
 * @start: time that the attacker needed until it was ready, ns
 * @made: number of objects that the attacker has made (instances, timers, waiters)
 * @bytes: kernel memory of the attacker's instances by STATS
 * @refused: errno with which the attacker was refused; 0: it was not
 * @ready: set once the attacker has made its objects
 * @socket: the ends of a socket from the attacker [0] to the victim [1]
 */
struct board {
	struct durations lateness;
	struct durations forks;
	struct durations starts;
	struct durations closes;
	__u64 first;
	__u64 further;
	__u64 start;
	unsigned long made;
	unsigned long long bytes;
	int refused;
	int ready;
	int socket[2];
};

static inline void board_set(int *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static inline int board_get(int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

#endif /* TENANTS_BOARD_H */
