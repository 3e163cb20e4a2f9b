/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_MATH_H
#define BENCH_LINUX_MATH_H

#define DIV_ROUND_UP(n, d)                   \
	({                                   \
		__auto_type div_by = (d);    \
		((n) + div_by - 1) / div_by; \
	})

#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((unsigned long long)(n), d)

/* @to: a power of two */
#define round_up(n, to)                                 \
	({                                              \
		__auto_type round_to = (to);            \
		((n) + round_to - 1) & ~(round_to - 1); \
	})

#endif /* BENCH_LINUX_MATH_H */
