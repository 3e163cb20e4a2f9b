// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbours; see neighbour.h. Called by main.c.
 *
 * A neighbour schedules, reschedules and cancels timers, and knows what must come: each
 * timer ends once, by its event or by a CANCEL, and no event comes before its deadline. A
 * request that the kernel has no memory for schedules nothing.
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

#include <linux/hwtimer.h>

#include "neighbour.h"
#include "rng.h"

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)

/* Timers that it has at a time */
#define TIMERS 128

/* Their delays */
#define DELAY_MAX (60 * MS)

/*
 * What has not come while the neighbour slept for so long, ns, is lost. Only its own sleep
 * counts; so a machine that stood still has not used that up.
 */
#define PATIENCE (120 * SEC)

/* How long it sleeps at a time */
#define EVENT_PAUSE (5 * MS)

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
 * @cancelled: number of timers that it has cancelled
 * @alive: number of its timers that have not ended
 */
struct neighbour {
	struct board *board;
	struct account *account;
	struct rng rng;
	int fd;
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

/* ---- calls ---- */

/* Does one request, and sets its id; returns what the ioctl returns, or a negative errno. */
static int do_request(struct neighbour *self, struct hwtimer_request *request)
{
	static const unsigned int commands[] = {
		[HWTIMER_OP_SCHEDULE] = HWTIMER_IOC_SCHEDULE,
		[HWTIMER_OP_CANCEL] = HWTIMER_IOC_CANCEL,
		[HWTIMER_OP_RESCHEDULE] = HWTIMER_IOC_RESCHEDULE,
	};

	int ret = ioctl(self->fd, commands[request->op], request);

	return ret < 0 ? -errno : ret;
}

/* Waits for a few ms, and takes events; returns their number or a negative errno. */
static int take_events(struct neighbour *self, struct hwtimer_event *events)
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
		request.flags = HWTIMER_REQ_ABSTIME;
		request.time = earliest;
	}
	err = do_request(self, &request);
	if (err == -ENOMEM) {
		board_add(&self->account->refused, 1);
		return;
	}
	if (err) {
		board_complain(self->board, "the neighbour: SCHEDULE: %s",
			       strerror(-err));
		return;
	}
	self->timers[nr].id = request.id;
	self->timers[nr].deadline = earliest;
	self->alive++;
	board_add(&self->account->scheduled, 1);
}

/* 1 and EALREADY: the event is on its way; ENOENT: a timer that is not there at all is lost. */
static bool refused(struct neighbour *self, int ret)
{
	if (ret == -ENOENT)
		board_add(&self->account->lost, 1);
	else if (ret < 0 && ret != -EALREADY && ret != -ENOMEM)
		board_complain(self->board,
			       "the neighbour: CANCEL or RESCHEDULE: %s",
			       strerror(-ret));
	return ret;
}

static void cancel(struct neighbour *self, unsigned int nr)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_CANCEL,
		.id = self->timers[nr].id,
	};

	if (refused(self, do_request(self, &request)))
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

	if (!refused(self, do_request(self, &request)))
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
	int ret = take_events(self, events);

	if (ret < 0)
		board_complain(self->board, "the neighbour: no events: %s",
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
	struct hwtimer_stats stats = { 0 };

	if (ioctl(self->fd, HWTIMER_IOC_STATS, &stats) ||
	    stats.scheduled != scheduled ||
	    stats.cancelled != self->cancelled ||
	    stats.delivered != scheduled - self->cancelled || stats.pending ||
	    stats.ready || stats.discarded)
		board_add(&self->account->unequal, 1);
}

static bool prepare(struct neighbour *self)
{
	struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK_MONOTONIC,
	};

	self->fd = open("/dev/hwtimer", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return self->fd >= 0 && !ioctl(self->fd, HWTIMER_IOC_SETUP, &setup);
}

static int with_instance(struct board *board, __u64 seed)
{
	__u64 before = board_get(&board->neighbour.scheduled);
	static struct neighbour self;

	self.board = board;
	self.account = &board->neighbour;
	self.rng = rng_of(seed, 'c', 0, 0);
	if (!prepare(&self))
		return 1;
	while (!board->end_neighbours)
		round_once(&self);
	wait_for_rest(&self);
	compare(&self, board_get(&self.account->scheduled) - before);
	return 0;
}

/* One timer after the other, with the same delays as the neighbour's */
static int with_timerfd(struct board *board, __u64 seed)
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
			_exit(i ? with_timerfd(board, seed) :
				  with_instance(board, seed));
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
