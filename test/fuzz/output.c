// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of what the kernel gave out; see output.h.
 *
 * A kernel with CONFIG_INIT_STACK_ALL_PATTERN fills variables with 0xfe, and one that was
 * booted with slub_debug=P fills allocated memory with 0x5a and freed memory with 0x6b.
 * Where that arrives in a program, the kernel gives out what others have left in its
 * memory. On 64-bit x86, so do addresses in the kernel.
 */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The fuzzer itself passes no such number, see rng_hostile(). */
static const char *leaked(__u64 word)
{
	switch (word) {
	case 0xfefefefefefefefe:
		return "a variable that was not set";
	case 0x5a5a5a5a5a5a5a5a:
		return "allocated memory that was not set";
	case 0x6b6b6b6b6b6b6b6b:
		return "freed memory";
	}
	if (word >= 0xffff888000000000 && word < 0xffffc88000000000)
		return "an address in the kernel";
	return NULL;
}

/* Says what is around offset @i: who has written that may show from there. */
static void show_around(const void *memory, size_t size, size_t i)
{
	size_t from = i > 64 ? i - 64 : 0;

	for (size_t j = from; j + 8 <= size && j <= i + 64; j += 8) {
		__u64 word;

		memcpy(&word, (const char *)memory + j, 8);
		printf("# %4zu: %016" PRIx64 "\n", j, (uint64_t)word);
	}
}

/**
 * output_search - search for memory of the kernel that was given out
 * @call: the call that gave it out
 * @memory: what it gave out; need not be aligned
 * @size: its size; a multiple of 8 is searched
 */
void output_search(enum call call, const void *memory, size_t size)
{
	for (size_t i = 0; i + 8 <= size; i += 8) {
		const char *what;
		__u64 word;

		memcpy(&word, (const char *)memory + i, 8);
		what = leaked(word);
		if (!what)
			continue;
		wrong(WILD, "%s gave out %s: %#" PRIx64 " at offset %zu",
		      call_name(call), what, (uint64_t)word, i);
		show_around(memory, size, i);
	}
	tally_add(&tallies->checked, size);
}

/**
 * output_balance - check the sums that hold at all times
 * @stats: the counters of an instance
 */
void output_balance(const struct hwtimer_stats *stats)
{
	if (stats->scheduled + stats->rearmed !=
	    stats->pending + stats->cancelled + stats->expired)
		wrong(WILD, "STATS: timers do not add up");
	if (stats->expired !=
	    stats->ready + stats->delivered + stats->discarded)
		wrong(WILD, "STATS: events do not add up");
	if (stats->bytes > stats->bytes_peak)
		wrong(WILD, "STATS: a part is more than the whole");
	tally_add(&tallies->balanced, 1);
}

/**
 * output_timer - check the description of a timer
 * @call: the call that described it
 * @timer: the timer
 */
void output_timer(enum call call, const struct hwtimer_timer *timer)
{
	bool expired = timer->state == HWTIMER_STATE_EXPIRED;

	if ((!expired && timer->state != HWTIMER_STATE_PENDING) || !timer->id ||
	    (timer->flags & ~HWTIMER_REQ_FIXED_DELAY) ||
	    expired != !!timer->expirations ||
	    (timer->expirations_left &&
	     timer->expirations > timer->expirations_left))
		wrong(WILD, "%s: state %u, flags %#x, expirations %u of %u",
		      call_name(call), timer->state, timer->flags,
		      timer->expirations, timer->expirations_left);
}

/**
 * output_events - check events from read()
 * @events: the events; need not be aligned
 * @bytes: what read() returned
 */
void output_events(const struct hwtimer_event *events, long bytes)
{
	struct hwtimer_event event;

	if (bytes % sizeof(event))
		wrong(WILD, "read: %ld bytes", bytes);
	for (size_t i = 0; (i + 1) * sizeof(event) <= (size_t)bytes; i++) {
		memcpy(&event, (const char *)events + i * sizeof(event),
		       sizeof(event));
		if (!event.id || !event.expirations)
			wrong(WILD, "read: an event without %s",
			      event.id ? "expirations" : "an id");
	}
}
