// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimerctl, as a user calls it: what it prints, its exit status, and that its
 * errors say what to do.
 */
#include "hwtimer_test.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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
	EXPECT_TRUE(says("watch"));
	EXPECT_TRUE(says("plot"));
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
		 "{\"pid\": %d, \"fd\": %d, \"comm\": \"tool\", \"time\": ",
		 getpid(), self->fd);
	EXPECT_TRUE(says(line));
	EXPECT_TRUE(says("\"pending\": 2, \"ready\": 1, \"scheduled\": 3,"));
	EXPECT_TRUE(says("\"lateness\": ["));
	EXPECT_TRUE(says("\"occupancy\": [{\"level\": 0, "));
}

TEST_F(hwtimer, watch_shows_this_process)
{
	char line[64];

	for (unsigned int i = 0; i < 100; i++)
		ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(10, dev_schedule_many(self->fd, 10, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(self->fd, 10));
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_TRUE(says("1 instance, 100 timers pending"));
	snprintf(line, sizeof(line), "%7d %3d %-12s %8d %7d ", getpid(),
		 self->fd, "tool", 100, 10);
	EXPECT_TRUE(says(line));
	EXPECT_TRUE(says("99%<"));
	/* Nothing to compare with, no terminal, and nobody said UTF-8. */
	EXPECT_TRUE(says(" - "));
	EXPECT_FALSE(says("\033"));
	for (const char *c = output; *c; c++)
		EXPECT_LE(0, *c);
}

TEST_F(hwtimer, watch_has_a_line_for_each_level)
{
	ASSERT_EQ(0, dev_setup_as(self->fd,
				  (struct hwtimer_setup){
					  .clock = CLOCK_MONOTONIC,
					  .kind = HWTIMER_KIND_HIERARCHICAL,
				  }));
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_TRUE(says("no timer yet"));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR * 1000, 0));
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_FALSE(says("no timer yet"));
	EXPECT_TRUE(says(" 64.0ms |"));
	/* A summary, the headlines, this instance with its levels */
	EXPECT_EQ(3 + 1 + 1 + 3, lines());
}

TEST_F(hwtimer, watch_tells_rates)
{
	EXPECT_EQ(0, run_tool("watch --count 2 --interval 20ms"));
	EXPECT_TRUE(says("of the last"));
}

TEST_F(hwtimer, watch_shows_what_is_shared_once)
{
	int other = dup(self->fd);

	ASSERT_LE(0, other);
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_TRUE(says("1 instance,"));
	EXPECT_TRUE(says("tool +"));
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, watch_follows_the_locale)
{
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	setenv("LANG", "de_DE.UTF-8", 1);
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_TRUE(says("\xc2\xb7"));
	setenv("LC_ALL", "C", 1);
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_FALSE(says("\xc2\xb7"));
}

/* Runs it on a terminal of 80 columns; returns its exit status. */
static int run_on_terminal(const char *arguments, unsigned short rows)
{
	const struct winsize size = { .ws_row = rows, .ws_col = 80 };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), status;
	size_t length = 0;
	char name[64], command[512];
	pid_t child;

	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal) ||
	    ptsname_r(terminal, name, sizeof(name)) ||
	    ioctl(terminal, TIOCSWINSZ, &size))
		abort();
	snprintf(command, sizeof(command), "exec " TOOL " %s <%s >%s 2>&1",
		 arguments, name, name);
	child = fork();
	if (!child) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	/* Nothing can be read any more when the child has closed the other end. */
	for (;;) {
		ssize_t ret = read(terminal, output + length,
				   sizeof(output) - 1 - length);

		if (ret > 0) {
			length += ret;
			continue;
		}
		if (waitpid(child, &status, WNOHANG) == child)
			break;
		sleep_ns(MS);
	}
	output[length] = '\0';
	close(terminal);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool ends_with(const char *text)
{
	size_t length = strlen(output), wanted = strlen(text);

	return length >= wanted && !strcmp(output + length - wanted, text);
}

TEST(watch_fits_a_terminal)
{
	int fds[30];

	if (access("/dev/ptmx", F_OK))
		SKIP(return, "this kernel has no pseudo terminals");
	mkdir("/dev/pts", 0755);
	mount("devpts", "/dev/pts", "devpts", 0, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dev_open(0);
		ASSERT_LE(0, fds[i]);
	}
	EXPECT_EQ(0, run_on_terminal("watch --count 2 --interval 20ms", 14));
	/* A screen of its own, and back to the ordinary one. */
	EXPECT_EQ(0, strncmp(output, "\033[?1049h", 8));
	EXPECT_TRUE(ends_with("\033[?1049l"));
	EXPECT_TRUE(says("30 instances"));
	EXPECT_TRUE(says("20 more instances are not shown"));
	EXPECT_FALSE(says("late |"));
	EXPECT_EQ(0, run_on_terminal("watch --count 2 --interval 20ms", 200));
	EXPECT_FALSE(says("not shown"));
	EXPECT_TRUE(says("late |"));
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(0, close(fds[i]));
}

TEST_F(hwtimer, plot_writes_what_gnuplot_is_told)
{
	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	EXPECT_EQ(0, run_tool("plot --script --count 4 --interval 30ms x.svg"));
	EXPECT_TRUE(says("set terminal svg"));
	EXPECT_TRUE(says("set output 'x.svg'"));
	EXPECT_TRUE(says("$rates << EOD\n"));
	EXPECT_FALSE(says("$rates << EOD\nEOD"));
	EXPECT_TRUE(says("$lateness << EOD\n"));
	/* There is none in a test machine. */
	EXPECT_EQ(1, run_tool("plot --count 2 --interval 10ms x.png"));
	EXPECT_TRUE(says("apt install gnuplot"));
}

TEST(without_instances_it_says_so)
{
	EXPECT_EQ(0, run_tool("watch --once"));
	EXPECT_TRUE(says("No process"));
	EXPECT_EQ(1, run_tool("plot --count 2 --interval 10ms x.png"));
	EXPECT_TRUE(says("no process"));
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
