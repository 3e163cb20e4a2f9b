// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile values; see hostile.h.
 */
#include "hostile.h"

#include <string.h>

/**
 * rng_hostile - a value that is likely to be at the edge of what is allowed
 * @rng: the generator
 *
 * Never a pattern with which the kernel marks memory (see output.h), nor what looks like
 * an address in the kernel: those would be taken for leaked memory if they come back.
 *
 * Return: the value; its lower 32 bits are hostile, too.
 */
__u64 rng_hostile(struct rng *rng)
{
	static const __u64 edges[] = {
		0,
		1,
		2,
		3,
		7,
		8,
		31,
		32,
		255,
		256,
		257,
		4095,
		4096,
		4097,
		65535,
		65536,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x100000000,
		0x100000001,
		0x7fffffffffffffff,
		0x8000000000000000,
		0xffffffffffffffff,
		0xfffffffffffffffe,
		0xfffffffffffffff8,
		1000000,
		1000000000,
	};
	__u64 value;

	switch (rng_below(rng, 4)) {
	case 0:
		value = 1ULL << rng_below(rng, 64);
		break;
	case 1:
		value = rng_next(rng) >> rng_between(rng, 1, 63);
		value &= 0x7fffffff7fffffff;
		break;
	default:
		value = rng_pick(rng, edges);
	}
	return value;
}

/**
 * rng_mutate - put a hostile value somewhere into a structure
 * @rng: the generator
 * @structure: the structure, or an array of them
 * @size: its size, a multiple of 4
 */
void rng_mutate(struct rng *rng, void *structure, size_t size)
{
	size_t offset = 4 * (size_t)rng_below(rng, size / 4);
	size_t width =
		offset % 8 || size - offset < 8 || rng_one_in(rng, 2) ? 4 : 8;
	__u64 value = rng_hostile(rng), old = 0;

	if (rng_one_in(rng, 4)) {
		memcpy(&old, (char *)structure + offset, width);
		value = old + (rng_one_in(rng, 2) ? 1 : -1);
	}
	memcpy((char *)structure + offset, &value, width);
}
