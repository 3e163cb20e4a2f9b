/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel clients: timers of a wheel of hwtimer's, for other modules. A module
 * that uses this depends on hwtimer, which cannot be unloaded before it. See
 * Documentation/kernel-clients.md, and samples/watchdog/, which can be copied.
 *
 * A client is what a descriptor is to a program: a wheel with its own tick,
 * clock and limit. Its timers end once: cancelled, called, or handed back. They
 * are never early. There is one callback for all of them, which runs for one
 * timer at a time, in the order in which they expire: in hwtimer's worker, or on
 * a workqueue that the client brings.
 *
 * Requests, and what they may ask for, are those of <uapi/linux/hwtimer.h>: there
 * is what each field of struct hwtimer_request and struct hwtimer_event means.
 * Where it says that read() takes an event, here the callback begins.
 *
 * All functions may sleep: they are for process context, without a spinlock held
 * and with interrupts on. They may be called from any number of threads, and from
 * callbacks, unless it says otherwise.
 */
#ifndef _LINUX_HWTIMER_CLIENT_H
#define _LINUX_HWTIMER_CLIENT_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_client;
struct workqueue_struct;

/**
 * enum hwtimer_client_clock - the clock by which a client's wheel turns
 * @HWTIMER_CLIENT_MONOTONIC: CLOCK_MONOTONIC
 * @HWTIMER_CLIENT_BOOTTIME: CLOCK_BOOTTIME: goes on while the machine is
 *	suspended
 * @HWTIMER_CLIENT_REALTIME: CLOCK_REALTIME: may be set, and deadlines follow it;
 *	delays are refused, HWTIMER_ABSOLUTE it must be
 */
enum hwtimer_client_clock {
	HWTIMER_CLIENT_MONOTONIC,
	HWTIMER_CLIENT_BOOTTIME,
	HWTIMER_CLIENT_REALTIME,
};

/**
 * struct hwtimer_client_options - what a client is like
 * @expire: called once for each timer that expires; see below
 * @private: for hwtimer_client_private()
 * @workqueue: where @expire runs; NULL: in the worker. Must exist until
 *	hwtimer_client_destroy() has returned
 * @tick: ns, 10 us to 1 h; 0: 1 ms
 * @timers: limit of timers, pending and expired; 0: the module's default_timers.
 *	What was cancelled after it had expired counts until its turn would have come
 * @buckets: 8 to 1,048,576, rounded up to a power of two; 0: 4,096
 * @kind: enum hwtimer_kind; 0: the module's default_kind
 * @clock: by which the wheel turns
 *
 * @expire runs in process context. In the worker, all other instances of that
 * worker wait for it, those of programs too: it must be short, must not wait for
 * what another timer does, nor sleep in schedule_timeout() without a condition, as
 * the worker is woken up for other reasons, too. On a workqueue it may take and sleep as long as it
 * likes, and holds up nobody but the timers of its own client; callbacks that
 * shall run at the same time need several clients, or work items of their own.
 * The event is valid until @expire returns, and so is the timer's id.
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
 * typedef hwtimer_return_fn - takes a timer that was never processed
 * @client: whose it was
 * @timer: what it was; its id is no longer valid. A timer that had expired, but
 *	whose callback had not begun, has @remaining 0
 *
 * Called by hwtimer_client_stop(), in its context. It may cancel other timers of the
 * client, which are then not handed back, but must not wait for the client's workqueue.
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
