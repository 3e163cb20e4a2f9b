/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers of programs: one is enough here. */
#ifndef SIM_LINUX_UIO_H
#define SIM_LINUX_UIO_H

#include <linux/uaccess.h>

struct iov_iter {
	char __user *buffer;
	size_t count;
};

static inline size_t iov_iter_count(const struct iov_iter *to)
{
	return to->count;
}

/* Returns the number of bytes that were copied. */
static inline size_t copy_to_iter(const void *from, size_t bytes,
				  struct iov_iter *to)
{
	size_t copied = bytes - copy_to_user(to->buffer, from, bytes);

	to->buffer += copied;
	to->count -= copied;
	return copied;
}

#endif /* SIM_LINUX_UIO_H */
