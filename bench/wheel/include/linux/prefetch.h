/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_PREFETCH_H
#define BENCH_LINUX_PREFETCH_H

/*
 * In assembler, as in the kernel: if a function does nothing but __builtin_prefetch()
 * and is not inlined, gcc drops the calls of it.
 */
static inline void fetch_for_reading(const void *address)
{
#ifdef __x86_64__
	asm volatile("prefetcht0 %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address);
	asm volatile("");
#endif
}

static inline void fetch_for_writing(const void *address)
{
#ifdef __x86_64__
	asm volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
	asm volatile("");
#endif
}

#define prefetch(address) fetch_for_reading(address)
#define prefetchw(address) fetch_for_writing(address)

#endif /* BENCH_LINUX_PREFETCH_H */
