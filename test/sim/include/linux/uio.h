/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers of programs: one is enough here. */
#ifndef SIM_LINUX_UIO_H
#define SIM_LINUX_UIO_H

#include <linux/pagemap.h>
#include <linux/uaccess.h>

struct iov_iter {
	char __user *buffer;
	size_t count;
};

static inline size_t iov_iter_count(const struct iov_iter *to)
{
	return to->count;
}

/* Returns the number of bytes that were copied; does not wait for memory. */
size_t copy_to_iter(const void *from, size_t size, struct iov_iter *to);

static inline void iov_iter_revert(struct iov_iter *to, size_t size)
{
	to->buffer -= size;
	to->count += size;
}

/* Returns the number of bytes that are not there. */
static inline size_t fault_in_iov_iter_writeable(const struct iov_iter *to,
						 size_t size)
{
	return fault_in_writeable(to->buffer, size);
}

#endif /* SIM_LINUX_UIO_H */
