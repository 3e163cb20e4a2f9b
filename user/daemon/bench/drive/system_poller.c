// SPDX-License-Identifier: GPL-2.0
/*
 * The classic: a sorted set of ids by deadline, a hash of payloads, and a program that
 * polls. It pops at most POP timers in a script, so that several pollers can share the
 * set, and after a full pop it polls again at once.
 *
 * "poller" is the consumer itself: what it has popped is lost if it dies. "stream-poller"
 * promises what hwtimerd does, because its script appends what it pops to a stream, from
 * which a consumer takes.
 */
#include <stdio.h>
#include <time.h>

#include "stream.h"
#include "system.h"

#define SET SHARD ":set"
#define PAYLOADS SHARD ":payloads"
#define POP 1000

__u32 poller_period = 10;

#define POP_SCRIPT                                                    \
	"local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', "   \
	"    ARGV[1], 'LIMIT', 0, ARGV[2]) "                          \
	"if #ids == 0 then return {} end "                            \
	"local payloads = redis.call('HMGET', KEYS[2], unpack(ids)) " \
	"redis.call('ZREM', KEYS[1], unpack(ids)) "                   \
	"redis.call('HDEL', KEYS[2], unpack(ids)) "

#define RETURN_ALL "return {ids, payloads}"

#define APPEND_ALL                                        \
	"for i, id in ipairs(ids) do "                    \
	"    redis.call('XADD', KEYS[3], '*', 'id', id, " \
	"        'payload', payloads[i]) "                \
	"end "                                            \
	"return {ids}"

/* The script's SHA-1 */
static char sha[48];

static void load_script(struct connection *connection, const char *script)
{
	redisReply *answer = ask(connection, "SCRIPT LOAD %s", script);

	snprintf(sha, sizeof(sha), "%s", answer->str);
	freeReplyObject(answer);
}

static void prepare(struct connection *connection)
{
	load_script(connection, POP_SCRIPT RETURN_ALL);
}

static void prepare_stream(struct connection *connection)
{
	load_script(connection, POP_SCRIPT APPEND_ALL);
	stream_prepare(connection);
}

static void schedule(struct connection *connection, const struct timer *timers,
		     __u32 count)
{
	__u32 i;

	command_add(connection, "ZADD");
	command_add(connection, SET);
	for (i = 0; i < count; i++) {
		command_add(connection, timers[i].deadline);
		command_add(connection, timers[i].id);
	}
	command_queue(connection);
	command_add(connection, "HSET");
	command_add(connection, PAYLOADS);
	for (i = 0; i < count; i++) {
		command_add(connection, timers[i].id);
		command_add(connection, timers[i].payload);
	}
	command_queue(connection);
}

static void cancel(struct connection *connection, const struct timer *timers,
		   __u32 count)
{
	const char *const heads[][2] = { { "ZREM", SET },
					 { "HDEL", PAYLOADS } };
	__u32 head, i;

	for (head = 0; head < 2; head++) {
		command_add(connection, heads[head][0]);
		command_add(connection, heads[head][1]);
		for (i = 0; i < count; i++)
			command_add(connection, timers[i].id);
		command_queue(connection);
	}
}

static __u64 left(struct connection *connection)
{
	redisReply *ids = ask(connection, "ZCARD " SET);
	redisReply *payloads = ask(connection, "HLEN " PAYLOADS);
	__u64 sum = ids->integer + payloads->integer;

	freeReplyObject(ids);
	freeReplyObject(payloads);
	return sum;
}

static redisReply *poll_once(struct connection *connection)
{
	return ask(connection,
		   "EVALSHA %s 3 " SET " " PAYLOADS " " DUE " %llu %u", sha,
		   now_us() / 1000, POP);
}

/* Sleeps until the next multiple of the period, so that polls are one period apart. */
static void sleep_unless_full(const redisReply *answer)
{
	__u64 period = poller_period * 1000ULL;
	__u64 next = (now_us() / period + 1) * period;
	struct timespec time = { next / 1000000, next % 1000000 * 1000 };

	if (!answer->elements || answer->element[0]->elements < POP)
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
}

static void take(struct connection *connection, struct ledger *ledger)
{
	redisReply *answer = poll_once(connection);
	size_t i;

	ledger->now = now_us();
	for (i = 0; answer->elements && i < answer->element[0]->elements; i++)
		ledger_fired(ledger, answer->element[0]->element[i]->str,
			     answer->element[1]->element[i]->str);
	sleep_unless_full(answer);
	freeReplyObject(answer);
}

static void turn(struct connection *connection)
{
	redisReply *answer = poll_once(connection);

	sleep_unless_full(answer);
	freeReplyObject(answer);
}

/* See take() in system_hwtimerd.c. */
static void take_stream(struct connection *connection, struct ledger *ledger)
{
	static const char *const removals[] = { "XACK", "XDEL" };
	redisReply *answer = stream_read(connection, ledger);
	size_t i;

	for (i = 0; i < 2; i++) {
		command_add(connection, removals[i]);
		command_add(connection, DUE);
		if (i == 0)
			command_add(connection, GROUP);
		if (stream_ids(connection, answer))
			command_queue(connection);
		else
			command_drop(connection);
	}
	freeReplyObject(answer);
}

const struct system system_poller = {
	.name = "poller",
	.replies = 2,
	.takes_fire = 1,
	.prepare = prepare,
	.schedule = schedule,
	.cancel = cancel,
	.left = left,
	.take = take,
};

const struct system system_stream_poller = {
	.name = "stream-poller",
	.replies = 2,
	.turn = turn,
	.prepare = prepare_stream,
	.schedule = schedule,
	.cancel = cancel,
	.left = left,
	.take = take_stream,
};
