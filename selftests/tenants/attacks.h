/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The attackers. Each function first makes its objects, tells the tester that it is ready,
 * and then does its worst until it is killed. A refusal is no failure: the attacker goes
 * on with what it has got.
 */
#ifndef TENANTS_ATTACKS_H
#define TENANTS_ATTACKS_H

#include "board.h"

#include <sys/socket.h>

#define TICK_MIN (10 * US)

static inline void ready(struct board *board, unsigned long made)
{
	board->made = made;
	board_set(&board->ready, 1);
}

/* Opens an instance; notes a refusal. Returns a descriptor or -errno. */
static inline int instance(struct board *board, struct hwtimer_setup setup)
{
	int fd = dev_open_as(setup);

	if (fd < 0)
		board->refused = -fd;
	return fd;
}

/* The same, for an attack that is nothing without it */
static inline int need_instance(struct board *board, struct hwtimer_setup setup)
{
	int fd = instance(board, setup);

	if (fd < 0)
		_exit(1);
	return fd;
}

/* Has @n children run the same, until they are killed. */
static inline void crowd(struct board *board, unsigned int n,
			 void (*run)(struct board *board))
{
	while (n--) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run(board);
		}
	}
}

/* Needs a processor, and nothing of the device's. */
static inline void spin(struct board *board)
{
	(void)board;
	for (;;)
		__asm__ volatile("");
}

#define SETTINGS(...) ((struct hwtimer_setup){ __VA_ARGS__ })

/* Schedules @n periodic timers; returns how many the kernel took. */
static inline unsigned int every(struct board *board, int fd, unsigned int n,
				 __u64 interval)
{
	struct hwtimer_request requests[BATCH];
	unsigned int done = 0;

	while (done < n) {
		unsigned int count = n - done < BATCH ? n - done : BATCH;
		int ret;

		fill_schedules(requests, count, 0, interval, done);
		for (unsigned int i = 0; i < count; i++)
			requests[i].interval = interval;
		ret = dev_submit(fd, requests, count);
		for (int i = 0; i < ret; i++, done++) {
			if (requests[i].result) {
				board->refused = -requests[i].result;
				return done;
			}
		}
		if (ret <= 0)
			break;
	}
	return done;
}

static inline void attack_many_instances(struct board *board)
{
	unsigned int n = scaled(3000), made = 0;
	int *fds = calloc(n, sizeof(*fds));

	while (made < n) {
		int fd = instance(board,
				  SETTINGS(.tick = TICK_MIN, .buckets = 64));

		if (fd < 0)
			break;
		fds[made++] = fd;
	}
	for (unsigned int i = 0; i < made; i++)
		every(board, fds[i], 4, 2 * MS);
	ready(board, made);
	for (;;) {
		struct hwtimer_event events[4];

		for (unsigned int i = 0; i < made; i++)
			dev_read(fds[i], events, 4);
		sleep_ns(MS);
	}
}

/* Opens instances, with a timer each, until it has no more memory. */
static inline void attack_opens(struct board *board)
{
	unsigned long made = 0;

	for (;; made++) {
		int fd = instance(board, SETTINGS(.buckets = 8));

		if (fd < 0)
			break;
		if (!dev_after(fd, HOUR, 0)) {
			board->refused = errno;
			break;
		}
	}
	ready(board, made);
	for (;;)
		pause();
}

/* Has @n epolls wait for @fd; returns how many the kernel allowed. */
static inline unsigned int epolls(struct board *board, int fd, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct epoll_event event = { .events = EPOLLIN };
		int epoll = epoll_create1(EPOLL_CLOEXEC);

		if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
			board->refused = errno;
			return i;
		}
	}
	return n;
}

/* Reads the events of @fd, which has timers that are due again and again. */
static inline void read_for_ever(int fd)
{
	struct hwtimer_event events[64];

	for (;;) {
		while (dev_read(fd, events, 64) > 0)
			;
		sleep_ns(MS / 2);
	}
}

static inline void attack_epolls(struct board *board)
{
	int fd = need_instance(board, SETTINGS(.tick = TICK_MIN));
	unsigned int made = epolls(board, fd, scaled(100000));

	every(board, fd, 4, MS);
	ready(board, made);
	read_for_ever(fd);
}

/* Schedules timers until it is refused, in one instance after another. */
static inline void attack_memory(struct board *board)
{
	unsigned long made = 0;
	int fd, fds[256];
	unsigned int n = 0;

	mlockall(MCL_CURRENT | MCL_FUTURE);
	while (n < 256) {
		fd = instance(board, SETTINGS());
		if (fd < 0)
			break;
		fds[n++] = fd;
		made += dev_schedule_many(fd, 100000, 0, HOUR, NULL);
		if (!dev_after(fd, HOUR, 0)) {
			board->refused = errno;
			break;
		}
	}
	while (n)
		board->bytes += stats_of(fds[--n]).bytes;
	ready(board, made);
	for (;;)
		pause();
}

/* Schedules far timers and cancels them: dead entries, and compactions. */
static inline void attack_cancels(struct board *board)
{
	int fd = need_instance(board, SETTINGS(.timers = 300000));
	static struct hwtimer_bulk_timer timers[BATCH];
	static __u64 ids[BATCH], results[BATCH];

	dev_schedule_many(fd, 100000, 0, HOUR, NULL);
	ready(board, 100000);
	for (unsigned int round = 0;; round++) {
		for (unsigned int i = 0; i < BATCH; i++)
			timers[i].time =
				SEC + (round * 7919ULL + i) % 100000 * 10 * MS;
		dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, BATCH);
		dev_bulk(fd, HWTIMER_OP_CANCEL, 0, ids, results, BATCH);
	}
}

/* Schedules timers that are due at once, and reads their events. */
static inline void attack_due_at_once(struct board *board)
{
	int fd = need_instance(board,
			       SETTINGS(.tick = TICK_MIN, .timers = 300000));
	static struct hwtimer_bulk_timer timers[BATCH];
	static struct hwtimer_event events[BATCH];
	static __u64 ids[BATCH];

	if (!dev_after(fd, 0, 0))
		_exit(2);
	ready(board, 0);
	for (;;) {
		dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, BATCH);
		dev_read(fd, events, BATCH);
	}
}

/* Has a big wheel on the clock that the tester sets to and fro. */
static inline void attack_clock(struct board *board)
{
	__u64 now = clock_ns(CLOCK_REALTIME);
	unsigned int n = scaled(100000), made;
	const struct hwtimer_setup setup = {
		.flags = HWTIMER_SETUP_REPORT_CLOCK_SET,
		.timers = n,
		.tick = TICK_MIN,
		.clock = HWTIMER_CLOCK_REALTIME,
	};
	int fd = need_instance(board, setup);

	made = dev_schedule_many(fd, n, HWTIMER_REQ_ABSTIME, now + HOUR, NULL);
	ready(board, made);
	for (;;)
		pause();
}

/* Sends a copy of @fd to the victim. */
static inline bool send_to_victim(struct board *board, int fd)
{
	return send_descriptor(board->socket[0], fd) == 1;
}

/* Sends the victim instances that are busy, for it to close them. */
static inline void attack_sends(struct board *board)
{
	ready(board, 0);
	for (;;) {
		int fd = instance(board,
				  SETTINGS(.tick = TICK_MIN, .timers = 5000));

		if (fd < 0) {
			sleep_ns(MS);
			continue;
		}
		every(board, fd, 1000, TICK_MIN);
		dev_schedule_many(fd, 1000, 0, MS, NULL);
		if (send_to_victim(board, fd))
			board->made++;
		close(fd);
	}
}

/* Makes and frees instances: memory and numbers come and go. */
static inline void attack_bomb(struct board *board)
{
	ready(board, 0);
	for (;;) {
		int fd = instance(board, SETTINGS());

		if (fd < 0)
			continue;
		dev_after(fd, HOUR, 0);
		close(fd);
		board->made++;
	}
}

/*
 * The same, by a program that hardly gets any time, as others of its cgroup use it up. It
 * may have to wait for the processor while it holds a lock of the kernel's.
 */
static inline void attack_starved_bomb(struct board *board)
{
	crowd(board, 10, spin);
	attack_bomb(board);
}

/* Many programs that do so at a time */
static inline void attack_bombs(struct board *board)
{
	crowd(board, 20, attack_bomb);
	for (;;)
		pause();
}

/* Has its children killed while they have very many timers. */
static inline void attack_exits(struct board *board)
{
	unsigned int n = scaled(1000000);

	ready(board, n);
	for (;;) {
		int fds[2];
		pid_t pid;
		char byte;

		if (pipe(fds))
			_exit(2);
		pid = fork();
		if (!pid) {
			int fd = need_instance(board, SETTINGS(.timers = n));

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dev_schedule_many(fd, n, 0, HOUR, NULL);
			byte = 1;
			if (write(fds[1], &byte, 1) == 1)
				pause();
			_exit(0);
		}
		if (read(fds[0], &byte, 1) == 1)
			board->made++;
		kill(pid, SIGKILL);
		wait_for_child(pid);
		close(fds[0]);
		close(fds[1]);
	}
}

/* An instance whose description takes long: as many buckets as there can be */
static inline int long_story(struct board *board)
{
	struct hwtimer_setup setup =
		SETTINGS(.buckets = 1 << 20, .timers = 100000);
	int fd = need_instance(board, setup);

	ready(board, dev_schedule_many(fd, 100000, 0, HOUR, NULL));
	return fd;
}

static inline void attack_stats(struct board *board)
{
	int fd = long_story(board);
	struct hwtimer_stats stats;

	for (;;)
		dev_stats(fd, &stats);
}

static inline void attack_fdinfo(struct board *board)
{
	int fd = long_story(board);

	for (;;)
		told(fd, "pending");
}

/* How far apart the timers of one who does not read are: they last for 15 s. */
#define UNREAD_SPACING (15 * SEC / scaled(1500000))

/* Schedules timers that come due one after the other. Returns the instance. */
static inline int unread(struct board *board)
{
	unsigned int n = scaled(1500000), made = 0;
	int fd = need_instance(board, SETTINGS(.tick = TICK_MIN, .timers = n));
	static struct hwtimer_bulk_timer timers[BATCH];
	static __u64 ids[BATCH];

	while (made < n) {
		int ret;

		for (unsigned int i = 0; i < BATCH; i++)
			timers[i].time = (made + i) * UNREAD_SPACING;
		ret = dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids,
			       n - made < BATCH ? n - made : BATCH);
		if (ret <= 0)
			_exit(2);
		made += ret;
	}
	ready(board, made);
	return fd;
}

/* Stops, and reads no event. */
static inline void attack_stopped(struct board *board)
{
	unread(board);
	for (;;)
		raise(SIGSTOP);
}

/* Reads no event, but makes the worker check after each call whether it can go on. */
static inline void attack_trickle(struct board *board)
{
	int fd = unread(board);
	struct hwtimer_event event;

	for (unsigned int i = 0;; i++) {
		dev_read(fd, &event, 1);
		dev_notify(fd, i % 2 ? 4096 : 2, HWTIMER_NEVER);
	}
}

/* Makes room for events all the time, and reads none. */
static inline void attack_discards(struct board *board)
{
	int fd = need_instance(board,
			       SETTINGS(.tick = TICK_MIN, .timers = 300000));
	static struct hwtimer_bulk_timer timers[BATCH];
	static __u64 ids[BATCH], results[BATCH];

	if (!dev_after(fd, 0, 0))
		_exit(2);
	ready(board, 0);
	for (;;) {
		dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, BATCH);
		dev_bulk(fd, HWTIMER_OP_CANCEL, HWTIMER_REQ_DISCARD, ids,
			 results, BATCH);
	}
}

static inline void attack_polls(struct board *board)
{
	int fd = need_instance(board, SETTINGS(.tick = TICK_MIN));

	every(board, fd, 100, TICK_MIN);
	ready(board, 0);
	for (;;)
		dev_poll(fd, POLLIN | POLLPRI | POLLOUT, 0);
}

/* As many threads as attack_due_at_once() with a worker, without the device */
static inline void spin_twice(struct board *board)
{
	crowd(board, 2, spin);
	ready(board, 0);
	for (;;)
		pause();
}

#endif /* TENANTS_ATTACKS_H */
