// SPDX-License-Identifier: GPL-2.0
/*
 * Gives each owner workers of its own; see hwtimer_owner.h.
 *
 * The owner of an instance is the process that first gives it something to do, by SETUP
 * or by its first timer: its user, its cgroups, and its nice value. An owner's workers
 * are in those cgroups, so the scheduler counts their time, limits it and weighs it as
 * that of the owner's own threads. Not the process that opened the file: a service
 * manager may open it for a service, and pass it on. An ordinary user, though, can only
 * pass an instance to another user after its start; otherwise the other one would pay.
 * And not within open(), which runs with the mutex of all misc devices held: to join
 * cgroups takes milliseconds.
 *
 * The threads are kthreads that join the cgroups of their owner by
 * cgroup_attach_task_all(), as those of vhost did first, and may do again since 6.17.
 * They are not threads of the process, as vhost_task_create() would make them: other
 * processes of the owner may have the descriptor, too, and execve() ends all other threads
 * of a process.
 *
 * But a cgroup with a thread cannot be removed, and service managers wait for that. So
 * when no process is left in an owner's cgroups, its workers give up their instances, and
 * end. hwtimer_adopt.c tells what comes then. The last process of a cgroup may be one that
 * knows nothing of hwtimer. So from the time at which a process closes a descriptor that
 * others have, too, or at which the process ends that had the worker created, the worker
 * looks for processes in its cgroups; see CHECK_FIRST. It does so itself, since that is
 * the owner's business, and the owner's time. Until then it need not wake up.
 *
 * A process gets a worker of its own, so that two programs meet at no lock, until the
 * owner has as many workers as the machine has processors. A process with more than
 * STAFF_JOBS instances gets another worker, within the same bound. Beyond it, instances
 * share the owner's workers. A worker ends a moment after its last instance, and its
 * thread counts until it has exited. A user's threads are limited, too; see
 * HWTIMER_USER_THREADS.
 *
 * With the module parameter workers, there is a fixed number of threads instead, which
 * all programs share. They belong to nobody, and their time is nobody's. Only such
 * threads may have a real-time priority, because no cgroup limits that of a kthread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>
#include <uapi/linux/sched/types.h>

#include "compat.h"
#include "hwtimer_cgroup.h"
#include "hwtimer_limits.h"
#include "hwtimer_memory.h"
#include "hwtimer_owner.h"
#include "hwtimer_worker.h"

#define WORKERS_MAX 1024

/* Number of instances of a process from which on it gets one more worker */
#define STAFF_JOBS 64

/*
 * Time for which a worker without jobs waits for another one, ns. To create one and have
 * it join cgroups takes time of everybody's, so a program that opens and closes instances
 * in a loop must not cause that each time. Not longer, because a cgroup with a worker
 * cannot be removed. For the same reason, a new worker does not look for its owner's
 * processes sooner than that: processes that adopt an instance and die could come in a
 * loop, too.
 */
#define LINGER_TIME (100 * NSEC_PER_MSEC)

/*
 * When a worker checks whether its owner is gone, ns. The last process leaves its cgroups
 * a moment after it has closed its descriptors, and processes that never had one may stay
 * longer. So the worker checks CHECK_FIRST after the last close, when twice as long has
 * passed, and so on, at least each CHECK_STEADY. If other processes stay on, the checks
 * become rare: they come after a CHECK_PART of the time that has passed. But at least each
 * CHECK_LAST, so that no service manager gives up waiting.
 *
 * While the kernel moves all tasks of a cgroup to another css_set, because somebody enables
 * a controller, the worker may be there before the owner's processes, and alone. So it has
 * to be alone in two checks that are CHECK_FIRST apart or more.
 */
#define CHECK_FIRST ((u64)NSEC_PER_MSEC)
#define CHECK_STEADY (250ULL * NSEC_PER_MSEC)
#define CHECK_PART 256
#define CHECK_LAST (10ULL * NSEC_PER_SEC)

/* Room for the longest name. ps shows more than the TASK_COMM_LEN of other threads. */
#define NAME_SIZE 32

static unsigned int workers;
module_param(workers, uint, 0444);
MODULE_PARM_DESC(workers, "Shared kthreads; 0: each owner has its own");

static unsigned int worker_rt_prio;
module_param_named(rt_prio, worker_rt_prio, uint, 0444);
MODULE_PARM_DESC(rt_prio, "SCHED_FIFO priority of shared kthreads; 0: none");

/**
 * struct hwtimer_staff - a worker, and for whom it works
 * @node: entry in hwtimer_staffs
 * @worker: the worker; NULL: it is just being created
 * @ending: the worker has no job and gets none, but its thread has not exited yet
 * @fixed: module parameter workers made it, and the module is not being unloaded
 * @uid: user of the owner
 * @nice: nice value of the process that gave the worker its first job
 * @policy: its scheduling policy: SCHED_BATCH, SCHED_IDLE, or for all others SCHED_NORMAL
 * @cgroups: hwtimer_cgroups() of the process that creates the worker. Used for the key,
 *	and until there is a worker: an administrator may move its thread
 * @process: the process that gave the worker its first job, since it last had none, as
 *	its pid in the initial pid namespace. Only a preference, so it does no harm that
 *	pids are used again
 * @jobs: number of jobs of the worker, plus 1 if it is @fixed
 * @resident: the worker's thread in the owner's cgroups; joins before @worker is set
 * @since: time at which the worker joined its owner's cgroups, ns on CLOCK_MONOTONIC;
 *	written before @worker
 * @suspected: time from which on the owner's processes may be gone, ns on CLOCK_MONOTONIC;
 *	read and written without a lock
 * @alone: time of the first of the latest checks that all found the worker alone, ns on
 *	CLOCK_MONOTONIC; 0: the latest one did not. Used by the worker's thread only
 * @idle: a job of the worker's own. Its alarm turns ends the worker if it has had no other
 *	job for LINGER_TIME; its alarm chores checks whether the owner is gone
 * @rcu: frees the entry; see staff_put()
 *
 * hwtimer_staff_lock protects @node, @worker, @ending, @fixed, @nice, @policy,
 * @process and @jobs; all others but @resident, @since, @suspected, @alone and @idle are
 * constant.
 */
struct hwtimer_staff {
	struct hlist_node node;
	struct hwtimer_worker *worker;
	bool ending;
	bool fixed;
	kuid_t uid;
	int nice;
	int policy;
	const void *cgroups;
	pid_t process;
	unsigned int jobs;
	struct hwtimer_resident resident;
	u64 since;
	u64 suspected;
	u64 alone;
	struct hwtimer_job idle;
	struct rcu_head rcu;
};

/*
 * All workers, by staff_key(). The lock is taken inside no other lock of the module. It is a raw
 * spinlock, because a holder that can be preempted might be a tenant that hardly gets any
 * processor time, and everybody would wait.
 */
static DEFINE_HASHTABLE(hwtimer_staffs, 10);
static DEFINE_RAW_SPINLOCK(hwtimer_staff_lock);

/**
 * hwtimer_owner_parameters_valid - check this file's module parameters
 *
 * Return: whether they are valid; if not, the log says why. Any context.
 */
bool hwtimer_owner_parameters_valid(void)
{
	if (workers > WORKERS_MAX) {
		pr_err("workers=%u is out of range: 0 to %u\n", workers,
		       WORKERS_MAX);
		return false;
	}
	if (worker_rt_prio >= MAX_RT_PRIO) {
		pr_err("rt_prio=%u is out of range: 0 to %u\n", worker_rt_prio,
		       MAX_RT_PRIO - 1);
		return false;
	}
	if (worker_rt_prio && !workers) {
		pr_err("rt_prio=%u needs shared threads: add workers=1 or more\n",
		       worker_rt_prio);
		return false;
	}
	return true;
}

/*
 * What those of a user wait for whose owner has to wait until a worker has been created,
 * or has ended. Only those are woken, and few others: a tenant must not be able to make
 * wake-ups long for all.
 */
static void *staff_event(kuid_t uid)
{
	unsigned int bits = HASH_BITS(hwtimer_staffs);

	return &hwtimer_staffs[hash_min(__kuid_val(uid), bits)];
}

/* Wakes those who wait for staff_event(). */
static void staff_tell(kuid_t uid)
{
	/* Pairs with the barrier in prepare_to_wait_event(), before staff_choose(). */
	smp_mb();
	wake_up_var(staff_event(uid));
}

/*
 * The key of an entry, or of what is looked for. Many containers share uid 0, so their
 * entries are told apart by cgroups.
 */
static unsigned long staff_key(const struct hwtimer_staff *staff)
{
	if (uid_eq(staff->uid, GLOBAL_ROOT_UID))
		return (unsigned long)staff->cgroups;
	return __kuid_val(staff->uid);
}

static void staff_add(struct hwtimer_staff *staff)
{
	lockdep_assert_held(&hwtimer_staff_lock);
	hash_add(hwtimer_staffs, &staff->node, staff_key(staff));
}

/* The cgroups in which a worker is, or will be when it has been created. */
static const void *staff_cgroups(const struct hwtimer_staff *staff)
{
	if (!staff->worker)
		return staff->cgroups;
	return hwtimer_cgroups(hwtimer_worker_task(staff->worker));
}

/* Whether a worker has the user and the cgroups of @wish. */
static bool staff_same_owner(const struct hwtimer_staff *staff,
			     const struct hwtimer_staff *wish)
{
	return uid_eq(staff->uid, wish->uid) &&
	       staff_cgroups(staff) == wish->cgroups;
}

/* Whether a worker may do what @wish asks for. */
static bool staff_suits(const struct hwtimer_staff *staff,
			const struct hwtimer_staff *wish)
{
	if (staff->fixed != wish->fixed)
		return false;
	return wish->fixed || staff_same_owner(staff, wish);
}

/* Whether a worker has so little to do that the process of @wish needs no other one. */
static bool staff_has_time(const struct hwtimer_staff *staff,
			   const struct hwtimer_staff *wish)
{
	if (wish->fixed || !staff->jobs)
		return true;
	return staff->process == wish->process && staff->jobs < STAFF_JOBS &&
	       staff->nice == wish->nice && staff->policy == wish->policy;
}

/* Whether @staff is a better choice than @best, which may be NULL. */
static bool staff_better(const struct hwtimer_staff *staff,
			 const struct hwtimer_staff *best,
			 const struct hwtimer_staff *wish)
{
	if (!best)
		return true;
	if (staff_has_time(staff, wish) != staff_has_time(best, wish))
		return staff_has_time(staff, wish);
	return staff->jobs < best->jobs;
}

/**
 * struct staff_choice - what there is for one more job of an owner
 * @best: the worker that is to get it, if no other one is created; NULL: none
 * @count: number of workers that could serve it, those that are ending included
 * @user_count: number of all workers of the user
 * @coming: a worker of the owner is just being created
 */
struct staff_choice {
	struct hwtimer_staff *best;
	unsigned int count;
	unsigned int user_count;
	bool coming;
};

static void staff_consider(struct staff_choice *choice,
			   struct hwtimer_staff *staff,
			   const struct hwtimer_staff *wish)
{
	choice->user_count += uid_eq(staff->uid, wish->uid);
	if (!staff->worker) {
		choice->coming |= staff_same_owner(staff, wish);
		return;
	}
	if (!staff_suits(staff, wish))
		return;
	choice->count++;
	if (!staff->ending && staff_better(staff, choice->best, wish))
		choice->best = staff;
}

static struct staff_choice staff_survey(const struct hwtimer_staff *wish)
{
	struct staff_choice choice = {};
	struct hwtimer_staff *staff;

	lockdep_assert_held(&hwtimer_staff_lock);
	hash_for_each_possible(hwtimer_staffs, staff, node, staff_key(wish))
		staff_consider(&choice, staff, wish);
	return choice;
}

/* Whether the user of @wish has too many threads. */
static bool staff_user_full(const struct staff_choice *choice,
			    const struct hwtimer_staff *wish)
{
	return choice->user_count >= HWTIMER_USER_THREADS &&
	       !uid_eq(wish->uid, GLOBAL_ROOT_UID);
}

/* Lets a worker without jobs work for another process of its owner. */
static void staff_begin_anew(struct hwtimer_staff *staff,
			     const struct hwtimer_staff *wish)
{
	lockdep_assert_held(&hwtimer_staff_lock);
	staff->process = wish->process;
	staff->nice = wish->nice;
	staff->policy = wish->policy;
}

/*
 * Gives one more job to the best worker that suits @fresh; or enters @fresh, if the owner
 * may have one more worker; the caller then creates it. Returns the entry; -EAGAIN: the
 * user has too many threads; NULL: the caller has to wait until another worker of the
 * owner has been created, or its thread has exited. An owner creates one at a time,
 * because each holds up all others that fork or join cgroups. Sets @anew if the worker
 * had no job, so that the caller has to give it the scheduler of @fresh.
 */
static struct hwtimer_staff *staff_choose(struct hwtimer_staff *fresh,
					  bool *anew)
{
	struct hwtimer_staff *staff;
	struct staff_choice choice;
	bool full;

	/* An administrator may have moved the process while it waited. */
	if (!fresh->fixed)
		fresh->cgroups = hwtimer_cgroups(current);
	raw_spin_lock(&hwtimer_staff_lock);
	choice = staff_survey(fresh);
	full = choice.count >= num_online_cpus() ||
	       staff_user_full(&choice, fresh);
	staff = choice.best;
	if (staff && (full || staff_has_time(staff, fresh))) {
		*anew = !staff->jobs;
		if (*anew)
			staff_begin_anew(staff, fresh);
		staff->jobs++;
	} else if (staff_user_full(&choice, fresh)) {
		staff = ERR_PTR(-EAGAIN);
	} else if (full || choice.coming) {
		staff = NULL;
	} else {
		staff_add(fresh);
		staff = fresh;
	}
	raw_spin_unlock(&hwtimer_staff_lock);
	return staff;
}

static void staff_name(const struct hwtimer_staff *staff, char *name,
		       size_t size)
{
	uid_t uid = __kuid_val(staff->uid);

	snprintf(name, size, "hwtimer/%u", uid);
}

/* Gives a worker's thread the policy and the nice value of @wish. Returns 0 or an error. */
static int set_scheduler(struct task_struct *task,
			 const struct hwtimer_staff *wish)
{
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = wish->policy,
		.sched_nice = wish->nice,
	};

	return sched_setattr_nocheck(task, &attr);
}

/* Has a new worker's thread belong to the current process. Returns 0 or an error. */
static int staff_join(struct hwtimer_staff *staff, struct task_struct *task)
{
	int err;

	if (staff->fixed)
		return 0;
	err = set_scheduler(task, staff);
	return err ?: hwtimer_resident_join(&staff->resident, task);
}

/* Notes that the worker of an entry has been created, and lets others give it jobs. */
static void staff_ready(struct hwtimer_staff *staff,
			struct hwtimer_worker *worker)
{
	staff->since = ktime_get_ns();
	raw_spin_lock(&hwtimer_staff_lock);
	staff->worker = worker;
	raw_spin_unlock(&hwtimer_staff_lock);
	staff_tell(staff->uid);
}

/* Frees an entry that has no worker: not yet, or not any more. */
static void staff_free(struct hwtimer_staff *staff)
{
	raw_spin_lock(&hwtimer_staff_lock);
	hash_del(&staff->node);
	raw_spin_unlock(&hwtimer_staff_lock);
	staff_tell(staff->uid);
	kfree_rcu(staff, rcu);
}

/* Called by a worker's thread when it exits: frees the entry. */
static void staff_ended(void *context)
{
	struct hwtimer_staff *staff = context;

	hwtimer_resident_leave(&staff->resident);
	staff_free(staff);
}

/* Takes jobs from a worker, which ends a moment after its last job. Does not sleep. */
static void staff_put_some(struct hwtimer_staff *staff, unsigned int count)
{
	u64 end = ktime_get_ns() + LINGER_TIME;
	bool last;

	/* An earlier kick may end the worker now; it and @staff are freed by RCU. */
	rcu_read_lock();
	raw_spin_lock(&hwtimer_staff_lock);
	staff->jobs -= count;
	last = !staff->jobs;
	raw_spin_unlock(&hwtimer_staff_lock);
	if (last)
		hwtimer_worker_kick(&staff->idle.turns, end);
	rcu_read_unlock();
}

static void staff_put(struct hwtimer_staff *staff)
{
	staff_put_some(staff, 1);
}

/*
 * Ends a worker if it has no job but its own. Called by the worker itself. Returns whether
 * it ends.
 */
static bool staff_end_idle(struct hwtimer_staff *staff)
{
	bool ending;

	raw_spin_lock(&hwtimer_staff_lock);
	ending = !staff->jobs;
	staff->ending = ending;
	raw_spin_unlock(&hwtimer_staff_lock);
	if (ending)
		hwtimer_worker_end(hwtimer_worker_of(&staff->idle));
	return ending;
}

/* Serves the alarm of a worker's own job: ends the worker if it has no other job. */
static void staff_idle(struct hwtimer_alarm *alarm, struct hwtimer_slice *slice)
{
	staff_end_idle(container_of(alarm, struct hwtimer_staff, idle.turns));
}

/* Kicks the alarm for the next check of whether the owner is gone. Does not sleep. */
static void staff_check_again(struct hwtimer_staff *staff)
{
	u64 now = ktime_get_ns();
	u64 passed = now - min(now, READ_ONCE(staff->suspected));
	u64 wait = max(clamp(passed, CHECK_FIRST, CHECK_STEADY),
		       passed / CHECK_PART);

	if (staff->alone)
		wait = CHECK_FIRST;
	hwtimer_worker_kick(&staff->idle.chores, now + min(wait, CHECK_LAST));
}

/* Checks whether no process is left in the owner's cgroups, and has not been for a while. */
static bool staff_is_alone(struct hwtimer_staff *staff)
{
	u64 now = ktime_get_ns();

	if (!hwtimer_resident_alone(&staff->resident)) {
		staff->alone = 0;
		return false;
	}
	if (!staff->alone)
		staff->alone = now;
	return now - staff->alone >= CHECK_FIRST;
}

/*
 * Serves the other alarm of a worker's own job: if no process is left in the owner's
 * cgroups, leaves all instances without a worker, and ends. Otherwise checks again later.
 */
static void staff_check(struct hwtimer_alarm *alarm,
			struct hwtimer_slice *slice)
{
	struct hwtimer_staff *staff =
		container_of(alarm, struct hwtimer_staff, idle.chores);
	struct hwtimer_worker *worker = hwtimer_worker_of(&staff->idle);
	u64 earliest = staff->since + LINGER_TIME;

	if (ktime_get_ns() < earliest) {
		hwtimer_worker_kick(&staff->idle.chores, earliest);
		return;
	}
	if (staff_is_alone(staff)) {
		staff->alone = 0;
		staff_put_some(staff, hwtimer_worker_desert(worker));
		/* A process that came just now may have given the worker a job. */
		if (staff_end_idle(staff))
			return;
	}
	staff_check_again(staff);
}

/* Has the worker check from now on whether its owner is gone. */
static void staff_check_soon(struct hwtimer_staff *staff)
{
	u64 now = ktime_get_ns();

	WRITE_ONCE(staff->suspected, now);
	hwtimer_worker_kick(&staff->idle.chores, now + CHECK_FIRST);
}

/*
 * Called when the process that had the worker created has ended. It may have closed no
 * descriptor: if it shared its descriptors, if io_uring or epoll kept the file, or if it
 * had closed them before there was a worker.
 */
static void staff_process_exited(struct hwtimer_resident *resident)
{
	struct hwtimer_staff *staff =
		container_of(resident, struct hwtimer_staff, resident);

	staff_check_soon(staff);
}

/*
 * Has the worker check whether its owner is gone, if the current process may have been the
 * owner. A process that exits may have been moved since it became the owner. One that
 * does not exit was not: a service manager closes copies of all the descriptors that it
 * keeps whenever it starts a service.
 */
static void staff_suspect(struct hwtimer_staff *staff)
{
	struct task_struct *task = staff->resident.task;

	if (!hwtimer_resident_away(&staff->resident))
		return;
	if (!(current->flags & PF_EXITING) &&
	    hwtimer_cgroups(task) != hwtimer_cgroups(current))
		return;
	staff_check_soon(staff);
}

/* Gives a new worker the job that ends it. */
static void staff_give_idle(struct hwtimer_staff *staff,
			    struct hwtimer_worker *worker)
{
	hwtimer_job_init(&staff->idle, staff_idle, staff_check);
	hwtimer_worker_attach(&staff->idle, worker);
}

/*
 * Creates the worker of an entry, for the current process. Returns 0 or an error; after
 * an error, the entry is freed. May sleep.
 */
static int staff_create(struct hwtimer_staff *staff)
{
	struct hwtimer_worker *worker;
	char name[NAME_SIZE];
	int err;

	hwtimer_resident_init(&staff->resident, staff_process_exited);
	staff_name(staff, name, sizeof(name));
	worker = hwtimer_worker_create(name, staff_ended, staff);
	if (IS_ERR(worker)) {
		staff_free(staff);
		return PTR_ERR(worker);
	}
	staff_give_idle(staff, worker);
	err = staff_join(staff, hwtimer_worker_task(worker));
	staff_ready(staff, worker);
	if (err)
		staff_put(staff);
	return err;
}

/* The scheduling policy of a worker for the current process. */
static int own_policy(void)
{
	/*
	 * Another process may just be changing it, with a lock that we cannot take. Then
	 * either policy will do.
	 */
	int policy = data_race(READ_ONCE(current->policy));

	switch (policy) {
	case SCHED_BATCH:
	case SCHED_IDLE:
		return policy;
	default:
		return SCHED_NORMAL;
	}
}

/* What a worker has to be to serve one more job of the current process. */
static struct hwtimer_staff staff_wish(void)
{
	if (workers)
		return (struct hwtimer_staff){ .fixed = true };
	return (struct hwtimer_staff){
		.uid = current_uid(),
		.nice = task_nice(current),
		.policy = own_policy(),
		.process = task_tgid_nr(current),
		.jobs = 1,
	};
}

/*
 * Does staff_choose() when no other worker of the owner is in the way. Until then, waits if
 * @wait, or else returns -EBUSY.
 */
static struct hwtimer_staff *staff_await(struct hwtimer_staff *fresh,
					 bool *anew, bool wait)
{
	struct hwtimer_staff *staff = staff_choose(fresh, anew);
	int err;

	if (staff)
		return staff;
	if (!wait)
		return ERR_PTR(-EBUSY);
	err = wait_var_event_killable(staff_event(fresh->uid),
				      (staff = staff_choose(fresh, anew)));
	return err ? ERR_PTR(-EINTR) : staff;
}

/* Finds or creates a worker for one more job of the current process. May sleep. */
static struct hwtimer_staff *staff_get(bool wait)
{
	const struct hwtimer_staff wish = staff_wish();
	struct hwtimer_staff *fresh, *staff;
	bool anew = false;
	int err;

	fresh = kmemdup(&wish, sizeof(wish), HWTIMER_GFP_AHEAD);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	staff = staff_await(fresh, &anew, wait);
	if (staff != fresh) {
		/* An error would only leave the worker the scheduler that it had. */
		if (!IS_ERR(staff) && anew && !fresh->fixed)
			set_scheduler(hwtimer_worker_task(staff->worker),
				      fresh);
		kfree(fresh);
		return staff;
	}
	err = staff_create(fresh);
	return err ? ERR_PTR(err) : fresh;
}

/* The cgroup by which a user is told apart from others who share the uid; 0: none do. */
static u64 own_cgroup(void)
{
	return uid_eq(current_uid(), GLOBAL_ROOT_UID) ?
		       hwtimer_cgroup_of_caller() :
		       0;
}

/* Whether the current process may give a job a worker. */
static bool may_start(const struct hwtimer_job *job)
{
	/* aio polls in a work item. */
	if (READ_ONCE(job->deserted) && (current->flags & PF_KTHREAD))
		return false;
	/* A shared worker costs nobody anything. */
	if (workers)
		return true;
	if (!uid_valid(job->starter))
		return true;
	return uid_eq(job->starter, current_uid()) &&
	       job->starter_cgroup == own_cgroup();
}

/**
 * hwtimer_owner_init - note who may give a job a worker
 * @job: the job of a new instance
 *
 * If the current process has no privilege, only its user may; if that is root of a
 * container, only in its cgroup. Any context.
 */
void hwtimer_owner_init(struct hwtimer_job *job)
{
	job->starter_cgroup = own_cgroup();
	job->starter = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE) ?
			       INVALID_UID :
			       current_uid();
}

/* Does what hwtimer_owner_employ() and hwtimer_owner_try() do. */
static int owner_employ(struct hwtimer_job *job, bool wait)
{
	struct hwtimer_staff *staff;

	might_sleep();
	if (hwtimer_worker_of(job))
		return 0;
	if (!may_start(job))
		return -EPERM;
	staff = staff_get(wait);
	if (IS_ERR(staff))
		return PTR_ERR(staff);
	if (!hwtimer_worker_attach(job, staff->worker))
		staff_put(staff);
	return 0;
}

/**
 * hwtimer_owner_employ - give a job a worker, unless it has one
 * @job: the job
 *
 * The job's owner is the current process.
 *
 * Return: 0; -EPERM (another user must do this, see hwtimer_owner_init(); or the job is
 * deserted, and the caller is a kernel thread, which must not become its owner); -ENOMEM;
 * -EAGAIN (the user or the machine has too many threads); -EINTR (the caller is being
 * killed); or an error of cgroup_attach_task_all(), for instance -ENOSPC (the caller's
 * cpuset has no processor).
 * May sleep, for some milliseconds if a worker joins cgroups. The caller holds no lock:
 * to join cgroups takes cgroup_mutex, inside which mmap_lock may be taken.
 */
int hwtimer_owner_employ(struct hwtimer_job *job)
{
	return owner_employ(job, true);
}

/**
 * hwtimer_owner_try - hwtimer_owner_employ(), unless that waits for other workers
 * @job: the job
 *
 * To create a worker still takes milliseconds. But another worker of the owner may be in
 * the way until it has got processor time, of which the owner may have hardly any.
 *
 * Return: as hwtimer_owner_employ(), or -EBUSY. May sleep; the same holds for locks, except
 * that the caller may hold those that epoll holds when it calls poll().
 */
int hwtimer_owner_try(struct hwtimer_job *job)
{
	return owner_employ(job, false);
}

/**
 * hwtimer_owner_dismiss - give the worker of a job back
 * @job: the job, which its worker has left, and which may have had none
 *
 * If that was its last job, the worker ends a moment later; nobody waits for that. Does
 * not sleep. The worker itself may call this.
 */
void hwtimer_owner_dismiss(struct hwtimer_job *job)
{
	struct hwtimer_worker *worker = hwtimer_worker_of(job);

	if (worker)
		staff_put(hwtimer_worker_context(worker));
}

/**
 * hwtimer_owner_suspect - check soon whether the owner of a job is gone
 * @job: the job, which may have no worker. The current process is letting go of its
 *	descriptor, which others hold, too
 *
 * Called for each close() of such a descriptor and at each exit. Does not sleep; takes the
 * worker's lock.
 */
void hwtimer_owner_suspect(const struct hwtimer_job *job)
{
	struct hwtimer_worker *worker;

	rcu_read_lock();
	worker = hwtimer_worker_of(job);
	if (worker)
		staff_suspect(hwtimer_worker_context(worker));
	rcu_read_unlock();
}

/*
 * Not sched_set_fifo(), which is for drivers: they cannot know the machine's other
 * real-time threads. The administrator knows them, and ranks the worker among them by a
 * module parameter, which works before the first timer, each time the module is loaded.
 * chrt can change the priority later. By default the worker is an ordinary thread.
 */
static int task_set_priority(struct task_struct *task)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = worker_rt_prio,
	};

	return worker_rt_prio ? sched_setattr_nocheck(task, &attr) : 0;
}

/* Creates one of the workers that all programs share. Returns 0 or an error. */
static int fixed_create(unsigned int nr)
{
	struct hwtimer_staff *staff = kzalloc(sizeof(*staff), GFP_KERNEL);
	char name[NAME_SIZE];
	int err;

	if (!staff)
		return -ENOMEM;
	snprintf(name, sizeof(name), "hwtimer/w%u", nr);
	staff->worker = hwtimer_worker_create(name, staff_ended, staff);
	if (IS_ERR(staff->worker)) {
		err = PTR_ERR(staff->worker);
		kfree(staff);
		return err;
	}
	hwtimer_resident_init(&staff->resident, staff_process_exited);
	staff_give_idle(staff, staff->worker);
	staff->fixed = true;
	/* The module's own, until hwtimer_owner_stop() */
	staff->jobs = 1;
	raw_spin_lock(&hwtimer_staff_lock);
	staff_add(staff);
	raw_spin_unlock(&hwtimer_staff_lock);
	/* After an error, hwtimer_owner_stop() ends the worker. */
	return task_set_priority(hwtimer_worker_task(staff->worker));
}

/**
 * hwtimer_owner_start - prepare for workers, and start the shared ones, at module load
 *
 * Return: 0, -ENOMEM, or an error of kthread_create() or sched_setattr_nocheck(). After
 * an error no worker runs. May sleep.
 */
int hwtimer_owner_start(void)
{
	unsigned int nr;
	int err;

	err = hwtimer_cgroup_start();
	if (err)
		return err;
	for (nr = 0; nr < workers; nr++) {
		err = fixed_create(nr);
		if (err) {
			hwtimer_owner_stop();
			return err;
		}
	}
	return 0;
}

/* Finds a shared worker that the module holds, for staff_put(); NULL: none. */
static struct hwtimer_staff *fixed_take(void)
{
	struct hwtimer_staff *staff;
	unsigned int bucket;

	raw_spin_lock(&hwtimer_staff_lock);
	hash_for_each(hwtimer_staffs, bucket, staff, node) {
		if (!staff->fixed)
			continue;
		staff->fixed = false;
		break;
	}
	raw_spin_unlock(&hwtimer_staff_lock);
	return staff;
}

/**
 * hwtimer_owner_stop - end the shared workers, at module unload
 *
 * Called when no file is open. Waits for the threads of all workers. They may still have
 * to free instances that were closed while they served them. May sleep.
 */
void hwtimer_owner_stop(void)
{
	struct hwtimer_staff *staff;

	while ((staff = fixed_take()))
		staff_put(staff);
	hwtimer_workers_await_end();
	hwtimer_cgroup_stop();
}
