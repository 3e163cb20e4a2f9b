// SPDX-License-Identifier: GPL-2.0
/* Defines the tracepoints; see trace.h. */
#define CREATE_TRACE_POINTS
#include "trace.h"
