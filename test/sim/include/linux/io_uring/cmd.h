/* SPDX-License-Identifier: GPL-2.0 */
/* A command of io_uring, as far as a driver sees it; see test/sim/device.c */
#ifndef SIM_LINUX_IO_URING_CMD_H
#define SIM_LINUX_IO_URING_CMD_H

#include <errno.h>

#include <linux/types.h>

#define EIOCBQUEUED 529

#define IO_URING_F_NONBLOCK INT_MIN
#define IORING_URING_CMD_MASK 3

struct file;

/* Those fields at which the module looks */
struct io_uring_sqe {
	u64 addr;
	u32 len;
	u16 buf_index;
	u32 file_index;
	u8 cmd[16] __attribute__((aligned(8)));
};

/**
 * struct io_uring_cmd - a command
 * @file: its file
 * @sqe: its entry
 * @cmd_op: the number of the command
 * @flags: flags of the entry
 * @result: what io_uring_cmd_done() was told
 * @dones: how often that was
 */
struct io_uring_cmd {
	struct file *file;
	const struct io_uring_sqe *sqe;
	u32 cmd_op;
	u32 flags;
	s32 result;
	unsigned int dones;
};

static inline void io_uring_cmd_done(struct io_uring_cmd *cmd, s32 result,
				     unsigned int issue_flags)
{
	cmd->result = result;
	cmd->dones++;
}

#endif /* SIM_LINUX_IO_URING_CMD_H */
