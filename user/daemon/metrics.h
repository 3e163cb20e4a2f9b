/* SPDX-License-Identifier: MIT */
/* Metrics in the format of OpenMetrics over HTTP, at a Unix socket or a TCP port */
#ifndef METRICS_H
#define METRICS_H

#include "server.h"

int metrics_start(struct server *server);
void metrics_stop(const struct options *options);

#endif /* METRICS_H */
