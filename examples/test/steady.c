// SPDX-License-Identifier: MIT
/*
 * Clients of epoll-server that send a request each --interval ms, --requests of them,
 * and then leave. Prints how many requests were sent, and how long that took. Fails if one
 * was not answered.
 */
#include <sys/epoll.h>

#include "../example.h"
#include "../sockets.h"

static unsigned long connections = 1000, port = 7171, requests = 60;
static unsigned long interval = 200; /* ms */

static int *fds;
static unsigned long sent, answered;

static void take_answers(int epoll, int timeout)
{
	struct epoll_event ready[256];
	int i, count = epoll_wait(epoll, ready, 256, timeout);
	char text[256];
	ssize_t length;

	for (i = 0; i < count; i++) {
		length = recv(ready[i].data.fd, text, sizeof(text), 0);
		if (length <= 0)
			errx(1, "a connection was cut off");
		while (length-- > 0)
			answered += text[length] == '\n';
	}
}

/* Request n is due n / connections intervals after the first one. */
static void send_all(int epoll, uint64_t start)
{
	uint64_t gap = interval * MS / connections;
	uint64_t all = connections * requests, due;

	while (answered < all) {
		due = (now_ns(CLOCK_MONOTONIC) - start) / gap;
		for (; sent < all && sent <= due; sent++)
			if (send(fds[sent % connections], "what?\n", 6,
				 MSG_NOSIGNAL) != 6)
				err(1, "send");
		take_answers(epoll, sent < all ? 1 : 10000);
	}
}

int main(int argc, char **argv)
{
	const struct option options[] = {
		{ "--connections", &connections, 1 },
		{ "--port", &port, 1 },
		{ "--requests", &requests, 1 },
		{ "--interval", &interval, 1 },
		{ NULL, NULL, 0 },
	};
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned long i;
	uint64_t start;

	take_options(options, argc, argv);
	allow_open_files(connections + 100);
	fds = allocate(connections, sizeof(*fds));
	for (i = 0; i < connections; i++) {
		fds[i] = tcp_connect_to(port, "epoll-server");
		event.data.fd = fds[i];
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
	}
	start = now_ns(CLOCK_MONOTONIC);
	send_all(epoll, start);
	printf("steady: sent=%lu answered=%lu ms=%lu\n", sent, answered,
	       (unsigned long)((now_ns(CLOCK_MONOTONIC) - start) / MS));
	return 0;
}
