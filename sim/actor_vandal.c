// SPDX-License-Identifier: GPL-2.0
/*
 * A program that writes anything into its rings while the kernel uses them. It learns
 * nothing of its own timers; but nothing else may break: no access out of bounds, no
 * warning, no memory left, and the other programs notice nothing.
 */
#include <errno.h>
#include <string.h>

#include "world.h"

/* How often it tries to open an instance, if there are too many */
#define TRIES 20

/**
 * struct vandal - what it has
 * @file: its instance
 * @memory: the rings
 * @words: their size, in words
 */
struct vandal {
	struct file *file;
	uint32_t *memory;
	uint64_t words;
};

static void word_store(struct vandal *vandal, uint64_t nr, uint32_t value)
{
	sim_point("vandal: store");
	__atomic_store_n(&vandal->memory[nr], value, __ATOMIC_RELEASE);
}

static uint32_t word_load(const struct vandal *vandal, uint64_t nr)
{
	sim_point("vandal: load");
	return __atomic_load_n(&vandal->memory[nr], __ATOMIC_ACQUIRE);
}

static uint32_t value_random(void)
{
	switch (sim_below(6)) {
	case 0:
		return -1 - sim_below(2);
	case 1:
		return 1u << sim_below(32);
	case 2:
		return sim_below(300);
	case 3:
		return sim_below(1ull << 32);
	default:
		return sim_below(4);
	}
}

/* The numbers at the beginning of the memory */
static void garble_numbers(struct vandal *vandal)
{
	word_store(vandal, sim_below(sizeof(struct hwtimer_rings) / 4),
		   value_random());
}

/* A slot, or the results */
static void garble_rest(struct vandal *vandal)
{
	unsigned int left = sim_below(16);

	while (left--)
		word_store(vandal, sim_below(vandal->words), value_random());
}

/* Moves an index by which the program tells the kernel how far it is. */
static void move(struct vandal *vandal, size_t offset)
{
	uint64_t nr = offset / 4;

	word_store(vandal, nr, word_load(vandal, nr) + sim_below(20));
}

/* Takes back what would make the kernel refuse all that comes. */
static void mend(struct vandal *vandal)
{
	word_store(
		vandal, offsetof(struct hwtimer_rings, submission_tail) / 4,
		word_load(vandal,
			  offsetof(struct hwtimer_rings, submission_head) / 4) +
			1 + sim_below(8));
	word_store(
		vandal, offsetof(struct hwtimer_rings, completion_head) / 4,
		word_load(vandal,
			  offsetof(struct hwtimer_rings, completion_tail) / 4));
}

static void vandal_call(struct vandal *vandal)
{
	struct hwtimer_event events[16];

	if (sim_below(4))
		sim_ioctl(vandal->file, HWTIMER_IOC_KICK, NULL);
	else
		sim_read(vandal->file, events, sizeof(events), true);
}

static void vandal_act(struct vandal *vandal)
{
	switch (sim_below(16)) {
	case 0:
	case 1:
		garble_numbers(vandal);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		garble_rest(vandal);
		break;
	case 6:
		move(vandal, offsetof(struct hwtimer_rings, submission_tail));
		break;
	case 7:
		move(vandal, offsetof(struct hwtimer_rings, completion_head));
		break;
	case 8:
		sim_sleep(sim_below(5000000));
		break;
	case 9:
	case 10:
	case 11:
		vandal_call(vandal);
		break;
	default:
		mend(vandal);
		break;
	}
}

/* Opens an instance with rings. Returns whether it has one. */
static bool vandal_begin(struct vandal *vandal)
{
	struct hwtimer_setup setup = {
		.size = sizeof(setup),
		.tick = 1000000,
		.timers = 300,
		.submissions = 1u << sim_below(8),
		.completions = 1u << sim_below(8),
		.flags = sim_below(2) ? HWTIMER_COMPACT_SLOTS : 0,
	};
	struct hwtimer_info info = { .size = sizeof(info) };
	unsigned int tries = TRIES;
	int err;

	while (!(vandal->file = sim_open(&err)) && --tries)
		sim_sleep(1000000);
	if (!vandal->file)
		return false;
	if (sim_ioctl(vandal->file, HWTIMER_IOC_SETUP, &setup) ||
	    sim_ioctl(vandal->file, HWTIMER_IOC_INFO, &info))
		return false;
	vandal->words = info.rings_bytes / 4;
	vandal->memory = sim_mmap(vandal->file, info.rings_bytes, &err);
	return vandal->memory;
}

void act_vandal(struct actor *actor)
{
	struct vandal vandal = {};

	if (vandal_begin(&vandal))
		while (!sim_ending()) {
			vandal_act(&vandal);
			world_count(1);
		}
	if (vandal.memory)
		sim_munmap(vandal.file, vandal.memory, 4 * vandal.words);
	if (vandal.file)
		sim_close(vandal.file);
}
