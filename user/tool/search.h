/* SPDX-License-Identifier: MIT */
/*
 * Finds the instances of all processes. Used by stats, watch, plot and metrics.
 *
 * Nothing but a descriptor leads to an instance, so without help each descriptor of each
 * process has to be looked at. root gets help: debugfs lists all instances, with the
 * process that opened each. The search then begins with these processes and their lowest
 * descriptors, and ends as soon as each instance has been found once.
 *
 * The time of a search grows with the number of descriptors that it looks at, and its memory
 * with the number of instances; a duplicate takes some bytes.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "instances.h"

void search_instances(struct instances *instances, pid_t pid);

#endif /* SEARCH_H */
