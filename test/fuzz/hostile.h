/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values that are likely to break something.
 */
#ifndef FUZZ_HOSTILE_H
#define FUZZ_HOSTILE_H

#include <stddef.h>

#include "rng.h"

__u64 rng_hostile(struct rng *rng);
void rng_mutate(struct rng *rng, void *structure, size_t size);

#endif /* FUZZ_HOSTILE_H */
