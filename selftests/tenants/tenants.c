// SPDX-License-Identifier: GPL-2.0
/*
 * Attackers beside a victim. Both are unprivileged users in cgroups of their own. Whatever
 * the attacker does, the victim's timers stay in time, the module's threads do no more for the
 * attacker than it does itself, and the attacker's limits hold.
 *
 * Times are measured in turns, without and with the attack, and medians are compared. An
 * attacker that has a part of a processor delays a victim whatever it does. So in the turns
 * without the attack, it spins, and has the same part. In a machine whose clock counts
 * instructions (test/vm/check.sh), a busy host changes no figure.
 *
 * HWTIMER_TENANTS=full in the environment takes more and longer measurements.
 */
#include "attacks.h"
#include "cgroup.h"
#include "victim.h"

#include <sys/socket.h>
#include <sys/utsname.h>

/* Measurements of a row */
#define ROUNDS_MAX 5

/* The victim's 99th percentile may grow by this factor. */
#define LATER 3

/*
 * For so long the scheduler lets another program run first: until a tick of a kernel with 250 of
 * them a second. A figure that is taken a few times may hold none of these without the attack.
 */
#define SLICE (4 * MS)

/*
 * The part of a processor that the module's threads may use for the attacker in addition to
 * what the attacker itself uses: 1 / MORE
 */
#define MORE 100

/* The part of a processor that they may use for an attacker that is stopped: 1 / STOPPED */
#define STOPPED 1000

/* By how much a cgroup may exceed its cpu.max: 1 / EXCESS */
#define EXCESS 10

/* How far the kernel's count of processor time is off, on each processor: a tick */
#define GRAIN (10 * MS)

/*
 * How often a test looks, with a pause of 1 ms, until an attacker has made its objects. Time does
 * not count: on a busy machine, the test does not wake up as often.
 */
#define READY_POLLS 60000

/* The memory that the attacker of memory may have */
#define MEMORY_MAX (64LL << 20)
#define MEMORY_SLACK (2LL << 20)

static bool full(void)
{
	const char *wanted = getenv("HWTIMER_TENANTS");

	return wanted && !strcmp(wanted, "full");
}

static int rounds(void)
{
	return full() ? ROUNDS_MAX : 3;
}

static __u64 window_ns(void)
{
	return full() ? SEC : 300 * MS;
}

static double ms(__u64 ns)
{
	return (double)ns / MS;
}

static double percent(__u64 part, __u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* ---- the fixture: two cgroups, and the board ---- */

FIXTURE(tenants)
{
	struct board *board;
};

static void make_cgroups(struct __test_metadata *_metadata,
			 struct board **board)
{
	*board = mmap(NULL, sizeof(**board), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, *board);
	/* Pages that are touched for the first time would delay the victim. */
	memset(*board, 0, sizeof(**board));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, (*board)->socket));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_TRUE(cgroup_make(ATTACKER));
	ASSERT_TRUE(cgroup_make(VICTIM));
	ASSERT_TRUE(cgroup_join(TESTER));
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
}

/* A tenant whose processes are dead leaves nothing in its cgroup. */
static void remove_cgroups(struct __test_metadata *_metadata,
			   struct board *board)
{
	close(board->socket[0]);
	close(board->socket[1]);
	cgroup_kill(ATTACKER);
	cgroup_kill(VICTIM);
	EXPECT_TRUE(cgroup_remove(ATTACKER));
	EXPECT_TRUE(cgroup_remove(VICTIM));
}

FIXTURE_SETUP(tenants)
{
	make_cgroups(_metadata, &self->board);
}

FIXTURE_TEARDOWN(tenants)
{
	remove_cgroups(_metadata, self->board);
}

/* Returns false if the attacker could not make its objects. */
static bool wait_until_ready(struct board *board, pid_t attacker)
{
	for (unsigned int i = 0; i < READY_POLLS; i++) {
		if (board_get(&board->ready))
			return true;
		if (waitpid(attacker, NULL, WNOHANG) == attacker) {
			printf("# the attacker gave up: errno %d\n",
			       board->refused);
			return false;
		}
		sleep_ns(MS);
	}
	return false;
}

/* Starts the attack; gives it no more than @percent of a processor once it is ready. */
static bool start_attack(struct board *board, void (*attack)(struct board *),
			 unsigned int percent)
{
	__u64 begun = now_ns();
	pid_t attacker;

	board->made = 0;
	board->refused = 0;
	board_set(&board->ready, 0);
	attacker = tenant_start(ATTACKER, ATTACKER_UID, attack, board);
	if (!wait_until_ready(board, attacker))
		return false;
	board->start = now_ns() - begun;
	cgroup_throttle(ATTACKER, percent);
	return true;
}

/* ---- what is measured ---- */

/**
 * struct window - what happened in a window of time
 * @lateness: 99th percentile of the victim's lateness, ns
 * @forks: 99th percentile of the time in which the victim forked, ns
 * @starts: the same of a first timer and close()
 * @used: processor time that was used in it
 */
struct window {
	__u64 lateness;
	__u64 forks;
	__u64 starts;
	struct usage used;
};

static struct window watch(struct board *board, __u64 ns)
{
	unsigned int lateness = board->lateness.count;
	unsigned int forks = board->forks.count;
	unsigned int starts = board->starts.count;
	struct usage before = usage_now(), after;
	struct window window;
	__u64 now;

	sleep_ns(ns);
	now = now_ns();
	window.lateness = log_percentile(&board->lateness, lateness, now, 99);
	window.forks = log_percentile(&board->forks, forks, now, 99);
	window.starts = log_percentile(&board->starts, starts, now, 99);
	after = usage_now();
	window.used = (struct usage){
		.time = after.time - before.time,
		.attacker = after.attacker - before.attacker,
		.victim = after.victim - before.victim,
		.workers = after.workers > before.workers ?
				   after.workers - before.workers :
				   0,
	};
	return window;
}

/**
 * struct pair - a figure without and with the attack, in each round
 * @waits: how often what is measured waits until the scheduler lets a thread run
 * @periods: how often it may wait until the limit lets an attacker run that holds a lock of the
 *	kernel's
 */
struct pair {
	unsigned int waits;
	unsigned int periods;
	__u64 alone[ROUNDS_MAX];
	__u64 beside[ROUNDS_MAX];
};

/**
 * struct figures - the figures of a row
 * @lateness: of the victim's timers
 * @forks: of the victim's forks
 * @starts: of the victim's further instances
 * @workers: processor time of the module's threads, ns in a second
 * @alone: processor time while the victim was alone, sum of all rounds
 * @beside: the same, beside the attack
 */
struct figures {
	struct pair lateness;
	struct pair forks;
	struct pair starts;
	struct pair workers;
	struct usage alone;
	struct usage beside;
};

static void add_usage(struct usage *sum, struct usage used)
{
	sum->time += used.time;
	sum->attacker += used.attacker;
	sum->victim += used.victim;
	sum->workers += used.workers;
}

static void sort_pair(struct pair *pair)
{
	qsort(pair->alone, rounds(), sizeof(__u64), compare_times);
	qsort(pair->beside, rounds(), sizeof(__u64), compare_times);
}

/*
 * The highest bearable median of a figure beside the attack. To its multiple without the
 * attack comes what the measurements without the attack differ by, the noise of this
 * machine at this time, and a slice of somebody else for each wait, or a whole period of a limit.
 */
static __u64 bearable(const struct pair *pair)
{
	return LATER * pair->alone[rounds() / 2] + pair->alone[rounds() - 1] -
	       pair->alone[0] + pair->waits * SLICE +
	       pair->periods * PERIOD_US * US;
}

/* Returns the part of a processor that the module's threads used, ns in a second. */
static __u64 workers_rate(const struct usage *used)
{
	return used->workers * SEC / used->time;
}

/*
 * Processor time that the attack caused in the module's threads, ns in a second: what
 * they used more than without the attack, and more than that varies by itself
 */
static __u64 caused(const struct figures *figures)
{
	const struct pair *workers = &figures->workers;
	__u64 usual = workers->alone[rounds() / 2] +
		      workers->alone[rounds() - 1] - workers->alone[0];
	/* In each round: a single one may be off by what the clock samples. */
	__u64 beside = workers->beside[0];

	return beside > usual ? beside - usual : 0;
}

/* Returns whether the module's threads do no more for the attacker than it does itself. */
static bool is_paid(const struct figures *figures)
{
	__u64 attacker = figures->beside.attacker * SEC / figures->beside.time;

	return caused(figures) <= attacker + SEC / MORE;
}

/* ---- attacks on the victim's time ---- */

FIXTURE(beside)
{
	struct board *board;
};

/* What happens besides, as bits of row.besides */
enum {
	FORKS = 1, /* the victim forks, too */
	RECEIVES = 2, /* the victim takes descriptors from the attacker */
	STARTS = 4, /* the victim opens and closes more instances */
	SETS_CLOCK = 8, /* root sets the clock to and fro */
	UNPAID = 16, /* nobody pays for the worker's time (SECURITY.md) */
	RESTS = 32, /* the attacker itself does nothing: the victim is alone without it */
};

/**
 * struct row - an attack
 * @name: its name
 * @attack: what the attacker does
 * @percent: of a processor, its cpu.max
 * @besides: what happens besides
 */
struct row {
	const char *name;
	void (*attack)(struct board *board);
	unsigned int percent;
	unsigned int besides;
};

FIXTURE_VARIANT(beside)
{
	struct row row;
};

/* Sets the clock back and forth. */
static void set_clock(struct board *board)
{
	struct timeval time;

	(void)board;
	for (int seconds = 10;; seconds = -seconds) {
		sleep_ns(20 * MS);
		gettimeofday(&time, NULL);
		time.tv_sec += seconds;
		settimeofday(&time, NULL);
	}
}

FIXTURE_SETUP(beside)
{
	make_cgroups(_metadata, &self->board);
	if (!cgroup_has("cpu"))
		SKIP(return, "no cpu controller in cgroup v2");
	tenant_start(VICTIM, VICTIM_UID, victim_run, self->board);
	if (variant->row.besides & FORKS)
		tenant_start(VICTIM, VICTIM_UID, victim_fork, self->board);
	if (variant->row.besides & STARTS)
		tenant_start(VICTIM, VICTIM_UID, victim_start, self->board);
	if (variant->row.besides & RECEIVES)
		tenant_start(VICTIM, VICTIM_UID, victim_receive, self->board);
	if (variant->row.besides & SETS_CLOCK)
		tenant_start(TESTER, 0, set_clock, self->board);
	sleep_ns(100 * MS);
}

FIXTURE_TEARDOWN(beside)
{
	remove_cgroups(_metadata, self->board);
}

/* clang-format off */
FIXTURE_VARIANT_ADD(beside, many_instances)
{
	.row = { "many_instances", attack_many_instances, 5 },
};

FIXTURE_VARIANT_ADD(beside, opens)
{
	.row = { "opens", attack_opens, 30, RESTS },
};

FIXTURE_VARIANT_ADD(beside, epolls)
{
	.row = { "epolls", attack_epolls, 30, UNPAID },
};

FIXTURE_VARIANT_ADD(beside, cancels)
{
	.row = { "cancels", attack_cancels, 30 },
};

FIXTURE_VARIANT_ADD(beside, due_at_once)
{
	.row = { "due_at_once", attack_due_at_once, 30 },
};

FIXTURE_VARIANT_ADD(beside, clock)
{
	.row = { "clock", attack_clock, 30, SETS_CLOCK | UNPAID },
};

FIXTURE_VARIANT_ADD(beside, sends)
{
	.row = { "sends", attack_sends, 30, RECEIVES },
};

FIXTURE_VARIANT_ADD(beside, bomb)
{
	.row = { "bomb", attack_bomb, 5, FORKS | STARTS },
};

FIXTURE_VARIANT_ADD(beside, bombs)
{
	.row = { "bombs", attack_bombs, 30, FORKS | STARTS },
};

FIXTURE_VARIANT_ADD(beside, starved_bomb)
{
	.row = { "starved_bomb", attack_starved_bomb, 10, FORKS | STARTS },
};

FIXTURE_VARIANT_ADD(beside, exits)
{
	.row = { "exits", attack_exits, 30 },
};

FIXTURE_VARIANT_ADD(beside, stats)
{
	.row = { "stats", attack_stats, 30 },
};

FIXTURE_VARIANT_ADD(beside, fdinfo)
{
	.row = { "fdinfo", attack_fdinfo, 30 },
};

FIXTURE_VARIANT_ADD(beside, polls)
{
	.row = { "polls", attack_polls, 30 },
};

FIXTURE_VARIANT_ADD(beside, stopped)
{
	.row = { "stopped", attack_stopped, 2, RESTS },
};

FIXTURE_VARIANT_ADD(beside, trickle)
{
	.row = { "trickle", attack_trickle, 5 },
};

FIXTURE_VARIANT_ADD(beside, discards)
{
	.row = { "discards", attack_discards, 30 },
};

/* clang-format on */

/* Watches the victim beside an attack, which ends afterwards. */
static struct window watch_beside(struct __test_metadata *_metadata,
				  struct board *board,
				  void (*attack)(struct board *board),
				  unsigned int percent)
{
	struct window window = {};

	ASSERT_TRUE(start_attack(board, attack, percent));
	/* The debt of the time without a limit is paid off meanwhile. */
	sleep_ns(4 * PERIOD_US * US);
	window = watch(board, window_ns());
	cgroup_kill(ATTACKER);
	sleep_ns(50 * MS);
	return window;
}

/* Whether threads that hold the kernel's spinlocks are preempted */
static bool preempts_all(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

/*
 * Measures in turns, without and with the attack.
 *
 * With PREEMPT_RT, an attacker may be throttled while it holds one of the locks that the kernel's
 * allocators and its memory cgroups have for each processor. fork() and the end of the child take
 * them, too, and so do open() and a first timer.
 */
static void measure(struct __test_metadata *_metadata, struct board *board,
		    const struct row *row, struct figures *figures)
{
	/* A first timer waits for kthreadd, for the new thread, and to go on. */
	*figures = (struct figures){
		.lateness.waits = 1,
		.forks.waits = 1,
		.forks.periods = preempts_all() ? 2 : 0,
		.starts.waits = 3,
		.starts.periods = preempts_all() ? 2 : 0,
	};
	for (int i = 0; i < rounds(); i++) {
		struct window window = row->besides & RESTS ?
					       watch(board, window_ns()) :
					       watch_beside(_metadata, board,
							    spin_twice,
							    row->percent);

		figures->lateness.alone[i] = window.lateness;
		figures->forks.alone[i] = window.forks;
		figures->starts.alone[i] = window.starts;
		figures->workers.alone[i] = workers_rate(&window.used);
		add_usage(&figures->alone, window.used);

		window = watch_beside(_metadata, board, row->attack,
				      row->percent);
		figures->lateness.beside[i] = window.lateness;
		figures->forks.beside[i] = window.forks;
		figures->starts.beside[i] = window.starts;
		figures->workers.beside[i] = workers_rate(&window.used);
		add_usage(&figures->beside, window.used);
	}
	sort_pair(&figures->lateness);
	sort_pair(&figures->forks);
	sort_pair(&figures->starts);
	sort_pair(&figures->workers);
}

static void show_pair(const char *row, const char *what,
		      const struct pair *pair)
{
	__u64 alone = pair->alone[rounds() / 2];
	__u64 beside = pair->beside[rounds() / 2];

	printf("# %s: victim's %s p99 %.2f ms alone (%.2f to %.2f),", row, what,
	       ms(alone), ms(pair->alone[0]), ms(pair->alone[rounds() - 1]));
	printf(" %.2f ms beside the attack (x%.1f; bearable: %.2f ms)\n",
	       ms(beside), alone ? (double)beside / alone : 0,
	       ms(bearable(pair)));
}

static void show_workers(const struct figures *figures)
{
	printf(" module's threads %.1f%% (alone %.1f%%)",
	       percent(figures->workers.beside[rounds() / 2], SEC),
	       percent(figures->workers.alone[rounds() / 2], SEC));
}

static void show(const struct row *row, const struct board *board,
		 const struct figures *figures)
{
	show_pair(row->name, "lateness", &figures->lateness);
	if (row->besides & FORKS)
		show_pair(row->name, "fork", &figures->forks);
	if (row->besides & STARTS)
		show_pair(row->name, "first timer", &figures->starts);
	printf("# %s: of a processor: attacker's cgroup %.1f%% (cpu.max %u%%),",
	       row->name,
	       percent(figures->beside.attacker, figures->beside.time),
	       row->percent);
	show_workers(figures);
	printf(", victim %.1f%% (alone %.1f%%)",
	       percent(figures->beside.victim, figures->beside.time),
	       percent(figures->alone.victim, figures->alone.time));
	printf("; attacker made %lu objects in %.0f ms, errno %d\n",
	       board->made, ms(board->start), board->refused);
	fflush(stdout);
}

/*
 * Returns whether the attacker's cgroup got no more than its cpu.max. In each window it may
 * use what it had left from the period before, and on each processor what the kernel does
 * not notice before the next tick.
 */
static bool is_throttled(const struct figures *figures, unsigned int percent)
{
	__u64 granted = figures->beside.time * percent / 100;
	__u64 left = PERIOD_US * US * percent / 100 +
		     GRAIN * sysconf(_SC_NPROCESSORS_ONLN);

	return figures->beside.attacker <=
	       granted + granted / EXCESS + rounds() * left;
}

/* A victim that has died, or waits for ever, is never late. Sorted, its figures are 0 first. */
static bool is_alive(const struct pair *pair, int round)
{
	return pair->alone[round] && pair->beside[round];
}

TEST_F(beside, harms_nobody)
{
	const struct row *row = &variant->row;
	int middle = rounds() / 2;
	struct figures figures;

	measure(_metadata, self->board, row, &figures);
	show(row, self->board, &figures);
	EXPECT_TRUE(is_alive(&figures.lateness, 0));
	EXPECT_TRUE(is_alive(&figures.forks, 0) || !(row->besides & FORKS));
	/* The kernel's open() of a misc device may wait for an attacker who is throttled in it. */
	EXPECT_TRUE(is_alive(&figures.starts, middle) ||
		    !(row->besides & STARTS));
	EXPECT_GE(bearable(&figures.lateness), figures.lateness.beside[middle]);
	EXPECT_GE(bearable(&figures.forks), figures.forks.beside[middle]);
	EXPECT_GE(bearable(&figures.starts), figures.starts.beside[middle]);
	EXPECT_TRUE(is_paid(&figures) || (row->besides & UNPAID));
	EXPECT_TRUE(is_throttled(&figures, row->percent));
}

/* ---- a program that does not run ---- */

/*
 * Nobody else is there. Once as many events wait as there can be, the module's threads do
 * nothing for a program that is stopped, although its timers come due all the time.
 */
TEST_F(tenants, who_is_stopped_causes_nothing)
{
	struct usage before, after;
	__u64 used = 0;

	if (!cgroup_has("cpu"))
		SKIP(return, "no cpu controller in cgroup v2");
	ASSERT_TRUE(start_attack(self->board, attack_stopped, 2));
	sleep_ns(window_ns());
	before = usage_now();
	sleep_ns(3 * window_ns());
	after = usage_now();
	used = (after.workers - before.workers) * SEC /
	       (after.time - before.time);
	printf("# stopped: of a processor: module's threads %.2f%%, attacker %.2f%%\n",
	       percent(used, SEC),
	       percent(after.attacker - before.attacker,
		       after.time - before.time));
	EXPECT_GE(SEC / STOPPED, used);
}

/* ---- what a first timer costs ---- */

/* Processes that have a first timer, and the further timers of each */
#define STARTS_COUNT 20
#define FURTHER 20

/* What a first timer may cost, in further ones */
#define FIRST_MAX 10

static __u64 time_of_timer(int fd)
{
	struct hwtimer_request request = { .time = HOUR };
	__u64 begun = now_ns();

	if (ioctl(fd, HWTIMER_IOC_SCHEDULE, &request))
		_exit(1);
	return now_ns() - begun;
}

static void first_timer(struct board *board)
{
	struct hwtimer_info info;
	int fd = dev_open(0);
	__u64 time;

	/* The first call of any kind costs the program page faults. */
	if (fd < 0 || dev_info(fd, &info))
		_exit(2);
	time = time_of_timer(fd);
	if (time < board->first)
		board->first = time;
	for (unsigned int i = 0; i < FURTHER; i++) {
		time = time_of_timer(fd);
		if (time < board->further)
			board->further = time;
	}
	_exit(0);
}

/*
 * The shortest times are those in which nothing else happened. Each process is one of another
 * user, so nothing is left from the one before.
 */
TEST_F(tenants, first_timer_costs_no_thread)
{
	struct board *board = self->board;

	board->first = UINT64_MAX;
	board->further = UINT64_MAX;
	for (unsigned int i = 0; i < STARTS_COUNT; i++) {
		pid_t pid = tenant_start(VICTIM, VICTIM_UID + i, first_timer,
					 board);

		ASSERT_EQ(0, wait_for_child(pid));
	}
	printf("# first: at best %llu ns for a first timer, %llu ns for a further one\n",
	       board->first, board->further);
	EXPECT_GE(FIRST_MAX * board->further, board->first);
}

/* ---- limits ---- */

/* What the victim's try at using the device came to: 0 or an errno */
static void try_device(struct board *board)
{
	struct hwtimer_event event;
	int fd = dev_open(0);

	(void)board;
	if (fd < 0)
		_exit(-fd);
	if (!dev_after(fd, MS, 0))
		_exit(errno);
	_exit(dev_read(fd, &event, 1) == 1 ? 0 : EIO);
}

static int victim_tries_device(struct board *board)
{
	pid_t pid = tenant_start(VICTIM, VICTIM_UID, try_device, board);

	return wait_for_child(pid);
}

TEST_F(tenants, who_opens_all_gets_enomem_and_others_can_open)
{
	int victim;

	ASSERT_TRUE(start_attack(self->board, attack_opens, 0));
	victim = victim_tries_device(self->board);
	printf("# opens: attacker opened %lu instances, errno %d;",
	       self->board->made, self->board->refused);
	printf(" then victim's errno %d (ENOMEM is %d)\n", victim, ENOMEM);
	EXPECT_EQ(ENOMEM, self->board->refused);
	EXPECT_EQ(0, victim);
}

/* Expects that the attacker is refused, and that its cgroup pays for its memory. */
static void expect_memory(struct __test_metadata *_metadata,
			  struct board *board, void (*attack)(struct board *))
{
	long long charged, before;

	ASSERT_TRUE(cgroup_set_number(ATTACKER, "memory.max", MEMORY_MAX));
	before = cgroup_get(ATTACKER, "memory.current", "");
	ASSERT_TRUE(start_attack(board, attack, 0));
	charged = cgroup_get(ATTACKER, "memory.current", "") - before;
	printf("# memory: attacker made %lu timers, errno %d;", board->made,
	       board->refused);
	printf(" %.1f MiB by STATS, %.1f MiB by its cgroup of %lld MiB\n",
	       (double)board->bytes / (1 << 20), (double)charged / (1 << 20),
	       MEMORY_MAX >> 20);
	EXPECT_TRUE(board->refused == ENOMEM || board->refused == ENOSPC);
	EXPECT_LE((long long)board->bytes * 95 / 100 - MEMORY_SLACK, charged);
	EXPECT_GE(MEMORY_MAX, charged);
	EXPECT_EQ(0, cgroup_get(ATTACKER, "memory.events", "oom_kill "));
	EXPECT_EQ(0, victim_tries_device(board));
	cgroup_kill(ATTACKER);
	cgroup_set(ATTACKER, "memory.max", "max");
}

TEST_F(tenants, memory_is_in_the_attackers_cgroup)
{
	if (!cgroup_has("memory"))
		SKIP(return, "no memory controller in cgroup v2");
	expect_memory(_metadata, self->board, attack_memory);
}

/* An attacker with hardly any time sends the victim instances, which it then closes. */
TEST_F(tenants, closing_what_the_attacker_sent_does_not_hang)
{
	struct durations *closes = &self->board->closes;
	unsigned int n = full() ? 100 : 15;

	if (!cgroup_has("cpu"))
		SKIP(return, "no cpu controller in cgroup v2");
	tenant_start(VICTIM, VICTIM_UID, victim_receive, self->board);
	ASSERT_TRUE(start_attack(self->board, attack_sends, 2));
	while (__atomic_load_n(&closes->count, __ATOMIC_ACQUIRE) < n)
		sleep_ns(10 * MS);
	printf("# sends: victim closed %u busy instances of an attacker with 2%%",
	       closes->count);
	printf(" of a processor; the 99th percentile took %.1f ms\n",
	       ms(log_percentile(closes, 0, now_ns(), 99)));
}

TEST_HARNESS_MAIN
