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

/* Signals that end a program in the middle, but leave it time to clean up */
static const int deadly[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ
};

#define NR_DEADLY (sizeof(deadly) / sizeof(deadly[0]))

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

static void clean_up_at(int signal)
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

/* Creates the temporary file. A signal comes before that, or finds what to remove. */
static int create_temporary(void)
{
	sigset_t signals, before;
	unsigned int i;
	int fd;

	sigemptyset(&signals);
	for (i = 0; i < NR_DEADLY; i++)
		sigaddset(&signals, deadly[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", target);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		*temporary = '\0';
	for (i = 0; i < NR_DEADLY; i++)
		clean_up_at(deadly[i]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

void replacement_failed(void)
{
	err(1, "%s: not written, and what was there is unchanged", target);
}

/*
 * Sets @target. Returns whether there is a file. A symbolic link is refused: whoever may
 * write to its directory would choose which file is replaced.
 */
static bool find_target(const char *path, struct stat *st)
{
	if (strlen(path) >= sizeof(target))
		errx(1, "%s: the name is too long", path);
	memcpy(target, path, strlen(path) + 1);
	if (lstat(target, st)) {
		if (errno != ENOENT)
			err(1, "%s", path);
		return false;
	}
	if (S_ISLNK(st->st_mode))
		errx(1,
		     "%s is a symbolic link: name the file that it points to",
		     path);
	if (!S_ISREG(st->st_mode))
		errx(1, "%s is not a regular file", path);
	return true;
}

FILE *replacement_open(const char *path)
{
	struct stat old;
	bool replaces = find_target(path, &old);
	int fd = create_temporary();

	if (fd < 0)
		err(1, "cannot write to the directory of %s", path);
	atexit(remove_temporary);
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
