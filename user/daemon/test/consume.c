// SPDX-License-Identifier: GPL-2.0-only
/*
 * The side of accounts that consumes.
 *
 * The auditor reads every entry of `due` once, without a group. The consumers of the group
 * read, acknowledge, and sometimes die before that; another one then claims what they
 * left. The daemon removes what is acknowledged, and what the auditor has not seen is not
 * acknowledged.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "ledger.h"
#include "link.h"

#define MAX_ENTRIES 400

/* Long enough for an entry's id: two numbers of 20 digits */
#define ENTRY_ID 48

struct stream {
	char audited[ENTRY_ID]; /* the last entry that the auditor saw */
	char cursor[ENTRY_ID]; /* of XAUTOCLAIM */
};

static struct stream *streams;

/* How many entries the mortal consumer will still read, and not acknowledge */
static unsigned long mortal;

/* ---- replies ---- */

static void expect_array(const redisReply *reply, const char *command)
{
	if (reply->type == REDIS_REPLY_ERROR)
		errx(1, "%s: %s", command, reply->str);
	if (reply->type != REDIS_REPLY_ARRAY && reply->type != REDIS_REPLY_NIL)
		errx(1, "%s: the reply is no array", command);
}

static const redisReply *value_of(const redisReply *fields, const char *name)
{
	size_t i;

	for (i = 0; i + 1 < fields->elements; i += 2)
		if (!strcmp(fields->element[i]->str, name))
			return fields->element[i + 1];
	errx(1, "`%s` is missing in a reply", name);
}

/* Takes an entry apart: [entry id, [name, value, ...]] */
static struct entry entry_of(unsigned int shard, const redisReply *reply)
{
	const redisReply *fields = reply->element[1];
	const redisReply *id = value_of(fields, "id");
	const redisReply *payload = value_of(fields, "payload");

	return (struct entry){
		.shard = shard,
		.time = strtoll(reply->element[0]->str, NULL, 10),
		.deadline =
			strtoll(value_of(fields, "deadline")->str, NULL, 10),
		.id = id->str,
		.id_length = id->len,
		.payload = payload->str,
		.payload_length = payload->len,
	};
}

static void set_entry_id(char *to, const redisReply *reply)
{
	if (snprintf(to, ENTRY_ID, "%s", reply->str) >= ENTRY_ID)
		errx(1, "not an entry's id: %s", reply->str);
}

/* ---- the auditor ---- */

/* Returns the number of entries that it read. */
static size_t audit_some(unsigned int shard)
{
	struct stream *stream = &streams[shard];
	struct pipeline pipeline = {};
	const redisReply *reply;
	struct entry entry;
	size_t i, count;

	command_words("XRANGE %s:due (%s + COUNT %d", link_key(shard),
		      stream->audited, MAX_ENTRIES);
	pipeline_add(&pipeline, true);
	pipeline_run(&pipeline, shard);
	reply = pipeline.commands[0].reply;
	expect_array(reply, "XRANGE");
	count = reply->elements;
	for (i = 0; i < count; i++) {
		entry = entry_of(shard, reply->element[i]);
		ledger_due(&entry);
		set_entry_id(stream->audited, reply->element[i]->element[0]);
	}
	if (count)
		progress();
	pipeline_clear(&pipeline);
	return count;
}

/* Enters all that is in `due` in the ledger. */
void audit(unsigned int shard)
{
	while (audit_some(shard) == MAX_ENTRIES)
		;
}

/* ---- consumers ---- */

void consume_open(void)
{
	struct pipeline pipeline = {};
	unsigned int shard;

	mortal = options.die_with;
	streams = calloc(options.shards, sizeof(*streams));
	if (!streams)
		errx(1, "no memory for %lu shards", options.shards);
	for (shard = 0; shard < options.shards; shard++) {
		streams[shard] = (struct stream){ "0-0", "0-0" };
		/* If it exists, this fails, and that is as good. */
		command_words("XGROUP CREATE %s:due " GROUP " 0 MKSTREAM",
			      link_key(shard));
		pipeline_add(&pipeline, true);
		pipeline_run(&pipeline, shard);
		pipeline_clear(&pipeline);
	}
}

static void acknowledge(unsigned int shard, const redisReply *entries)
{
	struct pipeline pipeline = {};
	const redisReply *reply, *id;
	struct entry entry;
	size_t i;

	command_words("XACK %s:due " GROUP, link_key(shard));
	for (i = 0; i < entries->elements; i++) {
		id = entries->element[i]->element[0];
		command_arg(id->str, id->len);
	}
	pipeline_add(&pipeline, true);
	pipeline_run(&pipeline, shard);
	reply = pipeline.commands[0].reply;
	if (reply->type != REDIS_REPLY_INTEGER && !counts.errors++)
		printf("accounts: error: XACK: %s\n",
		       reply->str ? reply->str : "no integer");
	for (i = 0; i < entries->elements; i++) {
		entry = entry_of(shard, entries->element[i]);
		ledger_acknowledged(&entry);
	}
	progress();
	pipeline_clear(&pipeline);
}

/*
 * A consumer has got @entries, at @now. It acknowledges them, unless it dies before that.
 */
static void take_entries(unsigned int shard, const redisReply *entries,
			 int64_t now, bool dies)
{
	struct entry entry;
	size_t i;

	audit(shard);
	for (i = 0; i < entries->elements; i++) {
		entry = entry_of(shard, entries->element[i]);
		ledger_delivered(&entry, options.moving_clock ? 0 : now);
	}
	if (entries->elements && !dies)
		acknowledge(shard, entries);
}

/* Runs the command, which hands out entries, and TIME after it. */
static void run_with_time(struct pipeline *pipeline, unsigned int shard)
{
	pipeline_add(pipeline, false);
	command_words("TIME");
	pipeline_add(pipeline, true);
	pipeline_run(pipeline, shard);
}

/* Returns the entries of a reply to XREADGROUP, or NULL if there are none. */
static const redisReply *entries_read(const redisReply *reply)
{
	if (!reply)
		return NULL;
	expect_array(reply, "XREADGROUP");
	return reply->elements ? reply->element[0]->element[1] : NULL;
}

/* Returns whether there was anything new. */
static bool read_new(unsigned int shard)
{
	struct pipeline pipeline = {};
	const redisReply *entries;
	unsigned long most = mortal && mortal < MAX_ENTRIES ? mortal :
							      MAX_ENTRIES;
	char name[32] = "mortal";

	if (!mortal)
		snprintf(name, sizeof(name), "consumer-%u",
			 (unsigned int)below(CONSUMERS));
	command_words("XREADGROUP GROUP " GROUP
		      " %s COUNT %lu STREAMS %s:due >",
		      name, most, link_key(shard));
	run_with_time(&pipeline, shard);
	entries = entries_read(pipeline.commands[0].reply);
	if (entries) {
		take_entries(shard, entries,
			     reply_time(pipeline.commands[1].reply),
			     mortal || percent(options.drop));
		mortal -= mortal < entries->elements ? mortal :
						       entries->elements;
	}
	pipeline_clear(&pipeline);
	return entries;
}

/* Takes over what other consumers have not acknowledged for a while. */
static void claim(unsigned int shard)
{
	struct pipeline pipeline = {};
	const redisReply *reply;

	command_words("XAUTOCLAIM %s:due " GROUP " claimer-%u %lu %s COUNT %d",
		      link_key(shard), (unsigned int)below(CONSUMERS),
		      options.claim_after, streams[shard].cursor, MAX_ENTRIES);
	run_with_time(&pipeline, shard);
	reply = pipeline.commands[0].reply;
	if (reply) {
		expect_array(reply, "XAUTOCLAIM");
		set_entry_id(streams[shard].cursor, reply->element[0]);
		take_entries(shard, reply->element[1],
			     reply_time(pipeline.commands[1].reply),
			     percent(options.drop));
	}
	pipeline_clear(&pipeline);
}

/* Consumes some, and returns whether there was anything new. */
bool consume(unsigned int shard)
{
	bool found = read_new(shard);

	if (!found || percent(5))
		claim(shard);
	return found;
}

/* ---- the end ---- */

/*
 * Returns whether @shard has no timer pending, and nothing in `due`, from which the daemon
 * removes what is acknowledged. The auditor has then seen all that was ever there.
 */
bool consumed_all(unsigned int shard)
{
	struct pipeline pipeline = {};
	const redisReply *stats;
	bool done;

	command_words("FCALL hwt_stats 1 %s", link_key(shard));
	pipeline_add(&pipeline, true);
	command_words("EXISTS %s:payloads", link_key(shard));
	pipeline_add(&pipeline, true);
	pipeline_run(&pipeline, shard);
	stats = pipeline.commands[0].reply;
	expect_array(stats, "hwt_stats");
	done = !value_of(stats, "pending")->integer &&
	       !value_of(stats, "due")->integer;
	if (done && pipeline.commands[1].reply->integer)
		ledger_wrong("shard %u has no timer, and payloads", shard);
	pipeline_clear(&pipeline);
	audit(shard);
	return done;
}
