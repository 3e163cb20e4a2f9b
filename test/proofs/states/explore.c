// SPDX-License-Identifier: GPL-2.0
/*
 * Explores all worlds that any sequence of moves leads to, beginning with an empty wheel,
 * and checks each one. So a property that holds in all of them holds for each order of
 * additions, cancellations, advances and rewinds of a wheel of this size.
 *
 * The functions of the wheel are the module's own, compiled for user space; see
 * bench/wheel/kernel.h. Of each world that was seen, a hash of 64 bits is kept. Two
 * worlds with the same hash would count as one; with ten million worlds, the probability
 * of that is about one in 370,000. Worlds that are still to be explored are kept as
 * their differences from the first one. The search is breadth first, so the way to an
 * error, which is then printed, is as short as possible.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duties.h"
#include "explore.h"
#include "moves.h"

struct config config;

/* The words of the world, for copies of it */
#define WORDS (sizeof(world) / sizeof(u64))

static struct world first_world;

/* Hashes of the worlds that were seen; 0: this place is empty */
static u64 *hashes;
static u64 room;

/**
 * struct step - how a world was reached first
 * @parent: number of the world before
 * @move: the move from there
 */
struct step {
	u32 parent;
	move_t move;
};

/* For each world that was seen, by its number */
static struct step *steps;
static u32 count;

/* Numbers of the world that is explored, and of the move that is being done */
static u32 now_at;
static move_t now_doing;

static u64 transitions;

#define NO_MOVE UINT32_MAX

/* ---- the queue of worlds to explore ---- */

#define BLOCK_BYTES (4UL << 20)

/**
 * struct block - a part of the queue
 * @next: the following part
 * @end: number of bytes in use
 * @bytes: worlds, each a number of differences followed by these
 */
struct block {
	struct block *next;
	size_t end;
	u8 bytes[BLOCK_BYTES];
};

/**
 * struct difference - a word in which a world differs from the first one
 * @word: the word
 * @nr: its number
 */
struct difference {
	u64 word;
	u16 nr;
} __packed;

static struct block *head, *tail;
static size_t head_begin;

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		err(2, "%zu bytes", size);
	return memory;
}

static void put(const void *bytes, size_t size)
{
	memcpy(&tail->bytes[tail->end], bytes, size);
	tail->end += size;
}

static void queue_put(void)
{
	const u64 *words = (const u64 *)&world;
	const u64 *first = (const u64 *)&first_world;
	size_t place;
	u16 i, differences = 0;

	if (!tail ||
	    tail->end + WORDS * sizeof(struct difference) + 2 > BLOCK_BYTES) {
		struct block *block = allocate(sizeof(*block));

		if (tail)
			tail->next = block;
		else
			head = block;
		tail = block;
	}
	place = tail->end;
	put(&differences, sizeof(differences));
	for (i = 0; i < WORDS; i++) {
		struct difference difference = { .word = words[i], .nr = i };

		if (words[i] == first[i])
			continue;
		put(&difference, sizeof(difference));
		differences++;
	}
	memcpy(&tail->bytes[place], &differences, sizeof(differences));
}

static void get(void *bytes, size_t size)
{
	memcpy(bytes, &head->bytes[head_begin], size);
	head_begin += size;
}

/* Makes the next world of the queue, which is not empty, the world. */
static void queue_get(void)
{
	u64 *words = (u64 *)&world;
	u16 differences;

	if (head_begin == head->end) {
		struct block *block = head;

		head = head->next;
		head_begin = 0;
		free(block);
	}
	world = first_world;
	get(&differences, sizeof(differences));
	while (differences--) {
		struct difference difference;

		get(&difference, sizeof(difference));
		words[difference.nr] = difference.word;
	}
}

/* ---- the worlds that were seen ---- */

static u64 place_of(u64 hash)
{
	u64 place = hash & (room - 1);

	while (hashes[place] && hashes[place] != hash)
		place = (place + 1) & (room - 1);
	return place;
}

static void grow(void)
{
	u64 *old = hashes;
	u64 i, old_room = room;

	room = room ? 2 * room : 1 << 16;
	hashes = allocate(room * sizeof(*hashes));
	for (i = 0; i < old_room; i++)
		if (old[i])
			hashes[place_of(old[i])] = old[i];
	free(old);
	steps = realloc(steps, room / 2 * sizeof(*steps));
	if (!steps)
		err(2, "the steps");
}

/* Whether the world, which is in its normal form, is new. If so, it is queued. */
static bool see(void)
{
	u64 hash = world_hash() ?: 1;
	u64 place;

	if (count >= room / 2)
		grow();
	place = place_of(hash);
	if (hashes[place])
		return false;
	hashes[place] = hash;
	steps[count++] = (struct step){ .parent = now_at, .move = now_doing };
	queue_put();
	return true;
}

/* ---- the search ---- */

static void print_way(u32 nr)
{
	if (!nr)
		return;
	print_way(steps[nr].parent);
	printf("#   %s\n", move_name(steps[nr].move));
}

/* Ends the program because the wheel does what it must not. Prints how to get there. */
void fail(const char *what, ...)
{
	va_list arguments;

	printf("# after %u worlds:\n", count);
	print_way(now_at);
	if (now_doing != NO_MOVE)
		printf("#   %s\n", move_name(now_doing));
	else
		printf("#   then turned until it was empty\n");
	printf("# ");
	va_start(arguments, what);
	vprintf(what, arguments);
	va_end(arguments);
	printf("\n");
	exit(1);
}

/* Does all moves that are possible in @from. */
static void explore_from(const struct world *from)
{
	const move_t moves = moves_count();

	for (now_doing = 0; now_doing < moves; now_doing++) {
		world = *from;
		if (!move_do(now_doing))
			continue;
		transitions++;
		duties_check();
		world_normalise();
		see();
	}
	now_doing = NO_MOVE;
	world = *from;
	duties_settle();
}

void explore(struct found *found)
{
	struct world from;

	world_init(&config);
	world_normalise();
	first_world = world;
	see();
	for (now_at = 0; now_at < count; now_at++) {
		queue_get();
		from = world;
		explore_from(&from);
		if (config.limit && count >= config.limit)
			fail("there are more worlds than %llu", config.limit);
	}
	*found = (struct found){ .worlds = count, .transitions = transitions };
}
