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

/* Whether there is an old file, whose owner and mode the new one has */
static bool replaces;

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

/* Returns a descriptor of the directory of @target, or -1 with errno. */
static int open_directory(void)
{
	const char *slash = strrchr(target, '/');
	char name[PATH_MAX] = ".";

	/* The slash belongs to the name: "/" is a directory, too. */
	if (slash)
		snprintf(name, sizeof(name), "%.*s", (int)(slash - target + 1),
			 target);
	return open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Ends the program if the old file is a stranger's. In a directory where everybody may
 * create files, as /tmp, its owner need not be the one whom the caller has in mind, and
 * would be able to read and to change the new file.
 */
static void check_owner(const struct stat *old)
{
	const mode_t shared = 01002; /* sticky, and everybody may write */
	int fd = open_directory();
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "the directory of %s", target);
	close(fd);
	if (old->st_uid != geteuid() && (st.st_mode & shared) == shared)
		errx(1, "%s belongs to another user: remove it first", target);
}

/*
 * Gives the new file the owner and the mode of the old one, so that whoever could read
 * that can read this. Without the old group, nobody gets a right that both the group and
 * the others did not have.
 */
static void keep_owner_and_mode(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777, both = mode >> 3 & mode & 07;

	if (fchown(fd, old->st_uid, old->st_gid)) {
		warnx("%s: the owner or the group cannot be kept: %s", target,
		      strerror(errno));
		if (fchown(fd, -1, old->st_gid))
			mode = (mode & 0700) | both << 3 | both;
	}
	if (fchmod(fd, mode))
		replacement_failed();
}

FILE *replacement_open(const char *path)
{
	struct stat old;
	int fd;

	replaces = find_target(path, &old);
	if (replaces)
		check_owner(&old);
	fd = create_temporary();
	if (fd < 0)
		err(1, "cannot write to the directory of %s", path);
	atexit(remove_temporary);
	if (replaces)
		keep_owner_and_mode(fd, &old);
	file = fdopen(fd, "w");
	if (!file)
		replacement_failed();
	return file;
}

void replacement_share(void)
{
	mode_t mask;

	if (replaces)
		return;
	mask = umask(0);
	umask(mask);
	if (fchmod(fileno(file), 0666 & ~mask))
		replacement_failed();
}

/* Writes the directory's entries to the disk, where its file system can do that. */
static void sync_directory(void)
{
	int fd = open_directory();

	if (fd < 0 || (fsync(fd) && errno != EINVAL && errno != ENOTSUP))
		err(1, "the file is written, but not the directory of %s",
		    target);
	close(fd);
}

void replacement_commit(void)
{
	/* What failed before has left no errno, as fflush() succeeds then. */
	if (fflush(file) || fsync(fileno(file)))
		replacement_failed();
	if (ferror(file)) {
		errno = EIO;
		replacement_failed();
	}
	if (fclose(file))
		replacement_failed();
	if (rename(temporary, target))
		replacement_failed();
	*temporary = '\0';
	sync_directory();
}
