// SPDX-License-Identifier: MIT
/* Prints messages; see say.h. */
#include "say.h"

#include <ctype.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX 512

/* The messages of the last SAY_AGAIN seconds, the oldest of which is overwritten */
static struct memory {
	char text[TEXT_MAX];
	time_t when;
} memories[16];

static void __attribute__((format(printf, 2, 3)))
print(int level, const char *format, ...)
{
	va_list arguments;

	/* The journal takes the level from such a prefix; see sd-daemon(3). */
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>", level);
	else
		fputs("hwtimerd: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/*
 * A thousand shards lose the same Redis at the same moment. Returns whether @text was
 * printed a short time ago; if not, it counts as printed now.
 */
static bool just_said(const char *text)
{
	struct memory *memory, *oldest = memories;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (memory = memories; memory < memories + 16; memory++) {
		if (memory->text[0] && now.tv_sec - memory->when < SAY_AGAIN &&
		    !strcmp(memory->text, text))
			return true;
		if (memory->when < oldest->when)
			oldest = memory;
	}
	snprintf(oldest->text, TEXT_MAX, "%s", text);
	oldest->when = now.tv_sec;
	return false;
}

/*
 * A message that names one of a thousand shards is another one for each. Returns whether
 * SAY_MOST were printed in the last SAY_AGAIN seconds. Afterwards, tells how many were not.
 */
static bool said_enough(void)
{
	static unsigned int said, left_out;
	static time_t begin;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - begin >= SAY_AGAIN) {
		if (left_out)
			print(LOG_WARNING, "%u messages were left out",
			      left_out);
		begin = now.tv_sec;
		said = 0;
		left_out = 0;
	}
	if (said < SAY_MOST) {
		said++;
		return false;
	}
	left_out++;
	return true;
}

/* Returns how many bytes follow @byte in a character of UTF-8. */
static unsigned int following(unsigned char byte)
{
	return byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
}

/**
 * make_printable - take control characters out of what others have written
 * @text: the text, from Redis or the network
 * @instead: what replaces each
 *
 * A terminal must not obey the text. Some terminals obey 0x80 to 0x9f as well, as bytes, or
 * as characters of UTF-8, where they follow 0xc2.
 */
void make_printable(char *text, char instead)
{
	unsigned int more = 0;
	unsigned char byte, before = 0;

	for (; (byte = *text); text++, before = byte) {
		bool continues = more && (byte & 0xc0) == 0x80;

		more = continues ? more - 1 : following(byte);
		if (continues && before == 0xc2 && byte < 0xa0)
			text[-1] = *text = instead;
		else if (iscntrl(byte) ||
			 (!continues && byte >= 0x80 && byte < 0xa0))
			*text = instead;
	}
}

/**
 * say - print a message, unless it was printed less than SAY_AGAIN seconds ago, or many were
 * @level: LOG_ERR, LOG_WARNING ... of syslog(3)
 * @format: as for printf(), without a newline
 */
void say(int level, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	make_printable(text, ' ');
	if (!just_said(text) && !said_enough())
		print(level, "%s", text);
}

/* For event_set_log_callback(): libevent would write to standard error by itself. */
void say_of_libevent(int severity, const char *text)
{
	if (severity >= EVENT_LOG_WARN)
		say(severity == EVENT_LOG_WARN ? LOG_WARNING : LOG_ERR,
		    "libevent: %s", text);
}
