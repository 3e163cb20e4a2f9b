// SPDX-License-Identifier: GPL-2.0
/* Defines the tracepoints; see hwtimer_trace.h. */
#include "hwtimer_ring.h"

#define CREATE_TRACE_POINTS
#include "hwtimer_trace.h"
