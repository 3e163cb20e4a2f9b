/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the selftests: cgroups of version 2, processes in them that this process
 * starts and talks to, and the threads of the module.
 */
#ifndef CGROUP_H
#define CGROUP_H

#include "hwtimer_test.h"

#include <dirent.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define CGROUPS "/sys/fs/cgroup/"

static inline bool has_cgroups(void)
{
	return !access(CGROUPS "cgroup.controllers", R_OK);
}

static inline void cgroup_file(char path[256], const char *cgroup,
			       const char *file)
{
	snprintf(path, 256, CGROUPS "%s/%s", cgroup, file);
}

static inline bool cgroup_make(const char *cgroup)
{
	char path[256];

	cgroup_file(path, cgroup, "");
	return !mkdir(path, 0755) || errno == EEXIST;
}

/* Tries once to remove the cgroup: it must be empty. */
static inline bool cgroup_remove(const char *cgroup)
{
	char path[256];

	cgroup_file(path, cgroup, "");
	return !rmdir(path);
}

static inline bool cgroup_write(const char *cgroup, const char *file,
				const char *text)
{
	char path[256];

	cgroup_file(path, cgroup, file);
	return write_file(path, text);
}

static inline bool cgroup_has_file(const char *cgroup, const char *file)
{
	char path[256];

	cgroup_file(path, cgroup, file);
	return !access(path, F_OK);
}

/* Moves the process @pid; 0 is this process. */
static inline bool cgroup_move(const char *cgroup, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return cgroup_write(cgroup, "cgroup.procs", text);
}

/* Returns the number after @key in a file of the cgroup, or -1. */
static inline long long cgroup_number(const char *cgroup, const char *file,
				      const char *key)
{
	char path[256];

	cgroup_file(path, cgroup, file);
	return number_after(path, key);
}

/* Waits until cgroup.events says that @key is @value. */
static inline void cgroup_wait(const char *cgroup, const char *key, int value)
{
	char path[256], text[256];
	struct pollfd pfd = { .events = POLLPRI };

	cgroup_file(path, cgroup, "cgroup.events");
	pfd.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (pfd.fd < 0)
		abort();
	/* A read() begins the wait for the next change. */
	while (pread(pfd.fd, text, sizeof(text), 0) > 0 &&
	       cgroup_number(cgroup, "cgroup.events", key) != value)
		poll(&pfd, 1, -1);
	close(pfd.fd);
}

/* Waits until no process is left, and removes the cgroup. */
static inline void cgroup_end(const char *cgroup)
{
	if (!cgroup_has_file(cgroup, "cgroup.events"))
		return;
	cgroup_wait(cgroup, "populated ", 0);
	while (!cgroup_remove(cgroup))
		sleep_ns(MS);
}

/* ---- the module's threads ---- */

static inline bool is_worker(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	return !strncmp(name, "hwtimer/", 8);
}

/* Stores the ids of at most @max threads of the module; returns their number. */
static inline unsigned int workers(pid_t *pids, unsigned int max)
{
	DIR *proc = opendir("/proc");
	unsigned int count = 0;
	struct dirent *entry;

	if (!proc)
		abort();
	while (count < max && (entry = readdir(proc)))
		if (is_worker(atoi(entry->d_name)))
			pids[count++] = atoi(entry->d_name);
	closedir(proc);
	return count;
}

/* Returns the number of tasks in the cgroup that are no process of @pids. */
static inline unsigned int strangers(const char *cgroup, const pid_t *pids,
				     unsigned int count)
{
	unsigned int found = 0;
	char path[256];
	FILE *file;
	int tid;

	cgroup_file(path, cgroup, "cgroup.procs");
	file = fopen(path, "r");
	if (!file)
		abort();
	while (fscanf(file, "%d", &tid) == 1) {
		unsigned int i = 0;

		while (i < count && pids[i] != tid)
			i++;
		found += i == count;
	}
	fclose(file);
	return found;
}

/* ---- processes ---- */

/* Makes this process one of an ordinary user. */
static inline void become(uid_t uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		_exit(99);
}

/* Has everybody open the device, until device_for_root(). */
static inline bool device_for_all(void)
{
	return !chmod(DEVICE, 0666);
}

static inline void device_for_root(void)
{
	chmod(DEVICE, 0600);
}

/**
 * struct actor - a child of the test
 * @pid: its process
 * @says: a pipe from the child
 * @hears: a pipe to the child
 */
struct actor {
	pid_t pid;
	int says[2];
	int hears[2];
};

static inline void actor_say(struct actor *actor)
{
	if (write(actor->says[1], "", 1) != 1)
		_exit(90);
}

static inline void actor_hear(struct actor *actor)
{
	char byte;

	if (read(actor->hears[0], &byte, 1) != 1)
		_exit(91);
}

/* In the test: waits until the child says something. Returns false if it has ended. */
static inline bool actor_said(struct actor *actor)
{
	char byte;

	return read(actor->says[0], &byte, 1) == 1;
}

static inline bool actor_tell(struct actor *actor)
{
	return write(actor->hears[1], "", 1) == 1;
}

/* The end of a child that has done its part: it waits to be killed. */
static inline void actor_wait(struct actor *actor)
{
	actor_say(actor);
	for (;;)
		pause();
}

/*
 * Starts a child in @cgroup, unless that is NULL. It dies with its parent. Returns what
 * fork() does.
 */
static inline pid_t actor_start(struct actor *actor, const char *cgroup)
{
	if (pipe2(actor->says, O_CLOEXEC) || pipe2(actor->hears, O_CLOEXEC))
		abort();
	actor->pid = fork();
	if (actor->pid < 0)
		abort();
	if (actor->pid) {
		/* If the child ends early, actor_said() sees that. */
		close(actor->says[1]);
		close(actor->hears[0]);
		return actor->pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(actor->says[0]);
	close(actor->hears[1]);
	if (cgroup && !cgroup_move(cgroup, 0))
		_exit(92);
	return 0;
}

/* Waits for the end of the child; returns its exit status, or -signal. */
static inline int actor_ended(struct actor *actor)
{
	int status = wait_for_child(actor->pid);

	close(actor->says[0]);
	close(actor->hears[1]);
	return status;
}

static inline int actor_kill(struct actor *actor)
{
	kill(actor->pid, SIGKILL);
	return actor_ended(actor);
}

#endif /* CGROUP_H */
