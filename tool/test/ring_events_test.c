// SPDX-License-Identifier: MIT
/*
 * Tests that hwtimerctl save copies the events of a completion ring while a program takes
 * them out and the kernel puts others in. Two threads are the program and the kernel, so
 * no device is needed. Built and run by vm/userland.sh. Prints what is wrong; the exit
 * status is 0 if nothing is, and 1 if a ring without fault is called damaged.
 */
#include <hwtimer_ring.h>

/* Loads a number of the ring, after others have had time to change it. */
static __u32 load_late(const __u32 *word)
{
	static unsigned int seed;
	unsigned int i;

	seed = seed * 1103515245 + 12345;
	for (i = seed >> 22; i; i--)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return hwtimer_ring_load(word);
}

#define hwtimer_ring_load load_late
#include "../ring_events.c"
#undef hwtimer_ring_load

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/* The smaller the ring, the more often its slots are used again during a copy. */
#define SLOTS 8
#define COPIES 300000

static struct {
	struct hwtimer_rings shared;
	struct hwtimer_event events[SLOTS];
} memory;

static struct hwtimer_ring ring = {
	.bytes = sizeof(memory),
	.shared = &memory.shared,
	.events = memory.events,
	.completions = SLOTS,
};

static bool stop;

/* The kernel: fills each free slot. An event's numbers all say which event it is. */
static void *put_events(void *arg)
{
	__u32 tail = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (tail - hwtimer_ring_load(&memory.shared.completion_head) ==
		    SLOTS)
			continue;
		memory.events[tail % SLOTS] = (struct hwtimer_event){
			.id = tail + 1ULL,
			.user_data = tail,
			.deadline = tail,
			.expirations = tail,
		};
		hwtimer_ring_store(&memory.shared.completion_tail, ++tail);
	}
	return arg;
}

/* The program: takes all events out, and none for a while after that. */
static void *take_events(void *arg)
{
	struct hwtimer_ring program = ring;
	unsigned int i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		while (hwtimer_ring_next_event(&program))
			;
		hwtimer_ring_store(&memory.shared.completion_head,
				   program.head);
		for (i = 0; i < program.head % 64; i++)
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
	return arg;
}

/* Returns whether the events are whole, and follow each other. */
static bool good(const struct ring_events *events)
{
	const struct hwtimer_event *event = events->list;
	unsigned int i;

	for (i = 0; i < events->count; i++, event++)
		if (event->id != event->user_data + 1 ||
		    event->deadline != event->user_data ||
		    event->expirations != event->user_data ||
		    event->user_data != events->list->user_data + i)
			return false;
	return true;
}

int main(void)
{
	unsigned long i, wrong = 0, copied = 0;
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, put_events, NULL) ||
	    pthread_create(&threads[1], NULL, take_events, NULL))
		abort();
	for (i = 0; i < COPIES; i++) {
		struct ring_events events = copy(&ring);

		wrong += !good(&events);
		copied += events.count;
		ring_events_free(&events);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%lu events copied, %lu of %d copies wrong\n", copied, wrong,
	       COPIES);
	return wrong || !copied;
}
