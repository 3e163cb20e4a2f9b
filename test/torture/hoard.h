/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes all memory that a user may have for instances, so that a worker's timers find none.
 */
#ifndef TORTURE_HOARD_H
#define TORTURE_HOARD_H

void hoard_take(void);
void hoard_more(void);
void hoard_release(void);

#endif /* TORTURE_HOARD_H */
