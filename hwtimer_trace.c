// SPDX-License-Identifier: GPL-2.0
/* Defines the tracepoints; see hwtimer_trace.h. */
#define CREATE_TRACE_POINTS
#include "hwtimer_trace.h"
