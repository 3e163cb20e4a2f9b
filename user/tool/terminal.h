/* SPDX-License-Identifier: MIT */
/*
 * Prepares the terminal for a live view: the view has a screen of its own, and reads keys
 * as they are pressed. The terminal is restored at the end, except after a crash or
 * SIGKILL. If standard output is not a terminal, or is a dumb one, frames are printed one
 * after the other.
 * Used by hwtimerctl watch.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct screen - the size and abilities of the screen
 * @rows: number of rows; 0: no limit, because it is not a terminal
 * @columns: number of columns; 0: unknown
 * @utf8: whether it shows characters other than ASCII, by the locale in the environment
 * @colour: whether it shows colours, and the user has not set NO_COLOR
 */
struct screen {
	unsigned int rows;
	unsigned int columns;
	bool utf8;
	bool colour;
};

/* What terminal_wait() returns if no key was pressed */
enum {
	TERMINAL_TIME = 0,
	TERMINAL_REDRAW = -1,
};

void terminal_open(void);
void terminal_close(void);
struct screen terminal_screen(void);
void terminal_show(const char *text);
int terminal_wait(uint64_t until);

#endif /* TERMINAL_H */
