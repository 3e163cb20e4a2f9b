// SPDX-License-Identifier: MIT
/* Reaches an instance and lists its timers; see listing.h. */
#define _GNU_SOURCE
#include "listing.h"
#include "commands.h"
#include "device.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the instance ---- */

/* Returns the number of a @what, from @least on, or ends the program. */
static int parse_number(const char *what, const char *text, long least)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least ||
	    value > INT_MAX)
		usage("\"%s\" is not the number of a %s", text, what);
	return value;
}

/**
 * place_arguments - parse the arguments that name a descriptor
 * @count: number of arguments
 * @arguments: process and descriptor; none if @inherited is not NULL
 * @inherited: the value of --fd; NULL: there is none
 *
 * Return: the place. Ends the program if the arguments name none.
 */
struct place place_arguments(int count, char **arguments, const char *inherited)
{
	if (inherited && count)
		usage("--fd names a descriptor of this process: without PID and FD");
	if (inherited)
		return (struct place){
			.fd = parse_number("descriptor", inherited, 0),
		};
	if (count != 2)
		usage("it needs a process and a descriptor: 'hwtimerctl stats' lists them");
	return (struct place){
		.pid = parse_number("process", arguments[0], 1),
		.fd = parse_number("descriptor", arguments[1], 0),
	};
}

/* Returns what place_open() returns, but for the instance the descriptor. */
static int take_descriptor(const struct place *place)
{
	int fd, error, process = syscall(SYS_pidfd_open, place->pid, 0);
	char path[64];

	/* EINVAL: it is a thread */
	if (process < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", place->pid, place->fd);
	fd = -1;
	errno = ENOTTY;
	if (device_possible(AT_FDCWD, path))
		fd = syscall(SYS_pidfd_getfd, process, place->fd, 0);
	error = errno;
	close(process);
	return fd < 0 ? -error : fd;
}

/**
 * place_open - get the instance of a descriptor
 * @place: the descriptor
 * @hwt: out: the instance, which can list its timers. It lives at least until it is closed, or
 *	the program ends
 *
 * Of another process's descriptor, this is a duplicate. Another file is not taken: it may be on a
 * server, even one of that process, which would hold us up until it answers, also when the
 * duplicate is closed.
 *
 * Return: 0; -ESRCH: no such process; -EBADF: no such descriptor; -ENOTTY: it is another file;
 * -EPERM: not permitted; or another negative error number.
 */
int place_open(const struct place *place, struct hwt **hwt)
{
	int error, fd = place->pid ? take_descriptor(place) : place->fd;

	if (fd < 0)
		return fd;
	error = hwt_from_fd(hwt, fd, 0);
	if (error && place->pid)
		close(fd);
	return error;
}

/* Returns the instance of a descriptor, or ends the program and says what the user can do. */
struct hwt *place_need(const struct place *place)
{
	struct hwt *hwt;
	int error;

	need_module();
	error = -place_open(place, &hwt);
	switch (error) {
	case 0:
		return hwt;
	case ESRCH:
		errx(1, "there is no process %d", place->pid);
	case EPERM:
		errx(1,
		     "no permission to take a descriptor of process %d: run hwtimerctl as root, or as its user if kernel.yama.ptrace_scope is 0 and the process is dumpable",
		     place->pid);
	case EBADF:
		if (!place->pid)
			errx(1, "descriptor %d is not open", place->fd);
		errx(1,
		     "process %d has no descriptor %d: 'hwtimerctl stats' lists instances",
		     place->pid, place->fd);
	case ENOTTY:
		errx(1,
		     "descriptor %d is not an instance of hwtimer: 'hwtimerctl stats' lists instances",
		     place->fd);
	case EMFILE:
		errx(1, "this process is at its limit of open files");
	case EPROTO:
		errx(1,
		     "the module has another ABI version: install the same version of both");
	default:
		errx(1, "descriptor %d: %s", place->fd, strerror(error));
	}
}

/* ---- its timers ---- */

/* Returns the list of an instance, which stays the caller's. */
struct listing *listing_open(struct hwt *hwt)
{
	struct listing *listing = malloc(sizeof(*listing));

	if (!listing)
		err(1, "no memory");
	listing->hwt = hwt;
	listing->cursor = 0;
	listing->now = 0;
	return listing;
}

/*
 * Makes the time left of all timers that of one moment, the first that the kernel has told of: it
 * reads the clock again for each page, and only the kernel knows the clock of an instance that
 * was opened in another time namespace.
 */
static void since_one_moment(struct listing *listing, unsigned int count)
{
	struct hwtimer_timer *timer = listing->page, *end = timer + count;

	for (; timer < end; timer++) {
		if (timer->state != HWTIMER_STATE_PENDING ||
		    timer->deadline == HWTIMER_NEVER)
			continue;
		if (!listing->now && timer->remaining)
			listing->now = timer->deadline - timer->remaining;
		if (listing->now)
			timer->remaining =
				timer->deadline > listing->now ?
					timer->deadline - listing->now :
					0;
	}
}

/* Reads the next page; returns the number of timers on it, 0 at the end. */
unsigned int listing_next(struct listing *listing)
{
	int ret;

	do {
		ret = hwt_list(listing->hwt, &listing->cursor, listing->page,
			       LISTING_PAGE);
	} while (ret == -EINTR);
	if (ret < 0)
		errx(1, "cannot list the timers: %s", strerror(-ret));
	since_one_moment(listing, ret);
	return ret;
}

void listing_close(struct listing *listing)
{
	free(listing);
}
