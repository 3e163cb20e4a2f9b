/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The victim: a program with one timer after another, 1 ms apart, that measures how late
 * it is by its own clock. Further processes of its cgroup fork, and take descriptors
 * from the attacker.
 */
#ifndef TENANTS_VICTIM_H
#define TENANTS_VICTIM_H

#include "board.h"

#include <sys/socket.h>

/* The victim's tick: short, so that rounding to ticks does not hide its lateness */
#define VICTIM_TICK (100 * US)

#define VICTIM_INTERVAL MS

static inline void victim_run(struct board *board)
{
	struct hwtimer_event event;
	int fd = dev_open(0);

	if (fd < 0 || dev_setup(fd, VICTIM_TICK, 0, 0))
		_exit(1);
	for (;;) {
		__u64 deadline = now_ns() + VICTIM_INTERVAL;

		if (!dev_at(fd, deadline, 0))
			_exit(2);
		log_begin(&board->lateness, deadline);
		if (dev_read(fd, &event, 1) != 1)
			_exit(3);
		log_end(&board->lateness, now_ns());
	}
}

/* Forks a child that ends at once, again and again. */
static inline void victim_fork(struct board *board)
{
	for (;;) {
		pid_t pid;

		log_begin(&board->forks, now_ns());
		pid = fork();
		if (pid < 0)
			_exit(1);
		if (!pid)
			_exit(0);
		wait_for_child(pid);
		log_end(&board->forks, now_ns());
		sleep_ns(10 * MS);
	}
}

/*
 * Opens the device, schedules a timer, and closes it, again and again. open() does not count:
 * the kernel has one mutex for it and all other misc devices (SECURITY.md).
 */
static inline void victim_start(struct board *board)
{
	for (;;) {
		int fd = dev_open(0);

		if (fd < 0)
			_exit(1);
		log_begin(&board->starts, now_ns());
		if (!dev_after(fd, HOUR, 0))
			_exit(1);
		close(fd);
		log_end(&board->starts, now_ns());
		sleep_ns(50 * MS);
	}
}

/* Closes each descriptor that comes. */
static inline void victim_receive(struct board *board)
{
	for (;;) {
		int fd = receive_descriptor(board->socket[1]);

		if (fd == -EPROTO)
			continue;
		if (fd < 0)
			_exit(1);
		log_begin(&board->closes, now_ns());
		close(fd);
		log_end(&board->closes, now_ns());
	}
}

#endif /* TENANTS_VICTIM_H */
