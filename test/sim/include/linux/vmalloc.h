/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of vmalloc() is like that of kmalloc() here, but known as such. */
#ifndef SIM_LINUX_VMALLOC_H
#define SIM_LINUX_VMALLOC_H

#include <linux/gfp.h>

bool is_vmalloc_addr(const void *address);
void *__vmalloc(unsigned long size, gfp_t gfp);
#define vfree(memory) kvfree(memory)

#endif /* SIM_LINUX_VMALLOC_H */
