/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instance: what one open("/dev/hwtimer") gives, or one
 * hwtimer_client_create(), and who owns what in it.
 *
 *   file ──> instance ──> wheel    which timers are due
 *                    ├──> table    the state of each timer
 *                    ├──> pool     memory for buckets and events
 *                    ├──> ready    events that wait to be read
 *                    ├──> exchange requests and events through mapped rings
 *                    ├──> notice   when and how readers are told
 *                    └──> worker   turns the wheel (shared by many instances)
 *
 * The file, or the kernel client, owns the instance; the worker only borrows it,
 * and gives it back in hwtimer_worker_detach() before it is freed.
 *
 * Locks, in the order in which they are taken:
 *
 *   instance->setup      mutex: the settings, until the instance starts
 *   instance->harvest    mutex: who takes timers out: read(), STOP. Held while
 *                        user memory is accessed, or a client's function runs
 *   exchange->drain      mutex: who takes requests out of the submission ring
 *     instance->lock     spinlock: everything else in the instance
 *       worker->lock     spinlock: the worker's queue of instances
 *
 * No two of the mutexes are held together, with one exception: the first timer takes
 * setup inside of drain. mmap() takes setup inside of mmap_lock. A client's functions
 * run inside of its harvest, and may take locks of their own; lockdep has a class for
 * each client's harvest. open() is called with the mutex of all misc devices held, and
 * takes none of these mutexes. No interrupt takes any of the locks: the hrtimer's
 * callback only wakes the worker.
 *
 * The instances are found by their numbers in an xarray, under its own spinlock, which
 * is taken with none of the above held but a client's harvest; see hwtimer_debug.c.
 *
 * One hold of instance->lock deals with HWTIMER_HOLD timers at the most, and
 * nothing under it sleeps or allocates. Memory is brought in before, by
 * hwtimer_instance_reserve().
 */
#ifndef HWTIMER_H
#define HWTIMER_H

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <uapi/linux/hwtimer.h>

#include "hwtimer_chunk.h"
#include "hwtimer_clock.h"
#include "hwtimer_ring.h"
#include "hwtimer_table.h"
#include "hwtimer_wheel.h"
#include "hwtimer_worker.h"

#define HWTIMER_TICK_MIN (10ULL * NSEC_PER_USEC)
#define HWTIMER_TICK_MAX (3600ULL * NSEC_PER_SEC)
#define HWTIMER_TICK_DEFAULT (1ULL * NSEC_PER_MSEC)
#define HWTIMER_BUCKETS_DEFAULT 4096U

/* What user space may find in hwtimer_info.features. */
#define HWTIMER_FEATURES                                           \
	(HWTIMER_FEATURE_HIERARCHICAL | HWTIMER_FEATURE_PERIODIC | \
	 HWTIMER_FEATURE_CLOCKS | HWTIMER_FEATURE_SLACK |          \
	 HWTIMER_FEATURE_NOTIFY | HWTIMER_FEATURE_RINGS |          \
	 HWTIMER_FEATURE_BULK)

/* So that a bit for each slot of records is found in a few cache lines. */
#define HWTIMER_TIMERS_CEILING BIT(27)

/* How many events, or timers from STOP, go to user space at a time. */
#define HWTIMER_BATCH (2U * HWTIMER_CHUNK_INDICES)
#define HWTIMER_STOP_BATCH \
	((u32)(PAGE_SIZE / sizeof(struct hwtimer_unprocessed)))

static_assert(HWTIMER_BATCH <= HWTIMER_HOLD);
static_assert(HWTIMER_BATCH * sizeof(struct hwtimer_event) <= PAGE_SIZE);
static_assert(IS_ENABLED(CONFIG_64BIT), "hwtimer needs a 64-bit kernel");

struct eventfd_ctx;
struct hwtimer_client;
struct hwtimer_worker;
struct mem_cgroup;
struct seq_file;
struct vm_area_struct;

/**
 * struct hwtimer_settings - what SETUP chooses
 * @shape: of the wheel
 * @timers: limit of pending timers and unread events
 * @flags: HWTIMER_REPORT_CLOCK_SET
 * @submissions: slots of the submission ring
 * @completions: slots of the completion ring
 * @clock: by which the wheel turns
 */
struct hwtimer_settings {
	struct hwtimer_shape shape;
	u32 timers;
	u32 flags;
	u32 submissions;
	u32 completions;
	const struct hwtimer_clock *clock;
};

/**
 * struct hwtimer_notice - when and how readers are told
 * @events: so many make poll() ready
 * @clock_set: 1: the clock was set, and nobody has been told yet
 * @first: when the first of the events that wait came, on CLOCK_MONOTONIC;
 *	HWTIMER_TICK_NONE: there is none
 * @delay: ns after the first event, poll() is ready however few there are
 * @due: when that is, on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: not, or not any
 *	more
 * @offset: hwtimer_clock_offset() when it was last looked at
 * @eventfd: told whenever readers are; NULL: none
 * @overdue: @due has come, and not all events have been read since
 * @watching: the worker looks at the clock every second
 */
struct hwtimer_notice {
	u32 events;
	u32 clock_set;
	u64 first;
	u64 delay;
	u64 due;
	s64 offset;
	struct eventfd_ctx *eventfd;
	bool overdue;
	bool watching;
};

/**
 * struct hwtimer_exchange - how an instance uses its rings
 * @ring: set once, under the instance's setup and lock; NULL: no rings yet. The
 *	submission ring is protected by @drain, the completion ring by the
 *	instance's lock
 * @drain: see above
 * @requests: room for HWTIMER_HOLD of them; protected by @drain
 * @held: how many of them were taken, but could not be done yet; protected by
 *	@drain
 * @looks: so often the worker will look before it dozes off; protected by the
 *	instance's lock, as are @look_at and @awake
 * @look_at: when it will look next, on CLOCK_MONOTONIC
 * @closing: nobody will see what comes of requests any more
 * @awake: the worker will look at the rings within a millisecond
 * @work: does what the worker cannot, as it may have to sleep
 * @memcg: the memory cgroup that pays for what @work allocates: that of the process that
 *	kicked last, or until then, that mapped the rings first; set before @ring, then
 *	protected by @drain
 */
struct hwtimer_exchange {
	struct hwtimer_ring *ring;
	struct mutex drain; /* see above */
	struct hwtimer_request *requests;
	u32 held;
	u32 looks;
	u64 look_at;
	bool closing;
	bool awake;
	struct work_struct work;
	struct mem_cgroup *memcg;
};

/**
 * struct hwtimer_instance - one wheel and all that belongs to it
 * @setup: see above
 * @harvest: see above
 * @lock: see above
 * @settings: written under both @setup and @lock, so read under either; constant once
 *	@started. Without a lock, by hwtimer_instance_settings()
 * @offsets: by the number of the clock: how far the clock of the time namespace in
 *	which the file was opened is ahead of the host's, ns; 0 for a kernel client.
 *	Constant before the first timer
 * @started: the wheel and the table exist; set once, under @lock
 * @stopped: STOP was called; set once, under @lock
 * @stopped_at: when, ns on the instance's clock; protected by @lock
 * @wheel: protected by @lock
 * @wheel_memory: the memory of the buckets; constant once @started
 * @table: protected by @lock
 * @pool: protected by @lock
 * @ready: indices of expired records; protected by @lock. What is leaving stays
 *	in front until the holder of @harvest takes it out; nobody else passes it
 * @discards: records in @ready that are to be dropped; protected by @lock, and read
 *	without it, as is stats.ready
 * @periodic: periodic timers, which have two records each; protected by @lock
 * @exchange: see there
 * @notice: protected by @lock. What hwtimer_notice_readable() reads without it is
 *	written by WRITE_ONCE(), and a wake-up follows; clock_set is taken by xchg()
 * @stats: protected by @lock. Complete but for what hwtimer_stats_get()
 *	adds; pending and ready are always exact
 * @wake: protected by @lock: the worker looks at this instance no later than
 *	this (ns); HWTIMER_TICK_NONE: not at all
 * @trim_at: protected by @lock: when chunks that were not needed are given back,
 *	on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: there are none
 * @unused: protected by @lock: how many chunks were not needed so far, until
 *	@trim_at
 * @follow_at: protected by @lock: from then on, in jiffies, the wheel may stand so
 *	far behind the clock that it has to follow before timers are added
 * @follow_after: jiffies that this takes; constant once @started
 * @cursor: protected by @lock: STOP has handed back all records before it
 * @surveyed: protected by @lock: STOP has looked at all records before it for
 *	periodic timers that rest
 * @resting: protected by @lock: of the records that STOP has looked at, those of
 *	periodic timers that rest, and are pending again once their event was read
 * @batch: a page of what goes to user space, or to the client, next; protected by
 *	@harvest
 * @refused: a reader that must not wait did not get @harvest, and is to be told when
 *	it is free; see harvest_lock()
 * @leaves_free: what is leaving has no state but HWTIMER_FREE any more; protected by
 *	@harvest
 * @readers: who waits for events, or for the end
 * @worker: which; constant
 * @wakeups: wake-ups of the worker after which it served this instance; protected
 *	by worker->lock
 * @served_at: number of the wake-up after which the worker last served it; protected
 *	by worker->lock
 * @turns: when the wheel is to be turned, on the instance's clock
 * @chores: when hwtimer_instance_chores() has something to do; of several
 *	reasons, the earliest
 * @detached: protected by worker->lock: not to be queued any more
 * @client: the client in the kernel that it belongs to; NULL: it is a file's.
 *	Constant before the first timer
 * @nr: counts from 1; never used again as long as the module is loaded; constant
 * @opener: the process that opened it; constant
 * @shown: how many show it in debugfs, and one until its end; see hwtimer_debug.c
 * @unshown: nobody shows it any more
 */
struct hwtimer_instance {
	struct mutex setup; /* see above */
	struct mutex harvest; /* see above */
	spinlock_t lock; /* see above */

	struct hwtimer_settings settings;
	s64 offsets[HWTIMER_CLOCKS];
	bool started;
	bool stopped;
	u64 stopped_at;

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
	u64 wake;
	u64 trim_at;
	u32 unused;
	u64 follow_at;
	u64 follow_after;

	u64 cursor;
	u64 surveyed;
	u32 resting;
	void *batch;
	bool refused;
	bool leaves_free;
	wait_queue_head_t readers;

	struct hwtimer_worker *worker;
	u64 wakeups;
	u64 served_at;
	struct hwtimer_alarm turns;
	struct hwtimer_alarm chores;
	bool detached;
	struct hwtimer_client *client;

	u64 nr;
	pid_t opener;
	refcount_t shown;
	struct completion unshown;
};

/*
 * No event is left, and none will come: nothing is queued once @stopped is set,
 * so what is read after it is final.
 */
static inline bool
hwtimer_instance_drained(const struct hwtimer_instance *instance)
{
	/* Pairs with the smp_store_release() in hwtimer_instance_stop(). */
	return smp_load_acquire(&instance->stopped) &&
	       !READ_ONCE(instance->stats.ready);
}

/**
 * struct hwtimer_demand - what requests will need
 * @timers: so many may be added, if the limit does not forbid it
 * @periodic: of those, so many are periodic
 * @moves: so many may get new deadlines
 */
struct hwtimer_demand {
	u32 timers;
	u32 periodic;
	u32 moves;
};

/* hwtimer_settings.c: what may be chosen */
int hwtimer_settings_choose(struct hwtimer_settings *settings,
			    const struct hwtimer_setup *wish);

/* hwtimer_instance.c: the life of an instance */
struct hwtimer_instance *hwtimer_instance_create(u32 timers);
void hwtimer_instance_destroy(struct hwtimer_instance *instance);
int hwtimer_instance_setup(struct hwtimer_instance *instance,
			   const struct hwtimer_settings *settings);
const struct hwtimer_settings *
hwtimer_instance_settings(struct hwtimer_instance *instance,
			  struct hwtimer_settings *copy);
int hwtimer_instance_start(struct hwtimer_instance *instance);
int hwtimer_instance_reserve(struct hwtimer_instance *instance,
			     const struct hwtimer_demand *demand)
	__acquires(&instance->lock);
bool hwtimer_instance_lock_ready(struct hwtimer_instance *instance,
				 const struct hwtimer_demand *demand)
	__acquires(&instance->lock);
void hwtimer_instance_trim(struct hwtimer_instance *instance);
void hwtimer_instance_rearm(struct hwtimer_instance *instance);
void hwtimer_instance_follow(struct hwtimer_instance *instance, u64 now);
void hwtimer_instance_turn(struct hwtimer_instance *instance, u32 *due);
void hwtimer_instance_chores(struct hwtimer_instance *instance);
int hwtimer_instance_query(struct hwtimer_instance *instance,
			   struct hwtimer_query *query);
void hwtimer_instance_stop(struct hwtimer_instance *instance);
void hwtimer_instance_account(struct hwtimer_instance *instance);

/* Timers that count against the limit. */
static inline u32
hwtimer_instance_timers(const struct hwtimer_instance *instance)
{
	return instance->table.used - instance->periodic;
}

/*
 * The time on the instance's clock, ns: what clock_gettime() says in the time
 * namespace in which the file was opened, wherever the caller is now. All times of an
 * instance (deadlines, ticks, @wake, @stopped_at, what user space and tracing are told)
 * are of this clock; the alarm @turns converts to the host's clock, see
 * hwtimer_worker_kick(). Only @chores, the notice and the exchange go by the host's
 * CLOCK_MONOTONIC, by which they measure nothing but durations.
 *
 * The settings are locked, or constant.
 */
static inline u64 hwtimer_instance_now(const struct hwtimer_instance *instance)
{
	const struct hwtimer_clock *clock = instance->settings.clock;

	return clock->now() + instance->offsets[clock->nr];
}

/*
 * @count more events wait, or fewer. Whoever waits for events reads the number with no
 * lock held, and is woken after it has changed.
 */
static inline void hwtimer_instance_add_ready(struct hwtimer_instance *instance,
					      s64 count)
{
	lockdep_assert_held(&instance->lock);
	WRITE_ONCE(instance->stats.ready, instance->stats.ready + count);
}

/* The same of discarded events that are still in the queue. */
static inline void
hwtimer_instance_add_discards(struct hwtimer_instance *instance, s64 count)
{
	lockdep_assert_held(&instance->lock);
	WRITE_ONCE(instance->discards, instance->discards + count);
}

/*
 * Whether the wheel may stand too far behind the clock. By jiffies, as a clock takes
 * as long to read as a timer to schedule; the instance's lock is held.
 */
static inline bool
hwtimer_instance_behind(const struct hwtimer_instance *instance)
{
	return time_after_eq64(get_jiffies_64(), instance->follow_at);
}

/* hwtimer_exchange.c: the rings that user space maps */
int hwtimer_exchange_start(void);
void hwtimer_exchange_stop(void);
void hwtimer_exchange_init(struct hwtimer_exchange *exchange);
void hwtimer_exchange_release(struct hwtimer_exchange *exchange);
size_t hwtimer_exchange_bytes(const struct hwtimer_settings *settings);
int hwtimer_exchange_map(struct hwtimer_instance *instance,
			 struct vm_area_struct *vma);
long hwtimer_exchange_kick(struct hwtimer_instance *instance);
u32 hwtimer_exchange_serve(struct hwtimer_instance *instance);
void hwtimer_exchange_look(struct hwtimer_instance *instance);
u32 hwtimer_exchange_unread(const struct hwtimer_instance *instance);
void hwtimer_exchange_told(struct hwtimer_instance *instance);
void hwtimer_exchange_doze(struct hwtimer_instance *instance);
void hwtimer_exchange_stopped(struct hwtimer_instance *instance);

/* hwtimer_notice.c: when and how readers are told */
bool hwtimer_notice_readable(const struct hwtimer_instance *instance);
bool hwtimer_notice_ready(const struct hwtimer_instance *instance);
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance);
int hwtimer_notice_wait(struct hwtimer_instance *instance);
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask);
void hwtimer_notice_hang_up(struct hwtimer_instance *instance);
bool hwtimer_notice_queued(struct hwtimer_instance *instance);
void hwtimer_notice_taken(struct hwtimer_instance *instance);
void hwtimer_notice_set(struct hwtimer_instance *instance, u32 events,
			u64 delay, struct eventfd_ctx *eventfd);
void hwtimer_notice_release(struct hwtimer_instance *instance);
void hwtimer_notice_watch(struct hwtimer_instance *instance);
bool hwtimer_notice_look(struct hwtimer_instance *instance);
bool hwtimer_notice_take_report(struct hwtimer_instance *instance);
void hwtimer_notice_chores(struct hwtimer_instance *instance);

/**
 * struct hwtimer_period - what a timer was scheduled with
 * @user_data: as scheduled
 * @interval: ns; 0: for once
 * @count: expirations left; 0: no limit
 * @flags: HWTIMER_FIXED_DELAY
 */
struct hwtimer_period {
	u64 user_data;
	u64 interval;
	u32 count;
	u32 flags;
};

/* hwtimer_period.c: periodic timers, and what all have in common with them */
void hwtimer_period_begin(struct hwtimer_instance *instance,
			  struct hwtimer_record *record,
			  const struct hwtimer_request *request);
void hwtimer_period_free_extension(struct hwtimer_instance *instance,
				   const struct hwtimer_record *record);
struct hwtimer_period
hwtimer_period_get(const struct hwtimer_instance *instance,
		   const struct hwtimer_record *record);
void hwtimer_period_end(struct hwtimer_instance *instance,
			struct hwtimer_record *record, u64 now);
void hwtimer_period_survey(struct hwtimer_instance *instance,
			   struct hwtimer_record *record);
void hwtimer_period_rests_no_more(struct hwtimer_instance *instance,
				  struct hwtimer_record *record);
u32 hwtimer_period_expirations(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record, u64 now);
bool hwtimer_period_rearm(struct hwtimer_instance *instance, u32 index,
			  u32 expirations, u64 now);

/**
 * hwtimer_period_free - a timer of any kind ends
 * @instance: of which; its lock is held
 * @index: of its record, which is not in the wheel any more
 */
static inline void hwtimer_period_free(struct hwtimer_instance *instance,
				       u32 index)
{
	struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	if (unlikely(hwtimer_record_periodic(record)))
		hwtimer_period_free_extension(instance, record);
	hwtimer_table_put_record(&instance->table, record, index);
}

/* hwtimer_stats.c: what an instance tells of itself */
void hwtimer_stats_get(struct hwtimer_instance *instance,
		       struct hwtimer_stats *stats);
void hwtimer_stats_show(struct seq_file *seq,
			struct hwtimer_instance *instance);
void hwtimer_stats_show_lateness(struct seq_file *seq,
				 const struct hwtimer_stats *stats);

/* Where stats.lateness counts an event: by the power of two of its lateness (ns). */
static inline unsigned int hwtimer_stats_class(u64 lateness)
{
	return min(fls64(lateness), HWTIMER_LATENESS_BUCKETS - 1);
}

/* hwtimer_occupancy.c: which buckets have entries */
void hwtimer_occupancy_show(struct seq_file *seq,
			    struct hwtimer_instance *instance,
			    const char *prefix);

/* hwtimer_debug.c: all instances, in debugfs */
void hwtimer_debug_start(void);
void hwtimer_debug_stop(void);
int hwtimer_debug_add(struct hwtimer_instance *instance);
struct hwtimer_instance *hwtimer_debug_get(u64 nr);
void hwtimer_debug_put(struct hwtimer_instance *instance);
void hwtimer_debug_remove(struct hwtimer_instance *instance);

/* hwtimer_trace.c: what tracing is told, where it listens; the lock is held */
void hwtimer_trace_schedule(const struct hwtimer_instance *instance, u32 index);
void hwtimer_trace_reschedule(const struct hwtimer_instance *instance,
			      u32 index);
void hwtimer_trace_rearm(const struct hwtimer_instance *instance, u32 index);
void hwtimer_trace_cancel(const struct hwtimer_instance *instance, u32 index);
void hwtimer_trace_discard(const struct hwtimer_instance *instance, u32 index);
void hwtimer_trace_bulk(const struct hwtimer_instance *instance,
			const u64 *results, u32 count);
void hwtimer_trace_expire(const struct hwtimer_instance *instance,
			  const u32 *due, u32 count, u64 now);
void hwtimer_trace_deliver(const struct hwtimer_instance *instance,
			   const struct hwtimer_event *events, u32 count,
			   bool ring);
void hwtimer_trace_unprocessed(const struct hwtimer_instance *instance,
			       const struct hwtimer_unprocessed *timers,
			       u32 count);
void hwtimer_trace_turn(const struct hwtimer_instance *instance, u64 now,
			u32 expired);

/* hwtimer_request.c: operations of any kind, one or many at a time */
void hwtimer_request_run(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count);
bool hwtimer_request_try(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count);
void hwtimer_request_undo(struct hwtimer_instance *instance,
			  struct hwtimer_request *requests, u32 count);
int hwtimer_request_check(const struct hwtimer_settings *settings,
			  const struct hwtimer_request *request);

/* hwtimer_bulk.c: one operation on many timers */
int hwtimer_bulk_check(struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk);
int hwtimer_bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count);
void hwtimer_bulk_undo(struct hwtimer_instance *instance, u64 *results,
		       u32 count);

/* hwtimer_harvest.c: how timers leave: by read(), the ring, STOP, a callback */
unsigned int hwtimer_harvest_at_once(struct hwtimer_instance *instance,
				     const u32 *due, unsigned int count,
				     u64 now);
u32 hwtimer_harvest_flush(struct hwtimer_instance *instance);
u32 hwtimer_harvest_discarded(struct hwtimer_instance *instance);
u32 hwtimer_harvest_take(struct hwtimer_instance *instance, u32 max, u64 *now);
void hwtimer_harvest_finish(struct hwtimer_instance *instance, u32 taken,
			    u32 copied, u64 now);
ssize_t hwtimer_harvest_events(struct hwtimer_instance *instance,
			       char __user *buffer, size_t count,
			       bool nonblock);
ssize_t hwtimer_harvest_unprocessed(struct hwtimer_instance *instance,
				    struct hwtimer_unprocessed __user *timers,
				    u32 count, u64 *left);

u32 hwtimer_harvest_take_expired(struct hwtimer_instance *instance, bool *more);
void hwtimer_harvest_finish_expired(struct hwtimer_instance *instance);
u32 hwtimer_harvest_take_pending(struct hwtimer_instance *instance, u32 max,
				 bool *more);
void hwtimer_harvest_finish_pending(struct hwtimer_instance *instance,
				    u32 taken, u32 copied);

/* hwtimer_client.c: other modules, see <linux/hwtimer_client.h> */
void hwtimer_client_wake(struct hwtimer_client *client);
void hwtimer_client_look(struct hwtimer_client *client);

/* hwtimer_batch.c: many operations in one ioctl */
long hwtimer_batch_submit(struct hwtimer_instance *instance,
			  const struct hwtimer_submit *submit);
long hwtimer_batch_bulk(struct hwtimer_instance *instance,
			const struct hwtimer_bulk *bulk);

/* hwtimer_ioctl.c: arguments from user space */
long hwtimer_ioctl(struct hwtimer_instance *instance, unsigned int command,
		   void __user *argument);

/* hwtimer_main.c: what the module's parameters allow */
extern unsigned int hwtimer_default_timers;
extern unsigned int hwtimer_max_timers;
extern unsigned int hwtimer_default_kind;

#endif /* HWTIMER_H */
