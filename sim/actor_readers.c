// SPDX-License-Identifier: GPL-2.0
/*
 * Actors that take events: by read(), after poll(), epoll or an eventfd, and out of the
 * completion ring.
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
		oracle_event(site->oracle, &events[i], &span, false);
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
	if (ret < 0 && ret != -ECANCELED && ret != -EUSERS &&
	    !result_excused(ret))
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

/* Takes all events, from wherever they are; returns false at the end. */
static bool take_all(struct actor *actor)
{
	struct site *site = actor->site;
	bool more = true;

	if (!site->ring_only)
		more = read_all(actor);
	if (site_has_ring(site))
		world_count(site_consume(site));
	/* Who does not read learns from poll() that there is no more. */
	return more && !(site->ring_only &&
			 __atomic_load_n(&site->stopped, __ATOMIC_RELAXED));
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
		if (ret > 0 && !take_all(actor))
			return;
		/* Somebody else may be taking the events that poll() speaks of. */
		if (site_has_ring(actor->site))
			sim_sleep(sim_below(1000000));
		pause_sometimes(actor);
	}
}

/*
 * poll() says EPOLLIN, too, if it cannot adopt a deserted instance. A program that does not
 * read() hears nothing of that, and no other edge comes. So it has to kick.
 */
static void edge_adopt(struct site *site)
{
	struct hwtimer_ring *ring = &site->ring;

	if (!site->ring_only || !site_has_ring(site))
		return;
	__atomic_add_fetch(&site->owes, 1, __ATOMIC_RELAXED);
	if (hwtimer_ring_load(&ring->shared->flags) & HWTIMER_RING_NEED_KICK)
		while (hwtimer_ring_kick(ring) < 0 && !sim_ending())
			sim_sleep(1000000);
	__atomic_sub_fetch(&site->owes, 1, __ATOMIC_RELAXED);
}

void act_edge(struct actor *actor)
{
	bool edge = sim_below(4);
	struct sim_epoll *epoll =
		sim_epoll_create(actor->file, EPOLLIN | (edge ? EPOLLET : 0));
	bool more = true;

	while (!sim_ending() && more) {
		int ret = sim_epoll_wait(epoll, UINT64_MAX);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("epoll_wait() has failed with %d", ret);
		/* Once more after an edge: an event may have come meanwhile. */
		if (ret > 0)
			more = take_all(actor);
		if (ret > 0 && edge)
			edge_adopt(actor->site);
		pause_sometimes(actor);
	}
	sim_epoll_close(epoll);
}

void act_eventfd(struct actor *actor)
{
	struct hwtimer_notify notify = {
		.size = sizeof(notify),
		.events = sim_below(2),
		.eventfd = sim_eventfd_create(),
	};
	bool more = true;

	while (sim_ioctl(actor->file, HWTIMER_IOC_NOTIFY, &notify))
		sim_sleep(1000000);
	while (!sim_ending() && more) {
		int ret = sim_eventfd_read(notify.eventfd, 200000000);

		world_count(1);
		if (ret < 0 && ret != -EINTR)
			sim_fail("read() of the eventfd has failed with %d",
				 ret);
		more = take_all(actor);
		pause_sometimes(actor);
	}
	sim_eventfd_close(notify.eventfd);
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

/* ---- the completion ring ---- */

bool site_has_ring(const struct site *site)
{
	return site->mapped && site->setup.completions;
}

/* Does what hwtimer_ring_consume() does, or no more than <linux/hwtimer.h> demands. */
static int ring_consume(struct site *site)
{
	struct hwtimer_ring *ring = &site->ring;

	if (!site->sparing)
		return hwtimer_ring_consume(ring);
	hwtimer_ring_store(&ring->shared->completion_head, ring->head);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return hwtimer_ring_load(&ring->shared->waiting) ?
		       hwtimer_ring_kick_if_needed(ring) :
		       0;
}

/* Takes all events; the caller is the only one that does. Returns their number. */
static unsigned int consume_all(struct site *site)
{
	unsigned int count, total = 0, times = 0;
	const struct hwtimer_event *event;
	struct hwtimer_event events[EVENTS];
	struct oracle_span span;

	do {
		span = oracle_read_begin(site->oracle);
		for (count = 0; count < EVENTS; count++) {
			event = hwtimer_ring_next_event(&site->ring);
			if (!event)
				break;
			events[count] = *event;
			oracle_event(site->oracle, event, &span, true);
		}
		oracle_order(site->oracle, events, count);
		oracle_read_end(site->oracle);
		total += count;
		/* If the kernel could not be told, it has to be, later. */
		if (ring_consume(site))
			while (hwtimer_ring_kick(&site->ring) < 0)
				sim_sleep(1000000);
		/* Timers with a short interval may fill the ring as fast as that. */
		if (++times % 64 == 0)
			sim_sleep(1000000);
	} while (count && !(times > 64 && sim_ending()));
	return total;
}

/*
 * One thread at a time uses the ring. Another one that comes meanwhile has it look once
 * more: it may have seen what the first has not.
 */
unsigned int site_consume(struct site *site)
{
	unsigned int total = 0;

	__atomic_store_n(&site->consume_again, true, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&site->consume_again, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&site->consuming, true, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&site->consume_again, false, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&site->owes, 1, __ATOMIC_RELAXED);
		total += consume_all(site);
		__atomic_sub_fetch(&site->owes, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&site->consuming, false, __ATOMIC_SEQ_CST);
	}
	return total;
}

void act_consumer(struct actor *actor)
{
	bool polls = sim_below(2);

	while (!sim_ending()) {
		int ret = 0;

		if (polls)
			ret = sim_poll(actor->file, EPOLLIN, 100000000);
		if (ret < 0 && ret != -EINTR)
			sim_fail("poll() has failed with %d", ret);
		world_count(1);
		world_count(site_consume(actor->site));
		if (ret > 0 && !actor->site->ring_only && !read_all(actor))
			return;
		sim_sleep(sim_below(sim_below(4) ? 3000000 : 40000000));
	}
}
