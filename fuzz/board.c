// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of the fuzzer; see board.h. Called by all other files.
 */
#include "board.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/**
 * struct rule - what is to happen to a call
 * @name: its name
 * @must_fail: a run counts only if such a call has failed
 */
struct rule {
	const char *name;
	bool must_fail;
};

static const struct rule rules[CALLS] = {
	[CALL_INFO] = { "INFO", true },
	[CALL_SETUP] = { "SETUP", true },
	[CALL_SCHEDULE] = { "SCHEDULE", true },
	[CALL_CANCEL] = { "CANCEL", true },
	[CALL_RESCHEDULE] = { "RESCHEDULE", true },
	[CALL_REARM] = { "REARM", true },
	[CALL_SUBMIT] = { "SUBMIT", true },
	[CALL_QUERY] = { "QUERY", true },
	[CALL_STOP] = { "STOP", true },
	[CALL_STATS] = { "STATS", true },
	[CALL_NOTIFY] = { "NOTIFY", true },
	[CALL_BULK] = { "BULK", true },
	[CALL_LIST] = { "LIST", true },
	[CALL_CANCEL_ALL] = { "CANCEL_ALL", true },
	[CALL_ACK] = { "ACK", true },
	[CALL_REWIND] = { "REWIND", true },
	[CALL_READ] = { "read", true },
	[CALL_POLL] = { "poll", false },
	[CALL_OPEN] = { "open", true },
	[CALL_EPOLL_CTL] = { "epoll_ctl", true },
	[CALL_EPOLL_WAIT] = { "epoll_wait", false },
	[CALL_SENDMSG] = { "sendmsg", false },
	[CALL_RECVMSG] = { "recvmsg", true },
	[CALL_FORK] = { "fork", false },
	[CALL_URING_READ] = { "io_uring read", false },
	[CALL_URING_POLL] = { "io_uring poll", false },
	[CALL_AIO_POLL] = { "AIO poll", false },
	[CALL_AIO_PREAD] = { "AIO read", false },
	[CALL_USERFAULTFD] = { "userfaultfd", false },
	[CALL_CLOCK] = { "clock set", false },
	[CALL_MEMCG] = { "little memory", false },
	[CALL_DEBUGFS] = { "debugfs", false },
	[CALL_UNLOAD] = { "unload", false },
};

/**
 * board_name - the name of a call
 * @call: the call
 *
 * Return: the name.
 */
const char *board_name(enum call call)
{
	return rules[call].name;
}

/**
 * board_must_fail - whether a run counts only if such a call has failed
 * @call: the call
 *
 * Return: whether.
 */
bool board_must_fail(enum call call)
{
	return rules[call].must_fail;
}

/*
 * Far from all other memory, and at no round number: a hostile address that the kernel
 * writes to must not be here.
 */
#define BOARD_ADDRESS ((void *)0x2b1a7c3d5000)

/**
 * board_create - the memory that all processes share
 *
 * Return: the board, zeroed; NULL: no memory.
 */
struct board *board_create(void)
{
	struct board *board =
		mmap(BOARD_ADDRESS, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return board == MAP_FAILED ? NULL : board;
}

/**
 * board_count - count a call
 * @board: the board
 * @call: the call
 * @result: what it returned; a negative number is a failure
 */
void board_count(struct board *board, enum call call, long result)
{
	struct tally *tally = &board->tallies[call];

	board_add(result < 0 ? &tally->failed : &tally->succeeded, 1);
}

/**
 * board_complain - note that something is wrong, which fails the run
 * @board: the board; it keeps the first COMPLAINTS messages
 * @format: as printf()
 */
void board_complain(struct board *board, const char *format, ...)
{
	unsigned int nr = atomic_fetch_add(&board->complaints, 1);
	va_list arguments;

	if (nr >= COMPLAINTS)
		return;
	va_start(arguments, format);
	vsnprintf(board->complaint[nr], COMPLAINT_LENGTH, format, arguments);
	va_end(arguments);
}

/**
 * board_late - count an event by its lateness
 * @lateness: where; one process at a time uses it
 * @deadline: when the event was due, ns
 * @now: when it came, ns
 */
void board_late(struct lateness *lateness, __u64 deadline, __u64 now)
{
	__u64 late = now > deadline ? now - deadline : 0, us = late / 1000;
	unsigned int bin = 0;

	for (; us && bin < 31; us >>= 1)
		bin++;
	board_add(&lateness->count, 1);
	board_add(&lateness->sum, late);
	board_add(&lateness->bins[bin], 1);
	if (late > board_get(&lateness->max))
		atomic_store(&lateness->max, late);
}

/**
 * board_percentile - the lateness that a part of the events did not exceed
 * @lateness: the events
 * @percent: the part
 *
 * Return: the lateness, us, rounded up to a power of two.
 */
__u64 board_percentile(struct lateness *lateness, unsigned int percent)
{
	__u64 count = board_get(&lateness->count), seen = 0;

	for (unsigned int bin = 0; bin < 32; bin++) {
		seen += board_get(&lateness->bins[bin]);
		if (seen * 100 >= count * percent)
			return 1ULL << bin;
	}
	return 1ULL << 32;
}
