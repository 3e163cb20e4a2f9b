/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_ATOMIC_H
#define SIM_LINUX_ATOMIC_H

#include <linux/compiler.h>
#include <linux/types.h>

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define atomic_do(operation, v, ...)                                       \
	({                                                                 \
		sim_point("atomic");                                       \
		operation(&(v)->counter, ##__VA_ARGS__, __ATOMIC_SEQ_CST); \
	})
#define atomic_read(v) atomic_do(__atomic_load_n, v)
#define atomic64_read(v) atomic_read(v)
#define atomic64_sub_return(i, v) atomic_do(__atomic_sub_fetch, v, i)

static inline bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 new)
{
	sim_point("atomic64_try_cmpxchg");
	return __atomic_compare_exchange_n(&v->counter, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#endif /* SIM_LINUX_ATOMIC_H */
