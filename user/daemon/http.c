// SPDX-License-Identifier: MIT
/* Serves a page over HTTP; see http.h. */
#include "http.h"
#include "say.h"
#include "timer.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ms from a client's connection to its end */
#define CLIENT_TIME 2000

/* ms without new clients after one could not be accepted */
#define ACCEPT_PAUSE 1000

#define REQUEST_MAX 16384

struct client;

/**
 * struct http - a server
 * @base: the loop
 * @fd: socket that listens, ours to close
 * @ready: a client may be accepted; not in the loop while there are too many
 * @pause: timer after which clients are accepted again
 * @clients: all clients
 * @nr_clients: their number
 * @type: the page's type
 * @page: function that writes it
 * @arg: its argument
 */
struct http {
	struct event_base *base;
	int fd;
	struct event *ready;
	struct event *pause;
	struct client *clients;
	unsigned int nr_clients;
	const char *type;
	http_page page;
	void *arg;
};

/**
 * struct client - a connection
 * @http: the server
 * @stream: the connection
 * @end: timer for its end
 * @answered: the answer is on its way
 * @next: next one of the server's clients
 * @link: what points to this one
 */
struct client {
	struct http *http;
	struct bufferevent *stream;
	struct event *end;
	bool answered;
	struct client *next;
	struct client **link;
};

static void accept_again(struct http *http)
{
	if (http->nr_clients < HTTP_CLIENTS_MAX && event_add(http->ready, NULL))
		timer_set(http->pause, ACCEPT_PAUSE);
}

static void on_pause_over(evutil_socket_t unused, short what, void *arg)
{
	(void)unused;
	(void)what;
	accept_again(arg);
}

/* ---- a client ---- */

static void free_client(struct client *client)
{
	if (client->stream)
		bufferevent_free(client->stream);
	if (client->end)
		event_free(client->end);
	free(client);
}

static void end_client(struct client *client)
{
	struct http *http = client->http;

	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	http->nr_clients--;
	free_client(client);
	accept_again(http);
}

static void on_time_over(evutil_socket_t unused, short what, void *arg)
{
	(void)unused;
	(void)what;
	end_client(arg);
}

/* A client that has sent all may say so, and still wants its answer. */
static void on_end(struct bufferevent *unused, short what, void *arg)
{
	struct client *client = arg;

	(void)unused;
	if (!client->answered || !(what & BEV_EVENT_EOF))
		end_client(client);
}

static void on_written(struct bufferevent *unused, void *arg)
{
	struct client *client = arg;

	(void)unused;
	if (client->answered)
		end_client(client);
}

static void send_answer(struct client *client, const char *status,
			struct evbuffer *page, bool with_page)
{
	struct evbuffer *output = bufferevent_get_output(client->stream);

	evbuffer_add_printf(output,
			    "HTTP/1.1 %s\r\n"
			    "Content-Type: %s\r\n"
			    "Content-Length: %zu\r\n"
			    "Connection: close\r\n"
			    "\r\n",
			    status, client->http->type,
			    evbuffer_get_length(page));
	if (with_page)
		evbuffer_add_buffer(output, page);
	client->answered = true;
}

static bool begins_with(struct evbuffer *request, const char *method)
{
	char begin[8] = "";

	evbuffer_copyout(request, begin, sizeof(begin) - 1);
	return !strncmp(begin, method, strlen(method));
}

static void answer(struct client *client, struct evbuffer *request)
{
	bool head = begins_with(request, "HEAD ");
	struct evbuffer *page = evbuffer_new();

	if (!page) {
		end_client(client);
		return;
	}
	if (head || begins_with(request, "GET ")) {
		client->http->page(client->http->arg, page);
		send_answer(client, "200 OK", page, !head);
	} else {
		send_answer(client, "405 Method Not Allowed", page, false);
	}
	evbuffer_free(page);
}

static void on_request(struct bufferevent *stream, void *arg)
{
	struct evbuffer *input = bufferevent_get_input(stream);
	struct client *client = arg;

	if (client->answered)
		return;
	if (evbuffer_search(input, "\r\n\r\n", 4, NULL).pos >= 0)
		answer(client, input);
	else if (evbuffer_get_length(input) > REQUEST_MAX)
		end_client(client);
}

static void insert_client(struct http *http, struct client *client)
{
	client->next = http->clients;
	client->link = &http->clients;
	if (client->next)
		client->next->link = &client->next;
	http->clients = client;
	if (++http->nr_clients == HTTP_CLIENTS_MAX)
		event_del(http->ready);
}

static void begin_client(struct http *http, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		close(fd);
		return;
	}
	client->http = http;
	client->end = evtimer_new(http->base, on_time_over, client);
	client->stream =
		bufferevent_socket_new(http->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!client->stream)
		close(fd);
	if (!client->stream || !client->end) {
		free_client(client);
		return;
	}
	insert_client(http, client);
	timer_set(client->end, CLIENT_TIME);
	bufferevent_setwatermark(client->stream, EV_READ, 0, REQUEST_MAX + 1);
	bufferevent_setcb(client->stream, on_request, on_written, on_end,
			  client);
	bufferevent_enable(client->stream, EV_READ | EV_WRITE);
}

/* ---- the server ---- */

/* A client that cannot be accepted stays, and so would the event. */
static void on_ready(evutil_socket_t listener, short what, void *arg)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct http *http = arg;

	(void)what;
	if (fd >= 0) {
		begin_client(http, fd);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	say(LOG_WARNING, "--metrics: no client can be accepted: %s",
	    strerror(errno));
	event_del(http->ready);
	timer_set(http->pause, ACCEPT_PAUSE);
}

/**
 * http_start - serve a page
 * @base: the loop
 * @fd: socket that listens and does not block; http_stop() closes it
 * @type: the page's Content-Type
 * @page: function that writes the page
 * @arg: its argument
 *
 * Return: the server; NULL: no memory, and @fd is closed.
 */
struct http *http_start(struct event_base *base, int fd, const char *type,
			http_page page, void *arg)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http) {
		close(fd);
		return NULL;
	}
	*http = (struct http){
		.base = base,
		.fd = fd,
		.type = type,
		.page = page,
		.arg = arg,
	};
	http->pause = evtimer_new(base, on_pause_over, http);
	http->ready = event_new(base, fd, EV_READ | EV_PERSIST, on_ready, http);
	if (http->pause && http->ready && !event_add(http->ready, NULL))
		return http;
	http_stop(http);
	return NULL;
}

/* Ends all connections. */
void http_stop(struct http *http)
{
	struct client *client, *next;

	for (client = http->clients; client; client = next) {
		next = client->next;
		free_client(client);
	}
	if (http->ready)
		event_free(http->ready);
	if (http->pause)
		event_free(http->pause);
	close(http->fd);
	free(http);
}
