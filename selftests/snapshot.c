// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimerctl list, save and restore, called as a user calls them: what a snapshot has of
 * a running instance, what comes back from it, and what happens to the old file when
 * something fails. user/tool/test/snapshot_test.c tests damaged files, without a device.
 *
 * `snapshot send` is the command that takes a restored instance: it sends the descriptor
 * to the test.
 */
#include "hwtimer_test.h"
#include "tool_test.h"

#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define DIRECTORY "/tmp/snapshot"
#define FILE_NAME DIRECTORY "/timers"
#define COMMAND "./snapshot send"

/* The command's end of a socket, and the descriptor that it should inherit */
#define SOCKET 20
#define INHERITED 3

/* The most timers of a test that looks at each */
#define MOST 2000

static char arguments[900];

/* Runs the tool with arguments as for printf(); returns its exit status. */
#define run(...)                                              \
	(snprintf(arguments, sizeof(arguments), __VA_ARGS__), \
	 run_tool(arguments))

static int save_instance(int fd)
{
	return run("save %d %d " FILE_NAME, getpid(), fd);
}

/* What the command does. Returns its exit status. */
static int send_what_was_inherited(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS"),
		   *names = getenv("LISTEN_FDNAMES");

	if (!pid || atoi(pid) != getpid() || !fds || strcmp(fds, "1") ||
	    !names || strcmp(names, "hwtimer"))
		return 100;
	if (fcntl(INHERITED, F_GETFD) != 0)
		return 101;
	/* The tool leaves nothing else open. */
	for (int fd = INHERITED + 1; fd < 64; fd++)
		if (fd != SOCKET && fcntl(fd, F_GETFD) >= 0)
			return 102;
	return send_descriptor(SOCKET, INHERITED) == 1 ? 0 : 103;
}

/* Restores the file; returns the new instance's descriptor, or the negative status. */
static int restore_instance(const char *options)
{
	int sockets[2], status, fd;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) ||
	    dup2(sockets[1], SOCKET) != SOCKET)
		abort();
	close(sockets[1]);
	status = run("restore %s " FILE_NAME " -- " COMMAND, options);
	close(SOCKET);
	fd = status ? -status : receive_descriptor(sockets[0]);
	close(sockets[0]);
	return fd;
}

/* An instance, and an empty directory for files */
FIXTURE(snapshot)
{
	int fd;
};

FIXTURE_SETUP(snapshot)
{
	ASSERT_EQ(0, system("rm -rf " DIRECTORY "; mkdir " DIRECTORY));
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(snapshot)
{
	if (self->fd >= 0)
		expect_close(_metadata, self->fd);
	EXPECT_EQ(0, system("rm -rf " DIRECTORY));
}

/* Returns the number of files in the directory. */
static unsigned int files(void)
{
	FILE *pipe = popen("ls -A " DIRECTORY " | wc -l", "r");
	unsigned int count = 0;

	if (!pipe || fscanf(pipe, "%u", &count) != 1)
		abort();
	pclose(pipe);
	return count;
}

/* ---- the timers of an instance ---- */

static int by_user_data(const void *a, const void *b)
{
	const struct hwtimer_timer *first = a, *second = b;

	return (first->user_data > second->user_data) -
	       (first->user_data < second->user_data);
}

/* Lists an instance with at most MOST timers, in the order of user_data. */
static unsigned int list_all(struct __test_metadata *_metadata, int fd,
			     struct hwtimer_timer *timers)
{
	unsigned int listed = 0;
	__u64 cursor = 0;
	int ret;

	do {
		ret = dev_list(fd, timers + listed, MOST - listed, &cursor);
		ASSERT_LE(0, ret);
		listed += ret;
	} while (ret && listed < MOST);
	qsort(timers, listed, sizeof(*timers), by_user_data);
	return listed;
}

/* Expects that each restored timer is as the one with the same user_data. */
static void expect_same_timers(struct __test_metadata *_metadata,
			       const struct hwtimer_timer *old,
			       unsigned int count, int fd)
{
	static struct hwtimer_timer new[MOST];

	ASSERT_EQ(count, list_all(_metadata, fd, new));
	for (unsigned int i = 0; i < count; i++) {
		EXPECT_EQ(old[i].user_data, new[i].user_data);
		EXPECT_EQ(old[i].deadline, new[i].deadline);
		EXPECT_EQ(old[i].interval, new[i].interval);
		EXPECT_EQ(old[i].slack, new[i].slack);
		EXPECT_EQ(old[i].expirations_left, new[i].expirations_left);
		EXPECT_EQ(old[i].flags, new[i].flags);
		EXPECT_EQ(old[i].state, new[i].state);
	}
}

/* Schedules timers of all kinds, whose user_data counts up; returns their number. */
static unsigned int schedule_all_kinds(struct __test_metadata *_metadata,
				       int fd, clockid_t clock)
{
	const struct hwtimer_request kinds[] = {
		{ .time = HOUR },
		{ .time = HWTIMER_NEVER },
		{ .time = HOUR, .slack = SEC },
		{ .time = HOUR, .slack = 24 * HOUR },
		{ .time = HOUR, .interval = MS },
		{ .time = HOUR, .interval = 1, .slack = HOUR },
		{ .time = HOUR, .interval = HOUR, .expirations_max = 7 },
		{ .time = HOUR,
		  .interval = SEC,
		  .slack = SEC,
		  .expirations_max = 1 },
		{ .time = HOUR,
		  .interval = SEC,
		  .flags = HWTIMER_REQ_FIXED_DELAY },
	};
	unsigned int done = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct hwtimer_request request = kinds[i];

		if (request.flags &&
		    (clock == CLOCK_REALTIME || clock == CLOCK_TAI))
			continue;
		request.flags |= HWTIMER_REQ_ABSTIME;
		if (request.time != HWTIMER_NEVER)
			request.time += clock_ns(clock) + i;
		request.user_data = ~0ULL - 1000 + done++;
		ASSERT_NE(0, dev_add(fd, request));
	}
	return done;
}

/* ---- list ---- */

TEST_F(snapshot, list_shows_timers)
{
	struct hwtimer_timer timer;
	char line[256];

	EXPECT_EQ(0, run("list %d %d", getpid(), self->fd));
	EXPECT_TRUE(says("no timers"));
	EXPECT_EQ(0, run("list %d %d --json", getpid(), self->fd));
	EXPECT_EQ(0, strcmp(output, ""));
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .time = HOUR,
					       .interval = SEC,
					       .slack = MS,
					       .expirations_max = 5,
					       .user_data = ~0ULL - 7,
				       }));
	ASSERT_EQ(1, list_all(_metadata, self->fd, &timer));
	EXPECT_EQ(0, run("list %d %d", getpid(), self->fd));
	EXPECT_EQ(2, lines());
	EXPECT_TRUE(says(" rate "));
	EXPECT_TRUE(says(" pending "));
	EXPECT_TRUE(says(" 18446744073709551608\n"));
	EXPECT_EQ(0, run("list %d %d --json", getpid(), self->fd));
	EXPECT_TRUE(says("{\"schema\": \"hwtimer-timer/1\", \"id\": "));
	snprintf(line, sizeof(line),
		 "\"id\": %llu, \"user_data\": %llu, \"state\": \"%s\", ",
		 timer.id, ~0ULL - 7, "pending");
	EXPECT_TRUE(says(line));
	snprintf(line, sizeof(line), "\"deadline\": %llu, ", timer.deadline);
	EXPECT_TRUE(says(line));
	EXPECT_TRUE(says("\"count\": 5, \"fixed_delay\": false"));
	EXPECT_EQ(1, lines());
}

TEST_F(snapshot, list_shows_what_waits)
{
	ASSERT_NE(0, dev_after(self->fd, 0, 1));
	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 2));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, run("list --sort %d %d", getpid(), self->fd));
	EXPECT_GE(80, widest());
	EXPECT_TRUE(says(" expired         - once "));
	EXPECT_TRUE(says(" pending     never once "));
	EXPECT_EQ(0, run("list --json %d %d", getpid(), self->fd));
	EXPECT_EQ(2, lines());
	EXPECT_TRUE(says("\"deadline\": null, \"remaining\": null"));
	/* The tool takes nothing. */
	EXPECT_EQ(1, stats_of(self->fd).ready);
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

TEST_F(snapshot, list_sorts)
{
	const char *last = output;

	for (unsigned int i = 0; i < 100; i++)
		ASSERT_NE(0, dev_after(self->fd, HOUR + i * 37 % 100 * SEC, i));
	EXPECT_EQ(0,
		  run("list --sort --json %d %d | grep -o 'deadline\": [0-9]*'",
		      getpid(), self->fd));
	EXPECT_EQ(100, lines());
	for (unsigned int i = 1; i < 100; i++) {
		const char *next = strchr(last, '\n') + 1;

		EXPECT_LE(strtoull(last + strlen("deadline\": "), NULL, 10),
			  strtoull(next + strlen("deadline\": "), NULL, 10));
		last = next;
	}
}

/* Each timer has the time left that it has at one moment, so that it grows with the deadline. */
TEST_F(snapshot, list_reads_the_clock_once)
{
	unsigned int count = scaled(50000);

	ASSERT_EQ(count, dev_schedule_many(self->fd, count, 0, HOUR, NULL));
	/* The deadline minus the time left */
	EXPECT_EQ(0,
		  run("list --json %d %d | awk '%s' | uniq | wc -l", getpid(),
		      self->fd, "{ printf \"%.0f\\n\", $10 - $12 }"));
	EXPECT_EQ(1, strtoul(output, NULL, 10))
	{
		TH_LOG("%s", output);
	}
}

TEST_F(snapshot, list_has_all_pages)
{
	unsigned int count = scaled(50000);

	ASSERT_EQ(count, dev_schedule_many(self->fd, count, 0, HOUR, NULL));
	EXPECT_EQ(0, run("list --json %d %d | grep -c pending", getpid(),
			 self->fd));
	EXPECT_EQ(count, strtoul(output, NULL, 10));
	EXPECT_EQ(0, run("list --json --sort %d %d | grep -c pending", getpid(),
			 self->fd));
	EXPECT_EQ(count, strtoul(output, NULL, 10));
}

TEST_F(snapshot, list_takes_an_inherited_descriptor)
{
	ASSERT_NE(0, dev_after(self->fd, HOUR, 4711));
	ASSERT_EQ(SOCKET, dup2(self->fd, SOCKET));
	EXPECT_EQ(0, run("list --fd %d", SOCKET));
	EXPECT_TRUE(says(" 4711\n"));
	EXPECT_EQ(0, run("save --fd %d " FILE_NAME, SOCKET));
	EXPECT_EQ(0, close(SOCKET));
	EXPECT_EQ(1, run("list --fd %d", SOCKET));
	EXPECT_TRUE(says("not open"));
}

TEST_F(snapshot, wrong_places_are_told)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	EXPECT_EQ(0, wait_for_child(child));
	EXPECT_EQ(2, run("list"));
	EXPECT_EQ(2, run("list 1"));
	EXPECT_EQ(2, run("list 1 2 3"));
	EXPECT_EQ(2, run("list one 2"));
	EXPECT_EQ(2, run("list 0 2"));
	EXPECT_EQ(2, run("list 1 -- -2"));
	EXPECT_EQ(2, run("list 1 99999999999"));
	EXPECT_EQ(2, run("list --fd 1 1 2"));
	EXPECT_EQ(2, run("list --fd one"));
	EXPECT_EQ(2, run("save 1 2"));
	EXPECT_EQ(2, run("save"));
	EXPECT_EQ(1, run("list %d 3", child));
	EXPECT_TRUE(says("no process"));
	EXPECT_EQ(1, run("list %d 999", getpid()));
	EXPECT_TRUE(says("no descriptor 999"));
	EXPECT_TRUE(says("hwtimerctl stats"));
	EXPECT_EQ(1, run("list %d 0", getpid()));
	EXPECT_TRUE(says("not an instance"));
	EXPECT_EQ(1, run("list --fd 0 </dev/null"));
	EXPECT_TRUE(says("not an instance"));
	EXPECT_EQ(1, run("save %d 0 " FILE_NAME, getpid()));
	EXPECT_EQ(0, files());
}

/* A file system of this process, and how often it was asked anything */
struct server {
	int fd;
	unsigned int requests;
};

/* An answer of the server */
struct answer {
	struct fuse_out_header header;
	union {
		struct fuse_init_out init;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
	};
};

/* Fills in the answer to a request; returns its size without the header. */
static size_t answer(__u32 opcode, struct answer *answer)
{
	switch (opcode) {
	case FUSE_INIT:
		answer->init.major = FUSE_KERNEL_VERSION;
		answer->init.minor = FUSE_KERNEL_MINOR_VERSION;
		answer->init.max_write = 4096;
		return sizeof(answer->init);
	case FUSE_GETATTR:
		answer->attr.attr.mode = S_IFREG | 0600;
		answer->attr.attr.nlink = 1;
		return sizeof(answer->attr);
	case FUSE_OPEN:
		return sizeof(answer->open);
	}
	answer->header.error = -EOPNOTSUPP;
	return 0;
}

/* Serves a file system of one file until it is unmounted. */
static void *serve(void *arg)
{
	static char request[65536];
	struct server *server = arg;

	while (read(server->fd, request, sizeof(request)) > 0) {
		const struct fuse_in_header *header = (void *)request;
		struct answer out = { .header.unique = header->unique };

		out.header.len =
			sizeof(out.header) + answer(header->opcode, &out);
		__atomic_fetch_add(&server->requests, 1, __ATOMIC_RELAXED);
		if (write(server->fd, &out, out.header.len) < 0)
			break;
	}
	return NULL;
}

static unsigned int asked(const struct server *server)
{
	return __atomic_load_n(&server->requests, __ATOMIC_RELAXED);
}

/* A process may have any file under the number, also one of a server that does not answer. */
TEST_F(snapshot, a_server_of_files_is_not_asked)
{
	struct server server = { .fd = open("/dev/fuse", O_RDWR | O_CLOEXEC) };
	unsigned int requests;
	char options[64];
	pthread_t thread;
	int fd;

	if (server.fd < 0)
		SKIP(return, "this kernel has no FUSE");
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	close(open(DIRECTORY "/file", O_CREAT | O_WRONLY, 0600));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100600,user_id=0,group_id=0", server.fd);
	ASSERT_EQ(0, mount("file", DIRECTORY "/file", "fuse", 0, options));
	ASSERT_EQ(0, pthread_create(&thread, NULL, serve, &server));
	fd = open(DIRECTORY "/file", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	/* The shell has duplicates for a moment, so each call of the tool makes a request. */
	requests = asked(&server);
	EXPECT_EQ(0, run("--version"));
	EXPECT_EQ(requests + 1, asked(&server));
	EXPECT_EQ(1, run("list %d %d", getpid(), fd));
	EXPECT_TRUE(says("is not an instance of hwtimer"));
	EXPECT_EQ(1, run("save %d %d " FILE_NAME, getpid(), fd));
	EXPECT_TRUE(says("is not an instance of hwtimer"));
	EXPECT_EQ(requests + 3, asked(&server));
	close(fd);
	ASSERT_EQ(0, umount(DIRECTORY "/file"));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	close(server.fd);
}

TEST_F(snapshot, without_permission_it_says_what_to_do)
{
	pid_t pid = getpid(), child = fork();

	if (!child) {
		if (setuid(1000))
			_exit(1);
		_exit(run("list %d %d", pid, self->fd) != 1 ||
		      !says("run hwtimerctl as root"));
	}
	EXPECT_EQ(0, wait_for_child(child));
}

/* ---- save and restore ---- */

TEST_F(snapshot, everything_comes_back)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME,
					    CLOCK_REALTIME, CLOCK_TAI };
	static struct hwtimer_timer old[MOST];
	struct hwtimer_setup setup = { 0 };

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		unsigned int count;
		int fd;

		ASSERT_TRUE(dev_renew(&self->fd));
		setup.clock = HWTIMER_CLOCK(clocks[i]);
		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		count = schedule_all_kinds(_metadata, self->fd, clocks[i]);
		ASSERT_EQ(count, list_all(_metadata, self->fd, old));
		ASSERT_EQ(0, save_instance(self->fd))
		{
			TH_LOG("%s", output);
		}
		fd = restore_instance("");
		ASSERT_LE(0, fd)
		{
			TH_LOG("%s", output);
		}
		expect_same_timers(_metadata, old, count, fd);
		/* Nothing was taken from the old instance. */
		EXPECT_EQ(count, stats_of(self->fd).pending);
		expect_close(_metadata, fd);
	}
}

TEST_F(snapshot, settings_come_back)
{
	static const struct hwtimer_setup setups[] = {
		{ .clock = HWTIMER_CLOCK_MONOTONIC },
		{ .clock = HWTIMER_CLOCK_BOOTTIME,
		  .tick = 2 * MS,
		  .buckets = 64,
		  .timers = 4711 },
		{ .flags = HWTIMER_SETUP_AT_LEAST_ONCE },
		{ .clock = HWTIMER_CLOCK_REALTIME,
		  .flags = HWTIMER_SETUP_REPORT_CLOCK_SET |
			   HWTIMER_SETUP_AT_LEAST_ONCE },
		{ .clock = HWTIMER_CLOCK_TAI },
	};
	struct hwtimer_info old, new;

	for (unsigned int i = 0; i < ARRAY_SIZE(setups); i++) {
		int fd, flags = i % 2 ? O_NONBLOCK : 0;

		close(self->fd);
		self->fd = dev_open(flags);
		ASSERT_EQ(0, dev_setup_as(self->fd, setups[i]));
		ASSERT_EQ(0, save_instance(self->fd));
		fd = restore_instance("");
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, dev_info(self->fd, &old));
		ASSERT_EQ(0, dev_info(fd, &new));
		EXPECT_EQ(old.tick, new.tick);
		EXPECT_EQ(old.buckets, new.buckets);
		EXPECT_EQ(old.clock, new.clock);
		EXPECT_EQ(old.timers, new.timers);
		EXPECT_EQ(old.flags, new.flags);
		EXPECT_EQ(flags, fcntl(fd, F_GETFL) & O_NONBLOCK);
		expect_close(_metadata, fd);
	}
}

/* Reads until @count timers have come, each once, and none early. */
static void expect_each_once(struct __test_metadata *_metadata, int fd,
			     const __u64 *deadlines, unsigned int count)
{
	bool *came = calloc(count, sizeof(*came));
	struct hwtimer_event event;

	for (unsigned int i = 0; i < count; i++) {
		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		ASSERT_GT(count, event.user_data);
		EXPECT_FALSE(came[event.user_data]);
		EXPECT_EQ(deadlines[event.user_data], event.deadline);
		expect_due(_metadata, &event);
		came[event.user_data] = true;
	}
	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
	EXPECT_EQ(0, stats_of(fd).pending);
	free(came);
}

/* Some wait to be read, some expire between save and restore, and some later. */
TEST_F(snapshot, each_event_comes_once)
{
	static __u64 deadlines[MOST];
	__u64 begin = now_ns();
	int fd;

	for (unsigned int i = 0; i < MOST; i++) {
		deadlines[i] = begin + i * MS;
		ASSERT_NE(0, dev_at(self->fd, deadlines[i], i));
	}
	sleep_until(begin + 500 * MS);
	ASSERT_EQ(0, save_instance(self->fd));
	EXPECT_EQ(0, close(self->fd));
	self->fd = -1;
	sleep_until(begin + 1000 * MS);
	fd = restore_instance("");
	ASSERT_LE(0, fd);
	ASSERT_EQ(O_NONBLOCK, fcntl(fd, F_GETFL) & O_NONBLOCK);
	expect_each_once(_metadata, fd, deadlines, MOST);
	expect_close(_metadata, fd);
}

/* The event of a periodic timer waits, and then its phase and its count go on. */
TEST_F(snapshot, periodic_timers_keep_their_phase)
{
	__u64 first = now_ns() + 10 * MS;
	unsigned int expirations = 0;
	struct hwtimer_event event;
	int fd;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = first,
					       .interval = 70 * MS,
					       .expirations_max = 10,
				       }));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expirations += event.expirations;
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, save_instance(self->fd));
	fd = restore_instance("");
	ASSERT_LE(0, fd);
	while (expirations < 10) {
		__u64 expected = first + expirations * 70 * MS;

		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		EXPECT_EQ(expected, event.deadline);
		expect_not_early(_metadata, &event, CLOCK_MONOTONIC);
		expirations += event.expirations;
	}
	EXPECT_EQ(10, expirations);
	EXPECT_EQ(0, stats_of(fd).pending);
	expect_close(_metadata, fd);
}

TEST_F(snapshot, ids_are_told)
{
	struct hwtimer_timer timers[MOST];
	unsigned long long old, new;
	unsigned int pairs = 0;
	__u64 ids[100];
	FILE *file;
	int fd;

	ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, HOUR, ids));
	/* Other ids than in a new instance */
	ASSERT_EQ(50, dev_cancel_many(self->fd, 50, ids));
	ASSERT_EQ(50, dev_schedule_many(self->fd, 50, 0, HOUR, ids));
	ASSERT_EQ(0, save_instance(self->fd));
	fd = restore_instance("--ids " DIRECTORY "/ids");
	ASSERT_LE(0, fd);
	ASSERT_EQ(100, list_all(_metadata, fd, timers));
	file = fopen(DIRECTORY "/ids", "r");
	ASSERT_NE(NULL, file);
	while (fscanf(file, "%llu %llu", &old, &new) == 2) {
		struct hwtimer_timer before =
			query_of(_metadata, self->fd, old);
		struct hwtimer_timer after = query_of(_metadata, fd, new);

		EXPECT_EQ(before.user_data, after.user_data);
		EXPECT_EQ(before.deadline, after.deadline);
		pairs++;
	}
	EXPECT_EQ(100, pairs);
	fclose(file);
	expect_close(_metadata, fd);
}

/* The only copy of the timers would become a list of ids. */
TEST_F(snapshot, ids_do_not_replace_the_timers)
{
	struct stat before, after;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, save_instance(self->fd));
	ASSERT_EQ(0, stat(FILE_NAME, &before));
	ASSERT_EQ(0, link(FILE_NAME, DIRECTORY "/other"));
	EXPECT_EQ(-1, restore_instance("--ids " FILE_NAME));
	EXPECT_TRUE(says("is the file with the timers"));
	EXPECT_EQ(-1, restore_instance("--ids " DIRECTORY "/other"));
	ASSERT_EQ(0, stat(FILE_NAME, &after));
	EXPECT_EQ(before.st_ino, after.st_ino);
	EXPECT_EQ(0, run("restore --check " FILE_NAME));
	EXPECT_EQ(2, files());
}

/* ---- a snapshot of an instance that is busy ---- */

#define STABLE 1000

/* A thread that keeps the instance busy until @done, beside the stable timers */
struct busy {
	int fd;
	bool done;
	__u64 stable[STABLE];
};

static void *be_busy(void *arg)
{
	struct busy *busy = arg;
	unsigned int seed = 1;

	while (!__atomic_load_n(&busy->done, __ATOMIC_RELAXED)) {
		struct hwtimer_event events[64];
		unsigned int n = next_random(&seed) % STABLE;
		__u64 ids[64];

		dev_schedule_many(busy->fd, 64, 0, HOUR, ids);
		dev_cancel_many(busy->fd, 32, ids);
		for (unsigned int i = 32; i < 64; i++)
			dev_reschedule(busy->fd, ids[i], 0, 0);
		dev_reschedule(busy->fd, busy->stable[n], 0,
			       next_random(&seed) % 10 * MS);
		dev_read(busy->fd, events, 64);
	}
	return NULL;
}

/* Expects each stable timer exactly once in the file, by its id. */
static void expect_stable_once(struct __test_metadata *_metadata,
			       const struct busy *busy)
{
	unsigned int seen[STABLE] = { 0 };
	FILE *file = fopen(FILE_NAME, "r");
	char line[256];

	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file)) {
		unsigned long long id, user_data;

		if (sscanf(line, "timer %llu %llu ", &id, &user_data) != 2 ||
		    user_data < HOUR)
			continue;
		user_data -= HOUR;
		ASSERT_GT(STABLE, user_data);
		EXPECT_EQ(busy->stable[user_data], id);
		seen[user_data]++;
	}
	fclose(file);
	for (unsigned int i = 0; i < STABLE; i++)
		EXPECT_EQ(1, seen[i]);
}

/*
 * The stable timers are periodic: they expire, are read, become pending again, and are
 * rescheduled. Their user_data counts up from HOUR; that of others is smaller.
 */
TEST_F(snapshot, a_busy_instance_is_saved_whole)
{
	struct busy busy = { .fd = self->fd };
	pthread_t threads[2];

	for (unsigned int i = 0; i < STABLE; i++) {
		busy.stable[i] = dev_every(self->fd, i * MS, 10 * MS, HOUR + i);
		ASSERT_NE(0, busy.stable[i]);
	}
	for (unsigned int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, be_busy, &busy));
	for (unsigned int i = 0; i < 10; i++) {
		EXPECT_EQ(0, save_instance(self->fd));
		expect_stable_once(_metadata, &busy);
		EXPECT_EQ(0, run("restore --check " FILE_NAME));
	}
	__atomic_store_n(&busy.done, true, __ATOMIC_RELAXED);
	join_threads(threads, 2);
}

/* ---- other boots ---- */

static __u32 sum_of(__u32 sum, const char *text, size_t length)
{
	sum = ~sum;
	for (; length; length--) {
		sum ^= (unsigned char)*text++;
		for (unsigned int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

/*
 * Replaces the line that begins with @key by @line, or the next one after the headline if
 * @key is "", and writes the right checksums.
 */
static void edit(const char *key, const char *line)
{
	FILE *old = fopen(FILE_NAME, "r"), *new = fopen(FILE_NAME ".new", "w");
	char text[256];
	__u32 sum = 0;

	if (!old || !new)
		abort();
	while (fgets(text, sizeof(text), old)) {
		if (!strncmp(text, key, strlen(key)))
			snprintf(text, sizeof(text), "%s", line);
		else
			text[strlen(text) - strlen(" 01234567\n")] = '\0';
		sum = sum_of(sum, text, strlen(text));
		fprintf(new, "%s %08x\n", text, sum);
	}
	fclose(old);
	fclose(new);
	if (rename(FILE_NAME ".new", FILE_NAME))
		abort();
}

#define OTHER_BOOT "boot-id 00000000-0000-0000-0000-000000000000"

/* After another boot the real time that has passed counts, or, with --paused, none. */
TEST_F(snapshot, deadlines_after_another_boot)
{
	struct hwtimer_timer old, new;
	__u64 begin = now_ns(), saved, after;
	char line[64];
	int fd;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(1, list_all(_metadata, self->fd, &old));
	saved = clock_ns(CLOCK_REALTIME);
	ASSERT_EQ(0, save_instance(self->fd));
	edit("boot-id", OTHER_BOOT);
	/* A machine that was up for longer, and was down for 1,000 s */
	snprintf(line, sizeof(line), "clock-now %llu", now_ns() + YEAR);
	edit("clock-now", line);
	old.deadline += YEAR;
	snprintf(line, sizeof(line), "realtime-now %llu", saved - 1000 * SEC);
	edit("realtime-now", line);
	snprintf(line, sizeof(line), "timer 1 1 %llu 0 0 0 once pending",
		 old.deadline);
	edit("timer", line);
	fd = restore_instance("");
	ASSERT_LE(0, fd)
	{
		TH_LOG("%s", output);
	}
	after = now_ns();
	ASSERT_EQ(1, list_all(_metadata, fd, &new));
	EXPECT_LE(begin + HOUR - 1000 * SEC - (after - begin), new.deadline);
	EXPECT_GE(after + HOUR - 1000 * SEC, new.deadline);
	close(fd);
	fd = restore_instance("--paused");
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, list_all(_metadata, fd, &new));
	EXPECT_LE(begin + HOUR, new.deadline);
	EXPECT_GE(now_ns() + HOUR, new.deadline);
	close(fd);
	/* Now it is before the save. */
	snprintf(line, sizeof(line), "realtime-now %llu", saved + HOUR);
	edit("realtime-now", line);
	fd = restore_instance("");
	ASSERT_LE(0, fd);
	EXPECT_TRUE(says("set back"));
	ASSERT_EQ(1, list_all(_metadata, fd, &new));
	EXPECT_LE(begin + HOUR, new.deadline);
	close(fd);
}

/* Slack as the wheel uses it: a power of two of ticks of 1 ms, less one; 18 h */
#define LONG_SLACK (((1ULL << 26) - 1) * MS)

/* Writes a timer with a long slack in the place of the one that was saved. */
static void edit_slack(__u64 deadline, unsigned int count, const char *state)
{
	char line[128];

	snprintf(line, sizeof(line), "timer 1 1 %llu %llu %llu %u rate %s",
		 deadline, 24 * HOUR, LONG_SLACK, count, state);
	edit("timer", line);
}

/*
 * An event that waited comes at once, though slack rounds up to another moment after the
 * restart. Its timer keeps the slack, if it goes on.
 */
TEST_F(snapshot, slack_does_not_delay_what_waited)
{
	for (unsigned int count = 1; count <= 2; count++) {
		struct hwtimer_event event;
		struct hwtimer_timer timer;
		char line[64];
		__u64 saved;
		int fd;

		ASSERT_TRUE(dev_renew(&self->fd));
		ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
		ASSERT_EQ(0, save_instance(self->fd));
		saved = now_ns() + YEAR;
		edit("boot-id", OTHER_BOOT);
		snprintf(line, sizeof(line), "clock-now %llu", saved);
		edit("clock-now", line);
		edit_slack(saved - MS, count, "expired");
		fd = restore_instance("--paused");
		ASSERT_LE(0, fd)
		{
			TH_LOG("%s", output);
		}
		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		EXPECT_EQ(1, event.user_data);
		EXPECT_EQ(1, event.expirations);
		ASSERT_EQ(count - 1, list_all(_metadata, fd, &timer));
		if (count == 2) {
			EXPECT_EQ(event.deadline + 24 * HOUR, timer.deadline);
			EXPECT_EQ(LONG_SLACK, timer.slack);
			EXPECT_EQ(1, timer.expirations_left);
		}
		expect_close(_metadata, fd);
	}
}

/* ---- time namespaces ---- */

/* Opens an instance with a timer and saves it, in a namespace an hour ahead. */
static int save_elsewhere(void)
{
	pid_t child;

	if (unshare(CLONE_NEWTIME))
		return 100;
	if (!write_file("/proc/self/timens_offsets", "monotonic 3600 5\n"))
		return 101;
	/* Its children are in the namespace. */
	child = fork();
	if (!child) {
		int fd = dev_open(0);

		_exit(!dev_after(fd, HOUR, 1) || save_instance(fd));
	}
	return wait_for_child(child);
}

TEST_F(snapshot, deadlines_follow_to_another_namespace)
{
	struct hwtimer_timer timer;
	__u64 before = now_ns();
	pid_t child = fork();
	int fd, status;

	if (!child)
		_exit(save_elsewhere());
	status = wait_for_child(child);
	if (status == 100)
		SKIP(return, "this kernel has no time namespaces");
	ASSERT_EQ(0, status);
	fd = restore_instance("");
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, list_all(_metadata, fd, &timer));
	EXPECT_LE(before + HOUR, timer.deadline);
	EXPECT_GE(now_ns() + HOUR, timer.deadline);
	close(fd);
}

TEST_F(snapshot, the_wrong_namespace_is_told)
{
	pid_t pid = getpid(), child;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	child = fork();
	if (!child) {
		if (unshare(CLONE_NEWTIME))
			_exit(100);
		if (!write_file("/proc/self/timens_offsets",
				"monotonic 3600 5\n"))
			_exit(101);
		_exit(run("save %d %d " FILE_NAME, pid, self->fd) != 1 ||
		      !says("nsenter"));
	}
	if (wait_for_child(child) == 100)
		SKIP(return, "this kernel has no time namespaces");
	EXPECT_EQ(0, files());
}

/* ---- what fails ---- */

TEST_F(snapshot, a_damaged_file_is_refused)
{
	int file;

	ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, HOUR, NULL));
	ASSERT_EQ(0, save_instance(self->fd));
	file = open(FILE_NAME, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, file);
	/* Damages the boot id. */
	ASSERT_EQ(1, pwrite(file, "x", 1, 50));
	close(file);
	EXPECT_EQ(-1, restore_instance(""));
	EXPECT_TRUE(says(FILE_NAME ":2: "));
	EXPECT_EQ(1, run("restore --check " FILE_NAME));
	EXPECT_TRUE(says(FILE_NAME ":2: "));
	ASSERT_EQ(0, save_instance(self->fd));
	ASSERT_EQ(0, truncate(FILE_NAME, 2000));
	EXPECT_EQ(-1, restore_instance(""));
	EXPECT_TRUE(says("cut off"));
	EXPECT_EQ(1, run("restore --check ./hwtimerctl"));
	EXPECT_TRUE(says("hwtimerctl:1: this is not a file of"));
	EXPECT_EQ(1, run("restore --check /dev/zero"));
	EXPECT_EQ(1, run("restore --check " DIRECTORY));
	EXPECT_EQ(1, run("restore --check " FILE_NAME ".none"));
}

TEST_F(snapshot, restore_needs_a_command)
{
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, save_instance(self->fd));
	EXPECT_EQ(2, run("restore"));
	EXPECT_EQ(2, run("restore " FILE_NAME));
	EXPECT_TRUE(says("ends with its last descriptor"));
	EXPECT_EQ(2, run("restore " FILE_NAME " --"));
	EXPECT_EQ(2, run("restore " FILE_NAME " true"));
	EXPECT_TRUE(says("--"));
	EXPECT_EQ(2, run("restore --check " FILE_NAME " -- true"));
	EXPECT_EQ(2, run("restore --name a:b " FILE_NAME " -- true"));
	EXPECT_EQ(2, run("restore --limit 0 " FILE_NAME " -- true"));
	EXPECT_EQ(1, run("restore " FILE_NAME " -- ./no-such-command"));
	EXPECT_TRUE(says("no-such-command"));
	EXPECT_EQ(7, run("restore " FILE_NAME " -- sh -c 'exit 7'"));
	EXPECT_EQ(0, run("restore --check " FILE_NAME));
	EXPECT_TRUE(says("1 timers, of which 0 are due"));
	EXPECT_TRUE(says("this boot, clock monotonic"));
}

/* The first start of a service has no file yet. */
TEST_F(snapshot, a_missing_file_may_be_no_error)
{
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	EXPECT_EQ(1, run("restore " FILE_NAME " -- true"));
	EXPECT_TRUE(says("No such file"));
	EXPECT_EQ(0, system("echo '1 2' >" DIRECTORY "/ids"));
	EXPECT_EQ(7,
		  run("restore --if-exists --ids " DIRECTORY "/ids " FILE_NAME
		      " -- sh -c 'echo has=$LISTEN_FDS; exit 7'"));
	EXPECT_TRUE(says("does not exist: no timers\nhas=\n"));
	EXPECT_EQ(0, system("test -e " DIRECTORY "/ids -a ! -s " DIRECTORY
			    "/ids"));
	EXPECT_EQ(0, run("restore --if-exists --check " FILE_NAME));
	EXPECT_TRUE(says("does not exist: no timers\n"));
	EXPECT_EQ(1, run("restore --if-exists " FILE_NAME " -- ./none"));
	/* Anything else that is wrong is an error. */
	EXPECT_EQ(1, run("restore --if-exists ./hwtimerctl/x -- true"));
	EXPECT_EQ(1, run("restore --if-exists " DIRECTORY " -- true"));
	ASSERT_EQ(0, save_instance(self->fd));
	EXPECT_EQ(0, run("restore --if-exists " FILE_NAME
			 " -- sh -c 'echo has=$LISTEN_FDS'"));
	EXPECT_TRUE(says("has=1\n"));
	edit("tick", "tick x");
	EXPECT_EQ(1, run("restore --if-exists " FILE_NAME " -- true"));
}

/* Nobody has the other end of the FIFO open. */
TEST_F(snapshot, a_fifo_holds_nothing_up)
{
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, mkfifo(FILE_NAME, 0600));
	EXPECT_EQ(1, save_instance(self->fd));
	EXPECT_TRUE(says("not a regular file"));
	EXPECT_EQ(1, run("restore --check " FILE_NAME));
	EXPECT_TRUE(says("not a regular file"));
	EXPECT_EQ(1, run("restore " FILE_NAME " -- true"));
	EXPECT_TRUE(says("not a regular file"));
}

/* Has the shell become a program that was given a descriptor by the same protocol. */
#define GIVEN "--version; export LISTEN_FDS=1 LISTEN_PID=$$; exec "

/* The descriptor comes after those that the command inherits by the same protocol. */
TEST_F(snapshot, other_descriptors_keep_their_numbers)
{
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, save_instance(self->fd));
	EXPECT_EQ(1, run("restore " FILE_NAME " -- true 3</dev/null"));
	EXPECT_TRUE(says("3<&-"));
	EXPECT_EQ(0, run(GIVEN TOOL
			 " restore --name x " FILE_NAME
			 " -- sh -c 'echo $LISTEN_FDS $LISTEN_FDNAMES; " TOOL
			 " list --fd 4' 3</dev/null"));
	EXPECT_TRUE(says("2 unknown:x\n"));
	EXPECT_TRUE(says(" pending "));
	EXPECT_EQ(0,
		  run(GIVEN "env LISTEN_FDNAMES=a " TOOL " restore " FILE_NAME
			    " -- sh -c 'echo $LISTEN_FDNAMES' 3</dev/null"));
	EXPECT_TRUE(says("a:hwtimer\n"));
}

TEST_F(snapshot, limits_are_told)
{
	int fd;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 100));
	ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, HOUR, NULL));
	ASSERT_EQ(0, save_instance(self->fd));
	EXPECT_EQ(-1, restore_instance("--limit 99"));
	EXPECT_TRUE(says("more than the limit of 99"));
	EXPECT_TRUE(says("--limit"));
	EXPECT_EQ(1, run("restore --check --limit 99 " FILE_NAME));
	EXPECT_TRUE(says("more than the limit of 99"));
	EXPECT_EQ(0, run("restore --check --limit 100 " FILE_NAME));
	fd = restore_instance("--limit 101");
	ASSERT_LE(0, fd);
	EXPECT_NE(0, dev_after(fd, HOUR, 0));
	EXPECT_EQ(0, dev_after(fd, HOUR, 0));
	close(fd);
	edit("limit", "limit 9223372036854775807");
	EXPECT_EQ(-1, restore_instance(""));
	EXPECT_TRUE(says("--limit"));
	edit("limit", "limit 100");
	edit("tick", "tick 1");
	EXPECT_EQ(-1, restore_instance(""));
	EXPECT_TRUE(says("hwtimerctl info"));
}

/* Writes a small file; its content shows later whether it is the old one. */
static void write_old(void)
{
	FILE *file = fopen(FILE_NAME, "w");

	if (!file || fputs("old", file) < 0 || fclose(file))
		abort();
}

static bool is_old(void)
{
	char text[8] = "";
	FILE *file = fopen(FILE_NAME, "r");

	if (!file || !fgets(text, sizeof(text), file))
		abort();
	fclose(file);
	return !strcmp(text, "old");
}

TEST_F(snapshot, a_full_disk_leaves_the_old_file)
{
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, mount("small", DIRECTORY, "tmpfs", 0, "size=64k"));
	write_old();
	ASSERT_EQ(5000, dev_schedule_many(self->fd, 5000, 0, HOUR, NULL));
	EXPECT_EQ(1, save_instance(self->fd));
	EXPECT_TRUE(says("No space left"));
	EXPECT_TRUE(says("unchanged"));
	EXPECT_TRUE(is_old());
	EXPECT_EQ(1, files());
	ASSERT_EQ(0, umount(DIRECTORY));
}

TEST_F(snapshot, what_cannot_be_replaced_is_told)
{
	pid_t child;
	struct stat st;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	EXPECT_EQ(1, run("save %d %d " DIRECTORY "/none/timers", getpid(),
			 self->fd));
	EXPECT_EQ(1, run("save %d %d " DIRECTORY, getpid(), self->fd));
	EXPECT_TRUE(says("not a regular file"));
	EXPECT_EQ(1, run("save %d %d /dev/null", getpid(), self->fd));
	EXPECT_TRUE(says("not a regular file"));
	/* The device is inherited, so only the directory is not for this user. */
	child = fork();
	if (!child) {
		if (dup2(self->fd, SOCKET) != SOCKET || setuid(1000))
			_exit(1);
		_exit(run("save --fd %d " FILE_NAME, SOCKET) != 1 ||
		      !says("Permission denied"));
	}
	EXPECT_EQ(0, wait_for_child(child));
	EXPECT_EQ(0, files());
	/* The owner and the mode of the file stay. */
	write_old();
	ASSERT_EQ(0, chown(FILE_NAME, 1000, 1000));
	ASSERT_EQ(0, chmod(FILE_NAME, 0640));
	EXPECT_EQ(0, save_instance(self->fd));
	ASSERT_EQ(0, stat(FILE_NAME, &st));
	EXPECT_EQ(1000, st.st_uid);
	EXPECT_EQ(0640, st.st_mode & 07777);
	EXPECT_FALSE(is_old());
	/* A new file is for its owner alone: user_data may be addresses. */
	EXPECT_EQ(0, run("save %d %d " DIRECTORY "/new", getpid(), self->fd));
	ASSERT_EQ(0, stat(DIRECTORY "/new", &st));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(2, files());
}

/* Runs save with the instance, as user 1000 in the group 1000; returns its exit status. */
static int save_as_user(int fd)
{
	pid_t child = fork();

	if (!child) {
		if (dup2(fd, SOCKET) != SOCKET || setgid(1000) || setuid(1000))
			_exit(100);
		if (run("save --fd %d " FILE_NAME, SOCKET))
			_exit(101);
		_exit(!says("cannot be kept") || is_old());
	}
	return wait_for_child(child);
}

/*
 * An owner that cannot be kept is told, and nobody can read more than before: the group
 * is kept if possible; if not, it is another group's file.
 */
TEST_F(snapshot, an_owner_that_cannot_be_kept_is_told)
{
	static const struct {
		gid_t group;
		mode_t mode, expected;
	} files[] = {
		{ 1000, 0640, 0640 }, { 1000, 0604, 0604 }, { 0, 0644, 0644 },
		{ 0, 0640, 0600 },    { 0, 0606, 0600 },    { 0, 0664, 0644 },
	};
	struct stat st;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, chmod(DIRECTORY, 0777));
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		unlink(FILE_NAME);
		write_old();
		ASSERT_EQ(0, chown(FILE_NAME, 0, files[i].group));
		ASSERT_EQ(0, chmod(FILE_NAME, files[i].mode));
		EXPECT_EQ(0, save_as_user(self->fd));
		ASSERT_EQ(0, stat(FILE_NAME, &st));
		EXPECT_EQ(1000, st.st_uid);
		EXPECT_EQ(1000, st.st_gid);
		EXPECT_EQ(files[i].expected, st.st_mode & 07777);
	}
}

/* In a directory as /tmp, the file may be there because a stranger has made it. */
TEST_F(snapshot, a_file_of_a_stranger_is_refused)
{
	struct stat st;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, chmod(DIRECTORY, 01777));
	write_old();
	ASSERT_EQ(0, chown(FILE_NAME, 1000, 1000));
	EXPECT_EQ(1, save_instance(self->fd));
	EXPECT_TRUE(says("belongs to another user: remove it first"));
	EXPECT_TRUE(is_old());
	EXPECT_EQ(1, files());
	/* One's own file is replaced, and there may be none. */
	ASSERT_EQ(0, chown(FILE_NAME, 0, 1000));
	EXPECT_EQ(0, save_instance(self->fd));
	ASSERT_EQ(0, stat(FILE_NAME, &st));
	EXPECT_EQ(1000, st.st_gid);
	ASSERT_EQ(0, unlink(FILE_NAME));
	EXPECT_EQ(0, save_instance(self->fd));
	/* Without the sticky bit, or for a group only, the owner is kept. */
	ASSERT_EQ(0, chown(FILE_NAME, 1000, 1000));
	ASSERT_EQ(0, chmod(DIRECTORY, 01775));
	EXPECT_EQ(0, save_instance(self->fd));
	ASSERT_EQ(0, stat(FILE_NAME, &st));
	EXPECT_EQ(1000, st.st_uid);
}

/* Whoever may write to the directory could otherwise choose which file is replaced. */
TEST_F(snapshot, a_symbolic_link_is_refused)
{
	struct stat st;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	ASSERT_EQ(0, save_instance(self->fd));
	ASSERT_EQ(0, rename(FILE_NAME, DIRECTORY "/source"));
	write_old();
	ASSERT_EQ(0, symlink("timers", DIRECTORY "/link"));
	ASSERT_EQ(0, symlink("none", DIRECTORY "/dangling"));
	EXPECT_EQ(1, run("save %d %d " DIRECTORY "/link", getpid(), self->fd));
	EXPECT_TRUE(says("link is a symbolic link: name the file"));
	EXPECT_EQ(1,
		  run("save %d %d " DIRECTORY "/dangling", getpid(), self->fd));
	EXPECT_TRUE(says("symbolic link"));
	EXPECT_EQ(1, run("restore --ids " DIRECTORY "/link " DIRECTORY
			 "/source -- true"));
	EXPECT_TRUE(says("symbolic link"));
	EXPECT_TRUE(is_old());
	ASSERT_EQ(0, lstat(DIRECTORY "/link", &st));
	EXPECT_TRUE(S_ISLNK(st.st_mode));
	EXPECT_EQ(4, files());
}

/*
 * Runs save, and kills it after @delay. Meanwhile there must always be a file. Returns
 * save's exit status, or -signal.
 */
static int save_and_kill(struct __test_metadata *_metadata, int fd, int signal,
			 __u64 delay)
{
	__u64 end = now_ns() + delay;
	char pid[16], number[16];
	pid_t child;

	snprintf(pid, sizeof(pid), "%d", getpid());
	snprintf(number, sizeof(number), "%d", fd);
	child = fork();
	if (!child) {
		close(STDOUT_FILENO);
		open("/dev/null", O_WRONLY);
		execl(TOOL, TOOL, "save", pid, number, FILE_NAME, NULL);
		_exit(127);
	}
	while (now_ns() < end) {
		EXPECT_EQ(0, access(FILE_NAME, F_OK));
		sleep_ns(200 * US);
	}
	kill(child, signal);
	return wait_for_child(child);
}

/*
 * At whatever time it is killed, the file is the old one or a whole new one. SIGTERM
 * leaves no temporary file. The delays grow until save has ended before the kill.
 */
TEST_F(snapshot, whoever_kills_it_finds_a_whole_file)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGINT };
	unsigned int count = scaled(20000), killed = 0;

	ASSERT_EQ(count, dev_schedule_many(self->fd, count, 0, HOUR, NULL));
	for (unsigned int i = 0; i < ARRAY_SIZE(signals); i++) {
		int status = -1;

		for (__u64 delay = 100 * US; status < 0; delay += delay / 3) {
			write_old();
			status = save_and_kill(_metadata, self->fd, signals[i],
					       delay);
			if (status < 0) {
				EXPECT_EQ(-signals[i], status);
				killed += is_old();
			}
			if (!is_old())
				ASSERT_EQ(0, run("restore --check " FILE_NAME));
			/* SIGKILL leaves a temporary file; nothing can remove it. */
			EXPECT_GE(1 + (signals[i] == SIGKILL), files());
			EXPECT_EQ(0, system("rm -f " FILE_NAME ".*"));
		}
		EXPECT_EQ(0, status);
	}
	TH_LOG("killed %u times before the end", killed);
	EXPECT_LE(10, killed);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "send"))
		return send_what_was_inherited();
	return test_harness_run(argc, argv);
}
