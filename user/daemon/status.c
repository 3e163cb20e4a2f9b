// SPDX-License-Identifier: MIT
/* hwtimerd status: shows the shards of queues, or the metrics of a daemon. */
#include "commands.h"
#include "say.h"
#include "survey.h"
#include "talk.h"
#include "unix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* A slot of a cluster may move while we follow it. */
#define REDIRECTIONS_MAX 5

/* The server that answered last: mostly it answers the next question, too. */
static struct redisContext *server;
static struct address where;

static bool go_to(const struct options *options, const struct address *address)
{
	struct redisContext *redis = talk_to(options, address);

	if (!redis)
		return false;
	if (server)
		redisFree(server);
	server = redis;
	where = *address;
	return true;
}

/* Asks for hwt_stats wherever the shard is. Returns NULL after a message. */
static struct redisReply *ask(const struct options *options, const char *key)
{
	struct redisReply *reply = NULL;
	struct address next;
	unsigned int i;

	for (i = 0; i < REDIRECTIONS_MAX; i++) {
		freeReplyObject(reply);
		reply = redisCommand(server, "FCALL_RO hwt_stats 1 %s", key);
		next = where;
		if (!reply || !reply_moved(reply, &next) ||
		    !go_to(options, &next))
			break;
	}
	if (!talk_failed(server, reply, key))
		return reply;
	freeReplyObject(reply);
	return NULL;
}

/* Whoever may write to Redis chooses a name, and a terminal must not obey it. */
static void put_name(const struct redisReply *name)
{
	char text[1024];

	copy_text(text, sizeof(text),
		  name && reply_is_text(name) ? name->str : "");
	make_printable(text, '?');
	fputs(*text ? text : "nobody", stdout);
}

static void show_daemons(const char *name, const struct redisReply *stats)
{
	const struct redisReply *daemons = survey_find(stats, "daemons");
	size_t i;

	printf("%s:", name);
	for (i = 0; daemons && i < daemons->elements; i++) {
		putchar(' ');
		put_name(daemons->element[i]);
	}
	printf("\n%-24s %12s %10s %14s  %s\n", "SHARD", "TIMERS", "DUE",
	       "NEXT, ms", "SERVED BY");
}

/* Without a timer, the next deadline is after all times. */
static void show_shard(const char *key, const struct redisReply *stats)
{
	int64_t next = survey_number(stats, "next"),
		now = survey_number(stats, "time") / 1000;
	char text[24] = "-";

	if (survey_number(stats, "pending") > 0)
		snprintf(text, sizeof(text), "%+" PRId64, next - now);
	printf("%-24s %12" PRId64 " %10" PRId64 " %14s  ", key,
	       survey_number(stats, "pending"), survey_number(stats, "due"),
	       text);
	put_name(survey_find(stats, "daemon"));
	putchar('\n');
}

/* All shards of a queue have the same daemons. */
static bool show_queue(const struct options *options,
		       const struct queue_options *queue)
{
	struct redisReply *stats;
	char key[KEY_ROOM];
	unsigned int i;

	for (i = 0; i < queue->shards; i++) {
		snprintf(key, sizeof(key), "{%s:%u}", queue->name, i);
		stats = ask(options, key);
		if (!stats)
			return false;
		if (i == 0)
			show_daemons(queue->name, stats);
		show_shard(key, stats);
		freeReplyObject(stats);
	}
	return true;
}

static int show_queues(const struct options *options)
{
	unsigned int i;

	for (i = 0; !server && i < options->nr_addresses; i++)
		go_to(options, &options->addresses[i]);
	for (i = 0; server && i < options->nr_queues; i++)
		if (!show_queue(options, &options->queues[i]))
			return 1;
	return !server;
}

static FILE *connect_to(const char *path, uint64_t patience_ms)
{
	const struct timeval patience = { patience_ms / 1000,
					  patience_ms % 1000 * 1000 };
	struct sockaddr_un address;
	int fd = unix_socket(&address, path, SOCK_STREAM);

	if (fd < 0)
		return NULL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return NULL;
	return fdopen(fd, "r+");
}

/* Prints what a daemon on this machine says to a scrape. It ends with a line of its own. */
static int show_metrics(const struct options *options)
{
	const char *path = options->metrics;
	FILE *file = connect_to(path, options->lease);
	bool body = false, whole = false;
	char line[4096];

	if (!file) {
		say(LOG_ERR,
		    "--metrics %s: %s; is there a daemon with that option?",
		    path, strerror(errno));
		return 1;
	}
	fputs("GET /metrics HTTP/1.0\r\n\r\n", file);
	fflush(file);
	while (fgets(line, sizeof(line), file)) {
		whole = !strcmp(line, "# EOF\n");
		if (body)
			fputs(line, stdout);
		else
			body = !strcmp(line, "\r\n");
	}
	fclose(file);
	if (!whole)
		say(LOG_ERR, "--metrics %s: no answer, or only a part", path);
	return !whole;
}

int command_status(const struct options *options)
{
	if (!options->nr_queues && !options->metrics)
		usage("status: --queue or --metrics is missing");
	if (options->metrics && show_metrics(options))
		return 1;
	return options->nr_queues ? show_queues(options) : 0;
}
