// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that wait for instances by poll() and epoll, a few ms at most. Chosen by step.c.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "steps.h"

void step_poll(struct actor *actor)
{
	struct pollfd pfds[3];
	unsigned int count = 0;

	for (unsigned int i = 0; i < 3; i++) {
		if (!step_slot(actor, &pfds[count].fd))
			continue;
		pfds[count++].events = rng_one_in(&actor->rng, 8) ?
					       (short)rng_hostile(&actor->rng) :
					       POLLIN;
	}
	step_count(CALL_POLL,
		   step_result(poll(pfds, count, rng_below(&actor->rng, 3))));
}

void step_epoll_ctl(struct actor *actor)
{
	static const __u32 events[] = {
		EPOLLIN,
		EPOLLIN | EPOLLET,
		EPOLLIN | EPOLLONESHOT,
		EPOLLIN | EPOLLEXCLUSIVE,
		EPOLLIN | EPOLLET | EPOLLEXCLUSIVE,
		EPOLLRDNORM | EPOLLET,
		EPOLLIN | EPOLLWAKEUP,
		EPOLLHUP | EPOLLERR,
		0,
	};
	static const int operations[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD,
					  EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	struct epoll_event event = { .events = rng_pick(&actor->rng, events) };
	int epoll = rng_pick(&actor->rng, actor->world->epolls);
	int fd;

	if (!step_slot(actor, &fd) || epoll < 0)
		return;
	step_count(CALL_EPOLL_CTL,
		   step_result(epoll_ctl(epoll,
					 rng_pick(&actor->rng, operations), fd,
					 &event)));
}

void step_epoll_wait(struct actor *actor)
{
	int epoll = rng_pick(&actor->rng, actor->world->epolls);
	int timeout = rng_one_in(&actor->rng, 2) ? 0 :
						   rng_below(&actor->rng, 4);
	struct epoll_event events[4];

	if (epoll >= 0)
		step_count(CALL_EPOLL_WAIT,
			   step_result(epoll_wait(epoll, events, 4, timeout)));
}

void step_epoll_renew(struct actor *actor)
{
	atomic_int *epoll = &rng_pick(&actor->rng, actor->world->epolls);
	int old = atomic_exchange(epoll, epoll_create1(EPOLL_CLOEXEC));

	if (old >= 0)
		close(old);
}
