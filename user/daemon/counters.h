/* SPDX-License-Identifier: MIT */
/* What is counted for each queue, and shown by metrics.c */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdint.h>

/** enum command - kinds of commands to Redis; command_names[] has their names */
enum command {
	COMMAND_CONNECT, /* AUTH, hwt_version and ROLE, after connecting */
	COMMAND_TIME,
	COMMAND_JOIN,
	COMMAND_LEAVE,
	COMMAND_CHANGES,
	COMMAND_LEASE,
	COMMAND_RELEASE,
	COMMAND_SETUP,
	COMMAND_TURN,
	COMMAND_TRIM,
	COMMAND_LISTEN,
	COMMAND_METRICS,
	NR_COMMANDS
};

extern const char *const command_names[NR_COMMANDS];

/* Bounds of the histogram's buckets are 1, 2, 4 ... ms; the last bucket has none. */
#define LATENESS_BUCKETS 20

/**
 * struct counters - counters of a queue since the daemon was started
 * @commands: commands sent, by kind
 * @reconnects: connections to Redis that were lost, or could not be made
 * @fired: timers that this daemon has moved to the stream "due"
 * @trimmed: entries of "due" that this daemon has removed
 * @gone: timers that were cancelled, or fired by another daemon, before we fired them
 * @early: timers that had been moved to a later time when we fired them
 * @loaded: timers that this daemon got to know
 * @refused: timers that the kernel or the memory had no room for; they stay in Redis
 * @resets: turns that read all slots anew
 * @clock_jumps: jumps of Redis's clock, or ours
 * @leases_lost: shards that were lost because the lease was not renewed in time
 * @lateness: histogram of lateness of @fired: Redis's time minus deadline
 * @lateness_sum: sum of the lateness of @fired, ms
 */
struct counters {
	uint64_t commands[NR_COMMANDS];
	uint64_t reconnects;
	uint64_t fired;
	uint64_t trimmed;
	uint64_t gone;
	uint64_t early;
	uint64_t loaded;
	uint64_t refused;
	uint64_t resets;
	uint64_t clock_jumps;
	uint64_t leases_lost;
	uint64_t lateness[LATENESS_BUCKETS];
	uint64_t lateness_sum;
};

void count_fired(struct counters *counters, int64_t lateness);

#endif /* COUNTERS_H */
