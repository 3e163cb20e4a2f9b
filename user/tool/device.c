// SPDX-License-Identifier: MIT
/* Tells the device from other files; see device.h. */
#define _GNU_SOURCE
#include "device.h"

#include <fcntl.h>
#include <sys/stat.h>

#ifndef STATX_TYPE
/* musl has statx() from 1.2.5 on. */
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int statx(int directory, const char *name, int flags, unsigned int mask,
		 struct statx *st)
{
	return syscall(SYS_statx, directory, name, flags, mask, st);
}
#endif

#define MISC_MAJOR 10

int device_possible(int directory, const char *name)
{
	struct statx st;

	if (statx(directory, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		  STATX_TYPE, &st))
		return -1;
	return S_ISCHR(st.stx_mode) && st.stx_rdev_major == MISC_MAJOR;
}
