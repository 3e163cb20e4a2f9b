/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads without a scheduler; see test/sim/bare.c. The build has to have SIM_PLAIN.
 */
#ifndef SIM_BARE_H
#define SIM_BARE_H

#include "sim.h"

/* Makes the calling thread one of a program that may use the device. */
void sim_bare_begin(void);

/* Serves the hrtimers that are due, and runs the module's threads until all sleep. */
void sim_bare_run(void);

#endif /* SIM_BARE_H */
