// SPDX-License-Identifier: MIT
/* Prints messages; see say.h. */
#include "say.h"
#include "alarm.h"

#include <ctype.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 512

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
 * A thousand shards lose the same Redis at the same moment, and a message that names the
 * shard is another one for each. Returns whether @text, or SAY_MOST messages, were printed in
 * these SAY_AGAIN seconds. Afterwards, tells how many were left out.
 */
static bool said_enough(const char *text)
{
	static char said[SAY_MOST][TEXT_MAX];
	static unsigned int nr_said, left_out;
	static int64_t end;
	unsigned int i;

	if (now_ns() >= end) {
		if (left_out)
			print(LOG_WARNING, "%u messages were left out",
			      left_out);
		end = now_ns() + SAY_AGAIN * 1000 * NS_PER_MS;
		nr_said = 0;
		left_out = 0;
	}
	for (i = 0; i < nr_said; i++)
		if (!strcmp(said[i], text))
			return true;
	if (nr_said == SAY_MOST) {
		left_out++;
		return true;
	}
	snprintf(said[nr_said++], TEXT_MAX, "%s", text);
	return false;
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
 * say - print a message, unless it or many others were printed in these SAY_AGAIN seconds
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
	if (!said_enough(text))
		print(level, "%s", text);
}

/* For event_set_log_callback(): libevent would write to standard error by itself. */
void say_of_libevent(int severity, const char *text)
{
	if (severity >= EVENT_LOG_WARN)
		say(severity == EVENT_LOG_WARN ? LOG_WARNING : LOG_ERR,
		    "libevent: %s", text);
}

/*
 * Returns @memory, if there is any. Without memory, a connection or a shard could be forgotten
 * for ever. So the daemon ends, and what starts it again gets it right: Redis has all timers.
 */
void *need(void *memory)
{
	if (memory)
		return memory;
	say(LOG_ERR, "no memory: ending");
	_exit(1);
}
