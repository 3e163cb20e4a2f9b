// SPDX-License-Identifier: GPL-2.0
/*
 * Does the many operations of a SUBMIT or a BULK: copies at most HWTIMER_HOLD of them in,
 * does them, copies their results out, and goes on with the next ones. So the kernel needs
 * little memory for a long array, and a signal can end the call.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "alloc.h"
#include "hwtimer.h"
#include "timers/timers.h"

/* To allocate so few bytes would take longer than to do the operations in them. */
#define BATCH_SMALL 256

/**
 * struct batch - an array of operations that a program hands over in one ioctl
 * @instance: the instance
 * @bulk: what all operations have in common; NULL: they are requests
 * @operations: address of the array in user space
 * @results: address of the array of results; 0: they are not wanted. Requests have their
 *	results in themselves
 * @size: size of an operation, bytes; its result is as large at most
 * @count: number of operations
 *
 * Only one thread uses a batch, so no lock protects the members.
 */
struct batch {
	struct hwtimer_instance *instance;
	const struct hwtimer_bulk *bulk;
	u64 operations;
	u64 results;
	size_t size;
	u32 count;
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

/* Whether results are copied out. Requests have theirs in themselves. */
static bool batch_answers(const struct batch *batch)
{
	return batch->results || !batch->bulk;
}

/*
 * Does @count operations from @first on, in @memory. Returns the number of operations that were
 * done and, if results are wanted, whose results were copied out. If there is none, returns
 * -EFAULT or -EINVAL.
 */
static long batch_piece(const struct batch *batch, void *memory, u32 first,
			u32 count)
{
	size_t result_size = batch->bulk ? sizeof(u64) : batch->size;
	int err = 0;

	count = elements_in(memory, batch->operations, first, count,
			    batch->size);
	if (batch_answers(batch))
		count = elements_writeable(batch->results, first, count,
					   result_size);
	if (!count)
		return -EFAULT;
	if (batch->bulk)
		err = hwtimer_bulk_run(batch->instance, batch->bulk, memory,
				       count);
	else
		hwtimer_request_run(batch->instance, memory, count);
	if (err)
		return err;
	if (batch_answers(batch))
		count = elements_out(batch->results, first, memory, count,
				     result_size);
	return count ? (long)count : -EFAULT;
}

/* Does a batch in pieces; returns the number of operations done, or an error. */
static long batch_run(const struct batch *batch, void *memory)
{
	u32 done = 0;
	long ret = 0;

	while (done < batch->count) {
		u32 count = min(batch->count - done, HWTIMER_HOLD);

		ret = batch_piece(batch, memory, done, count);
		if (ret < 0)
			break;
		done += ret;
		if (ret < count || hwtimer_interrupted(true))
			break;
		cond_resched();
	}
	return done ? (long)done : ret;
}

/* Does a batch, with memory for a piece of it. */
static long batch_run_with(const struct batch *batch)
{
	u64 small[BATCH_SMALL / sizeof(u64)] __uninitialized;
	void *memory;
	size_t size;
	long ret;

	if (batch->count <= sizeof(small) / batch->size)
		return batch_run(batch, small);
	size = min(batch->count, HWTIMER_HOLD) * batch->size;
	memory = hwtimer_memory_get(size, 0);
	if (!memory)
		return -ENOMEM;
	ret = batch_run(batch, memory);
	kvfree(memory);
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
	const struct batch batch = {
		.instance = instance,
		.operations = submit->requests,
		.results = submit->requests,
		.size = sizeof(struct hwtimer_request),
		.count = submit->count,
	};

	return batch_run_with(&batch);
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
	const struct batch batch = {
		.instance = instance,
		.bulk = bulk,
		.operations = bulk->timers,
		.results = bulk->results,
		.size = bulk->op == HWTIMER_OP_CANCEL ?
				sizeof(u64) :
				sizeof(struct hwtimer_bulk_timer),
		.count = bulk->count,
	};
	int err = hwtimer_bulk_check(instance, bulk);

	if (unlikely(err))
		return err;
	/* The program would never learn the ids of its new timers. */
	if (bulk->op == HWTIMER_OP_SCHEDULE && !bulk->results)
		return -EINVAL;
	return batch_run_with(&batch);
}
