/* SPDX-License-Identifier: MIT */
/*
 * How a service leaves a descriptor with systemd, and gets it back after a restart: the
 * protocols of sd_notify(3), sd_pid_notify_with_fds(3) and sd_listen_fds(3), for programs
 * that do not link libsystemd. examples/keeper.c is the other side.
 */
#ifndef EXAMPLE_FDSTORE_H
#define EXAMPLE_FDSTORE_H

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Descriptors that were kept start with this number. */
#define FDSTORE_FIRST 3

/* A message that carries up to one descriptor */
struct fdstore_message {
	struct iovec text;
	/* Room for SCM_RIGHTS and, for a receiver, SCM_CREDENTIALS */
	char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))]
		__attribute__((aligned(__alignof__(struct cmsghdr))));
	struct msghdr header;
};

/* Sends @text, and @fd unless that is -1, to the service manager. */
static inline void notify(const char *text, int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct fdstore_message message = {
		.text = { (char *)text, strlen(text) },
	};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	struct cmsghdr *rights;
	int socket_fd;

	if (!length || length >= sizeof(address.sun_path))
		errx(1, "NOTIFY_SOCKET: start this with systemd or keeper");
	memcpy(address.sun_path, path, length);
	if (*path == '@') /* an address without a file */
		address.sun_path[0] = 0;
	message.header = (struct msghdr){
		.msg_name = &address,
		.msg_namelen = offsetof(struct sockaddr_un, sun_path) + length,
		.msg_iov = &message.text,
		.msg_iovlen = 1,
	};
	if (fd >= 0) {
		message.header.msg_control = message.control;
		message.header.msg_controllen = CMSG_SPACE(sizeof(fd));
		rights = CMSG_FIRSTHDR(&message.header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	}
	socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (socket_fd < 0 || sendmsg(socket_fd, &message.header, 0) < 0)
		err(1, "NOTIFY_SOCKET");
	close(socket_fd);
}

/*
 * Returns when the service manager has handled all messages before this one: it then
 * closes its end of the pipe.
 */
static inline void notify_barrier(void)
{
	struct pollfd end;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		err(1, "pipe");
	notify("BARRIER=1", ends[1]);
	close(ends[1]);
	end = (struct pollfd){ .fd = ends[0] };
	while (poll(&end, 1, -1) < 1)
		;
	close(ends[0]);
}

/*
 * Has the service manager keep a descriptor, and returns when it does. It keeps no more
 * descriptors than FileDescriptorStoreMax= says, and does not tell if that is exceeded.
 */
static inline void fdstore_put(int fd, const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s", name);
	notify(text, fd);
	notify_barrier();
}

/* Returns the kept descriptor of that name; -1: there is none. */
static inline int fdstore_take(const char *name)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	const char *names = getenv("LISTEN_FDNAMES");
	int fd, found = -1, end = FDSTORE_FIRST;
	size_t length;

	if (!pid || !count || !names || atoi(pid) != getpid())
		return -1;
	end += atoi(count);
	for (fd = FDSTORE_FIRST; fd < end; fd++) {
		length = strcspn(names, ":");
		if (length == strlen(name) && !strncmp(names, name, length))
			found = fd;
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		names += length + (names[length] == ':');
	}
	return found;
}

#endif /* EXAMPLE_FDSTORE_H */
