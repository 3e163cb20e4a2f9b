/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes fired timers from the stream {bench:0}:due, as a consumer of a group.
 */
#ifndef REDIS_BENCH_STREAM_H
#define REDIS_BENCH_STREAM_H

#include "connection.h"
#include "ledger.h"

#define SHARD "{bench:0}"
#define DUE SHARD ":due"
#define GROUP "bench"

void stream_prepare(struct connection *connection);

/*
 * Reads up to 1,000 entries, waits up to 100 ms for the first, and enters them. Returns
 * the reply, for stream_ids() and freeReplyObject(). Replies that wait, all integers, are
 * read before.
 */
redisReply *stream_read(struct connection *connection, struct ledger *ledger);

/* Adds the entries' ids to the command under construction; returns how many there are. */
size_t stream_ids(struct connection *connection, const redisReply *answer);

#endif /* REDIS_BENCH_STREAM_H */
