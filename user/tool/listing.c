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

static void __attribute__((noreturn)) no_process(const struct place *place)
{
	if (errno == ESRCH || errno == EINVAL)
		errx(1, "there is no process %d", place->pid);
	err(1, "process %d", place->pid);
}

static void __attribute__((noreturn)) no_descriptor(const struct place *place)
{
	switch (errno) {
	case EPERM:
		errx(1,
		     "no permission to take a descriptor of process %d: run hwtimerctl as root, or as its user if kernel.yama.ptrace_scope is 0 and the process is dumpable",
		     place->pid);
	case EBADF:
		errx(1,
		     "process %d has no descriptor %d: 'hwtimerctl stats' lists instances",
		     place->pid, place->fd);
	case ESRCH:
		errx(1, "process %d has ended", place->pid);
	case EMFILE:
		errx(1, "this process is at its limit of open files");
	default:
		err(1, "descriptor %d of process %d", place->fd, place->pid);
	}
}

static void __attribute__((noreturn)) no_instance(const struct place *place)
{
	errx(1,
	     "descriptor %d is not an instance of hwtimer: 'hwtimerctl stats' lists instances",
	     place->fd);
}

/*
 * Returns a duplicate of a descriptor of another process. Another file is not taken: it may be
 * on a server, even one of that process, which would hold us up until it answers, also when the
 * duplicate is closed.
 */
static int take_descriptor(const struct place *place)
{
	int fd, process = syscall(SYS_pidfd_open, place->pid, 0);
	char path[64];

	if (process < 0)
		no_process(place);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", place->pid, place->fd);
	if (!device_possible(AT_FDCWD, path))
		no_instance(place);
	fd = syscall(SYS_pidfd_getfd, process, place->fd, 0);
	if (fd < 0)
		no_descriptor(place);
	close(process);
	return fd;
}

/**
 * place_open - get the instance of a descriptor
 * @place: the descriptor
 *
 * The instance lives at least until the program ends, or closes it.
 *
 * Return: the instance, which can list its timers. Ends the program on failure, and says
 * what the user can do.
 */
struct hwt *place_open(const struct place *place)
{
	struct hwt *hwt;
	int fd, error;

	need_module();
	fd = place->pid ? take_descriptor(place) : place->fd;
	error = -hwt_from_fd(&hwt, fd, 0);
	if (error == EBADF)
		errx(1, "descriptor %d is not open", place->fd);
	if (error == ENOTTY)
		no_instance(place);
	if (error == EPROTO)
		errx(1,
		     "the module has another ABI version: install the same version of both");
	if (error)
		errx(1, "descriptor %d: %s", place->fd, strerror(error));
	return hwt;
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
	return listing;
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
	return ret;
}

void listing_close(struct listing *listing)
{
	free(listing);
}
