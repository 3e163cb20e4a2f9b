// SPDX-License-Identifier: GPL-2.0
/* Schedules three timers on one descriptor and prints them as they expire. */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/hwtimer.h>

int main(void)
{
	int fd = open("/dev/hwtimer", O_RDWR | O_CLOEXEC);
	struct pollfd wheel = { .fd = fd, .events = POLLIN };
	struct hwtimer_event events[64];
	int pending, i;

	if (fd < 0)
		err(1, "/dev/hwtimer");

	for (pending = 0; pending < 3; pending++) {
		struct hwtimer_request timer = {
			/* ns from now: 300, 200 and 100 ms */
			.time = (3 - pending) * 100000000,
			/* whatever you want back with the event */
			.user_data = pending,
		};

		if (ioctl(fd, HWTIMER_IOC_SCHEDULE, &timer))
			err(1, "schedule");
	}

	while (pending > 0) {
		ssize_t bytes;

		if (poll(&wheel, 1, -1) < 0)
			err(1, "poll");
		bytes = read(fd, events, sizeof(events));
		if (bytes < 0)
			err(1, "read");
		for (i = 0; i < bytes / (ssize_t)sizeof(*events); i++)
			printf("timer %llu expired, %u ns late\n",
			       events[i].user_data, events[i].lateness);
		pending -= i;
	}
	return 0;
}
