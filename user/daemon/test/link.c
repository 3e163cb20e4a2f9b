// SPDX-License-Identifier: GPL-2.0-only
/* The link to Redis: see link.h. */
#include <arpa/inet.h>
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "link.h"

#define MAX_NODES 64
#define MAX_KEY 32

/* How long a server may take to answer, in s, before another one is tried */
#define ANSWER_TIME 15

/* How long WAIT waits, in ms; it is sent again after that */
#define WAIT_TIME "500"

struct node {
	char host[64];
	int port;
	redisContext *context;
	char last_address[64]; /* our end of the last connection */
};

static struct node nodes[MAX_NODES];
static unsigned int nr_nodes;

/* For each shard: its node, as far as we know, and its key */
static unsigned int *homes;
static char (*keys)[MAX_KEY];

/*
 * If not 0, a reply counts only when this many replicas have all that was written
 * before it. If the server may change its role, the same pipeline also has a write, which
 * a replica refuses: it would answer reads with what it knows.
 */
static unsigned int wanted_replicas;
static bool may_change_roles;

/* ---- patience ---- */

static unsigned int patience_ms, idle_ms;
static void (*patience_ended)(void);

/*
 * The program ends with @at_end after it was idle for @seconds without any progress. Time
 * counts only while it sleeps; so a machine that stood still has not used it up.
 */
void patience_set(unsigned int seconds, void (*at_end)(void))
{
	patience_ms = seconds * 1000;
	patience_ended = at_end;
}

void progress(void)
{
	idle_ms = 0;
}

void idle(unsigned int ms)
{
	usleep(ms * 1000);
	idle_ms += ms;
	if (idle_ms > patience_ms)
		patience_ended();
}

/* ---- nodes ---- */

/* Returns the number of a node, which is new if need be. @address: HOST:PORT */
static unsigned int node_at(const char *address)
{
	const char *colon = strrchr(address, ':');
	struct node *node;
	unsigned int i;
	int length, port;

	if (!colon || colon - address >= (int)sizeof(node->host))
		errx(1, "not HOST:PORT: %s", address);
	length = colon - address;
	port = atoi(colon + 1);
	for (i = 0; i < nr_nodes; i++)
		if (nodes[i].port == port &&
		    (int)strlen(nodes[i].host) == length &&
		    !strncmp(nodes[i].host, address, length))
			return i;
	if (nr_nodes == MAX_NODES)
		errx(1, "more than %d nodes", MAX_NODES);
	node = &nodes[nr_nodes];
	snprintf(node->host, sizeof(node->host), "%.*s", length, address);
	node->port = port;
	return nr_nodes++;
}

static void remember_address(struct node *node)
{
	struct sockaddr_in own;
	socklen_t length = sizeof(own);

	node->last_address[0] = '\0';
	if (getsockname(node->context->fd, (struct sockaddr *)&own, &length) ||
	    own.sin_family != AF_INET)
		return;
	snprintf(node->last_address, sizeof(node->last_address), "%s:%u",
		 inet_ntoa(own.sin_addr), ntohs(own.sin_port));
}

/*
 * What we sent and the server has not read yet must not be executed later. So our end
 * drops what it has not sent, and at the server the connection is killed, which drops what
 * was not read.
 */
static void node_close(struct node *node)
{
	const struct linger none = { .l_onoff = 1, .l_linger = 0 };

	if (!node->context)
		return;
	setsockopt(node->context->fd, SOL_SOCKET, SO_LINGER, &none,
		   sizeof(none));
	redisFree(node->context);
	node->context = NULL;
}

static bool kill_last_connection(struct node *node)
{
	redisReply *reply;

	if (!node->last_address[0])
		return true;
	reply = redisCommand(node->context, "CLIENT KILL ADDR %s",
			     node->last_address);
	if (!reply)
		return false;
	freeReplyObject(reply);
	return true;
}

static bool node_connect(struct node *node)
{
	const struct timeval limit = { ANSWER_TIME, 0 };

	if (node->context && !node->context->err)
		return true;
	node_close(node);
	node->context = redisConnectWithTimeout(node->host, node->port, limit);
	if (!node->context)
		errx(1, "no memory for a connection");
	if (node->context->err ||
	    redisSetTimeout(node->context, limit) != REDIS_OK ||
	    !kill_last_connection(node)) {
		node_close(node);
		return false;
	}
	remember_address(node);
	return true;
}

/* Opens the link. @addresses: HOST:PORT, separated by commas */
void link_open(const char *addresses, unsigned int shards,
	       unsigned int replicas)
{
	char *copy = strdup(addresses), *rest = copy, *address;
	unsigned int i;

	homes = calloc(shards, sizeof(*homes));
	keys = calloc(shards, sizeof(*keys));
	if (!copy || !homes || !keys)
		errx(1, "no memory for %u shards", shards);
	while ((address = strsep(&rest, ",")))
		node_at(address);
	free(copy);
	for (i = 0; i < shards; i++)
		snprintf(keys[i], MAX_KEY, "{q:%u}", i);
	wanted_replicas = replicas;
	may_change_roles = replicas || nr_nodes > 1;
}

const char *link_key(unsigned int shard)
{
	return keys[shard];
}

/* ---- commands ---- */

/* The arguments of the command that is being made */
static const char *args[MAX_ARGS];
static size_t arg_lengths[MAX_ARGS];
static int nr_args;

void command_arg(const void *arg, size_t length)
{
	char *copy = malloc(length + 1);

	if (!copy || nr_args == MAX_ARGS)
		errx(1, "no room for an argument");
	memcpy(copy, arg, length);
	args[nr_args] = copy;
	arg_lengths[nr_args++] = length;
}

/* Adds the words of the formatted text, which spaces separate. */
void command_words(const char *format, ...)
{
	char text[512], *rest = text, *word;
	va_list list;

	va_start(list, format);
	if (vsnprintf(text, sizeof(text), format, list) >= (int)sizeof(text))
		errx(1, "a command is too long: %s", text);
	va_end(list);
	while ((word = strsep(&rest, " ")))
		command_arg(word, strlen(word));
}

/* Adds the command that has been made. */
void pipeline_add(struct pipeline *pipeline, bool repeatable)
{
	struct command *command = &pipeline->commands[pipeline->used++];

	if (pipeline->used > MAX_COMMANDS)
		errx(1, "more than %d commands", MAX_COMMANDS);
	*command = (struct command){ .repeatable = repeatable };
	command->length = redisFormatCommandArgv(&command->text, nr_args, args,
						 arg_lengths);
	if (command->length < 0)
		errx(1, "no memory for a command");
	while (nr_args)
		free((char *)args[--nr_args]);
}

void pipeline_clear(struct pipeline *pipeline)
{
	struct command *command;

	while (pipeline->used) {
		command = &pipeline->commands[--pipeline->used];
		redisFreeCommand(command->text);
		freeReplyObject(command->reply);
	}
}

/* ---- one attempt ---- */

static bool open_command(const struct command *command)
{
	return !command->reply && !command->lost;
}

static bool begins(const redisReply *reply, const char *word)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       !strncmp(reply->str, word, strlen(word));
}

/* Whether Redis has not executed the command, and will, some time, or another server. */
static bool is_temporary(const redisReply *reply)
{
	static const char *const errors[] = {
		"TRYAGAIN",	  "CLUSTERDOWN", "LOADING",
		"READONLY",	  "MASTERDOWN",	 "NOREPLICAS",
		"BUSY ",	  "UNBLOCKED",	 "ERR Function not found",
		"ERR max number", "HWTSHARD",	 "MOVED ",
		"ASK ",		  NULL
	};
	const char *const *error;

	for (error = errors; *error; error++)
		if (begins(reply, *error))
			return true;
	return false;
}

/* Both MOVED and ASK read: WORD SLOT HOST:PORT */
static unsigned int target_of(const redisReply *reply)
{
	const char *address = strrchr(reply->str, ' ');

	if (!address)
		errx(1, "no address in: %s", reply->str);
	return node_at(address + 1);
}

static void append(struct node *node, const struct command *command)
{
	if (redisAppendFormattedCommand(node->context, command->text,
					command->length) != REDIS_OK)
		errx(1, "no memory for a command");
}

static redisReply *next_reply(struct node *node)
{
	void *reply = NULL;

	if (redisGetReply(node->context, &reply) != REDIS_OK) {
		node_close(node);
		return NULL;
	}
	return reply;
}

static void lose(struct command *command)
{
	freeReplyObject(command->reply);
	command->reply = NULL;
	command->lost = !command->repeatable;
}

/* Sends one command to the node that ASK named. */
static void ask_once(struct command *command, struct node *node)
{
	redisReply *reply;

	if (!node_connect(node))
		return;
	redisAppendCommand(node->context, "ASKING");
	append(node, command);
	reply = next_reply(node);
	freeReplyObject(reply);
	reply = reply ? next_reply(node) : NULL;
	if (!reply)
		lose(command);
	else if (is_temporary(reply))
		freeReplyObject(reply);
	else
		command->reply = reply;
}

/* Takes the reply of one command, which stays open if it was not executed. */
static void take_reply(struct command *command, redisReply *reply,
		       unsigned int shard)
{
	if (!is_temporary(reply)) {
		command->reply = reply;
		return;
	}
	if (begins(reply, "MOVED "))
		homes[shard] = target_of(reply);
	else if (begins(reply, "ASK "))
		ask_once(command, &nodes[target_of(reply)]);
	freeReplyObject(reply);
	/* If it was not executed, nothing of it is lost with the attempt. */
	command->sent = !open_command(command);
}

/*
 * Waits until @wanted_replicas replicas have what we wrote. Returns false if that will not
 * come about, because the server has changed its role or died.
 */
static bool wait_for_replicas(struct node *node)
{
	redisReply *reply;
	long long count;

	for (;;) {
		redisAppendCommand(node->context, "WAIT %u " WAIT_TIME,
				   wanted_replicas);
		reply = next_reply(node);
		if (!reply)
			return false;
		count = reply->type == REDIS_REPLY_INTEGER ? reply->integer :
							     -1;
		freeReplyObject(reply);
		if (count < 0 || count >= wanted_replicas)
			return count >= 0;
		idle(20);
	}
}

/* Whether the replies before the mark are those of a master, and durable */
static bool take_mark(struct node *node)
{
	redisReply *reply;
	bool ok;

	if (!may_change_roles)
		return true;
	reply = next_reply(node);
	ok = reply && reply->type == REDIS_REPLY_STATUS;
	freeReplyObject(reply);
	return ok && wait_for_replicas(node);
}

/* Returns false if the replies are lost. */
static bool take_replies(struct pipeline *pipeline, struct node *node,
			 unsigned int shard)
{
	redisReply *reply;
	unsigned int i;

	for (i = 0; i < pipeline->used; i++) {
		if (!pipeline->commands[i].sent)
			continue;
		reply = next_reply(node);
		if (!reply)
			return false;
		take_reply(&pipeline->commands[i], reply, shard);
	}
	return take_mark(node);
}

/* Sends what is open. If the attempt fails, its replies are of no worth. */
static void attempt(struct pipeline *pipeline, unsigned int shard)
{
	struct node *node = &nodes[homes[shard]];
	struct command *command;
	unsigned int i;

	if (!node_connect(node))
		return;
	for (i = 0; i < pipeline->used; i++) {
		command = &pipeline->commands[i];
		command->sent = open_command(command);
		if (command->sent)
			append(node, command);
	}
	if (may_change_roles)
		redisAppendCommand(node->context, "SET %s:mark 1",
				   link_key(shard));
	if (take_replies(pipeline, node, shard))
		return;
	/* What a new connection must kill may still be on its way. */
	node_close(node);
	for (i = 0; i < pipeline->used; i++)
		if (pipeline->commands[i].sent)
			lose(&pipeline->commands[i]);
}

static bool has_open(const struct pipeline *pipeline)
{
	unsigned int i;

	for (i = 0; i < pipeline->used; i++)
		if (open_command(&pipeline->commands[i]))
			return true;
	return false;
}

/* Kills the connection whose replies were lost, so that what it sent is settled. */
static void settle_lost(void)
{
	unsigned int i;

	for (i = 0; i < nr_nodes; i++)
		if (!nodes[i].context && nodes[i].last_address[0])
			node_connect(&nodes[i]);
}

/* Runs all commands of @pipeline. Those whose replies were lost have none. */
void pipeline_run(struct pipeline *pipeline, unsigned int shard)
{
	unsigned int home;

	while (has_open(pipeline)) {
		home = homes[shard];
		attempt(pipeline, shard);
		settle_lost();
		if (!has_open(pipeline))
			break;
		/* If no other server was named, we try the next one. */
		if (homes[shard] == home)
			homes[shard] = (home + 1) % nr_nodes;
		idle(50);
	}
}
