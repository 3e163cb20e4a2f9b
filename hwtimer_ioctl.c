// SPDX-License-Identifier: GPL-2.0
/*
 * Executes the ioctls: copies the arguments in, checks them, calls the layer below, and
 * copies the results out. Called by the file operations in hwtimer_main.c, with unchecked
 * arguments from user space.
 */
#include <linux/compat.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "hwtimer_batch.h"
#include "hwtimer_instance.h"
#include "hwtimer_ioctl.h"
#include "hwtimer_query.h"
#include "hwtimer_read.h"
#include "hwtimer_request.h"
#include "hwtimer_stats.h"

static_assert(sizeof(struct hwtimer_bulk_timer) == 16);
static_assert(sizeof(struct hwtimer_bulk) == 40);
static_assert(sizeof(struct hwtimer_info) == 80);
static_assert(sizeof(struct hwtimer_setup) == 40);
static_assert(sizeof(struct hwtimer_stats) == 984);
static_assert(sizeof(struct hwtimer_request) == 64);
static_assert(sizeof(struct hwtimer_submit) == 16);
static_assert(sizeof(struct hwtimer_query) == 64);
static_assert(sizeof(struct hwtimer_unprocessed) == 56);
static_assert(sizeof(struct hwtimer_listed) == 64);
static_assert(sizeof(struct hwtimer_event) == 32);
static_assert(sizeof(struct hwtimer_stop) == 32);
static_assert(sizeof(struct hwtimer_notify) == 24);
static_assert(sizeof(struct hwtimer_list) == 32);
static_assert(sizeof(struct hwtimer_cancel_all) == 32);
static_assert(sizeof(struct hwtimer_ack) == 16);

/*
 * Copies in a structure that may grow, and so begins with a u32, the size that user space
 * knows. Returns 0, -EFAULT, -EINVAL (smaller than @size) or -E2BIG (more than a page, or
 * members that the kernel does not know are not 0).
 */
static int copy_in_sized(void *structure, size_t size, void __user *argument)
{
	u32 user_size;

	if (get_user(user_size, (u32 __user *)argument))
		return -EFAULT;
	if (user_size < size)
		return -EINVAL;
	if (user_size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(structure, size, argument, user_size);
}

static long ioctl_info(struct hwtimer_instance *instance, void __user *argument)
{
	const struct hwtimer_settings *settings;
	struct hwtimer_settings copy;
	struct hwtimer_info info;
	bool started;
	int err;

	err = copy_in_sized(&info, sizeof(info), argument);
	if (err)
		return err;
	/* Before the settings: if it has started, they do not change any more. */
	started = hwtimer_instance_started(instance);
	/*
	 * Does not take the mutex setup. A program calls this to find out what descriptor
	 * it has been given. Whoever gave it may hold the mutex.
	 */
	settings = hwtimer_settings_get(instance, &copy);
	info = (struct hwtimer_info){
		.size = info.size,
		.abi_version = HWTIMER_ABI_VERSION,
		.tick_min = HWTIMER_TICK_MIN,
		.tick_max = HWTIMER_TICK_MAX,
		.buckets_min = HWTIMER_BUCKETS_MIN,
		.buckets_max = HWTIMER_BUCKETS_MAX,
		.timers_max = hwtimer_max_timers,
		.tick = settings->shape.tick,
		.timers = settings->timers,
		.buckets = settings->shape.buckets,
		.kind = settings->shape.kind,
		.clock = settings->clock->number,
		.started = started,
		.flags = settings->flags,
	};
	return copy_to_user(argument, &info, sizeof(info)) ? -EFAULT : 0;
}

static long ioctl_setup(struct hwtimer_instance *instance,
			void __user *argument)
{
	struct hwtimer_settings settings;
	struct hwtimer_setup setup;
	int err;

	err = copy_in_sized(&setup, sizeof(setup), argument);
	if (err)
		return err;
	err = hwtimer_settings_choose(&settings, &setup);
	if (err)
		return err;
	return hwtimer_settings_set(instance, &settings);
}

/* Whether the id of a request is a result. */
static bool names_timer(const struct hwtimer_request *request)
{
	return request->op == HWTIMER_OP_SCHEDULE ||
	       (request->op == HWTIMER_OP_RESCHEDULE &&
		request->flags & HWTIMER_REARM);
}

/* Does one SCHEDULE, CANCEL or RESCHEDULE. */
static noinline long ioctl_request(struct hwtimer_instance *instance,
				   void __user *argument, enum hwtimer_op op)
{
	struct hwtimer_request __user *user_request = argument;
	struct hwtimer_request request __uninitialized;
	bool names;

	if (copy_from_user(&request, user_request, sizeof(request)))
		return -EFAULT;
	if (request.op != HWTIMER_OP_NONE && request.op != op)
		return -EINVAL;
	request.op = op;
	names = names_timer(&request);
	/*
	 * Fail before a timer is made, because that cannot be undone. copy_from_user() has
	 * checked the address.
	 */
	if (names && __put_user(request.id, &user_request->id))
		return -EFAULT;
	hwtimer_request_run_one(instance, &request);
	if (names && !request.result &&
	    __put_user(request.id, &user_request->id))
		return -EFAULT;
	return request.result;
}

static long ioctl_submit(struct hwtimer_instance *instance,
			 void __user *argument)
{
	struct hwtimer_submit submit;

	if (copy_from_user(&submit, argument, sizeof(submit)))
		return -EFAULT;
	if (submit.flags || submit.count > INT_MAX)
		return -EINVAL;
	return hwtimer_batch_submit(instance, &submit);
}

static noinline long ioctl_bulk(struct hwtimer_instance *instance,
				void __user *argument)
{
	struct hwtimer_bulk bulk __uninitialized;
	int err = copy_in_sized(&bulk, sizeof(bulk), argument);

	if (unlikely(err))
		return err;
	if (bulk.count > INT_MAX)
		return -EINVAL;
	return hwtimer_batch_bulk(instance, &bulk);
}

static long ioctl_cancel_all(struct hwtimer_instance *instance,
			     void __user *argument)
{
	struct hwtimer_cancel_all all;
	int err;
	long ret;

	err = copy_in_sized(&all, sizeof(all), argument);
	if (err)
		return err;
	if (all.flags & ~HWTIMER_DISCARD)
		return -EINVAL;
	ret = hwtimer_batch_cancel_all(instance, &all);
	return copy_to_user(argument, &all, sizeof(all)) ? -EFAULT : ret;
}

static long ioctl_query(struct hwtimer_instance *instance,
			void __user *argument)
{
	struct hwtimer_query query;
	int err;

	if (copy_from_user(&query, argument, sizeof(query)))
		return -EFAULT;
	if (query.reserved)
		return -EINVAL;
	err = hwtimer_query_timer(instance, &query);
	if (err)
		return err;
	return copy_to_user(argument, &query, sizeof(query)) ? -EFAULT : 0;
}

static long ioctl_list(struct hwtimer_instance *instance, void __user *argument)
{
	struct hwtimer_list __user *user_list = argument;
	struct hwtimer_list list;
	long ret;

	ret = copy_in_sized(&list, sizeof(list), argument);
	if (ret)
		return ret;
	if (list.flags || list.reserved || !list.count || list.count > INT_MAX)
		return -EINVAL;
	ret = hwtimer_query_list(instance, &list);
	return put_user(list.cursor, &user_list->cursor) ? -EFAULT : ret;
}

static long ioctl_stop(struct hwtimer_instance *instance, void __user *argument)
{
	struct hwtimer_stop __user *user_stop = argument;
	struct hwtimer_unprocessed __user *timers;
	struct hwtimer_stop stop;
	long ret;

	ret = copy_in_sized(&stop, sizeof(stop), argument);
	if (ret)
		return ret;
	if (stop.flags || stop.reserved || stop.count > INT_MAX)
		return -EINVAL;
	/* Fail before a timer is handed back, because that cannot be undone. */
	if (put_user(stop.left, &user_stop->left))
		return -EFAULT;
	hwtimer_instance_stop(instance);
	timers = u64_to_user_ptr(stop.timers);
	ret = hwtimer_stop_timers(instance, timers, stop.count, &stop.left);
	if (put_user(stop.left, &user_stop->left) && ret <= 0)
		return -EFAULT;
	return ret;
}

static long ioctl_stats(struct hwtimer_instance *instance,
			void __user *argument)
{
	struct hwtimer_stats stats;
	u32 size;
	int err;

	err = copy_in_sized(&stats, sizeof(stats), argument);
	if (err)
		return err;
	if (stats.reserved)
		return -EINVAL;
	size = stats.size;
	hwtimer_stats_get(instance, &stats);
	stats.size = size;
	return copy_to_user(argument, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static bool notify_valid(const struct hwtimer_notify *notify)
{
	if (notify->flags || notify->reserved ||
	    notify->events > HWTIMER_EVENTS_MAX)
		return false;
	if (notify->events <= 1)
		return !notify->delay;
	return notify->delay == HWTIMER_NEVER ||
	       (notify->delay && notify->delay <= KTIME_MAX);
}

static long ioctl_notify(struct hwtimer_instance *instance,
			 void __user *argument)
{
	struct hwtimer_notify notify;
	int err;

	err = copy_in_sized(&notify, sizeof(notify), argument);
	if (err)
		return err;
	if (!notify_valid(&notify))
		return -EINVAL;
	hwtimer_notice_set(instance, notify.events, notify.delay);
	return 0;
}

static long ioctl_ack(struct hwtimer_instance *instance, void __user *argument)
{
	struct hwtimer_ack ack;
	int err;

	err = copy_in_sized(&ack, sizeof(ack), argument);
	if (err)
		return err;
	if (ack.flags || ack.reserved)
		return -EINVAL;
	return hwtimer_read_ack(instance, ack.count);
}

/* The commands, and whether each changes the instance */
static const struct {
	unsigned int number;
	bool changes;
} commands[] = {
	{ HWTIMER_IOC_INFO, false },	  { HWTIMER_IOC_SETUP, true },
	{ HWTIMER_IOC_SCHEDULE, true },	  { HWTIMER_IOC_CANCEL, true },
	{ HWTIMER_IOC_RESCHEDULE, true }, { HWTIMER_IOC_SUBMIT, true },
	{ HWTIMER_IOC_QUERY, false },	  { HWTIMER_IOC_STOP, true },
	{ HWTIMER_IOC_STATS, false },	  { HWTIMER_IOC_NOTIFY, true },
	{ HWTIMER_IOC_BULK, true },	  { HWTIMER_IOC_LIST, false },
	{ HWTIMER_IOC_CANCEL_ALL, true }, { HWTIMER_IOC_ACK, true },
	{ HWTIMER_IOC_REWIND, true },
};

/*
 * Returns the error of a command if the descriptor is not open for writing, or 0. A command
 * that the table lacks is refused.
 */
static int refused_to_readers(unsigned int command)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].number == command)
			return commands[i].changes ? -EBADF : 0;
	return -ENOTTY;
}

/*
 * Does all commands but those for one timer, and BULK. Not inline: a call for one timer would
 * make room on the stack for what only these need.
 */
static noinline long ioctl_rare(struct hwtimer_instance *instance,
				unsigned int command, void __user *argument)
{
	switch (command) {
	case HWTIMER_IOC_INFO:
		return ioctl_info(instance, argument);
	case HWTIMER_IOC_SETUP:
		return ioctl_setup(instance, argument);
	case HWTIMER_IOC_SUBMIT:
		return ioctl_submit(instance, argument);
	case HWTIMER_IOC_QUERY:
		return ioctl_query(instance, argument);
	case HWTIMER_IOC_LIST:
		return ioctl_list(instance, argument);
	case HWTIMER_IOC_CANCEL_ALL:
		return ioctl_cancel_all(instance, argument);
	case HWTIMER_IOC_STOP:
		return ioctl_stop(instance, argument);
	case HWTIMER_IOC_STATS:
		return ioctl_stats(instance, argument);
	case HWTIMER_IOC_NOTIFY:
		return ioctl_notify(instance, argument);
	case HWTIMER_IOC_ACK:
		return ioctl_ack(instance, argument);
	case HWTIMER_IOC_REWIND:
		return argument ? -EINVAL : hwtimer_read_rewind(instance);
	default:
		return -ENOTTY;
	}
}

/**
 * hwtimer_ioctl_waits - check whether a command may wait for another thread
 * @instance: the instance; no lock is needed
 * @command: the command, unchecked
 *
 * Before an instance starts, its first timer may have to wait until a worker is created, or
 * until another thread has started the instance. All others wait for memory only, their
 * argument's included.
 *
 * Return: whether it may. Any context.
 */
bool hwtimer_ioctl_waits(const struct hwtimer_instance *instance,
			 unsigned int command)
{
	switch (command) {
	case HWTIMER_IOC_SETUP:
	case HWTIMER_IOC_SCHEDULE:
	case HWTIMER_IOC_RESCHEDULE:
	case HWTIMER_IOC_SUBMIT:
	case HWTIMER_IOC_BULK:
		return !hwtimer_instance_started(instance);
	default:
		return false;
	}
}

/**
 * hwtimer_ioctl - execute one ioctl
 * @instance: the instance of the file; none of its locks is held
 * @writable: whether the file is open for writing
 * @command: the command, unchecked
 * @argument: the argument, unchecked
 *
 * Return: the result that <linux/hwtimer.h> documents for the command; -ENOTTY: unknown
 * command; -EBADF: the command changes the instance, and the file is not open for writing.
 * May sleep.
 */
long hwtimer_ioctl(struct hwtimer_instance *instance, bool writable,
		   unsigned int command, void __user *argument)
{
	if (unlikely(!writable)) {
		int err = refused_to_readers(command);

		if (err)
			return err;
	}
	switch (command) {
	case HWTIMER_IOC_SCHEDULE:
		return ioctl_request(instance, argument, HWTIMER_OP_SCHEDULE);
	case HWTIMER_IOC_CANCEL:
		return ioctl_request(instance, argument, HWTIMER_OP_CANCEL);
	case HWTIMER_IOC_RESCHEDULE:
		return ioctl_request(instance, argument, HWTIMER_OP_RESCHEDULE);
	case HWTIMER_IOC_BULK:
		return ioctl_bulk(instance, argument);
	default:
		return ioctl_rare(instance, command, argument);
	}
}
