// SPDX-License-Identifier: GPL-2.0
/*
 * What redis-drive measures; see measure.h.
 */
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "emit.h"
#include "measure.h"
#include "numbers.h"

#define HOUR 3600000ULL

/* Calls in flight while timers are scheduled */
#define PIPELINED 200

/* Timers that have not come so long after the last deadline, in ms, are lost. */
#define PATIENCE 60000

/* Round trips that are timed */
#define PINGS 1001

/* One timer in so many is cancelled by the check. */
#define CANCELLED 4

typedef void queue_fn(struct connection *connection, const struct timer *timers,
		      __u32 count);

/* Queues calls for some timers, pipelined; returns the sum of the replies. */
static __u64 apply(struct connection *connection, queue_fn *queue,
		   const struct timer *timers, __u32 count, __u32 batch)
{
	__u32 i, part;

	connection->sum = 0;
	for (i = 0; i < count; i += part) {
		part = count - i < batch ? count - i : batch;
		queue(connection, &timers[i], part);
		if (connection->waiting >= PIPELINED)
			settle(connection, PIPELINED / 2);
	}
	settle(connection, 0);
	return connection->sum;
}

/* Schedules all timers of the ledger; returns how long it took, in s. */
static double schedule(struct connection *connection, const struct plan *plan,
		       const struct ledger *ledger)
{
	__u64 start = now_us();
	__u64 sum = apply(connection, plan->system->schedule, ledger->timers,
			  ledger->count, plan->batch);

	if (sum != (__u64)ledger->count * plan->system->replies)
		errx(1, "%u timers scheduled, but the replies add up to %llu",
		     ledger->count, sum);
	return (now_us() - start) / 1e6;
}

/* Fills an empty server with timers that are an hour away, spread over an hour. */
static double fill(const struct plan *plan)
{
	struct connection connection;
	struct ledger ledger;
	double seconds;

	ledger_make(&ledger, plan->timers, now_us() / 1000 + HOUR, HOUR);
	connection_open(&connection, plan->port);
	plan->system->prepare(&connection);
	seconds = schedule(&connection, plan, &ledger);
	connection_close(&connection);
	ledger_free(&ledger);
	return seconds;
}

void measure_schedule(const struct plan *plan)
{
	char phase[64] = "schedule, one per call";

	if (plan->batch > 1)
		snprintf(phase, sizeof(phase), "schedule, batches of %u",
			 plan->batch);
	emit(phase, plan->timers / fill(plan), "1/s");
}

/* A number in the text of INFO, by what stands before it; 0: it is not there */
static double info(const char *text, const char *name)
{
	const char *found = strstr(text, name);

	return found ? strtod(found + strlen(name), NULL) : 0;
}

/* A new connection asks: the server counts the buffers of old ones, too. */
static double memory_used(const struct plan *plan)
{
	struct connection connection;
	redisReply *answer;
	double value;

	connection_open(&connection, plan->port);
	answer = ask(&connection, "INFO memory");
	value = info(answer->str, "used_memory:");
	freeReplyObject(answer);
	connection_close(&connection);
	return value;
}

void measure_memory(const struct plan *plan)
{
	double before = memory_used(plan);

	fill(plan);
	emit("memory", (memory_used(plan) - before) / plan->timers, "B");
}

/**
 * struct watched - what clients sent to an idle server
 * @upkeep: the daemon's leases and heartbeats
 * @others: all other commands
 */
struct watched {
	__u32 upkeep;
	__u32 others;
};

/* Counts a line of MONITOR: TIME [DB ADDRESS] "COMMAND" "ARGUMENT"... */
static void count_command(struct watched *watched, const char *line)
{
	if (strstr(line, " lua]"))
		return; /* called by a script: no client sent it */
	if (strstr(line, "\"hwt_lease\"") || strstr(line, "\"hwt_join\""))
		watched->upkeep++;
	else
		watched->others++;
}

static void watch(struct connection *connection, struct watched *watched,
		  __u32 seconds)
{
	struct pollfd ready = { connection->redis->fd, POLLIN, 0 };
	__u64 end = now_us() + seconds * 1000000ULL;
	redisReply *line;

	while (now_us() < end) {
		if (poll(&ready, 1, 100) < 1)
			continue;
		if (redisBufferRead(connection->redis) != REDIS_OK)
			errx(1, "Redis: %s", connection->redis->errstr);
		while (redisGetReplyFromReader(connection->redis,
					       (void **)&line) == REDIS_OK &&
		       line) {
			count_command(watched, line->str);
			freeReplyObject(line);
		}
	}
}

void measure_monitor(const struct plan *plan)
{
	struct watched watched = { 0 };
	struct connection connection;

	connection_open(&connection, plan->port);
	tell(&connection, "MONITOR");
	watch(&connection, &watched, plan->seconds);
	emit("idle", (double)watched.others / plan->seconds, "1/s");
	emit("idle, leases and heartbeats",
	     (double)watched.upkeep / plan->seconds, "1/s");
	connection_close(&connection);
}

/* Starts a process that makes timers fire until we end, unless a daemon does so. */
static void fire_meanwhile(const struct plan *plan, _Bool take)
{
	struct connection connection;
	struct ledger none = { 0 };

	take = take && plan->system->takes_fire;
	if ((!take && !plan->system->turn) || fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	connection_open(&connection, plan->port);
	for (;;)
		if (take)
			plan->system->take(&connection, &none);
		else
			plan->system->turn(&connection);
}

void measure_idle(const struct plan *plan)
{
	fill(plan);
	fire_meanwhile(plan, 1);
	/* By then, a daemon has learned that it has nothing to do. */
	sleep(5);
	measure_monitor(plan);
}

/**
 * struct effort - what a server has done
 * @trips: round trips of its clients
 * @commands: all commands, also those that scripts called
 * @cpu: processor time in us
 */
struct effort {
	double trips;
	double commands;
	double cpu;
};

static struct effort effort(struct connection *connection)
{
	redisReply *answer = ask(connection, "INFO all");
	struct effort so_far = { 0 };
	char name[64];
	size_t i;

	for (i = 0; round_trips[i]; i++) {
		snprintf(name, sizeof(name),
			 "cmdstat_%s:calls=", round_trips[i]);
		so_far.trips += info(answer->str, name);
	}
	so_far.commands = info(answer->str, "total_commands_processed:");
	so_far.cpu = (info(answer->str, "used_cpu_sys:") +
		      info(answer->str, "used_cpu_user:")) *
		     1e6;
	freeReplyObject(answer);
	return so_far;
}

/**
 * struct run - timers from their schedule to their delivery
 * @connection: the connection of the producer and consumer
 * @ledger: the accounts
 * @effort: what the server did from the first deadline on
 * @start: the first deadline, ms since 1970
 * @end: the last deadline
 */
struct run {
	struct connection connection;
	struct ledger ledger;
	struct effort effort;
	__u64 start;
	__u64 end;
};

static void run_begin(struct run *run, const struct plan *plan, __u64 spread)
{
	run->start = now_us() / 1000 + plan->lead;
	run->end = run->start + spread;
	ledger_make(&run->ledger, plan->timers, run->start, spread);
	connection_open(&run->connection, plan->port);
	plan->system->prepare(&run->connection);
	schedule(&run->connection, plan, &run->ledger);
	fire_meanwhile(plan, 0);
}

/* Waits for the first deadline. */
static void run_wait(struct run *run, const struct plan *plan)
{
	__u64 now = now_us() / 1000;

	if (now > run->start)
		errx(1, "%u ms were too short to schedule %u timers",
		     plan->lead, plan->timers);
	usleep((run->start - now) * 1000);
}

/* Takes @count timers, or what comes until the rest counts as lost. */
static void run_take(struct run *run, const struct plan *plan, __u32 count)
{
	struct connection *connection = &run->connection;
	struct effort before = effort(connection), after;
	__u64 trips = connection->trips;

	while (run->ledger.fired < count &&
	       now_us() < (run->end + PATIENCE) * 1000)
		plan->system->take(connection, &run->ledger);
	settle(connection, 0);
	trips = connection->trips - trips;
	after = effort(connection);
	run->effort.trips = after.trips - before.trips;
	if (!plan->system->takes_fire)
		run->effort.trips -= trips; /* the consumer's own */
	run->effort.commands = after.commands - before.commands;
	run->effort.cpu = after.cpu - before.cpu;
}

static void run_end(struct run *run)
{
	connection_close(&run->connection);
	if (!ledger_balanced(&run->ledger))
		exit(1);
	ledger_free(&run->ledger);
}

static void emit_lateness(struct ledger *ledger, const char *of)
{
	static const struct {
		const char *name;
		double share;
	} shares[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "max", 1 } };
	char phase[64];
	size_t i;

	for (i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		snprintf(phase, sizeof(phase), "%s, %s", of, shares[i].name);
		emit(phase,
		     quantile(ledger->lateness, ledger->fired, shares[i].share),
		     "ms");
	}
}

void measure_burst(const struct plan *plan)
{
	struct run run;

	run_begin(&run, plan, 0);
	run_wait(&run, plan);
	run_take(&run, plan, plan->timers);
	emit("fire",
	     plan->timers * 1000. /
		     quantile(run.ledger.lateness, run.ledger.fired, 1),
	     "1/s");
	run_end(&run);
}

/* The median time of a command that does nothing, us */
static double round_trip(struct connection *connection)
{
	double times[PINGS];
	__u64 start;
	__u32 i;

	for (i = 0; i < PINGS; i++) {
		start = now_us();
		tell(connection, "PING");
		times[i] = now_us() - start;
	}
	return quantile(times, PINGS, 0.5);
}

void measure_lateness(const struct plan *plan)
{
	struct run run;

	run_begin(&run, plan, plan->timers * 1000ULL / plan->rate);
	emit("one round trip", round_trip(&run.connection), "us");
	run_wait(&run, plan);
	run_take(&run, plan, plan->timers);
	emit("rate", plan->rate, "1/s");
	/* A system that falls behind is late by more and more: see `behind`. */
	emit("behind", run.ledger.now / 1000. - run.end, "ms");
	emit_lateness(&run.ledger, "lateness");
	emit("round trips", run.effort.trips / plan->timers, "per timer");
	emit("commands", run.effort.commands / plan->timers, "per timer");
	emit("processor time of Redis", run.effort.cpu / plan->timers,
	     "us per timer");
	run_end(&run);
}

void measure_check(const struct plan *plan)
{
	__u32 i, some = plan->timers / CANCELLED;
	struct run run;
	__u64 sum;

	run_begin(&run, plan, plan->timers * 1000ULL / plan->rate);
	sum = apply(&run.connection, plan->system->cancel, run.ledger.timers,
		    some, plan->batch);
	if (sum != (__u64)some * plan->system->replies)
		errx(1, "%u timers cancelled, but the replies add up to %llu",
		     some, sum);
	for (i = 0; i < some; i++)
		run.ledger.timers[i].cancelled++;
	run_wait(&run, plan);
	run_take(&run, plan, plan->timers - some);
	/* What comes now is one too many. */
	run.end = now_us() / 1000 - PATIENCE + 1000;
	run_take(&run, plan, plan->timers);
	if (plan->system->left(&run.connection))
		errx(1, "%llu timers are left in Redis",
		     plan->system->left(&run.connection));
	run_end(&run);
}
