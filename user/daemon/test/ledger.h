/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger: what was asked of the queue, what it answered, and what became of it.
 *
 * Each schedule of an id makes a new version of it, and the payload names the version. A
 * move makes a new version, too, which has the payload of the one before and another
 * deadline. So a timer that is there or fires tells which call it is from. A version ends
 * in one of three ways: it fires, it is cancelled, or a later version replaces it.
 *
 * A call is settled when the ids that it names have been queried after it, and the ledger
 * then has all that is in `due`: so it is known what each version has become, and what the
 * answer must have been. From then on, what was replaced or cancelled must never fire.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_VERSION UINT32_MAX

/* An answer that was lost */
#define NO_ANSWER (-1)

/* Longest text of an id and of a payload, in bytes */
#define MAX_ID 48
#define MAX_PAYLOAD 256

/* The functions that are called, in the order of their names in ledger.c */
enum kind { SCHEDULE, ADD, UPDATE, MOVE, CANCEL };

extern const char *const kind_names[];

/*
 * struct version - one schedule or move of one id
 * @id: number of the id
 * @previous: the version of that id before this one, or NO_VERSION
 * @payload: the version that its payload names
 * @deadline: in ms; of a relative one, the earliest time that it can mean
 * @fired: number of its entries in `due`
 * @delivered: number of its deliveries to consumers
 * @relative: the deadline was given relative to now
 * @refused: there never was a timer of it
 * @gone: it was cancelled, or another version replaced it, before it fired
 * @acknowledged: a consumer's XACK of it was answered
 */
struct version {
	int64_t deadline;
	uint32_t id;
	uint32_t previous;
	uint32_t payload;
	uint16_t fired;
	uint16_t delivered;
	bool relative : 1;
	bool refused : 1;
	bool gone : 1;
	bool acknowledged : 1;
};

/* An entry of `due`, or a timer that was queried. */
struct entry {
	uint32_t shard;
	int64_t time; /* ms, of the entry's id */
	int64_t deadline;
	const char *id;
	size_t id_length;
	const char *payload;
	size_t payload_length;
};

/*
 * struct op - what a call does with one id
 * @version: the version that it makes, or NO_VERSION if it cancels
 * @previous: the version before that, or NO_VERSION
 * @was_pending: it was, as far as was known before the call
 * @found: the version that was there after the call, or NO_VERSION
 */
struct op {
	uint32_t id;
	uint32_t version;
	uint32_t previous;
	uint32_t found;
	bool was_pending;
};

/*
 * struct counts - the running totals
 * @early: entries whose time is before the deadline, in `due` or at a consumer
 * @wrong: entries, timers and replies that no call explains
 * @answers: answers that are not what they must have been
 * @waiting: timers that were scheduled, and neither cancelled nor fired
 */
struct counts {
	unsigned long ids, calls, uncertain, refused, errors;
	unsigned long due, duplicates, early, wrong, answers;
	unsigned long delivered, redelivered, acknowledged;
	unsigned long by_kind[CANCEL + 1];
	long scheduled, cancelled, waiting;
};

extern struct counts counts;

uint32_t ledger_new_id(uint32_t shard);
size_t ledger_id_text(uint32_t id, char *text);
size_t ledger_payload(uint32_t version, char *text);
const struct version *ledger_last(uint32_t id);
const struct version *ledger_version(uint32_t version);
bool ledger_pending(uint32_t id);

struct op ledger_op(enum kind kind, uint32_t id, int64_t deadline,
		    bool relative);
uint32_t ledger_version_of(const struct entry *entry);
void ledger_settle(enum kind kind, const struct op *ops, uint32_t count,
		   long answer);
void ledger_refused(const struct op *ops, uint32_t count);

void ledger_due(const struct entry *entry);
void ledger_delivered(const struct entry *entry, int64_t now);
void ledger_acknowledged(const struct entry *entry);

void ledger_wrong(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
bool ledger_balance(bool drained);

#endif
