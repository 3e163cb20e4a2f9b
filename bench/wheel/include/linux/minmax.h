/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own macros check that both types are the same. */
#ifndef BENCH_LINUX_MINMAX_H
#define BENCH_LINUX_MINMAX_H

#define min(a, b)                              \
	({                                     \
		__auto_type min_a = (a);       \
		__auto_type min_b = (b);       \
		min_a < min_b ? min_a : min_b; \
	})

#define max(a, b)                              \
	({                                     \
		__auto_type max_a = (a);       \
		__auto_type max_b = (b);       \
		max_a > max_b ? max_a : max_b; \
	})

#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define min3(a, b, c) min(min(a, b), c)

#endif /* BENCH_LINUX_MINMAX_H */
