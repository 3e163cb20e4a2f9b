// SPDX-License-Identifier: GPL-2.0
/*
 * Torture, in the manner of rcutorture: workers that use /dev/hwtimer at random and keep
 * exact accounts (worker.c), beside disturbers (disturb.c), for as long as wanted. run.sh
 * starts it in a machine.
 *
 *	usage: torture [-m MINUTES] [-w WORKERS] [-s SEED] [-i SECONDS] [-x DISTURBER,...] [-e]
 *
 *	-m	length of the run (default 1); a fraction is allowed. It goes on until each
 *		disturber has succeeded once, or was refused again and again
 *	-w	number of workers at a time (default 4)
 *	-s	seed of all random choices (default: a new one)
 *	-i	seconds between lines of statistics (default 60)
 *	-x	disturbers to leave out
 *	-e	end at the first fault
 *
 * Prints statistics, faults as they are found, and as its last line a verdict. Exit status
 * 0: SUCCESS.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "disturb.h"
#include "worker.h"

#define DEVICE "/dev/hwtimer"

/* Users of the workers: two for all, so that several have one tenant */
#define FIRST_UID 3000
#define UIDS 2

/* Time for which a worker's place may stay empty, ns */
#define EMPTY_MAX (3 * SEC)

/* Tries after which a disturber that has never succeeded cannot */
#define REFUSED_MAX 20

struct options {
	double minutes;
	unsigned int workers;
	unsigned long seed;
	unsigned int interval;
	const char *without;
	bool hasty;
};

/* For each seat, the time at which the next worker is to start */
static __u64 starts[SEATS_MAX];

static struct rng rng;

/* ---- options ---- */

static void refuse(void)
{
	fprintf(stderr,
		"usage: torture [-m MINUTES] [-w WORKERS] [-s SEED] [-i SECONDS] [-x DISTURBER,...] [-e]\n");
	exit(2);
}

static struct options parse(int argc, char **argv)
{
	struct options options = { 1, 4, 0, 60, "", false };
	int option;

	while ((option = getopt(argc, argv, "m:w:s:i:x:e")) >= 0) {
		switch (option) {
		case 'm':
			options.minutes = strtod(optarg, NULL);
			break;
		case 'w':
			options.workers = strtoul(optarg, NULL, 0);
			break;
		case 's':
			options.seed = strtoul(optarg, NULL, 0);
			break;
		case 'i':
			options.interval = strtoul(optarg, NULL, 0);
			break;
		case 'x':
			options.without = optarg;
			break;
		case 'e':
			options.hasty = true;
			break;
		default:
			refuse();
		}
	}
	if (options.minutes <= 0 || !options.workers ||
	    options.workers > SEATS_MAX || !options.interval || optind < argc)
		refuse();
	if (!options.seed &&
	    getrandom(&options.seed, sizeof(options.seed), 0) < 0)
		options.seed = 1;
	return options;
}

/* Whether @name is one of the words of @list, which commas separate */
static bool listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	while (list) {
		if (!strncmp(list, name, length) &&
		    (!list[length] || list[length] == ','))
			return true;
		list = strchr(list, ',');
		if (list)
			list++;
	}
	return false;
}

/* ---- workers ---- */

static uid_t user_of(const struct seat *seat)
{
	return FIRST_UID + seat->nr % UIDS;
}

/* Opens an instance as another user, whose account pays for it. */
static int open_as(uid_t uid)
{
	int fd;

	if (setreuid(uid, -1))
		return -1;
	fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (setreuid(0, -1))
		exit(2);
	return fd;
}

/* Forgets the instance of a seat. */
static void clear_seat(struct seat *seat)
{
	if (seat->fd >= 0)
		close(seat->fd);
	worker_reset(seat);
	/* Of most instances this process has a descriptor, too. */
	seat->alien = rng_one_in(&rng, 2);
	if (rng_below(&rng, 8))
		seat->fd = open_as(seat->alien ? 0 : user_of(seat));
	else
		seat->alien = false;
}

static void become(struct seat *seat)
{
	uid_t uid = user_of(seat);

	for (int i = 0; i < SEATS_MAX; i++) {
		if (&board->seats[i] != seat && board->seats[i].fd >= 0)
			close(board->seats[i].fd);
	}
	cgroup_join(rng_below(&rng, GROUPS));
	/* What is in memory now must not fail to be there later. */
	mlockall(MCL_CURRENT);
	disturb_allow_faults();
	if (setgid(uid) || setuid(uid))
		_exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void start_worker(struct seat *seat)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		starts[seat->nr] = clock_ns(CLOCK_MONOTONIC) + 100 * MS;
		return;
	}
	if (!pid) {
		become(seat);
		worker_run(seat);
		_exit(0);
	}
	seat->pid = pid;
}

static struct seat *seat_of(pid_t pid)
{
	for (int i = 0; i < SEATS_MAX; i++) {
		if (board->seats[i].pid == pid)
			return &board->seats[i];
	}
	return NULL;
}

/* Whether the next worker of a seat goes on with the instance of the last one */
static bool goes_on(const struct seat *seat)
{
	return seat->fd >= 0 && atomic_load(&seat->ready) &&
	       !atomic_load(&seat->done) && !atomic_load(&seat->updating);
}

static void worker_ended(struct seat *seat, int status)
{
	__u64 now = clock_ns(CLOCK_MONOTONIC);

	seat->pid = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		wrong(RESULT, "the worker of seat %u died of signal %d",
		      seat->nr, WTERMSIG(status));
	starts[seat->nr] = now;
	if (goes_on(seat)) {
		/* Sometimes for so long that hwtimer's workers leave, too */
		if (rng_one_in(&rng, 3))
			starts[seat->nr] += rng_next(&rng) % EMPTY_MAX;
		return;
	}
	if (atomic_load(&seat->ready) && !atomic_load(&seat->done))
		did(UNKNOWN);
	clear_seat(seat);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct seat *seat = seat_of(pid);

		if (seat)
			worker_ended(seat, status);
	}
}

static void start_due(unsigned int workers)
{
	__u64 now = clock_ns(CLOCK_MONOTONIC);

	for (unsigned int i = 0; i < workers; i++) {
		if (!board->seats[i].pid && now >= starts[i])
			start_worker(&board->seats[i]);
	}
}

/* ---- disturbers ---- */

static pid_t pids[32];

static bool wanted(unsigned int i, const struct options *options)
{
	return !listed(options->without, disturbers[i].name) &&
	       (!disturbers[i].possible || disturbers[i].possible());
}

static void start_disturber(unsigned int i)
{
	struct disturber *disturber = &disturbers[i];

	fflush(stdout);
	pids[i] = fork();
	if (pids[i])
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int nr = 0; nr < SEATS_MAX; nr++) {
		if (board->seats[nr].fd >= 0)
			close(board->seats[nr].fd);
	}
	disturber->run(disturber, &(struct rng){ board->seed + i });
	_exit(0);
}

static bool make_shared(void)
{
	atomic_ulong *counters = board_share(4096);

	board->seats = board_share(SEATS_MAX * sizeof(*board->seats));
	if (!counters || !board->seats)
		return false;
	for (unsigned int i = 0; i < disturbers_count; i++) {
		disturbers[i].times = counters++;
		disturbers[i].refused = counters++;
	}
	return true;
}

static void start_disturbers(const struct options *options)
{
	for (unsigned int i = 0; i < disturbers_count; i++) {
		if (wanted(i, options))
			start_disturber(i);
		else
			printf("# torture: without %s%s\n", disturbers[i].name,
			       listed(options->without, disturbers[i].name) ?
				       "" :
				       ", which this kernel does not have");
	}
}

static void end_disturbers(void)
{
	for (unsigned int i = 0; i < disturbers_count; i++) {
		if (pids[i] > 0)
			waitpid(pids[i], NULL, 0);
		if (pids[i] > 0 && disturbers[i].calm)
			disturbers[i].calm();
	}
}

static void tell_disturbers(void)
{
	printf("# torture: disturbers (done, refused):");
	for (unsigned int i = 0; i < disturbers_count; i++) {
		if (pids[i] > 0)
			printf(" %s %lu %lu", disturbers[i].name,
			       atomic_load(disturbers[i].times),
			       atomic_load(disturbers[i].refused));
	}
	printf("\n");
	fflush(stdout);
}

/* Whether a disturber has not had the time yet to succeed once */
static bool any_waits(void)
{
	for (unsigned int i = 0; i < disturbers_count; i++) {
		if (pids[i] > 0 && !atomic_load(disturbers[i].times) &&
		    atomic_load(disturbers[i].refused) < REFUSED_MAX)
			return true;
	}
	return false;
}

/* Writes to @text the disturbers that have never succeeded. */
static void find_idle(char *text, size_t size)
{
	size_t length = 0;

	text[0] = 0;
	for (unsigned int i = 0; i < disturbers_count; i++) {
		if (pids[i] > 0 && !atomic_load(disturbers[i].times) &&
		    length < size)
			length += snprintf(text + length, size - length,
					   " %s=0", disturbers[i].name);
	}
}

/* ---- the run ---- */

static void tell(__u64 start)
{
	char when[32];

	snprintf(when, sizeof(when), "torture: %llu s",
		 (clock_ns(CLOCK_MONOTONIC) - start) / SEC);
	board_tell(when);
	tell_disturbers();
}

/* Whether a fault ends the run */
static bool is_over(const struct options *options)
{
	if (atomic_load(&board->over))
		return true;
	if (!options->hasty || !board_faults())
		return false;
	printf("# torture: a fault was found after %llu s\n",
	       (clock_ns(CLOCK_MONOTONIC) - board->start) / SEC);
	return true;
}

/*
 * Whether the run has tested nothing yet. On a machine that stands still, nothing may have
 * been done when the time is over; then the run goes on.
 */
static bool is_idle(void)
{
	return any_waits() ||
	       (!atomic_load(&board->dones[EXPIRED]) && !board_faults());
}

static void run(const struct options *options)
{
	__u64 start = board->start;
	__u64 end = start + options->minutes * 60 * SEC;
	__u64 next = start + options->interval * SEC;

	while ((clock_ns(CLOCK_MONOTONIC) < end || is_idle()) &&
	       !is_over(options)) {
		reap();
		start_due(options->workers);
		sleep_ns(10 * MS);
		if (clock_ns(CLOCK_MONOTONIC) >= next) {
			tell(start);
			next += options->interval * SEC;
		}
	}
	atomic_store(&board->over, 1);
	end_disturbers();
	tell(start);
}

static bool any_goes_on(unsigned int workers)
{
	for (unsigned int i = 0; i < workers; i++) {
		if (board->seats[i].pid || goes_on(&board->seats[i]))
			return true;
	}
	return false;
}

/* Lets all instances end; a worker that was killed gets a last successor for that. */
static void finish(unsigned int workers)
{
	do {
		reap();
		for (unsigned int i = 0; i < workers; i++) {
			if (!board->seats[i].pid && goes_on(&board->seats[i]))
				start_worker(&board->seats[i]);
		}
		sleep_ns(10 * MS);
	} while (any_goes_on(workers));
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);
	int keeper = open(DEVICE, O_RDWR | O_CLOEXEC);
	char idle[256];

	if (keeper < 0 || !board_make(options.seed) || !make_shared()) {
		fprintf(stderr, "torture: cannot begin: %s\n", strerror(errno));
		return 2;
	}
	rng.state = options.seed;
	printf("# torture: seed %lu, %g minutes, %u workers\n", options.seed,
	       options.minutes, options.workers);
	for (unsigned int i = 0; i < SEATS_MAX; i++) {
		board->seats[i].nr = i;
		board->seats[i].fd = -1;
	}
	for (unsigned int i = 0; i < options.workers; i++)
		clear_seat(&board->seats[i]);
	start_disturbers(&options);
	run(&options);
	/* After a fault, an instance may have no end. */
	if (!options.hasty || !board_faults())
		finish(options.workers);
	find_idle(idle, sizeof(idle));
	if (!atomic_load(&board->dones[REFUSED]))
		printf("# torture: memory was never refused to a worker\n");
	board_tell("torture: in all");
	return !board_verdict(idle);
}
