// SPDX-License-Identifier: MIT
/* hwtimerd status: shows the shards of queues, or the metrics of a daemon. */
#include "commands.h"
#include "say.h"
#include "survey.h"
#include "talk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A slot of a cluster may move while we follow it. */
#define REDIRECTIONS_MAX 5

/* The server that answered last: mostly it answers the next question, too. */
static struct redisContext *server;

/* The commands that show a shard; each takes the shard's key. */
static struct redisReply *ask_stats(const char *key)
{
	return talk(server, "FCALL_RO hwt_stats 1 %s", key);
}

static struct redisReply *ask_holder(const char *key)
{
	return talk(server, "GET %s:lease", key);
}

static struct redisReply *ask_members(const char *key)
{
	return talk(server, "ZRANGE %s:daemons 0 -1", key);
}

/* MOVED SLOT HOST:PORT; without a host, it is that of this connection. */
static bool follow(const struct options *options,
		   const struct redisReply *reply)
{
	const char *where = strrchr(reply->str, ' ') + 1;
	struct address address;
	char text[2 * HOST_ROOM];

	snprintf(text, sizeof(text), "%s%s",
		 *where == ':' ? server->tcp.host : "", where);
	if (!address_parse(&address, text, strlen(text))) {
		say(LOG_ERR, "no address: %s", reply->str);
		return false;
	}
	redisFree(server);
	server = talk_to(options, &address);
	return server;
}

/* Asks about a key wherever it is. Returns NULL after a message. */
static struct redisReply *ask(const struct options *options, const char *key,
			      struct redisReply *(*question)(const char *key))
{
	struct redisReply *reply = NULL;
	unsigned int i;

	for (i = 0; server && i < REDIRECTIONS_MAX; i++) {
		reply = question(key);
		if (!reply || reply->type != REDIS_REPLY_ERROR ||
		    strncmp(reply->str, "MOVED ", 6))
			break;
		if (!follow(options, reply)) {
			freeReplyObject(reply);
			return NULL;
		}
		freeReplyObject(reply);
		reply = NULL;
	}
	if (server && !talk_failed(server, reply, key))
		return reply;
	freeReplyObject(reply);
	return NULL;
}

/* Whoever may write to Redis chooses a name, and a terminal must not obey it. */
static void put_name(const struct redisReply *name, const char *otherwise)
{
	char text[1024];

	copy_text(text, sizeof(text),
		  reply_is_text(name) ? name->str : otherwise);
	make_printable(text, '?');
	fputs(text, stdout);
}

static bool show_members(const struct options *options, const char *name)
{
	char key[NAME_ROOM + 4];
	struct redisReply *members;
	size_t i;

	snprintf(key, sizeof(key), "{%s}", name);
	members = ask(options, key, ask_members);
	if (!members)
		return false;
	printf("%s: %zu daemons:", name, members->elements);
	for (i = 0; i < members->elements; i++) {
		putchar(' ');
		put_name(members->element[i], "?");
	}
	putchar('\n');
	freeReplyObject(members);
	return true;
}

static int64_t field(const struct redisReply *stats, const char *name)
{
	int64_t number = -1;

	survey_field(stats, name, &number);
	return number;
}

static bool show_shard(const struct options *options, const char *key)
{
	struct redisReply *stats = ask(options, key, ask_stats);
	struct redisReply *holder = stats ? ask(options, key, ask_holder) :
					    NULL;
	bool fine = stats && holder;

	if (fine) {
		printf("%-24s %12" PRId64 " %8" PRId64 " %8" PRId64
		       " %10" PRId64 " %8" PRId64 "  ",
		       key, field(stats, "pending"), field(stats, "slots"),
		       field(stats, "width"), field(stats, "due"),
		       field(stats, "near"));
		put_name(holder, "nobody");
		putchar('\n');
	}
	freeReplyObject(stats);
	freeReplyObject(holder);
	return fine;
}

static bool show_queue(const struct options *options,
		       const struct queue_options *queue)
{
	char key[NAME_ROOM + 16];
	unsigned int i;

	if (!show_members(options, queue->name))
		return false;
	printf("%-24s %12s %8s %8s %10s %8s  %s\n", "SHARD", "PENDING", "SLOTS",
	       "WIDTH", "DUE", "NEAR", "SERVED BY");
	for (i = 0; i < queue->shards; i++) {
		snprintf(key, sizeof(key), "{%s:%u}", queue->name, i);
		if (!show_shard(options, key))
			return false;
	}
	return true;
}

static int show_queues(const struct options *options)
{
	bool fine = true;
	unsigned int i;

	server = talk_to_any(options);
	for (i = 0; server && fine && i < options->nr_queues; i++)
		fine = show_queue(options, &options->queues[i]);
	fine = fine && server;
	if (server)
		redisFree(server);
	return !fine;
}

static FILE *connect_to(const char *path, uint64_t patience_ms)
{
	const struct timeval patience = { patience_ms / 1000,
					  patience_ms % 1000 * 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (strlen(path) < sizeof(address.sun_path)) {
		snprintf(address.sun_path, sizeof(address.sun_path), "%s",
			 path);
		if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
			file = fdopen(fd, "r+");
	} else {
		errno = ENAMETOOLONG;
	}
	if (!file)
		close(fd);
	return file;
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
