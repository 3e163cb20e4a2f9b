// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls: copies the arguments in, checks them, calls the rooms below, and copies the
 * results out. The arguments come unchecked from user space.
 */
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "instance/instance.h"
#include "show/show.h"
#include "timers/timers.h"

#ifndef HWTIMER_SMALL
/* What HWTIMER_EVENTS_MAX promises */
static_assert(HWTIMER_EVENTS == HWTIMER_EVENTS_MAX);
static_assert(HWTIMER_HOLD == 256);
#endif

/* What a command but those for one timer takes and returns */
union argument {
	struct hwtimer_setup setup;
	struct hwtimer_info info;
	struct hwtimer_submit submit;
	struct hwtimer_bulk bulk;
	struct hwtimer_timer timer;
	struct hwtimer_list list;
	struct hwtimer_stats stats;
	struct hwtimer_notify notify;
	struct hwtimer_ack ack;
};

static long ioctl_info(struct hwtimer_instance *instance,
		       union argument *argument)
{
	/* Before the settings: if it is not new, they do not change any more. */
	bool started = !hwtimer_instance_new(instance) &&
		       READ_ONCE(instance->start_memory);
	struct hwtimer_settings copy;
	/*
	 * Does not take the mutex setup. A program calls this to find out what descriptor
	 * it was given, and the program that gave it may hold the mutex.
	 */
	const struct hwtimer_settings *settings =
		hwtimer_settings_get(instance, &copy);

	argument->info = (struct hwtimer_info){
		.abi_version = HWTIMER_ABI_VERSION,
		.started = started,
		.tick = settings->shape.tick,
		.timers = settings->timers,
		.buckets = settings->shape.buckets,
		.clock = hwtimer_clock_number(settings->clock),
		.flags = settings->flags,
		.until_next = hwtimer_query_until_next(instance),
		.tick_min = HWTIMER_TICK_MIN,
		.tick_max = HWTIMER_TICK_MAX,
		.timers_max = HWTIMER_TIMERS_MAX,
		.buckets_min = HWTIMER_BUCKETS_MIN,
		.buckets_max = HWTIMER_BUCKETS_MAX,
	};
	return 0;
}

static long ioctl_setup(struct hwtimer_instance *instance,
			union argument *argument)
{
	struct hwtimer_settings settings;
	int err = hwtimer_settings_choose(&settings, &argument->setup);

	return err ?: hwtimer_settings_set(instance, &settings);
}

/* Does one SCHEDULE, CANCEL or RESCHEDULE. */
static long ioctl_request(struct hwtimer_instance *instance,
			  void __user *argument, enum hwtimer_op op)
{
	struct hwtimer_request __user *user_request = argument;
	struct hwtimer_request request __uninitialized;
	bool makes_id;

	if (copy_from_user(&request, user_request, sizeof(request)))
		return -EFAULT;
	request.op = op;
	makes_id = hwtimer_request_makes_id(&request);
	/*
	 * Fail before a timer is made, because that cannot be undone. copy_from_user() has
	 * checked the address.
	 */
	if (makes_id && __put_user(request.id, &user_request->id))
		return -EFAULT;
	hwtimer_request_run_one(instance, &request);
	if (makes_id && !request.result &&
	    __put_user(request.id, &user_request->id))
		return -EFAULT;
	return request.result;
}

static long ioctl_submit(struct hwtimer_instance *instance,
			 union argument *argument)
{
	const struct hwtimer_submit *submit = &argument->submit;

	if (submit->flags || submit->count > INT_MAX)
		return -EINVAL;
	return hwtimer_batch_submit(instance, submit);
}

static long ioctl_bulk(struct hwtimer_instance *instance,
		       union argument *argument)
{
	const struct hwtimer_bulk *bulk = &argument->bulk;

	if (bulk->reserved || bulk->count > INT_MAX)
		return -EINVAL;
	return hwtimer_batch_bulk(instance, bulk);
}

static long ioctl_query(struct hwtimer_instance *instance,
			union argument *argument)
{
	return hwtimer_query_timer(instance, &argument->timer);
}

/* LIST ignores the flags of CANCEL_ALL: both take the same structure. */
static bool list_valid(const struct hwtimer_list *list)
{
	return !(list->flags & ~(HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD)) &&
	       list->count <= INT_MAX &&
	       (list->count || list->flags & HWTIMER_LIST_STOP);
}

static long ioctl_list(struct hwtimer_instance *instance,
		       union argument *argument)
{
	if (!list_valid(&argument->list) || !argument->list.count)
		return -EINVAL;
	return hwtimer_query_list(instance, &argument->list);
}

static long ioctl_cancel_all(struct hwtimer_instance *instance,
			     union argument *argument)
{
	struct hwtimer_list *list = &argument->list;

	if (!list_valid(list))
		return -EINVAL;
	/* First, so that no timer is scheduled behind the cursor. */
	if (list->flags & HWTIMER_LIST_STOP)
		hwtimer_instance_stop(instance);
	return hwtimer_cancel_all(instance, list);
}

static long ioctl_stats(struct hwtimer_instance *instance,
			union argument *argument)
{
	hwtimer_stats_get(instance, &argument->stats);
	return 0;
}

static long ioctl_notify(struct hwtimer_instance *instance,
			 union argument *argument)
{
	const struct hwtimer_notify *notify = &argument->notify;

	if (notify->flags || notify->events > HWTIMER_EVENTS_MAX ||
	    notify->delay > HWTIMER_NEVER)
		return -EINVAL;
	hwtimer_notice_set(instance, notify->events,
			   notify->delay ?: HWTIMER_NEVER);
	return 0;
}

static long ioctl_ack(struct hwtimer_instance *instance,
		      union argument *argument)
{
	const struct hwtimer_ack *ack = &argument->ack;
	long ret;

	if (ack->flags & ~HWTIMER_ACK_REWIND || ack->count > INT_MAX)
		return -EINVAL;
	ret = hwtimer_read_ack(instance, ack->count);
	if (ret >= 0 && ack->flags & HWTIMER_ACK_REWIND)
		hwtimer_read_rewind(instance);
	return ret;
}

/* The command starts an instance, and waits for others that do. */
#define COMMAND_STARTS BIT(0)
/* The command must not begin what it cannot write back. */
#define COMMAND_WRITES_FIRST BIT(1)

/**
 * struct command - an ioctl
 * @number: its number. The size in it is both that of the structure in the first version and
 *	that which this kernel knows: no structure has grown yet
 * @op: for one timer: the operation; the other commands have @execute
 * @flags: COMMAND_*
 * @execute: execute the command; the argument is copied in before, and out afterwards
 */
struct command {
	unsigned int number;
	u8 op;
	u8 flags;
	long (*execute)(struct hwtimer_instance *instance,
			union argument *argument);
};

static const struct command commands[16] = {
#define COMMAND(name, ...) \
	[_IOC_NR(HWTIMER_IOC_##name)] = { HWTIMER_IOC_##name, __VA_ARGS__ }
	COMMAND(SCHEDULE, HWTIMER_OP_SCHEDULE, COMMAND_STARTS),
	COMMAND(CANCEL, HWTIMER_OP_CANCEL),
	COMMAND(RESCHEDULE, HWTIMER_OP_RESCHEDULE, COMMAND_STARTS),
	COMMAND(INFO, 0, 0, ioctl_info),
	COMMAND(SETUP, 0, COMMAND_STARTS, ioctl_setup),
	COMMAND(SUBMIT, 0, COMMAND_STARTS, ioctl_submit),
	COMMAND(BULK, 0, COMMAND_STARTS, ioctl_bulk),
	COMMAND(QUERY, 0, 0, ioctl_query),
	COMMAND(LIST, 0, COMMAND_WRITES_FIRST, ioctl_list),
	COMMAND(CANCEL_ALL, 0, COMMAND_WRITES_FIRST, ioctl_cancel_all),
	COMMAND(STATS, 0, 0, ioctl_stats),
	COMMAND(NOTIFY, 0, 0, ioctl_notify),
	COMMAND(ACK, 0, 0, ioctl_ack),
#undef COMMAND
};

/* So the number 0 of an empty entry is in the place of another command. */
static_assert(_IOC_NR(HWTIMER_IOC_INFO) == 0);

/* The only command that @number can mean, which may be anything. */
static __always_inline const struct command *command_at(unsigned int number)
{
	return &commands[_IOC_NR(number) % ARRAY_SIZE(commands)];
}

/* Whether @number means @command, with whatever size. */
static bool command_is(const struct command *command, unsigned int number)
{
	return !((number ^ command->number) & ~IOCSIZE_MASK);
}

/*
 * Copies out a structure of @size bytes. User space has room for @user_size, at least as many;
 * the rest becomes 0.
 */
static int copy_out(void __user *to, size_t user_size, const void *structure,
		    size_t size)
{
	if (copy_to_user(to, structure, size) ||
	    clear_user(to + size, user_size - size))
		return -EFAULT;
	return 0;
}

/*
 * Copies in a structure of @user_size bytes, of which the kernel knows the first @size. The
 * others must be 0.
 */
static int copy_in(void *structure, size_t size, const void __user *from,
		   size_t user_size)
{
	if (likely(user_size == size))
		return copy_from_user(structure, from, size) ? -EFAULT : 0;
	return copy_struct_from_user(structure, size, from, user_size);
}

/*
 * Executes a command that has an argument of any size. Not inline: keeps the stack that this
 * needs out of the calls for one timer.
 */
static noinline long ioctl_sized(struct hwtimer_instance *instance,
				 const struct command *command,
				 void __user *user, size_t user_size)
{
	union argument argument __uninitialized;
	size_t size = _IOC_SIZE(command->number);
	long ret = 0;

	if (user_size < size)
		return -EINVAL;
	if (_IOC_DIR(command->number) & _IOC_WRITE)
		ret = copy_in(&argument, size, user, user_size);
	if (!ret && command->flags & COMMAND_WRITES_FIRST)
		ret = copy_out(user, user_size, &argument, size);
	if (ret)
		return ret;
	ret = command->execute(instance, &argument);
	if (_IOC_DIR(command->number) & _IOC_READ &&
	    copy_out(user, user_size, &argument, size) &&
	    (ret <= 0 || command->number != HWTIMER_IOC_CANCEL_ALL))
		return -EFAULT;
	/* If CANCEL_ALL has ended timers, that cannot be undone. */
	return ret;
}

/**
 * hwtimer_ioctl_waits - check whether a command may wait for another thread
 * @instance: the instance; no lock is needed
 * @number: number of the command, unchecked
 *
 * While an instance is new, its first timer may have to wait until a worker is created, or
 * until another thread has started the instance. All others wait only for memory or page faults.
 *
 * Return: whether it may. Any context.
 */
bool hwtimer_ioctl_waits(const struct hwtimer_instance *instance,
			 unsigned int number)
{
	const struct command *command = command_at(number);

	return command_is(command, number) && command->flags & COMMAND_STARTS &&
	       hwtimer_instance_new(instance);
}

/**
 * hwtimer_ioctl - execute one ioctl
 * @instance: the instance of the file; none of its locks is held
 * @number: number of the command, unchecked
 * @argument: the argument, unchecked
 *
 * Return: the result that <linux/hwtimer.h> documents for the command; -ENOTTY: unknown
 * command. May sleep.
 */
long hwtimer_ioctl(struct hwtimer_instance *instance, unsigned int number,
		   void __user *argument)
{
	const struct command *command = command_at(number);

	if (likely(number == command->number && command->op))
		return ioctl_request(instance, argument, command->op);
	if (!command_is(command, number) || command->op)
		return -ENOTTY;
	return ioctl_sized(instance, command, argument, _IOC_SIZE(number));
}
