// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that schedule bulks of timers and cancel them; see producers.h.
 */
#include <err.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "device.h"
#include "processor.h"
#include "producers.h"

void (*producers_enter)(void);
__u64 (*producers_now)(void) = now_ns;

#define BATCH_MAX PRODUCERS_BATCH_MAX
#define THREADS PRODUCERS_MAX
/* Length of a round */
#define ROUND (100 * NSEC_PER_MSEC)
/* Longer than a round and its rehearsal: no timer expires. */
#define LEAD NSEC_PER_SEC
/* Before the clock starts: so many pairs, or for as long if they take longer */
#define REHEARSAL 65536
#define REHEARSAL_TIME (50 * NSEC_PER_MSEC)

/**
 * struct producer - a thread
 * @cpu: its processor
 * @fd: its instance
 * @batch: timers in a bulk
 * @base: the earliest deadline
 * @pairs: out: timers scheduled and cancelled
 * @ns: out: its processor time
 * @seed: of its deadlines
 * @timers: for SCHEDULE
 * @ids: for CANCEL
 * @results: of that
 */
struct producer {
	int cpu;
	int fd;
	__u32 batch;
	__u64 base;
	__u64 pairs;
	__u64 ns;
	__u64 seed;
	struct hwtimer_bulk_timer timers[BATCH_MAX];
	__u64 ids[BATCH_MAX];
	__u64 results[BATCH_MAX];
};

static bool stop;
static pthread_barrier_t start;

static void bulk(const struct producer *producer, __u32 op, const void *of,
		 __u64 *to)
{
	struct hwtimer_bulk bulk = {
		.size = sizeof(bulk),
		.op = op,
		.flags = op == HWTIMER_OP_SCHEDULE ? HWTIMER_ABSOLUTE : 0,
		.count = producer->batch,
		.timers = (uintptr_t)of,
		.results = (uintptr_t)to,
	};
	__u32 i;

	if (ioctl(producer->fd, HWTIMER_IOC_BULK, &bulk) !=
	    (int)producer->batch)
		errx(1, "HWTIMER_IOC_BULK did not do all");
	for (i = 0; i < producer->batch; i++)
		if ((__s64)to[i] < 0 && (__s64)to[i] >= -4095)
			errx(1, "operation %u failed", op);
}

static void pairs(struct producer *producer)
{
	__u32 i;

	for (i = 0; i < producer->batch; i++)
		producer->timers[i] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = producer->base + random_next(&producer->seed) %
							 (2 * NSEC_PER_SEC),
		};
	bulk(producer, HWTIMER_OP_SCHEDULE, producer->timers, producer->ids);
	bulk(producer, HWTIMER_OP_CANCEL, producer->ids, producer->results);
	producer->pairs += producer->batch;
}

static void rehearse(struct producer *producer)
{
	__u64 end = clock_now(CLOCK_THREAD_CPUTIME_ID) + REHEARSAL_TIME;

	do
		pairs(producer);
	while (producer->pairs < REHEARSAL &&
	       clock_now(CLOCK_THREAD_CPUTIME_ID) < end);
}

static void *produce(void *argument)
{
	struct producer *producer = argument;
	__u64 begin;

	if (producers_enter)
		producers_enter();
	processor_pin(0, producer->cpu);
	producer->base = producers_now() + LEAD;
	rehearse(producer);
	pthread_barrier_wait(&start);
	producer->pairs = 0;
	begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		pairs(producer);
	producer->ns = clock_now(CLOCK_THREAD_CPUTIME_ID) - begin;
	return NULL;
}

int producers_instance(void)
{
	int fd = device_open();

	device_setup(fd, HWTIMER_KIND_HIERARCHICAL, NSEC_PER_MSEC, 0, 1 << 20);
	return fd;
}

double producers_round(const int *fds, int threads, __u32 batch)
{
	static struct producer producers[THREADS];
	pthread_t handles[THREADS];
	double sum = 0;
	int i;

	stop = false;
	pthread_barrier_init(&start, NULL, threads + 1);
	for (i = 0; i < threads; i++) {
		producers[i].cpu = processor_last() - i;
		producers[i].fd = fds[i];
		producers[i].batch = batch;
		producers[i].pairs = 0;
		if (pthread_create(&handles[i], NULL, produce, &producers[i]))
			errx(1, "no thread");
	}
	pthread_barrier_wait(&start);
	sleep_until(now_ns() + ROUND);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < threads; i++) {
		pthread_join(handles[i], NULL);
		sum += producers[i].pairs * 1e9 / producers[i].ns;
	}
	return sum;
}
