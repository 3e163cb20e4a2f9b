// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads the module; see module.h.
 */
#include "module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "board.h"

#define FAULTS "/sys/kernel/debug/"
#define FAIL_NTH "/proc/thread-self/fail-nth"

/* How often to try to unload a module whose last user has just ended, 10 ms apart */
#define UNLOAD_TRIES 3000

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

/**
 * module_load - load the module
 * @path: its file
 *
 * Return: 0 or a negative errno.
 */
int module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

/**
 * module_unload - unload the module, which nobody uses
 *
 * The kernel closes files of ended processes a moment after they ended. So this tries for
 * a while.
 *
 * Return: 0 or a negative errno.
 */
int module_unload(void)
{
	for (unsigned int i = 0; i < UNLOAD_TRIES; i++) {
		if (!syscall(SYS_delete_module, "hwtimer", O_NONBLOCK))
			return 0;
		if (errno != EWOULDBLOCK && errno != EBUSY)
			break;
		sleep_ns(10 * MS);
	}
	return -errno;
}

/* Has allocations that may sleep fail, too, and nothing logged. */
static void prepare_faults(void)
{
	write_file(FAULTS "failslab/ignore-gfp-wait", "N");
	write_file(FAULTS "failslab/verbose", "0");
	write_file(FAULTS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(FAULTS "fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(FAULTS "fail_page_alloc/min-order", "0");
	write_file(FAULTS "fail_page_alloc/verbose", "0");
	write_file(FAULTS "fail_usercopy/verbose", "0");
}

/* Loads with the @nth allocation failing. Sets *@fired to whether there was such a one. */
static int load_with_fault(int fd, int fail_nth, unsigned int nth, bool *fired)
{
	char text[16] = { 0 };
	int length = snprintf(text, sizeof(text), "%u", nth), ret;

	if (pwrite(fail_nth, text, length, 0) != length)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	*fired = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return ret;
}

/* The errors that a fault explains; ENOENT is what debugfs and sysfs say at times. */
static bool explained(int err)
{
	return err == -ENOMEM || err == -EFAULT || err == -EAGAIN ||
	       err == -ENOENT || err == -EINTR;
}

/**
 * module_load_with_faults - load the module while the first allocation fails, the second...
 * @path: its file; the module is not loaded, neither before nor after
 * @loads: is added to
 * @max: number of loads at most. If there are more allocations, some are left out
 *
 * Return: whether this kernel can inject faults.
 */
bool module_load_with_faults(const char *path, struct loads *loads,
			     unsigned int max)
{
	int fail_nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned int nth = 1, step = 1;
	bool fired = true;

	if (fail_nth < 0 || fd < 0)
		return false;
	prepare_faults();
	for (; fired && max; nth += step, max--) {
		int err = load_with_fault(fd, fail_nth, nth, &fired);

		loads->faults += fired;
		loads->failed += fired && err;
		loads->wrong += err && !(fired && explained(err));
		if (!err && module_unload()) {
			loads->wrong++;
			break;
		}
	}
	close(fail_nth);
	close(fd);
	return true;
}
