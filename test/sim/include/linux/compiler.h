/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's annotations, and its accesses to memory that threads share. Each of these
 * accesses is a point at which another thread may run.
 */
#ifndef SIM_LINUX_COMPILER_H
#define SIM_LINUX_COMPILER_H

#include_next <linux/compiler.h>

#include <sim/point.h>

#define __user
#define __init
#define __exit
#define __acquires(lock)
#define __releases(lock)
#define __must_hold(lock)
#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif
#define __printf(a, b) __attribute__((format(printf, a, b)))

#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)                                     \
	({                                               \
		sim_point("READ_ONCE");                  \
		__atomic_load_n(&(x), __ATOMIC_RELAXED); \
	})
#define WRITE_ONCE(x, value)                                       \
	do {                                                       \
		sim_point("WRITE_ONCE");                           \
		__atomic_store_n(&(x), (value), __ATOMIC_RELAXED); \
	} while (0)

#define smp_load_acquire(p)                             \
	({                                              \
		sim_point("smp_load_acquire");          \
		__atomic_load_n((p), __ATOMIC_ACQUIRE); \
	})
#define smp_store_release(p, value)                               \
	do {                                                      \
		sim_point("smp_store_release");                   \
		__atomic_store_n((p), (value), __ATOMIC_RELEASE); \
		sim_point("smp_store_release, done");             \
	} while (0)
#define barrier() __asm__ __volatile__("" : : : "memory")

#define xchg(p, value)                                               \
	({                                                           \
		sim_point("xchg");                                   \
		__atomic_exchange_n((p), (value), __ATOMIC_SEQ_CST); \
	})
#define cmpxchg(p, old, new)                                                 \
	({                                                                   \
		typeof(*(p)) cmpxchg_old = (old);                            \
		sim_point("cmpxchg");                                        \
		__atomic_compare_exchange_n((p), &cmpxchg_old, (new), false, \
					    __ATOMIC_SEQ_CST,                \
					    __ATOMIC_SEQ_CST);               \
		cmpxchg_old;                                                 \
	})

#endif /* SIM_LINUX_COMPILER_H */
