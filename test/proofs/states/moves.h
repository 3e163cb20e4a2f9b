/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The moves that lead from one world to the next: all that the rest of the module may do
 * to a wheel, in any order.
 */
#ifndef STATES_MOVES_H
#define STATES_MOVES_H

#include "world.h"

/* The number of a move, from 0 to moves_count() - 1 */
typedef u32 move_t;

move_t moves_count(void);
bool move_do(move_t move);
const char *move_name(move_t move);

#endif /* STATES_MOVES_H */
