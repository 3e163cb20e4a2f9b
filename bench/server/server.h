/* SPDX-License-Identifier: GPL-2.0 */
/* The server of server.c, and the systems that give it timers: systems.c */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "libhwtimer.h"

/**
 * struct connection - a connection and its timeout
 * @event: libevent's event for what can be read
 * @deadline: when the timeout is due, by the time of the last push
 * @timeout: libevent's timer
 * @timer: hwtimer's timer
 * @fd: of the connection
 * @timerfd: its timerfd
 */
struct connection {
	struct event *event;
	uint64_t deadline;
	struct event *timeout;
	struct hwt_timer timer;
	int fd;
	int timerfd;
};

/**
 * struct system - what the timeouts are made of
 * @name: the name
 * @now: returns the time from which a push would count, ns; NULL: it cannot be told
 * @has_worker: threads of hwtimer work for it
 * @begin: NULL, or prepare for connections of @timeout ns; returns false if it is not here
 * @add: make and start the timer of a connection
 * @settle: NULL, or what remains to be done after all have been added
 * @push: start the timer anew
 * @remove: free the timer
 * @end: NULL, or undo @begin
 */
struct system {
	const char *name;
	uint64_t (*now)(void);
	bool has_worker;
	bool (*begin)(struct event_base *base, uint64_t timeout);
	void (*add)(struct connection *connection);
	void (*settle)(void);
	void (*push)(struct connection *connection);
	void (*remove)(struct connection *connection);
	void (*end)(void);
};

extern const struct system systems[];

/* Called by a system when the timer of @connection has expired, to be started anew. */
void on_timeout(struct connection *connection);

#endif /* BENCH_SERVER_H */
