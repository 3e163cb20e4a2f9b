// SPDX-License-Identifier: GPL-2.0
/*
 * System calls. They lead to the file operations of hwtimer_main.c; poll() and epoll do
 * step by step what those of the kernel do.
 */
#include <stdlib.h>

#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/io_uring/cmd.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uio.h>

#include "device.h"
#include "process.h"
#include "show/show.h"
#include "sim.h"

static const struct file_operations *fops;

/* ---- those who wait ---- */

/**
 * struct waiter - a call that may wait for a long time
 * @entry: entry in the list of all
 * @file: the file
 * @how: the call
 * @events: what it waits for; EPOLLEXCLUSIVE: another one may be woken instead
 */
struct waiter {
	struct list_head entry;
	struct file *file;
	const char *how;
	unsigned int events;
};

static LIST_HEAD(waiters);

static void waiter_begin(struct waiter *waiter, struct file *file,
			 const char *how, unsigned int events)
{
	*waiter = (struct waiter){ .file = file, .how = how, .events = events };
	sim_lock();
	list_add(&waiter->entry, &waiters);
	sim_unlock();
}

static void waiter_end(struct waiter *waiter)
{
	sim_lock();
	list_del_init(&waiter->entry);
	sim_unlock();
}

/* Whether all exclusive waiters of a file wait. If one does not, it may be the one woken. */
static bool all_exclusive_wait(const struct file *file)
{
	unsigned int count = 0;
	struct waiter *waiter;

	list_for_each_entry(waiter, &waiters, entry)
		count += waiter->file == file &&
			 waiter->events & EPOLLEXCLUSIVE;
	return count == file->f_exclusive;
}

void sim_device_waiters(void (*look)(struct file *file, const char *how,
				     unsigned int events))
{
	struct waiter *waiter;

	list_for_each_entry(waiter, &waiters, entry) {
		unsigned int events = waiter->events;

		if (all_exclusive_wait(waiter->file))
			events &= ~EPOLLEXCLUSIVE;
		look(waiter->file, waiter->how, events);
	}
}

/* ---- files ---- */

/*
 * A signal is delivered when a system call returns. A killed thread goes on as another one,
 * which shares the file and the memory with it, and finds what the call has left.
 */
static long call_end(long ret)
{
	sim_call_end();
	sim_point("return to the program");
	if (__atomic_load_n(&current->signal, __ATOMIC_RELAXED)) {
		__atomic_store_n(&current->killed, false, __ATOMIC_RELAXED);
		__atomic_store_n(&current->signal, false, __ATOMIC_RELAXED);
	}
	return ret == -ERESTARTSYS ? -EINTR : ret;
}

static struct file *file_get(struct file *file)
{
	__atomic_add_fetch(&file->f_count, 1, __ATOMIC_RELAXED);
	return file;
}

static void file_put(struct file *file)
{
	if (__atomic_sub_fetch(&file->f_count, 1, __ATOMIC_ACQ_REL))
		return;
	fops->release(NULL, file);
	free(file);
}

/* Begins a system call that holds a lock for which others wait. */
static void hurry(void)
{
	current->hurried = true;
	sim_call_refuse();
}

static int hurry_end(int err)
{
	current->hurried = false;
	return call_end(err);
}

struct file *sim_open(int *err)
{
	struct file *file = calloc(1, sizeof(*file));

	file->f_count = 1;
	file->f_mode = FMODE_READ | FMODE_WRITE;
	file->privileged = current->process->privileged;
	hurry();
	*err = hurry_end(fops->open(NULL, file));
	if (!*err)
		return file;
	free(file);
	return NULL;
}

struct file *sim_dup(struct file *file)
{
	return file_get(file);
}

void sim_close(struct file *file)
{
	file_put(file);
	call_end(0);
}

ssize_t sim_read(struct file *file, void *buffer, size_t count, bool nonblock)
{
	struct waiter waiter;
	/* The flag is the call's here, so that readers can differ. */
	struct file own = {
		.f_flags = nonblock ? O_NONBLOCK : 0,
		.private_data = file_get(file)->private_data,
	};
	struct kiocb iocb = { .ki_filp = &own };
	struct iov_iter to = { .buffer = buffer, .count = count };
	ssize_t ret;

	sim_call_refuse();
	if (!nonblock)
		waiter_begin(&waiter, file, "read()", EPOLLIN);
	ret = fops->read_iter(&iocb, &to);
	if (!nonblock)
		waiter_end(&waiter);
	file_put(file);
	return call_end(ret);
}

#ifndef SIM_PLAIN
/*
 * Issues a command as io_uring does: first so that it must not wait, and if it says that it would
 * have to, once more as a thread of io_uring's would.
 */
static long uring_issue(struct file *file, unsigned int command, void *argument)
{
	struct io_uring_sqe sqe = { 0 };
	struct io_uring_cmd cmd = {
		.file = file,
		.sqe = &sqe,
		.cmd_op = command,
	};
	u64 address = (uintptr_t)argument;
	int ret;

	memcpy(sqe.cmd, &address, sizeof(address));
	ret = fops->uring_cmd(&cmd, IO_URING_F_NONBLOCK);
	if (ret == -EAGAIN)
		ret = fops->uring_cmd(&cmd, 0);
	if (cmd.dones != (ret == -EIOCBQUEUED))
		sim_fail("a command of io_uring was completed %u times",
			 cmd.dones + (ret != -EIOCBQUEUED));
	if (ret > 0 || ret == -ERESTARTSYS || ret == -EAGAIN)
		sim_fail("a command of io_uring returned %d", ret);
	return cmd.dones ? cmd.result : ret;
}
#endif

static long ioctl_issue(struct file *file, unsigned int command, void *argument)
{
#ifndef SIM_PLAIN
	static unsigned int calls;

	/* Every other one is a command of io_uring. */
	if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) & 1)
		return uring_issue(file, command, argument);
#endif
	return fops->unlocked_ioctl(file, command, (unsigned long)argument);
}

long sim_ioctl(struct file *file, unsigned int command, void *argument)
{
	long ret;

	sim_call_refuse();
	file_get(file);
	ret = ioctl_issue(file, command, argument);
	file_put(file);
	return call_end(ret);
}

void seq_printf(struct seq_file *seq, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	seq->length += vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
}

void sim_show_fdinfo(struct file *file)
{
	struct seq_file seq = { .file = file };

	fops->show_fdinfo(&seq, file);
	call_end(0);
}

/* ---- time-outs ---- */

/**
 * struct timeout - wakes a task after some time
 * @timer: the timer
 * @task: the task
 * @passed: the time has passed
 */
struct timeout {
	struct hrtimer timer;
	struct task_struct *task;
	bool passed;
};

static enum hrtimer_restart timeout_pass(struct hrtimer *timer)
{
	struct timeout *timeout = container_of(timer, struct timeout, timer);

	__atomic_store_n(&timeout->passed, true, __ATOMIC_RELEASE);
	wake_up_process(timeout->task);
	return HRTIMER_NORESTART;
}

static void timeout_begin(struct timeout *timeout, uint64_t time)
{
	/* Without a time, nobody sleeps. */
	*timeout = (struct timeout){ .task = current, .passed = !time };
	hrtimer_setup(&timeout->timer, timeout_pass, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
	if (time != UINT64_MAX)
		hrtimer_start(&timeout->timer, sim_now(CLOCK_MONOTONIC) + time,
			      HRTIMER_MODE_ABS_HARD);
}

static bool timeout_passed(const struct timeout *timeout)
{
	return __atomic_load_n(&timeout->passed, __ATOMIC_ACQUIRE);
}

/* ---- poll() ---- */

/**
 * struct poller - a call of poll(), as the kernel's struct poll_wqueues
 * @table: passed to the file
 * @entry: entry in the file's wait queue
 * @queue: that queue; NULL: none yet
 * @task: the caller
 * @triggered: it was woken
 */
struct poller {
	poll_table table;
	wait_queue_entry_t entry;
	wait_queue_head_t *queue;
	struct task_struct *task;
	bool triggered;
};

static int poller_wake(wait_queue_entry_t *entry, unsigned int mode, int flags,
		       void *key)
{
	struct poller *poller = container_of(entry, struct poller, entry);

	if (key && !(key_to_poll(key) & poller->table.key))
		return 0;
	__atomic_store_n(&poller->triggered, true, __ATOMIC_SEQ_CST);
	return wake_up_state(poller->task, TASK_NORMAL);
}

static void poller_queue(struct file *file, wait_queue_head_t *queue,
			 poll_table *table)
{
	struct poller *poller = container_of(table, struct poller, table);

	poller->queue = queue;
	add_wait_queue(queue, &poller->entry);
}

/* Sleeps until triggered, a signal, or the end of the time. */
static void poller_sleep(struct poller *poller, const struct timeout *timeout)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (!__atomic_load_n(&poller->triggered, __ATOMIC_SEQ_CST) &&
	    !timeout_passed(timeout))
		schedule();
	set_current_state(TASK_RUNNING);
	__atomic_store_n(&poller->triggered, false, __ATOMIC_SEQ_CST);
}

int sim_poll(struct file *file, unsigned int events, uint64_t time)
{
	struct poller poller = {
		.table = { .proc = poller_queue,
			   .key = events | EPOLLERR | EPOLLHUP },
		.task = current,
	};
	struct timeout timeout;
	struct waiter waiter;
	int ret = 0;

	init_waitqueue_func_entry(&poller.entry, poller_wake);
	file_get(file);
	timeout_begin(&timeout, time);
	waiter_begin(&waiter, file, "poll()", poller.table.key);
	for (;;) {
		ret = fops->poll(file, &poller.table) & poller.table.key;
		poller.table.proc = NULL;
		if (!ret && signal_pending(current))
			ret = -EINTR;
		if (ret || timeout_passed(&timeout))
			break;
		poller_sleep(&poller, &timeout);
	}
	waiter_end(&waiter);
	hrtimer_cancel(&timeout.timer);
	if (poller.queue)
		remove_wait_queue(poller.queue, &poller.entry);
	file_put(file);
	return call_end(ret);
}

/* ---- epoll ---- */

/**
 * struct sim_epoll - an epoll instance with one file
 * @table: passed to the file when it is added
 * @entry: entry in the file's wait queue
 * @queue: that queue
 * @file: the file, of which epoll holds no reference
 * @events: what is waited for
 * @ready: the file may be ready: it is in the list of those that are
 * @wait: where callers of epoll_wait() wait; its lock protects @ready
 */
struct sim_epoll {
	poll_table table;
	wait_queue_entry_t entry;
	wait_queue_head_t *queue;
	struct file *file;
	unsigned int events;
	bool ready;
	wait_queue_head_t wait;
};

/* Returns whether a thread waits. */
static bool epoll_make_ready(struct sim_epoll *epoll)
{
	bool waits;

	spin_lock(&epoll->wait.lock);
	epoll->ready = true;
	waits = !list_empty(&epoll->wait.head);
	spin_unlock(&epoll->wait.lock);
	wake_up(&epoll->wait);
	return waits;
}

static int epoll_wake(wait_queue_entry_t *entry, unsigned int mode, int flags,
		      void *key)
{
	struct sim_epoll *epoll = container_of(entry, struct sim_epoll, entry);

	if (key && !(key_to_poll(key) & epoll->events))
		return 0;
	/* An exclusive one without a thread that waits leaves the wake-up to the next one. */
	return epoll_make_ready(epoll) || !(epoll->events & EPOLLEXCLUSIVE);
}

static void epoll_queue(struct file *file, wait_queue_head_t *queue,
			poll_table *table)
{
	struct sim_epoll *epoll = container_of(table, struct sim_epoll, table);

	epoll->queue = queue;
	if (epoll->events & EPOLLEXCLUSIVE)
		epoll->entry.flags = WQ_FLAG_EXCLUSIVE;
	add_wait_queue(queue, &epoll->entry);
}

struct sim_epoll *sim_epoll_create(struct file *file, unsigned int events)
{
	struct sim_epoll *epoll = calloc(1, sizeof(*epoll));

	epoll->events = events | EPOLLERR | EPOLLHUP;
	epoll->table =
		(poll_table){ .proc = epoll_queue, .key = epoll->events };
	epoll->file = file;
	if (events & EPOLLEXCLUSIVE)
		__atomic_add_fetch(&file->f_exclusive, 1, __ATOMIC_RELAXED);
	init_waitqueue_head(&epoll->wait);
	init_waitqueue_func_entry(&epoll->entry, epoll_wake);
	if (fops->poll(file, &epoll->table) & epoll->events)
		epoll_make_ready(epoll);
	epoll->table.proc = NULL;
	call_end(0);
	return epoll;
}

void sim_epoll_close(struct sim_epoll *epoll)
{
	remove_wait_queue(epoll->queue, &epoll->entry);
	/*
	 * @f_exclusive stays: it may have been woken, and have told nobody. So from now on
	 * nobody knows whether the others should have been.
	 */
	free(epoll);
}

static bool epoll_is_ready(struct sim_epoll *epoll)
{
	bool ready;

	spin_lock(&epoll->wait.lock);
	ready = epoll->ready;
	spin_unlock(&epoll->wait.lock);
	return ready;
}

/* Asks the file, if it may be ready. Without EPOLLET it then may be so again. */
static int epoll_collect(struct sim_epoll *epoll)
{
	int ret;

	spin_lock(&epoll->wait.lock);
	ret = epoll->ready;
	epoll->ready = false;
	spin_unlock(&epoll->wait.lock);
	if (!ret)
		return 0;
	ret = fops->poll(epoll->file, &epoll->table) & epoll->events;
	if (ret && !(epoll->events & EPOLLET))
		epoll_make_ready(epoll);
	return ret;
}

int sim_epoll_wait(struct sim_epoll *epoll, uint64_t time)
{
	struct timeout timeout;
	struct waiter waiter;
	int ret;

	timeout_begin(&timeout, time);
	waiter_begin(&waiter, epoll->file,
		     epoll->events & EPOLLET ? "epoll_wait(), EPOLLET" :
					       "epoll_wait()",
		     epoll->events);
	for (;;) {
		ret = epoll_collect(epoll);
		if (ret)
			break;
		ret = wait_event_interruptible(
			epoll->wait,
			epoll_is_ready(epoll) || timeout_passed(&timeout));
		if (ret || (timeout_passed(&timeout) && !epoll_is_ready(epoll)))
			break;
	}
	waiter_end(&waiter);
	hrtimer_cancel(&timeout.timer);
	return call_end(ret);
}

/* ---- the module ---- */

/**
 * struct parameter - a parameter of the module
 * @name: its name
 * @value: where its value is
 */
struct parameter {
	const char *name;
	unsigned int *value;
};

static struct parameter parameters[32];
static unsigned int nr_parameters;

void sim_parameter(const char *name, unsigned int *value)
{
	parameters[nr_parameters++] =
		(struct parameter){ .name = name, .value = value };
}

void sim_parameter_set(const char *name, unsigned int value)
{
	unsigned int nr;

	for (nr = 0; nr < nr_parameters; nr++) {
		if (strcmp(parameters[nr].name, name))
			continue;
		*parameters[nr].value = value;
		return;
	}
	sim_fail("the module has no parameter %s", name);
}

int misc_register(struct miscdevice *device)
{
	might_sleep();
	if (sim_short())
		return -ENOMEM;
	fops = device->fops;
	return 0;
}

void misc_deregister(struct miscdevice *device)
{
	might_sleep();
}

bool sim_module_load(void)
{
	return !sim_module_init();
}

void sim_module_unload(void)
{
	sim_module_exit();
}

/* The files in debugfs are not part of the simulation. */
void hwtimer_debug_start(void)
{
}

void hwtimer_debug_stop(void)
{
}
