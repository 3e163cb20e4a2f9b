/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A worker process: does what programs do with an instance, at random, and keeps exact
 * accounts.
 */
#ifndef TORTURE_WORKER_H
#define TORTURE_WORKER_H

#include "seat.h"

void worker_reset(struct seat *seat);
void worker_run(struct seat *seat);

#endif /* TORTURE_WORKER_H */
