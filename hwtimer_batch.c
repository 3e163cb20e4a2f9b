// SPDX-License-Identifier: GPL-2.0
/*
 * Many operations in one ioctl: they are copied in, done, and their results
 * copied out, HWTIMER_HOLD at a time. Called by hwtimer_ioctl.c, which has
 * checked what holds for all of them.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "hwtimer_batch.h"
#include "hwtimer_bulk.h"
#include "hwtimer_memory.h"
#include "hwtimer_request.h"

/**
 * struct batch - an ioctl of many operations
 * @instance: for which
 * @count: how many
 * @memory: of so many operations as are done at a time
 * @submit: what is asked for; or NULL, then
 * @bulk: is
 */
struct batch {
	struct hwtimer_instance *instance;
	u32 count;
	void *memory;
	const struct hwtimer_submit *submit;
	const struct hwtimer_bulk *bulk;
};

/* Copies in; returns how many of @count elements have arrived. */
static u32 elements_in(void *to, u64 address, u64 first, u32 count, size_t size)
{
	const void __user *from = u64_to_user_ptr(address) + first * size;
	size_t left = copy_from_user(to, from, count * size);

	return count - DIV_ROUND_UP(left, size);
}

/* Copies out; returns how many of @count elements have arrived. */
static u32 elements_out(u64 address, u64 first, const void *from, u32 count,
			size_t size)
{
	void __user *to = u64_to_user_ptr(address) + first * size;
	size_t left = copy_to_user(to, from, count * size);

	return count - DIV_ROUND_UP(left, size);
}

/* Returns how many of @count requests were done and told so, or -EFAULT. */
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

/* Returns how many of @count operations were done and told so, or an error. */
static long bulk_some(const struct batch *batch, u32 first, u32 count)
{
	const struct hwtimer_bulk *bulk = batch->bulk;
	bool schedule = bulk->op == HWTIMER_OP_SCHEDULE;
	u64 *words = batch->memory;
	u32 done;
	int err;

	count = elements_in(words, bulk->timers, first, count,
			    bulk->op == HWTIMER_OP_CANCEL ?
				    sizeof(*words) :
				    sizeof(struct hwtimer_bulk_timer));
	if (!count)
		return -EFAULT;
	err = hwtimer_bulk_run(batch->instance, bulk, words, count);
	if (err)
		return err;
	if (!bulk->results)
		return count;
	done = elements_out(bulk->results, first, words, count, sizeof(*words));
	if (done < count && schedule)
		hwtimer_bulk_undo(batch->instance, words + done, count - done);
	return done ? (long)done : -EFAULT;
}

/* Does all of a batch that has memory; returns how many, or an error. */
static long batch_run(const struct batch *batch)
{
	u32 done = 0;
	long ret = 0;

	while (done < batch->count) {
		u32 count = min(batch->count - done, HWTIMER_HOLD);

		ret = batch->submit ? submit_some(batch, done, count) :
				      bulk_some(batch, done, count);
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

/* The same, with memory for elements of @size bytes. */
static long batch_run_with(struct batch *batch, size_t size)
{
	long ret;

	if (!batch->count)
		return 0;
	batch->memory = kvmalloc_array(min(batch->count, HWTIMER_HOLD), size,
				       HWTIMER_GFP);
	if (!batch->memory)
		return -ENOMEM;
	ret = batch_run(batch);
	kvfree(batch->memory);
	return ret;
}

/**
 * hwtimer_batch_submit - HWTIMER_IOC_SUBMIT
 * @instance: for which
 * @submit: valid
 *
 * Return: as struct hwtimer_submit says. May sleep.
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
 * hwtimer_batch_bulk - HWTIMER_IOC_BULK
 * @instance: for which
 * @bulk: any, but for the size
 *
 * Return: as struct hwtimer_bulk says. May sleep.
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

	if (err)
		return err;
	/* Before there are timers of which nobody would hear. */
	if (bulk->op == HWTIMER_OP_SCHEDULE && bulk->count && !bulk->results)
		return -EFAULT;
	return batch_run_with(&batch, sizeof(struct hwtimer_bulk_timer));
}
