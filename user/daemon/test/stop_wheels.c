// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops all instances of hwtimer that another process has, behind its back. Such an
 * instance expires nothing, takes no timers, and cannot be read any more.
 *
 *	usage: stop_wheels PID
 */
#include <linux/hwtimer.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int is_instance(int directory, const char *name)
{
	char target[256];
	ssize_t length = readlinkat(directory, name, target, sizeof(target));

	return length == (ssize_t)strlen("/dev/hwtimer") &&
	       !memcmp(target, "/dev/hwtimer", length);
}

static void stop(int pidfd, int number)
{
	struct hwtimer_list list = { .flags = HWTIMER_LIST_STOP };
	int fd = syscall(SYS_pidfd_getfd, pidfd, number, 0);

	if (fd < 0)
		die("pidfd_getfd");
	if (ioctl(fd, HWTIMER_IOC_CANCEL_ALL, &list))
		die("HWTIMER_IOC_CANCEL_ALL");
	close(fd);
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	char path[64];
	int pidfd;
	DIR *fds;

	if (argc != 2) {
		fprintf(stderr, "usage: stop_wheels PID\n");
		return 2;
	}
	pidfd = syscall(SYS_pidfd_open, atoi(argv[1]), 0);
	if (pidfd < 0)
		die("pidfd_open");
	snprintf(path, sizeof(path), "/proc/%d/fd", atoi(argv[1]));
	fds = opendir(path);
	if (!fds)
		die(path);
	while ((entry = readdir(fds)))
		if (is_instance(dirfd(fds), entry->d_name))
			stop(pidfd, atoi(entry->d_name));
	closedir(fds);
	return 0;
}
