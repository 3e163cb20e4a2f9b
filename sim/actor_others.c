// SPDX-License-Identifier: GPL-2.0
/*
 * Actors that look at timers, choose when readers are told, stop instances, open and close
 * some, and disturb the others.
 */
#include <errno.h>
#include <stdlib.h>

#include "inspect.h"
#include "process.h"
#include "world.h"

/* ---- looking ---- */

long site_stats(struct site *site, struct file *file,
		struct hwtimer_stats *stats)
{
	long ret;

	*stats = (struct hwtimer_stats){ .size = sizeof(*stats) };
	ret = sim_ioctl(file, HWTIMER_IOC_STATS, stats);
	if (!ret)
		oracle_stats(site->oracle, stats);
	else if (!result_excused(ret))
		sim_fail("STATS has failed with %ld", ret);
	return ret;
}

#define PAGE 50

static void list_all(struct actor *actor)
{
	struct site *site = actor->site;
	struct oracle_span span = oracle_begin(site->oracle);
	uint64_t nr = oracle_list_begin(site->oracle);
	struct hwtimer_listed timers[PAGE];
	struct hwtimer_list list = {
		.size = sizeof(list),
		.timers = (uintptr_t)timers,
		.count = sim_between(1, PAGE),
	};
	long ret, i;

	do {
		ret = sim_ioctl(actor->file, HWTIMER_IOC_LIST, &list);
		/* What was written when the cursor faulted is not known. */
		if (ret < 0 && result_excused(ret))
			return;
		if (ret < 0)
			sim_fail("LIST has failed with %ld", ret);
		for (i = 0; i < ret; i++)
			oracle_listed(site->oracle, nr, &timers[i], &span);
		world_count(1);
	} while (ret && !sim_ending());
	if (!ret)
		oracle_list_end(site->oracle, nr, &span);
}

/* Without HWTIMER_AT_LEAST_ONCE, nothing can be acknowledged. */
static void acknowledge_none(struct actor *actor)
{
	struct hwtimer_ack ack = { .size = sizeof(ack), .count = sim_below(2) };
	long ret;

	if (actor->site->oracle->keeps)
		return;
	ret = sim_below(2) ? sim_ioctl(actor->file, HWTIMER_IOC_REWIND, NULL) :
			     sim_ioctl(actor->file, HWTIMER_IOC_ACK, &ack);
	if (ret != -EINVAL && ret != -EFAULT)
		sim_fail("ACK or REWIND returns %ld", ret);
}

void act_prober(struct actor *actor)
{
	struct hwtimer_stats stats;
	struct hwtimer_info info;

	while (!sim_ending()) {
		switch (sim_below(9)) {
		case 8:
			acknowledge_none(actor);
			break;
		case 0:
			list_all(actor);
			break;
		case 1:
			sim_show_fdinfo(actor->file);
			break;
		case 2:
			info = (struct hwtimer_info){ .size = sizeof(info) };
			sim_ioctl(actor->file, HWTIMER_IOC_INFO, &info);
			break;
		default:
			site_stats(actor->site, actor->file, &stats);
			break;
		}
		world_count(1);
		sim_sleep(sim_below(20 * actor->site->oracle->tick));
	}
}

/* A threshold; now and then one that only a full ring of events reaches. */
static unsigned int threshold(void)
{
	switch (sim_below(8)) {
	case 0:
		return sim_below(HWTIMER_EVENTS_MAX + 1);
	case 1:
		return HWTIMER_EVENTS_MAX + sim_below(2);
	default:
		return sim_below(20);
	}
}

void act_notifier(struct actor *actor)
{
	while (!sim_ending()) {
		struct hwtimer_notify notify = {
			.size = sizeof(notify),
			.events = threshold(),
		};
		long ret;

		if (notify.events > 1)
			notify.delay = sim_below(4) ? sim_between(1, 50000000) :
						      HWTIMER_NEVER;
		ret = sim_ioctl(actor->file, HWTIMER_IOC_NOTIFY, &notify);
		if (notify.events > HWTIMER_EVENTS_MAX ?
			    ret != -EINVAL && ret != -EFAULT :
			    ret && !result_excused(ret))
			sim_fail("NOTIFY of %u returns %ld", notify.events,
				 ret);
		world_count(1);
		sim_sleep(sim_below(100000000));
	}
}

/* ---- stopping ---- */

#define UNPROCESSED 200

long site_stop(struct site *site, struct file *file, unsigned int count,
	       uint64_t *left)
{
	struct hwtimer_unprocessed timers[UNPROCESSED];
	struct hwtimer_stop stop = {
		.size = sizeof(stop),
		.timers = (uintptr_t)timers,
		.count = count,
	};
	struct oracle_span span = oracle_begin(site->oracle);
	long ret, i;

	__atomic_store_n(&site->stopped, true, __ATOMIC_RELAXED);
	__atomic_store_n(&site->oracle->stopping, true, __ATOMIC_RELAXED);
	ret = sim_ioctl(file, HWTIMER_IOC_STOP, &stop);
	if (ret < 0 && ret != -EFAULT && ret != -EINTR)
		sim_fail("STOP has failed with %ld", ret);
	for (i = 0; i < ret; i++)
		oracle_returned(site->oracle, &timers[i], &span);
	if (ret >= 0)
		oracle_stop_end(site->oracle);
	*left = stop.left;
	return ret;
}

void act_stopper(struct actor *actor)
{
	uint64_t left;

	sim_sleep(sim_below(3000) * actor->site->oracle->tick);
	while (!sim_ending()) {
		site_stop(actor->site, actor->file, sim_below(UNPROCESSED),
			  &left);
		world_count(1);
		sim_sleep(sim_below(200) * actor->site->oracle->tick);
	}
}

/* ---- opening, closing, and looking at all instances ---- */

/* Looks at the instances, as root does in debugfs, and others open and close some. */
void act_visitor(struct actor *actor)
{
	while (!sim_ending()) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = sim_below(20000000),
		};
		struct file *file;
		int err;

		file = sim_open(&err);
		if (!file && !result_excused(err))
			sim_fail("open() has failed with %d", err);
		if (file && sim_below(2))
			sim_ioctl(file, HWTIMER_IOC_SCHEDULE, &request);
		if (sim_below(2))
			sim_sleep(sim_below(20000000));
		sim_inspect_instances();
		if (file)
			sim_close(file);
		world_count(1);
	}
}

/* ---- disturbing ---- */

static void disturb_clocks(void)
{
	int64_t change = sim_below(2) ? sim_below(5000000) :
					sim_below(5000000000ll);

	if (!sim_below(4))
		sim_clock_suspend(change);
	else
		sim_clock_set(sim_below(2) ? change : -change);
}

static void disturb_somebody(void)
{
	struct actor *actor;

	sim_lock();
	actor = &world.actors[sim_below(world.nr_actors)];
	if (!actor->done && actor->task)
		sim_signal(actor->task, sim_chance(sim_run.kills));
	sim_unlock();
}

void act_disturber(struct actor *actor)
{
	while (!sim_ending()) {
		if (sim_run.calm || sim_below(4))
			disturb_somebody();
		else
			disturb_clocks();
		world_count(1);
		sim_sleep(sim_below(80000000));
	}
}
