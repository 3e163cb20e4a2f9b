/* SPDX-License-Identifier: MIT */
/*
 * The terminal that a live view is shown on: a screen of its own, keys as they are
 * pressed, and all as it was at the end, unless that is a crash or SIGKILL. Where
 * standard output is no terminal, frames are printed one after the other. Used by
 * hwtimerctl watch.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct screen - what there is room for
 * @rows: 0: any number, it is no terminal
 * @columns: 0: any number
 * @utf8: whether it shows more than ASCII, by the locale in the environment
 */
struct screen {
	unsigned int rows;
	unsigned int columns;
	bool utf8;
};

/* What ended a wait */
enum terminal_event {
	TERMINAL_TIME,
	TERMINAL_REDRAW,
	TERMINAL_QUIT,
};

void terminal_open(void);
void terminal_close(void);
struct screen terminal_screen(void);
void terminal_show(const char *frame);
enum terminal_event terminal_wait(uint64_t until);

#endif /* TERMINAL_H */
