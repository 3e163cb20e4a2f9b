// SPDX-License-Identifier: GPL-2.0
/*
 * A run: loads the module, lets programs use it, looks whether all is as it should be when
 * they have ended, and unloads the module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "inspect.h"
#include "process.h"
#include "world.h"

struct world world;

/* How often the director looks after the others, ns */
#define LOOK 5000000

/* Number of looks after which an actor should have ended */
#define LOOKS_MAX 20000

/* Number of looks after which those that are left only wait, because the others have died */
#define LOOKS_QUIET 4000

void world_count(uint64_t operations)
{
	uint64_t count = __atomic_add_fetch(&sim_counts.operations, operations,
					    __ATOMIC_RELAXED);

	if (count >= sim_run.operations)
		__atomic_store_n(&world.ending, true, __ATOMIC_RELAXED);
}

static bool ending(void)
{
	return __atomic_load_n(&world.ending, __ATOMIC_RELAXED);
}

bool sim_ending(void)
{
	return ending() ||
	       __atomic_load_n(&current->process->dying, __ATOMIC_RELAXED);
}

/* ---- instances ---- */

static void setup_choose(struct hwtimer_setup *setup)
{
	static const u32 clocks[] = { HWTIMER_CLOCK_DEFAULT,
				      HWTIMER_CLOCK_MONOTONIC,
				      HWTIMER_CLOCK_BOOTTIME,
				      HWTIMER_CLOCK_REALTIME };
#ifdef HWTIMER_SMALL
	/* Holds of 8 timers cannot keep up with shorter ticks. */
	static const unsigned int ticks[] = { 1000000, 1000000, 1000000,
					      2000000, 7777777 };
#else
	static const unsigned int ticks[] = { 10000, 100000, 1000000, 1000000,
					      7777777 };
#endif

	*setup = (struct hwtimer_setup){
		.tick = ticks[sim_below(5)],
		.buckets = 8u << sim_below(5),
		.clock = clocks[sim_below(4)],
		.timers = sim_below(3) ? 100000 : sim_between(1, 300),
	};
	if (setup->clock == HWTIMER_CLOCK_REALTIME) {
		if (!sim_below(4))
			setup->clock = HWTIMER_CLOCK_TAI;
		if (sim_below(2))
			setup->flags = HWTIMER_SETUP_REPORT_CLOCK_SET;
	}
	if (!sim_below(4))
		setup->flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
}

/* Tries until it works: what fails now and then does so here, too. */
static void site_open(struct site *site)
{
	int err;

	while (!(site->file = sim_open(&err))) {
		if (!result_excused(err))
			sim_fail("open() has failed with %d", err);
		sim_sleep(LOOK);
	}
	sim_inspect_open(site->file);
	for (;;) {
		long ret =
			sim_ioctl(site->file, HWTIMER_IOC_SETUP, &site->setup);

		if (!ret)
			break;
		if (!result_excused(ret))
			sim_fail("SETUP has failed with %ld", ret);
		sim_sleep(LOOK);
	}
}

/* ---- actors ---- */

static void actor_main(void *argument)
{
	struct actor *actor = argument;

	actor->act(actor);
	if (actor->file)
		sim_close(actor->file);
	sim_lock();
	actor->done = true;
	sim_unlock();
}

static void actor_add(struct site *site, struct sim_process *process,
		      const char *name, actor_fn *act)
{
	struct actor *actor;
	char full[32];

	sim_lock();
	if (world.nr_actors == ACTORS)
		sim_fail("too many actors");
	actor = &world.actors[world.nr_actors];
	*actor = (struct actor){
		.site = site, .act = act, .name = name, .process = process
	};
	if (site)
		actor->file = sim_dup(site->file);
	snprintf(full, sizeof(full), "%s/%u", name, site ? site->nr : 0);
	actor->task = sim_spawn_in(process, full, actor_main, actor);
	world.nr_actors++;
	sim_unlock();
}

struct role {
	const char *name;
	actor_fn *act;
};

static const struct role askers[] = {
	{ "requester", act_requester },
	{ "batcher", act_batcher },
	{ "bulker", act_bulker },
};

static const struct role takers[] = {
	{ "reader", act_reader },
	{ "poller", act_poller },
	{ "edge", act_edge },
};

static const struct role others[] = {
	{ "prober", act_prober },
	{ "notifier", act_notifier },
	{ "stopper", act_stopper },
};

static struct sim_process *either(struct site *site)
{
	return sim_below(2) ? site->owner : site->friend;
}

static void roles_add(struct site *site, const struct role *roles,
		      unsigned int kinds, unsigned int count)
{
	while (count--) {
		const struct role *role = &roles[sim_below(kinds)];

		actor_add(site, either(site), role->name, role->act);
	}
}

/* Starts those who take the events. */
static void takers_add(struct site *site)
{
	unsigned int count;

	if (!sim_below(3))
		actor_add(site, either(site), "watcher", act_watcher);
	if (site->oracle->keeps) {
		actor_add(site, either(site), "acker", act_acker);
	} else if (!sim_below(12)) {
		/* Nobody takes them; they are discarded at the end. */
		actor_add(site, either(site), "stopper", act_stopper);
		actor_add(site, either(site), "discarder", act_discarder);
		actor_add(site, either(site), "keeper", act_keeper);
	} else if (!sim_below(6)) {
		/* Only one of them is told, unless it leaves something to the others. */
		site->exclusive = true;
		roles_add(site, &takers[2], 1, sim_between(2, 3));
	} else if (sim_below(6)) {
		count = sim_between(1, 3);
		site->alone = count == 1;
		roles_add(site, takers, 3, count);
	} else {
		/* They are told at the same time, and only one of them takes all. */
		actor_add(site, either(site), "edge", act_edge);
		actor_add(site, either(site), "sipper", act_sipper);
	}
}

static struct oracle *site_oracle(const struct site *site)
{
	const struct hwtimer_setup *setup = &site->setup;
	clockid_t clock = setup->clock - HWTIMER_CLOCK(0);
	bool settable = clock == CLOCK_REALTIME || clock == CLOCK_TAI;

	return oracle_create(site->nr, setup->clock ? clock : CLOCK_MONOTONIC,
			     settable ? 0 : site->owner->offset, setup->tick,
			     setup->flags & HWTIMER_SETUP_AT_LEAST_ONCE);
}

/* Opens an instance, and starts all that use it. Runs in the process that owns it. */
static void site_main(void *argument)
{
	struct site *site = argument;
	unsigned int count;

	setup_choose(&site->setup);
	site_open(site);
	site->oracle = site_oracle(site);
	site->ready = true;
	/* Only in some runs, so that the others stay as they were without it. */
	if (sim_run.seed % 5 == 0 && !site->nr && !site->oracle->keeps) {
		actor_add(site, site->owner, "idler", act_idler);
		if (sim_run.seed % 10 == 5)
			actor_add(site, site->owner, "leaver", act_leaver);
		roles_add(site, takers, 3, sim_between(1, 2));
		__atomic_sub_fetch(&world.opening, 1, __ATOMIC_RELEASE);
		return;
	}
	roles_add(site, askers, 3, sim_between(1, 3));
	takers_add(site);
	if (!sim_below(2))
		actor_add(site, either(site), "prober", act_prober);
	if (sim_below(2))
		roles_add(site, others + 1, 2, 1);
	if (!sim_below(3))
		actor_add(site, either(site), "keeper", act_keeper);
	/* Only in some runs, so that the others stay as they were without it. */
	if (sim_run.seed % 3 == 0)
		actor_add(site, either(site), "rearmer", act_rearmer);
	if (sim_run.seed % 4 == 2)
		actor_add(site, either(site), "burster", act_burster);
	if (sim_run.seed % 7 == 3)
		for (count = sim_between(1, 2); count; count--)
			actor_add(site, either(site), "wiper", act_wiper);
	__atomic_sub_fetch(&world.opening, 1, __ATOMIC_RELEASE);
}

static void site_begin(unsigned int nr)
{
	struct site *site = &world.sites[nr];
	bool privileged = sim_below(2);
	kuid_t uid = KUIDT_INIT(1000 + nr % 2);
	s64 offset = sim_below(3) ? 0 : sim_below(1000000000000ull);

	site->nr = nr;
	site->owner =
		sim_process_create(uid, privileged, 1 + 2 * nr % 7, offset);
	site->friend = sim_process_create(uid, privileged, 2 + 2 * nr % 6, 0);
	__atomic_add_fetch(&world.opening, 1, __ATOMIC_RELAXED);
	sim_spawn_in(site->owner, "opener", site_main, site);
}

/* ---- the end ---- */

/* Interrupts those who sleep although they are to end; returns how many have not ended. */
static unsigned int actors_urge(void)
{
	unsigned int nr, left = 0;

	for (nr = 0; nr < world.nr_actors; nr++) {
		struct actor *actor = &world.actors[nr];

		sim_lock();
		if (!actor->done) {
			left++;
			if (ending() || __atomic_load_n(&actor->process->dying,
							__ATOMIC_RELAXED))
				sim_signal(actor->task, false);
		}
		sim_unlock();
	}
	return left;
}

/* In some runs, the process that owns an instance dies before the others. */
static void processes_die(void)
{
	unsigned int nr;

	for (nr = 0; nr < world.nr_sites; nr++)
		if (!sim_below(100))
			__atomic_store_n(&world.sites[nr].owner->dying, true,
					 __ATOMIC_RELAXED);
}

/* Ends the run if nobody has done anything for long. */
static void look_for_operations(void)
{
	static unsigned int looks;
	static uint64_t last;
	uint64_t count =
		__atomic_load_n(&sim_counts.operations, __ATOMIC_RELAXED);

	looks = count == last ? looks + 1 : 0;
	last = count;
	if (looks > LOOKS_QUIET)
		__atomic_store_n(&world.ending, true, __ATOMIC_RELAXED);
}

static void actors_await(void)
{
	bool deaths = !sim_below(3);
	unsigned int looks = 0;

	while (__atomic_load_n(&world.opening, __ATOMIC_ACQUIRE) ||
	       actors_urge()) {
		sim_sleep(LOOK);
		look_for_operations();
		if (deaths)
			processes_die();
		if (ending() && ++looks > LOOKS_MAX)
			sim_fail("an actor does not come to its end");
	}
}

/* Number of times that the settling looks for events */
#define SETTLE_TIMES 5000

/* The latest deadline for which the settling waits, ns from now */
#define HORIZON 30000000000ull

static uint64_t site_horizon(const struct site *site)
{
	const struct oracle *oracle = site->oracle;
	uint64_t now = oracle_now(oracle), latest = now;
	uint64_t nr;

	for (nr = 0; nr < oracle->nr_timers; nr++) {
		const struct oracle_timer *timer = oracle->timers[nr];

		if (timer->state == ORACLE_LIVE && !timer->interval &&
		    timer->slack < HORIZON && timer->high < now + HORIZON &&
		    timer->high + timer->slack > latest)
			latest = timer->high + timer->slack;
	}
	return latest - now + 4 * oracle->tick;
}

/* Number of reads after which periodic timers that are always due have had their turn */
#define DRAIN_MAX 200

/*
 * Takes all events that wait, and lets those come that are due; returns false if the instance
 * is drained.
 */
static bool site_drain(struct site *site)
{
	unsigned int times = 0;
	ssize_t ret;

	do {
		ret = site_read(site, site->file, 300, true);
		if (ret < 0 && ret != -EAGAIN && ret != -ECANCELED)
			sim_fail("read() has failed with %zd at the end", ret);
		if (site->oracle->keeps)
			site_ack(site, site->file, oracle_reread(site->oracle),
				 false);
	} while ((ret > 0 && (site->stopped || ++times < DRAIN_MAX)) ||
		 ret == -ECANCELED);
	return ret;
}

/* Waits until all that is due has come, and takes it. */
static void site_settle(struct site *site)
{
	struct hwtimer_notify notify = {};
	unsigned int times;
	long ret;

	ret = sim_ioctl(site->file, HWTIMER_IOC_NOTIFY, &notify);
	if (ret)
		sim_fail("NOTIFY has failed with %ld at the end", ret);
	if (site->oracle->keeps)
		site_ack(site, site->file, 0, true);
	oracle_settle(site->oracle);
	if (!site->stopped)
		sim_sleep(site_horizon(site));
	/*
	 * It may take long if the machine is slow. But it comes.
	 */
	for (times = 0; times < SETTLE_TIMES; times++) {
		site_drain(site);
		sim_sleep(2000000 + 2 * site->oracle->tick);
		site_drain(site);
		if (site->stopped || oracle_settled(site->oracle))
			return;
	}
	oracle_unsettled(site->oracle);
}

static void site_take_back(struct site *site)
{
	struct hwtimer_stats stats;

	site_wipe(site, site->file, HWTIMER_LIST_STOP | wipe_flags(), true);
	while (site_drain(site))
		sim_sleep(2000000);
	oracle_stopped(site->oracle);
	site_stats(site, site->file, &stats);
	oracle_stats_at_rest(site->oracle, &stats);
	if (stats.pending || stats.ready)
		sim_fail("instance %u: %llu timers and %llu events are left",
			 site->nr, (unsigned long long)stats.pending,
			 (unsigned long long)stats.ready);
}

/* Runs in a process of the user's. */
static void site_finish(void *argument)
{
	struct site *site = argument;

	sim_trace("settles");
	site_settle(site);
	sim_trace("stops");
	site_take_back(site);
	__atomic_store_n(&site->ready, false, __ATOMIC_RELEASE);
}

static void site_end(struct site *site, bool orderly)
{
	if (orderly) {
		sim_spawn_in(sim_process_create(site->owner->uid,
						site->owner->privileged, 7, 0),
			     "finisher", site_finish, site);
		while (__atomic_load_n(&site->ready, __ATOMIC_ACQUIRE))
			sim_sleep(LOOK);
	}
	site->ready = false;
	sim_close(site->file);
}

static void world_end(void)
{
	bool orderly = sim_below(4);
	unsigned int nr;

	if (orderly)
		sim_calm();
	for (nr = 0; nr < world.nr_sites; nr++)
		site_end(&world.sites[nr], orderly);
}

/* ---- the module ---- */

static void parameters_choose(void)
{
	sim_parameter_set("workers", sim_below(4) ? 0 : sim_between(1, 3));
	sim_parameter_set("rt_prio", sim_below(2));
	/* One that timers use up, now and then */
	sim_parameter_set("max_memory_user", sim_below(4) ? 0 : 1);
}

void world_main(void *unused)
{
	unsigned int nr;

	parameters_choose();
	if (sim_module_load()) {
		world.nr_sites = sim_between(1, 3);
		for (nr = 0; nr < world.nr_sites; nr++)
			site_begin(nr);
		if (sim_below(2))
			actor_add(NULL, sim_process_first(), "disturber",
				  act_disturber);
		/* Only in some runs, so that the others stay as they were without them. */
		if (sim_run.seed % 8 == 1)
			for (nr = 0; nr < 2; nr++)
				actor_add(NULL, sim_process_first(), "visitor",
					  act_visitor);
		actors_await();
		world_end();
		sim_calm();
		sim_module_unload();
	}
	sim_rcu_finish();
	sim_memory_check_empty();
}

/* ---- when no thread can run ---- */

void sim_inspect_still(void)
{
	unsigned int nr;

	sim_device_waiters(sim_inspect_waiter);
	for (nr = 0; nr < world.nr_actors; nr++)
		if (world.actors[nr].own)
			sim_inspect_idle(world.actors[nr].own);
	for (nr = 0; nr < world.nr_sites; nr++) {
		struct site *site = &world.sites[nr];

		if (site->ready) {
			sim_inspect_alarm(site->file);
			sim_inspect_idle(site->file);
			sim_inspect_deadlines(site->file);
			sim_inspect_events(site->file);
		}
	}
}
