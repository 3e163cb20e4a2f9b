/* SPDX-License-Identifier: MIT */
/*
 * Finds the instances of all processes. Used by stats, watch, plot and metrics.
 *
 * Nothing but a descriptor leads to an instance, so without help each descriptor of each
 * process has to be looked at. root gets help: debugfs lists all instances, with the
 * process that opened each. The search then begins with these processes and their lowest
 * descriptors, and ends as soon as each instance has been found once.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "instances.h"

void search_instances(struct instances *instances);

#endif /* SEARCH_H */
