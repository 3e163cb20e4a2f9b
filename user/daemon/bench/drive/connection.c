// SPDX-License-Identifier: GPL-2.0
/*
 * A connection to Redis; see connection.h.
 */
#include <err.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "connection.h"

const char *const round_trips[] = { "fcall", "fcall_ro",   "evalsha",
				    "xread", "xreadgroup", NULL };

static void check(struct connection *connection, int status)
{
	if (status != REDIS_OK)
		errx(1, "Redis: %s", connection->redis->errstr);
}

void connection_open(struct connection *connection, __u32 port)
{
	memset(connection, 0, sizeof(*connection));
	connection->redis = redisConnect("127.0.0.1", port);
	if (!connection->redis || connection->redis->err)
		errx(1, "no Redis at port %u", port);
}

void connection_close(struct connection *connection)
{
	redisFree(connection->redis);
}

void command_add(struct connection *connection, const char *arg)
{
	if (connection->count == ARGS_MAX)
		errx(1, "too many arguments for one command");
	connection->args[connection->count] = arg;
	connection->lengths[connection->count++] = strlen(arg);
}

static _Bool is_round_trip(const char *command)
{
	size_t i;

	for (i = 0; round_trips[i]; i++)
		if (!strcasecmp(round_trips[i], command))
			return 1;
	return 0;
}

void command_queue(struct connection *connection)
{
	check(connection,
	      redisAppendCommandArgv(connection->redis, connection->count,
				     connection->args, connection->lengths));
	connection->trips += is_round_trip(connection->args[0]);
	connection->count = 0;
	connection->waiting++;
}

void command_drop(struct connection *connection)
{
	connection->count = 0;
}

redisReply *reply(struct connection *connection)
{
	redisReply *answer;

	check(connection, redisGetReply(connection->redis, (void **)&answer));
	connection->waiting--;
	if (answer->type == REDIS_REPLY_ERROR)
		errx(1, "Redis: %s", answer->str);
	return answer;
}

void settle(struct connection *connection, __u32 most)
{
	redisReply *answer;

	while (connection->waiting > most) {
		answer = reply(connection);
		if (answer->type != REDIS_REPLY_INTEGER)
			errx(1, "Redis: a reply is not an integer");
		connection->sum += answer->integer;
		freeReplyObject(answer);
	}
}

static redisReply *ask_args(struct connection *connection, const char *format,
			    va_list args)
{
	check(connection, redisvAppendCommand(connection->redis, format, args));
	connection->waiting++;
	return reply(connection);
}

redisReply *ask(struct connection *connection, const char *format, ...)
{
	redisReply *answer;
	va_list args;

	va_start(args, format);
	answer = ask_args(connection, format, args);
	va_end(args);
	return answer;
}

void tell(struct connection *connection, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	freeReplyObject(ask_args(connection, format, args));
	va_end(args);
}
