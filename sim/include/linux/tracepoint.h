/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: one switch for all of them, which a run sets or not. So the module's own
 * code for tracing runs, too.
 */
#ifndef SIM_LINUX_TRACEPOINT_H
#define SIM_LINUX_TRACEPOINT_H

#include <linux/types.h>

extern bool sim_traced;

#define TP_PROTO(...) __VA_ARGS__
#define DECLARE_EVENT_CLASS(...) _Static_assert(1, "class")
#define DEFINE_EVENT(class, name, proto, args)          \
	static inline bool trace_##name##_enabled(void) \
	{                                               \
		return sim_traced;                      \
	}                                               \
	static inline void trace_##name(proto)          \
	{                                               \
	}                                               \
	_Static_assert(1, "tracepoint")
#define TRACE_EVENT(name, proto, ...) DEFINE_EVENT(name, name, PROTO(proto), )
#define PROTO(...) __VA_ARGS__

#endif /* SIM_LINUX_TRACEPOINT_H */
