// SPDX-License-Identifier: MIT
/*
 * Instances on a clock that stands until the program moves it, for tests: see hwt_open_manual() in
 * libhwtimer.h. They answer the commands of /dev/hwtimer from the memory of the program, by the
 * rules of <linux/hwtimer.h>; libhwtimer.c asks them instead of the device.
 *
 * Timers are in a table, and an id is the index there and a generation. Those that are pending are
 * also in a heap, not in a wheel: a wheel of any size expires the same timers at the same ticks.
 *
 * An eventfd stands for the descriptor: it is readable when poll() would say so of the device's.
 * The program gets an epoll instance around it, as read() of that fails, which would take no event.
 *
 * What is not here: memory that is charged or missing, lateness of a machine, clocks that are set,
 * other processes.
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MS 1000000ULL
#define HOUR (3600000 * MS)

/* The limits of the module */
#define TICK_MIN 10000
#define TICK_MAX HOUR
#define TIMERS_DEFAULT (1U << 20)
#define TIMERS_MAX (1U << 27)
#define BUCKETS_MIN 8
#define BUCKETS_MAX (1U << 20)

/* The time at which the clock stands first: a multiple of all ticks of which a day has some */
#define START (24 * HOUR)

#define NOBODY UINT32_MAX

/* With the last one, no id could be told from an errno. */
#define GENERATION_MAX INT32_MAX

#define SETTINGS (HWTIMER_SETUP_REPORT_CLOCK_SET | HWTIMER_SETUP_AT_LEAST_ONCE)
#define REQUEST_FLAGS                                                          \
	(HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD | HWTIMER_REQ_FIXED_DELAY | \
	 HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE | HWTIMER_REQ_SET)

enum state { FREE, PENDING, EXPIRED };

/**
 * struct timer - a place in the table
 * @generation: the upper half of the id
 * @next_free: of a free one: index of the next free one, or NOBODY
 * @place: of a pending one, its place in the heap
 * @state: what it is
 * @align: it expires at a multiple of 2^@align ticks
 * @fixed_delay: HWTIMER_REQ_FIXED_DELAY
 * @read: its event was read, and is to be acknowledged
 * @left: expirations that are left; 0: no limit
 * @told: of an event that was read, the number of expirations that it told
 * @lateness: of its event
 * @deadline: ns
 * @due: time at which it expires: that of a tick after the one at which it was filed
 * @order: timers of a tick expire in this order
 * @interval: ns; 0: it expires once
 * @user_data: for the event
 */
struct timer {
	uint32_t generation;
	uint32_t next_free;
	uint32_t place;
	enum state state;
	unsigned int align;
	bool fixed_delay;
	bool read;
	uint32_t left;
	uint32_t told;
	uint32_t lateness;
	int64_t deadline;
	int64_t due;
	uint64_t order;
	uint64_t interval;
	uint64_t user_data;
};

/**
 * struct manual - an instance
 * @lock: protects all below, but for @event, which is constant
 * @forks: hwt_forks() of the process that it belongs to
 * @mover: the thread that has moved the clock last
 * @event: the eventfd
 * @raised: it is readable
 * @now: the time
 * @setup: the settings, without zeros
 * @started: there was a timer
 * @stopped: it is stopped, since @stopped_at
 * @stopped_at: see above
 * @timers: the table
 * @heap: indices of the stats.pending timers that are pending. The one at place i expires before
 *	those at 2i + 1 and 2i + 2
 * @nr_timers: length of both
 * @first_free: index of a free place, or NOBODY
 * @order: value of timer.order for the next timer
 * @events: ids, in the order in which their timers expired. One of a timer that is gone was
 *	dropped after it had been read
 * @count: number of events
 * @read: number of those, from the first on, that were read and not acknowledged
 * @dropped: number of events read before all these that were dropped, and are not acknowledged
 * @queued: events were queued since the eventfd was told
 * @first: time since which events wait
 * @notify: of HWTIMER_IOC_NOTIFY
 * @stats: counters
 */
struct manual {
	pthread_mutex_t lock;
	unsigned int forks;
	unsigned int mover;
	int event;
	bool raised;
	int64_t now;
	struct hwtimer_setup setup;
	bool started;
	bool stopped;
	int64_t stopped_at;
	struct timer *timers;
	uint32_t *heap;
	uint32_t nr_timers;
	uint32_t first_free;
	uint64_t order;
	uint64_t events[HWTIMER_EVENTS_MAX];
	uint32_t count;
	uint32_t read;
	uint32_t dropped;
	bool queued;
	int64_t first;
	struct hwtimer_notify notify;
	struct hwtimer_stats stats;
};

/* ---- the table ---- */

static uint64_t id_of(const struct manual *m, const struct timer *timer)
{
	return (uint64_t)timer->generation << 32 | (timer - m->timers);
}

/* Returns the timer, or NULL. */
static struct timer *find(const struct manual *m, uint64_t id)
{
	uint32_t index = id;
	struct timer *timer;

	if (index >= m->nr_timers)
		return NULL;
	timer = &m->timers[index];
	return timer->state != FREE && timer->generation == id >> 32 ? timer :
								       NULL;
}

static void timer_free(struct manual *m, struct timer *timer)
{
	timer->state = FREE;
	if (timer->generation == GENERATION_MAX)
		return;
	timer->next_free = m->first_free;
	m->first_free = timer - m->timers;
}

/* Makes the table larger. Returns false without memory. */
static bool grow(struct manual *m)
{
	uint32_t i = m->nr_timers, nr = i ? 2 * i : 64;
	uint32_t *heap = realloc(m->heap, nr * sizeof(*heap));
	struct timer *timers;

	if (!heap)
		return false;
	m->heap = heap;
	timers = realloc(m->timers, nr * sizeof(*timers));
	if (!timers)
		return false;
	m->timers = timers;
	m->nr_timers = nr;
	memset(timers + i, 0, (nr - i) * sizeof(*timers));
	while (nr-- > i)
		timer_free(m, &timers[nr]);
	return true;
}

/* Returns a new timer, all of which is still to be set but its id; NULL without memory. */
static struct timer *timer_new(struct manual *m)
{
	struct timer *timer;

	if (m->first_free == NOBODY && !grow(m))
		return NULL;
	timer = &m->timers[m->first_free];
	m->first_free = timer->next_free;
	*timer = (struct timer){ .generation = timer->generation + 1 };
	return timer;
}

/* ---- the heap ---- */

static bool sooner(const struct manual *m, uint32_t place, uint32_t than)
{
	const struct timer *first = &m->timers[m->heap[place]];
	const struct timer *second = &m->timers[m->heap[than]];

	return first->due != second->due ? first->due < second->due :
					   first->order < second->order;
}

static void swap(struct manual *m, uint32_t a, uint32_t b)
{
	uint32_t index = m->heap[a];

	m->heap[a] = m->heap[b];
	m->heap[b] = index;
	m->timers[m->heap[a]].place = a;
	m->timers[m->heap[b]].place = b;
}

/* Moves the timer at @place, of which the time has changed, to where it belongs. */
static void heap_settle(struct manual *m, uint32_t place)
{
	uint32_t next;

	for (; place && sooner(m, place, next = (place - 1) / 2); place = next)
		swap(m, place, next);
	while ((next = 2 * place + 1) < m->stats.pending) {
		if (next + 1 < m->stats.pending && sooner(m, next + 1, next))
			next++;
		if (!sooner(m, next, place))
			break;
		swap(m, place, next);
		place = next;
	}
}

/* The timer's time is still to be set. */
static void heap_add(struct manual *m, struct timer *timer)
{
	timer->place = m->stats.pending++;
	m->heap[timer->place] = timer - m->timers;
}

static void heap_remove(struct manual *m, const struct timer *timer)
{
	uint32_t place = timer->place, last = --m->stats.pending;

	swap(m, place, last);
	if (place != last)
		heap_settle(m, place);
}

/* When the next timer expires */
static int64_t soonest(const struct manual *m)
{
	return m->stats.pending ? m->timers[m->heap[0]].due : HWTIMER_NEVER;
}

/* ---- time ---- */

static bool settable(const struct manual *m)
{
	return m->setup.clock == HWTIMER_CLOCK_REALTIME ||
	       m->setup.clock == HWTIMER_CLOCK_TAI;
}

static bool keeps(const struct manual *m)
{
	return m->setup.flags & HWTIMER_SETUP_AT_LEAST_ONCE;
}

static int64_t deadline_of(const struct manual *m, unsigned int flags,
			   int64_t time)
{
	if (time < 0)
		time = 0;
	return flags & HWTIMER_REQ_ABSTIME ? time : hwt_time_add(m->now, time);
}

/* When a timer expires that is filed now: at a tick that has not begun yet. */
static int64_t due_of(const struct manual *m, const struct timer *timer)
{
	uint64_t tick = m->setup.tick, mask = (1ULL << timer->align) - 1;
	uint64_t next = m->now / tick + 1, nr;

	if (timer->deadline == HWTIMER_NEVER)
		return HWTIMER_NEVER;
	nr = (timer->deadline + tick - 1) / tick;
	nr = (nr + mask) & ~mask;
	nr = nr < next ? next : nr;
	return nr > HWTIMER_NEVER / tick ? HWTIMER_NEVER : (int64_t)(nr * tick);
}

/* Makes a timer pending, or files it anew. */
static void file(struct manual *m, struct timer *timer, int64_t deadline)
{
	if (timer->state != PENDING)
		heap_add(m, timer);
	timer->state = PENDING;
	timer->deadline = deadline;
	timer->due = due_of(m, timer);
	timer->order = m->order++;
	heap_settle(m, timer->place);
}

/* How many deadlines of a timer have passed that its event tells */
static uint32_t expirations_of(const struct manual *m,
			       const struct timer *timer)
{
	int64_t now = m->stopped ? m->stopped_at : m->now;
	uint64_t most = timer->left ? timer->left : UINT32_MAX, n = 1;

	if (timer->read)
		return timer->told;
	if (timer->interval && !timer->fixed_delay && now > timer->deadline)
		n += (now - timer->deadline) / timer->interval;
	return n < most ? n : most;
}

static int64_t next_deadline(const struct manual *m, const struct timer *timer,
			     uint32_t expirations)
{
	int64_t from = timer->fixed_delay ? m->now : timer->deadline, ahead;

	if (__builtin_mul_overflow(timer->interval, expirations, &ahead))
		return HWTIMER_NEVER;
	return hwt_time_add(from, ahead);
}

/* ---- events ---- */

static uint32_t unread(const struct manual *m)
{
	return m->count - m->read;
}

/* See HWTIMER_LATENESS_BOUND. */
static unsigned int lateness_class(uint64_t lateness)
{
	unsigned int i = HWTIMER_LATENESS_BUCKETS - 1;

	while (HWTIMER_LATENESS_BOUND(i) > lateness)
		i--;
	return i;
}

static void expire(struct manual *m, struct timer *timer, int64_t at)
{
	uint64_t lateness = at - timer->deadline;
	struct hwtimer_stats *stats = &m->stats;

	timer->lateness = lateness < UINT32_MAX ? lateness : UINT32_MAX;
	timer->state = EXPIRED;
	heap_remove(m, timer);
	if (!unread(m))
		m->first = at;
	m->events[m->count++] = id_of(m, timer);
	m->queued = true;
	stats->ready++;
	stats->expired++;
	stats->lateness[lateness_class(lateness)]++;
	stats->lateness_sum += timer->lateness;
	if (stats->lateness_max < lateness)
		stats->lateness_max = lateness;
}

/*
 * Lets timers expire that are due, as far as there is room for their events. The clock has gone on
 * from @before to now: those that became due meanwhile expire at the time at which they did.
 */
static void turn(struct manual *m, int64_t before)
{
	struct timer *timer;

	while (!m->stopped && m->count < HWTIMER_EVENTS_MAX &&
	       soonest(m) <= m->now) {
		timer = &m->timers[m->heap[0]];
		expire(m, timer, timer->due > before ? timer->due : m->now);
	}
}

/* The first events, which were read, need no place any more. */
static void forget(struct manual *m, uint32_t count)
{
	m->count -= count;
	m->read -= count;
	memmove(m->events, m->events + count, m->count * sizeof(*m->events));
}

/* Events have left: makes room for others, and notes what ACK still counts. */
static void events_taken(struct manual *m)
{
	if (!keeps(m))
		forget(m, m->read);
	if (!m->stats.ready) {
		m->dropped += m->read;
		forget(m, m->read);
	}
	turn(m, m->now);
}

static void remove_event(struct manual *m, uint32_t i)
{
	m->count--;
	memmove(&m->events[i], &m->events[i + 1],
		(m->count - i) * sizeof(*m->events));
}

/* Drops the event of a timer, and ends the timer. */
static void drop(struct manual *m, struct timer *timer)
{
	uint32_t i = 0;

	while (m->events[i] != id_of(m, timer))
		i++;
	if (!timer->read)
		remove_event(m, i);
	timer_free(m, timer);
	m->stats.ready--;
	m->stats.discarded++;
	events_taken(m);
}

/* Ends an event that was delivered: its timer is pending again, or ends. */
static void finish(struct manual *m, struct timer *timer, uint32_t expirations)
{
	bool again = timer->interval && timer->left != expirations;

	m->stats.ready--;
	m->stats.delivered++;
	m->stats.missed += expirations - 1;
	timer->read = false;
	if (!again) {
		timer_free(m, timer);
		return;
	}
	timer->left -= timer->left ? expirations : 0;
	m->stats.rearmed++;
	file(m, timer, next_deadline(m, timer, expirations));
}

static void deliver(struct manual *m, struct timer *timer,
		    struct hwtimer_event *event)
{
	*event = (struct hwtimer_event){
		.id = id_of(m, timer),
		.user_data = timer->user_data,
		.deadline = timer->deadline,
		.lateness = timer->lateness,
		.expirations = expirations_of(m, timer),
	};
	timer->told = event->expirations;
	if (keeps(m))
		timer->read = true;
	else
		finish(m, timer, event->expirations);
}

/* Returns the number of events taken. */
static uint32_t take(struct manual *m, struct hwtimer_event *events,
		     uint32_t count)
{
	uint32_t done = 0;

	while (done < count && unread(m)) {
		deliver(m, find(m, m->events[m->read++]), &events[done++]);
		if (done == count || !unread(m))
			events_taken(m);
	}
	return done;
}

/* ---- readiness ---- */

static bool overdue(const struct manual *m)
{
	return m->notify.events > 1 && m->notify.delay &&
	       (uint64_t)(m->now - m->first) >= m->notify.delay;
}

static bool readable(const struct manual *m)
{
	if (m->stopped)
		return true;
	return unread(m) && (unread(m) >= m->notify.events ||
			     m->count == HWTIMER_EVENTS_MAX ||
			     m->stats.ready >= m->setup.timers || overdue(m));
}

/* Tells the eventfd. Each write wakes those who wait for an edge. */
static void tell(struct manual *m)
{
	bool ready = readable(m);
	eventfd_t value;

	if (ready && (!m->raised || m->queued))
		eventfd_write(m->event, 1);
	if (!ready && m->raised)
		eventfd_read(m->event, &value);
	m->raised = ready;
	m->queued = false;
}

/* Returns false in a process that was forked: it has no part in the instance. */
static bool lock(struct manual *m)
{
	if (m->forks != hwt_forks())
		return false;
	pthread_mutex_lock(&m->lock);
	return true;
}

static void unlock(struct manual *m)
{
	tell(m);
	pthread_mutex_unlock(&m->lock);
}

/* ---- operations ---- */

/* Whether a request gives its timer all fields. */
static bool sets(unsigned int op, unsigned int flags)
{
	return op == HWTIMER_OP_SCHEDULE ||
	       flags & (HWTIMER_REQ_SET | HWTIMER_REQ_REARM);
}

/* Returns 0 or -EINVAL. */
static int check(const struct manual *m, const struct hwtimer_request *request,
		 unsigned int op)
{
	unsigned int flags = request->flags;
	bool delays = !(flags & HWTIMER_REQ_ABSTIME);

	if (request->reserved || flags & ~REQUEST_FLAGS)
		return -EINVAL;
	if (op == HWTIMER_OP_CANCEL)
		return 0;
	if (op != HWTIMER_OP_SCHEDULE && op != HWTIMER_OP_RESCHEDULE)
		return -EINVAL;
	if (sets(op, flags)) {
		if (request->interval > HWTIMER_NEVER ||
		    request->slack > HWTIMER_NEVER)
			return -EINVAL;
		delays |= request->interval && flags & HWTIMER_REQ_FIXED_DELAY;
	}
	return delays && settable(m) ? -EINVAL : 0;
}

/* Gives a timer all fields of a request, and files it. */
static void set(struct manual *m, struct timer *timer,
		const struct hwtimer_request *request)
{
	uint64_t ticks = request->slack / m->setup.tick + 1;

	timer->align = 63 - __builtin_clzll(ticks);
	timer->interval = request->interval;
	timer->left = request->interval ? request->expirations_max : 0;
	timer->fixed_delay = request->interval &&
			     request->flags & HWTIMER_REQ_FIXED_DELAY;
	timer->user_data = request->user_data;
	file(m, timer, deadline_of(m, request->flags, request->time));
}

static int schedule(struct manual *m, struct hwtimer_request *request)
{
	struct timer *timer;

	if (m->stopped)
		return -ESHUTDOWN;
	m->started = true;
	if (m->stats.pending + m->stats.ready >= m->setup.timers)
		return -ENOSPC;
	timer = timer_new(m);
	if (!timer)
		return -ENOMEM;
	set(m, timer, request);
	m->stats.scheduled++;
	request->id = id_of(m, timer);
	return 0;
}

/* The event that waits becomes the timer's last. */
static void end_resting(struct manual *m, struct timer *timer)
{
	timer->left = expirations_of(m, timer);
}

static void end_pending(struct manual *m, struct timer *timer)
{
	heap_remove(m, timer);
	timer_free(m, timer);
	m->stats.cancelled++;
}

static int cancel(struct manual *m, const struct hwtimer_request *request)
{
	struct timer *timer = find(m, request->id);

	if (!timer)
		return -ENOENT;
	if (timer->state == PENDING) {
		end_pending(m, timer);
	} else if (request->flags & HWTIMER_REQ_DISCARD) {
		drop(m, timer);
	} else {
		end_resting(m, timer);
		return 1;
	}
	return 0;
}

static int reschedule_pending(struct manual *m,
			      const struct hwtimer_request *request)
{
	struct timer *timer = find(m, request->id);

	if (m->stopped)
		return -ESHUTDOWN;
	if (!timer)
		return -ENOENT;
	if (timer->state != PENDING)
		return -EALREADY;
	if (sets(HWTIMER_OP_RESCHEDULE, request->flags))
		set(m, timer, request);
	else
		file(m, timer, deadline_of(m, request->flags, request->time));
	return 0;
}

static int reschedule(struct manual *m, struct hwtimer_request *request)
{
	int err = reschedule_pending(m, request);
	struct timer *timer;

	if (request->flags & HWTIMER_REQ_REARM &&
	    (err == -EALREADY ||
	     (err == -ENOENT && request->flags & HWTIMER_REQ_CREATE))) {
		/* A timer that ends makes the room that the new one needs. */
		timer = find(m, request->id);
		if (timer)
			drop(m, timer);
		err = schedule(m, request);
	}
	m->stats.rescheduled += !err;
	return err;
}

static int do_request(struct manual *m, struct hwtimer_request *request,
		      unsigned int op)
{
	int err = check(m, request, op);

	if (err)
		return err;
	if (op == HWTIMER_OP_SCHEDULE)
		return schedule(m, request);
	return op == HWTIMER_OP_CANCEL ? cancel(m, request) :
					 reschedule(m, request);
}

static int do_submit(struct manual *m, const struct hwtimer_submit *submit)
{
	struct hwtimer_request *requests = (void *)(uintptr_t)submit->requests;
	uint32_t i;

	if (submit->flags || submit->count > INT_MAX)
		return -EINVAL;
	for (i = 0; i < submit->count; i++)
		requests[i].result =
			do_request(m, &requests[i], requests[i].op);
	return submit->count;
}

/* The result of one timer of a bulk */
static uint64_t bulk_one(struct manual *m, const struct hwtimer_bulk *bulk,
			 uint64_t id, int64_t time)
{
	struct hwtimer_request request = {
		.flags = bulk->flags,
		.id = id,
		.user_data = id,
		.time = time,
		.slack = bulk->slack,
	};
	int ret = do_request(m, &request, bulk->op);

	return !ret && bulk->op == HWTIMER_OP_SCHEDULE ? request.id :
							 (uint64_t)(int64_t)ret;
}

static int do_bulk(struct manual *m, const struct hwtimer_bulk *bulk)
{
	const struct hwtimer_bulk_timer *timers =
		(void *)(uintptr_t)bulk->timers;
	uint64_t *results = (void *)(uintptr_t)bulk->results, result;
	const uint64_t *ids = (const void *)timers;
	const struct hwtimer_request common = {
		.flags = bulk->flags,
		.slack = bulk->slack,
	};
	uint32_t i;

	if (bulk->reserved || bulk->count > INT_MAX ||
	    bulk->flags & ~(HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD) ||
	    (bulk->op == HWTIMER_OP_SCHEDULE && !results) ||
	    check(m, &common, bulk->op))
		return -EINVAL;
	for (i = 0; i < bulk->count; i++) {
		result =
			bulk->op == HWTIMER_OP_CANCEL ?
				bulk_one(m, bulk, ids[i], 0) :
				bulk_one(m, bulk, timers[i].id, timers[i].time);
		if (results)
			results[i] = result;
	}
	return bulk->count;
}

/* ---- what there is ---- */

/* @next: as it will be after its event, which waits */
static void describe(const struct manual *m, const struct timer *timer,
		     bool next, struct hwtimer_timer *to)
{
	bool expired = timer->state == EXPIRED;
	uint32_t n = expired ? expirations_of(m, timer) : 0;
	int64_t deadline = next ? next_deadline(m, timer, n) : timer->deadline;

	*to = (struct hwtimer_timer){
		.id = id_of(m, timer),
		.user_data = timer->user_data,
		.deadline = deadline,
		.remaining = deadline > m->now ? deadline - m->now : 0,
		.interval = timer->interval,
		.slack = ((1ULL << timer->align) - 1) * m->setup.tick,
		.state = expired && !next ? HWTIMER_STATE_EXPIRED :
					    HWTIMER_STATE_PENDING,
		.flags = timer->fixed_delay ? HWTIMER_REQ_FIXED_DELAY : 0,
		.expirations_left = timer->interval ? timer->left : 0,
		.expirations = next ? 0 : n,
	};
	if (next && timer->left)
		to->expirations_left -= n;
	if (deadline == HWTIMER_NEVER)
		to->remaining = HWTIMER_NEVER;
}

/* Ends a timer for CANCEL_ALL, which hands it back or not. */
static void end(struct manual *m, struct timer *timer, bool back,
		unsigned int flags)
{
	if (timer->state == PENDING) {
		end_pending(m, timer);
		return;
	}
	m->stats.rearmed += back;
	m->stats.cancelled += back;
	end_resting(m, timer);
	if (flags & HWTIMER_LIST_DISCARD)
		drop(m, timer);
}

/* LIST, and with @ends CANCEL_ALL */
static int do_list(struct manual *m, struct hwtimer_list *list, bool ends)
{
	struct hwtimer_timer *timers = (void *)(uintptr_t)list->timers, one;
	bool back, stops = ends && list->flags & HWTIMER_LIST_STOP;
	struct timer *timer;
	uint32_t done = 0;

	if (list->flags & ~(HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD) ||
	    list->count > INT_MAX || (!list->count && !stops))
		return -EINVAL;
	if (stops && !m->stopped) {
		m->stopped = true;
		m->stopped_at = m->now;
	}
	for (; done < list->count && list->cursor < m->nr_timers;
	     list->cursor++) {
		timer = &m->timers[list->cursor];
		if (timer->state == FREE)
			continue;
		/* Whether it will be pending again */
		back = timer->state == EXPIRED && timer->interval &&
		       timer->left != expirations_of(m, timer);
		describe(m, timer, ends && back, &one);
		back |= timer->state == PENDING;
		if (ends)
			end(m, timer, back, list->flags);
		if (timers && (back || !ends))
			timers[done] = one;
		done += back || !ends;
	}
	return done;
}

static int do_query(const struct manual *m, struct hwtimer_timer *to)
{
	const struct timer *timer = find(m, to->id);

	if (!timer)
		return -ENOENT;
	describe(m, timer, false, to);
	return 0;
}

static int64_t until_next(const struct manual *m)
{
	int64_t next = soonest(m);

	if (unread(m))
		return 0;
	if (m->stopped || m->count == HWTIMER_EVENTS_MAX)
		return HWTIMER_NEVER;
	return next == HWTIMER_NEVER ? next : next - m->now;
}

/* ---- settings and readers ---- */

static uint32_t power_of_two(uint32_t value)
{
	return value & (value - 1) ? 2U << (31 - __builtin_clz(value)) : value;
}

static int do_setup(struct manual *m, const struct hwtimer_setup *setup)
{
	struct hwtimer_setup wanted = {
		.tick = setup->tick ? setup->tick : MS,
		.timers = setup->timers ? setup->timers : TIMERS_DEFAULT,
		.buckets = setup->buckets ? setup->buckets : 4096,
		.clock = setup->clock ? setup->clock : HWTIMER_CLOCK_MONOTONIC,
		.flags = setup->flags,
	};
	bool may_be_set = wanted.clock == HWTIMER_CLOCK_REALTIME ||
			  wanted.clock == HWTIMER_CLOCK_TAI;

	if (setup->reserved || wanted.tick < TICK_MIN ||
	    wanted.tick > TICK_MAX || wanted.timers > TIMERS_MAX ||
	    wanted.buckets < BUCKETS_MIN || wanted.buckets > BUCKETS_MAX ||
	    (wanted.clock != HWTIMER_CLOCK_MONOTONIC &&
	     wanted.clock != HWTIMER_CLOCK_BOOTTIME && !may_be_set) ||
	    wanted.flags & ~SETTINGS ||
	    (wanted.flags & HWTIMER_SETUP_REPORT_CLOCK_SET && !may_be_set))
		return -EINVAL;
	if (m->started || m->stopped)
		return -EBUSY;
	wanted.buckets = power_of_two(wanted.buckets);
	m->setup = wanted;
	return 0;
}

static void info_get(const struct manual *m, struct hwtimer_info *info)
{
	*info = (struct hwtimer_info){
		.abi_version = HWTIMER_ABI_VERSION,
		.started = m->started,
		.tick = m->setup.tick,
		.timers = m->setup.timers,
		.buckets = m->setup.buckets,
		.clock = m->setup.clock,
		.flags = m->setup.flags,
		.until_next = until_next(m),
		.tick_min = TICK_MIN,
		.tick_max = TICK_MAX,
		.timers_max = TIMERS_MAX,
		.buckets_min = BUCKETS_MIN,
		.buckets_max = BUCKETS_MAX,
	};
}

static int do_notify(struct manual *m, const struct hwtimer_notify *notify)
{
	if (notify->flags || notify->events > HWTIMER_EVENTS_MAX ||
	    notify->delay > HWTIMER_NEVER)
		return -EINVAL;
	m->notify = *notify;
	return 0;
}

static void acknowledge(struct manual *m, uint32_t count)
{
	uint32_t i, dropped = count < m->dropped ? count : m->dropped;
	struct timer *timer;

	m->dropped -= dropped;
	count -= dropped;
	for (i = 0; i < count; i++) {
		timer = find(m, m->events[i]);
		if (timer)
			finish(m, timer, timer->told);
	}
	forget(m, count);
	events_taken(m);
}

static void rewind_events(struct manual *m)
{
	struct timer *timer;

	if (!unread(m))
		m->first = m->now;
	while (m->read) {
		timer = find(m, m->events[--m->read]);
		if (timer)
			timer->read = false;
		else
			remove_event(m, m->read);
	}
	m->dropped = 0;
	m->queued = true;
	events_taken(m);
}

static int do_ack(struct manual *m, const struct hwtimer_ack *ack)
{
	if (ack->flags & ~HWTIMER_ACK_REWIND || ack->count > INT_MAX ||
	    !keeps(m) || ack->count > m->read + m->dropped)
		return -EINVAL;
	acknowledge(m, ack->count);
	if (ack->flags & HWTIMER_ACK_REWIND)
		rewind_events(m);
	return ack->count;
}

/* ---- commands ---- */

/*
 * Of a structure that grows, a program may know more than the @known bytes. As the module, refuses
 * what is not 0 there, or, in one that the program gets, makes it 0. Returns 0 or a negative errno.
 */
static int check_rest(void *argument, size_t size, size_t known, bool in)
{
	char *bytes = argument;

	if (size < known)
		return -EINVAL;
	for (; known < size; known++) {
		if (!in)
			bytes[known] = 0;
		else if (bytes[known])
			return -E2BIG;
	}
	return 0;
}

static int do_sized(struct manual *m, unsigned int nr, void *argument,
		    size_t size)
{
	static const size_t known[] = {
		[_IOC_NR(HWTIMER_IOC_SETUP)] = sizeof(struct hwtimer_setup),
		[_IOC_NR(HWTIMER_IOC_INFO)] = sizeof(struct hwtimer_info),
		[_IOC_NR(HWTIMER_IOC_STATS)] = sizeof(struct hwtimer_stats),
	};
	bool setup = nr == _IOC_NR(HWTIMER_IOC_SETUP);
	int err = check_rest(argument, size, known[nr], setup);

	if (err)
		return err;
	if (setup)
		return do_setup(m, argument);
	if (nr == _IOC_NR(HWTIMER_IOC_STATS))
		*(struct hwtimer_stats *)argument = m->stats;
	else
		info_get(m, argument);
	return 0;
}

static int execute(struct manual *m, unsigned long command, void *argument)
{
	switch (command) {
	case HWTIMER_IOC_SCHEDULE:
		return do_request(m, argument, HWTIMER_OP_SCHEDULE);
	case HWTIMER_IOC_CANCEL:
		return do_request(m, argument, HWTIMER_OP_CANCEL);
	case HWTIMER_IOC_RESCHEDULE:
		return do_request(m, argument, HWTIMER_OP_RESCHEDULE);
	case HWTIMER_IOC_SUBMIT:
		return do_submit(m, argument);
	case HWTIMER_IOC_BULK:
		return do_bulk(m, argument);
	case HWTIMER_IOC_QUERY:
		return do_query(m, argument);
	case HWTIMER_IOC_LIST:
		return do_list(m, argument, false);
	case HWTIMER_IOC_CANCEL_ALL:
		return do_list(m, argument, true);
	case HWTIMER_IOC_NOTIFY:
		return do_notify(m, argument);
	case HWTIMER_IOC_ACK:
		return do_ack(m, argument);
	default:
		return do_sized(m, _IOC_NR(command), argument,
				_IOC_SIZE(command));
	}
}

int hwt_manual_call(struct manual *m, unsigned long command, void *argument)
{
	int ret;

	if (!lock(m))
		return -EBADF;
	ret = execute(m, command, argument);
	unlock(m);
	return ret;
}

int hwt_manual_read(struct manual *m, struct hwtimer_event *events,
		    unsigned int count, bool waits)
{
	struct pollfd ready = { .fd = m->event, .events = POLLIN };
	bool ended, alone;
	uint32_t done;

	if (!count)
		return -EINVAL;
	do {
		if (!lock(m))
			return -EBADF;
		done = !waits || readable(m) ? take(m, events, count) : 0;
		ended = m->stopped && !unread(m);
		alone = m->mover == hwt_this_thread();
		unlock(m);
		if (done)
			return done;
		if (ended)
			return -ENOTCONN;
		if (!waits)
			return -EAGAIN;
		/* Whoever moves the clock would wait for itself. */
		if (alone)
			return -EDEADLK;
	} while (poll(&ready, 1, -1) >= 0);
	return -errno;
}

int64_t hwt_manual_now(struct manual *m)
{
	int64_t now = 0;

	if (lock(m)) {
		now = m->now;
		unlock(m);
	}
	return now;
}

int hwt_manual_advance(struct manual *m, int64_t ns)
{
	int64_t before;

	if (!lock(m))
		return -EBADF;
	before = m->now;
	m->mover = hwt_this_thread();
	if (ns >= 0 && ns < HWTIMER_NEVER - before) {
		m->now += ns;
		turn(m, before);
	} else {
		ns = -EINVAL;
	}
	unlock(m);
	return ns < 0 ? ns : 0;
}

void hwt_manual_free(struct manual *m)
{
	if (!m)
		return;
	if (m->event >= 0)
		close(m->event);
	free(m->timers);
	free(m->heap);
	free(m);
}

int hwt_manual_new(struct manual **manual)
{
	struct epoll_event readable = { .events = EPOLLIN };
	const struct hwtimer_setup defaults = { 0 };
	struct manual *m = calloc(1, sizeof(*m));
	int fd, err;

	if (!m)
		return -ENOMEM;
	m->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fd = m->event < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, m->event, &readable)) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		hwt_manual_free(m);
		return err;
	}
	pthread_mutex_init(&m->lock, NULL);
	m->forks = hwt_forks();
	m->mover = hwt_this_thread();
	m->now = START;
	m->first_free = NOBODY;
	do_setup(m, &defaults);
	*manual = m;
	return fd;
}
