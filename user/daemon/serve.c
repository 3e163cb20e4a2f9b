// SPDX-License-Identifier: MIT
/* hwtimerd serve: the daemon. */
#include "commands.h"
#include "metrics.h"
#include "notify.h"
#include "queue.h"
#include "say.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ms for leaving, after which leases are left to their end */
#define LEAVE_PATIENCE 3000

/**
 * struct server - the daemon
 * @options: the options
 * @base: the loop
 * @queues: the queues of the options
 * @metrics: the metrics; NULL: none
 * @joined: number of queues that have not been left
 * @stopping: a signal has asked to stop
 * @term: SIGTERM
 * @interrupt: SIGINT
 * @watchdog: timer for systemd
 */
struct server {
	const struct options *options;
	struct event_base *base;
	struct queue *queues;
	struct metrics *metrics;
	unsigned int joined;
	bool stopping;
	struct event *term;
	struct event *interrupt;
	struct event *watchdog;
};

static void on_left(void *arg)
{
	struct server *server = arg;

	if (!--server->joined)
		event_base_loopbreak(server->base);
}

static const struct queue_events queue_events = { on_left };

static void on_signal(evutil_socket_t unused, short what, void *arg)
{
	struct timeval patience = { LEAVE_PATIENCE / 1000,
				    LEAVE_PATIENCE % 1000 * 1000 };
	struct server *server = arg;
	unsigned int i;

	(void)unused;
	(void)what;
	/* At once; Redis sees our leases end by themselves. */
	if (server->stopping)
		_exit(0);
	server->stopping = true;
	notify("STOPPING=1");
	event_base_loopexit(server->base, &patience);
	for (i = 0; i < server->options->nr_queues; i++)
		queue_leave(&server->queues[i]);
}

static void on_watchdog(evutil_socket_t unused, short what, void *arg)
{
	(void)unused;
	(void)what;
	(void)arg;
	notify("WATCHDOG=1");
}

static int start_watchdog(struct server *server)
{
	uint64_t ms = notify_watchdog_ms();
	struct timeval every = { ms / 1000, ms % 1000 * 1000 };

	if (!ms)
		return 0;
	server->watchdog =
		event_new(server->base, -1, EV_PERSIST, on_watchdog, server);
	return server->watchdog ? event_add(server->watchdog, &every) : -1;
}

static int catch_signals(struct server *server)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	server->term = evsignal_new(server->base, SIGTERM, on_signal, server);
	server->interrupt =
		evsignal_new(server->base, SIGINT, on_signal, server);
	if (!server->term || !server->interrupt)
		return -1;
	return event_add(server->term, NULL) ||
	       event_add(server->interrupt, NULL);
}

static int join_queues(struct server *server)
{
	unsigned int i;

	server->queues =
		calloc(server->options->nr_queues, sizeof(*server->queues));
	if (!server->queues)
		return -1;
	server->joined = server->options->nr_queues;
	for (i = 0; i < server->options->nr_queues; i++)
		if (queue_init(&server->queues[i], server->base,
			       server->options, &server->options->queues[i],
			       &queue_events, server))
			return -1;
	return 0;
}

/* Each shard has an instance and two connections. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int start_metrics(struct server *server)
{
	if (!server->options->metrics)
		return 0;
	server->metrics =
		metrics_start(server->base, server->options, server->queues);
	return server->metrics ? 0 : -1;
}

/*
 * libevent's usual clock counts in jiffies, which take up to 10 ms. The timer of the pace
 * would be as late.
 */
static struct event_base *make_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (!config)
		return NULL;
	if (!event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER))
		base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

static int start(struct server *server)
{
	server->base = make_base();
	if (!server->base || catch_signals(server) || start_watchdog(server) ||
	    join_queues(server)) {
		say(LOG_ERR, "no memory");
		return -1;
	}
	return start_metrics(server);
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

static void end(struct server *server)
{
	unsigned int i;

	metrics_stop(server->metrics);
	for (i = 0; server->queues && i < server->options->nr_queues; i++)
		queue_free(&server->queues[i]);
	free(server->queues);
	free_event(server->term);
	free_event(server->interrupt);
	free_event(server->watchdog);
	lookup_end();
	if (server->base)
		event_base_free(server->base);
}

int command_serve(const struct options *options)
{
	struct server server = { .options = options };
	int failed;

	if (!options->nr_queues)
		usage("serve: --queue is missing");
	allow_many_files();
	event_set_log_callback(say_of_libevent);
	if (wheel_check())
		return 1;
	failed = start(&server);
	if (!failed) {
		say(LOG_NOTICE, "serving as %s", options->name);
		notify("READY=1");
		event_base_dispatch(server.base);
	}
	end(&server);
	return !!failed;
}
