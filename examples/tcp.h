/* SPDX-License-Identifier: MIT */
/* TCP on this machine, for those examples that talk to another program by it. */
#ifndef EXAMPLE_TCP_H
#define EXAMPLE_TCP_H

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in tcp_address(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* @flags: SOCK_NONBLOCK or 0 */
static inline int tcp_listen(uint16_t port, int flags)
{
	struct sockaddr_in address = tcp_address(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	int yes = 1;

	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 65535)) /* cut down to net.core.somaxconn */
		err(1, "port %u (choose another by --port)", port);
	return fd;
}

/* Returns a descriptor, or -1 and errno. */
static inline int tcp_connect(uint16_t port)
{
	struct sockaddr_in address = tcp_address(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		err(1, "socket");
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static inline void allow_open_files(unsigned long count)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < count)
		limit.rlim_max = count;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "too few open files are allowed (ulimit -Hn): run this as root, or with fewer --connections");
}

#endif /* EXAMPLE_TCP_H */
