// SPDX-License-Identifier: GPL-2.0-only
/*
 * A relay between Redis and its clients that can lose connections as a firewall does:
 * without a word to either end.
 *
 *	usage: relay PORT REDIS-PORT
 *
 * Connections to PORT of this machine go to REDIS-PORT of it. On SIGUSR1, the relay stops
 * forwarding each connection that has sent an XREAD, in both directions, for ever. It keeps
 * such a connection open, and TCP's probes are answered, so only a program that expects an
 * answer can notice. Other connections, and new ones, go on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256

/**
 * struct connection - a client and Redis
 * @ends: the client's socket, and the one to Redis
 * @reads: it has sent an XREAD
 * @lost: nothing is forwarded any more
 */
struct connection {
	int ends[2];
	bool reads;
	bool lost;
};

static struct connection connections[CONNECTIONS_MAX];
static int nr_connections;
/* The signal came; set in ppoll() only: otherwise it is blocked. */
static sig_atomic_t received;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void on_signal(int signal)
{
	received = 1;
}

static struct sockaddr_in local(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	address.sin_port = htons(atoi(port));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

static int listen_at(const char *port)
{
	struct sockaddr_in address = local(port);
	int fd = open_socket();

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 64))
		die(port);
	return fd;
}

static void take_client(int listener, const char *redis)
{
	struct connection *connection = &connections[nr_connections];
	struct sockaddr_in address = local(redis);
	int client = accept(listener, NULL, NULL), server = open_socket();

	if (client < 0)
		die("accept");
	if (nr_connections == CONNECTIONS_MAX ||
	    connect(server, (struct sockaddr *)&address, sizeof(address))) {
		close(client);
		close(server);
		return;
	}
	*connection = (struct connection){ .ends = { client, server } };
	nr_connections++;
}

static void end(struct connection *connection)
{
	close(connection->ends[0]);
	close(connection->ends[1]);
	*connection = connections[--nr_connections];
}

/* Returns whether the other end has got all of it. */
static bool forward(struct connection *connection, int from)
{
	char bytes[65536];
	ssize_t length = read(connection->ends[from], bytes, sizeof(bytes));
	ssize_t done = 0, part;

	if (length <= 0)
		return false;
	if (!from && memmem(bytes, length, "XREAD", 5))
		connection->reads = true;
	for (; done < length; done += part) {
		part = write(connection->ends[!from], bytes + done,
			     length - done);
		if (part <= 0)
			return false;
	}
	return true;
}

/* Prints the number of connections, so that a test knows that it is done. */
static void lose_connections(void)
{
	int i, count = 0;

	for (i = 0; i < nr_connections; i++) {
		connections[i].lost |= connections[i].reads;
		count += connections[i].lost;
	}
	printf("%d lost\n", count);
	fflush(stdout);
}

/* poll() ignores negative descriptors. */
static void watch(struct pollfd *polls, const struct connection *connection)
{
	int i;

	for (i = 0; i < 2; i++)
		polls[i] = (struct pollfd){
			connection->lost ? -1 : connection->ends[i], POLLIN, 0
		};
}

static void serve(int listener, const char *redis, const sigset_t *mask)
{
	static struct pollfd polls[1 + 2 * CONNECTIONS_MAX];
	int i;

	polls[0] = (struct pollfd){ listener, POLLIN, 0 };
	for (i = 0; i < nr_connections; i++)
		watch(&polls[1 + 2 * i], &connections[i]);
	if (ppoll(polls, 1 + 2 * nr_connections, NULL, mask) < 0 &&
	    errno != EINTR)
		die("ppoll");
	if (received) {
		lose_connections();
		received = 0;
		return;
	}
	/* From the last one: end() fills a gap with that. */
	for (i = nr_connections - 1; i >= 0; i--)
		if ((polls[1 + 2 * i].revents &&
		     !forward(&connections[i], 0)) ||
		    (polls[2 + 2 * i].revents && !forward(&connections[i], 1)))
			end(&connections[i]);
	if (polls[0].revents)
		take_client(listener, redis);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t mask, before;
	int listener;

	if (argc != 3) {
		fprintf(stderr, "usage: relay PORT REDIS-PORT\n");
		return 2;
	}
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, &before);
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	listener = listen_at(argv[1]);
	for (;;)
		serve(listener, argv[2], &before);
}
