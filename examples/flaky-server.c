// SPDX-License-Identifier: MIT
/*
 * A server for retry. It answers the first --failures requests with "busy" and all
 * others with "ok". After each request it prints the numbers of both.
 *
 *	flaky-server [--failures 300] [--port 7172]
 */
#include "example.h"
#include "sockets.h"

static bool has_request(int fd)
{
	char line[16];

	return recv(fd, line, sizeof(line), 0) > 0;
}

int main(int argc, char **argv)
{
	unsigned long failures = 300, port = 7172, refused = 0, served = 0;
	const struct option options[] = {
		{ "--failures", &failures, 0 },
		{ "--port", &port, 1, PORT_MAX },
		{ NULL, NULL, 0 },
	};
	int listener, fd;

	take_options(options, argc, argv);
	listener = tcp_listen(port, 0);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (has_request(fd)) {
			bool ok = refused == failures;

			++*(ok ? &served : &refused);
			printf("server: refused=%lu served=%lu\n", refused,
			       served);
			send(fd, ok ? "ok\n" : "busy\n", ok ? 3 : 5,
			     MSG_NOSIGNAL);
		}
		close(fd);
	}
	err(1, "accept");
}
