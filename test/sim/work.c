// SPDX-License-Identifier: GPL-2.0
/*
 * Work queues: each has one thread, or two if its items may run at the same time. An item
 * never runs twice at the same time.
 */
#include <stdlib.h>

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "process.h"

#define CREW 2

/**
 * struct workqueue_struct - a work queue
 * @lock: protects all members
 * @items: the items that wait
 * @wait: where its threads wait for items
 * @running: the items that run, by the number of the thread
 * @crew: number of its threads
 * @gone: completed by each of them at its end
 * @ending: the threads are to exit
 */
struct workqueue_struct {
	spinlock_t lock;
	struct list_head items;
	wait_queue_head_t wait;
	struct work_struct *running[CREW];
	int crew;
	struct completion gone;
	bool ending;
};

static bool work_runs(const struct workqueue_struct *queue,
		      const struct work_struct *work)
{
	int i;

	for (i = 0; i < CREW; i++)
		if (queue->running[i] == work)
			return true;
	return false;
}

/* Takes an item that does not run; returns NULL if there is none. */
static struct work_struct *work_take(struct workqueue_struct *queue, int nr)
{
	struct work_struct *work;

	list_for_each_entry(work, &queue->items, entry) {
		if (work_runs(queue, work))
			continue;
		list_del_init(&work->entry);
		queue->running[nr] = work;
		return work;
	}
	return NULL;
}

/* Takes an item, or learns that the queue is to end, which comes after all items. */
static bool crew_next(struct workqueue_struct *queue, int nr,
		      struct work_struct **work)
{
	bool end;

	spin_lock(&queue->lock);
	*work = work_take(queue, nr);
	end = queue->ending && list_empty(&queue->items);
	spin_unlock(&queue->lock);
	return *work || end;
}

/**
 * struct member - a thread of a work queue
 * @queue: the queue
 * @nr: its number
 */
struct member {
	struct workqueue_struct *queue;
	int nr;
};

static void member_main(void *argument)
{
	struct member member = *(struct member *)argument;
	struct workqueue_struct *queue = member.queue;
	struct work_struct *work;

	free(argument);
	for (;;) {
		wait_event(queue->wait, crew_next(queue, member.nr, &work));
		if (!work)
			break;
		work->func(work);
		/* The item may be gone. */
		spin_lock(&queue->lock);
		queue->running[member.nr] = NULL;
		spin_unlock(&queue->lock);
		wake_up_all(&queue->wait);
	}
	/* The queue may be gone as soon as this is completed. */
	complete(&queue->gone);
}

static void member_start(struct workqueue_struct *queue, int nr,
			 const char *name)
{
	struct member *member = malloc(sizeof(*member));
	struct task_struct *task;

	*member = (struct member){ .queue = queue, .nr = nr };
	task = sim_thread_create(name, member_main, member);
	task->flags |= PF_KTHREAD;
	sim_process_join(task, sim_process_of_kernel());
	wake_up_process(task);
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max_active)
{
	struct workqueue_struct *queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	int nr;

	if (!queue)
		return NULL;
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->items);
	init_waitqueue_head(&queue->wait);
	init_completion(&queue->gone);
	queue->crew = max_active == 1 ? 1 : CREW;
	for (nr = 0; nr < queue->crew; nr++)
		member_start(queue, nr, name);
	return queue;
}

void destroy_workqueue(struct workqueue_struct *queue)
{
	spin_lock(&queue->lock);
	queue->ending = true;
	spin_unlock(&queue->lock);
	wake_up_all(&queue->wait);
	while (queue->crew--)
		wait_for_completion(&queue->gone);
	kfree(queue);
}

bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	bool added;

	spin_lock(&queue->lock);
	added = list_empty(&work->entry);
	if (added)
		list_add_tail(&work->entry, &queue->items);
	spin_unlock(&queue->lock);
	if (added)
		wake_up_all(&queue->wait);
	return added;
}
