// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory, counters and the verdict; see board.h.
 */
#include "board.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maximum number of messages about each kind of fault */
#define MESSAGES 5

struct board *board;

static const char *const wrong_names[WRONGS] = {
	[EARLY] = "early",
	[TWICE] = "twice",
	[GHOST] = "ghost",
	[LOST] = "lost",
	[ORDER] = "order",
	[STALLED] = "stalled",
	[DEADLINE] = "deadline",
	[COUNT] = "count",
	[RESULT] = "result",
	[STATS] = "stats",
	[REPORT] = "report",
	[UNLOADED] = "unloaded",
	[UNFREEZABLE] = "unfreezable",
	[WILD] = "wild",
};

static const char *const done_names[DONES] = {
	[STARTED] = "instances",
	[RETIRED] = "retired",
	[SCHEDULED] = "scheduled",
	[EXPIRED] = "events",
	[CANCELLED] = "cancelled",
	[RESCHEDULED] = "rescheduled",
	[RETURNED] = "returned",
	[REFUSED] = "refused",
	[HOARDS] = "hoards",
	[AUDITS] = "audits",
	[REPORTS] = "clock reports",
	[INHERITED] = "inherited",
	[IN_FLIGHT] = "inherited in flight",
	[UNKNOWN] = "not judged",
};

/*
 * Far from all other memory, and at no round number: a hostile address that the fuzzer passes
 * to the kernel must not be here.
 */
#define SHARED_ADDRESS ((void *)0x2b1a7c3d5000)

/**
 * board_share - memory that this process and its children share
 * @size: its size
 *
 * Return: the memory, zeroed; NULL: there is none.
 */
void *board_share(size_t size)
{
	void *memory = mmap(SHARED_ADDRESS, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Makes the board; called once, before any process is started. */
bool board_make(unsigned long seed)
{
	board = board_share(sizeof(*board));
	if (!board)
		return false;
	board->seed = seed;
	board->start = clock_ns(CLOCK_MONOTONIC);
	return true;
}

void did(enum done what)
{
	atomic_fetch_add(&board->dones[what], 1);
}

/* Notes how late an event was. Lateness is only reported. */
void late(__u64 ns)
{
	unsigned long long max = atomic_load(&board->late_max);

	while (ns > max &&
	       !atomic_compare_exchange_weak(&board->late_max, &max, ns))
		;
}

/* Counts a fault, and says what is known about it. */
void wrong(enum wrong what, const char *format, ...)
{
	char text[512];
	va_list arguments;
	int length;

	if (atomic_fetch_add(&board->wrongs[what], 1) >= MESSAGES)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	length = strlen(text);
	/* One write(), so that lines of several processes do not mix */
	dprintf(STDOUT_FILENO, "# FAULT %s: %.*s (seed %lu, %llu s)\n",
		wrong_names[what], length, text, board->seed,
		(clock_ns(CLOCK_MONOTONIC) - board->start) / SEC);
}

/* ---- setting the clock ---- */

/**
 * board_sets_begin - announce that CLOCK_REALTIME is about to be set
 * @ahead: upper bound of how far it will then be ahead of CLOCK_MONOTONIC, ns
 *
 * Called by one process at a time for setting, and by one for suspending.
 *
 * Return: the new value of sets_begun; 0: there is no room for it, so the clock must not be
 * set.
 */
unsigned int board_sets_begin(__s64 ahead)
{
	__s64 now = realtime_ahead();
	unsigned int nr = atomic_fetch_add(&board->sets_begun, 1);

	if (nr >= SETS_MAX) {
		atomic_fetch_sub(&board->sets_begun, 1);
		return 0;
	}
	board->ahead[nr] = ahead > now ? ahead : now;
	return nr + 1;
}

/* The largest value of realtime_ahead() since there were @since sets */
__s64 board_ahead(unsigned int since)
{
	__s64 ahead = realtime_ahead();
	unsigned int end = atomic_load(&board->sets_begun);

	/* The ones before, a set and a suspend, may not have been over. */
	for (unsigned int i = since > 2 ? since - 2 : 0;
	     i < end && i < SETS_MAX; i++) {
		if (board->ahead[i] > ahead)
			ahead = board->ahead[i];
	}
	return ahead;
}

/* ---- output ---- */

/* Returns the number of faults that were found. */
unsigned long board_faults(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < WRONGS; i++)
		sum += atomic_load(&board->wrongs[i]);
	return sum;
}

/* Prints all counters on one line. */
void board_tell(const char *when)
{
	printf("# %s", when);
	for (int i = 0; i < DONES; i++)
		printf(", %s %lu", done_names[i],
		       atomic_load(&board->dones[i]));
	printf(", latest %llu ms, faults %lu\n",
	       (unsigned long long)atomic_load(&board->late_max) / MS,
	       board_faults());
	fflush(stdout);
}

/**
 * board_verdict - print the last line
 * @more: what else was wrong; "": nothing
 *
 * A run without an event has tested nothing, and fails.
 *
 * Return: whether nothing was wrong.
 */
bool board_verdict(const char *more)
{
	bool idle = !atomic_load(&board->dones[EXPIRED]);

	if (!board_faults() && !*more && !idle) {
		printf("# torture: End of test: SUCCESS\n");
		return true;
	}
	printf("# torture: End of test: FAILURE:");
	for (int i = 0; i < WRONGS; i++) {
		unsigned long count = atomic_load(&board->wrongs[i]);

		if (count)
			printf(" %s=%lu", wrong_names[i], count);
	}
	printf("%s%s (seed %lu)\n", idle ? " events=0" : "", more, board->seed);
	return false;
}

/* ---- time ---- */

__u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

void sleep_ns(__u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/* How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, ns; too much rather than too little */
__s64 realtime_ahead(void)
{
	__u64 monotonic = clock_ns(CLOCK_MONOTONIC);

	return clock_ns(CLOCK_REALTIME) - monotonic;
}
