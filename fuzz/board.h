/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all processes of the fuzzer count, in memory that they share: the calls and their
 * results, and what was wrong. A process may be killed at any moment, so each number is
 * changed by one atomic instruction.
 */
#ifndef FUZZ_BOARD_H
#define FUZZ_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>

#include <linux/types.h>

/**
 * enum call - the calls that are counted
 *
 * Each one before CALLS_CORE must succeed at times and, where board.c says so, fail at
 * times: a fuzzer whose calls are all refused at the first check finds nothing. Kernels may
 * lack the others, or refuse them to this process.
 */
enum call {
	CALL_INFO,
	CALL_SETUP,
	CALL_SCHEDULE,
	CALL_CANCEL,
	CALL_RESCHEDULE,
	CALL_REARM,
	CALL_SUBMIT,
	CALL_QUERY,
	CALL_STOP,
	CALL_STATS,
	CALL_NOTIFY,
	CALL_BULK,
	CALL_LIST,
	CALL_CANCEL_ALL,
	CALL_ACK,
	CALL_REWIND,
	CALL_READ,
	CALL_POLL,
	CALL_OPEN,
	CALL_EPOLL_CTL,
	CALL_EPOLL_WAIT,
	CALL_SENDMSG,
	CALL_RECVMSG,
	CALL_FORK,
	CALLS_CORE,
	CALL_URING_READ = CALLS_CORE,
	CALL_URING_POLL,
	CALL_AIO_POLL,
	CALL_AIO_PREAD,
	CALL_USERFAULTFD,
	CALL_CLOCK,
	CALL_MEMCG,
	CALL_DEBUGFS,
	CALL_UNLOAD,
	CALLS
};

struct tally {
	atomic_ullong succeeded;
	atomic_ullong failed;
};

/**
 * struct lateness - how late a process was served
 * @count: number of events
 * @sum: of their lateness, ns
 * @max: longest lateness, ns
 * @bins: number of events with a lateness of [2^(i-1), 2^i) us
 */
struct lateness {
	atomic_ullong count;
	atomic_ullong sum;
	atomic_ullong max;
	atomic_ullong bins[32];
};

/**
 * struct account - what a neighbour got, beside the fuzzer
 * @lateness: of its events
 * @scheduled: timers that were scheduled
 * @ended: timers that ended, by an event or a CANCEL
 * @refused: requests that the kernel had no memory for; they schedule nothing
 * @early: events that came before their deadline
 * @twice: events of timers that had ended, or that do not exist
 * @lost: timers that neither came nor could be cancelled
 * @unequal: counters of the kernel that do not equal those of the neighbour
 */
struct account {
	struct lateness lateness;
	atomic_ullong scheduled;
	atomic_ullong ended;
	atomic_ullong refused;
	atomic_ullong early;
	atomic_ullong twice;
	atomic_ullong lost;
	atomic_ullong unequal;
};

#define COMPLAINTS 8
#define COMPLAINT_LENGTH 160

/**
 * struct board - all counters
 * @tallies: of the calls
 * @steps: steps that were begun
 * @rescued: of these, ended by SIGSEGV or SIGBUS
 * @signals: sent to actors
 * @checked: bytes of output that were searched for patterns
 * @balanced: number of STATS whose sums were checked
 * @neighbour: the neighbour with an instance
 * @timerfd: the neighbour with a timerfd
 * @end_neighbours: the neighbours are to finish
 * @complaints: number of things that were wrong
 * @complaint: the first ones
 */
struct board {
	struct tally tallies[CALLS];
	atomic_ullong steps;
	atomic_ullong rescued;
	atomic_ullong signals;
	atomic_ullong checked;
	atomic_ullong balanced;
	struct account neighbour;
	struct lateness timerfd;
	atomic_bool end_neighbours;
	atomic_uint complaints;
	char complaint[COMPLAINTS][COMPLAINT_LENGTH];
};

/* Adds to a number on the board. */
static inline void board_add(atomic_ullong *number, __u64 value)
{
	atomic_fetch_add_explicit(number, value, memory_order_relaxed);
}

static inline __u64 board_get(atomic_ullong *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

const char *board_name(enum call call);
bool board_must_fail(enum call call);
struct board *board_create(void);
void board_count(struct board *board, enum call call, long result);
void board_complain(struct board *board, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void board_late(struct lateness *lateness, __u64 deadline, __u64 now);
__u64 board_percentile(struct lateness *lateness, unsigned int percent);

#endif /* FUZZ_BOARD_H */
