/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Explores all worlds that moves lead to; see explore.c..
 */
#ifndef STATES_EXPLORE_H
#define STATES_EXPLORE_H

#include "config.h"

/**
 * struct found - what an exploration has found
 * @worlds: number of different worlds
 * @transitions: number of moves that were done
 */
struct found {
	u64 worlds;
	u64 transitions;
};

void explore(struct found *found);

#endif /* STATES_EXPLORE_H */
