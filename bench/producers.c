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
/* Ways of a cache line from one processor to the other */
#define HOPS 20000

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

double producers_ran;

static void bulk(const struct producer *producer, __u32 op, const void *of,
		 __u64 *to)
{
	struct hwtimer_bulk bulk = {
		.op = op,
		.flags = op == HWTIMER_OP_SCHEDULE ? HWTIMER_REQ_ABSTIME : 0,
		.count = producer->batch,
		.timers = (uintptr_t)of,
		.results = (uintptr_t)to,
	};
	/* The least result that is a failure: SCHEDULE gives ids, and CANCEL 0. */
	const __u64 failure = op == HWTIMER_OP_SCHEDULE ? -4095 : 1;
	__u32 i;

	if (ioctl(producer->fd, HWTIMER_IOC_BULK, &bulk) !=
	    (int)producer->batch)
		errx(1, "HWTIMER_IOC_BULK did not do all");
	for (i = 0; i < producer->batch; i++)
		if (to[i] >= failure)
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
	producer->pairs += producer->batch ? producer->batch : 1;
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

	device_setup(fd, NSEC_PER_MSEC, 0, 1 << 20);
	return fd;
}

double producers_round(const int *fds, int threads, __u32 batch)
{
	static struct producer producers[THREADS];
	pthread_t handles[THREADS];
	double sum = 0, least = 1;
	__u64 begin, wall;
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
	begin = now_ns();
	sleep_until(begin + ROUND);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	wall = now_ns() - begin;
	for (i = 0; i < threads; i++) {
		pthread_join(handles[i], NULL);
		sum += producers[i].pairs * 1e9 / producers[i].ns;
		if (producers[i].ns < least * wall)
			least = (double)producers[i].ns / wall;
	}
	producers_ran = least;
	return sum;
}

/* ---- a cache line that travels ---- */

/**
 * struct ball - what travels
 * @before: keeps other variables out of the cache line
 * @turn: number of the thread whose turn it is
 * @behind: as @before
 */
struct ball {
	char before[64];
	int turn;
	char behind[64];
};

static struct ball ball;

/**
 * struct side - one of two threads that take turns
 * @cpu: its processor
 * @me: its number, 0 or 1
 * @ns: out: how long all turns took
 */
struct side {
	int cpu;
	int me;
	__u64 ns;
};

static void *take_turns(void *argument)
{
	struct side *side = argument;
	__u64 begin;
	int i;

	processor_pin(0, side->cpu);
	pthread_barrier_wait(&start);
	begin = now_ns();
	for (i = 0; i < HOPS / 2; i++) {
		while (__atomic_load_n(&ball.turn, __ATOMIC_ACQUIRE) !=
		       side->me)
			;
		__atomic_store_n(&ball.turn, !side->me, __ATOMIC_RELEASE);
	}
	side->ns = now_ns() - begin;
	return NULL;
}

double producers_hop(void)
{
	struct side sides[] = { { .cpu = processor_last() },
				{ .cpu = processor_last() - 1, .me = 1 } };
	pthread_t handles[2];
	int i;

	pthread_barrier_init(&start, NULL, 2);
	for (i = 0; i < 2; i++)
		if (pthread_create(&handles[i], NULL, take_turns, &sides[i]))
			errx(1, "no thread");
	for (i = 0; i < 2; i++)
		pthread_join(handles[i], NULL);
	return (double)sides[0].ns / HOPS;
}
