// SPDX-License-Identifier: GPL-2.0
/*
 * read(), CANCEL_ALL and LIST copy to memory of all kinds: what cannot be written to, what is not
 * there yet, and what goes away meanwhile. What has arrived in the buffer is taken, and all
 * else stays as it was. A call that waits for a page of its memory holds up nobody.
 */
#include "missing.h"

#include <sys/uio.h>

/* Timers of a test: their events take more than two pages of 4 KiB, and all of them wait. */
#define N 300

/* Timers that come to somebody, each of them once */
struct account {
	unsigned char came[N];
	unsigned int total;
};

static void account_add(struct __test_metadata *_metadata,
			struct account *account, __u64 user_data)
{
	ASSERT_GT(N, user_data);
	EXPECT_EQ(0, account->came[user_data]);
	account->came[user_data]++;
	account->total++;
}

static void account_events(struct __test_metadata *_metadata,
			   struct account *account,
			   const struct hwtimer_event *events, int count)
{
	for (int i = 0; i < count; i++)
		account_add(_metadata, account, events[i].user_data);
}

/* Reads what is left, into a good buffer, and expects that all N events have come by now. */
static void read_rest(struct __test_metadata *_metadata, int fd,
		      struct account *account)
{
	struct hwtimer_event events[N];
	int ret;

	while (account->total < N) {
		ret = dev_read(fd, events, N);
		ASSERT_LT(0, ret);
		account_events(_metadata, account, events, ret);
	}
	EXPECT_EQ(0, stats_of(fd).ready);
}

/* ---- kinds of memory ---- */

/**
 * struct memory - memory to which the kernel is to copy
 * @at: its address
 * @writable: bytes from there on that can be written; SIZE_MAX: all that are asked for
 */
struct memory {
	char *at;
	size_t writable;
};

static char *pages(unsigned int count, int flags, int fd)
{
	char *map = mmap(NULL, count * getpagesize(), PROT_READ | PROT_WRITE,
			 flags, fd, 0);

	if (map == MAP_FAILED)
		abort();
	return map;
}

#define PAGES 8 /* room for N timers of each format */

static int memory_file(unsigned int count)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, count * getpagesize()))
		abort();
	return fd;
}

static struct memory null_pointer(size_t room)
{
	return (struct memory){ NULL, room * 0 };
}

static struct memory unmapped(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	munmap(at, PAGES * getpagesize());
	return (struct memory){ at, room * 0 };
}

static struct memory read_only(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(at, 1, PAGES * getpagesize());
	mprotect(at, PAGES * getpagesize(), PROT_READ);
	return (struct memory){ at, room * 0 };
}

static struct memory kernels(size_t room)
{
	return (struct memory){ (char *)(intptr_t)-getpagesize(), room * 0 };
}

/* A mapping of a file behind its end */
static struct memory behind_the_end(size_t room)
{
	int fd = memory_file(0);
	char *at = pages(PAGES, MAP_SHARED, fd);

	close(fd);
	return (struct memory){ at, room * 0 };
}

/* @room bytes, and then a page without access */
static struct memory half_without_access(size_t room)
{
	return (struct memory){ page_edge(room), room };
}

static struct memory half_unmapped(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t there = whole_pages(room);

	munmap(at + there, PAGES * getpagesize() - there);
	return (struct memory){ at + there - room, room };
}

static struct memory half_read_only(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t there = whole_pages(room);

	mprotect(at + there, PAGES * getpagesize() - there, PROT_READ);
	return (struct memory){ at + there - room, room };
}

static struct memory half_of_a_file(size_t room)
{
	size_t there = whole_pages(room);
	int fd = memory_file(there / getpagesize());
	char *at = pages(PAGES, MAP_SHARED, fd);

	close(fd);
	return (struct memory){ at + there - room, room };
}

/* Memory that is there as soon as somebody writes to it. It begins in the midst of a page. */
static struct memory never_touched(size_t room)
{
	(void)room;
	return (struct memory){
		pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1) + 1000, SIZE_MAX
	};
}

/* Pages that were only read show the page of zeros. */
static struct memory only_read(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	unsigned int sum = 0;

	(void)room;
	for (unsigned int i = 0; i < PAGES; i++)
		sum += at[i * getpagesize()];
	if (sum)
		abort();
	return (struct memory){ at, SIZE_MAX };
}

static struct memory given_up(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)room;
	memset(at, 1, PAGES * getpagesize());
	madvise(at, PAGES * getpagesize(), MADV_DONTNEED);
	return (struct memory){ at, SIZE_MAX };
}

static struct memory hole_of_a_file(size_t room)
{
	int fd = memory_file(PAGES);
	char *at = pages(PAGES, MAP_SHARED, fd);

	(void)room;
	close(fd);
	return (struct memory){ at, SIZE_MAX };
}

static struct memory private_of_a_file(size_t room)
{
	int fd = memory_file(PAGES);
	char *at = pages(PAGES, MAP_PRIVATE, fd);

	(void)room;
	close(fd);
	return (struct memory){ at, SIZE_MAX };
}

/* Only each second page is there. */
static struct memory every_other_page(size_t room)
{
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)room;
	for (unsigned int i = 0; i < PAGES; i += 2)
		at[i * getpagesize()] = 1;
	return (struct memory){ at + 16, SIZE_MAX };
}

FIXTURE(memory)
{
	int fd;
};

FIXTURE_VARIANT(memory)
{
	struct memory (*make)(size_t room);
};

FIXTURE_SETUP(memory)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(memory)
{
	expect_close(_metadata, self->fd);
}

/* clang-format off */
FIXTURE_VARIANT_ADD(memory, null_pointer) { .make = null_pointer };
FIXTURE_VARIANT_ADD(memory, unmapped) { .make = unmapped };
FIXTURE_VARIANT_ADD(memory, read_only) { .make = read_only };
FIXTURE_VARIANT_ADD(memory, kernels) { .make = kernels };
FIXTURE_VARIANT_ADD(memory, behind_the_end) { .make = behind_the_end };
FIXTURE_VARIANT_ADD(memory, half_without_access)
{
	.make = half_without_access
};

FIXTURE_VARIANT_ADD(memory, half_unmapped) { .make = half_unmapped };
FIXTURE_VARIANT_ADD(memory, half_read_only) { .make = half_read_only };
FIXTURE_VARIANT_ADD(memory, half_of_a_file) { .make = half_of_a_file };
FIXTURE_VARIANT_ADD(memory, never_touched) { .make = never_touched };
FIXTURE_VARIANT_ADD(memory, only_read) { .make = only_read };
FIXTURE_VARIANT_ADD(memory, given_up) { .make = given_up };
FIXTURE_VARIANT_ADD(memory, hole_of_a_file) { .make = hole_of_a_file };
FIXTURE_VARIANT_ADD(memory, private_of_a_file) { .make = private_of_a_file };
FIXTURE_VARIANT_ADD(memory, every_other_page) { .make = every_other_page };

/* clang-format on */

/* Sizes of the part that can be written, in timers and additional bytes */
static const struct {
	unsigned int whole;
	unsigned int bytes;
} rooms[] = { { 0, 1 }, { 1, 0 }, { 1, 31 }, { 63, 16 }, { 128, 0 } };

/* The number of whole timers of @size bytes that fit into what can be written */
static int that_fit(const struct memory *memory, size_t size)
{
	return memory->writable == SIZE_MAX ? N : memory->writable / size;
}

/* What a call returns that copies N timers if @whole of them fit */
static int result_with(int whole)
{
	return whole ? whole : -EFAULT;
}

TEST_F(memory, read_takes_what_fits)
{
	const size_t size = sizeof(struct hwtimer_event);

	for (unsigned int i = 0; i < ARRAY_SIZE(rooms); i++) {
		struct memory memory =
			variant->make(rooms[i].whole * size + rooms[i].bytes);
		struct account account = { 0 };
		int whole = that_fit(&memory, size);

		make_ready(_metadata, self->fd, N);
		EXPECT_EQ(result_with(whole),
			  dev_read(self->fd, (void *)memory.at, N));
		EXPECT_EQ(N - whole, stats_of(self->fd).ready);
		if (whole < N)
			EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
		account_events(_metadata, &account, (void *)memory.at, whole);
		read_rest(_metadata, self->fd, &account);
	}
}

/* The events of periodic timers, which are pending again once they have been read */
TEST_F(memory, read_of_periodic_timers)
{
	const size_t size = sizeof(struct hwtimer_event);
	struct memory memory = variant->make(7 * size + 8);
	struct account account = { 0 };
	int whole = that_fit(&memory, size);

	for (unsigned int i = 0; i < N; i++)
		ASSERT_NE(0, dev_every(self->fd, 0, HOUR, i));
	ASSERT_TRUE(dev_wait_ready(self->fd, N));
	EXPECT_EQ(result_with(whole), dev_read(self->fd, (void *)memory.at, N));
	EXPECT_EQ(whole, stats_of(self->fd).pending);
	EXPECT_EQ(N - whole, stats_of(self->fd).ready);
	account_events(_metadata, &account, (void *)memory.at, whole);
	read_rest(_metadata, self->fd, &account);
	EXPECT_EQ(N, stats_of(self->fd).pending);
}

TEST_F(memory, stop_hands_back_what_fits)
{
	const size_t size = sizeof(struct hwtimer_timer);

	for (unsigned int i = 0; i < ARRAY_SIZE(rooms); i++) {
		struct memory memory =
			variant->make(rooms[i].whole * size + rooms[i].bytes);
		struct hwtimer_timer *timers = (void *)memory.at;
		struct hwtimer_timer rest[N];
		struct account account = { 0 };
		int whole = that_fit(&memory, size);

		if (!timers) /* means that no array is wanted */
			break;
		ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
		EXPECT_EQ(result_with(whole),
			  dev_stop(self->fd, timers, N, NULL));
		EXPECT_EQ(N - whole, stats_of(self->fd).pending);
		for (int j = 0; j < whole; j++)
			account_add(_metadata, &account, timers[j].user_data);
		ASSERT_EQ(N - whole, dev_stop(self->fd, rest, N, NULL));
		for (int j = 0; j < N - whole; j++)
			account_add(_metadata, &account, rest[j].user_data);
		ASSERT_TRUE(dev_renew(&self->fd));
	}
}

/* A LIST that cannot write goes on where it has stopped. */
TEST_F(memory, list_goes_on_behind_what_fits)
{
	const size_t size = sizeof(struct hwtimer_timer);

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	for (unsigned int i = 0; i < ARRAY_SIZE(rooms); i++) {
		struct memory memory =
			variant->make(rooms[i].whole * size + rooms[i].bytes);
		struct hwtimer_timer *timers = (void *)memory.at;
		struct account account = { 0 };
		int whole = that_fit(&memory, size), ret;
		struct hwtimer_timer rest[N];
		__u64 cursor = 0;

		ret = dev_list(self->fd, timers, N, &cursor);
		/* A page of the list may be short. */
		if (memory.writable == SIZE_MAX)
			whole = ret;
		EXPECT_EQ(result_with(whole), ret);
		for (int j = 0; j < ret; j++)
			account_add(_metadata, &account, timers[j].user_data);
		while ((ret = dev_list(self->fd, rest, N, &cursor)) > 0) {
			for (int j = 0; j < ret; j++)
				account_add(_metadata, &account,
					    rest[j].user_data);
		}
		EXPECT_EQ(0, ret);
		EXPECT_EQ(N, account.total);
	}
	EXPECT_EQ(N, stats_of(self->fd).pending);
}

/* ---- many buffers ---- */

/* Reads all N events into pieces of @piece bytes, with an empty one after each. */
static void read_pieces(struct __test_metadata *_metadata, int fd, size_t piece)
{
	size_t size = N * sizeof(struct hwtimer_event);
	char *bytes = calloc(1, size + piece);
	struct account account = { 0 };
	struct iovec parts[IOV_MAX];
	size_t done = 0;

	ASSERT_NE(NULL, bytes);
	make_ready(_metadata, fd, N);
	while (done < size) {
		int count = 0;
		ssize_t ret;

		for (size_t at = done; at < size && count < IOV_MAX - 1;
		     at += piece) {
			parts[count++] = (struct iovec){ bytes + at, piece };
			parts[count++] = (struct iovec){ bytes + at, 0 };
		}
		ret = readv(fd, parts, count);
		ASSERT_LT(0, ret);
		EXPECT_EQ(0, ret % sizeof(struct hwtimer_event));
		done += ret;
	}
	account_events(_metadata, &account, (void *)bytes, N);
	EXPECT_EQ(N, account.total);
	free(bytes);
}

TEST_F(hwtimer, readv_with_many_small_buffers)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 31, 32, 33, 100, 4097 };

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		read_pieces(_metadata, self->fd, sizes[i]);
}

/* Two buffers, the second one bad; the boundary is at each byte of two events. */
TEST_F(hwtimer, fault_at_each_byte_of_an_event)
{
	const size_t size = sizeof(struct hwtimer_event);
	char bytes[3 * sizeof(struct hwtimer_event)];
	char *bad = bad_address();

	for (size_t good = 0; good <= 2 * size; good++) {
		struct iovec parts[] = {
			{ bytes, good },
			{ bad, size },
			{ bytes + good, size },
		};
		struct account account = { 0 };
		int whole = good / size;

		make_ready(_metadata, self->fd, N);
		EXPECT_EQ(whole ? whole * (int)size : -EFAULT,
			  result_of(readv(self->fd, parts, 3)));
		EXPECT_EQ(N - whole, stats_of(self->fd).ready);
		account_events(_metadata, &account, (void *)bytes, whole);
		read_rest(_metadata, self->fd, &account);
	}
}

/* Pages that a child shares until somebody writes to them: the child's stay as they were. */
TEST_F(hwtimer, pages_shared_with_a_child)
{
	size_t size = PAGES * getpagesize();
	char *at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct account account = { 0 };
	int go[2];
	char byte;
	pid_t pid;

	memset(at, 0x5a, size);
	ASSERT_EQ(0, pipe(go));
	make_ready(_metadata, self->fd, N);
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) != 1)
			_exit(2);
		for (size_t i = 0; i < size; i++)
			if (at[i] != 0x5a)
				_exit(1);
		_exit(0);
	}
	ASSERT_EQ(N, dev_read(self->fd, (void *)at, N));
	ASSERT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, wait_for_child(pid));
	account_events(_metadata, &account, (void *)at, N);
	EXPECT_EQ(N, account.total);
}

/* ---- memory that goes away during the call ---- */

/* A thread that takes the memory away and gives it back, until it is told to end */
struct thief {
	char *at;
	size_t size;
	int fd; /* of the file that is mapped there; -1: none */
	bool ends;
};

static void *steal(void *arg)
{
	struct thief *thief = arg;

	while (!__atomic_load_n(&thief->ends, __ATOMIC_RELAXED)) {
		if (thief->fd < 0) {
			madvise(thief->at, thief->size, MADV_DONTNEED);
		} else {
			munmap(thief->at, thief->size);
			sched_yield();
			mmap(thief->at, thief->size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, thief->fd, 0);
		}
		sched_yield();
	}
	return NULL;
}

#define RACES 300

/*
 * User-Mode Linux 7.3 looks at the page table entry twice when it copies to user space, and
 * dies if the entry goes away in between.
 */
static bool kernel_bears_it(void)
{
	char text[256] = "";
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	return !strstr(text, "User Mode Linux");
}

/* The file has what was copied, whether it is mapped there or not. */
TEST_F(hwtimer, memory_that_another_thread_unmaps)
{
	struct thief thief = {
		.size = PAGES * getpagesize(),
		.fd = memory_file(PAGES),
	};
	struct hwtimer_event *seen = (void *)pages(PAGES, MAP_SHARED, thief.fd);
	unsigned int rounds = rounds_of(RACES), faults = 0, parts = 0;
	pthread_t thread;

	if (!kernel_bears_it())
		SKIP(return, "User-Mode Linux does not bear it");
	thief.at = pages(PAGES, MAP_SHARED, thief.fd);
	start_threads(&thread, 1, steal, &thief, 0);
	for (unsigned int i = 0; i < rounds; i++) {
		struct account account = { 0 };

		make_ready(_metadata, self->fd, N);
		while (account.total < N) {
			int ret = dev_read(self->fd, (void *)thief.at, N);

			if (ret == -EFAULT) {
				faults++;
				continue;
			}
			ASSERT_LT(0, ret);
			parts += account.total + ret < N;
			account_events(_metadata, &account, seen, ret);
		}
		ASSERT_EQ(0, stats_of(self->fd).ready);
	}
	__atomic_store_n(&thief.ends, true, __ATOMIC_RELAXED);
	join_threads(&thread, 1);
	TH_LOG("%u rounds, %u calls got EFAULT, %u a part of the events",
	       rounds, faults, parts);
}

/*
 * What was copied may be gone again: that is the program's doing. A call fails only if a page is
 * taken away before each of 100 copies, and then takes no event.
 */
TEST_F(hwtimer, memory_that_another_thread_gives_up)
{
	struct thief thief = {
		.at = pages(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1),
		.size = PAGES * getpagesize(),
		.fd = -1,
	};
	unsigned int rounds = rounds_of(RACES);
	pthread_t thread;

	if (!kernel_bears_it())
		SKIP(return, "User-Mode Linux does not bear it");
	start_threads(&thread, 1, steal, &thief, 0);
	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int total = 0;

		make_ready(_metadata, self->fd, N);
		while (total < N) {
			int ret = dev_read(self->fd, (void *)thief.at, N);

			if (ret == -EFAULT)
				continue;
			ASSERT_LT(0, ret);
			total += ret;
		}
		ASSERT_EQ(N, total);
		ASSERT_EQ(0, stats_of(self->fd).ready);
	}
	__atomic_store_n(&thief.ends, true, __ATOMIC_RELAXED);
	join_threads(&thread, 1);
}

/* ---- a call that waits for a page of its buffer ---- */

FIXTURE(waits)
{
	int fd;
	struct taker taker;
	pthread_t thread;
};

FIXTURE_SETUP(waits)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->taker.fd = self->fd;
	if (!missing_make(&self->taker.missing))
		SKIP(return, "this kernel has no userfaultfd");
}

FIXTURE_TEARDOWN(waits)
{
	if (self->fd >= 0)
		expect_close(_metadata, self->fd);
}

/* Lets the call go on; returns what it returned. */
static int taker_end(struct __test_metadata *_metadata, struct taker *taker,
		     pthread_t *thread)
{
	EXPECT_TRUE(missing_provide(&taker->missing));
	join_threads(thread, 1);
	return taker->result;
}

/* All that a program may do with an instance that runs; @timer is a pending timer. */
static void use_running(struct __test_metadata *_metadata, int fd, __u64 timer)
{
	struct hwtimer_bulk_timer bulk[3] = { { { 0 }, HOUR },
					      { { 0 }, HOUR },
					      { { 0 }, HOUR } };
	struct hwtimer_info info;
	__u64 ids[3], id;

	EXPECT_EQ(0, dev_info(fd, &info));
	EXPECT_EQ(-EBUSY, dev_setup(fd, 0, 0, 0));
	id = dev_after(fd, HOUR, 7);
	EXPECT_NE(0, id);
	EXPECT_EQ(0, dev_reschedule(fd, id, 0, 2 * HOUR));
	EXPECT_EQ(0, dev_cancel(fd, id, 0));
	EXPECT_EQ(3, dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, bulk, ids, 3));
	EXPECT_EQ(3, dev_cancel_many(fd, 3, ids));
	EXPECT_EQ(0, dev_notify(fd, 2, HWTIMER_NEVER));
	EXPECT_EQ(0, dev_notify(fd, 0, 0));
	EXPECT_EQ(0, dev_reschedule(fd, timer, 0, HOUR));
	query_of(_metadata, fd, timer);
	EXPECT_EQ(0, dev_cancel(fd, timer, 0));
	EXPECT_EQ(0, dev_cancel_all(fd, 0));
}

/* Expects that LIST and STATS know of so many timers. */
static void expect_known(struct __test_metadata *_metadata, int fd,
			 unsigned int pending, unsigned int ready)
{
	struct hwtimer_timer timers[8];
	struct hwtimer_stats stats = stats_of(fd);
	unsigned int expired = 0, count = 0;
	__u64 cursor = 0;
	int ret;

	EXPECT_EQ(pending, stats.pending);
	EXPECT_EQ(ready, stats.ready);
	expect_balance(_metadata, &stats);
	while ((ret = dev_list(fd, timers, 8, &cursor)) > 0) {
		for (int i = 0; i < ret; i++, count++)
			expired += timers[i].state == HWTIMER_STATE_EXPIRED;
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(pending + ready, count);
	EXPECT_EQ(ready, expired);
}

/* Nothing of what a read() has not copied yet is taken. */
TEST_F(waits, read_holds_up_nobody)
{
	struct hwtimer_event events[4];
	__u64 timer;

	make_ready(_metadata, self->fd, 3);
	timer = dev_after(self->fd, HOUR, 3);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	expect_known(_metadata, self->fd, 1, 3);
	use_running(_metadata, self->fd, timer);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(3, dev_read(self->fd, events, 4));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 4));
	EXPECT_EQ(-EAGAIN, taker_end(_metadata, &self->taker, &self->thread));
}

/* A signal that comes while a read() waits for a page ends it: a buffer may have very many. */
TEST_F(waits, a_signal_ends_a_read_between_two_pages)
{
	struct taker *taker = &self->taker;
	struct hwtimer_event events[4];

	interrupt_by(SIGUSR1, 0);
	make_ready(_metadata, self->fd, 4);
	taker->before = 2;
	taker->after = 2;
	ASSERT_TRUE(start_taker(&self->thread, taker));
	ASSERT_EQ(0, pthread_kill(self->thread, SIGUSR1));
	EXPECT_EQ(2, taker_end(_metadata, taker, &self->thread));
	EXPECT_EQ(2, dev_read(self->fd, events, 4));
	EXPECT_EQ(2, events[0].user_data);
}

/* A read() that may wait goes on waiting if others were faster. */
TEST_F(waits, blocking_read_holds_up_nobody)
{
	struct hwtimer_event events[4], *taken;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 3);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	EXPECT_EQ(3, dev_read(self->fd, events, 4));
	EXPECT_TRUE(missing_provide(&self->taker.missing));
	ASSERT_NE(0, dev_after(self->fd, 20 * MS, 17));
	join_threads(&self->thread, 1);
	taken = taker_buffer(&self->taker);
	EXPECT_EQ(1, self->taker.result);
	EXPECT_EQ(17, taken->user_data);
}

TEST_F(waits, read_is_woken_by_nobody_and_takes_what_there_is)
{
	struct hwtimer_event events[2];

	make_ready(_metadata, self->fd, 3);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	EXPECT_EQ(2, dev_read(self->fd, events, 2));
	EXPECT_EQ(1, taker_end(_metadata, &self->taker, &self->thread));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 2));
}

/* What is in the first page of the buffer is taken, and nothing else. */
TEST_F(waits, read_has_taken_what_it_has_copied)
{
	struct account account = { 0 };
	unsigned int ready;

	self->taker.before = 10;
	self->taker.after = 20;
	make_ready(_metadata, self->fd, N);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	ready = stats_of(self->fd).ready;
	EXPECT_EQ(N - 10, ready);
	EXPECT_EQ(30, taker_end(_metadata, &self->taker, &self->thread));
	account_events(_metadata, &account, taker_buffer(&self->taker),
		       self->taker.result);
	read_rest(_metadata, self->fd, &account);
}

TEST_F(waits, others_take_what_read_has_not_copied)
{
	struct account account = { 0 };
	struct hwtimer_event events[N];
	int others;

	self->taker.before = 10;
	self->taker.after = 20;
	make_ready(_metadata, self->fd, N);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	others = dev_read(self->fd, events, N);
	EXPECT_EQ(N - 10, others);
	account_events(_metadata, &account, events, others);
	EXPECT_EQ(10, taker_end(_metadata, &self->taker, &self->thread));
	account_events(_metadata, &account, taker_buffer(&self->taker),
		       self->taker.result);
	EXPECT_EQ(N, account.total);
}

/* CANCEL says what has happened: either it has ended the timer, or the read() has got it. */
TEST_F(waits, cancel_during_a_read_ends_the_timer_or_is_too_late)
{
	__u64 id = dev_after(self->fd, 0, 0);
	int err, taken;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	err = dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD);
	EXPECT_TRUE(err == 0 || err == -ENOENT);
	taken = taker_end(_metadata, &self->taker, &self->thread);
	EXPECT_EQ(err ? 1 : -EAGAIN, taken);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, stats_of(self->fd).ready);
}

/* No event of the old timer comes after a REARM. */
TEST_F(waits, rearm_during_a_read_drops_the_event)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_REARM,
		.id = dev_after(self->fd, 0, 0),
		.time = HOUR,
		.user_data = 5,
	};

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	EXPECT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE, &request));
	EXPECT_EQ(-EAGAIN, taker_end(_metadata, &self->taker, &self->thread));
	EXPECT_EQ(0, stats_of(self->fd).ready);
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

/* The event of a periodic timer is its last one, and comes: CANCEL has said so. */
TEST_F(waits, cancel_of_a_periodic_timer_during_a_read)
{
	__u64 id = dev_every(self->fd, 0, MS, 0);
	struct hwtimer_event *taken;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(1, taker_end(_metadata, &self->taker, &self->thread));
	taken = taker_buffer(&self->taker);
	EXPECT_EQ(id, taken->id);
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
}

TEST_F(waits, stop_during_a_read)
{
	struct hwtimer_timer timers[4];
	struct hwtimer_event *taken;

	make_ready(_metadata, self->fd, 1);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 3));
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 4, NULL));
	EXPECT_EQ(3, timers[0].user_data);
	expect_known(_metadata, self->fd, 0, 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0) & POLLHUP);
	EXPECT_EQ(1, taker_end(_metadata, &self->taker, &self->thread));
	taken = taker_buffer(&self->taker);
	EXPECT_EQ(0, taken->user_data);
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
}

/* The instance is stopped; the call that has done so has not handed back the timers yet. */
TEST_F(waits, stop_holds_up_nobody)
{
	struct hwtimer_timer timers[4];
	struct hwtimer_event events[4];
	__u64 timer;

	self->taker.stops = true;
	make_ready(_metadata, self->fd, 3);
	timer = dev_after(self->fd, HOUR, 3);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 4));
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	expect_known(_metadata, self->fd, 2, 3);
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 5));
	EXPECT_EQ(0, dev_cancel(self->fd, timer, 0));
	EXPECT_EQ(3, dev_read(self->fd, events, 4));
	EXPECT_EQ(0, dev_read(self->fd, events, 4));
	EXPECT_EQ(1, dev_stop(self->fd, timers, 4, NULL));
	EXPECT_EQ(4, timers[0].user_data);
	EXPECT_EQ(0, taker_end(_metadata, &self->taker, &self->thread));
	expect_known(_metadata, self->fd, 0, 0);
}

TEST_F(waits, list_holds_up_nobody)
{
	struct hwtimer_event events[4];
	__u64 timer;

	self->taker.lists = true;
	self->taker.after = 8;
	make_ready(_metadata, self->fd, 3);
	timer = dev_after(self->fd, HOUR, 3);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	expect_known(_metadata, self->fd, 1, 3);
	use_running(_metadata, self->fd, timer);
	EXPECT_EQ(3, dev_read(self->fd, events, 4));
	EXPECT_LE(0, taker_end(_metadata, &self->taker, &self->thread));
	/* Timers that ended meanwhile may be listed or not. */
	EXPECT_GE(4, self->taker.result);
}

/* The descriptor is closed, and the call goes on. */
TEST_F(waits, close_during_a_read)
{
	struct hwtimer_event *taken;

	make_ready(_metadata, self->fd, 1);
	ASSERT_TRUE(start_taker(&self->thread, &self->taker));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	EXPECT_EQ(1, taker_end(_metadata, &self->taker, &self->thread));
	taken = taker_buffer(&self->taker);
	EXPECT_EQ(0, taken->user_data);
}

/* ---- a call that ends while it waits for a page, as its program is killed ---- */

/* Has a child wait for a page of @taker's buffer, and kills it. */
static void kill_taker(struct __test_metadata *_metadata, struct taker *taker)
{
	struct missing missing = { 0 };
	int sockets[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets));
	pid = fork();
	if (!pid) {
		if (!missing_make(&taker->missing) ||
		    send_descriptor(sockets[1], taker->missing.fd) != 1)
			_exit(1);
		take(taker);
		_exit(2);
	}
	missing.fd = receive_descriptor(sockets[0]);
	ASSERT_LE(0, missing.fd);
	ASSERT_TRUE(missing_wanted(&missing));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for_child(pid));
	close(missing.fd);
	close(sockets[0]);
	close(sockets[1]);
}

TEST_F(waits, killed_read_loses_nothing)
{
	struct account account = { 0 };

	make_ready(_metadata, self->fd, N);
	self->taker.after = 20;
	kill_taker(_metadata, &self->taker);
	EXPECT_EQ(N, stats_of(self->fd).ready);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	read_rest(_metadata, self->fd, &account);
}

/* The dead program had got what was in its first page, and nothing else. */
TEST_F(waits, killed_read_loses_nothing_that_it_has_not_got)
{
	struct account account = { 0 };

	make_ready(_metadata, self->fd, N);
	self->taker.before = 10;
	self->taker.after = 20;
	kill_taker(_metadata, &self->taker);
	EXPECT_LE(N - 10, stats_of(self->fd).ready);
	EXPECT_EQ(N, stats_of(self->fd).ready + stats_of(self->fd).delivered);
	account.total = N - stats_of(self->fd).ready;
	read_rest(_metadata, self->fd, &account);
}

TEST_F(waits, killed_read_of_periodic_timers_loses_nothing)
{
	struct account account = { 0 };

	for (unsigned int i = 0; i < N; i++)
		ASSERT_NE(0, dev_every(self->fd, 0, HOUR, i));
	ASSERT_TRUE(dev_wait_ready(self->fd, N));
	kill_taker(_metadata, &self->taker);
	read_rest(_metadata, self->fd, &account);
	EXPECT_EQ(N, stats_of(self->fd).pending);
}

TEST_F(waits, killed_stop_loses_nothing)
{
	struct hwtimer_timer timers[N];
	struct account account = { 0 };

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	self->taker.stops = true;
	self->taker.after = 20;
	kill_taker(_metadata, &self->taker);
	ASSERT_EQ(N, dev_stop(self->fd, timers, N, NULL));
	for (unsigned int i = 0; i < N; i++)
		account_add(_metadata, &account, timers[i].user_data);
}

TEST_F(waits, killed_list_changes_nothing)
{
	make_ready(_metadata, self->fd, 5);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	self->taker.lists = true;
	self->taker.after = 20;
	kill_taker(_metadata, &self->taker);
	expect_known(_metadata, self->fd, 1, 5);
	EXPECT_EQ(5, dev_discard_events(self->fd, 5));
}

/* A BULK with delays whose operations are in the missing page */
static void *schedule(void *arg)
{
	struct taker *taker = arg;
	__u64 ids[2];

	taker->result = dev_bulk(taker->fd, HWTIMER_OP_SCHEDULE, 0,
				 taker->missing.page, ids, 2);
	return NULL;
}

/* When the call began, the instance had a clock that allows delays. */
TEST_F(waits, bulk_does_nothing_if_setup_forbids_it_meanwhile)
{
	struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(CLOCK_REALTIME),
	};
	struct hwtimer_info info;

	start_threads(&self->thread, 1, schedule, &self->taker, 0);
	ASSERT_TRUE(missing_wanted(&self->taker.missing));
	EXPECT_EQ(0, dev_setup_as(self->fd, setup));
	EXPECT_EQ(-EINVAL, taker_end(_metadata, &self->taker, &self->thread));
	EXPECT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
}

TEST_HARNESS_MAIN
