// SPDX-License-Identifier: GPL-2.0
/*
 * Does many operations in one ioctl: copies at most HWTIMER_HOLD of them in, does them,
 * copies their results out, and goes on with the next ones.
 *
 * Called by instance/ioctl.c, which has checked the number of operations and, for SUBMIT,
 * the flags. Works in pieces, so that the kernel needs little memory for a long array,
 * and a signal can end the call.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "alloc.h"
#include "hwtimer.h"
#include "timers/timers.h"

/* To allocate so few bytes would take longer than to do the operations in them. */
#define BATCH_SMALL 256

/**
 * struct batch - one ioctl that does many operations
 * @instance: the instance
 * @count: number of operations
 * @memory: room for the operations that are done at a time, @count or HWTIMER_HOLD
 * @submit: argument of the ioctl, if it is SUBMIT; otherwise NULL
 * @bulk: argument of the ioctl, if it is BULK; otherwise NULL
 *
 * Only one thread uses a batch, so no lock protects the members.
 */
struct batch {
	struct hwtimer_instance *instance;
	u32 count;
	void *memory;
	const struct hwtimer_submit *submit;
	const struct hwtimer_bulk *bulk;
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
 * Finds out before an operation is done whether its result can be written, as an operation
 * cannot be undone. Returns the number of elements that can be; parameters as elements_out().
 *
 * Writes back what is there, a byte of each page. fault_in_safe_writeable() takes 1,100
 * instructions more, nearly as many as a SCHEDULE, and mmap_lock, so it would wait for a
 * thread that maps memory.
 */
static u32 elements_writeable(u64 address, u64 first, u32 count, size_t size)
{
	u8 __user *to = u64_to_user_ptr(address) + first * size;
	size_t done = 0, bytes = count * size;
	u8 value;

	while (done < bytes && !get_user(value, to + done) &&
	       !put_user(value, to + done))
		done += PAGE_SIZE - offset_in_page(to + done);
	return done < bytes ? done / size : count;
}

/*
 * Does @count requests from @first on. Returns the number of requests whose results were
 * copied out, or -EFAULT if there is none.
 */
static long submit_piece(const struct batch *batch, u32 first, u32 count)
{
	struct hwtimer_request *requests = batch->memory;
	u64 address = batch->submit->requests;
	size_t size = sizeof(*requests);

	count = elements_in(requests, address, first, count, size);
	count = elements_writeable(address, first, count, size);
	if (!count)
		return -EFAULT;
	hwtimer_request_run(batch->instance, requests, count);
	count = elements_out(address, first, requests, count, size);
	return count ? (long)count : -EFAULT;
}

/*
 * Does @count operations of a bulk from @first on. Returns the number of operations that were
 * done and, if results are wanted, whose results were copied out. If there is none, returns
 * -EFAULT or the error of hwtimer_bulk_run().
 */
static long bulk_piece(const struct batch *batch, u32 first, u32 count)
{
	const struct hwtimer_bulk *bulk = batch->bulk;
	u64 *words = batch->memory;
	int err;

	count = elements_in(words, bulk->timers, first, count,
			    bulk->op == HWTIMER_OP_CANCEL ?
				    sizeof(*words) :
				    sizeof(struct hwtimer_bulk_timer));
	if (bulk->results)
		count = elements_writeable(bulk->results, first, count,
					   sizeof(*words));
	if (!count)
		return -EFAULT;
	err = hwtimer_bulk_run(batch->instance, bulk, words, count);
	if (err)
		return err;
	if (bulk->results)
		count = elements_out(bulk->results, first, words, count,
				     sizeof(*words));
	return count ? (long)count : -EFAULT;
}

/* Does a batch that has memory; returns the number of operations done, or an error. */
static long batch_run(const struct batch *batch)
{
	u32 done = 0;
	long ret = 0;

	while (done < batch->count) {
		u32 count = min(batch->count - done, HWTIMER_HOLD);

		ret = batch->submit ? submit_piece(batch, done, count) :
				      bulk_piece(batch, done, count);
		if (ret < 0)
			break;
		done += ret;
		if (ret < count || signal_pending(current))
			break;
		cond_resched();
	}
	return done ? (long)done : ret;
}

/* Does a batch, with memory of @size bytes for each operation. */
static long batch_run_with(struct batch *batch, size_t size)
{
	u64 small[BATCH_SMALL / sizeof(u64)] __uninitialized;
	long ret;

	if (batch->count <= sizeof(small) / size) {
		batch->memory = small;
		return batch_run(batch);
	}
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

/**
 * hwtimer_batch_bulk - HWTIMER_IOC_BULK: do one operation on many timers
 * @instance: the instance; none of its locks is held
 * @bulk: argument of the ioctl; its count is valid, the rest is unchecked
 *
 * Return: the number of operations done; if none was, 0 (the count is 0), -EINVAL, -EFAULT or
 * -ENOMEM. May sleep.
 */
long hwtimer_batch_bulk(struct hwtimer_instance *instance,
			const struct hwtimer_bulk *bulk)
{
	struct batch batch = {
		.instance = instance,
		.count = bulk->count,
		.bulk = bulk,
	};
	int err = hwtimer_bulk_check(instance, bulk);

	if (unlikely(err))
		return err;
	/* The program would never learn the ids of its new timers. */
	if (bulk->op == HWTIMER_OP_SCHEDULE && !bulk->results)
		return -EINVAL;
	return batch_run_with(&batch, sizeof(struct hwtimer_bulk_timer));
}
