/* SPDX-License-Identifier: MIT */
/* Messages to standard error, which systemd puts into the journal. */
#ifndef SAY_H
#define SAY_H

#include <syslog.h>

/* In so many seconds, a message is printed once. */
#define SAY_AGAIN 10

/* The most messages in so many seconds */
#define SAY_MOST 200

void say(int level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void *need(void *memory);
void make_printable(char *text, char instead);
void say_of_libevent(int severity, const char *text);

#endif /* SAY_H */
