/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the selftests: a thread that is in the middle of a read() or a STOP for
 * as long as the test likes, because it waits for a page of its buffer.
 */
#ifndef MISSING_H
#define MISSING_H

#include "hwtimer_test.h"

#include <linux/userfaultfd.h>
#include <sys/syscall.h>

/* A page of memory that is missing until missing_provide() */
struct missing {
	int fd; /* the userfaultfd */
	char *page;
};

/* Makes such a page; returns whether the kernel and our permissions allow it. */
static inline bool missing_make(struct missing *missing)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = getpagesize(),
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	missing->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (missing->fd < 0)
		return false;
	missing->page = mmap(NULL, range.range.len, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)missing->page;
	return missing->page != MAP_FAILED &&
	       !ioctl(missing->fd, UFFDIO_API, &api) &&
	       !ioctl(missing->fd, UFFDIO_REGISTER, &range);
}

/* Waits until a thread waits for the page. */
static inline bool missing_wanted(const struct missing *missing)
{
	struct pollfd pfd = { .fd = missing->fd, .events = POLLIN };
	struct uffd_msg msg;

	return poll(&pfd, 1, -1) == 1 &&
	       read(missing->fd, &msg, sizeof(msg)) == sizeof(msg) &&
	       msg.event == UFFD_EVENT_PAGEFAULT;
}

static inline bool missing_provide(const struct missing *missing)
{
	struct uffdio_zeropage zeros = {
		.range.start = (uintptr_t)missing->page,
		.range.len = getpagesize(),
	};

	return !ioctl(missing->fd, UFFDIO_ZEROPAGE, &zeros);
}

/* A thread that takes one timer, by read() or STOP, into the missing page */
struct taker {
	int fd;
	bool stops;
	struct missing missing;
	int result;
};

static inline void *take_one(void *arg)
{
	struct taker *taker = arg;
	void *page = taker->missing.page;

	taker->result = taker->stops ? dev_stop(taker->fd, page, 1, NULL) :
				       dev_read(taker->fd, page, 1);
	return NULL;
}

/* Starts the thread with SIGALRM blocked, which is to interrupt only other threads. */
static inline bool start_taker(pthread_t *thread, struct taker *taker)
{
	sigset_t alarm_only;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	start_threads(thread, 1, take_one, taker, 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	return missing_wanted(&taker->missing);
}

#endif /* MISSING_H */
