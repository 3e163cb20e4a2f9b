// SPDX-License-Identifier: MIT
/* Runs a command that inherits a descriptor; see handover.h. */
#include "handover.h"
#include "commands.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first number in the protocol */
#define FIRST 3

void handover_check_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == ':')
			break;
	if (c == name || *c || c - name > 255)
		usage("--name: a name has 1 to 255 characters without spaces and colons");
}

/* Returns how many descriptors this program was given by the same protocol. */
static int given(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	long count;

	if (!pid || !fds || strtol(pid, NULL, 10) != getpid())
		return 0;
	count = strtol(fds, NULL, 10);
	return count > 0 && count < INT_MAX - FIRST ? count : 0;
}

int handover_number(void)
{
	int number = FIRST + given();

	if (fcntl(number, F_GETFD) >= 0)
		errx(1,
		     "descriptor %d is open, but the command is to find the instance there: close it, with %d<&-",
		     number, number);
	return number;
}

static void set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1))
		err(1, "no memory");
}

static void set_number(const char *variable, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	set(variable, text);
}

/* Adds @name to the names of the descriptors that are there already. */
static void set_names(const char *name)
{
	const char *before = getenv("LISTEN_FDNAMES");
	int i, count = given();
	size_t size = 0;
	char *names;
	FILE *text = open_memstream(&names, &size);

	if (!text)
		err(1, "no memory");
	if (count && before)
		fprintf(text, "%s:", before);
	else
		for (i = 0; i < count; i++)
			fputs("unknown:", text);
	fputs(name, text);
	if (fclose(text))
		err(1, "no memory");
	set("LISTEN_FDNAMES", names);
	free(names);
}

void handover_run(int fd, int number, const char *name, char **command)
{
	/* The duplicate is not closed on exec; the original is. */
	if (fd == number ? fcntl(fd, F_SETFD, 0) : dup2(fd, number) < 0)
		err(1, "descriptor %d", number);
	set_names(name);
	set_number("LISTEN_FDS", number - FIRST + 1);
	set_number("LISTEN_PID", getpid());
	fflush(NULL);
	execvp(command[0], command);
	err(1, "%s", command[0]);
}
