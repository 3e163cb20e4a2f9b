/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The contract between /dev/hwtimer and user space.
 *
 * Each open("/dev/hwtimer", O_RDWR) creates an instance: a timing wheel with its own
 * timers, events, settings and statistics. Kernel threads, the workers, turn the wheels of
 * all programs. The instance lives until the last descriptor of that open (dup, fork,
 * SCM_RIGHTS) is closed; everything it holds is freed with it. A timer's id is valid only
 * in its instance. Opening a descriptor through /proc/PID/fd makes another instance.
 *
 * Errors of open(): EINVAL (not O_RDWR), EMFILE, ENFILE (no descriptor or file is left),
 * ENOMEM.
 *
 * Times are nanoseconds on the instance's clock, as clock_gettime() returned them in the time
 * namespace of the process that opened the instance. A descriptor that is passed to another
 * time namespace keeps that clock.
 *
 * Fields and flags. Every structure has the same layout for 32- and 64-bit programs; pointers
 * travel as __u64. 0 is the default of every setting and option. A call ignores fields and
 * flags that its operation does not use. It refuses with EINVAL what no operation uses: unknown
 * flags, and non-zero reserved fields, so that a later version can give them a meaning.
 *
 * Sizes. The number of an ioctl carries the size of its structure, and structures may grow
 * at their end. The kernel accepts a longer structure, of a newer program, if the part that
 * it does not know is zero, and otherwise refuses it with E2BIG. Where it writes the whole
 * structure, it writes zeros there. It refuses a structure that is shorter than in the first
 * version with EINVAL. struct hwtimer_request, and what arrays consist of, never grows: the
 * ioctls of one operation know one size.
 *
 * Results. An ioctl returns 0 or a positive number, or -1 with errno. Errors of any ioctl: EFAULT
 * (an address cannot be read or written), ENOTTY (an unknown command), EINVAL and E2BIG (size,
 * see above). ENOMEM means that the machine is short of memory, that a memory cgroup or the user is
 * at its limit, or that the machine has no room for another thread. No process is killed to get
 * memory for timers.
 *
 * All instances that one user has opened together have a limit of memory, the module's
 * parameter max_memory_user. The opener stays charged, whoever uses the descriptor. A process
 * that opens an instance with CAP_SYS_RESOURCE in the initial user namespace has no such limit.
 */
#ifndef _UAPI_LINUX_HWTIMER_H
#define _UAPI_LINUX_HWTIMER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/** HWTIMER_ABI_VERSION - increases with a change after which older programs would fail */
#define HWTIMER_ABI_VERSION 1

/**
 * HWTIMER_NEVER - the time that never comes
 *
 * A timer with this deadline, or this delay, is parked: it counts as pending until
 * RESCHEDULE, CANCEL or CANCEL_ALL.
 */
#define HWTIMER_NEVER 0x7fffffffffffffffLL

/**
 * HWTIMER_EVENTS_MAX - the number of events of an instance that wait, at most
 *
 * While so many wait, or up to 255 fewer, no other timer expires: those that are due stay
 * pending. They expire as the program reads.
 */
#define HWTIMER_EVENTS_MAX 4096

/* ---- the instance ---- */

/**
 * enum hwtimer_clock - clocks, for hwtimer_setup.clock
 * @HWTIMER_CLOCK_DEFAULT: HWTIMER_CLOCK_MONOTONIC
 * @HWTIMER_CLOCK_REALTIME: CLOCK_REALTIME
 * @HWTIMER_CLOCK_MONOTONIC: CLOCK_MONOTONIC
 * @HWTIMER_CLOCK_BOOTTIME: CLOCK_BOOTTIME: continues while the machine is suspended
 * @HWTIMER_CLOCK_TAI: CLOCK_TAI
 *
 * The numbers are those of <time.h> plus 256, so a number of <time.h> other than 0 is refused.
 * HWTIMER_CLOCK(id) converts one, and HWTIMER_CLOCKID(clock) a clock of INFO for
 * clock_gettime().
 *
 * CLOCK_REALTIME and CLOCK_TAI may be set. Deadlines follow them. Delays are refused, as they
 * would be ambiguous when the clock is set: for elapsed time use HWTIMER_CLOCK_MONOTONIC; for a
 * time of day, add the delay to clock_gettime(), and pass a deadline. When a leap second is
 * inserted, CLOCK_REALTIME repeats a second; timers of the second after it wait until both have
 * passed. For up to two jiffies after midnight UTC, an instance on CLOCK_REALTIME does not know
 * yet whether one is inserted, and expires no timer of the new day.
 */
enum hwtimer_clock {
	HWTIMER_CLOCK_DEFAULT = 0,
	HWTIMER_CLOCK_REALTIME = 256,
	HWTIMER_CLOCK_MONOTONIC = 257,
	HWTIMER_CLOCK_BOOTTIME = 263,
	HWTIMER_CLOCK_TAI = 267,
};

#define HWTIMER_CLOCK(id) (256U + (id))
#ifdef __cplusplus
#define HWTIMER_CLOCKID(clock) (int((clock) % 256U))
#else
#define HWTIMER_CLOCKID(clock) ((int)((clock) % 256U))
#endif

/**
 * HWTIMER_SETUP_REPORT_CLOCK_SET - tell readers that the clock was set
 *
 * With HWTIMER_CLOCK_REALTIME and HWTIMER_CLOCK_TAI only. While a timer is pending, or the event
 * of a periodic timer waits, the instance notices within a second that the clock was set. It
 * then becomes readable, and the next read() fails once with ECANCELED before it delivers the
 * events that wait. The timers stay and follow the new time. A suspend counts as setting the
 * clock, and so does a leap second for CLOCK_REALTIME, as for timerfd's TFD_TIMER_CANCEL_ON_SET.
 * The cost is one wake-up per second, shared by all such instances of a worker.
 */
#define HWTIMER_SETUP_REPORT_CLOCK_SET (1U << 0)

/**
 * HWTIMER_SETUP_AT_LEAST_ONCE - events stay until they are acknowledged
 *
 * Each read() returns the events behind the last one that was returned, and HWTIMER_IOC_ACK
 * ends those that the program has acted on. A process that takes the descriptor over from one
 * that has died rewinds, and gets the events that were not acknowledged once more: so each is
 * acted on at least once. Unread and unacknowledged events together are at most
 * HWTIMER_EVENTS_MAX; a program that does not acknowledge holds up only itself.
 *
 * Until its event is acknowledged, a timer is expired: it counts against the limit of
 * timers, and a periodic timer becomes pending only then. An event that is dropped after it was
 * read keeps its place in the queue until all older ones are acknowledged.
 */
#define HWTIMER_SETUP_AT_LEAST_ONCE (1U << 1)

/**
 * struct hwtimer_setup - HWTIMER_IOC_SETUP: choose the settings of the instance
 * @tick: ns, 10 us to 1 h; 0 means the default of 1 ms
 * @timers: limit of timers, up to 134,217,728; 0 means the default of 1,048,576. The limit
 *	counts pending timers, and events that wait to be read or acknowledged. The whole wheel
 *	takes 4 MiB more with the highest limit than with the default
 * @buckets: buckets of the wheel's lowest level, each a tick wide: 8 to 1,048,576, rounded up to a
 *	power of two; 0 means the default of 4,096. Longer delays are for coarser levels, from which
 *	a timer moves down at most once per level
 * @clock: enum hwtimer_clock
 * @flags: HWTIMER_SETUP_REPORT_CLOCK_SET, HWTIMER_SETUP_AT_LEAST_ONCE
 * @reserved: must be 0
 *
 * SETUP is possible until the wheel starts, and may be repeated; each call replaces all
 * settings. The first timer starts the wheel; a SCHEDULE that fails may have started it, too.
 * INFO returns the resulting settings, with rounded numbers and defaults.
 *
 * SETUP does not allocate the wheel. The first timer allocates a small one, and the 40th, at
 * the latest, the whole one; each may fail with ENOMEM. A second or more after the last timer
 * and event are gone, the memory is freed except for that of a small wheel. So later timers
 * allocate memory again, and may fail with ENOMEM.
 *
 * Errors: EINVAL (a value out of range or unknown, or HWTIMER_SETUP_REPORT_CLOCK_SET with a
 * clock that cannot be set), EBUSY (too late, or stopped). After an error the old settings
 * remain.
 */
struct hwtimer_setup {
	__u64 tick;
	__u64 timers;
	__u32 buckets;
	__u32 clock;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct hwtimer_info - HWTIMER_IOC_INFO: describe the module and this instance
 * @abi_version: HWTIMER_ABI_VERSION of the module
 * @started: 1 once the wheel has started, when it is too late for SETUP
 * @tick: this instance's tick, ns
 * @timers: this instance's limit of timers
 * @buckets: this instance's number of buckets
 * @clock: this instance's enum hwtimer_clock, never HWTIMER_CLOCK_DEFAULT
 * @flags: this instance's hwtimer_setup.flags
 * @reserved: 0
 * @until_next: ns that a program may sleep, because no timer expires before. 0: an event waits,
 *	or a timer is due. HWTIMER_NEVER: no timer will expire by itself. The next event
 *	may come later: the wheel is looked at then, and that may find only timers that were
 *	cancelled or postponed, or are still on a higher level
 * @tick_min: shortest tick that SETUP accepts, ns
 * @tick_max: longest tick that SETUP accepts, ns
 * @timers_max: highest limit of timers that SETUP accepts
 * @buckets_min: smallest number of buckets that SETUP accepts
 * @buckets_max: largest number of buckets that SETUP accepts
 *
 * The kernel only writes this structure.
 */
struct hwtimer_info {
	__u32 abi_version;
	__u32 started;
	__u64 tick;
	__u64 timers;
	__u32 buckets;
	__u32 clock;
	__u32 flags;
	__u32 reserved;
	__u64 until_next;
	__u64 tick_min;
	__u64 tick_max;
	__u64 timers_max;
	__u32 buckets_min;
	__u32 buckets_max;
};

/* ---- what a program does to timers ---- */

/**
 * enum hwtimer_op - operation of a struct hwtimer_request in SUBMIT, or of a struct hwtimer_bulk
 * @HWTIMER_OP_SCHEDULE: schedule a new timer
 * @HWTIMER_OP_CANCEL: end a timer
 * @HWTIMER_OP_RESCHEDULE: give a pending timer another deadline
 */
enum hwtimer_op {
	HWTIMER_OP_SCHEDULE = 1,
	HWTIMER_OP_CANCEL = 2,
	HWTIMER_OP_RESCHEDULE = 3,
};

/*
 * Flags of struct hwtimer_request; struct hwtimer_bulk has the first two. SCHEDULE uses
 * ABSTIME and FIXED_DELAY, CANCEL uses DISCARD, and RESCHEDULE all but DISCARD.
 */

/** HWTIMER_REQ_ABSTIME - @time is a deadline, not a delay; needed on clocks that may be set */
#define HWTIMER_REQ_ABSTIME (1U << 0)

/** HWTIMER_REQ_DISCARD - CANCEL also drops the event, if the timer's event waits */
#define HWTIMER_REQ_DISCARD (1U << 1)

/**
 * HWTIMER_REQ_FIXED_DELAY - @interval counts from the read() that takes the event
 *
 * From the ACK, with HWTIMER_SETUP_AT_LEAST_ONCE. Not on clocks that may be set. Without this
 * flag the rate is fixed: deadlines are @interval apart, no matter when events are read.
 */
#define HWTIMER_REQ_FIXED_DELAY (1U << 2)

/**
 * HWTIMER_REQ_REARM - RESCHEDULE the timer also if its event waits
 *
 * Afterwards the timer is as SCHEDULE would have made it from the same request. A pending timer
 * keeps its id. If its event waits, the call drops the event, as HWTIMER_REQ_DISCARD does, makes
 * a new timer, and writes its id to @id. That is one step: no event of the old timer can be read
 * after the call has returned.
 *
 * Not for HWTIMER_IOC_BULK, whose entries have no room for both an id and a user_data.
 */
#define HWTIMER_REQ_REARM (1U << 3)

/**
 * HWTIMER_REQ_CREATE - with HWTIMER_REQ_REARM, makes a new timer also if the old one is gone
 *
 * The old timer may have been delivered or cancelled; with 0 as @id there was none. Without this
 * flag the call then fails with ENOENT.
 */
#define HWTIMER_REQ_CREATE (1U << 4)

/**
 * HWTIMER_REQ_SET - RESCHEDULE gives the timer all fields of the request
 *
 * Those that are 0, too. Without this flag, only the deadline changes. HWTIMER_REQ_REARM implies
 * it.
 */
#define HWTIMER_REQ_SET (1U << 5)

/**
 * struct hwtimer_request - one timer operation
 * @op: enum hwtimer_op, for SUBMIT. The ioctls of one operation do not use it
 * @flags: HWTIMER_REQ_*
 * @id: CANCEL, RESCHEDULE: in, the timer's id. SCHEDULE and HWTIMER_REQ_REARM: out, the id
 *	that the timer has now, never 0
 * @time: SCHEDULE, RESCHEDULE: delay from now, or deadline with HWTIMER_REQ_ABSTIME, ns. A
 *	negative delay or deadline counts as 0. A timer that is due already expires when the
 *	next tick begins. HWTIMER_NEVER, and a delay that ends beyond the clock's range: never
 * @interval: ns from one deadline of a periodic timer to the next; 0: the timer expires once.
 *	If it is shorter than a tick, an event reports several expirations
 * @slack: ns by which the timer may be late in addition to the tick, so that it can share a
 *	wake-up with other timers
 * @user_data: returned in the event
 * @expirations_max: number of expirations after which a periodic timer ends; 0: it does not end
 * @result: SUBMIT: out, what the ioctl of the operation returns, or a negative errno
 * @reserved: must be 0
 *
 * @interval and @slack are at most 9,223,372,036,854,775,807. SCHEDULE uses all fields;
 * RESCHEDULE uses @interval, @slack, @user_data and @expirations_max with HWTIMER_REQ_SET. What an
 * operation does not use, it ignores: the request that has scheduled a timer may be handed to
 * RESCHEDULE and CANCEL as it is.
 *
 * A timer is never early. It is late by at most its slack and one tick, plus the time that
 * the machine needs, and the program to read earlier events (HWTIMER_EVENTS_MAX).
 *
 * SCHEDULE. Errors: EINVAL (a delay, or an interval with HWTIMER_REQ_FIXED_DELAY, on a clock
 * that may be set; a value out of range), ENOSPC (the instance's limit of timers is reached;
 * cancelling timers and reading events makes room), ENOMEM, ESHUTDOWN (stopped).
 *
 * A periodic timer has one event at a time. At its deadline the event is queued, and the timer
 * rests until read() takes the event. The event then reports all expirations due by that moment,
 * and the timer becomes pending again for the first deadline after that moment. So a slow reader
 * costs nothing and loses nothing, and the phase never drifts. With HWTIMER_REQ_FIXED_DELAY each
 * event is one expiration, and the next deadline is @interval after the read() that took it.
 *
 * CANCEL. Returns 0: the timer has ended, and no event of it comes. 1: one event of it still waits
 * to be read or acknowledged, and the timer ends with that event, which reports no expiration after
 * the CANCEL. With HWTIMER_REQ_DISCARD that event is dropped, and CANCEL returns 0. Errors: EINVAL,
 * ENOENT (no such timer: it never existed, or has ended).
 *
 * RESCHEDULE. The id stays; later deadlines of a periodic timer count from the new one. Errors:
 * EINVAL, ENOMEM, ESHUTDOWN (as SCHEDULE), ENOENT (as CANCEL), EALREADY (not pending: the timer's
 * event waits to be read or acknowledged). With HWTIMER_REQ_CREATE also ENOSPC, if the call makes
 * a timer for one that is gone.
 *
 * After an error nothing has changed: the old deadline stays, and so does a waiting event.
 * There is one exception: if the memory of the request is unmapped during the call, EFAULT may
 * come after the timer was made. Its id is then lost.
 */
struct hwtimer_request {
	__u32 op;
	__u32 flags;
	__u64 id;
	__s64 time;
	__u64 interval;
	__u64 slack;
	__u64 user_data;
	__u32 expirations_max;
	__s32 result;
	__u64 reserved;
};

/**
 * struct hwtimer_submit - HWTIMER_IOC_SUBMIT: run many operations in one call
 * @requests: address of an array of struct hwtimer_request
 * @count: length of the array, up to 2,147,483,647
 * @flags: must be 0
 *
 * Does the entries in order, writes a @result to each, and returns the number of entries that
 * were done. A refused entry counts as done and does not stop the entries after it. The call ends
 * early at a signal or at an address that faults: an entry to which the kernel cannot write is
 * not done. The kernel looks at each page before it does the entries, so one whose memory goes
 * away meanwhile is done, and not counted. It may write to the array at any time during the call.
 *
 * Errors, if no entry was done: EINVAL, ENOMEM.
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
	__s64 time;
};

/**
 * struct hwtimer_bulk - HWTIMER_IOC_BULK: run one operation on many timers
 * @op: HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL or HWTIMER_OP_RESCHEDULE
 * @flags: for all timers: HWTIMER_REQ_ABSTIME, HWTIMER_REQ_DISCARD
 * @timers: address of an array of @count struct hwtimer_bulk_timer; for CANCEL, of @count
 *	ids (__u64)
 * @results: address of an array of @count results (__u64); 0: not wanted, which SCHEDULE
 *	does not allow. May equal @timers, the front of which is then overwritten; must not
 *	overlap @timers in another way
 * @slack: as hwtimer_request.slack, for all timers of a SCHEDULE
 * @count: number of timers, up to 2,147,483,647
 * @reserved: must be 0
 *
 * Does the same as SUBMIT for operations that differ only in time, user_data and id, faster, and
 * moves at most half of the memory. Timers with other options, such as an interval, are SUBMIT's.
 *
 * A result is the id of a new timer, or what hwtimer_request.result would be: for CANCEL also 1,
 * if an event still comes. An errno is a result with -4095 <= (__s64)result < 0; no id has such a
 * value, nor is one 0 or 1. The return value, signals and faults are as for SUBMIT: after n
 * timers, continue with timer n.
 *
 * Errors, if nothing was done: EINVAL (@op, @flags, @count or @slack is wrong; delays on a clock
 * that may be set; a SCHEDULE without @results), ENOMEM.
 */
struct hwtimer_bulk {
	__u32 op;
	__u32 flags;
	__u64 timers;
	__u64 results;
	__u64 slack;
	__u32 count;
	__u32 reserved;
};

/* ---- what there is ---- */

/**
 * enum hwtimer_state - the state of a timer
 * @HWTIMER_STATE_PENDING: the timer waits for its deadline
 * @HWTIMER_STATE_EXPIRED: the timer's event waits to be read or acknowledged
 */
enum hwtimer_state {
	HWTIMER_STATE_PENDING = 1,
	HWTIMER_STATE_EXPIRED = 2,
};

/**
 * struct hwtimer_timer - a timer, as QUERY, LIST and CANCEL_ALL describe it
 * @id: the timer's id. HWTIMER_IOC_QUERY: in; the kernel ignores all other fields
 * @user_data: as scheduled
 * @deadline: ns; of an expired timer, the first deadline that its event reports
 * @remaining: ns until @deadline; 0 if it has passed
 * @interval: as scheduled
 * @slack: slack that the wheel uses, ns: not more than scheduled
 * @state: enum hwtimer_state
 * @flags: HWTIMER_REQ_FIXED_DELAY, as scheduled
 * @expirations_left: of a periodic timer, expirations left, including those of an event that
 *	waits; 0: no limit
 * @expirations: of an expired timer, what its event would report if it was read now; 0 if
 *	the timer is pending. If it equals @expirations_left, the event is the timer's last
 *
 * Errors of HWTIMER_IOC_QUERY: ENOENT (as CANCEL).
 */
struct hwtimer_timer {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u64 remaining;
	__u64 interval;
	__u64 slack;
	__u32 state;
	__u32 flags;
	__u32 expirations_left;
	__u32 expirations;
};

/**
 * HWTIMER_LIST_STOP - CANCEL_ALL stops the instance for good; see struct hwtimer_list
 *
 * No flag of a request has this bit, so a mix-up of the two stops nothing.
 */
#define HWTIMER_LIST_STOP (1U << 8)

/** HWTIMER_LIST_DISCARD - CANCEL_ALL also drops the events that wait */
#define HWTIMER_LIST_DISCARD (1U << 1)

/**
 * struct hwtimer_list - HWTIMER_IOC_LIST: list all timers; HWTIMER_IOC_CANCEL_ALL: end them
 * @timers: address of an array of struct hwtimer_timer. CANCEL_ALL: 0: not wanted
 * @cursor: in: 0 to begin, or the value that the previous call left here; out: where the next
 *	call goes on. Its value has no other meaning
 * @count: length of the array, at most 2,147,483,647. CANCEL_ALL without an array: number of
 *	timers to end, at most
 * @flags: CANCEL_ALL: HWTIMER_LIST_STOP, HWTIMER_LIST_DISCARD
 *
 * Both go through all timers, in no particular order, and return how many they have listed or
 * ended. A page may be shorter than @count, so call until the result is 0: that is the end.
 *
 * LIST lists the timers that are pending, and those whose events wait. A timer that exists from
 * the first call to the last one is listed exactly once, even if meanwhile it is rescheduled,
 * expires, or has its event read and becomes pending again. A timer that begins or ends meanwhile
 * is listed once or not at all. Each is described as it is at one moment.
 *
 * CANCEL_ALL does what CANCEL does to each timer, and hands back those that are pending. A
 * periodic timer whose event waits is handed back, too, as it will be after that event, which is
 * its last. Only what is handed back counts in the result; STATS counts the events that
 * HWTIMER_LIST_DISCARD drops. A timer that is scheduled meanwhile may be ended or not. With
 * HWTIMER_LIST_STOP none can be: the instance is stopped from the first call on. Then nothing
 * expires, SCHEDULE and RESCHEDULE fail with ESHUTDOWN, and read() and poll() report the end once
 * the events that wait have been read. With 0 as @count, CANCEL_ALL then only stops the instance.
 *
 * Other calls go on meanwhile, and several CANCEL_ALL may run: each timer is handed back once.
 *
 * Errors: EINVAL (also: 0 as @count without HWTIMER_LIST_STOP), EINTR (interrupted; call again
 * with the same structure). EFAULT and EINTR mean that no timer was listed or handed back; the
 * instance may be stopped, and events dropped, as the flags say.
 */
struct hwtimer_list {
	__u64 timers;
	__u64 cursor;
	__u32 count;
	__u32 flags;
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
 * @pending: timers that wait for their deadline
 * @ready: events that wait to be read or acknowledged
 * @scheduled: timers ever scheduled. At all times: @scheduled + @rearmed =
 *	@pending + @cancelled + @expired
 * @rearmed: number of times that a periodic timer became pending again, or was handed back by
 *	CANCEL_ALL while its event waited
 * @rescheduled: successful RESCHEDULEs. With HWTIMER_REQ_REARM, @scheduled also counts those
 *	that made a new timer
 * @cancelled: timers that CANCEL or CANCEL_ALL ended before they expired
 * @expired: events that were queued. At all times: @expired = @ready + @delivered + @discarded
 * @delivered: events that were read or, with HWTIMER_SETUP_AT_LEAST_ONCE, acknowledged
 * @discarded: events that were never delivered: dropped by DISCARD or REARM
 * @missed: expirations of periodic timers that events reported in addition to their first one
 * @clock_sets: number of times that the instance noticed that its clock was set, for
 *	HWTIMER_SETUP_REPORT_CLOCK_SET
 * @bytes: kernel memory that this instance holds now
 * @bytes_peak: largest value that @bytes has had
 * @lateness_max: longest lateness (time queued minus deadline), ns; includes the lateness that
 *	slack allows
 * @lateness_sum: lateness of all events together, ns, where the lateness of each saturates as in
 *	struct hwtimer_event
 * @lateness: number of events by lateness: bucket i has those that were late by
 *	HWTIMER_LATENESS_BOUND(i) or more, but by less than the bound of the next bucket
 *
 * The kernel only writes this structure. /proc/PID/fdinfo/FD has the same counters, and those of
 * the wheel.
 */
struct hwtimer_stats {
	__u64 pending;
	__u64 ready;
	__u64 scheduled;
	__u64 rearmed;
	__u64 rescheduled;
	__u64 cancelled;
	__u64 expired;
	__u64 delivered;
	__u64 discarded;
	__u64 missed;
	__u64 clock_sets;
	__u64 bytes;
	__u64 bytes_peak;
	__u64 lateness_max;
	__u64 lateness_sum;
	__u64 lateness[HWTIMER_LATENESS_BUCKETS];
};

/* ---- events ---- */

/**
 * struct hwtimer_notify - HWTIMER_IOC_NOTIFY: choose when to tell readers
 * @delay: ns after the first event at which poll() is ready, however few events wait; measured
 *	by CLOCK_MONOTONIC, whatever the instance's clock. 0 and HWTIMER_NEVER: poll() waits for
 *	@events, however long
 * @events: number of waiting events at which poll() is ready and a blocking read() returns, at
 *	most HWTIMER_EVENTS_MAX. Both also happen when events fill the queue
 *	(HWTIMER_EVENTS_MAX), or reach the limit of timers (hwtimer_setup.timers). 0 and 1: the
 *	first event
 * @flags: must be 0
 *
 * With zeros, the default, readers are told of the first event. May be called at any time, and
 * replaces the previous choice. A read() with O_NONBLOCK takes all events that wait, however
 * few. A stopped instance is ready at once.
 *
 * Errors: EINVAL. After an error the previous choice remains.
 */
struct hwtimer_notify {
	__u64 delay;
	__u32 events;
	__u32 flags;
};

/**
 * struct hwtimer_event - one expiration, as read() delivers it
 * @id: the timer's id; no longer valid, unless the timer is periodic and this was not its last
 *	event
 * @user_data: as scheduled
 * @deadline: ns; the first deadline that this event reports
 * @lateness: ns from @deadline until the event was queued; 4,294,967,295 stands for that and
 *	anything longer
 * @expirations: 1; of a periodic timer, the number of its deadlines that had passed when read()
 *	took the event, 4,294,967,295 at most: the rest comes with the next event
 *
 * read() fills the buffer with as many whole events as fit, and returns the number of bytes.
 * Without O_NONBLOCK it blocks until events wait (see HWTIMER_IOC_NOTIFY). It returns 0 once the
 * instance is stopped and drained: all its events have been read. Only events that arrived in the
 * buffer are consumed: a reader whose buffer has to be paged in, or that is killed, takes no
 * event with it.
 *
 * readv() fills its buffers as if they were one, so an event may lie across two of them.
 * preadv2() with RWF_NOWAIT, AIO with that flag, and the first attempt of io_uring do not
 * block, whatever the descriptor's mode. They say EAGAIN where read() would block.
 *
 * Events come in the order of the ticks at which they expired, and within a tick in the order in
 * which their timers were scheduled. Some timers have no set place in their tick: rescheduled
 * timers, periodic timers after their first event, timers whose deadline had passed when they
 * were scheduled, and those that were overdue when the clock was set back.
 *
 * Errors: EINVAL (less room than one event), EAGAIN, EINTR, EFAULT, ECANCELED
 * (HWTIMER_SETUP_REPORT_CLOCK_SET; nothing is lost, read again).
 *
 * poll() says POLLIN while events wait; HWTIMER_IOC_NOTIFY can make it wait for more events.
 * Once the instance is stopped and drained, poll() says POLLHUP, and POLLIN only if the next
 * read() fails with ECANCELED.
 */
struct hwtimer_event {
	__u64 id;
	__u64 user_data;
	__u64 deadline;
	__u32 lateness;
	__u32 expirations;
};

/**
 * HWTIMER_ACK_REWIND - then make all events unread that were not acknowledged
 *
 * The next read() begins with the oldest event, and HWTIMER_IOC_ACK counts from there. So there
 * should be no other reader. If the event of a periodic timer is read once more, it reports the
 * deadlines that have passed by then.
 */
#define HWTIMER_ACK_REWIND (1U << 0)

/**
 * struct hwtimer_ack - HWTIMER_IOC_ACK: end the oldest events that were read
 * @count: number of events, in the order in which read() has returned them, at most
 *	2,147,483,647
 * @flags: HWTIMER_ACK_REWIND
 *
 * For an instance with HWTIMER_SETUP_AT_LEAST_ONCE. Returns the number of events that were
 * ended: @count, unless another thread has acknowledged some meanwhile. An event counts also if it
 * was dropped after it was read.
 *
 * Errors: EINVAL (also: no HWTIMER_SETUP_AT_LEAST_ONCE, or fewer than @count events were read).
 */
struct hwtimer_ack {
	__u32 count;
	__u32 flags;
};

/**
 * struct hwtimer_uring - a command by io_uring: the 16 bytes @cmd of its entry
 * @argument: address of what the ioctl of the command takes
 * @reserved: must be 0
 *
 * Each ioctl may also come as an entry of io_uring: with IORING_OP_URING_CMD as opcode, the
 * descriptor as fd, the number of the ioctl as cmd_op, and this structure at cmd. All other
 * fields must be 0, but for flags, personality and user_data of the entry (6.1 does not look at
 * addr, len, buf_index and file_index). What the ioctl returns becomes the result of the
 * completion, with its errno as a negative number. What @argument points to belongs to the
 * kernel until then.
 *
 * In a thread of io_uring's own (IORING_SETUP_SQPOLL, IOSQE_ASYNC), a command may end as at a
 * signal although none came, but only after it has done something: SUBMIT and BULK return how far
 * they came, and a page of LIST or CANCEL_ALL is shorter.
 *
 * io_uring gives no order to entries: where a command needs another one to be done before, such
 * as SETUP, link them. An error of a command cancels what is linked to it; a result above 0
 * does not.
 *
 * Errors besides those of the ioctl: EINVAL (a field that must be 0 is not), EOPNOTSUPP (a ring
 * with IORING_SETUP_IOPOLL, on kernels whose polled rings take nothing else).
 */
struct hwtimer_uring {
	__u64 argument;
	__u64 reserved;
};

#define HWTIMER_IOC_MAGIC 0xBB

#define HWTIMER_IOC_INFO _IOR(HWTIMER_IOC_MAGIC, 0, struct hwtimer_info)
#define HWTIMER_IOC_SETUP _IOW(HWTIMER_IOC_MAGIC, 1, struct hwtimer_setup)
#define HWTIMER_IOC_SCHEDULE _IOWR(HWTIMER_IOC_MAGIC, 2, struct hwtimer_request)
#define HWTIMER_IOC_CANCEL _IOW(HWTIMER_IOC_MAGIC, 3, struct hwtimer_request)
#define HWTIMER_IOC_RESCHEDULE \
	_IOWR(HWTIMER_IOC_MAGIC, 4, struct hwtimer_request)
#define HWTIMER_IOC_SUBMIT _IOW(HWTIMER_IOC_MAGIC, 5, struct hwtimer_submit)
#define HWTIMER_IOC_BULK _IOW(HWTIMER_IOC_MAGIC, 6, struct hwtimer_bulk)
#define HWTIMER_IOC_QUERY _IOWR(HWTIMER_IOC_MAGIC, 7, struct hwtimer_timer)
#define HWTIMER_IOC_LIST _IOWR(HWTIMER_IOC_MAGIC, 8, struct hwtimer_list)
#define HWTIMER_IOC_CANCEL_ALL _IOWR(HWTIMER_IOC_MAGIC, 9, struct hwtimer_list)
#define HWTIMER_IOC_STATS _IOR(HWTIMER_IOC_MAGIC, 10, struct hwtimer_stats)
#define HWTIMER_IOC_NOTIFY _IOW(HWTIMER_IOC_MAGIC, 11, struct hwtimer_notify)
#define HWTIMER_IOC_ACK _IOW(HWTIMER_IOC_MAGIC, 12, struct hwtimer_ack)

#endif /* _UAPI_LINUX_HWTIMER_H */
