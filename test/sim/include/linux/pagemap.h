/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_PAGEMAP_H
#define SIM_LINUX_PAGEMAP_H

#include <linux/types.h>

/* Returns the number of bytes that are not there; may wait for them. See test/sim/memory.c. */
size_t fault_in_writeable(char __user *to, size_t size);

#endif /* SIM_LINUX_PAGEMAP_H */
