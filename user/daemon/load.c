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
		    reply_address(range->element[2]->element[0],
				  range->element[2]->element[1], &address))
			add_master(&address);
	}
}

/* A replica gets the functions from its master. */
static void add_single(const struct address *server, struct redisContext *redis)
{
	struct address address = *server;
	struct redisReply *role = redisCommand(redis, "ROLE");

	if (!talk_failed(redis, role, "ROLE") && reply_is_array(role, 3) &&
	    reply_is(role->element[0], "slave"))
		reply_address(role->element[1], role->element[2], &address);
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
	slots = redisCommand(redis, "CLUSTER SLOTS");
	if (slots && slots->type == REDIS_REPLY_ARRAY && slots->elements)
		add_cluster(server, slots);
	else
		add_single(server, redis);
	freeReplyObject(slots);
	redisFree(redis);
	return true;
}

/* Other daemons may need what newer functions do. */
static bool may_install(struct redisContext *redis,
			const struct address *server)
{
	static const char missing[] = "ERR Function not found";
	struct redisReply *reply = redisCommand(redis, "FCALL hwt_version 0");
	bool may = true;

	if (!reply || reply->type != REDIS_REPLY_ERROR ||
	    strncmp(reply->str, missing, strlen(missing)))
		may = !talk_failed(redis, reply, "FCALL hwt_version");
	if (may && reply_is_text(reply) &&
	    strverscmp(reply->str, functions_version) > 0) {
		say(LOG_ERR,
		    "Redis at %s: has functions %.20s, and ours are %s: nothing is replaced; FUNCTION DELETE hwtimer takes them away",
		    address_text(server), reply->str, functions_version);
		may = false;
	}
	freeReplyObject(reply);
	return may;
}

static bool install(const struct options *options, const struct address *server)
{
	struct redisContext *redis = talk_to(options, server);
	bool fine;

	if (!redis)
		return false;
	fine = may_install(redis, server) &&
	       talk_done(redis,
			 redisCommand(redis, "FUNCTION LOAD REPLACE %s",
				      functions_source),
			 "FUNCTION LOAD");
	redisFree(redis);
	if (fine)
		printf("%s: functions %s installed\n", address_text(server),
		       functions_version);
	return fine;
}

int command_load(const struct options *options)
{
	bool answered = false, failed = false;
	unsigned int i;

	for (i = 0; i < options->nr_addresses; i++)
		answered |= ask_for_masters(options, &options->addresses[i]);
	for (i = 0; i < nr_masters; i++)
		failed |= !install(options, &masters[i]);
	if (answered && !nr_masters)
		say(LOG_ERR, "no server names a master");
	return !nr_masters || failed;
}
