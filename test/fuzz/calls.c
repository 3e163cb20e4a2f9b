// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls. Each step makes an argument that is mostly valid, mutates it at times, puts
 * it into some memory, calls, and checks what came out. Chosen by step.c.
 */
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/hwtimer.h>

#include "output.h"
#include "steps.h"

/* The entries of an array at most: more than HWTIMER_HOLD of the module */
#define ENTRIES 700

union entry {
	struct hwtimer_request request;
	struct hwtimer_bulk_timer bulk;
	__u64 word;
	struct hwtimer_timer timer;
};

_Static_assert(ENTRIES * sizeof(union entry) <= ARENA_ROOM, "room");

/*
 * Each actor has room for an array. Not on its stack: a kernel that writes too much must
 * not make the program fail in another place.
 */
static union entry entries_of[ARENA_ACTORS][ENTRIES];

/* In a quarter of the calls, one to three words of the argument are hostile. */
static void mutate(struct actor *actor, void *argument, size_t size)
{
	if (rng_one_in(&actor->rng, 4))
		for (unsigned int i = rng_between(&actor->rng, 1, 3); i; i--)
			rng_mutate(&actor->rng, argument, size);
}

/* An array mostly has a few entries, and sometimes more than the kernel does at a time. */
static unsigned int some_entries(struct actor *actor)
{
	struct rng *rng = &actor->rng;

	if (rng_one_in(rng, 8))
		return rng_between(rng, 1, ENTRIES);
	return rng_between(rng, 1, 8);
}

static struct place put(struct actor *actor, unsigned int which,
			const void *argument, size_t size)
{
	return arena_put(&actor->world->arena, &actor->rng, actor->number,
			 which, argument, size);
}

/* The number of a command with the size of a longer or shorter structure, or another direction */
static unsigned int strange(struct rng *rng, unsigned int command)
{
	static const int lengths[] = {
		-8, -4, -1, 1, 4, 8, 64, 1000, 4032, 5000
	};
	unsigned int size = _IOC_SIZE(command) + rng_pick(rng, lengths);

	if (rng_one_in(rng, 4))
		size = rng_below(rng, 1 << _IOC_SIZEBITS);
	if (rng_one_in(rng, 8))
		command ^= rng_between(rng, 1, 3) << _IOC_DIRSHIFT;
	return (command & ~IOCSIZE_MASK) | size << IOCSIZE_SHIFT;
}

/*
 * Calls with a structure, of the size that @command says, and takes over what the kernel has
 * written to it, if nobody else can have changed it: then *@out is true. In some calls the
 * structure is longer or shorter than the kernel's.
 */
static long call_ioctl(struct actor *actor, enum call call, int fd,
		       unsigned int command, void *structure, bool *out)
{
	const size_t size = _IOC_SIZE(command);
	char argument[1 << _IOC_SIZEBITS] = { 0 };
	size_t passed = size;
	struct place place;
	long ret;

	memcpy(argument, structure, size);
	if (rng_one_in(&actor->rng, 16)) {
		command = strange(&actor->rng, command);
		if (_IOC_SIZE(command) > size)
			passed = _IOC_SIZE(command);
	}
	mutate(actor, argument, passed & ~3UL);
	/* The caller is to know which addresses were mutated. */
	memcpy(structure, argument, size);
	place = put(actor, 0, argument, passed);
	ret = step_result(ioctl(fd, command, place.address));
	step_count(call, ret);
	*out = ret >= 0 && place.memory;
	if (!*out)
		return ret;
	memcpy(structure, place.memory, size);
	/* All of it is the kernel's; other structures have hostile addresses. */
	if (_IOC_DIR(command) == _IOC_READ)
		output_search(call, place.memory, passed);
	return ret;
}

void step_info(struct actor *actor)
{
	struct hwtimer_info info = { 0 };
	bool out;
	int fd;

	if (step_slot(actor, &fd))
		call_ioctl(actor, CALL_INFO, fd, HWTIMER_IOC_INFO, &info, &out);
}

void step_setup(struct actor *actor)
{
	static const __u64 ticks[] = { 0, 10000, 100000, MS, 10 * MS };
	static const __u32 buckets[] = { 0, 0, 8, 64, 4096, 65536 };
	static const __u64 timers[] = { 0, 0, 1, 10, 500, 100000 };
	static const __u32 clocks[] = { HWTIMER_CLOCK_DEFAULT,
					HWTIMER_CLOCK_MONOTONIC,
					HWTIMER_CLOCK_REALTIME,
					HWTIMER_CLOCK_BOOTTIME,
					HWTIMER_CLOCK_TAI };
	struct rng *rng = &actor->rng;
	struct hwtimer_setup setup = {
		.tick = rng_pick(rng, ticks),
		.buckets = rng_pick(rng, buckets),
		.clock = rng_pick(rng, clocks),
		.timers = rng_pick(rng, timers),
	};
	bool out;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	if ((setup.clock == HWTIMER_CLOCK_REALTIME ||
	     setup.clock == HWTIMER_CLOCK_TAI) &&
	    rng_one_in(rng, 2))
		setup.flags = HWTIMER_SETUP_REPORT_CLOCK_SET;
	if (rng_one_in(rng, 3))
		setup.flags |= HWTIMER_SETUP_AT_LEAST_ONCE;
	call_ioctl(actor, CALL_SETUP, fd, HWTIMER_IOC_SETUP, &setup, &out);
}

static void remember(struct actor *actor, struct slot *slot, __u64 id)
{
	/* A result may also be an error. */
	if ((__s64)id > 0)
		slot->ids[rng_below(&actor->rng, WORLD_IDS)] = id;
}

/* Whether a request that succeeds has made a timer, and says its id. */
static bool gives_id(__u32 op, __u32 flags)
{
	return op == HWTIMER_OP_SCHEDULE ||
	       (op == HWTIMER_OP_RESCHEDULE && (flags & HWTIMER_REQ_REARM));
}

static void call_request(struct actor *actor, enum call call, __u32 op,
			 unsigned int command)
{
	struct hwtimer_request request;
	struct slot *slot;
	bool out;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	fill_request(actor, slot, &request, op);
	if (call == CALL_REARM)
		request.flags |= HWTIMER_REQ_REARM |
				 (rng_next(&actor->rng) & HWTIMER_REQ_CREATE);
	/* The kernel is to ignore it. */
	request.op = rng_hostile(&actor->rng);
	call_ioctl(actor, call, fd, command, &request, &out);
	if (!out || !gives_id(op, request.flags))
		return;
	if (!request.id)
		wrong(WILD, "%s: no id", call_name(call));
	remember(actor, slot, request.id);
}

void step_schedule(struct actor *actor)
{
	call_request(actor, CALL_SCHEDULE, HWTIMER_OP_SCHEDULE,
		     HWTIMER_IOC_SCHEDULE);
}

void step_cancel(struct actor *actor)
{
	call_request(actor, CALL_CANCEL, HWTIMER_OP_CANCEL, HWTIMER_IOC_CANCEL);
}

void step_reschedule(struct actor *actor)
{
	call_request(actor, CALL_RESCHEDULE, HWTIMER_OP_RESCHEDULE,
		     HWTIMER_IOC_RESCHEDULE);
}

void step_rearm(struct actor *actor)
{
	call_request(actor, CALL_REARM, HWTIMER_OP_RESCHEDULE,
		     HWTIMER_IOC_RESCHEDULE);
}

static __u32 some_op(struct actor *actor)
{
	static const __u32 ops[] = { HWTIMER_OP_SCHEDULE, HWTIMER_OP_SCHEDULE,
				     HWTIMER_OP_CANCEL, HWTIMER_OP_RESCHEDULE };

	return rng_pick(&actor->rng, ops);
}

/* Checks an array that the kernel has filled, if nobody else can have changed it. */
static bool array_out(enum call call, struct place place, void *array,
		      size_t size, long count)
{
	/* It is more than ENTRIES if it was mutated. What is beyond is not ours. */
	if (count <= 0 || count > ENTRIES || !place.memory)
		return false;
	memcpy(array, place.memory, count * size);
	output_search(call, array, count * size);
	return true;
}

void step_submit(struct actor *actor)
{
	struct hwtimer_request *requests = &entries_of[actor->number]->request;
	struct hwtimer_submit submit = { .count = some_entries(actor) };
	struct place array;
	struct slot *slot;
	bool out;
	long ret;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	for (unsigned int i = 0; i < submit.count; i++)
		fill_request(actor, slot, &requests[i], some_op(actor));
	mutate(actor, requests, submit.count * sizeof(*requests));
	array = put(actor, 1, requests, submit.count * sizeof(*requests));
	submit.requests = array.address;
	ret = call_ioctl(actor, CALL_SUBMIT, fd, HWTIMER_IOC_SUBMIT, &submit,
			 &out);
	if (!out || submit.requests != array.address ||
	    !array_out(CALL_SUBMIT, array, requests, sizeof(*requests), ret))
		return;
	for (long i = 0; i < ret; i++)
		if (gives_id(requests[i].op, requests[i].flags) &&
		    !requests[i].result)
			remember(actor, slot, requests[i].id);
}

/* Fills in the timers of a BULK; returns the size of each. */
static size_t fill_bulk(struct actor *actor, struct slot *slot,
			const struct hwtimer_bulk *bulk, void *array)
{
	struct hwtimer_bulk_timer *timers = array;
	__u64 *ids = array;

	for (unsigned int i = 0; i < bulk->count; i++) {
		__u64 id = slot->ids[rng_below(&actor->rng, WORLD_IDS)];

		if (bulk->op == HWTIMER_OP_CANCEL) {
			ids[i] = id;
			continue;
		}
		timers[i].time =
			fill_time(actor, bulk->flags & HWTIMER_REQ_ABSTIME);
		timers[i].id = bulk->op == HWTIMER_OP_SCHEDULE ? i : id;
	}
	return bulk->op == HWTIMER_OP_CANCEL ? sizeof(*ids) : sizeof(*timers);
}

void step_bulk(struct actor *actor)
{
	union entry *entries = entries_of[actor->number];
	struct hwtimer_bulk bulk = { .op = some_op(actor),
				     .count = some_entries(actor) };
	struct place array;
	struct slot *slot;
	size_t size;
	bool out;
	long ret;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	if (rng_one_in(&actor->rng, 2))
		bulk.flags = bulk.op == HWTIMER_OP_CANCEL ?
				     HWTIMER_REQ_DISCARD :
				     HWTIMER_REQ_ABSTIME;
	if (bulk.op == HWTIMER_OP_SCHEDULE && rng_one_in(&actor->rng, 3))
		bulk.slack = rng_below(&actor->rng, 5 * MS);
	size = fill_bulk(actor, slot, &bulk, entries);
	mutate(actor, entries, bulk.count * size);
	array = put(actor, 1, entries, bulk.count * size);
	bulk.timers = array.address;
	bulk.results = array.address;
	if (bulk.op != HWTIMER_OP_SCHEDULE && rng_one_in(&actor->rng, 3))
		bulk.results = 0;
	ret = call_ioctl(actor, CALL_BULK, fd, HWTIMER_IOC_BULK, &bulk, &out);
	if (!out || bulk.op != HWTIMER_OP_SCHEDULE ||
	    bulk.results != array.address ||
	    !array_out(CALL_BULK, array, entries, sizeof(__u64), ret))
		return;
	for (long i = 0; i < ret && i < WORLD_IDS; i++)
		remember(actor, slot, ((__u64 *)entries)[i]);
}

void step_query(struct actor *actor)
{
	struct hwtimer_timer timer = { 0 };
	struct slot *slot;
	bool out;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	timer.id = slot->ids[rng_below(&actor->rng, WORLD_IDS)];
	call_ioctl(actor, CALL_QUERY, fd, HWTIMER_IOC_QUERY, &timer, &out);
	if (!out)
		return;
	output_timer(CALL_QUERY, &timer);
	output_search(CALL_QUERY, &timer, sizeof(timer));
}

/* LIST or CANCEL_ALL. Mostly begins at the first timer. */
static void call_list(struct actor *actor, enum call call, unsigned int command,
		      __u32 flags)
{
	union entry *entries = entries_of[actor->number];
	struct rng *rng = &actor->rng;
	struct hwtimer_list list = {
		.cursor = rng_one_in(rng, 4) ? rng_hostile(rng) : 0,
		.count = some_entries(actor),
		.flags = flags,
	};
	struct place array;
	bool out;
	long ret;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	memset(entries, 0, sizeof(entries_of[0]));
	array = put(actor, 1, entries,
		    list.count * sizeof(struct hwtimer_timer));
	list.timers = array.address;
	if (command == HWTIMER_IOC_CANCEL_ALL && rng_one_in(rng, 4)) {
		list.timers = 0;
		list.count = rng_one_in(rng, 2) ? INT_MAX : 0;
	}
	ret = call_ioctl(actor, call, fd, command, &list, &out);
	if (!out || list.timers != array.address ||
	    !array_out(call, array, entries, sizeof(struct hwtimer_timer), ret))
		return;
	for (long i = 0; i < ret; i++)
		output_timer(call, (struct hwtimer_timer *)entries + i);
}

void step_list(struct actor *actor)
{
	call_list(actor, CALL_LIST, HWTIMER_IOC_LIST, 0);
}

void step_cancel_all(struct actor *actor)
{
	call_list(actor, CALL_CANCEL_ALL, HWTIMER_IOC_CANCEL_ALL,
		  rng_one_in(&actor->rng, 2) ? HWTIMER_LIST_DISCARD : 0);
}

/*
 * Stopping ends all use of the instance, so it is rare (see step.c). step_open() replaces the
 * instance at times.
 */
void step_stop(struct actor *actor)
{
	call_list(actor, CALL_STOP, HWTIMER_IOC_CANCEL_ALL,
		  HWTIMER_LIST_STOP |
			  (rng_one_in(&actor->rng, 2) ? HWTIMER_LIST_DISCARD :
							0));
}

void step_stats(struct actor *actor)
{
	struct hwtimer_stats stats = { 0 };
	bool out;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	call_ioctl(actor, CALL_STATS, fd, HWTIMER_IOC_STATS, &stats, &out);
	if (out)
		output_balance(&stats);
}

void step_notify(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	struct hwtimer_notify notify = {
		.delay = rng_one_in(rng, 4) ? HWTIMER_NEVER :
					      rng_below(rng, 5 * MS),
		.events = rng_below(rng, 4),
	};
	bool out;
	int fd;

	if (step_slot(actor, &fd))
		call_ioctl(actor, CALL_NOTIFY, fd, HWTIMER_IOC_NOTIFY, &notify,
			   &out);
}

static void call_ack(struct actor *actor, enum call call, __u32 flags)
{
	struct rng *rng = &actor->rng;
	struct hwtimer_ack ack = {
		.count = rng_one_in(rng, 8) ? rng_below(rng, 5000) :
					      rng_below(rng, 8),
		.flags = flags,
	};
	bool out;
	int fd;

	if (step_slot(actor, &fd))
		call_ioctl(actor, call, fd, HWTIMER_IOC_ACK, &ack, &out);
}

/* Often more than were read, and mostly in an instance that has no HWTIMER_SETUP_AT_LEAST_ONCE */
void step_ack(struct actor *actor)
{
	call_ack(actor, CALL_ACK, 0);
}

void step_rewind(struct actor *actor)
{
	call_ack(actor, CALL_REWIND, HWTIMER_ACK_REWIND);
}

/* A command that the module does not have; no call is counted. */
void step_unknown(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	unsigned int command =
		rng_one_in(rng, 2) ? (unsigned int)rng_next(rng) :
				     _IOC(rng_below(rng, 4), HWTIMER_IOC_MAGIC,
					  rng_below(rng, 24),
					  rng_below(rng, 1 << _IOC_SIZEBITS));
	struct hwtimer_request request = { 0 };
	int fd;

	if (step_slot(actor, &fd))
		ioctl(fd, command,
		      put(actor, 0, &request, sizeof(request)).address);
}
