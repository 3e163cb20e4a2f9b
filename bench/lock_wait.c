// SPDX-License-Identifier: GPL-2.0
/*
 * Traces waits for spinlocks; see lock_wait.h.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lock_wait.h"
#include "numbers.h"

#define TRACING "/sys/kernel/tracing/"
#define BUFFER_KB "4096"
/* More than fit into the trace buffer */
#define WAITS_MAX 1000000

/* Matches the function of bare machines and that of virtual ones. */
#define SLOW_PATHS "*queued_spin_lock_slowpath"

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool written;

	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return !close(fd) && written;
}

static bool tracing_is_there(void)
{
	return !access(TRACING "current_tracer", W_OK) ||
	       (!mount("tracefs", TRACING, "tracefs", 0, NULL) &&
		!access(TRACING "current_tracer", W_OK));
}

static void leave(void)
{
	write_to(TRACING "tracing_on", "0");
	write_to(TRACING "current_tracer", "nop");
	write_to(TRACING "set_ftrace_filter", "");
	write_to(TRACING "set_ftrace_pid", "");
	write_to(TRACING "tracing_on", "1");
}

bool lock_wait_begin(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	if (!tracing_is_there())
		return false;
	if (write_to(TRACING "buffer_size_kb", BUFFER_KB) &&
	    write_to(TRACING "set_ftrace_filter", SLOW_PATHS) &&
	    write_to(TRACING "set_ftrace_pid", pid) &&
	    write_to(TRACING "current_tracer", "function_graph") &&
	    write_to(TRACING "tracing_on", "1"))
		return true;
	leave();
	return false;
}

/* Returns the duration in a line of the trace, ns; negative: the line has none. */
static double duration_ns(const char *line)
{
	const char *end = strstr(line, " us");
	const char *begin = end;

	while (begin && begin > line && strchr("0123456789.", begin[-1]))
		begin--;
	return begin == end ? -1 : strtod(begin, NULL) * 1000;
}

void lock_wait_end(struct lock_waits *waits)
{
	static double durations[WAITS_MAX];
	char line[256];
	FILE *trace;
	double ns;

	write_to(TRACING "tracing_on", "0");
	trace = fopen(TRACING "trace", "re");
	if (!trace)
		err(1, TRACING "trace");
	*waits = (struct lock_waits){ 0 };
	while (fgets(line, sizeof(line), trace)) {
		ns = line[0] == '#' ? -1 : duration_ns(line);
		if (ns >= 0 && waits->count < WAITS_MAX)
			durations[waits->count++] = ns;
	}
	fclose(trace);
	leave();
	if (!waits->count)
		return;
	waits->usual = quantile(durations, waits->count, 0.99);
	waits->longest = quantile(durations, waits->count, 1);
}
