/* SPDX-License-Identifier: MIT */
/* Unix sockets */
#ifndef UNIX_H
#define UNIX_H

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Returns a socket and the @address of a path; -1 and errno, if there is none. */
static inline int unix_socket(struct sockaddr_un *address, const char *path,
			      int type)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address->sun_path, path, strlen(path) + 1);
	return socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
}

#endif /* UNIX_H */
