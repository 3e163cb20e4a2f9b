// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls. Each step makes an argument that is mostly valid, mutates it at times, puts
 * it into some memory, calls, and checks what came out. Chosen by step.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <linux/hwtimer.h>

#include "output.h"
#include "steps.h"

#define MS 1000000ULL

/* The entries of an array at most: more than HWTIMER_HOLD of the module */
#define ENTRIES 700

/* What an array has in excess, in case that its size is mutated. Never read or written. */
union entry {
	struct hwtimer_request request;
	struct hwtimer_bulk_timer timer;
	__u64 word;
	struct hwtimer_unprocessed unprocessed;
	struct hwtimer_listed listed;
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

static long call_ioctl(struct actor *actor, enum call call, int fd,
		       unsigned int command, uintptr_t address)
{
	long ret = step_result(ioctl(fd, command, address));

	step_count(actor, call, ret);
	return ret;
}

/*
 * Calls with a structure that has its own size, and checks the output of @size bytes. In
 * some calls the structure is longer or shorter than the kernel's.
 */
static void call_sized(struct actor *actor, enum call call, int fd,
		       unsigned int command, void *structure, size_t size,
		       struct place *place)
{
	static const int lengths[] = { -1, -8, -24, 8, 64, 1000, 4000, 5000 };
	struct rng *rng = &actor->rng;
	char padded[8192] = { 0 };

	*(__u32 *)structure = size;
	if (rng_one_in(rng, 16))
		*(__u32 *)structure += rng_pick(rng, lengths);
	mutate(actor, structure, size);
	memcpy(padded, structure, size);
	*place = put(actor, 0, padded,
		     rng_one_in(rng, 16) ? sizeof(padded) : size);
	if (call_ioctl(actor, call, fd, command, place->address) < 0)
		place->memory = NULL;
	else if (place->memory)
		memcpy(structure, place->memory, size);
}

void step_info(struct actor *actor)
{
	struct hwtimer_info info = { 0 };
	struct place place;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	call_sized(actor, CALL_INFO, fd, HWTIMER_IOC_INFO, &info, sizeof(info),
		   &place);
	if (place.memory)
		output_search(actor->world->board, CALL_INFO, &info,
			      sizeof(info));
}

void step_setup(struct actor *actor)
{
	static const __u64 ticks[] = { 0, 10000, 100000, MS, 10 * MS };
	static const __u32 buckets[] = { 0, 0, 8, 64, 4096, 65536 };
	static const __u64 timers[] = { 0, 0, 1, 10, 500, 100000 };
	static const __u32 clocks[] = { HWTIMER_CLOCK_DEFAULT,
					HWTIMER_CLOCK_MONOTONIC,
					HWTIMER_CLOCK_REALTIME,
					HWTIMER_CLOCK_BOOTTIME };
	struct rng *rng = &actor->rng;
	struct hwtimer_setup setup = {
		.tick = rng_pick(rng, ticks),
		.buckets = rng_pick(rng, buckets),
		.kind = rng_below(rng, 3),
		.clock = rng_pick(rng, clocks),
		.timers = rng_pick(rng, timers),
	};
	struct place place;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	if (setup.clock == HWTIMER_CLOCK_REALTIME && rng_one_in(rng, 2))
		setup.flags = HWTIMER_REPORT_CLOCK_SET;
	if (rng_one_in(rng, 3))
		setup.flags |= HWTIMER_AT_LEAST_ONCE;
	call_sized(actor, CALL_SETUP, fd, HWTIMER_IOC_SETUP, &setup,
		   sizeof(setup), &place);
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
	       (op == HWTIMER_OP_RESCHEDULE && (flags & HWTIMER_REARM));
}

static void call_request(struct actor *actor, enum call call, __u32 op,
			 unsigned int command)
{
	const __u32 all_sets = HWTIMER_SET_USER_DATA | HWTIMER_SET_INTERVAL |
			       HWTIMER_SET_SLACK;
	struct hwtimer_request request;
	struct place place;
	struct slot *slot;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	fill_request(actor, slot, &request, op);
	if (call == CALL_REARM)
		request.flags = (request.flags & ~all_sets) | HWTIMER_REARM;
	if (rng_one_in(&actor->rng, 2))
		request.op = HWTIMER_OP_NONE;
	mutate(actor, &request, sizeof(request));
	place = put(actor, 0, &request, sizeof(request));
	if (call_ioctl(actor, call, fd, command, place.address) ||
	    !place.memory || !gives_id(op, request.flags))
		return;
	memcpy(&request, place.memory, sizeof(request));
	if (!request.id)
		board_complain(actor->world->board, "%s: no id",
			       board_name(call));
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
static bool array_out(struct actor *actor, enum call call, struct place place,
		      void *array, size_t size, long count)
{
	if (count <= 0 || !place.memory || count * size > ARENA_ROOM - 8)
		return false;
	if (count > ENTRIES) {
		/* Only if the count was mutated; what is beyond is not ours. */
		return false;
	}
	memcpy(array, place.memory, count * size);
	output_search(actor->world->board, call, array, count * size);
	return true;
}

void step_submit(struct actor *actor)
{
	struct hwtimer_request *requests = &entries_of[actor->number]->request;
	struct hwtimer_submit submit = { .count = some_entries(actor) };
	struct place place, array;
	struct slot *slot;
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
	mutate(actor, &submit, sizeof(submit));
	place = put(actor, 0, &submit, sizeof(submit));
	ret = call_ioctl(actor, CALL_SUBMIT, fd, HWTIMER_IOC_SUBMIT,
			 place.address);
	if (submit.requests != array.address ||
	    !array_out(actor, CALL_SUBMIT, array, requests, sizeof(*requests),
		       ret))
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
			fill_time(actor, bulk->flags & HWTIMER_ABSOLUTE);
		timers[i].id = bulk->op == HWTIMER_OP_SCHEDULE ? i : id;
	}
	return bulk->op == HWTIMER_OP_CANCEL ? sizeof(*ids) : sizeof(*timers);
}

void step_bulk(struct actor *actor)
{
	union entry *entries = entries_of[actor->number];
	struct hwtimer_bulk bulk = { .op = some_op(actor),
				     .count = some_entries(actor) };
	struct place place, array;
	struct slot *slot;
	size_t size;
	long ret;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	if (rng_one_in(&actor->rng, 2))
		bulk.flags = bulk.op == HWTIMER_OP_CANCEL ? HWTIMER_DISCARD :
							    HWTIMER_ABSOLUTE;
	if (bulk.op == HWTIMER_OP_SCHEDULE && rng_one_in(&actor->rng, 3))
		bulk.slack = rng_below(&actor->rng, 5 * MS);
	size = fill_bulk(actor, slot, &bulk, entries);
	mutate(actor, entries, bulk.count * size);
	array = put(actor, 1, entries, bulk.count * size);
	bulk.timers = array.address;
	bulk.results = array.address;
	if (bulk.op != HWTIMER_OP_SCHEDULE && rng_one_in(&actor->rng, 3))
		bulk.results = 0;
	call_sized(actor, CALL_BULK, fd, HWTIMER_IOC_BULK, &bulk, sizeof(bulk),
		   &place);
	if (!place.memory || bulk.op != HWTIMER_OP_SCHEDULE ||
	    bulk.results != array.address || !array.memory)
		return;
	ret = bulk.count < ENTRIES ? bulk.count : ENTRIES;
	memcpy(entries, array.memory, ret * sizeof(__u64));
	for (long i = 0; i < ret && i < WORLD_IDS; i++)
		remember(actor, slot, ((__u64 *)entries)[i]);
}

void step_query(struct actor *actor)
{
	struct hwtimer_query query = { 0 };
	struct place place;
	struct slot *slot;
	int fd;

	slot = step_slot(actor, &fd);
	if (!slot)
		return;
	query.id = slot->ids[rng_below(&actor->rng, WORLD_IDS)];
	mutate(actor, &query, sizeof(query));
	place = put(actor, 0, &query, sizeof(query));
	if (call_ioctl(actor, CALL_QUERY, fd, HWTIMER_IOC_QUERY,
		       place.address) ||
	    !place.memory)
		return;
	memcpy(&query, place.memory, sizeof(query));
	output_query(actor->world->board, &query);
	output_search(actor->world->board, CALL_QUERY, &query, sizeof(query));
}

/*
 * STOP ends all use of the instance, so it is rare (see step.c), and opens another one
 * soon afterwards.
 */
void step_stop(struct actor *actor)
{
	union entry *entries = entries_of[actor->number];
	struct hwtimer_stop stop = {
		.count = rng_one_in(&actor->rng, 4) ? 0 : some_entries(actor),
	};
	struct place place, array;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	memset(entries, 0, sizeof(entries_of[0]));
	array = put(actor, 1, entries,
		    (stop.count + 1) * sizeof(struct hwtimer_unprocessed));
	stop.timers = array.address;
	call_sized(actor, CALL_STOP, fd, HWTIMER_IOC_STOP, &stop, sizeof(stop),
		   &place);
	if (place.memory && stop.timers == array.address &&
	    stop.count <= ENTRIES)
		array_out(actor, CALL_STOP, array, entries,
			  sizeof(struct hwtimer_unprocessed), stop.count);
}

/* Begins at the first timer, at another one, or anywhere. */
void step_cancel_all(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	struct hwtimer_cancel_all all = {
		.flags = rng_one_in(rng, 2) ? HWTIMER_DISCARD : 0,
		.cursor = rng_one_in(rng, 2) ? 0 : rng_below(rng, 2 * ENTRIES),
	};
	struct place place;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	if (rng_one_in(rng, 8))
		all.cursor = rng_hostile(rng);
	call_sized(actor, CALL_CANCEL_ALL, fd, HWTIMER_IOC_CANCEL_ALL, &all,
		   sizeof(all), &place);
	if (place.memory)
		output_search(actor->world->board, CALL_CANCEL_ALL, &all,
			      sizeof(all));
}

void step_list(struct actor *actor)
{
	union entry *entries = entries_of[actor->number];
	struct hwtimer_list list = {
		.count = some_entries(actor),
		.cursor = rng_one_in(&actor->rng, 4) ?
				  rng_hostile(&actor->rng) :
				  0,
	};
	struct place place, array;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	memset(entries, 0, sizeof(entries_of[0]));
	array = put(actor, 1, entries,
		    list.count * sizeof(struct hwtimer_listed));
	list.timers = array.address;
	call_sized(actor, CALL_LIST, fd, HWTIMER_IOC_LIST, &list, sizeof(list),
		   &place);
	if (place.memory && list.timers == array.address &&
	    list.count <= ENTRIES)
		array_out(actor, CALL_LIST, array, entries,
			  sizeof(struct hwtimer_listed), list.count);
}

void step_stats(struct actor *actor)
{
	struct hwtimer_stats stats = { 0 };
	struct place place;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	call_sized(actor, CALL_STATS, fd, HWTIMER_IOC_STATS, &stats,
		   sizeof(stats), &place);
	if (!place.memory || stats.size != sizeof(stats))
		return;
	output_balance(actor->world->board, &stats);
	output_search(actor->world->board, CALL_STATS, &stats, sizeof(stats));
}

void step_notify(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	struct hwtimer_notify notify = {
		.events = rng_below(rng, 4),
	};
	struct place place;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	if (notify.events > 1)
		notify.delay = rng_one_in(rng, 4) ? HWTIMER_NEVER :
						    1 + rng_below(rng, 5 * MS);
	call_sized(actor, CALL_NOTIFY, fd, HWTIMER_IOC_NOTIFY, &notify,
		   sizeof(notify), &place);
}

/* Often more than were read, and mostly in an instance that has no HWTIMER_AT_LEAST_ONCE */
void step_ack(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	struct hwtimer_ack ack = {
		.count = rng_one_in(rng, 8) ? rng_below(rng, 5000) :
					      rng_below(rng, 8),
	};
	struct place place;
	int fd;

	if (step_slot(actor, &fd))
		call_sized(actor, CALL_ACK, fd, HWTIMER_IOC_ACK, &ack,
			   sizeof(ack), &place);
}

void step_rewind(struct actor *actor)
{
	int fd;

	if (step_slot(actor, &fd))
		call_ioctl(actor, CALL_REWIND, fd, HWTIMER_IOC_REWIND,
			   rng_one_in(&actor->rng, 8) ? (uintptr_t)&fd : 0);
}

/* A command that the module does not have; no call is counted. */
void step_unknown(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	unsigned int command =
		rng_one_in(rng, 2) ?
			(unsigned int)rng_next(rng) :
			_IOC(rng_below(rng, 4), HWTIMER_IOC_MAGIC,
			     rng_below(rng, 24), rng_below(rng, 1024));
	struct hwtimer_request request = { 0 };
	int fd;

	if (step_slot(actor, &fd))
		ioctl(fd, command,
		      put(actor, 0, &request, sizeof(request)).address);
}
