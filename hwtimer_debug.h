/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files in debugfs that show all instances. hwtimer_main.c creates and removes them.
 */
#ifndef HWTIMER_DEBUG_H
#define HWTIMER_DEBUG_H

void hwtimer_debug_start(void);
void hwtimer_debug_stop(void);

#endif /* HWTIMER_DEBUG_H */
