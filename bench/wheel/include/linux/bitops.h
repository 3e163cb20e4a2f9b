/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_BITOPS_H
#define BENCH_LINUX_BITOPS_H

#include <linux/bits.h>
#include <linux/math.h>
#include <linux/types.h>

#define BITS_TO_LONGS(bits) DIV_ROUND_UP(bits, BITS_PER_LONG)

static inline unsigned int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline unsigned long __fls(unsigned long word)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(word);
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

/* For one word, as the kernel does it where the size is a constant */
static inline unsigned int small_next_bit(unsigned long word, unsigned int size,
					  unsigned int begin)
{
	if (begin >= size)
		return size;
	word &= ~0UL << begin;
	return word ? __ffs(word) : size;
}

#define for_each_set_bit(bit, word, size)                                \
	for ((bit) = 0;                                                  \
	     (bit) = small_next_bit(*(word), size, bit), (bit) < (size); \
	     (bit)++)

static inline unsigned int __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned int hweight32(u32 word)
{
	return __builtin_popcount(word);
}

static inline unsigned int hweight_long(unsigned long word)
{
	return __builtin_popcountl(word);
}

static inline u64 ror64(u64 word, unsigned int shift)
{
	return (word >> (shift & 63)) | (word << (-shift & 63));
}

/*
 * On x86 the kernel implements each of these functions by one instruction, and so does
 * this header. The instruction is slower than the compiler's code for the portable
 * versions; that is a cost of the module.
 */
#ifdef __x86_64__
static inline void __set_bit(unsigned long nr, unsigned long *words)
{
	asm volatile("btsq %1, %0" : : "m"(*words), "Jr"(nr) : "memory");
}

static inline void __clear_bit(unsigned long nr, unsigned long *words)
{
	asm volatile("btrq %1, %0" : : "m"(*words), "Jr"(nr) : "memory");
}
#else
static inline void __set_bit(unsigned long nr, unsigned long *words)
{
	words[nr / BITS_PER_LONG] |= BIT(nr % BITS_PER_LONG);
}

static inline void __clear_bit(unsigned long nr, unsigned long *words)
{
	words[nr / BITS_PER_LONG] &= ~BIT(nr % BITS_PER_LONG);
}
#endif

#endif /* BENCH_LINUX_BITOPS_H */
