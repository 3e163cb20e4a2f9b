// SPDX-License-Identifier: MIT
/* hwtimerd serve: the daemon. */
#include "commands.h"
#include "metrics.h"
#include "notify.h"
#include "say.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ms for leaving, after which our life in Redis is left to its end */
#define LEAVE_PATIENCE 500

static void on_signal(evutil_socket_t unused, short what, void *arg)
{
	struct timeval patience = { LEAVE_PATIENCE / 1000,
				    LEAVE_PATIENCE % 1000 * 1000 };
	struct server *server = arg;
	unsigned int i;

	/* At once; the others see our life end by itself. */
	if (server->stopping)
		_exit(0);
	server->stopping = true;
	notify("STOPPING=1");
	event_base_loopexit(server->base, &patience);
	for (i = 0; i < server->nr_shards; i++)
		shard_leave(&server->shards[i]);
}

static void on_watchdog(evutil_socket_t unused, short what, void *arg)
{
	notify("WATCHDOG=1");
}

static void start_watchdog(struct server *server)
{
	uint64_t ms = notify_watchdog_ms();
	struct timeval every = { ms / 1000, ms % 1000 * 1000 };

	if (ms)
		event_add(need(event_new(server->base, -1, EV_PERSIST,
					 on_watchdog, NULL)),
			  &every);
}

static void catch_signal(struct server *server, int number)
{
	event_add(need(evsignal_new(server->base, number, on_signal, server)),
		  NULL);
}

static void join_queues(struct server *server)
{
	const struct options *options = server->options;
	const struct queue_options *config;
	struct shard *shard;
	struct queue *queue;
	unsigned int i, j;

	server->nr_queues = options->nr_queues;
	server->queues = need(calloc(options->nr_queues, sizeof(*queue)));
	for (i = 0; i < options->nr_queues; i++)
		server->nr_shards += options->queues[i].shards;
	shard = need(calloc(server->nr_shards, sizeof(*shard)));
	server->shards = shard;
	for (i = 0; i < options->nr_queues; i++) {
		config = &options->queues[i];
		queue = &server->queues[i];
		queue->name = config->name;
		for (j = 0; j < config->shards; j++)
			shard_init(shard++, server->base, options, queue->name,
				   j, &queue->counters);
	}
}

/* Each shard has two connections. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * libevent's usual clock counts in jiffies, which take up to 10 ms. The timer of the pace
 * would be as late.
 */
static struct event_base *make_base(void)
{
	struct event_config *config = need(event_config_new());
	struct event_base *base;

	event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
	base = need(event_base_new_with_config(config));
	event_config_free(config);
	return base;
}

/* The system frees memory, connections and timers when the process ends. */
int command_serve(const struct options *options)
{
	static struct server server;

	server.options = options;
	if (!options->nr_queues)
		usage("serve: --queue is missing");
	allow_many_files();
	event_set_log_callback(say_of_libevent);
	server.base = make_base();
	alarms_open(server.base);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	catch_signal(&server, SIGTERM);
	catch_signal(&server, SIGINT);
	start_watchdog(&server);
	join_queues(&server);
	if (options->metrics && metrics_start(&server))
		return 1;
	say(LOG_NOTICE, "serving as %s", options->name);
	notify("READY=1");
	event_base_dispatch(server.base);
	if (options->metrics)
		metrics_stop(options);
	return 0;
}
