/* SPDX-License-Identifier: MIT */
/*
 * Reaches an instance of another process, or one whose descriptor was inherited, and
 * lists its timers page by page. Used by list, next and save.
 */
#ifndef LISTING_H
#define LISTING_H

#include <libhwtimer.h>

#include <sys/types.h>

/**
 * struct place - the descriptor of an instance
 * @pid: process that has the descriptor open; 0: this process has inherited it
 * @fd: number of the descriptor
 */
struct place {
	pid_t pid;
	int fd;
};

/* Number of timers on a page */
#define LISTING_PAGE 4096

/**
 * struct listing - what is left to list of an instance
 * @hwt: the instance
 * @cursor: where the next page begins
 * @now: the moment, on the instance's clock, at which each timer has the time left that the page
 *	says; 0: unknown, because no timer had any
 * @page: the timers of the current page
 */
struct listing {
	struct hwt *hwt;
	uint64_t cursor;
	uint64_t now;
	struct hwtimer_timer page[LISTING_PAGE];
};

struct place place_arguments(int count, char **arguments,
			     const char *inherited);
int place_open(const struct place *place, struct hwt **hwt);
struct hwt *place_need(const struct place *place);

static inline const char *listing_state(const struct hwtimer_timer *timer)
{
	return timer->state == HWTIMER_STATE_EXPIRED ? "expired" : "pending";
}

struct listing *listing_open(struct hwt *hwt);
unsigned int listing_next(struct listing *listing);
void listing_close(struct listing *listing);

#endif /* LISTING_H */
