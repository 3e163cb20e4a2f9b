// SPDX-License-Identifier: MIT
/*
 * Timeouts of 10,000 TCP connections in one epoll loop. All timers share one descriptor
 * of that loop.
 *
 * A client may send any number of lines and gets a line back for each. It must begin a
 * line within the idle timeout and end it within the request timeout. Each connection
 * has one timer for both, which is rescheduled when the other timeout begins.
 *
 * The program ends after --connections of them, and fails if their ends do not add up.
 */
#include <hwtimer_epoll.h>

#include "timeouts.h"

/* How a connection ended; GONE: the client left without an answer. */
enum end { ANSWERED, TIMED_OUT, REAPED, GONE, NR_ENDS };

struct connection {
	int fd;
	uint64_t timer;
	bool in_request, answered;
};

static struct hwt *hwt;
static int epoll, listener;
static unsigned long accepted, open_now, open_most, ends[NR_ENDS];

static void reply(const struct connection *connection, const char *text)
{
	send(connection->fd, text, strlen(text), MSG_NOSIGNAL);
}

static void end_connection(struct connection *connection, enum end end)
{
	ends[end]++;
	open_now--;
	close(connection->fd);
	free(connection);
}

static void on_timer(void *unused, const struct hwtimer_event *event)
{
	struct connection *connection = (void *)(uintptr_t)event->user_data;
	bool in_request = connection->in_request;

	reply(connection, in_request ? REQUEST_TIMEOUT : IDLE_TIMEOUT);
	end_connection(connection, in_request ? TIMED_OUT : REAPED);
}

static void accept_clients(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct connection *connection;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		connection = allocate(1, sizeof(*connection));
		connection->fd = fd;
		event.data.ptr = connection;
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			err(1, "epoll_ctl");
		must(hwt_schedule(hwt, idle_timeout * MS, (uintptr_t)connection,
				  &connection->timer));
		accepted++;
		open_now++;
	}
	if (open_now > open_most)
		open_most = open_now;
}

/* The time for a line counts from its first bytes, not from the last. */
static void on_line(struct connection *connection, bool complete)
{
	uint64_t time = complete ? idle_timeout : request_timeout;
	int ret;

	if (!complete && connection->in_request)
		return;
	ret = hwt_reschedule(hwt, connection->timer, time * MS);
	if (ret == -EALREADY)
		return; /* too late: on_timer() is about to be called */
	must(ret);
	connection->in_request = !complete;
	connection->answered = complete;
	if (complete)
		reply(connection, ANSWER);
}

static void on_data(struct connection *connection)
{
	char text[256];
	ssize_t length = recv(connection->fd, text, sizeof(text), 0);

	if (length > 0) {
		on_line(connection, text[length - 1] == '\n');
	} else if (!length || errno != EAGAIN) {
		hwt_discard(hwt, connection->timer);
		end_connection(connection,
			       connection->answered ? ANSWERED : GONE);
	}
}

/* Timers come last, so that none ends a connection that is still in @ready. */
static void serve(void)
{
	struct epoll_event ready[256];
	int i, count = epoll_wait(epoll, ready, 256, -1);
	bool timers = false;

	for (i = 0; i < count; i++)
		if (ready[i].data.ptr == hwt)
			timers = true;
		else if (ready[i].data.ptr == &listener)
			accept_clients();
		else
			on_data(ready[i].data.ptr);
	if (timers)
		hwt_dispatch(hwt, on_timer, NULL, 1000);
}

/* Returns whether the timers' ends match those of the connections. */
static bool adds_up(void)
{
	struct hwtimer_stats stats;

	must(hwt_stats(hwt, &stats));
	printf("server: all=%lu at_once=%lu answered=%lu timed_out=%lu reaped=%lu gone=%lu\n",
	       accepted, open_most, ends[ANSWERED], ends[TIMED_OUT],
	       ends[REAPED], ends[GONE]);
	return stats.scheduled == accepted && !stats.pending && !stats.ready &&
	       stats.delivered == ends[TIMED_OUT] + ends[REAPED];
}

int main(int argc, char **argv)
{
	struct epoll_event event = { EPOLLIN, { .ptr = &listener } };

	take_agreed_options(argc, argv);
	hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
	listener = tcp_listen(port, SOCK_NONBLOCK);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	must(hwt_epoll_add(epoll, hwt));
	while (accepted < connections || open_now)
		serve();
	return !adds_up();
}
