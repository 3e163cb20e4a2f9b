// SPDX-License-Identifier: GPL-2.0
/*
 * Drains the submission ring; see hwtimer_submission.h.
 *
 * The worker takes requests when it serves an instance, and a thread of the program takes
 * them by KICK. Other instances wait for the worker. So it only runs batches that need no
 * new memory, and that owe no more than one step of a compaction or a rewind. It leaves
 * the others to an errand of another worker, which may sleep. That is a worker of the same
 * owner, so that the owner pays for the time, and only its own instances wait.
 */
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "hwtimer.h"
#include "hwtimer_bulk.h"
#include "hwtimer_completion.h"
#include "hwtimer_request.h"
#include "hwtimer_ring.h"
#include "hwtimer_submission.h"

/*
 * As many compact slots of one kind in a row are run as a bulk. Fewer are run as requests,
 * together with those of other kinds that follow them: a bulk takes the lock for each kind.
 */
#define HWTIMER_BULK_LEAST 16

/* Has the owner's other worker run the requests in the ring. Does not sleep. */
static void submission_send_errand(struct hwtimer_exchange *exchange)
{
	hwtimer_worker_kick(&exchange->errand.turns, ktime_get_ns());
}

/* Takes exchange->held requests, or fewer as a bulk, if they are for one. */
static void batch_take(struct hwtimer_exchange *exchange)
{
	u32 count = exchange->held;

	exchange->cut = false;
	if (exchange->ring->compact) {
		u32 alike = hwtimer_ring_take_bulk(exchange->ring,
						   &exchange->bulk,
						   exchange->words, count);

		exchange->alike = alike == count || alike >= HWTIMER_BULK_LEAST;
		if (exchange->alike) {
			exchange->held = alike;
			exchange->cut = alike < count;
			return;
		}
	}
	hwtimer_ring_take(exchange->ring, exchange->requests, count);
}

/*
 * Takes the next requests, @max at most, into exchange->requests. If an earlier call took
 * requests that were not run, returns those instead. Returns the number of requests, or
 * -EINVAL: user space's tail is impossible.
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
	batch_take(exchange);
	return exchange->held;
}

/* Each request of a bulk fails for the same reason. */
static void bulk_fail(struct hwtimer_exchange *exchange, int err)
{
	u32 i;

	for (i = 0; i < exchange->held; i++)
		exchange->words[i] = err;
}

/* Runs the requests from batch_fetch(). May sleep. */
static void batch_run(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int err;

	if (!exchange->alike) {
		hwtimer_request_run(instance, exchange->requests,
				    exchange->held);
		return;
	}
	err = hwtimer_bulk_run(instance, &exchange->bulk, exchange->words,
			       exchange->held);
	if (err)
		bulk_fail(exchange, err);
}

/* Runs the requests from batch_fetch() if the worker can do so; returns whether it did. */
static bool batch_try(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int err;

	if (!exchange->alike)
		return hwtimer_request_try(instance, exchange->requests,
					   exchange->held);
	err = hwtimer_bulk_try(instance, &exchange->bulk, exchange->words,
			       exchange->held);
	if (err && err != -EAGAIN)
		bulk_fail(exchange, err);
	return err != -EAGAIN;
}

/*
 * Writes the results of the requests from batch_fetch(), after they ran. Calls
 * hwtimer_completion_alive() before that: otherwise the worker could find the ring empty,
 * and count an idle poll.
 */
static void batch_done(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;

	lockdep_assert_held(&exchange->drain);
	spin_lock(&instance->lock);
	instance->stats.submitted += exchange->held;
	hwtimer_completion_alive(instance);
	spin_unlock(&instance->lock);
	if (exchange->alike)
		hwtimer_ring_answer_bulk(exchange->ring, exchange->words,
					 exchange->held);
	else
		hwtimer_ring_answer(exchange->ring, exchange->requests,
				    exchange->held);
	exchange->held = 0;
}

/**
 * hwtimer_submission_drain - run the requests in the submission ring
 * @instance: the instance, which has rings; exchange.drain is held, the lock is not
 *
 * Runs at most as many requests as the ring has slots, so that it ends although user
 * space adds more. A fatal signal leaves the rest to an errand, because other processes
 * may share the rings. Any other signal leaves the rest in the ring.
 *
 * Return: the number of requests that were run, or -EINVAL if none was run and user
 * space's tail is impossible. May sleep.
 */
int hwtimer_submission_drain(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 left = exchange->ring->submissions;
	int done = 0;

	lockdep_assert_held(&exchange->drain);
	while (left) {
		int count;

		/* A killed task must not allocate memory, see supply_unwanted(). */
		if (fatal_signal_pending(current)) {
			submission_send_errand(exchange);
			break;
		}
		count = batch_fetch(exchange, left);
		if (count <= 0)
			return done ?: count;
		batch_run(instance);
		batch_done(instance);
		done += count;
		left -= min_t(u32, left, count);
		if (signal_pending(current) || READ_ONCE(exchange->closing))
			break;
		cond_resched();
	}
	return done;
}

/* Runs one batch of requests. Returns their number; 0: there are none. */
static u32 errand_batch(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	int count;

	lockdep_assert_held(&exchange->drain);
	count = batch_fetch(exchange, HWTIMER_HOLD);
	if (count <= 0)
		return 0;
	batch_run(instance);
	batch_done(instance);
	return count;
}

/*
 * Runs one batch. Memory is charged to exchange->memcg. Returns the number of requests; 0:
 * there is nothing more to do.
 */
static u32 errand_run(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	struct mem_cgroup *memcg = set_active_memcg(exchange->memcg);
	u32 run = errand_batch(instance);

	set_active_memcg(memcg);
	return READ_ONCE(exchange->closing) ? 0 : run;
}

/* Does errand_run(), unless another thread is draining the ring, or there is none yet. */
static u32 errand_try(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 run;

	if (!hwtimer_completion_ring(instance) ||
	    !mutex_trylock(&exchange->drain))
		return 0;
	run = errand_run(instance);
	mutex_unlock(&exchange->drain);
	return run;
}

/* Does errand_run(), and waits before that for a thread that is draining the ring. */
static u32 errand_wait(struct hwtimer_instance *instance)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 run;

	mutex_lock(&exchange->drain);
	run = errand_run(instance);
	mutex_unlock(&exchange->drain);
	return run;
}

/*
 * Serves the alarm of the errand: runs one batch, so that other instances of the owner
 * get their turn. If a thread of the program is draining the ring, it does the errand, or,
 * interrupted by a signal, leaves requests in the ring; then the worker goes on polling,
 * and finds them.
 */
static void submission_errand(struct hwtimer_alarm *alarm,
			      struct hwtimer_slice *slice)
{
	struct hwtimer_exchange *exchange =
		container_of(alarm, struct hwtimer_exchange, errand.turns);
	struct hwtimer_instance *instance =
		container_of(exchange, struct hwtimer_instance, exchange);

	if (errand_try(instance))
		submission_send_errand(exchange);
}

/**
 * hwtimer_submission_room - the number of requests that may have been submitted
 * @exchange: the exchange of an instance with rings
 *
 * Return: the slots of the ring, plus one batch that was taken out of it and not run. Any
 * context.
 */
u32 hwtimer_submission_room(const struct hwtimer_exchange *exchange)
{
	return exchange->ring->submissions + HWTIMER_HOLD;
}

/**
 * hwtimer_submission_finish - run the requests in the submission ring, for a last time
 * @instance: the instance, which has rings; its lock is not held
 *
 * For the last worker that gives the instance up. Runs the requests that were taken out
 * of the ring before, and about as many as the ring has slots, so that it ends although
 * user space adds more. Another worker of the instance may just be taking out a batch that
 * it would leave to an errand; so this waits for the mutex exchange.drain. May sleep.
 */
void hwtimer_submission_finish(struct hwtimer_instance *instance)
{
	u32 left = hwtimer_submission_room(&instance->exchange);
	u32 run;

	do {
		run = errand_wait(instance);
		left -= min(left, run);
		cond_resched();
	} while (run && left);
}

/**
 * hwtimer_submission_await - wait for the thread that is draining the submission ring
 * @exchange: the exchange of an instance
 *
 * That thread may have seen an empty ring just before a request came. A thread that begins
 * after this call sees all requests that were there before it. May sleep; takes the mutex
 * exchange.drain.
 */
void hwtimer_submission_await(struct hwtimer_exchange *exchange)
{
	mutex_lock(&exchange->drain);
	mutex_unlock(&exchange->drain);
}

/**
 * hwtimer_submission_init - prepare the submissions of a new instance
 * @exchange: the exchange of the instance, zeroed
 */
void hwtimer_submission_init(struct hwtimer_exchange *exchange)
{
	mutex_init(&exchange->drain);
	hwtimer_job_init(&exchange->errand, submission_errand, NULL);
}

/**
 * hwtimer_submission_charge_caller - charge the caller for what errands allocate
 * @exchange: the exchange of an instance; its mutex drain is held
 *
 * The memory cgroup of the caller pays from now on. The kernel cannot know which process
 * wrote a request into shared memory; the process that kicked last is the best guess. So
 * a process pays for another only if both share the rings, and stops paying when the
 * other one kicks. mmap() does not change who pays after the first one: it holds
 * mmap_lock, and the holder of the mutex drain may wait for memory.
 */
void hwtimer_submission_charge_caller(struct hwtimer_exchange *exchange)
{
	struct mem_cgroup *before = exchange->memcg;

	lockdep_assert_held(&exchange->drain);
	exchange->memcg = get_mem_cgroup_from_mm(current->mm);
	mem_cgroup_put(before);
}

/**
 * hwtimer_submission_try - run a batch of submitted requests, for the worker
 * @instance: the instance; it has rings, and its lock is not held
 * @more: out: whether the batch was full, or ended before requests of another kind, so that
 *	there may be more to run. A batch of compact slots may be much smaller than
 *	HWTIMER_HOLD
 *
 * If another thread is draining the ring, it will run these requests, too. A batch that
 * the worker must not run becomes an errand.
 *
 * Return: the number of requests that were run, HWTIMER_HOLD at most. Tries to take the
 * mutex exchange.drain, and takes the lock. May reschedule, but waits for no mutex and no
 * memory.
 */
u32 hwtimer_submission_try(struct hwtimer_instance *instance, bool *more)
{
	struct hwtimer_exchange *exchange = &instance->exchange;
	bool refused;
	int count;

	*more = false;
	if (!hwtimer_ring_submitted(exchange->ring) ||
	    !mutex_trylock(&exchange->drain))
		return 0;
	count = batch_fetch(exchange, HWTIMER_HOLD);
	refused = count > 0 && !batch_try(instance);
	if (count > 0 && !refused) {
		*more = exchange->cut || count >= HWTIMER_HOLD;
		batch_done(instance);
	}
	mutex_unlock(&exchange->drain);
	/* Without the mutex, which the errand only tries to take. */
	if (refused) {
		submission_send_errand(exchange);
		return 0;
	}
	return max(count, 0);
}
