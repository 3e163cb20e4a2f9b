/* SPDX-License-Identifier: MIT */
/* The settings that uring-server and timeouts-clients must have in common */
#ifndef EXAMPLE_TIMEOUTS_H
#define EXAMPLE_TIMEOUTS_H

#include "example.h"
#include "sockets.h"

static unsigned long connections = 10000, port = 7171;
static unsigned long request_timeout = 1000, idle_timeout = 3000; /* ms */

/* The server's replies; the last two end a connection. */
#define ANSWER "ok\n"
#define REQUEST_TIMEOUT "request timeout\n"
#define IDLE_TIMEOUT "idle timeout\n"

static inline void take_agreed_options(int argc, char **argv)
{
	const struct option options[] = {
		{ "--connections", &connections, 1 },
		{ "--port", &port, 1, PORT_MAX },
		{ "--request-timeout", &request_timeout, 1, DAYS_MAX },
		{ "--idle-timeout", &idle_timeout, 1, DAYS_MAX },
		{ NULL, NULL, 0 },
	};

	take_options(options, argc, argv);
	allow_open_files(connections + 100);
}

#endif /* EXAMPLE_TIMEOUTS_H */
