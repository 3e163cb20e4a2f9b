/* SPDX-License-Identifier: MIT */
/* Finds the address of a name, without waiting; /etc/hosts and DNS. */
#ifndef LOOKUP_H
#define LOOKUP_H

#include <event2/event.h>

/**
 * lookup_done - function for the result
 * @arg: argument of lookup_start()
 * @address: numeric address; NULL: none was found
 * @why: reason if @address is NULL
 */
typedef void (*lookup_done)(void *arg, const char *address, const char *why);

struct lookup;

void lookup_start(struct lookup **lookup, struct event_base *base,
		  const char *name, unsigned int attempt, lookup_done done,
		  void *arg);
void lookup_cancel(struct lookup **lookup);
void lookup_end(void);

#endif /* LOOKUP_H */
