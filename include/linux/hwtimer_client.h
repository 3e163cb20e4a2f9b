/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel clients: timers in a hwtimer wheel for other modules. A module that uses
 * this depends on hwtimer, so hwtimer cannot be unloaded before it. See
 * Documentation/kernel-clients.md, and samples/watchdog/, which can be copied.
 *
 * A client is to a module what a descriptor is to a program: a wheel with its own
 * tick, clock and limit. Each timer ends once: it is cancelled, its (last) callback
 * runs, or it is handed back. A timer is never early. All timers of a client share one
 * callback, which runs for one timer at a time, in the order in which the timers
 * expire. It runs in hwtimer's worker, or on a workqueue that the client provides.
 *
 * Requests and events, and the meaning of their fields, are those of
 * <uapi/linux/hwtimer.h>. Where that header says that read() takes an event, the
 * callback of a client begins.
 *
 * All functions but hwtimer_client_private() may sleep: call them in process context,
 * without a spinlock held and with interrupts on. Any number of threads may call them,
 * and so may callbacks, unless the function's comment says otherwise.
 */
#ifndef _LINUX_HWTIMER_CLIENT_H
#define _LINUX_HWTIMER_CLIENT_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_client;
struct workqueue_struct;

/**
 * enum hwtimer_client_clock - the clock of a client's wheel
 * @HWTIMER_CLIENT_MONOTONIC: CLOCK_MONOTONIC
 * @HWTIMER_CLIENT_BOOTTIME: CLOCK_BOOTTIME: continues while the machine is
 *	suspended
 * @HWTIMER_CLIENT_REALTIME: CLOCK_REALTIME: may be set, and deadlines follow it;
 *	delays are refused, so requests must have HWTIMER_ABSOLUTE
 */
enum hwtimer_client_clock {
	HWTIMER_CLIENT_MONOTONIC,
	HWTIMER_CLIENT_BOOTTIME,
	HWTIMER_CLIENT_REALTIME,
};

/**
 * struct hwtimer_client_options - options for hwtimer_client_create()
 * @expire: callback, called once for each event of a timer; see below
 * @private: pointer for hwtimer_client_private()
 * @workqueue: workqueue on which @expire runs; NULL: it runs in the worker. Must
 *	exist until hwtimer_client_destroy() has returned
 * @tick: ns, 10 us to 1 h; 0: 1 ms
 * @timers: limit of timers, pending and expired; 0: the module's default_timers. A
 *	timer that was cancelled after it had expired counts until its callback
 *	would have been called
 * @buckets: 8 to 1,048,576, rounded up to a power of two; 0: 4,096
 * @kind: enum hwtimer_kind; 0: the module's default_kind
 * @clock: clock of the wheel
 *
 * @expire runs in process context. The event is valid until @expire returns, and so
 * is the id of the timer. A periodic timer keeps its id until its last event.
 *
 * In the worker, all other instances of that worker wait for @expire, including those
 * of programs. So it must be short, and must not wait for anything that another timer
 * does. It must not sleep in schedule_timeout() without a condition, because the worker
 * is woken up for other reasons, too.
 *
 * On a workqueue, @expire may run and sleep for as long as it likes, and delays only
 * the timers of its own client. Callbacks that are to run at the same time need
 * several clients, or work items of their own.
 */
struct hwtimer_client_options {
	void (*expire)(struct hwtimer_client *client,
		       const struct hwtimer_event *event);
	void *private;
	struct workqueue_struct *workqueue;
	u64 tick;
	u64 timers;
	u32 buckets;
	u32 kind;
	enum hwtimer_client_clock clock;
};

/**
 * typedef hwtimer_return_fn - function that gets back a timer that was not processed
 * @client: the client
 * @timer: the timer; its id is no longer valid. @remaining is 0 if the timer had
 *	expired, but its callback had not begun
 *
 * hwtimer_client_stop() calls the function in its own context. The function may cancel
 * other timers of the client, which are then not handed back. It must not wait for the
 * client's workqueue.
 */
typedef void (*hwtimer_return_fn)(struct hwtimer_client *client,
				  const struct hwtimer_unprocessed *timer);

struct hwtimer_client *
hwtimer_client_create(const struct hwtimer_client_options *options);
int hwtimer_client_schedule(struct hwtimer_client *client,
			    struct hwtimer_request *request);
int hwtimer_client_reschedule(struct hwtimer_client *client, u64 id, u64 time,
			      u32 flags);
int hwtimer_client_cancel(struct hwtimer_client *client, u64 id);
int hwtimer_client_cancel_sync(struct hwtimer_client *client, u64 id);
int hwtimer_client_stop(struct hwtimer_client *client,
			hwtimer_return_fn unprocessed);
int hwtimer_client_destroy(struct hwtimer_client *client);
void *hwtimer_client_private(const struct hwtimer_client *client);
void hwtimer_client_stats(struct hwtimer_client *client,
			  struct hwtimer_stats *stats);

#endif /* _LINUX_HWTIMER_CLIENT_H */
