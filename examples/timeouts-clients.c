// SPDX-License-Identifier: MIT
/*
 * Runs 10,000 clients of uring-server, some of which misbehave. All connect before
 * the first one sends anything.
 *
 * The program fails if a client is cut off too early, or answered without a request.
 */
#include <sys/epoll.h>
#include "timeouts.h"

/*
 * Sends a line whole; in two halves; the second half late; only one half; nothing; or
 * whole, and stays connected
 */
enum manner { WHOLE, HALVES, LATE, HALF, IDLE, STAY };

static const enum manner manners[10] = { WHOLE,	 WHOLE, WHOLE, WHOLE, WHOLE,
					 HALVES, LATE,	HALF,  IDLE,  STAY };

/* RESET: cut off while it was sending, so that the server's last reply is lost */
enum end { ANSWERED, TIMED_OUT, REAPED, RESET, NR_ENDS };

struct client {
	int fd, manner;
	uint64_t idle_since, asked;
	char heard[64];
};

static struct client *clients;
static unsigned long ended, ends[NR_ENDS], wrong;

static void say(struct client *client, const char *text)
{
	send(client->fd, text, strlen(text), MSG_NOSIGNAL);
}

static void connect_all(int epoll)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct client *client;

	for (client = clients; client < clients + connections; client++) {
		client->manner = manners[(client - clients) % 10];
		client->idle_since = now_ns(CLOCK_MONOTONIC);
		client->fd = tcp_connect_to(port, "uring-server");
		event.data.ptr = client;
		epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
	}
}

static void begin_all(void)
{
	struct client *client;

	for (client = clients; client < clients + connections; client++) {
		bool whole = client->manner == WHOLE || client->manner == STAY;

		if (client->manner == IDLE)
			continue;
		client->asked = now_ns(CLOCK_MONOTONIC);
		say(client, whole ? "what?\n" : "wha");
		if (client->manner == HALVES)
			say(client, "t?\n");
	}
}

static bool is_early(const struct client *client, enum end end)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (end == TIMED_OUT)
		return now - client->asked < request_timeout * MS;
	return end == REAPED && now - client->idle_since < idle_timeout * MS;
}

static enum end end_of(const char *heard)
{
	if (strstr(heard, REQUEST_TIMEOUT))
		return TIMED_OUT;
	return strstr(heard, IDLE_TIMEOUT) ? REAPED : ANSWERED;
}

static void on_end(struct client *client, bool reset)
{
	enum end end = reset ? RESET : end_of(client->heard);

	wrong += is_early(client, end) ||
		 (end == ANSWERED && strcmp(client->heard, ANSWER)) ||
		 (client->manner == HALF && end == ANSWERED) ||
		 (client->manner == IDLE && end != REAPED);
	ends[end]++;
	ended++;
	close(client->fd);
}

/* An answered client shuts down only its sending side: a last reply may still come. */
static void on_words(struct client *client)
{
	char *end = client->heard + strlen(client->heard);
	ssize_t length = recv(client->fd, end, client->heard + 63 - end, 0);

	if (length <= 0) {
		on_end(client, length < 0);
		return;
	}
	if (strcmp(client->heard, ANSWER))
		return;
	client->idle_since = client->asked;
	if (client->manner != STAY)
		shutdown(client->fd, SHUT_WR);
}

/* Lets late clients from @client on send the rest; returns the next to wait for. */
static struct client *late_ones(struct client *client)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	for (; client < clients + connections; client++) {
		if (client->manner != LATE)
			continue;
		if (client->asked + request_timeout * MS > now)
			break;
		say(client, "t?\n"); /* fails if it has been cut off */
	}
	return client;
}

int main(int argc, char **argv)
{
	struct epoll_event ready[256];
	struct client *late;
	int epoll, count;

	take_agreed_options(argc, argv);
	clients = allocate(connections, sizeof(*clients));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	connect_all(epoll);
	begin_all();
	for (late = clients; ended < connections; late = late_ones(late)) {
		count = epoll_wait(epoll, ready, 256,
				   late < clients + connections ? 1 : -1);
		while (count-- > 0)
			on_words(ready[count].data.ptr);
	}
	printf("clients: all=%lu answered=%lu timed_out=%lu reaped=%lu reset=%lu wrong=%lu\n",
	       connections, ends[ANSWERED], ends[TIMED_OUT], ends[REAPED],
	       ends[RESET], wrong);
	return wrong > 0;
}
