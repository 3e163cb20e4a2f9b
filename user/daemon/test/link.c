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
#define MAX_NAME 128

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

/* For each shard: its node, as far as we know, and the names of its keys */
static unsigned int nr_shards;
static unsigned int *homes;
static char (*keys)[MAX_NAME];
static char (*dues)[MAX_NAME];

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
void link_open(const char *addresses, const char *queue, unsigned int shards,
	       unsigned int replicas)
{
	char *copy = strdup(addresses), *rest = copy, *address;
	unsigned int i;

	homes = calloc(shards, sizeof(*homes));
	keys = calloc(shards, sizeof(*keys));
	dues = calloc(shards, sizeof(*dues));
	if (!copy || !homes || !keys || !dues)
		errx(1, "no memory for %u shards", shards);
	while ((address = strsep(&rest, ",")))
		node_at(address);
	free(copy);
	for (i = 0; i < shards; i++) {
		snprintf(keys[i], MAX_NAME, "{%s:%u}", queue, i);
		snprintf(dues[i], MAX_NAME, "{%s:%u}:due", queue, i);
	}
	nr_shards = shards;
	wanted_replicas = replicas;
	may_change_roles = replicas || nr_nodes > 1;
}

const char *link_key(unsigned int shard)
{
	return keys[shard];
}

const char *link_due(unsigned int shard)
{
	return dues[shard];
}

/* ---- commands ---- */

static void *allocated(void *memory)
{
	if (!memory)
		errx(1, "no memory for a command");
	return memory;
}

static void *resized(void *memory, size_t count, size_t size)
{
	return allocated(realloc(memory, count * size));
}

/* Returns a new command, valid until the next one is added. */
struct command *pipeline_add(struct pipeline *pipeline, bool repeatable)
{
	struct command *command;

	if (pipeline->used == pipeline->room) {
		pipeline->room = pipeline->room ? pipeline->room * 2 : 16;
		pipeline->commands = resized(pipeline->commands, pipeline->room,
					     sizeof(*command));
	}
	command = &pipeline->commands[pipeline->used++];
	*command = (struct command){ .repeatable = repeatable };
	return command;
}

void command_arg(struct command *command, const void *arg, size_t length)
{
	int argc = command->argc;

	/* The room is for argc * 2 + 1, with the last argc that was a power of two. */
	if (!(argc & (argc - 1))) {
		command->argv = resized(command->argv, argc * 2 + 1,
					sizeof(*command->argv));
		command->lengths = resized(command->lengths, argc * 2 + 1,
					   sizeof(*command->lengths));
	}
	command->argv[argc] = allocated(malloc(length + 1));
	memcpy(command->argv[argc], arg, length);
	command->lengths[argc] = length;
	command->argc++;
}

/* Adds the words of the formatted text, which spaces separate. */
void command_words(struct command *command, const char *format, ...)
{
	char text[512], *rest = text, *word;
	va_list args;

	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) >= (int)sizeof(text))
		errx(1, "a command is too long: %s", text);
	va_end(args);
	while ((word = strsep(&rest, " ")))
		command_arg(command, word, strlen(word));
}

void pipeline_clear(struct pipeline *pipeline)
{
	struct command *command;
	int i;

	while (pipeline->used) {
		command = &pipeline->commands[--pipeline->used];
		for (i = 0; i < command->argc; i++)
			free(command->argv[i]);
		free(command->argv);
		free(command->lengths);
		freeReplyObject(command->reply);
	}
}

/* ---- one attempt ---- */

/* What became of an attempt */
enum outcome {
	ANSWERED, /* all commands have a reply or were redirected */
	REDIRECTED, /* some were redirected: try again at once */
	REFUSED, /* some were not executed: try again later */
	MISPLACED, /* the server is not the master: try another one, later */
	BROKEN, /* the replies are lost */
};

static bool open_command(const struct command *command)
{
	return !command->reply && !command->lost;
}

static bool begins(const redisReply *reply, const char *word)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       !strncmp(reply->str, word, strlen(word));
}

/* Whether Redis has not executed the command, and will, some time. */
static bool is_temporary(const redisReply *reply)
{
	static const char *const errors[] = {
		"TRYAGAIN",	  "CLUSTERDOWN", "LOADING",
		"READONLY",	  "MASTERDOWN",	 "NOREPLICAS",
		"BUSY ",	  "UNBLOCKED",	 "ERR Function not found",
		"ERR max number", NULL
	};
	const char *const *error;

	for (error = errors; *error; error++)
		if (begins(reply, *error))
			return true;
	return false;
}

/* The errors of a server that is not, or no longer, the master of the shard */
static bool is_other_role(const redisReply *reply)
{
	return begins(reply, "READONLY") || begins(reply, "MASTERDOWN") ||
	       begins(reply, "UNBLOCKED");
}

static void go_elsewhere(unsigned int shard)
{
	homes[shard] = (homes[shard] + 1) % nr_nodes;
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
	if (redisAppendCommandArgv(node->context, command->argc,
				   (const char **)command->argv,
				   command->lengths) != REDIS_OK)
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

/* Sends one command to the node that ASK named. */
static enum outcome ask_once(struct command *command, struct node *node)
{
	redisReply *reply;

	if (!node_connect(node))
		return REFUSED;
	redisAppendCommand(node->context, "ASKING");
	append(node, command);
	reply = next_reply(node);
	freeReplyObject(reply);
	reply = reply ? next_reply(node) : NULL;
	if (!reply)
		return BROKEN;
	if (is_temporary(reply) || begins(reply, "MOVED") ||
	    begins(reply, "ASK")) {
		freeReplyObject(reply);
		return REFUSED;
	}
	command->reply = reply;
	return ANSWERED;
}

static void lose(struct command *command)
{
	freeReplyObject(command->reply);
	command->reply = NULL;
	command->lost = !command->repeatable;
}

/* Takes the reply of one command. It stays open if it was not executed. */
static enum outcome take_reply(struct command *command, redisReply *reply,
			       unsigned int shard)
{
	enum outcome outcome = ANSWERED;

	if (begins(reply, "MOVED ")) {
		homes[shard] = target_of(reply);
		outcome = REDIRECTED;
	} else if (begins(reply, "ASK ")) {
		outcome = ask_once(command, &nodes[target_of(reply)]);
		if (outcome == BROKEN) {
			lose(command);
			outcome = REFUSED;
		}
	} else if (is_temporary(reply)) {
		outcome = is_other_role(reply) ? MISPLACED : REFUSED;
	} else {
		command->reply = reply;
		return ANSWERED;
	}
	freeReplyObject(reply);
	return outcome;
}

static enum outcome worse(enum outcome one, enum outcome other)
{
	return one > other ? one : other;
}

/*
 * Waits until @wanted_replicas replicas have what we wrote. Returns false if that will not
 * come about, because the server has changed its role or died.
 */
static bool wait_for_replicas(struct node *node)
{
	redisReply *reply;
	bool ok, again;

	if (!wanted_replicas)
		return true;
	do {
		reply = redisCommand(node->context, "WAIT %u " WAIT_TIME,
				     wanted_replicas);
		if (!reply) {
			node_close(node);
			return false;
		}
		ok = reply->type == REDIS_REPLY_INTEGER &&
		     reply->integer >= wanted_replicas;
		again = reply->type == REDIS_REPLY_INTEGER && !ok;
		freeReplyObject(reply);
		if (again)
			idle(20);
	} while (again);
	return ok;
}

static void append_mark(struct node *node, unsigned int shard)
{
	if (may_change_roles)
		redisAppendCommand(node->context, "SET %s:mark 1",
				   link_key(shard));
}

/* Returns ANSWERED if the replies before the mark are those of a master, and durable. */
static enum outcome take_mark(struct node *node, unsigned int shard)
{
	enum outcome outcome = ANSWERED;
	struct command mark = { .repeatable = true };
	redisReply *reply;

	if (!may_change_roles)
		return ANSWERED;
	reply = next_reply(node);
	if (!reply)
		return BROKEN;
	outcome = take_reply(&mark, reply, shard);
	freeReplyObject(mark.reply);
	if (outcome == REDIRECTED)
		return outcome;
	return outcome == ANSWERED && wait_for_replicas(node) ? ANSWERED :
								BROKEN;
}

static void send_open(struct pipeline *pipeline, struct node *node,
		      unsigned int shard)
{
	size_t i;

	for (i = 0; i < pipeline->used; i++)
		if (open_command(&pipeline->commands[i]))
			append(node, &pipeline->commands[i]);
	append_mark(node, shard);
}

/*
 * Forgets the replies of this attempt, which are of no worth. @sent: which commands were
 * part of it
 */
static void lose_attempt(struct pipeline *pipeline, const bool *sent)
{
	size_t i;

	for (i = 0; i < pipeline->used; i++)
		if (sent[i])
			lose(&pipeline->commands[i]);
}

static enum outcome take_replies(struct pipeline *pipeline, struct node *node,
				 const bool *sent, unsigned int shard)
{
	enum outcome outcome = ANSWERED, mark;
	redisReply *reply;
	size_t i;

	for (i = 0; i < pipeline->used; i++) {
		if (!sent[i])
			continue;
		reply = next_reply(node);
		if (!reply)
			return BROKEN;
		outcome = worse(outcome, take_reply(&pipeline->commands[i],
						    reply, shard));
	}
	mark = take_mark(node, shard);
	return worse(outcome, mark);
}

static enum outcome attempt(struct pipeline *pipeline, unsigned int shard)
{
	struct node *node = &nodes[homes[shard]];
	enum outcome outcome;
	bool *sent;
	size_t i;

	if (!node_connect(node))
		return MISPLACED;
	sent = allocated(calloc(pipeline->used + 1, sizeof(*sent)));
	for (i = 0; i < pipeline->used; i++)
		sent[i] = open_command(&pipeline->commands[i]);
	send_open(pipeline, node, shard);
	outcome = take_replies(pipeline, node, sent, shard);
	if (outcome == BROKEN) {
		/* What a new connection must kill may still be on its way. */
		node_close(node);
		lose_attempt(pipeline, sent);
	}
	free(sent);
	return outcome;
}

static bool has_open(const struct pipeline *pipeline)
{
	size_t i;

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
	enum outcome outcome;

	while (has_open(pipeline)) {
		outcome = attempt(pipeline, shard);
		if (outcome >= MISPLACED)
			go_elsewhere(shard);
		if (outcome == BROKEN)
			settle_lost();
		if (outcome > REDIRECTED)
			idle(50);
	}
}
