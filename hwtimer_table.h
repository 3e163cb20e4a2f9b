/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of records: the state of every timer of an instance, 32 bytes
 * each, found by index in two loads, and the ids that name them to user space.
 * Used by the wheel, which reads deadlines and stamps, and by the instance,
 * which owns the table.
 *
 * Nothing here locks: callers hold the lock of the instance, except for
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

/**
 * enum hwtimer_record_state - whose a record is
 * @HWTIMER_FREE: nobody's; or being delivered, and as good as nobody's, though not
 *	to be used again before that is done
 * @HWTIMER_PENDING: in the wheel
 * @HWTIMER_EXPIRED: in the queue of events
 * @HWTIMER_LEAVING: being delivered, which makes it free, or pending if it is
 *	periodic, or expired again if it fails
 * @HWTIMER_RETURNING: being copied to user space by STOP, which makes it free,
 *	or pending again if the copy fails
 * @HWTIMER_DISCARDED: in the queue of events, to be dropped when its turn comes
 * @HWTIMER_EXTENSION: another record's; see struct hwtimer_record
 */
enum hwtimer_record_state {
	HWTIMER_FREE,
	HWTIMER_PENDING,
	HWTIMER_EXPIRED,
	HWTIMER_LEAVING,
	HWTIMER_RETURNING,
	HWTIMER_DISCARDED,
	HWTIMER_EXTENSION,
};

/* Flags of a record. */
#define HWTIMER_RECORD_PERIODIC BIT(0)
#define HWTIMER_RECORD_FIXED_DELAY BIT(1)
/* The event that is queued or leaving is the last. */
#define HWTIMER_RECORD_ENDING BIT(2)
/* Counted in instance->resting. */
#define HWTIMER_RECORD_RESTING BIT(3)

/**
 * struct hwtimer_record - one timer
 * @deadline: absolute, ns on the instance's clock
 * @interval: in an extension: ns
 * @user_data: as scheduled; of a periodic timer, in its extension
 * @extension: of a periodic timer, the index of a second record, in which there
 *	is room for the interval and the count
 * @generation: lives of this record so far, the high half of its id
 * @stamp: the wheel's: changes when the entry in the wheel stops counting
 * @lateness: once expired: ns, saturated
 * @count: in an extension: expirations left; 0: no limit
 * @state: enum hwtimer_record_state
 * @postponed: the wheel's: the entry sits at an earlier tick than @deadline
 * @align: the wheel's: log2 of what its tick is a multiple of
 * @flags: HWTIMER_RECORD_*
 * @status: the last four in one
 */
struct hwtimer_record {
	union {
		u64 deadline;
		u64 interval;
	};
	union {
		u64 user_data;
		u32 extension;
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

/* Records come in slots of 1,024. */
#define HWTIMER_SLOT_SHIFT 10
#define HWTIMER_SLOT_RECORDS 1024U

static_assert(HWTIMER_SLOT_RECORDS == 1U << HWTIMER_SLOT_SHIFT);

/**
 * struct hwtimer_slot - 1,024 neighbouring records
 * @records: they
 */
struct hwtimer_slot {
	struct hwtimer_record records[HWTIMER_SLOT_RECORDS];
};

/**
 * hwtimer_slot_unit - the smallest number of slots that are allocated together
 * @page_size: bytes of a page
 *
 * A slot is eight pages of 4 KB, but half of a page of 64 KB. A table that only grows by
 * multiples of this number has no memory beside its slots, whatever the size of a page.
 *
 * Return: 1, or as many as fill a page.
 */
static __always_inline u32 hwtimer_slot_unit(size_t page_size)
{
	return page_size <= sizeof(struct hwtimer_slot) ?
		       1 :
		       page_size / sizeof(struct hwtimer_slot);
}

#define HWTIMER_SLOT_UNIT hwtimer_slot_unit(PAGE_SIZE)

/*
 * Maps of free records, a page each, are apart from these: who frees records in random
 * order needs few pages, and lines that do not keep each other out of the caches.
 */
#define HWTIMER_MAP_SHIFT (PAGE_SHIFT + 3) /* bits */
#define HWTIMER_MAP_SLOTS (1U << (HWTIMER_MAP_SHIFT - HWTIMER_SLOT_SHIFT))

/* Records between the one that is handed out and the one that is fetched. */
#define HWTIMER_GET_AHEAD 32

/** HWTIMER_NO_RECORD - the index of none: the first record is never used */
#define HWTIMER_NO_RECORD 0U

/**
 * struct hwtimer_hand - free records that are handed out next
 * @free: a bit for each free one among BITS_PER_LONG neighbours
 * @base: index of the first of them
 * @records: the first of them
 */
struct hwtimer_hand {
	unsigned long free;
	struct hwtimer_record *records;
	u32 base;
};

/**
 * struct hwtimer_table - all records of an instance
 * @slots: room for @max_slots pointers
 * @maps: a page for HWTIMER_MAP_SLOTS slots each: a set bit is a free record that
 *	can be used
 * @vacant: a bit a slot: clear if the slot has no free record
 * @max_slots: what the limit of timers needs; a multiple of HWTIMER_SLOT_UNIT
 * @nr_slots: how many there are; only grows, by multiples of HWTIMER_SLOT_UNIT
 * @lowest: no record of a lower index is free, but for those at hand
 * @hand: what is free there is not so in the maps
 * @used: records in use
 * @retired: free ones that are not used again, as their generations are spent, and
 *	HWTIMER_NO_RECORD
 */
struct hwtimer_table {
	struct hwtimer_slot **slots;
	unsigned long **maps;
	unsigned long *vacant;
	u32 max_slots;
	u32 nr_slots;
	u32 lowest;
	struct hwtimer_hand hand;
	u32 used;
	u32 retired;
};

/**
 * struct hwtimer_block - what a table grows by
 * @slots: the first of neighbouring slots from one allocation; NULL for none
 * @map: a page of maps, in case that they need one; NULL for none
 * @nr_slots: how many slots there are at @slots
 */
struct hwtimer_block {
	struct hwtimer_slot *slots;
	unsigned long *map;
	u32 nr_slots;
};

int hwtimer_table_init(struct hwtimer_table *table, u32 limit);
void hwtimer_table_destroy(struct hwtimer_table *table);
u64 hwtimer_table_bytes(const struct hwtimer_table *table);

u32 hwtimer_table_growth(const struct hwtimer_table *table);
int hwtimer_table_alloc_block(u32 nr_slots, struct hwtimer_block *block);
void hwtimer_table_free_block(struct hwtimer_block *block);
bool hwtimer_table_add_block(struct hwtimer_table *table,
			     struct hwtimer_block *block);

bool hwtimer_table_refill(struct hwtimer_table *table);
struct hwtimer_record *hwtimer_table_next(const struct hwtimer_table *table,
					  u64 *cursor, unsigned int max);

/* One past the last index. */
static inline u64 hwtimer_table_end(const struct hwtimer_table *table)
{
	return (u64)table->nr_slots << HWTIMER_SLOT_SHIFT;
}

/* How many records can be had without another block. */
static inline u32 hwtimer_table_spare(const struct hwtimer_table *table)
{
	return table->nr_slots * HWTIMER_SLOT_RECORDS - table->used -
	       table->retired;
}

/* The record of an index that the module itself made. */
static inline struct hwtimer_record *
hwtimer_table_record(const struct hwtimer_table *table, u32 index)
{
	return &table->slots[index >> HWTIMER_SLOT_SHIFT]
			->records[index & (HWTIMER_SLOT_RECORDS - 1)];
}

/* The id of the record at @index, while it is in use. */
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
 * Whether there is a record of *@index, which is anything. If so, it stays what it
 * is, but where the processor guesses that there is one.
 */
static __always_inline bool hwtimer_table_has(const struct hwtimer_table *table,
					      u32 *index)
{
	u32 nr = *index >> HWTIMER_SLOT_SHIFT;

	if (unlikely(nr >= table->nr_slots))
		return false;
	nr = array_index_nospec(nr, table->nr_slots);
	*index = nr << HWTIMER_SLOT_SHIFT |
		 (*index & (HWTIMER_SLOT_RECORDS - 1));
	return true;
}

/* Starts to fetch what lies where the record that any id names would be. */
static __always_inline void
hwtimer_table_prefetch(const struct hwtimer_table *table, u64 id)
{
	u32 index = lower_32_bits(id);

	if (hwtimer_table_has(table, &index))
		prefetchw(hwtimer_table_record(table, index));
}

/* The same, and where it will be entered as free. */
static __always_inline void
hwtimer_table_prefetch_put(const struct hwtimer_table *table, u64 id)
{
	u32 index = lower_32_bits(id);

	if (hwtimer_table_has(table, &index)) {
		prefetchw(hwtimer_table_record(table, index));
		prefetchw(hwtimer_table_word(table, index));
	}
}

/**
 * hwtimer_table_ready - have the lowest free records in table->hand
 * @table: of the instance
 *
 * Return: false if hwtimer_table_spare() is 0.
 */
static inline bool hwtimer_table_ready(struct hwtimer_table *table)
{
	return likely(table->hand.free && table->lowest >= table->hand.base) ||
	       hwtimer_table_refill(table);
}

/**
 * hwtimer_hand_take - the lowest record of a hand, with a generation of its own
 * @hand: of the table, or a copy that will be put back; not empty
 * @index: out: of the record
 *
 * It is still to be counted: table->used.
 *
 * Return: the record; its state is still HWTIMER_FREE.
 */
static __always_inline struct hwtimer_record *
hwtimer_hand_take(struct hwtimer_hand *hand, u32 *index)
{
	unsigned long bit = __ffs(hand->free);
	struct hwtimer_record *record = &hand->records[bit];

	hand->free &= hand->free - 1;
	*index = hand->base + bit;
	record->generation++;
	/* Mostly that of one of the next calls; at worst nobody's. */
	prefetchw(record + HWTIMER_GET_AHEAD);
	return record;
}

/**
 * hwtimer_table_get - the lowest free record, with a generation of its own
 * @table: of the instance
 *
 * Return: its index, and its state is still HWTIMER_FREE; HWTIMER_NO_RECORD if
 * hwtimer_table_spare() is 0.
 */
static inline u32 hwtimer_table_get(struct hwtimer_table *table)
{
	u32 index;

	if (unlikely(!hwtimer_table_ready(table)))
		return HWTIMER_NO_RECORD;
	hwtimer_hand_take(&table->hand, &index);
	table->used++;
	return index;
}

/* Enters a record that can be used again where hwtimer_table_get() finds it. */
static inline void hwtimer_table_offer(struct hwtimer_table *table, u32 index)
{
	unsigned long mask = BIT(index % BITS_PER_LONG);
	unsigned long *word, free;

	if (index - table->hand.base < BITS_PER_LONG) {
		table->hand.free |= mask;
		return;
	}
	/* Not by __set_bit(), which on x86 costs as much as all the rest. */
	word = hwtimer_table_word(table, index);
	free = *word;
	*word = free | mask;
	/* Otherwise the slot is known to have a free one. */
	if (unlikely(!free))
		__set_bit(index >> HWTIMER_SLOT_SHIFT, table->vacant);
	if (index < table->lowest)
		table->lowest = index;
}

/**
 * hwtimer_table_prefetch_used - start to fetch a record if it is in use
 * @table: of the instance
 * @index: of a record
 *
 * It may be fetched although it is free. The maps are small enough to be cached. There
 * is no branch, as the processor would guess it wrong as often as not: instead, of two
 * addresses one is masked out.
 *
 * Return: whether it is known to be free.
 */
static __always_inline bool
hwtimer_table_prefetch_used(const struct hwtimer_table *table, u32 index)
{
	const unsigned long *word = hwtimer_table_word(table, index);
	unsigned long free = *word >> index % BITS_PER_LONG & 1;
	unsigned long map = (unsigned long)word;
	unsigned long record =
		(unsigned long)hwtimer_table_record(table, index);

	prefetchw((void *)(map ^ ((map ^ record) & (free - 1))));
	return free;
}

/**
 * hwtimer_table_release - let a record be used again
 * @table: of the instance
 * @generation: of the timer that it was
 * @index: its; its state is HWTIMER_FREE already
 *
 * A record whose generations are spent is not used again: 32 bytes for each
 * 4,294,967,295 timers are the price for ids that never come back.
 *
 * It is still to be counted: table->used.
 */
static inline void hwtimer_table_release(struct hwtimer_table *table,
					 u32 generation, u32 index)
{
	if (unlikely(generation == U32_MAX))
		table->retired++;
	else
		hwtimer_table_offer(table, index);
}

/* Makes a record, which is in use, free. */
static inline void hwtimer_table_put_record(struct hwtimer_table *table,
					    struct hwtimer_record *record,
					    u32 index)
{
	record->state = HWTIMER_FREE;
	table->used--;
	hwtimer_table_release(table, record->generation, index);
}

static inline void hwtimer_table_put(struct hwtimer_table *table, u32 index)
{
	hwtimer_table_put_record(table, hwtimer_table_record(table, index),
				 index);
}

/**
 * hwtimer_table_find - the record that an id from user space names
 * @table: of the instance
 * @id: anything
 *
 * Return: a timer's record, or NULL if @id never was or is no longer valid.
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
 * hwtimer_table_find_plain - the record that an id names, if it is the usual case
 * @table: of the instance
 * @id: anything
 * @index: out: the record's
 *
 * Return: the record of a timer that is pending, for once; NULL if it is anything
 * else, which hwtimer_table_find() finds out.
 */
static __always_inline struct hwtimer_record *
hwtimer_table_find_plain(const struct hwtimer_table *table, u64 id, u32 *index)
{
	const struct hwtimer_record all = { .state = U8_MAX, .flags = U8_MAX };
	const struct hwtimer_record plain = { .state = HWTIMER_PENDING };
	struct hwtimer_record *record;

	*index = lower_32_bits(id);
	if (unlikely(!hwtimer_table_has(table, index)))
		return NULL;
	record = hwtimer_table_record(table, *index);
	if (unlikely(record->generation != upper_32_bits(id) ||
		     (record->status & all.status) != plain.status))
		return NULL;
	return record;
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
