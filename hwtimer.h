/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instance, its locks, and the layers of the module.
 *
 * An instance is what one open("/dev/hwtimer") or one hwtimer_client_create() gives. Its
 * owner is the file or the kernel client. The worker only borrows it, until
 * hwtimer_worker_detach() returns.
 *
 *   file ──> instance ──> wheel    which timers are due
 *                    ├──> table    the state of each timer
 *                    ├──> pool     memory for buckets and events
 *                    ├──> ready    events that wait to be read
 *                    ├──> exchange requests and events through mapped rings
 *                    ├──> notice   when and how readers are told
 *                    └──> job      what the worker does for it
 *
 * Layers. The order of the objects in Kbuild is the order of the layers, with the faces at
 * the top and the memory at the bottom. No object uses a symbol of an object above it;
 * `make lint` checks that. A low layer that has to tell a high one something calls a function
 * that the high one gave it: an alarm's, a wait-queue entry's, or a chore's.
 *
 *   faces        main, ioctl, batch, client, debug, stats, occupancy
 *   whole        instance, turn
 *   rings        exchange, submission
 *   operations   bulk, request, op
 *   delivery     harvest, period, notice, completion
 *   services     supply, wakeup, registry, trace, settings, ring, worker, clock
 *   wheel        wheel, hashed, hierarchy, table, chunk
 *
 * Locks, in the order in which they are taken:
 *
 *   instance->setup      mutex: the settings, until the instance starts
 *   instance->harvest    mutex: taking timers out, by read(), STOP or a client's callbacks.
 *                        Held while user memory is accessed, or a client's function runs
 *   exchange->drain      mutex: taking requests out of the submission ring
 *     instance->lock     spinlock: everything else in the instance
 *     readers.lock       spinlock of the wait queue
 *       worker->lock     spinlock: the worker's queues of alarms
 *
 * No two of the mutexes are held together, with one exception: the first timer takes setup
 * inside drain. instance->lock and readers.lock are not held together either. mmap() takes
 * setup inside mmap_lock. A client's functions run with its harvest held, and may take locks
 * of their own; lockdep has a class for each client's harvest. open() is called with the
 * mutex of all misc devices held, and takes none of these mutexes. No interrupt takes any of
 * these locks: the hrtimer's callback only wakes the worker.
 *
 * The registry of all instances has a spinlock of its own, see hwtimer_registry.c. It is
 * taken with none of the above held but a client's harvest.
 *
 * One hold of instance->lock deals with HWTIMER_HOLD timers at most, and nothing under it
 * sleeps or allocates. hwtimer_supply_reserve() brings the memory before.
 */
#ifndef HWTIMER_H
#define HWTIMER_H

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/linux/hwtimer.h>

#include "hwtimer_chunk.h"
#include "hwtimer_clock.h"
#include "hwtimer_exchange.h"
#include "hwtimer_harvest.h"
#include "hwtimer_notice.h"
#include "hwtimer_registry.h"
#include "hwtimer_settings.h"
#include "hwtimer_supply.h"
#include "hwtimer_table.h"
#include "hwtimer_wakeup.h"
#include "hwtimer_wheel.h"
#include "hwtimer_worker.h"

static_assert(IS_ENABLED(CONFIG_64BIT), "hwtimer needs a 64-bit kernel");

struct hwtimer_chore;

/**
 * struct hwtimer_instance - one wheel and all that belongs to it
 * @setup: see above
 * @harvest: see above
 * @lock: see above; protects all members of which nothing else is said
 * @settings: written with both @setup and @lock held, so read with either; constant once
 *	@started. hwtimer_settings_get() reads them without a lock
 * @offsets: how far each clock in the time namespace in which the file was opened is ahead
 *	of the host's clock, ns, by the number of the clock; 0 for a kernel client. Constant
 *	before the first timer
 * @started: the wheel and the table exist; set once
 * @stopped: STOP was called; set once
 * @wheel: the wheel
 * @wheel_memory: the memory of its buckets; constant once @started
 * @table: the records
 * @pool: the chunks
 * @ready: indices of expired records, in the order in which they expired. Records that are
 *	leaving stay at the front until the holder of @harvest takes them out, and nobody
 *	else passes them
 * @discards: number of records in @ready that are to be dropped; also read without the lock
 * @periodic: number of periodic timers, which have two records each
 * @exchange: the rings; see there for its locks
 * @notice: when and how readers are told
 * @stats: the counters. hwtimer_stats_get() adds those that the wheel and the worker keep;
 *	pending and ready are always exact. ready is also read without the lock
 * @wakeup: when the wheel has to be turned
 * @trim: spare chunks on trial
 * @stopping: how far STOP has come
 * @leaving: the timers that are leaving at the moment; protected by @harvest
 * @readers: the readers that wait for events, or for the end
 * @job: what the worker does for the instance; protected by the worker's lock
 * @chore: what a kernel client has the worker do; NULL: nothing. Constant before the first
 *	timer, as is @callbacks
 * @callbacks: a kernel client gets the events by callbacks. It can wait until a callback has
 *	finished, so a timer that is leaving is still known by its id
 * @nr: number of the instance, from 1 on; never used again while the module is loaded;
 *	constant
 * @opener: process that opened it; constant
 * @listing: the place in the registry
 */
struct hwtimer_instance {
	struct mutex setup; /* see above */
	struct mutex harvest; /* see above */
	spinlock_t lock; /* see above */

	struct hwtimer_settings settings;
	s64 offsets[HWTIMER_CLOCKS];
	bool started;
	bool stopped;

	struct hwtimer_wheel wheel;
	void *wheel_memory;
	struct hwtimer_table table;
	struct hwtimer_pool pool;
	struct hwtimer_queue ready;
	u64 discards;
	u32 periodic;
	struct hwtimer_exchange exchange;
	struct hwtimer_notice notice;
	struct hwtimer_stats stats;
	struct hwtimer_wakeup wakeup;
	struct hwtimer_trim trim;

	struct hwtimer_stopping stopping;
	struct hwtimer_leaving leaving;
	wait_queue_head_t readers;

	struct hwtimer_job job;
	struct hwtimer_chore *chore;
	bool callbacks;

	u64 nr;
	pid_t opener;
	struct hwtimer_listing listing;
};

/* Whether the wheel and the table exist, and the settings are constant; no lock needed. */
static inline bool
hwtimer_instance_started(const struct hwtimer_instance *instance)
{
	/* Pairs with the smp_store_release() in wheel_begin(). */
	return smp_load_acquire(&instance->started);
}

/*
 * Whether no event is left, and none will come; no lock needed. Nothing is queued once
 * @stopped is set, so the number of events that is read after it is final.
 */
static inline bool
hwtimer_instance_drained(const struct hwtimer_instance *instance)
{
	/* Pairs with the smp_store_release() in stop_first(). */
	return smp_load_acquire(&instance->stopped) &&
	       !READ_ONCE(instance->stats.ready);
}

/* The number of timers that count against the limit. */
static inline u32
hwtimer_instance_timers(const struct hwtimer_instance *instance)
{
	return instance->table.used - instance->periodic;
}

/*
 * The time on the instance's clock, ns: what clock_gettime() returns in the time namespace
 * in which the file was opened, wherever the caller runs. All times of an instance
 * (deadlines, ticks, wakeup.at, stopping.at, what user space and tracing are told) are of
 * this clock. The alarm job.turns converts to the host's clock, see hwtimer_worker_kick().
 * Only job.chores, the notice and the exchange go by the host's CLOCK_MONOTONIC, as they
 * measure nothing but durations.
 *
 * The settings are locked, or constant.
 */
static inline u64 hwtimer_instance_now(const struct hwtimer_instance *instance)
{
	const struct hwtimer_clock *clock = instance->settings.clock;

	return clock->now() + instance->offsets[clock->nr];
}

/*
 * Adds @count, which may be negative, to the number of events that wait. Readers read the
 * number with no lock held, and are woken after it has changed.
 */
static inline void hwtimer_instance_add_ready(struct hwtimer_instance *instance,
					      s64 count)
{
	lockdep_assert_held(&instance->lock);
	WRITE_ONCE(instance->stats.ready, instance->stats.ready + count);
}

/* The same for discarded events that are still in the queue. */
static inline void
hwtimer_instance_add_discards(struct hwtimer_instance *instance, s64 count)
{
	lockdep_assert_held(&instance->lock);
	WRITE_ONCE(instance->discards, instance->discards + count);
}

/*
 * Whether the wheel may stand too far behind the clock; the instance's lock is held. Goes by
 * jiffies, as reading a clock takes as long as scheduling a timer.
 */
static inline bool
hwtimer_instance_behind(const struct hwtimer_instance *instance)
{
	return time_after_eq64(get_jiffies_64(), instance->wakeup.follow_at);
}

#endif /* HWTIMER_H */
