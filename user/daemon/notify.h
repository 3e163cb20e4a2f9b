/* SPDX-License-Identifier: MIT */
/* Tells systemd how the service is; without systemd, nothing happens. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdint.h>

void notify(const char *state);
uint64_t notify_watchdog_ms(void);

#endif /* NOTIFY_H */
