// SPDX-License-Identifier: GPL-2.0
/*
 * Creates, maps and serves the rings of an instance; see hwtimer_exchange.h.
 *
 * While the worker is polling, it serves the rings once per millisecond, until
 * HWTIMER_IDLE_POLLS polls in a row have found nothing. It also serves them at each turn
 * of the wheel. When it stops polling, it tells user space by the flag NEED_KICK, and
 * checks once more:
 *
 *	worker					program
 *	flags = NEED_KICK			submission_tail = ...
 *	smp_mb()				atomic_thread_fence(seq_cst)
 *	submission_tail?			flags?
 *
 * At least one of them sees what the other has written. So the program kicks, or the
 * worker goes on polling. The same holds for completion_head, which the program writes,
 * and waiting, which the kernel writes: at least one side sees that an event waits and
 * the ring has room, or that a timer is paused for an event that the program has taken
 * out. The models in tests/litmus/ prove this.
 */
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "hwtimer.h"
#include "hwtimer_adopt.h"
#include "hwtimer_completion.h"
#include "hwtimer_harvest.h"
#include "hwtimer_hurry.h"
#include "hwtimer_notice.h"
#include "hwtimer_ring.h"
#include "hwtimer_submission.h"

/* Time between two polls, ns */
#define HWTIMER_POLL_INTERVAL NSEC_PER_MSEC

/*
 * Lets paused timers go on, and moves events from the queue into the ring. Returns as
 * hwtimer_harvest_flush(). Readers are woken as if the events had just expired, because a
 * program may have emptied the ring and gone to sleep before.
 */
static u32 exchange_flush(struct hwtimer_instance *instance)
{
	__poll_t mask = 0;
	u64 completed, ready;
	u32 moved;

	if (!READ_ONCE(instance->stats.ready) &&
	    !hwtimer_completion_paused(instance))
		return 0;
	spin_lock(&instance->lock);
	completed = instance->stats.completed;
	ready = instance->stats.ready;
	moved = hwtimer_harvest_flush(instance);
	if (moved) {
		hwtimer_completion_alive(instance);
		hwtimer_completion_publish(instance);
	}
	if (completed != instance->stats.completed ||
	    (ready && hwtimer_instance_drained(instance)))
		mask = hwtimer_notice_mask(instance);
	spin_unlock(&instance->lock);
	if (mask)
		hwtimer_notice_wake(instance, mask);
	return moved;
}

/**
 * hwtimer_exchange_serve - serve both rings for one slice of the worker
 * @instance: the instance; its lock is not held, and it need not have rings
 *
 * Each request that is run and each event that is moved keeps polling going.
 *
 * Return: HWTIMER_HOLD if there may be more to do; otherwise the number of requests run, or
 * what exchange_flush() returned, whichever is more. May reschedule, but waits for no mutex
 * and no memory.
 */
u32 hwtimer_exchange_serve(struct hwtimer_instance *instance)
{
	u32 run, moved;
	bool more;

	if (!hwtimer_completion_ring(instance))
		return 0;
	run = hwtimer_submission_try(instance, &more);
	moved = exchange_flush(instance);
	return more ? HWTIMER_HOLD : max(run, moved);
}

/* Whether a poll would find something to do; the instance's lock is held. */
static bool exchange_busy(struct hwtimer_instance *instance)
{
	return hwtimer_ring_submitted(instance->exchange.ring) > 0 ||
	       hwtimer_completion_due(instance);
}

static void exchange_start_polling(struct hwtimer_instance *instance, u64 delay)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&instance->lock);
	exchange->polling = true;
	hwtimer_completion_alive(instance);
	WRITE_ONCE(exchange->ring->shared->flags, 0);
	hwtimer_completion_poll_in(instance, delay);
}

/**
 * hwtimer_exchange_stop_polling - stop polling the rings, unless there is something to do
 * @instance: the instance; its lock is held, and its rings are being polled
 *
 * At the same time, the program may submit a request or make room for an event. If the
 * program did that without seeing the flag NEED_KICK, the worker sees the request or the
 * room, and goes on polling.
 *
 * Called in this file and by tests/ring_kunit.c.
 */
void hwtimer_exchange_stop_polling(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&instance->lock);
	exchange->polling = false;
	WRITE_ONCE(exchange->ring->shared->flags, HWTIMER_RING_NEED_KICK);
	/*
	 * Pairs with the fences in user space's hwtimer_ring_publish() and
	 * hwtimer_ring_consume().
	 */
	smp_mb();
	if (exchange_busy(instance))
		exchange_start_polling(instance, HWTIMER_POLL_INTERVAL);
}

/**
 * hwtimer_exchange_poll - serve the rings, and decide when to poll them again
 * @instance: the instance; its lock is not held, and it need not have rings
 *
 * For the worker's chores. May reschedule, but waits for no mutex and no memory.
 */
void hwtimer_exchange_poll(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 served;
	bool more;

	if (!hwtimer_completion_ring(instance))
		return;
	served = hwtimer_exchange_serve(instance);
	more = served >= HWTIMER_HOLD;
	spin_lock(&instance->lock);
	/* Chores that run before @poll_at have another reason, and are no idle poll. */
	if (!served && exchange->polls && exchange->poll_at <= ktime_get_ns())
		exchange->polls--;
	/* A request that no errand has finished keeps polling going. */
	if (more ||
	    (exchange->polling && (exchange->polls || exchange_busy(instance))))
		hwtimer_completion_poll_in(instance,
					   more ? 0 : HWTIMER_POLL_INTERVAL);
	else if (exchange->polling)
		hwtimer_exchange_stop_polling(instance);
	spin_unlock(&instance->lock);
}

/**
 * hwtimer_exchange_stopped - have the rings of a stopped instance polled once more
 * @instance: the instance; its lock is held, and its worker has just forgotten its alarms
 *
 * Called when the instance is stopped, which also forgets the next poll.
 */
void hwtimer_exchange_stopped(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->exchange.ring)
		hwtimer_completion_poll_in(instance, HWTIMER_POLL_INTERVAL);
}

/*
 * Lets timers go on that are paused for events that the program has taken out, and moves
 * events from the queue into the ring while the ring has room. Each slot of the ring is
 * checked and filled once at most, with the total rounded up to a multiple of
 * HWTIMER_HOLD. May reschedule.
 */
static void exchange_flush_all(struct hwtimer_instance *instance)
{
	u32 left = 2 * instance->exchange.ring->completions;

	while (left && exchange_flush(instance)) {
		left -= min(left, HWTIMER_HOLD);
		cond_resched();
	}
}

/*
 * Does what the worker may do for both rings. Runs about as many requests as the ring has
 * slots; leaves those to the errand that the worker must not run. May reschedule.
 */
static void exchange_serve_all(struct hwtimer_instance *instance)
{
	u32 left = hwtimer_submission_room(&instance->exchange);
	u32 run;
	bool more;

	do {
		run = hwtimer_submission_try(instance, &more);
		left -= min(left, run);
		cond_resched();
	} while (run && left);
	exchange_flush_all(instance);
}

/**
 * hwtimer_exchange_deserted - note that a worker has just given up a job
 * @instance: the instance; its lock is held, and has been since the worker released the
 *	job. It need not have rings
 *
 * Tells user space to kick from now on. In the same hold of the lock, so that no KICK that
 * still found the instance manned takes that back.
 */
void hwtimer_exchange_deserted(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&instance->lock);
	if (!exchange->ring)
		return;
	exchange->polling = false;
	WRITE_ONCE(exchange->ring->shared->flags, HWTIMER_RING_NEED_KICK);
}

/**
 * hwtimer_exchange_leave - serve the rings once more after hwtimer_exchange_deserted()
 * @instance: the instance; its lock is not held, and it need not have rings. The caller has
 *	given up a job of it, and keeps it from being freed
 *
 * Each KICK adopts the instance. But a program that shares the rings and is no process of
 * the owner may have submitted a request, or made room for an event, without seeing the
 * flag, and may wait for the result in memory. So each worker that leaves looks once more.
 * It leaves requests that need memory to the worker for errands, unless that is gone; if
 * it goes just now, it looks later. May sleep; waits for the mutex exchange.drain, since
 * the thread that holds it may have looked before the request came.
 */
void hwtimer_exchange_leave(struct hwtimer_instance *instance)
{
	if (!hwtimer_completion_ring(instance))
		return;
	/*
	 * Pairs with the fences in user space's hwtimer_ring_publish() and
	 * hwtimer_ring_consume(). hwtimer_exchange_deserted() has written the flag.
	 */
	smp_mb();
	hwtimer_submission_await(&instance->exchange);
	exchange_serve_all(instance);
	if (!hwtimer_worker_of(&instance->exchange.errand))
		hwtimer_submission_finish(instance);
}

/*
 * Has the worker poll the rings. Returns false if the instance is deserted, so that nobody
 * would.
 */
static bool kick_polling(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	bool manned;

	spin_lock(&instance->lock);
	manned = !instance->deserted;
	if (manned && exchange->polling)
		hwtimer_completion_alive(instance);
	else if (manned)
		exchange_start_polling(instance, HWTIMER_POLL_INTERVAL);
	spin_unlock(&instance->lock);
	return manned;
}

/**
 * hwtimer_exchange_kick - HWTIMER_IOC_KICK: serve the rings at once, and start polling
 * @instance: the instance
 *
 * If the instance is deserted, the current process adopts it.
 *
 * Return: the number of requests run; -ENXIO (the rings are not mapped), -EINVAL (user
 * space's tail is impossible), -ERESTARTSYS (a signal came while another thread drained
 * the ring), or an error of hwtimer_adopt(). Takes the lock, and the mutex exchange.drain.
 * May sleep.
 */
long hwtimer_exchange_kick(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int done;

	if (!hwtimer_completion_ring(instance))
		return -ENXIO;
	do {
		done = hwtimer_adopt(instance);
		if (done)
			return done;
	} while (!kick_polling(instance));

	/* Events first: they should not wait while requests wait for memory. */
	exchange_flush_all(instance);
	if (!hwtimer_ring_submitted(exchange->ring)) {
		if (mutex_trylock(&exchange->drain)) {
			hwtimer_submission_charge_caller(exchange);
			mutex_unlock(&exchange->drain);
		}
		return 0;
	}
	if (mutex_lock_interruptible(&exchange->drain))
		return -ERESTARTSYS;
	hwtimer_submission_charge_caller(exchange);
	done = hwtimer_submission_drain(instance);
	mutex_unlock(&exchange->drain);
	exchange_flush_all(instance);
	return done;
}

/*
 * Allocates the rings and the room for requests, for which the account was charged.
 * Returns the rings, or NULL: no memory. May sleep.
 */
static struct hwtimer_ring *
exchange_alloc(struct hwtimer_exchange *exchange,
	       const struct hwtimer_settings *settings)
{
	size_t size = sizeof(*exchange->requests);
	struct hwtimer_ring *ring;

	exchange->requests = hwtimer_hurry_get(HWTIMER_HOLD * size);
	if (!exchange->requests)
		return NULL;
	ring = hwtimer_ring_create(settings->submissions, settings->completions,
				   settings->flags & HWTIMER_COMPACT_SLOTS);
	if (!ring) {
		kvfree(exchange->requests);
		exchange->requests = NULL;
	}
	return ring;
}

/* Creates the rings for the settings, at the first mmap(). Returns 0 or -ENOMEM. */
static int exchange_open(struct hwtimer_instance *instance)
{
	const struct hwtimer_settings *settings = &instance->settings;
	struct hwtimer_exchange *exchange = &instance->exchange;
	u64 bytes = hwtimer_supply_rings_bytes(settings);
	struct hwtimer_ring *ring;

	lockdep_assert_held(&instance->setup);
	if (!hwtimer_memory_allows(bytes) ||
	    !hwtimer_account_charge(instance->account, HWTIMER_BYTES, bytes))
		return -ENOMEM;
	ring = exchange_alloc(exchange, settings);
	if (!ring) {
		hwtimer_account_uncharge(instance->account, HWTIMER_BYTES,
					 bytes);
		return -ENOMEM;
	}
	/* No need for @drain: no thread uses @memcg before @ring is published below. */
	exchange->memcg = get_mem_cgroup_from_mm(current->mm);
	spin_lock(&instance->lock);
	instance->charged += bytes;
	/* Pairs with the smp_load_acquire() in hwtimer_completion_ring(). */
	smp_store_release(&exchange->ring, ring);
	/* If events wait already, this makes the worker poll the rings. */
	hwtimer_completion_publish(instance);
	spin_unlock(&instance->lock);
	return 0;
}

/* Whether the rings of the settings have @bytes; the mutex setup is held. */
static bool rings_fit(const struct hwtimer_instance *instance, size_t bytes)
{
	lockdep_assert_held(&instance->setup);
	return hwtimer_settings_ring_bytes(&instance->settings) == bytes;
}

/*
 * Creates the rings, which are to have @bytes, unless they exist. The caller holds mmap_lock,
 * for which ps waits, and the holder of the mutex may be another tenant, who hardly gets any
 * processor time. So only the first mmap() waits, and can be killed. Returns 0, -EINVAL,
 * -ENOMEM or -EINTR.
 */
static int exchange_open_once(struct hwtimer_instance *instance, size_t bytes)
{
	int err = 0;

	if (hwtimer_completion_ring(instance))
		return 0;
	if (mutex_lock_killable(&instance->setup))
		return -EINTR;
	if (!instance->exchange.ring)
		err = rings_fit(instance, bytes) ? exchange_open(instance) :
						   -EINVAL;
	mutex_unlock(&instance->setup);
	return err;
}

/**
 * hwtimer_exchange_map - mmap(): create the rings at the first call, and map them
 * @instance: the instance
 * @vma: the mapping that mmap() has created
 *
 * Return: 0; -EPERM (PROT_EXEC), -EINVAL (not shared, an offset, or not the size of the
 * rings), -ENOMEM, -EINTR (the caller is being killed), or an error of vm_map_pages(). Takes
 * the mutex setup, until there are rings, and the lock. May sleep; the caller's mmap_lock is
 * held.
 */
int hwtimer_exchange_map(struct hwtimer_instance *instance,
			 struct vm_area_struct *vma)
{
	size_t bytes = vma->vm_end - vma->vm_start;
	struct hwtimer_ring *ring;
	int err;

	/* All who have the descriptor can write here what another one would execute. */
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	/* Not VM_SHARED, which mmap() clears if the descriptor is read-only. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff)
		return -EINVAL;
	err = exchange_open_once(instance, bytes);
	if (err)
		return err;
	ring = hwtimer_completion_ring(instance);
	if (bytes != ring->nr_pages << PAGE_SHIFT)
		return -EINVAL;
	return hwtimer_ring_map(ring, vma);
}

/**
 * hwtimer_exchange_release - free the rings of an instance that is being freed
 * @exchange: the exchange; neither a program nor a worker uses it any more
 *
 * May sleep.
 */
void hwtimer_exchange_release(struct hwtimer_exchange *exchange)
{
	hwtimer_ring_destroy(exchange->ring);
	kvfree(exchange->requests);
	mem_cgroup_put(exchange->memcg);
}
