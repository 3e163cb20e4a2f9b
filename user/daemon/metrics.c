// SPDX-License-Identifier: MIT
/* Shows counters; see metrics.h. */
#include "metrics.h"
#include "say.h"
#include "unix.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTENT_TYPE \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Seconds for a client that says nothing, and bytes of what it says */
#define CLIENT_PATIENCE 2
#define CLIENT_BYTES 8192

/* ms without new clients, after one could not be accepted */
#define ACCEPT_PAUSE 500

static void add_type(struct evbuffer *page, const char *name, const char *type,
		     const char *help)
{
	evbuffer_add_printf(page,
			    "# TYPE hwtimerd_%s %s\n# HELP hwtimerd_%s %s\n",
			    name, type, name, help);
}

/* Adds a value with the label "queue", and perhaps another one. */
static void add_value(struct evbuffer *page, const char *name,
		      const struct queue *queue, const char *label,
		      double value)
{
	evbuffer_add_printf(page, "hwtimerd_%s{queue=\"%s\"%s} %.15g\n", name,
			    queue->name, label, value);
}

/* ---- numbers of a queue ---- */

static const struct family {
	const char *name;
	const char *type;
	size_t offset;
	const char *help;
} families[] = {
	{ "shards_served", "gauge", offsetof(struct counters, served),
	  "Shards that this daemon serves." },
	{ "timers_pending", "gauge", offsetof(struct counters, pending),
	  "Timers of served shards, at the last scrape." },
	{ "due_entries", "gauge", offsetof(struct counters, due),
	  "Entries of the streams due of served shards, at the last scrape." },
	{ "redis_evicts", "gauge", offsetof(struct counters, evicts),
	  "Whether Redis may evict timers when it is full." },
	{ "fired", "counter", offsetof(struct counters, fired),
	  "Timers moved to the stream due." },
	{ "trimmed", "counter", offsetof(struct counters, trimmed),
	  "Entries removed from due after all groups had acknowledged them." },
	{ "reconnects", "counter", offsetof(struct counters, reconnects),
	  "Connections to Redis that failed." },
	{ "flushes", "counter", offsetof(struct counters, flushes),
	  "Times that the keys of a shard were gone." },
};

/* Sums up what the shards have. */
static void add_up(const struct server *server)
{
	const struct shard *shard = server->shards;
	struct counters *sums;
	unsigned int i;

	for (i = 0; i < server->nr_queues; i++) {
		sums = &server->queues[i].counters;
		sums->served = 0;
		sums->pending = 0;
		sums->due = 0;
		sums->evicts = 0;
	}
	for (; shard < server->shards + server->nr_shards; shard++) {
		sums = shard->counters;
		sums->evicts |= shard->evicts;
		if (!shard->is_ours)
			continue;
		sums->served++;
		sums->pending += shard->survey.pending;
		sums->due += shard->survey.due;
	}
}

static void add_family(struct evbuffer *page, const struct server *server,
		       const struct family *family)
{
	const struct queue *queue;
	char name[64];
	unsigned int i;

	add_type(page, family->name, family->type, family->help);
	snprintf(name, sizeof(name), "%s%s", family->name,
		 strcmp(family->type, "counter") ? "" : "_total");
	for (i = 0; i < server->nr_queues; i++) {
		queue = &server->queues[i];
		add_value(page, name, queue, "",
			  *(const uint64_t *)((const char *)&queue->counters +
					      family->offset));
	}
}

/* ---- commands, lateness ---- */

static void add_commands(struct evbuffer *page, const struct server *server)
{
	static const char *const names[NR_COMMANDS] = {
		[COMMAND_CONNECT] = "connect", [COMMAND_FIRE] = "fire",
		[COMMAND_LISTEN] = "listen",   [COMMAND_LEAVE] = "leave",
		[COMMAND_METRICS] = "metrics",
	};
	unsigned int i, kind;
	char label[64];

	add_type(page, "commands", "counter", "Commands sent to Redis.");
	for (i = 0; i < server->nr_queues; i++) {
		for (kind = 0; kind < NR_COMMANDS; kind++) {
			snprintf(label, sizeof(label), ",command=\"%s\"",
				 names[kind]);
			add_value(page, "commands_total", &server->queues[i],
				  label,
				  server->queues[i].counters.commands[kind]);
		}
	}
}

static void add_histogram(struct evbuffer *page, const struct queue *queue)
{
	const struct counters *counters = &queue->counters;
	uint64_t sum = 0;
	char label[64];
	unsigned int i;

	for (i = 0; i < LATENESS_BUCKETS - 1; i++) {
		sum += counters->lateness[i];
		snprintf(label, sizeof(label), ",le=\"%g\"",
			 (double)(1 << i) / 1000);
		add_value(page, "lateness_seconds_bucket", queue, label, sum);
	}
	sum += counters->lateness[i];
	add_value(page, "lateness_seconds_bucket", queue, ",le=\"+Inf\"", sum);
	add_value(page, "lateness_seconds_count", queue, "", sum);
	add_value(page, "lateness_seconds_sum", queue, "",
		  (double)counters->lateness_sum / 1000);
}

static void add_lateness(struct evbuffer *page, const struct server *server)
{
	unsigned int i;

	add_type(page, "lateness_seconds", "histogram",
		 "Redis's time when a timer was fired, minus its deadline.");
	for (i = 0; i < server->nr_queues; i++)
		add_histogram(page, &server->queues[i]);
}

/* ---- consumers ---- */

static const struct group_family {
	const char *name;
	size_t offset;
	double unit;
	const char *help;
} group_families[] = {
	{ "group_unread_seconds", offsetof(struct survey_group, unread), 1000,
	  "Age of the first entry of due that a group has not read, at the last scrape." },
	{ "group_lag", offsetof(struct survey_group, lag), 1,
	  "Entries of due not read by a group, where Redis knows, at the last scrape." },
	{ "group_pending", offsetof(struct survey_group, pending), 1,
	  "Entries of due not acknowledged, at the last scrape." },
};

/* A negative value is one that Redis does not know. */
static void add_shard(struct evbuffer *page, const struct shard *shard,
		      const struct group_family *family)
{
	const char *format = "hwtimerd_%s{shard=\"%s\",group=\"%s\"} %.15g\n";
	const struct survey_group *group = shard->survey.groups;
	unsigned int i;
	int64_t value;

	for (i = 0; shard->is_ours && i < shard->survey.nr_groups;
	     i++, group++) {
		value = *(const int64_t *)((const char *)group +
					   family->offset);
		if (value >= 0)
			evbuffer_add_printf(page, format, family->name,
					    shard->key, group->name,
					    value / family->unit);
	}
}

static void add_consumers(struct evbuffer *page, const struct server *server,
			  const struct group_family *family)
{
	unsigned int i;

	add_type(page, family->name, "gauge", family->help);
	for (i = 0; i < server->nr_shards; i++)
		add_shard(page, &server->shards[i], family);
}

/* ---- the server ---- */

static void add_all(struct evbuffer *page, const struct server *server)
{
	unsigned int i;

	add_up(server);
	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		add_family(page, server, &families[i]);
	add_commands(page, server);
	add_lateness(page, server);
	for (i = 0; i < sizeof(group_families) / sizeof(group_families[0]); i++)
		add_consumers(page, server, &group_families[i]);
	add_type(page, "kernel_timers", "gauge",
		 "Whether /dev/hwtimer is used.");
	evbuffer_add_printf(page, "hwtimerd_kernel_timers %d\n# EOF\n",
			    alarms_in_kernel());
}

static void on_request(struct evhttp_request *request, void *arg)
{
	struct evbuffer *page = need(evbuffer_new());
	struct server *server = arg;
	unsigned int i;

	add_all(page, server);
	evhttp_add_header(evhttp_request_get_output_headers(request),
			  "Content-Type", CONTENT_TYPE);
	evhttp_send_reply(request, HTTP_OK, "OK", page);
	evbuffer_free(page);
	for (i = 0; i < server->nr_shards; i++)
		shard_survey(&server->shards[i]);
}

static void on_resume(evutil_socket_t unused, short what, void *listener)
{
	evconnlistener_enable(listener);
}

/* Mostly too many open files. The listener would be called again at once. */
static void on_accept_error(struct evconnlistener *listener, void *unused)
{
	const struct timeval pause = { 0, ACCEPT_PAUSE * 1000 };

	say(LOG_WARNING, "--metrics: %s",
	    evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
	evconnlistener_disable(listener);
	event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT,
			on_resume, listener, &pause);
}

/* The socket of a daemon that died is in the way; one that answers stays. */
static void remove_dead_socket(const char *path)
{
	struct sockaddr_un address;
	struct stat found;
	int fd;

	if (lstat(path, &found) || !S_ISSOCK(found.st_mode))
		return;
	fd = unix_socket(&address, path, SOCK_STREAM);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    errno == ECONNREFUSED)
		unlink(path);
	close(fd);
}

static int open_path(const char *path)
{
	struct sockaddr_un address;
	int fd;

	remove_dead_socket(path);
	fd = unix_socket(&address, path, SOCK_STREAM | SOCK_NONBLOCK);
	if (fd < 0 ||
	    (!bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
	     !chmod(path, 0660) && !listen(fd, 16)))
		return fd;
	return -1;
}

static struct evhttp_bound_socket *bind_http(struct evhttp *http,
					     const char *where)
{
	struct address at;
	int fd;

	if (!strchr(where, '/')) {
		if (strchr(where, ':') &&
		    address_parse(&at, where, strlen(where)))
			return evhttp_bind_socket_with_handle(http, at.host,
							      at.port);
		errno = EINVAL;
		return NULL;
	}
	fd = open_path(where);
	return fd < 0 ? NULL : evhttp_accept_socket_with_handle(http, fd);
}

/* Serves metrics at the place of the options. Returns 0; -1 after a message. */
int metrics_start(struct server *server)
{
	const char *where = server->options->metrics;
	struct evhttp *http = need(evhttp_new(server->base));
	struct evhttp_bound_socket *bound = bind_http(http, where);

	if (!bound) {
		say(LOG_ERR, "--metrics %s: %s", where, strerror(errno));
		return -1;
	}
	evhttp_set_timeout(http, CLIENT_PATIENCE);
	evhttp_set_max_headers_size(http, CLIENT_BYTES);
	evhttp_set_max_body_size(http, CLIENT_BYTES);
	evhttp_set_gencb(http, on_request, server);
	evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(bound),
				    on_accept_error);
	return 0;
}

/* Removes the socket. */
void metrics_stop(const struct options *options)
{
	if (strchr(options->metrics, '/'))
		unlink(options->metrics);
}
