/* SPDX-License-Identifier: MIT */
/*
 * libhwtimer: the calls of /dev/hwtimer as functions. For programs; libhwtimer(3)
 * is the manual.
 *
 * Every function returns a negative errno when it fails. What the structures mean
 * is in <linux/hwtimer.h>; times are nanoseconds.
 *
 * Threads: all functions may be called by any number of threads at a time on the
 * same instance, but for hwt_close(), which nobody may be beside, and hwt_next() and
 * hwt_dispatch(), of which one may run at a time: they keep events that have been
 * read and not given away yet. After fork(), one process only may use these two.
 *
 * Such events still come, whatever is done to their timers meanwhile: cancelling
 * one fails with -ENOENT, but a periodic timer is pending again by then, and is
 * cancelled, and its event comes nevertheless. So free what user_data points to
 * when hwt_dispatch() has returned, or hwt_next() has said -EAGAIN.
 */
#ifndef LIBHWTIMER_H
#define LIBHWTIMER_H

#include <stddef.h>
#include <stdint.h>

#include <linux/hwtimer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; hwt_version() is that of the library. */
#define HWT_VERSION_MAJOR 1
#define HWT_VERSION_MINOR 0
#define HWT_VERSION (HWT_VERSION_MAJOR << 16 | HWT_VERSION_MINOR)

/** struct hwt - an instance: an open /dev/hwtimer */
struct hwt;

/** HWT_NONBLOCK - for hwt_open(): reading does not wait for events */
#define HWT_NONBLOCK (1U << 0)

/* Of the library in use: major << 16 | minor. */
unsigned int hwt_version(void);

/**
 * hwt_open - open an instance
 * @hwt: out
 * @flags: HWT_NONBLOCK
 *
 * The descriptor is closed on exec.
 *
 * Return: 0; -ENOENT (the module is not loaded), -EACCES, -ENFILE, -EMFILE,
 * -ENOMEM, -EINVAL (@flags), -EPROTO (the module is of another ABI).
 */
int hwt_open(struct hwt **hwt, unsigned int flags);

/* The end of an instance and all its timers. NULL is fine. */
void hwt_close(struct hwt *hwt);

/* The descriptor, for poll() and the like; it stays the instance's. */
int hwt_fd(const struct hwt *hwt);

/* HWTIMER_FEATURE_*: what the module can do. */
uint64_t hwt_features(const struct hwt *hwt);

/*
 * Structures that may grow are as long as the program's header says, which may be of
 * another version than the library. Programs call the functions without _sized.
 */
int hwt_setup_sized(struct hwt *hwt, struct hwtimer_setup *setup, size_t size);
int hwt_info_sized(struct hwt *hwt, struct hwtimer_info *info, size_t size);
int hwt_stats_sized(struct hwt *hwt, struct hwtimer_stats *stats, size_t size);

/**
 * hwt_setup - HWTIMER_IOC_SETUP
 * @hwt: without timers yet
 * @setup: all but the size, which is filled in. Mind that the clock is not
 *	CLOCK_MONOTONIC when it is 0
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
 * hwt_schedule - a timer for once
 * @hwt: where
 * @delay: ns from now; negative: 0
 * @user_data: comes back in the event
 * @id: out; NULL: not wanted
 */
int hwt_schedule(struct hwt *hwt, int64_t delay, uint64_t user_data,
		 uint64_t *id);

/* The same at a deadline on the instance's clock, be it the past or HWTIMER_NEVER. */
int hwt_schedule_at(struct hwt *hwt, uint64_t deadline, uint64_t user_data,
		    uint64_t *id);

/**
 * hwt_schedule_request - a timer of any kind: periodic, with slack
 * @hwt: where
 * @request: in, and out: its id
 */
int hwt_schedule_request(struct hwt *hwt, struct hwtimer_request *request);

/* Ends a timer: 0, -ENOENT, or -EALREADY (its event waits to be read). */
int hwt_cancel(struct hwt *hwt, uint64_t id);

/* The same, and drops the event if it waits: 0 or -ENOENT. */
int hwt_discard(struct hwt *hwt, uint64_t id);

/* Another deadline for a pending timer: @delay ns from now; negative: 0. */
int hwt_reschedule(struct hwt *hwt, uint64_t id, int64_t delay);

/* The same, at @deadline. */
int hwt_reschedule_at(struct hwt *hwt, uint64_t id, uint64_t deadline);

/**
 * hwt_schedule_many - many timers for once, in as few calls as it takes
 * @hwt: where
 * @flags: HWTIMER_ABSOLUTE, or 0 for delays
 * @timers: @count of them: user_data and time
 * @results: out: of each the id, or a negative errno; see hwt_error()
 * @count: how many
 *
 * A signal does not end it early. Returns how many have a result, which is all
 * but after an error that ends it; and the error if there is none.
 */
int hwt_schedule_many(struct hwt *hwt, unsigned int flags,
		      const struct hwtimer_bulk_timer *timers,
		      uint64_t *results, unsigned int count);

/* The same for new deadlines: id and time. @results may be NULL. */
int hwt_reschedule_many(struct hwt *hwt, unsigned int flags,
			const struct hwtimer_bulk_timer *timers,
			uint64_t *results, unsigned int count);

/* The same for ends; @flags: HWTIMER_DISCARD or 0. @results may be NULL. */
int hwt_cancel_many(struct hwt *hwt, unsigned int flags, const uint64_t *ids,
		    uint64_t *results, unsigned int count);

/* Operations of any kind, each with its own result. As hwt_schedule_many(). */
int hwt_submit(struct hwt *hwt, struct hwtimer_request *requests,
	       unsigned int count);

/* The negative errno that a result stands for; 0: it is none. */
static inline int hwt_error(uint64_t result)
{
	return result >= (uint64_t)-4095LL ? (int)(int64_t)result : 0;
}

/* HWTIMER_IOC_QUERY; @query: out, and in: its id. */
int hwt_query(struct hwt *hwt, struct hwtimer_query *query);

/**
 * hwt_stop - end the wheel, and take back timers that have not expired
 * @hwt: which
 * @timers: room for @count of them
 * @count: 0: only stop
 * @left: out, also at -EAGAIN: how many there are beyond these; NULL: not wanted
 *
 * Return: how many came. -EAGAIN: those that are left are periodic timers whose
 * events wait; read events, and ask again. -EINTR, -EFAULT: the wheel has ended; ask
 * again.
 */
int hwt_stop(struct hwt *hwt, struct hwtimer_unprocessed *timers,
	     unsigned int count, uint64_t *left);

/* HWTIMER_IOC_STATS */
static inline int hwt_stats(struct hwt *hwt, struct hwtimer_stats *stats)
{
	return hwt_stats_sized(hwt, stats, sizeof(*stats));
}

/**
 * hwt_notify - when poll() is ready
 * @hwt: of which
 * @events: at so many; 0 and 1: at the first
 * @delay: ns after the first, or HWTIMER_NEVER; 0 if @events is 0 or 1, and not
 *	otherwise
 * @eventfd: told, too; -1: none
 */
int hwt_notify(struct hwt *hwt, unsigned int events, uint64_t delay,
	       int eventfd);

/**
 * hwt_read - read events
 * @hwt: of which
 * @events: room for @count of them
 * @count: at least 1
 *
 * Return: how many came; 0: the instance is stopped, and there will be none;
 * -EAGAIN (HWT_NONBLOCK), -EINTR, -ECANCELED (the clock was set).
 */
int hwt_read(struct hwt *hwt, struct hwtimer_event *events, unsigned int count);

/**
 * hwt_next - the next event
 * @hwt: of which
 * @event: out
 *
 * Reads many at a time, so call until it says -EAGAIN before poll() is asked
 * again: what has been read already does not make the descriptor ready.
 *
 * Return: 1: there is one; otherwise as hwt_read().
 */
int hwt_next(struct hwt *hwt, struct hwtimer_event *event);

/** hwt_callback - what is called for an event; @arg as given */
typedef void (*hwt_callback)(void *arg, const struct hwtimer_event *event);

/**
 * hwt_dispatch - call a function for each event that waits
 * @hwt: opened with HWT_NONBLOCK
 * @callback: may schedule and cancel; not hwt_close(), hwt_next(), hwt_dispatch()
 * @arg: of it
 * @max: so many at the most, that others get their turn. If it returns that, the
 *	rest makes poll() ready again, unless hwt_notify() wants more at a time, or
 *	hwt_next() has read some: then call again
 *
 * Return: how many; -EAGAIN: none; -ENOTCONN: the instance is stopped, and there
 * will be none; -EINTR; -ECANCELED: the clock was set, whether there were events
 * before that or not.
 */
int hwt_dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
		 unsigned int max);

/* 0 if hwt_dispatch() can serve a loop; -EINVAL: it blocks, or events go to a ring. */
int hwt_dispatch_check(struct hwt *hwt);

#ifdef __cplusplus
}
#endif

#endif /* LIBHWTIMER_H */
