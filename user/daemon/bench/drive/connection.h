/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One connection to Redis, with pipelining. Any error ends the program with a message:
 * a benchmark has nothing to save.
 */
#ifndef REDIS_BENCH_CONNECTION_H
#define REDIS_BENCH_CONNECTION_H

#include <hiredis/hiredis.h>
#include <linux/types.h>

/* Most arguments of one command: a batch of 1,000 timers, three each, and the head */
#define ARGS_MAX 3072

/**
 * struct connection - a connection to Redis
 * @redis: the connection of hiredis
 * @waiting: commands that were sent or queued, and whose reply was not read yet
 * @trips: commands of those in @round_trips that command_queue() has queued
 * @sum: sum of the replies that settle() read
 * @count: number of arguments of the command under construction
 * @args: its arguments
 * @lengths: their lengths in bytes
 */
struct connection {
	redisContext *redis;
	__u32 waiting;
	__u64 trips;
	__u64 sum;
	int count;
	const char *args[ARGS_MAX];
	size_t lengths[ARGS_MAX];
};

/*
 * Commands that clients send to take timers, or to make them fire; NULL ends them. No
 * script calls these, so the server's count of them is the number of round trips.
 */
extern const char *const round_trips[];

void connection_open(struct connection *connection, __u32 port);
void connection_close(struct connection *connection);

/* Builds a command: adds an argument. It must stay valid until command_queue(). */
void command_add(struct connection *connection, const char *arg);

/* Queues the command that was built. settle() or reply() reads its reply. */
void command_queue(struct connection *connection);

/* Forgets the command that was built. */
void command_drop(struct connection *connection);

/* Sends what is queued, and reads replies, all integers, until at most @most wait. */
void settle(struct connection *connection, __u32 most);

/* Sends what is queued, and returns the next reply; free it with freeReplyObject(). */
redisReply *reply(struct connection *connection);

/* Runs one command of printf style and returns its reply. No other reply may wait. */
redisReply *ask(struct connection *connection, const char *format, ...);

/* As ask(), without the reply */
void tell(struct connection *connection, const char *format, ...);

#endif /* REDIS_BENCH_CONNECTION_H */
