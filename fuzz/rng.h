/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pseudo-random numbers of the fuzzer, and the values that are likely to break something.
 * Equal seeds give equal sequences, so a run can be replayed.
 */
#ifndef FUZZ_RNG_H
#define FUZZ_RNG_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct rng {
	__u64 state;
};

/* The next number, of 64 bits; the method is splitmix64. */
static inline __u64 rng_next(struct rng *rng)
{
	__u64 z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* A number less than @limit, which is not 0 */
static inline unsigned int rng_below(struct rng *rng, unsigned int limit)
{
	return (rng_next(rng) >> 32) % limit;
}

/* A number from @low to @high */
static inline unsigned int rng_between(struct rng *rng, unsigned int low,
				       unsigned int high)
{
	return low + rng_below(rng, high - low + 1);
}

/* True once in @n times on average */
static inline bool rng_one_in(struct rng *rng, unsigned int n)
{
	return !rng_below(rng, n);
}

/* One of the elements of an array */
#define rng_pick(rng, array) \
	((array)[rng_below(rng, sizeof(array) / sizeof((array)[0]))])

struct rng rng_of(__u64 seed, __u64 a, __u64 b, __u64 c);
__u64 rng_hostile(struct rng *rng);
void rng_mutate(struct rng *rng, void *structure, size_t size);

#endif /* FUZZ_RNG_H */
