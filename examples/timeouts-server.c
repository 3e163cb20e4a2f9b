// SPDX-License-Identifier: MIT
/*
 * Timeouts of 10,000 TCP connections in one epoll loop. All timers share one descriptor
 * of that loop.
 *
 * A client may send any number of lines and gets a line back for each. It must begin a
 * line within the idle timeout and end it within the request timeout. Each connection
 * has one timer for both, which is started anew when the other timeout begins. While
 * requests come, that only pushes the deadline out, so the kernel hears of it once in an
 * idle timeout.
 *
 * The program ends after --connections of them, and fails if their ends do not add up.
 */
#include <hwtimer_epoll.h>

#include "timeouts.h"

/* How a connection ended; GONE: the client left without an answer. */
enum end { ANSWERED, TIMED_OUT, REAPED, GONE, NR_ENDS };

struct connection {
	int fd;
	struct hwt_timer timer;
	bool in_request, answered;
};

static struct hwt *hwt;
static struct hwt_epoll timers;
static int epoll, listener;
static unsigned long accepted, open_now, open_most, requests, ends[NR_ENDS];

static void reply(const struct connection *connection, const char *text)
{
	send(connection->fd, text, strlen(text), MSG_NOSIGNAL);
}

static void end_connection(struct connection *connection, enum end end)
{
	ends[end]++;
	open_now--;
	hwt_timer_stop(&connection->timer);
	close(connection->fd);
	free(connection);
}

static void on_timer(struct hwt_timer *timer)
{
	struct connection *connection =
		hwt_timer_object(timer, struct connection, timer);
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
		hwt_timer_init(&connection->timer, hwt, on_timer);
		must(hwt_timer_start(&connection->timer, idle_timeout * MS));
		accepted++;
		open_now++;
	}
	if (open_now > open_most)
		open_most = open_now;
}

/*
 * Answers what came: so many ends of lines, and perhaps the beginning of another line. The
 * time for a line counts from its first bytes, not from the last.
 */
static void on_lines(struct connection *connection, int lines, bool complete)
{
	if (!lines && connection->in_request)
		return;
	must(hwt_timer_start(&connection->timer,
			     (complete ? idle_timeout : request_timeout) * MS));
	connection->in_request = !complete;
	connection->answered = complete;
	requests += lines;
	while (lines--)
		reply(connection, ANSWER);
}

static void on_data(struct connection *connection)
{
	char text[256];
	ssize_t length = recv(connection->fd, text, sizeof(text), 0);
	int i, lines = 0;

	for (i = 0; i < length; i++)
		lines += text[i] == '\n';
	if (length > 0)
		on_lines(connection, lines, text[length - 1] == '\n');
	else if (!length || errno != EAGAIN)
		end_connection(connection,
			       connection->answered ? ANSWERED : GONE);
}

/* Timers come last, so that none ends a connection that is still in @ready. */
static void serve(void)
{
	struct epoll_event ready[256];
	int i, ret, count = hwt_epoll_wait(&timers, ready, 256, -1);

	for (i = 0; i < count; i++)
		if (ready[i].data.ptr == &listener)
			accept_clients();
		else
			on_data(ready[i].data.ptr);
	ret = hwt_epoll_dispatch(&timers);
	if (hwt_dispatch_failed(ret))
		errx(1, "hwt_dispatch: %s", strerror(-ret));
}

/* A timeout may be late by a tenth. Timers of the same tick share a wake-up. */
static void choose_tick(void)
{
	const struct hwtimer_setup setup = {
		.tick = request_timeout * MS / 10,
	};

	must(hwt_setup(hwt, &setup));
}

/*
 * Returns whether the ends of the connections add up. No timer is left but some that were
 * stopped and wait to be used again.
 */
static bool adds_up(void)
{
	struct hwtimer_stats stats;

	must(hwt_flush(hwt));
	must(hwt_stats(hwt, &stats));
	printf("server: all=%lu at_once=%lu answered=%lu timed_out=%lu",
	       accepted, open_most, ends[ANSWERED], ends[TIMED_OUT]);
	printf(" reaped=%lu gone=%lu requests=%lu\n", ends[REAPED], ends[GONE],
	       requests);
	return stats.pending + stats.ready <= 64 &&
	       stats.delivered >= ends[TIMED_OUT] + ends[REAPED];
}

int main(int argc, char **argv)
{
	struct epoll_event event = { EPOLLIN, { .ptr = &listener } };

	take_agreed_options(argc, argv);
	hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
	choose_tick();
	listener = tcp_listen(port, SOCK_NONBLOCK);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	timers.hwt = hwt;
	must(hwt_epoll_add(&timers, epoll));
	while (accepted < connections || open_now)
		serve();
	return !adds_up();
}
