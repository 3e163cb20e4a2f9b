// SPDX-License-Identifier: MIT
/* Shows counters; see metrics.h. */
#include "metrics.h"
#include "http.h"
#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONTENT_TYPE \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

/**
 * struct metrics - the server of the metrics
 * @http: the part that talks with clients
 * @options: the options
 * @queues: the queues
 */
struct metrics {
	struct http *http;
	const struct options *options;
	struct queue *queues;
};

/* What a metric shows of a queue */
typedef double (*queue_value)(const struct queue *queue);

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
		      uint64_t value)
{
	evbuffer_add_printf(page, "hwtimerd_%s{queue=\"%s\"%s} %" PRIu64 "\n",
			    name, queue->config->name, label, value);
}

static void add_fraction(struct evbuffer *page, const char *name,
			 const struct queue *queue, double value)
{
	evbuffer_add_printf(page, "hwtimerd_%s{queue=\"%s\"} %.15g\n", name,
			    queue->config->name, value);
}

/* ---- counters ---- */

static const struct counter {
	const char *name;
	size_t offset;
	const char *help;
} plain[] = {
	{ "fired", offsetof(struct counters, fired),
	  "Timers moved to the stream due." },
	{ "trimmed", offsetof(struct counters, trimmed),
	  "Entries removed from due after all groups had acknowledged them." },
	{ "gone", offsetof(struct counters, gone),
	  "Timers that were cancelled or fired elsewhere before we fired them." },
	{ "early", offsetof(struct counters, early),
	  "Timers that had been moved to a later time when they expired here." },
	{ "loaded", offsetof(struct counters, loaded),
	  "Timers taken from Redis into the kernel." },
	{ "refused", offsetof(struct counters, refused),
	  "Times that the kernel or the memory had no room for timers." },
	{ "resets", offsetof(struct counters, resets),
	  "Times that all slots of a shard had to be read anew." },
	{ "reconnects", offsetof(struct counters, reconnects),
	  "Connections to Redis that failed." },
	{ "clock_jumps", offsetof(struct counters, clock_jumps),
	  "Jumps of our clock or Redis's." },
	{ "leases_lost", offsetof(struct counters, leases_lost),
	  "Shards lost because the lease was not renewed in time." },
};

static void add_counter(struct evbuffer *page, const struct metrics *metrics,
			const struct counter *counter)
{
	const struct queue *queue;
	const uint64_t *value;
	char name[64];
	unsigned int i;

	add_type(page, counter->name, "counter", counter->help);
	snprintf(name, sizeof(name), "%s_total", counter->name);
	for (i = 0; i < metrics->options->nr_queues; i++) {
		queue = &metrics->queues[i];
		value = (const void *)((const char *)&queue->counters +
				       counter->offset);
		add_value(page, name, queue, "", *value);
	}
}

static void add_commands(struct evbuffer *page, const struct metrics *metrics)
{
	const struct queue *queue;
	unsigned int i, kind;
	char label[64];

	add_type(page, "commands", "counter", "Commands sent to Redis.");
	for (i = 0; i < metrics->options->nr_queues; i++) {
		queue = &metrics->queues[i];
		for (kind = 0; kind < NR_COMMANDS; kind++) {
			snprintf(label, sizeof(label), ",command=\"%s\"",
				 command_names[kind]);
			add_value(page, "commands_total", queue, label,
				  queue->counters.commands[kind]);
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
	add_fraction(page, "lateness_seconds_sum", queue,
		     (double)counters->lateness_sum / 1000);
}

static void add_lateness(struct evbuffer *page, const struct metrics *metrics)
{
	unsigned int i;

	add_type(page, "lateness_seconds", "histogram",
		 "Redis's time when a timer was fired, minus its deadline.");
	for (i = 0; i < metrics->options->nr_queues; i++)
		add_histogram(page, &metrics->queues[i]);
}

/* ---- sums over shards ---- */

static double shards_served(const struct queue *queue)
{
	unsigned int i, sum = 0;

	for (i = 0; i < queue->config->shards; i++)
		sum += queue->shards[i].state == SHARD_SERVING;
	return sum;
}

static double timers_in_kernel(const struct queue *queue)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < queue->config->shards; i++)
		sum += queue->shards[i].wheel.table.count;
	return sum;
}

static double timers_pending(const struct queue *queue)
{
	unsigned int i;
	double sum = 0;

	for (i = 0; i < queue->config->shards; i++)
		sum += queue->shards[i].survey.pending;
	return sum;
}

static double entries_due(const struct queue *queue)
{
	unsigned int i;
	double sum = 0;

	for (i = 0; i < queue->config->shards; i++)
		sum += queue->shards[i].survey.due;
	return sum;
}

/* The largest offset of all shards, with its sign */
static double clock_offset(const struct queue *queue)
{
	int64_t most = 0, offset;
	unsigned int i;

	for (i = 0; i < queue->config->shards; i++) {
		offset = queue->shards[i].clock.best.offset;
		if (queue->shards[i].clock.count && llabs(offset) > llabs(most))
			most = offset;
	}
	return (double)most / 1e9;
}

static const struct gauge {
	const char *name;
	queue_value value;
	const char *help;
} gauges[] = {
	{ "shards_served", shards_served, "Shards that this daemon serves." },
	{ "timers_in_kernel", timers_in_kernel,
	  "Timers of served shards that are due soon." },
	{ "timers_pending", timers_pending,
	  "Timers of served shards in Redis, at the last scrape." },
	{ "due_entries", entries_due,
	  "Entries of the streams due of served shards, at the last scrape." },
	{ "clock_offset_seconds", clock_offset,
	  "Our clock minus that of the Redis that differs most." },
};

static void add_gauge(struct evbuffer *page, const struct metrics *metrics,
		      const struct gauge *gauge)
{
	const struct queue *queue;
	unsigned int i;

	add_type(page, gauge->name, "gauge", gauge->help);
	for (i = 0; i < metrics->options->nr_queues; i++) {
		queue = &metrics->queues[i];
		add_fraction(page, gauge->name, queue, gauge->value(queue));
	}
}

/* ---- consumers ---- */

/* A negative value is one that Redis does not know. */
static void add_group(struct evbuffer *page, const char *name,
		      const struct shard *shard,
		      const struct survey_group *group, int64_t value)
{
	const char *format = "hwtimerd_%s{shard=\"%s\",group=\"%s\"} %lld\n";

	if (value >= 0)
		evbuffer_add_printf(page, format, name, shard->key, group->name,
				    (long long)value);
}

static void add_lags(struct evbuffer *page, const struct shard *shard)
{
	const struct survey *survey = &shard->survey;
	unsigned int i;

	for (i = 0; i < survey->nr_groups; i++)
		add_group(page, "group_lag", shard, &survey->groups[i],
			  survey->groups[i].lag);
}

static void add_unacknowledged(struct evbuffer *page, const struct shard *shard)
{
	const struct survey *survey = &shard->survey;
	unsigned int i;

	for (i = 0; i < survey->nr_groups; i++)
		add_group(page, "group_pending", shard, &survey->groups[i],
			  survey->groups[i].pending);
}

static void add_of_shards(struct evbuffer *page, const struct metrics *metrics,
			  void (*add)(struct evbuffer *page,
				      const struct shard *shard))
{
	const struct queue *queue;
	unsigned int i, j;

	for (i = 0; i < metrics->options->nr_queues; i++) {
		queue = &metrics->queues[i];
		for (j = 0; j < queue->config->shards; j++)
			add(page, &queue->shards[j]);
	}
}

static void add_consumers(struct evbuffer *page, const struct metrics *metrics)
{
	add_type(page, "group_lag", "gauge",
		 "Entries of due not read by a group, at the last scrape.");
	add_of_shards(page, metrics, add_lags);
	add_type(page, "group_pending", "gauge",
		 "Entries of due not acknowledged, at the last scrape.");
	add_of_shards(page, metrics, add_unacknowledged);
}

/* ---- the server ---- */

static void add_all(struct evbuffer *page, const struct metrics *metrics)
{
	unsigned int i;

	for (i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		add_gauge(page, metrics, &gauges[i]);
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		add_counter(page, metrics, &plain[i]);
	add_commands(page, metrics);
	add_lateness(page, metrics);
	add_consumers(page, metrics);
	evbuffer_add_printf(page, "# EOF\n");
}

static void ask_all(const struct metrics *metrics)
{
	struct queue *queue;
	unsigned int i, j;

	for (i = 0; i < metrics->options->nr_queues; i++) {
		queue = &metrics->queues[i];
		for (j = 0; j < queue->config->shards; j++)
			shard_survey(&queue->shards[j]);
	}
}

static void write_page(void *arg, struct evbuffer *page)
{
	add_all(page, arg);
	ask_all(arg);
}

/* The socket of a daemon that died is in the way; one that answers stays. */
static void remove_dead_socket(const struct sockaddr_un *address)
{
	struct stat found;
	int fd;

	if (lstat(address->sun_path, &found) || !S_ISSOCK(found.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(fd);
}

/* Returns a descriptor that listens, or -1 with errno. */
static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	remove_dead_socket(&address);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    !chmod(path, 0660) && !listen(fd, 16))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/**
 * metrics_start - serve metrics at options->metrics
 * @base: the loop
 * @options: the options
 * @queues: the queues, which stay until metrics_stop()
 *
 * Return: the server; NULL after a message.
 */
struct metrics *metrics_start(struct event_base *base,
			      const struct options *options,
			      struct queue *queues)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));
	int fd;

	if (!metrics)
		return NULL;
	fd = open_socket(options->metrics);
	if (fd < 0)
		say(LOG_ERR, "--metrics %s: %s", options->metrics,
		    strerror(errno));
	else
		metrics->http =
			http_start(base, fd, CONTENT_TYPE, write_page, metrics);
	if (!metrics->http) {
		free(metrics);
		return NULL;
	}
	metrics->options = options;
	metrics->queues = queues;
	return metrics;
}

/* Removes the socket, too. NULL is allowed. */
void metrics_stop(struct metrics *metrics)
{
	if (!metrics)
		return;
	http_stop(metrics->http);
	unlink(metrics->options->metrics);
	free(metrics);
}
