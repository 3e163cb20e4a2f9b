/* SPDX-License-Identifier: MIT */
/* What heartbeat sends, and that nothing else is taken for it. */
#ifndef EXAMPLE_HEARTBEAT_H
#define EXAMPLE_HEARTBEAT_H

#include <ctype.h>
#include <inttypes.h>

#include "example.h"
#include "sockets.h"

#define NAME_SIZE 32

struct beat {
	char name[NAME_SIZE];
	uint64_t number;
};

/* It has an end, is not empty, and can be printed. */
static inline bool is_name(const char *name)
{
	int i = 0;

	while (i < NAME_SIZE && isgraph((unsigned char)name[i]))
		i++;
	return i && i < NAME_SIZE && !name[i];
}

static inline struct beat first_beat(const char *name)
{
	struct beat beat = { .number = 0 };

	if (!is_name(name))
		errx(2, "NAME is of 1 to %d letters, and no spaces",
		     NAME_SIZE - 1);
	snprintf(beat.name, sizeof(beat.name), "%s", name);
	return beat;
}

/* False if it was no beat: anybody can send anything to the port. */
static inline bool receive_beat(int fd, struct beat *beat)
{
	return recv(fd, beat, sizeof(*beat), MSG_TRUNC) == sizeof(*beat) &&
	       is_name(beat->name);
}

#endif /* EXAMPLE_HEARTBEAT_H */
