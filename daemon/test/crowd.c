// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes all timers that the module allows a user, as soon as one is free, until it is
 * killed; or runs a command as that user. root has no such limit.
 *
 *	usage: crowd UID [COMMAND ARGUMENT...]
 */
#include <linux/hwtimer.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void become(uid_t user)
{
	if (setgroups(0, NULL) || setgid(user) || setuid(user))
		die("setuid");
}

/* Returns whether there was room. */
static int take_one(int fd)
{
	struct hwtimer_request request = {
		.time = 3600 * 1000000000ULL,
	};

	if (!ioctl(fd, HWTIMER_IOC_SCHEDULE, &request))
		return 1;
	if (errno != ENOSPC)
		die("HWTIMER_IOC_SCHEDULE");
	return 0;
}

static void take_all(void)
{
	int fd = open("/dev/hwtimer", O_RDWR), told = 0;

	if (fd < 0)
		die("/dev/hwtimer");
	for (;;) {
		while (take_one(fd))
			;
		if (!told++)
			puts("full");
		fflush(stdout);
		usleep(500);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: crowd UID [COMMAND ARGUMENT...]\n");
		return 2;
	}
	become(atoi(argv[1]));
	if (argc == 2)
		take_all();
	execvp(argv[2], argv + 2);
	die(argv[2]);
}
