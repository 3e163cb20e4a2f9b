/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers, which call functions at given times; the clocks on which these times are; and when an
 * instance needs its worker.
 *
 * A worker is a kthread with one hrtimer for each clock, which wakes it for the earliest alarm.
 * It knows nothing of instances: an alarm carries the function that serves it, as a work item
 * does. One kthread serves many instances, because a thread for each would cost memory, and a
 * switch of threads for each tick.
 *
 * The clocks are the host's. In a time namespace, a program's CLOCK_MONOTONIC and CLOCK_BOOTTIME
 * are ahead of them by an offset. The offset may be negative. It is constant for as long as a
 * process is in the namespace.
 */
#ifndef HWTIMER_WORKER_H
#define HWTIMER_WORKER_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/timerqueue.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <uapi/linux/hwtimer.h>

#include "wheel/wheel.h"

struct hwtimer_alarm;
struct hwtimer_instance;
struct hwtimer_job;
struct hwtimer_tenant;
struct hwtimer_tenant_id;
struct hwtimer_worker;
struct pid_namespace;

/* ---- clock.c ---- */

/* The module's numbers of the clocks. */
enum {
	HWTIMER_MONOTONIC,
	HWTIMER_BOOTTIME,
	HWTIMER_REALTIME,
	HWTIMER_TAI,
	HWTIMER_CLOCKS,
};

/**
 * struct hwtimer_clock_desc - a clock
 * @now: returns the time, ns
 * @id: number of the clock in the kernel, such as CLOCK_MONOTONIC
 * @nr: number of the clock in this module, such as HWTIMER_MONOTONIC
 * @settable: whether the clock may be set
 */
struct hwtimer_clock_desc {
	u64 (*now)(void);
	clockid_t id;
	unsigned int nr;
	bool settable;
};

extern const struct hwtimer_clock_desc hwtimer_clocks[HWTIMER_CLOCKS];

const struct hwtimer_clock_desc *hwtimer_clock_find(u32 number);
u64 hwtimer_clock_certain(u64 fine, u64 coarse);
bool hwtimer_clock_stands(void);
void hwtimer_clock_namespace(s64 offsets[HWTIMER_CLOCKS]);
u64 hwtimer_clock_host_time(u64 time, s64 offset);

/* The number of a clock in SETUP and INFO, such as HWTIMER_CLOCK_MONOTONIC. */
static inline u32 hwtimer_clock_number(const struct hwtimer_clock_desc *clock)
{
	return HWTIMER_CLOCK(clock->id);
}

/*
 * How far a clock that may be set is ahead of CLOCK_MONOTONIC, ns. If the number has changed,
 * the clock was set, or the machine was suspended.
 */
static inline s64 hwtimer_clock_offset(const struct hwtimer_clock_desc *clock)
{
	enum tk_offsets offset = clock->nr == HWTIMER_TAI ? TK_OFFS_TAI :
							    TK_OFFS_REAL;

	return ktime_to_ns(ktime_mono_to_any(0, offset));
}

/* ---- job.c ---- */

/**
 * typedef hwtimer_serve_fn - function that serves an alarm whose time has come
 * @alarm: the alarm, which is not in its queue any more
 *
 * The worker calls the function with no lock held. The function does one slice of its
 * work. It may sleep, but not for long, because other instances wait for the worker.
 */
typedef void hwtimer_serve_fn(struct hwtimer_alarm *alarm);

/**
 * typedef hwtimer_left_fn - function that is called when a worker has left a job
 * @job: the job, which the worker does not touch any more; the function may free it
 *
 * No lock is held. May sleep.
 */
typedef void hwtimer_left_fn(struct hwtimer_job *job);

/**
 * struct hwtimer_alarm - a time at which a job needs its worker
 * @node: entry in a queue of the tenant, with the time; protected by the worker's lock
 * @job: the job; constant
 * @serve: function that is called when the time has come; constant
 * @clock: number of the clock of the alarm; written before the first kick
 * @ready: the entry is in the queue of alarms that are due; protected by the worker's lock
 * @offset: ns by which the times that callers pass to hwtimer_worker_kick() are ahead of
 *	that clock; written before the first kick
 */
struct hwtimer_alarm {
	struct timerqueue_node node;
	struct hwtimer_job *job;
	hwtimer_serve_fn *serve;
	unsigned int clock;
	bool ready;
	s64 offset;
};

/**
 * struct hwtimer_job - the alarms by which a worker serves one instance
 * @tenant: the tenant, and so the worker, to which the job belongs; NULL: none yet. Set
 *	once, by hwtimer_worker_attach()
 * @turns: the alarm for turning the wheel, on the instance's clock
 * @chores: the alarm for everything else, on the host's CLOCK_MONOTONIC. If there are
 *	several reasons, its time is the earliest
 * @wakeups: number of wake-ups of the worker after which it served this job
 * @served_at: number of the wake-up after which the worker last served this job
 * @rank: the job's place among those of its tenant that are due: the lowest is served
 *	first; 0: it was not due yet. Grows by the time that the job's slices take
 * @spent: time that the worker has spent in this job's slices, ns
 * @left: called when the worker has ended the slice of this job that is running; NULL: the
 *	job was not detached, or no slice ran then
 * @detached: the alarms can no longer be queued
 *
 * The worker's lock protects all members from @wakeups on.
 */
struct hwtimer_job {
	struct hwtimer_tenant *tenant;
	struct hwtimer_alarm turns;
	struct hwtimer_alarm chores;
	u64 wakeups;
	u64 served_at;
	u64 rank;
	u64 spent;
	hwtimer_left_fn *left;
	bool detached;
};

void hwtimer_job_init(struct hwtimer_job *job, hwtimer_serve_fn *turn,
		      hwtimer_serve_fn *chores);
struct hwtimer_tenant *hwtimer_worker_tenant(const struct hwtimer_job *job);
void hwtimer_worker_attach(struct hwtimer_job *job,
			   struct hwtimer_tenant *tenant);
bool hwtimer_worker_leave(struct hwtimer_job *job, hwtimer_left_fn *left);
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time);
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job);
u64 hwtimer_worker_spent(const struct hwtimer_job *job);
pid_t hwtimer_worker_pid(const struct hwtimer_job *job,
			 struct pid_namespace *namespace);

/* ---- tenant.c ---- */

/**
 * struct hwtimer_tenant_id - the key of a tenant
 * @uid: the user
 * @cgroup: the id of the cgroup in the version 2 hierarchy
 */
struct hwtimer_tenant_id {
	kuid_t uid;
	u64 cgroup;
};

struct hwtimer_tenant *hwtimer_tenant_get(struct hwtimer_worker *worker,
					  const struct hwtimer_tenant_id *id);
void hwtimer_tenant_put(struct hwtimer_tenant *tenant);
u64 hwtimer_tenant_spent(const struct hwtimer_tenant *tenant);

/* ---- worker.c ---- */

struct hwtimer_worker *hwtimer_worker_create(unsigned int nr,
					     unsigned int priority);
void hwtimer_worker_stop(struct hwtimer_worker *worker);
void hwtimer_worker_free(struct hwtimer_worker *worker);

/* ---- workers.c ---- */

/* The highest number of workers */
#define HWTIMER_WORKERS_MAX 64

bool hwtimer_workers_parameters_valid(void);
struct hwtimer_tenant_id hwtimer_workers_caller(void);
struct hwtimer_tenant *
hwtimer_workers_tenant(const struct hwtimer_tenant_id *id);
void hwtimer_workers_stop(void);
void hwtimer_workers_free(void);

/* ---- wakeup.c ---- */

/**
 * struct hwtimer_wakeup - when the wheel has to be turned, or moved to the clock
 * @at: latest time at which the worker turns the wheel, ns on the instance's clock;
 *	HWTIMER_TICK_NONE: never. Protected by the instance's lock
 * @follow_at: time in jiffies from which on the wheel may stand so far behind the clock
 *	that it has to be moved before timers are added; protected by the instance's lock
 * @follow_after: number of jiffies between moving the wheel and @follow_at; constant once
 *	the instance has started
 */
struct hwtimer_wakeup {
	u64 at;
	u64 follow_at;
	u64 follow_after;
};

u64 hwtimer_wakeup_next(const struct hwtimer_instance *instance);
void hwtimer_wakeup_rearm(struct hwtimer_instance *instance);
void hwtimer_wakeup_requeue(struct hwtimer_instance *instance, u64 now);
void hwtimer_wakeup_turned(struct hwtimer_instance *instance, u64 now);
void hwtimer_wakeup_again(struct hwtimer_instance *instance);
void hwtimer_wakeup_chores(struct hwtimer_instance *instance, u64 time);

void hwtimer_wakeup_followed(struct hwtimer_instance *instance);
void hwtimer_wakeup_follow(struct hwtimer_instance *instance, u64 now);

#endif /* HWTIMER_WORKER_H */
