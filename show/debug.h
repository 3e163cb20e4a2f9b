/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creates and removes the files in debugfs that show all instances. Called by
 * hwtimer_main.c.
 */
#ifndef HWTIMER_DEBUG_H
#define HWTIMER_DEBUG_H

void hwtimer_debug_start(void);
void hwtimer_debug_stop(void);

#endif /* HWTIMER_DEBUG_H */
