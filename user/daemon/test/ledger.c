// SPDX-License-Identifier: GPL-2.0-only
/* The ledger: see ledger.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ledger.h"

/* How many findings of one kind are printed. */
#define MAX_FINDINGS 5

struct counts counts;

const char *const kind_names[] = { "hwt_schedule", "hwt_add", "hwt_update",
				   "hwt_move", "hwt_cancel" };

/* An id, with its last version */
struct id {
	uint32_t shard;
	uint32_t last;
};

static struct array versions = { .size = sizeof(struct version) };
static struct array ids = { .size = sizeof(struct id) };

static struct version *version_at(uint32_t version)
{
	return version == NO_VERSION ? NULL : array_at(&versions, version);
}

static struct id *id_at(uint32_t id)
{
	return array_at(&ids, id);
}

/* Returns a new id, which has no version yet. */
uint32_t ledger_new_id(uint32_t shard)
{
	struct id *id = array_add(&ids);

	*id = (struct id){ shard, NO_VERSION };
	counts.ids++;
	return ids.used - 1;
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

/* Returns the version that this payload names, or NO_VERSION. */
static uint32_t payload_version(const char *payload, size_t length)
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

/* Returns the last version of @id that was scheduled, or NULL. */
const struct version *ledger_last(uint32_t id)
{
	return version_at(id_at(id)->last);
}

const struct version *ledger_version(uint32_t version)
{
	return version_at(version);
}

static bool is_pending(const struct version *version)
{
	return version && !version->fired && !version->gone;
}

/* Returns whether, as far as is known, a timer of @id is pending. */
bool ledger_pending(uint32_t id)
{
	return is_pending(ledger_last(id));
}

/*
 * Begins what a call does with @id. A move is to an absolute @deadline, and never to the
 * one that the timer has.
 */
struct op ledger_op(enum kind kind, uint32_t id, int64_t deadline,
		    bool relative)
{
	const struct version *last = ledger_last(id);
	struct op op = { id, NO_VERSION, id_at(id)->last, NO_VERSION,
			 is_pending(last) };
	uint32_t number = versions.used;
	bool moves = kind == MOVE && last;
	struct version *version;

	if (kind == CANCEL)
		return op;
	if (moves && (last->relative || last->deadline == deadline))
		deadline = last->deadline - 1;
	version = array_add(&versions);
	*version = (struct version){ .id = id,
				     .previous = op.previous,
				     .payload = number,
				     .deadline = deadline,
				     .relative = relative };
	if (moves)
		version->payload = version_at(op.previous)->payload;
	op.version = number;
	id_at(id)->last = number;
	return op;
}

/* ---- what is found ---- */

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

static bool has_deadline(const struct version *version, int64_t deadline)
{
	return version->relative ? deadline >= version->deadline :
				   deadline == version->deadline;
}

/*
 * Returns the version that @entry is from, or NO_VERSION if its id, its deadline and its
 * payload do not fit together.
 */
uint32_t ledger_version_of(const struct entry *entry)
{
	uint32_t payload =
		payload_version(entry->payload, entry->payload_length);
	struct version *version = version_at(payload);
	uint32_t number, id;
	char text[MAX_ID];

	if (!version)
		return NO_VERSION;
	id = version->id;
	if (entry->shard != id_at(id)->shard ||
	    entry->id_length != ledger_id_text(id, text) ||
	    memcmp(entry->id, text, entry->id_length))
		return NO_VERSION;
	/* Those that have this payload are not older than it. */
	for (number = id_at(id)->last;
	     number != NO_VERSION && number >= payload;
	     number = version->previous) {
		version = version_at(number);
		if (version->payload == payload &&
		    has_deadline(version, entry->deadline))
			return number;
	}
	return NO_VERSION;
}

static struct version *explained(const struct entry *entry, const char *where)
{
	struct version *version = version_at(ledger_version_of(entry));

	if (version)
		return version;
	ledger_wrong("%s of id %.*s, deadline %lld, payload %.*s: unknown",
		     where, (int)entry->id_length, entry->id,
		     (long long)entry->deadline, (int)entry->payload_length,
		     entry->payload);
	return NULL;
}

static void note_early(const struct version *version, const char *where,
		       int64_t deadline, int64_t time)
{
	if (time < deadline && may_print(&counts.early))
		printf("accounts: early: id %u, in %s: by %lld ms\n",
		       version->id, where, (long long)(deadline - time));
}

/* Takes note of an entry of `due`. Each is seen once. */
void ledger_due(const struct entry *entry)
{
	struct version *version = explained(entry, "an entry");

	counts.due++;
	counts.waiting--;
	if (!version)
		return;
	if (version->gone)
		ledger_wrong("id %u fired after it was cancelled or replaced",
			     version->id);
	if (version->fired++ && may_print(&counts.duplicates))
		printf("accounts: duplicate: id %u fired again\n", version->id);
	note_early(version, "due", entry->deadline, entry->time);
}

/*
 * Takes note of an entry that a consumer got. @now: the time after that, at Redis, or 0 if
 * that clock is being set.
 */
void ledger_delivered(const struct entry *entry, int64_t now)
{
	struct version *version = explained(entry, "a delivery");

	if (!version)
		return;
	if (!version->fired)
		ledger_wrong("a delivery of id %u: there is no entry",
			     version->id);
	if (version->delivered++)
		counts.redelivered++;
	else
		counts.delivered++;
	if (now)
		note_early(version, "a delivery", entry->deadline, now);
}

void ledger_acknowledged(const struct entry *entry)
{
	struct version *version = version_at(ledger_version_of(entry));

	if (!version || version->acknowledged)
		return;
	version->acknowledged = true;
	counts.acknowledged++;
}

/* ---- settling a call ---- */

/* Undoes the versions that there never were; the last one of an id is the right one. */
static void refuse(const struct op *op)
{
	struct version *version = version_at(op->version);

	if (!version)
		return;
	version->refused = true;
	while (version && version->refused) {
		id_at(op->id)->last = version->previous;
		version = version_at(version->previous);
	}
}

/* The call was not executed. */
void ledger_refused(const struct op *ops, uint32_t count)
{
	counts.calls++;
	while (count--)
		refuse(ops++);
}

static bool was_made(const struct op *op)
{
	return op->version != NO_VERSION &&
	       (op->found == op->version || version_at(op->version)->fired);
}

/*
 * Whether a call whose answer was lost was executed; a batch is, wholly or not at all. What
 * the others do without a trace, they have not done.
 */
static bool was_executed(enum kind kind, const struct op *ops, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (kind == SCHEDULE && was_made(&ops[i]))
			return true;
		if (kind == CANCEL && ops[i].found != NO_VERSION)
			return false;
	}
	return kind != SCHEDULE;
}

/*
 * Settles what a call did with one id, and returns what it must have added to the answer.
 * @known: there was an answer, so the call was executed
 */
static long settle(enum kind kind, const struct op *op, bool known)
{
	struct version *previous = version_at(op->previous);
	/* If the call ended it, it cannot have fired since. */
	bool pending = is_pending(previous);

	if (kind != SCHEDULE && kind != CANCEL && !was_made(op)) {
		refuse(op);
		return known && (kind == ADD ? !op->was_pending : pending);
	}
	if (kind == ADD ? pending :
			  !pending && (kind == UPDATE || kind == MOVE))
		ledger_wrong("%s took id %u", kind_names[kind], op->id);
	if (pending)
		previous->gone = true;
	if (kind == CANCEL)
		counts.waiting -= pending;
	else
		counts.waiting += !pending;
	return kind == SCHEDULE || kind == ADD ? !pending : pending;
}

static void check_found(const struct op *op)
{
	uint32_t last = id_at(op->id)->last;

	if (op->found == NO_VERSION ? is_pending(version_at(last)) :
				      op->found != last)
		ledger_wrong("after a call, id %u is version %d, not %d",
			     op->id, (int)op->found, (int)last);
}

/*
 * Settles a call: its ids have been queried after it, and what is in `due` has been seen
 * after that. @answer: what it answered, or NO_ANSWER
 */
void ledger_settle(enum kind kind, const struct op *ops, uint32_t count,
		   long answer)
{
	bool known = answer != NO_ANSWER;
	long right = 0;
	uint32_t i;

	counts.uncertain += !known;
	if (!known && !was_executed(kind, ops, count)) {
		ledger_refused(ops, count);
		return;
	}
	counts.calls++;
	counts.by_kind[kind]++;
	for (i = 0; i < count; i++)
		right += settle(kind, &ops[i], known);
	for (i = 0; i < count; i++)
		check_found(&ops[i]);
	if (!known)
		answer = right;
	if (answer != right && may_print(&counts.answers))
		printf("accounts: answer: %s of %u said %ld, not %ld\n",
		       kind_names[kind], count, answer, right);
	if (kind == SCHEDULE || kind == ADD)
		counts.scheduled += answer;
	else if (kind == CANCEL)
		counts.cancelled += answer;
}

/* ---- the balance ---- */

/*
 * Prints the balance, and returns whether it is right. @drained: Redis says that no timer
 * is pending.
 */
bool ledger_balance(bool drained)
{
	unsigned long lost = 0, undelivered = 0;
	const struct version *version;
	bool balanced = counts.scheduled == counts.cancelled + (long)counts.due;
	uint32_t i;

	for (i = 0; i < versions.used; i++) {
		version = version_at(i);
		undelivered += version->fired && !version->delivered;
		if (is_pending(version) && !version->refused &&
		    may_print(&lost))
			printf("accounts: lost: id %u, deadline %lld\n",
			       version->id, (long long)version->deadline);
	}
	printf("accounts: ids=%lu calls=%lu uncertain=%lu refused=%lu errors=%lu\naccounts:",
	       counts.ids, counts.calls, counts.uncertain, counts.refused,
	       counts.errors);
	for (i = 0; i <= CANCEL; i++)
		printf(" %s=%lu", kind_names[i], counts.by_kind[i]);
	printf("\naccounts: scheduled=%ld cancelled=%ld due=%lu: %s\n",
	       counts.scheduled, counts.cancelled, counts.due,
	       balanced ? "they balance" : "NO BALANCE");
	printf("accounts: early=%lu lost=%lu duplicates=%lu wrong=%lu answers=%lu\n",
	       counts.early, lost, counts.duplicates, counts.wrong,
	       counts.answers);
	printf("accounts: delivered=%lu again=%lu undelivered=%lu acknowledged=%lu\n",
	       counts.delivered, counts.redelivered, undelivered,
	       counts.acknowledged);
	return drained && balanced && !counts.early && !lost &&
	       !counts.duplicates && !counts.wrong && !counts.answers &&
	       !undelivered && !counts.errors &&
	       counts.acknowledged == counts.due;
}
