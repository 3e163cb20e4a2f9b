/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs of a run: processes that open instances, and threads of them, the actors,
 * each of which does one kind of thing again and again. See test/sim/world.c.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "device.h"
#include "oracle.h"
#include "sim.h"

struct sim_process;
struct task_struct;

#define SITES 4
#define ACTORS 40

/**
 * struct site - an instance, and what its programs know of it
 * @nr: its number
 * @file: the file; each actor has a descriptor of its own
 * @setup: its settings
 * @oracle: its timers
 * @owner: the process that opens it
 * @friend: another process of the same user, in another cgroup
 * @ready: the file is open and set up
 * @stopped: a CANCEL_ALL has begun that stops it
 * @alone: a single actor reads events
 * @exclusive: those that use epoll do so with EPOLLEXCLUSIVE
 */
struct site {
	unsigned int nr;
	struct file *file;
	struct hwtimer_setup setup;
	struct oracle *oracle;
	struct sim_process *owner;
	struct sim_process *friend;
	bool ready;
	bool stopped;
	bool alone;
	bool exclusive;
};

struct actor;

typedef void actor_fn(struct actor *actor);

/**
 * struct actor - a thread that does one kind of thing
 * @site: its instance
 * @act: what it does
 * @name: the name of that
 * @file: its descriptor
 * @process: the process
 * @task: the thread
 * @done: it has ended
 * @timers: timers that it has scheduled, and may change
 * @nr_timers: their number, up to ACTOR_TIMERS
 * @own: an instance that it alone uses, for itself; NULL: none
 */
#define ACTOR_TIMERS 64

struct actor {
	struct site *site;
	actor_fn *act;
	const char *name;
	struct file *file;
	struct sim_process *process;
	struct task_struct *task;
	bool done;
	struct oracle_timer *timers[ACTOR_TIMERS];
	unsigned int nr_timers;
	struct file *own;
};

/**
 * struct world - all of a run
 * @sites: the instances
 * @nr_sites: their number
 * @actors: the actors
 * @nr_actors: their number
 * @opening: number of sites that are not ready yet
 * @ending: they are to end
 */
struct world {
	struct site sites[SITES];
	unsigned int nr_sites;
	struct actor actors[ACTORS];
	unsigned int nr_actors;
	unsigned int opening;
	bool ending;
};

extern struct world world;

/* What the first thread of a run does */
void world_main(void *unused);

/* Counts operations; when there were enough, the run comes to its end. */
void world_count(uint64_t operations);

/* ---- the actors ---- */

actor_fn act_requester, act_batcher, act_bulker, act_rearmer, act_discarder;
actor_fn act_idler, act_burster;
actor_fn act_reader, act_sipper, act_poller, act_edge, act_watcher, act_acker;
actor_fn act_keeper;
actor_fn act_prober, act_notifier, act_wiper, act_stopper, act_disturber;
actor_fn act_visitor, act_leaver;

/* About the time after which an idle instance gives its memory back, ns */
#define IDLE 1100000000

/* ---- what several of them do ---- */

/* A random request for a new timer; @request is all 0. */
void request_random(struct site *site, struct hwtimer_request *request);
int64_t request_time(struct site *site, uint32_t *flags);
/* Sets what the operation @op does not use to anything. */
void request_litter(unsigned int op, struct hwtimer_request *request);
void actor_keep(struct actor *actor, struct oracle_timer *timer);
void actor_cancel(struct actor *actor, struct oracle_timer *timer,
		  uint32_t flags);
void expect_excused(const char *what, long result);
/* A random timer that the actor, or now and then another one, has scheduled; or NULL */
struct oracle_timer *actor_pick(struct actor *actor);

/* Reads events once; returns what read() returns. */
ssize_t site_read(struct site *site, struct file *file, size_t events,
		  bool nonblock);
/*
 * With HWTIMER_SETUP_AT_LEAST_ONCE: ends the oldest @count of the events that were read, and
 * begins with the oldest one anew if @rewind, as a process does that takes over.
 */
void site_ack(struct site *site, struct file *file, uint32_t count,
	      bool rewind);
/*
 * CANCEL_ALL with these flags. @thorough: of all timers, which are handed back; otherwise as it
 * happens
 */
void site_wipe(struct site *site, struct file *file, uint32_t flags,
	       bool thorough);
uint32_t wipe_flags(void);
long site_stats(struct site *site, struct file *file,
		struct hwtimer_stats *stats);

/* A result whose errors are nobody's fault: no memory, no thread, a signal, ... */
bool result_excused(long result);

#endif /* SIM_WORLD_H */
