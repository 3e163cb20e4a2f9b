/* SPDX-License-Identifier: MIT */
/*
 * Reads the output of hwtimerctl stats --json, of one run or of several in one file.
 * Used by hwtimerctl plot.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "instances.h"

#include <stdio.h>

bool records_next(FILE *file, const char *name, struct instances *instances);

#endif /* RECORDS_H */
