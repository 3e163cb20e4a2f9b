/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of accounts: see accounts.c. */
#ifndef ACCOUNTS_H
#define ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <hiredis/hiredis.h>

#define GROUP "workers"
#define CONSUMERS 3

/* Numbers that the command line sets; see usage(). Times are in ms. */
struct options {
	unsigned long shards, timers, rate, window, spread, far;
	unsigned long drop, die_with, claim_after;
	unsigned long replicas, patience, seed;
	unsigned long moving_clock, keep_far;
};

extern struct options options;

/* Returns a random number below @limit, which is not 0. */
uint64_t below(uint64_t limit);

static inline bool percent(unsigned int chance)
{
	return below(100) < chance;
}

/* Returns the time in ms in a reply to TIME. */
int64_t reply_time(const struct redisReply *reply);

/* produce.c */
void produce_open(void);
bool produce(unsigned int shard, unsigned int calls);
void produce_end(unsigned int shard);

/* consume.c */
void consume_open(void);
void audit(unsigned int shard);
bool consume(unsigned int shard);
bool consumed_all(unsigned int shard);

#endif
