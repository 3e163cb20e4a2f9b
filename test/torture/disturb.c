// SPDX-License-Identifier: GPL-2.0
/*
 * Disturbers; see disturb.h.
 */
#include "disturb.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPUS "/sys/devices/system/cpu/"
#define POWER "/sys/power/"
#define DEBUGFS "/sys/kernel/debug/"
#define MODULE "/sys/module/hwtimer/"

#define YEAR (365 * 24 * 3600 * SEC)

/* The time that a suspend may take, for the bounds of CLOCK_REALTIME */
#define SUSPEND_MAX (3600 * SEC)

/* Returns whether the kernel took @text. */
bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t length = strlen(text);
	bool taken;

	if (fd < 0)
		return false;
	taken = write(fd, text, length) == length;
	close(fd);
	return taken;
}

static bool there(const char *path)
{
	return !access(path, W_OK);
}

static void count(struct disturber *disturber, bool taken)
{
	atomic_fetch_add(taken ? disturber->times : disturber->refused, 1);
}

static bool going_on(void)
{
	return !atomic_load(&board->over);
}

static void sleep_up_to(struct rng *rng, __u64 ns)
{
	sleep_ns(rng_next(rng) % ns);
}

static struct seat *random_seat(struct rng *rng)
{
	return &board->seats[rng_below(rng, SEATS_MAX)];
}

/* ---- processors ---- */

static bool switch_cpu(unsigned int cpu, const char *how)
{
	char path[64];

	snprintf(path, sizeof(path), CPUS "cpu%u/online", cpu);
	return write_file(path, how);
}

static bool hotplug_possible(void)
{
	return there(CPUS "cpu1/online");
}

static void hotplug_run(struct disturber *disturber, struct rng *rng)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF);

	while (going_on()) {
		unsigned int cpu = 1 + rng_below(rng, cpus - 1);

		count(disturber, switch_cpu(cpu, "0"));
		sleep_up_to(rng, SEC);
		switch_cpu(cpu, "1");
		sleep_up_to(rng, 2 * SEC);
	}
}

static void hotplug_calm(void)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int cpu = 1; cpu < cpus; cpu++)
		switch_cpu(cpu, "1");
}

/* ---- suspend ---- */

static bool suspend_possible(void)
{
	return there(POWER "pm_test") && there(POWER "state");
}

/* Whether the kernel's log has a line with @text since the last call */
static bool logged(int log, const char *text)
{
	static char record[8192];
	bool found = false;
	ssize_t length;

	while ((length = read(log, record, sizeof(record) - 1)) > 0 ||
	       errno == EPIPE) {
		record[length > 0 ? length : 0] = 0;
		found |= !!strstr(record, text);
	}
	return found;
}

/* How far CLOCK_REALTIME may be ahead before a suspend: a set may be under way. */
static __s64 ahead_before(void)
{
	__s64 now = realtime_ahead(), target = atomic_load(&board->target);

	return target > now ? target : now;
}

/*
 * Suspends the machine, up to a random depth; the kernel comes back from there by itself.
 * From `freeze`, and from a `mem` that is the same, it would not come back at the last two.
 */
static bool suspend(struct rng *rng)
{
	static const char *const depths[] = { "freezer", "devices", "platform",
					      "processors", "core" };
	bool deep = write_file(POWER "mem_sleep", "deep");
	unsigned int depth = rng_below(rng, deep ? 5 : 3);
	bool mem = depth > 2 || rng_below(rng, 2);

	return write_file(POWER "pm_test", depths[depth]) &&
	       board_sets_begin(ahead_before() + SUSPEND_MAX) &&
	       write_file(POWER "state", mem ? "mem" : "freeze");
}

static void suspend_run(struct disturber *disturber, struct rng *rng)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	lseek(log, 0, SEEK_END);
	/* A busy machine takes long to freeze. */
	write_file(POWER "pm_freeze_timeout", "60000");
	write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	while (going_on()) {
		count(disturber, suspend(rng));
		if (logged(log, "refusing to freeze"))
			wrong(UNFREEZABLE, "see the kernel's log");
		sleep_ns(SEC);
		sleep_up_to(rng, 10 * SEC);
	}
	close(log);
}

static void suspend_calm(void)
{
	write_file(POWER "pm_test", "none");
}

/* ---- CLOCK_REALTIME ---- */

/*
 * Sets the clock @distance ahead of what it would be if nobody had set it. Returns the number
 * of the set, as board_sets_begin() counts; 0: the kernel did not take it.
 */
static unsigned int set_clock(__s64 natural, __s64 distance)
{
	__u64 time = clock_ns(CLOCK_MONOTONIC) + natural + distance;
	struct timespec ts = { .tv_sec = time / SEC, .tv_nsec = time % SEC };
	unsigned int nr;

	atomic_store(&board->target, natural + distance);
	nr = board_sets_begin(natural + distance);
	if (!nr || clock_settime(CLOCK_REALTIME, &ts))
		return 0;
	atomic_store(&board->sets_done, nr);
	return nr;
}

/* Whether all instances that must notice set number @nr have done so */
static bool all_know(unsigned int nr)
{
	for (int i = 0; i < SEATS_MAX; i++) {
		const struct seat *seat = &board->seats[i];

		if (atomic_load(&seat->ready) && !atomic_load(&seat->done) &&
		    seat->reports && seat->notice.since < nr)
			return false;
	}
	return true;
}

/* Does not set the clock again before all know, or ought to. Another set would hide it. */
static void wait_for_all(unsigned int nr)
{
	for (int i = 0; i < 600 && going_on() && !all_know(nr); i++)
		sleep_ns(100 * MS);
}

/* ms to years, forth or back */
static __s64 distance(struct rng *rng)
{
	__s64 ns = MS + rng_time(rng, 58);

	return rng_below(rng, 2) ? ns % (5 * YEAR) : -(ns % (5 * YEAR));
}

static void clock_run(struct disturber *disturber, struct rng *rng)
{
	__s64 natural = realtime_ahead();

	while (going_on()) {
		unsigned int nr = set_clock(natural, distance(rng));

		count(disturber, nr);
		if (nr && rng_one_in(rng, 4))
			wait_for_all(nr);
		sleep_up_to(rng, rng_below(rng, 4) ? 100 * MS : 3 * SEC);
		if (rng_below(rng, 2))
			set_clock(natural, 0);
		sleep_up_to(rng, 2 * SEC);
	}
}

/* ---- cgroups ---- */

static bool cgroup_write(unsigned int group, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUPS "g%u/%s", group, file);
	return write_file(path, text);
}

/* Moves this process. */
bool cgroup_join(unsigned int group)
{
	return cgroup_write(group, "cgroup.procs", "0");
}

static bool cgroups_possible(void)
{
	return there(CGROUPS "g0/cgroup.procs");
}

static bool move_worker(struct rng *rng)
{
	pid_t pid = random_seat(rng)->pid;
	char text[16];

	if (pid <= 0)
		return true;
	snprintf(text, sizeof(text), "%d", pid);
	/* The worker may have ended. */
	cgroup_write(rng_below(rng, GROUPS), "cgroup.procs", text);
	return true;
}

static void limit_time(struct rng *rng, unsigned int group)
{
	char text[64];

	snprintf(text, sizeof(text), "%u 20000", 2000 + rng_below(rng, 20000));
	cgroup_write(group, "cpu.max", rng_below(rng, 3) ? text : "max");
}

static void place(struct rng *rng, unsigned int group)
{
	char text[16];

	snprintf(text, sizeof(text), "%u",
		 rng_below(rng, sysconf(_SC_NPROCESSORS_CONF)));
	cgroup_write(group, "cpuset.cpus", rng_below(rng, 2) ? text : "\n");
}

static void cgroups_run(struct disturber *disturber, struct rng *rng)
{
	while (going_on()) {
		unsigned int group = rng_below(rng, GROUPS);

		count(disturber, move_worker(rng));
		switch (rng_below(rng, 8)) {
		case 0:
			limit_time(rng, group);
			break;
		case 1:
			place(rng, group);
			break;
		}
		sleep_up_to(rng, 300 * MS);
	}
}

static void cgroups_calm(void)
{
	for (unsigned int group = 0; group < GROUPS; group++) {
		cgroup_write(group, "cpu.max", "max");
		cgroup_write(group, "cpuset.cpus", "\n");
	}
}

static bool freeze_possible(void)
{
	return there(CGROUPS "g0/cgroup.freeze");
}

static void freeze_run(struct disturber *disturber, struct rng *rng)
{
	while (going_on()) {
		unsigned int group = rng_below(rng, GROUPS);

		count(disturber, cgroup_write(group, "cgroup.freeze", "1"));
		sleep_up_to(rng, SEC);
		cgroup_write(group, "cgroup.freeze", "0");
		sleep_up_to(rng, 4 * SEC);
	}
}

static void freeze_calm(void)
{
	for (unsigned int group = 0; group < GROUPS; group++)
		cgroup_write(group, "cgroup.freeze", "0");
}

/* ---- memory ---- */

static bool memcg_possible(void)
{
	return there(CGROUPS "g0/memory.max");
}

static unsigned long memory_of(unsigned int group)
{
	unsigned long bytes = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), CGROUPS "g%u/memory.current", group);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &bytes) != 1)
		bytes = 0;
	fclose(file);
	return bytes;
}

/*
 * Leaves the cgroup little more memory than it has. With less than that, the kernel would
 * look for a process to kill at once, and complain if there is none. If a worker itself
 * needs more, the kernel kills it: another kind of SIGKILL.
 */
static void memcg_run(struct disturber *disturber, struct rng *rng)
{
	while (going_on()) {
		unsigned int group = rng_below(rng, GROUPS);
		char text[32];

		snprintf(text, sizeof(text), "%lu",
			 memory_of(group) + (64U << rng_below(rng, 16)));
		count(disturber, cgroup_write(group, "memory.max", text));
		sleep_up_to(rng, 500 * MS);
		cgroup_write(group, "memory.max", "max");
		sleep_up_to(rng, 2 * SEC);
	}
}

static void memcg_calm(void)
{
	for (unsigned int group = 0; group < GROUPS; group++)
		cgroup_write(group, "memory.max", "max");
}

static const char *const faults[] = { "failslab", "fail_page_alloc" };

#define FAULTS (sizeof(faults) / sizeof(*faults))

static bool fault_write(const char *fault, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", fault, file);
	return write_file(path, text);
}

static bool faults_possible(void)
{
	return there(DEBUGFS "failslab/probability");
}

/*
 * Lets the allocations of this process fail, and those of its children. Without effect
 * unless the disturber runs.
 */
void disturb_allow_faults(void)
{
	write_file("/proc/self/make-it-fail", "1");
}

static void allow_thread(const char *pid)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fgets(name, sizeof(name), file) && !strncmp(name, "hwtimer/", 8)) {
		snprintf(path, sizeof(path), "/proc/%s/make-it-fail", pid);
		write_file(path, "1");
	}
	fclose(file);
}

/* The same for the threads of hwtimer */
static void allow_threads(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		return;
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			allow_thread(entry->d_name);
	}
	closedir(proc);
}

static void faults_calm(void)
{
	for (unsigned int i = 0; i < FAULTS; i++)
		fault_write(faults[i], "probability", "0");
}

static void faults_run(struct disturber *disturber, struct rng *rng)
{
	static const char *const percents[] = { "1", "5", "20", "60" };

	for (unsigned int i = 0; i < FAULTS; i++) {
		fault_write(faults[i], "task-filter", "Y");
		fault_write(faults[i], "ignore-gfp-wait", "N");
		fault_write(faults[i], "min-order", "0");
		fault_write(faults[i], "times", "-1");
		fault_write(faults[i], "verbose", "0");
	}
	while (going_on()) {
		allow_threads();
		count(disturber,
		      fault_write(faults[rng_below(rng, FAULTS)], "probability",
				  percents[rng_below(rng, 4)]));
		sleep_up_to(rng, 3 * SEC);
		faults_calm();
		sleep_up_to(rng, 3 * SEC);
	}
}

/* ---- unloading ---- */

static unsigned int module_references(void)
{
	unsigned int references = 0;
	FILE *file = fopen(MODULE "refcnt", "r");

	if (!file)
		return 0;
	if (fscanf(file, "%u", &references) != 1)
		references = 0;
	fclose(file);
	return references;
}

/*
 * The main process has an instance open all the time, so the kernel must refuse it. If no open
 * file counts, this does not try: the module would wait for its workers, for ever.
 */
static void unload_run(struct disturber *disturber, struct rng *rng)
{
	while (going_on()) {
		bool counts = module_references() > 0;
		bool refused = counts && syscall(SYS_delete_module, "hwtimer",
						 O_NONBLOCK);

		count(disturber, refused);
		if (!refused) {
			wrong(UNLOADED, counts ? "rmmod succeeded" :
						 "no open file counts");
			atomic_store(&board->over, 1);
		}
		sleep_up_to(rng, SEC);
	}
}

/* ---- signals ---- */

static void stop_run(struct disturber *disturber, struct rng *rng)
{
	while (going_on()) {
		pid_t pid = random_seat(rng)->pid;

		if (pid > 0) {
			count(disturber, !kill(pid, SIGSTOP));
			sleep_up_to(rng, 300 * MS);
			kill(pid, SIGCONT);
		}
		sleep_up_to(rng, 300 * MS);
	}
}

static void stop_calm(void)
{
	for (unsigned int i = 0; i < SEATS_MAX; i++) {
		if (board->seats[i].pid > 0)
			kill(board->seats[i].pid, SIGCONT);
	}
}

/*
 * A worker that is killed while it writes its accounts has no successor, and its instance is
 * not judged. To the kernel, one moment is as good as another. So waits for a better one, and
 * mostly leaves a worker alone that is stopped at a bad one.
 */
static bool await_good_moment(const struct seat *seat, struct rng *rng)
{
	for (int i = 0; i < 100 && atomic_load(&seat->updating); i++)
		sleep_ns(MS);
	return !atomic_load(&seat->updating) || rng_one_in(rng, 8);
}

static void kill_run(struct disturber *disturber, struct rng *rng)
{
	while (going_on()) {
		struct seat *seat = random_seat(rng);
		pid_t pid = seat->pid;

		if (pid > 0 && await_good_moment(seat, rng))
			count(disturber, !kill(pid, SIGKILL));
		sleep_up_to(rng, 200 * MS);
	}
}

/* ---- the table ---- */

struct disturber disturbers[] = {
	{ .name = "hotplug",
	  .possible = hotplug_possible,
	  .run = hotplug_run,
	  .calm = hotplug_calm },
	{ .name = "suspend",
	  .possible = suspend_possible,
	  .run = suspend_run,
	  .calm = suspend_calm },
	{ .name = "clock", .run = clock_run },
	{ .name = "cgroups",
	  .possible = cgroups_possible,
	  .run = cgroups_run,
	  .calm = cgroups_calm },
	{ .name = "freeze",
	  .possible = freeze_possible,
	  .run = freeze_run,
	  .calm = freeze_calm },
	{ .name = "memcg",
	  .possible = memcg_possible,
	  .run = memcg_run,
	  .calm = memcg_calm },
	{ .name = "faults",
	  .possible = faults_possible,
	  .run = faults_run,
	  .calm = faults_calm },
	{ .name = "unload", .run = unload_run },
	{ .name = "stop", .run = stop_run, .calm = stop_calm },
	{ .name = "kill", .run = kill_run },
};

const unsigned int disturbers_count = sizeof(disturbers) / sizeof(*disturbers);
