// SPDX-License-Identifier: GPL-2.0-only
/*
 * The side of accounts that schedules, moves and cancels.
 *
 * A round is one pipeline of calls to one shard, with each id in at most one of them. Then
 * all of these ids are queried, and the auditor reads what has fired. So also what became
 * of a call whose answer was lost is known.
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

#define NO_ID UINT32_MAX

/* A call of the round. Its place is that of its command in the pipeline. */
struct plan {
	enum kind kind;
	uint32_t count;
	struct op ops[MAX_BATCH];
};

/* A shard, with the ids of its timers */
struct shard {
	struct array ids;
	int64_t now; /* Redis's time, in ms, at its last reply */
};

static struct shard *shards;
static uint32_t round_number;
static bool ending; /* No timer is far away any more. */

/* For each id, the last round that it was part of */
static struct array rounds = { .size = sizeof(uint32_t) };

static struct plan plans[MAX_CALLS];
static struct pipeline pipeline;

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

static int64_t random_deadline(int64_t now)
{
	int64_t delay = below(options.spread);

	switch (below(20)) {
	case 0:
	case 1: /* past */
		return now - (int64_t)below(10000);
	case 2:
	case 3: /* many at once */
		return now - now % 500 + 1000;
	case 4:
		return now + delay + (ending ? 0 : options.far);
	default:
		return now + delay;
	}
}

/* ---- planning a round ---- */

static void add_id(uint32_t id)
{
	char text[MAX_ID];

	command_arg(text, ledger_id_text(id, text));
}

static void add_op(enum kind kind, const struct op *op)
{
	const struct version *version = ledger_version(op->version);
	char text[MAX_PAYLOAD];

	add_id(op->id);
	if (kind == CANCEL)
		return;
	command_words("%s%" PRId64, version->relative ? "+" : "",
		      version->relative ? RELATIVE : version->deadline);
	if (kind != MOVE)
		command_arg(text, ledger_payload(op->version, text));
}

static void plan(enum kind kind, unsigned int shard, const uint32_t *ids,
		 uint32_t count)
{
	struct plan *plan = &plans[pipeline.used];
	int64_t now = shards[shard].now;
	bool relative;
	uint32_t i;

	plan->kind = kind;
	plan->count = count;
	command_words("FCALL %s 1 %s", kind_names[kind], link_key(shard));
	for (i = 0; i < count; i++) {
		relative = kind < MOVE && !options.moving_clock && percent(5);
		plan->ops[i] = ledger_op(kind, ids[i],
					 relative ? now + RELATIVE :
						    random_deadline(now),
					 relative);
		add_op(kind, &plan->ops[i]);
	}
	pipeline_add(&pipeline, false);
}

/*
 * Plans a call with @count ids. @old: the share in percent of ids that are not new. One in
 * ten batches of hwt_schedule names an id twice; the last one counts.
 */
static void plan_random(enum kind kind, unsigned int shard, uint32_t count,
			unsigned int old)
{
	uint32_t ids[MAX_BATCH], i;

	for (i = 0; i < count; i++)
		ids[i] = percent(old) ? old_id(shard) : new_id(shard);
	if (kind == SCHEDULE && count > 1 && percent(10))
		ids[count - 1] = ids[count - 2];
	plan(kind, shard, ids, count);
}

static void plan_call(unsigned int shard)
{
	uint32_t batch = 2 + below(MAX_BATCH - 1);
	unsigned int choice = below(100);

	if (choice < 46)
		plan_random(SCHEDULE, shard, 1, 0);
	else if (choice < 56)
		plan_random(SCHEDULE, shard, batch, 0);
	else if (choice < 62)
		plan_random(SCHEDULE, shard, 1, 100);
	else if (choice < 67)
		plan_random(SCHEDULE, shard, batch, 50);
	else if (choice < 72)
		plan_random(ADD, shard, batch, 50);
	else if (choice < 77)
		plan_random(UPDATE, shard, 1 + below(10), 95);
	else if (choice < 87)
		plan_random(MOVE, shard, 1 + below(10), 95);
	else if (choice < 97)
		plan_random(CANCEL, shard, 1, 100);
	else
		plan_random(CANCEL, shard, batch / 2, 100);
}

/* ---- taking answers ---- */

/* Redis has no memory for it, and says so before it does anything. */
static void note_error(const redisReply *reply)
{
	const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str :
							      "no integer";

	if (!strncmp(text, "OOM ", 4)) {
		if (!counts.refused++)
			printf("accounts: Redis is full: %s\n", text);
	} else if (counts.errors++ < 5) {
		printf("accounts: error: %s\n", text);
	}
}

/* @reply: an element of that of hwt_query */
static uint32_t found_version(unsigned int shard, uint32_t id,
			      const redisReply *reply)
{
	struct entry entry = { .shard = shard };
	uint32_t version;
	char text[MAX_ID];

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
		return NO_VERSION;
	entry.id = text;
	entry.id_length = ledger_id_text(id, text);
	entry.deadline = reply->element[0]->integer;
	entry.payload = reply->element[1]->str;
	entry.payload_length = reply->element[1]->len;
	version = ledger_version_of(&entry);
	if (version == NO_VERSION)
		ledger_wrong("id %u has a deadline or payload of no call", id);
	return version;
}

static void take_found(struct plan *plan, unsigned int shard,
		       const redisReply *reply)
{
	struct op *op;
	uint32_t i;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != plan->count)
		errx(1, "hwt_query: %s", reply->str ? reply->str : "?");
	for (i = 0; i < plan->count; i++) {
		op = &plan->ops[i];
		op->found = found_version(shard, op->id, reply->element[i]);
	}
}

/* Queries the ids of the first @calls plans; then enters what has fired in the ledger. */
static void read_back(unsigned int shard, unsigned int calls)
{
	struct pipeline queries = {};
	uint32_t i, k;

	for (i = 0; i < calls; i++) {
		command_words("FCALL hwt_query 1 %s", link_key(shard));
		for (k = 0; k < plans[i].count; k++)
			add_id(plans[i].ops[k].id);
		pipeline_add(&queries, true);
	}
	pipeline_run(&queries, shard);
	for (i = 0; i < calls; i++)
		take_found(&plans[i], shard, queries.commands[i].reply);
	pipeline_clear(&queries);
	audit(shard);
}

/* Runs the round, and enters its results in the ledger. */
static void run_round(unsigned int shard)
{
	unsigned int calls = pipeline.used, i;
	const redisReply *reply;

	command_words("TIME");
	pipeline_add(&pipeline, true);
	pipeline_run(&pipeline, shard);
	shards[shard].now = reply_time(pipeline.commands[calls].reply);
	if (calls)
		read_back(shard, calls);
	for (i = 0; i < calls; i++) {
		reply = pipeline.commands[i].reply;
		if (!reply || reply->type == REDIS_REPLY_INTEGER) {
			ledger_settle(plans[i].kind, plans[i].ops,
				      plans[i].count,
				      reply ? reply->integer : NO_ANSWER);
		} else {
			note_error(reply);
			ledger_refused(plans[i].ops, plans[i].count);
		}
	}
	if (calls)
		progress();
	pipeline_clear(&pipeline);
}

static void begin_round(unsigned int shard)
{
	round_number++;
	if (!shards[shard].now)
		run_round(shard);
}

/* Makes up to MAX_CALLS @calls to @shard, and returns whether it made any. */
bool produce(unsigned int shard, unsigned int calls)
{
	if (!calls)
		return false;
	begin_round(shard);
	while (pipeline.used < calls && pipeline.used < MAX_CALLS)
		plan_call(shard);
	run_round(shard);
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
		    ledger_last(id)->deadline >
			    own->now + 2 * (int64_t)options.spread)
			return id;
	}
	return NO_ID;
}

/* Cancels half of the timers that are far away, and brings the others nearer. */
void produce_end(unsigned int shard)
{
	uint32_t ids[MAX_BATCH], count, from = 0;

	ending = true;
	shards[shard].now = 0; /* The clock may have been set. */
	do {
		begin_round(shard);
		count = 0;
		while (count < MAX_BATCH &&
		       (ids[count] = next_far(shard, &from)) != NO_ID)
			count++;
		if (count)
			plan(percent(50) ? MOVE : CANCEL, shard, ids, count);
		run_round(shard);
	} while (count);
}
