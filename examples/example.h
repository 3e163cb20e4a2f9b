/* SPDX-License-Identifier: MIT */
/*
 * The parts that the examples have in common: opening an instance, the time, and
 * numeric options. An error ends the program with a message that says what to do.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <libhwtimer.h>

#define MS 1000000ULL

/* must - the result of a call of the library, which ends the program if it fails */
#define must(call) must_not_fail(call, #call)

static inline int must_not_fail(int ret, const char *call)
{
	if (ret < 0)
		errx(1, "%s: %s", call, strerror(-ret));
	return ret;
}

/* A random number below @limit */
static inline uint64_t random_below(uint64_t limit)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		err(1, "getrandom");
	return number % limit;
}

static inline struct hwt *open_wheel(unsigned int flags, clockid_t clock)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK(clock) };
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

/*
 * hwt_dispatch(), for a loop that waits for the instance. Ends the program if no event will
 * come any more: the descriptor stays ready, and the loop would do nothing but look.
 */
static inline void dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
			    unsigned int max)
{
	int ret = hwt_dispatch(hwt, callback, arg, max);

	if (hwt_dispatch_failed(ret))
		must_not_fail(ret, "hwt_dispatch");
}

/* Returns zeroed memory. */
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
 * another_try - wait before the next attempt to reach another program
 * @who: name of the other program, which may have been started just now
 *
 * Return: false once ten seconds have passed.
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

/* Returns a descriptor to poll for @signal, which now has no other effect. */
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
 * struct option - one option of the form --NAME NUMBER
 * @name: the name, with its dashes; NULL: the end of the table
 * @value: the default, which the number on the command line replaces
 * @min: the smallest number allowed
 * @max: the greatest number allowed; 0: any
 */
struct option {
	const char *name;
	unsigned long *value;
	unsigned long min;
	unsigned long max;
};

#define PORT_MAX 65535

/* The longest times of options, ms. In an hour, a random number of us has 32 bits. */
#define HOUR_MAX 3600000
#define DAYS_MAX 1000000000

/* At the end of the program: what could not be printed is an error. */
static inline void check_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	warn("standard output");
	_exit(1);
}

/* Sets *@option->value; returns whether @text is a number that is allowed. */
static inline bool take_number(const struct option *option, const char *text)
{
	unsigned long max = option->max ? option->max : LONG_MAX;
	char *end;

	/* strtoul() would also take spaces and signs. */
	*option->value = strtoul(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end &&
	       *option->value >= option->min && *option->value <= max;
}

/*
 * Takes the options in @argv after its first element. Also makes standard output
 * line-buffered, so that each line is seen at once.
 */
static inline void take_options(const struct option *options, int argc,
				char **argv)
{
	const struct option *option;
	int i;

	setlinebuf(stdout);
	atexit(check_output);
	for (i = 1; i < argc; i += 2) {
		for (option = options; option->name; option++)
			if (!strcmp(option->name, argv[i]))
				break;
		if (!option->name)
			errx(2,
			     "%s: no such option; examples/README.md lists all",
			     argv[i]);
		if (i + 1 < argc && take_number(option, argv[i + 1]))
			continue;
		if (option->max)
			errx(2, "%s needs a number from %lu to %lu", argv[i],
			     option->min, option->max);
		errx(2, "%s needs a number from %lu on", argv[i], option->min);
	}
}

#endif /* EXAMPLE_H */
