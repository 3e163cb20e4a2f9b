/* SPDX-License-Identifier: MIT */
/*
 * A small server of HTTP, which answers each GET with the same page and closes the
 * connection. It serves a bounded number of clients for a bounded time each, so that a
 * client that does nothing costs nothing else.
 *
 * libevent's own server does not limit the number of clients, gives a client more time with
 * each byte that comes, and tries again at once, for ever, when a client cannot be accepted.
 */
#ifndef HTTP_H
#define HTTP_H

#include <event2/buffer.h>
#include <event2/event.h>

/* Clients at a time; others wait in the kernel. */
#define HTTP_CLIENTS_MAX 32

struct http;

/**
 * http_page - function that writes the page
 * @arg: argument of http_start()
 * @page: where the page goes
 */
typedef void (*http_page)(void *arg, struct evbuffer *page);

struct http *http_start(struct event_base *base, int fd, const char *type,
			http_page page, void *arg);
void http_stop(struct http *http);

#endif /* HTTP_H */
