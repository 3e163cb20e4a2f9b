/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The contract between /dev/hwtimer and user space.
 *
 * Each open("/dev/hwtimer") creates an instance: a timing wheel with its own
 * timers, events, limits and statistics. A kernel thread, the worker, turns the
 * wheel. The instance lives until the last descriptor of that open (dup, fork,
 * SCM_RIGHTS) is closed; everything it holds is freed with it. A timer's id is valid
 * only in its instance.
 *
 * INFO, QUERY, LIST, STATS and poll() work with each descriptor; read() needs one that is
 * open for reading, and all other ioctls one for writing. All descriptors of an instance
 * have the mode of its open(). Opening one through /proc/PID/fd makes another instance.
 *
 * An instance stays in the time namespace of the process that opened it: its
 * clock reads what clock_gettime() returns there. A descriptor that is passed to
 * another time namespace keeps that clock, so all its deadlines are times of the
 * opener's namespace. CLOCK_REALTIME is the same in all namespaces.
 *
 * Times are nanoseconds. Every structure has the same layout for 32- and
 * 64-bit programs; pointers travel as __u64. The kernel refuses unknown flags and
 * non-zero reserved fields with EINVAL, so that a later version can use them.
 *
 * Structures that may grow start with their own size. The kernel accepts a longer
 * structure (of a newer program), up to a page, if the part that it does not know is
 * zero, and otherwise refuses it with E2BIG. It refuses one that is shorter than in
 * version 1.0 with EINVAL.
 *
 * An ioctl returns 0 or a count, or -1 with errno. Errors of any ioctl: EFAULT (an
 * address cannot be read or written), ENOTTY (an unknown command), EBADF (the command
 * changes the instance, and the descriptor is not open for writing). A call that
 * needs memory fails with ENOMEM when a memory cgroup or the user is at its limit,
 * and before the machine runs out of memory for others. No process is killed to get
 * memory for timers.
 *
 * Errors of open(): EMFILE, ENFILE (no descriptor or file is left), ENOMEM.
 *
 * All instances that one user has opened together have a limit of memory, the module's
 * parameter max_memory_user. Beyond it, what needs memory fails with ENOMEM. Whoever uses
 * the descriptor later, the opener stays charged. A process that opens an instance with
 * CAP_SYS_RESOURCE in the initial user namespace has no such limit.
 *
 * The first timer starts the instance. Kernel threads, the workers, turn the wheels of all
 * programs. The call that starts an instance can also fail with EAGAIN (the machine has too
 * many threads) or EINTR (the caller is being killed), because it may create a worker.
 */
#ifndef _UAPI_LINUX_HWTIMER_H
#define _UAPI_LINUX_HWTIMER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/** HWTIMER_ABI_VERSION - increases with a change after which older programs would fail */
#define HWTIMER_ABI_VERSION 1

/**
 * HWTIMER_NEVER - the absolute time that never comes
 *
 * A timer with this deadline is parked: it counts as pending until RESCHEDULE,
 * CANCEL or STOP. HWTIMER_NEVER is valid as a deadline, never as a delay.
 */
#define HWTIMER_NEVER (~0ULL)

/**
 * enum hwtimer_kind - kinds of wheel, for hwtimer_setup.kind
 * @HWTIMER_KIND_DEFAULT: the kind that the module's parameter default_kind names
 * @HWTIMER_KIND_HASHED: the hashed wheel: a timer's bucket is its tick modulo the
 *	number of buckets. For delays of at most a few rounds (a round is tick x
 *	buckets)
 * @HWTIMER_KIND_HIERARCHICAL: levels of buckets, each level coarser than the one
 *	below; a timer moves down at most once per level. For all delays
 */
enum hwtimer_kind {
	HWTIMER_KIND_DEFAULT = 0,
	HWTIMER_KIND_HASHED = 1,
	HWTIMER_KIND_HIERARCHICAL = 2,
};

/**
 * enum hwtimer_clock - clocks, for hwtimer_setup.clock
 * @HWTIMER_CLOCK_DEFAULT: CLOCK_MONOTONIC
 * @HWTIMER_CLOCK_MONOTONIC: CLOCK_MONOTONIC
 * @HWTIMER_CLOCK_BOOTTIME: CLOCK_BOOTTIME: continues while the machine is suspended
 * @HWTIMER_CLOCK_REALTIME: CLOCK_REALTIME: may be set; deadlines follow it, and delays
 *	are refused: if the clock is set, nothing says whether the delay or the time at
 *	which it would have ended is meant. CLOCK_MONOTONIC has the one; for the other,
 *	the program adds the delay to clock_gettime() itself
 *
 * CLOCK_MONOTONIC and CLOCK_BOOTTIME have the same numbers in <time.h>. CLOCK_REALTIME
 * does not: there it is 0, which here means the default, as in all settings.
 * HWTIMER_CLOCK(id) is the clock with the number id in <time.h>, and
 * HWTIMER_CLOCKID(clock) is the number that clock_gettime() takes for a clock. Both
 * evaluate their argument more than once.
 */
enum hwtimer_clock {
	HWTIMER_CLOCK_DEFAULT = 0,
	HWTIMER_CLOCK_MONOTONIC = 1,
	HWTIMER_CLOCK_BOOTTIME = 7,
	HWTIMER_CLOCK_REALTIME = 256,
};

#define HWTIMER_CLOCK(id) ((id) ? (__u32)(id) : (__u32)HWTIMER_CLOCK_REALTIME)
#define HWTIMER_CLOCKID(clock)                          \
	((__u32)(clock) == HWTIMER_CLOCK_REALTIME ? 0 : \
	 (__u32)(clock) == HWTIMER_CLOCK_DEFAULT  ? 1 : \
						    (int)(clock))

/**
 * struct hwtimer_info - HWTIMER_IOC_INFO: describe the module and this instance
 * @size: in: sizeof(struct hwtimer_info)
 * @abi_version: HWTIMER_ABI_VERSION of the module
 * @tick_min: shortest tick that SETUP accepts, ns
 * @tick_max: longest tick that SETUP accepts, ns
 * @buckets_min: smallest number of buckets that SETUP accepts
 * @buckets_max: largest number of buckets that SETUP accepts
 * @timers_max: highest limit of timers that SETUP accepts
 * @tick: this instance's tick, ns
 * @timers: this instance's limit of timers (see struct hwtimer_setup)
 * @buckets: this instance's number of buckets
 * @kind: this instance's enum hwtimer_kind, never HWTIMER_KIND_DEFAULT
 * @clock: this instance's enum hwtimer_clock, never HWTIMER_CLOCK_DEFAULT
 * @started: 1 once the wheel has started, when it is too late for SETUP (see
 *	struct hwtimer_setup)
 * @flags: this instance's hwtimer_setup.flags
 * @reserved: 0
 *
 * Errors: EINVAL (@size), E2BIG.
 */
struct hwtimer_info {
	__u32 size;
	__u32 abi_version;
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
	__u32 reserved;
};

/**
 * HWTIMER_REPORT_CLOCK_SET - tell readers that CLOCK_REALTIME was set
 *
 * For hwtimer_setup.flags, with HWTIMER_CLOCK_REALTIME only. While a timer is pending, or
 * the event of a periodic timer waits, the instance notices within a second that
 * the clock was set. It then becomes readable, and the next read() fails once with
 * ECANCELED before it delivers the events that wait. The timers stay and follow the
 * new time. A suspend counts as setting the clock, as it does for timerfd's
 * TFD_TIMER_CANCEL_ON_SET. The cost is one wake-up per second, shared by all such
 * instances of a worker.
 */
#define HWTIMER_REPORT_CLOCK_SET (1U << 0)

/**
 * HWTIMER_AT_LEAST_ONCE - events stay until they are acknowledged
 *
 * For hwtimer_setup.flags. Each read() returns the events behind the last one that was
 * returned, and HWTIMER_IOC_ACK ends those that the program has acted on. A process that
 * takes the descriptor over from one that has died calls HWTIMER_IOC_REWIND, and gets the
 * events that were not acknowledged once more: so each is acted on at least once. Unread
 * and unacknowledged events together are at most HWTIMER_EVENTS_MAX; a program that does
 * not acknowledge holds up only itself.
 *
 * Until its event is acknowledged, a timer is expired: it counts against the limit of
 * timers, and a periodic timer becomes pending only then.
 */
#define HWTIMER_AT_LEAST_ONCE (1U << 1)

/**
 * HWTIMER_EVENTS_MAX - the number of events of an instance that wait, at most
 *
 * While so many wait, or up to 255 fewer, no other timer expires: those that are due stay
 * pending. Reading goes on with them.
 */
#define HWTIMER_EVENTS_MAX 4096

/**
 * struct hwtimer_setup - HWTIMER_IOC_SETUP: choose the settings of the instance
 * @size: in: sizeof(struct hwtimer_setup)
 * @flags: HWTIMER_REPORT_CLOCK_SET, HWTIMER_AT_LEAST_ONCE
 * @tick: ns, 10 us to 1 h; 0 means the default of 1 ms
 * @buckets: 8 to 1,048,576, rounded up to a power of two; 0 means the default
 *	of 4,096. In a hierarchical wheel, the buckets of the lowest level
 * @kind: enum hwtimer_kind
 * @clock: enum hwtimer_clock
 * @reserved: must be 0
 * @timers: limit of timers; 0 means the module's parameter default_timers. The
 *	limit counts pending timers, and events that wait to be read or acknowledged
 *
 * A structure that is all zeros but for @size chooses the defaults.
 *
 * SETUP is possible until the wheel starts. Until then SETUP may be repeated; each call
 * replaces all settings. The wheel starts at the first SCHEDULE or RESCHEDULE with valid
 * arguments (no EINVAL, ERANGE, EDOM) that finds memory for the wheel (no ENOMEM), even if
 * the call then fails. INFO returns the resulting settings, with rounded numbers and
 * defaults.
 *
 * Errors: EINVAL (a value out of range or unknown, or
 * HWTIMER_REPORT_CLOCK_SET without HWTIMER_CLOCK_REALTIME), E2BIG, ESHUTDOWN (stopped),
 * EBUSY (too late), EINTR (the caller is being killed). After an error the old settings
 * remain. SETUP does not allocate
 * the wheel. The first timer allocates a small one, and the 40th, at the latest, the one
 * that was chosen; each may fail with ENOMEM. After that, as many timers are still possible
 * as before. A second after the last timer and event are gone, the memory is freed except for
 * that of a small wheel. So later timers allocate memory again, and may fail with ENOMEM.
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
};

/**
 * enum hwtimer_op - the operation of a struct hwtimer_request
 * @HWTIMER_OP_NONE: no operation; for HWTIMER_IOC_SCHEDULE, HWTIMER_IOC_CANCEL and
 *	HWTIMER_IOC_RESCHEDULE, which name the operation themselves
 * @HWTIMER_OP_SCHEDULE: schedule a new timer
 * @HWTIMER_OP_CANCEL: end a timer
 * @HWTIMER_OP_RESCHEDULE: give a pending timer another deadline; with HWTIMER_REARM, any
 *	timer
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
 * For SCHEDULE and RESCHEDULE. Must be set with CLOCK_REALTIME.
 */
#define HWTIMER_ABSOLUTE (1U << 0)

/**
 * HWTIMER_DISCARD - a CANCEL that comes too late discards the unread event
 */
#define HWTIMER_DISCARD (1U << 1)

/**
 * HWTIMER_FIXED_DELAY - @interval counts from the read() that takes the event
 *
 * Wherever an interval is given, not with CLOCK_REALTIME. Without this flag the
 * rate is fixed: deadlines are @interval apart, no matter when events are read.
 */
#define HWTIMER_FIXED_DELAY (1U << 2)

/**
 * HWTIMER_REARM - RESCHEDULE the timer whatever its state
 *
 * Afterwards the timer is as SCHEDULE would have made it from the same request: pending,
 * with this @time, @interval, @slack, @user_data and @count.
 *
 * A pending timer keeps its id. In all other cases the call makes a new timer, and writes
 * its id to @id. If the event of the old timer waits to be read, the call drops it, as
 * HWTIMER_DISCARD does. The old timer may also be gone: delivered, cancelled, or, with 0 as
 * @id, never there. All that is one step: no event of the old timer can be read after the
 * call has returned, and the new one expires on its own account.
 *
 * Not for HWTIMER_IOC_BULK, whose entries have no room for both an id and a user_data.
 */
#define HWTIMER_REARM (1U << 3)

/**
 * HWTIMER_SET_USER_DATA - RESCHEDULE gives the timer this @user_data
 *
 * Without this flag and the next two, a timer keeps what it was scheduled with. HWTIMER_REARM
 * sets all, and cannot be combined with them.
 */
#define HWTIMER_SET_USER_DATA (1U << 4)

/**
 * HWTIMER_SET_INTERVAL - RESCHEDULE gives the timer this @interval and this @count
 *
 * HWTIMER_FIXED_DELAY is set or cleared, too. With 0 as @interval, the timer then expires
 * once.
 */
#define HWTIMER_SET_INTERVAL (1U << 5)

/** HWTIMER_SET_SLACK - RESCHEDULE gives the timer this @slack */
#define HWTIMER_SET_SLACK (1U << 6)

/**
 * struct hwtimer_request - one timer operation
 * @op: in a SUBMIT: enum hwtimer_op. In the ioctl of one operation: 0 or
 *	that operation
 * @flags: HWTIMER_ABSOLUTE, HWTIMER_DISCARD, HWTIMER_FIXED_DELAY, HWTIMER_REARM,
 *	HWTIMER_SET_USER_DATA, HWTIMER_SET_INTERVAL, HWTIMER_SET_SLACK
 * @id: SCHEDULE: out, the new timer's id, never 0 (in: must be 0);
 *	CANCEL, RESCHEDULE: in, the timer's id; RESCHEDULE with HWTIMER_REARM: also out,
 *	the id that the timer has now
 * @time: SCHEDULE, RESCHEDULE: ns, as a signed number. Without HWTIMER_ABSOLUTE it
 *	is a delay from now. A negative delay means now, except HWTIMER_NEVER, the
 *	number -1, which is refused. So a program whose computed delay may be
 *	negative should use 0 instead, or a deadline. If the delay ends beyond the
 *	clock's range, the deadline is HWTIMER_NEVER. With HWTIMER_ABSOLUTE @time
 *	is a deadline: a negative one becomes 0, except HWTIMER_NEVER, which never
 *	expires. A timer that is already due, by delay or deadline, expires when
 *	the next tick begins. CANCEL: must be 0
 * @interval: SCHEDULE: ns from one deadline of a periodic timer to the next, from
 *	one tick to 9,223,372,036,854,775,807; 0: the timer expires once. CANCEL:
 *	must be 0, as in a RESCHEDULE whose flags do not set it
 * @slack: SCHEDULE: ns by which the timer may be late in addition to the tick, so
 *	that it can share a wake-up with other timers. At most @time, whether
 *	that is a delay or a deadline; a negative @time counts as 0. @time and
 *	@slack together must not exceed 9,223,372,036,854,775,807, but if @time is
 *	HWTIMER_NEVER, @slack alone may reach that number. For a periodic timer,
 *	@slack must not exceed @interval. Otherwise as @interval
 * @user_data: SCHEDULE: returned in the event. Otherwise as @interval
 * @count: SCHEDULE: number of expirations after which a periodic timer ends; 0: it
 *	does not end. Must be 0 without an interval. Otherwise as @interval
 * @result: SUBMIT: out, 0 or a negative errno; in: ignored
 * @reserved: must be 0
 *
 * Errors of SCHEDULE: EINVAL (also: HWTIMER_NEVER without HWTIMER_ABSOLUTE), ERANGE
 * (@interval shorter than a tick, or too long), EDOM (@slack longer than allowed),
 * ENOSPC (the instance's limit of timers is reached; cancelling timers and reading
 * events makes room), ENOMEM, ESHUTDOWN (stopped), EAGAIN and EINTR (see above). A
 * timer is never early. It is late by at most its slack and one tick, plus the time
 * that the machine needs.
 * The same holds for a deadline that has passed: nothing expires between two
 * ticks, so with a tick of 2 s an overdue timer may take 2 s to expire.
 *
 * A periodic timer has one event at a time. At its deadline the event is queued,
 * and the timer rests until read() takes the event. The event then reports all
 * expirations due by that moment, and the timer becomes pending again for the
 * first deadline after that moment. So a slow reader costs nothing and loses
 * nothing, and the phase never drifts. With HWTIMER_FIXED_DELAY each event is one
 * expiration, and the next deadline is @interval after the read() that took it.
 *
 * Errors of CANCEL: EINVAL, ENOENT (the timer never existed, was cancelled or was
 * handed back, its last event was delivered, or the event of a timer without an
 * interval is being read), EALREADY (the timer's event waits to be read, or the event of a periodic
 * timer is being read; with HWTIMER_DISCARD an event that waits is dropped and the
 * call succeeds). After success no event comes. CANCEL works in a stopped instance,
 * too. EALREADY also ends a periodic timer: the event that waits, or is being read,
 * is the last one, and reports no expiration after the CANCEL.
 *
 * Errors of RESCHEDULE: EINVAL (as SCHEDULE), ENOENT, EALREADY, ENOMEM, ESHUTDOWN.
 * The id stays, and so do user_data, slack, interval and count unless flags set them;
 * later deadlines of a periodic timer count from the new one. EALREADY means the same as
 * for CANCEL, but the timer does not change. With HWTIMER_SET_INTERVAL or
 * HWTIMER_SET_SLACK also ERANGE, and EDOM: the slack, new or old, is longer than SCHEDULE
 * allows, or than the timer's interval.
 *
 * With HWTIMER_REARM the errors are those of SCHEDULE. ENOSPC cannot come for a timer that
 * is pending, or whose event is the next to be read. A dropped event counts against the
 * limit as long as other events are ahead of it, so for other timers it can.
 *
 * After an error nothing has changed: the old deadline stays, and so does a waiting event.
 * EFAULT is an exception only if the memory of the request goes away during the call: then
 * the timer has been made, and nobody knows its id.
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
 * struct hwtimer_submit - HWTIMER_IOC_SUBMIT: run many operations in one call
 * @requests: address of an array of struct hwtimer_request
 * @count: length of the array, up to 2,147,483,647; 0 does nothing and returns 0
 * @flags: must be 0
 *
 * Returns the number of entries that were done. The kernel does the entries in
 * order and writes a @result to each. A refused entry counts as done and does not
 * stop the entries after it. The call ends early at a signal or at an address that
 * faults: an entry to which the kernel cannot write is not done. The kernel looks at each
 * page before it does the entries, so one whose memory goes away meanwhile is done, and not
 * counted. It may write to the array at any time during the call.
 *
 * Errors, if no entry was done: EINVAL, EFAULT, ENOMEM.
 */
struct hwtimer_submit {
	__u64 requests;
	__u32 count;
	__u32 flags;
};

/**
 * struct hwtimer_bulk_timer - one timer of a struct hwtimer_bulk
 * @user_data: SCHEDULE: returned in the event
 * @id: RESCHEDULE: the timer's id
 * @time: as hwtimer_request.time
 */
struct hwtimer_bulk_timer {
	__extension__ union {
		__u64 user_data;
		__u64 id;
	};
	__u64 time;
};

/**
 * struct hwtimer_bulk - HWTIMER_IOC_BULK: run one operation on many timers
 * @size: in: sizeof(struct hwtimer_bulk)
 * @op: HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL or HWTIMER_OP_RESCHEDULE
 * @flags: for all timers, as @op allows: HWTIMER_ABSOLUTE, HWTIMER_DISCARD
 * @count: number of timers, up to 2,147,483,647; 0 does nothing
 * @timers: address of an array of @count struct hwtimer_bulk_timer; for CANCEL,
 *	of @count ids (__u64)
 * @results: address of an array of @count results (__u64); 0: not wanted, which
 *	SCHEDULE does not allow. May equal @timers, the front of which is then
 *	overwritten; must not overlap @timers in another way
 * @slack: as hwtimer_request.slack, for all timers of a SCHEDULE; otherwise 0
 *
 * Does the same as HWTIMER_IOC_SUBMIT for operations that differ only in time,
 * user_data and id, faster, and moves at most half of the memory. Timers with other
 * options, such as an interval, are SUBMIT's.
 *
 * A result is the id of a new timer, 0 for another success, or
 * a negative errno. An errno is a result with -4095 <= (__s64)result < 0; no id has
 * such a value. A timer whose time is refused has the result -EINVAL, or -EDOM if @slack
 * is longer than that time allows, and the
 * others stand. The return value, signals and faults are as for struct
 * hwtimer_submit: after n timers, continue with timer n.
 *
 * Errors, if nothing was done: EINVAL (@size, @op or @flags are wrong, even if
 * @count is 0; @count is too large; the times are delays and the clock is
 * CLOCK_REALTIME; @slack is set, and @op is no SCHEDULE), EDOM (@slack is longer than any
 * time allows), E2BIG, EFAULT, ENOMEM.
 */
struct hwtimer_bulk {
	__u32 size;
	__u32 op;
	__u32 flags;
	__u32 count;
	__u64 timers;
	__u64 results;
	__u64 slack;
};

/**
 * enum hwtimer_state - the state of a timer, for hwtimer_query and hwtimer_listed
 * @HWTIMER_STATE_PENDING: the timer waits for its deadline
 * @HWTIMER_STATE_EXPIRED: the timer's event waits to be read
 */
enum hwtimer_state {
	HWTIMER_STATE_PENDING = 1,
	HWTIMER_STATE_EXPIRED = 2,
};

/**
 * struct hwtimer_query - HWTIMER_IOC_QUERY: describe one timer
 * @id: in: the timer's id
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock; of an expired timer, the
 *	first deadline that its event reports
 * @remaining: ns until @deadline; 0 if it has passed
 * @interval: as scheduled
 * @slack: slack that the wheel uses, ns: not more than scheduled
 * @state: enum hwtimer_state
 * @count: expirations left, including those of an event that waits; 0: no limit
 * @flags: HWTIMER_FIXED_DELAY, as scheduled
 * @reserved: in: must be 0
 *
 * With 0 as @id, the call tells how long a program may sleep: no timer expires before
 * @deadline. @state is HWTIMER_STATE_EXPIRED, and @remaining 0, if an event waits;
 * otherwise HWTIMER_STATE_PENDING. All other fields are 0. The next
 * event may come later than that: @deadline is when the worker looks at the wheel next,
 * and it may only find timers that were cancelled or postponed, or are still on a higher
 * level. HWTIMER_NEVER: all timers are parked.
 *
 * Errors: EINVAL, ENOENT (as CANCEL; with 0 as @id: no timer is pending, and no event
 * waits).
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
 * @id: the timer's id, which is no longer valid
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock
 * @remaining: ns left until @deadline at the time of this call; 0 if it has passed
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
 * struct hwtimer_stop - HWTIMER_IOC_STOP: stop the wheel and hand back timers
 * @size: in: sizeof(struct hwtimer_stop)
 * @flags: must be 0
 * @timers: address of an array of struct hwtimer_unprocessed
 * @count: length of the array, up to 2,147,483,647; 0 only stops
 * @reserved: must be 0
 * @left: out: number of timers still to be handed back after this call, at most
 *
 * After the first call nothing expires and nothing can be scheduled. Events that
 * were queued before can still be read. Returns the number of timers that this call
 * wrote to @timers. Each timer is handed back once. Call again while @left is not 0.
 *
 * A periodic timer whose event waits is handed back, too, as it will be after that event,
 * which is then its last, and reports no expiration after the first STOP. @left counts such
 * a timer even if that event is its last anyway. So call until @left is 0.
 *
 * Errors: EINVAL, E2BIG, EFAULT and EINTR (only if nothing was handed back; call again).
 */
struct hwtimer_stop {
	__u32 size;
	__u32 flags;
	__u64 timers;
	__u32 count;
	__u32 reserved;
	__u64 left;
};

/**
 * struct hwtimer_listed - a timer that LIST describes
 * @id: the timer's id, which stays valid
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock; of an expired timer, the
 *	first deadline that its event reports
 * @remaining: ns until @deadline; 0 if it has passed
 * @interval: as scheduled
 * @slack: as in struct hwtimer_query
 * @count: expirations left, including those of an event that waits; 0: no limit
 * @flags: HWTIMER_FIXED_DELAY, as scheduled
 * @state: enum hwtimer_state
 * @expirations: of an expired timer, what its event would report if it was read now;
 *	0 if the timer is pending. If it equals @count, the event is the timer's last
 */
struct hwtimer_listed {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u64 remaining;
	__u64 interval;
	__u64 slack;
	__u32 count;
	__u32 flags;
	__u32 state;
	__u32 expirations;
};

/**
 * struct hwtimer_list - HWTIMER_IOC_LIST: list timers, and take none
 * @size: in: sizeof(struct hwtimer_list)
 * @flags: must be 0
 * @timers: address of an array of struct hwtimer_listed
 * @count: length of the array, 1 to 2,147,483,647
 * @reserved: must be 0
 * @cursor: in: 0 to begin, or the value that the previous call left here; out: where
 *	the next call goes on. Its value has no other meaning
 *
 * Returns the number of timers written to @timers; 0: the end. A page may be shorter
 * than @count before the end, so call until the result is 0. Lists the timers that are
 * pending, and those whose events wait to be read, in no particular order. Works in a running
 * and in a stopped instance, and also before the first timer: then there is none.
 *
 * Each timer is described as it is at one moment; different timers may be described
 * at different moments. A timer that exists from the first call to the last one is
 * listed exactly once, even if meanwhile it is rescheduled, expires, or has its event
 * read and becomes pending again. A timer that begins or ends meanwhile is
 * listed once or not at all.
 *
 * Other calls go on meanwhile. Whoever holds a
 * descriptor of the instance may list all its timers.
 *
 * Errors: EINVAL (also: @count is 0), E2BIG, EFAULT (not one timer could be
 * written, or @cursor could not), EINTR (no timer was written). After an error, too,
 * @cursor says where to go on: it may have moved over unused records.
 */
struct hwtimer_list {
	__u32 size;
	__u32 flags;
	__u64 timers;
	__u32 count;
	__u32 reserved;
	__u64 cursor;
};

/**
 * struct hwtimer_cancel_all - HWTIMER_IOC_CANCEL_ALL: end all timers, and go on
 * @size: in: sizeof(struct hwtimer_cancel_all)
 * @flags: HWTIMER_DISCARD: also drop the events that wait to be read
 * @cursor: in: 0 to begin, or the value that the previous call left here; out: where the
 *	next call goes on
 * @cancelled: in: 0, or as the previous call left it; out: plus the number of pending
 *	timers that this call has ended
 * @discarded: in: 0, or as the previous call left it; out: plus the number of events that
 *	this call has dropped
 *
 * Does the same as HWTIMER_IOC_CANCEL with @flags for each timer of the instance, 256 at a
 * time, and returns 0 when it has been at all of them. A timer that another thread
 * schedules meanwhile, or makes anew with HWTIMER_REARM, may be ended or not. Without
 * HWTIMER_DISCARD, events that wait can still be read, and are the last ones of periodic
 * timers. The instance stays as it is otherwise, and may be used on.
 *
 * There is no such operation for SUBMIT: one request would take as long as there are timers.
 *
 * Errors: EINVAL, E2BIG, EFAULT (the structure could not be written; what was done
 * stands), EINTR (not done yet: call again with the same structure).
 */
struct hwtimer_cancel_all {
	__u32 size;
	__u32 flags;
	__u64 cursor;
	__u64 cancelled;
	__u64 discarded;
};

/**
 * HWTIMER_LATENESS_BUCKETS - length of hwtimer_stats.lateness
 *
 * HWTIMER_LATENESS_BOUND(i) is the shortest lateness in bucket i, ns: each power of two
 * from 1,024 ns to 8.6 s has four buckets, and before that each 256 ns have one. The last
 * bucket begins at 7.5 s.
 */
#define HWTIMER_LATENESS_BUCKETS 96
#define HWTIMER_LATENESS_BOUND(i) \
	((i) < 4 ? 256ULL * (i) : (4ULL + (i) % 4) << ((i) / 4 + 7))

/**
 * struct hwtimer_stats - HWTIMER_IOC_STATS: counters since open()
 * @size: in: sizeof(struct hwtimer_stats)
 * @reserved: must be 0
 * @pending: timers that wait for their deadline
 * @ready: events that wait to be read or acknowledged
 * @scheduled: timers ever scheduled. At all times: @scheduled + @rearmed =
 *	@pending + @cancelled + @expired + @unprocessed
 * @cancelled: timers that CANCEL ended before they expired
 * @rescheduled: successful RESCHEDULEs. With HWTIMER_REARM, @scheduled also counts those
 *	that made a new timer
 * @expired: events that were queued. At all times: @expired = @ready +
 *	@delivered + @discarded
 * @delivered: events that were read or, with HWTIMER_AT_LEAST_ONCE, acknowledged
 * @discarded: events that were never delivered: dropped by HWTIMER_DISCARD
 * @unprocessed: pending timers handed back by STOP
 * @entries: entries in the wheel's buckets, live and dead
 * @dead: entries of cancelled or rescheduled timers that are not removed yet
 * @walked: entries visited while buckets were walked
 * @passed_over: of @walked, entries of later rounds, left in place
 * @refiled: of @walked, entries moved on because their timers were rescheduled to
 *	a later deadline
 * @buried: of @walked, dead entries that were removed
 * @compactions: number of times that a removal of dead entries was started
 * @turns: number of times that the worker or a read() found something due in this
 *	instance
 * @wakeups: number of times that the worker woke up and served this instance before
 *	it slept again; wake-ups that served only other instances do not count
 * @bytes: kernel memory that this instance holds now
 * @bytes_peak: largest value that @bytes has had
 * @lateness_max: longest lateness (time queued minus deadline), ns; includes the
 *	lateness that slack allows
 * @lateness_sum: lateness of all events together, ns, where the lateness of each
 *	saturates as in struct hwtimer_event
 * @lateness: number of events by lateness: bucket i has those that were late by
 *	HWTIMER_LATENESS_BOUND(i) or more, but by less than the bound of the next
 *	bucket, if there is one
 * @rearmed: number of times that a periodic timer became pending again
 * @missed: expirations of periodic timers that events reported in addition to their
 *	first one
 * @cascaded: of @walked, entries that moved down a level of a hierarchical wheel
 * @clock_sets: number of times that the instance noticed that CLOCK_REALTIME was
 *	set, for HWTIMER_REPORT_CLOCK_SET
 *
 * /proc/PID/fdinfo/FD shows the same counters. Errors: EINVAL, E2BIG.
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
	__u64 lateness_sum;
	__u64 lateness[HWTIMER_LATENESS_BUCKETS];
	__u64 rearmed;
	__u64 missed;
	__u64 cascaded;
	__u64 clock_sets;
};

/**
 * struct hwtimer_notify - HWTIMER_IOC_NOTIFY: choose when to tell readers
 * @size: in: sizeof(struct hwtimer_notify)
 * @flags: must be 0
 * @events: number of waiting events at which poll() is ready and a blocking read()
 *	returns, at most HWTIMER_EVENTS_MAX; both also happen when no more timers can
 *	expire or be scheduled (see HWTIMER_EVENTS_MAX and hwtimer_setup.timers); 0 and 1:
 *	at the first event
 * @reserved: must be 0
 * @delay: ns after the first event at which poll() is ready, however few events
 *	wait; measured by CLOCK_MONOTONIC, whatever the instance's clock.
 *	HWTIMER_NEVER: poll() waits for @events, however long. Otherwise at most
 *	9,223,372,036,854,775,807. Must be 0 if @events is 0 or 1, and must not
 *	be 0 if @events is more
 *
 * May be called at any time, and replaces the previous choice. A read() with
 * O_NONBLOCK takes all events that wait, however few. A stopped instance is ready
 * at once.
 *
 * Errors: EINVAL, E2BIG. After an error the previous choice remains.
 */
struct hwtimer_notify {
	__u32 size;
	__u32 flags;
	__u32 events;
	__u32 reserved;
	__u64 delay;
};

/**
 * struct hwtimer_event - one expiration, as read() delivers it
 * @id: the timer's id; no longer valid, unless the timer is periodic and this
 *	was not its last event
 * @user_data: as scheduled
 * @deadline: absolute, ns on the instance's clock; the first deadline that this
 *	event reports
 * @lateness: ns from @deadline until the event was queued; 4,294,967,295
 *	stands for that and anything longer
 * @expirations: 1; of a periodic timer, the number of its deadlines that had passed
 *	when read() took the event, 4,294,967,295 at most: the rest comes with the
 *	next event
 *
 * read() fills the buffer with as many whole events as fit, and returns the number of
 * bytes. Without O_NONBLOCK it blocks until events wait (see HWTIMER_IOC_NOTIFY).
 * It returns 0 once the instance is stopped and drained: all its events have been
 * read. Only events that arrived in the buffer are consumed.
 *
 * readv() fills its buffers as if they were one, so an event may lie across two of them.
 * preadv2() with RWF_NOWAIT, AIO with that flag, and the first attempt of io_uring do not
 * block, whatever the descriptor's mode. They say EAGAIN where read() would block.
 *
 * Events come in the order of the ticks at which they expired, and within a tick in
 * the order in which their timers were scheduled. Three kinds of timers have no set
 * place in their tick: rescheduled timers, periodic timers after their first event,
 * and timers whose deadline had passed when they were scheduled.
 *
 * An event is delivered or still waits, whatever happens to the buffer and the reader: a
 * reader whose buffer has to be paged in, or that is killed, takes no event with it.
 *
 * Errors: EINVAL (less room than one event), EAGAIN, EINTR, EFAULT, ECANCELED
 * (HWTIMER_REPORT_CLOCK_SET; nothing is lost, read again).
 *
 * poll() says POLLIN while events wait; HWTIMER_IOC_NOTIFY can make it wait for more
 * events. Once the instance is stopped and drained, poll() says POLLHUP, and POLLIN
 * only if the next read() fails with ECANCELED.
 */
struct hwtimer_event {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u32 lateness;
	__u32 expirations;
};

/**
 * struct hwtimer_ack - HWTIMER_IOC_ACK: end the oldest events that were read
 * @size: in: sizeof(struct hwtimer_ack)
 * @flags: must be 0
 * @count: number of events, in the order in which read() has returned them
 * @reserved: must be 0
 *
 * For an instance with HWTIMER_AT_LEAST_ONCE. Returns the number of events that were ended:
 * @count, unless another thread has acknowledged some meanwhile. An event counts also if
 * HWTIMER_DISCARD has dropped it after it was read. With HWTIMER_FIXED_DELAY, the interval
 * counts from this call.
 *
 * Errors: EINVAL (also: no HWTIMER_AT_LEAST_ONCE, or fewer than @count events were read),
 * E2BIG.
 */
struct hwtimer_ack {
	__u32 size;
	__u32 flags;
	__u32 count;
	__u32 reserved;
};

/**
 * struct hwtimer_uring - a command by io_uring: the 16 bytes @cmd of its entry
 * @argument: address of what the ioctl of the command takes
 * @reserved: must be 0
 *
 * Each ioctl may also come as an entry of io_uring: with IORING_OP_URING_CMD as opcode, the
 * descriptor as fd, the number of the ioctl as cmd_op, and this structure at cmd. All other
 * fields must be 0, but for the flags and user_data of the entry (6.1 does not look at addr,
 * len, buf_index and file_index). What the ioctl returns becomes the result of the
 * completion, with its errno as a negative number. What @argument points to belongs to the
 * kernel until then.
 *
 * io_uring gives no order to entries: where a command needs another one to be done before, such
 * as SETUP, link them. An error of a command cancels what is linked to it; a result above 0
 * does not.
 *
 * Errors besides those of the ioctl: EINVAL (a field that must be 0 is not), EOPNOTSUPP (a ring
 * with IORING_SETUP_IOPOLL, on kernels whose polled rings take nothing else). EINTR stands
 * for any interruption.
 */
struct hwtimer_uring {
	__u64 argument;
	__u64 reserved;
};

#define HWTIMER_IOC_MAGIC 0xBB

/*
 * Structures that may grow carry their size inside, and not in the command's number, as those
 * of iommufd and VFIO do. Otherwise each size would be another number, and the kernel would
 * have to know all of them. Structures that never grow are in the number.
 */
#define HWTIMER_IOC_INFO _IO(HWTIMER_IOC_MAGIC, 0)
#define HWTIMER_IOC_SETUP _IO(HWTIMER_IOC_MAGIC, 1)
#define HWTIMER_IOC_SCHEDULE _IOWR(HWTIMER_IOC_MAGIC, 2, struct hwtimer_request)
#define HWTIMER_IOC_CANCEL _IOW(HWTIMER_IOC_MAGIC, 3, struct hwtimer_request)
#define HWTIMER_IOC_RESCHEDULE \
	_IOWR(HWTIMER_IOC_MAGIC, 4, struct hwtimer_request)
#define HWTIMER_IOC_SUBMIT _IOW(HWTIMER_IOC_MAGIC, 5, struct hwtimer_submit)
#define HWTIMER_IOC_QUERY _IOWR(HWTIMER_IOC_MAGIC, 6, struct hwtimer_query)
#define HWTIMER_IOC_STOP _IO(HWTIMER_IOC_MAGIC, 7)
#define HWTIMER_IOC_STATS _IO(HWTIMER_IOC_MAGIC, 8)
#define HWTIMER_IOC_NOTIFY _IO(HWTIMER_IOC_MAGIC, 9)
#define HWTIMER_IOC_BULK _IO(HWTIMER_IOC_MAGIC, 11)
#define HWTIMER_IOC_LIST _IO(HWTIMER_IOC_MAGIC, 12)
#define HWTIMER_IOC_CANCEL_ALL _IO(HWTIMER_IOC_MAGIC, 13)
#define HWTIMER_IOC_ACK _IO(HWTIMER_IOC_MAGIC, 14)

/**
 * HWTIMER_IOC_REWIND - make all events unread that were not acknowledged
 *
 * For an instance with HWTIMER_AT_LEAST_ONCE. The argument must be 0. The next read() begins
 * with the oldest event, and HWTIMER_IOC_ACK counts from there. So there should be no other
 * reader. If the event of a periodic timer is read once more, it reports the deadlines that
 * have passed by then.
 *
 * Errors: EINVAL (no HWTIMER_AT_LEAST_ONCE, or the argument is not 0).
 */
#define HWTIMER_IOC_REWIND _IO(HWTIMER_IOC_MAGIC, 15)

#endif /* _UAPI_LINUX_HWTIMER_H */
