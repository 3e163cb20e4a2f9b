// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the steps of an actor..
 */
#include <errno.h>
#include <time.h>

#include "steps.h"

struct choice {
	void (*step)(struct actor *actor);
	unsigned int weight;
};

static const struct choice choices[] = {
	{ step_info, 2 },	{ step_setup, 4 },
	{ step_schedule, 10 },	{ step_cancel, 6 },
	{ step_reschedule, 6 }, { step_rearm, 4 },
	{ step_submit, 6 },	{ step_bulk, 6 },
	{ step_query, 4 },	{ step_stop, 1 },
	{ step_list, 3 },	{ step_cancel_all, 2 },
	{ step_stats, 3 },	{ step_notify, 3 },
	{ step_ack, 4 },	{ step_rewind, 1 },
	{ step_unknown, 1 },	{ step_open, 3 },
	{ step_close, 2 },	{ step_dup, 1 },
	{ step_nonblock, 1 },	{ step_read, 8 },
	{ step_fdinfo, 1 },	{ step_debugfs, 1 },
	{ step_send, 2 },	{ step_receive, 2 },
	{ step_poll, 2 },	{ step_epoll_ctl, 3 },
	{ step_epoll_wait, 3 }, { step_epoll_renew, 1 },
	{ step_uring, 5 },	{ step_uring_renew, 1 },
	{ step_aio, 3 },	{ step_aio_renew, 1 },
	{ step_shake, 3 },	{ step_garble_arguments, 3 },
	{ step_fork, 1 },	{ step_clock, 1 },
	{ step_unload, 1 },
};

#define CHOICES (sizeof(choices) / sizeof(choices[0]))

static unsigned int total_weight(void)
{
	unsigned int total = 0;

	for (unsigned int i = 0; i < CHOICES; i++)
		total += choices[i].weight;
	return total;
}

/**
 * step_once - make one step
 * @actor: the actor
 *
 * If the program touches memory that another actor has removed, the step ends there.
 */
void step_once(struct actor *actor)
{
	unsigned int which = rng_below(&actor->rng, total_weight());
	const struct choice *choice = choices;

	while (which >= choice->weight)
		which -= choice++->weight;
	tally_add(&tallies->steps, 1);
	if (sigsetjmp(actor->rescue, 0)) {
		tally_add(&tallies->rescued, 1);
		return;
	}
	choice->step(actor);
}

/**
 * step_slot - choose an instance
 * @actor: the actor
 * @fd: out: its descriptor; another actor may close it at any moment
 *
 * Return: the instance; NULL: there is none in the slot that was chosen.
 */
struct slot *step_slot(struct actor *actor, int *fd)
{
	struct slot *slot = &rng_pick(&actor->rng, actor->world->slots);

	*fd = slot->fd;
	return *fd < 0 ? NULL : slot;
}

/**
 * step_count - count a call of a step
 * @call: the call
 * @result: a negative number is a failure. EBADF is not counted, as the call did not come
 *	far
 */
void step_count(enum call call, long result)
{
	if (result != -EBADF)
		tally(call, result);
}

/**
 * step_result - the result of a system call
 * @ret: what the C library returned
 *
 * Return: @ret, or a negative errno.
 */
long step_result(long ret)
{
	return ret < 0 ? -errno : ret;
}

/**
 * step_sleep - sleep, unless a signal comes
 * @us: how long
 */
void step_sleep(unsigned int us)
{
	struct timespec ts = { .tv_nsec = us * 1000L };

	nanosleep(&ts, NULL);
}
