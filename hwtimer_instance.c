// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an instance: settings, start, memory, the worker's turn, what it
 * tells of itself, and its end; see hwtimer.h for the locks.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "hwtimer.h"
#include "hwtimer_memory.h"
#include "hwtimer_trace.h"

/*
 * Spare chunks that are kept beyond what is reserved: as many as a full batch
 * of requests may ask for, so that they are not freed between two of them.
 */
#define HWTIMER_SPARE_CHUNKS (HWTIMER_HOLD + 64)

/* Most chunks that are brought before they are needed. */
#define HWTIMER_AHEAD_CHUNKS 64U

/* Most chunks that go back to the slab at a time. */
#define HWTIMER_TRIM_CHUNKS 128U

/*
 * What is more than that goes back if it was not needed for so long: where timers
 * come and go in bursts, the next one finds it. The slab's price for a chunk is
 * that of several timers.
 */
#define HWTIMER_SPARE_TIME NSEC_PER_SEC

static atomic64_t hwtimer_last_nr;

/**
 * hwtimer_instance_create - an instance with the default settings
 * @timers: limit of pending timers
 *
 * Return: the instance, attached to a worker, or NULL: no memory. May sleep.
 */
struct hwtimer_instance *hwtimer_instance_create(u32 timers)
{
	struct hwtimer_instance *instance =
		kzalloc(sizeof(*instance), HWTIMER_GFP);

	if (!instance)
		return NULL;
	instance->batch = (void *)get_zeroed_page(HWTIMER_GFP);
	if (!instance->batch) {
		kfree(instance);
		return NULL;
	}
	instance->nr = atomic64_inc_return(&hwtimer_last_nr);
	instance->opener = task_tgid_nr(current);
	mutex_init(&instance->setup);
	mutex_init(&instance->harvest);
	spin_lock_init(&instance->lock);
	hwtimer_exchange_init(&instance->exchange);
	init_waitqueue_head(&instance->readers);
	instance->settings = (struct hwtimer_settings){
		.shape = { .tick = HWTIMER_TICK_DEFAULT,
			   .kind = hwtimer_default_kind,
			   .buckets = HWTIMER_BUCKETS_DEFAULT },
		.timers = timers,
		.clock = &hwtimer_clocks[HWTIMER_MONOTONIC],
	};
	instance->notice.first = HWTIMER_TICK_NONE;
	instance->notice.due = HWTIMER_TICK_NONE;
	instance->wake = HWTIMER_TICK_NONE;
	instance->trim_at = HWTIMER_TICK_NONE;
	/* Never, until there is a wheel. */
	instance->follow_at = MAX_JIFFY_OFFSET;
	hwtimer_worker_attach(instance);
	if (hwtimer_debug_add(instance)) {
		free_page((unsigned long)instance->batch);
		kfree(instance);
		return NULL;
	}
	trace_hwtimer_open(instance->nr, 0, 0);
	return instance;
}

/**
 * hwtimer_instance_destroy - the end of an instance and of all its timers
 * @instance: nobody else knows it any more but its worker
 *
 * Takes as long as there are timers. May sleep.
 */
void hwtimer_instance_destroy(struct hwtimer_instance *instance)
{
	hwtimer_debug_remove(instance);
	hwtimer_worker_detach(instance);
	hwtimer_exchange_release(&instance->exchange);
	trace_hwtimer_close(instance->nr, instance->stats.pending,
			    instance->stats.ready);
	hwtimer_notice_release(instance);
	hwtimer_queue_drain(&instance->ready);
	hwtimer_wheel_drain(&instance->wheel);
	hwtimer_pool_drain(&instance->pool);
	hwtimer_table_destroy(&instance->table);
	kvfree(instance->wheel_memory);
	free_page((unsigned long)instance->batch);
	kfree(instance);
}

static void settings_write(struct hwtimer_instance *instance,
			   const struct hwtimer_settings *settings)
{
	lockdep_assert_held(&instance->setup);
	spin_lock(&instance->lock);
	instance->settings = *settings;
	spin_unlock(&instance->lock);
}

/**
 * hwtimer_instance_setup - choose the settings
 * @instance: of which
 * @settings: valid
 *
 * Return: 0, -EBUSY (started), -ESHUTDOWN (stopped), -ENOMEM. May sleep.
 */
int hwtimer_instance_setup(struct hwtimer_instance *instance,
			   const struct hwtimer_settings *settings)
{
	int err = 0;

	mutex_lock(&instance->setup);
	if (READ_ONCE(instance->stopped))
		err = -ESHUTDOWN;
	else if (instance->started || instance->exchange.ring)
		err = -EBUSY;
	else
		settings_write(instance, settings);
	mutex_unlock(&instance->setup);
	return err;
}

/**
 * hwtimer_instance_settings - the settings, for who holds no lock
 * @instance: the instance
 * @copy: room for them, in case that SETUP may still change them
 *
 * Return: @copy, with the settings as they were at some moment; or those of the
 * instance, which has started, so they are constant.
 */
const struct hwtimer_settings *
hwtimer_instance_settings(struct hwtimer_instance *instance,
			  struct hwtimer_settings *copy)
{
	/* Pairs with the smp_store_release() in instance_begin(). */
	if (likely(smp_load_acquire(&instance->started)))
		return &instance->settings;
	spin_lock(&instance->lock);
	*copy = instance->settings;
	spin_unlock(&instance->lock);
	return copy;
}

/*
 * The caller is being killed, or it is the work item of an instance that closes: it does not
 * wait for memory, and its requests fail with ENOMEM. Nobody will see that, but for those
 * who share rings with a process that is killed in the middle of a KICK.
 */
static bool supply_unwanted(const struct hwtimer_instance *instance)
{
	return fatal_signal_pending(current) ||
	       READ_ONCE(instance->exchange.closing);
}

/* The wheel stands where the clock is. */
static void follow_begin(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->follow_at = get_jiffies_64() + instance->follow_after;
}

/* Makes the wheel and the table that the settings ask for. */
static int instance_begin(struct hwtimer_instance *instance)
{
	const struct hwtimer_settings *settings = &instance->settings;
	bool settable = settings->clock->nr == HWTIMER_REALTIME;
	struct hwtimer_wheel wheel = { .table = &instance->table,
				       .pool = &instance->pool,
				       .rewinds = settable };
	struct hwtimer_table table = {};
	void *memory;
	int err;

	lockdep_assert_held(&instance->setup);
	if (supply_unwanted(instance) ||
	    !hwtimer_memory_allows(hwtimer_wheel_memory(&settings->shape)))
		return -ENOMEM;
	memory = hwtimer_memory_get(hwtimer_wheel_memory(&settings->shape), 0);
	if (!memory)
		return -ENOMEM;
	/* Each timer may be a periodic one, and have two records. */
	err = hwtimer_table_init(&table, 2 * settings->timers);
	if (err) {
		kvfree(memory);
		return err;
	}
	/*
	 * Ticks count from the beginning of the clock: it may be set back to
	 * that; and instances with the same tick share wake-ups.
	 */
	hwtimer_wheel_init(&wheel, &settings->shape, memory, 0,
			   hwtimer_instance_now(instance));

	spin_lock(&instance->lock);
	instance->wheel_memory = memory;
	instance->wheel = wheel;
	instance->table = table;
	instance->turns.clock = settings->clock->nr;
	instance->turns.offset = instance->offsets[settings->clock->nr];
	instance->follow_after =
		nsecs_to_jiffies64(hwtimer_wheel_stride(&wheel)) + 1;
	follow_begin(instance);
	/* Pairs with the smp_load_acquire() in hwtimer_instance_start(). */
	smp_store_release(&instance->started, true);
	spin_unlock(&instance->lock);
	return 0;
}

/**
 * hwtimer_instance_start - let the wheel begin, before the first timer
 * @instance: of which; may have started already
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_instance_start(struct hwtimer_instance *instance)
{
	int err = 0;

	/* Pairs with the smp_store_release() in instance_begin(). */
	if (likely(smp_load_acquire(&instance->started)))
		return 0;
	mutex_lock(&instance->setup);
	if (!instance->started)
		err = instance_begin(instance);
	mutex_unlock(&instance->setup);
	return err;
}

/* The spare chunks that there must be to meet @demand. */
static u32 chunks_wanted(const struct hwtimer_instance *instance,
			 const struct hwtimer_demand *demand)
{
	u32 periodic = instance->periodic + demand->periodic;
	struct hwtimer_outlook outlook = {
		.adds = demand->timers,
		.moves = demand->moves,
		.resting = periodic,
		.expiring = instance->stats.pending + demand->timers + periodic,
		.queued = instance->stats.ready + instance->discards,
	};

	return hwtimer_wheel_reserve(&instance->wheel, &outlook);
}

static u32 chunks_missing(const struct hwtimer_instance *instance,
			  const struct hwtimer_demand *demand)
{
	u32 wanted = chunks_wanted(instance, demand);

	return wanted - min(wanted, instance->pool.spares);
}

/*
 * How many chunks to bring besides those that are missing: as an instance grows,
 * each timer may need one, and a call of the slab's for each would take longer
 * than all the rest.
 */
static u32 chunks_ahead(const struct hwtimer_instance *instance)
{
	return min(instance->pool.chunks / 2, HWTIMER_AHEAD_CHUNKS);
}

/* Too few records to meet @demand, as far as the limit allows it. */
static bool records_missing(const struct hwtimer_instance *instance,
			    const struct hwtimer_demand *demand)
{
	u32 below_limit =
		instance->settings.timers - hwtimer_instance_timers(instance);

	return hwtimer_table_spare(&instance->table) <
	       min(demand->timers, below_limit) +
		       min(demand->periodic, below_limit);
}

/* Brings the account of memory up to date. */
void hwtimer_instance_account(struct hwtimer_instance *instance)
{
	u64 bytes = sizeof(*instance) + PAGE_SIZE +
		    hwtimer_table_bytes(&instance->table) +
		    (u64)instance->pool.chunks * HWTIMER_CHUNK_BYTES;

	lockdep_assert_held(&instance->lock);
	if (instance->started)
		bytes += hwtimer_wheel_memory(&instance->settings.shape);
	if (instance->exchange.ring)
		bytes += hwtimer_exchange_bytes(&instance->settings) +
			 HWTIMER_HOLD * sizeof(struct hwtimer_request);
	instance->stats.bytes = bytes;
	instance->stats.bytes_peak = max(instance->stats.bytes_peak, bytes);
}

/* Memory on its way to an instance. */
struct hwtimer_supply {
	struct hwtimer_pool chunks;
	struct hwtimer_block block;
};

/* Brings @count chunks, a few at a time, for as long as they are wanted. */
static int supply_chunks(const struct hwtimer_instance *instance,
			 struct hwtimer_supply *supply, u32 count)
{
	int err = 0;

	while (count && !err) {
		u32 some = min(count, HWTIMER_AHEAD_CHUNKS);

		if (supply_unwanted(instance))
			return -ENOMEM;
		err = hwtimer_pool_fill(&supply->chunks, some);
		count -= some;
	}
	return err;
}

/*
 * May sleep. What could be had is in @supply, whatever is returned; what was
 * wanted @ahead need not be had.
 */
static int supply_get(const struct hwtimer_instance *instance,
		      struct hwtimer_supply *supply, u32 chunks, u32 ahead,
		      u32 slots)
{
	int err;

	if (!hwtimer_memory_allows((u64)chunks * HWTIMER_CHUNK_BYTES +
				   slots * sizeof(struct hwtimer_slot)))
		return -ENOMEM;
	err = supply_chunks(instance, supply, chunks);
	if (!err && chunks)
		supply_chunks(instance, supply, ahead);
	if (err || !slots)
		return err;
	if (supply_unwanted(instance))
		return -ENOMEM;
	return hwtimer_table_alloc_block(slots, &supply->block);
}

/* A block that the table has no room for stays in @supply. */
static void supply_deliver(struct hwtimer_instance *instance,
			   struct hwtimer_supply *supply)
{
	lockdep_assert_held(&instance->lock);
	hwtimer_pool_merge(&instance->pool, &supply->chunks);
	if (supply->block.slots)
		hwtimer_table_add_block(&instance->table, &supply->block);
	hwtimer_instance_account(instance);
}

/**
 * hwtimer_instance_reserve - lock an instance that has room
 * @instance: started, if @demand is not all 0
 * @demand: what will be done in this hold of the lock
 *
 * All memory that the timers will ever need, until their events are read, is
 * there afterwards: what comes later cannot fail.
 *
 * Return: 0 or -ENOMEM, both with the lock held. May sleep.
 */
int hwtimer_instance_reserve(struct hwtimer_instance *instance,
			     const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	struct hwtimer_supply supply = {};
	int err = 0;

	for (;;) {
		u32 chunks, ahead, slots = 0;

		spin_lock(&instance->lock);
		if (!demand->timers && !demand->moves)
			return 0;
		if (unlikely(supply.chunks.spares || supply.block.slots))
			supply_deliver(instance, &supply);
		/* Another caller may have used up what the limit leaves. */
		if (unlikely(supply.block.slots)) {
			spin_unlock(&instance->lock);
			hwtimer_table_free_block(&supply.block);
			continue;
		}
		chunks = chunks_missing(instance, demand);
		if (records_missing(instance, demand))
			slots = hwtimer_table_growth(&instance->table);
		else if (!chunks)
			return 0;
		/* Even after an error: others may have freed what was missing. */
		if (err || (!chunks && !slots))
			return -ENOMEM;
		ahead = chunks_ahead(instance);
		spin_unlock(&instance->lock);

		err = supply_get(instance, &supply, chunks, ahead, slots);
	}
}

/**
 * hwtimer_instance_lock_ready - lock an instance, and see whether it has room
 * @instance: started
 * @demand: as for hwtimer_instance_reserve()
 *
 * Return: whether nothing has to be brought; in any case with the lock held.
 */
bool hwtimer_instance_lock_ready(struct hwtimer_instance *instance,
				 const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	spin_lock(&instance->lock);
	return (!demand->timers && !demand->moves) ||
	       (!records_missing(instance, demand) &&
		!chunks_missing(instance, demand));
}

/* Spare chunks that are not needed now. */
static u32 chunks_surplus(const struct hwtimer_instance *instance)
{
	static const struct hwtimer_demand nothing;
	u32 keep = chunks_wanted(instance, &nothing) + HWTIMER_SPARE_CHUNKS;

	return instance->pool.spares - min(keep, instance->pool.spares);
}

/* From now on it is seen how much of the surplus stays unused. */
static void trim_begin(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->unused = chunks_surplus(instance);
	instance->trim_at = HWTIMER_TICK_NONE;
	if (!instance->unused)
		return;
	instance->trim_at = ktime_get_ns() + HWTIMER_SPARE_TIME;
	hwtimer_worker_kick(&instance->chores, instance->trim_at);
}

/**
 * hwtimer_instance_trim - have memory given back that is not needed any more
 * @instance: started; its lock is held
 *
 * After a while; called after whatever may have freed some.
 */
void hwtimer_instance_trim(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->trim_at == HWTIMER_TICK_NONE)
		trim_begin(instance);
	else
		instance->unused =
			min(instance->unused, chunks_surplus(instance));
}

/* Takes some of the chunks that were not needed out of the pool, if it is time. */
static void trim_some(struct hwtimer_instance *instance,
		      struct hwtimer_pool *surplus)
{
	u64 now = ktime_get_ns();
	u32 count;

	if (instance->trim_at == HWTIMER_TICK_NONE)
		return;
	if (instance->trim_at <= now) {
		hwtimer_instance_trim(instance);
		count = min(instance->unused, HWTIMER_TRIM_CHUNKS);
		hwtimer_pool_trim(&instance->pool, count, surplus);
		hwtimer_instance_account(instance);
		instance->unused -= count;
		if (!instance->unused) {
			trim_begin(instance);
			return;
		}
		/* Behind whatever is due by now. */
		instance->trim_at = now;
	}
	hwtimer_worker_kick(&instance->chores, instance->trim_at);
}

/*
 * Notes in the records that they have expired, and counts how late. Most of those
 * that expire together are of the same class: so it is counted in a register, and
 * not in memory, where each count has to wait for the one before.
 */
static void expired_note(struct hwtimer_instance *instance, const u32 *due,
			 unsigned int count, u64 now)
{
	struct hwtimer_stats *stats = &instance->stats;
	unsigned int i, class = 0, alike = 0;
	u64 latest = stats->lateness_max;

	for (i = 0; i < count; i++) {
		struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, due[i]);
		u64 lateness = now - record->deadline;

		record->state = HWTIMER_EXPIRED;
		record->lateness = min_t(u64, lateness, U32_MAX);
		latest = max(latest, lateness);
		if (hwtimer_stats_class(lateness) != class) {
			stats->lateness[class] += alike;
			class = hwtimer_stats_class(lateness);
			alike = 0;
		}
		alike++;
	}
	stats->lateness[class] += alike;
	stats->lateness_max = latest;
}

/*
 * Frees expired timers whose events there is no memory to keep, against all reservations
 * (see hwtimer_pool_take()). They count as discarded.
 */
static noinline void instance_drop(struct hwtimer_instance *instance,
				   const u32 *due, unsigned int count)
{
	lockdep_assert_held(&instance->lock);
	instance->stats.discarded += count;
	while (count--) {
		u32 index = *due++;

		hwtimer_period_free(instance, index);
	}
}

/* Pending records, removed from the wheel as due, become events. */
static void instance_expire(struct hwtimer_instance *instance, const u32 *due,
			    unsigned int count, u64 now)
{
	unsigned int delivered, queued;

	expired_note(instance, due, count, now);
	instance->stats.pending -= count;
	instance->stats.expired += count;
	delivered = hwtimer_harvest_at_once(instance, due, count, now);
	due += delivered;
	count -= delivered;
	queued = hwtimer_queue_add_indices(&instance->ready, &instance->pool,
					   due, count);
	hwtimer_instance_add_ready(instance, queued);
	if (unlikely(queued < count))
		instance_drop(instance, due + queued, count - queued);
}

/* When the worker should look at the instance next, ns. */
static u64 instance_next(const struct hwtimer_instance *instance)
{
	if (instance->stopped)
		return HWTIMER_TICK_NONE;
	/* A bucket that is being walked is walked to its end. */
	if (!instance->stats.pending && !hwtimer_wheel_busy(&instance->wheel))
		return HWTIMER_TICK_NONE;
	return hwtimer_wheel_time_of(&instance->wheel,
				     hwtimer_wheel_next(&instance->wheel));
}

/*
 * A timer that was overdue when it was scheduled waits for the next tick. If
 * CLOCK_REALTIME is set back before that comes, the alarm would come too late
 * by as much: so the worker wakes up by CLOCK_MONOTONIC, too, and sees that the
 * clock was set.
 */
static void instance_guard_overdue(struct hwtimer_instance *instance, u64 next,
				   u64 now)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	u64 delay;

	lockdep_assert_held(&instance->lock);
	if (likely(!wheel->rewinds) || next == HWTIMER_TICK_NONE ||
	    hwtimer_wheel_next(wheel) > wheel->current_tick + 1)
		return;
	/* It is more only if the clock was set back just now. */
	delay = min(next - min(next, now), wheel->shape.tick);
	hwtimer_worker_kick(&instance->chores, ktime_get_ns() + delay);
}

/**
 * hwtimer_instance_rearm - the wheel's earliest timer may have become earlier
 * @instance: its lock is held
 *
 * If it has become later the worker finds out when it wakes up. If the worker
 * should have come by now it is on its way, or has put this instance behind
 * others that are due, and there it stays.
 */
void hwtimer_instance_rearm(struct hwtimer_instance *instance)
{
	u64 now, next = instance_next(instance);

	lockdep_assert_held(&instance->lock);
	if (next >= instance->wake)
		return;
	now = hwtimer_instance_now(instance);
	if (instance->wake <= now)
		return;
	instance->wake = next;
	hwtimer_worker_kick(&instance->turns, next);
	instance_guard_overdue(instance, next, now);
}

/* Has the worker come again for what is left; the lock is held. */
static void instance_requeue(struct hwtimer_instance *instance, u64 now)
{
	u64 next = instance_next(instance);

	lockdep_assert_held(&instance->lock);
	instance->wake = next;
	if (next == HWTIMER_TICK_NONE)
		return;
	/* Behind the instances that are due by now, if this one still is. */
	instance->wake = max(next, now);
	hwtimer_worker_kick(&instance->turns, instance->wake);
	instance_guard_overdue(instance, next, now);
}

/**
 * hwtimer_instance_follow - have the wheel follow the clock
 * @instance: its lock is held
 * @now: ns on the instance's clock, taken under the lock
 *
 * Back if the clock was set back; forward if it may have gone on for long. The worker
 * does the latter whenever it turns the wheel, but it does not come while nothing, or
 * only what is far away, pends. If the wheel has to be turned first, the worker is on
 * its way; or only dead entries are in the way, and it comes for the next timer.
 */
void hwtimer_instance_follow(struct hwtimer_instance *instance, u64 now)
{
	struct hwtimer_wheel *wheel = &instance->wheel;

	lockdep_assert_held(&instance->lock);
	if (unlikely(wheel->rewinds) &&
	    hwtimer_wheel_tick_at(wheel, now) < wheel->current_tick)
		hwtimer_wheel_rewind(wheel, now);
	if (unlikely(hwtimer_instance_behind(instance))) {
		follow_begin(instance);
		hwtimer_wheel_forward(wheel, now);
	}
}

/* Lets what is due expire; returns how many have. */
static unsigned int instance_advance(struct hwtimer_instance *instance, u64 now,
				     u32 *due)
{
	unsigned int expired;

	lockdep_assert_held(&instance->lock);
	if (instance->stopped)
		return 0;
	follow_begin(instance);
	hwtimer_instance_follow(instance, now);
	expired = hwtimer_wheel_advance(&instance->wheel, now, due);
	if (trace_hwtimer_expire_enabled())
		hwtimer_trace_expire(instance, due, expired, now);
	instance_expire(instance, due, expired, now);
	instance->stats.turns += expired > 0;
	return expired;
}

/**
 * hwtimer_instance_turn - one slice of the worker
 * @instance: that is due
 * @due: room for HWTIMER_HOLD records
 *
 * Leaves the instance in the worker's queue if there is more to come.
 */
void hwtimer_instance_turn(struct hwtimer_instance *instance, u32 *due)
{
	unsigned int expired;
	bool tell;
	u64 now;

	hwtimer_exchange_serve(instance);
	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	tell = hwtimer_notice_look(instance);
	hwtimer_notice_taken(instance);
	expired = instance_advance(instance, now, due);
	if (trace_hwtimer_turn_enabled())
		hwtimer_trace_turn(instance, now, expired);
	if (expired) {
		hwtimer_exchange_told(instance);
		tell |= hwtimer_notice_queued(instance);
		hwtimer_instance_trim(instance);
		instance_requeue(instance, now);
	}
	spin_unlock(&instance->lock);

	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	if (!expired) {
		/* It woke up for dead entries: do away with those to come. */
		spin_lock(&instance->lock);
		/* The clock may have been set since. */
		now = hwtimer_instance_now(instance);
		if (!instance->stopped) {
			hwtimer_instance_follow(instance, now);
			hwtimer_wheel_skim(&instance->wheel, HWTIMER_HOLD);
			/* They may have been all that was in the way. */
			hwtimer_wheel_forward(&instance->wheel, now);
		}
		hwtimer_instance_trim(instance);
		instance_requeue(instance, now);
		spin_unlock(&instance->lock);
	}
}

/**
 * hwtimer_instance_chores - what has to be done by CLOCK_MONOTONIC
 * @instance: whose alarm for it has come, for one of several reasons
 *
 * Each of them looks whether it was meant, and when it will be.
 */
void hwtimer_instance_chores(struct hwtimer_instance *instance)
{
	struct hwtimer_pool surplus = {};
	u64 now;

	hwtimer_exchange_look(instance);
	hwtimer_notice_chores(instance);
	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	hwtimer_instance_follow(instance, now);
	hwtimer_instance_rearm(instance);
	instance_guard_overdue(instance, instance_next(instance), now);
	trim_some(instance, &surplus);
	spin_unlock(&instance->lock);
	hwtimer_pool_drain(&surplus);
	if (instance->client)
		hwtimer_client_look(instance->client);
}

static void query_fill(const struct hwtimer_instance *instance,
		       struct hwtimer_query *query,
		       const struct hwtimer_record *record)
{
	struct hwtimer_period period = hwtimer_period_get(instance, record);
	u64 now = hwtimer_instance_now(instance);

	*query = (struct hwtimer_query){
		.id = query->id,
		.user_data = period.user_data,
		.deadline = record->deadline,
		.remaining = record->deadline - min(record->deadline, now),
		.interval = period.interval,
		.slack = hwtimer_wheel_slack(&instance->wheel, record->align),
		.state = record->state == HWTIMER_PENDING ?
				 HWTIMER_STATE_PENDING :
				 HWTIMER_STATE_EXPIRED,
		.count = period.count,
		.flags = period.flags,
	};
}

/* A periodic timer is there while its event is being read, too. */
static bool record_there(const struct hwtimer_record *record)
{
	switch (record->state) {
	case HWTIMER_PENDING:
	case HWTIMER_EXPIRED:
		return true;
	case HWTIMER_LEAVING:
		return hwtimer_record_periodic(record);
	default:
		return false;
	}
}

/**
 * hwtimer_instance_query - look at one timer
 * @instance: whose
 * @query: in: id; out: the rest
 *
 * Return: 0 or -ENOENT.
 */
int hwtimer_instance_query(struct hwtimer_instance *instance,
			   struct hwtimer_query *query)
{
	const struct hwtimer_record *record;
	int err = -ENOENT;

	spin_lock(&instance->lock);
	record = hwtimer_table_find(&instance->table, query->id);
	if (record && record_there(record)) {
		query_fill(instance, query, record);
		err = 0;
	}
	spin_unlock(&instance->lock);
	return err;
}

/* What the first STOP does, and no other, however often it is asked for. */
static void stop_first(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->stopped_at = hwtimer_instance_now(instance);
	/* Pairs with the smp_load_acquire() in hwtimer_instance_drained(). */
	smp_store_release(&instance->stopped, true);
	hwtimer_worker_forget(instance);
	hwtimer_exchange_stopped(instance);
	if (instance->trim_at != HWTIMER_TICK_NONE)
		hwtimer_worker_kick(&instance->chores, instance->trim_at);
}

/**
 * hwtimer_instance_stop - let nothing expire and nothing be scheduled any more
 * @instance: the instance; may be stopped already
 */
void hwtimer_instance_stop(struct hwtimer_instance *instance)
{
	__poll_t mask = 0;

	spin_lock(&instance->lock);
	if (!instance->stopped) {
		stop_first(instance);
		mask = hwtimer_instance_drained(instance) ?
			       EPOLLHUP :
			       EPOLLIN | EPOLLRDNORM;
	}
	spin_unlock(&instance->lock);
	if (mask)
		hwtimer_notice_wake(instance, mask);
}
