// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user of hwtimerd who keeps exact accounts: schedules, moves and cancels timers at
 * random, consumes them, and checks at the end that each became what it must.
 *
 * It goes on while others kill, cut and stop what it talks to. No check depends on speed:
 * a timer may be late, but not early, and the end is when Redis says that no timer is
 * pending. It gives up only when nothing has happened for a long while.
 *
 * SIGTERM ends the production; the timers that are pending are still accounted for. "enough"
 * says when there were as many as it was told to make.
 */
#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounts.h"
#include "ledger.h"
#include "link.h"

struct options options = {
	.shards = 4,
	.timers = 10000,
	.rate = 2000,
	.window = 20000,
	.spread = 3000,
	.far = 3600000,
	.drop = 5,
	.claim_after = 300,
	.patience = 180,
};

/* The options that set a number */
static const struct setting {
	const char *name;
	unsigned long *value;
	const char *help;
} settings[] = {
	{ "shards", &options.shards, "shards of the queue" },
	{ "timers", &options.timers, "ids that are enough" },
	{ "rate", &options.rate, "ids a second, at most" },
	{ "window", &options.window, "timers pending, at most" },
	{ "spread", &options.spread, "longest delay, in ms" },
	{ "far", &options.far, "delay of a few timers, in ms" },
	{ "drop", &options.drop,
	  "percentage of reads after which a consumer dies" },
	{ "die-with", &options.die_with,
	  "a first consumer reads so many, then dies" },
	{ "claim-after", &options.claim_after,
	  "idle time until others claim, in ms" },
	{ "wait", &options.replicas,
	  "replicas that must have all before it counts" },
	{ "patience", &options.patience,
	  "seconds without any progress, at most" },
	{ "seed", &options.seed, "of the random numbers" },
	{ "moving-clock", &options.moving_clock,
	  "1: the clock of Redis will be set" },
	{ "keep-far", &options.keep_far,
	  "1: wait for timers that are far away, too" },
};

#define NR_SETTINGS (sizeof(settings) / sizeof(*settings))

static const char *addresses = "127.0.0.1:6379";
static bool told_to_end; /* by a signal */
static uint64_t random_state;

/* ---- helpers ---- */

/* xorshift64*, which the seed repeats */
uint64_t below(uint64_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 2685821657736338717ULL >> 32) % limit;
}

int64_t reply_time(const struct redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
		errx(1, "TIME: %s",
		     reply->str ? reply->str : "no array of two");
	return strtoll(reply->element[0]->str, NULL, 10) * 1000 +
	       strtoll(reply->element[1]->str, NULL, 10) / 1000;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* ---- options ---- */

static void usage(void)
{
	size_t i;

	fprintf(stderr,
		"accounts [--redis HOST:PORT[,HOST:PORT...]] [--OPTION NUMBER...]\n");
	for (i = 0; i < NR_SETTINGS; i++)
		fprintf(stderr, "  --%-12s %s (%lu)\n", settings[i].name,
			settings[i].help, *settings[i].value);
	exit(2);
}

static void set(const struct setting *setting, const char *text)
{
	char *end;

	*setting->value = strtoul(text, &end, 10);
	if (*end || end == text)
		errx(2, "--%s: not a number: %s", setting->name, text);
}

static void parse(int argc, char **argv)
{
	struct option known[NR_SETTINGS + 2] = {
		{ "redis", required_argument, NULL, 'r' },
	};
	int chosen, i;

	for (i = 0; i < (int)NR_SETTINGS; i++) {
		known[i + 1].name = settings[i].name;
		known[i + 1].has_arg = required_argument;
		known[i + 1].val = 1000 + i;
	}
	while ((chosen = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (chosen == 'r')
			addresses = optarg;
		else if (chosen >= 1000)
			set(&settings[chosen - 1000], optarg);
		else
			usage();
	}
	if (optind < argc || !options.shards || !options.spread ||
	    !options.rate)
		usage();
}

/* ---- the run ---- */

static void on_signal(int signal)
{
	__atomic_store_n(&told_to_end, true, __ATOMIC_RELAXED);
}

/* What fires again and again would keep us here for ever. */
static bool is_hopeless(void)
{
	return counts.duplicates + counts.wrong > options.timers;
}

/* Returns how many more ids the rate and the window allow now. */
static unsigned long allowed(uint64_t started)
{
	unsigned long by_now = (now_ms() - started) * options.rate / 1000;

	if (counts.waiting >= (long)options.window || counts.ids >= by_now)
		return 0;
	return by_now - counts.ids;
}

/* A call makes 8 new ids on average. */
static bool produce_all(uint64_t started)
{
	unsigned long each = allowed(started) / options.shards / 8;
	bool did_any = false;
	unsigned int shard;

	for (shard = 0; shard < options.shards; shard++)
		did_any |= produce(shard, each + below(2));
	return did_any;
}

static bool consume_all(void)
{
	bool found = false;
	unsigned int shard;

	for (shard = 0; shard < options.shards; shard++)
		found |= consume(shard);
	return found;
}

static void say(const char *what)
{
	printf("accounts: %s: ids=%lu waiting=%ld due=%lu uncertain=%lu refused=%lu\n",
	       what, counts.ids, counts.waiting, counts.due, counts.uncertain,
	       counts.refused);
}

static void run(void)
{
	uint64_t started = now_ms();
	bool enough = false, busy;

	while (!__atomic_load_n(&told_to_end, __ATOMIC_RELAXED) &&
	       !is_hopeless()) {
		busy = allowed(started) && produce_all(started);
		busy |= consume_all();
		if (!busy)
			idle(5);
		if (!enough && counts.ids >= options.timers) {
			say("enough");
			enough = true;
		}
	}
}

static bool all_consumed(void)
{
	unsigned int shard;

	for (shard = 0; shard < options.shards; shard++)
		if (!consumed_all(shard))
			return false;
	return true;
}

static void drain(void)
{
	unsigned int shard;

	for (shard = 0; shard < options.shards && !options.keep_far; shard++)
		produce_end(shard);
	say("draining");
	while (!all_consumed() && !is_hopeless())
		if (!consume_all())
			idle(20);
}

static void give_up(void)
{
	printf("accounts: nothing has happened for %lu s, and not all is done\n",
	       options.patience);
	ledger_balance(false);
	exit(1);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!options.seed)
		options.seed = time(NULL) * 1000003ULL ^ now_ms();
	random_state = options.seed;
	printf("accounts: seed=%lu\n", options.seed);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_signal);
	patience_set(options.patience, give_up);
	link_open(addresses, options.shards, options.replicas);
	produce_open();
	consume_open();
	say("running");
	run();
	drain();
	return !ledger_balance(true);
}
