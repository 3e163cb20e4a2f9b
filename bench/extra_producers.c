// SPDX-License-Identifier: GPL-2.0
/*
 * Compares two producers with one. A producer is a process that schedules and cancels
 * batches of its own timers on a processor of its own. The figure is the number of
 * pairs of schedule and cancel per second. The floor's ratio tells how much more
 * two processors of this machine do than one: it shares nothing. A ratio above two says
 * that other programs took the processor of the one.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "numbers.h"
#include "processor.h"

#define BATCH 4096
#define PRODUCERS 2
#define TURNS 5
#define START (100 * NSEC_PER_MSEC)
#define LENGTH (400 * NSEC_PER_MSEC)
#define FAR (3600 * NSEC_PER_SEC)

static void produce_batch(const struct system *system, struct workload *load)
{
	load->base = now_ns() + FAR;
	system->schedule(0, BATCH);
	if (system->aim)
		system->aim(0, BATCH);
	system->cancel(0, BATCH);
	if (system->expiry == EXPIRY_CALLED)
		system->expire(0);
}

/* Returns the pairs per second. */
static double produce(const struct run *run, int cpu, __u64 start)
{
	struct workload load;
	__u64 begun, end, pairs = 0;
	double ns;

	processor_pin(0, cpu);
	workload_init(&load, BATCH, NSEC_PER_MSEC, run->seed + cpu);
	run->system->setup(&load, run->variant);
	produce_batch(run->system, &load);
	clock_spin_until(start);
	begun = cycles();
	end = clock_cycles_at(start + LENGTH);
	while ((__s64)(cycles() - end) < 0) {
		produce_batch(run->system, &load);
		pairs += BATCH;
	}
	ns = clock_ns(cycles() - begun);
	run->system->teardown();
	workload_release(&load);
	return pairs * 1e9 / ns;
}

/* Returns the pairs per second of @count producers together. */
static double together(const struct run *run, int count)
{
	double *made = mmap(NULL, PRODUCERS * sizeof(*made),
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	__u64 start = now_ns() + START;
	double sum = 0;
	int i, status;

	if (made == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid) {
			made[i] = produce(run, i, start);
			exit(0);
		}
	}
	for (i = 0; i < count; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a producer failed");
	for (i = 0; i < count; i++)
		sum += made[i];
	munmap(made, PRODUCERS * sizeof(*made));
	return sum;
}

void extra_producers(const struct run *run)
{
	double one[TURNS], two[TURNS], ratio[TURNS];
	int i;

	if (processor_last() + 1 < PRODUCERS)
		return;
	for (i = 0; i < TURNS; i++) {
		one[i] = together(run, 1);
		two[i] = together(run, PRODUCERS);
		ratio[i] = two[i] / one[i];
	}
	emit("one producer", quantile(one, TURNS, 0.5), "pairs/s");
	emit("two producers", quantile(two, TURNS, 0.5), "pairs/s");
	emit("two producers against one", quantile(ratio, TURNS, 0.5), "ratio");
}
