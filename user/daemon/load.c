// SPDX-License-Identifier: MIT
/* hwtimerd load: installs the functions on every master. */
#include "commands.h"
#include "functions.h"
#include "reply.h"
#include "say.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

#define MASTERS_MAX 1024

/* Masters that have, or will get, the functions */
static struct address masters[MASTERS_MAX];
static unsigned int nr_masters;

static void add_master(const struct address *address)
{
	unsigned int i;

	for (i = 0; i < nr_masters; i++)
		if (masters[i].port == address->port &&
		    !strcmp(masters[i].host, address->host))
			return;
	if (nr_masters < MASTERS_MAX)
		masters[nr_masters++] = *address;
}

/* Fills in @address from host and port. An empty host is that of the server. */
static bool take_address(struct address *address, const struct redisReply *host,
			 const struct redisReply *port)
{
	int64_t number;

	if (!reply_number(port, &number) || number <= 0 || number > UINT16_MAX)
		return false;
	address->port = number;
	if (!reply_is_text(host) || !host->len)
		return true;
	if ((size_t)host->len >= sizeof(address->host))
		return false;
	copy_text(address->host, HOST_ROOM, host->str);
	return true;
}

/* A range of slots is: first, last, (host, port, ...) of the master, of replicas ... */
static void add_cluster(const struct address *server,
			const struct redisReply *slots)
{
	size_t i;

	for (i = 0; i < slots->elements; i++) {
		const struct redisReply *range = slots->element[i];
		struct address address = *server;

		if (reply_is_array(range, 3) &&
		    reply_is_array(range->element[2], 2) &&
		    take_address(&address, range->element[2]->element[0],
				 range->element[2]->element[1]))
			add_master(&address);
	}
}

/* A replica gets the functions from its master. */
static void add_single(const struct address *server, struct redisContext *redis)
{
	struct address address = *server;
	struct redisReply *role = talk(redis, "ROLE");

	if (!talk_failed(redis, role, "ROLE") && reply_is_array(role, 3) &&
	    reply_is(role->element[0], "slave"))
		take_address(&address, role->element[1], role->element[2]);
	freeReplyObject(role);
	add_master(&address);
}

/* Finds the masters that a server knows. */
static bool ask_for_masters(const struct options *options,
			    const struct address *server)
{
	struct redisContext *redis = talk_to(options, server);
	struct redisReply *slots;

	if (!redis)
		return false;
	slots = talk(redis, "CLUSTER SLOTS");
	if (slots && slots->type == REDIS_REPLY_ARRAY && slots->elements)
		add_cluster(server, slots);
	else
		add_single(server, redis);
	freeReplyObject(slots);
	redisFree(redis);
	return true;
}

static bool install(const struct options *options, const struct address *server)
{
	struct redisContext *redis = talk_to(options, server);
	struct redisReply *reply;
	bool failed;

	if (!redis)
		return false;
	reply = talk(redis, "FUNCTION LOAD REPLACE %s", functions_source);
	failed = talk_failed(redis, reply, "FUNCTION LOAD");
	freeReplyObject(reply);
	redisFree(redis);
	if (!failed)
		printf("%s port %u: functions %s installed\n", server->host,
		       server->port, functions_version);
	return !failed;
}

int command_load(const struct options *options)
{
	bool answered = false, failed = false;
	unsigned int i;

	for (i = 0; i < options->nr_addresses; i++)
		answered |= ask_for_masters(options, &options->addresses[i]);
	for (i = 0; i < nr_masters; i++)
		failed |= !install(options, &masters[i]);
	return !answered || failed;
}
