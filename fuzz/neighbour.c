// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbours; see neighbour.h. Called by main.c.
 *
 * Each neighbour schedules, reschedules and cancels timers, and knows what must come: each
 * timer ends once, by its event or by a CANCEL, and no event comes before its deadline. One
 * neighbour uses calls, the other one rings. A request that the kernel has no memory for
 * schedules nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hwtimer_ring.h>
#include <linux/hwtimer.h>

#include "neighbour.h"
#include "rng.h"

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)

/* Timers that a neighbour has at a time */
#define TIMERS 128

/* Their delays */
#define DELAY_MAX (60 * MS)

/*
 * What has not come while the neighbour slept for so long, ns, is lost. Only its own sleep
 * counts; so a machine that stood still has not used that up.
 */
#define PATIENCE (120 * SEC)

/* How long it sleeps at a time: for a result, and for an event */
#define RESULT_PAUSE (200 * US)
#define EVENT_PAUSE (5 * MS)

/* Slots of the rings */
#define SLOTS 64

#define EVENTS 32

/**
 * struct timer - what a neighbour knows of a timer
 * @id: its id; 0: there is none
 * @deadline: the earliest moment at which it may expire
 * @round: number of timers that had this place before
 */
struct timer {
	__u64 id;
	__u64 deadline;
	__u32 round;
};

/**
 * struct neighbour - a neighbour
 * @request: does one request, and sets its id or result; returns 0 or a negative errno
 * @collect: waits for a few ms, and takes events; returns their number or a negative errno
 * @cancelled: number of timers that it has cancelled
 * @alive: number of its timers that have not ended
 */
struct neighbour {
	int (*request)(struct neighbour *self, struct hwtimer_request *request);
	int (*collect)(struct neighbour *self, struct hwtimer_event *events);
	struct board *board;
	struct account *account;
	const char *name;
	struct rng rng;
	int fd;
	struct hwtimer_ring ring;
	struct timer timers[TIMERS];
	__u64 cancelled;
	unsigned int alive;
};

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

/* ---- by calls ---- */

static int request_by_call(struct neighbour *self,
			   struct hwtimer_request *request)
{
	static const unsigned int commands[] = {
		[HWTIMER_OP_SCHEDULE] = HWTIMER_IOC_SCHEDULE,
		[HWTIMER_OP_CANCEL] = HWTIMER_IOC_CANCEL,
		[HWTIMER_OP_RESCHEDULE] = HWTIMER_IOC_RESCHEDULE,
	};

	return ioctl(self->fd, commands[request->op], request) ? -errno : 0;
}

static int collect_by_call(struct neighbour *self, struct hwtimer_event *events)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	ssize_t ret;

	if (poll(&pfd, 1, EVENT_PAUSE / MS) <= 0)
		return 0;
	ret = read(self->fd, events, EVENTS * sizeof(*events));
	if (ret < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return ret / sizeof(*events);
}

/* ---- by rings ---- */

static int wait_for_result(struct neighbour *self, __u64 *result)
{
	struct timespec pause = { .tv_nsec = RESULT_PAUSE };

	for (__u64 slept = 0; slept < PATIENCE; slept += RESULT_PAUSE) {
		if (hwtimer_ring_next_result(&self->ring, result))
			return 0;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static int request_by_ring(struct neighbour *self,
			   struct hwtimer_request *request)
{
	struct hwtimer_request *slot = hwtimer_ring_get_slot(&self->ring);
	__u64 result;
	int err;

	*slot = *request;
	if (hwtimer_ring_publish(&self->ring))
		return -errno;
	err = wait_for_result(self, &result);
	if (err)
		return err;
	err = hwtimer_ring_error(result);
	if (!err && request->op == HWTIMER_OP_SCHEDULE)
		request->id = result;
	return err;
}

static int collect_by_ring(struct neighbour *self, struct hwtimer_event *events)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	const struct hwtimer_event *next;
	int count = 0;

	poll(&pfd, 1, EVENT_PAUSE / MS);
	while (count < EVENTS && (next = hwtimer_ring_next_event(&self->ring)))
		events[count++] = *next;
	return hwtimer_ring_consume(&self->ring) ? -errno : count;
}

/* ---- accounts ---- */

static __u64 some_delay(struct neighbour *self)
{
	return rng_below(&self->rng, DELAY_MAX);
}

static __u64 user_data(const struct neighbour *self, unsigned int nr)
{
	return (__u64)self->timers[nr].round << 32 | nr;
}

static void end(struct neighbour *self, unsigned int nr)
{
	self->timers[nr].id = 0;
	self->timers[nr].round++;
	self->alive--;
	board_add(&self->account->ended, 1);
}

static void schedule(struct neighbour *self, unsigned int nr)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = some_delay(self),
		.user_data = user_data(self, nr),
	};
	__u64 earliest = now_ns() + request.time;
	int err;

	if (rng_one_in(&self->rng, 2)) {
		request.flags = HWTIMER_ABSOLUTE;
		request.time = earliest;
	}
	err = self->request(self, &request);
	if (err == -ENOMEM) {
		board_add(&self->account->refused, 1);
		return;
	}
	if (err) {
		board_complain(self->board, "%s: SCHEDULE: %s", self->name,
			       strerror(-err));
		return;
	}
	self->timers[nr].id = request.id;
	self->timers[nr].deadline = earliest;
	self->alive++;
	board_add(&self->account->scheduled, 1);
}

/*
 * EALREADY: the event is on its way; ENOENT: it is in the completion ring, if there is one.
 * Without rings, a timer that is not there at all is lost.
 */
static bool refused(struct neighbour *self, int err)
{
	if (err == -ENOENT && self->ring.shared)
		return true;
	if (err == -ENOENT)
		board_add(&self->account->lost, 1);
	else if (err && err != -EALREADY && err != -ENOMEM)
		board_complain(self->board, "%s: CANCEL or RESCHEDULE: %s",
			       self->name, strerror(-err));
	return err;
}

static void cancel(struct neighbour *self, unsigned int nr)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_CANCEL,
		.id = self->timers[nr].id,
	};

	if (refused(self, self->request(self, &request)))
		return;
	self->cancelled++;
	end(self, nr);
}

static void reschedule(struct neighbour *self, unsigned int nr)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_RESCHEDULE,
		.id = self->timers[nr].id,
		.time = some_delay(self),
	};
	__u64 earliest = now_ns() + request.time;

	if (!refused(self, self->request(self, &request)))
		self->timers[nr].deadline = earliest;
}

static void take_event(struct neighbour *self,
		       const struct hwtimer_event *event)
{
	unsigned int nr = (__u32)event->user_data;
	__u64 now = now_ns();

	if (nr >= TIMERS || !self->timers[nr].id ||
	    event->user_data != user_data(self, nr) ||
	    event->id != self->timers[nr].id) {
		board_add(&self->account->twice, 1);
		return;
	}
	if (now < event->deadline ||
	    event->deadline < self->timers[nr].deadline)
		board_add(&self->account->early, 1);
	board_late(&self->account->lateness, event->deadline, now);
	end(self, nr);
}

/* Returns the number of events that came. */
static int collect(struct neighbour *self)
{
	struct hwtimer_event events[EVENTS];
	int ret = self->collect(self, events);

	if (ret < 0)
		board_complain(self->board, "%s: no events: %s", self->name,
			       strerror(-ret));
	for (int i = 0; i < ret; i++)
		take_event(self, &events[i]);
	return ret;
}

/* Some requests, then some events. It is no load: most of the time it waits. */
static void round_once(struct neighbour *self)
{
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int nr = rng_below(&self->rng, TIMERS);

		if (!self->timers[nr].id)
			schedule(self, nr);
		else if (rng_one_in(&self->rng, 8))
			cancel(self, nr);
		else if (rng_one_in(&self->rng, 4))
			reschedule(self, nr);
	}
	collect(self);
}

/* All timers expire by themselves within DELAY_MAX, and the time that the machine needs. */
static void wait_for_rest(struct neighbour *self)
{
	__u64 slept = 0;

	while (self->alive && slept < PATIENCE)
		slept = collect(self) > 0 ? 0 : slept + EVENT_PAUSE;
	board_add(&self->account->lost, self->alive);
}

/* The kernel's counters must be those of the neighbour, for all of its life. */
static void compare(struct neighbour *self, __u64 scheduled)
{
	struct hwtimer_stats stats = { .size = sizeof(stats) };

	if (ioctl(self->fd, HWTIMER_IOC_STATS, &stats) ||
	    stats.scheduled != scheduled ||
	    stats.cancelled != self->cancelled ||
	    stats.delivered != scheduled - self->cancelled || stats.pending ||
	    stats.ready || stats.discarded || stats.unprocessed)
		board_add(&self->account->unequal, 1);
}

static bool prepare(struct neighbour *self, bool rings)
{
	struct hwtimer_setup setup = {
		.size = sizeof(setup),
		.clock = CLOCK_MONOTONIC,
		.submissions = rings ? SLOTS : 0,
		.completions = rings ? SLOTS : 0,
	};

	self->fd = open("/dev/hwtimer", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return self->fd >= 0 && !ioctl(self->fd, HWTIMER_IOC_SETUP, &setup) &&
	       (!rings || !hwtimer_ring_map(&self->ring, self->fd));
}

static int neighbour_run(struct neighbour *self, bool rings)
{
	__u64 before = board_get(&self->account->scheduled);

	if (!prepare(self, rings))
		return 1;
	while (!self->board->end_neighbours)
		round_once(self);
	wait_for_rest(self);
	compare(self, board_get(&self->account->scheduled) - before);
	return 0;
}

static int by_call(struct board *board, __u64 seed)
{
	static struct neighbour self = {
		.request = request_by_call,
		.collect = collect_by_call,
		.name = "the neighbour with calls",
	};

	self.board = board;
	self.account = &board->by_call;
	self.rng = rng_of(seed, 'c', 0, 0);
	return neighbour_run(&self, false);
}

static int by_ring(struct board *board, __u64 seed)
{
	static struct neighbour self = {
		.request = request_by_ring,
		.collect = collect_by_ring,
		.name = "the neighbour with rings",
	};

	self.board = board;
	self.account = &board->by_ring;
	self.rng = rng_of(seed, 'r', 0, 0);
	return neighbour_run(&self, true);
}

/* One timer after the other, with the same delays as the neighbours' */
static int by_timerfd(struct board *board, __u64 seed)
{
	struct rng rng = rng_of(seed, 't', 0, 0);
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0)
		return 1;
	while (!board->end_neighbours) {
		__u64 deadline = now_ns() + 1 + rng_below(&rng, DELAY_MAX);
		struct itimerspec when = {
			.it_value = { .tv_sec = deadline / SEC,
				      .tv_nsec = deadline % SEC },
		};
		__u64 count;

		if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) ||
		    read(fd, &count, sizeof(count)) != sizeof(count))
			return 1;
		board_late(&board->timerfd, deadline, now_ns());
	}
	return 0;
}

static int run_one(struct board *board, __u64 seed, unsigned int which)
{
	switch (which) {
	case 0:
		return by_call(board, seed);
	case 1:
		return by_ring(board, seed);
	default:
		return by_timerfd(board, seed);
	}
}

/**
 * neighbours_start - start all neighbours
 * @board: the counters
 * @seed: of their choices
 * @pids: out: their processes
 *
 * Return: whether they were started; a neighbour that cannot begin ends with status 1.
 */
bool neighbours_start(struct board *board, __u64 seed, pid_t pids[NEIGHBOURS])
{
	board->end_neighbours = false;
	for (unsigned int i = 0; i < NEIGHBOURS; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(run_one(board, seed, i));
		}
		if (pids[i] < 0)
			return false;
	}
	return true;
}

/**
 * neighbours_end - have the neighbours finish, and settle their accounts
 * @board: the counters
 * @pids: the processes
 *
 * Return: whether all of them ended well.
 */
bool neighbours_end(struct board *board, pid_t pids[NEIGHBOURS])
{
	bool good = true;

	board->end_neighbours = true;
	for (unsigned int i = 0; i < NEIGHBOURS; i++) {
		int status;

		if (waitpid(pids[i], &status, 0) != pids[i] || status)
			good = false;
	}
	return good;
}
