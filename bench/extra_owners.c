// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what it costs that each owner has a worker of its own: the start of the first
 * instance, which creates a thread and has it join the program's cgroup; and 64 instances
 * of as many users, against 64 of one user.
 */
#include <err.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "numbers.h"
#include "processor.h"
#include "system_hwtimer.h"

#define STARTS 21
#define FAR (3600 * NSEC_PER_SEC)
#define CGROUP "/sys/fs/cgroup/timer-bench"

#define OWNERS 64
#define FIRST_UID 20000
/* Each instance has one periodic timer, until it has expired so often. */
#define EVENTS 500
#define INTERVAL NSEC_PER_MSEC
#define LEAD (NSEC_PER_SEC / 2)

/* ---- the start of an instance ---- */

enum step { OPEN, FIRST, SECOND, CLOSE, STEPS };

/* Times the steps of an instance's life. Nothing else of this owner has a worker. */
static void live(double times[STEPS][STARTS], int i)
{
	__u64 deadline = now_ns() + FAR;
	__u64 at[STEPS + 1];
	int fd;

	at[OPEN] = cycles();
	fd = device_open();
	at[FIRST] = cycles();
	device_schedule(fd, deadline);
	at[SECOND] = cycles();
	device_schedule(fd, deadline);
	at[CLOSE] = cycles();
	close(fd);
	at[STEPS] = cycles();
	for (int step = OPEN; step < STEPS; step++)
		times[step][i] = clock_ns(at[step + 1] - at[step]);
}

static void emit_starts(const char *const phases[STEPS])
{
	static double times[STEPS][STARTS];
	int i, step;

	for (i = 0; i < STARTS; i++) {
		live(times, i);
		/* The worker lingers for 100 ms, and must not be found again. */
		usleep(200000);
	}
	for (step = OPEN; step < STEPS; step++)
		emit(phases[step], quantile(times[step], STARTS, 0.5), "ns");
}

/* Moves this process into the cgroup @path; false: this machine has none like that. */
static bool join(const char *path)
{
	char procs[128];
	ssize_t done;
	int fd;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	fd = open(procs, O_WRONLY);
	if (fd < 0)
		return false;
	done = write(fd, "0", 1);
	close(fd);
	return done == 1;
}

void extra_start(const struct run *run)
{
	static const char *const here[] = {
		"start, open()",
		"start, the first SCHEDULE",
		"start, the second SCHEDULE",
		"start, close()",
	};
	static const char *const in_cgroup[] = {
		"start in a cgroup, open()",
		"start in a cgroup, the first SCHEDULE",
		"start in a cgroup, the second SCHEDULE",
		"start in a cgroup, close()",
	};

	processor_pin(0, run->cpu);
	emit_starts(here);
	mkdir(CGROUP, 0755);
	if (!join(CGROUP))
		return;
	emit_starts(in_cgroup);
	join("/sys/fs/cgroup");
	rmdir(CGROUP);
}

/* ---- many owners ---- */

struct results {
	double lateness[OWNERS * EVENTS];
	__u64 end[OWNERS];
};

/* Reads EVENTS expirations of a timer that begins at @start, and stores their lateness. */
static void consume(struct results *results, int nr, int fd, __u64 start)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE,
		.time = start,
		.interval = INTERVAL,
	};
	double *lateness = &results->lateness[nr * EVENTS];
	struct hwtimer_event event;
	int i;

	if (fcntl(fd, F_SETFL, 0))
		err(1, "fcntl");
	if (ioctl(fd, HWTIMER_IOC_SCHEDULE, &request))
		err(1, "SCHEDULE");
	for (i = 0; i < EVENTS; i++) {
		if (read(fd, &event, sizeof(event)) != sizeof(event))
			err(1, "read");
		lateness[i] = event.lateness;
	}
	results->end[nr] = now_ns();
}

/* Runs one instance in a process of user @uid. */
static void spawn(struct results *results, int nr, uid_t uid, __u64 start)
{
	int fd = device_open();
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child) {
		close(fd);
		return;
	}
	if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		err(1, "setuid");
	consume(results, nr, fd, start);
	_exit(0);
}

/* Runs @count instances, of one user or of as many, and emits what they got. */
static void emit_owners(const char *name, int count, bool many)
{
	struct results *results = mmap(NULL, sizeof(*results),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	__u64 start = now_ns() + LEAD, end = 0;
	char phase[80];
	int i, status;

	if (results == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < count; i++)
		spawn(results, i, many ? FIRST_UID + i : 0, start);
	for (i = 0; i < count; i++)
		if (wait(&status) < 0 || status)
			errx(1, "an owner failed");
	for (i = 0; i < count; i++)
		if (results->end[i] > end)
			end = results->end[i];
	snprintf(phase, sizeof(phase), "%s, events a second", name);
	emit(phase, count * EVENTS / ((end - start) / 1e9), "per second");
	snprintf(phase, sizeof(phase), "%s, lateness, median", name);
	emit(phase, quantile(results->lateness, count * EVENTS, 0.5), "ns");
	snprintf(phase, sizeof(phase), "%s, lateness, 99 of 100", name);
	emit(phase, quantile(results->lateness, count * EVENTS, 0.99), "ns");
	munmap(results, sizeof(*results));
}

void extra_owners(const struct run *run)
{
	(void)run;
	emit_owners("one instance", 1, false);
	emit_owners("64 instances of one user", OWNERS, false);
	emit_owners("64 instances of 64 users", OWNERS, true);
}
