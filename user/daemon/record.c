// SPDX-License-Identifier: MIT
/* A table of records; see record.h. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS_FIRST 64

/* FNV-1a, and a last step in which each bit depends on all others */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	while (length--)
		hash = (hash ^ *byte++) * 0x100000001b3ULL;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93ULL;
	return hash ^ hash >> 32;
}

/*
 * Programs choose ids. Were the chain of an id known, one of them could put all of its ids
 * into one chain, and hold up the shards of all others.
 */
static uint64_t seed(void)
{
	static uint64_t random;

	if (!random)
		arc4random_buf(&random, sizeof(random));
	return random;
}

static struct record **chain_of(const struct table *table, const char *id,
				size_t length)
{
	return &table->chains[hash_bytes(seed(), id, length) &
			      (table->size - 1)];
}

/* Returns the record with that id; NULL: there is none. */
struct record *table_find(const struct table *table, const char *id,
			  size_t length)
{
	struct record *record;

	if (!table->size)
		return NULL;
	for (record = *chain_of(table, id, length); record;
	     record = record->next)
		if (record->length == length && !memcmp(record->id, id, length))
			break;
	return record;
}

static void move_all(struct table *from, struct table *to)
{
	struct record *record, **chain;
	size_t i;

	for (i = 0; i < from->size; i++)
		while ((record = from->chains[i])) {
			from->chains[i] = record->next;
			chain = chain_of(to, record->id, record->length);
			record->next = *chain;
			*chain = record;
		}
}

/* Without memory for more chains, the table works on, slower. */
static void grow(struct table *table)
{
	struct table larger = { .count = table->count };

	larger.size = table->size ? table->size * 2 : CHAINS_FIRST;
	larger.chains = calloc(larger.size, sizeof(*larger.chains));
	if (!larger.chains)
		return;
	move_all(table, &larger);
	free(table->chains);
	*table = larger;
}

/**
 * table_add - make a record for an id that the table does not have
 * @table: the table
 * @id: the id
 * @length: its length
 *
 * Return: the record; NULL: no memory.
 */
struct record *table_add(struct table *table, const char *id, size_t length)
{
	struct record *record, **chain;

	if (table->count >= table->size)
		grow(table);
	if (!table->size || length > UINT32_MAX)
		return NULL;
	record = malloc(sizeof(*record) + length);
	if (!record)
		return NULL;
	*record = (struct record){ .length = length, .state = RECORD_NEW };
	memcpy(record->id, id, length);
	chain = chain_of(table, id, length);
	record->next = *chain;
	*chain = record;
	table->count++;
	return record;
}

/* Removes and frees a record of the table. */
void table_remove(struct table *table, struct record *record)
{
	struct record **link = chain_of(table, record->id, record->length);

	while (*link != record)
		link = &(*link)->next;
	*link = record->next;
	table->count--;
	free(record);
}

/* Frees all records, and the table's memory. */
void table_empty(struct table *table)
{
	struct record *record;
	size_t i;

	for (i = 0; i < table->size; i++)
		while ((record = table->chains[i])) {
			table->chains[i] = record->next;
			free(record);
		}
	free(table->chains);
	*table = (struct table){ 0 };
}
