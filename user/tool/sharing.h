/* SPDX-License-Identifier: MIT */
/*
 * Finds out which descriptors share an instance, where the kernel does not tell the numbers of
 * instances. Used to find instances.
 */
#ifndef SHARING_H
#define SHARING_H

#include "instances.h"

/*
 * Returns, for each of @count descriptors, the index of the first one of the same instance; the
 * caller frees the array. Where kcmp() cannot tell, each descriptor is the only one.
 */
unsigned int *sharing_find(const struct descriptor *descriptors,
			   unsigned int count);

#endif /* SHARING_H */
