// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a Redis server with pipelined commands and prints how many timers it handled in a
 * second, and the server's processor time for each in ns. Called by user/daemon/bench/redis.sh,
 * which compares workloads.
 *
 *	usage: redis-load PORT WORKLOAD COUNT
 *
 * Each workload handles COUNT timers with different ids:
 *
 *	hset		HSET of id and record, one timer a command: what hwt_schedule is compared to
 *	schedule	hwt_schedule, one timer a call
 *	batch		hwt_schedule, 100 timers a call, with deadlines all over the hour
 *	fanout		hwt_schedule, 100 timers a call, which have the same delay
 *	floor		bench_floor with the calls of `batch`: only the writes that no library
 *			can do without
 *	zset		ZADD and HSET of the same timers: what the memory is compared to
 *	xadd		XADD of the fields that a fired timer has
 *	due		hwt_schedule of timers of the past, then one daemon's turns that load them
 *			(not a measurement)
 *	fire		hwt_turn with the ids of `due`, FIRE_BATCH a call
 *
 * The deadlines of all but `due` lie within an hour, in random order, from a fixed time in
 * the far future on: nobody loads them. Commands are made while others wait for the server,
 * so the server is the bottleneck if there are two processors.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEY "{bench:0}"
#define CONNECTIONS 8
#define PIPELINE 128
#define BATCH 100
#define FIRE_BATCH 256
#define HOUR 3600000
#define BATCH_MS 360 /* between two batches, of 10,000 in the hour */
#define FIRST_MS 4000000000000ULL /* 2096, 13 digits */
#define PAST_MS 1600000000000ULL /* 2020 */
#define COMMAND_SIZE 65536

static const char payload[] = "0123456789abcdef0123456789abcdef";

/* What a daemon passes from turn to turn */
static char cursor[64], position[64];

struct command {
	char *text;
	size_t len;
};

struct workload {
	const char *name;
	unsigned int items; /* of one command */
	unsigned int commands; /* without waiting for a reply */
	unsigned int connections;
	void (*format)(struct command *cmd, unsigned long item,
		       unsigned int count);
};

static void die(const char *what)
{
	fprintf(stderr, "redis-load: %s\n", what);
	exit(1);
}

/* Builds a command by hand: redisFormatCommand() would take longer than the server. */
static void begin(struct command *cmd, unsigned int words)
{
	cmd->len += sprintf(cmd->text + cmd->len, "*%u\r\n", words);
}

static void word(struct command *cmd, const char *text, size_t len)
{
	char *p = cmd->text + cmd->len;

	p += sprintf(p, "$%zu\r\n", len);
	memcpy(p, text, len);
	memcpy(p + len, "\r\n", 2);
	cmd->len = p + len + 2 - cmd->text;
}

#define WORD(cmd, text) word(cmd, text, sizeof(text) - 1)

static void number(struct command *cmd, unsigned long long value)
{
	char text[24];

	word(cmd, text, sprintf(text, "%llu", value));
}

/* An id as programs have them, 14 bytes */
static void id(struct command *cmd, unsigned long item)
{
	char text[32];

	word(cmd, text, sprintf(text, "order-%08lu", item));
}

/* The same item always has the same deadline; items one after another have distant ones. */
static unsigned long long deadline_of(unsigned long item)
{
	return FIRST_MS + (item * 2654435761ULL) % HOUR;
}

static void record(struct command *cmd, unsigned long item)
{
	char text[80];

	word(cmd, text, sprintf(text, "%llu %s", deadline_of(item), payload));
}

static void format_hset(struct command *cmd, unsigned long item,
			unsigned int count)
{
	(void)count;
	begin(cmd, 4);
	WORD(cmd, "HSET");
	WORD(cmd, KEY);
	id(cmd, item);
	record(cmd, item);
}

static void begin_call(struct command *cmd, const char *function,
		       unsigned int args)
{
	begin(cmd, args + 4);
	WORD(cmd, "FCALL");
	word(cmd, function, strlen(function));
	WORD(cmd, "1");
	WORD(cmd, KEY);
}

static void begin_timers(struct command *cmd, const char *function,
			 unsigned long item, unsigned int count)
{
	begin_call(cmd, function, 3 * count);
	for (; count; item++, count--) {
		id(cmd, item);
		number(cmd, deadline_of(item));
		WORD(cmd, payload);
	}
}

static void format_schedule(struct command *cmd, unsigned long item,
			    unsigned int count)
{
	begin_timers(cmd, "hwt_schedule", item, count);
}

static void format_floor(struct command *cmd, unsigned long item,
			 unsigned int count)
{
	begin_timers(cmd, "bench_floor", item, count);
}

/* What a program does that collects its timeouts for a while */
static void format_fanout(struct command *cmd, unsigned long item,
			  unsigned int count)
{
	begin_call(cmd, "hwt_schedule", 3 * count);
	for (; count; item++, count--) {
		id(cmd, item);
		number(cmd, FIRST_MS + item / BATCH * BATCH_MS % HOUR);
		WORD(cmd, payload);
	}
}

static void format_zset(struct command *cmd, unsigned long item,
			unsigned int count)
{
	(void)count;
	begin(cmd, 4);
	WORD(cmd, "ZADD");
	WORD(cmd, KEY ":timers");
	number(cmd, deadline_of(item));
	id(cmd, item);
	begin(cmd, 4);
	WORD(cmd, "HSET");
	WORD(cmd, KEY);
	id(cmd, item);
	WORD(cmd, payload);
}

static void format_xadd(struct command *cmd, unsigned long item,
			unsigned int count)
{
	(void)count;
	begin(cmd, 9);
	WORD(cmd, "XADD");
	WORD(cmd, KEY ":due");
	WORD(cmd, "*");
	WORD(cmd, "id");
	id(cmd, item);
	WORD(cmd, "deadline");
	number(cmd, PAST_MS + item / 4);
	WORD(cmd, "payload");
	WORD(cmd, payload);
}

/* Timers that expire in the order of their numbers, four a ms */
static void format_due(struct command *cmd, unsigned long item,
		       unsigned int count)
{
	begin_call(cmd, "hwt_schedule", 3 * count);
	for (; count; item++, count--) {
		id(cmd, item);
		number(cmd, PAST_MS + item / 4);
		WORD(cmd, payload);
	}
}

static void format_fire(struct command *cmd, unsigned long item,
			unsigned int count)
{
	begin_call(cmd, "hwt_turn", 5 + count);
	WORD(cmd, "bench");
	word(cmd, cursor, strlen(cursor));
	word(cmd, position, strlen(position));
	WORD(cmd, "0");
	WORD(cmd, "1000");
	for (; count; item++, count--)
		id(cmd, item);
}

/* A daemon has one turn in flight; the second one here hides this program's own work. */
static const struct workload workloads[] = {
	{ "hset", 1, PIPELINE, CONNECTIONS, format_hset },
	{ "schedule", 1, PIPELINE, CONNECTIONS, format_schedule },
	{ "batch", BATCH, 2, CONNECTIONS, format_schedule },
	{ "fanout", BATCH, 2, CONNECTIONS, format_fanout },
	{ "floor", BATCH, 2, CONNECTIONS, format_floor },
	{ "zset", 1, PIPELINE, CONNECTIONS, format_zset },
	{ "xadd", 1, PIPELINE, CONNECTIONS, format_xadd },
	{ "due", BATCH, 2, CONNECTIONS, format_due },
	{ "fire", FIRE_BATCH, 2, 1, format_fire },
};

static redisContext *connect_to(int port)
{
	redisContext *redis = redisConnect("127.0.0.1", port);

	if (!redis || redis->err)
		die(redis ? redis->errstr : "out of memory");
	return redis;
}

struct run {
	const struct workload *work;
	unsigned long next, end;
	struct command cmd;
	unsigned long fired;
};

static void send_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n <= 0)
			die(strerror(errno));
		text += n;
		len -= n;
	}
}

/* Sends the next commands on a connection; returns how many replies there will be. */
static unsigned int send_some(struct run *run, redisContext *redis)
{
	unsigned int sent;

	run->cmd.len = 0;
	for (sent = 0; sent < run->work->commands && run->next < run->end;
	     sent++) {
		unsigned long count = run->end - run->next;

		if (count > run->work->items)
			count = run->work->items;
		run->work->format(&run->cmd, run->next, count);
		run->next += count;
	}
	send_all(redis->fd, run->cmd.text, run->cmd.len);
	return run->work->format == format_zset ? 2 * sent : sent;
}

static void check_reply(struct run *run, const redisReply *reply)
{
	const char *result;

	if (reply->type == REDIS_REPLY_ERROR)
		die(reply->str);
	if (run->work->format != format_fire)
		return;
	for (result = reply->element[6]->str; *result; result++)
		run->fired += *result == '1';
}

static void receive(struct run *run, redisContext *redis, unsigned int *waiting)
{
	redisReply *reply;

	if (redisBufferRead(redis) != REDIS_OK)
		die(redis->errstr);
	while (*waiting) {
		if (redisGetReplyFromReader(redis, (void **)&reply) != REDIS_OK)
			die(redis->errstr);
		if (!reply)
			break;
		check_reply(run, reply);
		freeReplyObject(reply);
		--*waiting;
	}
}

static void run_all(struct run *run, int port)
{
	const unsigned int connections = run->work->connections;
	redisContext *redis[CONNECTIONS];
	unsigned int waiting[CONNECTIONS], i, busy = 0;
	struct pollfd fds[CONNECTIONS];

	for (i = 0; i < connections; i++) {
		redis[i] = connect_to(port);
		fds[i] =
			(struct pollfd){ .fd = redis[i]->fd, .events = POLLIN };
		waiting[i] = send_some(run, redis[i]);
		busy += waiting[i] > 0;
	}
	while (busy) {
		if (poll(fds, connections, -1) < 0)
			die(strerror(errno));
		for (i = 0; i < connections; i++) {
			if (!(fds[i].revents & (POLLIN | POLLHUP)) ||
			    !waiting[i])
				continue;
			receive(run, redis[i], &waiting[i]);
			if (!waiting[i])
				waiting[i] = send_some(run, redis[i]);
			busy -= !waiting[i];
		}
	}
	for (i = 0; i < connections; i++)
		redisFree(redis[i]);
}

#define TURN_TO_LOAD "FCALL hwt_turn 1 %s bench %s %s 0 10000"

/* Turns until the daemon has loaded all, so that later ones only fire */
static void load_due(int port)
{
	redisContext *redis = connect_to(port);
	long long more = 1;

	snprintf(position, sizeof(position), "0");
	while (more) {
		redisReply *reply;

		reply = redisCommand(redis, TURN_TO_LOAD, KEY, cursor,
				     position);
		if (!reply || reply->type == REDIS_REPLY_ERROR)
			die(reply ? reply->str : redis->errstr);
		snprintf(cursor, sizeof(cursor), "%s", reply->element[2]->str);
		snprintf(position, sizeof(position), "%s",
			 reply->element[3]->str);
		more = reply->element[5]->integer;
		freeReplyObject(reply);
	}
	redisFree(redis);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Processor time of the server's main thread */
static double server_seconds(int port)
{
	redisContext *redis = connect_to(port);
	redisReply *reply = redisCommand(redis, "INFO cpu");
	const char *user, *system;
	double sum;

	user = reply ? strstr(reply->str, "used_cpu_user_main_thread:") : NULL;
	system = reply ? strstr(reply->str, "used_cpu_sys_main_thread:") : NULL;
	if (!user || !system)
		die("INFO cpu lacks the main thread");
	sum = atof(strchr(user, ':') + 1) + atof(strchr(system, ':') + 1);
	freeReplyObject(reply);
	redisFree(redis);
	return sum;
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	double start, used;
	int port;
	size_t i;

	if (argc != 4)
		die("usage: redis-load PORT WORKLOAD COUNT");
	port = atoi(argv[1]);
	for (i = 0; i < sizeof(workloads) / sizeof(*workloads); i++) {
		if (!strcmp(workloads[i].name, argv[2]))
			run.work = &workloads[i];
	}
	if (!run.work)
		die("no such workload");
	run.end = strtoul(argv[3], NULL, 10);
	run.cmd.text = malloc(COMMAND_SIZE);
	if (!run.cmd.text)
		die("out of memory");
	if (run.work->format == format_fire)
		load_due(port);

	used = server_seconds(port);
	start = seconds();
	run_all(&run, port);
	start = seconds() - start;
	used = server_seconds(port) - used;
	printf("%.0f %.0f\n", run.end / start, used / run.end * 1e9);
	if (run.work->format == format_fire && run.fired != run.end)
		die("not all timers were fired");
	return 0;
}
