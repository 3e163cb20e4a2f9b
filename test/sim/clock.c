// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of the simulation, and the hrtimers on them.
 *
 * CLOCK_MONOTONIC passes a little at each switch of threads and each reading; when no
 * thread can run, it jumps to the next hrtimer. CLOCK_BOOTTIME is ahead of it by the
 * suspends, CLOCK_REALTIME by what it was set to, and CLOCK_TAI by 37 seconds more. There are
 * no leap seconds. An hrtimer that is due may come late.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "sim.h"

/* The clocks by the number of a clock's offset; those from CLOCK_REALTIME on may be set */
enum { MONO, BOOT, REAL, TAI, CLOCKS };

/* Programs of some runs begin soon after boot, others after years. */
static u64 now = 1000 * NSEC_PER_SEC;
static s64 offsets[CLOCKS] = { 0, 0, 1700000000ll * NSEC_PER_SEC,
			       1700000037ll * NSEC_PER_SEC };
static u64 latest[CLOCKS];
static bool was_set;
/* By how much sim_clock_jolt() has set the clock, and may set it back */
static s64 jolted;
static LIST_HEAD(armed);

static unsigned int clock_nr(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? REAL :
	       clock == CLOCK_TAI      ? TAI :
	       clock == CLOCK_BOOTTIME ? BOOT :
					 MONO;
}

static u64 clock_read(unsigned int nr)
{
	return __atomic_load_n(&now, __ATOMIC_RELAXED) +
	       __atomic_load_n(&offsets[nr], __ATOMIC_RELAXED);
}

uint64_t sim_now(clockid_t clock)
{
	return clock_read(clock_nr(clock));
}

static void note_latest(void)
{
	unsigned int nr;

	for (nr = 0; nr < CLOCKS; nr++)
		if (clock_read(nr) > latest[nr])
			__atomic_store_n(&latest[nr], clock_read(nr),
					 __ATOMIC_RELAXED);
}

uint64_t sim_latest(clockid_t clock)
{
	note_latest();
	return __atomic_load_n(&latest[clock_nr(clock)], __ATOMIC_RELAXED);
}

void sim_clock_advance(uint64_t time)
{
	__atomic_add_fetch(&now, time, __ATOMIC_RELAXED);
}

/* Changes those clocks that may be set. */
static void settable_add(s64 change)
{
	unsigned int nr;

	for (nr = REAL; nr < CLOCKS; nr++)
		__atomic_add_fetch(&offsets[nr], change, __ATOMIC_RELAXED);
}

/* What a program sees that sets the clock: it does not go below 0. */
void sim_clock_set(int64_t change)
{
	sim_lock();
	note_latest();
	if ((s64)clock_read(REAL) + change > NSEC_PER_SEC)
		settable_add(change);
	was_set = true;
	sim_unlock();
	sim_trace("CLOCK_REALTIME set by %lld ns", (long long)change);
}

/* The time until a timer is due, on CLOCK_MONOTONIC */
static u64 timer_left(const struct hrtimer *timer)
{
	s64 here = clock_read(clock_nr(timer->clock));

	return timer->expires > here ? timer->expires - here : 0;
}

/*
 * What makes the first hrtimer on a clock due that may be set; 0: it is far ahead, or none is
 * armed
 */
static u64 change_to_first(void)
{
	struct hrtimer *timer;
	u64 least = U64_MAX;

	sim_lock();
	list_for_each_entry(timer, &armed, entry)
		if (clock_nr(timer->clock) >= REAL && timer_left(timer))
			least = min(least, timer_left(timer));
	sim_unlock();
	return least < 10 * NSEC_PER_SEC ? least : 0;
}

/* By how much somebody sets CLOCK_REALTIME */
static s64 change_draw(void)
{
	s64 change = 1 + sim_below(sim_below(2) ? 5000000 : 5000000000ll);

	if (!sim_below(4))
		return -change;
	return sim_below(2) ? change + change_to_first() : change;
}

/*
 * In some runs, somebody sets CLOCK_REALTIME again and again, and mostly sets it back after
 * a few switches, exactly or not. So it is set within any few steps of a thread.
 */
static void jolt_begin(uint64_t chance)
{
	if (jolted || !sim_chance(chance))
		return;
	jolted = change_draw();
	sim_clock_set(jolted);
}

void sim_clock_jolt(void)
{
	if (!jolted) {
		jolt_begin(sim_run.jolts);
	} else if (!sim_below(6)) {
		if (sim_below(4))
			sim_clock_set(sim_below(3) ? -jolted : -jolted / 2);
		jolted = 0;
	}
}

void sim_clock_suspend(uint64_t time)
{
	sim_lock();
	__atomic_add_fetch(&offsets[BOOT], time, __ATOMIC_RELAXED);
	settable_add(time);
	was_set = true;
	sim_unlock();
	sim_trace("suspended for %llu ns", (unsigned long long)time);
}

bool sim_clock_was_set(void)
{
	return was_set;
}

/* ---- what the module reads ---- */

/* Reading a clock takes time, but for test/sim/manual.c. */
static u64 read_clock(unsigned int nr)
{
	sim_point("clock");
#ifndef SIM_STILL
	sim_clock_advance(20);
#endif
	return clock_read(nr);
}

u64 ktime_get_ns(void)
{
	return read_clock(MONO);
}

u64 ktime_get_boottime_ns(void)
{
	return read_clock(BOOT);
}

static u64 read_settable(unsigned int nr)
{
	/* Most of all, just before the module reads it */
	if (sim_run.jolts)
		jolt_begin(20 * sim_run.jolts);
	return read_clock(nr);
}

u64 ktime_get_real_ns(void)
{
	return read_settable(REAL);
}

ktime_t ktime_get_real(void)
{
	return ktime_get_real_ns();
}

u64 ktime_get_clocktai_ns(void)
{
	return read_settable(TAI);
}

/* The kernel updates its clocks with each jiffy. */
ktime_t ktime_get_coarse_real(void)
{
	return clock_read(REAL) - clock_read(MONO) % TICK_NSEC;
}

ktime_t ktime_mono_to_any(ktime_t mono, enum tk_offsets offset)
{
	unsigned int nr = offset == TK_OFFS_TAI ? TAI : REAL;

	sim_point("clock's offset");
	return mono + __atomic_load_n(&offsets[nr], __ATOMIC_RELAXED);
}

u64 get_jiffies_64(void)
{
	return clock_read(MONO) / TICK_NSEC;
}

/* ---- hrtimers ---- */

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *),
		   clockid_t clock, enum hrtimer_mode mode)
{
	*timer = (struct hrtimer){ .clock = clock, .function = function };
	INIT_LIST_HEAD(&timer->entry);
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires,
		   enum hrtimer_mode mode)
{
	sim_lock();
	if (!list_empty(&timer->entry))
		list_del_init(&timer->entry);
	timer->expires = expires;
	list_add_tail(&timer->entry, &armed);
	sim_unlock();
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	int queued;

	sim_lock();
	queued = !list_empty(&timer->entry);
	if (queued)
		list_del_init(&timer->entry);
	sim_unlock();
	return queued;
}

bool hrtimer_is_queued(struct hrtimer *timer)
{
	bool queued;

	sim_lock();
	queued = !list_empty(&timer->entry);
	sim_unlock();
	return queued;
}

ktime_t hrtimer_get_expires(const struct hrtimer *timer)
{
	return timer->expires;
}

static bool timer_due(const struct hrtimer *timer)
{
	return timer->expires <= (s64)clock_read(clock_nr(timer->clock));
}

/* Serves the hrtimers that are due: all of them, or about half. */
void sim_clock_interrupt(bool all)
{
	struct hrtimer *timer, *next;

	sim_lock();
	list_for_each_entry_safe(timer, next, &armed, entry) {
		if (!timer_due(timer) || !(all || sim_below(2)))
			continue;
		list_del_init(&timer->entry);
		timer->function(timer);
	}
	sim_unlock();
}

/* Whether an hrtimer on a clock is armed for @time or before. No thread runs. */
bool sim_clock_armed(clockid_t clock, int64_t time)
{
	const struct hrtimer *timer;

	list_for_each_entry(timer, &armed, entry)
		if (timer->clock == clock && timer->expires <= time)
			return true;
	return false;
}

/* Lets time pass until an hrtimer is due. Returns false if none is armed. */
bool sim_clock_jump(void)
{
	struct hrtimer *timer;
	u64 wait = U64_MAX;

	list_for_each_entry(timer, &armed, entry)
		wait = min(wait, timer_left(timer));
	if (wait == U64_MAX)
		return false;
	/* The machine may be late, so that several are due at a time. */
	sim_clock_advance(wait + sim_below(sim_run.late + 1));
	sim_clock_interrupt(false);
	return true;
}

/**
 * struct sleeper - a thread that sleeps for some time
 * @timer: wakes it
 * @task: the thread
 */
struct sleeper {
	struct hrtimer timer;
	struct task_struct *task;
};

static enum hrtimer_restart sleeper_wake(struct hrtimer *timer)
{
	wake_up_process(container_of(timer, struct sleeper, timer)->task);
	return HRTIMER_NORESTART;
}

void sim_sleep(uint64_t time)
{
	struct sleeper sleeper = { .task = current };

	hrtimer_setup(&sleeper.timer, sleeper_wake, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_HARD);
	set_current_state(TASK_INTERRUPTIBLE);
	hrtimer_start(&sleeper.timer, clock_read(MONO) + time,
		      HRTIMER_MODE_ABS_HARD);
	schedule();
	hrtimer_cancel(&sleeper.timer);
	set_current_state(TASK_RUNNING);
}
