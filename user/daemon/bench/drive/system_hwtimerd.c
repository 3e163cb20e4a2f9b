// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimerd: functions schedule, the daemon fires, and a consumer takes.
 */
#include <string.h>

#include "stream.h"
#include "system.h"

static void call(struct connection *connection, const char *function)
{
	command_add(connection, "FCALL");
	command_add(connection, function);
	command_add(connection, "1");
	command_add(connection, SHARD);
}

static void schedule(struct connection *connection, const struct timer *timers,
		     __u32 count)
{
	__u32 i;

	call(connection, "hwt_schedule");
	for (i = 0; i < count; i++) {
		command_add(connection, timers[i].id);
		command_add(connection, timers[i].deadline);
		command_add(connection, timers[i].payload);
	}
	command_queue(connection);
}

static void cancel(struct connection *connection, const struct timer *timers,
		   __u32 count)
{
	__u32 i;

	call(connection, "hwt_cancel");
	for (i = 0; i < count; i++)
		command_add(connection, timers[i].id);
	command_queue(connection);
}

static __u64 left(struct connection *connection)
{
	redisReply *answer = ask(connection, "FCALL_RO hwt_stats 1 " SHARD);
	__u64 pending = 0;
	size_t i;

	for (i = 0; i + 1 < answer->elements; i += 2)
		if (!strcmp(answer->element[i]->str, "pending"))
			pending = answer->element[i + 1]->integer;
	freeReplyObject(answer);
	return pending;
}

/*
 * Entries are acknowledged at once, because the accounts are all that is done with them.
 * That goes out with the next read, in one round trip.
 */
static void take(struct connection *connection, struct ledger *ledger)
{
	redisReply *answer = stream_read(connection, ledger);

	call(connection, "hwt_ack");
	command_add(connection, GROUP);
	if (stream_ids(connection, answer))
		command_queue(connection);
	else
		command_drop(connection);
	freeReplyObject(answer);
}

const struct system system_hwtimerd = {
	.name = "hwtimerd",
	.replies = 1,
	.prepare = stream_prepare,
	.schedule = schedule,
	.cancel = cancel,
	.left = left,
	.take = take,
};
