// SPDX-License-Identifier: GPL-2.0
/*
 * The table of records: memory for slots, and which records are free; see wheel/table.h.
 *
 * A slot is 32 KB, so one load from a small array turns an index into an address. Slots
 * come in blocks of up to 512 KB from the page allocator, whose memory the kernel maps
 * with large pages. If free memory is so scattered that the page allocator has not even
 * one slot in one piece, a slot is mapped from single pages.
 *
 * The lowest free record is handed out first. After any mixture of cancellations, the
 * next records then come in ascending order, which the processor prefetches by itself. A
 * stack of free records would hand them out in the order in which they were freed, with a
 * cache miss for each.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "alloc.h"
#include "constants.h"
#include "wheel/table.h"

/* Blocks grow with the table, up to 16 slots, which are 512 KB. */
#define HWTIMER_BLOCK_SLOTS_MAX 16

/* One more page of maps is enough for a block. */
static_assert(HWTIMER_BLOCK_SLOTS_MAX <= HWTIMER_MAP_SLOTS);

/* The largest block consists of whole pages and has room for a unit of slots. */
static_assert(HWTIMER_BLOCK_SLOTS_MAX * sizeof(struct hwtimer_slot) >=
	      PAGE_SIZE);

/**
 * struct hwtimer_start - all memory of a small table, at most 2 KB
 * @records: the records: the beginning of a slot. table->end keeps everybody from the rest
 * @slot: table->slots
 * @map: table->maps
 * @vacant: table->vacant
 * @bits: the map
 */
struct hwtimer_start {
	struct hwtimer_record records[HWTIMER_START_RECORDS];
	struct hwtimer_slot *slot;
	unsigned long *map;
	unsigned long vacant;
	unsigned long bits;
};

static_assert(BITS_PER_LONG >= HWTIMER_START_RECORDS);
static_assert(sizeof(struct hwtimer_start) <= 2048);
static_assert(HWTIMER_START_RECORDS < HWTIMER_SLOT_RECORDS);

#ifdef HWTIMER_CHECKED

/*
 * Each change of a record's state that may happen. Only a build with the KUnit suites has
 * this table, and checks each change; test/kunit/states_kunit.c checks that each change happens.
 * test/vm/proofs.sh compares the table with the model test/proofs/record.pml.
 */
const unsigned long hwtimer_states_after[HWTIMER_STATES] = {
	[HWTIMER_FREE] =
		BIT(HWTIMER_PENDING) | /* SCHEDULE */
		BIT(HWTIMER_EXTENSION), /* SCHEDULE of a periodic timer */
	[HWTIMER_PENDING] = BIT(HWTIMER_FREE) | /* CANCEL, CANCEL_ALL */
			    BIT(HWTIMER_EXPIRED), /* it is due */
	[HWTIMER_EXPIRED] =
		BIT(HWTIMER_FREE) | /* its last event is delivered, or dropped */
		BIT(HWTIMER_PENDING), /* its event is delivered, and it is periodic */
	[HWTIMER_EXTENSION] = BIT(HWTIMER_FREE), /* its timer ends */
};

unsigned long hwtimer_states_seen[HWTIMER_STATES];

/* Warns if @record, in the state that it has, must not change to @state. */
void hwtimer_record_check(const struct hwtimer_record *record,
			  enum hwtimer_record_state state)
{
	if (WARN(!(hwtimer_states_after[record->state] >> state & 1),
		 "a record's state changes from %u to %u", record->state,
		 state))
		return;
	if (!test_bit(state, &hwtimer_states_seen[record->state]))
		set_bit(state, &hwtimer_states_seen[record->state]);
}

#endif

static u32 maps_for(u32 slots)
{
	return DIV_ROUND_UP(slots, HWTIMER_MAP_SLOTS);
}

static void *array_get(size_t count, size_t size)
{
	return hwtimer_memory_get(count * size, __GFP_ZERO);
}

/* The maximum number of slots of a table for @limit records. */
static u32 max_slots_for(u32 limit)
{
	u32 slots = DIV_ROUND_UP_ULL((u64)limit + 1, HWTIMER_SLOT_RECORDS) +
		    HWTIMER_SLOTS_RETIRED;

	return round_up(slots, HWTIMER_SLOT_UNIT);
}

/**
 * hwtimer_table_init - set up an empty table
 * @table: the table; zeroed
 * @limit: maximum number of records that will be in use at a time
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_table_init(struct hwtimer_table *table, u32 limit)
{
	u32 max_slots = max_slots_for(limit);

	table->slots = array_get(max_slots, sizeof(*table->slots));
	table->maps = array_get(maps_for(max_slots), sizeof(*table->maps));
	table->vacant = array_get(BITS_TO_LONGS(max_slots), sizeof(long));
	if (!table->slots || !table->maps || !table->vacant) {
		hwtimer_table_destroy(table);
		return -ENOMEM;
	}
	table->max_slots = max_slots;
	return 0;
}

/* Makes @table a small one, with the records of @start, none of which is in use. */
static void table_begin(struct hwtimer_table *table,
			struct hwtimer_start *start, u32 max_slots, u32 floor)
{
	u32 i, usable = 0;

	start->slot = (struct hwtimer_slot *)start->records;
	start->map = &start->bits;
	start->vacant = 1;
	start->bits = 0;
	for (i = HWTIMER_NO_RECORD + 1; i < HWTIMER_START_RECORDS; i++) {
		if (start->records[i].generation == HWTIMER_GENERATION_MAX)
			continue;
		__set_bit(i, &start->bits);
		usable++;
	}
	*table = (struct hwtimer_table){
		.start = start,
		.slots = &start->slot,
		.maps = &start->map,
		.vacant = &start->vacant,
		.max_slots = max_slots,
		.end = HWTIMER_START_RECORDS,
		.retired = HWTIMER_START_RECORDS - usable,
		.floor = floor,
	};
}

/**
 * hwtimer_table_init_start - set up a table with HWTIMER_START_RECORDS records
 * @table: the table; zeroed
 * @limit: maximum number of records that will be in use at a time
 *
 * All memory of the table is one small allocation. When the first block is added,
 * the records move into that, and the table gets the arrays of hwtimer_table_init().
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_table_init_start(struct hwtimer_table *table, u32 limit)
{
	struct hwtimer_start *start = array_get(1, sizeof(*start));

	if (!start)
		return -ENOMEM;
	table_begin(table, start, max_slots_for(limit), 0);
	return 0;
}

/*
 * Allocates a block of @count slots in one piece. @count is HWTIMER_SLOT_UNIT times a
 * power of two. Returns NULL if that fails.
 */
static struct hwtimer_slot *slots_alloc(u32 count, gfp_t gfp)
{
	struct page *page =
		alloc_pages(gfp | __GFP_ZERO | __GFP_COMP,
			    get_order(count * sizeof(struct hwtimer_slot)));

	return page ? page_address(page) : NULL;
}

/*
 * Allocates the smallest block, mapped from single pages. Older kernels (6.12, not 7.3)
 * allocate page tables, a page for 64 slots, with GFP_KERNEL whatever the caller asks
 * for. The caller has made sure by hwtimer_account_charge() that memory for that is left.
 */
static struct hwtimer_slot *slots_vmalloc(void)
{
	/* The smallest block is a single page already. */
	if (HWTIMER_SLOT_UNIT * sizeof(struct hwtimer_slot) == PAGE_SIZE)
		return NULL;
	return __vmalloc(HWTIMER_SLOT_UNIT * sizeof(struct hwtimer_slot),
			 HWTIMER_GFP | __GFP_ZERO);
}

/* Frees a block of slots, however it was allocated. May sleep. */
static void slots_free(struct hwtimer_slot *slots)
{
	struct page *page;

	if (is_vmalloc_addr(slots)) {
		vfree(slots);
		return;
	}
	page = virt_to_head_page(slots);
	__free_pages(page, compound_order(page));
}

/* Number of slots in the block that begins with @slots. */
static u32 slots_count(const struct hwtimer_slot *slots)
{
	if (is_vmalloc_addr(slots))
		return HWTIMER_SLOT_UNIT;
	return (PAGE_SIZE << compound_order(virt_to_head_page(slots))) /
	       sizeof(*slots);
}

/**
 * hwtimer_table_free_some - free a table that nobody uses any more, bit by bit
 * @table: the table; its @lowest is 0 at the first call. Zeroed when all is freed
 * @max: maximum number of blocks to free
 *
 * May sleep.
 */
void hwtimer_table_free_some(struct hwtimer_table *table, u32 max)
{
	u32 i;

	while (table->lowest < table->nr_slots) {
		struct hwtimer_slot *slots = table->slots[table->lowest];

		if (!max--)
			return;
		table->lowest += slots_count(slots);
		slots_free(slots);
		cond_resched();
	}
	for (i = 0; i < maps_for(table->nr_slots); i++)
		free_page((unsigned long)table->maps[i]);
	if (!hwtimer_table_small(table)) {
		kvfree(table->vacant);
		kvfree(table->maps);
		kvfree(table->slots);
	}
	kvfree(table->start);
	memset(table, 0, sizeof(*table));
}

/* Undoes hwtimer_table_init(), and frees all records. May sleep. */
void hwtimer_table_destroy(struct hwtimer_table *table)
{
	table->lowest = 0;
	hwtimer_table_free_some(table, U32_MAX);
}

/* Bytes of kernel memory that the table takes. */
u64 hwtimer_table_bytes(const struct hwtimer_table *table)
{
	u64 start = table->start ? hwtimer_table_start_bytes() : 0;

	if (hwtimer_table_small(table))
		return start;
	return start + (u64)table->nr_slots * sizeof(struct hwtimer_slot) +
	       (u64)maps_for(table->nr_slots) * PAGE_SIZE +
	       hwtimer_memory_bytes(table->max_slots * sizeof(*table->slots)) +
	       hwtimer_memory_bytes(maps_for(table->max_slots) *
				    sizeof(*table->maps)) +
	       hwtimer_memory_bytes(BITS_TO_LONGS(table->max_slots) *
				    sizeof(long));
}

/**
 * hwtimer_table_empty_bytes - compute what an empty table takes
 * @limit: maximum number of records that will be in use at a time
 *
 * Return: bytes of kernel memory that hwtimer_table_init() allocates. Any context.
 */
u64 hwtimer_table_empty_bytes(u32 limit)
{
	const struct hwtimer_table empty = { .max_slots =
						     max_slots_for(limit) };

	return hwtimer_table_bytes(&empty);
}

/* Bytes of kernel memory that hwtimer_table_init_start() allocates. */
u64 hwtimer_table_start_bytes(void)
{
	return sizeof(struct hwtimer_start);
}

/**
 * hwtimer_table_block_bytes - compute what a block takes
 * @nr_slots: number of slots of the block
 *
 * Return: bytes of kernel memory, with the page for the maps. Any context.
 */
u64 hwtimer_table_block_bytes(u32 nr_slots)
{
	return (u64)nr_slots * sizeof(struct hwtimer_slot) + PAGE_SIZE;
}

/**
 * hwtimer_table_growth - by how many slots the table should grow next
 * @table: the table of an instance whose lock the caller holds
 *
 * Return: the number of slots; 0 if the table must not grow any more.
 */
u32 hwtimer_table_growth(const struct hwtimer_table *table)
{
	return min3(max(table->nr_slots / 8, HWTIMER_SLOT_UNIT),
		    table->max_slots - table->nr_slots,
		    (u32)HWTIMER_BLOCK_SLOTS_MAX);
}

/* Allocates up to @nr_slots slots, fewer if memory is scattered; false: none. */
static bool block_get_slots(struct hwtimer_block *block, u32 nr_slots)
{
	u32 count =
		max_t(u32, rounddown_pow_of_two(nr_slots), HWTIMER_SLOT_UNIT);

	for (; count > HWTIMER_SLOT_UNIT && !block->slots; count /= 2) {
		block->nr_slots = count;
		block->slots = slots_alloc(count, HWTIMER_GFP_AHEAD);
	}
	if (block->slots)
		return true;
	block->nr_slots = HWTIMER_SLOT_UNIT;
	block->slots = slots_alloc(HWTIMER_SLOT_UNIT, HWTIMER_GFP);
	if (!block->slots)
		block->slots = slots_vmalloc();
	return block->slots;
}

/* Sets the generation of all records of a block, which are zeroed, to @floor. */
static void block_set_floor(struct hwtimer_block *block, u32 floor)
{
	u32 nr, i;

	block->floor = floor;
	if (!floor)
		return;
	for (nr = 0; nr < block->nr_slots; nr++)
		for (i = 0; i < HWTIMER_SLOT_RECORDS; i++)
			block->slots[nr].records[i].generation = floor;
}

/**
 * hwtimer_table_alloc_block - allocate a block for hwtimer_table_add_block()
 * @nr_slots: number of slots wanted, at least 1; at least HWTIMER_SLOT_UNIT are allocated, and
 *	fewer than wanted if memory is scattered
 * @floor: the table's floor
 * @block: out: the block
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_table_alloc_block(u32 nr_slots, u32 floor,
			      struct hwtimer_block *block)
{
	*block = (struct hwtimer_block){
		.map = (void *)get_zeroed_page(HWTIMER_GFP),
	};
	if (!block->map)
		return -ENOMEM;
	if (!block_get_slots(block, nr_slots)) {
		hwtimer_table_free_block(block);
		return -ENOMEM;
	}
	block_set_floor(block, floor);
	return 0;
}

/* Frees the rest of a block, which may be empty. May sleep. */
void hwtimer_table_free_block(struct hwtimer_block *block)
{
	if (block->slots)
		slots_free(block->slots);
	block->slots = NULL;
	free_page((unsigned long)block->map);
	block->map = NULL;
	hwtimer_table_destroy(&block->arrays);
}

static unsigned long *slot_map(const struct hwtimer_table *table, u32 nr)
{
	return hwtimer_table_word(table, nr << HWTIMER_SLOT_SHIFT);
}

static void table_add_slot(struct hwtimer_table *table,
			   struct hwtimer_slot *slot)
{
	u32 nr = table->nr_slots++;

	table->end = table->nr_slots << HWTIMER_SLOT_SHIFT;
	table->slots[nr] = slot;
	bitmap_fill(slot_map(table, nr), HWTIMER_SLOT_RECORDS);
	__set_bit(nr, table->vacant);
	if (nr)
		return;
	__clear_bit(HWTIMER_NO_RECORD, slot_map(table, nr));
	table->retired++;
}

/*
 * Lets a small table go on with the arrays of @block, whose first slot has been added to
 * them, and with the records that the table has.
 */
static void table_leave_start(struct hwtimer_table *table,
			      struct hwtimer_block *block)
{
	struct hwtimer_start *start = table->start;
	struct hwtimer_table *larger = &block->arrays;
	struct hwtimer_window window = table->window;
	unsigned long *map = slot_map(larger, 0);

	memcpy(larger->slots[0], start->records, sizeof(start->records));
	*map = start->bits;
	bitmap_set(map, HWTIMER_START_RECORDS,
		   BITS_PER_LONG - HWTIMER_START_RECORDS);
	if (window.records) {
		/* The map does not show which records of the window are free. */
		window.records = &larger->slots[0]->records[window.base];
		window.free |= map[window.base / BITS_PER_LONG];
		map[window.base / BITS_PER_LONG] = 0;
	}
	larger->window = window;
	larger->lowest = min(table->lowest, HWTIMER_START_RECORDS);
	larger->used = table->used;
	larger->retired = table->retired;
	larger->floor = table->floor;
	larger->start = start;
	*table = *larger;
	*larger = (struct hwtimer_table){};
}

/**
 * hwtimer_table_add_block - let the table grow by a block
 * @table: the table of an instance whose lock the caller holds
 * @block: the block; with arrays, if the table is small. After success, the caller still
 *	frees it: it may have memory that the table does not need
 *
 * Moves up to HWTIMER_START_RECORDS records.
 *
 * Return: false if the limit leaves no room for the whole block, or if the table's floor has
 * changed since the block was allocated.
 */
bool hwtimer_table_add_block(struct hwtimer_table *table,
			     struct hwtimer_block *block)
{
	bool small = hwtimer_table_small(table);
	struct hwtimer_table *to = small ? &block->arrays : table;
	u32 count = block->nr_slots;
	u32 nr_maps = maps_for(to->nr_slots);
	u32 i;

	if (to->nr_slots + count > to->max_slots ||
	    block->floor != table->floor)
		return false;
	if (maps_for(to->nr_slots + count) > nr_maps) {
		to->maps[nr_maps] = block->map;
		block->map = NULL;
	}
	for (i = 0; i < count; i++)
		table_add_slot(to, &block->slots[i]);
	block->slots = NULL;
	free_page((unsigned long)block->map);
	block->map = NULL;
	if (small)
		table_leave_start(table, block);
	return true;
}

/**
 * hwtimer_table_survey - find the highest generation of records, for hwtimer_table_return()
 * @table: the table
 * @cursor: in: how many records were checked before; out: how many are now. When that is
 *	hwtimer_table_end(), all were
 * @floor: the highest generation of those that were checked before
 *
 * Checks HWTIMER_HOLD records. Those that a small table keeps do not count.
 *
 * Return: the highest generation of all that were checked.
 */
u32 hwtimer_table_survey(const struct hwtimer_table *table, u32 *cursor,
			 u32 floor)
{
	u32 end = min(*cursor + HWTIMER_HOLD, table->end);
	u32 i = max(*cursor, HWTIMER_START_RECORDS);

	for (; i < end; i++)
		floor = max(floor, hwtimer_table_record(table, i)->generation);
	*cursor = end;
	return floor;
}

/**
 * hwtimer_table_return - make a table small again
 * @table: the table, which is not small, but began so; none of its records is in use
 * @floor: the highest generation of the records that it gives up, and its floor
 * @outgrown: out: the memory that it gives up, for hwtimer_table_free_some()
 *
 * Ids must not come back. So the records that stay keep their generations, and records that
 * are added later begin with @floor.
 *
 * Return: false if @floor is more than half of HWTIMER_GENERATION_MAX. Then nothing has
 * changed: too few generations would be left to the records that are added.
 */
bool hwtimer_table_return(struct hwtimer_table *table, u32 floor,
			  struct hwtimer_table *outgrown)
{
	struct hwtimer_start *start = table->start;

	if (floor > HWTIMER_GENERATION_MAX / 2)
		return false;
	memcpy(start->records, table->slots[0]->records,
	       sizeof(start->records));
	*outgrown = *table;
	outgrown->start = NULL;
	outgrown->lowest = 0;
	table_begin(table, start, outgrown->max_slots, floor);
	return true;
}

/* Marks the free records of the window as free in the maps. */
static void put_back_window(struct hwtimer_table *table)
{
	const struct hwtimer_window *window = &table->window;

	if (!window->free)
		return;
	*hwtimer_table_word(table, window->base) = window->free;
	__set_bit(window->base >> HWTIMER_SLOT_SHIFT, table->vacant);
}

/**
 * hwtimer_table_refill - move the window to the lowest free records
 * @table: the instance's table
 *
 * Return: false if no record is free.
 */
bool hwtimer_table_refill(struct hwtimer_table *table)
{
	u32 end = min(table->end, HWTIMER_SLOT_RECORDS);
	u32 lowest = table->lowest;
	unsigned long *map;
	u32 nr, bit;

	if (!hwtimer_table_spare(table))
		return false;
	put_back_window(table);
	nr = find_next_bit(table->vacant, table->nr_slots,
			   lowest >> HWTIMER_SLOT_SHIFT);
	map = slot_map(table, nr);
	bit = nr == lowest >> HWTIMER_SLOT_SHIFT ?
		      lowest & (HWTIMER_SLOT_RECORDS - 1) :
		      0;
	bit = find_next_bit(map, end, bit) & ~(BITS_PER_LONG - 1);
	table->window = (struct hwtimer_window){
		.free = map[bit / BITS_PER_LONG],
		.records = &table->slots[nr]->records[bit],
		.base = nr << HWTIMER_SLOT_SHIFT | bit,
	};
	map[bit / BITS_PER_LONG] = 0;
	/*
	 * At once. If it was left to a later refill, that might have to look through all
	 * slots of the table in one hold of the lock.
	 */
	if (find_next_bit(map, end, bit + BITS_PER_LONG) >= end)
		__clear_bit(nr, table->vacant);
	table->lowest = table->window.base + BITS_PER_LONG;
	return true;
}

/**
 * hwtimer_table_next - step through the records in use
 * @table: the instance's table
 * @cursor: in: index of the first record to check; out: index of the record returned, or
 *	of the first record not checked
 * @max: maximum number of records to check
 *
 * Return: a record in use; NULL if none of the checked ones is. After the last record of
 * the table, *@cursor is hwtimer_table_end().
 */
struct hwtimer_record *hwtimer_table_next(const struct hwtimer_table *table,
					  u64 *cursor, unsigned int max)
{
	u64 end = hwtimer_table_end(table);

	for (; *cursor < end && max--; ++*cursor) {
		struct hwtimer_record *record =
			hwtimer_table_record(table, *cursor);

		if (record->state != HWTIMER_FREE)
			return record;
	}
	return NULL;
}
