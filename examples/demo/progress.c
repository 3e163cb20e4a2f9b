// SPDX-License-Identifier: GPL-2.0
/*
 * Shows the progress of the demo: on a terminal in one line that is updated in place,
 * elsewhere in a new line every second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"
#include "format.h"

static bool in_place;
static __u64 interval;
static __u64 shown;
static __u32 delivered_then;

/*
 * Returns whether the terminal can update a line. A VM's serial port is a terminal,
 * too; TERM tells what is at its other end.
 */
static bool can_update(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

void progress_start(const struct demo *demo)
{
	in_place = !demo->options.plain && can_update();
	interval = in_place ? NSEC_PER_SEC / 5 : NSEC_PER_SEC;
	shown = now_ns();
	delivered_then = 0;
}

static void show(const struct demo *demo, __u64 now)
{
	__u32 delivered = atomic_load(&demo->delivered);
	__u32 cancelled = atomic_load(&demo->cancelled);
	__u32 ended = cancelled + delivered;
	__u32 scheduled = atomic_load(&demo->scheduled);
	__u32 pending = scheduled > ended ? scheduled - ended : 0;
	double seconds = (double)(now - shown) / NSEC_PER_SEC;
	__u32 came = delivered - delivered_then;
	struct text p, d, c, r;

	printf("%s%5.1f s  pending %9s  delivered %9s (%7s/s)  cancelled %7s%s",
	       in_place ? "\r" : "", (double)(now - demo->start) / NSEC_PER_SEC,
	       format_count(&p, pending), format_count(&d, delivered),
	       format_count(&r, seconds > 0 ? came / seconds : 0),
	       format_count(&c, cancelled), in_place ? "\033[K" : "\n");
	fflush(stdout);
	shown = now;
	delivered_then = delivered;
}

void progress_show(const struct demo *demo)
{
	__u64 now = now_ns();

	if (now - shown >= interval)
		show(demo, now);
}

void progress_end(const struct demo *demo)
{
	show(demo, now_ns());
	if (in_place)
		printf("\n");
}
