// SPDX-License-Identifier: GPL-2.0
/*
 * Counts dead entries: schedules timers an hour ahead and cancels them at once, over
 * and over, as a program does with the timeouts of its requests.
 */
#include <stdlib.h>

#include "emit.h"
#include "extra.h"
#include "processor.h"
#include "system_hwtimer.h"

#define BATCH 4096
#define FAR (3600 * NSEC_PER_SEC)

void extra_dead(const struct run *run)
{
	const struct system *system = run->system;
	struct workload load;
	__u64 most = 0, dead, start;
	__u32 done;

	workload_init(&load, BATCH, NSEC_PER_MSEC, run->seed);
	system->setup(&load, run->variant);
	start = cycles();
	for (done = 0; done < run->timers; done += BATCH) {
		load.base = now_ns() + FAR;
		system->schedule(0, BATCH);
		system->aim(0, BATCH);
		system->cancel(0, BATCH);
		dead = hwtimer_counter("dead");
		if (dead > most)
			most = dead;
	}
	emit("pair, with a far deadline", clock_ns(cycles() - start) / done,
	     "ns");
	emit("dead entries at the most", most, "count");
	emit("live timers besides", hwtimer_counter("pending"), "count");
	system->teardown();
	workload_release(&load);
}
