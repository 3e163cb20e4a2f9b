// SPDX-License-Identifier: GPL-2.0
/*
 * Runs one seed after the other, each in a process of its own, and prints what they did.
 * When one fails, prints the command that repeats it.
 *
 *	usage: simulate [OPTION]...
 *	  --seeds A[-B]	the seeds; without B, from A on until there were enough operations
 *	  --ops N	number of operations of all runs together
 *	  --run N	number of operations of one run
 *	  --trace [N]	print each step, from step N on; for one seed
 *	  --keep-going	do not stop at the first failure
 *	  --short N	run each seed N times: with the first allocation failing and the
 *			one after it, with the second one failing and the one after it, ...
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"
#include "world.h"

/**
 * struct options - the command line
 * @first: first seed
 * @last: last seed
 * @operations: number of operations of all runs
 * @run: number of operations of one run
 * @trace: print each step
 * @trace_from: the first of them
 * @keep_going: do not stop at the first failure
 * @shortages: number of allocations each of which is to fail once; 0: chosen by the seed
 */
struct options {
	uint64_t first;
	uint64_t last;
	uint64_t operations;
	uint64_t run;
	bool trace;
	uint64_t trace_from;
	bool keep_going;
	uint64_t shortages;
};

static const char *program;

/* In the builds that count what the module runs: writes the counters, which _exit() does not */
void __gcov_dump(void) __attribute__((weak));

/* ---- one run ---- */

/*
 * @nth: the allocation that is to fail, with the one after it: some things are tried in two
 *	ways. 0: the seed chooses what fails
 */
static void run_child(const struct options *options, uint64_t seed,
		      uint64_t nth, struct sim_counts *counts)
{
	struct sim_random random = { .state = ~seed };

	sim_run.seed = seed;
	sim_run_choose(&random);
	if (nth) {
		sim_run.alloc_nth = nth;
		sim_run.refused_row = 2;
	}
	sim_run.operations = options->run;
	sim_run.trace = options->trace;
	sim_run.trace_from = options->trace_from;
	sim_run_limit();
	sim_schedule(world_main, NULL);
	*counts = sim_counts;
	fflush(stdout);
	if (__gcov_dump)
		__gcov_dump();
	_exit(0);
}

static void report(const struct options *options, uint64_t seed, uint64_t nth,
		   int status)
{
	fflush(stdout);
	if (WIFSIGNALED(status))
		fprintf(stderr, "# seed %" PRIu64 ": signal %d, %s\n", seed,
			WTERMSIG(status),
			WTERMSIG(status) == SIGXCPU ?
				"it hangs" :
				strsignal(WTERMSIG(status)));
	if (nth)
		fprintf(stderr, "# allocation %" PRIu64 " failed\n", nth);
	fprintf(stderr,
		"# to repeat it, step by step: %s --seeds %" PRIu64
		" --run %" PRIu64 " --trace\n",
		program, seed, options->run);
}

/* Returns whether a run succeeded; @nth as for run_child(). */
static bool run_one(const struct options *options, uint64_t seed, uint64_t nth,
		    struct sim_counts *counts)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid)
		run_child(options, seed, nth, counts);
	if (waitpid(pid, &status, 0) != pid)
		err(2, "waitpid");
	if (!status)
		return true;
	report(options, seed, nth, status);
	return false;
}

/* Returns whether all runs of one seed succeeded; @counts are those of the last one. */
static bool run_seed(const struct options *options, uint64_t seed,
		     struct sim_counts *counts)
{
	uint64_t nth;

	for (nth = 1; nth < options->shortages; nth++)
		if (!run_one(options, seed, nth, counts))
			return false;
	return run_one(options, seed, options->shortages, counts);
}

/* ---- all runs ---- */

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static double timeval_seconds(const struct timeval *time)
{
	return time->tv_sec + time->tv_usec / 1e6;
}

/* Processor time of all runs so far: other programs do not make it longer. */
static double processor_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return timeval_seconds(&usage.ru_utime) +
	       timeval_seconds(&usage.ru_stime);
}

static void add(struct sim_counts *sum, const struct sim_counts *counts)
{
	sum->operations += counts->operations;
	sum->events += counts->events;
	sum->steps += counts->steps;
	sum->switches += counts->switches;
	sum->stills += counts->stills;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The number of runs in which the threads ran in different orders */
static uint64_t distinct(uint64_t *schedules, uint64_t count)
{
	uint64_t i, different = 0;

	qsort(schedules, count, sizeof(*schedules), compare);
	for (i = 0; i < count; i++)
		different += !i || schedules[i] != schedules[i - 1];
	return different;
}

static void summary(const struct sim_counts *sum, uint64_t runs,
		    uint64_t schedules, uint64_t last, double time)
{
	double processor = processor_seconds();

	printf("# %" PRIu64 " runs up to seed %" PRIu64 ", %" PRIu64
	       " of them with different schedules\n",
	       runs, last, schedules);
	printf("# %" PRIu64 " operations, %" PRIu64 " events, %" PRIu64
	       " steps, %" PRIu64 " switches, %" PRIu64 " still points\n",
	       sum->operations, sum->events, sum->steps, sum->switches,
	       sum->stills);
	printf("# %.1f seconds, %.1f of a processor: %.0f operations and %.0f switches a second\n",
	       time, processor, sum->operations / processor,
	       sum->switches / processor);
}

static bool run_all(const struct options *options)
{
	struct sim_counts *counts = mmap(NULL, sizeof(*counts),
					 PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t *schedules = NULL, room = 0, runs = 0, failed = 0;
	struct sim_counts sum = {};
	double begin = seconds(), said = begin;
	uint64_t seed;

	for (seed = options->first; seed <= options->last; seed++) {
		if (!run_seed(options, seed, counts)) {
			failed++;
			if (!options->keep_going)
				break;
			continue;
		}
		add(&sum, counts);
		if (runs == room) {
			room = room * 2 ?: 1024;
			schedules =
				realloc(schedules, room * sizeof(*schedules));
		}
		schedules[runs++] = counts->schedule;
		if (sum.operations >= options->operations)
			break;
		if (seconds() - said > 60) {
			said = seconds();
			printf("# seed %" PRIu64 ", %" PRIu64 " operations\n",
			       seed, sum.operations);
		}
	}
	summary(&sum, runs, distinct(schedules, runs), seed, seconds() - begin);
	free(schedules);
	if (failed > 1)
		printf("# %" PRIu64 " seeds failed\n", failed);
	return !failed;
}

/* ---- the command line ---- */

static uint64_t number(const char *text, char **end)
{
	uint64_t n;

	errno = 0;
	n = strtoull(text, end, 10);
	if (errno || *end == text)
		errx(2, "not a number: %s", text);
	return n;
}

static void seeds(struct options *options, const char *text)
{
	char *end;

	options->first = number(text, &end);
	options->last = UINT64_MAX;
	if (*end == '-')
		options->last = number(end + 1, &end);
	if (*end)
		errx(2, "not a range of seeds: %s", text);
}

static uint64_t plain_number(const char *text)
{
	char *end;
	uint64_t n = number(text, &end);

	if (*end)
		errx(2, "not a number: %s", text);
	return n;
}

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "seeds", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'o' },
		{ "run", required_argument, NULL, 'r' },
		{ "trace", optional_argument, NULL, 'v' },
		{ "keep-going", no_argument, NULL, 'k' },
		{ "short", required_argument, NULL, 'n' },
		{},
	};
	int name;

	while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (name) {
		case 's':
			seeds(options, optarg);
			break;
		case 'o':
			options->operations = plain_number(optarg);
			break;
		case 'r':
			options->run = plain_number(optarg);
			break;
		case 'v':
			options->trace = true;
			options->trace_from = optarg ? plain_number(optarg) : 0;
			options->last = options->first;
			break;
		case 'k':
			options->keep_going = true;
			break;
		case 'n':
			options->shortages = plain_number(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (optind < argc)
		errx(2, "what is %s?", argv[optind]);
	if (options->trace)
		options->last = options->first;
}

/* Addresses must be the same each time, as some of them decide what happens. */
static void fix_addresses(char **argv)
{
	int before = personality(0xffffffff);

	if (before & ADDR_NO_RANDOMIZE)
		return;
	if (personality(before | ADDR_NO_RANDOMIZE) >= 0)
		execv("/proc/self/exe", argv);
	warn("addresses cannot be fixed, so a seed may not repeat a run");
}

int main(int argc, char **argv)
{
	struct options options = {
		.first = 1,
		.last = UINT64_MAX,
		.operations = 1000000,
		.run = 10000,
	};

	program = argv[0];
	parse(&options, argc, argv);
	fix_addresses(argv);
	return !run_all(&options);
}
