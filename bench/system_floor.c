// SPDX-License-Identifier: GPL-2.0
/*
 * The floor: a hashed wheel in the program. Its buckets are growing arrays of {index,
 * generation}, which refer to a dense table of records. A cancel only increments the
 * record's generation; expiry prefetches the records of the entries ahead.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

/* Number of entries from the one in use to the one whose record is prefetched */
#define AHEAD 12

struct record {
	__u64 tick;
	__u64 user_data;
	__u32 generation;
	__u32 pending;
	__u64 interval;
};

struct entry {
	__u32 index;
	__u32 generation;
};

struct bucket {
	struct entry *entries;
	__u32 count;
	__u32 capacity;
};

static const char *const variants[] = { "vectors", NULL };

static struct workload *load;
static struct record *records;
static struct bucket *buckets;
static struct hwtimer_event *events;
static struct hwtimer_event out[FLOOR_CHUNK];
static __u32 fired;

static void vector_setup(struct workload *new_load, unsigned int variant)
{
	(void)variant;
	load = new_load;
	records = floor_map(load->timers * sizeof(*records));
	events = floor_map(load->timers * sizeof(*events));
	buckets = floor_map(FLOOR_BUCKETS * sizeof(*buckets));
	memset(out, 0, sizeof(out));
}

static void vector_teardown(void)
{
	int i;

	for (i = 0; i < FLOOR_BUCKETS; i++)
		free(buckets[i].entries);
	floor_unmap(buckets, FLOOR_BUCKETS * sizeof(*buckets));
	floor_unmap(events, load->timers * sizeof(*events));
	floor_unmap(records, load->timers * sizeof(*records));
}

static void bucket_grow(struct bucket *bucket)
{
	bucket->capacity = bucket->capacity ? bucket->capacity * 2 : 64;
	bucket->entries = realloc(bucket->entries,
				  bucket->capacity * sizeof(*bucket->entries));
	if (!bucket->entries)
		err(1, "no memory for a bucket");
}

static inline void bucket_add(__u64 tick, struct entry entry)
{
	struct bucket *bucket = &buckets[tick % FLOOR_BUCKETS];

	if (bucket->count == bucket->capacity)
		bucket_grow(bucket);
	bucket->entries[bucket->count++] = entry;
}

static void vector_schedule(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++) {
		struct record *record = &records[i];

		record->tick = load->ticks[i];
		record->user_data = i;
		record->pending = 1;
		record->interval = 0;
		bucket_add(record->tick,
			   (struct entry){ i, record->generation });
	}
}

static void vector_cancel(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++) {
		struct record *record = &records[load->order[i]];

		record->pending = 0;
		record->generation++;
	}
}

static inline void expire_entry(struct entry entry)
{
	struct record *record = &records[entry.index];

	if (record->generation != entry.generation || !record->pending)
		return;
	events[fired++] = (struct hwtimer_event){
		.id = (__u64)entry.generation << 32 | entry.index,
		.user_data = record->user_data,
		.deadline = record->tick,
		.expirations = 1,
	};
	record->pending = 0;
	record->generation++;
}

static void expire_bucket(struct bucket *bucket)
{
	const struct entry *entry = bucket->entries;
	const struct entry *end = entry + bucket->count;

	for (; entry < end; entry++) {
		if (entry + AHEAD < end)
			__builtin_prefetch(&records[entry[AHEAD].index], 1);
		expire_entry(*entry);
	}
	bucket->count = 0;
}

static void vector_expire(__u32 count)
{
	int i;

	(void)count;
	fired = 0;
	for (i = 0; i < FLOOR_BUCKETS; i++)
		expire_bucket(&buckets[i]);
}

static void vector_deliver(void)
{
	__u32 i, k, count;

	for (i = 0; i < fired; i += count) {
		count = fired - i < FLOOR_CHUNK ? fired - i : FLOOR_CHUNK;
		memcpy(out, events + i, count * sizeof(*out));
		for (k = 0; k < count; k++)
			workload_deliver(load, out[k].user_data);
	}
}

static __u64 vector_bytes(void)
{
	__u64 bytes = FLOOR_BUCKETS * sizeof(*buckets);
	int i;

	for (i = 0; i < FLOOR_BUCKETS; i++)
		bytes += buckets[i].capacity * sizeof(*buckets[i].entries);
	return bytes + load->timers * sizeof(*records);
}

const struct system system_floor = {
	.name = "floor",
	.variants = variants,
	.expiry = EXPIRY_CALLED,
	.tick = NSEC_PER_MSEC,
	.setup = vector_setup,
	.teardown = vector_teardown,
	.schedule = vector_schedule,
	.cancel = vector_cancel,
	.expire = vector_expire,
	.deliver = vector_deliver,
	.bytes = vector_bytes,
};
