/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all processes of the fuzzer count, in memory that they share: the calls and their
 * results. A process may be killed at any moment, so each number is changed by one atomic
 * instruction. What was wrong is on the board (board.h).
 */
#ifndef FUZZ_TALLY_H
#define FUZZ_TALLY_H

#include <stdatomic.h>
#include <stdbool.h>

#include <linux/types.h>

#include "board.h"

/**
 * enum call - the calls that are counted
 *
 * Each one before CALLS_CORE must succeed at times and, where tally.c says so, fail at
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
 * struct tallies - all that is counted
 * @calls: the calls
 * @steps: steps that were begun
 * @rescued: of these, ended by SIGSEGV or SIGBUS
 * @signals: sent to actors
 * @checked: bytes of output that were searched for patterns
 * @balanced: number of STATS whose sums were checked
 */
struct tallies {
	struct tally calls[CALLS];
	atomic_ullong steps;
	atomic_ullong rescued;
	atomic_ullong signals;
	atomic_ullong checked;
	atomic_ullong balanced;
};

extern struct tallies *tallies;

static inline void tally_add(atomic_ullong *number, __u64 value)
{
	atomic_fetch_add_explicit(number, value, memory_order_relaxed);
}

static inline __u64 tally_get(atomic_ullong *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

const char *call_name(enum call call);
bool call_must_fail(enum call call);
void tally(enum call call, long result);

#endif /* FUZZ_TALLY_H */
