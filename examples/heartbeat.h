/* SPDX-License-Identifier: MIT */
/* The datagram of heartbeat, and the check that a datagram is one */
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

/* A name is terminated, not empty, and printable. */
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
		errx(2, "NAME has 1 to %d characters, without spaces",
		     NAME_SIZE - 1);
	snprintf(beat.name, sizeof(beat.name), "%s", name);
	return beat;
}

/* Returns false if the datagram is no beat: any program can send to the port. */
static inline bool receive_beat(int fd, struct beat *beat)
{
	return recv(fd, beat, sizeof(*beat), MSG_TRUNC) == sizeof(*beat) &&
	       is_name(beat->name);
}

#endif /* EXAMPLE_HEARTBEAT_H */
