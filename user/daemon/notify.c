// SPDX-License-Identifier: MIT
/* The protocol of sd_notify(3), without its library; see notify.h. */
#include "notify.h"
#include "unix.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/**
 * notify - send a state to systemd
 * @state: READY=1, STOPPING=1, WATCHDOG=1 ...
 */
void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to;
	socklen_t length;
	int fd;

	if (!path || !*path)
		return;
	fd = unix_socket(&to, path, SOCK_DGRAM);
	if (fd < 0)
		return;
	length = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	/* @ stands for the 0 byte of an abstract address. */
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
	       (struct sockaddr *)&to, length);
	close(fd);
}

/* Returns how often systemd wants to hear WATCHDOG=1, in ms; 0: never. */
uint64_t notify_watchdog_ms(void)
{
	const char *us = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");

	if (!us || (pid && atoll(pid) != getpid()))
		return 0;
	/* Half of the time after which systemd loses its patience */
	return strtoull(us, NULL, 10) / 2000;
}
