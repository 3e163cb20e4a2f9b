/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The contract between /dev/hwtimer and user space.
 *
 * One open("/dev/hwtimer") is one instance: a timing wheel of its own with its
 * own timers, events, limits and statistics. It lives until the last
 * descriptor of that open (dup, fork, SCM_RIGHTS) is closed, and all that it
 * holds goes with it. Ids mean something only in the instance that gave them.
 *
 * An instance lives in the time namespace of the process that opened it, for
 * ever: its clock is what clock_gettime() says there. A descriptor that is passed
 * to another time namespace keeps that clock; all deadlines that are given and
 * told through it are times of the opener's. CLOCK_REALTIME is the same in all.
 *
 * Times are nanoseconds. Every structure has the same layout for 32- and
 * 64-bit programs; pointers travel as __u64. Unknown flags and non-zero
 * reserved fields are refused with EINVAL, so that they can mean something
 * later. Structures that may grow start with their own size: a shorter one
 * (an older program) is filled as far as it reaches, a longer one (a newer
 * program) is accepted when what the kernel does not know of it is zero, and
 * is refused with E2BIG otherwise, or if it is longer than a page.
 *
 * An ioctl returns 0 or a count, or -1 with errno. Errors of any: EFAULT (an
 * address cannot be read or written), ENOTTY (an unknown command). ENOMEM comes
 * while there is still some memory for others, and where a memory cgroup is at
 * its limit: no process is killed for what timers need.
 *
 * Errors of open(): ENFILE (there are as many instances as the module's
 * parameter max_instances allows), ENOMEM.
 */
#ifndef _UAPI_LINUX_HWTIMER_H
#define _UAPI_LINUX_HWTIMER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/** HWTIMER_ABI_VERSION - goes up when a feature bit cannot say what changed */
#define HWTIMER_ABI_VERSION 1

/**
 * HWTIMER_NEVER - the absolute time that never comes
 *
 * A timer with this deadline is parked: it counts as pending, and waits for
 * RESCHEDULE, CANCEL or STOP. It is a deadline, never a delay.
 */
#define HWTIMER_NEVER (~0ULL)

/*
 * Feature bits, for hwtimer_info.features: what the module can do.
 */

/** HWTIMER_FEATURE_HIERARCHICAL - HWTIMER_KIND_HIERARCHICAL */
#define HWTIMER_FEATURE_HIERARCHICAL (1ULL << 0)
/** HWTIMER_FEATURE_PERIODIC - hwtimer_request.interval and .count */
#define HWTIMER_FEATURE_PERIODIC (1ULL << 1)
/** HWTIMER_FEATURE_CLOCKS - CLOCK_BOOTTIME, CLOCK_REALTIME */
#define HWTIMER_FEATURE_CLOCKS (1ULL << 2)
/** HWTIMER_FEATURE_SLACK - hwtimer_request.slack */
#define HWTIMER_FEATURE_SLACK (1ULL << 3)
/** HWTIMER_FEATURE_NOTIFY - HWTIMER_IOC_NOTIFY */
#define HWTIMER_FEATURE_NOTIFY (1ULL << 4)
/** HWTIMER_FEATURE_RINGS - struct hwtimer_rings, HWTIMER_IOC_KICK */
#define HWTIMER_FEATURE_RINGS (1ULL << 5)
/** HWTIMER_FEATURE_BULK - HWTIMER_IOC_BULK */
#define HWTIMER_FEATURE_BULK (1ULL << 6)

/**
 * enum hwtimer_kind - kinds of wheel, for hwtimer_setup.kind
 * @HWTIMER_KIND_DEFAULT: whichever the module holds for the best
 * @HWTIMER_KIND_HASHED: the hashed wheel: buckets by tick modulo their number.
 *	For delays of a few rounds at the most (a round is tick x buckets)
 * @HWTIMER_KIND_HIERARCHICAL: levels of buckets, each coarser than the one
 *	below; a timer moves down at most once a level. For all delays
 */
enum hwtimer_kind {
	HWTIMER_KIND_DEFAULT = 0,
	HWTIMER_KIND_HASHED = 1,
	HWTIMER_KIND_HIERARCHICAL = 2,
};

/**
 * struct hwtimer_info - HWTIMER_IOC_INFO: what this module and instance are
 * @size: in: sizeof(struct hwtimer_info)
 * @abi_version: HWTIMER_ABI_VERSION of the module
 * @features: HWTIMER_FEATURE_*
 * @tick_min: shortest tick that SETUP accepts, ns
 * @tick_max: longest tick that SETUP accepts, ns
 * @buckets_min: fewest buckets
 * @buckets_max: most buckets
 * @timers_max: highest limit of timers that SETUP accepts
 * @tick: this instance's tick, ns
 * @timers: this instance's limit of timers (see struct hwtimer_setup)
 * @buckets: this instance's number of buckets
 * @kind: this instance's enum hwtimer_kind, never HWTIMER_KIND_DEFAULT
 * @clock: this instance's clock
 * @started: 1 once SETUP is over (see struct hwtimer_setup)
 * @flags: this instance's hwtimer_setup.flags
 * @levels: how many levels of buckets its wheel has; 1 if it is hashed
 * @submissions: slots of its submission ring; 0: there is none
 * @completions: slots of its completion ring; 0: there is none
 * @rings_bytes: how much to mmap(); see struct hwtimer_rings. 0: nothing
 *
 * Errors: EINVAL (@size smaller than the first published structure), E2BIG.
 */
struct hwtimer_info {
	__u32 size;
	__u32 abi_version;
	__u64 features;
	__u64 tick_min;
	__u64 tick_max;
	__u32 buckets_min;
	__u32 buckets_max;
	__u64 timers_max;
	__u64 tick;
	__u64 timers;
	__u32 buckets;
	__u32 kind;
	__u32 clock;
	__u32 started;
	__u32 flags;
	__u32 levels;
	__u32 submissions;
	__u32 completions;
	__u64 rings_bytes;
};

/**
 * HWTIMER_REPORT_CLOCK_SET - tell readers that CLOCK_REALTIME was set
 *
 * For hwtimer_setup.flags, with CLOCK_REALTIME only. While a timer is pending,
 * the instance notices within a second that somebody set the clock. Then it is
 * ready for reading, and the next read() fails once with ECANCELED, before any
 * event that waits. The timers stay, and go by the new time. A suspend counts
 * as a set, as it does for timerfd's TFD_TIMER_CANCEL_ON_SET. It costs one
 * wake-up a second, shared by all such instances of a worker.
 */
#define HWTIMER_REPORT_CLOCK_SET (1U << 0)

/** HWTIMER_SUBMISSIONS_MAX - most slots of a submission ring */
#define HWTIMER_SUBMISSIONS_MAX 65536
/** HWTIMER_COMPLETIONS_MAX - most slots of a completion ring */
#define HWTIMER_COMPLETIONS_MAX 1048576

/**
 * struct hwtimer_setup - HWTIMER_IOC_SETUP: choose the wheel
 * @size: in: sizeof(struct hwtimer_setup)
 * @flags: HWTIMER_REPORT_CLOCK_SET
 * @tick: ns, 10 us to 1 h; 0 means the default of 1 ms
 * @buckets: 8 to 1,048,576, rounded up to a power of two; 0 means the default
 *	of 4,096. In a hierarchical wheel, those of the lowest level
 * @kind: enum hwtimer_kind
 * @clock: CLOCK_MONOTONIC, CLOCK_BOOTTIME (goes on while the machine is
 *	suspended), or CLOCK_REALTIME (may be set: deadlines follow it, and
 *	delays are refused). Mind that CLOCK_REALTIME is 0
 * @reserved: must be 0
 * @timers: limit of timers; 0 means the module's default_timers. It counts
 *	pending timers, events that wait to be read, and events that were
 *	discarded but wait behind one that was not, or by the same SUBMIT or
 *	BULK.
 *	Events in the completion ring do not count
 * @submissions: slots of the submission ring, up to HWTIMER_SUBMISSIONS_MAX,
 *	rounded up to a power of two; 0: no such ring. See struct hwtimer_rings
 * @completions: the same of the completion ring, up to HWTIMER_COMPLETIONS_MAX
 *
 * Only before the first SCHEDULE or RESCHEDULE, whatever comes of that unless it
 * is refused for its arguments (EINVAL, ERANGE, EDOM), and before the first
 * mmap(). May be repeated until then, each time for all settings. What came out
 * of it (rounded numbers, the defaults) is read back with INFO.
 *
 * Errors: EINVAL (a value out of range or unknown, or
 * HWTIMER_REPORT_CLOCK_SET without CLOCK_REALTIME), E2BIG, ESHUTDOWN (stopped),
 * EBUSY (too late). After an error all is as it was; what the settings need is
 * allocated with the first timer, which may fail with ENOMEM.
 */
struct hwtimer_setup {
	__u32 size;
	__u32 flags;
	__u64 tick;
	__u32 buckets;
	__u32 kind;
	__u32 clock;
	__u32 reserved;
	__u64 timers;
	__u32 submissions;
	__u32 completions;
};

/**
 * enum hwtimer_op - what a struct hwtimer_request asks for
 * @HWTIMER_OP_NONE: nothing; what HWTIMER_IOC_SCHEDULE and its like expect
 * @HWTIMER_OP_SCHEDULE: a new timer
 * @HWTIMER_OP_CANCEL: the end of a timer
 * @HWTIMER_OP_RESCHEDULE: another deadline for a pending timer
 */
enum hwtimer_op {
	HWTIMER_OP_NONE = 0,
	HWTIMER_OP_SCHEDULE = 1,
	HWTIMER_OP_CANCEL = 2,
	HWTIMER_OP_RESCHEDULE = 3,
};

/**
 * HWTIMER_ABSOLUTE - @time is a deadline on the instance's clock, not a delay
 *
 * For SCHEDULE and RESCHEDULE. With CLOCK_REALTIME it must be set.
 */
#define HWTIMER_ABSOLUTE (1U << 0)

/**
 * HWTIMER_DISCARD - a CANCEL that comes too late discards the unread event
 */
#define HWTIMER_DISCARD (1U << 1)

/**
 * HWTIMER_FIXED_DELAY - @interval counts from when read() takes the event
 *
 * For SCHEDULE with an interval, not with CLOCK_REALTIME. Without it, the rate
 * is fixed: the deadlines are @interval apart, whenever events are read.
 */
#define HWTIMER_FIXED_DELAY (1U << 2)

/**
 * struct hwtimer_request - one timer operation
 * @op: enum hwtimer_op in a SUBMIT; 0, or the same, in the ioctl for one
 * @flags: HWTIMER_ABSOLUTE, HWTIMER_DISCARD, HWTIMER_FIXED_DELAY
 * @id: SCHEDULE: out, the new timer's id, never 0 (in: must be 0);
 *	CANCEL, RESCHEDULE: in
 * @time: SCHEDULE, RESCHEDULE: ns, as a signed number. Without
 *	HWTIMER_ABSOLUTE a delay from now: negative means now, but HWTIMER_NEVER
 *	is refused, and a sum beyond the clock's range becomes HWTIMER_NEVER.
 *	(HWTIMER_NEVER is the number -1: a delay that is computed, and may be
 *	less than 0, should be made 0 then, or be asked for as a deadline.)
 *	With HWTIMER_ABSOLUTE a deadline: negative ones become 0, and
 *	HWTIMER_NEVER never expires. What is due by now, of either kind,
 *	expires when the next tick begins, which is up to one tick later.
 *	CANCEL: must be 0
 * @interval: SCHEDULE: ns from one deadline to the next of a periodic timer,
 *	from one tick to 9,223,372,036,854,775,807; 0: the timer is for once.
 *	Otherwise must be 0
 * @slack: SCHEDULE: ns by which the timer may be late, besides the tick, so
 *	that it can share a wake-up with others. At most @time, be that a delay
 *	or a deadline; @time and @slack together must not exceed
 *	9,223,372,036,854,775,807; a negative @time counts as 0. Of
 *	HWTIMER_NEVER, @slack may be up to that number. At most the interval, if
 *	there is one. Otherwise must be 0
 * @user_data: SCHEDULE: comes back in the event; otherwise must be 0
 * @count: SCHEDULE: a periodic timer ends after so many expirations; 0: it
 *	does not. Otherwise, and without an interval, must be 0
 * @result: SUBMIT: out, 0 or a negative errno; in: ignored
 * @reserved: must be 0
 *
 * SCHEDULE: EINVAL (also: HWTIMER_NEVER without HWTIMER_ABSOLUTE), ERANGE
 * (@interval shorter than a tick, or too long), EDOM (@slack longer than it may
 * be), ENOSPC (the instance's limit of timers is reached; lifts when timers are
 * cancelled and events are read), ENOMEM, ESHUTDOWN (stopped). A timer is never
 * early; it is late by at most its slack and one tick, plus what the machine
 * needs. That holds for a deadline that has passed, too: nothing expires between
 * two ticks, so with a tick of 2 s it may take 2 s until an overdue timer does.
 *
 * A periodic timer has one event at a time. At its deadline the event is
 * queued, and the timer rests until read() takes it: then the event tells of
 * all expirations due by that moment, and the timer is pending again, for the
 * first deadline after it. So a slow reader costs nothing and loses nothing,
 * and the phase never drifts. With HWTIMER_FIXED_DELAY each event is one
 * expiration, and the next deadline is @interval after read() took it.
 *
 * CANCEL: EINVAL, ENOENT (never was, was delivered or is being read, or was
 * cancelled), EALREADY (expired, and its event waits to be read; with
 * HWTIMER_DISCARD that event is dropped and the call succeeds). After success
 * no event comes. Works in a stopped instance too. A periodic timer has ended
 * after EALREADY too: its event that waits, or is just being read, is the last,
 * and tells of no expiration after the CANCEL.
 *
 * RESCHEDULE: EINVAL (as SCHEDULE), ENOENT, EALREADY, ENOMEM, ESHUTDOWN. The id, user_data,
 * slack, interval and count stay; of a periodic timer the next deadlines count
 * from the new one. EALREADY: as CANCEL, but nothing has changed. After an
 * error the old deadline stays too.
 */
struct hwtimer_request {
	__u32 op;
	__u32 flags;
	__u64 id;
	__u64 time;
	__u64 interval;
	__u64 slack;
	__u64 user_data;
	__u32 count;
	__s32 result;
	__u64 reserved;
};

/**
 * struct hwtimer_submit - HWTIMER_IOC_SUBMIT: many operations in one call
 * @requests: address of an array of struct hwtimer_request
 * @count: its length, up to 2,147,483,647; 0 does nothing and returns 0
 * @flags: must be 0
 *
 * Returns how many entries were done, in order: each of those has its own
 * @result, and a refused entry does not stop the ones after it. The call ends
 * early at a signal or at an address that faults. A SCHEDULE whose id could not
 * be written back is undone and not counted, unless its event has been
 * delivered before that, by another thread's read() or into the completion
 * ring, or another thread's STOP has handed it back; a CANCEL or RESCHEDULE
 * stands.
 *
 * Errors, if no entry was done: EINVAL, EFAULT, ENOMEM.
 */
struct hwtimer_submit {
	__u64 requests;
	__u32 count;
	__u32 flags;
};

/**
 * struct hwtimer_bulk_timer - one of the timers of a struct hwtimer_bulk
 * @user_data: SCHEDULE: comes back in the event
 * @id: RESCHEDULE: which
 * @time: as hwtimer_request.time
 */
struct hwtimer_bulk_timer {
	union {
		__u64 user_data;
		__u64 id;
	};
	__u64 time;
};

/**
 * struct hwtimer_bulk - HWTIMER_IOC_BULK: one operation on many timers
 * @size: in: sizeof(struct hwtimer_bulk)
 * @op: HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL or HWTIMER_OP_RESCHEDULE
 * @flags: of each: HWTIMER_ABSOLUTE, HWTIMER_DISCARD, as for the operation
 * @count: how many timers, up to 2,147,483,647; 0 does nothing
 * @timers: address of an array of @count struct hwtimer_bulk_timer; for CANCEL,
 *	of @count ids (__u64)
 * @results: address of an array of @count results (__u64). May be that of
 *	@timers, whose front they overwrite then, but must not overlap it in
 *	another way. 0: not wanted, which a SCHEDULE must not say
 *
 * The same as HWTIMER_IOC_SUBMIT, where the operations have all but the times,
 * user_data and ids in common, and no interval or slack; faster, as it moves a
 * fifth of the memory. A result is the id of a new timer, 0 for another success,
 * or a negative errno, which no id looks like: (__s64)result is less than 0 and
 * not less than -4095. A timer whose time is refused has the result -EINVAL, and
 * the others stand. What struct hwtimer_submit says of the return value, of
 * signals and of faults holds, too: after n timers, go on with those from n on.
 *
 * Errors, if nothing was done: EINVAL (@size, @op or @flags are wrong, whatever
 * @count is; @count is too large; these are delays, and the clock is
 * CLOCK_REALTIME), E2BIG, EFAULT, ENOMEM.
 */
struct hwtimer_bulk {
	__u32 size;
	__u32 op;
	__u32 flags;
	__u32 count;
	__u64 timers;
	__u64 results;
};

/**
 * enum hwtimer_state - where a timer is, in hwtimer_query.state
 * @HWTIMER_STATE_PENDING: its deadline lies ahead
 * @HWTIMER_STATE_EXPIRED: its event waits to be read
 */
enum hwtimer_state {
	HWTIMER_STATE_PENDING = 1,
	HWTIMER_STATE_EXPIRED = 2,
};

/**
 * struct hwtimer_query - HWTIMER_IOC_QUERY: look at one timer
 * @id: in: which
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock; of an expired timer, the
 *	first one that its event tells of
 * @remaining: ns until @deadline; 0 when it has passed
 * @interval: as scheduled
 * @slack: as far as the wheel makes use of it, ns: not more than scheduled
 * @state: enum hwtimer_state
 * @count: expirations left, those of an event that waits included; 0: no limit
 * @flags: HWTIMER_FIXED_DELAY, as scheduled
 * @reserved: in: must be 0
 *
 * Errors: EINVAL, ENOENT (as CANCEL).
 */
struct hwtimer_query {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u64 remaining;
	__u64 interval;
	__u64 slack;
	__u32 state;
	__u32 count;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct hwtimer_unprocessed - a timer that STOP hands back
 * @id: its id, which is no longer valid
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock
 * @remaining: ns that were left until @deadline at this call, 0 if passed
 * @interval: as scheduled
 * @slack: as in struct hwtimer_query
 * @count: expirations left; 0: no limit
 * @flags: HWTIMER_FIXED_DELAY, as scheduled
 */
struct hwtimer_unprocessed {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u64 remaining;
	__u64 interval;
	__u64 slack;
	__u32 count;
	__u32 flags;
};

/**
 * struct hwtimer_stop - HWTIMER_IOC_STOP: end the wheel
 * @size: in: sizeof(struct hwtimer_stop)
 * @flags: must be 0
 * @timers: address of an array of struct hwtimer_unprocessed
 * @count: its length, up to 2,147,483,647; 0 only stops
 * @reserved: must be 0
 * @left: out: timers that are still to be handed back, after this call
 *
 * From the first call on nothing expires and nothing can be scheduled. Events
 * that were queued before can still be read. Returns how many timers this call
 * wrote to @timers; each is handed back once. Call again while @left is not 0.
 *
 * A periodic timer whose event waits cannot be handed back before that event has
 * been read, or has moved into the completion ring; it tells of no expiration
 * after the first STOP. Such a timer is counted in @left, unless that event is its
 * last. If no others are left, STOP with a @count that is not 0 fails with EAGAIN:
 * read events, or make room in the ring, then call again.
 *
 * Errors: EINVAL, E2BIG, EAGAIN (nothing was handed back; @left timers will be
 * once their events have been read), EFAULT and EINTR (only if nothing was
 * handed back; ask again), ENOMEM.
 */
struct hwtimer_stop {
	__u32 size;
	__u32 flags;
	__u64 timers;
	__u32 count;
	__u32 reserved;
	__u64 left;
};

/** HWTIMER_LATENESS_BUCKETS - length of hwtimer_stats.lateness */
#define HWTIMER_LATENESS_BUCKETS 64

/**
 * struct hwtimer_stats - HWTIMER_IOC_STATS: counters since open
 * @size: in: sizeof(struct hwtimer_stats)
 * @reserved: must be 0
 * @pending: timers whose deadline lies ahead
 * @ready: events that wait to be read
 * @scheduled: timers ever scheduled. At all times: @scheduled + @rearmed =
 *	@pending + @cancelled + @expired + @unprocessed
 * @cancelled: timers that ended by CANCEL before they expired
 * @rescheduled: successful RESCHEDULEs
 * @expired: events that were queued. At all times: @expired = @ready +
 *	@delivered + @discarded
 * @delivered: events that were read
 * @discarded: events dropped by HWTIMER_DISCARD
 * @unprocessed: timers handed back by STOP
 * @entries: entries in the wheel's buckets, live and dead
 * @dead: those of cancelled or rescheduled timers that still wait for removal
 * @walked: entries looked at while buckets were walked
 * @passed_over: of those, the ones of later rounds, left where they were
 * @refiled: of those, the ones of timers rescheduled to later, moved on
 * @buried: of those, the dead ones, removed
 * @compactions: times that removing dead entries was begun
 * @turns: times that the worker found something due in this instance
 * @wakeups: times that the worker woke up and served this instance before it
 *	slept again. Wake-ups for other instances do not count
 * @bytes: kernel memory that this instance holds now
 * @bytes_peak: the most it has held
 * @lateness_max: the longest lateness (queued minus deadline), ns; what slack
 *	allows is part of it
 * @lateness: how many events had a lateness of [2^(i-1), 2^i) ns; [0]: 0 ns
 * @rearmed: times that a periodic timer became pending again
 * @missed: expirations of periodic timers beyond the first in their events
 * @cascaded: of @walked, those that moved down a level of a hierarchical wheel
 * @clock_sets: times that CLOCK_REALTIME was seen to have been set, for
 *	HWTIMER_REPORT_CLOCK_SET
 * @submitted: requests that were taken out of the submission ring
 * @completed: of @delivered, events that were put into the completion ring
 * @overflowed: events that found no room in the completion ring when they
 *	came, and had to wait in the kernel
 *
 * The same is in /proc/PID/fdinfo/FD. Errors: EINVAL, E2BIG.
 */
struct hwtimer_stats {
	__u32 size;
	__u32 reserved;
	__u64 pending;
	__u64 ready;
	__u64 scheduled;
	__u64 cancelled;
	__u64 rescheduled;
	__u64 expired;
	__u64 delivered;
	__u64 discarded;
	__u64 unprocessed;
	__u64 entries;
	__u64 dead;
	__u64 walked;
	__u64 passed_over;
	__u64 refiled;
	__u64 buried;
	__u64 compactions;
	__u64 turns;
	__u64 wakeups;
	__u64 bytes;
	__u64 bytes_peak;
	__u64 lateness_max;
	__u64 lateness[HWTIMER_LATENESS_BUCKETS];
	__u64 rearmed;
	__u64 missed;
	__u64 cascaded;
	__u64 clock_sets;
	__u64 submitted;
	__u64 completed;
	__u64 overflowed;
};

/**
 * struct hwtimer_notify - HWTIMER_IOC_NOTIFY: when and how readers are told
 * @size: in: sizeof(struct hwtimer_notify)
 * @flags: must be 0
 * @events: poll() is ready, and a blocking read() returns, when so many events
 *	wait, or the limit of timers is reached by events alone; 0 and 1: at the
 *	first
 * @eventfd: of an eventfd, to which 1 is added whenever poll() would wake up:
 *	when events came, or moved into the completion ring, and poll() is
 *	ready, at a report of
 *	HWTIMER_REPORT_CLOCK_SET, at POLLHUP, and by this call if poll() is
 *	ready already; -1: none
 * @delay: ns after the first event, poll() is ready however few there are; of
 *	CLOCK_MONOTONIC, whatever the instance's clock. HWTIMER_NEVER: no delay
 *	is too long. At most 9,223,372,036,854,775,807 otherwise; 0 if @events
 *	is 0 or 1, and not 0 if it is more
 *
 * May be called at any time, and replaces all that was said before. read() with
 * O_NONBLOCK takes what there is. A stopped instance is ready at once.
 *
 * Errors: EINVAL (also: @eventfd is less than -1, or not of an eventfd), EBADF
 * (@eventfd is not open), E2BIG. After an error all is as it was.
 */
struct hwtimer_notify {
	__u32 size;
	__u32 flags;
	__u32 events;
	__s32 eventfd;
	__u64 delay;
};

/**
 * struct hwtimer_event - one expiration, as read() delivers it
 * @id: the timer's id; valid no longer, unless the timer is periodic and this
 *	was not its last event
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock; the first one that this
 *	event tells of
 * @lateness: ns from @deadline until the event was queued; 4,294,967,295
 *	stands for that and anything longer
 * @expirations: 1; of a periodic timer, how many of its deadlines had passed
 *	when read() took the event, 4,294,967,295 at most: what is beyond comes
 *	with the next event
 *
 * read() fills as many whole events as fit, by the tick at which they expired,
 * and within a tick in the order in which they were scheduled (a rescheduled or
 * repeated timer has no set place in its tick, nor has one whose deadline had
 * passed when it was scheduled), and returns the bytes. It blocks until there
 * is one, unless O_NONBLOCK is set. 0 means stopped and drained. Only events
 * that arrived in the buffer are consumed. Readers, and STOP, take turns: one
 * whose buffer has to be paged in keeps the others waiting. A reader with
 * O_NONBLOCK does not wait for its turn: it gets EAGAIN, although poll() says
 * POLLIN; if events are left when the other one has finished, poll(), epoll and
 * the eventfd tell of them once more, as HWTIMER_IOC_NOTIFY says.
 *
 * Errors: EINVAL (less room than one event), EAGAIN, EINTR, EFAULT, ECANCELED
 * (HWTIMER_REPORT_CLOCK_SET; nothing is lost, read again).
 *
 * poll() says POLLIN while events wait, or as HWTIMER_IOC_NOTIFY says, and
 * POLLHUP, without POLLIN unless ECANCELED waits, once the instance is stopped
 * and drained.
 */
struct hwtimer_event {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u32 lateness;
	__u32 expirations;
};

/**
 * HWTIMER_RING_NEED_KICK - the worker does not look at the rings by itself
 *
 * In hwtimer_rings.flags. See there.
 */
#define HWTIMER_RING_NEED_KICK (1U << 0)

/**
 * struct hwtimer_rings - the beginning of what mmap() gives
 * @submissions: slots of the submission ring; constant
 * @completions: slots of the completion ring; constant
 * @results: where the array of @submissions results is, in bytes from here;
 *	constant, as are the next two
 * @requests: where the array of @submissions struct hwtimer_request is
 * @events: where the array of @completions struct hwtimer_event is
 * @submission_tail: written by the program: requests it has put in so far
 * @completion_head: written by the program: events it has taken out so far
 * @submission_head: written by the kernel: requests it has done so far
 * @completion_tail: written by the kernel: events it has put in so far
 * @waiting: written by the kernel: events that wait in the kernel for room in
 *	the completion ring, saturated
 * @flags: written by the kernel: HWTIMER_RING_*
 *
 * A pair of rings, through which a program schedules, cancels and gets events
 * without a system call. SETUP chooses their sizes; mmap() of the descriptor,
 * with MAP_SHARED, offset 0 and the length that INFO gives, makes them. Programs
 * use them through <hwtimer_ring.h>, which knows the barriers; what follows is
 * for those who cannot.
 *
 * The numbers count on for ever, modulo 2^32; the slot of number n is n modulo
 * the number of slots. Of each ring one thread at a time may be the program's
 * end.
 *
 * Submission: the program fills slots from its tail on, at most as many as there
 * are beyond the first whose result it still wants, and then stores the new
 * @submission_tail (release). The kernel reads each slot once, does what
 * HWTIMER_IOC_SUBMIT would do, stores the results, and then @submission_head
 * (release). The result has the number of its request: the id of a new timer, 0
 * for another success, or a negative errno, which no id looks like. What the
 * kernel has not done yet counts from when it does: a delay is longer by that.
 *
 * Completion: events go to the ring if there is room, and are delivered then,
 * as if read() had taken them. Otherwise they wait in the kernel, where read()
 * finds them, and follow as soon as there is room. The program takes events
 * from @completion_head to @completion_tail (acquire), and then stores the new
 * @completion_head (release).
 *
 * While the program is busy, the worker looks at the rings once in 1 ms, and
 * whenever timers are due. When it has found nothing for some ms it sets
 * HWTIMER_RING_NEED_KICK, and looks only when timers are due. So, after each
 * store of @submission_tail, the program puts a full fence (sequentially
 * consistent) and then looks at @flags: if the bit is set, it calls
 * HWTIMER_IOC_KICK. After each store of @completion_head, it does so if also
 * @waiting is not 0. Whoever cannot wait for 1 ms may kick at any time:
 * hwtimer_ring_consume() does, when the ring is empty and events wait.
 *
 * poll() says POLLIN while events are in the ring, too, and POLLHUP, maybe with
 * POLLIN, when no event will come into it any more. When events that waited in
 * the kernel move into the ring, readers are told as when events come: an edge
 * of epoll, or HWTIMER_IOC_NOTIFY's eventfd. read() gives the events
 * that wait in the kernel only, and blocks until there is one. All threads and
 * processes that share the mapping share the rings; a mapping keeps the
 * instance alive as a descriptor does. What madvise(MADV_DONTNEED) takes out of
 * a mapping is gone from there, and a SIGBUS for whoever touches it. Garbage in
 * the rings harms nobody else.
 *
 * Errors of mmap(): EINVAL (there are no rings, or not MAP_SHARED, or another
 * offset or length), ENOMEM, EAGAIN (a limit of the machine's).
 */
struct hwtimer_rings {
	__u32 submissions;
	__u32 completions;
	__u64 results;
	__u64 requests;
	__u64 events;
	__u32 reserved0[8];

	/* Each on a cache line of its own. */
	__u32 submission_tail;
	__u32 reserved1[15];
	__u32 completion_head;
	__u32 reserved2[15];
	__u32 submission_head;
	__u32 reserved3[15];
	__u32 completion_tail;
	__u32 waiting;
	__u32 reserved4[14];
	__u32 flags;
	__u32 reserved5[15];
};

#define HWTIMER_IOC_MAGIC 0xBB

/* The growable ones carry their size inside, not in the command's number. */
#define HWTIMER_IOC_INFO _IO(HWTIMER_IOC_MAGIC, 0)
#define HWTIMER_IOC_SETUP _IO(HWTIMER_IOC_MAGIC, 1)
#define HWTIMER_IOC_SCHEDULE _IOWR(HWTIMER_IOC_MAGIC, 2, struct hwtimer_request)
#define HWTIMER_IOC_CANCEL _IOW(HWTIMER_IOC_MAGIC, 3, struct hwtimer_request)
#define HWTIMER_IOC_RESCHEDULE \
	_IOW(HWTIMER_IOC_MAGIC, 4, struct hwtimer_request)
#define HWTIMER_IOC_SUBMIT _IOW(HWTIMER_IOC_MAGIC, 5, struct hwtimer_submit)
#define HWTIMER_IOC_QUERY _IOWR(HWTIMER_IOC_MAGIC, 6, struct hwtimer_query)
#define HWTIMER_IOC_STOP _IO(HWTIMER_IOC_MAGIC, 7)
#define HWTIMER_IOC_STATS _IO(HWTIMER_IOC_MAGIC, 8)
#define HWTIMER_IOC_NOTIFY _IO(HWTIMER_IOC_MAGIC, 9)
/**
 * HWTIMER_IOC_KICK - do what is in the rings at once
 *
 * Does what is in the submission ring, and hands on what waits for room in the
 * completion ring. Returns how many requests it did.
 *
 * Errors: ENXIO (no rings are mapped), EINVAL (hwtimer_rings.submission_tail is
 * ahead of submission_head by more than there are slots), EINTR.
 */
#define HWTIMER_IOC_KICK _IO(HWTIMER_IOC_MAGIC, 10)
#define HWTIMER_IOC_BULK _IO(HWTIMER_IOC_MAGIC, 11)

#endif /* _UAPI_LINUX_HWTIMER_H */
