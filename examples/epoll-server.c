// SPDX-License-Identifier: MIT
/* An echo server: epoll-server [PORT [MS]]. A client that is silent for MS is closed. */
#include <err.h>
#include <hwtimer_epoll.h>
#include <netinet/in.h>
#include <stdlib.h>

struct connection {
	int fd;
	struct hwt_timer idle;
};

static struct hwt_epoll timers;
static int64_t timeout = 30000000000; /* ns */

static void close_connection(struct connection *connection)
{
	hwt_timer_stop(&connection->idle); /* after this, no callback comes */
	close(connection->fd);
	free(connection);
}

static void on_idle(struct hwt_timer *timer)
{
	close_connection(hwt_timer_object(timer, struct connection, idle));
}

static void accept_one(int listener, int epoll)
{
	int fd = accept(listener, NULL, NULL);
	struct connection *connection = calloc(1, sizeof(*connection));
	struct epoll_event event = { EPOLLIN, { .ptr = connection } };

	if (!connection || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
		warn("a new connection");
		free(connection);
		close(fd);
		return;
	}
	connection->fd = fd;
	hwt_timer_init(&connection->idle, timers.hwt, on_idle);
	hwt_timer_start(&connection->idle, timeout);
}

static void echo(struct connection *connection)
{
	char text[4096];
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	ssize_t n = recv(connection->fd, text, sizeof(text), flags);

	if (n > 0 && send(connection->fd, text, n, flags) == n)
		hwt_timer_again(&connection->idle); /* no system call */
	else if (n >= 0 || errno != EAGAIN)
		close_connection(connection);
}

static int listen_at(int port, int epoll)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;
	struct epoll_event event = { EPOLLIN, { .ptr = NULL } };

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 1000) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err(1, "port %d", port);
	return fd;
}

int main(int argc, char **argv)
{
	int epoll = epoll_create1(0), i, count, ret;
	int listener = listen_at(argc > 1 ? atoi(argv[1]) : 7171, epoll);
	struct hwtimer_setup setup = { .tick = 100000000 }; /* ns */
	struct epoll_event ready[256];

	if (argc > 2)
		timeout = atoi(argv[2]) * 1000000LL;
	ret = hwt_open(&timers.hwt, HWT_NONBLOCK);
	if (!ret)
		ret = hwt_setup(timers.hwt, &setup);
	if (!ret)
		ret = hwt_epoll_add(&timers, epoll);
	while (!hwt_dispatch_failed(ret)) {
		count = hwt_epoll_wait(&timers, ready, 256, -1);
		for (i = 0; i < count; i++)
			if (ready[i].data.ptr)
				echo(ready[i].data.ptr);
			else
				accept_one(listener, epoll);
		/* Comes last, as it may free what other entries point to. */
		ret = hwt_epoll_dispatch(&timers);
	}
	errx(1, "/dev/hwtimer: %s", strerror(-ret));
}
