// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the table of ids: a program that knows the sources cannot choose ids that share a
 * chain. Called by functions.py.
 */
#include "../record.h"

#include <stdio.h>
#include <stdlib.h>

#define CHOSEN 300
#define OTHERS 40000
#define CHAINS 65536 /* of a table with that many records */
#define LONGEST 20

static void add(struct table *table, uint64_t number)
{
	if (!table_add(table, (const char *)&number, sizeof(number)))
		abort();
}

/* Adds ids that the published hash puts into the first chain. */
static void add_chosen(struct table *table)
{
	unsigned int count = 0;
	uint64_t number;

	for (number = 0; count < CHOSEN; number++)
		if (!(hash_bytes(HASH_START, &number, sizeof(number)) &
		      (CHAINS - 1))) {
			add(table, number);
			count++;
		}
}

static unsigned int longest_chain(const struct table *table)
{
	unsigned int length, longest = 0;
	const struct record *record;
	size_t i;

	for (i = 0; i < table->size; i++) {
		length = 0;
		for (record = table->chains[i]; record; record = record->next)
			length++;
		if (length > longest)
			longest = length;
	}
	return longest;
}

int main(void)
{
	struct table table = { 0 };
	unsigned int longest;
	uint64_t i;

	add_chosen(&table);
	for (i = 0; i < OTHERS; i++)
		add(&table, i + (1ULL << 60));
	longest = longest_chain(&table);
	printf("%zu chains, of which the longest has %u records\n", table.size,
	       longest);
	table_empty(&table);
	return longest > LONGEST;
}
