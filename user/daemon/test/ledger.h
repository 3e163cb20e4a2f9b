/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger: what was asked of the queue, what it answered, and what became of it.
 *
 * Each schedule makes a new version of its id, and the payload names the version. So a
 * timer that fires tells which call it is from. A version ends in one of three ways: it
 * fires, it is cancelled, or a later version of the id replaces it. Once no timer is
 * pending, the versions that fired determine what every answer must have been; so even
 * the answer to a batch, which is only a sum, is checked.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_VERSION UINT32_MAX

/* An answer that was lost; the outcome was read back. */
#define NO_ANSWER (-1)

/* Longest text of an id and of a payload, in bytes */
#define MAX_ID 48
#define MAX_PAYLOAD 256

/*
 * struct version - one schedule of one id
 * @id: number of the id
 * @previous: the version of that id that this one replaces, or NO_VERSION
 * @deadline: in ms; of a relative one, the earliest time that it can mean
 * @fired: number of its entries in `due`
 * @delivered: number of its deliveries to consumers
 * @relative: the deadline was given relative to now
 * @refused: it was never scheduled, as Redis had no memory for it
 * @superseded: a later version of the id was scheduled
 * @cancelling: a cancel was sent while this was the last version of the id
 * @acknowledged: a consumer's XACK of it was answered
 */
struct version {
	int64_t deadline;
	uint32_t id;
	uint32_t previous;
	uint16_t fired;
	uint16_t delivered;
	bool relative : 1;
	bool refused : 1;
	bool superseded : 1;
	bool cancelling : 1;
	bool acknowledged : 1;
};

/* An entry of `due`, as the ledger needs it. */
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
 * struct counts - the running totals
 * @early: entries whose time is before the deadline, in `due` or at a consumer
 * @wrong: entries and replies that no call explains
 * @waiting: timers that were scheduled, and neither cancelled nor fired
 */
struct counts {
	unsigned long ids, calls, uncertain, refused, errors;
	unsigned long due, duplicates, early, wrong;
	unsigned long delivered, redelivered, acknowledged;
	long waiting;
};

extern struct counts counts;

uint32_t ledger_new_id(uint32_t shard);
uint32_t ledger_ids(void);
uint32_t ledger_shard(uint32_t id);
size_t ledger_id_text(uint32_t id, char *text);
size_t ledger_payload(uint32_t version, char *text);
uint32_t ledger_payload_version(const char *payload, size_t length);

uint32_t ledger_last(uint32_t id);
const struct version *ledger_version(uint32_t version);
bool ledger_pending(uint32_t id);

uint32_t ledger_schedule(uint32_t id, int64_t deadline, bool relative);
void ledger_scheduled(uint32_t first, uint32_t count, long answer);
void ledger_not_scheduled(uint32_t first, uint32_t count);

uint32_t ledger_cancel(const uint32_t *ids, uint32_t count);
const uint32_t *ledger_victims(uint32_t cancel, uint32_t *count);
void ledger_cancelled(uint32_t cancel, long answer);
void ledger_not_cancelled(uint32_t cancel);

uint32_t ledger_due(const struct entry *entry);
void ledger_delivered(const struct entry *entry, int64_t now);
bool ledger_acknowledged(uint32_t version);

void ledger_wrong(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
bool ledger_balance(bool drained);

#endif
