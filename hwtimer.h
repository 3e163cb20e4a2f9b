/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Defines the instance, its locks, and the rooms of the module.
 *
 * One open("/dev/hwtimer") creates one instance, which belongs to the file. The worker that
 * turns its wheel uses the instance, too, until it has left it.
 *
 *   file ─> instance ──> wheel    which timers are due
 *                   ├──> table    the state of each timer
 *                   ├──> pool     memory for buckets
 *                   ├──> events   events that wait to be read
 *                   ├──> notice   when and how readers are told of events
 *                   └──> job      the alarms at which the worker serves the instance
 *
 * Rooms. Each folder of the module is a room; Kbuild lists them from the highest to the lowest. A
 * room has one face, room/room.h. A file calls its own room and rooms below it; `make lint` checks
 * that. To tell a higher room something, a lower one calls a function pointer that the higher one
 * has set: in an alarm or a work item.
 *
 *   instance	one open file: its calls, its settings, its life
 *   show	STATS, QUERY, LIST, fdinfo, debugfs
 *   timers	SCHEDULE, CANCEL and RESCHEDULE, of one timer or many; CANCEL_ALL
 *   events	timers expire, are read, and periodic ones come back
 *   memory	reserves what timers need, and accounts for it
 *   worker	the threads that turn the wheels, and when they wake up
 *   wheel	which timers are due: data structures without a lock or a clock
 *
 * Locks. A lock is taken inside the locks that are indented less:
 *
 *   instance->setup      mutex: the settings, until the instance starts
 *     instance->lock     spinlock: everything else in the instance
 *       worker->lock     raw spinlock: the worker's tenants, and their alarms
 *
 * open() is called with the mutex of all misc devices held, and takes none of them.
 *
 * The lock of the wait queue readers is never taken with instance->lock held. No interrupt
 * handler takes any of these locks: the hrtimer's callback only wakes the worker.
 *
 * The registry of all instances and the accounts have a raw spinlock each, for open(),
 * close() and readers of debugfs; see show/registry.c and memory/account.c. A thread that
 * takes one of them holds none of the locks above. Charging an account takes no lock.
 *
 * One hold of instance->lock handles at most HWTIMER_HOLD timers. The holder neither
 * sleeps nor allocates memory: hwtimer_supply_reserve() allocates before it takes the
 * lock, and user memory is written with page faults disabled. Only if a reservation was
 * wrong, hwtimer_pool_take() warns, and tries GFP_ATOMIC.
 */
#ifndef HWTIMER_H
#define HWTIMER_H

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <uapi/linux/hwtimer.h>

#include "events/events.h"
#include "memory/memory.h"
#include "wheel/wheel.h"
#include "worker/worker.h"

static_assert(IS_ENABLED(CONFIG_64BIT), "hwtimer needs a 64-bit kernel");

/**
 * enum hwtimer_life - how far an instance has come; it never goes back
 * @HWTIMER_NEW: no wheel, no records, no timer; SETUP may change the settings
 * @HWTIMER_STARTED: a request for a timer has started it: the wheel and the table exist
 * @HWTIMER_STOPPED: no timer expires, and none can be scheduled. If the instance was stopped while
 *	it was new, there is no wheel, or one comes that was just being allocated
 */
enum hwtimer_life {
	HWTIMER_NEW,
	HWTIMER_STARTED,
	HWTIMER_STOPPED,
};

/**
 * struct hwtimer_settings - the settings of an instance
 * @shape: tick, kind and buckets of the wheel
 * @timers: limit of pending timers and unread events
 * @flags: HWTIMER_SETUP_REPORT_CLOCK_SET, HWTIMER_SETUP_AT_LEAST_ONCE
 * @clock: the clock by which the wheel turns
 *
 * struct hwtimer_instance says how those of an instance are protected.
 */
struct hwtimer_settings {
	struct hwtimer_shape shape;
	u32 timers;
	u32 flags;
	const struct hwtimer_clock_desc *clock;
};

/**
 * struct hwtimer_instance - one wheel and everything that belongs to it
 * @setup: mutex; see above
 * @lock: spinlock; protects all members below that name no other protection
 * @settings: the settings; constant unless HWTIMER_NEW. Until then, written with both @setup
 *	and @lock held, so a reader needs one of the two. A reader that holds neither calls
 *	hwtimer_settings_get()
 * @offsets: for each clock, by its number: ns by which the clock of the file's time
 *	namespace is ahead of the host's. Written by open() only
 * @nr: number of the instance, 1 or higher, never reused while the module is loaded;
 *	constant. Counts all instances of the machine, so programs must not see it
 * @opener: process that created the instance, as its pid in the initial pid namespace;
 *	constant
 * @account: the account of the process that opened the instance, whichever process uses it now;
 *	NULL: no limit. Constant
 * @life: enum hwtimer_life; becomes HWTIMER_STARTED with both @setup and @lock held. Also
 *	read without a lock, by hwtimer_instance_new() and hwtimer_instance_stopped()
 * @tenant: the user and the cgroup of the process that started the instance; until then, of
 *	the one that opened it
 * @wheel: the wheel; empty until the instance starts
 * @start_memory: memory of the buckets of the wheel with which the instance starts; NULL: it
 *	has not started. Written once
 * @wheel_memory: memory of the wheel's buckets; @start_memory unless the instance has the
 *	whole wheel
 * @wheel_room: number of entries beyond which the whole wheel has to replace @wheel; U64_MAX: it
 *	is the whole wheel
 * @table: the records
 * @pool: the chunks
 * @events: events that wait to be read
 * @periodic: number of periodic timers; each has two records
 * @notice: when and how readers are told of events; see struct hwtimer_notice for its
 *	protection
 * @stats: the counters; pending and ready are always exact. ready is also read without the lock
 * @turns: number of times that the worker or a read() found something due
 * @wakeup: the time of the next turn of the wheel
 * @trim: the spare chunks that are freed if they stay unused
 * @shrink: the way back to the memory with which the instance started
 * @stopped_at: time at which the instance was stopped, ns on its clock; constant once it is
 *	HWTIMER_STOPPED
 * @readers: wait queue of read() and poll(); has its own lock
 * @job: the alarms at which the worker serves the instance; see struct hwtimer_job
 * @users: number of those that may still use the instance: its file, the worker of @job,
 *	and readers of debugfs. The last one frees it
 * @free_work: frees the instance if the last one is not its file
 * @registered: place in the registry; protected by the registry
 */
struct hwtimer_instance {
	struct mutex setup; /* see above */
	spinlock_t lock; /* see above */

	struct hwtimer_settings settings;
	s64 offsets[HWTIMER_CLOCKS];
	u64 nr;
	struct hwtimer_account *account;
	pid_t opener;
	enum hwtimer_life life;
	struct hwtimer_tenant_id tenant;

	struct hwtimer_wheel wheel;
	void *start_memory;
	void *wheel_memory;
	u64 wheel_room;
	struct hwtimer_table table;
	struct hwtimer_pool pool;
	struct hwtimer_events events;
	u32 periodic;
	struct hwtimer_notice notice;
	struct hwtimer_stats stats;
	u64 turns;
	struct hwtimer_wakeup wakeup;
	struct hwtimer_trim trim;
	struct hwtimer_shrink shrink;

	u64 stopped_at;
	wait_queue_head_t readers;

	struct hwtimer_job job;
	refcount_t users;
	struct work_struct free_work;

	struct rb_node registered;
};

/**
 * hwtimer_instance_new - whether an instance is neither started nor stopped
 * @instance: the instance; no lock is needed
 *
 * Return: false: the settings are constant, and the wheel and the table exist unless the
 * instance was stopped before it started. Any context.
 */
static inline bool hwtimer_instance_new(const struct hwtimer_instance *instance)
{
	/* Pairs with the smp_store_release() in wheel_begin() and in stop_first(). */
	return smp_load_acquire(&instance->life) == HWTIMER_NEW;
}

/**
 * hwtimer_instance_stopped - whether an instance is stopped
 * @instance: the instance; without its lock, it may be stopped at any time
 *
 * Return: whether it is. Any context.
 */
static inline bool
hwtimer_instance_stopped(const struct hwtimer_instance *instance)
{
	return READ_ONCE(instance->life) == HWTIMER_STOPPED;
}

/**
 * hwtimer_settings_get - read the settings of an instance
 * @instance: the instance; its lock is not held
 * @copy: room for a copy, which is needed while the instance is new
 *
 * Return: the instance's own settings, which are constant, if it is not new. Otherwise
 * @copy, with settings that a SETUP may have changed since. Does not sleep; may take the
 * instance's lock.
 */
static inline const struct hwtimer_settings *
hwtimer_settings_get(struct hwtimer_instance *instance,
		     struct hwtimer_settings *copy)
{
	if (likely(!hwtimer_instance_new(instance)))
		return &instance->settings;
	spin_lock(&instance->lock);
	*copy = instance->settings;
	spin_unlock(&instance->lock);
	return copy;
}

/**
 * hwtimer_instance_drained - whether no event waits, and none will come
 * @instance: the instance; no lock is needed
 *
 * No event is queued once the instance is stopped. So the number of events, which is read after
 * that, can only fall, but for HWTIMER_ACK_REWIND.
 *
 * Return: whether the instance is stopped and no event waits to be read. Any context.
 */
static inline bool
hwtimer_instance_drained(const struct hwtimer_instance *instance)
{
	/* Pairs with the smp_store_release() in stop_first(). */
	return smp_load_acquire(&instance->life) == HWTIMER_STOPPED &&
	       !READ_ONCE(instance->events.unread);
}

/**
 * hwtimer_instance_timers - number of timers that count against the limit
 * @instance: the instance; its lock is held
 *
 * Return: the number of timers. A periodic timer has two records, but counts once.
 */
static inline u32
hwtimer_instance_timers(const struct hwtimer_instance *instance)
{
	return instance->table.used - instance->periodic;
}

/**
 * hwtimer_instance_extended - whether the instance has the whole wheel
 * @instance: the instance; its lock is held
 *
 * Return: whether it has another wheel than that with which it started.
 */
static inline bool
hwtimer_instance_extended(const struct hwtimer_instance *instance)
{
	return instance->wheel_memory != instance->start_memory;
}

/**
 * hwtimer_shrink_ended - note that timers have ended
 * @instance: the instance; its lock is held
 *
 * If no timer is left, the worker frees the instance's memory after some time.
 */
static inline void hwtimer_shrink_ended(struct hwtimer_instance *instance)
{
	if (unlikely(!instance->table.used && instance->shrink.large))
		hwtimer_shrink_watch(instance);
}

/**
 * hwtimer_instance_now - read the instance's clock
 * @instance: the instance; its settings are constant, or @setup or @lock is held
 *
 * This is the time that clock_gettime() returns in the time namespace in which the file
 * was opened; the caller's namespace does not matter. Most times of an instance are on
 * this clock: deadlines, ticks, wakeup.at, stopped_at, and all times that user space and
 * tracing get. For the alarm job.turns, hwtimer_worker_kick() converts them to the host's
 * clock. job.chores, the notice and the trim use the host's CLOCK_MONOTONIC, because they
 * only measure durations.
 *
 * Return: the time, ns. Does not sleep.
 */
static inline u64 hwtimer_instance_now(const struct hwtimer_instance *instance)
{
	const struct hwtimer_clock_desc *clock = instance->settings.clock;

	return clock->now() + instance->offsets[clock->nr];
}

/**
 * hwtimer_instance_behind - whether the wheel may stand too far behind the clock
 * @instance: the instance; its lock is held
 *
 * Uses jiffies, because reading a clock takes as long as scheduling a timer.
 *
 * Return: whether hwtimer_wakeup_follow() has to move the wheel before a timer is added.
 */
static inline bool
hwtimer_instance_behind(const struct hwtimer_instance *instance)
{
	return time_after_eq64(get_jiffies_64(), instance->wakeup.follow_at);
}

#endif /* HWTIMER_H */
