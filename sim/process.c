// SPDX-License-Identifier: GPL-2.0
/*
 * Processes, kthreads, users and cgroups. A process has a pid, a user, cgroups, and a time
 * namespace; its threads run the programs of sim/actor_*.c.
 */
#include <stdlib.h>

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/time_namespace.h>
#include <uapi/linux/sched/types.h>

#include "process.h"

#define CGROUPS 8

struct user_namespace init_user_ns;

static struct css_set cgroups[CGROUPS];
static struct sim_process kernel, first;
static pid_t last_pid;

static struct pid *pid_create(void)
{
	struct pid *pid = calloc(1, sizeof(*pid));

	pid->count = 1;
	init_waitqueue_head(&pid->wait_pidfd);
	return pid;
}

static void process_init(struct sim_process *process, kuid_t uid,
			 bool privileged, unsigned int cgroup, s64 offset)
{
	/* A worker that is in this cgroup may be asking for its id. */
	__atomic_store_n(&cgroups[cgroup].cgroup.id, cgroup + 1,
			 __ATOMIC_RELAXED);
	*process = (struct sim_process){
		.nr = ++last_pid,
		.pid = pid_create(),
		.uid = uid,
		.ns = &init_user_ns,
		.privileged = privileged,
		.cgroups = &cgroups[cgroup],
		.offset = offset,
	};
}

/* Cgroup 0 is that of the kthreads. */
struct sim_process *sim_process_create(kuid_t uid, bool privileged,
				       unsigned int cgroup, s64 offset)
{
	struct sim_process *process = calloc(1, sizeof(*process));

	process_init(process, uid, privileged, cgroup, offset);
	return process;
}

/* Moves a process without threads into the user namespace @nr, see below; 0: none. */
void sim_process_nest(struct sim_process *process, unsigned int nr)
{
	/* That of a user, another one in it, and that of a container, which root has made */
	static struct user_namespace spaces[] = {
		{ .parent = &init_user_ns, .owner = KUIDT_INIT(1000) },
		{ .parent = &spaces[0], .owner = KUIDT_INIT(1001) },
		{ .parent = &init_user_ns, .owner = KUIDT_INIT(0) },
	};

	if (nr)
		process->ns = &spaces[nr - 1];
}

struct sim_process *sim_process_of_kernel(void)
{
	if (!kernel.nr)
		process_init(&kernel, GLOBAL_ROOT_UID, true, 0, 0);
	return &kernel;
}

struct sim_process *sim_process_first(void)
{
	if (!first.nr)
		process_init(&first, GLOBAL_ROOT_UID, true, 0, 0);
	return &first;
}

void sim_process_join(struct task_struct *task, struct sim_process *process)
{
	sim_lock();
	task->process = process;
	task->cgroups = process->cgroups;
	task->policy = SCHED_NORMAL;
	/* Of most threads the scheduler has counted some time before they do anything. */
	task->se.sum_exec_runtime = sim_below(4) ? 1 : 0;
	process->threads++;
	__atomic_add_fetch(&task->cgroups->nr_tasks, 1, __ATOMIC_RELAXED);
	sim_unlock();
}

static void pid_end(struct pid *pid)
{
	wake_up_all(&pid->wait_pidfd);
	put_pid(pid);
}

void sim_process_hold(struct sim_process *process)
{
	sim_lock();
	process->threads++;
	sim_unlock();
}

void sim_process_release(struct sim_process *process)
{
	bool last;

	sim_lock();
	last = !--process->threads;
	sim_unlock();
	if (last && process != &kernel)
		pid_end(process->pid);
}

void sim_process_leave(struct task_struct *task)
{
	sim_process_release(task->process);
	/* A thread leaves its cgroup after it has told those who wait for it. */
	sim_point("exit");
	__atomic_sub_fetch(&task->cgroups->nr_tasks, 1, __ATOMIC_RELAXED);
}

struct task_struct *sim_spawn_in(struct sim_process *process, const char *name,
				 sim_main_fn *main, void *argument)
{
	struct task_struct *task = sim_thread_create(name, main, argument);

	sim_process_join(task, process);
	wake_up_process(task);
	return task;
}

struct task_struct *sim_spawn(const char *name, sim_main_fn *main,
			      void *argument)
{
	return sim_spawn_in(current->process, name, main, argument);
}

void get_task_struct(struct task_struct *task)
{
	__atomic_add_fetch(&task->usage, 1, __ATOMIC_RELAXED);
}

void put_task_struct(struct task_struct *task)
{
	if (!__atomic_sub_fetch(&task->usage, 1, __ATOMIC_ACQ_REL))
		sim_thread_free(task);
}

/* ---- signals and other disturbances ---- */

void sim_signal(struct task_struct *task, bool kill)
{
	if (kill)
		__atomic_store_n(&task->killed, true, __ATOMIC_RELAXED);
	__atomic_store_n(&task->signal, true, __ATOMIC_RELEASE);
	wake_up_state(task, TASK_INTERRUPTIBLE | (kill ? TASK_WAKEKILL : 0));
}

/* All loops that wait check what they wait for, so a wake-up for no reason does no harm. */
static void wake_by_chance(struct task_struct *task)
{
	if (task->process && !sim_below(4))
		wake_up_state(task, TASK_NORMAL);
}

void sim_process_spurious(void)
{
	sim_threads_each(wake_by_chance);
}

/* ---- what the module asks of processes ---- */

kuid_t current_uid(void)
{
	return current->process->uid;
}

const struct user_namespace *current_user_ns(void)
{
	return current->process->ns;
}

bool ns_capable_noaudit(struct user_namespace *ns, int capability)
{
	return current->process->privileged;
}

bool file_ns_capable(const struct file *file, struct user_namespace *ns,
		     int capability)
{
	return file->privileged;
}

struct pid *task_tgid(struct task_struct *task)
{
	return task->process->pid;
}

struct pid *get_pid(struct pid *pid)
{
	__atomic_add_fetch(&pid->count, 1, __ATOMIC_RELAXED);
	return pid;
}

void put_pid(struct pid *pid)
{
	if (!__atomic_sub_fetch(&pid->count, 1, __ATOMIC_ACQ_REL))
		free(pid);
}

pid_t task_tgid_nr(const struct task_struct *task)
{
	return task->process->nr;
}

pid_t task_pid_nr_ns(struct task_struct *task, struct pid_namespace *ns)
{
	return task->process ? task->process->nr : 0;
}

struct pid_namespace *task_active_pid_ns(struct task_struct *task)
{
	return NULL;
}

int task_nice(const struct task_struct *task)
{
	return task->nice;
}

/* So few that the workers of an owner are soon shared. */
unsigned int num_online_cpus(void)
{
	return 1 + sim_run.seed % 3;
}

int sched_setattr_nocheck(struct task_struct *task,
			  const struct sched_attr *attr)
{
	might_sleep();
	if (sim_short())
		return -ENOMEM;
	task->policy = attr->sched_policy;
	task->nice = attr->sched_nice;
	return 0;
}

int cgroup_attach_task_all(struct task_struct *from, struct task_struct *task)
{
	struct css_set *before = task->cgroups;

	might_sleep();
	sim_point("cgroup_attach_task_all");
	if (sim_short())
		return -ENOSPC;
	__atomic_add_fetch(&from->cgroups->nr_tasks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&task->cgroups, from->cgroups, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&before->nr_tasks, 1, __ATOMIC_RELAXED);
	return 0;
}

/* The clocks are ahead by the same time; a seed gives each process another one. */
static void add_offset(struct timespec64 *time)
{
	time->tv_sec += current->process->offset / NSEC_PER_SEC;
	time->tv_nsec += current->process->offset % NSEC_PER_SEC;
}

void timens_add_monotonic(struct timespec64 *time)
{
	add_offset(time);
}

void timens_add_boottime(struct timespec64 *time)
{
	add_offset(time);
}

/* ---- kthreads ---- */

/**
 * struct kthread - what a kthread is to do
 * @run: the function
 * @data: its argument
 */
struct kthread {
	int (*run)(void *data);
	void *data;
};

static void kthread_main(void *argument)
{
	struct kthread kthread = *(struct kthread *)argument;

	free(argument);
	kthread.run(kthread.data);
}

struct task_struct *kthread_create(int (*run)(void *data), void *data,
				   const char *format, ...)
{
	struct task_struct *task;
	struct kthread *kthread;
	va_list arguments;
	char name[32];

	might_sleep();
	sim_point("kthread_create");
	if (fatal_signal_pending(current))
		return ERR_PTR(-EINTR);
	if (sim_short())
		return ERR_PTR(sim_below(2) ? -ENOMEM : -EAGAIN);
	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	kthread = malloc(sizeof(*kthread));
	*kthread = (struct kthread){ .run = run, .data = data };
	task = sim_thread_create(name, kthread_main, kthread);
	task->flags |= PF_KTHREAD;
	sim_process_join(task, sim_process_of_kernel());
	return task;
}

void kthread_complete_and_exit(struct completion *completion, long code)
{
	complete(completion);
	sim_thread_exit();
}
