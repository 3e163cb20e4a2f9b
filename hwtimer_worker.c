// SPDX-License-Identifier: GPL-2.0
/*
 * Workers; see hwtimer_worker.h.
 *
 * A worker keeps the alarms of its instances in timerqueues, one for each
 * clock, and serves the first that is due in slices of HWTIMER_HOLD timers. An
 * instance with more to do goes back to the queue as of now, behind all that
 * are due already: a burst in one does not hold up the others.
 *
 * The hrtimers are armed for the first of each queue and for nothing else: over
 * an empty queue, or until a timer an hour ahead, nobody wakes up. As an
 * hrtimer follows its clock, so do the alarms when CLOCK_REALTIME is set.
 *
 * One slice does no more than the following for an instance, however much there is to
 * do; the rest waits for the next slice. H is HWTIMER_HOLD, 256.
 *
 * A turn, hwtimer_instance_turn():
 *
 *	submission ring		H requests; H discarded events freed before them; one
 *				step of a compaction or a rewind after them: H entries
 *				or buckets of the wheel. A work item does requests
 *				that owe more steps, see hwtimer_op_fits_slice()
 *	completion ring		H events that waited for room
 *	wheel			H entries or buckets, due, to be moved down, or being
 *				filed anew; so H timers expire. If none expires, H dead
 *				entries are removed, too
 *	readers			woken once for each of these
 *
 * Chores, hwtimer_instance_chores():
 *
 *	both rings		as above
 *	readers			whether they are due, and whether the clock was set
 *	memory			128 chunks go back to the slab
 *	kernel client		32 callbacks, which last as long as the client wants (a
 *				client with long ones should have a workqueue); fewer
 *				than 2 * H discarded events freed before them
 *
 * tests/slice_kunit.c counts that. What a single one of these costs is bounded, too:
 *
 *	an entry or a bucket	looks at each level of the wheel, 12 at the most. The
 *				last entry of the lowest level of a hierarchical wheel
 *				with 2^20 buckets looks through a bitmap of 256 words
 *	a request		SCHEDULE of a record looks through a bitmap with a bit
 *				for each 1,024 records, and passes slots whose last
 *				record was taken meanwhile, each once
 *	an alarm		goes into and out of its queue in O(log n). When
 *				CLOCK_REALTIME was set, worker_follow_clock() goes
 *				through the alarms by that clock once, under the
 *				worker's lock: one for each instance, of which programs
 *				have max_instances, 4,096 by default. Only setting the
 *				clock, for which one needs CAP_SYS_TIME, and a suspend
 *				cause it
 *
 * Who holds a lock that the worker waits for: instance->lock is held for H timers at the
 * most, by one thread on each processor, and a spinlock is fair. exchange->drain is only
 * tried. The harvest mutex is taken for a kernel client only, whose stop and destroy
 * take the instance from the worker before they take the mutex.
 *
 * What has no bound of ours is how many a wake-up wakes: a program may let many threads
 * wait in read(), or enter the descriptor in many epoll instances, as far as its limits
 * of threads and of epoll watches go, and an eventfd has waiters of its own. It is so
 * for all that can be polled: a timerfd wakes as many in hard interrupt context. A wait
 * queue cannot be woken in pieces, and nobody can ask it how many wait; a work item for
 * each wake-up would cost every program a switch of threads for each event.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "compat.h"
#include "hwtimer.h"
#include "hwtimer_worker.h"

/**
 * struct hwtimer_worker_queue - alarms by one clock
 * @alarms: by their time; protected by the worker's lock
 * @timer: wakes the worker up for the first; armed while the worker sleeps
 * @worker: whose; constant
 */
struct hwtimer_worker_queue {
	struct timerqueue_head alarms;
	struct hrtimer timer;
	struct hwtimer_worker *worker;
};

/**
 * struct hwtimer_worker - one kthread
 * @task: the kthread
 * @lock: protects all below; taken inside of an instance's lock
 * @queues: by the number of the clock
 * @next_queue: which is looked at first, so that each has its turn
 * @offset: hwtimer_clock_offset() when the worker last looked
 * @running: the instance that is being served; it is not freed meanwhile
 * @idle: woken when @running has changed
 * @sleeping: the worker has seen all queues, and armed their timers
 * @wakeups: how often it woke up
 * @due: records that expire in this slice; the worker's own
 */
struct hwtimer_worker {
	struct task_struct *task;

	spinlock_t lock; /* see above */
	struct hwtimer_worker_queue queues[HWTIMER_CLOCKS];
	unsigned int next_queue;
	s64 offset;
	struct hwtimer_instance *running;
	wait_queue_head_t idle;
	bool sleeping;
	u64 wakeups;

	u32 due[HWTIMER_HOLD];
};

static struct hwtimer_worker *hwtimer_workers;
static unsigned int hwtimer_nr_workers;
static atomic_t hwtimer_next_worker;

/* In hard interrupt context, on PREEMPT_RT too. */
static enum hrtimer_restart hwtimer_worker_tick(struct hrtimer *timer)
{
	struct hwtimer_worker_queue *queue =
		container_of(timer, struct hwtimer_worker_queue, timer);

	wake_up_process(queue->worker->task);
	return HRTIMER_NORESTART;
}

/* Lets the worker wake up for the first of a queue, and for nothing else. */
static void queue_arm(struct hwtimer_worker_queue *queue)
{
	struct timerqueue_node *first = timerqueue_getnext(&queue->alarms);
	struct hrtimer *timer = &queue->timer;

	lockdep_assert_held(&queue->worker->lock);
	if (!first || first->expires == KTIME_MAX)
		hrtimer_try_to_cancel(timer);
	else if (!hrtimer_is_queued(timer) ||
		 hrtimer_get_expires(timer) != first->expires)
		hrtimer_start(timer, first->expires, HRTIMER_MODE_ABS_HARD);
}

/*
 * If CLOCK_REALTIME was set back while the worker was busy, alarms that were
 * put behind others as of then would come much too late: all come now. Their
 * order in the queue stays, as they are all equal. Returns whether it was so.
 *
 * The loop is as long as there are instances by that clock. It is not done in pieces,
 * as an alarm that is still to be changed might be behind one that is not due; and it
 * is rare, see above.
 */
static bool worker_follow_clock(struct hwtimer_worker *worker)
{
	struct timerqueue_head *alarms =
		&worker->queues[HWTIMER_REALTIME].alarms;
	struct timerqueue_node *node = timerqueue_getnext(alarms);
	s64 offset;

	lockdep_assert_held(&worker->lock);
	if (!node)
		return false;
	offset = hwtimer_clock_offset();
	if (worker->offset == offset)
		return false;
	worker->offset = offset;
	for (; node; node = timerqueue_iterate_next(node))
		node->expires = 0;
	return true;
}

/* The first alarm of queue @nr if it is due, taken out; otherwise NULL. */
static struct hwtimer_alarm *queue_pick(struct hwtimer_worker *worker,
					unsigned int nr)
{
	struct timerqueue_head *alarms = &worker->queues[nr].alarms;
	struct timerqueue_node *first = timerqueue_getnext(alarms);

	lockdep_assert_held(&worker->lock);
	if (!first || first->expires > (s64)hwtimer_clocks[nr].now())
		return NULL;
	timerqueue_del(alarms, first);
	return container_of(first, struct hwtimer_alarm, node);
}

/* An alarm that is due in one of the queues, taken out; NULL: none. */
static struct hwtimer_alarm *queues_pick(struct hwtimer_worker *worker)
{
	unsigned int i;

	for (i = 0; i < HWTIMER_CLOCKS; i++) {
		unsigned int nr = worker->next_queue;
		struct hwtimer_alarm *alarm = queue_pick(worker, nr);

		worker->next_queue = (nr + 1) % HWTIMER_CLOCKS;
		if (alarm)
			return alarm;
	}
	return NULL;
}

static void worker_set_running(struct hwtimer_worker *worker,
			       struct hwtimer_instance *instance)
{
	lockdep_assert_held(&worker->lock);
	worker->running = instance;
	/* Pairs with the barrier in prepare_to_wait(), before worker_left(). */
	if (wq_has_sleeper(&worker->idle))
		wake_up(&worker->idle);
}

/* The same; and no alarm was missed because the clock was set just then. */
static struct hwtimer_alarm *worker_pick(struct hwtimer_worker *worker)
{
	struct hwtimer_alarm *alarm;

	worker_follow_clock(worker);
	do {
		alarm = queues_pick(worker);
	} while (!alarm && worker_follow_clock(worker));
	return alarm;
}

/*
 * The worker is about to sleep until the first alarm of a queue is due.
 *
 * The state is set before the timers are armed and before the lock is dropped,
 * so that neither a timer nor whoever then finds @sleeping wakes it too early.
 */
static void worker_falls_asleep(struct hwtimer_worker *worker)
{
	unsigned int nr;

	lockdep_assert_held(&worker->lock);
	worker->sleeping = true;
	set_current_state(TASK_IDLE);
	for (nr = 0; nr < HWTIMER_CLOCKS; nr++)
		queue_arm(&worker->queues[nr]);
}

static void worker_wakes_up(struct hwtimer_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	worker->sleeping = false;
	worker->wakeups++;
}

/* The worker is about to serve @instance: if it slept before, it woke up for it. */
static void worker_count_wakeup(const struct hwtimer_worker *worker,
				struct hwtimer_instance *instance)
{
	lockdep_assert_held(&worker->lock);
	if (instance->served_at == worker->wakeups)
		return;
	instance->served_at = worker->wakeups;
	instance->wakeups++;
}

static void worker_serve(struct hwtimer_worker *worker,
			 struct hwtimer_alarm *alarm)
{
	struct hwtimer_instance *instance = alarm->instance;

	if (alarm == &instance->chores)
		hwtimer_instance_chores(instance);
	else
		hwtimer_instance_turn(instance, worker->due);
}

static int hwtimer_worker_run(void *data)
{
	struct hwtimer_worker *worker = data;

	spin_lock(&worker->lock);
	while (!kthread_should_stop()) {
		struct hwtimer_alarm *alarm = worker_pick(worker);

		if (!alarm) {
			worker_falls_asleep(worker);
			spin_unlock(&worker->lock);
			if (!kthread_should_stop())
				schedule();
			__set_current_state(TASK_RUNNING);
			spin_lock(&worker->lock);
			worker_wakes_up(worker);
			continue;
		}
		worker_set_running(worker, alarm->instance);
		worker_count_wakeup(worker, alarm->instance);
		spin_unlock(&worker->lock);

		worker_serve(worker, alarm);
		cond_resched();

		spin_lock(&worker->lock);
		worker_set_running(worker, NULL);
	}
	spin_unlock(&worker->lock);
	return 0;
}

/**
 * hwtimer_worker_kick - have the worker look at an instance
 * @alarm: of an attached instance, whose lock is held
 * @time: by when, ns on the instance's clock, or on CLOCK_MONOTONIC of the host if
 *	the alarm is for chores; beyond the range of that clock: never
 */
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time)
{
	struct hwtimer_instance *instance = alarm->instance;
	struct hwtimer_worker *worker = instance->worker;
	struct hwtimer_worker_queue *queue = &worker->queues[alarm->clock];
	struct timerqueue_node *node = &alarm->node;
	ktime_t expires = hwtimer_clock_host_time(time, alarm->offset);

	lockdep_assert_held(&instance->lock);
	spin_lock(&worker->lock);
	if (instance->detached)
		goto unlock;
	if (!RB_EMPTY_NODE(&node->node)) {
		if (node->expires <= expires)
			goto unlock;
		timerqueue_del(&queue->alarms, node);
	}
	node->expires = expires;
	if (timerqueue_add(&queue->alarms, node) && worker->sleeping)
		queue_arm(queue);
unlock:
	spin_unlock(&worker->lock);
}

/* Takes an alarm out of its queue, and what the worker would wake up for. */
static void worker_forget(struct hwtimer_worker *worker,
			  struct hwtimer_alarm *alarm)
{
	struct hwtimer_worker_queue *queue = &worker->queues[alarm->clock];
	bool first = timerqueue_getnext(&queue->alarms) == &alarm->node;

	lockdep_assert_held(&worker->lock);
	if (RB_EMPTY_NODE(&alarm->node.node))
		return;
	timerqueue_del(&queue->alarms, &alarm->node);
	if (first && worker->sleeping)
		queue_arm(queue);
}

/**
 * hwtimer_worker_forget - the worker need not look at an instance any more
 * @instance: attached; its lock is held
 */
void hwtimer_worker_forget(struct hwtimer_instance *instance)
{
	struct hwtimer_worker *worker = instance->worker;

	lockdep_assert_held(&instance->lock);
	spin_lock(&worker->lock);
	worker_forget(worker, &instance->turns);
	worker_forget(worker, &instance->chores);
	spin_unlock(&worker->lock);
}

/**
 * hwtimer_worker_wakeups - how often the worker woke up and served an instance
 * @instance: the instance, attached
 *
 * What the worker does for other instances does not count.
 */
u64 hwtimer_worker_wakeups(const struct hwtimer_instance *instance)
{
	struct hwtimer_worker *worker = instance->worker;
	u64 wakeups;

	spin_lock(&worker->lock);
	wakeups = instance->wakeups;
	spin_unlock(&worker->lock);
	return wakeups;
}

static void instance_alarm_init(struct hwtimer_alarm *alarm,
				struct hwtimer_instance *instance)
{
	timerqueue_init(&alarm->node);
	alarm->instance = instance;
	alarm->clock = HWTIMER_MONOTONIC;
	alarm->offset = 0;
}

/* Gives @instance, which is new, a worker; they are chosen in turn. */
void hwtimer_worker_attach(struct hwtimer_instance *instance)
{
	unsigned int nr = (unsigned int)atomic_inc_return(&hwtimer_next_worker);

	instance_alarm_init(&instance->turns, instance);
	instance_alarm_init(&instance->chores, instance);
	instance->worker = &hwtimer_workers[nr % hwtimer_nr_workers];
	/* So that the first time that it is served counts. */
	instance->served_at = U64_MAX;
}

static bool worker_left(struct hwtimer_worker *worker,
			const struct hwtimer_instance *instance)
{
	bool left;

	spin_lock(&worker->lock);
	left = worker->running != instance;
	spin_unlock(&worker->lock);
	return left;
}

/**
 * hwtimer_worker_detach - take an instance away from its worker
 * @instance: nobody else knows it any more, or it is stopped; may have none
 *
 * Afterwards the worker does not touch it. Sleeps for one slice at the most.
 */
void hwtimer_worker_detach(struct hwtimer_instance *instance)
{
	struct hwtimer_worker *worker = instance->worker;

	spin_lock(&worker->lock);
	instance->detached = true;
	worker_forget(worker, &instance->turns);
	worker_forget(worker, &instance->chores);
	spin_unlock(&worker->lock);
	wait_event(worker->idle, worker_left(worker, instance));
}

/*
 * Not by sched_set_fifo(), which is for drivers that would choose a number themselves,
 * without knowing what else is on the machine. This number is the administrator's, who
 * has to rank the worker among the machine's other real-time threads; by default the
 * worker is an ordinary thread. chrt can change it later, but what is said as a
 * parameter holds from the first timer on, whenever the module is loaded.
 */
static int worker_set_priority(struct hwtimer_worker *worker,
			       unsigned int rt_prio)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = rt_prio,
	};

	return rt_prio ? sched_setattr_nocheck(worker->task, &attr) : 0;
}

static void queue_init(struct hwtimer_worker_queue *queue,
		       struct hwtimer_worker *worker, unsigned int clock)
{
	queue->worker = worker;
	timerqueue_init_head(&queue->alarms);
	hrtimer_setup(&queue->timer, hwtimer_worker_tick,
		      hwtimer_clocks[clock].id, HRTIMER_MODE_ABS_HARD);
}

static int worker_start(struct hwtimer_worker *worker, unsigned int nr,
			unsigned int rt_prio)
{
	unsigned int clock;
	int err;

	spin_lock_init(&worker->lock);
	init_waitqueue_head(&worker->idle);
	worker->offset = hwtimer_clock_offset();
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		queue_init(&worker->queues[clock], worker, clock);

	worker->task =
		kthread_create(hwtimer_worker_run, worker, "hwtimer/%u", nr);
	if (IS_ERR(worker->task))
		return PTR_ERR(worker->task);
	/* A timer may be armed when the thread has ended. */
	get_task_struct(worker->task);
	err = worker_set_priority(worker, rt_prio);
	if (err) {
		kthread_stop(worker->task);
		put_task_struct(worker->task);
		return err;
	}
	wake_up_process(worker->task);
	return 0;
}

static void worker_stop(struct hwtimer_worker *worker)
{
	unsigned int clock;

	kthread_stop(worker->task);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		hrtimer_cancel(&worker->queues[clock].timer);
	put_task_struct(worker->task);
}

/**
 * hwtimer_workers_start - at module load
 * @count: how many, at least 1
 * @rt_prio: SCHED_FIFO priority; 0 for an ordinary thread
 *
 * Return: 0 or a negative errno. May sleep.
 */
int hwtimer_workers_start(unsigned int count, unsigned int rt_prio)
{
	int err;

	hwtimer_workers = kcalloc(count, sizeof(*hwtimer_workers), GFP_KERNEL);
	if (!hwtimer_workers)
		return -ENOMEM;
	for (hwtimer_nr_workers = 0; hwtimer_nr_workers < count;
	     hwtimer_nr_workers++) {
		err = worker_start(&hwtimer_workers[hwtimer_nr_workers],
				   hwtimer_nr_workers, rt_prio);
		if (err) {
			hwtimer_workers_stop();
			return err;
		}
	}
	return 0;
}

/* At module unload, when there is no instance any more. May sleep. */
void hwtimer_workers_stop(void)
{
	while (hwtimer_nr_workers)
		worker_stop(&hwtimer_workers[--hwtimer_nr_workers]);
	kfree(hwtimer_workers);
	hwtimer_workers = NULL;
}
