// SPDX-License-Identifier: GPL-2.0
/*
 * Publishes and counts the events in the completion ring; see hwtimer_completion.h.
 *
 * When timers expire, hwtimer_harvest.c puts their events into the ring, under the
 * instance's lock. An event that finds no room waits in the queue of events.
 * hwtimer_exchange.c has it moved when user space has made room.
 */
#include <linux/ktime.h>

#include "hwtimer.h"
#include "hwtimer_completion.h"
#include "hwtimer_ring.h"

/* Number of polls in a row that find nothing before the worker stops polling */
#define HWTIMER_IDLE_POLLS 8

/**
 * hwtimer_completion_ring - get the rings of an instance
 * @instance: the instance; no lock is needed
 *
 * Return: the rings, which exist as long as the instance; NULL: not mapped yet.
 */
struct hwtimer_ring *
hwtimer_completion_ring(const struct hwtimer_instance *instance)
{
	/* Pairs with the smp_store_release() in exchange_open(). */
	return smp_load_acquire(&instance->exchange.ring);
}

/**
 * hwtimer_completion_unread - count the events in the ring that user space has not read
 * @instance: the instance; no lock is needed
 *
 * Return: the number of events; 0 if there are no rings.
 */
u32 hwtimer_completion_unread(const struct hwtimer_instance *instance)
{
	const struct hwtimer_ring *ring = hwtimer_completion_ring(instance);

	return ring ? hwtimer_ring_unread(ring) : 0;
}

/**
 * hwtimer_completion_paused - count the timers that are paused, see hwtimer_period.c
 * @instance: the instance; without its lock, the result may be out of date
 *
 * Return: the number of timers. They are pending to user space, but stats.pending does
 * not count them.
 */
u32 hwtimer_completion_paused(const struct hwtimer_instance *instance)
{
	const struct hwtimer_ring *ring = hwtimer_completion_ring(instance);

	return ring ? READ_ONCE(ring->paused) : 0;
}

/**
 * hwtimer_completion_due - check whether a poll of the completion ring has work to do
 * @instance: the instance, which has rings; its lock is held
 *
 * Return: whether user space has made room for an event that waits, or has taken out
 * events that timers may be paused for.
 */
bool hwtimer_completion_due(const struct hwtimer_instance *instance)
{
	struct hwtimer_ring *ring = instance->exchange.ring;

	lockdep_assert_held(&instance->lock);
	return (ring->paused && hwtimer_ring_consumed(ring)) ||
	       (instance->stats.ready && hwtimer_ring_has_room(ring));
}

/**
 * hwtimer_completion_poll_in - have the worker poll the rings
 * @instance: the instance; its lock is held
 * @delay: time until the poll, ns
 */
void hwtimer_completion_poll_in(struct hwtimer_instance *instance, u64 delay)
{
	lockdep_assert_held(&instance->lock);
	instance->exchange.poll_at = ktime_get_ns() + delay;
	hwtimer_wakeup_chores(instance, instance->exchange.poll_at);
}

/**
 * hwtimer_completion_alive - note that the program is active, so that polling goes on
 * @instance: the instance; its lock is held
 *
 * Called for each KICK, each batch of requests and each event that is moved into the
 * ring, not only if the worker finds them: a KICK and errands often leave nothing
 * for the worker to find, however busy the program is.
 */
void hwtimer_completion_alive(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->exchange.polls = HWTIMER_IDLE_POLLS;
}

/**
 * hwtimer_completion_publish - let user space see the events in the ring
 * @instance: the instance, with or without rings; its lock is held
 *
 * Called after events were queued, put into the ring, read or discarded, and after timers
 * were paused or are paused no longer. Also tells user space how many of both wait for it
 * to take events out of the ring. If it has taken out some meanwhile, has the worker poll
 * at once.
 */
void hwtimer_completion_publish(struct hwtimer_instance *instance)
{
	struct hwtimer_ring *ring = instance->exchange.ring;
	u64 waiting;

	lockdep_assert_held(&instance->lock);
	if (!ring)
		return;
	hwtimer_ring_publish(ring);
	waiting = instance->stats.ready + ring->paused;
	WRITE_ONCE(ring->shared->waiting, min_t(u64, waiting, U32_MAX));
	if (!waiting)
		return;
	/* Pairs with the fence in user space's hwtimer_ring_consume(). */
	smp_mb();
	if (!hwtimer_completion_due(instance))
		return;
	/* The program is active, even if a KICK is faster and this poll finds nothing. */
	hwtimer_completion_alive(instance);
	hwtimer_completion_poll_in(instance, 0);
}
