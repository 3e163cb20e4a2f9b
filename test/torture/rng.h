/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pseudo-random numbers. Equal seeds give equal sequences, so a run can be replayed.
 */
#ifndef TORTURE_RNG_H
#define TORTURE_RNG_H

#include <stdbool.h>

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

/* A number of up to @bits bits, small ones as likely as large ones */
static inline __u64 rng_time(struct rng *rng, unsigned int bits)
{
	return rng_next(rng) >> (64 - 1 - rng_below(rng, bits));
}

/* The sequence of one actor of a run; it depends on all four numbers. */
static inline struct rng rng_of(__u64 seed, __u64 a, __u64 b, __u64 c)
{
	struct rng rng = { .state = seed };

	rng.state = rng_next(&rng) ^ a;
	rng.state = rng_next(&rng) ^ b;
	rng.state = rng_next(&rng) ^ c;
	return rng;
}

#endif /* TORTURE_RNG_H */
