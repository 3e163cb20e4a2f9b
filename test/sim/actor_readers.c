// SPDX-License-Identifier: GPL-2.0
/*
 * Actors that take events: by read(), and after poll() or epoll; and one that acknowledges
 * them.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "world.h"

#define EVENTS 300

ssize_t site_read(struct site *site, struct file *file, size_t count,
		  bool nonblock)
{
	struct hwtimer_event events[EVENTS];
	struct oracle_span span = oracle_read_begin(site->oracle);
	ssize_t ret, i;

	ret = sim_read(file, events, count * sizeof(*events), nonblock);
	if (ret > 0)
		ret /= sizeof(*events);
	for (i = 0; i < ret; i++)
		oracle_event(site->oracle, &events[i], &span);
	if (ret > 0)
		oracle_order(site->oracle, events, ret);
	oracle_read_end(site->oracle);
	return ret;
}

void site_ack(struct site *site, struct file *file, uint32_t count, bool rewind)
{
	struct hwtimer_ack ack = {
		.count = count,
		.flags = rewind ? HWTIMER_ACK_REWIND : 0,
	};
	uint32_t read = oracle_reread(site->oracle);
	struct oracle_span span = oracle_read_begin(site->oracle);
	long ret = sim_ioctl(file, HWTIMER_IOC_ACK, &ack);

	if (ret != -EFAULT && ret != (count > read ? -EINVAL : (long)count))
		sim_fail("ACK of %u returns %ld, and %u were read", count, ret,
			 read);
	if (ret > 0)
		oracle_acknowledged(site->oracle, ret, &span);
	if (ret >= 0 && rewind)
		oracle_rewound(site->oracle);
	oracle_read_end(site->oracle);
}

static size_t some(void)
{
	return sim_below(3) ? sim_between(1, 16) : sim_between(1, EVENTS);
}

/* Whether read() failed for a reason; 0, the end, is none. */
static bool read_goes_on(struct site *site, ssize_t ret)
{
	if (!ret && !__atomic_load_n(&site->stopped, __ATOMIC_RELAXED))
		sim_fail("read() says that the instance is stopped");
	if (ret < 0 && ret != -ECANCELED && ret != -EAGAIN &&
	    !result_excused(ret))
		sim_fail("read() has failed with %zd", ret);
	return ret;
}

static void pause_sometimes(const struct actor *actor)
{
	if (!sim_below(4))
		sim_sleep(sim_below(30 * actor->site->oracle->tick));
	/* So long that no more events have room, and the worker does not come any more. */
	if (!sim_below(100))
		sim_sleep(sim_below(3000 * actor->site->oracle->tick));
}

void act_reader(struct actor *actor)
{
	while (!sim_ending()) {
		ssize_t ret =
			site_read(actor->site, actor->file, some(), false);

		world_count(1);
		if (!read_goes_on(actor->site, ret))
			return;
		/* Nothing would change at once. */
		if (ret < 0 && ret != -ECANCELED)
			sim_sleep(1000000);
		pause_sometimes(actor);
	}
}

/*
 * Takes one event at a time, or a few, and does something else before it takes the next ones.
 * Another program has to hear of those that are left, also of those that this one has let
 * come.
 */
void act_sipper(struct actor *actor)
{
	while (!sim_ending()) {
		size_t count = sim_below(2) ? 1 : sim_between(1, 4);
		ssize_t ret = site_read(actor->site, actor->file, count,
					!sim_below(3));

		world_count(1);
		if (!read_goes_on(actor->site, ret))
			return;
		sim_sleep(sim_below(4 * actor->site->oracle->tick));
	}
}

/*
 * Reads until no event is left; returns false at the end. With EPOLLEXCLUSIVE, a signal keeps
 * it from that only for a moment, because nobody else may have been told.
 */
static bool read_all(struct actor *actor)
{
	for (;;) {
		ssize_t ret = site_read(actor->site, actor->file, some(), true);

		world_count(1);
		if (!read_goes_on(actor->site, ret))
			return false;
		if (ret == -EAGAIN)
			return true;
		if (ret < 0 && ret != -ECANCELED &&
		    !(ret == -EINTR && actor->site->exclusive))
			sim_sleep(1000000);
		if (sim_ending())
			return false;
	}
}

/*
 * The number of events that were dropped so far; -1: it cannot be told. A dropped event is
 * the only reason for which the only reader finds nothing after POLLIN.
 */
static int64_t dropped(struct actor *actor)
{
	struct hwtimer_stats stats;

	if (!actor->site->alone || site_stats(actor->site, actor->file, &stats))
		return -1;
	return stats.discarded;
}

/* After POLLIN. @before: dropped() before poll() was called. Returns false at the end. */
static bool poller_read(struct actor *actor, int64_t before)
{
	ssize_t ret = site_read(actor->site, actor->file, some(), true);

	world_count(1);
	if (!read_goes_on(actor->site, ret))
		return false;
	if (ret == -EAGAIN && before >= 0 && dropped(actor) == before)
		sim_fail(
			"read() says EAGAIN after POLLIN, and nobody else reads");
	return ret == -EAGAIN || read_all(actor);
}

void act_poller(struct actor *actor)
{
	while (!sim_ending()) {
		uint64_t timeout = sim_below(3) ? UINT64_MAX :
						  sim_below(50000000);
		int64_t before = dropped(actor);
		int ret = sim_poll(actor->file, EPOLLIN, timeout);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("poll() has failed with %d", ret);
		if (ret > 0 && !poller_read(actor, before))
			return;
		pause_sometimes(actor);
	}
}

/* Waits for events, and leaves them to others: it has to be told, too. */
void act_watcher(struct actor *actor)
{
	while (!sim_ending()) {
		int ret = sim_poll(actor->file, EPOLLIN, UINT64_MAX);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("poll() has failed with %d", ret);
		if (ret > 0 && ret & EPOLLHUP)
			return;
		sim_sleep(sim_below(20 * actor->site->oracle->tick));
	}
}

/* ---- HWTIMER_SETUP_AT_LEAST_ONCE ---- */

/* Acknowledges some of what was read; all if @all. Now and then it tries to do too much. */
static void acker_ack(struct actor *actor, bool all)
{
	uint32_t read = oracle_reread(actor->site->oracle);

	if (!sim_below(16))
		site_ack(actor->site, actor->file, read + sim_between(1, 3),
			 sim_below(2));
	if (read)
		site_ack(actor->site, actor->file,
			 all ? read : sim_below(read + 1), false);
	world_count(1);
}

/*
 * Waits for events, not for ever if it is itself the reason why none come. Without an epoll
 * instance, read() does that. Returns false if there are none yet.
 */
static bool acker_wait(struct actor *actor, struct sim_epoll *epoll)
{
	uint64_t timeout = UINT64_MAX;
	int ret;

	if (sim_below(3))
		acker_ack(actor, true);
	if (oracle_reread(actor->site->oracle))
		timeout = sim_below(40 * actor->site->oracle->tick);
	if (epoll)
		ret = sim_epoll_wait(epoll, timeout);
	else if (timeout < UINT64_MAX)
		ret = sim_poll(actor->file, EPOLLIN, timeout);
	else
		return true;
	world_count(1);
	if (ret < 0 && ret != -EINTR)
		sim_fail("poll() or epoll_wait() has failed with %d", ret);
	return ret > 0;
}

/*
 * Reads events and acknowledges some of them. Returns false at the end. @nonblock: until no
 * event is left.
 */
static bool acker_read(struct actor *actor, bool nonblock)
{
	ssize_t ret;

	do {
		ret = site_read(actor->site, actor->file, some(), nonblock);
		world_count(1);
		if (!read_goes_on(actor->site, ret))
			return false;
		if (ret < 0 && ret != -ECANCELED && ret != -EAGAIN)
			sim_sleep(1000000);
		if (!sim_below(2))
			acker_ack(actor, false);
		/* It dies, and another one goes on. */
		if (!sim_below(20))
			site_ack(actor->site, actor->file,
				 sim_below(oracle_reread(actor->site->oracle) +
					   1),
				 true);
	} while (nonblock && ret != -EAGAIN && !sim_ending());
	return true;
}

/*
 * Reads events and acknowledges them, the only one of its instance to do so. After a rewind,
 * an edge tells of the events that come again.
 */
void act_acker(struct actor *actor)
{
	struct sim_epoll *epoll = NULL;
	bool more = true;

	if (sim_below(2))
		epoll = sim_epoll_create(
			actor->file, EPOLLIN | (sim_below(3) ? EPOLLET : 0));
	while (!sim_ending() && more) {
		if (acker_wait(actor, epoll))
			more = acker_read(actor, epoll || sim_below(2));
		pause_sometimes(actor);
	}
	if (epoll)
		sim_epoll_close(epoll);
}

/* Reads some events, if there are any; returns false at the end. */
static bool read_few(struct actor *actor)
{
	ssize_t ret;

	do {
		ret = site_read(actor->site, actor->file, sim_between(1, 4),
				true);
		world_count(1);
	} while (ret == -EINTR && !sim_ending());
	return read_goes_on(actor->site, ret);
}

void act_edge(struct actor *actor)
{
	unsigned int edge = sim_below(4) ? EPOLLET : 0;
	unsigned int exclusive = actor->site->exclusive ? EPOLLEXCLUSIVE : 0;
	struct sim_epoll *epoll =
		sim_epoll_create(actor->file, EPOLLIN | edge | exclusive);
	bool more = true;

	while (!sim_ending() && more) {
		int ret = sim_epoll_wait(epoll, UINT64_MAX);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("epoll_wait() has failed with %d", ret);
		/* The wake-up that it may have got is nobody else's. */
		if (ret < 0 && exclusive)
			continue;
		/* Once more after an edge: an event may have come meanwhile. */
		if (ret > 0)
			more = edge || sim_below(2) ? read_all(actor) :
						      read_few(actor);
		pause_sometimes(actor);
	}
	sim_epoll_close(epoll);
}

/*
 * Keeps the descriptor for another program, as a service manager does: it asks for no
 * events, and waits for the end.
 */
void act_keeper(struct actor *actor)
{
	while (!sim_ending()) {
		int ret = sim_poll(actor->file, 0, UINT64_MAX);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("poll() has failed with %d", ret);
		if (ret > 0 && ret != EPOLLHUP)
			sim_fail("poll() for no event returns %#x", ret);
		if (ret <= 0)
			continue;
		/* There a rewind may make events come again. */
		if (actor->site->oracle->keeps)
			return;
		do {
			ret = site_read(actor->site, actor->file, 1, true);
		} while (ret == -EINTR);
		if (ret && ret != -ECANCELED)
			sim_fail("read() returns %d after EPOLLHUP", ret);
		return;
	}
}
