// SPDX-License-Identifier: GPL-2.0
/*
 * Compares two threads with one: two that share an instance, and two with an instance each.
 * They take turns with the one; figures are medians.
 */
#include <stdio.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "numbers.h"
#include "processor.h"
#include "producers.h"

#define TURNS 5

static void measure_batch(__u32 batch)
{
	double one[TURNS], apart[TURNS], shared[TURNS];
	int fds[] = { producers_instance(), producers_instance() };
	int same[] = { fds[0], fds[0] };
	char variant[40];
	int i;

	for (i = 0; i < TURNS; i++) {
		one[i] = producers_round(same, 1, batch);
		apart[i] = producers_round(fds, 2, batch) / one[i];
		shared[i] = producers_round(same, 2, batch) / one[i];
		one[i] = 1e9 / one[i];
	}
	snprintf(variant, sizeof(variant), "bulks of %u", batch);
	emit_subject("hwtimer", variant, 1);
	emit("one thread, a pair", quantile(one, TURNS, 0.5), "ns");
	emit("two threads, an instance each, against one",
	     quantile(apart, TURNS, 0.5), "ratio");
	emit("two threads, one instance, against one",
	     quantile(shared, TURNS, 0.5), "ratio");
	close(fds[0]);
	close(fds[1]);
}

void extra_threads(const struct run *run)
{
	static const __u32 batches[] = PRODUCERS_BATCHES;
	unsigned int i;

	(void)run;
	if (processor_last() + 1 < PRODUCERS_MAX)
		return;
	for (i = 0; i < sizeof(batches) / sizeof(*batches); i++)
		measure_batch(batches[i]);
}
