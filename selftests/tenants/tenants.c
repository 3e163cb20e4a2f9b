// SPDX-License-Identifier: GPL-2.0
/*
 * Attackers beside a victim. Both are unprivileged users in cgroups of their own. Whatever
 * the attacker does, the victim's timers stay in time, the attacker's cgroup pays for what
 * it causes, and the attacker's limits hold.
 *
 * Times are measured in turns, without and with the attack, and medians are compared: so a
 * host that is slow for a while cancels out. A row that fails is measured again, up to
 * TRIES times, with new measurements of the victim alone.
 *
 * HWTIMER_TENANTS=full in the environment takes more and longer measurements.
 */
#include "attacks.h"
#include "cgroup.h"
#include "victim.h"

#include <sys/socket.h>
#include <sys/utsname.h>

/* Measurements of a row, and how often a row that fails is measured */
#define ROUNDS_MAX 5
#define TRIES 3

/* The victim's 99th percentile may grow by this factor. */
#define LATER 3

/* A part of the attacker's processor time that others may pay for: 1 / UNPAID */
#define UNPAID 10

/* A part of a processor that is not worth a comparison: 1 / NOISE */
#define NOISE 33

/* Deviation from the share that the weights grant, in percent */
#define UNFAIR 20

/* How far the kernel's count of processor time is off, on each processor: a tick */
#define GRAIN (10 * MS)

/*
 * How often a test looks, with a pause of 1 ms, until an attacker has made its objects, and until
 * a cgroup is frozen. Time does not count: on a busy machine, the test does not wake up as often.
 */
#define READY_POLLS 60000
#define FREEZE_POLLS 2000

/* Nobody waits longer than this to close a descriptor, however slow the attacker is. */
#define CLOSE_MAX (5 * SEC)

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
 * @starts: the same of open(), a first timer and close()
 * @used: processor time that was used in it
 * @spender: that thread of the kernel's which used most of it
 */
struct window {
	__u64 lateness;
	__u64 forks;
	__u64 starts;
	struct usage used;
	struct spender spender;
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
	window.lateness = log_p99(&board->lateness, lateness, now);
	window.forks = log_p99(&board->forks, forks, now);
	window.starts = log_p99(&board->starts, starts, now);
	after = usage_now();
	window.spender = biggest_spender();
	window.used = (struct usage){
		.time = after.time - before.time,
		.attacker = after.attacker - before.attacker,
		.victim = after.victim - before.victim,
		.root = after.root > before.root ? after.root - before.root : 0,
		.rcu = after.rcu > before.rcu ? after.rcu - before.rcu : 0,
	};
	return window;
}

/**
 * struct pair - a figure without and with the attack, in each round
 */
struct pair {
	__u64 alone[ROUNDS_MAX];
	__u64 beside[ROUNDS_MAX];
};

/**
 * struct figures - the figures of a row
 * @lateness: of the victim's timers
 * @forks: of the victim's forks
 * @starts: of the victim's further instances
 * @root: processor time of the kernel's threads, ns in a second
 * @spender: that thread of the kernel's which used most, in the last round
 * @alone: processor time while the victim was alone, sum of all rounds
 * @beside: the same, beside the attack
 */
struct figures {
	struct pair lateness;
	struct pair forks;
	struct pair starts;
	struct pair root;
	struct spender spender;
	struct usage alone;
	struct usage beside;
};

static void add_usage(struct usage *sum, struct usage used)
{
	sum->time += used.time;
	sum->attacker += used.attacker;
	sum->victim += used.victim;
	sum->root += used.root;
	sum->rcu += used.rcu;
}

static void sort_pair(struct pair *pair)
{
	qsort(pair->alone, rounds(), sizeof(__u64), compare_times);
	qsort(pair->beside, rounds(), sizeof(__u64), compare_times);
}

/*
 * The highest bearable median of a figure beside the attack. To its multiple without the
 * attack comes what the measurements without the attack differ by, the noise of this
 * machine at this time, and one tick of the victim.
 */
static __u64 bearable(const struct pair *pair)
{
	return LATER * pair->alone[rounds() / 2] + pair->alone[rounds() - 1] -
	       pair->alone[0] + 100 * US;
}

static bool is_bearable(const struct pair *pair)
{
	return pair->beside[rounds() / 2] <= bearable(pair);
}

/* Returns the part of a processor that the kernel's threads used, ns in a second. */
static __u64 root_rate(const struct usage *used)
{
	return used->root * SEC / used->time;
}

/*
 * Processor time that the attack caused in threads of the kernel's, ns in a second: what
 * they used more than without the attack, and more than that varies by itself
 */
static __u64 unpaid(const struct figures *figures)
{
	const struct pair *root = &figures->root;
	__u64 usual = root->alone[rounds() / 2] + root->alone[rounds() - 1] -
		      root->alone[0];
	__u64 beside = root->beside[rounds() / 2];

	return beside > usual ? beside - usual : 0;
}

static bool is_paid(const struct figures *figures)
{
	__u64 attacker = figures->beside.attacker * SEC / figures->beside.time;
	__u64 others = unpaid(figures);

	return others <= SEC / NOISE || others <= (attacker + others) / UNPAID;
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
	.row = { "opens", attack_opens, 30 },
};

FIXTURE_VARIANT_ADD(beside, epolls)
{
	.row = { "epolls", attack_epolls, 30 },
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
	.row = { "clock", attack_clock, 30, SETS_CLOCK },
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

/*
 * Measures in turns, without and with the attack. A machine that has no processor to spare
 * delays the victim whatever the attacker does with its share. So if @share is set, the
 * attacker uses its share without the device in the turns without the attack.
 */
static void measure(struct __test_metadata *_metadata, struct board *board,
		    const struct row *row, bool share, struct figures *figures)
{
	memset(figures, 0, sizeof(*figures));
	for (int i = 0; i < rounds(); i++) {
		struct window window = share ? watch_beside(_metadata, board,
							    spin_twice,
							    row->percent) :
					       watch(board, window_ns());

		figures->lateness.alone[i] = window.lateness;
		figures->forks.alone[i] = window.forks;
		figures->starts.alone[i] = window.starts;
		figures->root.alone[i] = root_rate(&window.used);
		add_usage(&figures->alone, window.used);

		window = watch_beside(_metadata, board, row->attack,
				      row->percent);
		figures->lateness.beside[i] = window.lateness;
		figures->forks.beside[i] = window.forks;
		figures->starts.beside[i] = window.starts;
		figures->root.beside[i] = root_rate(&window.used);
		figures->spender = window.spender;
		add_usage(&figures->beside, window.used);
	}
	sort_pair(&figures->lateness);
	sort_pair(&figures->forks);
	sort_pair(&figures->starts);
	sort_pair(&figures->root);
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

static void show_root(const struct figures *figures)
{
	printf(" kernel's own threads %.1f%% (alone %.1f%%), RCU %.1f%% (%.1f%%)",
	       percent(figures->root.beside[rounds() / 2], SEC),
	       percent(figures->root.alone[rounds() / 2], SEC),
	       percent(figures->beside.rcu, figures->beside.time),
	       percent(figures->alone.rcu, figures->alone.time));
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
	show_root(figures);
	if (!is_paid(figures))
		printf(" (%s used %.1f ms)", figures->spender.name,
		       ms(figures->spender.ns));
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
	       granted + granted / UNPAID + rounds() * left;
}

/*
 * Whether cpu.max holds for kernel threads. Since 6.18 it does not: a task is throttled
 * when it returns to user space.
 */
static bool cpu_max_holds(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		abort();
	return major < 6 || (major == 6 && minor < 18);
}

static bool is_good(const struct figures *figures, const struct row *row)
{
	return is_bearable(&figures->lateness) &&
	       is_bearable(&figures->forks) && is_bearable(&figures->starts) &&
	       is_paid(figures) &&
	       (is_throttled(figures, row->percent) || !cpu_max_holds());
}

TEST_F(beside, harms_nobody)
{
	const struct row *row = &variant->row;
	int middle = rounds() / 2;
	struct figures figures;

	for (int try = 0; try < TRIES; try++) {
		if (try)
			printf("# %s: again; \"alone\" is now beside a spinning program\n",
			       row->name);
		measure(_metadata, self->board, row, try > 0, &figures);
		show(row, self->board, &figures);
		if (is_good(&figures, row))
			break;
	}
	/* A victim that has died is never late. */
	EXPECT_LT(0, figures.lateness.alone[0]);
	EXPECT_LT(0, figures.lateness.beside[0]);
	EXPECT_GE(bearable(&figures.lateness), figures.lateness.beside[middle]);
	EXPECT_GE(bearable(&figures.forks), figures.forks.beside[middle]);
	EXPECT_GE(bearable(&figures.starts), figures.starts.beside[middle]);
	EXPECT_TRUE(is_paid(&figures));
	if (is_throttled(&figures, row->percent))
		return;
	printf("# %s: cpu.max was not kept\n", row->name);
	EXPECT_FALSE(cpu_max_holds());
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

TEST_F(tenants, who_opens_all_gets_emfile_and_others_can_open)
{
	int victim;

	ASSERT_TRUE(start_attack(self->board, attack_opens, 0));
	victim = victim_tries_device(self->board);
	printf("# opens: attacker opened %lu of %lld instances, errno %d;",
	       self->board->made, module_parameter("max_instances"),
	       self->board->refused);
	printf(" then victim's errno %d (EMFILE is %d, ENFILE %d)\n", victim,
	       EMFILE, ENFILE);
	EXPECT_EQ(EMFILE, self->board->refused);
	EXPECT_GT(module_parameter("max_instances"),
		  (long long)self->board->made);
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
	EXPECT_TRUE(board->refused == ENOMEM || board->refused == ENOSPC ||
		    board->refused == EMFILE);
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
	__u64 longest = 0;

	if (!cgroup_has("cpu"))
		SKIP(return, "no cpu controller in cgroup v2");
	tenant_start(VICTIM, VICTIM_UID, victim_receive, self->board);
	ASSERT_TRUE(start_attack(self->board, attack_sends, 2));
	/* An attacker with so little time may need seconds to send the first one. */
	for (int i = 0; i < (full() || !closes->count ? 100 : 15); i++) {
		__u64 since;

		sleep_ns(100 * MS);
		since = __atomic_load_n(&closes->since, __ATOMIC_ACQUIRE);
		if (since && now_ns() > since && now_ns() - since > longest)
			longest = now_ns() - since;
	}
	for (unsigned int i = 0; i < closes->count; i++)
		if (closes->ns[i % SAMPLES_MAX] > longest)
			longest = closes->ns[i % SAMPLES_MAX];
	printf("# sends: victim closed %u busy instances of an attacker with 2%%",
	       closes->count);
	printf(" of a processor; the longest close took %.1f ms\n",
	       ms(longest));
	EXPECT_LT(0, closes->count);
	EXPECT_GE(CLOSE_MAX, longest);
}

/* ---- shares ---- */

/* Two cgroups on one processor, both of which want it whole. */
FIXTURE(shares)
{
	struct board *board;
};

/**
 * struct contest - who wants the processor
 * @name: its name
 * @attack: what the attacker does
 * @reference: as many threads that only use the processor
 * @weight: cpu.weight of the attacker's cgroup; the other one has 100
 */
struct contest {
	const char *name;
	void (*attack)(struct board *board);
	void (*reference)(struct board *board);
	unsigned int weight;
};

FIXTURE_VARIANT(shares)
{
	struct contest contest;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(shares, equal)
{
	.contest = { "equal", attack_due_at_once, spin_twice, 100 },
};

FIXTURE_VARIANT_ADD(shares, a_third)
{
	.contest = { "a_third", attack_due_at_once, spin_twice, 33 },
};

FIXTURE_VARIANT_ADD(shares, twenty_programs)
{
	.contest = { "twenty_programs", attack_crowd, spin_crowd, 100 },
};

/* clang-format on */

FIXTURE_SETUP(shares)
{
	make_cgroups(_metadata, &self->board);
	if (!cgroup_has("cpu") || !cgroup_has("cpuset"))
		SKIP(return, "no cpu, cpuset in cgroup v2");
	ASSERT_TRUE(cgroup_set(ATTACKER, "cpuset.cpus", "1"));
	ASSERT_TRUE(cgroup_set(VICTIM, "cpuset.cpus", "1"));
	ASSERT_TRUE(cgroup_set_number(ATTACKER, "cpu.weight",
				      variant->contest.weight));
}

FIXTURE_TEARDOWN(shares)
{
	cgroup_kill(ATTACKER);
	cgroup_kill(VICTIM);
	cgroup_set(ATTACKER, "cpu.weight", "100");
	cgroup_set(ATTACKER, "cpuset.cpus", "\n");
	cgroup_set(VICTIM, "cpuset.cpus", "\n");
	remove_cgroups(_metadata, self->board);
}

/* Lets the attacker and a program that only spins compete for the processor. */
static struct usage compete(struct __test_metadata *_metadata,
			    struct board *board,
			    void (*attack)(struct board *board))
{
	struct usage used;

	tenant_start(VICTIM, VICTIM_UID, spin, board);
	ASSERT_TRUE(start_attack(board, attack, 0));
	sleep_ns(100 * MS);
	used = watch(board, 2 * window_ns()).used;
	cgroup_kill(ATTACKER);
	cgroup_kill(VICTIM);
	return used;
}

static double attackers_share(const struct usage *used)
{
	return percent(used->attacker, used->attacker + used->victim);
}

/* Measures in turns with the reference and with the attack. */
static void measure_contest(struct __test_metadata *_metadata,
			    struct board *board, const struct contest *contest,
			    struct figures *figures)
{
	memset(figures, 0, sizeof(*figures));
	for (int i = 0; i < rounds(); i++) {
		struct usage used;

		used = compete(_metadata, board, contest->reference);
		figures->root.alone[i] = root_rate(&used);
		add_usage(&figures->alone, used);
		used = compete(_metadata, board, contest->attack);
		figures->root.beside[i] = root_rate(&used);
		add_usage(&figures->beside, used);
	}
	sort_pair(&figures->root);
}

/* The attacker gets no more than a program without the device would get. */
TEST_F(shares, are_as_the_weights)
{
	const struct contest *contest = &variant->contest;
	unsigned int share = 100 * contest->weight / (contest->weight + 100);
	double got = 0, usual = 0, most = 0;
	struct figures figures;

	for (int try = 0; try < TRIES; try++) {
		measure_contest(_metadata, self->board, contest, &figures);
		usual = attackers_share(&figures.alone);
		got = attackers_share(&figures.beside);
		most = (usual > share ? usual : share) * (100 + UNFAIR) / 100;
		printf("# %s: of a processor: attacker %.1f%%, victim %.1f%%,",
		       contest->name,
		       percent(figures.beside.attacker, figures.beside.time),
		       percent(figures.beside.victim, figures.beside.time));
		show_root(&figures);
		printf("; attacker's share %.1f%%, by weight %u%%,", got,
		       share);
		printf(" without the device %.1f%%; first timer in %.0f ms\n",
		       usual, ms(self->board->start));
		fflush(stdout);
		if (got <= most && is_paid(&figures))
			break;
	}
	EXPECT_GE(most, got);
	EXPECT_TRUE(is_paid(&figures));
}

/* ---- the cgroup's own life ---- */

/*
 * Others hold an instance of a tenant whose processes are dead. Container managers want to
 * remove its cgroup all the same.
 */
TEST_F(tenants, an_instance_held_by_others_does_not_keep_the_cgroup)
{
	ASSERT_TRUE(start_attack(self->board, attack_sends_one, 0));
	cgroup_kill(ATTACKER);
	EXPECT_TRUE(cgroup_remove(ATTACKER));
}

/* `docker pause` freezes the cgroup, and waits until the kernel says that it is frozen. */
TEST_F(tenants, a_cgroup_with_instances_can_be_frozen)
{
	bool frozen = false;

	ASSERT_TRUE(start_attack(self->board, attack_polls, 0));
	ASSERT_TRUE(cgroup_set(ATTACKER, "cgroup.freeze", "1"));
	for (unsigned int i = 0; i < FREEZE_POLLS && !frozen; i++) {
		frozen = cgroup_get(ATTACKER, "cgroup.events", "frozen ") == 1;
		sleep_ns(MS);
	}
	EXPECT_TRUE(cgroup_set(ATTACKER, "cgroup.freeze", "0"));
	if (!frozen)
		SKIP(return, "known: no cgroup with a kthread freezes");
}

TEST_HARNESS_MAIN
