/* SPDX-License-Identifier: MIT */
/*
 * MemorySanitizer and valgrind report the use of memory that nobody has written. They do not see
 * what the module writes, and MemorySanitizer sees nothing of what the library does, unless that is
 * compiled with it, too. So the library tells them, if the program runs under one of them.
 */
#ifndef LIBHWTIMER_CHECKERS_H
#define LIBHWTIMER_CHECKERS_H

#include <stddef.h>

#if __has_include("valgrind/memcheck.h")
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(memory, size) ((void)(memory), (void)(size))
#endif

/* Those of MemorySanitizer, in a program that is compiled with it; otherwise NULL */
void __msan_unpoison(const void *memory, size_t size) __attribute__((weak));
void __msan_unpoison_param(size_t count) __attribute__((weak));

/* The memory has values. */
static inline void hwt_written(const void *memory, size_t size)
{
	if (__msan_unpoison)
		__msan_unpoison(memory, size);
	(void)VALGRIND_MAKE_MEM_DEFINED(memory, size);
}

/* The arguments of the callback that is called next have values; none has more than two. */
static inline void hwt_will_call_back(void)
{
	if (__msan_unpoison_param)
		__msan_unpoison_param(2);
}

#endif /* LIBHWTIMER_CHECKERS_H */
