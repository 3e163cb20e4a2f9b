// SPDX-License-Identifier: GPL-2.0
/*
 * What two threads do at a time; see threads.h. Each schedules bulks of timers, and cancels
 * them. Throughput is counted per processor time of the threads, because other programs may
 * use the processors, too.
 */
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../numbers.h"
#include "../processor.h"
#include "core.h"
#include "device.h"
#include "threads.h"

#define BATCH_MAX 4096
#define THREADS 2
#define ROUNDS_MAX 100
/* Length of a round */
#define ROUND (100 * NSEC_PER_MSEC)
#define LEAD NSEC_PER_SEC
/* Pairs before the clock starts */
#define REHEARSAL 65536

/**
 * struct producer - a thread
 * @cpu: its processor
 * @fd: its instance
 * @batch: timers in a bulk
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
	__u64 pairs;
	__u64 ns;
	__u64 seed;
	struct hwtimer_bulk_timer timers[BATCH_MAX];
	__u64 ids[BATCH_MAX];
	__u64 results[BATCH_MAX];
};

static const __u32 batches[] = { 1, 4, 16, 64, 256, 4096 };

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
	__u64 base = core_now() + LEAD;
	__u32 i;

	for (i = 0; i < producer->batch; i++)
		producer->timers[i] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = base + random_next(&producer->seed) %
					       (2 * NSEC_PER_SEC),
		};
	bulk(producer, HWTIMER_OP_SCHEDULE, producer->timers, producer->ids);
	bulk(producer, HWTIMER_OP_CANCEL, producer->ids, producer->results);
	producer->pairs += producer->batch;
}

static void *produce(void *argument)
{
	struct producer *producer = argument;
	__u64 begin;

	core_enter();
	processor_pin(0, producer->cpu);
	while (producer->pairs < REHEARSAL)
		pairs(producer);
	pthread_barrier_wait(&start);
	producer->pairs = 0;
	begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		pairs(producer);
	producer->ns = clock_now(CLOCK_THREAD_CPUTIME_ID) - begin;
	return NULL;
}

static int instance_open(void)
{
	int fd = device_open();

	device_setup(fd, HWTIMER_KIND_HIERARCHICAL, NSEC_PER_MSEC, 0, 1 << 20);
	return fd;
}

/* Pairs a second of @threads threads together; @fds has the instance of each. */
static double round_of(const int *fds, int threads, __u32 batch)
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

static void measure_batch(__u32 batch, __u32 rounds)
{
	double one[ROUNDS_MAX], apart[ROUNDS_MAX], shared[ROUNDS_MAX];
	int fds[THREADS] = { instance_open(), instance_open() };
	int same[THREADS] = { fds[0], fds[0] };
	__u32 i;

	for (i = 0; i < rounds; i++) {
		one[i] = round_of(same, 1, batch);
		apart[i] = round_of(fds, THREADS, batch) / one[i];
		shared[i] = round_of(same, THREADS, batch) / one[i];
	}
	printf("two threads, bulks of %-4u  %6.1f ns a pair; both / one thread: ",
	       batch, 1e9 / quantile(one, rounds, 0.5));
	printf("%.2f with an instance each, %.2f with one\n",
	       quantile(apart, rounds, 0.5), quantile(shared, rounds, 0.5));
}

void threads_measure(const char *only, __u32 rounds)
{
	size_t i;
	int status;

	if (only && !strstr("two threads", only))
		return;
	if (!processor_last()) {
		printf("two threads: SKIP, there is one processor only\n");
		return;
	}
	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (i = 0; i < sizeof(batches) / sizeof(*batches); i++) {
		fflush(stdout);
		if (!fork()) {
			core_load();
			measure_batch(batches[i], rounds);
			fflush(stdout);
			_exit(0);
		}
		if (wait(&status) < 0 || status)
			errx(1, "two threads: failed");
	}
}
