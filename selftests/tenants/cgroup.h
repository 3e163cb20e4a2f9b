/* SPDX-License-Identifier: GPL-2.0 */
/* Cgroups of the tenants: making them, starting processes in them, reading their figures. */
#ifndef TENANTS_CGROUP_H
#define TENANTS_CGROUP_H

#include "board.h"

#include <dirent.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define CGROUPS "/sys/fs/cgroup/"
#define TENANTS CGROUPS "tenants/"

/* Who runs in which cgroup, below TENANTS */
#define ATTACKER "attacker"
#define VICTIM "victim"
#define TESTER "tester" /* the tests themselves, as root */

#define ATTACKER_UID 2001
#define VICTIM_UID 2002

/* The period of cpu.max. The shortest quota that the kernel accepts is 1 ms. */
#define PERIOD_US 50000

/* Removing a cgroup is tried for so long, in ms: its last threads may be about to end. */
#define REMOVE_MS 10000

static inline void cgroup_path(char *path, size_t size, const char *name,
			       const char *file)
{
	snprintf(path, size, TENANTS "%s%s%s", name, *name ? "/" : "", file);
}

/* Writes to a file of a cgroup; returns whether the kernel took it. */
static inline bool cgroup_set(const char *name, const char *file,
			      const char *text)
{
	char path[256];

	cgroup_path(path, sizeof(path), name, file);
	return write_file(path, text);
}

static inline bool cgroup_set_number(const char *name, const char *file,
				     long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", number);
	return cgroup_set(name, file, text);
}

/* Returns whether the cgroups below TENANTS have @controller. */
static inline bool cgroup_has(const char *controller)
{
	char text[256] = "", *word, *rest = text;
	int fd = open(TENANTS "cgroup.subtree_control", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	while ((word = strsep(&rest, "\n "))) {
		if (!strcmp(word, controller))
			return true;
	}
	return false;
}

/* Makes a cgroup below TENANTS. */
static inline bool cgroup_make(const char *name)
{
	char path[256];

	cgroup_path(path, sizeof(path), name, "");
	return !mkdir(path, 0755) || errno == EEXIST;
}

/* Returns whether the cgroup is gone: a cgroup with a thread in it stays. */
static inline bool cgroup_remove(const char *name)
{
	char path[256];

	cgroup_path(path, sizeof(path), name, "");
	for (int i = 0; i < REMOVE_MS / 10; i++) {
		if (!rmdir(path) || errno == ENOENT)
			return true;
		sleep_ns(10 * MS);
	}
	return false;
}

/* Moves this process. */
static inline bool cgroup_join(const char *name)
{
	return cgroup_set(name, "cgroup.procs", "0");
}

/* Returns the number after @key in a file of a cgroup, or -1 (see number_after()). */
static inline long long cgroup_get(const char *name, const char *file,
				   const char *key)
{
	char path[256];

	cgroup_path(path, sizeof(path), name, file);
	return number_after(path, key);
}

/* Gives the cgroup at most @percent of one processor; 0: no limit. */
static inline void cgroup_throttle(const char *name, unsigned int percent)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u", percent * PERIOD_US / 100,
		 PERIOD_US);
	cgroup_set(name, "cpu.max", percent ? text : "max");
}

/* More processes than any tenant has */
#define PROCESSES_MAX 1024

/* Kills those processes of the cgroup that can be killed; returns how many it found. */
static inline unsigned int cgroup_kill_some(const char *name, pid_t *pids)
{
	unsigned int found = 0;
	char path[256];
	FILE *file;

	cgroup_path(path, sizeof(path), name, "cgroup.procs");
	file = fopen(path, "r");
	if (!file)
		return 0;
	/* A kernel thread ignores the signal. */
	while (found < PROCESSES_MAX && fscanf(file, "%d", &pids[found]) == 1)
		kill(pids[found++], SIGKILL);
	fclose(file);
	return found;
}

/*
 * Kills all processes of the cgroup, and waits until they have freed what they held. That
 * may be after they have left the cgroup. The tester inherits their children.
 */
static inline void cgroup_kill(const char *name)
{
	pid_t pids[PROCESSES_MAX];
	unsigned int found;

	cgroup_throttle(name, 0);
	for (int tries = 0; tries < 500; tries++) {
		found = cgroup_kill_some(name, pids);
		if (!found)
			return;
		for (unsigned int i = 0; i < found; i++)
			waitpid(pids[i], NULL, 0);
		sleep_ns(2 * MS);
	}
}

/**
 * struct usage - processor time so far
 * @time: when it was read, ns
 * @attacker: of the attacker's cgroup, ns
 * @victim: of the victim's cgroup, ns
 * @workers: of the module's threads, which work for everybody, ns
 */
struct usage {
	__u64 time;
	__u64 attacker;
	__u64 victim;
	__u64 workers;
};

/* Returns whether the process is a thread of the module. */
static inline bool is_worker(const char *pid)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	return !strncmp(name, "hwtimer/", 8);
}

/* Returns the processor time of the module's threads, ns. */
static inline __u64 workers_time(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	__u64 sum = 0;

	if (!proc)
		abort();
	while ((entry = readdir(proc))) {
		char path[300];
		long long ns;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !is_worker(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/schedstat",
			 entry->d_name);
		ns = number_after(path, "");
		if (ns > 0)
			sum += ns;
	}
	closedir(proc);
	return sum;
}

static inline struct usage usage_now(void)
{
	struct usage usage = { 0 };

	usage.workers = workers_time();
	usage.attacker = cgroup_get(ATTACKER, "cpu.stat", "usage_usec ") * US;
	usage.victim = cgroup_get(VICTIM, "cpu.stat", "usage_usec ") * US;
	usage.time = now_ns();
	return usage;
}

static inline void become(uid_t uid)
{
	const struct rlimit files = { 1000000, 1000000 };

	if (setrlimit(RLIMIT_NOFILE, &files) || setgroups(0, NULL) ||
	    setgid(uid) || setuid(uid))
		abort();
}

/**
 * tenant_start() - start a process of a tenant
 * @cgroup: its cgroup
 * @uid: its user
 * @run: what it does
 *
 * Return: its process id. It dies with this process.
 */
static inline pid_t tenant_start(const char *cgroup, uid_t uid,
				 void (*run)(struct board *board),
				 struct board *board)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid)
		return pid;
	if (!cgroup_join(cgroup))
		abort();
	become(uid);
	/* After setuid(), which resets it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* If memory is short, the kernel kills the attacker and not the test. */
	write_file("/proc/self/oom_score_adj", "1000");
	run(board);
	_exit(0);
}

#endif /* TENANTS_CGROUP_H */
