/* SPDX-License-Identifier: MIT */
/*
 * Reaches an instance of another process, or one whose descriptor was inherited, and
 * lists its timers page by page. Used by list and save.
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
 * @page: the timers of the current page
 */
struct listing {
	struct hwt *hwt;
	uint64_t cursor;
	struct hwtimer_timer page[LISTING_PAGE];
};

struct place place_arguments(int count, char **arguments,
			     const char *inherited);
struct hwt *place_open(const struct place *place);

struct listing *listing_open(struct hwt *hwt);
unsigned int listing_next(struct listing *listing);
void listing_close(struct listing *listing);

#endif /* LISTING_H */
