/* SPDX-License-Identifier: GPL-2.0 */
/* Loops of Boost.Asio, for tests in C */
#ifndef HWTIMER_ADAPTERS_ASIO_H
#define HWTIMER_ADAPTERS_ASIO_H

#include <libhwtimer.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs a loop until it has nothing left to do. @on_event, @on_error: may be NULL; @beats:
 * counts other work of the loop; may be NULL. Returns what hwt_asio::start() has.
 */
int asio_loop(struct hwt *hwt, hwt_callback on_event,
	      void (*on_error)(void *arg, int err), void *arg,
	      unsigned int *beats);

/* The same with two threads, and the instance in a strand */
int asio_strand(struct hwt *hwt, hwt_callback on_event,
		void (*on_error)(void *arg, int err), void *arg);

/* Runs a loop that calls @work again and again, until that returns false. */
int asio_busy(struct hwt *hwt, void (*on_error)(void *arg, int err), void *arg,
	      bool (*work)(void));

/* Runs a loop that calls @other when descriptor @fd is ready. */
int asio_flood(struct hwt *hwt, hwt_callback on_event,
	       void (*on_error)(void *arg, int err), void *arg, int fd,
	       void (*other)(void));

/*
 * Starts and stops @times, each time while an event waits that @event makes. Returns the
 * number of handlers that one event calls in the end, or a negative errno.
 */
int asio_restarted(struct hwt *hwt, void (*event)(void), int times);

/* Starts, and destroys what it has started before the loop; 0: no callback came */
int asio_abandoned(struct hwt *hwt);

#ifdef __cplusplus
}
#endif

#endif /* HWTIMER_ADAPTERS_ASIO_H */
