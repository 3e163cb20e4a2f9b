/* SPDX-License-Identifier: MIT */
/*
 * Formats a frame of the live view: all instances as text that fits a screen. Used by
 * hwtimerctl watch.
 */
#ifndef VIEW_H
#define VIEW_H

#include "instances.h"
#include "terminal.h"

struct frame view_frame(const struct instances *now,
			const struct instances *before,
			const struct screen *screen);

#endif /* VIEW_H */
