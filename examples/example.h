/* SPDX-License-Identifier: MIT */
/*
 * What the examples have in common: an instance or a message that says what to do,
 * the time, and options that are numbers. Each example is one file besides this.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include <libhwtimer.h>

#define MS 1000000ULL

/* must - a call of the library that is to succeed; its result */
#define must(call) must_not_fail(call, #call)

static inline int must_not_fail(int ret, const char *call)
{
	if (ret < 0)
		errx(1, "%s: %s", call, strerror(-ret));
	return ret;
}

static inline struct hwt *open_wheel(unsigned int flags, clockid_t clock)
{
	struct hwtimer_setup setup = { .clock = clock };
	struct hwt *hwt;
	int error = -hwt_open(&hwt, flags);

	if (error)
		errx(1, "/dev/hwtimer: %s%s", strerror(error),
		     error == ENOENT ? "; load the module: modprobe hwtimer" :
		     error == EACCES ? "; run this as root" :
				       "");
	must(hwt_setup(hwt, &setup));
	return hwt;
}

/* Zeroed memory */
static inline void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		errx(1, "no memory for %zu of %zu bytes", count, size);
	return memory;
}

static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/*
 * another_try - for loops that try to reach another program
 * @who: the other, which may have been started just now, and is not ready
 *
 * Waits a little; false after ten seconds.
 */
static inline bool another_try(const char *who)
{
	const struct timespec pause = { .tv_nsec = 100 * MS };
	static unsigned int tries;

	if (!tries)
		warnx("waiting for %s", who);
	nanosleep(&pause, NULL);
	return ++tries < 100;
}

/* Returns a descriptor to poll for that signal, which does nothing else from now on. */
static inline int signal_fd(int signal)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(1, "signalfd");
	return fd;
}

/**
 * struct option - --NAME NUMBER
 * @name: with its dashes; NULL: the end of all options
 * @value: in: the default; out
 * @min: the least that makes sense
 */
struct option {
	const char *name;
	unsigned long *value;
	unsigned long min;
};

/* @argc, @argv: of main(), or what is left of them. Also, output is seen at once. */
static inline void take_options(const struct option *options, int argc,
				char **argv)
{
	const struct option *option;
	char *end = NULL;
	int i;

	setlinebuf(stdout);
	for (i = 1; i < argc; i += 2) {
		for (option = options; option->name; option++)
			if (!strcmp(option->name, argv[i]))
				break;
		if (!option->name)
			errx(2,
			     "%s: no such option; examples/README.md has them all",
			     argv[i]);
		if (i + 1 < argc)
			*option->value = strtoul(argv[i + 1], &end, 10);
		if (i + 1 == argc || end == argv[i + 1] || *end ||
		    *option->value < option->min)
			errx(2, "%s needs a number from %lu on", argv[i],
			     option->min);
	}
}

#endif /* EXAMPLE_H */
