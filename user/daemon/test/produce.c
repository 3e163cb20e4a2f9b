// SPDX-License-Identifier: GPL-2.0-only
/*
 * The side of accounts that schedules, moves and cancels.
 *
 * A round is one pipeline of calls to one shard, with each id in at most one of them. If
 * the answer to a call was lost, the round reads back whether it was executed: a timer
 * that the call made is pending, or has fired.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "array.h"
#include "ledger.h"
#include "link.h"

#define MAX_CALLS 64
#define MAX_BATCH 100

/* A move or a cancel is for one of this many last ids of the shard. */
#define RECENT 20000

/* The delay of each timer with a relative deadline, in ms */
#define RELATIVE 700

enum kind { TIME, SCHEDULE, CANCEL, QUERY };

/* A call of the round. Its place is that of its command in the pipeline. */
struct plan {
	enum kind kind;
	uint32_t first, count; /* SCHEDULE: versions */
	uint32_t number; /* CANCEL: of the ledger; QUERY: an id */
};

/* A shard, with the ids of its timers */
struct shard {
	struct array ids;
	int64_t now; /* Redis's time, in ms, at its last reply */
};

static struct shard *shards;
static uint32_t round_number;

/* For each id, the last round that it was part of */
static struct array rounds = { .size = sizeof(uint32_t) };

static struct plan plans[MAX_CALLS + 2];

void produce_open(void)
{
	unsigned int shard;

	shards = calloc(options.shards, sizeof(*shards));
	if (!shards)
		errx(1, "no memory for %lu shards", options.shards);
	for (shard = 0; shard < options.shards; shard++)
		shards[shard].ids.size = sizeof(uint32_t);
}

/* ---- choosing ids and deadlines ---- */

/* Returns whether @id was not yet part of this round, and makes it so. */
static bool enters_round(uint32_t id)
{
	uint32_t *last;

	while (id >= rounds.used)
		array_add(&rounds);
	last = array_at(&rounds, id);
	if (*last == round_number)
		return false;
	*last = round_number;
	return true;
}

static uint32_t id_at(const struct array *ids, uint32_t index)
{
	return *(uint32_t *)array_at(ids, index);
}

static uint32_t new_id(unsigned int shard)
{
	uint32_t *id = array_add(&shards[shard].ids);

	*id = ledger_new_id(shard);
	enters_round(*id);
	return *id;
}

/*
 * Returns an id for a move or a cancel: mostly one that is pending, as far as is known. If
 * there is none, it returns a new id.
 */
static uint32_t old_id(unsigned int shard)
{
	const struct array *ids = &shards[shard].ids;
	uint32_t recent = ids->used < RECENT ? ids->used : RECENT;
	unsigned int tries;
	uint32_t id;

	for (tries = 0; recent && tries < 20; tries++) {
		id = id_at(ids, ids->used - 1 - below(recent));
		if ((ledger_pending(id) || percent(3)) && enters_round(id))
			return id;
	}
	return new_id(shard);
}

static int64_t far_delay(void)
{
	return options.far + below(options.spread);
}

static int64_t random_deadline(int64_t now)
{
	switch (below(20)) {
	case 0:
	case 1: /* past */
		return now - (int64_t)below(10000);
	case 2: /* at the border of a slot */
		return (now + (int64_t)below(options.spread)) & ~1023LL;
	case 3:
	case 4: /* many at once */
		return now - now % 500 + 1000;
	case 5:
		return now + far_delay();
	default:
		return now + below(options.spread);
	}
}

static uint32_t new_version(unsigned int shard, uint32_t id)
{
	int64_t now = shards[shard].now;

	if (!options.moving_clock && percent(5))
		return ledger_schedule(id, now + RELATIVE, true);
	return ledger_schedule(id, random_deadline(now), false);
}

/* ---- commands ---- */

static struct command *function(struct pipeline *pipeline, const char *name,
				unsigned int shard, bool repeatable)
{
	struct command *command = pipeline_add(pipeline, repeatable);

	command_words(command, "FCALL %s 1 %s", name, link_key(shard));
	return command;
}

static void add_id(struct command *command, uint32_t id)
{
	char text[MAX_ID];

	command_arg(command, text, ledger_id_text(id, text));
}

static void add_version(struct command *command, uint32_t number)
{
	const struct version *version = ledger_version(number);
	char text[MAX_PAYLOAD];

	add_id(command, version->id);
	if (version->relative)
		command_words(command, "+%d", RELATIVE);
	else
		command_words(command, "%" PRId64, version->deadline);
	command_arg(command, text, ledger_payload(number, text));
}

static void add_time(struct pipeline *pipeline)
{
	plans[pipeline->used].kind = TIME;
	command_words(pipeline_add(pipeline, true), "TIME");
}

/* ---- planning a round ---- */

/*
 * Plans to schedule @count ids. @old: the share in percent of ids that are not new. One in
 * ten batches names an id twice; the last one counts.
 */
static void plan_schedule(struct pipeline *pipeline, unsigned int shard,
			  uint32_t count, unsigned int old)
{
	struct plan *plan = &plans[pipeline->used];
	struct command *command =
		function(pipeline, "hwt_schedule", shard, false);
	bool twice = count > 1 && percent(10);
	uint32_t i, version = NO_VERSION, id = 0;

	*plan = (struct plan){ .kind = SCHEDULE, .count = count };
	for (i = 0; i < count; i++) {
		if (i + 1 < count || !twice)
			id = percent(old) ? old_id(shard) : new_id(shard);
		version = new_version(shard, id);
		add_version(command, version);
	}
	plan->first = version + 1 - count;
}

static void plan_cancel(struct pipeline *pipeline, unsigned int shard,
			uint32_t count)
{
	struct plan *plan = &plans[pipeline->used];
	struct command *command =
		function(pipeline, "hwt_cancel", shard, false);
	uint32_t ids[MAX_BATCH], i;

	for (i = 0; i < count; i++) {
		ids[i] = old_id(shard);
		add_id(command, ids[i]);
	}
	*plan = (struct plan){ .kind = CANCEL,
			       .number = ledger_cancel(ids, count) };
}

static void plan_query(struct pipeline *pipeline, unsigned int shard)
{
	struct plan *plan = &plans[pipeline->used];
	uint32_t id = old_id(shard);

	add_id(function(pipeline, "hwt_query", shard, true), id);
	*plan = (struct plan){ .kind = QUERY, .number = id };
}

static uint32_t batch(void)
{
	return 2 + below(MAX_BATCH - 1);
}

static void plan_call(struct pipeline *pipeline, unsigned int shard)
{
	unsigned int choice = below(100);

	if (choice < 50)
		plan_schedule(pipeline, shard, 1, 0);
	else if (choice < 60)
		plan_schedule(pipeline, shard, batch(), 0);
	else if (choice < 72)
		plan_schedule(pipeline, shard, 1, 100);
	else if (choice < 78)
		plan_schedule(pipeline, shard, batch(), 50);
	else if (choice < 90)
		plan_cancel(pipeline, shard, 1);
	else if (choice < 93)
		plan_cancel(pipeline, shard, batch() / 2);
	else
		plan_query(pipeline, shard);
}

/* ---- reading back ---- */

/* Returns the version in one element of the reply to a query, or NO_VERSION. */
static uint32_t queried_version(const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2)
		return NO_VERSION;
	return ledger_payload_version(reply->element[1]->str,
				      reply->element[1]->len);
}

/*
 * Returns whether one of @versions is pending. After that, those that were and are not any
 * more have been cancelled, or are in the ledger as fired.
 */
static bool any_pending(unsigned int shard, const uint32_t *versions,
			uint32_t count)
{
	struct pipeline pipeline = {};
	struct command *command;
	bool found = false;
	redisReply *reply;
	uint32_t i;

	command = function(&pipeline, "hwt_query", shard, true);
	for (i = 0; i < count; i++)
		add_id(command, ledger_version(versions[i])->id);
	pipeline_run(&pipeline, shard);
	audit(shard);
	reply = pipeline.commands[0].reply;
	for (i = 0; i < count && i < reply->elements; i++)
		found |= queried_version(reply->element[i]) == versions[i];
	if (reply->type == REDIS_REPLY_ERROR)
		errx(1, "hwt_query: %s", reply->str);
	pipeline_clear(&pipeline);
	return found;
}

/* A batch is executed wholly or not at all. */
static bool was_scheduled(const struct plan *plan, unsigned int shard)
{
	uint32_t versions[MAX_BATCH], i;

	for (i = 0; i < plan->count; i++)
		versions[i] = plan->first + i;
	if (any_pending(shard, versions, plan->count))
		return true;
	for (i = 0; i < plan->count; i++)
		if (ledger_version(versions[i])->fired)
			return true;
	return false;
}

static bool was_cancelled(const struct plan *plan, unsigned int shard)
{
	uint32_t count;
	const uint32_t *victims = ledger_victims(plan->number, &count);

	return !count || !any_pending(shard, victims, count);
}

/*
 * Finds out what became of the calls whose answers were lost, and opens those again that
 * were not executed. Returns whether there are any.
 */
static bool reopen_lost(struct pipeline *pipeline, unsigned int shard)
{
	struct command *command;
	bool reopened = false;
	size_t i;

	for (i = 0; i < pipeline->used; i++) {
		command = &pipeline->commands[i];
		if (!command->lost)
			continue;
		command->lost = plans[i].kind == SCHEDULE ?
					was_scheduled(&plans[i], shard) :
					was_cancelled(&plans[i], shard);
		reopened |= !command->lost;
	}
	return reopened;
}

/* ---- taking answers ---- */

/* Redis has no memory for it, and says so before it does anything. */
static bool is_full(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       !strncmp(reply->str, "OOM ", 4);
}

static void settle_error(const struct plan *plan, const redisReply *reply)
{
	if (is_full(reply) && !counts.refused++)
		printf("accounts: Redis is full: %s\n", reply->str);
	if (!is_full(reply) && counts.errors++ < 5)
		printf("accounts: error: %s\n",
		       reply->type == REDIS_REPLY_ERROR ? reply->str :
							  "no integer");
	if (plan->kind == SCHEDULE)
		ledger_not_scheduled(plan->first, plan->count);
	else
		ledger_not_cancelled(plan->number);
}

/* An id that is not pending must be in the ledger as fired or cancelled. */
static void settle_query(const struct plan *plan, const redisReply *reply,
			 unsigned int shard)
{
	uint32_t id = plan->number, version;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 1) {
		ledger_wrong("a query of id %u: %s", id,
			     reply->str ? reply->str : "no array of one");
		return;
	}
	version = queried_version(reply->element[0]);
	if (version == NO_VERSION)
		audit(shard);
	if (version == NO_VERSION ? ledger_pending(id) :
				    version != ledger_last(id))
		ledger_wrong("a query of id %u found version %d, not %d", id,
			     (int)version, (int)ledger_last(id));
}

static void settle(const struct plan *plan, const struct command *command,
		   unsigned int shard)
{
	const redisReply *reply = command->reply;
	long answer = reply ? reply->integer : NO_ANSWER;

	if (plan->kind == TIME)
		shards[shard].now = reply_time(reply);
	else if (plan->kind == QUERY)
		settle_query(plan, reply, shard);
	else if (reply && reply->type != REDIS_REPLY_INTEGER)
		settle_error(plan, reply);
	else if (plan->kind == SCHEDULE)
		ledger_scheduled(plan->first, plan->count, answer);
	else
		ledger_cancelled(plan->number, answer);
}

/* Runs the round, and enters its results in the ledger. */
static void run_round(struct pipeline *pipeline, unsigned int shard)
{
	size_t i;

	do
		pipeline_run(pipeline, shard);
	while (reopen_lost(pipeline, shard));
	for (i = 0; i < pipeline->used; i++)
		settle(&plans[i], &pipeline->commands[i], shard);
	if (pipeline->used > 1)
		progress();
	pipeline_clear(pipeline);
}

static void begin_round(struct pipeline *pipeline, unsigned int shard)
{
	round_number++;
	if (!shards[shard].now) {
		add_time(pipeline);
		run_round(pipeline, shard);
	}
}

/* Makes up to MAX_CALLS @calls to @shard, and returns whether it made any. */
bool produce(unsigned int shard, unsigned int calls)
{
	struct pipeline pipeline = {};

	if (!calls)
		return false;
	begin_round(&pipeline, shard);
	while (pipeline.used < calls && pipeline.used < MAX_CALLS)
		plan_call(&pipeline, shard);
	add_time(&pipeline);
	run_round(&pipeline, shard);
	free(pipeline.commands);
	return true;
}

/* ---- the end ---- */

/* Returns the next id from @from on, which it moves, whose timer is far away. */
static uint32_t next_far(unsigned int shard, uint32_t *from)
{
	const struct shard *own = &shards[shard];
	uint32_t id;

	while (*from < own->ids.used) {
		id = id_at(&own->ids, (*from)++);
		if (ledger_pending(id) &&
		    ledger_version(ledger_last(id))->deadline >
			    own->now + 2 * (int64_t)options.spread)
			return id;
	}
	return UINT32_MAX;
}

static void plan_nearer(struct pipeline *pipeline, unsigned int shard,
			const uint32_t *ids, uint32_t count)
{
	struct plan *plan = &plans[pipeline->used];
	struct command *command =
		function(pipeline, "hwt_schedule", shard, false);
	uint32_t i, version = NO_VERSION;
	int64_t deadline;

	for (i = 0; i < count; i++) {
		deadline = shards[shard].now + below(options.spread);
		version = ledger_schedule(ids[i], deadline, false);
		add_version(command, version);
	}
	*plan = (struct plan){ .kind = SCHEDULE,
			       .first = version + 1 - count,
			       .count = count };
}

static void plan_dropping(struct pipeline *pipeline, unsigned int shard,
			  const uint32_t *ids, uint32_t count)
{
	struct plan *plan = &plans[pipeline->used];
	struct command *command =
		function(pipeline, "hwt_cancel", shard, false);
	uint32_t i;

	for (i = 0; i < count; i++)
		add_id(command, ids[i]);
	*plan = (struct plan){ .kind = CANCEL,
			       .number = ledger_cancel(ids, count) };
}

/* Cancels half of the timers that are far away, and brings the others nearer. */
void produce_end(unsigned int shard)
{
	uint32_t ids[MAX_BATCH], count, from = 0;
	struct pipeline pipeline = {};

	shards[shard].now = 0; /* The clock may have been set. */
	do {
		begin_round(&pipeline, shard);
		for (count = 0; count < MAX_BATCH; count++) {
			ids[count] = next_far(shard, &from);
			if (ids[count] == UINT32_MAX)
				break;
		}
		if (count && percent(50))
			plan_nearer(&pipeline, shard, ids, count);
		else if (count)
			plan_dropping(&pipeline, shard, ids, count);
		add_time(&pipeline);
		run_round(&pipeline, shard);
	} while (count);
	free(pipeline.commands);
}
