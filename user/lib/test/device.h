/* SPDX-License-Identifier: MIT */
/*
 * A device for tests of loops: an eventfd that is ready until all events have been read. Each
 * timer that is scheduled expires at once, but for those with HWTIMER_NEVER. The linker puts its
 * functions in place of the system calls (--wrap).
 */
#ifndef LIB_TEST_DEVICE_H
#define LIB_TEST_DEVICE_H

#ifdef __cplusplus
extern "C" {
#endif

/* More events than a turn of any adapter */
#define DEVICE_EVENTS 2000

/* The number of events that wait in a device once it is opened: DEVICE_EVENTS, or less */
extern unsigned int device_events;

/* One more than the events that are read until a read() says that the clock was set; 0: never */
extern unsigned int device_report;

/* Adds an event to the device that was opened last. */
void device_add_event(int fd);

/* The number of calls of read() */
extern unsigned int device_reads;

#ifdef __cplusplus
}
#endif

#endif /* LIB_TEST_DEVICE_H */
