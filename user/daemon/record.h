/* SPDX-License-Identifier: MIT */
/* Timers that the daemon knows, and a table that finds them by their ids. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** enum record_state - where a record's timer is */
enum record_state {
	RECORD_NEW, /* not in the kernel yet */
	RECORD_ARMED, /* in the kernel; the record must not be freed */
	RECORD_FIRED, /* expired, and waits for a turn or its answer */
};

/**
 * struct record - a timer
 * @next: next record with the same hash
 * @next_fired: next record in a list of fired ones
 * @timer: the kernel's id of an armed timer
 * @deadline: Redis's time, ms
 * @length: length of @id
 * @state: state of the timer
 * @id: the id: any bytes
 */
struct record {
	struct record *next;
	struct record *next_fired;
	uint64_t timer;
	int64_t deadline;
	uint32_t length;
	uint32_t state;
	char id[];
};

/**
 * struct table - records by id; all 0: empty
 * @chains: heads of the chains
 * @size: number of chains, a power of two, or 0
 * @count: number of records
 */
struct table {
	struct record **chains;
	size_t size;
	size_t count;
};

struct record *table_find(const struct table *table, const char *id,
			  size_t length);
struct record *table_add(struct table *table, const char *id, size_t length);
void table_remove(struct table *table, struct record *record);
void table_empty(struct table *table);
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);

/* The first argument of hash_bytes() for the first bytes */
#define HASH_START 0xcbf29ce484222325ULL

#endif /* RECORD_H */
