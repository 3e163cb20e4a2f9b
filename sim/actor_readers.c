// SPDX-License-Identifier: GPL-2.0
/*
 * Actors that take events: by read(), and after poll() or epoll.
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

static size_t some(void)
{
	return sim_below(3) ? sim_between(1, 16) : sim_between(1, EVENTS);
}

/* Whether read() failed for a reason; 0, the end, is none. */
static bool read_goes_on(struct site *site, ssize_t ret)
{
	if (!ret && !__atomic_load_n(&site->stopped, __ATOMIC_RELAXED))
		sim_fail("read() says that the instance is stopped");
	if (ret < 0 && ret != -ECANCELED && !result_excused(ret))
		sim_fail("read() has failed with %zd", ret);
	return ret;
}

static void pause_sometimes(const struct actor *actor)
{
	if (!sim_below(4))
		sim_sleep(sim_below(30 * actor->site->oracle->tick));
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
 * Takes one event at a time, and does something else before it takes the next one. Another
 * program that was told of the same events, and is refused meanwhile, has to be told again.
 */
void act_sipper(struct actor *actor)
{
	while (!sim_ending()) {
		ssize_t ret = site_read(actor->site, actor->file, 1, false);

		world_count(1);
		if (!read_goes_on(actor->site, ret))
			return;
		sim_sleep(sim_below(4 * actor->site->oracle->tick));
	}
}

/* Reads until no event is left; returns false at the end. */
static bool read_all(struct actor *actor)
{
	for (;;) {
		ssize_t ret = site_read(actor->site, actor->file, some(), true);

		world_count(1);
		if (!read_goes_on(actor->site, ret))
			return false;
		if (ret == -EAGAIN)
			return true;
		if (ret < 0 && ret != -ECANCELED)
			sim_sleep(1000000);
		if (sim_ending())
			return false;
	}
}

void act_poller(struct actor *actor)
{
	while (!sim_ending()) {
		uint64_t timeout = sim_below(3) ? UINT64_MAX :
						  sim_below(50000000);
		int ret = sim_poll(actor->file, EPOLLIN, timeout);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("poll() has failed with %d", ret);
		if (ret > 0 && !read_all(actor))
			return;
		pause_sometimes(actor);
	}
}

void act_edge(struct actor *actor)
{
	unsigned int edge = sim_below(4) ? EPOLLET : 0;
	struct sim_epoll *epoll = sim_epoll_create(actor->file, EPOLLIN | edge);
	bool more = true;

	while (!sim_ending() && more) {
		int ret = sim_epoll_wait(epoll, UINT64_MAX);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("epoll_wait() has failed with %d", ret);
		/* Once more after an edge: an event may have come meanwhile. */
		if (ret > 0)
			more = read_all(actor);
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
		ret = site_read(actor->site, actor->file, 1, true);
		if (ret && ret != -ECANCELED)
			sim_fail("read() returns %d after EPOLLHUP", ret);
		return;
	}
}
