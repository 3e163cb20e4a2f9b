// SPDX-License-Identifier: MIT
/* Reads answers of Redis; see reply.h. */
#include "reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the answer is a string or a status; then it has str and len. */
bool reply_is_text(const struct redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING ||
	       reply->type == REDIS_REPLY_STATUS;
}

bool reply_is(const struct redisReply *reply, const char *text)
{
	return reply_is_text(reply) && (size_t)reply->len == strlen(text) &&
	       !memcmp(reply->str, text, reply->len);
}

/* Whether the answer is an array of at least @length elements */
bool reply_is_array(const struct redisReply *reply, size_t length)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements >= length;
}

/* Takes an integer, or a string that is nothing but one. */
bool reply_number(const struct redisReply *reply, int64_t *number)
{
	char *end;

	if (reply->type == REDIS_REPLY_INTEGER) {
		*number = reply->integer;
		return true;
	}
	/* hiredis puts a 0 byte behind each string. */
	if (!reply_is_text(reply) || !reply->len)
		return false;
	errno = 0;
	*number = strtoll(reply->str, &end, 10);
	return !errno && end == reply->str + reply->len;
}

/* Takes host and port of a server. Without a host, it is that of the server that is asked. */
bool reply_address(const struct redisReply *host, const struct redisReply *port,
		   struct address *address)
{
	int64_t number;

	if (!reply_number(port, &number) || number <= 0 ||
	    number > UINT16_MAX ||
	    (reply_is_text(host) && (size_t)host->len >= HOST_ROOM))
		return false;
	address->port = number;
	if (reply_is_text(host) && host->len)
		copy_text(address->host, HOST_ROOM, host->str);
	return true;
}

/* The same of MOVED SLOT HOST:PORT, if that is the answer */
bool reply_moved(const struct redisReply *reply, struct address *address)
{
	char text[2 * HOST_ROOM];
	const char *where;

	if (reply->type != REDIS_REPLY_ERROR ||
	    strncmp(reply->str, "MOVED ", 6))
		return false;
	where = strrchr(reply->str, ' ') + 1;
	snprintf(text, sizeof(text), "%s%s", *where == ':' ? address->host : "",
		 where);
	return address_parse(address, text, strlen(text));
}
