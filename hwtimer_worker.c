// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the workers; see hwtimer_worker.h.
 *
 * A worker keeps the alarms of its jobs in timerqueues, one for each clock. Alarms that
 * are due move to one more queue, the ready queue, where they stand in the order of their
 * jobs' ranks. The worker serves the first of them. Serving an alarm takes one slice,
 * which hwtimer_turn.c bounds. An instance that has more to do kicks its alarm for the
 * present time.
 *
 * The rank of a job grows by the time that its slices take. So jobs that are always due
 * share the worker by time, not by turns, and a burst in one instance does not hold up
 * the others. A job that was not due for a while gets no credit for that: its rank is
 * raised to that of the job which was served last. That is still the lowest rank of all,
 * or nearly, so a job that is rarely due is served at once. This is how virtual time
 * works in fair schedulers of processors.
 *
 * Each hrtimer is armed for the first alarm of its queue only. Until one of these alarms
 * is due, the worker sleeps. An hrtimer follows its clock, so alarms follow
 * CLOCK_REALTIME when it is set. If it is set back, an alarm that was due a moment ago
 * comes later, by as much. hwtimer_wakeup.c sees to it that no timer does.
 *
 * An alarm goes into and out of a queue in O(log n).
 *
 * Nobody waits for a worker's end, because the worker may belong to a tenant that hardly
 * gets any processor time, and the one who closes the last instance may be another. The
 * thread frees what it needs, and exits. Only the end of the module waits for it.
 *
 * A worker may also give up its jobs while their instances live on; see
 * hwtimer_worker_desert(). So a job's worker changes: from none to a worker in
 * hwtimer_worker_attach(), back to none in hwtimer_worker_release(). Whoever wants to use
 * the worker of a job takes the worker's lock, and then checks that it still is the job's
 * worker; see job_lock().
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "compat.h"
#include "hwtimer_clock.h"
#include "hwtimer_memory.h"
#include "hwtimer_worker.h"

/**
 * struct hwtimer_worker_queue - a worker's alarms on one clock
 * @alarms: the alarms in the order of their times; protected by the worker's lock
 * @timer: hrtimer that wakes the worker for the first alarm; armed with the worker's lock
 *	held, while the worker sleeps
 * @worker: the worker; constant
 */
struct hwtimer_worker_queue {
	struct timerqueue_head alarms;
	struct hrtimer timer;
	struct hwtimer_worker *worker;
};

/* Number of due alarms that one look at the queues moves to the ready queue */
#define HWTIMER_COLLECT 16

/**
 * struct hwtimer_worker - one kthread
 * @task: the kthread; constant
 * @context: what hwtimer_worker_create() was given; constant
 * @ended: called by the thread before it exits; constant
 * @started: completed when the thread runs
 * @rcu: frees the worker; see hwtimer_worker_end()
 * @lock: spinlock; protects all members below, up to @wakeups. Taken inside an
 *	instance's lock
 * @jobs: the jobs that the worker may give up
 * @queues: the alarms, by the number of their clock
 * @ready: alarms that are due, by the rank of their jobs, which stands in their times
 * @rank: the rank of the job that was picked last, or a higher one that was picked before
 * @running: the job that is being served; NULL: none
 * @sleeping: the worker found no due alarm and armed the hrtimers; a kick that changes
 *	the first alarm of a queue arms that queue's hrtimer anew
 * @ending: the worker has no job and gets none; the thread is to exit
 * @wakeups: number of times the worker woke up
 * @slice: what the worker lends to the functions that it calls; used by the kthread only
 * @slice_ran: processor time of the thread when the slice began, ns; used by it only
 */
struct hwtimer_worker {
	struct task_struct *task;
	void *context;
	hwtimer_ended_fn *ended;
	struct completion started;
	struct rcu_head rcu;

	spinlock_t lock; /* see above */
	struct list_head jobs;
	struct hwtimer_worker_queue queues[HWTIMER_CLOCKS];
	struct timerqueue_head ready;
	u64 rank;
	const struct hwtimer_job *running;
	bool sleeping;
	bool ending;
	u64 wakeups;

	struct hwtimer_slice slice;
	u64 slice_ran;
};

/*
 * The number of threads whose end nobody has noticed yet, and the completion that each
 * thread completes when it exits.
 */
static atomic_t hwtimer_threads = ATOMIC_INIT(0);
static DECLARE_COMPLETION(hwtimer_thread_ended);

/* Wakes the worker. Runs in hard interrupt context, on PREEMPT_RT, too. */
static enum hrtimer_restart queue_timer_fn(struct hrtimer *timer)
{
	struct hwtimer_worker_queue *queue =
		container_of(timer, struct hwtimer_worker_queue, timer);

	wake_up_process(queue->worker->task);
	return HRTIMER_NORESTART;
}

/* Arms the hrtimer for the first alarm; cancels the hrtimer if no alarm can come due. */
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

/* The alarm of a node of any queue; NULL if there is no node. */
static struct hwtimer_alarm *alarm_of(struct timerqueue_node *node)
{
	return node ? container_of(node, struct hwtimer_alarm, node) : NULL;
}

/* Moves an alarm that is due from the queue of its clock to the ready queue. */
static void worker_make_ready(struct hwtimer_worker *worker,
			      struct hwtimer_alarm *alarm)
{
	lockdep_assert_held(&worker->lock);
	timerqueue_del(&worker->queues[alarm->clock].alarms, &alarm->node);
	alarm->ready = true;
	alarm->node.expires = max(alarm->job->rank, worker->rank);
	timerqueue_add(&worker->ready, &alarm->node);
}

/*
 * Moves alarms of queue @nr that are due to the ready queue, HWTIMER_COLLECT at most. If
 * more are due, later calls move them.
 */
static void queue_collect(struct hwtimer_worker *worker, unsigned int nr,
			  u64 now)
{
	struct timerqueue_head *alarms = &worker->queues[nr].alarms;
	unsigned int left = HWTIMER_COLLECT;

	lockdep_assert_held(&worker->lock);
	while (left--) {
		struct timerqueue_node *first = timerqueue_getnext(alarms);

		if (!first || first->expires > (s64)now)
			return;
		worker_make_ready(worker, alarm_of(first));
	}
}

/*
 * Takes the first alarm out of the ready queue, after it has collected those that are due
 * at @now, ns on CLOCK_MONOTONIC. Returns NULL if none is due.
 */
static struct hwtimer_alarm *queues_pick(struct hwtimer_worker *worker, u64 now)
{
	struct hwtimer_alarm *alarm;
	unsigned int nr;

	lockdep_assert_held(&worker->lock);
	for (nr = 0; nr < HWTIMER_CLOCKS; nr++)
		if (timerqueue_getnext(&worker->queues[nr].alarms))
			queue_collect(worker, nr,
				      nr == HWTIMER_MONOTONIC ?
					      now :
					      hwtimer_clocks[nr].now());
	alarm = alarm_of(timerqueue_getnext(&worker->ready));
	if (!alarm)
		return NULL;
	timerqueue_del(&worker->ready, &alarm->node);
	alarm->ready = false;
	worker->rank = max_t(u64, worker->rank, alarm->node.expires);
	return alarm;
}

/*
 * Prepares the worker to sleep until the first alarm of a queue is due.
 *
 * The task's state is set before the hrtimers are armed: a wake-up before that would be
 * lost. It is also set before the lock is released, because a kick that finds @sleeping
 * set arms an hrtimer, too.
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

/* Counts the worker's latest wake-up for @job, unless it is counted for @job already. */
static void worker_count_wakeup(const struct hwtimer_worker *worker,
				struct hwtimer_job *job)
{
	lockdep_assert_held(&worker->lock);
	if (job->served_at == worker->wakeups)
		return;
	job->served_at = worker->wakeups;
	job->wakeups++;
}

/*
 * The processor time of this thread, ns. The scheduler brings it up to date at each tick,
 * and whenever the thread stops running.
 */
static u64 thread_time(void)
{
	/*
	 * The scheduler writes it by plain writes, with a lock that we cannot take. An old
	 * value makes a slice count for less, and the next one for more.
	 */
	return data_race(READ_ONCE(current->se.sum_exec_runtime));
}

/*
 * The time of a slice, by which the rank of its job grows. That is not the time for which
 * the thread had to wait for a processor in the middle of the slice: it would hold the job
 * back for as long again. A slice that was not interrupted is short, or the scheduler has
 * counted most of it. The scheduler may also count a time for which the machine itself
 * stood still; so there is a limit to that, too.
 */
static u64 slice_charge(const struct hwtimer_worker *worker, u64 time)
{
	u64 ran = thread_time() - worker->slice_ran;

	return max3(min(ran, 20 * HWTIMER_SLICE_TIME),
		    min(time, 2 * HWTIMER_SLICE_TIME), 1ULL);
}

/* Notes that a slice of @job has ended. */
static void worker_count_slice(struct hwtimer_worker *worker,
			       struct hwtimer_job *job)
{
	u64 time = ktime_get_ns() - worker->slice.start;

	lockdep_assert_held(&worker->lock);
	job->spent += time;
	job->rank = max(job->rank, worker->rank) + slice_charge(worker, time);
}

/* Has the hrtimers wake the thread for the next alarm, and sleeps. Releases the lock. */
static void worker_sleep(struct hwtimer_worker *worker)
	__must_hold(&worker->lock)
{
	worker_falls_asleep(worker);
	spin_unlock(&worker->lock);
	schedule();
	__set_current_state(TASK_RUNNING);
	spin_lock(&worker->lock);
	worker_wakes_up(worker);
}

/*
 * Notes that the worker does not serve @job any more. If hwtimer_worker_leave() has come
 * meanwhile, tells that the worker has left the job, and releases the lock meanwhile.
 */
static void worker_end_slice(struct hwtimer_worker *worker,
			     struct hwtimer_job *job) __must_hold(&worker->lock)
{
	hwtimer_left_fn *left = job->left;

	job->left = NULL;
	worker->running = NULL;
	if (unlikely(left)) {
		spin_unlock(&worker->lock);
		left(job);
		spin_lock(&worker->lock);
	}
}

/* Serves an alarm for one slice. Releases the lock meanwhile. */
static void worker_serve(struct hwtimer_worker *worker,
			 struct hwtimer_alarm *alarm) __must_hold(&worker->lock)
{
	struct hwtimer_job *job = alarm->job;

	worker->slice_ran = thread_time();
	worker->running = job;
	worker_count_wakeup(worker, job);
	spin_unlock(&worker->lock);

	alarm->serve(alarm, &worker->slice);
	/*
	 * A tenant can keep the worker busy for as long as it likes. Being preempted does
	 * not count for RCU Tasks, so without this call ftrace, kprobes and BPF would wait
	 * until the worker sleeps.
	 */
	cond_resched_tasks_rcu_qs();

	spin_lock(&worker->lock);
	worker_count_slice(worker, job);
	worker_end_slice(worker, job);
}

/* Frees a worker whose thread is about to exit. */
static void worker_free(struct hwtimer_worker *worker)
{
	unsigned int clock;

	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		hrtimer_cancel(&worker->queues[clock].timer);
	kfree_rcu(worker, rcu);
}

/*
 * Runs until the scheduler has counted some time for this thread. Before 6.6, it takes a
 * thread without any for one that has never run. Then a thread that is moved to another
 * cgroup keeps the virtual run time that it had in the old one, and may have to wait for
 * seconds until all others there have caught up. A clock that stands still for a moment,
 * as that of an emulated processor, counts nothing for the first steps of a thread.
 */
static void thread_run_in(void)
{
	u64 end = ktime_get_ns() + 10 * TICK_NSEC;

	while (!thread_time() && ktime_get_ns() < end)
		cond_resched();
}

static int hwtimer_worker_run(void *data)
{
	struct hwtimer_worker *worker = data;

	thread_run_in();
	complete(&worker->started);
	spin_lock(&worker->lock);
	while (!worker->ending) {
		struct hwtimer_alarm *alarm;

		worker->slice.start = ktime_get_ns();
		alarm = queues_pick(worker, worker->slice.start);
		if (alarm)
			worker_serve(worker, alarm);
		else
			worker_sleep(worker);
	}
	spin_unlock(&worker->lock);
	worker->ended(worker->context);
	worker_free(worker);
	/* The module may be gone as soon as this is completed. */
	kthread_complete_and_exit(&hwtimer_thread_ended, 0);
}

/*
 * Takes the lock of a job's worker. While it is held, the worker keeps the job. Returns
 * NULL, without a lock, if the job has no worker. The RCU read lock is held, too, because
 * the worker may give up the job and end as soon as the lock is free again, before
 * spin_unlock() has returned.
 */
static struct hwtimer_worker *job_lock(const struct hwtimer_job *job)
{
	struct hwtimer_worker *worker;

	rcu_read_lock();
	worker = hwtimer_worker_of(job);
	if (likely(worker)) {
		spin_lock(&worker->lock);
		if (likely(READ_ONCE(job->worker) == worker)) {
			/* Sparse does not know locks that depend on the result. */
			__release(&worker->lock);
			__release(RCU);
			return worker;
		}
		spin_unlock(&worker->lock);
	}
	rcu_read_unlock();
	return NULL;
}

static void job_unlock(struct hwtimer_worker *worker)
{
	__acquire(RCU);
	__acquire(&worker->lock);
	spin_unlock(&worker->lock);
	rcu_read_unlock();
}

/* Whether somebody may still use the alarms of a job, although it has no worker. */
static bool job_may_be_kicked(const struct hwtimer_job *job)
{
	return READ_ONCE(job->deserted) || job->detached;
}

/**
 * hwtimer_worker_kick - have the worker serve an alarm at a given time
 * @alarm: the alarm; its job was attached
 * @time: ns on the alarm's clock, plus the alarm's offset; a time beyond the range of
 *	that clock never comes
 *
 * Nothing happens if the alarm has an earlier time already, or if the job is detached, or
 * if its worker has given it up: who then attaches the job to another worker kicks both
 * alarms. Any other job has a worker before it is kicked. A caller that computes
 * @time from the state of an instance holds that instance's lock.
 * Any context but an interrupt; does not sleep; takes the worker's lock.
 */
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time)
{
	const struct hwtimer_job *job = alarm->job;
	struct hwtimer_worker *worker = job_lock(job);
	struct timerqueue_node *node = &alarm->node;
	struct hwtimer_worker_queue *queue;
	ktime_t expires;

	if (unlikely(!worker)) {
		WARN_ON_ONCE(!job_may_be_kicked(job));
		return;
	}
	queue = &worker->queues[alarm->clock];
	expires = hwtimer_clock_host_time(time, alarm->offset);
	/* An alarm that is ready already could not come earlier. */
	if (job->detached || alarm->ready)
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
	job_unlock(worker);
}

/* Takes an alarm out of its queue; while the worker sleeps, arms the hrtimer anew. */
static void worker_forget(struct hwtimer_worker *worker,
			  struct hwtimer_alarm *alarm)
{
	struct hwtimer_worker_queue *queue;
	bool first;

	lockdep_assert_held(&worker->lock);
	/* An alarm that was never kicked may have no valid @clock yet. */
	if (RB_EMPTY_NODE(&alarm->node.node))
		return;
	if (alarm->ready) {
		timerqueue_del(&worker->ready, &alarm->node);
		alarm->ready = false;
		return;
	}
	queue = &worker->queues[alarm->clock];
	first = timerqueue_getnext(&queue->alarms) == &alarm->node;
	timerqueue_del(&queue->alarms, &alarm->node);
	if (first && worker->sleeping)
		queue_arm(queue);
}

/* Takes both alarms of a job out of the queues. */
static void worker_forget_job(struct hwtimer_worker *worker,
			      struct hwtimer_job *job)
{
	worker_forget(worker, &job->turns);
	worker_forget(worker, &job->chores);
}

/**
 * hwtimer_worker_forget - take the alarms of a job out of the worker's queues
 * @job: the job, which may have no worker yet
 *
 * The worker serves the alarms again only after another hwtimer_worker_kick(). A slice
 * that is running goes on; the function does not wait for it. Does not sleep; takes the
 * worker's lock.
 */
void hwtimer_worker_forget(struct hwtimer_job *job)
{
	struct hwtimer_worker *worker = job_lock(job);

	if (!worker)
		return;
	worker_forget_job(worker, job);
	job_unlock(worker);
}

/*
 * Reads one of the numbers that the worker keeps for a job. Without a worker, nobody
 * changes them, unless the job is just getting one.
 */
static u64 job_read(const struct hwtimer_job *job, const u64 *number)
{
	struct hwtimer_worker *worker = job_lock(job);
	u64 value;

	if (!worker)
		/* At worst, the count of a moment ago */
		return data_race(READ_ONCE(*number));
	value = *number;
	job_unlock(worker);
	return value;
}

/**
 * hwtimer_worker_wakeups - number of wake-ups after which a worker served a job
 * @job: the job, which may have no worker yet
 *
 * Return: the number, without wake-ups after which the worker served only other jobs.
 * Does not sleep; takes the worker's lock.
 */
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job)
{
	return job_read(job, &job->wakeups);
}

/**
 * hwtimer_worker_spent - the time that a worker has spent for a job
 * @job: the job, which may have no worker yet
 *
 * Return: the time from the beginning to the end of each of its slices, ns; that includes
 * time for which the thread had to wait for a processor. Does not sleep; takes the
 * worker's lock.
 */
u64 hwtimer_worker_spent(const struct hwtimer_job *job)
{
	return job_read(job, &job->spent);
}

/**
 * hwtimer_worker_of - the worker of a job
 * @job: the job
 *
 * The worker may give up the job, and end. So a caller that uses the worker either owns
 * the job, and nobody else uses it any more, or holds the RCU read lock.
 *
 * Return: the worker; NULL: none. Any context.
 */
struct hwtimer_worker *hwtimer_worker_of(const struct hwtimer_job *job)
{
	/* Pairs with the cmpxchg() in hwtimer_worker_attach(). */
	return smp_load_acquire(&job->worker);
}

static void job_alarm_init(struct hwtimer_alarm *alarm, struct hwtimer_job *job,
			   hwtimer_serve_fn *serve)
{
	timerqueue_init(&alarm->node);
	alarm->job = job;
	alarm->serve = serve;
	alarm->clock = HWTIMER_MONOTONIC;
}

/**
 * hwtimer_job_init - prepare a job
 * @job: the job; zeroed
 * @turn: function that serves the alarm @job->turns
 * @chores: function that serves the alarm @job->chores; NULL: it is never kicked
 *
 * The job has no worker yet. Any context.
 */
void hwtimer_job_init(struct hwtimer_job *job, hwtimer_serve_fn *turn,
		      hwtimer_serve_fn *chores)
{
	job_alarm_init(&job->turns, job, turn);
	job_alarm_init(&job->chores, job, chores);
	INIT_LIST_HEAD(&job->entry);
	/* No wake-up has this number, so the job's first wake-up counts. */
	job->served_at = U64_MAX;
}

/**
 * hwtimer_worker_attach - give a job to a worker
 * @job: the job
 * @worker: the worker, which must not end before it has left the job
 *
 * The worker does not serve a job before one of the job's alarms is kicked. Any context
 * but an interrupt; does not sleep; takes the worker's lock.
 *
 * Return: whether the worker got the job; if not, another thread was faster, and gave the
 * job to another worker.
 */
bool hwtimer_worker_attach(struct hwtimer_job *job,
			   struct hwtimer_worker *worker)
{
	bool first;

	spin_lock(&worker->lock);
	/*
	 * Another thread may try the same with another worker, whose lock it holds. Pairs
	 * with the smp_load_acquire() in hwtimer_worker_of(), and with the
	 * smp_store_release() in hwtimer_worker_release().
	 */
	first = !cmpxchg(&job->worker, NULL, worker);
	if (first && job->desert)
		list_add_tail(&job->entry, &worker->jobs);
	spin_unlock(&worker->lock);
	return first;
}

/**
 * hwtimer_worker_leave - take a job away from its worker, without waiting
 * @job: the job, which may have no worker, and may be detached already
 * @left: called when the worker does not touch the job any more, unless it does not now
 *
 * Return: whether the worker is serving the job, and will call @left when that slice is
 * finished. If not, @left is not called. Does not sleep; takes the worker's lock.
 */
bool hwtimer_worker_leave(struct hwtimer_job *job, hwtimer_left_fn *left)
{
	struct hwtimer_worker *worker = job_lock(job);
	bool running;

	if (!worker)
		return false;
	job->detached = true;
	list_del_init(&job->entry);
	worker_forget_job(worker, job);
	running = worker->running == job;
	if (running)
		job->left = left;
	job_unlock(worker);
	return running;
}

/**
 * hwtimer_worker_desert - give up all jobs that have a function for that
 * @worker: the worker, in which the caller runs: it is serving another job
 *
 * Afterwards these jobs have no worker, and can be attached to another one. Jobs that the
 * worker gets meanwhile are not among them. Calls the function desert of each job with no
 * lock held. May sleep; takes the worker's lock.
 *
 * Return: the number of jobs that the worker has given up. Jobs that were detached are
 * not among them.
 */
unsigned int hwtimer_worker_desert(struct hwtimer_worker *worker)
{
	const struct hwtimer_job *self;
	struct hwtimer_job *job;
	unsigned int count = 0;
	LIST_HEAD(leaving);

	spin_lock(&worker->lock);
	self = worker->running;
	/* Not those that come meanwhile; otherwise this might never end. */
	list_splice_init(&worker->jobs, &leaving);
	while ((job = list_first_entry_or_null(&leaving, struct hwtimer_job,
					       entry))) {
		worker->running = job;
		spin_unlock(&worker->lock);
		job->desert(job);
		cond_resched();
		spin_lock(&worker->lock);
		/* A job that was released may be gone. */
		if (worker->running)
			worker_end_slice(worker, job);
		else
			count++;
	}
	worker->running = self;
	spin_unlock(&worker->lock);
	return count;
}

/**
 * hwtimer_worker_release - give up a job
 * @job: the job, whose worker calls its function desert
 *
 * The worker does not touch the job any more. What keeps others from freeing the job is
 * the caller's business. Does not sleep; takes the worker's lock.
 *
 * Return: whether the worker has given up the job; if not, the job is detached: it stays
 * the worker's until the function desert has returned.
 */
bool hwtimer_worker_release(struct hwtimer_job *job)
{
	/* An attempt of another thread to attach the job writes nothing, but may come now. */
	struct hwtimer_worker *worker = READ_ONCE(job->worker);
	bool released;

	spin_lock(&worker->lock);
	lockdep_assert(worker->running == job);
	released = !job->detached;
	if (released) {
		worker_forget_job(worker, job);
		list_del_init(&job->entry);
		/* The numbers of another worker mean something else. */
		job->served_at = U64_MAX;
		job->rank = 0;
		WRITE_ONCE(job->deserted, true);
		worker->running = NULL;
		/* Pairs with the cmpxchg() in hwtimer_worker_attach(). */
		smp_store_release(&job->worker, NULL);
	}
	spin_unlock(&worker->lock);
	return released;
}

/**
 * hwtimer_worker_task - the thread of a worker
 * @worker: the worker
 *
 * Return: the thread, which lives as long as the worker. Any context.
 */
struct task_struct *hwtimer_worker_task(const struct hwtimer_worker *worker)
{
	return worker->task;
}

/**
 * hwtimer_worker_context - what belongs to a worker
 * @worker: the worker
 *
 * Return: the pointer that hwtimer_worker_create() was given. Any context.
 */
void *hwtimer_worker_context(const struct hwtimer_worker *worker)
{
	return worker->context;
}

/**
 * hwtimer_worker_pid - the thread of a job's worker
 * @job: the job
 * @namespace: a pid namespace
 *
 * Return: the pid of the thread in that namespace; 0: the job has no worker, or its thread
 * has no pid there. Does not sleep.
 */
pid_t hwtimer_worker_pid(const struct hwtimer_job *job,
			 struct pid_namespace *namespace)
{
	struct hwtimer_worker *worker;
	pid_t pid = 0;

	rcu_read_lock();
	worker = hwtimer_worker_of(job);
	if (worker)
		pid = task_pid_nr_ns(worker->task, namespace);
	rcu_read_unlock();
	return pid;
}

static void queue_init(struct hwtimer_worker_queue *queue,
		       struct hwtimer_worker *worker, unsigned int clock)
{
	queue->worker = worker;
	timerqueue_init_head(&queue->alarms);
	hrtimer_setup(&queue->timer, queue_timer_fn, hwtimer_clocks[clock].id,
		      HRTIMER_MODE_ABS_HARD);
}

static void worker_init(struct hwtimer_worker *worker, hwtimer_ended_fn *ended,
			void *context)
{
	unsigned int clock;

	worker->context = context;
	worker->ended = ended;
	init_completion(&worker->started);
	spin_lock_init(&worker->lock);
	INIT_LIST_HEAD(&worker->jobs);
	timerqueue_init_head(&worker->ready);
	for (clock = 0; clock < HWTIMER_CLOCKS; clock++)
		queue_init(&worker->queues[clock], worker, clock);
}

/* Forgets the threads that have ended; without that, their number would only grow. */
static void threads_forget_ended(void)
{
	while (try_wait_for_completion(&hwtimer_thread_ended))
		atomic_dec(&hwtimer_threads);
}

/**
 * hwtimer_worker_create - create a worker without jobs
 * @name: name of the thread
 * @ended: called by the thread before it exits, after hwtimer_worker_end()
 * @context: passed to @ended, and what hwtimer_worker_context() is to return
 *
 * The thread runs when the function returns, so it may be moved to another cgroup. It
 * prefers no node: since 6.14 kthreads that do are reset to its processors when one comes
 * online, although a cpuset may not allow them.
 *
 * Return: the worker, or ERR_PTR(): -ENOMEM, -EINTR (the caller is being killed), -EAGAIN
 * (the machine has too many threads). May sleep.
 */
struct hwtimer_worker *
hwtimer_worker_create(const char *name, hwtimer_ended_fn *ended, void *context)
{
	struct hwtimer_worker *worker =
		kzalloc(sizeof(*worker), HWTIMER_GFP_AHEAD);

	if (!worker)
		return ERR_PTR(-ENOMEM);
	worker_init(worker, ended, context);
	worker->task = kthread_create(hwtimer_worker_run, worker, "%s", name);
	if (IS_ERR(worker->task)) {
		int err = PTR_ERR(worker->task);

		kfree(worker);
		return ERR_PTR(err);
	}
	threads_forget_ended();
	atomic_inc(&hwtimer_threads);
	wake_up_process(worker->task);
	wait_for_completion(&worker->started);
	return worker;
}

/**
 * hwtimer_worker_end - end a worker that has no job
 * @worker: the worker; must not be used afterwards
 *
 * Does not wait for the thread. Does not sleep; takes the worker's lock. The worker
 * itself may call this, when it has left its last job.
 */
void hwtimer_worker_end(struct hwtimer_worker *worker)
{
	/* The thread may free the worker before the lock is wholly released. */
	rcu_read_lock();
	spin_lock(&worker->lock);
	worker->ending = true;
	wake_up_process(worker->task);
	spin_unlock(&worker->lock);
	rcu_read_unlock();
}

/**
 * hwtimer_workers_await_end - wait until the threads of all workers have ended
 *
 * Called when the module is unloaded, after hwtimer_worker_end() for each worker. May
 * sleep.
 */
void hwtimer_workers_await_end(void)
{
	while (atomic_read(&hwtimer_threads)) {
		wait_for_completion(&hwtimer_thread_ended);
		atomic_dec(&hwtimer_threads);
	}
}
