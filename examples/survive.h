/* SPDX-License-Identifier: MIT */
/*
 * The journal of survive: what the service has done, for the next process and for the
 * test. A line has: what, user_data, id, deadline, the time when the timer expired, the
 * time when the line was written.
 *
 *	start	a process has begun; user_data is its process id
 *	opened	it has opened an instance, because none was kept
 *	sched	timers are scheduled; user_data is their number, of all processes
 *	acted	a timer was acted on
 *	killed	written by a test after it has killed the process user_data
 */
#ifndef EXAMPLE_SURVIVE_H
#define EXAMPLE_SURVIVE_H

#include "example.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * All lines have this length, so that none crosses a page: a process that is killed has
 * then written the whole line, or nothing of it.
 */
#define LINE 128

static int journal;

/* For tests: the process kills itself at this step; 0: never. */
static unsigned long die;

/* A point at which the process might be killed */
static inline void step(void)
{
	if (die && !--die)
		kill(getpid(), SIGKILL);
}

static inline uint64_t journal_write(const char *what,
				     const struct hwtimer_event *event)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	char line[LINE + 1];

	snprintf(line, sizeof(line), "%-8s %10llu %20llu %20llu %20llu %20llu ",
		 what, event->user_data, event->id, event->deadline,
		 event->deadline + event->lateness, (unsigned long long)now);
	memset(line + strlen(line), ' ', LINE - strlen(line));
	line[LINE - 1] = '\n';
	if (write(journal, line, LINE) != LINE)
		err(1, "the journal");
	return now;
}

/*
 * Opens the journal, and notes that a process has begun.
 *
 * Leaves in @scheduled how many timers former processes have scheduled.
 *
 * Return: when the first process began, ns.
 */
static inline uint64_t journal_open(const char *path, unsigned long *scheduled)
{
	struct hwtimer_event start = { .user_data = getpid() };
	unsigned long long user_data, time, first = 0;
	FILE *file = fopen(path, "a+");
	char what[9];

	if (!file)
		err(1, "%s", path);
	*scheduled = 0;
	journal = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	while (fscanf(file, "%8s %llu %*u %*u %*u %llu", what, &user_data,
		      &time) == 3) {
		if (!strcmp(what, "sched"))
			*scheduled = user_data;
		else if (!first && !strcmp(what, "start"))
			first = time;
	}
	fclose(file);
	time = journal_write("start", &start);
	return first ? first : time;
}

#endif /* EXAMPLE_SURVIVE_H */
