// SPDX-License-Identifier: GPL-2.0
/*
 * The table of records; see hwtimer_table.h.
 *
 * Slots are 32 KB, so an index is turned into an address by one load from a
 * small array, and they come in blocks of up to 512 KB from the page
 * allocator, whose memory the kernel maps with large pages.
 *
 * The lowest free record is handed out first. After any mixture of
 * cancellations the next records then come in ascending order, which the
 * processor prefetches by itself; a stack of free ones would hand out cache
 * misses in the order in which they were returned.
 */
#include <linux/bitmap.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "hwtimer_table.h"

/* Blocks grow with the table, up to 16 slots or 512 KB. */
#define HWTIMER_BLOCK_SLOTS_MAX 16

/* Slots beyond the limit, as room for records whose generations are spent. */
#define HWTIMER_SLOTS_RETIRED 16

/**
 * hwtimer_table_init - an empty table
 * @table: zeroed
 * @limit: most records that will ever be in use at a time
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_table_init(struct hwtimer_table *table, u32 limit)
{
	u32 max_slots = DIV_ROUND_UP_ULL((u64)limit, HWTIMER_SLOT_USABLE) +
			HWTIMER_SLOTS_RETIRED;

	table->slots =
		kvcalloc(max_slots, sizeof(*table->slots), GFP_KERNEL_ACCOUNT);
	if (!table->slots)
		return -ENOMEM;
	table->vacant = kvcalloc(BITS_TO_LONGS(max_slots), sizeof(long),
				 GFP_KERNEL_ACCOUNT);
	if (!table->vacant)
		goto err_slots;
	table->max_slots = max_slots;
	return 0;

err_slots:
	kvfree(table->slots);
	table->slots = NULL;
	return -ENOMEM;
}

/* Undoes hwtimer_table_init(), and frees all records. May sleep. */
void hwtimer_table_destroy(struct hwtimer_table *table)
{
	u32 i = 0;

	while (i < table->nr_slots) {
		struct page *page = virt_to_head_page(table->slots[i]);
		struct hwtimer_block block = {
			.slots = table->slots[i],
			.order = compound_order(page),
		};

		i += 1U << (block.order - HWTIMER_SLOT_ORDER);
		hwtimer_table_free_block(&block);
		cond_resched();
	}
	kvfree(table->vacant);
	kvfree(table->slots);
	memset(table, 0, sizeof(*table));
}

/* Kernel memory that the table takes. */
u64 hwtimer_table_bytes(const struct hwtimer_table *table)
{
	return (u64)table->nr_slots * sizeof(struct hwtimer_slot) +
	       (u64)table->max_slots * sizeof(*table->slots) +
	       BITS_TO_LONGS(table->max_slots) * sizeof(long);
}

/**
 * hwtimer_table_growth - by how many slots the table should grow next
 * @table: of the instance, whose lock the caller holds
 *
 * Return: 0 if it must not grow any more.
 */
u32 hwtimer_table_growth(const struct hwtimer_table *table)
{
	return min3(max(table->nr_slots / 8, 1U),
		    table->max_slots - table->nr_slots,
		    (u32)HWTIMER_BLOCK_SLOTS_MAX);
}

/**
 * hwtimer_table_alloc_block - allocate what hwtimer_table_add_block() adds
 * @nr_slots: at most so many, at least 1; fewer where memory is scattered
 * @block: out
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_table_alloc_block(u32 nr_slots, struct hwtimer_block *block)
{
	unsigned int order = HWTIMER_SLOT_ORDER + ilog2(nr_slots);

	for (; order >= HWTIMER_SLOT_ORDER; order--) {
		gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_COMP |
			    __GFP_NOWARN;
		struct page *page;

		if (order > HWTIMER_SLOT_ORDER)
			gfp |= __GFP_NORETRY;
		page = alloc_pages(gfp, order);
		if (page) {
			block->slots = page_address(page);
			block->order = order;
			return 0;
		}
	}
	block->slots = NULL;
	return -ENOMEM;
}

/* Frees a block that is not in a table; none is fine. */
void hwtimer_table_free_block(struct hwtimer_block *block)
{
	if (block->slots)
		__free_pages(virt_to_page(block->slots), block->order);
	block->slots = NULL;
}

static void slot_init(struct hwtimer_slot *slot, u32 nr)
{
	unsigned long *map = hwtimer_slot_map(slot, nr);

	bitmap_fill(map, HWTIMER_SLOT_RECORDS);
	bitmap_clear(map, hwtimer_slot_header(nr), HWTIMER_SLOT_HEADER);
}

/**
 * hwtimer_table_add_block - let the table grow
 * @table: of the instance, whose lock the caller holds
 * @block: empty after success
 *
 * Return: false if the limit leaves no room for all of it.
 */
bool hwtimer_table_add_block(struct hwtimer_table *table,
			     struct hwtimer_block *block)
{
	u32 count = 1U << (block->order - HWTIMER_SLOT_ORDER);
	u32 i;

	if (table->nr_slots + count > table->max_slots)
		return false;
	for (i = 0; i < count; i++) {
		slot_init(&block->slots[i], table->nr_slots + i);
		table->slots[table->nr_slots + i] = &block->slots[i];
	}
	bitmap_set(table->vacant, table->nr_slots, count);
	table->nr_slots += count;
	block->slots = NULL;
	return true;
}

/* Puts the free records that are at hand back into their slot's map. */
static void put_back_hand(struct hwtimer_table *table)
{
	u32 nr = table->hand_base >> HWTIMER_SLOT_SHIFT;
	u32 bit = table->hand_base & (HWTIMER_SLOT_RECORDS - 1);

	if (!table->hand)
		return;
	hwtimer_slot_map(table->slots[nr], nr)[bit / BITS_PER_LONG] =
		table->hand;
	__set_bit(nr, table->vacant);
}

/**
 * hwtimer_table_refill - have the lowest free records at hand
 * @table: of the instance
 *
 * Return: false if there are none.
 */
bool hwtimer_table_refill(struct hwtimer_table *table)
{
	u32 nr = table->lowest >> HWTIMER_SLOT_SHIFT;
	u32 bit = table->lowest & (HWTIMER_SLOT_RECORDS - 1);
	unsigned long *map;

	if (!hwtimer_table_spare(table))
		return false;
	put_back_hand(table);
	for (;; bit = 0) {
		u32 vacant = find_next_bit(table->vacant, table->nr_slots, nr);

		if (vacant != nr)
			bit = 0;
		nr = vacant;
		map = hwtimer_slot_map(table->slots[nr], nr);
		bit = find_next_bit(map, HWTIMER_SLOT_RECORDS, bit);
		if (bit < HWTIMER_SLOT_RECORDS)
			break;
		__clear_bit(nr, table->vacant);
	}
	bit &= ~(BITS_PER_LONG - 1);
	table->hand = map[bit / BITS_PER_LONG];
	table->hand_base = nr << HWTIMER_SLOT_SHIFT | bit;
	map[bit / BITS_PER_LONG] = 0;
	table->lowest = table->hand_base + BITS_PER_LONG;
	return true;
}

/**
 * hwtimer_table_next - step through the records in use
 * @table: of the instance
 * @cursor: where to go on; in the end, at the index of the record returned or
 *	at the first that was not looked at
 * @max: look at so many at the most
 *
 * Return: a record in use, or NULL: none among @max, or none any more, which
 * *@cursor tells by having come to hwtimer_table_end().
 */
struct hwtimer_record *hwtimer_table_next(const struct hwtimer_table *table,
					  u64 *cursor, unsigned int max)
{
	u64 end = hwtimer_table_end(table);

	for (; *cursor < end && max--; ++*cursor) {
		struct hwtimer_record *record;

		if (!hwtimer_slot_usable(*cursor >> HWTIMER_SLOT_SHIFT,
					 *cursor & (HWTIMER_SLOT_RECORDS - 1)))
			continue;
		record = hwtimer_table_record(table, *cursor);
		if (record->state != HWTIMER_FREE)
			return record;
	}
	return NULL;
}
