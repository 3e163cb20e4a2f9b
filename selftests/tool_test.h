/* SPDX-License-Identifier: GPL-2.0 */
/* Shared code of the selftests of hwtimerctl: calls the tool, and looks at its output. */
#ifndef TOOL_TEST_H
#define TOOL_TEST_H

#include "hwtimer_test.h"

#define TOOL "./hwtimerctl"

/* Output of the last call, errors included */
static char output[65536];

/* Runs the shell's @command, and keeps its output; returns its exit status. */
static inline int run_command(const char *command)
{
	size_t length;
	FILE *pipe;
	int status;

	pipe = popen(command, "r");
	if (!pipe)
		abort();
	length = fread(output, 1, sizeof(output) - 1, pipe);
	output[length] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs the tool with @arguments, which the shell splits; returns its exit status. */
static inline int run_tool(const char *arguments)
{
	char command[1024];

	snprintf(command, sizeof(command), TOOL " %s 2>&1", arguments);
	return run_command(command);
}

static inline bool says(const char *text)
{
	return strstr(output, text);
}

static inline unsigned int lines(void)
{
	unsigned int count = 0;

	for (const char *c = output; *c; c++)
		count += *c == '\n';
	return count;
}

/* The length of the longest line */
static inline unsigned int widest(void)
{
	unsigned int most = 0;

	for (const char *c = output; *c; c += strcspn(c, "\n"), c += *c == '\n')
		if (strcspn(c, "\n") > most)
			most = strcspn(c, "\n");
	return most;
}

#endif /* TOOL_TEST_H */
