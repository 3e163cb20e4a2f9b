// SPDX-License-Identifier: GPL-2.0
/*
 * How an instance uses its rings: who takes what user space has submitted, who
 * hands on events, and who looks when. Called by the device's file operations,
 * and by the worker.
 *
 * Requests are taken by the worker when it comes by, or by a KICK. The worker
 * does only what needs no memory and no waiting, and has no long compaction follow:
 * the rest it leaves to a work item, which may sleep, as other instances wait for the
 * worker.
 *
 * Events are put into the ring as they expire, under the instance's lock, by
 * hwtimer_harvest.c. What finds no room waits in the queue of events, and is
 * moved by whoever comes here next.
 *
 * The worker is awake while it is known to look again: once in a millisecond,
 * until it has found nothing HWTIMER_LOOKS times. It also looks at each turn.
 * Before it dozes off it says so in the flags, and looks once more:
 *
 *	worker					program
 *	flags = NEED_KICK			submission_tail = ...
 *	smp_mb()				atomic_thread_fence(seq_cst)
 *	submission_tail?			flags?
 *
 * One of them sees what the other has written, or both do: so the program kicks,
 * or the worker stays awake. In the same way one of them sees that there is room
 * for an event that waits (completion_head and waiting). This is proved by
 * tests/litmus/.
 */
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "hwtimer.h"
#include "hwtimer_memory.h"

/* So often the worker looks in vain before it dozes off. */
#define HWTIMER_LOOKS 8

/* How long after one look the next one comes, ns. */
#define HWTIMER_LOOK_INTERVAL NSEC_PER_MSEC

static struct workqueue_struct *hwtimer_exchange_queue;

/**
 * hwtimer_exchange_start - at module load
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_exchange_start(void)
{
	/*
	 * The work items of all instances share the queue, and each may wait for memory. An
	 * instance has one item at the most, and as many as possible may run at a time, so
	 * that instances whose memory cgroup is full hold up others as late as possible.
	 * They do not wait for ever: HWTIMER_GFP fails. Not WQ_MEM_RECLAIM: no memory comes
	 * free by what the items do. Not a thread for each instance: most have no rings, and
	 * few of those that have need it. What needs no memory is done by the worker, and a
	 * program whose request waits here can KICK, which does it in its own time.
	 */
	hwtimer_exchange_queue =
		alloc_workqueue("hwtimer", WQ_UNBOUND, WQ_UNBOUND_MAX_ACTIVE);
	return hwtimer_exchange_queue ? 0 : -ENOMEM;
}

/* At module unload, when there is no instance any more. May sleep. */
void hwtimer_exchange_stop(void)
{
	destroy_workqueue(hwtimer_exchange_queue);
}

/* The rings, or NULL; what is found stays as long as the instance. */
static struct hwtimer_ring *
exchange_ring(const struct hwtimer_exchange *exchange)
{
	/* Pairs with the smp_store_release() in exchange_open(). */
	return smp_load_acquire(&exchange->ring);
}

/* Has the worker look at the rings in @delay ns. */
static void look_in(struct hwtimer_instance *instance, u64 delay)
{
	lockdep_assert_held(&instance->lock);
	instance->exchange.look_at = ktime_get_ns() + delay;
	hwtimer_worker_kick(&instance->chores, instance->exchange.look_at);
}

/*
 * The next requests to be done, in exchange->requests. Those that could not be
 * done last time come first. Returns how many, or -EINVAL.
 */
static int batch_fetch(struct hwtimer_exchange *exchange, u32 max)
{
	int count;

	lockdep_assert_held(&exchange->drain);
	if (exchange->held)
		return exchange->held;
	count = hwtimer_ring_submitted(exchange->ring);
	if (count <= 0)
		return count;
	exchange->held = min3((u32)count, max, HWTIMER_HOLD);
	hwtimer_ring_take(exchange->ring, exchange->requests, exchange->held);
	return exchange->held;
}

/*
 * The program is alive: the worker polls HWTIMER_LOOKS times more. It does not matter
 * who found that out. The work item and a KICK often leave nothing for the worker to
 * find, however busy the program is.
 */
static void exchange_alive(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->exchange.looks = HWTIMER_LOOKS;
}

/*
 * The requests that batch_fetch() has returned are done. exchange_alive() comes before the
 * answer: otherwise the worker could find the ring empty, and count a poll in vain.
 */
static void batch_done(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&exchange->drain);
	spin_lock(&instance->lock);
	instance->stats.submitted += exchange->held;
	exchange_alive(instance);
	spin_unlock(&instance->lock);
	hwtimer_ring_answer(exchange->ring, exchange->requests, exchange->held);
	exchange->held = 0;
}

/*
 * Does what has been submitted, as many requests at the most as there are slots,
 * so that it ends. Returns how many, or -EINVAL. May sleep.
 */
static int exchange_drain(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 left = exchange->ring->submissions;
	int done = 0;

	while (left) {
		int count;

		/* It could not have memory; others may share the rings. */
		if (fatal_signal_pending(current)) {
			queue_work(hwtimer_exchange_queue, &exchange->work);
			break;
		}
		count = batch_fetch(exchange, left);
		if (count <= 0)
			return done ?: count;
		hwtimer_request_run(instance, exchange->requests, count);
		batch_done(instance);
		done += count;
		left -= min_t(u32, left, count);
		if (signal_pending(current) || READ_ONCE(exchange->closing))
			break;
		cond_resched();
	}
	return done;
}

static void exchange_work(struct work_struct *work)
{
	struct hwtimer_exchange *exchange =
		container_of(work, struct hwtimer_exchange, work);
	struct hwtimer_instance *instance =
		container_of(exchange, struct hwtimer_instance, exchange);
	struct mem_cgroup *memcg;

	mutex_lock(&exchange->drain);
	memcg = set_active_memcg(exchange->memcg);
	exchange_drain(instance);
	set_active_memcg(memcg);
	mutex_unlock(&exchange->drain);
}

/*
 * From now on the caller's memory cgroup is charged for what the work item allocates. Nobody
 * knows which process wrote a request into memory that several share; the process that kicked
 * last is the best guess. So a process pays for another only if both share the rings, and
 * stops paying when the other kicks. mmap() does not take over the charge: it holds
 * mmap_lock, and a drain may wait for memory.
 */
static void exchange_charge_caller(struct hwtimer_exchange *exchange)
{
	struct mem_cgroup *before = exchange->memcg;

	lockdep_assert_held(&exchange->drain);
	exchange->memcg = get_mem_cgroup_from_mm(current->mm);
	mem_cgroup_put(before);
}

/*
 * Does some of what has been submitted, without sleeping; returns how many. If
 * somebody else is about it, that one will do.
 */
static u32 worker_drain(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int count;

	if (!hwtimer_ring_submitted(exchange->ring) ||
	    !mutex_trylock(&exchange->drain))
		return 0;
	count = batch_fetch(exchange, HWTIMER_HOLD);
	if (count > 0) {
		if (hwtimer_request_try(instance, exchange->requests, count)) {
			batch_done(instance);
		} else {
			queue_work(hwtimer_exchange_queue, &exchange->work);
			count = 0;
		}
	}
	mutex_unlock(&exchange->drain);
	return max(count, 0);
}

/**
 * hwtimer_exchange_unread - events in the ring that wait for the program
 * @instance: whose; its lock need not be held
 */
u32 hwtimer_exchange_unread(const struct hwtimer_instance *instance)
{
	const struct hwtimer_ring *ring = exchange_ring(&instance->exchange);

	return ring ? hwtimer_ring_unread(ring) : 0;
}

/**
 * hwtimer_exchange_told - let user space know of events
 * @instance: whose; its lock is held, and events were queued, put into the ring
 *	or taken
 */
void hwtimer_exchange_told(struct hwtimer_instance *instance)
{
	struct hwtimer_ring *ring = instance->exchange.ring;
	u64 ready = instance->stats.ready;

	lockdep_assert_held(&instance->lock);
	if (!ring)
		return;
	hwtimer_ring_publish(ring);
	WRITE_ONCE(ring->shared->waiting, min_t(u64, ready, U32_MAX));
	if (!ready)
		return;
	/* Pairs with the fence in hwtimer_ring_consume(). */
	smp_mb();
	if (hwtimer_ring_has_room(ring))
		look_in(instance, 0);
}

/*
 * Moves events that wait in the kernel into the ring, HWTIMER_HOLD at the most; returns
 * how many have left the queue. To a consumer of the ring they come only now: it may
 * have emptied the ring and gone to sleep, so it is told as if they had just expired.
 */
static u32 exchange_flush(struct hwtimer_instance *instance)
{
	__poll_t mask = 0;
	u64 completed;
	u32 moved;

	if (!READ_ONCE(instance->stats.ready))
		return 0;
	spin_lock(&instance->lock);
	completed = instance->stats.completed;
	moved = hwtimer_harvest_flush(instance);
	if (moved) {
		exchange_alive(instance);
		hwtimer_exchange_told(instance);
	}
	if (completed != instance->stats.completed ||
	    (moved && hwtimer_instance_drained(instance)))
		mask = hwtimer_notice_mask(instance);
	spin_unlock(&instance->lock);
	if (mask)
		hwtimer_notice_wake(instance, mask);
	return moved;
}

/**
 * hwtimer_exchange_serve - do some of what waits in the rings, for the worker
 * @instance: the instance; its lock is not held
 *
 * Each request that is done and each event that is moved has the worker poll on.
 *
 * Return: how many requests were done, or events moved, whichever is more; if
 * HWTIMER_HOLD there may be more to do.
 */
u32 hwtimer_exchange_serve(struct hwtimer_instance *instance)
{
	if (!exchange_ring(&instance->exchange))
		return 0;
	return max(worker_drain(instance), exchange_flush(instance));
}

/* Whether there is something to do for whoever looks. */
static bool exchange_busy(struct hwtimer_instance *instance)
{
	struct hwtimer_ring *ring = instance->exchange.ring;

	return hwtimer_ring_submitted(ring) > 0 ||
	       (instance->stats.ready && hwtimer_ring_look_for_room(ring));
}

static void exchange_stay_awake(struct hwtimer_instance *instance, u64 delay)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&instance->lock);
	exchange->awake = true;
	exchange_alive(instance);
	WRITE_ONCE(exchange->ring->shared->flags, 0);
	look_in(instance, delay);
}

/**
 * hwtimer_exchange_doze - the worker polls the rings no more, unless there is something
 * @instance: the instance; its lock is held, and its worker is awake
 *
 * The program may submit a request, or make room for an event, at this very moment. If
 * it has not seen the flag, the worker sees what it did, and stays awake.
 *
 * Called from here, and by the unit test of just that.
 */
void hwtimer_exchange_doze(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&instance->lock);
	exchange->awake = false;
	WRITE_ONCE(exchange->ring->shared->flags, HWTIMER_RING_NEED_KICK);
	/* Pairs with the fence in hwtimer_ring_publish() and _consume(). */
	smp_mb();
	if (exchange_busy(instance))
		exchange_stay_awake(instance, HWTIMER_LOOK_INTERVAL);
}

/**
 * hwtimer_exchange_look - the worker has come to look at the rings
 * @instance: whose; its lock is not held
 */
void hwtimer_exchange_look(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 served;
	bool more;

	if (!exchange_ring(exchange))
		return;
	served = hwtimer_exchange_serve(instance);
	more = served >= HWTIMER_HOLD;
	spin_lock(&instance->lock);
	/* It may have come before, for something else. */
	if (!served && exchange->looks && exchange->look_at <= ktime_get_ns())
		exchange->looks--;
	/* A program whose requests the work item has not finished is not idle. */
	if (more ||
	    (exchange->awake && (exchange->looks || exchange_busy(instance))))
		look_in(instance, more ? 0 : HWTIMER_LOOK_INTERVAL);
	else if (exchange->awake)
		hwtimer_exchange_doze(instance);
	spin_unlock(&instance->lock);
}

/**
 * hwtimer_exchange_stopped - the worker has forgotten a stopped instance
 * @instance: its lock is held
 *
 * What it should have looked at it shall yet see.
 */
void hwtimer_exchange_stopped(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->exchange.ring)
		look_in(instance, HWTIMER_LOOK_INTERVAL);
}

/* Moves all events that wait into the ring, as far as there is room. */
static void exchange_flush_all(struct hwtimer_instance *instance)
{
	u32 left = instance->exchange.ring->completions;

	while (left && exchange_flush(instance)) {
		left -= min(left, HWTIMER_HOLD);
		cond_resched();
	}
}

/**
 * hwtimer_exchange_kick - do at once what there is to do
 * @instance: whose rings
 *
 * Return: how many requests were done; -ENXIO, -EINVAL, -ERESTARTSYS as
 * HWTIMER_IOC_KICK. May sleep.
 */
long hwtimer_exchange_kick(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int done;

	if (!exchange_ring(exchange))
		return -ENXIO;
	spin_lock(&instance->lock);
	if (exchange->awake)
		exchange_alive(instance);
	else
		exchange_stay_awake(instance, HWTIMER_LOOK_INTERVAL);
	spin_unlock(&instance->lock);

	/* A consumer's events do not wait for requests, which may wait for memory. */
	exchange_flush_all(instance);
	if (!hwtimer_ring_submitted(exchange->ring)) {
		if (mutex_trylock(&exchange->drain)) {
			exchange_charge_caller(exchange);
			mutex_unlock(&exchange->drain);
		}
		return 0;
	}
	if (mutex_lock_interruptible(&exchange->drain))
		return -ERESTARTSYS;
	exchange_charge_caller(exchange);
	done = exchange_drain(instance);
	mutex_unlock(&exchange->drain);
	exchange_flush_all(instance);
	return done;
}

/* Makes the rings that the settings ask for. */
static int exchange_open(struct hwtimer_instance *instance)
{
	const struct hwtimer_settings *settings = &instance->settings;
	struct hwtimer_exchange *exchange = &instance->exchange;
	size_t size = sizeof(*exchange->requests);
	struct hwtimer_ring *ring;

	lockdep_assert_held(&instance->setup);
	if (!hwtimer_memory_allows(hwtimer_exchange_bytes(settings)))
		return -ENOMEM;
	exchange->requests = hwtimer_memory_get(HWTIMER_HOLD * size, 0);
	if (!exchange->requests)
		return -ENOMEM;
	ring = hwtimer_ring_create(settings->submissions,
				   settings->completions);
	if (!ring) {
		kvfree(exchange->requests);
		exchange->requests = NULL;
		return -ENOMEM;
	}
	/* Nobody drains what is not there yet. */
	exchange->memcg = get_mem_cgroup_from_mm(current->mm);
	spin_lock(&instance->lock);
	/* Pairs with the smp_load_acquire() in exchange_ring(). */
	smp_store_release(&exchange->ring, ring);
	/* Events that have come before follow. */
	hwtimer_exchange_told(instance);
	spin_unlock(&instance->lock);
	return 0;
}

/**
 * hwtimer_exchange_map - map the rings, which are made if there are none yet
 * @instance: whose
 * @vma: as mmap() made it
 *
 * Return: 0, -EINVAL, -ENOMEM. May sleep; the caller's mmap_lock is held.
 */
int hwtimer_exchange_map(struct hwtimer_instance *instance,
			 struct vm_area_struct *vma)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int err = 0;

	/* VM_SHARED is gone if the descriptor is for reading only. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff)
		return -EINVAL;
	mutex_lock(&instance->setup);
	if (vma->vm_end - vma->vm_start !=
	    hwtimer_exchange_bytes(&instance->settings))
		err = -EINVAL;
	else if (!exchange->ring)
		err = exchange_open(instance);
	mutex_unlock(&instance->setup);
	return err ?: hwtimer_ring_map(exchange->ring, vma);
}

/* How many bytes there are to be mapped with these settings; 0: none. */
size_t hwtimer_exchange_bytes(const struct hwtimer_settings *settings)
{
	if (!settings->submissions && !settings->completions)
		return 0;
	return hwtimer_ring_bytes(settings->submissions, settings->completions);
}

/* Before any other call; for a new instance. */
void hwtimer_exchange_init(struct hwtimer_exchange *exchange)
{
	mutex_init(&exchange->drain);
	INIT_WORK(&exchange->work, exchange_work);
}

/* At the end of an instance, which the worker has left. May sleep. */
void hwtimer_exchange_release(struct hwtimer_exchange *exchange)
{
	/* As many as there may be, each of which may wait for memory. */
	WRITE_ONCE(exchange->closing, true);
	cancel_work_sync(&exchange->work);
	hwtimer_ring_destroy(exchange->ring);
	kvfree(exchange->requests);
	mem_cgroup_put(exchange->memcg);
}
