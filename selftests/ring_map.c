// SPDX-License-Identifier: GPL-2.0
/*
 * The mapping of the rings: its size, its contents, who may map it, and everything that a
 * program can do to a mapping.
 */
#include "ring_test.h"

#define RW (PROT_READ | PROT_WRITE)

static int map_result(int fd, size_t length, int prot, int flags, off_t offset)
{
	void *memory = mmap(NULL, length, prot, flags, fd, offset);

	if (memory == MAP_FAILED)
		return -errno;
	munmap(memory, length);
	return 0;
}

/* Runs @run(@ring) in a child; returns its exit status, or -signal. */
static int in_child(int (*run)(struct hwtimer_ring *ring),
		    struct hwtimer_ring *ring)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(run(ring));
	}
	return wait_for_child(pid);
}

/* Schedules a timer that is due now through the ring, and takes its event. */
static void expect_works(struct __test_metadata *_metadata,
			 struct hwtimer_ring *ring, __u64 user_data)
{
	struct hwtimer_event event;
	__s64 id = ring_after(_metadata, ring, 0, user_data);

	ASSERT_LT(0, id);
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(user_data, event.user_data);
}

TEST_F(rings, sizes_are_rounded_up)
{
	static const __u32 sizes[][2] = {
		{ 0, 0 },   { 1, 1 },	      { 2, 2 },
		{ 3, 4 },   { 5, 8 },	      { 1000, 1024 },
		{ 33, 64 }, { 32769, 65536 }, { 65536, 65536 },
	};
	unsigned int n = ARRAY_SIZE(sizes);
	struct hwtimer_info info;

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < n; j++) {
			__u64 least =
				sizes[i][1] * (64 + 8ULL) + sizes[j][1] * 32ULL;

			ASSERT_EQ(0, ring_setup(self->fd, sizes[i][0],
						sizes[j][0]));
			ASSERT_EQ(0, dev_info(self->fd, &info));
			EXPECT_EQ(sizes[i][1], info.submissions);
			EXPECT_EQ(sizes[j][1], info.completions);
			EXPECT_EQ(0, info.rings_bytes % whole_pages(1));
			EXPECT_LE(least, info.rings_bytes);
			/* Besides the slots, there is a header. */
			EXPECT_GE(whole_pages(least + 512), info.rings_bytes);
			EXPECT_EQ(!i && !j, !info.rings_bytes);
		}
	}
}

TEST_F(rings, too_many_slots)
{
	static const __u32 sizes[] = { 1048577, 1U << 31, UINT_MAX };
	struct hwtimer_info info;

	ASSERT_EQ(0, ring_setup(self->fd, 4, 1048576));
	ASSERT_EQ(0, ring_setup(self->fd, 4, 8));
	EXPECT_EQ(-EINVAL, ring_setup(self->fd, 65537, 4));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(-EINVAL, ring_setup(self->fd, sizes[i], 4));
		EXPECT_EQ(-EINVAL, ring_setup(self->fd, 4, sizes[i]));
	}
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(4, info.submissions);
	EXPECT_EQ(8, info.completions);
}

TEST_F(rings, none_unless_asked_for)
{
	size_t page = whole_pages(1);

	EXPECT_EQ(0, rings_bytes(self->fd));
	EXPECT_EQ(-ENXIO, ring_kick(self->fd));
	EXPECT_EQ(-EINVAL, map_result(self->fd, page, RW, MAP_SHARED, 0));
	ASSERT_EQ(0, ring_setup(self->fd, 1, 1));
	EXPECT_EQ(-ENXIO, ring_kick(self->fd));
	ASSERT_EQ(0, ring_setup(self->fd, 0, 0));
	EXPECT_EQ(-EINVAL, map_result(self->fd, page, RW, MAP_SHARED, 0));
}

TEST_F(rings, what_cannot_be_mapped)
{
	size_t page = whole_pages(1), bytes;

	/* Several pages, whatever the size of a page is */
	ASSERT_EQ(0, ring_setup(self->fd, 2048, 2048));
	bytes = rings_bytes(self->fd);
	ASSERT_LT(2 * page, bytes);
	EXPECT_EQ(-EINVAL,
		  map_result(self->fd, bytes - page, RW, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL,
		  map_result(self->fd, bytes + page, RW, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, map_result(self->fd, page, RW, MAP_SHARED, 0));
	EXPECT_EQ(-EINVAL, map_result(self->fd, bytes, RW, MAP_SHARED, page));
	EXPECT_EQ(-EINVAL,
		  map_result(self->fd, bytes - page, RW, MAP_SHARED, page));
	EXPECT_EQ(-EINVAL, map_result(self->fd, bytes, RW, MAP_PRIVATE, 0));
	EXPECT_EQ(-EINVAL,
		  map_result(self->fd, bytes, PROT_READ, MAP_PRIVATE, 0));
	/* None of these calls made the rings. */
	EXPECT_EQ(-ENXIO, ring_kick(self->fd));
	EXPECT_EQ(0, ring_setup(self->fd, 2048, 2048));
	EXPECT_EQ(0, map_result(self->fd, bytes, RW, MAP_SHARED, 0));
	EXPECT_EQ(0, ring_kick(self->fd));
}

/* Whoever has the descriptor writes there. */
TEST_F(rings, nothing_there_is_executed)
{
	size_t bytes;
	void *memory;

	ASSERT_EQ(0, ring_setup(self->fd, 8, 8));
	bytes = rings_bytes(self->fd);
	EXPECT_EQ(-EPERM,
		  map_result(self->fd, bytes, RW | PROT_EXEC, MAP_SHARED, 0));
	EXPECT_EQ(-EPERM, map_result(self->fd, bytes, PROT_READ | PROT_EXEC,
				     MAP_SHARED, 0));
	EXPECT_EQ(-EPERM,
		  map_result(self->fd, bytes, PROT_EXEC, MAP_SHARED, 0));
	/* None of these calls made the rings. */
	EXPECT_EQ(-ENXIO, ring_kick(self->fd));
	memory = mmap(NULL, bytes, RW, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, memory);
	EXPECT_EQ(-EACCES, result_of(mprotect(memory, bytes, RW | PROT_EXEC)));
	EXPECT_EQ(-EACCES, result_of(mprotect(memory, bytes, PROT_EXEC)));
	EXPECT_EQ(0, munmap(memory, bytes));
}

TEST_F(rings, no_setup_after_mmap)
{
	struct hwtimer_info info;

	ring_open(_metadata, &self->ring, self->fd, 4, 4);
	EXPECT_EQ(-EBUSY, ring_setup(self->fd, 8, 8));
	EXPECT_EQ(-EBUSY, dev_setup(self->fd, 0, 0, 0));
	hwtimer_ring_unmap(&self->ring);
	EXPECT_EQ(-EBUSY, ring_setup(self->fd, 8, 8));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(4, info.submissions);
	ASSERT_EQ(0, hwtimer_ring_map(&self->ring, self->fd));
	expect_works(_metadata, &self->ring, 1);
}

TEST_F(rings, all_is_zero_but_what_is_documented)
{
	const struct hwtimer_rings *shared;
	struct hwtimer_rings expected = { 0 };
	const unsigned char *bytes;

	ring_open(_metadata, &self->ring, self->fd, 64, 200);
	shared = self->ring.shared;
	bytes = (const unsigned char *)shared;
	expected.submissions = 64;
	expected.completions = 256;
	expected.results = shared->results;
	expected.requests = shared->requests;
	expected.events = shared->events;
	expected.flags = HWTIMER_RING_NEED_KICK;
	EXPECT_EQ(0, memcmp(&expected, shared, sizeof(expected)));
	for (size_t i = sizeof(*shared); i < self->ring.bytes; i++)
		ASSERT_EQ(0, bytes[i]);
	EXPECT_LE(sizeof(*shared), shared->results);
	EXPECT_LE(shared->results + 64 * 8, shared->requests);
	EXPECT_LE(shared->requests + 64 * 64, shared->events);
	EXPECT_LE(shared->events + 256 * 32, self->ring.bytes);
	EXPECT_EQ(0, shared->results % 64);
	EXPECT_EQ(0, shared->requests % 64);
	EXPECT_EQ(0, shared->events % 64);
}

TEST_F(rings, one_slot_each)
{
	ring_open(_metadata, &self->ring, self->fd, 1, 1);
	for (unsigned int i = 0; i < 20; i++)
		expect_works(_metadata, &self->ring, i);
}

TEST_F(rings, submissions_only)
{
	struct hwtimer_event event;
	__s64 id;

	ring_open(_metadata, &self->ring, self->fd, 4, 0);
	id = ring_after(_metadata, &self->ring, 0, 7);
	ASSERT_LT(0, id);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(7, event.user_data);
	EXPECT_EQ(NULL, hwtimer_ring_next_event(&self->ring));
	EXPECT_EQ(0, stats_of(self->fd).completed);
	EXPECT_EQ(0, stats_of(self->fd).overflowed);
}

TEST_F(rings, completions_only)
{
	struct hwtimer_event event;

	ring_open(_metadata, &self->ring, self->fd, 0, 4);
	EXPECT_EQ(NULL, hwtimer_ring_get_slot(&self->ring));
	EXPECT_EQ(0, ring_kick(self->fd));
	ASSERT_NE(0, dev_after(self->fd, 0, 9));
	ASSERT_TRUE(ring_event(&self->ring, &event));
	EXPECT_EQ(9, event.user_data);
	/* Without a submission ring, this tail means nothing. */
	hwtimer_ring_store(&self->ring.shared->submission_tail, 77);
	EXPECT_GE(0, ring_kick(self->fd));
	ASSERT_NE(0, dev_after(self->fd, 0, 10));
	ASSERT_TRUE(ring_event(&self->ring, &event));
}

static int write_a_word(struct hwtimer_ring *ring)
{
	hwtimer_ring_store(&ring->shared->submission_tail, 0);
	return 0;
}

static int read_a_word(struct hwtimer_ring *ring)
{
	return hwtimer_ring_load(&ring->shared->submission_tail) != 0;
}

TEST_F(rings, read_only_mapping_is_for_looking)
{
	struct hwtimer_ring look;

	ring_open(_metadata, &self->ring, self->fd, 4, 4);
	look = self->ring;
	look.shared =
		mmap(NULL, look.bytes, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)look.shared);
	EXPECT_EQ(0, in_child(read_a_word, &look));
	EXPECT_EQ(-SIGSEGV, in_child(write_a_word, &look));
	expect_works(_metadata, &self->ring, 1);
	EXPECT_EQ(1, hwtimer_ring_load(&look.shared->completion_tail));
	hwtimer_ring_unmap(&look);
}

TEST_F(rings, descriptor_for_reading_only)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	size_t bytes;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBADF, ring_setup(fd, 4, 4));
	ASSERT_EQ(0, ring_setup(self->fd, 4, 4));
	bytes = rings_bytes(self->fd);
	EXPECT_EQ(-EACCES, map_result(fd, bytes, RW, MAP_SHARED, 0));
	EXPECT_EQ(-EACCES, map_result(fd, bytes, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(0, close(fd));
}

/* What is written through one mapping is seen through the other. */
TEST_F(rings, mapped_twice)
{
	struct hwtimer_ring other;
	struct hwtimer_event event;

	ring_open(_metadata, &self->ring, self->fd, 8, 8);
	ASSERT_EQ(0, hwtimer_ring_map(&other, self->fd));
	ASSERT_NE(self->ring.shared, other.shared);
	for (unsigned int i = 0; i < 30; i++) {
		ASSERT_LT(0, ring_after(_metadata, &self->ring, 0, i));
		ASSERT_TRUE(ring_event(&other, &event));
		EXPECT_EQ(i, event.user_data);
	}
	hwtimer_ring_unmap(&self->ring);
	/* Set the numbers that mapping the rings now would give. */
	other.tail = 30;
	other.done = 30;
	other.reaped = 30;
	expect_works(_metadata, &other, 30);
	hwtimer_ring_unmap(&other);
}

/*
 * Whoever shares the rings may have written into them. Arrays that would be outside of
 * the mapping, or not aligned, are refused.
 */
TEST_F(rings, garbled_offsets_are_refused)
{
	struct hwtimer_rings *shared;
	struct hwtimer_ring other;
	__u64 *offsets[3];

	ring_open(_metadata, &self->ring, self->fd, 8, 8);
	shared = self->ring.shared;
	offsets[0] = &shared->results;
	offsets[1] = &shared->requests;
	offsets[2] = &shared->events;
	for (unsigned int i = 0; i < ARRAY_SIZE(offsets); i++) {
		const __u64 good = *offsets[i], bytes = self->ring.bytes;
		const __u64 wrong[] = { ~0ULL,	    ~7ULL,
					1ULL << 63, good + (1ULL << 32),
					bytes,	    bytes - 8,
					bytes + 8,  good + 4,
					good + 1 };

		for (unsigned int j = 0; j < ARRAY_SIZE(wrong); j++) {
			*offsets[i] = wrong[j];
			errno = 0;
			EXPECT_EQ(-EPROTO, hwtimer_ring_map(&other, self->fd));
			EXPECT_EQ(EPROTO, errno);
		}
		*offsets[i] = good;
	}
	ASSERT_EQ(0, hwtimer_ring_map(&other, self->fd));
	hwtimer_ring_unmap(&other);
}

/* Numbers that the kernel cannot have written stand for no event and no result. */
TEST_F(rings, garbled_numbers_are_ignored)
{
	static const __u32 sizes[][2] = { { 8, 8 }, { 8, 0 }, { 0, 8 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct hwtimer_ring *ring = &self->ring;
		__u32 wrong = 9, run;
		__u64 result;

		ASSERT_TRUE(dev_renew(&self->fd));
		ring_open(_metadata, ring, self->fd, sizes[i][0], sizes[i][1]);
		for (; wrong >= 9; wrong <<= 1) {
			ring->shared->completion_tail = wrong;
			ring->shared->submission_head = wrong;
			ASSERT_EQ(NULL, hwtimer_ring_next_event(ring));
			ASSERT_FALSE(hwtimer_ring_next_result(ring, &result));
			run = 9;
			ASSERT_EQ(NULL, hwtimer_ring_next_events(ring, &run));
			run = 9;
			ASSERT_EQ(NULL, hwtimer_ring_next_results(ring, &run));
		}
		ring->shared->completion_tail = 0;
		ring->shared->submission_head = 0;
		hwtimer_ring_unmap(ring);
	}
}

/*
 * The next user of the rings finds published requests that may not be handled yet, and
 * must not fill their slots.
 */
/* Twice, or after a failure: what is at address 0 is the program's. */
TEST_F(rings, unmapped_without_need)
{
	char *low = (char *)0x100000;
	int mapped;

	memset(&self->ring, 0xa5, sizeof(self->ring));
	EXPECT_EQ(-EBADF, hwtimer_ring_map(&self->ring, -1));
	hwtimer_ring_unmap(&self->ring);
	EXPECT_EQ(-EINVAL, hwtimer_ring_map(&self->ring, self->fd));
	hwtimer_ring_unmap(&self->ring);
	ring_open(_metadata, &self->ring, self->fd, 4, 65536);
	ASSERT_LT((size_t)low, self->ring.bytes);
	mapped = mmap(low, 1, RW,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		      0) == low;
	hwtimer_ring_unmap(&self->ring);
	hwtimer_ring_unmap(&self->ring);
	if (!mapped)
		SKIP(return, "nothing can be mapped there");
	*low = 1; /* munmap() makes the compiler store it */
	EXPECT_EQ(0, munmap(low, 1));
}

TEST_F(rings, next_user_finds_requests)
{
	struct hwtimer_ring *ring = &self->ring;
	__u64 result;

	ring_open(_metadata, ring, self->fd, 4, 4);
	for (unsigned int i = 0; i < 4; i++)
		ring_fill(_metadata, ring,
			  OP(SCHEDULE, .time = HOUR, .user_data = i));
	/* No kick: the worker is idle, as nothing has woken it yet. */
	hwtimer_ring_store(&ring->shared->submission_tail, ring->tail);
	hwtimer_ring_unmap(ring);

	ASSERT_EQ(0, hwtimer_ring_map(ring, self->fd));
	EXPECT_EQ(NULL, hwtimer_ring_get_slot(ring));
	EXPECT_FALSE(hwtimer_ring_next_result(ring, &result));
	/*
	 * The kick wakes the worker, which may handle the requests before the call does.
	 */
	EXPECT_LE(0, ring_kick(self->fd));
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_LT(0, (__s64)ring_result(ring));
	EXPECT_EQ(4, stats_of(self->fd).pending);
	expect_works(_metadata, ring, 5);
}

/* Requests and events stay in the rings while nobody maps them. */
TEST_F(rings, unmapped_while_in_use)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 16, 16);
	for (unsigned int i = 0; i < 10; i++)
		ring_fill(_metadata, ring,
			  OP(SCHEDULE, .time = i * MS, .user_data = i));
	ASSERT_EQ(0, hwtimer_ring_publish(ring));
	hwtimer_ring_unmap(ring);
	sleep_ns(20 * MS);
	ASSERT_EQ(0, hwtimer_ring_map(ring, self->fd));
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
	expect_works(_metadata, ring, 10);
}

TEST_F(rings, partly_unmapped)
{
	struct hwtimer_ring *ring = &self->ring, whole;
	size_t page = whole_pages(1);
	/* Four pages of events, and so many of them that they reach the third page */
	unsigned int completions = 4 * page / sizeof(struct hwtimer_event);
	unsigned int n = completions * 5 / 8;

	ring_open(_metadata, ring, self->fd, 8, completions);
	ASSERT_LT(2 * page, ring->bytes);
	ASSERT_EQ(0, munmap((char *)ring->shared + page, ring->bytes - page));
	for (unsigned int i = 0; i < n; i++)
		ASSERT_LT(0, ring_after(_metadata, ring, 0, i));
	ASSERT_EQ(0, hwtimer_ring_map(&whole, self->fd));
	whole.head = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct hwtimer_event event;

		ASSERT_TRUE(ring_event(&whole, &event));
		EXPECT_EQ(i, event.user_data);
	}
	hwtimer_ring_unmap(&whole);
}

static void ring_moved(struct hwtimer_ring *ring, char *to)
{
	ptrdiff_t by = to - (char *)ring->shared;

	ring->shared = (void *)to;
	ring->results = (void *)((char *)ring->results + by);
	ring->requests = (void *)((char *)ring->requests + by);
	ring->events = (const void *)((const char *)ring->events + by);
}

TEST_F(rings, moved)
{
	struct hwtimer_ring *ring = &self->ring;
	char *place, *to;

	ring_open(_metadata, ring, self->fd, 8, 512);
	EXPECT_EQ(MAP_FAILED, mremap(ring->shared, ring->bytes, 2 * ring->bytes,
				     MREMAP_MAYMOVE));
	place = mmap(NULL, ring->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, place);
	to = mremap(ring->shared, ring->bytes, ring->bytes,
		    MREMAP_MAYMOVE | MREMAP_FIXED, place);
	ASSERT_EQ(place, to);
	ring_moved(ring, to);
	for (unsigned int i = 0; i < 20; i++)
		expect_works(_metadata, ring, i);
}

TEST_F(rings, protected_and_back)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 8, 8);
	ASSERT_LT(0, ring_after(_metadata, ring, 10 * MS, 1));
	ASSERT_EQ(0, mprotect(ring->shared, ring->bytes, PROT_READ));
	EXPECT_EQ(-SIGSEGV, in_child(write_a_word, ring));
	/* The kernel still writes. */
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(1, ring_unread(ring));
	ASSERT_EQ(0, mprotect(ring->shared, ring->bytes, PROT_NONE));
	ASSERT_NE(0, dev_after(self->fd, 0, 2));
	EXPECT_EQ(0, ring_kick(self->fd));
	sleep_ns(10 * MS);
	ASSERT_EQ(0, mprotect(ring->shared, ring->bytes, RW));
	for (unsigned int i = 1; i <= 2; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
	expect_works(_metadata, ring, 3);
}

/* What a program does to one mapping does not harm the other one. */
TEST_F(rings, advice_harms_nobody)
{
	static const int advices[] = { MADV_DONTNEED, MADV_PAGEOUT,
				       MADV_COLD,     MADV_FREE,
				       MADV_REMOVE,   MADV_MERGEABLE,
				       MADV_HUGEPAGE, MADV_WILLNEED,
				       MADV_DONTFORK };
	struct hwtimer_ring *ring = &self->ring, again;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 8, 8);
	for (unsigned int i = 0; i < ARRAY_SIZE(advices); i++) {
		ASSERT_EQ(0, hwtimer_ring_map(&again, self->fd));
		madvise(again.shared, again.bytes, advices[i]);
		ASSERT_LT(0, ring_after(_metadata, ring, 0, i));
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
		hwtimer_ring_unmap(&again);
	}
}

static int use_once(struct hwtimer_ring *ring)
{
	struct hwtimer_request *request = hwtimer_ring_get_slot(ring);
	__u64 result;

	if (!request)
		return 2;
	request->op = HWTIMER_OP_SCHEDULE;
	request->user_data = 4711;
	if (hwtimer_ring_publish(ring))
		return 3;
	while (!hwtimer_ring_next_result(ring, &result))
		sleep_ns(100 * US);
	return hwtimer_ring_error(result);
}

/* A child uses its parent's rings, and the parent gets the event. */
TEST_F(rings, shared_with_a_child)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 8, 8);
	expect_works(_metadata, ring, 1);
	ASSERT_EQ(0, in_child(use_once, ring));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(4711, event.user_data);
	/* The parent must map again to learn what the child did. */
	hwtimer_ring_unmap(ring);
	ASSERT_EQ(0, hwtimer_ring_map(ring, self->fd));
	expect_works(_metadata, ring, 2);
}

static int exec_something(struct hwtimer_ring *ring)
{
	(void)ring;
	execl("/bin/true", "true", NULL);
	return 99;
}

TEST_F(rings, child_executes_something_else)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 8, 8);
	ASSERT_LT(0, ring_after(_metadata, ring, 50 * MS, 1));
	EXPECT_EQ(0, in_child(exec_something, ring));
	ASSERT_TRUE(ring_event(ring, &event));
	expect_works(_metadata, ring, 2);
}

/* The mapping keeps the instance alive: its timers expire into the ring. */
TEST_F(rings, descriptor_closed_while_mapped)
{
	struct hwtimer_ring *ring = &self->ring;
	const struct hwtimer_event *event;

	ring_open(_metadata, ring, self->fd, 32, 64);
	for (unsigned int i = 0; i < 20; i++)
		ASSERT_LT(0, ring_after(_metadata, ring, 20 * MS + i * MS, i));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	for (unsigned int i = 0; i < 20; i++) {
		while (!(event = hwtimer_ring_next_event(ring)))
			sleep_ns(MS);
		EXPECT_EQ(i, event->user_data);
	}
}

/* Rings that are mapped after STOP refuse requests, and poll() reports a hangup. */
TEST_F(rings, mapped_in_a_stopped_instance)
{
	struct hwtimer_ring *ring = &self->ring;

	ASSERT_EQ(0, ring_setup(self->fd, 4, 4));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_EQ(0, hwtimer_ring_map(ring, self->fd));
	EXPECT_EQ(-ESHUTDOWN, ring_after(_metadata, ring, 0, 0));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(rings, bytes_are_counted)
{
	__u64 before, after;

	ASSERT_EQ(0, ring_setup(self->fd, 1024, 4096));
	before = stats_of(self->fd).bytes;
	ASSERT_EQ(0, hwtimer_ring_map(&self->ring, self->fd));
	after = stats_of(self->fd).bytes;
	EXPECT_LE(before + self->ring.bytes, after);
	/* Little else is counted. */
	EXPECT_GE(before + self->ring.bytes + 32768, after);
}

TEST_HARNESS_MAIN
