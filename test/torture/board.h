/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that all processes of a program share: counters, faults, and, in the torture
 * program, the seats of the workers. It outlives a process that is killed.
 */
#ifndef TORTURE_BOARD_H
#define TORTURE_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <linux/types.h>

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)

#define SEATS_MAX 32

/**
 * enum wrong - what hwtimer must never do
 * @EARLY: an event came before its deadline
 * @TWICE: a timer that expires once had two events
 * @GHOST: an event, or an entry of LIST or CANCEL_ALL, for a timer that had ended
 * @LOST: a timer is gone, and no event told so
 * @ORDER: a timer was passed over by a later tick
 * @STALLED: timers are due, and no event comes, while the worker slept and woke up again
 *	and again
 * @DEADLINE: an event had another deadline than its timer
 * @COUNT: a periodic timer expired more often than it was to
 * @RESULT: a call returned what it must not return
 * @STATS: the instance's counters do not balance
 * @REPORT: a report that the clock was set did not come, or came for nothing
 * @UNLOADED: the module was unloaded while it was in use
 * @UNFREEZABLE: the machine could not be suspended because a task did not freeze
 * @WILD: a wild call of the fuzzer had a wrong result, or the fuzzer could not go on
 * @WRONGS: number of these
 */
enum wrong {
	EARLY,
	TWICE,
	GHOST,
	LOST,
	ORDER,
	STALLED,
	DEADLINE,
	COUNT,
	RESULT,
	STATS,
	REPORT,
	UNLOADED,
	UNFREEZABLE,
	WILD,
	WRONGS
};

/**
 * enum done - what the program has done
 * @STARTED: instances set up
 * @RETIRED: instances stopped, and all of their timers accounted for
 * @SCHEDULED: timers scheduled
 * @EXPIRED: events
 * @CANCELLED: timers cancelled
 * @RESCHEDULED: deadlines changed
 * @RETURNED: timers that CANCEL_ALL handed back
 * @REFUSED: operations that found no memory or no room
 * @HOARDS: times that a worker took all memory of its user
 * @AUDITS: comparisons of all accounts with LIST
 * @REPORTS: reports that the clock was set
 * @INHERITED: instances that a worker took over from one that was killed
 * @IN_FLIGHT: of these, while a call was under way
 * @UNKNOWN: instances of killed workers that were not judged at their end: they ended with
 *	the worker, or it was just writing into its accounts
 * @DONES: number of these
 */
enum done {
	STARTED,
	RETIRED,
	SCHEDULED,
	EXPIRED,
	CANCELLED,
	RESCHEDULED,
	RETURNED,
	REFUSED,
	HOARDS,
	AUDITS,
	REPORTS,
	INHERITED,
	IN_FLIGHT,
	UNKNOWN,
	DONES
};

/* Maximum number of times that CLOCK_REALTIME is set; 8 hours have about 50,000. */
#define SETS_MAX 262144

struct seat;

/**
 * struct board - what the processes share
 * @seed: seed of all random choices
 * @start: time of the start, ns
 * @over: the run ends
 * @wrongs: faults found, by enum wrong
 * @dones: what was done, by enum done
 * @late_max: longest time from a deadline to its event, ns
 * @sets_begun: number of times that someone began to set CLOCK_REALTIME, or to suspend
 * @sets_done: value of @sets_begun after the beginning of the last set that is over
 * @target: how far CLOCK_REALTIME was last set ahead of CLOCK_MONOTONIC, or is being set, ns
 * @ahead: for each beginning, an upper bound of how far CLOCK_REALTIME may be ahead of
 *	CLOCK_MONOTONIC before or after it, ns
 * @seats: the seats of the torture program
 */
struct board {
	unsigned long seed;
	__u64 start;
	atomic_int over;
	atomic_ulong wrongs[WRONGS];
	atomic_ulong dones[DONES];
	atomic_ullong late_max;
	atomic_uint sets_begun;
	atomic_uint sets_done;
	atomic_llong target;
	__s64 ahead[SETS_MAX];
	struct seat *seats;
};

extern struct board *board;

void *board_share(size_t size);
bool board_make(unsigned long seed);
void did(enum done what);
void late(__u64 ns);
__attribute__((format(printf, 2, 3))) void wrong(enum wrong what,
						 const char *format, ...);
unsigned int board_sets_begin(__s64 ahead);
__s64 board_ahead(unsigned int since);
unsigned long board_faults(void);
void board_tell(const char *when);
bool board_verdict(const char *more);

__u64 clock_ns(clockid_t clock);
void sleep_ns(__u64 ns);
__s64 realtime_ahead(void);

#endif /* TORTURE_BOARD_H */
