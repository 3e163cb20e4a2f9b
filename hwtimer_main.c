// SPDX-License-Identifier: GPL-2.0
/*
 * The start and the end of the module, the file operations of the misc device /dev/hwtimer,
 * and the tracepoints.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/uio.h>

#include "hwtimer.h"
#include "instance/instance.h"
#include "show/show.h"
#include "version.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int hwtimer_open(struct inode *inode, struct file *file)
{
	struct hwtimer_instance *instance;
	struct hwtimer_account *account;
	int err;

	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) !=
	    (FMODE_READ | FMODE_WRITE))
		return -EINVAL;
	err = hwtimer_account_of_caller(&account);
	if (err)
		return err;
	instance = hwtimer_instance_create(account);
	if (!instance) {
		hwtimer_account_put(account);
		return -ENOMEM;
	}
	hwtimer_clock_namespace(instance->offsets);
	file->private_data = instance;
	/* hwtimer_read_iter() knows IOCB_NOWAIT, so io_uring needs no thread that waits. */
	file->f_mode |= FMODE_NOWAIT;
	return nonseekable_open(inode, file);
}

static int hwtimer_release(struct inode *inode, struct file *file)
{
	hwtimer_instance_destroy(file->private_data);
	return 0;
}

/* Waits for events as a blocking read() does; with @nowait, returns -EAGAIN instead. */
static int read_wait(struct hwtimer_instance *instance, bool nowait)
{
	if (!nowait)
		return hwtimer_notice_wait(instance);
	return hwtimer_notice_readable(instance) ? 0 : -EAGAIN;
}

/*
 * Does what hwtimer_read_iter() does. A file that is @nonblock does not wait for as many
 * events as HWTIMER_IOC_NOTIFY demands.
 */
static ssize_t read_loop(struct hwtimer_instance *instance, struct iov_iter *to,
			 bool nonblock, bool nowait)
{
	for (;;) {
		ssize_t ret = nonblock ? 0 : read_wait(instance, nowait);

		if (ret)
			return ret;
		if (hwtimer_notice_take_report(instance))
			return -ECANCELED;
		/* Another reader may have taken the report or the events. */
		if (nonblock || hwtimer_notice_readable(instance))
			ret = hwtimer_read_events(instance, to);
		if (ret)
			return ret;
		if (hwtimer_instance_drained(instance))
			return 0;
		if (nonblock)
			return -EAGAIN;
		/* Another thread has read or discarded the events meanwhile. */
		if (hwtimer_interrupted(false))
			return -ERESTARTSYS;
		cond_resched();
	}
}

/* read(), readv(), AIO and io_uring. IOCB_NOWAIT is one caller's, and O_NONBLOCK everybody's. */
static ssize_t hwtimer_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct hwtimer_instance *instance = iocb->ki_filp->private_data;
	bool nonblock = iocb->ki_filp->f_flags & O_NONBLOCK;
	bool nowait = iocb->ki_flags & IOCB_NOWAIT;

	if (iov_iter_count(to) < sizeof(struct hwtimer_event))
		return -EINVAL;
	return read_loop(instance, to, nonblock, nowait);
}

static __poll_t hwtimer_poll(struct file *file, poll_table *wait)
{
	struct hwtimer_instance *instance = file->private_data;

	poll_wait(file, &instance->readers, wait);
	return hwtimer_notice_mask(instance);
}

static long hwtimer_unlocked_ioctl(struct file *file, unsigned int command,
				   unsigned long argument)
{
	return hwtimer_ioctl(file->private_data, command,
			     (void __user *)argument);
}

static void hwtimer_show_fdinfo(struct seq_file *seq, struct file *file)
{
	/* The reader of this holds the file, too. */
	seq_printf(seq, "hwtimer-references:\t%lld\n",
		   (long long)file_count(file) - 1);
	hwtimer_stats_show(seq, file->private_data);
}

static const struct file_operations hwtimer_fops = {
	.owner = THIS_MODULE,
	.open = hwtimer_open,
	.release = hwtimer_release,
	.read_iter = hwtimer_read_iter,
	.poll = hwtimer_poll,
	.unlocked_ioctl = hwtimer_unlocked_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.uring_cmd = hwtimer_uring_cmd,
	.show_fdinfo = hwtimer_show_fdinfo,
};

static struct miscdevice hwtimer_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hwtimer",
	.fops = &hwtimer_fops,
};

static int __init hwtimer_init(void)
{
	int err;

	if (!hwtimer_workers_parameters_valid())
		return -EINVAL;
	hwtimer_account_start();
	err = hwtimer_chunk_cache_create();
	if (err)
		return err;
	err = hwtimer_registry_start();
	if (err)
		goto err_cache;
	err = misc_register(&hwtimer_device);
	if (err)
		goto err_instance;
	hwtimer_debug_start();
	return 0;

err_instance:
	hwtimer_registry_finish();
err_cache:
	hwtimer_chunk_cache_destroy();
	return err;
}

static void __exit hwtimer_exit(void)
{
	hwtimer_debug_stop();
	misc_deregister(&hwtimer_device);
	hwtimer_workers_stop();
	hwtimer_registry_finish();
	hwtimer_workers_free();
	hwtimer_chunk_cache_destroy();
}

module_init(hwtimer_init);
module_exit(hwtimer_exit);

MODULE_DESCRIPTION("Timing wheels: millions of timers on one descriptor");
MODULE_AUTHOR("The hwtimer developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(HWTIMER_VERSION);
