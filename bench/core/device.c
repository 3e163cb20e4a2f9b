// SPDX-License-Identifier: GPL-2.0
/*
 * The device in this program; see core.h and calls.h.
 */
#include <errno.h>

#include "bare.h"
#include "core.h"
#include "device.h"

#define FILES_MAX 8192

static struct file *files[FILES_MAX];

/* What a call returns, with errno */
static long result(long ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

void core_load(void)
{
	sim_bare_begin();
	if (!sim_module_load())
		sim_fail("the module cannot be loaded");
	sim_bare_run();
}

void core_enter(void)
{
	sim_bare_begin();
}

__u64 core_now(void)
{
	return sim_now(CLOCK_MONOTONIC);
}

void core_pass(__u64 ns)
{
	sim_clock_advance(ns);
}

void core_run(void)
{
	sim_bare_run();
}

int core_open(void)
{
	int fd, err;

	for (fd = 0; fd < FILES_MAX; fd++) {
		if (files[fd])
			continue;
		files[fd] = sim_open(&err);
		return files[fd] ? fd : (int)result(err);
	}
	return result(-EMFILE);
}

int core_close(int fd)
{
	sim_close(files[fd]);
	files[fd] = NULL;
	/* The worker may have to leave the instance. */
	sim_bare_run();
	return 0;
}

int core_ioctl(int fd, unsigned long command, void *argument)
{
	return result(sim_ioctl(files[fd], command, argument));
}

ssize_t core_read(int fd, void *buffer, size_t bytes)
{
	return result(sim_read(files[fd], buffer, bytes, true));
}
