// SPDX-License-Identifier: GPL-2.0
/*
 * Has kthreads join the cgroups of programs; see hwtimer_cgroup.h.
 *
 * The kernel tells nobody that the last process has left a cgroup in which kthreads are:
 * to the kernel they are tasks like others. So the threads ask. A css_set, that is, a
 * combination of one cgroup in each hierarchy, counts its tasks. If it counts no more of
 * them than there are residents, no program is left.
 *
 * That is only a snapshot, because the lock of the count is the kernel's own: css_set_lock
 * is not exported. A process may be moved into the cgroup meanwhile. So whoever acts on
 * the answer must do nothing that such a process cannot undo.
 *
 * When to ask is for hwtimer_owner.c to decide. But it has to know when the process has
 * ended that had a thread join. The kernel tells that to those who poll a pidfd, through a
 * wait queue of the process.
 */
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "hwtimer_cgroup.h"

/* All residents, by their home. A raw spinlock for the reason that hwtimer_owner.c gives. */
static DEFINE_HASHTABLE(hwtimer_residents, 10);
static DEFINE_RAW_SPINLOCK(hwtimer_residents_lock);

static struct workqueue_struct *hwtimer_attach_queue;

/*
 * Tells those who have to know that a process has ended. Not hwtimer_attach_queue, which does
 * one thing at a time: with PREEMPT_RT, the lock of a tenant's worker may be held by a
 * thread that hardly gets any processor time, and who waits for it must not hold up others
 * that join cgroups.
 */
static struct workqueue_struct *hwtimer_exit_queue;

/**
 * struct attachment - a thread that is to join the cgroups of another
 * @work: work item that does it
 * @from: the thread that is in these cgroups; it lives until @work is done
 * @task: the thread that is to join them
 * @err: 0 or an error
 */
struct attachment {
	struct work_struct work;
	struct task_struct *from;
	struct task_struct *task;
	int err;
};

static void attachment_work(struct work_struct *work)
{
	struct attachment *attachment =
		container_of(work, struct attachment, work);

	attachment->err =
		cgroup_attach_task_all(attachment->from, attachment->task);
}

/*
 * Has @task join the cgroups of the current process. A work item does that, because it
 * holds cgroup_mutex and stops all forks. A tenant's thread might have to wait for its
 * share of a processor while it holds them. A work item also has the privileges that some
 * cpusets ask of the thread that moves another. Returns 0 or an error. May sleep.
 */
static int attach_to_current(struct task_struct *task)
{
	struct attachment attachment = { .from = current, .task = task };

	INIT_WORK_ONSTACK(&attachment.work, attachment_work);
	queue_work(hwtimer_attach_queue, &attachment.work);
	flush_work(&attachment.work);
	destroy_work_on_stack(&attachment.work);
	return attachment.err;
}

static void resident_exited(struct work_struct *work)
{
	struct hwtimer_resident *resident =
		container_of(work, struct hwtimer_resident, work);

	resident->exited(resident);
}

/*
 * Called when the process has ended, or one of its threads, as those who poll a pidfd are
 * told. The caller holds tasklist_lock, so a work item does the rest.
 */
static int resident_wake(wait_queue_entry_t *wait, unsigned int mode, int flags,
			 void *key)
{
	struct hwtimer_resident *resident =
		container_of(wait, struct hwtimer_resident, wait);

	queue_work(hwtimer_exit_queue, &resident->work);
	return 0;
}

/* Has the kernel tell when the current process has ended. It cannot before this returns. */
static void resident_watch(struct hwtimer_resident *resident)
{
	resident->process = get_pid(task_tgid(current));
	add_wait_queue(&resident->process->wait_pidfd, &resident->wait);
}

static void resident_unwatch(struct hwtimer_resident *resident)
{
	remove_wait_queue(&resident->process->wait_pidfd, &resident->wait);
	put_pid(resident->process);
	cancel_work_sync(&resident->work);
}

/**
 * hwtimer_resident_init - prepare a resident that has not joined any cgroup
 * @resident: the resident
 * @exited: called when the process that had it join has ended
 */
void hwtimer_resident_init(struct hwtimer_resident *resident,
			   hwtimer_exited_fn *exited)
{
	INIT_HLIST_NODE(&resident->node);
	resident->exited = exited;
	init_waitqueue_func_entry(&resident->wait, resident_wake);
	INIT_WORK(&resident->work, resident_exited);
}

/**
 * hwtimer_resident_join - have a kthread join the cgroups of the current process
 * @resident: the resident, freed by RCU; hwtimer_resident_leave() ends it, after an error,
 *	too
 * @task: the kthread; its task_struct lives until then
 *
 * Usually that takes some milliseconds, but none if the process is in the cgroups in which
 * kthreads begin.
 *
 * Return: 0 or an error of cgroup_attach_task_all(). May sleep. The caller holds no lock:
 * joining takes cgroup_mutex, inside which mmap_lock may be taken.
 */
int hwtimer_resident_join(struct hwtimer_resident *resident,
			  struct task_struct *task)
{
	int err;

	if (hwtimer_cgroups(task) == hwtimer_cgroups(current))
		return 0;
	err = attach_to_current(task);
	if (err)
		return err;
	resident->task = task;
	resident->home = hwtimer_cgroup_of(task);
	raw_spin_lock(&hwtimer_residents_lock);
	hash_add_rcu(hwtimer_residents, &resident->node, resident->home);
	raw_spin_unlock(&hwtimer_residents_lock);
	resident_watch(resident);
	return 0;
}

/**
 * hwtimer_resident_leave - forget a resident
 * @resident: the resident, whose thread is about to exit
 *
 * Waits until its function is not running. May sleep.
 */
void hwtimer_resident_leave(struct hwtimer_resident *resident)
{
	if (!hwtimer_resident_away(resident))
		return;
	raw_spin_lock(&hwtimer_residents_lock);
	hash_del_rcu(&resident->node);
	raw_spin_unlock(&hwtimer_residents_lock);
	resident_unwatch(resident);
}

/**
 * hwtimer_resident_away - whether a thread has joined the cgroups of a program
 * @resident: the resident; nobody has it join or leave meanwhile
 *
 * Return: false, too, if these were the cgroups in which kthreads begin. Those are never
 * removed. Any context.
 */
bool hwtimer_resident_away(const struct hwtimer_resident *resident)
{
	/* Others that join or leave the same cgroup change the node's links meanwhile. */
	return !hlist_unhashed_lockless(&resident->node);
}

/*
 * The number of residents that joined the cgroup @home, and are in @cgroups. One that was
 * moved there is not among them, and counts as a program does.
 */
static int residents_in(u64 home, const void *cgroups)
{
	const struct hwtimer_resident *resident;
	int count = 0;

	hash_for_each_possible_rcu(hwtimer_residents, resident, node, home)
		count += resident->home == home &&
			 hwtimer_cgroups(resident->task) == cgroups;
	return count;
}

/**
 * hwtimer_resident_alone - whether no program is left in the cgroups of a thread
 * @resident: the resident, which is the current thread
 *
 * Threads that are exiting are tasks until they have left the cgroup. Child cgroups do not
 * count.
 *
 * Return: whether all tasks there are residents; false if an administrator has moved the
 * thread to another cgroup, because the program may still be where it joined it. That is
 * told by the cgroup, not by the css_set, which is another one as soon as somebody enables
 * a controller. Does not sleep. Takes time in proportion to the number of residents that
 * have joined the cgroup, but no lock, so that nobody else waits.
 */
bool hwtimer_resident_alone(const struct hwtimer_resident *resident)
{
	const void *cgroups;
	int tasks, residents;

	if (hwtimer_cgroup_of(current) != resident->home)
		return false;
	rcu_read_lock();
	cgroups = hwtimer_cgroups(current);
	/*
	 * A resident that comes or goes between the counts must not hide a program. One that
	 * goes was in the first number of tasks, one that comes is in the second.
	 */
	tasks = hwtimer_cgroups_tasks(cgroups);
	residents = residents_in(resident->home, cgroups);
	tasks = max(tasks, hwtimer_cgroups_tasks(cgroups));
	rcu_read_unlock();
	return tasks <= residents;
}

/**
 * hwtimer_cgroup_start - create the workqueues, at module load
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_cgroup_start(void)
{
	/* One at a time: all of them need the same mutex. */
	hwtimer_attach_queue = alloc_workqueue("hwtimer", WQ_UNBOUND, 1);
	if (!hwtimer_attach_queue)
		return -ENOMEM;
	hwtimer_exit_queue = alloc_workqueue("hwtimer_exit", WQ_UNBOUND, 0);
	if (!hwtimer_exit_queue) {
		destroy_workqueue(hwtimer_attach_queue);
		return -ENOMEM;
	}
	return 0;
}

/**
 * hwtimer_cgroup_stop - destroy the workqueues, at module unload
 *
 * Called when there is no resident any more. May sleep.
 */
void hwtimer_cgroup_stop(void)
{
	destroy_workqueue(hwtimer_exit_queue);
	destroy_workqueue(hwtimer_attach_queue);
}
