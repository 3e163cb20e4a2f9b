// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimerctl, as a user calls it: what it prints, its exit status, and that its
 * errors say what to do.
 */
#include "hwtimer_test.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define TOOL "./hwtimerctl"

/* What a call printed, errors included */
static char output[65536];

/* Runs it with @arguments, as the shell takes them; returns its exit status. */
static int run_tool(const char *arguments)
{
	char command[512];
	size_t length;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), TOOL " %s 2>&1", arguments);
	pipe = popen(command, "r");
	if (!pipe)
		abort();
	length = fread(output, 1, sizeof(output) - 1, pipe);
	output[length] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *text)
{
	return strstr(output, text);
}

static unsigned int lines(void)
{
	unsigned int count = 0;

	for (const char *c = output; *c; c++)
		count += *c == '\n';
	return count;
}

TEST(help_is_there)
{
	EXPECT_EQ(0, run_tool("--help"));
	EXPECT_TRUE(says("info"));
	EXPECT_TRUE(says("stats"));
	EXPECT_TRUE(says("schedule"));
	EXPECT_EQ(0, run_tool("help"));
	EXPECT_EQ(0, run_tool("--version"));
	EXPECT_TRUE(says("libhwtimer 1.0"));
	EXPECT_EQ(2, run_tool(""));
	EXPECT_TRUE(says("--help"));
	EXPECT_EQ(2, run_tool("frobnicate"));
	EXPECT_TRUE(says("frobnicate"));
	EXPECT_EQ(2, run_tool("info now"));
	EXPECT_EQ(2, run_tool("stats --xml"));
	EXPECT_EQ(2, run_tool("stats --json --json"));
}

TEST(info_tells_what_there_is)
{
	EXPECT_EQ(0, run_tool("info"));
	EXPECT_TRUE(says("bulk"));
	EXPECT_TRUE(says("tick 1.00ms"));
	EXPECT_TRUE(says("10.0us to 1.00h"));
	EXPECT_TRUE(says("4096 buckets"));
	EXPECT_FALSE(says("unknown"));
}

TEST(timers_expire)
{
	EXPECT_EQ(0, run_tool("schedule 5ms"));
	EXPECT_EQ(1, lines());
	EXPECT_TRUE(says("late"));
	EXPECT_EQ(0, run_tool("schedule 0"));
	EXPECT_EQ(1, lines());
	EXPECT_EQ(0, run_tool("schedule 0.5ms --clock boottime --slack 100us"));
	EXPECT_EQ(1, lines());
}

TEST(repeated_timers_end)
{
	unsigned int seen;

	EXPECT_EQ(0, run_tool("schedule 5ms --repeat 5ms --count 3"));
	seen = lines();
	EXPECT_LE(1, seen);
	EXPECT_GE(3, seen);
	EXPECT_TRUE(says("  3  "));
	EXPECT_FALSE(says("  4  "));
}

TEST(wrong_times_are_told)
{
	static const char *const wrong[] = {
		"5",	   "5x",   "-1s",     "1s1h",  "0x10s", "1e400s",
		"nan",	   "inf",  "s",	      "1h30",  "\"\"",	"\"1 s\"",
		"\" 1s\"", "1s1s", "300000d", "1..5s", "1.5",	"1S",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "schedule %s", wrong[i]);
		EXPECT_EQ(2, run_tool(arguments))
		{
			TH_LOG("%s: %s", arguments, output);
		}
		EXPECT_TRUE(says("hwtimerctl:"));
	}
}

TEST(wrong_options_are_told)
{
	EXPECT_EQ(2, run_tool("schedule"));
	EXPECT_EQ(2, run_tool("schedule 1s 2s"));
	EXPECT_EQ(2, run_tool("schedule 1s --count 3"));
	EXPECT_TRUE(says("--repeat"));
	EXPECT_EQ(2, run_tool("schedule 1s --repeat 0"));
	EXPECT_TRUE(says("--repeat"));
	EXPECT_EQ(2, run_tool("schedule 1s --repeat 0.4ns"));
	EXPECT_EQ(2, run_tool("schedule 1s --repeat 1s --count 0"));
	EXPECT_EQ(2, run_tool("schedule 1s --repeat 1s --count many"));
	EXPECT_EQ(2, run_tool("schedule 1s --repeat"));
	EXPECT_EQ(2, run_tool("schedule 1s --often"));
	EXPECT_TRUE(says("--often"));
	EXPECT_EQ(2, run_tool("schedule 1s --clock realtime"));
	EXPECT_EQ(1, run_tool("schedule 1s --repeat 1us"));
	EXPECT_TRUE(says("tick"));
	EXPECT_EQ(1, run_tool("schedule 1ms --slack 1h"));
	EXPECT_TRUE(says("--slack"));
}

TEST_F(hwtimer, stats_finds_this_process)
{
	char line[64];

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, run_tool("stats"));
	snprintf(line, sizeof(line), "%7d %3d tool", getpid(), self->fd);
	EXPECT_TRUE(says(line));
	EXPECT_EQ(0, run_tool("stats --json"));
	snprintf(line, sizeof(line),
		 "{\"pid\": %d, \"fd\": %d, \"comm\": \"tool\"", getpid(),
		 self->fd);
	EXPECT_TRUE(says(line));
	EXPECT_TRUE(says("\"pending\": 2, \"ready\": 1, \"scheduled\": 3,"));
	EXPECT_TRUE(says("\"lateness\": ["));
}

TEST(stats_without_instances)
{
	EXPECT_EQ(0, run_tool("stats"));
	EXPECT_TRUE(says("No process"));
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_EQ(0, strcmp(output, "[\n]\n"));
}

TEST(without_the_device_it_says_what_to_do)
{
	/* Only for this process and its children. */
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, mount("none", "/dev", "ramfs", 0, NULL));
	EXPECT_EQ(1, run_tool("info"));
	EXPECT_TRUE(says("modprobe hwtimer"));
	EXPECT_EQ(1, run_tool("schedule 1s"));
	EXPECT_TRUE(says("modprobe hwtimer"));
}

TEST(what_cannot_be_printed_is_an_error)
{
	EXPECT_EQ(1, run_tool("info >/dev/full"));
	EXPECT_EQ(1, run_tool("stats --json >/dev/full"));
}

TEST_F(hwtimer, names_do_nothing_to_a_terminal)
{
	ASSERT_EQ(0, prctl(PR_SET_NAME, "\033]0;x\007\xc3\"\\"));
	EXPECT_EQ(0, run_tool("stats"));
	EXPECT_TRUE(says("?]0;x??\"\\"));
	EXPECT_FALSE(says("\033"));
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_TRUE(says("\"comm\": \"?]0;x??\\\"\\\\\""));
}

TEST(without_permission_it_says_what_to_do)
{
	ASSERT_EQ(0, setuid(1000));
	EXPECT_EQ(1, run_tool("info"));
	EXPECT_TRUE(says("no permission"));
}

TEST_HARNESS_MAIN
