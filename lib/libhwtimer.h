/* SPDX-License-Identifier: MIT */
/*
 * libhwtimer: the calls of /dev/hwtimer as functions, for programs. The manual is
 * libhwtimer(3).
 *
 * Every function returns a negative errno when it fails. <linux/hwtimer.h> describes
 * the structures; times are nanoseconds.
 *
 * Threads: any number of threads may call any function on the same instance at the
 * same time, with two exceptions. No other call may run beside hwt_close(). Only one
 * call of hwt_next() or hwt_dispatch() may run at a time, because these two keep a
 * buffer of events that have been read and not been returned yet; after fork(), only
 * one process may use them.
 *
 * A buffered event is still returned, whatever happens to its timer meanwhile.
 * Cancelling the timer then fails with -ENOENT. A periodic timer is pending again by
 * then: cancelling it succeeds, and its buffered event is still returned. So free what
 * user_data points to only after hwt_dispatch() has returned, or hwt_next() has
 * returned -EAGAIN.
 */
#ifndef LIBHWTIMER_H
#define LIBHWTIMER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/hwtimer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header; hwt_version() returns the version of the library. */
#define HWT_VERSION_MAJOR 1
#define HWT_VERSION_MINOR 0
#define HWT_VERSION (HWT_VERSION_MAJOR << 16 | HWT_VERSION_MINOR)

/** struct hwt - an instance: an open /dev/hwtimer */
struct hwt;

/** HWT_NONBLOCK - flag for hwt_open(), hwt_from_fd(): reading does not wait for events */
#define HWT_NONBLOCK (1U << 0)

/* Returns the version of the library in use: major << 16 | minor. */
unsigned int hwt_version(void);

/**
 * hwt_open - open an instance
 * @hwt: out: the instance
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
 * @hwt: out: the instance
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
 * Events that another process has read, but not handled, are gone. See "Sharing an
 * instance between processes" in the guide.
 *
 * Return: 0; -EBADF (@fd is not open), -ENOTTY (@fd is not an hwtimer), -EPROTO (the
 * module has another ABI version), -EINVAL (@flags), -ENOMEM.
 */
int hwt_from_fd(struct hwt **hwt, int fd, unsigned int flags);

/*
 * Closes the descriptor. The instance and all its timers end with the last descriptor and
 * mapping. NULL is allowed.
 */
void hwt_close(struct hwt *hwt);

/* Returns the descriptor, for poll() and the like; only hwt_close() may close it. */
int hwt_fd(const struct hwt *hwt);

/* Returns the features of the module, HWTIMER_FEATURE_*. */
uint64_t hwt_features(const struct hwt *hwt);

/*
 * A structure that may grow is as long as in the header that the program was compiled
 * with, which may be of another version than the library. So these functions take its
 * size. Programs call the functions without _sized.
 */
int hwt_setup_sized(struct hwt *hwt, struct hwtimer_setup *setup, size_t size);
int hwt_info_sized(struct hwt *hwt, struct hwtimer_info *info, size_t size);
int hwt_stats_sized(struct hwt *hwt, struct hwtimer_stats *stats, size_t size);

/**
 * hwt_setup - HWTIMER_IOC_SETUP
 * @hwt: the instance, without timers yet
 * @setup: the settings; the function fills in the size. Note that a clock of 0 is
 *	CLOCK_REALTIME
 */
static inline int hwt_setup(struct hwt *hwt, struct hwtimer_setup *setup)
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
 * @delay: ns from now; a negative delay counts as 0
 * @user_data: value that is returned in the event
 * @id: out: the timer's id; NULL: not wanted
 */
int hwt_schedule(struct hwt *hwt, int64_t delay, uint64_t user_data,
		 uint64_t *id);

/* The same, at a deadline on the instance's clock; may be past, or HWTIMER_NEVER. */
int hwt_schedule_at(struct hwt *hwt, uint64_t deadline, uint64_t user_data,
		    uint64_t *id);

/**
 * hwt_schedule_request - schedule a timer of any kind: periodic, or with slack
 * @hwt: the instance
 * @request: in: the timer; out: its id
 */
int hwt_schedule_request(struct hwt *hwt, struct hwtimer_request *request);

/* Ends a timer: 0, -ENOENT, or -EALREADY (its event waits to be read). */
int hwt_cancel(struct hwt *hwt, uint64_t id);

/* The same, but drops the event if it waits: 0 or -ENOENT. */
int hwt_discard(struct hwt *hwt, uint64_t id);

/* Moves a pending timer to @delay ns from now; a negative delay counts as 0. */
int hwt_reschedule(struct hwt *hwt, uint64_t id, int64_t delay);

/* The same, to @deadline. */
int hwt_reschedule_at(struct hwt *hwt, uint64_t id, uint64_t deadline);

/**
 * hwt_schedule_many - schedule many timers that expire once, with few system calls
 * @hwt: the instance
 * @flags: HWTIMER_ABSOLUTE, or 0 for delays
 * @timers: array of @count timers: user_data and time
 * @results: out: array of @count results: each an id or a negative errno; see
 *	hwt_error()
 * @count: number of timers
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

/* The same for CANCEL; @flags: HWTIMER_DISCARD or 0. @results may be NULL. */
int hwt_cancel_many(struct hwt *hwt, unsigned int flags, const uint64_t *ids,
		    uint64_t *results, unsigned int count);

/* The same for operations of any kind, each of which holds its own result. */
int hwt_submit(struct hwt *hwt, struct hwtimer_request *requests,
	       unsigned int count);

/* Returns the negative errno of a result; 0 if the result is no error. */
static inline int hwt_error(uint64_t result)
{
	return result >= (uint64_t)-4095LL ? (int)(int64_t)result : 0;
}

/* HWTIMER_IOC_QUERY; @query: in: the timer's id; out: all other fields. */
int hwt_query(struct hwt *hwt, struct hwtimer_query *query);

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
int hwt_list(struct hwt *hwt, uint64_t *cursor, struct hwtimer_listed *timers,
	     unsigned int count);

/**
 * hwt_stop - stop the wheel, and take back timers that have not expired
 * @hwt: the instance
 * @timers: out: array with room for @count timers
 * @count: length of @timers; 0: only stop
 * @left: out, also after -EAGAIN: number of timers still to be taken back; NULL: not
 *	wanted
 *
 * Return: number of timers written to @timers. -EAGAIN: only periodic timers whose
 * events wait are left; read events, and call again. -EINTR, -EFAULT: the wheel is
 * stopped; call again.
 */
int hwt_stop(struct hwt *hwt, struct hwtimer_unprocessed *timers,
	     unsigned int count, uint64_t *left);

/* HWTIMER_IOC_STATS */
static inline int hwt_stats(struct hwt *hwt, struct hwtimer_stats *stats)
{
	return hwt_stats_sized(hwt, stats, sizeof(*stats));
}

/**
 * hwt_notify - choose when poll() is ready
 * @hwt: the instance
 * @events: number of waiting events at which poll() is ready; 0 and 1: at the first
 * @delay: ns after the first event at which poll() is ready anyway, or HWTIMER_NEVER;
 *	must be 0 if @events is 0 or 1, and not 0 otherwise
 * @eventfd: descriptor of an eventfd that is told, too; -1: none
 */
int hwt_notify(struct hwt *hwt, unsigned int events, uint64_t delay,
	       int eventfd);

/**
 * hwt_read - read events
 * @hwt: the instance
 * @events: out: array with room for @count events
 * @count: length of @events, at least 1
 *
 * Return: number of events read; 0: the instance is stopped, and no event will come;
 * -EAGAIN (HWT_NONBLOCK), -EINTR, -ECANCELED (the clock was set), -EPERM, -ENOMEM or
 * -EUSERS (the owner is gone, and this process cannot adopt the instance).
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
 * Return: 1: there is an event; otherwise as hwt_read().
 */
int hwt_next(struct hwt *hwt, struct hwtimer_event *event);

/** hwt_callback - function that is called for an event; @arg is hwt_dispatch()'s */
typedef void (*hwt_callback)(void *arg, const struct hwtimer_event *event);

/**
 * hwt_dispatch - call a function for each event that waits
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: the function; it may schedule and cancel, but must not call hwt_close(),
 *	hwt_next() or hwt_dispatch()
 * @arg: first argument of @callback
 * @max: maximum number of events, so that other work gets its turn. If hwt_dispatch()
 *	returns @max, remaining events make poll() ready again, unless
 *	hwt_notify() asks for more events at a time or hwt_next() has read some: then
 *	call again
 *
 * Return: number of events; -EAGAIN: none; -ENOTCONN: the instance is stopped, and no
 * event will come; -EINTR; -ECANCELED: the clock was set, whether there were events
 * before that or not; other errors as hwt_read().
 */
int hwt_dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
		 unsigned int max);

/*
 * Returns a value other than 0 if @ret, which hwt_dispatch() has returned, is an error
 * that may stay. A loop must remove the instance then, because the descriptor may stay
 * ready, and the loop would do nothing else.
 */
static inline int hwt_dispatch_failed(int ret)
{
	return ret < 0 && ret != -EAGAIN && ret != -EINTR && ret != -ECANCELED;
}

/*
 * Returns 0 if hwt_dispatch() can be used in a loop; -EINVAL if it would block, or if
 * events go to a ring.
 */
int hwt_dispatch_check(struct hwt *hwt);

#ifdef __cplusplus
}
#endif

#endif /* LIBHWTIMER_H */
