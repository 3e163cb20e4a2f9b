// SPDX-License-Identifier: GPL-2.0
/*
 * An application's benchmark: a server with a timeout for each connection, which each
 * request pushes out. The same loop, libevent's, with the timers of different systems.
 * `server-bench --help` lists the options.
 *
 * A child process is the clients: it sends a request on each of 64 connections, waits for
 * the answers, and goes on with the next 64. One connection in 100 is silent: its timeout
 * expires, and is started anew. The timeout is as long as --pushes requests of each
 * connection take with the system "none", and the run as long as --spans timeouts. If that
 * were more than --most requests, there are fewer pushes in a timeout, which makes
 * hwtimer's timers move more often for each request; at least FEWEST.
 *
 * With --every, the clients keep a pace instead: each connection that is not silent sends a
 * request each so many ms, for --seconds; the timeout is --timeout.
 *
 * The figures of a system are of the server's process, the kernel's work for it included:
 * its processor time per request, that of hwtimer's threads, its system calls, and how late
 * the timeouts of silent connections were. Medians of --reps runs, in which the systems take
 * turns. Where the clock counts instructions (test/vm/run.sh --icount), so does processor time.
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
#include <unistd.h>

#include "../emit.h"
#include "../numbers.h"
#include "../parse.h"
#include "../processor.h"
#include "calls.h"
#include "device.h"

#define WINDOW 64
#define SILENT 100
#define FEWEST 3
/* More connections than that tell nothing new about the time of a request. */
#define CALIBRATED 1000
#define MAX_SAMPLES 1000000
#define MAX_REPS 99
#define MAX_SYSTEMS 8

/**
 * struct options - the command line
 * @connections: numbers of connections
 * @systems: names of the systems
 * @pushes: requests of each connection in a timeout
 * @spans: length of a run, in timeouts
 * @most: the most requests of a run
 * @reps: number of runs
 * @every: pace of each connection, ms; 0: as fast as the server answers
 * @timeout: with @every: the timeout, ms
 * @seconds: with @every: length of a run
 * @counter: the clock is the processor's counter, as on a kernel with a vDSO
 * @check: print TAP
 * @json: print results for report.py
 * @where: name of this place, for report.py
 * @rep: number of this repetition, for report.py
 */
static struct options {
	struct list connections;
	bool systems[MAX_SYSTEMS];
	__u32 pushes, spans, most, reps;
	__u32 every, timeout, seconds;
	bool counter;
	bool check;
	bool json;
	const char *where;
	__u32 rep;
} options;

/**
 * struct result - what a run gave
 * @own: processor time of the server, ns per request
 * @worker: processor time of hwtimer's threads, ns per request
 * @timer_calls: system calls for timers, per request
 * @calls: all system calls of the server, per request
 * @clocks: readings of the clock, per request
 * @requests: number of requests
 * @timeouts: number of timeouts of silent connections
 * @early: of these, how many were early
 * @median: how late these were, ns
 * @p99: how late 99 of 100 were at most, ns
 */
struct result {
	double own, worker, timer_calls, calls, clocks;
	unsigned long requests, timeouts, early;
	double median, p99;
};

static const struct system *system_now;
static struct event_base *base;
static struct connection *connections;
static uint64_t timeout;
static double *late;
static unsigned long requests, wanted, timeouts, early;

/* The clients have ended; there is a connection whose timeout has to come before the end */
static bool over, awaits_timeout;

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
		note_timeout(connection, calls_kernel_now());
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

/*
 * Sends a request on each of the connections from @first on, and takes the answers. The last
 * one is awaited, when the others are there.
 */
static unsigned int ask(const int *fds, unsigned int first, unsigned int n)
{
	unsigned int i, asked = 0;
	char text[64];

	for (i = first; i < first + n; i++)
		if (i % SILENT != SILENT - 1 && ++asked &&
		    send(fds[i], "what?\n", 6, MSG_NOSIGNAL) != 6)
			err(1, "send");
	for (i = first + n; i-- > first;)
		if (i % SILENT != SILENT - 1 &&
		    recv(fds[i], text, sizeof(text), 0) != 3)
			errx(1, "no answer");
	return asked;
}

/* Sends requests as soon as they are answered, @wanted of them, and until @end. */
static void ask_at_once(const int *fds, unsigned int n, uint64_t end)
{
	unsigned int first = 0, count;
	unsigned long asked = 0;

	while (asked < wanted || (timeout && now_ns() < end)) {
		count = n - first < WINDOW ? n - first : WINDOW;
		asked += ask(fds, first, count);
		first = (first + count) % n;
	}
}

/* Sends requests when they are due, which are spread evenly. */
static void ask_at_pace(const int *fds, unsigned int n, uint64_t end)
{
	uint64_t start = now_ns(), done = 0, due;
	unsigned int first = 0, count;

	while (done < wanted || now_ns() < end) {
		due = (now_ns() - start) * n / (options.every * 1000000ULL);
		if (due <= done) {
			usleep(500);
			continue;
		}
		count = n - first < WINDOW ? n - first : WINDOW;
		if (count > due - done)
			count = due - done;
		ask(fds, first, count);
		first = (first + count) % n;
		done += count;
	}
}

/*
 * Ends when all requests are answered and the time of two timeouts has passed. Until then
 * requests come, so that only silent connections have timeouts.
 */
static void be_clients(const int *fds, unsigned int n)
{
	uint64_t end = now_ns() + 2 * timeout + 20000000;

	if (timeout && options.every)
		ask_at_pace(fds, n, end);
	else
		ask_at_once(fds, n, end);
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

/* Takes the result of a run that began at @own and @worker. */
static void take_result(struct result *result, uint64_t own, uint64_t worker)
{
	unsigned long n = timeouts < MAX_SAMPLES ? timeouts : MAX_SAMPLES;
	double each = 1.0 / requests;

	own = clock_now(CLOCK_PROCESS_CPUTIME_ID) - own;
	if (system_now->has_worker)
		worker = worker_time() - worker;
	*result = (struct result){
		.own = own * each,
		.worker = worker * each,
		.timer_calls = calls.timers * each,
		.calls = (calls.timers + calls.others) * each,
		.clocks = calls.clocks * each,
		.requests = requests,
		.timeouts = timeouts,
		.early = early,
		.median = n ? quantile(late, n, 0.5) : 0,
		.p99 = n ? quantile(late, n, 0.99) : 0,
	};
}

/*
 * The clients have a processor of their own. If there is only one, they send all requests of
 * a window before the server runs, so that it finds as many at a time with each system.
 */
static void settle_clients(void)
{
	processor_pin(0, 0);
	if (!processor_last() && !geteuid())
		processor_hold();
}

static pid_t start_clients(int *fds, unsigned int n)
{
	pid_t child = fork();
	unsigned int i;

	if (child < 0)
		err(1, "fork");
	if (!child) {
		settle_clients();
		for (i = 0; i < n; i++)
			close(connections[i].fd);
		be_clients(fds, n);
	}
	for (i = 0; i < n; i++)
		close(fds[i]);
	return child;
}

/* Returns false if the system is not here. */
static bool run(const struct system *system, unsigned int n,
		struct result *result)
{
	uint64_t own, worker;
	unsigned int i;
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
	if (system->settle)
		system->settle();
	child = start_clients(fds, n);
	calls = (struct calls){ 0 };
	worker = system->has_worker ? worker_time() : 0;
	own = clock_now(CLOCK_PROCESS_CPUTIME_ID);
	event_base_dispatch(base);
	take_result(result, own, worker);
	waitpid(child, NULL, 0);
	close_connections(n);
	if (system->end)
		system->end();
	event_base_free(base);
	free(fds);
	return true;
}

/* ---- reports ---- */

static unsigned int tests;

/* Returns the median of a field of results, which are doubles. */
static double median_of(const struct result *results, size_t field)
{
	double values[MAX_REPS];
	unsigned int i;

	for (i = 0; i < options.reps; i++)
		values[i] =
			*(const double *)((const char *)&results[i] + field);
	return quantile(values, options.reps, 0.5);
}

#define MEDIAN(results, field) \
	median_of(results, offsetof(struct result, field))

static void print_heading(void)
{
	printf("%7s %-9s %8s %8s %8s %8s %8s %9s %8s %9s %9s\n", "n", "system",
	       "ns/req", "worker", "timers", "calls", "clocks", "requests",
	       "timeouts", "late us", "p99 us");
}

static void print_row(const struct system *system, unsigned int n,
		      const struct result *results)
{
	printf("%7u %-9s %8.0f %8.0f %8.4f %8.3f %8.3f %9lu %8lu %9.1f %9.1f\n",
	       n, system->name, MEDIAN(results, own), MEDIAN(results, worker),
	       MEDIAN(results, timer_calls), MEDIAN(results, calls),
	       MEDIAN(results, clocks), results->requests, results->timeouts,
	       MEDIAN(results, median) / 1000, MEDIAN(results, p99) / 1000);
}

static void emit_row(const struct system *system, unsigned int n,
		     const struct result *results)
{
	const struct result *result;
	unsigned int i;

	for (i = 0; i < options.reps; i++) {
		result = &results[i];
		emit_place(options.where, options.rep, i + 1);
		emit_subject(system->name,
			     options.every ? "server, paced" : "server", n);
		emit("processor time", result->own, "ns/request");
		emit("worker's time", result->worker, "ns/request");
		emit("calls for timers", result->timer_calls, "calls/request");
		emit("calls", result->calls, "calls/request");
		emit("clock readings", result->clocks, "calls/request");
		emit("timeout", timeout, "ns");
		emit("requests", result->requests, "count");
		emit("timeouts", result->timeouts, "count");
		if (!result->timeouts)
			continue;
		emit("timeout's lateness, median", result->median, "ns");
		emit("timeout's lateness, 99 of 100", result->p99, "ns");
	}
}

static void report(const struct system *system, unsigned int n,
		   const struct result *results)
{
	unsigned long early_ones = 0, missing = 0;
	unsigned int i;

	for (i = 0; i < options.reps; i++) {
		early_ones += results[i].early;
		missing += n >= SILENT && !results[i].timeouts &&
			   system != &systems[0];
		missing += !options.every && results[i].requests < wanted;
	}
	if (options.check)
		printf("%sok %u - server with %s, %u connections: %lu early, %lu missing\n",
		       early_ones || missing ? "not " : "", ++tests,
		       system->name, n, early_ones, missing);
	else if (early_ones || missing)
		errx(1, "%s, %u connections: %lu early, %lu missing",
		     system->name, n, early_ones, missing);
	else if (options.json)
		emit_row(system, n, results);
	else
		print_row(system, n, results);
}

/* ---- what to run ---- */

/* Chooses the length of the timeout, by a run without timers. */
static void calibrate(unsigned int n)
{
	unsigned int few = n < CALIBRATED ? n : CALIBRATED, pushes;
	unsigned long all = (unsigned long)n * options.pushes * options.spans;
	struct result result;
	uint64_t start;

	pushes = options.pushes;
	if (all > options.most)
		pushes = options.most / (n * options.spans);
	if (pushes < FEWEST)
		pushes = FEWEST;
	if (pushes > options.pushes)
		pushes = options.pushes;
	wanted = (unsigned long)n * pushes * options.spans;
	if (options.every) {
		timeout = options.timeout * 1000000ULL;
		wanted = (uint64_t)n * 1000 * options.seconds / options.every;
		return;
	}
	timeout = 0;
	all = wanted;
	wanted = all < 20000 ? all : 20000;
	start = now_ns();
	run(&systems[0], few, &result);
	timeout = (now_ns() - start) / requests * n * pushes;
	/* A machine that stands still for a moment must not make all timeouts expire. */
	if (timeout < 20000000)
		timeout = 20000000;
	wanted = all;
}

/* The systems take turns, so that what disturbs the machine disturbs all of them. */
static void measure(unsigned int n)
{
	static struct result results[MAX_SYSTEMS][MAX_REPS];
	bool here[MAX_SYSTEMS] = { false };
	unsigned int i, rep;

	calibrate(n);
	if (!options.check && !options.json)
		printf("# %u connections, timeout %.1f ms\n", n, timeout / 1e6);
	for (rep = 0; rep < options.reps; rep++)
		for (i = 0; systems[i].name; i++)
			if (options.systems[i])
				here[i] = run(&systems[i], n, &results[i][rep]);
	for (i = 0; systems[i].name; i++)
		if (here[i])
			report(&systems[i], n, results[i]);
		else if (options.systems[i] && !options.json)
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
	return limit.rlim_cur > 300 ? (limit.rlim_cur - 100) / 3 : 0;
}

static void take_options(int argc, char **argv)
{
	static char *names[MAX_SYSTEMS + 1];
	const struct parse_option table[] = {
		{ "connections", "N,...", "numbers of connections", parse_list,
		  &options.connections, 1, 1000000, 8 },
		{ "systems", "NAME,...",
		  "none, libevent, timerfd, hwtimer (all)", parse_names,
		  options.systems, .names = names },
		{ "pushes", "N",
		  "requests of each connection in a timeout (30)", parse_u32,
		  &options.pushes, 1, 1000000 },
		{ "spans", "N", "length of a run, in timeouts (2)", parse_u32,
		  &options.spans, 1, 1000 },
		{ "most", "N", "the most requests of a run (1000000)",
		  parse_u32, &options.most, 1, 1000000000 },
		{ "reps", "N", "runs, in turns (3)", parse_u32, &options.reps,
		  1, MAX_REPS },
		{ "every", "MS", "a request of each connection each MS ms",
		  parse_u32, &options.every, 1, 1000000 },
		{ "timeout", "MS", "with --every: the timeout (30000)",
		  parse_u32, &options.timeout, 1, 1000000000 },
		{ "seconds", "S", "with --every: length of a run (65)",
		  parse_u32, &options.seconds, 1, 1000000 },
		{ "counter", NULL,
		  "read the clock from the processor's counter: for User-Mode Linux,\n"
		  "                     where clock_gettime() is a system call",
		  parse_flag, &options.counter },
		{ "check", NULL,
		  "print TAP: whether all is answered, none early", parse_flag,
		  &options.check },
		{ "json", NULL, "print results for report.py", parse_flag,
		  &options.json },
		{ "where", "NAME", "name of this place, for report.py (host)",
		  parse_text, &options.where },
		{ "rep", "N", "number of this repetition, for report.py (0)",
		  parse_u32, &options.rep, 0, 1000 },
		{ NULL },
	};
	unsigned int i;

	options = (struct options){
		.connections = { 4, { 100, 1000, 10000, 100000 } },
		.pushes = 30,
		.spans = 2,
		.most = 1000000,
		.reps = 3,
		.timeout = 30000,
		.seconds = 65,
		.where = "host",
	};
	for (i = 0; systems[i].name; i++)
		names[i] = (char *)systems[i].name;
	parse_options(table, argc, argv);
	for (i = 0; systems[i].name && !options.systems[i]; i++)
		;
	if (!systems[i].name)
		memset(options.systems, true, sizeof(options.systems));
}

int main(int argc, char **argv)
{
	unsigned int i, n, allowed = allowed_connections();

	take_options(argc, argv);
	if (options.counter)
		calls_read_counter();
	processor_pin(0, processor_last());
	late = allocate(MAX_SAMPLES, sizeof(*late));
	if (!options.check && !options.json)
		print_heading();
	for (i = 0; i < options.connections.count; i++) {
		n = options.connections.values[i];
		if (n <= allowed)
			measure(n);
		else if (!options.json)
			printf("# %u connections: too many descriptors\n", n);
	}
	if (options.check)
		printf("1..%u\n", tests);
	return 0;
}
