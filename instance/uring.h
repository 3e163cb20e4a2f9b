/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes the commands of /dev/hwtimer that io_uring brings. Called by hwtimer_main.c.
 */
#ifndef HWTIMER_URING_H
#define HWTIMER_URING_H

struct io_uring_cmd;

int hwtimer_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags);

#endif /* HWTIMER_URING_H */
