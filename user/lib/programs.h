/* SPDX-License-Identifier: MIT */
/* What the programs here do alike. It is no part of the library, and is not installed. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Whatever is opened gets the lowest number that is free. If standard error is closed, that
 * would be the number of the messages, which would go into a file, or to Redis. Nothing can be
 * written to these descriptors, so that output still fails.
 */
static inline void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Output that cannot be written is a failure, whatever the program says. */
static inline int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		err(1, "standard output");
	return status;
}

#endif /* PROGRAMS_H */
