// SPDX-License-Identifier: GPL-2.0
/*
 * An application's benchmark: a server with a timeout for each connection, which each
 * request pushes out. The same loop, libevent's, with the timers of different systems.
 *
 *	usage: server-bench [--check] [--connections N,...] [--systems NAME,...]
 *		[--pushes N] [--timeouts N] [--most N] [--reps N]
 *
 * A child process is the clients: it sends a request on each of 64 connections, waits for
 * the answers, and goes on with the next 64. One connection in 100 is silent: its timeout
 * expires, and is started anew. The timeout is as long as --pushes (30) requests of each
 * connection take with the system "none", and the run as long as --timeouts (2) timeouts,
 * but not longer than --most (1,000,000) requests.
 *
 * Prints a line for each number of connections and system: the processor time of the
 * server per request, with the kernel's for it, and that of hwtimer's threads; and how late
 * timeouts were. Medians of --reps (3) runs, in which the systems take turns.
 *
 * --check prints TAP instead: whether all requests were answered, and no timeout was missing
 * or, by the time from which the system counts, early. It checks no times.
 */
#include "server.h"

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WINDOW 64
#define SILENT 100
#define MAX_SAMPLES 1000000
#define MAX_REPS 99

/* The result of a run: ns per request, requests, timeouts, and how late these were, ns */
struct result {
	double cost;
	unsigned long requests, timeouts, early;
	uint64_t median, p99;
};

static const struct system *system_now;
static struct event_base *base;
static struct connection *connections;
static uint64_t timeout, *late;
static unsigned long requests, wanted, timeouts, early;

/* The clients have ended; there is a connection whose timeout has to come before the end */
static bool over, awaits_timeout;

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Only silent connections read the clock, to leave the others what their timers cost. */
static bool is_silent(const struct connection *connection)
{
	return (connection - connections) % SILENT == SILENT - 1;
}

/* Before the timer of a silent connection is started. */
static void set_deadline(struct connection *connection)
{
	connection->deadline =
		(system_now->now ? system_now->now() : now_ns()) + timeout;
}

static void note_timeout(const struct connection *connection, uint64_t now)
{
	bool is_early = now < connection->deadline;

	early += is_early && system_now->now;
	if (timeouts < MAX_SAMPLES)
		late[timeouts] = is_early ? 0 : now - connection->deadline;
	timeouts++;
}

/*
 * The clients wait for two timeouts. If the machine stood still then, their end and the first
 * timeout are found at the same time.
 */
static void end_if_over(void)
{
	if (over && (timeouts || !awaits_timeout))
		event_base_loopbreak(base);
}

void on_timeout(struct connection *connection)
{
	if (is_silent(connection)) {
		note_timeout(connection, now_ns());
		set_deadline(connection);
	}
	system_now->push(connection);
	end_if_over();
}

static void on_request(evutil_socket_t fd, short what, void *arg)
{
	char text[64];

	(void)what;
	if (recv(fd, text, sizeof(text), 0) <= 0) {
		event_del(((struct connection *)arg)->event);
		over = true;
		end_if_over();
		return;
	}
	if (send(fd, "ok\n", 3, MSG_NOSIGNAL) != 3)
		err(1, "send");
	system_now->push(arg);
	requests++;
}

/* ---- clients ---- */

/* Sends a request on each of the connections from @first on, and takes the answers. */
static unsigned int ask(const int *fds, unsigned int first, unsigned int n)
{
	unsigned int i, asked = 0;
	char text[64];

	for (i = first; i < first + n; i++)
		if (i % SILENT != SILENT - 1 && ++asked &&
		    send(fds[i], "what?\n", 6, MSG_NOSIGNAL) != 6)
			err(1, "send");
	for (i = first; i < first + n; i++)
		if (i % SILENT != SILENT - 1 &&
		    recv(fds[i], text, sizeof(text), 0) != 3)
			errx(1, "no answer");
	return asked;
}

/* Ends when all requests are answered and the time of one timeout has passed. */
static void be_clients(const int *fds, unsigned int n)
{
	uint64_t end = now_ns() + 2 * timeout + 20000000;
	unsigned int first = 0, count;
	unsigned long asked = 0;

	while (asked < wanted) {
		count = n - first < WINDOW ? n - first : WINDOW;
		asked += ask(fds, first, count);
		first = (first + count) % n;
	}
	while (timeout && now_ns() < end)
		usleep(1000);
	_exit(0);
}

/* ---- processor time ---- */

/* The time of hwtimer's threads, ns */
static uint64_t worker_time(void)
{
	char path[300], comm[32];
	unsigned long long time, all = 0;
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	FILE *file;

	while (proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(comm, sizeof(comm), file))
			comm[0] = '\0';
		fclose(file);
		if (strncmp(comm, "hwtimer/", 8))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/schedstat",
			 entry->d_name);
		file = fopen(path, "r");
		if (file && fscanf(file, "%llu", &time) == 1)
			all += time;
		if (file)
			fclose(file);
	}
	if (proc)
		closedir(proc);
	return all;
}

static uint64_t processor_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL +
	       worker_time();
}

/* ---- a run ---- */

static int *open_connections(unsigned int n)
{
	int *fds = calloc(n, sizeof(*fds)), pair[2];
	unsigned int i;

	connections = calloc(n, sizeof(*connections));
	if (!fds || !connections)
		err(1, "calloc");
	for (i = 0; i < n; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			err(1, "socketpair");
		connections[i].fd = pair[0];
		fds[i] = pair[1];
	}
	return fds;
}

static void add_connection(struct connection *connection)
{
	connection->event = event_new(base, connection->fd,
				      EV_READ | EV_PERSIST, on_request,
				      connection);
	event_add(connection->event, NULL);
	if (is_silent(connection))
		set_deadline(connection);
	system_now->add(connection);
}

static void close_connections(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		system_now->remove(&connections[i]);
		event_free(connections[i].event);
		close(connections[i].fd);
	}
	free(connections);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void take_result(struct result *result, uint64_t time)
{
	unsigned long n = timeouts < MAX_SAMPLES ? timeouts : MAX_SAMPLES;

	qsort(late, n, sizeof(*late), by_value);
	*result = (struct result){
		.cost = (double)time / requests,
		.requests = requests,
		.timeouts = timeouts,
		.early = early,
		.median = n ? late[n / 2] : 0,
		.p99 = n ? late[n * 99 / 100] : 0,
	};
}

/* Returns false if the system is not here. */
static bool run(const struct system *system, unsigned int n,
		struct result *result)
{
	unsigned int i;
	uint64_t start;
	pid_t child;
	int *fds;

	system_now = system;
	requests = 0;
	timeouts = 0;
	early = 0;
	over = false;
	awaits_timeout = n >= SILENT && system != &systems[0];
	base = event_base_new();
	if (!system->begin(base, timeout)) {
		event_base_free(base);
		return false;
	}
	fds = open_connections(n);
	for (i = 0; i < n; i++)
		add_connection(&connections[i]);
	child = fork();
	if (!child) {
		for (i = 0; i < n; i++)
			close(connections[i].fd);
		be_clients(fds, n);
	}
	for (i = 0; i < n; i++)
		close(fds[i]);
	start = processor_time();
	event_base_dispatch(base);
	take_result(result, processor_time() - start);
	waitpid(child, NULL, 0);
	close_connections(n);
	if (system->end)
		system->end();
	event_base_free(base);
	free(fds);
	return true;
}

/* ---- what to run ---- */

static unsigned int pushes = 30, spans = 2, reps = 3;
static unsigned long most = 1000000;
static const char *names = "none,libevent,timerfd,hwtimer";
static const char *sizes = "100,1000,10000,100000";
static bool check;
static unsigned int tests;

static bool is_wanted(const struct system *system)
{
	const char *found = strstr(names, system->name);

	return found && strchr(",", found[strlen(system->name)]);
}

/* Chooses the length of the timeout, by a run without timers. */
static void calibrate(unsigned int n)
{
	unsigned long all = (unsigned long)n * pushes * spans;
	struct result result;
	uint64_t start;

	timeout = 0;
	wanted = all < 20000 ? all : 20000;
	start = now_ns();
	run(&systems[0], n, &result);
	timeout = (now_ns() - start) / requests * n * pushes;
	/* A machine that stands still for a moment must not make all timeouts expire. */
	if (timeout < 20000000)
		timeout = 20000000;
	wanted = all < most ? all : most;
}

static int by_cost(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return x->cost < y->cost ? -1 : x->cost > y->cost;
}

static void report(const struct system *system, unsigned int n,
		   struct result *results)
{
	unsigned long early_ones = 0, missing = 0;
	struct result *middle;
	unsigned int i;

	for (i = 0; i < reps; i++) {
		early_ones += results[i].early;
		missing += n >= SILENT && !results[i].timeouts &&
			   system != &systems[0];
		missing += results[i].requests < wanted;
	}
	if (check) {
		printf("%sok %u - server with %s, %u connections: %lu early, %lu missing\n",
		       early_ones || missing ? "not " : "", ++tests,
		       system->name, n, early_ones, missing);
		return;
	}
	qsort(results, reps, sizeof(*results), by_cost);
	middle = &results[reps / 2];
	printf("%7u %-9s %8.0f %8.0f %8.0f %9lu %8lu %10.1f %10.1f\n", n,
	       system->name, middle->cost, results[0].cost,
	       results[reps - 1].cost, middle->requests, middle->timeouts,
	       middle->median / 1000.0, middle->p99 / 1000.0);
	if (early_ones || missing)
		printf("# %lu early, %lu missing\n", early_ones, missing);
}

/* The systems take turns, so that what disturbs the machine disturbs all of them. */
static void measure(unsigned int n)
{
	static struct result results[8][MAX_REPS];
	bool here[8] = { false };
	unsigned int i, rep;

	calibrate(n);
	if (!check)
		printf("# %u connections, timeout %.1f ms\n", n, timeout / 1e6);
	for (rep = 0; rep < reps; rep++)
		for (i = 0; systems[i].name; i++)
			if (is_wanted(&systems[i]))
				here[i] = run(&systems[i], n, &results[i][rep]);
	for (i = 0; systems[i].name; i++)
		if (here[i])
			report(&systems[i], n, results[i]);
		else if (is_wanted(&systems[i]))
			printf("# %s is not here\n", systems[i].name);
	fflush(stdout);
}

/* Returns the largest number of connections for which there are descriptors. */
static unsigned int allowed_connections(void)
{
	struct rlimit limit = { 1000000, 1000000 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > 200 ? (limit.rlim_cur - 100) / 2 : 0;
}

static void take_options(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check"))
			check = true;
		else if (i + 1 == argc)
			errx(2, "%s: no such option, or no value", argv[i]);
		else if (!strcmp(argv[i], "--connections"))
			sizes = argv[++i];
		else if (!strcmp(argv[i], "--systems"))
			names = argv[++i];
		else if (!strcmp(argv[i], "--pushes"))
			pushes = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--timeouts"))
			spans = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--most"))
			most = atol(argv[++i]);
		else if (!strcmp(argv[i], "--reps"))
			reps = atoi(argv[++i]);
		else
			errx(2, "%s: no such option", argv[i]);
	}
	if (!pushes || !spans || !most || !reps || reps > MAX_REPS)
		errx(2, "a number is out of range");
}

int main(int argc, char **argv)
{
	unsigned int n, allowed = allowed_connections();
	char *next;

	take_options(argc, argv);
	late = calloc(MAX_SAMPLES, sizeof(*late));
	if (!late)
		err(1, "calloc");
	if (!check)
		printf("%7s %-9s %8s %8s %8s %9s %8s %10s %10s\n", "n",
		       "system", "ns/req", "min", "max", "requests", "timeouts",
		       "late us", "p99 us");
	for (next = (char *)sizes; *next; next += *next == ',') {
		n = strtoul(next, &next, 10);
		if (!n || (*next && *next != ','))
			errx(2, "%s: no list of numbers", sizes);
		if (n <= allowed)
			measure(n);
		else
			printf("# %u connections: too many descriptors\n", n);
	}
	if (check)
		printf("1..%u\n", tests);
	return 0;
}
