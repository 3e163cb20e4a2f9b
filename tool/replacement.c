// SPDX-License-Identifier: MIT
/* Replaces a file as a whole; see replacement.h. */
#define _GNU_SOURCE
#include "replacement.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char target[PATH_MAX];
static FILE *file;

/* The file's name, or "": there is nothing to remove. A signal handler reads it. */
static char temporary[PATH_MAX + 8];

static void remove_temporary(void)
{
	if (*temporary)
		unlink(temporary);
}

/* Called with SA_RESETHAND: the signal ends the program once this has returned. */
static void remove_and_die(int signal)
{
	remove_temporary();
	raise(signal);
}

static void clean_up_after(int signal)
{
	struct sigaction action;

	/* A program that ignores a signal, as under nohup, goes on. */
	if (sigaction(signal, NULL, &action) || action.sa_handler == SIG_IGN)
		return;
	action = (struct sigaction){
		.sa_handler = remove_and_die,
		.sa_flags = SA_RESETHAND,
	};
	sigaction(signal, &action, NULL);
}

void replacement_failed(void)
{
	err(1, "%s: not written, and what was there is unchanged", target);
}

/*
 * Sets @target. A symbolic link stays, and the file that it names is replaced. Returns
 * whether there is a file.
 */
static bool find_target(const char *path, struct stat *st)
{
	if (!realpath(path, target)) {
		if (errno != ENOENT)
			err(1, "%s", path);
		if (strlen(path) >= sizeof(target))
			errx(1, "%s: the name is too long", path);
		strcpy(target, path);
	}
	if (stat(target, st)) {
		if (errno != ENOENT)
			err(1, "%s", path);
		return false;
	}
	if (!S_ISREG(st->st_mode))
		errx(1, "%s is not a regular file", path);
	return true;
}

FILE *replacement_open(const char *path)
{
	struct stat old;
	bool replaces = find_target(path, &old);
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", target);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		*temporary = '\0';
		err(1, "cannot write to the directory of %s", path);
	}
	atexit(remove_temporary);
	clean_up_after(SIGHUP);
	clean_up_after(SIGINT);
	clean_up_after(SIGTERM);
	/* Whoever could read the old file can read the new one. */
	if (replaces && !fchown(fd, old.st_uid, old.st_gid) &&
	    fchmod(fd, old.st_mode & 0777))
		replacement_failed();
	file = fdopen(fd, "w");
	if (!file)
		replacement_failed();
	return file;
}

/* Writes the directory's entries to the disk, where its file system can do that. */
static void sync_directory(void)
{
	char *slash = strrchr(target, '/');
	const char *name = ".";
	int fd;

	if (slash) {
		slash[slash == target] = '\0';
		name = target;
	}
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL && errno != ENOTSUP))
		err(1, "the file is written, but not its directory %s", name);
	close(fd);
}

void replacement_commit(void)
{
	if (fflush(file) || ferror(file) || fsync(fileno(file)) || fclose(file))
		replacement_failed();
	if (rename(temporary, target))
		replacement_failed();
	*temporary = '\0';
	sync_directory();
}
