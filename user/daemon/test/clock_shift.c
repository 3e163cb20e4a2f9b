// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shifts the wall clock of one program, to be loaded before its other libraries:
 *
 *	CLOCK_SHIFT=FILE LD_PRELOAD=clock_shift.so PROGRAM
 *
 * FILE has the shift in ms, and may be written while the program runs. The monotonic
 * clocks are left alone, as a host's are when its clock is set. (libfaketime does this and
 * more, but does not get along with jemalloc, which Redis uses: it allocates where jemalloc
 * asks it for the time.)
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ROOM 64

static const char *shift_text;

/* The file has at least ROOM bytes, so that its text ends within them. */
__attribute__((constructor)) static void map_shift(void)
{
	const char *path = getenv("CLOCK_SHIFT");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, ROOM, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		shift_text = map;
}

static void shift(struct timespec *time)
{
	long long ns = time->tv_sec * 1000000000LL + time->tv_nsec;

	if (shift_text)
		ns += strtoll(shift_text, NULL, 10) * 1000000;
	time->tv_sec = ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
}

/* A library's functions could come back to us. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	int ret = syscall(SYS_clock_gettime, clock, time);

	if (!ret && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		shift(time);
	return ret;
}

int gettimeofday(struct timeval *time, void *zone)
{
	struct timespec now;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now))
		return -1;
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}
