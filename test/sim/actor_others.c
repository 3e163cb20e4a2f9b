// SPDX-License-Identifier: GPL-2.0
/*
 * Actors that look at timers, choose when readers are told, end all timers and stop instances,
 * open and close some, and disturb the others.
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

	*stats = (struct hwtimer_stats){};
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
	struct hwtimer_timer timers[PAGE];
	struct hwtimer_list list = {
		.timers = (uintptr_t)timers,
		.count = sim_between(1, PAGE),
		/* Those of CANCEL_ALL, which it does not use */
		.flags = sim_below(4) ?
				 0 :
				 HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD,
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

/* Without HWTIMER_SETUP_AT_LEAST_ONCE, nothing can be acknowledged. */
static void acknowledge_none(struct actor *actor)
{
	struct hwtimer_ack ack = {
		.count = sim_below(2),
		.flags = sim_below(2) ? HWTIMER_ACK_REWIND : 0,
	};
	long ret;

	if (actor->site->oracle->keeps)
		return;
	ret = sim_ioctl(actor->file, HWTIMER_IOC_ACK, &ack);
	if (ret != -EINVAL && ret != -EFAULT)
		sim_fail("ACK returns %ld", ret);
}

/* How long may a program sleep? */
static void look_ahead(struct actor *actor)
{
	struct oracle *oracle = actor->site->oracle;
	struct oracle_span span = oracle_begin(oracle);
	struct hwtimer_info info;
	long ret;

	ret = sim_ioctl(actor->file, HWTIMER_IOC_INFO, &info);
	if (!ret)
		oracle_next(oracle, info.until_next, &span);
	else if (ret != -EFAULT)
		sim_fail("INFO has failed with %ld", ret);
}

void act_prober(struct actor *actor)
{
	struct hwtimer_stats stats;

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
			look_ahead(actor);
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

/* A delay; now and then none, or one that never passes, or too long a one */
static uint64_t delay(void)
{
	switch (sim_below(16)) {
	case 0:
		return 0;
	case 1:
	case 2:
	case 3:
		return HWTIMER_NEVER;
	case 4:
		return HWTIMER_NEVER + sim_between(1, 1000);
	default:
		return sim_between(1, 50000000);
	}
}

void act_notifier(struct actor *actor)
{
	while (!sim_ending()) {
		struct hwtimer_notify notify = {
			.events = threshold(),
			.delay = delay(),
		};
		bool valid = notify.events <= HWTIMER_EVENTS_MAX &&
			     notify.delay <= HWTIMER_NEVER;
		long ret;

		ret = sim_ioctl(actor->file, HWTIMER_IOC_NOTIFY, &notify);
		if (valid ? ret && !result_excused(ret) :
			    ret != -EINVAL && ret != -EFAULT)
			sim_fail("NOTIFY of %u returns %ld", notify.events,
				 ret);
		world_count(1);
		sim_sleep(sim_below(100000000));
	}
}

/* ---- ending all timers ---- */

#define RETURNED 200

/*
 * One call of a CANCEL_ALL; returns what it returns. @timers: where the argument says that the
 * timers are to be written; NULL: it says that they are not wanted
 */
static long wipe_some(struct site *site, struct file *file,
		      struct hwtimer_list *list,
		      const struct hwtimer_timer *timers)
{
	struct oracle_span span = oracle_begin(site->oracle);
	bool valid = list->count || list->flags & HWTIMER_LIST_STOP;
	long ret, i;

	ret = sim_ioctl(file, HWTIMER_IOC_CANCEL_ALL, list);
	if (ret != -EFAULT &&
	    (valid ? ret < 0 && ret != -EINTR : ret != -EINVAL))
		sim_fail("CANCEL_ALL of %u has failed with %ld", list->count,
			 ret);
	if (ret > list->count)
		sim_fail("CANCEL_ALL of %u returns %ld", list->count, ret);
	for (i = 0; timers && i < ret; i++)
		oracle_returned(site->oracle, list->flags, &timers[i], &span);
	if (ret >= 0 && list->flags & HWTIMER_LIST_STOP)
		oracle_stop_end(site->oracle);
	world_count(1);
	return ret;
}

/* How many timers the next call is to end */
static uint32_t wipe_count(const struct hwtimer_list *list)
{
	if (!sim_below(16))
		return 0;
	if (list->timers || sim_below(2))
		return sim_between(1, RETURNED);
	return INT32_MAX;
}

void site_wipe(struct site *site, struct file *file, uint32_t flags,
	       bool thorough)
{
	struct hwtimer_timer timers[RETURNED];
	struct hwtimer_list list = { .flags = flags };
	struct oracle_span span;
	uint64_t ended = 0;
	bool whole = true;
	long ret;

	if (flags & HWTIMER_LIST_STOP)
		__atomic_store_n(&site->stopped, true, __ATOMIC_RELAXED);
	span = oracle_wipe(site->oracle, flags);
	if (thorough || sim_below(8))
		list.timers = (uintptr_t)timers;
	/* Now and then it begins anywhere. */
	if (!thorough && !sim_below(16)) {
		list.cursor = sim_below(2) ? sim_below(64) :
					     sim_below(UINT64_MAX);
		whole = false;
	}
	do {
		list.count = wipe_count(&list);
		ret = wipe_some(site, file, &list, list.timers ? timers : NULL);
		if (ret > 0)
			ended += ret;
		if (!thorough && (sim_ending() || !sim_below(40)))
			break;
	} while (ret || !list.count);
	oracle_wiped(site->oracle, &list, ended, &span,
		     whole && !ret && list.count);
}

/* The flags of a CANCEL_ALL that keeps or drops the events */
uint32_t wipe_flags(void)
{
	return sim_below(3) ? 0 : HWTIMER_LIST_DISCARD;
}

/* Ends all timers of the instance again and again, also those of others. */
void act_wiper(struct actor *actor)
{
	while (!sim_ending()) {
		sim_sleep(sim_below(2000 * actor->site->oracle->tick));
		site_wipe(actor->site, actor->file, wipe_flags(), false);
	}
}

void act_stopper(struct actor *actor)
{
	sim_sleep(sim_below(3000) * actor->site->oracle->tick);
	while (!sim_ending()) {
		site_wipe(actor->site, actor->file,
			  HWTIMER_LIST_STOP | wipe_flags(), false);
		sim_sleep(sim_below(200) * actor->site->oracle->tick);
	}
}

/* ---- opening, closing, and looking at all instances ---- */

/* Schedules timers. */
static void schedule_some(struct file *file, unsigned int count)
{
	struct hwtimer_bulk_timer timers[20] = {};
	uint64_t results[20];
	struct hwtimer_bulk bulk = {
		.op = HWTIMER_OP_SCHEDULE,
		.timers = (uintptr_t)timers,
		.results = (uintptr_t)results,
		.count = count,
	};

	while (count--)
		timers[count].time = HWTIMER_NEVER;
	sim_ioctl(file, HWTIMER_IOC_BULK, &bulk);
}

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
		actor->own = file;
		/* If a bulk is refused, nothing happens to the instance afterwards. */
		if (file && sim_below(2))
			schedule_some(file, 1);
		else if (file && sim_below(2))
			sim_ioctl(file, HWTIMER_IOC_SCHEDULE, &request);
		if (sim_below(2))
			sim_sleep(sim_below(20000000));
		sim_inspect_instances();
		actor->own = NULL;
		if (file)
			sim_close(file);
		world_count(1);
	}
}

/* More timers than fit into two blocks of a table */
#define LARGE 2100

/* Makes an instance large, and has it get small again. */
static void grow_and_shrink(struct file *file)
{
	struct hwtimer_list list = { .count = INT_MAX };
	unsigned int i, looks = 100000;

	for (i = 0; i < LARGE && !sim_ending(); i += 20)
		schedule_some(file, 20);
	while (sim_ioctl(file, HWTIMER_IOC_CANCEL_ALL, &list) > 0)
		;
	sim_sleep(sim_below(IDLE));
	while (!sim_ending() && looks-- && !sim_inspect_frees(file))
		sim_sleep(sim_below(20000));
}

/* Makes instances large, and closes them while they get small again, mostly in the middle. */
void act_leaver(struct actor *actor)
{
	while (!sim_ending()) {
		struct file *file;
		int err;

		file = sim_open(&err);
		if (!file && !result_excused(err))
			sim_fail("open() has failed with %d", err);
		if (file) {
			grow_and_shrink(file);
			sim_close(file);
		}
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
