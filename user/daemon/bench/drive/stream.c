// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer of a stream; see stream.h.
 */
#include <string.h>

#include "stream.h"

#define TAKE "1000"

void stream_prepare(struct connection *connection)
{
	tell(connection, "XGROUP CREATE " DUE " " GROUP " 0 MKSTREAM");
}

/* The value of a field of a stream's entry */
static const char *field(const redisReply *fields, const char *name)
{
	size_t i;

	for (i = 0; i + 1 < fields->elements; i += 2)
		if (!strcmp(fields->element[i]->str, name))
			return fields->element[i + 1]->str;
	return "";
}

/* The entries of a reply: { id, fields } each; NULL: the time was up */
static const redisReply *entries_of(const redisReply *answer)
{
	if (answer->type != REDIS_REPLY_ARRAY)
		return NULL;
	return answer->element[0]->element[1];
}

redisReply *stream_read(struct connection *connection, struct ledger *ledger)
{
	static const char *const read[] = { "XREADGROUP", "GROUP", GROUP,
					    "me",	  "COUNT", TAKE,
					    "BLOCK",	  "100",   "STREAMS",
					    DUE,	  ">" };
	const redisReply *entries, *fields;
	redisReply *answer;
	size_t i;

	for (i = 0; i < sizeof(read) / sizeof(*read); i++)
		command_add(connection, read[i]);
	command_queue(connection);
	settle(connection, 1);
	answer = reply(connection);
	ledger->now = now_us();
	entries = entries_of(answer);
	for (i = 0; entries && i < entries->elements; i++) {
		fields = entries->element[i]->element[1];
		ledger_fired(ledger, field(fields, "id"),
			     field(fields, "payload"));
	}
	return answer;
}

size_t stream_ids(struct connection *connection, const redisReply *answer)
{
	const redisReply *entries = entries_of(answer);
	size_t i, count = entries ? entries->elements : 0;

	for (i = 0; i < count; i++)
		command_add(connection, entries->element[i]->element[0]->str);
	return count;
}
