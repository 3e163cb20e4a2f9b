/* SPDX-License-Identifier: MIT */
/*
 * Metrics in the format of OpenMetrics, over HTTP on a Unix socket.
 *
 * A scrape is answered at once. What only Redis knows, as the number of pending timers,
 * is asked for at each scrape, and shown by the next one.
 */
#ifndef METRICS_H
#define METRICS_H

#include "queue.h"

struct metrics;

struct metrics *metrics_start(struct event_base *base,
			      const struct options *options,
			      struct queue *queues);
void metrics_stop(struct metrics *metrics);

#endif /* METRICS_H */
