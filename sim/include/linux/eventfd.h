/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_EVENTFD_H
#define SIM_LINUX_EVENTFD_H

#include <linux/err.h>

struct eventfd_ctx;

struct eventfd_ctx *eventfd_ctx_fdget(int fd);
void eventfd_ctx_put(struct eventfd_ctx *context);
void eventfd_signal(struct eventfd_ctx *context);

#endif /* SIM_LINUX_EVENTFD_H */
