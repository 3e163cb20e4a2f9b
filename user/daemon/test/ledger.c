// SPDX-License-Identifier: GPL-2.0-only
/* The ledger: see ledger.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "ledger.h"

/* How many findings of one kind are printed. */
#define MAX_FINDINGS 5

struct counts counts;

/* An id, with its last version */
struct id {
	uint32_t shard;
	uint32_t last;
};

/* A call, and its answer. Its versions or victims are [first, first + count). */
struct call {
	uint32_t first;
	uint32_t count;
	long answer;
};

static struct array versions = { .size = sizeof(struct version) };
static struct array ids = { .size = sizeof(struct id) };
static struct array schedules = { .size = sizeof(struct call) };
static struct array cancels = { .size = sizeof(struct call) };

/* The versions that cancels were sent for */
static struct array victims = { .size = sizeof(uint32_t) };

static struct version *version_at(uint32_t version)
{
	return array_at(&versions, version);
}

static struct id *id_at(uint32_t id)
{
	return array_at(&ids, id);
}

static uint32_t victim_at(uint32_t index)
{
	return *(uint32_t *)array_at(&victims, index);
}

/* Returns a new id, which has no version yet. */
uint32_t ledger_new_id(uint32_t shard)
{
	struct id *id = array_add(&ids);

	*id = (struct id){ shard, NO_VERSION };
	counts.ids++;
	return ids.used - 1;
}

uint32_t ledger_ids(void)
{
	return ids.used;
}

uint32_t ledger_shard(uint32_t id)
{
	return id_at(id)->shard;
}

/* Writes the text of @id, and returns its length. Some have bytes that need care. */
size_t ledger_id_text(uint32_t id, char *text)
{
	static const char odd[] = "\0 {x}:\r\n*\xff";
	size_t length = snprintf(text, MAX_ID, "%u", id);

	if (id % 16 == 7) {
		memcpy(text + length, odd, sizeof(odd) - 1);
		length += sizeof(odd) - 1;
	}
	return length;
}

/*
 * Writes the payload of @version, and returns its length: its number, a space, and any
 * bytes.
 */
size_t ledger_payload(uint32_t version, char *text)
{
	size_t length = snprintf(text, MAX_PAYLOAD, "%u ", version);
	uint32_t byte, count = version * 2654435761u >> 26;

	for (byte = 0; byte < count; byte++)
		text[length++] = version * 31 + byte * 7;
	return length;
}

/* Returns the version that has this payload, or NO_VERSION. */
uint32_t ledger_payload_version(const char *payload, size_t length)
{
	char text[MAX_PAYLOAD];
	uint32_t version = 0;
	size_t i;

	for (i = 0; i < length && i < 10; i++) {
		if (payload[i] < '0' || payload[i] > '9')
			break;
		version = version * 10 + payload[i] - '0';
	}
	if (version >= versions.used ||
	    length != ledger_payload(version, text) ||
	    memcmp(payload, text, length))
		return NO_VERSION;
	return version;
}

/* Returns the last version of @id that was scheduled, or NO_VERSION. */
uint32_t ledger_last(uint32_t id)
{
	return id_at(id)->last;
}

const struct version *ledger_version(uint32_t version)
{
	return version_at(version);
}

/* Returns whether, as far as is known, a timer of @id is pending. */
bool ledger_pending(uint32_t id)
{
	uint32_t last = ledger_last(id);

	return last != NO_VERSION && !version_at(last)->fired &&
	       !version_at(last)->cancelling;
}

static bool was_cancelled(const struct version *version)
{
	return version->cancelling && !version->fired;
}

/* Whether no timer of the id was pending when this version was scheduled. */
static bool was_new(const struct version *version)
{
	const struct version *previous;

	if (version->previous == NO_VERSION)
		return true;
	previous = version_at(version->previous);
	return previous->fired || was_cancelled(previous);
}

/* Returns what a schedule must have answered, by what has fired so far. */
static long true_schedule(const struct call *call)
{
	long count = 0;
	uint32_t i;

	for (i = 0; i < call->count; i++)
		count += was_new(version_at(call->first + i));
	return count;
}

/* Returns what a cancel must have answered, by what has fired so far. */
static long true_cancel(const struct call *call)
{
	long count = 0;
	uint32_t i;

	for (i = 0; i < call->count; i++)
		count += was_cancelled(version_at(victim_at(call->first + i)));
	return count;
}

/* Begins a version of @id, and returns its number. Those of one call are adjacent. */
uint32_t ledger_schedule(uint32_t id, int64_t deadline, bool relative)
{
	uint32_t previous = ledger_last(id);

	struct version *version = array_add(&versions);

	*version = (struct version){ .id = id,
				     .previous = previous,
				     .deadline = deadline,
				     .relative = relative };
	if (previous != NO_VERSION)
		version_at(previous)->superseded = true;
	id_at(id)->last = versions.used - 1;
	return versions.used - 1;
}

/* @answer: the number of new timers, or NO_ANSWER if all are known to be scheduled */
void ledger_scheduled(uint32_t first, uint32_t count, long answer)
{
	struct call *call = array_add(&schedules);

	*call = (struct call){ first, count, answer };
	counts.calls++;
	counts.uncertain += answer == NO_ANSWER;
	if (answer == NO_ANSWER)
		answer = true_schedule(call);
	counts.waiting += answer;
}

/* None of these versions was scheduled. The last one is undone first. */
void ledger_not_scheduled(uint32_t first, uint32_t count)
{
	struct version *version;

	counts.calls++;
	while (count--) {
		version = version_at(first + count);
		version->refused = true;
		id_at(version->id)->last = version->previous;
		if (version->previous != NO_VERSION)
			version_at(version->previous)->superseded = false;
	}
}

/* Begins to cancel the ids @which, and returns the number of the cancel. */
uint32_t ledger_cancel(const uint32_t *which, uint32_t count)
{
	uint32_t first = victims.used, *victim, last, i;
	struct call *call;

	for (i = 0; i < count; i++) {
		last = ledger_last(which[i]);
		if (last == NO_VERSION || version_at(last)->cancelling)
			continue;
		version_at(last)->cancelling = true;
		victim = array_add(&victims);
		*victim = last;
	}
	call = array_add(&cancels);
	*call = (struct call){ .first = first, .count = victims.used - first };
	return cancels.used - 1;
}

/* Returns the versions that are gone once the cancel was executed, and their @count. */
const uint32_t *ledger_victims(uint32_t cancel, uint32_t *count)
{
	const struct call *call = array_at(&cancels, cancel);

	*count = call->count;
	return array_at(&victims, call->first);
}

/* @answer: the number that was cancelled, or NO_ANSWER if none of them is pending now */
void ledger_cancelled(uint32_t cancel, long answer)
{
	struct call *call = array_at(&cancels, cancel);

	call->answer = answer;
	counts.calls++;
	counts.uncertain += answer == NO_ANSWER;
	counts.waiting -= answer == NO_ANSWER ? true_cancel(call) : answer;
}

/* The cancel was refused. */
void ledger_not_cancelled(uint32_t cancel)
{
	struct call *call = array_at(&cancels, cancel);
	uint32_t i;

	counts.calls++;
	for (i = 0; i < call->count; i++)
		version_at(victim_at(call->first + i))->cancelling = false;
	call->count = 0;
}

/* ---- what came of it ---- */

static bool has_id(uint32_t id, const struct entry *entry)
{
	char text[MAX_ID];

	return entry->id_length == ledger_id_text(id, text) &&
	       !memcmp(entry->id, text, entry->id_length);
}

/*
 * Returns the version that @entry is from, or NO_VERSION if its id, its deadline and its
 * payload do not fit together.
 */
static uint32_t version_of(const struct entry *entry)
{
	uint32_t number =
		ledger_payload_version(entry->payload, entry->payload_length);
	struct version *version;

	if (number == NO_VERSION)
		return NO_VERSION;
	version = version_at(number);
	if (version->refused || !has_id(version->id, entry) ||
	    ledger_shard(version->id) != entry->shard)
		return NO_VERSION;
	if (version->relative ? entry->deadline < version->deadline :
				entry->deadline != version->deadline)
		return NO_VERSION;
	return number;
}

static bool may_print(unsigned long *found)
{
	return (*found)++ < MAX_FINDINGS;
}

/* Takes note of something that no call explains. */
void ledger_wrong(const char *format, ...)
{
	va_list args;

	if (!may_print(&counts.wrong))
		return;
	printf("accounts: wrong: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void note_wrong(const char *where, const struct entry *entry)
{
	ledger_wrong("%s of id %.*s, deadline %lld, payload %.*s: unknown",
		     where, (int)entry->id_length, entry->id,
		     (long long)entry->deadline, (int)entry->payload_length,
		     entry->payload);
}

static void note_early(const char *where, uint32_t version, int64_t deadline,
		       int64_t time)
{
	if (may_print(&counts.early))
		printf("accounts: early: id %u, version %u, in %s: by %lld ms\n",
		       version_at(version)->id, version, where,
		       (long long)(deadline - time));
}

/* Takes note of an entry of `due`. Each is seen once. */
uint32_t ledger_due(const struct entry *entry)
{
	uint32_t number = version_of(entry);
	struct version *version;

	counts.due++;
	counts.waiting--;
	if (number == NO_VERSION) {
		note_wrong("an entry", entry);
		return NO_VERSION;
	}
	version = version_at(number);
	if (version->fired++ && may_print(&counts.duplicates))
		printf("accounts: duplicate: id %u, version %u fired again\n",
		       version->id, number);
	if (entry->time < entry->deadline)
		note_early("due", number, entry->deadline, entry->time);
	return number;
}

/*
 * Takes note of an entry that a consumer got. @now: the time after that, at Redis, or 0 if
 * that clock is being set.
 */
void ledger_delivered(const struct entry *entry, int64_t now)
{
	uint32_t number = version_of(entry);
	struct version *version;

	if (number == NO_VERSION || !version_at(number)->fired) {
		note_wrong("a delivery", entry);
		return;
	}
	version = version_at(number);
	if (version->delivered++)
		counts.redelivered++;
	else
		counts.delivered++;
	if (now && now < entry->deadline)
		note_early("a delivery", number, entry->deadline, now);
}

/* Returns whether this is news. */
bool ledger_acknowledged(uint32_t version)
{
	if (version_at(version)->acknowledged)
		return false;
	version_at(version)->acknowledged = true;
	counts.acknowledged++;
	return true;
}

/* ---- the balance ---- */

/*
 * Checks the answers, and returns their sum. One that was lost counts as what it must have
 * been.
 */
static long sum_of(const char *what, const struct array *calls,
		   long (*true_answer)(const struct call *),
		   unsigned long *wrong)
{
	const struct call *call;
	long sum = 0, right;
	uint32_t i;

	for (i = 0; i < calls->used; i++) {
		call = array_at(calls, i);
		right = true_answer(call);
		sum += call->answer == NO_ANSWER ? right : call->answer;
		if (call->answer != NO_ANSWER && call->answer != right &&
		    may_print(wrong))
			printf("accounts: answer: a %s of %u said %ld, not %ld\n",
			       what, call->count, call->answer, right);
	}
	return sum;
}

static unsigned long count_lost(void)
{
	unsigned long lost = 0;
	struct version *version;
	uint32_t i;

	for (i = 0; i < versions.used; i++) {
		version = version_at(i);
		if (version->fired || version->refused || version->superseded ||
		    version->cancelling)
			continue;
		if (may_print(&lost))
			printf("accounts: lost: id %u, version %u, deadline %lld\n",
			       version->id, i, (long long)version->deadline);
	}
	return lost;
}

static unsigned long count_undelivered(void)
{
	unsigned long undelivered = 0;
	uint32_t i;

	for (i = 0; i < versions.used; i++)
		undelivered += version_at(i)->fired &&
			       !version_at(i)->delivered;
	return undelivered;
}

/*
 * Prints the balance, and returns whether it is right. @drained: whether Redis says that
 * no timer is pending; if not, answers cannot be checked yet.
 */
bool ledger_balance(bool drained)
{
	unsigned long answers = 0, lost = count_lost();
	unsigned long undelivered = count_undelivered();
	long scheduled =
		sum_of("schedule", &schedules, true_schedule, &answers);
	long cancelled = sum_of("cancel", &cancels, true_cancel, &answers);
	bool balanced = scheduled == cancelled + (long)counts.due;

	printf("accounts: ids=%lu calls=%lu uncertain=%lu refused=%lu errors=%lu\n",
	       counts.ids, counts.calls, counts.uncertain, counts.refused,
	       counts.errors);
	printf("accounts: scheduled=%ld cancelled=%ld due=%lu: %s\n", scheduled,
	       cancelled, counts.due, balanced ? "they balance" : "NO BALANCE");
	printf("accounts: early=%lu lost=%lu duplicates=%lu wrong=%lu answers=%lu\n",
	       counts.early, lost, counts.duplicates, counts.wrong, answers);
	printf("accounts: delivered=%lu again=%lu undelivered=%lu acknowledged=%lu\n",
	       counts.delivered, counts.redelivered, undelivered,
	       counts.acknowledged);
	return drained && balanced && !counts.early && !lost &&
	       !counts.duplicates && !counts.wrong && !answers &&
	       !undelivered && !counts.errors &&
	       counts.acknowledged == counts.due;
}
