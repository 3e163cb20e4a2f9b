/* SPDX-License-Identifier: MIT */
/* Sockets on this machine, for the examples that talk to another program */
#ifndef EXAMPLE_SOCKETS_H
#define EXAMPLE_SOCKETS_H

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "example.h"

static inline struct sockaddr_in local_address(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* @type: SOCK_STREAM, SOCK_DGRAM, with SOCK_NONBLOCK or without */
static inline int new_socket(int type)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* Binds a socket of that type to @port. */
static inline int socket_at(uint16_t port, int type)
{
	struct sockaddr_in address = local_address(port);
	int fd = new_socket(type), yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "port %u (choose another by --port)", port);
	return fd;
}

/* @flags: SOCK_NONBLOCK or 0 */
static inline int tcp_listen(uint16_t port, int flags)
{
	int fd = socket_at(port, SOCK_STREAM | flags);

	if (listen(fd, 65535)) /* the kernel caps it at net.core.somaxconn */
		err(1, "listen");
	return fd;
}

/* Returns a descriptor, or -1 with errno set. */
static inline int tcp_connect(uint16_t port)
{
	struct sockaddr_in address = local_address(port);
	int fd = new_socket(SOCK_STREAM), error;

	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Connects; waits for @server to listen, if necessary. */
static inline int tcp_connect_to(uint16_t port, const char *server)
{
	int fd;

	do
		fd = tcp_connect(port);
	while (fd < 0 && errno == ECONNREFUSED && another_try(server));
	if (fd < 0)
		err(1, "connect to port %u; start %s", port, server);
	return fd;
}

static inline void allow_open_files(unsigned long count)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < count)
		limit.rlim_max = count;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1,
		    "too few open files are allowed (ulimit -Hn): run this as root, or with fewer --connections");
}

#endif /* EXAMPLE_SOCKETS_H */
