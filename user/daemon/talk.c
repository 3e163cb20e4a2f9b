// SPDX-License-Identifier: MIT
/* Talks with Redis and waits for answers; see talk.h. */
#include "talk.h"
#include "link.h"
#include "say.h"
#include "tls.h"

#include <stdarg.h>
#include <string.h>

static struct timeval patience(const struct options *options)
{
	return (struct timeval){ options->lease / 1000,
				 options->lease % 1000 * 1000 };
}

static bool authenticate(const struct options *options,
			 struct redisContext *redis)
{
	char password[PASSWORD_ROOM];
	struct redisReply *reply;
	bool fine;

	if (!options->password_file)
		return true;
	if (!password_read(options->password_file, password)) {
		say(LOG_ERR, "no password can be read from %s",
		    options->password_file);
		return false;
	}
	reply = options->user ? redisCommand(redis, "AUTH %s %s", options->user,
					     password) :
				redisCommand(redis, "AUTH %s", password);
	explicit_bzero(password, sizeof(password));
	fine = !talk_failed(redis, reply, "AUTH");
	freeReplyObject(reply);
	return fine;
}

/**
 * talk_to - connect to a server
 * @options: password and patience
 * @address: the server
 *
 * Return: the connection, for redisFree(); NULL after a message.
 */
struct redisContext *talk_to(const struct options *options,
			     const struct address *address)
{
	struct redisContext *redis;

	redis = redisConnectWithTimeout(address->host, address->port,
					patience(options));
	/* The handshake needs the time limit, too. */
	if (!redis || redis->err ||
	    redisSetTimeout(redis, patience(options)) != REDIS_OK ||
	    !tls_begin(redis, address->host)) {
		say(LOG_ERR, "Redis at %s port %u: %s", address->host,
		    address->port, redis ? redis->errstr : "no memory");
	} else if (authenticate(options, redis)) {
		return redis;
	}
	if (redis)
		redisFree(redis);
	return NULL;
}

/* Connects to the first address at which there is a server. */
struct redisContext *talk_to_any(const struct options *options)
{
	struct redisContext *redis = NULL;
	unsigned int i;

	for (i = 0; !redis && i < options->nr_addresses; i++)
		redis = talk_to(options, &options->addresses[i]);
	return redis;
}

/* Sends a command in hiredis' format. Returns the answer, or NULL and redis->errstr. */
struct redisReply *talk(struct redisContext *redis, const char *format, ...)
{
	struct redisReply *reply;
	va_list arguments;

	va_start(arguments, format);
	reply = redisvCommand(redis, format, arguments);
	va_end(arguments);
	return reply;
}

/* Whether there is no answer or an error; says so, for the command @what. */
bool talk_failed(const struct redisContext *redis,
		 const struct redisReply *reply, const char *what)
{
	if (reply && reply->type != REDIS_REPLY_ERROR)
		return false;
	say(LOG_ERR, "%s: %s%s", what, reply ? reply->str : redis->errstr,
	    reply ? link_advice(reply->str) : "");
	return true;
}
