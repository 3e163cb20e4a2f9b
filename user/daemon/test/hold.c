// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that connect and then say nothing. Ends when the server has closed all of their
 * connections.
 *
 *	usage: hold SOCKET CLIENTS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 1000

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Waits if the server has too many clients. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	static int fds[CLIENTS_MAX];
	int i, count = argc == 3 ? atoi(argv[2]) : 0;
	char byte;

	if (count < 1 || count > CLIENTS_MAX) {
		fprintf(stderr, "usage: hold SOCKET CLIENTS\n");
		return 2;
	}
	for (i = 0; i < count; i++)
		fds[i] = connect_to(argv[1]);
	for (i = 0; i < count; i++)
		if (read(fds[i], &byte, 1))
			die("read");
	return 0;
}
