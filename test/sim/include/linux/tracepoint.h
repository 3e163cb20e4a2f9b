/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: one switch for all of them, which a run sets or not. Then the module's own code
 * that puts an event together runs, into a structure that nobody reads. With SIM_PLAIN, they
 * are what they are in a kernel in which nobody listens: a nop.
 */
#ifndef SIM_LINUX_TRACEPOINT_H
#define SIM_LINUX_TRACEPOINT_H

#include <linux/types.h>

#ifdef SIM_PLAIN
static __always_inline bool sim_listens(void)
{
	/* As arch_static_branch() of x86, for a key that is never switched on */
	asm goto(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00" : : : : yes);
	return false;
yes:
	return true;
}
#else
extern bool sim_traced;

static __always_inline bool sim_listens(void)
{
	return sim_traced;
}
#endif

/* Formatted as trace headers are in the kernel. */
/* clang-format off */

#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...) __VA_ARGS__
#define TP_STRUCT__entry(...) __VA_ARGS__
#define TP_fast_assign(...) __VA_ARGS__
#define TP_printk(...)
#define __field(type, name) type name;
#define PARAMS(...) __VA_ARGS__

/* As in the kernel, one object defines what the others call. */
#ifdef CREATE_TRACE_POINTS
#define SIM_ASSIGN(name, proto, fields, assign)                   \
	void sim_assign_##name(proto);                            \
	void sim_assign_##name(proto)                             \
	{                                                         \
		struct {                                          \
			fields                                    \
		} sim_event, *__entry = &sim_event;               \
		assign                                            \
		asm volatile("" : : "r"(__entry) : "memory");     \
	}
#else
#define SIM_ASSIGN(name, proto, fields, assign) \
	__attribute__((cold)) void sim_assign_##name(proto);
#endif

#define DECLARE_EVENT_CLASS(name, proto, args, fields, assign, print) \
	SIM_ASSIGN(name, PARAMS(proto), PARAMS(fields), PARAMS(assign)) \
	_Static_assert(1, "class")
#define DEFINE_EVENT(class, name, proto, args)                   \
	static __always_inline bool trace_##name##_enabled(void) \
	{                                                        \
		return sim_listens();                            \
	}                                                        \
	static __always_inline void trace_##name(proto)          \
	{                                                        \
		if (unlikely(sim_listens()))                     \
			sim_assign_##class(args);                \
	}                                                        \
	_Static_assert(1, "tracepoint")
#define TRACE_EVENT(name, proto, args, fields, assign, print)                 \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(fields), \
			    PARAMS(assign), print);                           \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))

/* clang-format on */

#endif /* SIM_LINUX_TRACEPOINT_H */
