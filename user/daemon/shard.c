// SPDX-License-Identifier: MIT
/* Serves a shard; see shard.h. */
#include "shard.h"
#include "reply.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call of hwt_fire moves at most so many timers, and payloads of about so many bytes. */
#define FIRE_COUNT 1000
#define FIRE_BYTES 1000000

/* After a call that has removed so many entries, there may be more to remove. */
#define TRIM_MANY 500

/* To look at so many groups of consumers costs little each third of a lease. */
#define GROUPS_CHEAP 100

/* What the functions count as: after all deadlines */
#define NEVER INT64_MAX

/* ms: the last time that the functions know */
#define TIME_MAX (1LL << 53)

/* Shards that have not been left */
static unsigned int nr_joined;

static void call_fire(struct shard *shard);

/* ---- when to call ---- */

static void plan(struct shard *shard)
{
	int64_t when = shard->renew;

	if (shard->calling || shard->is_leaving ||
	    !link_is_up(&shard->commander))
		return;
	if (shard->is_ours && shard->first < when)
		when = shard->first;
	if (shard->is_ours && shard->heard < when)
		when = shard->heard;
	if (when < shard->earliest)
		when = shard->earliest;
	alarm_set(&shard->alarm, when - now_ns());
}

static void on_alarm(void *arg)
{
	struct shard *shard = arg;

	if (!shard->calling && !shard->is_leaving &&
	    link_is_up(&shard->commander))
		call_fire(shard);
}

/* ---- hwt_fire ---- */

/**
 * struct fired - the answer to hwt_fire; see functions/hwtimer.lua
 */
struct fired {
	const struct redisReply *daemon;
	int64_t now;
	int64_t next;
	int64_t is_fresh;
	int64_t count;
	int64_t trimmed;
	int64_t groups;
	const struct redisReply *lateness;
};

static bool parse_time(const struct redisReply *reply, int64_t *time)
{
	return reply_number(reply, time) && *time >= -1 && *time <= TIME_MAX;
}

static bool parse_fired(const struct redisReply *reply, struct fired *fired)
{
	struct redisReply **part = reply->element;

	if (!reply_is_array(reply, 8) || !reply_is_text(part[0]) ||
	    !reply_is_array(part[7], 1))
		return false;
	fired->daemon = part[0];
	fired->lateness = part[7];
	return parse_time(part[1], &fired->now) &&
	       parse_time(part[2], &fired->next) &&
	       reply_number(part[3], &fired->is_fresh) &&
	       reply_number(part[4], &fired->count) &&
	       reply_number(part[5], &fired->trimmed) &&
	       reply_number(part[6], &fired->groups);
}

static void count_lateness(struct counters *counters,
			   const struct redisReply *lateness)
{
	int64_t power, count, sum;
	size_t i;

	if (reply_number(lateness->element[0], &sum) && sum > 0)
		counters->lateness_sum += sum;
	for (i = 1; i + 1 < lateness->elements; i += 2) {
		if (!reply_number(lateness->element[i], &power) ||
		    !reply_number(lateness->element[i + 1], &count))
			continue;
		if (power < 0 || power > LATENESS_BUCKETS - 1)
			power = LATENESS_BUCKETS - 1;
		counters->lateness[power] += count;
	}
}

static void tell_if_flushed(struct shard *shard, bool is_fresh)
{
	if (is_fresh && shard->is_known) {
		say(LOG_ERR,
		    "%s: its keys are gone (FLUSHALL?): the limits are written again",
		    shard->key);
		shard->counters->flushes++;
		snprintf(shard->cursor, CURSOR_ROOM, "0-0");
	}
	shard->is_known = true;
}

static void plan_trim(struct shard *shard, const struct fired *fired)
{
	if (shard->trim_in)
		return;
	shard->trim_in = 1 + fired->groups / GROUPS_CHEAP;
	if (fired->trimmed >= TRIM_MANY) {
		shard->trim_in = 0;
		shard->first = now_ns();
	}
}

static void take_fired(struct shard *shard, const struct fired *fired)
{
	/* What is due from now on, by Redis's clock */
	int64_t us = fired->next * 1000 - fired->now;

	shard->is_ours = reply_is(fired->daemon, shard->options->name);
	/* A renewal looks again long before what is days away, and 300 years are too many ns. */
	shard->first = fired->next < 0 || us > INT32_MAX * 1000LL ?
			       NEVER :
			       now_ns() + us * 1000;
	/* More timers are due already: there is no time to wait. */
	if (shard->is_ours && fired->next >= 0 && us <= 0)
		shard->earliest = 0;
	shard->counters->fired += fired->count;
	shard->counters->trimmed += fired->trimmed;
	count_lateness(shard->counters, fired->lateness);
	tell_if_flushed(shard, fired->is_fresh);
	if (shard->is_ours)
		plan_trim(shard, fired);
}

static void on_fired(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	struct fired fired;

	shard->calling = false;
	if (!parse_fired(reply, &fired)) {
		link_break(&shard->commander, "unexpected answer: %s",
			   "hwtimerd load installs the right functions");
		return;
	}
	take_fired(shard, &fired);
	plan(shard);
}

static void call_fire(struct shard *shard)
{
	static const struct link_command command = { COMMAND_FIRE, on_fired };
	const struct options *options = shard->options;
	int64_t now = now_ns();
	const char *format = "FCALL hwt_fire 1 %s %s %llu %d %d %d %llu %llu";
	unsigned long long max_id = options->max_id, life = 0;
	unsigned long long max_payload = options->max_payload;

	shard->earliest = now + options->pace * NS_PER_MS;
	shard->heard = NEVER;
	if (now >= shard->renew || !shard->is_ours) {
		shard->renew = now + options->lease * NS_PER_MS / 3;
		shard->trim_in -= !!shard->trim_in;
		life = options->serve_always ? 0 : options->lease;
	}
	shard->calling = link_command(&shard->commander, &command, format,
				      shard->key, options->name, life,
				      FIRE_COUNT, FIRE_BYTES,
				      !options->keep && !shard->trim_in, max_id,
				      max_payload);
}

/* ---- the listener ---- */

static void listen_to_news(struct shard *shard);

/* An entry of the stream "news": a deadline, or that the daemons have changed */
static void take_news(struct shard *shard, const struct redisReply *entry)
{
	const struct redisReply *fields;
	int64_t deadline, then, first;

	if (!reply_is_array(entry, 2) || !reply_is_text(entry->element[0]) ||
	    !reply_is_array(entry->element[1], 2))
		return;
	fields = entry->element[1];
	snprintf(shard->cursor, CURSOR_ROOM, "%s", entry->element[0]->str);
	then = strtoll(entry->element[0]->str, NULL, 10);
	if (reply_is(fields->element[0], "deadline") &&
	    reply_number(fields->element[1], &deadline) && deadline >= 0 &&
	    then >= 0 && deadline - then < INT32_MAX) {
		first = now_ns() +
			(deadline > then ? (deadline - then) * NS_PER_MS : 0);
		if (first < shard->heard)
			shard->heard = first;
	} else {
		shard->renew = now_ns();
	}
}

/* Streams of entries: name, list of (id, list of names and values). Nil: no news */
static void on_news(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	const struct redisReply *entries;
	size_t i;

	if (reply_is_array(reply, 1) && reply_is_array(reply->element[0], 2) &&
	    reply_is_array(reply->element[0]->element[1], 1)) {
		entries = reply->element[0]->element[1];
		for (i = 0; i < entries->elements; i++)
			take_news(shard, entries->element[i]);
		plan(shard);
	}
	listen_to_news(shard);
}

/* Redis answers after two leases: a connection that is dead is found out in this way. */
static void listen_to_news(struct shard *shard)
{
	static const struct link_command command = { COMMAND_LISTEN, on_news };

	link_command(&shard->listener, &command,
		     "XREAD COUNT 10 BLOCK %llu STREAMS %s:news %s",
		     (unsigned long long)shard->options->lease * 2, shard->key,
		     shard->cursor);
}

/* It may be another server than before; the last news once more do no harm. */
static void on_listener_up(void *arg)
{
	struct shard *shard = arg;

	snprintf(shard->cursor, CURSOR_ROOM, "0-0");
	listen_to_news(shard);
}

/* While it is down, each renewal asks for what it would have heard. */
static const struct link_events listener_events = { on_listener_up, NULL };

/* ---- the commander ---- */

static void on_memory(void *arg, const struct redisReply *reply)
{
	static const char name[] = "\nmaxmemory_policy:";
	struct shard *shard = arg;
	const char *policy = reply_is_text(reply) ? strstr(reply->str, name) :
						    NULL;

	policy = policy ? policy + strlen(name) : "";
	shard->evicts = !strncmp(policy, "allkeys-", 8);
	if (shard->evicts)
		say(LOG_WARNING,
		    "Redis at %s evicts keys (maxmemory-policy %.*s): timers will be lost; set noeviction",
		    address_text(&shard->commander.address),
		    (int)strcspn(policy, "\r\n"), policy);
	else if (reply->type == REDIS_REPLY_ERROR)
		say(LOG_WARNING, "whether Redis evicts keys is unknown: %s%s",
		    reply->str, link_advice(reply->str));
}

static void on_commander_up(void *arg)
{
	static const struct link_command command = { COMMAND_CONNECT, on_memory,
						     true };
	struct shard *shard = arg;

	shard->renew = now_ns();
	shard->first = NEVER;
	link_command(&shard->commander, &command, "INFO memory");
	link_start(&shard->listener);
	plan(shard);
}

/* The loop ends with the last shard. */
static void have_left(struct shard *shard)
{
	link_stop(&shard->commander);
	if (!--nr_joined)
		event_base_loopbreak(shard->commander.base);
}

/* The answers to everything in flight will not come. */
static void on_commander_down(void *arg)
{
	struct shard *shard = arg;

	shard->calling = false;
	shard->surveying = false;
	shard->is_ours = false;
	shard->trim_in = 0;
	link_stop(&shard->listener);
	alarm_stop(&shard->alarm);
	if (shard->is_leaving)
		have_left(shard);
}

static const struct link_events commander_events = { on_commander_up,
						     on_commander_down };

/* ---- the survey ---- */

static void on_stats(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;

	shard->surveying = false;
	survey_take(&shard->survey, reply);
}

/* Asks Redis for what the metrics show next time, if the shard is served. */
void shard_survey(struct shard *shard)
{
	static const struct link_command command = { COMMAND_METRICS, on_stats,
						     true };

	if (shard->is_ours && !shard->surveying &&
	    link_is_up(&shard->commander))
		shard->surveying = link_command(&shard->commander, &command,
						"FCALL_RO hwt_stats 1 %s",
						shard->key);
}

/* ---- coming and going ---- */

static void on_left(void *arg, const struct redisReply *reply)
{
	have_left(arg);
}

/* Leaves the shard to the other daemons. */
void shard_leave(struct shard *shard)
{
	static const struct link_command command = { COMMAND_LEAVE, on_left,
						     true };

	shard->is_leaving = true;
	shard->is_ours = false;
	alarm_stop(&shard->alarm);
	if (!link_is_up(&shard->commander) ||
	    !link_command(&shard->commander, &command,
			  "FCALL hwt_leave 1 %s %s", shard->key,
			  shard->options->name))
		have_left(shard);
}

/**
 * shard_init - make a shard, and connect to it
 * @shard: out: the shard
 * @base: the loop
 * @options: the options
 * @queue: name of the queue
 * @number: number of the shard in the queue
 * @counters: counters of the queue
 */
void shard_init(struct shard *shard, struct event_base *base,
		const struct options *options, const char *queue,
		unsigned int number, struct counters *counters)
{
	*shard = (struct shard){ .options = options, .counters = counters };
	snprintf(shard->key, sizeof(shard->key), "{%s:%u}", queue, number);
	link_init(&shard->commander, base, options, counters, shard->key, NULL,
		  options->lease, &commander_events, shard);
	link_init(&shard->listener, base, options, counters, shard->key,
		  &shard->commander, options->lease * 3, &listener_events,
		  shard);
	alarm_init(&shard->alarm, base, on_alarm, shard);
	nr_joined++;
	link_start(&shard->commander);
}
