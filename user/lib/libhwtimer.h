/* SPDX-License-Identifier: MIT */
/*
 * libhwtimer: the calls of /dev/hwtimer as functions, for programs. The manual is
 * libhwtimer(3).
 *
 * Every function returns a negative errno when it fails. <linux/hwtimer.h> describes
 * the structures; times are nanoseconds.
 *
 * Threads: any number of threads may call any function on the same instance at the
 * same time, with four exceptions. No other call may run beside hwt_setup() or hwt_close().
 * Only one thread at a time may call hwt_next(), hwt_dispatch() or hwt_rewind(), because these
 * have a buffer of events that have been read and not been returned yet; after fork(), only
 * one process may use them. All functions for timer objects of one instance, hwt_flush(),
 * hwt_dispatch() and, while a timer object is active, hwt_cancel_all() belong to one thread at
 * a time: the one that runs the loop. The thread that was the last to read may not call
 * hwt_cancel() or hwt_discard() while another thread begins to read.
 *
 * hwt_cancel() and hwt_discard() in the thread that reads know of buffered events: after the first
 * one has returned 0, or the second one has returned 0, no event of the timer is returned. Other
 * threads, and all other functions, do not: a buffered event is still returned, whatever happens
 * to its timer meanwhile. Cancelling the timer then fails with -ENOENT, or, if the timer is
 * periodic and so pending again, succeeds. So free what user_data points to only after
 * hwt_dispatch() has returned, or hwt_next() has returned -EAGAIN. Timer objects (struct
 * hwt_timer) have no such rule: after hwt_timer_stop() no callback comes.
 */
#ifndef LIBHWTIMER_H
#define LIBHWTIMER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/hwtimer.h>

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* Version of this header; hwt_version() returns the version of the library. */
#define HWT_VERSION_MAJOR 0
#define HWT_VERSION_MINOR 9
#define HWT_VERSION (HWT_VERSION_MAJOR << 16 | HWT_VERSION_MINOR)

/** struct hwt - an instance: an open /dev/hwtimer, or one of hwt_open_manual() */
struct hwt;

/** HWT_NONBLOCK - flag for all functions that open: reading does not wait for events */
#define HWT_NONBLOCK (1U << 0)

/* Returns the version of the library in use: major << 16 | minor. */
unsigned int hwt_version(void);

/**
 * hwt_open - open an instance
 * @hwt: out: the instance; NULL after an error. No function but hwt_close() takes NULL
 * @flags: HWT_NONBLOCK or 0
 *
 * The descriptor is closed on exec.
 *
 * Return: 0; -ENOENT (the module is not loaded), -EACCES, -ENFILE, -EMFILE,
 * -ENOMEM, -EINVAL (@flags), -EPROTO (the module has another ABI version).
 */
int hwt_open(struct hwt **hwt, unsigned int flags);

/**
 * hwt_from_fd - use an instance that another process, or a former program, has opened
 * @hwt: out: the instance; NULL after an error
 * @fd: a descriptor of /dev/hwtimer: inherited, received with SCM_RIGHTS, or from the
 *	descriptor store of systemd. After success it belongs to @hwt: hwt_close() closes
 *	it, and nobody else may. After an error it is still the caller's, and unchanged
 * @flags: HWT_NONBLOCK or 0
 *
 * All who hold a descriptor of the same open() share its timers and its events, and its
 * O_NONBLOCK: HWT_NONBLOCK makes reading not wait for any of them. Without HWT_NONBLOCK
 * that stays as it is. @fd will be closed on exec, as a descriptor of hwt_open(); this
 * is a property of @fd alone. Nothing else changes: settings, timers and events stay,
 * and hwt_list() finds them.
 *
 * Events that another process has read, but not handled, are gone, unless the instance has
 * HWTIMER_SETUP_AT_LEAST_ONCE: then call hwt_rewind() first. See "Sharing an instance between
 * processes" in the guide.
 *
 * Return: 0; -EBADF (@fd is not open), -ENOTTY (@fd is not an hwtimer), -EPROTO (the
 * module has another ABI version), -EINVAL (@flags), -ENOMEM.
 */
int hwt_from_fd(struct hwt **hwt, int fd, unsigned int flags);

/**
 * hwt_open_manual - open an instance whose clock only hwt_advance() moves, for tests
 * @hwt: out: the instance; NULL after an error
 * @flags: HWT_NONBLOCK or 0
 *
 * It needs no module: all of it is in the memory of this process. All functions, timer objects and
 * adapters work with it by the rules of the device, so a program need not know which of the two it
 * has. What differs:
 *
 * - The time, hwt_now(), is 86,400 s at first, on whatever clock hwt_setup() chooses. Nothing sets
 *   the clock, so HWTIMER_SETUP_REPORT_CLOCK_SET reports nothing. hwt_now() is never old.
 * - A timer expires in hwt_advance(), when a tick begins, and never at once: a delay of 0 ends with
 *   the next tick. It is late only by its tick and its slack, and by events that nobody reads.
 * - If there is no event, and reading waits, it fails with -EDEADLK in the thread that was the last
 *   to move the clock (at first: that has opened the instance), which would wait for itself. Other
 *   threads wait.
 * - When the instance is stopped and has no event left, poll() says POLLIN, and not POLLHUP.
 * - The descriptor is only to be polled. read(), and entries of io_uring that read, fail with
 *   EINVAL; entries of hwtimer_uring.h with a command fail with EOPNOTSUPP. hwt_from_fd() refuses
 *   it with -ENOTTY. In a child of fork() all calls fail with -EBADF, but for hwt_close().
 * - Memory is not limited, nor counted in STATS.
 *
 * Return: 0; -ENOMEM, -EMFILE, -ENFILE, -EINVAL (@flags).
 */
int hwt_open_manual(struct hwt **hwt, unsigned int flags);

/**
 * hwt_advance - move the clock of an instance of hwt_open_manual()
 * @hwt: the instance
 * @ns: by how much; 0 is allowed
 *
 * Timers that become due expire in their order, as if the clock had gone through each tick. As a
 * loop that waits, it calls hwt_flush() before, and calls no callback: hwt_dispatch() does. So a
 * callback that starts a timer does so at the time at which the clock is then. To stop at each
 * timer on the way, ask hwt_next_time() how far the next one is.
 *
 * Any thread may call it, but if there are timer objects, only theirs.
 *
 * Return: 0; -EINVAL (@ns is negative, or beyond the clock's range), -ENOTSUP (the clock is the
 * kernel's), -EBADF (in a child of fork()).
 */
int hwt_advance(struct hwt *hwt, int64_t ns);

/*
 * Closes the descriptor. The instance and all its timers end with the last descriptor. NULL is
 * allowed. Timer objects are plain memory after that: they may be freed or initialized, but not
 * stopped. If a callback of hwt_dispatch() calls it, that hwt_dispatch() calls no other one, and
 * returns.
 */
void hwt_close(struct hwt *hwt);

/* Returns the descriptor, for poll() and the like; only hwt_close() may close it. */
int hwt_fd(const struct hwt *hwt);

/*
 * A structure that may grow is as long as in the header that the program was compiled
 * with, which may be of another version than the library. So these functions take its
 * size. Programs call the functions without _sized.
 */
int hwt_setup_sized(struct hwt *hwt, const struct hwtimer_setup *setup,
		    size_t size);
int hwt_info_sized(struct hwt *hwt, struct hwtimer_info *info, size_t size);
int hwt_stats_sized(struct hwt *hwt, struct hwtimer_stats *stats, size_t size);

/**
 * hwt_setup - HWTIMER_IOC_SETUP
 * @hwt: the instance, without timers yet
 * @setup: the settings; zeros are the defaults
 *
 * Return: 0, or an error of HWTIMER_IOC_SETUP; -EBUSY also if a timer object is active.
 */
static inline int hwt_setup(struct hwt *hwt, const struct hwtimer_setup *setup)
{
	return hwt_setup_sized(hwt, setup, sizeof(*setup));
}

/* HWTIMER_IOC_INFO */
static inline int hwt_info(struct hwt *hwt, struct hwtimer_info *info)
{
	return hwt_info_sized(hwt, info, sizeof(*info));
}

/**
 * hwt_schedule - schedule a timer that expires once
 * @hwt: the instance
 * @delay: ns from now; may be negative, or HWTIMER_NEVER
 * @user_data: value that is returned in the event
 * @id: out: the timer's id; NULL: not wanted
 */
int hwt_schedule(struct hwt *hwt, int64_t delay, uint64_t user_data,
		 uint64_t *id);

/*
 * The same, at a deadline on the instance's clock. In all functions of the library, a deadline
 * above HWTIMER_NEVER counts as HWTIMER_NEVER.
 */
int hwt_schedule_at(struct hwt *hwt, uint64_t deadline, uint64_t user_data,
		    uint64_t *id);

/**
 * hwt_schedule_request - schedule a timer of any kind: periodic, or with slack
 * @hwt: the instance
 * @request: in: the timer; out: its id
 */
int hwt_schedule_request(struct hwt *hwt, struct hwtimer_request *request);

/*
 * Ends a timer: 0, 1 (one event of it still comes, or waits to be acknowledged) or -ENOENT. In the
 * thread that reads, events in the buffer of hwt_next() and hwt_dispatch() count, too.
 */
int hwt_cancel(struct hwt *hwt, uint64_t id);

/*
 * The same, but drops the event that waits: 0 or -ENOENT. With HWTIMER_SETUP_AT_LEAST_ONCE, an
 * event that was read stays, as it has to be acknowledged in its place.
 */
int hwt_discard(struct hwt *hwt, uint64_t id);

/**
 * hwt_cancel_all - end all timers of the instance
 * @hwt: the instance
 * @flags: HWTIMER_LIST_DISCARD: also drop the events that wait; HWTIMER_LIST_STOP: also stop the
 *	instance; or 0
 * @cancelled: out: number of timers that ended before they expired; NULL: not wanted
 *
 * Timers that other threads schedule meanwhile may be ended or not. A signal does not end the
 * call early. Timer objects are inactive after it, also those that have expired: no callback
 * comes. Only the thread that runs the loop may call it while one is active. Events of other
 * timers in the buffer of hwt_next() are still returned.
 *
 * Return: 0, or -EINVAL (@flags).
 */
int hwt_cancel_all(struct hwt *hwt, unsigned int flags, uint64_t *cancelled);

/* Moves a pending timer to @delay ns from now; may be negative, or HWTIMER_NEVER. */
int hwt_reschedule(struct hwt *hwt, uint64_t id, int64_t delay);

/* The same, to @deadline. */
int hwt_reschedule_at(struct hwt *hwt, uint64_t id, uint64_t deadline);

/**
 * hwt_reschedule_request - reschedule a timer in any way
 * @hwt: the instance
 * @request: in: the timer's id and the time; with HWTIMER_REQ_SET or HWTIMER_REQ_REARM, all
 *	fields; out, with HWTIMER_REQ_REARM: the id that the timer has now
 */
int hwt_reschedule_request(struct hwt *hwt, struct hwtimer_request *request);

/**
 * hwt_rearm - schedule a timer, whatever became of it before
 * @hwt: the instance
 * @id: in: the timer's id, or 0: there is none yet; out: the id that it has now, which is
 *	another one unless the timer was pending
 * @delay: ns from now; may be negative, or HWTIMER_NEVER
 * @user_data: value that is returned in the event
 *
 * The timer then expires once. If it was pending, it has moved; if its event waited to be
 * read, the module has dropped it. Events that hwt_next() or hwt_dispatch() have read before
 * are still returned, with the old id.
 *
 * Return: as hwt_schedule(). After an error, nothing has changed.
 */
int hwt_rearm(struct hwt *hwt, uint64_t *id, int64_t delay, uint64_t user_data);

/* The same, at a deadline on the instance's clock. */
int hwt_rearm_at(struct hwt *hwt, uint64_t *id, uint64_t deadline,
		 uint64_t user_data);

/**
 * hwt_schedule_many - schedule many timers that expire once, with few system calls
 * @hwt: the instance
 * @flags: HWTIMER_REQ_ABSTIME, or 0 for delays
 * @timers: array of @count timers: user_data and time
 * @results: out: array of @count results: each an id or a negative errno; see
 *	hwt_error()
 * @count: number of timers. With 0, the call does nothing, and all other arguments are ignored
 *
 * A signal does not end the call early; an error does.
 *
 * Return: number of timers that have a result, less than @count after an error; the
 * error if no timer has a result.
 */
int hwt_schedule_many(struct hwt *hwt, unsigned int flags,
		      const struct hwtimer_bulk_timer *timers,
		      uint64_t *results, unsigned int count);

/* The same for RESCHEDULE; @timers: id and time. @results may be NULL. */
int hwt_reschedule_many(struct hwt *hwt, unsigned int flags,
			const struct hwtimer_bulk_timer *timers,
			uint64_t *results, unsigned int count);

/* The same for CANCEL; @flags: HWTIMER_REQ_DISCARD or 0. @results may be NULL. */
int hwt_cancel_many(struct hwt *hwt, unsigned int flags, const uint64_t *ids,
		    uint64_t *results, unsigned int count);

/**
 * hwt_bulk - do one operation on many timers, new ones with a common slack
 * @hwt: the instance
 * @bulk: as for HWTIMER_IOC_BULK
 *
 * Return: as hwt_schedule_many().
 */
int hwt_bulk(struct hwt *hwt, const struct hwtimer_bulk *bulk);

/* The same for operations of any kind, each of which holds its own result. */
int hwt_submit(struct hwt *hwt, struct hwtimer_request *requests,
	       unsigned int count);

/* Returns the negative errno of a result; 0 if the result is no error. */
static inline int hwt_error(uint64_t result)
{
	return result >= (uint64_t)-4095LL ? (int)(int64_t)result : 0;
}

/* HWTIMER_IOC_QUERY; @timer: in: the timer's id; out: all other fields. */
int hwt_query(struct hwt *hwt, struct hwtimer_timer *timer);

/**
 * hwt_next_time - tell how long a program may sleep
 * @hwt: the instance
 * @remaining: out: ns for which no timer expires; 0: an event waits, or may; HWTIMER_NEVER:
 *	none will come by itself
 *
 * The next event may come later: see hwtimer_info.until_next. Events in the buffer of hwt_next()
 * do not count.
 *
 * Return: 0, or an error of HWTIMER_IOC_INFO.
 */
int hwt_next_time(struct hwt *hwt, uint64_t *remaining);

/**
 * hwt_list - list pending timers and waiting events, page by page, and take none
 * @hwt: the instance
 * @cursor: in: 0 for the first page; out: where the next page begins
 * @timers: out: array with room for @count timers
 * @count: length of @timers, at least 1
 *
 * Lists each timer that exists all the while exactly once, even if it expires or is
 * rescheduled meanwhile; see struct hwtimer_list. Events in the buffer of hwt_next() have
 * been read, so they are not listed.
 *
 * Return: number of timers written to @timers, which may be less than @count before the
 * end; 0: the end. -EINTR: nothing was written; call again with the same @cursor.
 */
int hwt_list(struct hwt *hwt, uint64_t *cursor, struct hwtimer_timer *timers,
	     unsigned int count);

/**
 * hwt_stop - stop the wheel, and take back timers that have not expired, page by page
 * @hwt: the instance
 * @cursor: in: 0 for the first page; out: where the next page begins. NULL is allowed if @count
 *	is 0
 * @timers: out: array with room for @count timers
 * @count: length of @timers; 0: only stop
 *
 * The first call stops the wheel, whatever it returns. Events that wait can still be read.
 *
 * Return: as hwt_list().
 */
int hwt_stop(struct hwt *hwt, uint64_t *cursor, struct hwtimer_timer *timers,
	     unsigned int count);

/* HWTIMER_IOC_STATS */
static inline int hwt_stats(struct hwt *hwt, struct hwtimer_stats *stats)
{
	return hwt_stats_sized(hwt, stats, sizeof(*stats));
}

/**
 * hwt_notify - choose when poll() is ready
 * @hwt: the instance
 * @events: number of waiting events at which poll() is ready, at most HWTIMER_EVENTS_MAX;
 *	0 and 1: at the first
 * @delay: ns after the first event at which poll() is ready anyway, at most HWTIMER_NEVER.
 *	That and 0: poll() waits for @events, however long
 */
int hwt_notify(struct hwt *hwt, unsigned int events, uint64_t delay);

/**
 * hwt_read - read events
 * @hwt: the instance
 * @events: out: array with room for @count events
 * @count: length of @events, at least 1
 *
 * Return: number of events read, at least 1; -ENOTCONN: the instance is stopped, and no
 * event will come; -EAGAIN (HWT_NONBLOCK), -EINTR, -ECANCELED (the clock was set), -EDEADLK (only
 * this thread moves the clock; see hwt_open_manual()).
 */
int hwt_read(struct hwt *hwt, struct hwtimer_event *events, unsigned int count);

/**
 * hwt_next - return the next event
 * @hwt: the instance
 * @event: out: the event
 *
 * Reads many events at a time into a buffer. Call it until it returns -EAGAIN before
 * you poll() again, because buffered events do not make the descriptor ready.
 *
 * Return: 1: there is an event; otherwise an error as hwt_read().
 */
int hwt_next(struct hwt *hwt, struct hwtimer_event *event);

/**
 * hwt_ack - end the oldest events that were read, on which the program has acted
 * @hwt: the instance, with HWTIMER_SETUP_AT_LEAST_ONCE
 * @count: number of events, in the order in which they were read. Events in the buffer of
 *	hwt_next() and hwt_dispatch() were read, too: acknowledge no more than these have
 *	returned
 *
 * Return: the number of events that were ended, see struct hwtimer_ack; -EINVAL.
 */
int hwt_ack(struct hwt *hwt, unsigned int count);

/**
 * hwt_rewind - read all events once more that were not acknowledged
 * @hwt: the instance, with HWTIMER_SETUP_AT_LEAST_ONCE
 *
 * For a process that has taken over the descriptor, before it reads. The buffer of hwt_next()
 * is emptied, as its events come again.
 *
 * Return: 0; -EINVAL.
 */
int hwt_rewind(struct hwt *hwt);

/** hwt_callback - function that is called for an event; @arg is hwt_dispatch()'s */
typedef void (*hwt_callback)(void *arg, const struct hwtimer_event *event);

/**
 * hwt_dispatch - call a function for each event that waits
 * @hwt: the instance. If it was opened without HWT_NONBLOCK, the function waits for the first
 *	event, and may leave some of the others to the next call. Before it waits, it calls
 *	hwt_flush(), unless hwt_refused() has an error: then it waits no longer than
 *	hwt_wait_ms() says, and returns -EAGAIN
 * @callback: the function; it may call all functions, hwt_dispatch() and hwt_close(), too. It
 *	must return: neither longjmp() nor an exception of C++ may leave it, as the events
 *	that were read behind its own would wait for the next expiration. Events of timer
 *	objects go to the callbacks of these instead. NULL: there are only timer objects
 * @arg: first argument of @callback
 * @max: maximum number of events, so that other work gets its turn. The remaining events may not
 *	make poll() ready: if hwt_wait_ms() says 0 after that, call again
 *
 * Return: number of events; -EAGAIN: none; -ENOTCONN: the instance is stopped, and no
 * event will come; -EINTR; -ECANCELED: the clock was set, whether there were events
 * before that or not; other errors as hwt_read().
 */
int hwt_dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
		 unsigned int max);

/**
 * hwt_break - have hwt_dispatch() call no further callback
 * @hwt: the instance
 *
 * For callbacks. Every hwt_dispatch() that runs returns once its callback has returned. What is
 * left comes with the next one; until then hwt_wait_ms() says 0. In no callback, it does nothing.
 */
void hwt_break(struct hwt *hwt);

/*
 * Returns a value other than 0 if @ret, which hwt_dispatch() has returned, is an error
 * that may stay. A loop must remove the instance then, because the descriptor may stay
 * ready, and the loop would do nothing else.
 */
static inline int hwt_dispatch_failed(int ret)
{
	return ret < 0 && ret != -EAGAIN && ret != -EINTR && ret != -ECANCELED;
}

/**
 * struct hwt_timer - a timer object: a timer with a callback, as a part of another object
 * @hwt: the instance
 * @callback: the function
 * @slot: what the library keeps about an active timer; NULL: not active
 * @deadline: when the timer is due, ns on the instance's clock
 * @armed: a later @deadline than this need not be told to the module
 * @timeout: what hwt_timer_again() adds to the time; negative: there is none
 * @interval: of a periodic timer; negative: it counts from the end of the callback
 * @expirations: see hwt_timer_expirations()
 *
 *	struct connection {
 *		int fd;
 *		struct hwt_timer timeout;
 *	};
 *
 *	static void on_timeout(struct hwt_timer *timer)
 *	{
 *		struct connection *connection =
 *			hwt_timer_object(timer, struct connection, timeout);
 *		...
 *	}
 *
 *	hwt_timer_init(&connection->timeout, hwt, on_timeout);	once
 *	hwt_timer_start(&connection->timeout, 30 * SECOND);
 *	hwt_timer_again(&connection->timeout);	at each request: 30 s from now
 *	hwt_timer_stop(&connection->timeout);	before the connection is freed
 *
 * The timer is active from its start until it is stopped, or, if it is not periodic, until
 * its callback is called. While it is active, the object must not be moved, copied, freed
 * or initialized. Otherwise it is plain memory. Programs leave the fields alone.
 *
 * What these functions change is told to the module by hwt_flush(), which a loop calls once
 * before it waits; the adapters do so, and a hwt_dispatch() that waits. A deadline that is made
 * later need not be told: when the module's timer expires too early, the library gives it the
 * new deadline and calls nothing. A timer that was stopped may stay in the module, to serve the
 * next one that is started: as many as there are active timers, and 64.
 *
 * Callbacks are called by hwt_dispatch() alone. They may call all functions, for their own
 * object and others: start, stop, free; and they must return, as that of hwt_dispatch(). After
 * hwt_timer_stop() no callback comes, whatever has expired and was read or not. If a callback
 * itself calls hwt_dispatch(), other timers go on; a periodic timer has no second callback until
 * the first one has returned.
 *
 * A callback is never early. It is late as events are (see struct hwtimer_request), and if
 * its deadline was made later meanwhile and hwt_dispatch() finds the old one expired, not
 * later than that. Times are on the instance's clock; if that may be set, deadlines follow it.
 *
 * Timer objects belong to the process that has started the first one of the instance. In a child of
 * fork(), starting one, hwt_flush() and hwt_dispatch() fail with -EBADF; stopping one, and
 * hwt_timer_again() of one that is active, change the child's memory alone. hwt_close() ends the
 * child's use of the instance.
 *
 * An instance with timer objects may have other timers, too, whose user_data has not
 * 0x68777454 in its upper half. hwt_read() and hwt_next() then fail with -EBUSY. The process
 * must be in the time namespace of the process that opened the instance, and no other one
 * may read its events. An instance with HWTIMER_SETUP_AT_LEAST_ONCE has no timer objects: they end
 * with their process.
 */
struct hwt_timer {
	struct hwt *hwt;
	void (*callback)(struct hwt_timer *timer);
	struct hwt_slot *slot;
	int64_t deadline;
	int64_t armed;
	int64_t timeout;
	int64_t interval;
	uint64_t expirations;
};

/** hwt_timer_callback - function that is called when the timer is due */
typedef void (*hwt_timer_callback)(struct hwt_timer *timer);

/*
 * The object of @type whose member @member is *@timer. In C++, @type may be any class that does not
 * have the member from a virtual base.
 */
#ifdef __cplusplus
/* clang-format off */
#define hwt_timer_object(timer, type, member) \
	([&](struct hwt_timer *hwt_timer_) { \
		_Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"") \
		_Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") \
		return (type *)((char *)hwt_timer_ - offsetof(type, member)); \
		_Pragma("GCC diagnostic pop") \
	} (timer))
/* clang-format on */
#else
#define hwt_timer_object(timer, type, member) \
	((type *)((char *)&(timer)->hwt - offsetof(type, member)))
#endif

/**
 * hwt_timer_init - make a timer object, which is not active
 * @timer: memory, with any content
 * @hwt: the instance
 * @callback: the function
 */
void hwt_timer_init(struct hwt_timer *timer, struct hwt *hwt,
		    hwt_timer_callback callback);

/**
 * hwt_timer_start - start a timer, or start it anew
 * @timer: the object; may be active
 * @delay: ns from this call; a negative delay counts as 0
 *
 * Return: 0; the timer expires once. -ENOMEM, -EINVAL (the object was never initialized, or the
 * instance has HWTIMER_SETUP_AT_LEAST_ONCE), -EBADF (in a child of fork()), or an error of
 * hwt_info() at the first timer of the instance: nothing has changed.
 */
int hwt_timer_start(struct hwt_timer *timer, int64_t delay);

/* The same for a deadline on the instance's clock; HWTIMER_NEVER: active, but never due. */
int hwt_timer_start_at(struct hwt_timer *timer, uint64_t deadline);

/**
 * hwt_timer_start_every - start a periodic timer
 * @timer: the object; may be active
 * @delay: ns from this call to the first deadline
 * @interval: ns from one deadline to the next, at least 1
 * @flags: 0; or HWTIMER_REQ_FIXED_DELAY: @interval counts from the end of the callback
 *
 * The phase does not drift. The timer has one callback for all deadlines that have passed.
 *
 * Return: as hwt_timer_start(); -EINVAL.
 */
int hwt_timer_start_every(struct hwt_timer *timer, int64_t delay,
			  int64_t interval, unsigned int flags);

/**
 * hwt_timer_again - start a timer anew, as it was started last
 * @timer: the object, which was initialized; may be active
 *
 * As hwt_timer_start() with the same delay, or with the interval of a periodic timer. But
 * the delay counts from hwt_now(), the loop's time, so that this is only a store in most
 * cases. After hwt_timer_start_at() there is no delay.
 *
 * Return: as hwt_timer_start(); -EINVAL: there is no delay.
 */
int hwt_timer_again(struct hwt_timer *timer);

/**
 * hwt_timer_stop - stop a timer
 * @timer: the object; may be inactive, or all zeros
 *
 * After that its callback is not called, and the object may be freed.
 */
void hwt_timer_stop(struct hwt_timer *timer);

/* Returns 1 if the timer is active, and 0 if not. */
int hwt_timer_active(const struct hwt_timer *timer);

/* Returns the deadline; HWTIMER_NEVER: none. */
uint64_t hwt_timer_deadline(const struct hwt_timer *timer);

/* For callbacks: the number of deadlines that have passed; 1 if the timer is not periodic. */
uint64_t hwt_timer_expirations(const struct hwt_timer *timer);

/**
 * hwt_flush - tell the module what has changed about timer objects
 * @hwt: the instance
 *
 * A loop calls it before it waits. Without changes it makes no system call, with one change
 * one, with changes of one kind one per 512 of them.
 *
 * Return: 0; -ENOSPC, -ENOMEM, -ESHUTDOWN or another error of SCHEDULE or RESCHEDULE. Then
 * the module has not been told everything, and nothing is lost: the rest waits for the next
 * call. Until then hwt_dispatch() itself finds which of those timers are due. So the loop
 * must wait no longer than hwt_wait_ms() says, and then call hwt_dispatch() even if the
 * descriptor is not ready.
 */
int hwt_flush(struct hwt *hwt);

/* Returns the error of the last hwt_flush() if it has left something; 0 if not. */
int hwt_refused(const struct hwt *hwt);

/*
 * Returns how long, in ms, a loop may wait that would wait for @timeout; -1: for ever. If it is
 * not -1 for a @timeout of -1, the loop must call hwt_dispatch() after the wait even if the
 * descriptor is not ready.
 */
int hwt_wait_ms(const struct hwt *hwt, int timeout);

/* Returns the number of timer objects that are active. */
unsigned int hwt_active(const struct hwt *hwt);

/**
 * hwt_now - the time from which hwt_timer_again() counts, ns on the instance's clock
 * @hwt: the instance
 *
 * This is when it was first asked for since the last hwt_flush(), or since hwt_dispatch()
 * has read events, whichever is later. So it is never from before the loop has waited, and
 * a pass that takes long makes it old by that time, as in other loops. 0: an error of
 * hwt_info().
 */
uint64_t hwt_now(struct hwt *hwt);

/* With @yes = 0, hwt_now() always reads the clock: for loops that cannot call hwt_flush(). */
void hwt_cache_time(struct hwt *hwt, int yes);

/**
 * hwt_on_change - call a function at the first change after hwt_flush()
 * @hwt: the instance
 * @callback: the function, which must not call the library; NULL: none
 * @arg: its argument
 *
 * For loops that call nothing before they wait: the function makes the loop call hwt_flush(). It
 * is also a change if the first timer object becomes active, or the last one inactive.
 */
void hwt_on_change(struct hwt *hwt, void (*callback)(void *arg), void *arg);

/**
 * hwt_wrap_callbacks - have another function call the callbacks of timer objects
 * @hwt: the instance
 * @wrapper: the function, which calls timer->callback(timer); NULL: none
 * @arg: its first argument
 *
 * For adapters, which call hwt_break() if the callback has ended the loop, and catch exceptions.
 */
void hwt_wrap_callbacks(struct hwt *hwt,
			void (*wrapper)(void *arg, struct hwt_timer *timer),
			void *arg);

/* Returns 0 if hwt_dispatch() can be used in a loop; -EINVAL if it would block. */
int hwt_dispatch_check(struct hwt *hwt);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif /* LIBHWTIMER_H */
