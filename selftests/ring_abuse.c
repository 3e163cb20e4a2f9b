// SPDX-License-Identifier: GPL-2.0
/*
 * The rings under load and under attack: random operations, checked against books in
 * user space that record each timer; requests that come just as the worker goes idle;
 * readers beside the ring; garbage in every word of the mapping; processes that end at
 * any moment.
 */
#include "ring_test.h"

/* ---- books ---- */

/* What the program knows about a timer; arrays are indexed by user_data. */
struct account {
	__u64 id; /* 0: not known yet */
	unsigned char ended; /* number of events and successful CANCELs */
};

/* What the program knows about a request in the submission ring. */
struct pending {
	__u32 op;
	unsigned int timer;
};

struct books {
	struct hwtimer_ring *ring;
	int fd;
	unsigned int n;
	unsigned int scheduled;
	unsigned int ended;
	unsigned int seed;
	struct account *accounts;
	struct pending *pending; /* by the slot's number */
	unsigned int early; /* events that came too early */
	unsigned int wrong; /* impossible results */
	unsigned int strange; /* events of unknown timers */
};

static void end_timer(struct books *books, unsigned int timer)
{
	books->accounts[timer].ended++;
	books->ended++;
}

static void settle(struct books *books, const struct pending *pending,
		   __u64 result)
{
	int error = hwtimer_ring_error(result);

	switch (pending->op) {
	case HWTIMER_OP_SCHEDULE:
		if (error)
			books->wrong++;
		else
			books->accounts[pending->timer].id = result;
		return;
	case HWTIMER_OP_CANCEL:
		if (!error)
			end_timer(books, pending->timer);
		else if (error != -ENOENT && error != -EALREADY)
			books->wrong++;
		return;
	default:
		if (error && error != -ENOENT && error != -EALREADY)
			books->wrong++;
	}
}

static void take_results(struct books *books)
{
	struct hwtimer_ring *ring = books->ring;
	__u32 number = ring->reaped;
	__u64 result;

	while (hwtimer_ring_next_result(ring, &result)) {
		settle(books, &books->pending[number % ring->submissions],
		       result);
		number++;
	}
}

static void take_event(struct books *books, const struct hwtimer_event *event)
{
	if (event->user_data >= books->n) {
		books->strange++;
		return;
	}
	books->early += event->deadline > now_ns();
	end_timer(books, event->user_data);
}

static void take_events(struct books *books, unsigned int max)
{
	const struct hwtimer_event *event;

	while (max-- && (event = hwtimer_ring_next_event(books->ring)))
		take_event(books, event);
	if (hwtimer_ring_consume(books->ring))
		books->wrong++;
}

static void read_events(struct books *books)
{
	struct hwtimer_event events[16];
	int got = dev_read(books->fd, events, 16);

	for (int i = 0; i < got; i++)
		take_event(books, &events[i]);
}

/* Returns one of the last 64 timers that were scheduled. */
static unsigned int some_timer(struct books *books)
{
	unsigned int back = next_random(&books->seed) % 64;

	return books->scheduled > back ? books->scheduled - 1 - back : 0;
}

static void random_request(struct books *books, struct hwtimer_request *slot,
			   struct pending *pending)
{
	unsigned int what = next_random(&books->seed) % 8;

	if (what < 4 && books->scheduled < books->n) {
		pending->timer = books->scheduled++;
		*slot = OP(SCHEDULE, .user_data = pending->timer,
			   .time = next_random(&books->seed) % (8 * MS));
	} else {
		pending->timer = some_timer(books);
		if (what % 2)
			*slot = OP(CANCEL,
				   .flags = what & 2 ? HWTIMER_DISCARD : 0);
		else
			*slot = OP(RESCHEDULE,
				   .time = next_random(&books->seed) %
					   (8 * MS));
		slot->id = books->accounts[pending->timer].id;
	}
	pending->op = slot->op;
}

static void random_submission(struct books *books)
{
	unsigned int count = next_random(&books->seed) % 40;
	struct hwtimer_ring *ring = books->ring;

	while (count--) {
		__u32 number = ring->tail;
		struct hwtimer_request *slot = hwtimer_ring_get_slot(ring);

		if (!slot)
			break;
		random_request(books, slot,
			       &books->pending[number % ring->submissions]);
	}
	if (hwtimer_ring_publish(ring))
		books->wrong++;
}

static void random_call(struct books *books)
{
	struct hwtimer_request request;
	struct pending pending;
	int ret;

	random_request(books, &request, &pending);
	ret = dev_submit(books->fd, &request, 1);
	if (ret != 1)
		books->wrong++;
	else if (request.result)
		settle(books, &pending, request.result);
	else
		settle(books, &pending,
		       request.id * (request.op == HWTIMER_OP_SCHEDULE));
}

static void random_step(struct books *books)
{
	switch (next_random(&books->seed) % 16) {
	case 0 ... 5:
		random_submission(books);
		break;
	case 6 ... 8:
		random_call(books);
		break;
	case 9:
		read_events(books);
		break;
	case 10:
		if (hwtimer_ring_kick(books->ring) < 0)
			books->wrong++;
		break;
	case 11:
		sleep_ns(next_random(&books->seed) % (4 * MS));
		break;
	default:
		take_events(books, next_random(&books->seed) % 64);
	}
	take_results(books);
}

static void expect_books(struct __test_metadata *_metadata, struct books *books)
{
	struct hwtimer_stats stats;

	/* The kernel writes the last results before it counts them. */
	for (;;) {
		stats = stats_of(books->fd);
		if (stats.submitted == books->ring->tail &&
		    !ring_waiting(books->ring))
			break;
		sleep_ns(MS);
	}
	EXPECT_EQ(0, books->early);
	EXPECT_EQ(0, books->wrong);
	EXPECT_EQ(0, books->strange);
	for (unsigned int i = 0; i < books->n; i++) {
		ASSERT_EQ(1, books->accounts[i].ended)
		{
			TH_LOG("timer %u of %u", i, books->n);
		}
	}
	EXPECT_EQ(books->n, stats.scheduled);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, stats.ready);
	TH_LOG("%llu by ring, %llu overflowed, %llu of %llu events by read()",
	       stats.submitted, stats.overflowed,
	       stats.delivered - stats.completed, stats.delivered);
}

/* Expects that every timer ends exactly once: by its event or by a CANCEL. */
static void random_operations(struct __test_metadata *_metadata, int fd,
			      struct hwtimer_ring *ring, __u32 submissions,
			      __u32 completions)
{
	struct books books = {
		.ring = ring,
		.fd = fd,
		.n = scaled(submissions < 32 ? 2000 : 10000) + 100,
		.seed = submissions,
	};

	ring_open(_metadata, ring, fd, submissions, completions);
	books.accounts = calloc(books.n, sizeof(*books.accounts));
	books.pending = calloc(submissions, sizeof(*books.pending));
	ASSERT_NE(NULL, books.accounts);
	ASSERT_NE(NULL, books.pending);
	while (books.ended < books.n)
		random_step(&books);
	while (ring->reaped != ring->tail)
		take_results(&books);
	/* If an event is delivered twice, the second one comes now. */
	sleep_ns(20 * MS);
	read_events(&books);
	take_events(&books, UINT_MAX);
	expect_books(_metadata, &books);
	free(books.pending);
	free(books.accounts);
}

TEST_F(rings, random_operations_with_tiny_rings)
{
	random_operations(_metadata, self->fd, &self->ring, 4, 2);
}

TEST_F(rings, random_operations_with_small_rings)
{
	random_operations(_metadata, self->fd, &self->ring, 32, 16);
}

TEST_F(rings, random_operations_with_large_rings)
{
	random_operations(_metadata, self->fd, &self->ring, 4096, 1024);
}

/* ---- the moment when the worker goes idle ---- */

#define SHORT_TICK (10 * US)

static void open_with_short_tick(struct __test_metadata *_metadata, int fd,
				 struct hwtimer_ring *ring)
{
	ring_open_as(_metadata, ring, fd,
		     (struct hwtimer_setup){
			     .tick = SHORT_TICK,
			     .submissions = 4,
			     .completions = 1,
		     });
}

/* Waits without giving up the processor. */
static void spin_ns(__u64 ns)
{
	__u64 end = now_ns() + ns;

	while (now_ns() < end)
		;
}

/* Longer than eight polls in vain, 1 ms apart, after which the worker goes idle */
#define DOZES_OFF_NS (12 * MS)

/*
 * The worker goes idle after some polls in vain. Requests that are published at about
 * that time are handled all the same, although no timer is pending to wake the worker.
 */
TEST_F(rings, request_while_the_worker_dozes_off)
{
	unsigned int rounds = scaled(400) + 200, kicks = 0, seed = 5;
	struct hwtimer_ring *ring = &self->ring;

	open_with_short_tick(_metadata, self->fd, ring);
	/* Starts the wheel, so that no later request has to allocate memory for it. */
	ASSERT_EQ(-ENOENT, ring_reschedule(_metadata, ring, 1, 0));
	for (unsigned int i = 0; i < rounds; i++) {
		__u64 result;

		ring_fill(_metadata, ring, OP(CANCEL, .id = 1));
		hwtimer_ring_store(&ring->shared->submission_tail, ring->tail);
		atomic_thread_fence(memory_order_seq_cst);
		if (hwtimer_ring_load(&ring->shared->flags)) {
			kicks++;
			ASSERT_LE(0, ring_kick(self->fd));
		}
		while (!hwtimer_ring_next_result(ring, &result))
			;
		ASSERT_EQ(-ENOENT, hwtimer_ring_error(result));
		if (i % 20)
			spin_ns(next_random(&seed) % DOZES_OFF_NS);
		else
			ring_wait_doze(ring);
	}
	TH_LOG("%u calls for %u requests", kicks, rounds);
	EXPECT_LT(0, kicks);
}

TEST_F(rings, room_while_the_worker_dozes_off)
{
	unsigned int rounds = scaled(400) + 200, seed = 6;
	struct hwtimer_ring *ring = &self->ring;

	open_with_short_tick(_metadata, self->fd, ring);
	ASSERT_EQ(rounds, dev_schedule_many(self->fd, rounds, 0, 0, NULL));
	for (unsigned int i = 0; i < rounds; i++) {
		const struct hwtimer_event *event;

		while (!(event = hwtimer_ring_next_event(ring)))
			;
		ASSERT_EQ(i, event->user_data);
		if (next_random(&seed) % 4)
			spin_ns(next_random(&seed) % DOZES_OFF_NS);
		ASSERT_EQ(0, hwtimer_ring_consume(ring));
	}
	EXPECT_EQ(0, stats_of(self->fd).ready);
}

/* ---- readers beside the ring ---- */

struct side_reader {
	int fd;
	unsigned int n;
	unsigned char *came;
	unsigned int got;
	unsigned int disorder;
	bool stop;
};

static void *read_beside(void *arg)
{
	struct side_reader *reader = arg;
	__u64 last = 0;

	while (!__atomic_load_n(&reader->stop, __ATOMIC_RELAXED)) {
		struct hwtimer_event events[8];
		int got = dev_read(reader->fd, events, 8);

		for (int i = 0; i < got; i++) {
			reader->disorder += events[i].user_data < last;
			last = events[i].user_data;
			__atomic_fetch_add(&reader->came[last], 1,
					   __ATOMIC_RELAXED);
			__atomic_fetch_add(&reader->got, 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

/* Each event goes either to the ring or to read(), and each of the two is in order. */
TEST_F(rings, reader_while_there_is_room)
{
	unsigned int n = scaled(8000) + BATCH, done = 0, by_ring = 0;
	struct side_reader reader = { .fd = self->fd, .n = n };
	struct hwtimer_ring *ring = &self->ring;
	pthread_t thread;
	__u64 last = 0;

	reader.came = calloc(n, 1);
	ASSERT_NE(NULL, reader.came);
	ring_open(_metadata, ring, self->fd, 4, 8);
	start_threads(&thread, 1, read_beside, &reader, sizeof(reader));
	while (stats_of(self->fd).delivered < n) {
		struct hwtimer_request requests[64];
		const struct hwtimer_event *event;

		if (done < n) {
			unsigned int count = n - done < 64 ? n - done : 64;

			fill_schedules(requests, count, HWTIMER_ABSOLUTE, done,
				       done);
			ASSERT_EQ(count, dev_submit(self->fd, requests, count));
			done += count;
		}
		/* Leave some of the first events to the reader. */
		while (!__atomic_load_n(&reader.got, __ATOMIC_RELAXED))
			sleep_ns(MS);
		while ((event = hwtimer_ring_next_event(ring))) {
			ASSERT_LE(last, event->user_data);
			last = event->user_data;
			__atomic_fetch_add(&reader.came[last], 1,
					   __ATOMIC_RELAXED);
			by_ring++;
		}
		ASSERT_EQ(0, hwtimer_ring_consume(ring));
	}
	while (hwtimer_ring_next_event(ring)) {
		reader.came[ring->events[(ring->head - 1) % 8].user_data]++;
		by_ring++;
	}
	__atomic_store_n(&reader.stop, true, __ATOMIC_RELAXED);
	join_threads(&thread, 1);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(1, reader.came[i]);
	EXPECT_EQ(0, reader.disorder);
	TH_LOG("%u by the ring, %u by read()", by_ring, reader.got);
	EXPECT_LT(0, by_ring);
	EXPECT_LT(0, reader.got);
	free(reader.came);
}

/* ---- garbage ---- */

#define GARBAGE_TIME (2 * SEC)

struct vandal {
	struct hwtimer_ring *ring;
	unsigned int seed;
	unsigned int kicks;
	unsigned int refused;
	unsigned int wrong; /* results that KICK must not return */
	bool stop;
};

/* Writes a request, mostly so plausible that the kernel does not refuse it at once. */
static void forge_request(struct vandal *vandal)
{
	struct hwtimer_ring *ring = vandal->ring;
	unsigned int *seed = &vandal->seed;
	struct hwtimer_request *slot =
		&ring->requests[next_random(seed) % ring->submissions];

	slot->op = next_random(seed) % 5;
	slot->flags = next_random(seed) % 4 ? 0 : next_random(seed) % 8;
	slot->id = slot->op == HWTIMER_OP_SCHEDULE ?
			   0 :
			   ring->results[next_random(seed) % ring->submissions];
	slot->time = next_random(seed) % (20 * MS);
	slot->interval = next_random(seed) % 4 ? 0 : next_random(seed);
	slot->slack = 0;
	slot->user_data = 0;
	slot->count = next_random(seed) % 4 ? 0 : 1;
	slot->reserved = 0;
}

/* The same for a ring with compact slots */
static void forge_compact(struct vandal *vandal)
{
	struct hwtimer_ring *ring = vandal->ring;
	unsigned int *seed = &vandal->seed;
	__u32 slot = next_random(seed) % ring->submissions;
	__u32 op = next_random(seed) % 5;
	__u32 flags = next_random(seed) % 4 ? 0 : next_random(seed) % 8;
	__u64 id = ring->results[next_random(seed) % ring->submissions];

	ring->timers[slot] = (struct hwtimer_bulk_timer){
		.id = id,
		.time = op == HWTIMER_OP_CANCEL ? 0 :
						  next_random(seed) % (20 * MS),
	};
	ring->results[slot] = HWTIMER_SLOT_OP(op, flags);
}

static void forge_slot(struct vandal *vandal)
{
	if (vandal->ring->timers)
		forge_compact(vandal);
	else
		forge_request(vandal);
}

static void forge_numbers(struct vandal *vandal)
{
	struct hwtimer_rings *shared = vandal->ring->shared;
	struct hwtimer_stats stats = stats_of(vandal->ring->fd);
	unsigned int *seed = &vandal->seed;

	/* Near the kernel's own head and tail, which the ring may no longer show. */
	hwtimer_ring_store(&shared->submission_tail,
			   stats.submitted +
				   next_random(seed) %
					   (vandal->ring->submissions + 4));
	hwtimer_ring_store(&shared->completion_head,
			   stats.completed -
				   next_random(seed) %
					   (vandal->ring->completions + 4));
}

static void scribble(struct vandal *vandal, size_t first, size_t count)
{
	__u32 *words = (__u32 *)vandal->ring->shared;
	unsigned int *seed = &vandal->seed;

	for (size_t i = first; i < first + count; i++)
		__atomic_store_n(&words[i],
				 next_random(seed) << 12 ^ next_random(seed),
				 __ATOMIC_RELAXED);
}

/* Writes garbage, mostly to the header, at times to all words; then plausible data. */
static void *write_garbage(void *arg)
{
	struct vandal *vandal = arg;
	const size_t header = sizeof(struct hwtimer_rings) / sizeof(__u32);
	const size_t words = vandal->ring->bytes / sizeof(__u32);
	unsigned int *seed = &vandal->seed;

	while (!__atomic_load_n(&vandal->stop, __ATOMIC_RELAXED)) {
		if (next_random(seed) % 16)
			scribble(vandal, 0, header);
		else
			scribble(vandal, 0, words);
		spin_ns(next_random(seed) % (5 * US));
		for (unsigned int i = 0; i < vandal->ring->submissions; i++)
			forge_slot(vandal);
		for (unsigned int i = 0; i < 4; i++) {
			forge_numbers(vandal);
			spin_ns(next_random(seed) % (20 * US));
		}
	}
	return NULL;
}

static void *kick_all_the_time(void *arg)
{
	struct vandal *vandal = arg;

	while (!__atomic_load_n(&vandal->stop, __ATOMIC_RELAXED)) {
		int ret = ring_kick(vandal->ring->fd);

		vandal->kicks++;
		vandal->refused += ret == -EINVAL;
		if (ret < 0 && ret != -EINVAL)
			vandal->wrong++;
	}
	return NULL;
}

/* Uses the rings of another instance: each timer comes once, and not early. */
static unsigned int live_beside(struct __test_metadata *_metadata,
				struct hwtimer_ring *ring, __u64 until)
{
	unsigned int rounds = 0;

	for (; now_ns() < until; rounds++) {
		unsigned char came[32] = { 0 };
		struct hwtimer_event event;

		for (unsigned int i = 0; i < 32; i++)
			ring_fill(_metadata, ring,
				  OP(SCHEDULE, .time = i % 8 * MS,
				     .user_data = i));
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		for (unsigned int i = 0; i < 32; i++)
			ASSERT_LT(0, (__s64)ring_result(ring));
		for (unsigned int i = 0; i < 32; i++) {
			ASSERT_TRUE(ring_event(ring, &event));
			ASSERT_GT(32, event.user_data);
			came[event.user_data]++;
			expect_due(_metadata, &event);
		}
		for (unsigned int i = 0; i < 32; i++)
			ASSERT_EQ(1, came[i]);
	}
	return rounds;
}

static void garbage(struct __test_metadata *_metadata,
		    FIXTURE_DATA(rings) * self, __u32 flags)
{
	struct vandal vandals[2] = {};
	struct hwtimer_ring *victim = &self->ring, neighbour;
	int beside = dev_open(O_NONBLOCK);
	struct hwtimer_stats stats;
	pthread_t threads[2];
	unsigned int rounds = 0;

	ASSERT_LE(0, beside);
	ring_open(_metadata, &neighbour, beside, 64, 16);
	ring_open_as(_metadata, victim, self->fd,
		     (struct hwtimer_setup){
			     .flags = flags,
			     .timers = 1000,
			     .submissions = 64,
			     .completions = 32,
		     });
	vandals[0] = (struct vandal){ .ring = victim, .seed = 7 };
	vandals[1] = vandals[0];
	start_threads(&threads[0], 1, write_garbage, &vandals[0], 0);
	start_threads(&threads[1], 1, kick_all_the_time, &vandals[1], 0);
	/* Until timers of both instances have expired. */
	do {
		rounds += live_beside(_metadata, &neighbour,
				      now_ns() + GARBAGE_TIME);
		stats = stats_of(self->fd);
	} while (!(rounds && stats.scheduled && stats.completed));
	for (unsigned int i = 0; i < 2; i++)
		__atomic_store_n(&vandals[i].stop, true, __ATOMIC_RELAXED);
	join_threads(threads, 2);
	stats = stats_of(self->fd);
	TH_LOG("%u kicks, %u refused, %llu requests, %llu timers, %llu events; %u rounds beside",
	       vandals[1].kicks, vandals[1].refused, stats.submitted,
	       stats.scheduled, stats.completed, rounds);
	EXPECT_EQ(0, vandals[1].wrong);
	/* The ioctls still work. */
	EXPECT_LE(0, dev_stop(self->fd, NULL, 0, NULL));
	hwtimer_ring_unmap(&neighbour);
	EXPECT_EQ(0, close(beside));
}

TEST_F(rings, garbage_harms_nobody)
{
	garbage(_metadata, self, 0);
}

TEST_F(rings, garbage_in_compact_slots_harms_nobody)
{
	garbage(_metadata, self, HWTIMER_COMPACT_SLOTS);
}

/* ---- processes that end at any moment ---- */

static void *submit_all_the_time(void *arg)
{
	struct vandal *vandal = arg;

	for (;;) {
		struct hwtimer_request *slot =
			hwtimer_ring_get_slot(vandal->ring);
		__u64 result;

		if (slot) {
			*slot = OP(SCHEDULE,
				   .time = next_random(&vandal->seed) % MS);
			hwtimer_ring_publish(vandal->ring);
		}
		while (hwtimer_ring_next_result(vandal->ring, &result))
			;
		while (hwtimer_ring_next_event(vandal->ring))
			;
		hwtimer_ring_consume(vandal->ring);
	}
	return NULL;
}

static void use_rings_until_killed(void)
{
	struct hwtimer_ring ring;
	struct vandal vandals[3];
	pthread_t threads[3];
	int fd = dev_open(0);

	if (fd < 0 || ring_setup(fd, 256, 256) || hwtimer_ring_map(&ring, fd))
		_exit(1);
	for (unsigned int i = 0; i < 3; i++)
		vandals[i] = (struct vandal){ .ring = &ring, .seed = i };
	start_threads(threads, 2, kick_all_the_time, vandals, sizeof(*vandals));
	start_threads(&threads[2], 1, submit_all_the_time, &vandals[2], 0);
	join_threads(threads, 3);
}

TEST(killed_while_kicking)
{
	unsigned int rounds = scaled(100) + 5, seed = 3;

	for (unsigned int i = 0; i < rounds; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			use_rings_until_killed();
			_exit(1);
		}
		sleep_ns(next_random(&seed) % (20 * MS));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(-SIGKILL, wait_for_child(pid));
	}
}

/* The descriptor is closed while requests are under way whose results nobody reads. */
TEST(closed_with_requests_under_way)
{
	unsigned int rounds = scaled(100) + 3;

	for (unsigned int i = 0; i < rounds; i++) {
		int fd = dev_open(0);
		struct hwtimer_ring ring;

		ASSERT_LE(0, fd);
		ring_open(_metadata, &ring, fd, 512, 16);
		/* The worker polls from now on; the requests need memory for the wheel. */
		ASSERT_EQ(0, ring_kick(fd));
		for (unsigned int j = 0; j < 512; j++)
			ring_fill(_metadata, &ring,
				  OP(SCHEDULE, .time = j * 10 * US));
		hwtimer_ring_store(&ring.shared->submission_tail, ring.tail);
		sleep_ns(i % 8 * 300 * US);
		hwtimer_ring_unmap(&ring);
		ASSERT_EQ(0, close(fd));
	}
}

TEST_HARNESS_MAIN
