/* SPDX-License-Identifier: MIT */
/* What is counted for each queue, and shown by metrics.c */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdint.h>

/** enum command - kinds of commands to Redis; command_names[] has their names */
enum command {
	COMMAND_CONNECT, /* what comes first on a connection: AUTH, ROLE ... */
	COMMAND_FIRE,
	COMMAND_LISTEN,
	COMMAND_LEAVE,
	COMMAND_METRICS,
	NR_COMMANDS
};

/* Bounds of the histogram's buckets are 1, 2, 4 ... ms; the last bucket has none. */
#define LATENESS_BUCKETS 20

/**
 * struct counters - counters of a queue since the daemon was started
 * @commands: commands sent, by kind
 * @reconnects: connections to Redis that were lost, or could not be made
 * @fired: timers that this daemon has moved to the stream "due"
 * @trimmed: entries of "due" that this daemon has removed
 * @flushes: times that the keys of a shard were gone
 * @lateness: histogram of lateness of @fired: Redis's time minus deadline
 * @lateness_sum: sum of the lateness of @fired, ms
 * @served: shards that we serve, when the metrics were last asked for
 * @pending: their timers
 * @due: entries of their streams "due"
 * @evicts: whether Redis may evict timers
 */
struct counters {
	uint64_t commands[NR_COMMANDS];
	uint64_t reconnects;
	uint64_t fired;
	uint64_t trimmed;
	uint64_t flushes;
	uint64_t lateness[LATENESS_BUCKETS];
	uint64_t lateness_sum;
	uint64_t served;
	uint64_t pending;
	uint64_t due;
	uint64_t evicts;
};

#endif /* COUNTERS_H */
