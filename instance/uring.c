// SPDX-License-Identifier: GPL-2.0
/*
 * Executes the commands of /dev/hwtimer that io_uring brings: each ioctl, by its number, with
 * the address of its argument. instance/ioctl.c does the work, as for an ioctl.
 *
 * The address is in the 16 bytes of an entry that are the driver's. The fields addr and len,
 * which look made for it, are not: 6.1 shows a driver nothing of an entry but those 16 bytes.
 *
 * A ring for polled I/O never gets here: io_uring refuses commands of a file that has no
 * .uring_cmd_iopoll, or, since 7.x, does them as other rings do.
 *
 * A command is done when io_uring issues it. So nothing of it is left to be cancelled, and a
 * program that ends, or closes the descriptor, leaves no command behind.
 */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "instance/instance.h"

static_assert(sizeof(struct hwtimer_uring) == 16);

/**
 * hwtimer_uring_cmd - execute one command that io_uring brings
 * @cmd: the command, unchecked
 * @issue_flags: from io_uring, IO_URING_F_*
 *
 * Return: 0 or a negative errno, which becomes the command's result; or -EIOCBQUEUED: the
 * command is completed; or -EAGAIN: io_uring is to issue it once more, from a thread that may
 * wait. As hwtimer_ioctl(), and may sleep, too.
 */
int hwtimer_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	const struct hwtimer_uring *data = hwtimer_uring_data(cmd);
	struct hwtimer_instance *instance = cmd->file->private_data;
	long ret;

	if (READ_ONCE(data->reserved) || hwtimer_uring_unused_set(cmd))
		return -EINVAL;
	if (issue_flags & IO_URING_F_NONBLOCK &&
	    hwtimer_ioctl_waits(instance, cmd->cmd_op))
		return -EAGAIN;
	ret = hwtimer_ioctl(instance, cmd->cmd_op,
			    u64_to_user_ptr(READ_ONCE(data->argument)));
	if (ret <= 0)
		return ret;
	/* 6.1 never completes a command that returns a number above 0. */
	hwtimer_uring_done(cmd, ret, issue_flags);
	return -EIOCBQUEUED;
}
