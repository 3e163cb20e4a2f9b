// SPDX-License-Identifier: MIT
/* Talks with Redis and waits for answers; see talk.h. */
#include "talk.h"
#include "link.h"
#include "say.h"
#include "tls.h"

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
	return talk_done(redis, reply, "AUTH");
}

static bool select_database(const struct options *options,
			    struct redisContext *redis)
{
	return !options->database ||
	       talk_done(redis,
			 redisCommand(redis, "SELECT %llu",
				      (unsigned long long)options->database),
			 "SELECT");
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

	redis = address_is_path(address) ?
			redisConnectUnixWithTimeout(address->host,
						    patience(options)) :
			redisConnectWithTimeout(address->host, address->port,
						patience(options));
	/* The handshake needs the time limit, too. */
	if (!redis || redis->err ||
	    redisSetTimeout(redis, patience(options)) != REDIS_OK ||
	    !tls_begin(redis, address->host)) {
		say(LOG_ERR, "Redis at %s: %s", address_text(address),
		    redis ? redis->errstr : "no memory");
	} else if (authenticate(options, redis) &&
		   select_database(options, redis)) {
		return redis;
	}
	if (redis)
		redisFree(redis);
	return NULL;
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

/* Whether the command @what succeeded; if not, says so. Frees the answer. */
bool talk_done(const struct redisContext *redis, struct redisReply *reply,
	       const char *what)
{
	bool failed = talk_failed(redis, reply, what);

	freeReplyObject(reply);
	return !failed;
}
