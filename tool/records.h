/* SPDX-License-Identifier: MIT */
/*
 * What hwtimerctl stats --json has written, read again: any number of its outputs, one
 * after the other. Used by hwtimerctl plot.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "instances.h"

#include <stdio.h>

bool records_next(FILE *file, const char *name, struct instances *instances);

#endif /* RECORDS_H */
