// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads and processes use one instance at once. Every timer ends exactly once, and
 * all counts are exact at the end, whichever calls raced. A burst of a million timers in
 * one tick does not block other calls or other instances.
 */
#include "hwtimer_test.h"

/* How often a timer ended in each way. Arrays of fates are indexed by user_data. */
struct fate {
	unsigned char cancelled; /* or discarded */
	unsigned char delivered;
};

static void count(unsigned char *times)
{
	__atomic_fetch_add(times, 1, __ATOMIC_RELAXED);
}

static void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

/* Reads up to 64 events that are ready. */
static void read_some(int fd, struct fate *fates)
{
	struct hwtimer_event events[64];
	int got = dev_read(fd, events, 64);

	for (int i = 0; i < got; i++)
		count(&fates[events[i].user_data].delivered);
}

/* Reads until no timer is pending and no event is ready. */
static void read_the_rest(struct __test_metadata *_metadata, int fd,
			  struct fate *fates)
{
	struct hwtimer_stats stats;

	do {
		read_some(fd, fates);
		ASSERT_EQ(0, dev_stats(fd, &stats));
	} while (stats.pending || stats.ready);
}

/* Expects that every timer ended once, and that the counters agree. */
static void expect_fates(struct __test_metadata *_metadata, int fd,
			 const struct fate *fates, unsigned int n)
{
	__u64 cancelled = 0, delivered = 0;
	struct hwtimer_stats stats;

	for (unsigned int i = 0; i < n; i++) {
		ASSERT_EQ(1, fates[i].cancelled + fates[i].delivered)
		{
			TH_LOG("timer %u: %u times cancelled, %u delivered", i,
			       fates[i].cancelled, fates[i].delivered);
		}
		cancelled += fates[i].cancelled;
		delivered += fates[i].delivered;
	}
	ASSERT_EQ(0, dev_stats(fd, &stats));
	EXPECT_EQ(n, stats.scheduled);
	EXPECT_EQ(cancelled, stats.cancelled + stats.discarded);
	EXPECT_EQ(delivered, stats.delivered);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, stats.ready);
	expect_balance(_metadata, &stats);
}

#define GROUP 64 /* timers that a thread handles at a time */

/* One thread's share of a mixed load: the timers from @first to @first + @n - 1. */
struct mixed {
	int fd;
	unsigned int first;
	unsigned int n;
	struct fate *fates;
	unsigned int failures;
};

/* The next two schedule a group, and return the number of failures. */
static unsigned int schedule_group(int fd, unsigned int first,
				   unsigned int *seed, __u64 *ids)
{
	struct hwtimer_request requests[GROUP];
	unsigned int failures = 0;

	fill_schedules(requests, GROUP, 0, 0, first);
	for (unsigned int i = 0; i < GROUP; i++)
		requests[i].time = next_random(seed) % (20 * MS);
	if (dev_submit(fd, requests, GROUP) != GROUP)
		failures++;
	for (unsigned int i = 0; i < GROUP; i++) {
		failures += requests[i].result != 0;
		ids[i] = requests[i].id;
	}
	return failures;
}

static unsigned int schedule_bulk(int fd, unsigned int first,
				  unsigned int *seed, __u64 *ids)
{
	struct hwtimer_bulk_timer timers[GROUP];
	unsigned int failures = 0;

	for (unsigned int i = 0; i < GROUP; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.user_data = first + i,
			.time = next_random(seed) % (20 * MS),
		};
	if (dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, GROUP) != GROUP)
		failures++;
	for (unsigned int i = 0; i < GROUP; i++)
		failures += ids[i] >= (__u64)-4095LL;
	return failures;
}

static void mixed_group(struct mixed *mixed, unsigned int first,
			unsigned int *seed)
{
	__u64 ids[GROUP];

	if (next_random(seed) % 2)
		mixed->failures += schedule_group(mixed->fd, first, seed, ids);
	else
		mixed->failures += schedule_bulk(mixed->fd, first, seed, ids);
	for (unsigned int i = 0; i < GROUP; i++) {
		unsigned int what = next_random(seed) % 4;
		__u32 flags = what == 1 ? HWTIMER_REQ_DISCARD : 0;
		struct hwtimer_stats before, after;
		int ret = 0;

		if (what < 2) {
			ret = dev_cancel(mixed->fd, ids[i], flags);
			if (!ret)
				count(&mixed->fates[first + i].cancelled);
		} else if (what == 2) {
			ret = dev_reschedule(mixed->fd, ids[i], 0,
					     next_random(seed) % (20 * MS));
		} else if (dev_stats(mixed->fd, &before) ||
			   dev_stats(mixed->fd, &after) ||
			   before.scheduled > after.scheduled) {
			ret = -EPROTO;
		}
		/* 1: CANCEL found the event waiting. */
		if (ret && ret != 1 && ret != -ENOENT && ret != -EALREADY)
			mixed->failures++;
	}
	read_some(mixed->fd, mixed->fates);
}

static void *mixed_load(void *arg)
{
	struct mixed *mixed = arg;
	unsigned int seed = mixed->first;

	for (unsigned int i = 0; i < mixed->n; i += GROUP)
		mixed_group(mixed, mixed->first + i, &seed);
	return NULL;
}

/* Runs four threads, each with a quarter of the @n timers from @first on. */
static unsigned int four_threads(int fd, unsigned int first, unsigned int n,
				 struct fate *fates)
{
	unsigned int failures = 0;
	struct mixed mixed[4];
	pthread_t threads[4];

	for (unsigned int i = 0; i < 4; i++) {
		mixed[i] = (struct mixed){
			.fd = fd,
			.first = first + i * (n / 4),
			.n = n / 4,
			.fates = fates,
		};
	}
	start_threads(threads, 4, mixed_load, mixed, sizeof(mixed[0]));
	join_threads(threads, 4);
	for (unsigned int i = 0; i < 4; i++)
		failures += mixed[i].failures;
	return failures;
}

TEST_F(hwtimer, two_processes_and_eight_threads)
{
	unsigned int n = 8 * GROUP * scaled(125);
	struct fate *fates = shared_memory(n * sizeof(*fates));
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(four_threads(self->fd, 0, n / 2, fates) ? 1 : 0);
	EXPECT_EQ(0, four_threads(self->fd, n / 2, n / 2, fates));
	EXPECT_EQ(0, wait_for_child(pid));
	read_the_rest(_metadata, self->fd, fates);
	expect_fates(_metadata, self->fd, fates, n);
}

/* One of the threads that race for the same timers, each in its own order. */
struct rival {
	int fd;
	unsigned int number;
	const __u64 *ids;
	struct fate *fates; /* of all timers */
	struct fate *raced; /* of the timers in ids */
	pthread_barrier_t *barrier;
	unsigned int failures;
};

#define RIVALS 4
#define RACE 1024 /* timers that the threads race for; a power of two */
#define ROUNDS 10

/* Odd factors shuffle, as RACE is a power of two. */
static unsigned int nth_of(const struct rival *rival, unsigned int n)
{
	return n * (2 * rival->number + 1) % RACE;
}

static void *cancel_with(struct rival *rival, __u32 flags)
{
	pthread_barrier_wait(rival->barrier);
	for (unsigned int i = 0; i < RACE; i++) {
		unsigned int nth = nth_of(rival, i);
		int ret = dev_cancel(rival->fd, rival->ids[nth], flags);

		if (!ret)
			count(&rival->raced[nth].cancelled);
		else if (ret != -ENOENT && (ret != 1 || flags))
			rival->failures++;
	}
	return NULL;
}

static void *cancel_all(void *arg)
{
	return cancel_with(arg, 0);
}

static void *discard_all(void *arg)
{
	return cancel_with(arg, HWTIMER_REQ_DISCARD);
}

static void *reschedule_all(void *arg)
{
	struct rival *rival = arg;

	pthread_barrier_wait(rival->barrier);
	for (unsigned int i = 0; i < RACE; i++) {
		__u64 id = rival->ids[nth_of(rival, i)];
		int ret = dev_reschedule(rival->fd, id, 0, i % 4 * MS);

		if (ret && ret != -ENOENT && ret != -EALREADY)
			rival->failures++;
	}
	return NULL;
}

static void *read_all(void *arg)
{
	struct rival *rival = arg;

	pthread_barrier_wait(rival->barrier);
	for (unsigned int i = 0; i < RACE / 16; i++)
		read_some(rival->fd, rival->fates);
	return NULL;
}

/* What each thread does, to timers that expire meanwhile or, if expired, before. */
FIXTURE(rivals)
{
	int fd;
};

FIXTURE_VARIANT(rivals)
{
	void *(*run[RIVALS])(void *);
	bool expired;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(rivals, cancel_against_expiry)
{
	.run = { cancel_all, cancel_all, cancel_all, cancel_all },
};

FIXTURE_VARIANT_ADD(rivals, cancel_against_reschedule)
{
	.run = { cancel_all, reschedule_all, reschedule_all, read_all },
};

FIXTURE_VARIANT_ADD(rivals, discard_against_expiry)
{
	.run = { discard_all, read_all, discard_all, reschedule_all },
};

FIXTURE_VARIANT_ADD(rivals, discard_against_read)
{
	.run = { discard_all, read_all, discard_all, read_all },
	.expired = true,
};

/* clang-format on */

FIXTURE_SETUP(rivals)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(rivals)
{
	EXPECT_EQ(0, close(self->fd));
}

/* Schedules the timers that the threads race for. */
static void schedule_race(struct __test_metadata *_metadata, int fd,
			  __u64 first_user_data, bool expired, __u64 *ids)
{
	struct hwtimer_request requests[RACE];

	fill_schedules(requests, RACE, 0, 0, first_user_data);
	for (unsigned int i = 0; i < RACE && !expired; i++)
		requests[i].time = i * 37 % 1000 * 10 * US;
	ASSERT_EQ(RACE, dev_submit(fd, requests, RACE));
	for (unsigned int i = 0; i < RACE; i++) {
		ASSERT_EQ(0, requests[i].result);
		ids[i] = requests[i].id;
	}
	if (expired)
		ASSERT_TRUE(dev_wait_ready(fd, RACE));
}

TEST_F(rivals, every_timer_ends_once)
{
	static struct fate fates[ROUNDS * RACE];
	pthread_t threads[RIVALS];
	struct rival rivals[RIVALS];
	pthread_barrier_t barrier;
	unsigned int cancelled = 0;
	__u64 ids[RACE];

	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, RIVALS));
	for (unsigned int first = 0; first < ROUNDS * RACE; first += RACE) {
		schedule_race(_metadata, self->fd, first, variant->expired,
			      ids);
		for (unsigned int i = 0; i < RIVALS; i++) {
			rivals[i] = (struct rival){
				.fd = self->fd,
				.number = i,
				.ids = ids,
				.fates = fates,
				.raced = fates + first,
				.barrier = &barrier,
			};
			start_threads(&threads[i], 1, variant->run[i],
				      &rivals[i], 0);
		}
		join_threads(threads, RIVALS);
		for (unsigned int i = 0; i < RIVALS; i++)
			EXPECT_EQ(0, rivals[i].failures);
		read_the_rest(_metadata, self->fd, fates);
	}
	expect_fates(_metadata, self->fd, fates, ROUNDS * RACE);
	for (unsigned int i = 0; i < ROUNDS * RACE; i++)
		cancelled += fates[i].cancelled;
	TH_LOG("%u of %u were cancelled", cancelled, ROUNDS * RACE);
}

/* A thread that checks that the counters balance while other threads work. */
struct auditor {
	int fd;
	bool stop;
	struct __test_metadata *metadata;
	unsigned int audits;
};

static void *audit(void *arg)
{
	struct auditor *auditor = arg;
	struct hwtimer_stats stats;

	do {
		if (!dev_stats(auditor->fd, &stats))
			expect_balance(auditor->metadata, &stats);
		__atomic_add_fetch(&auditor->audits, 1, __ATOMIC_RELAXED);
	} while (!__atomic_load_n(&auditor->stop, __ATOMIC_RELAXED));
	return NULL;
}

static unsigned int audits_of(const struct auditor *auditor)
{
	return __atomic_load_n(&auditor->audits, __ATOMIC_RELAXED);
}

TEST_F(hwtimer, books_balance_at_all_times)
{
	struct auditor auditor = { .fd = self->fd, .metadata = _metadata };
	unsigned int n = 4 * GROUP * scaled(64);
	struct fate *fates = shared_memory(n * sizeof(*fates));
	pthread_t thread;

	start_threads(&thread, 1, audit, &auditor, 0);
	/* If the load ends before the auditor has run twice, the load starts again. */
	for (unsigned int i = 0; i < 20 && audits_of(&auditor) < 2; i++)
		EXPECT_EQ(0, four_threads(self->fd, 0, n, fates));
	__atomic_store_n(&auditor.stop, true, __ATOMIC_RELAXED);
	join_threads(&thread, 1);
	TH_LOG("%u audits", auditor.audits);
	EXPECT_LT(1, auditor.audits);
}

/* A thread that checks that the wake-ups of the worker only grow. */
struct watcher {
	int fd;
	bool stop;
	unsigned int failures;
};

static void *watch_wakeups(void *arg)
{
	struct watcher *watcher = arg;
	long long last = 0;

	while (!__atomic_load_n(&watcher->stop, __ATOMIC_RELAXED)) {
		long long wakeups = told(watcher->fd, "wakeups");

		watcher->failures += wakeups < last;
		last = wakeups;
	}
	return NULL;
}

/* test/vm/faults.sh runs this test where KCSAN looks for races between these threads. */
TEST_F(hwtimer, wakeups_only_grow)
{
	struct watcher watchers[2] = { { .fd = self->fd }, { .fd = self->fd } };
	struct hwtimer_event event;
	pthread_t threads[2];

	ASSERT_NE(0, dev_every(self->fd, MS, MS, 0));
	start_threads(threads, 2, watch_wakeups, watchers, sizeof(watchers[0]));
	for (unsigned int i = 0; i < 400; i++)
		EXPECT_EQ(1, dev_collect(self->fd, &event, 1));
	for (unsigned int i = 0; i < 2; i++)
		__atomic_store_n(&watchers[i].stop, true, __ATOMIC_RELAXED);
	join_threads(threads, 2);
	for (unsigned int i = 0; i < 2; i++)
		EXPECT_EQ(0, watchers[i].failures);
	EXPECT_LT(0, told(self->fd, "wakeups"));
}

/* A setup for the @nth instance: wheels of all sizes. */
static struct hwtimer_setup setup_of(unsigned int nth)
{
	return (struct hwtimer_setup){
		.tick = (1 + nth % 5) * MS,
		.buckets = 8 << nth % 7,
		.clock = nth % 3 ? HWTIMER_CLOCK_MONOTONIC :
				   HWTIMER_CLOCK_BOOTTIME,
	};
}

/* Instances work at the same time, and each delivers only its own timers. */
TEST_F(hwtimer, many_instances)
{
	struct hwtimer_event events[100];
	int fds[40];

	for (unsigned int i = 0; i < 40; i++) {
		fds[i] = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, dev_setup_as(fds[i], setup_of(i)));
	}
	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int j = 0; j < 40; j++) {
			ASSERT_NE(0, dev_after(fds[j], (i + j) % 50 * MS,
					       1000 * j + i));
		}
	}
	for (unsigned int j = 0; j < 40; j++) {
		bool came[100] = { false };

		ASSERT_EQ(100, dev_collect(fds[j], events, 100));
		for (unsigned int i = 0; i < 100; i++) {
			ASSERT_EQ(j, events[i].user_data / 1000);
			EXPECT_FALSE(came[events[i].user_data % 1000]);
			came[events[i].user_data % 1000] = true;
		}
		ASSERT_EQ(0, close(fds[j]));
	}
}

/* A thread that schedules until the instance is stopped; ENOSPC does not end it. */
struct scheduler {
	int fd;
	unsigned int scheduled;
	int result;
};

static void *schedule_until_stopped(void *arg)
{
	struct scheduler *scheduler = arg;
	__u64 id;

	do {
		__u64 delay = scheduler->scheduled % 2 ? HOUR : 0;

		scheduler->result = dev_schedule(scheduler->fd, 0, delay,
						 scheduler->scheduled, &id);
		scheduler->scheduled += !scheduler->result;
	} while (!scheduler->result || scheduler->result == -ENOSPC);
	return NULL;
}

TEST_F(hwtimer, stop_against_schedule)
{
	struct hwtimer_timer timers[64];
	struct scheduler schedulers[4];
	unsigned int scheduled = 0, came = 0;
	struct hwtimer_event event;
	pthread_t threads[4];
	__u64 cursor = 0;
	int ret;

	for (unsigned int i = 0; i < 4; i++)
		schedulers[i] = (struct scheduler){ .fd = self->fd };
	start_threads(threads, 4, schedule_until_stopped, schedulers,
		      sizeof(schedulers[0]));
	sleep_ns(100 * MS);
	while ((ret = dev_stop(self->fd, timers, 64, &cursor)) > 0)
		came += ret;
	EXPECT_EQ(0, ret);
	join_threads(threads, 4);
	for (unsigned int i = 0; i < 4; i++) {
		EXPECT_EQ(-ESHUTDOWN, schedulers[i].result);
		scheduled += schedulers[i].scheduled;
	}
	EXPECT_EQ(0, dev_stop(self->fd, timers, 64, NULL));
	while (dev_read(self->fd, &event, 1) == 1)
		came++;
	EXPECT_EQ(scheduled, came);
}

/* A thread that stops the instance and takes its timers until it gets no more, or reads. */
struct stopper {
	int fd;
	unsigned char *came;
	int result;
};

static void *stop_all(void *arg)
{
	struct stopper *stopper = arg;
	struct hwtimer_timer timers[7];
	__u64 cursor = 0;
	int ret;

	do {
		ret = dev_stop(stopper->fd, timers, 7, &cursor);
		for (int i = 0; i < ret; i++)
			count(&stopper->came[timers[i].user_data]);
	} while (ret > 0);
	stopper->result = ret;
	return NULL;
}

TEST_F(hwtimer, stop_against_stop)
{
	unsigned char *came = shared_memory(5000);
	struct stopper stoppers[4];
	pthread_t threads[4];

	ASSERT_EQ(5000, dev_schedule_many(self->fd, 5000, 0, HOUR, NULL));
	for (unsigned int i = 0; i < 4; i++)
		stoppers[i] = (struct stopper){ .fd = self->fd, .came = came };
	start_threads(threads, 4, stop_all, stoppers, sizeof(stoppers[0]));
	join_threads(threads, 4);
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(0, stoppers[i].result);
	for (unsigned int i = 0; i < 5000; i++)
		EXPECT_EQ(1, came[i]);
}

static void *read_until_drained(void *arg)
{
	struct stopper *reader = arg;
	struct hwtimer_event events[3];

	do {
		reader->result = dev_read(reader->fd, events, 3);
		sched_yield();
	} while (reader->result > 0);
	return NULL;
}

/*
 * While other threads read, each periodic timer is handed back once, unless a cancel or a
 * discard has ended it before.
 */
TEST_F(hwtimer, stop_against_readers_of_periodic_timers)
{
	const unsigned int n = 3000;
	unsigned char *came = shared_memory(n);
	struct stopper stoppers[4];
	pthread_t threads[4];
	bool *cancelled = calloc(n, sizeof(*cancelled));
	__u64 *ids = calloc(n, sizeof(*ids));

	ASSERT_NE(NULL, cancelled);
	ASSERT_NE(NULL, ids);
	for (unsigned int i = 0; i < n; i++) {
		ids[i] = dev_every(self->fd, i % 10 ? 0 : HOUR, HOUR, i);
		ASSERT_NE(0, ids[i]);
	}
	ASSERT_TRUE(dev_wait_ready(self->fd, n - n / 10));
	for (unsigned int i = 0; i < 4; i++)
		stoppers[i] = (struct stopper){ .fd = self->fd, .came = came };
	start_threads(threads, 2, stop_all, stoppers, sizeof(stoppers[0]));
	/* It is stopped before there are readers: they end when it is drained. */
	ASSERT_LE(0, dev_stop(self->fd, NULL, 0, NULL));
	start_threads(threads + 2, 2, read_until_drained, stoppers + 2,
		      sizeof(stoppers[0]));
	for (unsigned int i = 0; i < n; i += 3) {
		int ret = dev_cancel(self->fd, ids[i],
				     i % 2 ? HWTIMER_REQ_DISCARD : 0);

		/* It was handed back, or will not be; its last event may have waited. */
		cancelled[i] = ret != -ENOENT;
	}
	join_threads(threads, 4);
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(0, stoppers[i].result);
	for (unsigned int i = 0; i < n; i++) {
		EXPECT_GE(1, came[i]);
		if (!cancelled[i])
			EXPECT_EQ(1, came[i]);
	}
	free(cancelled);
	free(ids);
}

/* Maximum number of bystanders */
#define BYSTANDERS 4
#define SAMPLE (8 * BATCH)

/* A burst is so large that other threads have time to run meanwhile. */
static unsigned int burst_size(void)
{
	unsigned int n = scaled(1000000);

	return n < 10000 ? 10000 : n;
}

/*
 * Schedules @n timers for one moment, which is still ahead when all are scheduled. If the
 * machine was busy, the moment is far ahead: sleep until then before you wait for events.
 * Returns the moment, or 0.
 */
static __u64 schedule_burst(int fd, unsigned int n)
{
	__u64 ids[SAMPLE], start = now_ns(), moment;

	/*
	 * Measure how long it takes. None is cancelled before all are there: otherwise the
	 * memory of one would serve the next, and allocating it may take longer than the rest.
	 */
	if (dev_schedule_many(fd, SAMPLE, 0, HOUR, ids) != SAMPLE ||
	    dev_cancel_many(fd, SAMPLE, ids) != SAMPLE)
		return 0;
	moment = now_ns() + 200 * MS + (now_ns() - start) / SAMPLE * n;
	if (dev_schedule_many(fd, n, HWTIMER_REQ_ABSTIME, moment, NULL) != n)
		return 0;
	return moment;
}

/* A thread that schedules and cancels while a burst expires, on one processor. */
struct bystander {
	int fd;
	int cpu;
	unsigned int during; /* calls while the burst expired */
	unsigned int failures;
};

static void *stand_by(void *arg)
{
	struct bystander *bystander = arg;
	struct hwtimer_stats stats;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(bystander->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		bystander->failures++;
	do {
		__u64 id = dev_after(bystander->fd, HOUR, UINT64_MAX);

		if (!id || dev_cancel(bystander->fd, id, 0) ||
		    dev_stats(bystander->fd, &stats)) {
			bystander->failures++;
			break;
		}
		if (stats.expired && stats.pending)
			bystander->during++;
	} while (!stats.expired || stats.pending);
	return NULL;
}

/*
 * Makes a bystander for each of the processors, BYSTANDERS at most: the worker runs beside one
 * of them, and would keep a single one from running. Returns their number.
 */
static unsigned int make_bystanders(struct bystander *bystanders)
{
	unsigned int count = 0;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < BYSTANDERS; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			bystanders[count++] = (struct bystander){ .cpu = cpu };
	return count;
}

/* Takes all events of a burst at @moment: each timer once, and no other event. */
static void collect_burst(struct __test_metadata *_metadata, int fd,
			  unsigned int n, __u64 moment)
{
	unsigned char *came = calloc(n, 1);
	struct hwtimer_event events[BATCH];

	ASSERT_NE(NULL, came);
	/* On a slow machine the moment is further ahead than dev_collect() waits. */
	sleep_until(moment);
	for (unsigned int got = 0; got < n;) {
		unsigned int want = n - got < BATCH ? n - got : BATCH;

		ASSERT_EQ(want, dev_collect(fd, events, want));
		for (unsigned int i = 0; i < want; i++, got++) {
			ASSERT_GT(n, events[i].user_data);
			ASSERT_EQ(0, came[events[i].user_data]);
			came[events[i].user_data] = 1;
			ASSERT_EQ(moment, events[i].deadline);
		}
	}
	free(came);
}

/*
 * If other machines take the processors, the bystanders may not run at all during a burst,
 * whatever the module does. So bursts are repeated until one of them has run.
 */
TEST_F(hwtimer, burst_leaves_room_for_other_calls)
{
	struct bystander bystanders[BYSTANDERS];
	unsigned int count = make_bystanders(bystanders);
	unsigned int n = burst_size();
	unsigned int bursts = 0, during = 0;

	ASSERT_LT(0, count);
	while (!during && bursts++ < 20) {
		int fd = dev_open(O_NONBLOCK);
		pthread_t threads[BYSTANDERS];
		__u64 moment;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, dev_setup(fd, 0, 0, n + BATCH));
		moment = schedule_burst(fd, n);
		ASSERT_NE(0, moment);
		for (unsigned int i = 0; i < count; i++)
			bystanders[i].fd = fd;
		start_threads(threads, count, stand_by, bystanders,
			      sizeof(bystanders[0]));
		collect_burst(_metadata, fd, n, moment);
		join_threads(threads, count);
		for (unsigned int i = 0; i < count; i++) {
			ASSERT_EQ(0, bystanders[i].failures);
			during += bystanders[i].during;
		}
		close(fd);
	}
	TH_LOG("%u calls while %u timers expired, in burst %u", during, n,
	       bursts);
	/* A burst may be over before the scheduler takes the only processor from the worker. */
	if (count == 1 && !during)
		SKIP(return, "there is only one processor");
	EXPECT_LT(0, during);
}

/* A thread that reads all events of a burst but the last */
struct burst {
	int fd;
	unsigned int n;
};

static void *read_burst(void *arg)
{
	struct burst *burst = arg;

	dev_discard_events(burst->fd, burst->n - 1);
	return NULL;
}

/*
 * By the kernel's own clock, the other instance's event was queued before the last event
 * of the burst. A burst that has its own processor may be over before the worker wakes up for
 * the other instance. So bursts are repeated.
 */
TEST_F(hwtimer, burst_leaves_room_for_other_instances)
{
	struct hwtimer_event event = { 0 }, last = { 0 };
	unsigned int n = burst_size();
	unsigned int bursts = 0;

	do {
		int fd = dev_open(O_NONBLOCK), other = dev_open(O_NONBLOCK);
		struct burst burst = { .fd = fd, .n = n };
		pthread_t thread;
		__u64 moment;

		ASSERT_LE(0, fd);
		ASSERT_LE(0, other);
		ASSERT_EQ(0, dev_setup(fd, 0, 0, n + BATCH));
		moment = schedule_burst(fd, n);
		ASSERT_NE(0, moment);
		ASSERT_NE(0, dev_at(other, moment, 0));
		sleep_until(moment);
		start_threads(&thread, 1, read_burst, &burst, 0);
		ASSERT_EQ(1, dev_collect(other, &event, 1));
		join_threads(&thread, 1);
		ASSERT_EQ(1, dev_collect(fd, &last, 1));
		EXPECT_EQ(moment, event.deadline);
		EXPECT_EQ(moment, last.deadline);
		EXPECT_EQ(0, close(fd));
		EXPECT_EQ(0, close(other));
	} while (event.lateness >= last.lateness && ++bursts < 20);
	TH_LOG("%u us late, the burst took %u us", event.lateness / 1000,
	       last.lateness / 1000);
	EXPECT_LT(event.lateness, last.lateness);
}

TEST_HARNESS_MAIN
