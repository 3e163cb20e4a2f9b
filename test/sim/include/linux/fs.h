/* SPDX-License-Identifier: GPL-2.0 */
/* Files, as far as the device needs them; see test/sim/device.c */
#ifndef SIM_LINUX_FS_H
#define SIM_LINUX_FS_H

#include <fcntl.h>

#include <linux/poll.h>
#include <linux/types.h>

struct inode;
struct io_uring_cmd;
struct iov_iter;
struct seq_file;
struct vm_area_struct;

#define FMODE_READ 1
#define FMODE_WRITE 2
#define FMODE_NOWAIT 4
#define IOCB_NOWAIT 1

struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	void *private_data;
	long f_count;
	/* Number of epoll instances that were ever added with EPOLLEXCLUSIVE */
	unsigned int f_exclusive;
	bool privileged;
};

struct kiocb {
	struct file *ki_filp;
	int ki_flags;
};

struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read_iter)(struct kiocb *iocb, struct iov_iter *to);
	__poll_t (*poll)(struct file *file, poll_table *wait);
	long (*unlocked_ioctl)(struct file *file, unsigned int command,
			       unsigned long argument);
	long (*compat_ioctl)(struct file *file, unsigned int command,
			     unsigned long argument);
	int (*uring_cmd)(struct io_uring_cmd *cmd, unsigned int issue_flags);
	void (*show_fdinfo)(struct seq_file *seq, struct file *file);
};

#define compat_ptr_ioctl NULL
#define nonseekable_open(inode, file) 0
#define file_count(file) READ_ONCE((file)->f_count)

#endif /* SIM_LINUX_FS_H */
