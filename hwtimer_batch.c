// SPDX-License-Identifier: GPL-2.0
/*
 * Does many operations in one ioctl: copies at most HWTIMER_HOLD of them in, does them,
 * copies their results out, and goes on with the next ones.
 *
 * Called by hwtimer_ioctl.c, which has checked the number of operations and, for SUBMIT,
 * the flags. Works in pieces, so that the kernel needs little memory for a long array,
 * and a signal can end the call.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "hwtimer_batch.h"
#include "hwtimer_bulk.h"
#include "hwtimer_memory.h"
#include "hwtimer_op.h"
#include "hwtimer_request.h"

/* Bytes of memory that a batch takes from the stack instead of allocating it */
#define BATCH_SMALL 256

/**
 * struct batch - one ioctl that does many operations
 * @instance: the instance
 * @count: number of operations
 * @memory: room for the operations that are done at a time, @count or HWTIMER_HOLD
 * @submit: argument of the ioctl, if it is SUBMIT; otherwise NULL
 * @bulk: argument of the ioctl, if it is BULK; otherwise NULL
 * @general: the bulk is general, see hwtimer_bulk.c; @memory then has room for the words of
 *	all operations, and behind them for as many requests
 *
 * Only one thread uses a batch, so no lock protects the members.
 */
struct batch {
	struct hwtimer_instance *instance;
	u32 count;
	void *memory;
	const struct hwtimer_submit *submit;
	const struct hwtimer_bulk *bulk;
	bool general;
};

/*
 * Copies elements @first to @first + @count - 1 of the user's array at @address in, each
 * of @size bytes. Returns the number of elements that were copied whole.
 */
static u32 elements_in(void *to, u64 address, u64 first, u32 count, size_t size)
{
	const void __user *from = u64_to_user_ptr(address) + first * size;
	size_t left = copy_from_user(to, from, count * size);

	return likely(!left) ? count : count - DIV_ROUND_UP(left, size);
}

/* Copies elements out to the user's array, as elements_in() copies them in. */
static u32 elements_out(u64 address, u64 first, const void *from, u32 count,
			size_t size)
{
	void __user *to = u64_to_user_ptr(address) + first * size;
	size_t left = copy_to_user(to, from, count * size);

	return likely(!left) ? count : count - DIV_ROUND_UP(left, size);
}

/*
 * Does @count requests from @first on. Returns the number of requests whose results were
 * copied out, or -EFAULT if there is none.
 */
static long submit_some(const struct batch *batch, u32 first, u32 count)
{
	struct hwtimer_request *requests = batch->memory;
	u64 address = batch->submit->requests;
	u32 done;

	count = elements_in(requests, address, first, count, sizeof(*requests));
	if (!count)
		return -EFAULT;
	hwtimer_request_run(batch->instance, requests, count);
	done = elements_out(address, first, requests, count, sizeof(*requests));
	if (done < count)
		hwtimer_request_undo(batch->instance, requests + done,
				     count - done);
	return done ? (long)done : -EFAULT;
}

/*
 * Does @count operations of a bulk from @first on. @words is room for their words, and
 * @requests for as many requests if the bulk is general, otherwise NULL. Returns the number
 * of operations that were done and, if results are wanted, whose results were copied out. If
 * there is none, returns -EFAULT or the error of hwtimer_bulk_run(). Always inline: for a
 * small bulk, @requests and @first are constant.
 */
static __always_inline long
bulk_some(struct hwtimer_instance *instance, const struct hwtimer_bulk *bulk,
	  u64 *words, struct hwtimer_request *requests, u32 first, u32 count)
{
	u32 done;
	int err;

	count = elements_in(words, bulk->timers, first, count,
			    bulk->op == HWTIMER_OP_CANCEL ?
				    sizeof(*words) :
				    sizeof(struct hwtimer_bulk_timer));
	if (!count)
		return -EFAULT;
	err = requests ? hwtimer_bulk_run_general(instance, bulk, words,
						  requests, count) :
			 hwtimer_bulk_run(instance, bulk, words, count);
	if (err)
		return err;
	if (!bulk->results)
		return count;
	done = elements_out(bulk->results, first, words, count, sizeof(*words));
	if (unlikely(done < count) && bulk->op == HWTIMER_OP_SCHEDULE)
		hwtimer_bulk_undo(instance, words + done, count - done);
	return done ? (long)done : -EFAULT;
}

/* Does @count operations of a bulk that is not small, from @first on. */
static long bulk_more(const struct batch *batch, u32 first, u32 count)
{
	u64 *words = batch->memory;
	u64 *requests = words + 2 * min(batch->count, HWTIMER_HOLD);

	return bulk_some(batch->instance, batch->bulk, words,
			 batch->general ? (void *)requests : NULL, first,
			 count);
}

/* Does a batch that has memory; returns the number of operations done, or an error. */
static long batch_run(const struct batch *batch)
{
	u32 done = 0;
	long ret = 0;

	while (done < batch->count) {
		u32 count = min(batch->count - done, HWTIMER_HOLD);

		ret = batch->submit ? submit_some(batch, done, count) :
				      bulk_more(batch, done, count);
		if (ret < 0)
			break;
		done += ret;
		if (ret < count)
			break;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return done ? (long)done : ret;
}

/* Does a batch that needs at most BATCH_SMALL bytes. */
static noinline long batch_run_small(struct batch *batch)
{
	u64 memory[BATCH_SMALL / sizeof(u64)] __uninitialized;

	batch->memory = memory;
	return batch_run(batch);
}

/*
 * Does a batch, with memory of @size bytes for each operation. To allocate that for a few
 * operations would take longer than to do them.
 */
static long batch_run_with(struct batch *batch, size_t size)
{
	long ret;

	if (!batch->count)
		return 0;
	if (batch->count <= BATCH_SMALL / size)
		return batch_run_small(batch);
	batch->memory = kvmalloc_array(min(batch->count, HWTIMER_HOLD), size,
				       HWTIMER_GFP);
	if (!batch->memory)
		return -ENOMEM;
	ret = batch_run(batch);
	kvfree(batch->memory);
	return ret;
}

/**
 * hwtimer_batch_submit - HWTIMER_IOC_SUBMIT: do many requests
 * @instance: the instance; none of its locks is held
 * @submit: argument of the ioctl; its flags and its count are valid
 *
 * Return: the number of requests done; if none was, 0 (the count is 0), -EFAULT or
 * -ENOMEM. May sleep.
 */
long hwtimer_batch_submit(struct hwtimer_instance *instance,
			  const struct hwtimer_submit *submit)
{
	struct batch batch = {
		.instance = instance,
		.count = submit->count,
		.submit = submit,
	};

	return batch_run_with(&batch, sizeof(struct hwtimer_request));
}

/* Does a bulk that has been checked, with memory for as many operations as it takes. */
static noinline long bulk_large(struct hwtimer_instance *instance,
				const struct hwtimer_bulk *bulk, bool general)
{
	struct batch batch = {
		.instance = instance,
		.count = bulk->count,
		.bulk = bulk,
		.general = general,
	};
	size_t size = sizeof(struct hwtimer_bulk_timer);

	if (general)
		size += sizeof(struct hwtimer_request);
	return batch_run_with(&batch, size);
}

/**
 * hwtimer_batch_bulk - HWTIMER_IOC_BULK: do one operation on many timers
 * @instance: the instance; none of its locks is held
 * @bulk: argument of the ioctl; its size and its count are valid, the rest is unchecked
 *
 * A small bulk takes as few steps as a single request: it has one piece, with memory on the
 * stack.
 *
 * Return: the number of operations done; if none was, 0 (the count is 0), -EINVAL,
 * -ERANGE, -EDOM, -EFAULT, -ENOMEM, or the error of starting or adopting the instance. May
 * sleep.
 */
long hwtimer_batch_bulk(struct hwtimer_instance *instance,
			const struct hwtimer_bulk *bulk)
{
	u64 words[BATCH_SMALL / sizeof(u64)] __uninitialized;
	u32 small = min_t(u32, ARRAY_SIZE(words) / 2, HWTIMER_HOLD);
	/* If these are 0 and the bulk is plain, it is not general either. */
	u64 rest = bulk->interval | bulk->slack | bulk->expirations |
		   bulk->reserved;
	bool general = false;
	int err;

	if (unlikely(rest || !hwtimer_bulk_plain(bulk))) {
		general = hwtimer_bulk_general(bulk);
		err = general ? hwtimer_bulk_check_general(instance, bulk) :
				hwtimer_bulk_check(instance, bulk);
		if (err)
			return err;
	}
	if (unlikely(!bulk->count))
		return 0;
	/* The program would never learn the ids of its new timers. */
	if (bulk->op == HWTIMER_OP_SCHEDULE && !bulk->results)
		return -EFAULT;
	if (general || bulk->count > small)
		return bulk_large(instance, bulk, general);
	return bulk_some(instance, bulk, words, NULL, 0, bulk->count);
}

/**
 * hwtimer_batch_cancel_all - HWTIMER_IOC_CANCEL_ALL: cancel all timers
 * @instance: the instance; none of its locks is held
 * @all: argument of the ioctl; its size and its flags are valid, the rest is unchecked. Out,
 *	also after -EINTR: the cursor, and what was done
 *
 * Return: 0 or -EINTR. May sleep.
 */
long hwtimer_batch_cancel_all(struct hwtimer_instance *instance,
			      struct hwtimer_cancel_all *all)
{
	while (hwtimer_op_cancel_some(instance, all)) {
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	/* Discarded events that were behind others are at the front now. */
	while (hwtimer_harvest_discarded(instance) && !signal_pending(current))
		cond_resched();
	return 0;
}
