/* SPDX-License-Identifier: MIT */
/*
 * What a snapshot has to know of clocks: the boot of the machine, and how far the clocks
 * of a time namespace are ahead of the machine's. Used by save and restore.
 */
#ifndef CLOCKS_H
#define CLOCKS_H

#include "snapshot.h"

#include <stdint.h>

/**
 * struct moment - a time, on several clocks
 * @boot_id: the boot of the machine
 * @clock_now: time on the clock of an instance, ns
 * @real_before: time on CLOCK_REALTIME, ns, read before @clock_now
 * @real_after: the same, read after @clock_now
 * @clock_offset: how far this process's time namespace has that clock ahead, ns
 */
struct moment {
	char boot_id[SNAPSHOT_BOOT_ID];
	uint64_t clock_now;
	uint64_t real_before;
	uint64_t real_after;
	int64_t clock_offset;
};

/* Both take an enum hwtimer_clock. */
uint64_t clocks_now(uint32_t clock);
struct moment clocks_moment(uint32_t clock);

#endif /* CLOCKS_H */
