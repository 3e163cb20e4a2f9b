// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimerctl, called as a user calls it: its output, its exit status, and whether its
 * error messages say what to do.
 */
#include "tool_test.h"

#include <ctype.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int count = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		count++;
	}
	return count;
}

TEST(help_is_there)
{
	EXPECT_EQ(0, run_tool("--help"));
	EXPECT_TRUE(says("info"));
	EXPECT_TRUE(says("stats"));
	EXPECT_TRUE(says("next"));
	EXPECT_TRUE(says("owners"));
	EXPECT_TRUE(says("schedule"));
	EXPECT_TRUE(says("watch"));
	EXPECT_TRUE(says("plot"));
	EXPECT_TRUE(says("list"));
	EXPECT_TRUE(says("save"));
	EXPECT_TRUE(says("restore"));
	EXPECT_EQ(0, run_tool("help"));
	EXPECT_EQ(0, run_tool("--version"));
	EXPECT_TRUE(says("hwtimerctl 0.9\n"));
	EXPECT_EQ(0, run_tool("-V"));
	EXPECT_TRUE(says("hwtimerctl 0.9\n"));
	EXPECT_EQ(2, run_tool(""));
	EXPECT_TRUE(says("--help"));
	EXPECT_EQ(2, run_tool("frobnicate"));
	EXPECT_TRUE(says("frobnicate"));
	EXPECT_EQ(2, run_tool("info now"));
	EXPECT_EQ(2, run_tool("stats --xml"));
	EXPECT_EQ(2, run_tool("stats all"));
}

TEST(each_command_has_help)
{
	static const char *const commands[] = {
		"info",	   "stats",    "watch",	  "plot",   "list", "save",
		"restore", "schedule", "metrics", "owners", "next",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		static const char *const ways[] = { "%s --help", "%s -h",
						    "help %s" };
		char arguments[64], usage[64];

		snprintf(usage, sizeof(usage), "usage: hwtimerctl %s",
			 commands[i]);
		for (unsigned int way = 0; way < ARRAY_SIZE(ways); way++) {
			snprintf(arguments, sizeof(arguments), ways[way],
				 commands[i]);
			EXPECT_EQ(0, run_tool(arguments));
			EXPECT_TRUE(says(usage));
			EXPECT_GE(80, widest());
		}
		snprintf(arguments, sizeof(arguments), "%s --frobnicate",
			 commands[i]);
		EXPECT_EQ(2, run_tool(arguments));
		EXPECT_TRUE(says("unknown option: --frobnicate"));
		EXPECT_TRUE(says("--help"));
	}
	EXPECT_EQ(0, run_tool("-h"));
	EXPECT_TRUE(says("COMMAND"));
	EXPECT_EQ(2, run_tool("help frobnicate"));
	EXPECT_EQ(2, run_tool("-q"));
	EXPECT_TRUE(says("-q"));
}

/* A word that is nearly right gets the right one, and another one none. */
TEST(misspelt_words_are_guessed)
{
	EXPECT_EQ(2, run_tool("lsit"));
	EXPECT_TRUE(says("unknown command: lsit; did you mean list?\n"));
	EXPECT_EQ(2, run_tool("help shedule"));
	EXPECT_TRUE(says("did you mean schedule?\n"));
	EXPECT_EQ(2, run_tool("frobnicate"));
	EXPECT_FALSE(says("did you mean"));
	EXPECT_EQ(2, run_tool("--verison"));
	EXPECT_TRUE(says("did you mean --version?\n"));
	EXPECT_EQ(2, run_tool("schedule 1s --slakc 1s"));
	EXPECT_TRUE(says("unknown option: --slakc; did you mean --slack?\n"));
	EXPECT_EQ(2, run_tool("schedule 1s --often"));
	EXPECT_FALSE(says("did you mean"));
	EXPECT_EQ(2, run_tool("stats --json=yes"));
	EXPECT_TRUE(says("this option takes no value: --json=yes\n"));
	/* The option that is wrong, and not the one before it */
	EXPECT_EQ(2, run_tool("schedule --slack=1s -xz"));
	EXPECT_TRUE(says("unknown option: -x\n"));
	EXPECT_EQ(2, run_tool("schedule --slack=1s -\xc3\xa9"));
	EXPECT_TRUE(says("unknown option: -\xc3\xa9\n"));
}

TEST(info_tells_what_there_is)
{
	EXPECT_EQ(0, run_tool("info"));
	EXPECT_GE(80, widest());
	EXPECT_TRUE(says("0.9 (module), 0.9 (hwtimerctl)"));
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
	/* Slack may be longer than the delay. */
	EXPECT_EQ(0, run_tool("schedule 1ms --slack 10ms"));
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
	/* Shorter than a tick: an event reports many expirations. */
	EXPECT_EQ(0, run_tool("schedule 0 --repeat 1us --count 1000"));
	EXPECT_TRUE(says("  1000  "));
	EXPECT_GT(1000, lines());
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
		EXPECT_TRUE(says("hwtimerctl: schedule: "));
	}
	EXPECT_EQ(2, run_tool("schedule 5"));
	EXPECT_TRUE(says("invalid time \"5\": give a unit, e.g. 5s"));
	EXPECT_EQ(2, run_tool("schedule 1s --slack 0.5"));
	EXPECT_TRUE(says("invalid --slack \"0.5\": give a unit, e.g. 0.5s"));
	EXPECT_EQ(2, run_tool("schedule 1s --slack 5x"));
	EXPECT_TRUE(says("\"5x\": write it like 1.5s or 200ms"));
	EXPECT_EQ(2, run_tool("schedule -1s"));
	EXPECT_TRUE(says("\"-1s\" is negative"));
	EXPECT_FALSE(says("option"));
	EXPECT_EQ(2, run_tool("schedule 1s --slack -1s"));
	EXPECT_TRUE(says("\"-1s\": it must not be negative"));
	EXPECT_EQ(2, run_tool("schedule 1s -5"));
	EXPECT_TRUE(says("\"-5\" is negative"));
	EXPECT_EQ(2, run_tool("schedule 9999999999h"));
	EXPECT_TRUE(says("\"9999999999h\": it is too large: at most 106751d"));
	EXPECT_EQ(2, run_tool("schedule 106752d"));
	EXPECT_TRUE(says("too large"));
	EXPECT_EQ(2, run_tool("schedule 1s --repeat 106751d --count no"));
	EXPECT_TRUE(says("--count"));
	EXPECT_EQ(2, run_tool("schedule 0.4ns"));
	EXPECT_TRUE(says("\"0.4ns\": it is less than 1ns"));
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
	EXPECT_TRUE(says("--repeat needs a value"));
	EXPECT_EQ(2, run_tool("schedule 1s -r"));
	EXPECT_TRUE(says("-r needs a value"));
	EXPECT_EQ(2, run_tool("schedule 1s -x"));
	EXPECT_TRUE(says("-x"));
	EXPECT_EQ(2, run_tool("schedule 1s --often"));
	EXPECT_TRUE(says("--often"));
	EXPECT_EQ(2, run_tool("schedule 1s --clock realtime"));
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
	EXPECT_GE(80, widest());
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_EQ(1, lines());
	EXPECT_TRUE(says("{\"schema\": \"hwtimer-stats/1\", \"host\": \""));
	EXPECT_TRUE(says("\"time\": "));
	snprintf(line, sizeof(line),
		 "[{\"pid\": %d, \"fd\": %d, \"comm\": \"tool\", ", getpid(),
		 self->fd);
	EXPECT_TRUE(says(line));
	EXPECT_TRUE(says("\"pending\": 2, \"ready\": 1, \"scheduled\": 3,"));
	EXPECT_TRUE(says("\"lateness\": ["));
}

/* The line that `owners` prints of user @uid; "" if there is none */
static const char *line_of_user(unsigned int uid)
{
	static char line[512];
	char *saved, *at;

	for (at = strtok_r(output, "\n", &saved); at;
	     at = strtok_r(NULL, "\n", &saved)) {
		snprintf(line, sizeof(line), "%s", at);
		if (isdigit(line[strspn(line, " ")]) &&
		    strtoul(line, NULL, 10) == uid)
			return line;
	}
	return "";
}

/* Whether the kernel finds a cgroup by its number */
static bool has_handles(void)
{
	return syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0) == -1 &&
	       errno == EFAULT;
}

/* Each user has a line, with the cgroup's path, and the busiest is first. */
TEST_F(hwtimer, owners_are_shown)
{
	unsigned int instances = 0;
	char timers[32] = "";
	const char *line;
	int found;

	if (access("/sys/kernel/debug/hwtimer/instances", F_OK))
		SKIP(return, "no debugfs");
	ASSERT_EQ(20, dev_schedule_many(self->fd, 20, 0, HOUR, NULL));
	EXPECT_EQ(0, run_tool("owners"));
	EXPECT_TRUE(says("INSTANCES"));
	line = line_of_user(0);
	found = sscanf(line, "%*u %u %31s", &instances, timers);
	ASSERT_EQ(2, found);
	EXPECT_EQ(has_handles(), !!strchr(line, '/'));
	EXPECT_LE(1, instances);
	EXPECT_STREQ("20", timers);
	EXPECT_EQ(0, run_tool("owners --json"));
	EXPECT_TRUE(says("{\"schema\": \"hwtimer-owners/1\""));
	EXPECT_TRUE(says("\"timers\": 20"));
	EXPECT_EQ(1, lines());
	EXPECT_EQ(2, run_tool("owners all"));
	ASSERT_EQ(0, setuid(1000));
	EXPECT_EQ(1, run_tool("owners"));
	EXPECT_TRUE(says("only root"));
}

/* Has this process and its children see @text as what debugfs says of the instances. */
static bool fake_instances(const char *text)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys/kernel", "ramfs", 0, NULL) ||
	    mkdir("/sys/kernel/debug", 0700) ||
	    mkdir("/sys/kernel/debug/hwtimer", 0700) ||
	    creat("/sys/kernel/debug/hwtimer/instances", 0400) < 0)
		return false;
	return write_file("/sys/kernel/debug/hwtimer/instances", text);
}

/* What a worker has spent for an owner is told with each of its instances, and counts once. */
TEST(owners_are_added_up)
{
	static const char instances[] =
		"pending\tbytes\tthread\tuid\tcgroup\ttenant_spent\n"
		"1\t10\t100\t0\t4000000007\t1000\n"
		"2\t20\t100\t1000\t4000000007\t50\n"
		"4\t40\t101\t0\t4000000007\t2000\n"
		"8\t80\t100\t0\t4000000007\t1000\n"
		"16\t160\t0\t0\t4000000007\t0\n"
		"32\t320\t101\t0\t4000000008\t400000\n";

	ASSERT_TRUE(fake_instances(instances));
	EXPECT_EQ(0, run_tool("owners | tr -s ' '"));
	EXPECT_STREQ(" UID INSTANCES TIMERS MEMORY TIME CGROUP\n"
		     " 0 1 32 320B 400us 4000000008\n"
		     " 0 4 29 290B 3.00us 4000000007\n"
		     " 1000 1 2 20B 50ns 4000000007\n",
		     output);
}

TEST_F(hwtimer, watch_shows_this_process)
{
	char line[64];

	for (unsigned int i = 0; i < 100; i++)
		ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(10, dev_schedule_many(self->fd, 10, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(self->fd, 10));
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("1 instance, 100 timers pending"));
	snprintf(line, sizeof(line), "%7d %3d %-12s %7d %5d ", getpid(),
		 self->fd, "tool", 100, 10);
	EXPECT_TRUE(says(line));
	EXPECT_TRUE(says("LATE BY"));
	EXPECT_TRUE(says("    10 |@"));
	EXPECT_GE(80, widest());
	/* Nothing to compare with; no terminal; the locale is not UTF-8. */
	EXPECT_TRUE(says(" - "));
	EXPECT_FALSE(says("\033"));
	for (const char *c = output; *c; c++)
		EXPECT_LE(0, *c);
}

/* One frame of watch: its headline's time, and the line of the only instance */
struct frame {
	double seconds;
	unsigned int rates[3];
};

/* Returns the time in a headline, in seconds: 501ms, 1.20s, 1.00min; 0 if it has none. */
static double time_of(const char *line)
{
	const char *time = strstr(line, "lateness: last ");
	char unit[8] = "";
	double value = 0;

	if (time)
		sscanf(time, "lateness: last %lf%7[a-z]", &value, unit);
	if (!strcmp(unit, "ms"))
		return value / 1000;
	return strcmp(unit, "min") ? value : value * 60;
}

static bool read_frame(FILE *pipe, struct frame *frame)
{
	unsigned int *rates = frame->rates;
	char line[256];

	*frame = (struct frame){ 0 };
	while (fgets(line, sizeof(line), pipe)) {
		if (strstr(line, "timers pending"))
			frame->seconds = time_of(line);
		if (sscanf(line, "%*d %*d tool %*s %*s %u %u %u", &rates[0],
			   &rates[1], &rates[2]) == 3)
			return true;
		if (strstr(line, " tool ") && !frame->seconds)
			return true; /* the first frame has no rates */
	}
	return false;
}

/* The instance with most timers is first, whichever was opened first. */
TEST_F(hwtimer, watch_sorts_by_timers)
{
	int other = dev_open(0);
	char line[64];
	char *first;

	ASSERT_LE(0, other);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(2, dev_schedule_many(other, 2, 0, HOUR, NULL));
	EXPECT_EQ(0, run_tool("watch --count 1"));
	snprintf(line, sizeof(line), "%7d %3d tool ", getpid(), other);
	first = strstr(output, line);
	ASSERT_NE(NULL, first);
	snprintf(line, sizeof(line), "%7d %3d tool ", getpid(), self->fd);
	EXPECT_TRUE(strstr(first, line));
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, watch_sorts_as_it_is_told)
{
	int other = dev_open(0);
	char line[64];
	char *first;

	ASSERT_LE(0, other);
	ASSERT_EQ(2, dev_schedule_many(self->fd, 2, 0, HOUR, NULL));
	ASSERT_NE(0, dev_after(other, 0, 0));
	ASSERT_TRUE(dev_wait_ready(other, 1));
	EXPECT_EQ(0, run_tool("watch --count 1 --sort late99"));
	snprintf(line, sizeof(line), "%7d %3d tool ", getpid(), other);
	first = strstr(output, line);
	ASSERT_NE(NULL, first);
	snprintf(line, sizeof(line), "%7d %3d tool ", getpid(), self->fd);
	EXPECT_TRUE(strstr(first, line));
	EXPECT_EQ(0, run_tool("watch --count 1 --sort fd"));
	first = strstr(output, line);
	ASSERT_NE(NULL, first);
	snprintf(line, sizeof(line), "%7d %3d tool ", getpid(), other);
	EXPECT_TRUE(strstr(first, line));
	EXPECT_EQ(2, run_tool("watch --count 1 --sort age"));
	EXPECT_TRUE(says("invalid --sort \"age\": there is no such column"));
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, watch_tells_rates)
{
	FILE *pipe;
	struct frame frame;

	ASSERT_EQ(70, dev_schedule_many(self->fd, 70, 0, HOUR, NULL));
	pipe = popen("exec " TOOL " watch --interval 100ms", "r");
	ASSERT_NE(NULL, pipe);
	ASSERT_TRUE(read_frame(pipe, &frame));
	EXPECT_EQ(0, frame.seconds);
	/* One call: the timers are all scheduled between the same two frames. */
	ASSERT_EQ(50, dev_schedule_many(self->fd, 50, 0, HOUR, NULL));
	do {
		ASSERT_TRUE(read_frame(pipe, &frame));
		EXPECT_LT(0, frame.seconds);
		EXPECT_EQ(0, frame.rates[1]);
		EXPECT_EQ(0, frame.rates[2]);
	} while (!frame.rates[0]);
	/* The time is rounded to three digits, the rate to a whole number. */
	EXPECT_LE(49, (frame.rates[0] + 1) * frame.seconds);
	EXPECT_GE(51, frame.rates[0] * frame.seconds);
	ASSERT_TRUE(read_frame(pipe, &frame));
	EXPECT_EQ(0, frame.rates[0]);
	/* The tool ends because nobody reads any more. */
	pclose(pipe);
}

/* root is told the number of the instance, and finds one descriptor of it. */
TEST_F(hwtimer, watch_shows_what_is_shared_once)
{
	int other = dup(self->fd);

	ASSERT_LE(0, other);
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("1 instance,"));
	EXPECT_EQ(2, told(self->fd, "references"));
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_TRUE(says("\"references\": "));
	EXPECT_EQ(0, close(other));
}

/* Hides debugfs from this process and its children. */
static bool hide_debugfs(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       (access("/sys/kernel/debug", F_OK) ||
		!mount("none", "/sys/kernel/debug", "ramfs", 0, NULL));
}

/* Makes so many duplicates of a descriptor; returns whether there are as many. */
static bool duplicate(int fd, unsigned int count)
{
	struct rlimit limit = { count + 1000, count + 1000 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return false;
	while (count && fcntl(fd, F_DUPFD_CLOEXEC, 0) >= 0)
		count--;
	return !count;
}

/*
 * Without debugfs, all descriptors are looked at. The memory that the tool gets is not enough for
 * the counters of each duplicate.
 */
TEST_F(hwtimer, duplicates_take_little_memory)
{
	unsigned int count = scaled(10000);
	struct rlimit memory = { 40 << 20, 40 << 20 };
	char line[64];

	ASSERT_TRUE(hide_debugfs());
	ASSERT_TRUE(duplicate(self->fd, count - 1));
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &memory));
	EXPECT_EQ(0, run_tool("stats --json"))
	{
		TH_LOG("%.200s", output);
	}
	snprintf(line, sizeof(line), "\"instances\": [{\"pid\": %d, ",
		 getpid());
	EXPECT_TRUE(says(line));
	EXPECT_FALSE(says("}, {\"pid\": "));
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("1 instance,"));
	EXPECT_EQ(0, run_tool("stats | wc -l"));
	EXPECT_EQ(1 + count, strtoul(output, NULL, 10));
}

/* The name of the process is cut for it, not the number. */
TEST_F(hwtimer, watch_shows_the_number_of_other_descriptors)
{
	ASSERT_EQ(0, prctl(PR_SET_NAME, "longcommand"));
	ASSERT_TRUE(hide_debugfs());
	ASSERT_TRUE(duplicate(self->fd, 1));
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says(" longcomma +1 "));
	ASSERT_TRUE(duplicate(self->fd, 122));
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says(" longcom +123 "));
}

/* Who is not told the number of the instance sees it once, too. */
TEST_F(hwtimer, watch_shows_ordinary_users_what_is_shared_once)
{
	int other = dup(self->fd);
	pid_t pid = getpid();

	ASSERT_LE(0, other);
	if (syscall(SYS_kcmp, pid, pid, KCMP_FILE, other, other))
		SKIP(return, "this kernel has no kcmp()");
	ASSERT_EQ(0, setuid(1000));
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1));
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_FALSE(says("\"instance\":"));
	EXPECT_TRUE(says("\"pending\":"));
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("1 instance,"));
	EXPECT_TRUE(says("tool +"));
}

/* Without the numbers of instances, debugfs is of no use: watch goes on to look around. */
TEST_F(hwtimer, watch_shows_a_root_that_may_not_trace_what_it_sees)
{
	unsigned int seen = 0;

	ASSERT_EQ(0, prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN));
	prctl(PR_CAPBSET_DROP, CAP_PERFMON);
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_FALSE(says("\"instance\":"));
	EXPECT_EQ(0, run_tool("watch --count 3 --interval 10ms"));
	for (const char *at = output; (at = strstr(at, "1 instance,")); at++)
		seen++;
	EXPECT_EQ(3, seen)
	{
		TH_LOG("%s", output);
	}
}

/* Reads frames until one shows @text; returns whether one did before watch ended. */
static bool watch_shows(FILE *pipe, const char *text)
{
	char line[256];

	while (fgets(line, sizeof(line), pipe))
		if (strstr(line, text))
			return true;
	return false;
}

/* While its only descriptor is in a socket, no process has the instance. */
TEST_F(hwtimer, watch_finds_what_was_under_way)
{
	int sockets[2];
	FILE *pipe;

	ASSERT_EQ(0,
		  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	ASSERT_EQ(1, send_descriptor(sockets[0], self->fd));
	ASSERT_EQ(0, close(self->fd));
	pipe = popen("exec " TOOL " watch --interval 50ms", "r");
	ASSERT_NE(NULL, pipe);
	EXPECT_TRUE(watch_shows(pipe, "0 instances,"));
	self->fd = receive_descriptor(sockets[1]);
	ASSERT_LE(0, self->fd);
	EXPECT_TRUE(watch_shows(pipe, "1 instance,"));
	/* The tool ends because nobody reads any more. */
	pclose(pipe);
}

TEST_F(hwtimer, watch_follows_the_locale)
{
	/* The cell of the only event is as dark as it can be. */
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	setenv("LANG", "de_DE.UTF-8", 1);
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("\xe2\x96\x88"));
	EXPECT_FALSE(says("@"));
	setenv("LC_ALL", "C", 1);
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_FALSE(says("\xe2\x96\x88"));
	EXPECT_TRUE(says("@"));
}

/* ---- on a terminal ---- */

/* A pseudo terminal: the user's end, and the end of the programs */
struct terminal {
	int ours;
	int theirs;
};

static bool no_terminals(void)
{
	if (access("/dev/ptmx", F_OK))
		return true;
	mkdir("/dev/pts", 0755);
	mount("devpts", "/dev/pts", "devpts", 0, NULL);
	return false;
}

static struct terminal terminal_new(unsigned short rows, unsigned short columns)
{
	const struct winsize size = { .ws_row = rows, .ws_col = columns };
	struct terminal terminal;
	char name[64];

	terminal.ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal.ours < 0 || grantpt(terminal.ours) ||
	    unlockpt(terminal.ours) ||
	    ptsname_r(terminal.ours, name, sizeof(name)) ||
	    ioctl(terminal.ours, TIOCSWINSZ, &size))
		abort();
	terminal.theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal.theirs < 0)
		abort();
	return terminal;
}

/* Runs the shell's @command on the terminal, as a job in the background. */
static pid_t terminal_start(struct terminal *terminal, const char *command)
{
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		signal(SIGTTOU, SIG_DFL);
		setenv("TERM", "xterm", 1);
		for (int fd = 0; fd < 3; fd++)
			dup2(terminal->theirs, fd);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	setpgid(child, child);
	return child;
}

/* Appends to output whatever comes within a millisecond. */
static void terminal_read(struct terminal *terminal)
{
	struct pollfd pollfd = { .fd = terminal->ours, .events = POLLIN };
	size_t length = strlen(output);

	if (poll(&pollfd, 1, 1) != 1)
		return;
	ssize_t ret = read(terminal->ours, output + length,
			   sizeof(output) - 1 - length);

	output[length + (ret > 0 ? ret : 0)] = '\0';
}

/* Reads until @text has come. */
static void terminal_wait_for(struct terminal *terminal, const char *text)
{
	while (!says(text))
		terminal_read(terminal);
}

/* Runs the shell's @command on a terminal; returns its exit status. */
static int run_on_terminal(const char *command, unsigned short rows,
			   unsigned short columns)
{
	struct terminal terminal = terminal_new(rows, columns);
	pid_t child;
	int status;

	output[0] = '\0';
	child = terminal_start(&terminal, command);
	close(terminal.theirs);
	while (waitpid(child, &status, WNOHANG) != child)
		terminal_read(&terminal);
	/* Read the rest of the output. */
	for (size_t length = 1; length != strlen(output);) {
		length = strlen(output);
		terminal_read(&terminal);
	}
	close(terminal.ours);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What watch drew on the alternate screen; maxima over all frames, but for marks */
struct drawn {
	unsigned int rows;
	unsigned int columns;
	unsigned int marks;
	bool erased_behind;
};

static const char *skip_escape(const char *c)
{
	while (!strchr("HJKhlm", *c))
		c++;
	return c;
}

/* Each byte is a character, as the locale is not UTF-8. */
static struct drawn what_was_drawn(void)
{
	struct drawn drawn = { 0 };
	unsigned int row = 0, column = 0;

	for (const char *c = output; *c && strncmp(c, "\033[?1049l", 8); c++) {
		if (*c == '\033') {
			c = skip_escape(c);
			if (!*c)
				break;
			drawn.erased_behind |= column && strchr("JK", *c);
			if (*c == 'H') {
				row = 1;
				column = 0;
			}
		} else if (*c == '\n') {
			row++;
			column = 0;
		} else if (*c != '\r') {
			column++;
			drawn.marks += *c == '>';
		}
		if (row > drawn.rows)
			drawn.rows = row;
		if (column > drawn.columns)
			drawn.columns = column;
	}
	return drawn;
}

TEST(watch_fits_a_terminal)
{
	static const struct winsize sizes[] = {
		{ .ws_row = 14, .ws_col = 80 }, { .ws_row = 14, .ws_col = 40 },
		{ .ws_row = 5, .ws_col = 70 },	{ .ws_row = 200, .ws_col = 60 },
		{ .ws_row = 1, .ws_col = 1 },	{ .ws_row = 200, .ws_col = 80 },
	};
	int fds[30];

	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dev_open(0);
		ASSERT_LE(0, fds[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct drawn drawn;

		EXPECT_EQ(0, run_on_terminal(TOOL
					     " watch --count 2 --interval 20ms",
					     sizes[i].ws_row, sizes[i].ws_col));
		drawn = what_was_drawn();
		/* The headings have the width of the screen. A line has at most 80. */
		EXPECT_EQ(sizes[i].ws_col, drawn.columns);
		EXPECT_GE(sizes[i].ws_row, drawn.rows);
		EXPECT_FALSE(drawn.erased_behind);
		if (sizes[i].ws_col < 60)
			EXPECT_LT(0, drawn.marks);
		if (sizes[i].ws_col == 80)
			EXPECT_EQ(0, drawn.marks);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(0, close(fds[i]));
}

/* A narrow screen has the most important columns. */
TEST_F(hwtimer, watch_uses_the_width)
{
	static const char watch[] = TOOL " watch --count 2 --interval 20ms";

	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	EXPECT_EQ(0, run_on_terminal(watch, 24, 40));
	*strstr(output, "\033[?1049l") = '\0';
	EXPECT_TRUE(says("PENDING"));
	EXPECT_FALSE(says("MEMORY"));
	EXPECT_EQ(0, run_on_terminal(watch, 24, 80));
	*strstr(output, "\033[?1049l") = '\0';
	EXPECT_TRUE(says("MEMORY"));
	EXPECT_TRUE(says("LATE99"));
	EXPECT_FALSE(says("DELIV/s"));
	EXPECT_EQ(0, run_on_terminal(watch, 24, 200));
	EXPECT_TRUE(says("DELIV/s"));
}

TEST_F(hwtimer, watch_has_colours_if_they_are_wanted)
{
	static const char green[] = "\033[32m", cyan[] = "\033[36m";

	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, run_on_terminal(TOOL " watch --count 2 --interval 20ms",
				     24, 80));
	EXPECT_TRUE(says(green));
	EXPECT_TRUE(says(cyan));
	EXPECT_EQ(0, run_on_terminal("NO_COLOR= " TOOL
				     " watch --count 2 --interval 20ms",
				     24, 80));
	EXPECT_TRUE(says(cyan));
	EXPECT_EQ(0, run_on_terminal("NO_COLOR=1 " TOOL
				     " watch --count 2 --interval 20ms",
				     24, 80));
	EXPECT_FALSE(says("\033[3"));
	EXPECT_TRUE(says("\033[7m"));
}

TEST(watch_shows_what_fits)
{
	static const char watch[] = TOOL " watch --count 2 --interval 20ms";
	int fds[30];
	char *after;

	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dev_open(0);
		ASSERT_LE(0, fds[i]);
	}
	EXPECT_EQ(0, run_on_terminal(watch, 14, 80));
	/*
	 * watch uses the alternate screen, and then prints the whole last frame on the
	 * other.
	 */
	EXPECT_EQ(0, strncmp(output, "\033[?1049h", 8));
	after = strstr(output, "\033[?1049l");
	ASSERT_NE(NULL, after);
	EXPECT_TRUE(strstr(after, "30 instances"));
	EXPECT_EQ(30, count_of(after, " tool "));
	*after = '\0';
	EXPECT_TRUE(says("30 instances"));
	EXPECT_TRUE(says("19 more instances."));
	EXPECT_FALSE(says("LATE BY"));
	/* In order of what is left out first: what the columns mean, the histogram, instances */
	EXPECT_EQ(0, run_on_terminal(watch, 44, 80));
	EXPECT_FALSE(says("more instances"));
	EXPECT_TRUE(says("LATE BY"));
	EXPECT_FALSE(says("PENDING: not due yet"));
	EXPECT_EQ(0, run_on_terminal(watch, 47, 80));
	EXPECT_TRUE(says("LATE BY"));
	EXPECT_TRUE(says("PENDING: not due yet"));
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(0, close(fds[i]));
}

TEST(watch_draws_lines_on_a_dumb_terminal)
{
	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	EXPECT_EQ(0, run_on_terminal("TERM=dumb " TOOL
				     " watch --count 2 --interval 20ms",
				     24, 80));
	EXPECT_TRUE(says("0 instances"));
	EXPECT_FALSE(says("\033"));
	EXPECT_FALSE(says("q quits"));
}

TEST(watch_tells_errors_on_the_ordinary_screen)
{
	char *after;

	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	/* Without a free descriptor, watch cannot read /proc. */
	EXPECT_EQ(1,
		  run_on_terminal("ulimit -n 3; exec " TOOL " watch", 24, 80));
	after = strstr(output, "\033[?1049l");
	ASSERT_NE(NULL, after);
	EXPECT_TRUE(strstr(after, "/proc"));
}

/* ---- as a job of a shell ---- */

/* Sets the terminal for a shell that edits a line (@edit), or for its programs. */
static void terminal_edit(struct terminal *terminal, bool edit)
{
	struct termios termios;

	tcgetattr(terminal->theirs, &termios);
	termios.c_lflag |= ICANON | ECHO;
	if (edit)
		termios.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(terminal->theirs, TCSANOW, &termios);
}

/* Returns whether the terminal is set for programs. */
static bool terminal_echoes(struct terminal *terminal)
{
	struct termios termios;

	tcgetattr(terminal->theirs, &termios);
	return (termios.c_lflag & ICANON) && (termios.c_lflag & ECHO);
}

/* Does what a shell does for fg. */
static void foreground(struct terminal *terminal, pid_t job)
{
	terminal_edit(terminal, false);
	tcsetpgrp(terminal->theirs, job);
	kill(-job, SIGCONT);
}

/* Does what a shell does for bg. */
static void background(struct terminal *terminal, pid_t job)
{
	tcsetpgrp(terminal->theirs, getpgrp());
	terminal_edit(terminal, true);
	kill(-job, SIGCONT);
}

static bool stops(pid_t job)
{
	int status;

	return waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status);
}

static void press_all(struct terminal *terminal, const char *keys)
{
	size_t length = strlen(keys);

	if (write(terminal->ours, keys, length) != (ssize_t)length)
		abort();
}

static void press(struct terminal *terminal, char key)
{
	press_all(terminal, (const char[]){ key, '\0' });
}

/* The next functions act as a shell. Each returns the step that went wrong, or 0. */

static int starts_in_background(struct terminal *terminal)
{
	pid_t job;
	int status;

	terminal_edit(terminal, true);
	job = terminal_start(terminal, "exec " TOOL " watch");
	if (!stops(job))
		return 1;
	foreground(terminal, job);
	terminal_wait_for(terminal, "q quits");
	press(terminal, 'Z' & 0x1f);
	if (!stops(job))
		return 2;
	if (!terminal_echoes(terminal))
		return 3;
	background(terminal, job);
	if (!stops(job))
		return 4;
	terminal_wait_for(terminal, "\033[?1049l");
	output[0] = '\0';
	foreground(terminal, job);
	terminal_wait_for(terminal, "q quits");
	press(terminal, 'q');
	if (waitpid(job, &status, 0) != job || status)
		return 5;
	return terminal_echoes(terminal) ? 0 : 6;
}

/*
 * watch ends by @key or, if that is 0, by the signal @signal_nr. With both, the key makes
 * the signal. Without a signal, watch exits.
 */
static int ends_by(struct terminal *terminal, char key, int signal_nr)
{
	pid_t job = terminal_start(terminal, "exec " TOOL " watch");
	int status;

	foreground(terminal, job);
	terminal_wait_for(terminal, "q quits");
	if (terminal_echoes(terminal))
		return 1;
	if (key)
		press(terminal, key);
	else
		kill(job, signal_nr);
	if (waitpid(job, &status, 0) != job ||
	    signal_nr != (WIFSIGNALED(status) ? WTERMSIG(status) : 0))
		return 2;
	terminal_wait_for(terminal, "\033[?1049l");
	return terminal_echoes(terminal) ? 0 : 3;
}

/* A job that is stopped ends as it would without a live view: the terminal is the shell's. */
static int ends_while_stopped(struct terminal *terminal)
{
	pid_t job = terminal_start(terminal, "exec " TOOL " watch");
	int status;

	foreground(terminal, job);
	terminal_wait_for(terminal, "q quits");
	press(terminal, 'Z' & 0x1f);
	if (!stops(job))
		return 1;
	kill(job, SIGTERM);
	background(terminal, job);
	if (waitpid(job, &status, WUNTRACED) != job || !WIFSIGNALED(status))
		return 2;
	return terminal_echoes(terminal) ? 3 : 0;
}

/* Keys choose the order; a key with an escape sequence, as F4, does not. */
static int sorts_by_keys(struct terminal *terminal)
{
	static const struct {
		const char *keys;
		const char *told;
	} steps[] = {
		{ "s", "Sorted by READY:" }, { "s", "Sorted by SCHED/s:" },
		{ "S", "Sorted by READY:" }, { "\033OS", "Sorted by READY:" },
		{ "r", "Sorted by READY:" },
	};
	pid_t job =
		terminal_start(terminal, "exec " TOOL " watch --interval 1h");
	int status;

	foreground(terminal, job);
	terminal_wait_for(terminal, "q quits. Sorted by PENDING:");
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		output[0] = '\0';
		press_all(terminal, steps[i].keys);
		terminal_wait_for(terminal, "r reverse");
		if (!says(steps[i].told))
			return 1 + i;
	}
	press(terminal, 'q');
	return waitpid(job, &status, 0) == job && !status ? 0 : 100;
}

static int ends_by_q(struct terminal *terminal)
{
	return ends_by(terminal, 'q', 0);
}

static int ends_by_ctrl_c(struct terminal *terminal)
{
	return ends_by(terminal, 'C' & 0x1f, SIGINT);
}

static int ends_by_sigterm(struct terminal *terminal)
{
	return ends_by(terminal, 0, SIGTERM);
}

/* Runs @shell in a session of its own; returns what it returns, or -1. */
static int in_a_session(int (*shell)(struct terminal *terminal))
{
	struct terminal terminal = terminal_new(24, 80);
	pid_t leader = fork();
	int status;

	output[0] = '\0';
	if (!leader) {
		signal(SIGTTOU, SIG_IGN);
		if (setsid() < 0 || ioctl(terminal.theirs, TIOCSCTTY, 0))
			_exit(100);
		_exit(shell(&terminal));
	}
	waitpid(leader, &status, 0);
	close(terminal.ours);
	close(terminal.theirs);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(watch_sorts_by_keys)
{
	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	EXPECT_EQ(0, in_a_session(sorts_by_keys));
}

TEST(watch_leaves_the_terminal_as_it_was)
{
	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	EXPECT_EQ(0, in_a_session(ends_by_q));
	EXPECT_EQ(0, in_a_session(ends_by_ctrl_c));
	EXPECT_EQ(0, in_a_session(ends_by_sigterm));
	EXPECT_EQ(0, in_a_session(ends_while_stopped));
}

TEST(watch_waits_for_the_foreground)
{
	if (no_terminals())
		SKIP(return, "this kernel has no pseudo terminals");
	EXPECT_EQ(0, in_a_session(starts_in_background));
}

/* ---- next ---- */

/* The timers of all instances, in the order of their expiry, whatever their clocks are */
TEST_F(hwtimer, next_has_the_timers_of_all_instances)
{
	struct hwtimer_setup realtime = { .clock = HWTIMER_CLOCK_REALTIME };
	int other = dev_open(0), third = dev_open(0);
	const char *last = output, *next;
	char line[64];

	ASSERT_LE(0, other);
	ASSERT_LE(0, third);
	ASSERT_EQ(0, ioctl(third, HWTIMER_IOC_SETUP, &realtime));
	ASSERT_NE(0, dev_after(self->fd, 3 * HOUR, 103));
	ASSERT_NE(0, dev_after(self->fd, HOUR + HOUR / 2, 101));
	ASSERT_NE(0, dev_every(other, 4 * HOUR, SEC, 104));
	ASSERT_NE(0, dev_at(third, clock_ns(CLOCK_REALTIME) + 2 * HOUR, 102));
	/* What expires never, or has expired, is not next. */
	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 105));
	ASSERT_NE(0, dev_after(other, 0, 106));
	ASSERT_TRUE(dev_wait_ready(other, 1));
	EXPECT_EQ(0, run_tool("next"));
	EXPECT_EQ(5, lines());
	EXPECT_GE(80, widest());
	for (unsigned int i = 1; i < 5; i++) {
		snprintf(line, sizeof(line), " %u\n", 100 + i);
		next = strstr(last, line);
		ASSERT_NE(NULL, next)
		{
			TH_LOG("%s", output);
		}
		last = next;
	}
	EXPECT_TRUE(says(" 1.50h "));
	EXPECT_TRUE(says(" 4.00h  1.00s "));
	EXPECT_EQ(4, count_of(output, " tool "));
	EXPECT_FALSE(says("The first"));
	EXPECT_EQ(0, run_tool("next --count 2"));
	EXPECT_EQ(4, lines());
	EXPECT_TRUE(says("\nThe first 2 of 4 timers; --count shows more.\n"));
	EXPECT_TRUE(says(" 102\n"));
	EXPECT_EQ(0, run_tool("next --count 1 --json"));
	EXPECT_EQ(1, lines());
	EXPECT_TRUE(says("{\"schema\": \"hwtimer-timer/1\", \"id\": "));
	EXPECT_TRUE(says("\"user_data\": 101, \"state\": \"pending\""));
	snprintf(line, sizeof(line),
		 "\"pid\": %d, \"fd\": %d, \"comm\": \"tool\"}\n", getpid(),
		 self->fd);
	EXPECT_TRUE(says(line));
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(0, close(third));
}

/* The first of many, and in any number, without all of them in memory */
TEST_F(hwtimer, next_finds_the_first_of_many)
{
	struct rlimit memory = { 40 << 20, 40 << 20 };
	unsigned int count = scaled(1000000);

	ASSERT_EQ(count / 2,
		  dev_schedule_many(self->fd, count / 2, 0, 2 * HOUR, NULL));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 4711));
	ASSERT_EQ(count / 2,
		  dev_schedule_many(self->fd, count / 2, 0, 2 * HOUR, NULL));
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &memory));
	EXPECT_EQ(0, run_tool("next -n 1"));
	EXPECT_TRUE(says(" 4711\n"))
	{
		TH_LOG("%.200s", output);
	}
	EXPECT_EQ(0, run_tool("next -n 5000 | wc -l"));
	EXPECT_EQ(5002, strtoul(output, NULL, 10));
}

/* A reader that is slow leaves timers that are due. */
TEST_F(hwtimer, next_shows_what_is_due)
{
	make_ready(_metadata, self->fd, 2 * EVENTS_MAX);
	EXPECT_EQ(0, run_tool("next"));
	EXPECT_EQ(12, lines());
	EXPECT_TRUE(says(" due "));
}

TEST_F(hwtimer, next_says_why_there_is_nothing)
{
	EXPECT_EQ(0, run_tool("next"));
	EXPECT_TRUE(says("No timer is pending.\n"));
	EXPECT_EQ(0, run_tool("next --json"));
	EXPECT_STREQ("", output);
	EXPECT_EQ(2, run_tool("next soon"));
	EXPECT_EQ(2, run_tool("next --count 0"));
	ASSERT_EQ(0, setuid(1000));
	/* It cannot be dumped since then, so its descriptors cannot be seen. */
	EXPECT_EQ(0, run_tool("next"));
	EXPECT_TRUE(says("run hwtimerctl as root"));
}

/* Where Yama is strict, a process sees instances of its user that it may not take. */
TEST_F(hwtimer, next_counts_what_it_may_not_list)
{
	static const char scope[] = "/proc/sys/kernel/yama/ptrace_scope";
	int status, yama = open(scope, O_RDWR | O_CLOEXEC);
	char before[2] = "";
	pid_t child;

	if (yama < 0)
		SKIP(return, "this kernel has no Yama");
	ASSERT_EQ(1, pread(yama, before, 1, 0));
	ASSERT_EQ(1, pwrite(yama, "1", 1, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	child = fork();
	if (!child) {
		if (setuid(1000) || prctl(PR_SET_DUMPABLE, 1))
			_exit(1);
		_exit(run_tool("next") || !says("No timer is pending.") ||
		      !says("listed: run hwtimerctl as root."));
	}
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(1, pwrite(yama, before, 1, 0));
	EXPECT_EQ(0, status);
	close(yama);
}

TEST_F(hwtimer, plot_writes_what_gnuplot_is_told)
{
	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	EXPECT_EQ(0, run_tool("plot --script -s 90ms --interval 30ms x.svg"));
	EXPECT_TRUE(says("set terminal svg"));
	EXPECT_TRUE(says("set output './x.svg'"));
	EXPECT_TRUE(says("$points << EOD\n"));
	EXPECT_FALSE(says("$points << EOD\nEOD"));
	EXPECT_TRUE(says("$lateness << EOD\n"));
	/* A test machine has no gnuplot. */
	EXPECT_EQ(1, run_tool("plot --seconds 10ms --interval 10ms x.png"));
	EXPECT_TRUE(says("apt install gnuplot"));
}

/* root's debugfs names the process that has opened the instance, and not those that share it. */
TEST_F(hwtimer, plot_shows_what_a_process_shares)
{
	char arguments[128];
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	ASSERT_LE(0, child);
	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	snprintf(arguments, sizeof(arguments),
		 "plot --script --seconds 10ms --interval 10ms --pid %d x.png",
		 child);
	EXPECT_EQ(0, run_tool(arguments));
	EXPECT_TRUE(says(": 1 instance,"))
	{
		TH_LOG("%s", output);
	}
	snprintf(arguments, sizeof(arguments),
		 "plot --script --seconds 10ms --interval 10ms --pid %d x.png",
		 getpid());
	EXPECT_EQ(0, run_tool(arguments));
	EXPECT_TRUE(says(": 1 instance,"));
	kill(child, SIGKILL);
	EXPECT_EQ(child, waitpid(child, NULL, 0));
}

TEST(without_instances_it_says_so)
{
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("No process"));
	EXPECT_EQ(0, run_tool("next"));
	EXPECT_TRUE(says("No process"));
	EXPECT_EQ(1, run_tool("plot --script -s 10ms --interval 10ms x.png"));
	EXPECT_TRUE(says("no process"));
}

/* Runs the tool with one argument, and returns the number of its system calls, or 0. */
static unsigned int syscalls_of_tool(const char *argument)
{
	unsigned int stops = 0;
	pid_t child = fork();
	int status;

	if (!child) {
		freopen("/dev/null", "w", stdout);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(TOOL, TOOL, argument, NULL);
		_exit(127);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	}
	/* A call stops the tool when it begins and when it ends. */
	return WIFEXITED(status) && !WEXITSTATUS(status) ? stops / 2 : 0;
}

/* Returns the value of the sample of metrics that begins with @name. */
static long long sample_of(const char *name)
{
	const char *line = strstr(output, name), *value;

	if (!line)
		return -1;
	value = strstr(line, "} ");
	return value ? atoll(value + 2) : -1;
}

TEST_F(hwtimer, metrics_are_the_counters)
{
	char name[64];

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(20, dev_schedule_many(self->fd, 20, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(self->fd, 20));
	EXPECT_EQ(0, run_tool("metrics"));
	snprintf(name, sizeof(name), "hwtimer_pending{pid=\"%d\",fd=\"%d\"",
		 getpid(), self->fd);
	EXPECT_EQ(1, sample_of(name));
	EXPECT_EQ(20, sample_of("hwtimer_ready{"));
	EXPECT_EQ(21, sample_of("hwtimer_scheduled_total{"));
	EXPECT_EQ(20, sample_of("hwtimer_lateness_seconds_count{"));
	EXPECT_TRUE(says("le=\"+Inf\"} 20\n"));
	EXPECT_TRUE(says("# TYPE hwtimer_scheduled_total counter\n"));
}

/*
 * The tool looks at few descriptors, however many this process has: root's debugfs says
 * that this process has opened one instance, which is among the first.
 */
TEST_F(hwtimer, instances_are_found_among_many_descriptors)
{
	struct rlimit many = { 110000, 110000 };
	static int fds[100000];
	unsigned int calls;
	int null;

	if (access("/sys/kernel/debug/hwtimer/instances", R_OK))
		SKIP(return, "the kernel has no debugfs");
	if (setrlimit(RLIMIT_NOFILE, &many))
		SKIP(return, "no more descriptors");
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, null);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = fcntl(null, F_DUPFD_CLOEXEC, 0);
		ASSERT_LE(0, fds[i]);
	}
	calls = syscalls_of_tool("stats");
	EXPECT_LT(0, calls);
	EXPECT_GT(1000, calls);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

/* Has each call of kcmp() stop this process, for the one that traces it. */
static bool trace_comparisons(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	return !ptrace(PTRACE_TRACEME, 0, NULL, NULL) && !raise(SIGSTOP) &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Runs `watch --count 1`; returns how often it calls kcmp(), or -1. */
static int comparisons_of_watch(void)
{
	int status, calls = 0;
	pid_t child = fork();

	if (!child) {
		freopen("/dev/null", "w", stdout);
		if (trace_comparisons())
			execl(TOOL, TOOL, "watch", "--count", "1", NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESECCOMP))
		return -1;
	do {
		calls += status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
		ptrace(PTRACE_CONT, child, NULL, NULL);
	} while (waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	return WIFEXITED(status) && !WEXITSTATUS(status) ? calls : -1;
}

#define SHARED 100

/*
 * Who is not told the numbers of instances gets their descriptors compared: each with itself,
 * and with a few others, not with all.
 */
TEST(shared_instances_are_found_with_few_comparisons)
{
	pid_t pid = getpid();
	int calls;

	for (unsigned int i = 0; i < SHARED; i++)
		ASSERT_LE(0, dup(dev_open(0)));
	if (syscall(SYS_kcmp, pid, pid, KCMP_FILE, 0, 0))
		SKIP(return, "this kernel has no kcmp()");
	ASSERT_EQ(0, setuid(1000));
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1));
	calls = comparisons_of_watch();
	TH_LOG("%d comparisons of %d descriptors", calls, 2 * SHARED);
	EXPECT_LE(2 * 2 * SHARED, calls);
	EXPECT_GE(16 * 2 * SHARED, calls);
	EXPECT_EQ(0, run_tool("watch --count 1"));
	EXPECT_TRUE(says("100 instances,"));
}

TEST(stats_without_instances)
{
	EXPECT_EQ(0, run_tool("stats"));
	EXPECT_TRUE(says("No process"));
	EXPECT_EQ(0, run_tool("stats --json"));
	EXPECT_EQ(1, lines());
	EXPECT_TRUE(says("\"instances\": []}\n"));
	EXPECT_EQ(0, run_tool("metrics"));
	EXPECT_TRUE(says("hwtimer_instances 0\n"));
}

/* A file in a FUSE file system whose server never answers does not block the tool. */
TEST(a_dead_server_holds_up_nobody)
{
	int server = open("/dev/fuse", O_RDWR | O_CLOEXEC), root;
	char options[64];

	if (server < 0)
		SKIP(return, "this kernel has no FUSE");
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
	mkdir("/mnt", 0755);
	ASSERT_EQ(0, mount("dead", "/mnt", "fuse", 0, options));
	root = open("/mnt", O_PATH | O_CLOEXEC);
	ASSERT_LE(0, root);
	EXPECT_EQ(0, run_tool("stats"));
	EXPECT_EQ(0, close(root));
	EXPECT_EQ(0, close(server));
}

TEST(without_the_device_it_says_what_to_do)
{
	/* /dev is hidden only from this process and its children. */
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, mount("none", "/dev", "ramfs", 0, NULL));
	EXPECT_EQ(1, run_tool("info"));
	EXPECT_TRUE(says("--device /dev/hwtimer"));
	EXPECT_FALSE(says("modprobe"));
	EXPECT_EQ(1, run_tool("schedule 1s"));
	EXPECT_TRUE(says("--device /dev/hwtimer"));
}

TEST(what_cannot_be_printed_is_an_error)
{
	EXPECT_EQ(1, run_tool("info >/dev/full"));
	EXPECT_EQ(1, run_tool("stats --json >/dev/full"));
	EXPECT_EQ(1, run_tool("watch --interval 10ms >/dev/full"));
	/* At the first event: all of them take longer than the test may. */
	EXPECT_EQ(1,
		  run_tool("schedule 1ms --repeat 1s --count 1000 >/dev/full"));
}

/* Without a free descriptor, the tool cannot look at those of others. */
TEST_F(hwtimer, what_cannot_be_looked_at_is_an_error)
{
	for (unsigned int limit = 4; limit < 6; limit++) {
		char command[128];

		snprintf(command, sizeof(command),
			 "(ulimit -n %u; exec " TOOL " stats) 2>&1", limit);
		if (run_command(command)) {
			EXPECT_TRUE(says("Too many open files"))
			{
				TH_LOG("%u: %s", limit, output);
			}
		} else {
			EXPECT_TRUE(says(" tool "))
			{
				TH_LOG("%u: %s", limit, output);
			}
		}
	}
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
