// SPDX-License-Identifier: MIT
/*
 * The clients of timeouts-server, 10,000 of them, of which some behave and some do
 * not. All are connected before the first sends anything.
 *
 * It fails if the server cut one off before its time, or answered one who had not
 * asked. Its options are the server's: timeouts.h.
 */
#include <sys/epoll.h>

#include "timeouts.h"

/*
 * Of ten clients, how each behaves: in one piece, in two pieces, the second piece
 * just when time is up, only one piece, nothing, and stay after the answer.
 */
enum manner { WHOLE, HALVES, LATE, HALF, IDLE, STAY };

static const enum manner manners[10] = { WHOLE, WHOLE, WHOLE, WHOLE, WHOLE,
					 HALVES, LATE, HALF, IDLE, STAY };

/* RESET: cut off while it was sending, so that the server's last words are lost */
enum end { ANSWERED, TIMED_OUT, REAPED, RESET, NR_ENDS };

struct client {
	int fd;
	uint64_t began;
	size_t length;
	char heard[64];
};

static struct client *clients;
static unsigned long ended, ends[NR_ENDS], wrong;

static enum manner manner_of(const struct client *client)
{
	return manners[(client - clients) % 10];
}

static void say(struct client *client, const char *text)
{
	send(client->fd, text, strlen(text), MSG_NOSIGNAL);
}

static void connect_all(int epoll)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct client *client;

	for (client = clients; client < clients + connections; client++) {
		client->began = now_ns(CLOCK_MONOTONIC);
		client->fd = tcp_connect(port);
		if (client->fd < 0)
			err(1, "connect to port %lu", port);
		event.data.ptr = client;
		epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
	}
}

static void begin_all(void)
{
	struct client *client;

	for (client = clients; client < clients + connections; client++) {
		enum manner manner = manner_of(client);

		if (manner == IDLE)
			continue;
		client->began = now_ns(CLOCK_MONOTONIC);
		say(client, manner == WHOLE || manner == STAY ? "what?\n" :
								 "wha");
		if (manner == HALVES)
			say(client, "t?\n");
	}
}

static bool is_early(const struct client *client, enum end end)
{
	uint64_t waited = now_ns(CLOCK_MONOTONIC) - client->began;

	return (end == TIMED_OUT && waited < request_timeout * MS) ||
	       (end == REAPED && waited < idle_timeout * MS);
}

static enum end end_of(const char *heard)
{
	if (strstr(heard, REQUEST_TIMEOUT))
		return TIMED_OUT;
	return strstr(heard, IDLE_TIMEOUT) ? REAPED : ANSWERED;
}

static void on_end(struct client *client, bool reset)
{
	enum manner manner = manner_of(client);
	enum end end = reset ? RESET : end_of(client->heard);

	wrong += is_early(client, end) ||
		 (end == ANSWERED && strcmp(client->heard, ANSWER)) ||
		 (manner == HALF && end == ANSWERED) ||
		 (manner == IDLE && end != REAPED);
	ends[end]++;
	ended++;
	close(client->fd);
	client->fd = -1;
}

/* Leaves by the half: so it hears of it if the server has cut it off before that. */
static void on_words(struct client *client)
{
	ssize_t length = recv(client->fd, client->heard + client->length,
			      sizeof(client->heard) - client->length - 1, 0);

	if (length <= 0) {
		on_end(client, length < 0);
		return;
	}
	client->length += length;
	if (!strcmp(client->heard, ANSWER) && manner_of(client) != STAY)
		shutdown(client->fd, SHUT_WR);
}

/* Those who are late, from @client on, send the rest. Returns who is the next. */
static struct client *late_ones(struct client *client)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	for (; client < clients + connections; client++) {
		if (manner_of(client) != LATE)
			continue;
		if (client->began + request_timeout * MS > now)
			break;
		if (client->fd >= 0)
			say(client, "t?\n");
	}
	return client;
}

int main(int argc, char **argv)
{
	struct epoll_event ready[256];
	struct client *late;
	int epoll, i, count;

	take_agreed_options(argc, argv);
	clients = calloc(connections, sizeof(*clients));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!clients || epoll < 0)
		err(1, "%lu clients", connections);
	connect_all(epoll);
	begin_all();
	for (late = clients; ended < connections; late = late_ones(late)) {
		count = epoll_wait(epoll, ready, 256, 1);
		for (i = 0; i < count; i++)
			on_words(ready[i].data.ptr);
	}
	printf("clients: %lu connections: %lu answered, %lu timed out, %lu reaped, %lu reset; %lu wrong\n",
	       connections, ends[ANSWERED], ends[TIMED_OUT], ends[REAPED],
	       ends[RESET], wrong);
	return wrong > 0;
}
