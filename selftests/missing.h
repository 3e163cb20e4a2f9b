/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the selftests: a thread that is in the middle of a read(), a CANCEL_ALL or a LIST
 * for as long as the test likes, because it waits for a page of its buffer.
 */
#ifndef MISSING_H
#define MISSING_H

#include "hwtimer_test.h"

#include <linux/userfaultfd.h>
#include <sys/syscall.h>

/* A page of memory that is missing until missing_provide(). The page before it is there. */
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
	char *pages;

	missing->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (missing->fd < 0)
		return false;
	pages = mmap(NULL, 2 * getpagesize(), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return false;
	memset(pages, 0, getpagesize());
	missing->page = pages + getpagesize();
	range.range.start = (uintptr_t)missing->page;
	return !ioctl(missing->fd, UFFDIO_API, &api) &&
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

/**
 * struct taker - a thread that takes timers, by read() or CANCEL_ALL, or lists them, into the
 *	missing page
 * @fd: the instance
 * @stops: whether the thread calls CANCEL_ALL, and stops the instance
 * @lists: whether the thread calls LIST
 * @missing: the page
 * @before: the number of timers for which there is room in the page before it
 * @after: the number of those for which there is room from the missing page on; 0: one
 * @result: what the call returned
 */
struct taker {
	int fd;
	bool stops;
	bool lists;
	struct missing missing;
	unsigned int before;
	unsigned int after;
	int result;
};

static inline size_t taker_size(const struct taker *taker)
{
	return taker->stops || taker->lists ? sizeof(struct hwtimer_timer) :
					      sizeof(struct hwtimer_event);
}

/* The taker's buffer */
static inline void *taker_buffer(const struct taker *taker)
{
	return taker->missing.page - taker->before * taker_size(taker);
}

static inline void *take(void *arg)
{
	struct taker *taker = arg;
	unsigned int room = taker->before + (taker->after ?: 1);
	void *buffer = taker_buffer(taker);
	__u64 cursor = 0;

	taker->result =
		taker->stops ? dev_stop(taker->fd, buffer, room, NULL) :
		taker->lists ? dev_list(taker->fd, buffer, room, &cursor) :
			       dev_read(taker->fd, buffer, room);
	return NULL;
}

/* Starts the thread with SIGALRM blocked, which is to interrupt only other threads. */
static inline bool start_taker(pthread_t *thread, struct taker *taker)
{
	sigset_t alarm_only;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	start_threads(thread, 1, take, taker, 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	return missing_wanted(&taker->missing);
}

#endif /* MISSING_H */
