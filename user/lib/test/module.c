// SPDX-License-Identifier: MIT
/* See module.h. What it does with timers is plain: arrays, and a search for what is due. */
#include "module.h"
#include "wrapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/hwtimer.h>

#define MAX 100000

/* The most timers that a CANCEL_ALL ends at a time */
#define PAGE 50

/* Value of module.cut once a call was cut */
#define NO_MORE UINT32_MAX

enum state { GONE, PENDING, READY };

/* A timer; its id is its index and a generation. */
struct record {
	enum state state;
	uint32_t generation;
	int64_t deadline;
	uint64_t user_data;
};

struct module module;

static struct record records[MAX];
static unsigned int queue[MAX * 2], queue_first, queue_end, next_record;

/*
 * With HWTIMER_SETUP_AT_LEAST_ONCE: the events that were read and not acknowledged. The first
 * @kept_read were read since the last HWTIMER_ACK_REWIND.
 */
static struct hwtimer_event kept[MAX];
static unsigned int kept_count, kept_read;

static uint64_t random_state;

unsigned int pick(unsigned int limit)
{
	random_state = random_state * 6364136223846793005ULL + 1;
	return (random_state >> 33) % limit;
}

void module_reset(unsigned int seed)
{
	memset(records, 0, sizeof(records));
	queue_first = 0;
	queue_end = 0;
	next_record = 0;
	kept_count = 0;
	kept_read = 0;
	random_state = seed * 2654435761ULL + 1;
	module = (struct module){
		.now = 1000 * TICK,
		.limit = MAX,
		.clock = HWTIMER_CLOCK_MONOTONIC,
	};
}

static struct record *find(uint64_t id)
{
	struct record *record = &records[(uint32_t)id % MAX];

	return record->state != GONE && record->generation == id >> 32 ?
		       record :
		       NULL;
}

static uint64_t id_of(const struct record *record)
{
	return (uint64_t)record->generation << 32 | (record - records);
}

static int64_t round_up(int64_t deadline)
{
	return deadline > HWTIMER_NEVER - TICK ?
		       HWTIMER_NEVER :
		       (deadline + TICK - 1) / TICK * TICK;
}

static void queue_add(struct record *record)
{
	record->state = READY;
	module.pending--;
	module.ready++;
	queue[queue_end++ % (MAX * 2)] = record - records;
}

void module_set_clock(int64_t now)
{
	struct record *record;

	module.now = now;
	for (record = records; record < records + next_record; record++)
		if (record->state == PENDING &&
		    round_up(record->deadline) <= now)
			queue_add(record);
}

/* ---- operations ---- */

static int fault(void)
{
	static const int errors[] = { ENOMEM, ENOSPC, EINTR, EFAULT };

	if (!module.faults || pick(module.faults))
		return 0;
	return -errors[pick(sizeof(errors) / sizeof(*errors))];
}

static int refusal(void)
{
	if (module.stopped)
		return -ESHUTDOWN;
	return module.no_memory ? -ENOMEM : fault();
}

static int64_t schedule(int64_t deadline, uint64_t user_data)
{
	struct record *record;
	int err = refusal();

	if (err)
		return err;
	if (module.pending + module.ready >= module.limit)
		return -ENOSPC;
	for (record = records; record->state != GONE; record++)
		if (record == records + MAX - 1)
			abort();
	if (record == records + next_record)
		next_record++;
	record->state = PENDING;
	record->generation++;
	record->deadline = deadline;
	record->user_data = user_data;
	module.pending++;
	return id_of(record);
}

static int64_t reschedule(uint64_t id, int64_t deadline)
{
	struct record *record = find(id);
	int err = refusal();

	if (err)
		return err;
	if (!record)
		return -ENOENT;
	if (record->state == READY)
		return -EALREADY;
	record->deadline = deadline;
	return 0;
}

static int64_t cancel(uint64_t id, unsigned int flags)
{
	struct record *record = find(id);

	if (!record)
		return -ENOENT;
	if (record->state == READY) {
		if (!(flags & HWTIMER_REQ_DISCARD))
			return 1;
		module.ready--;
	} else {
		module.pending--;
	}
	record->state = GONE;
	return 0;
}

static int64_t rearm(uint64_t id, unsigned int flags, int64_t deadline,
		     uint64_t user_data)
{
	struct record *record = find(id);
	int64_t new;

	if (!record && !(flags & HWTIMER_REQ_CREATE))
		return -ENOENT;
	if (record && record->state == PENDING && !module.stopped &&
	    !module.no_memory) {
		record->deadline = deadline;
		record->user_data = user_data;
		return id;
	}
	new = schedule(deadline, user_data);
	if (new > 0)
		cancel(id, HWTIMER_REQ_DISCARD);
	return new;
}

static int64_t operate(unsigned int op, unsigned int flags, uint64_t id,
		       int64_t time, uint64_t user_data)
{
	module.operations++;
	if (!(flags & HWTIMER_REQ_ABSTIME))
		time = time > HWTIMER_NEVER - module.now ? HWTIMER_NEVER :
							   module.now + time;
	switch (op) {
	case HWTIMER_OP_SCHEDULE:
		return schedule(time, user_data);
	case HWTIMER_OP_RESCHEDULE:
		if (flags & HWTIMER_REQ_REARM)
			return rearm(id, flags, time, user_data);
		return reschedule(id, time);
	default:
		return cancel(id, flags);
	}
}

/* How many of @count operations a call does before a signal comes */
static unsigned int interrupted(unsigned int count)
{
	if (!module.interrupts || pick(module.interrupts))
		return count;
	return pick(count + 1);
}

static int do_bulk(struct hwtimer_bulk *bulk)
{
	const struct hwtimer_bulk_timer *timers = (void *)bulk->timers;
	const uint64_t *ids = (void *)bulk->timers;
	uint64_t *results = (void *)bulk->results;
	unsigned int i, count = interrupted(bulk->count);
	int err = fault();

	if (err)
		return err;
	for (i = 0; i < count; i++) {
		int64_t result = bulk->op == HWTIMER_OP_CANCEL ?
					 cancel(ids[i], bulk->flags) :
					 operate(bulk->op, bulk->flags,
						 timers[i].id, timers[i].time,
						 timers[i].user_data);

		if (results)
			results[i] = result;
	}
	return count || !bulk->count ? (int)count : -EINTR;
}

static int do_request(struct hwtimer_request *request, unsigned int op)
{
	int64_t result = operate(op, request->flags, request->id, request->time,
				 request->user_data);

	if (result > 0 && op != HWTIMER_OP_CANCEL) {
		request->id = result;
		result = 0;
	}
	return result;
}

static int do_submit(struct hwtimer_submit *submit)
{
	struct hwtimer_request *requests = (void *)submit->requests;
	unsigned int i, count = interrupted(submit->count);
	int err = fault();

	if (err)
		return err;
	if (module.cut == NO_MORE)
		return -ENOMEM;
	if (module.cut && module.cut < count) {
		count = module.cut;
		module.cut = NO_MORE;
	}
	for (i = 0; i < count; i++)
		requests[i].result = do_request(&requests[i], requests[i].op);
	return count ? (int)count : -EINTR;
}

static int do_cancel_all(struct hwtimer_list *all)
{
	bool discard = all->flags & HWTIMER_LIST_DISCARD;
	unsigned int todo = interrupted(next_record), ended = 0;
	struct record *record;

	if (all->flags & ~(HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD))
		return -EINVAL;
	if (all->flags & HWTIMER_LIST_STOP)
		module.stopped = true;
	for (; all->cursor < next_record && ended < all->count && ended < PAGE;
	     all->cursor++) {
		if (todo != next_record && !todo--)
			return ended ? (int)ended : -EINTR;
		record = &records[all->cursor];
		ended += record->state == PENDING;
		cancel(id_of(record), discard ? HWTIMER_REQ_DISCARD : 0);
	}
	return ended;
}

static int64_t until_next(void)
{
	int64_t next = HWTIMER_NEVER;
	unsigned int i;

	if (module.ready)
		return 0;
	for (i = 0; i < next_record; i++)
		if (records[i].state == PENDING && records[i].deadline < next)
			next = records[i].deadline;
	if (next == HWTIMER_NEVER)
		return next;
	next = round_up(next) - module.now;
	return next > 0 ? next : 0;
}

/* Of @size bytes, it knows those of *@info. */
static int do_info(struct hwtimer_info *info, size_t size)
{
	memset(info, 0, size);
	info->abi_version = HWTIMER_ABI_VERSION;
	info->clock = module.clock;
	info->flags = module.flags;
	info->until_next = until_next();
	return 0;
}

static int do_setup(const struct hwtimer_setup *setup)
{
	module.clock = setup->clock ? setup->clock : HWTIMER_CLOCK_MONOTONIC;
	module.flags = setup->flags;
	return 0;
}

static bool keeps(void)
{
	return module.flags & HWTIMER_SETUP_AT_LEAST_ONCE;
}

static int do_ack(const struct hwtimer_ack *ack)
{
	struct record *record;
	unsigned int i;

	if (!keeps() || ack->flags & ~HWTIMER_ACK_REWIND ||
	    ack->count > kept_read)
		return -EINVAL;
	for (i = 0; i < ack->count; i++) {
		record = find(kept[i].id);
		if (!record)
			continue; /* discarded after it was read */
		record->state = GONE;
		module.ready--;
	}
	kept_count -= ack->count;
	kept_read -= ack->count;
	memmove(kept, kept + ack->count, kept_count * sizeof(*kept));
	if (ack->flags & HWTIMER_ACK_REWIND)
		kept_read = 0;
	return ack->count;
}

int answer(unsigned long number, void *argument)
{
	size_t size = _IOC_SIZE(number);

	module.calls++;
	/* A program may know longer structures. */
	if (number == _IOC(_IOC_READ, HWTIMER_IOC_MAGIC, 0, size) &&
	    size >= sizeof(struct hwtimer_info))
		return do_info(argument, size);
	if (number == _IOC(_IOC_WRITE, HWTIMER_IOC_MAGIC, 1, size) &&
	    size >= sizeof(struct hwtimer_setup))
		return do_setup(argument);
	switch (number) {
	case HWTIMER_IOC_SCHEDULE:
		return do_request(argument, HWTIMER_OP_SCHEDULE);
	case HWTIMER_IOC_RESCHEDULE:
		return do_request(argument, HWTIMER_OP_RESCHEDULE);
	case HWTIMER_IOC_CANCEL:
		return do_request(argument, HWTIMER_OP_CANCEL);
	case HWTIMER_IOC_BULK:
		return do_bulk(argument);
	case HWTIMER_IOC_SUBMIT:
		return do_submit(argument);
	case HWTIMER_IOC_CANCEL_ALL:
		return do_cancel_all(argument);
	case HWTIMER_IOC_NOTIFY:
		return 0;
	case HWTIMER_IOC_ACK:
		return do_ack(argument);
	default:
		return -ENOTTY;
	}
}

/* Finds the next event that was read before HWTIMER_ACK_REWIND and not discarded since. */
static bool read_again(struct hwtimer_event *event)
{
	while (kept_read < kept_count) {
		*event = kept[kept_read];
		if (find(event->id)) {
			kept_read++;
			return true;
		}
		kept_count--;
		memmove(kept + kept_read, kept + kept_read + 1,
			(kept_count - kept_read) * sizeof(*kept));
	}
	return false;
}

static int read_events(struct hwtimer_event *events, unsigned int count)
{
	unsigned int n = 0;

	if (module.report) {
		module.report = false;
		return -ECANCELED;
	}
	if (interrupted(count) != count) {
		if (pick(2))
			return -EINTR;
		count = 1 + pick(count);
	}
	while (n < count && read_again(&events[n]))
		n++;
	while (n < count && queue_first != queue_end) {
		struct record *record =
			&records[queue[queue_first++ % (MAX * 2)]];

		if (record->state != READY)
			continue; /* discarded, and perhaps used again */
		events[n] = (struct hwtimer_event){
			.id = id_of(record),
			.user_data = record->user_data,
			.deadline = record->deadline,
			.expirations = 1,
		};
		if (keeps()) {
			kept[kept_count++] = events[n];
			kept_read++;
		} else {
			record->state = GONE;
			module.ready--;
		}
		n++;
	}
	return n ? (int)n : module.stopped ? 0 : -EAGAIN;
}

/* ---- in place of the C library ---- */

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	long n;

	(void)fd;
	module.calls++;
	n = returned(read_events(buffer, size / sizeof(struct hwtimer_event)));
	return n > 0 ? n * (ssize_t)sizeof(struct hwtimer_event) : n;
}

/* What waits without end would never return. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (count != 1 || fds->fd != NO_DESCRIPTOR || timeout < 0)
		abort();
	if (!module.ready)
		module_set_clock(module.now + timeout * 1000000LL);
	fds->revents = module.ready ? POLLIN : 0;
	return !!module.ready;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	if (HWTIMER_CLOCK(clock) != module.clock)
		abort();
	time->tv_sec = module.now / 1000000000;
	time->tv_nsec = module.now % 1000000000;
	return 0;
}
