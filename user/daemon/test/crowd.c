// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes all timers that the limit of another process's instance leaves, as soon as one is
 * free, until it gets SIGTERM. Then it gives them back.
 *
 *	usage: crowd PID
 */
#include <linux/hwtimer.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TAKEN_MAX 1000

static __u64 taken[TAKEN_MAX];
static unsigned int count;
static int ending;

static void end(int signal)
{
	__atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The number of the process's descriptor of an instance */
static int find_instance(const char *pid)
{
	char path[PATH_MAX], link[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((entry = readdir(dir))) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid,
			 entry->d_name);
		length = readlink(path, link, sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		if (!strcmp(link, "/dev/hwtimer"))
			return atoi(entry->d_name);
	}
	fprintf(stderr, "crowd: process %s has no instance\n", pid);
	exit(1);
}

static int open_instance(const char *pid)
{
	int process = syscall(SYS_pidfd_open, atoi(pid), 0), fd;

	if (process < 0)
		die("pidfd_open");
	fd = syscall(SYS_pidfd_getfd, process, find_instance(pid), 0);
	if (fd < 0)
		die("pidfd_getfd");
	return fd;
}

/* Returns whether there was room. */
static int take_one(int fd)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		/* A time of each clock that is far ahead */
		.time = 1ULL << 62,
	};

	if (count == TAKEN_MAX)
		return 0;
	if (!ioctl(fd, HWTIMER_IOC_SCHEDULE, &request)) {
		taken[count++] = request.id;
		return 1;
	}
	if (errno != ENOSPC)
		die("HWTIMER_IOC_SCHEDULE");
	return 0;
}

static void give_back(int fd)
{
	while (count) {
		struct hwtimer_request request = { .id = taken[--count] };

		if (ioctl(fd, HWTIMER_IOC_CANCEL, &request))
			die("HWTIMER_IOC_CANCEL");
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = end };
	int fd, told = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: crowd PID\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	fd = open_instance(argv[1]);
	while (!__atomic_load_n(&ending, __ATOMIC_RELAXED)) {
		while (take_one(fd))
			;
		if (!told++)
			puts("full");
		fflush(stdout);
		usleep(500);
	}
	give_back(fd);
	return 0;
}
