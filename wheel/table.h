/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of records holds the state of every timer of an instance, in records of 32
 * bytes. An id, which names a timer to user space, consists of a record's generation and
 * index. Two loads find a record by its index. The instance owns the table. The wheel
 * uses some of a record's fields.
 *
 * No function here takes a lock. Callers hold the lock of the instance, except for
 * hwtimer_table_alloc_block() and hwtimer_table_free_block().
 */
#ifndef HWTIMER_TABLE_H
#define HWTIMER_TABLE_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/prefetch.h>
#include <linux/types.h>

#include "constants.h"

/**
 * enum hwtimer_record_state - what a record is in use for
 * @HWTIMER_FREE: nothing; its id is not valid
 * @HWTIMER_PENDING: the timer is in the wheel
 * @HWTIMER_EXPIRED: the timer is in the ring of events
 * @HWTIMER_EXTENSION: extension of another record; see struct hwtimer_record
 * @HWTIMER_STATES: number of states
 */
enum hwtimer_record_state {
	HWTIMER_FREE,
	HWTIMER_PENDING,
	HWTIMER_EXPIRED,
	HWTIMER_EXTENSION,
	HWTIMER_STATES,
};

#define HWTIMER_RECORD_PERIODIC BIT(0)
#define HWTIMER_RECORD_FIXED_DELAY BIT(1)
/* The event that waits is the timer's last. */
#define HWTIMER_RECORD_ENDING BIT(2)
/* The event was read, and waits to be acknowledged. */
#define HWTIMER_RECORD_READ BIT(3)

/**
 * struct hwtimer_record - one timer
 * @deadline: absolute deadline, ns on the instance's clock
 * @interval: in an extension: the interval, ns
 * @user_data: user data as scheduled; a periodic timer has it in its extension
 * @extension: in the record of a periodic timer: index of a second record, its extension,
 *	which has room for the interval and the count
 * @told: next to @extension: number of expirations that the event reports at least: those that
 *	it had when it was read last, or when it became the timer's last event; otherwise 0
 * @generation: number of times that this record has been used, the high half of its id
 * @stamp: set by the wheel: changes when the entry in the wheel becomes dead
 * @lateness: once expired: the lateness, ns; saturated
 * @count: in an extension: number of expirations left; 0: no limit
 * @state: enum hwtimer_record_state
 * @postponed: set by the wheel: the entry is filed under an earlier tick than @deadline
 * @align: used by the wheel: the timer expires at a tick that is a multiple of 2^@align
 * @flags: HWTIMER_RECORD_*
 * @status: the last four fields as one number
 */
struct hwtimer_record {
	union {
		u64 deadline;
		u64 interval;
	};
	union {
		u64 user_data;
		struct {
			u32 extension;
			u32 told;
		};
	};
	u32 generation;
	u32 stamp;
	union {
		u32 lateness;
		u32 count;
	};
	union {
		struct {
			u8 state;
			bool postponed;
			u8 align;
			u8 flags;
		};
		u32 status;
	};
};

static_assert(sizeof(struct hwtimer_record) == 32);

#ifdef HWTIMER_CHECKED

/* For each state, a bit for each state that may follow it */
extern const unsigned long hwtimer_states_after[HWTIMER_STATES];

/* The same for the states that have followed it since the module was loaded */
extern unsigned long hwtimer_states_seen[HWTIMER_STATES];

void hwtimer_record_check(const struct hwtimer_record *record,
			  enum hwtimer_record_state state);
#else
/* Only a build with the KUnit suites checks the changes of states. */
static inline void hwtimer_record_check(const struct hwtimer_record *record,
					enum hwtimer_record_state state)
{
}
#endif

/**
 * hwtimer_record_become - change the state of a record
 * @record: the record
 * @state: its new state; hwtimer_states_after[] says which ones are possible
 */
static __always_inline void
hwtimer_record_become(struct hwtimer_record *record,
		      enum hwtimer_record_state state)
{
	hwtimer_record_check(record, state);
	record->state = state;
}

static_assert(HWTIMER_EXPIRED - HWTIMER_PENDING == 1);

/**
 * hwtimer_record_expire_if - let a timer expire, or change nothing, without a branch
 * @record: the record
 * @expires: the timer is pending, and expires
 *
 * The record then has another stamp, too.
 */
static __always_inline void
hwtimer_record_expire_if(struct hwtimer_record *record, bool expires)
{
	if (expires)
		hwtimer_record_check(record, HWTIMER_EXPIRED);
	record->stamp = (record->stamp + expires) & HWTIMER_STAMP_MAX;
	record->state += expires;
}

#define HWTIMER_SLOT_SHIFT 10
#define HWTIMER_SLOT_RECORDS 1024U

static_assert(HWTIMER_SLOT_RECORDS == 1U << HWTIMER_SLOT_SHIFT);

/**
 * struct hwtimer_slot - 1,024 neighbouring records
 * @records: the records
 */
struct hwtimer_slot {
	struct hwtimer_record records[HWTIMER_SLOT_RECORDS];
};

/**
 * hwtimer_slot_unit - the smallest number of slots that are allocated together
 * @page_size: bytes of a page
 *
 * A slot is eight pages of 4 KB, but half of a page of 64 KB. A table that only grows by
 * multiples of this number wastes no memory, whatever the size of a page.
 *
 * Return: 1, or the number of slots that fill a page.
 */
static __always_inline u32 hwtimer_slot_unit(size_t page_size)
{
	return page_size <= sizeof(struct hwtimer_slot) ?
		       1 :
		       page_size / sizeof(struct hwtimer_slot);
}

#define HWTIMER_SLOT_UNIT hwtimer_slot_unit(PAGE_SIZE)

/*
 * The maps of free records, a page each, are apart from the records. Freeing records in
 * random order then touches few pages, whose cache lines do not displace each other.
 */
#define HWTIMER_MAP_SHIFT (PAGE_SHIFT + 3) /* bits */
#define HWTIMER_MAP_SLOTS (1U << (HWTIMER_MAP_SHIFT - HWTIMER_SLOT_SHIFT))

/* Distance between the record that is handed out and the one that is prefetched. */
#define HWTIMER_GET_AHEAD 32

/** HWTIMER_NO_RECORD - the index of no record: the first record is never used */
#define HWTIMER_NO_RECORD 0U

/**
 * struct hwtimer_window - BITS_PER_LONG neighbouring records, to be handed out next
 * @free: a bit for each of them that is free
 * @base: index of the first of them
 * @records: the first of them
 */
struct hwtimer_window {
	unsigned long free;
	struct hwtimer_record *records;
	u32 base;
};

struct hwtimer_start;

/**
 * struct hwtimer_table - all records of an instance
 * @start: memory of a small table: its few records, and the arrays below for them. The table
 *	begins with it, and may return to it, see hwtimer_table_return(). NULL: none
 * @slots: room for @max_slots pointers to slots; of a small table, for one
 * @maps: pointers to maps, a page for each HWTIMER_MAP_SLOTS slots; a set bit is a free
 *	record that can be used
 * @vacant: a bit for each slot; clear if the slot has no free record
 * @max_slots: maximum of @nr_slots: what the limit of records needs, and a few for
 *	@retired; a multiple of HWTIMER_SLOT_UNIT
 * @nr_slots: number of slots allocated, a multiple of HWTIMER_SLOT_UNIT; 0: the table is
 *	small, or empty
 * @end: one past the last index
 * @lowest: no record with a lower index is free, except for those in @window
 * @window: the records to be handed out next; the maps do not show which of them are free
 * @used: number of records in use
 * @retired: number of free records that are not used again because their generations are
 *	spent, and HWTIMER_NO_RECORD
 * @floor: the generation with which records begin that are added to the table. No record
 *	that the table gave up had a later one
 */
struct hwtimer_table {
	struct hwtimer_start *start;
	struct hwtimer_slot **slots;
	unsigned long **maps;
	unsigned long *vacant;
	u32 max_slots;
	u32 nr_slots;
	u32 end;
	u32 lowest;
	struct hwtimer_window window;
	u32 used;
	u32 retired;
	u32 floor;
};

/**
 * struct hwtimer_block - memory by which a table grows
 * @slots: the first of several neighbouring slots from one allocation; NULL: none
 * @map: a page for the maps, in case the slots need one; NULL: none
 * @arrays: an empty table, whose arrays replace those of a small table; zeroed: none
 * @nr_slots: number of slots at @slots
 * @floor: the generation of the records at @slots
 */
struct hwtimer_block {
	struct hwtimer_slot *slots;
	unsigned long *map;
	struct hwtimer_table arrays;
	u32 nr_slots;
	u32 floor;
};

int hwtimer_table_init(struct hwtimer_table *table, u32 limit);
int hwtimer_table_init_start(struct hwtimer_table *table, u32 limit);
void hwtimer_table_destroy(struct hwtimer_table *table);
u64 hwtimer_table_bytes(const struct hwtimer_table *table);
u64 hwtimer_table_empty_bytes(u32 limit);
u64 hwtimer_table_start_bytes(void);
u64 hwtimer_table_block_bytes(u32 nr_slots);

u32 hwtimer_table_growth(const struct hwtimer_table *table);
int hwtimer_table_alloc_block(u32 nr_slots, u32 floor,
			      struct hwtimer_block *block);
void hwtimer_table_free_block(struct hwtimer_block *block);
bool hwtimer_table_add_block(struct hwtimer_table *table,
			     struct hwtimer_block *block);

u32 hwtimer_table_survey(const struct hwtimer_table *table, u32 *cursor,
			 u32 floor);
bool hwtimer_table_return(struct hwtimer_table *table, u32 floor,
			  struct hwtimer_table *outgrown);
void hwtimer_table_free_some(struct hwtimer_table *table, u32 max);

bool hwtimer_table_refill(struct hwtimer_table *table);
struct hwtimer_record *hwtimer_table_next(const struct hwtimer_table *table,
					  u64 *cursor, unsigned int max);

/* Whether the table has only the records with which it began. */
static inline bool hwtimer_table_small(const struct hwtimer_table *table)
{
	return table->start && !table->nr_slots;
}

/* One past the last index. */
static inline u64 hwtimer_table_end(const struct hwtimer_table *table)
{
	return table->end;
}

/* How many records can be handed out without another block. */
static inline u32 hwtimer_table_spare(const struct hwtimer_table *table)
{
	return table->end - table->used - table->retired;
}

/* The record at an index that comes from the module, not from user space. */
static inline struct hwtimer_record *
hwtimer_table_record(const struct hwtimer_table *table, u32 index)
{
	return &table->slots[index >> HWTIMER_SLOT_SHIFT]
			->records[index & (HWTIMER_SLOT_RECORDS - 1)];
}

/* The id of @record, which is in use, at @index. */
static inline u64 hwtimer_table_id(const struct hwtimer_record *record,
				   u32 index)
{
	return (u64)record->generation << 32 | index;
}

/* The word of the maps that has the bit of record @index. */
static inline unsigned long *
hwtimer_table_word(const struct hwtimer_table *table, u32 index)
{
	u32 bit = index & (BIT(HWTIMER_MAP_SHIFT) - 1);

	return &table->maps[index >> HWTIMER_MAP_SHIFT][bit / BITS_PER_LONG];
}

/*
 * Whether *@index, which may be anything, is the index of a record. If so, *@index does
 * not change. If the processor mispredicts the answer, *@index stays within the table.
 */
static __always_inline bool hwtimer_table_has(const struct hwtimer_table *table,
					      u32 *index)
{
	if (unlikely(*index >= table->end))
		return false;
	*index = array_index_nospec(*index, table->end);
	return true;
}

/* Starts to fetch the record that @id, which may be anything, would name. */
static __always_inline void
hwtimer_table_prefetch(const struct hwtimer_table *table, u64 id)
{
	u32 index = lower_32_bits(id);

	if (hwtimer_table_has(table, &index))
		prefetchw(hwtimer_table_record(table, index));
}

/**
 * hwtimer_table_fetch - start to fetch the record that an id would name
 * @table: the instance's table, which has records
 * @id: in: the id; may be anything. Out: the same if the table has such a record; otherwise
 *	with the index HWTIMER_NO_RECORD, so that no timer has it
 *
 * Without a branch: the processor may mispredict that the record is plain, and then uses the
 * index in the maps.
 *
 * Return: the record, for hwtimer_record_plain(). HWTIMER_NO_RECORD's is always free.
 */
static __always_inline struct hwtimer_record *
hwtimer_table_fetch(const struct hwtimer_table *table, u64 *id)
{
	u32 index = array_index_nospec(lower_32_bits(*id), table->end);
	struct hwtimer_record *record = hwtimer_table_record(table, index);

	*id = (u64)upper_32_bits(*id) << 32 | index;
	prefetchw(record);
	return record;
}

/* Starts to fetch the word of the maps that changes when that record is freed. */
static __always_inline void
hwtimer_table_prefetch_word(const struct hwtimer_table *table, u64 id)
{
	u32 index = lower_32_bits(id);

	if (hwtimer_table_has(table, &index))
		prefetchw(hwtimer_table_word(table, index));
}

/**
 * hwtimer_table_ready - make sure that table->window has the lowest free records
 * @table: the instance's table
 *
 * Return: false if hwtimer_table_spare() is 0.
 */
static inline bool hwtimer_table_ready(struct hwtimer_table *table)
{
	return likely(table->window.free &&
		      table->lowest >= table->window.base) ||
	       hwtimer_table_refill(table);
}

/**
 * hwtimer_window_take - take the lowest free record of a window, with a new generation
 * @window: the table's window, or a copy that the caller writes back; not empty
 * @index: out: index of the record
 *
 * The caller adds the record to table->used.
 *
 * Return: the record; its state is still HWTIMER_FREE.
 */
static __always_inline struct hwtimer_record *
hwtimer_window_take(struct hwtimer_window *window, u32 *index)
{
	unsigned long bit = __ffs(window->free);
	struct hwtimer_record *record = &window->records[bit];

	window->free &= window->free - 1;
	*index = window->base + bit;
	record->generation++;
	/* Usually a later call takes that record. Otherwise the prefetch is in vain. */
	prefetchw(record + HWTIMER_GET_AHEAD);
	return record;
}

/**
 * hwtimer_table_get - take the lowest free record, with a new generation
 * @table: the instance's table
 *
 * Return: the index of the record, whose state is still HWTIMER_FREE; HWTIMER_NO_RECORD
 * if hwtimer_table_spare() is 0.
 */
static inline u32 hwtimer_table_get(struct hwtimer_table *table)
{
	u32 index;

	if (unlikely(!hwtimer_table_ready(table)))
		return HWTIMER_NO_RECORD;
	hwtimer_window_take(&table->window, &index);
	table->used++;
	return index;
}

/* Marks a record that can be used again as free, for hwtimer_table_get() to find. */
static inline void hwtimer_table_offer(struct hwtimer_table *table, u32 index)
{
	unsigned long mask = BIT(index % BITS_PER_LONG);
	unsigned long *word, free;

	if (index - table->window.base < BITS_PER_LONG) {
		table->window.free |= mask;
		return;
	}
	/* Not __set_bit(), which on x86 costs as much as the rest of this function. */
	word = hwtimer_table_word(table, index);
	free = *word;
	*word = free | mask;
	/* If the word had a free record, the slot's bit in @vacant is set. */
	if (unlikely(!free))
		__set_bit(index >> HWTIMER_SLOT_SHIFT, table->vacant);
	if (index < table->lowest)
		table->lowest = index;
}

/*
 * Whether record @index is known to be free. Reads the maps, which are small enough to be
 * cached, and not the record. They do not show the free records of the window.
 */
static __always_inline unsigned long
hwtimer_table_shows_free(const struct hwtimer_table *table, u32 index)
{
	return *hwtimer_table_word(table, index) >> index % BITS_PER_LONG & 1;
}

/**
 * hwtimer_table_release - let a record be used again
 * @table: the instance's table
 * @generation: generation of the timer that the record was used for
 * @index: index of the record, whose state is HWTIMER_FREE already
 *
 * A record whose generations are spent is not used again, so that ids never come back.
 * That costs 32 bytes for each 4,294,967,295 timers.
 *
 * The caller subtracts the record from table->used.
 */
static inline void hwtimer_table_release(struct hwtimer_table *table,
					 u32 generation, u32 index)
{
	if (unlikely(generation == HWTIMER_GENERATION_MAX))
		table->retired++;
	else
		hwtimer_table_offer(table, index);
}

/* Frees a record that is in use. */
static inline void hwtimer_table_put_record(struct hwtimer_table *table,
					    struct hwtimer_record *record,
					    u32 index)
{
	hwtimer_record_become(record, HWTIMER_FREE);
	table->used--;
	hwtimer_table_release(table, record->generation, index);
}

static inline void hwtimer_table_put(struct hwtimer_table *table, u32 index)
{
	hwtimer_table_put_record(table, hwtimer_table_record(table, index),
				 index);
}

/**
 * hwtimer_table_expired - find the record of an event
 * @table: the instance's table
 * @id: the id that the timer had when it expired
 *
 * Return: the record, in state HWTIMER_EXPIRED; NULL: the event was dropped.
 */
static inline struct hwtimer_record *
hwtimer_table_expired(const struct hwtimer_table *table, u64 id)
{
	struct hwtimer_record *record =
		hwtimer_table_record(table, lower_32_bits(id));

	return record->generation == upper_32_bits(id) &&
			       record->state == HWTIMER_EXPIRED ?
		       record :
		       NULL;
}

/**
 * hwtimer_table_find - find the record that an id from user space names
 * @table: the instance's table
 * @id: the id; may be anything
 *
 * Return: the timer's record, or NULL if @id never was valid or is no longer valid.
 */
static inline struct hwtimer_record *
hwtimer_table_find(const struct hwtimer_table *table, u64 id)
{
	u32 index = lower_32_bits(id);
	struct hwtimer_record *record;

	if (!hwtimer_table_has(table, &index))
		return NULL;
	record = hwtimer_table_record(table, index);
	if (record->generation != upper_32_bits(id) ||
	    record->state == HWTIMER_FREE || record->state == HWTIMER_EXTENSION)
		return NULL;
	return record;
}

/**
 * hwtimer_record_plain - whether a record is that of a pending one-shot timer
 * @record: the record, from hwtimer_table_fetch()
 * @id: the id, from hwtimer_table_fetch()
 *
 * Return: false in all other cases, which hwtimer_table_find() tells apart.
 */
static __always_inline bool
hwtimer_record_plain(const struct hwtimer_record *record, u64 id)
{
	const struct hwtimer_record all = { .state = U8_MAX, .flags = U8_MAX };
	const struct hwtimer_record plain = { .state = HWTIMER_PENDING };

	return likely(record->generation == upper_32_bits(id) &&
		      (record->status & all.status) == plain.status);
}

static inline bool hwtimer_record_periodic(const struct hwtimer_record *record)
{
	return record->flags & HWTIMER_RECORD_PERIODIC;
}

/* The user_data that a timer of any kind was scheduled with. */
static inline u64 hwtimer_table_user_data(const struct hwtimer_table *table,
					  const struct hwtimer_record *record)
{
	if (unlikely(hwtimer_record_periodic(record)))
		record = hwtimer_table_record(table, record->extension);
	return record->user_data;
}

#endif /* HWTIMER_TABLE_H */
