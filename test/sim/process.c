// SPDX-License-Identifier: GPL-2.0
/*
 * Processes, kthreads, users and cgroups. A process has a pid, a user, cgroups, and a time
 * namespace; its threads run the programs of test/sim/actor_*.c.
 */
#include <stdlib.h>

#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/time_namespace.h>
#include <uapi/linux/sched/types.h>

#include "process.h"

#define CGROUPS 8

struct user_namespace init_user_ns;

static struct cgroup cgroups[CGROUPS];
static struct sim_process kernel, first;
static pid_t last_pid;

static void process_init(struct sim_process *process, kuid_t uid,
			 bool privileged, unsigned int cgroup, s64 offset)
{
	/* Another process of this cgroup may be asking for its id. */
	__atomic_store_n(&cgroups[cgroup].id, cgroup + 1, __ATOMIC_RELAXED);
	*process = (struct sim_process){
		.nr = ++last_pid,
		.uid = uid,
		.privileged = privileged,
		.cgroup = &cgroups[cgroup],
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
	sim_unlock();
}

struct task_struct *sim_spawn_in(struct sim_process *process, const char *name,
				 sim_main_fn *main, void *argument)
{
	struct task_struct *task = sim_thread_create(name, main, argument);

	sim_process_join(task, process);
	wake_up_process(task);
	return task;
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

bool ns_capable_noaudit(struct user_namespace *ns, int capability)
{
	return current->process->privileged;
}

bool file_ns_capable(const struct file *file, struct user_namespace *ns,
		     int capability)
{
	return file->privileged;
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

unsigned int num_possible_cpus(void)
{
	return 1 + sim_run.seed % 3;
}

/* Any, as if the scheduler moved the threads. Several threads create one worker at once. */
unsigned int raw_smp_processor_id(void)
{
	return sim_below(num_possible_cpus());
}

struct cgroup *task_dfl_cgroup(const struct task_struct *task)
{
	return task->process->cgroup;
}

int sched_setattr_nocheck(struct task_struct *task,
			  const struct sched_attr *attr)
{
	might_sleep();
	if (sim_short())
		return -ENOMEM;
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
 * @stopping: kthread_stop() was called
 * @stopped: completed when the function has returned
 */
struct kthread {
	int (*run)(void *data);
	void *data;
	bool stopping;
	struct completion stopped;
};

bool kthread_should_stop(void)
{
	return __atomic_load_n(&current->kthread->stopping, __ATOMIC_ACQUIRE);
}

static void kthread_main(void *argument)
{
	struct kthread *kthread = argument;

	/* As in the kernel, one that is stopped before it was woken does not run. */
	if (!kthread_should_stop())
		kthread->run(kthread->data);
	complete(&kthread->stopped);
}

int kthread_stop(struct task_struct *task)
{
	struct kthread *kthread = task->kthread;

	might_sleep();
	get_task_struct(task);
	__atomic_store_n(&kthread->stopping, true, __ATOMIC_RELEASE);
	wake_up_process(task);
	wait_for_completion(&kthread->stopped);
	free(kthread);
	put_task_struct(task);
	return 0;
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
	init_completion(&kthread->stopped);
	task = sim_thread_create(name, kthread_main, kthread);
	task->kthread = kthread;
	task->flags |= PF_KTHREAD;
	sim_process_join(task, sim_process_of_kernel());
	return task;
}
