// SPDX-License-Identifier: MIT
/*
 * Timer objects; see struct hwt_timer in libhwtimer.h.
 *
 * An object that is active has a slot, and a slot has at most one timer in the module. The
 * user_data of that timer is the slot's number, so an event finds its slot, if that is still
 * there, and not an object, which the program may have freed meanwhile. The event belongs
 * to the slot only if its id is the one that the slot has: ids are never reused.
 *
 * The module's timer is due at slot.armed, which may be earlier than timer.deadline. So a
 * later deadline is only stored in the object. When the module's timer expires too early,
 * the slot gets another one. Starting, stopping and an event that came too early put the
 * slot on a list, and hwt_flush() tells the module about all slots on it at once.
 *
 *	list		object	module's timer	hwt_flush()
 *	FREE		no	no		nothing
 *	SPARE		no	yes		cancels what is more than needed
 *	FRESH		yes	no		schedules
 *	SOONER		yes	yes, too late	reschedules
 *	NOWHERE		yes	yes		nothing
 *	RUNNING		yes	perhaps		nothing: the callback of a periodic timer is
 *						running
 *
 * A spare is what hwt_timer_stop() leaves. The next object that is started takes it over,
 * with the module's timer: if its deadline is later, the module need not be told.
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The upper half of the user_data of timer objects */
#define TAG 0x68777454ULL

/* Slots per chunk */
#define CHUNK 256

/* Maximum number of slots that one system call tells the module about */
#define BATCH 512

/* Up to so many changes of two kinds go into one SUBMIT, which is slower per timer. */
#define MIXED 16

/* How long a loop may wait before it tries again what the module refused, ms */
#define RETRY_MS 10

/* As many spares may stay as there are active timers, and this number more. */
#define SPARES 64

enum where { NOWHERE, FREE, SPARE, FRESH, SOONER, RUNNING, NR_LISTS };

struct link {
	struct link *next, *prev;
};

/**
 * struct hwt_slot - see above
 * @link: place in the list @where
 * @timer: the object; NULL: none
 * @id: id of the module's timer; 0: none
 * @armed: deadline of the module's timer
 * @index: number of the slot
 * @where: the list that has the slot
 */
struct hwt_slot {
	struct link link;
	struct hwt_timer *timer;
	uint64_t id;
	int64_t armed;
	uint32_t index;
	uint32_t where;
};

/**
 * struct chunk - slots that are allocated together
 * @used: number of them that are not free, and of callbacks that run for one
 * @slots: the slots
 */
struct chunk {
	unsigned int used;
	struct hwt_slot slots[CHUNK];
};

/**
 * struct timers - the timer objects of an instance
 * @forks: value of the variable in the process that they belong to
 * @refused: error of the last hwt_flush(), if slots stayed on the lists
 * @cancellations: those of struct hwt that the spares know of
 * @lists: the lists' heads
 * @count: the lists' lengths
 * @chunks: array of @nr_chunks chunks; NULL: it was given back
 * @nr_chunks: length of @chunks
 * @hole: no chunk before this one was given back
 * @slots: number of slots in all chunks
 * @unused: a chunk has lost its last slot that was used, since give_back()
 * @batch: slots that a system call is about
 * @bulk: what it is told about them
 * @results: what it returns about them
 */
struct timers {
	unsigned int forks;
	int refused;
	unsigned int cancellations;
	struct link lists[NR_LISTS];
	unsigned int count[NR_LISTS];
	struct chunk **chunks;
	unsigned int nr_chunks;
	unsigned int hole;
	unsigned int slots;
	bool unused;
	struct hwt_slot *batch[BATCH];
	struct hwtimer_bulk_timer bulk[BATCH];
	uint64_t results[BATCH];
};

/* ---- lists ---- */

static void link_add_after(struct link *link, struct link *before)
{
	link->prev = before;
	link->next = before->next;
	before->next->prev = link;
	before->next = link;
}

static void link_remove(struct link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Counts one more, or one less, use of the slot's chunk. */
static void use(struct timers *timers, const struct hwt_slot *slot, int by)
{
	struct chunk *chunk = timers->chunks[slot->index / CHUNK];

	chunk->used += by;
	timers->unused |= !chunk->used;
}

/* Takes @slot from its list, and puts it behind @before in the list @where. */
static void move_behind(struct timers *timers, struct hwt_slot *slot,
			enum where where, struct link *before)
{
	struct link *link = &slot->link;

	link_remove(link);
	link_add_after(link, before);
	if (slot->where == FREE || where == FREE)
		use(timers, slot, (where != FREE) - (slot->where != FREE));
	timers->count[slot->where]--;
	timers->count[where]++;
	slot->where = where;
}

/* To the front, so that what was used last, and is in the cache, is used next. */
static void move_to_front(struct timers *timers, struct hwt_slot *slot,
			  enum where where)
{
	move_behind(timers, slot, where, &timers->lists[where]);
}

static void move_to_end(struct timers *timers, struct hwt_slot *slot,
			enum where where)
{
	struct link *end = timers->lists[where].prev;

	move_behind(timers, slot, where, end == &slot->link ? end->prev : end);
}

static struct hwt_slot *first_of(struct timers *timers, enum where where)
{
	return timers->count[where] ?
		       (struct hwt_slot *)timers->lists[where].next :
		       NULL;
}

static struct hwt_slot *last_of(struct timers *timers, enum where where)
{
	return timers->count[where] ?
		       (struct hwt_slot *)timers->lists[where].prev :
		       NULL;
}

/* Number of objects that are active */
static unsigned int active(const struct timers *timers)
{
	return timers->count[NOWHERE] + timers->count[FRESH] +
	       timers->count[SOONER] + timers->count[RUNNING];
}

/* ---- time ---- */

/* Makes sure that @hwt knows its clock, and whether events stay. */
static int clock_need(struct hwt *hwt)
{
	struct hwtimer_info info;
	int err;

	/* One on a manual clock says each time whether it is this process's. */
	if (hwt->clock_known && !hwt->manual)
		return 0;
	err = hwt_info(hwt, &info);
	if (err)
		return err;
	hwt->clock = HWTIMER_CLOCKID(info.clock);
	hwt->keeps = info.flags & HWTIMER_SETUP_AT_LEAST_ONCE;
	hwt->clock_known = true;
	return 0;
}

bool hwt_keeps(struct hwt *hwt)
{
	return clock_need(hwt) || hwt->keeps;
}

static int64_t current_time(struct hwt *hwt)
{
	int64_t now = hwt->now;

	if (now != NOW_UNKNOWN)
		return now;
	now = hwt_read_clock(hwt);
	if (!hwt->uncached)
		hwt->now = now;
	return now;
}

/* ---- fork() ---- */

/* How many times this process, and those that it comes from, were forked */
static unsigned int forks;

static void count_fork(void)
{
	forks++;
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

unsigned int hwt_forks(void)
{
	return forks;
}

bool hwt_timers_foreign(const struct hwt *hwt)
{
	return hwt->timers && hwt->timers->forks != forks;
}

/* ---- slots ---- */

static int timers_new(struct hwt *hwt)
{
	struct timers *timers = calloc(1, sizeof(*timers));
	int i;

	if (!timers)
		return -ENOMEM;
	for (i = 0; i < NR_LISTS; i++) {
		timers->lists[i].next = &timers->lists[i];
		timers->lists[i].prev = &timers->lists[i];
	}
	timers->forks = forks;
	/* Other threads, which may call hwt_read(), look whether it is there. */
	__atomic_store_n(&hwt->timers, timers, __ATOMIC_RELEASE);
	return 0;
}

/* Makes sure that @hwt has what timer objects need. */
static int timers_need(struct hwt *hwt)
{
	int err = clock_need(hwt);

	/* Nobody would acknowledge the events. */
	if (!err && hwt->keeps)
		return -EINVAL;
	if (hwt_timers_foreign(hwt))
		return -EBADF;
	return err || hwt->timers ? err : timers_new(hwt);
}

/* The same for an object; -EINVAL: it was never initialized. */
static int timer_need(const struct hwt_timer *timer)
{
	return timer->hwt && timer->callback ? timers_need(timer->hwt) :
					       -EINVAL;
}

unsigned int hwt_active(const struct hwt *hwt)
{
	return hwt->timers ? active(hwt->timers) : 0;
}

void hwt_timers_free(struct hwt *hwt)
{
	struct timers *timers = hwt->timers;
	unsigned int i;

	if (!timers)
		return;
	for (i = 0; i < timers->nr_chunks; i++)
		free(timers->chunks[i]);
	free(timers->chunks);
	free(timers);
}

/* Finds the place of a chunk that was given back, or makes one. Returns NULL without memory. */
static struct chunk **chunk_place(struct timers *timers)
{
	struct chunk **chunks = timers->chunks;
	unsigned int nr = timers->nr_chunks;

	while (timers->hole < nr && chunks[timers->hole])
		timers->hole++;
	if (timers->hole == nr) {
		chunks = realloc(chunks, (nr + 1) * sizeof(*chunks));
		if (!chunks)
			return NULL;
		chunks[nr] = NULL;
		timers->chunks = chunks;
		timers->nr_chunks++;
	}
	return &chunks[timers->hole];
}

/* Makes a chunk of free slots. Returns false without memory. */
static bool slots_grow(struct timers *timers)
{
	struct chunk **place = chunk_place(timers);
	struct hwt_slot *slot;
	unsigned int i;

	if (!place)
		return false;
	*place = calloc(1, sizeof(**place));
	if (!*place)
		return false;
	for (i = 0; i < CHUNK; i++) {
		slot = &(*place)->slots[i];
		slot->index = (place - timers->chunks) * CHUNK + i;
		slot->where = FREE;
		timers->count[FREE]++;
		link_add_after(&slot->link, timers->lists[FREE].prev);
	}
	timers->slots += CHUNK;
	return true;
}

/* The slots of @chunk are free. */
static void chunk_free(struct timers *timers, struct chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < CHUNK; i++)
		link_remove(&chunk->slots[i].link);
	timers->count[FREE] -= CHUNK;
	timers->slots -= CHUNK;
	free(chunk);
}

/* Frees the chunks that have no slot in use, and what their array need not have at its end. */
static void chunks_free_unused(struct timers *timers)
{
	struct chunk **chunks = timers->chunks;
	unsigned int i, nr = 0;

	for (i = 0; i < timers->nr_chunks; i++) {
		if (chunks[i] && !chunks[i]->used) {
			chunk_free(timers, chunks[i]);
			chunks[i] = NULL;
		}
		if (chunks[i])
			nr = i + 1;
	}
	timers->unused = false;
	timers->hole = 0;
	timers->nr_chunks = nr;
	chunks = realloc(chunks, (nr + 1) * sizeof(*chunks));
	if (chunks)
		timers->chunks = chunks;
}

/*
 * Makes spares free ones if hwt_cancel_all() has ended their timers: one that an object took
 * over would never expire.
 */
static void forget_ended_spares(struct hwt *hwt)
{
	unsigned int cancellations =
		__atomic_load_n(&hwt->cancellations, __ATOMIC_ACQUIRE);
	struct timers *timers = hwt->timers;
	struct hwt_slot *slot;

	if (timers->cancellations == cancellations)
		return;
	timers->cancellations = cancellations;
	while ((slot = first_of(timers, SPARE))) {
		slot->id = 0;
		move_to_front(timers, slot, FREE);
	}
}

/* Returns a slot without an object; NULL without memory. */
static struct hwt_slot *slot_get(struct hwt *hwt)
{
	struct timers *timers = hwt->timers;
	struct hwt_slot *slot;

	forget_ended_spares(hwt);
	slot = first_of(timers, SPARE);
	if (slot)
		return slot;
	if (!timers->count[FREE] && !slots_grow(timers))
		return NULL;
	return first_of(timers, FREE);
}

/* The slot of an event, if the event is of the timer that the slot has in the module */
static struct hwt_slot *slot_of_event(const struct timers *timers,
				      const struct hwtimer_event *event)
{
	uint32_t index = event->user_data;
	struct chunk *chunk;
	struct hwt_slot *slot;

	if (index / CHUNK >= timers->nr_chunks)
		return NULL;
	chunk = timers->chunks[index / CHUNK];
	if (!chunk)
		return NULL;
	slot = &chunk->slots[index % CHUNK];
	return slot->id == event->id ? slot : NULL;
}

/* The first change after hwt_flush() is told to the loop. */
static void changed(struct hwt *hwt)
{
	if (!hwt->on_change || hwt->told)
		return;
	hwt->told = true;
	hwt_will_call_back();
	hwt->on_change(hwt->on_change_arg);
}

/* Puts the slot of an object on the list for what the module has to be told. */
static void slot_settle(struct hwt *hwt, struct hwt_slot *slot)
{
	struct hwt_timer *timer = slot->timer;
	enum where where = !slot->id			 ? FRESH :
			   timer->deadline < slot->armed ? SOONER :
							   NOWHERE;

	move_to_end(hwt->timers, slot, where);
	/* A slot on a list takes any deadline that the object has by then. */
	timer->armed = where == NOWHERE ? slot->armed : 0;
	if (where != NOWHERE)
		changed(hwt);
}

/* Separates an object from its slot. */
static void slot_release(struct hwt *hwt, struct hwt_slot *slot)
{
	struct timers *timers = hwt->timers;

	slot->timer->slot = NULL;
	slot->timer->armed = HWTIMER_NEVER;
	slot->timer = NULL;
	move_to_front(timers, slot, slot->id ? SPARE : FREE);
	if (!active(timers) || timers->count[SPARE] > active(timers) + SPARES)
		changed(hwt);
}

void hwt_timers_end(struct hwt *hwt)
{
	static const enum where lists[] = { NOWHERE, FRESH, SOONER, RUNNING };
	struct hwt_slot *slot;
	unsigned int i;

	forget_ended_spares(hwt);
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		while ((slot = first_of(hwt->timers, lists[i]))) {
			slot->id = 0;
			slot_release(hwt, slot);
		}
	}
}

/* ---- objects ---- */

void hwt_timer_init(struct hwt_timer *timer, struct hwt *hwt,
		    hwt_timer_callback callback)
{
	memset(timer, 0, sizeof(*timer));
	timer->hwt = hwt;
	timer->callback = callback;
	timer->armed = HWTIMER_NEVER;
	timer->timeout = INT64_MIN;
	hwt_written(timer, sizeof(*timer));
}

/* Not inline: start() would save registers for it in vain. */
static __attribute__((noinline)) int start_slot(struct hwt_timer *timer,
						int64_t deadline)
{
	struct hwt_slot *slot = timer->slot;

	if (!slot)
		slot = slot_get(timer->hwt);
	if (!slot)
		return -ENOMEM;
	timer->slot = slot;
	timer->deadline = deadline;
	slot->timer = timer;
	slot_settle(timer->hwt, slot);
	if (active(timer->hwt->timers) == 1)
		changed(timer->hwt);
	return 0;
}

/* Gives the object a deadline. On failure it stays as it was. */
static int start(struct hwt_timer *timer, int64_t deadline)
{
	if (deadline <= timer->armed)
		return start_slot(timer, deadline);
	timer->deadline = deadline;
	return 0;
}

/* Starts the object @delay from now, and stores how it goes on. */
static int start_after(struct hwt_timer *timer, int64_t delay, int64_t timeout,
		       int64_t interval)
{
	int err = timer_need(timer);

	if (!err)
		err = start(timer, hwt_time_add(hwt_read_clock(timer->hwt),
						delay < 0 ? 0 : delay));
	if (err)
		return err;
	timer->timeout = timeout;
	timer->interval = interval;
	return 0;
}

int hwt_timer_start(struct hwt_timer *timer, int64_t delay)
{
	return start_after(timer, delay, delay < 0 ? 0 : delay, 0);
}

int hwt_timer_start_every(struct hwt_timer *timer, int64_t delay,
			  int64_t interval, unsigned int flags)
{
	if (interval <= 0 || flags & ~HWTIMER_REQ_FIXED_DELAY)
		return -EINVAL;
	return start_after(timer, delay, interval,
			   flags & HWTIMER_REQ_FIXED_DELAY ? -interval :
							     interval);
}

int hwt_timer_start_at(struct hwt_timer *timer, uint64_t deadline)
{
	int err = timer_need(timer);

	if (!err)
		err = start(timer, hwt_deadline_time(deadline));
	if (err)
		return err;
	timer->timeout = INT64_MIN;
	timer->interval = 0;
	return 0;
}

/* Not inline: hwt_timer_again() would save registers for it in vain. */
static __attribute__((noinline)) int again(struct hwt_timer *timer)
{
	int err;

	if (timer->timeout < 0)
		return -EINVAL;
	/*
	 * SETUP may have chosen another clock since the last start, unless the object is active.
	 * A manual clock has to say whether it is this process's.
	 */
	if (!timer->slot || timer->hwt->manual) {
		err = timers_need(timer->hwt);
		if (err)
			return err;
	}
	return start(timer,
		     hwt_time_add(current_time(timer->hwt), timer->timeout));
}

/* The sum is negative if it is not the deadline: see NOW_UNKNOWN, and hwt_timer.timeout. */
int hwt_timer_again(struct hwt_timer *timer)
{
	int64_t deadline = (uint64_t)timer->hwt->now + (uint64_t)timer->timeout;

	if (deadline <= timer->armed)
		return again(timer);
	timer->deadline = deadline;
	return 0;
}

void hwt_timer_stop(struct hwt_timer *timer)
{
	/* An object of zeros, which was never initialized, has no instance. */
	if (timer->slot)
		slot_release(timer->hwt, timer->slot);
}

int hwt_timer_active(const struct hwt_timer *timer)
{
	return !!timer->slot;
}

uint64_t hwt_timer_deadline(const struct hwt_timer *timer)
{
	return timer->slot ? timer->deadline : HWTIMER_NEVER;
}

uint64_t hwt_timer_expirations(const struct hwt_timer *timer)
{
	return timer->expirations;
}

/* ---- expiry ---- */

/* Moves the deadline to the first one after @now, and counts those before. */
static void forward(struct hwt_timer *timer, int64_t now)
{
	int64_t interval = timer->interval, missed = 0;

	if (now > timer->deadline)
		missed = (now - timer->deadline) / interval;
	timer->expirations = missed + 1;
	timer->deadline =
		hwt_time_add(timer->deadline + missed * interval, interval);
}

/*
 * Whether the object of @slot, whose callback has returned, goes on. If it was stopped or started
 * meanwhile, the slot is on another list. After hwt_close() the object may be gone.
 */
static bool has_run(const struct hwt *hwt, const struct hwt_slot *slot)
{
	return slot->where == RUNNING && !hwt->closed;
}

static void call(struct hwt *hwt, struct hwt_timer *timer)
{
	hwt_will_call_back();
	if (hwt->wrapper)
		hwt->wrapper(hwt->wrapper_arg, timer);
	else
		timer->callback(timer);
}

/*
 * Calls the callback of a periodic timer, which is not called again until it has returned. The
 * object may be gone after that, unless has_run() says otherwise.
 */
static void expire_periodic(struct hwt *hwt, struct hwt_slot *slot)
{
	struct hwt_timer *timer = slot->timer;

	if (timer->interval > 0)
		forward(timer, current_time(hwt));
	move_to_front(hwt->timers, slot, RUNNING);
	timer->armed = HWTIMER_NEVER;
	/* The slot stays, whatever the callback does. */
	use(hwt->timers, slot, 1);
	call(hwt, timer);
	use(hwt->timers, slot, -1);
	if (!has_run(hwt, slot))
		return;
	if (timer->interval < 0)
		timer->deadline =
			hwt_time_add(hwt_read_clock(hwt), -timer->interval);
	slot_settle(hwt, slot);
}

static void expire(struct hwt *hwt, struct hwt_slot *slot)
{
	struct hwt_timer *timer = slot->timer;

	timer->expirations = 1;
	if (timer->interval) {
		expire_periodic(hwt, slot);
	} else {
		slot_release(hwt, slot);
		call(hwt, timer);
	}
}

/* The module's timer has expired; but its clock may have been set back since. */
static bool may_be_early(const struct hwt *hwt, const struct hwt_slot *slot)
{
	return slot->timer->deadline > slot->armed ||
	       hwt->clock == CLOCK_REALTIME || hwt->clock == CLOCK_TAI;
}

bool hwt_timers_take(struct hwt *hwt, const struct hwtimer_event *event)
{
	struct hwt_slot *slot;
	struct hwt_timer *timer;

	if (event->user_data >> 32 != TAG)
		return false;
	slot = slot_of_event(hwt->timers, event);
	if (!slot)
		return true;
	slot->id = 0;
	timer = slot->timer;
	if (!timer)
		move_to_front(hwt->timers, slot, FREE);
	else if (slot->where == RUNNING)
		return true; /* in the callback, which was called without the module */
	else if (may_be_early(hwt, slot) && timer->deadline > current_time(hwt))
		slot_settle(hwt, slot);
	else
		expire(hwt, slot);
	return true;
}

/* Callbacks may change the list, so that a slot may be met twice, or only the next time. */
static unsigned int serve_list(struct hwt *hwt, enum where where,
			       unsigned int max)
{
	struct timers *timers = hwt->timers;
	unsigned int left = timers->count[where], done = 0;
	struct hwt_slot *slot;

	while (left-- && done < max && !hwt_ends(hwt)) {
		slot = first_of(timers, where);
		if (!slot)
			break;
		if (slot->timer->deadline > current_time(hwt)) {
			move_to_end(timers, slot, where);
			continue;
		}
		expire(hwt, slot);
		done++;
	}
	return done;
}

unsigned int hwt_timers_serve_refused(struct hwt *hwt, unsigned int max)
{
	unsigned int done;

	if (!hwt->timers->refused)
		return 0;
	done = serve_list(hwt, FRESH, max);
	return done + serve_list(hwt, SOONER, max - done);
}

/* ---- telling the module ---- */

static uint64_t result_of(int err, uint64_t value)
{
	return err < 0 ? (uint64_t)(int64_t)err : value;
}

static uint64_t module_data(const struct hwt_slot *slot)
{
	return TAG << 32 | slot->index;
}

/* An object that was made sooner, and later again, needs nothing of the module. */
static void drop_later(struct timers *timers)
{
	unsigned int left = timers->count[SOONER];
	struct hwt_slot *slot;

	while (left--) {
		slot = first_of(timers, SOONER);
		if (slot->timer->deadline < slot->armed) {
			move_to_end(timers, slot, SOONER);
		} else {
			slot->timer->armed = slot->armed;
			move_to_front(timers, slot, NOWHERE);
		}
	}
}

/*
 * Puts the first @count slots of a list, which stay on it, into @batch, which has @n.
 * Returns the new number.
 */
static unsigned int gather(struct timers *timers, enum where where,
			   unsigned int n, unsigned int count)
{
	struct link *link = timers->lists[where].next;

	for (; count--; link = link->next)
		timers->batch[n++] = (struct hwt_slot *)link;
	return n;
}

/*
 * Does what the result of one slot asks for. Returns the error if it stays on its list.
 * -EALREADY: an event waits, so the timer has expired. -ENOENT: the event was read, by this
 * process, which will then not know it, or by another one. So another timer is needed.
 */
static int take_result(struct timers *timers, struct hwt_slot *slot,
		       uint64_t result)
{
	int err = hwt_error(result);

	if (err == -ENOENT && slot->id) {
		slot->id = 0;
		move_to_front(timers, slot, FRESH);
		return 0;
	}
	if (err && !(err == -EALREADY && slot->id)) {
		move_to_end(timers, slot, slot->where);
		return err;
	}
	if (!slot->id)
		slot->id = result;
	if (!err)
		slot->armed = slot->timer->deadline;
	slot->timer->armed = slot->armed;
	move_to_front(timers, slot, NOWHERE);
	return 0;
}

/* Takes @n results. Returns the first error, and counts the others in @taken. */
static int take_results(struct timers *timers, unsigned int n,
			unsigned int *taken)
{
	unsigned int i;
	int err, first = 0;

	for (i = 0; i < n; i++) {
		err = take_result(timers, timers->batch[i], timers->results[i]);
		if (!err)
			++*taken;
		else if (!first)
			first = err;
	}
	return first;
}

static int tell_one(struct hwt *hwt, struct timers *timers)
{
	struct hwt_slot *slot = timers->batch[0];
	uint64_t time = slot->timer->deadline, id = 0;
	int err;

	if (slot->id)
		err = hwt_reschedule_at(hwt, slot->id, time);
	else
		err = hwt_schedule_at(hwt, time, module_data(slot), &id);
	timers->results[0] = result_of(err, id);
	return 1;
}

/* All @n slots are of one list. Returns as hwt_schedule_many(). */
static int tell_alike(struct hwt *hwt, struct timers *timers, unsigned int n)
{
	struct hwtimer_bulk_timer *bulk = timers->bulk;
	bool schedule = !timers->batch[0]->id;
	struct hwt_slot *slot;
	unsigned int i;

	for (i = 0; i < n; i++) {
		slot = timers->batch[i];
		bulk[i].id = schedule ? module_data(slot) : slot->id;
		bulk[i].time = slot->timer->deadline;
	}
	if (schedule)
		return hwt_schedule_many(hwt, HWTIMER_REQ_ABSTIME, bulk,
					 timers->results, n);
	return hwt_reschedule_many(hwt, HWTIMER_REQ_ABSTIME, bulk,
				   timers->results, n);
}

static int tell_mixed(struct hwt *hwt, struct timers *timers, unsigned int n)
{
	struct hwtimer_request requests[MIXED] = { 0 };
	struct hwt_slot *slot;
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++) {
		slot = timers->batch[i];
		requests[i].op = slot->id ? HWTIMER_OP_RESCHEDULE :
					    HWTIMER_OP_SCHEDULE;
		requests[i].flags = HWTIMER_REQ_ABSTIME;
		requests[i].id = slot->id;
		requests[i].time = slot->timer->deadline;
		requests[i].user_data = module_data(slot);
	}
	ret = hwt_submit(hwt, requests, n);
	for (i = 0; (int)i < ret; i++)
		timers->results[i] =
			result_of(requests[i].result, requests[i].id);
	return ret;
}

/*
 * Tells the module about all slots of a list. A batch of which it takes nothing ends this:
 * what it refuses now, it would refuse for all. Returns 0 or the first error.
 */
static int tell_list(struct hwt *hwt, enum where where)
{
	struct timers *timers = hwt->timers;
	unsigned int left = timers->count[where], n, taken = 1;
	int ret, err = 0;

	while (left && taken) {
		n = gather(timers, where, 0, left < BATCH ? left : BATCH);
		ret = n == 1 ? tell_one(hwt, timers) :
			       tell_alike(hwt, timers, n);
		if (ret < 0)
			return err ? err : ret;
		left -= ret;
		taken = 0;
		ret = take_results(timers, ret, &taken);
		err = err ? err : ret;
	}
	return err;
}

/* A few changes of both kinds, as one system call. */
static int tell_few(struct hwt *hwt, unsigned int sooner, unsigned int fresh)
{
	struct timers *timers = hwt->timers;
	unsigned int taken = 0;
	int ret, err;

	gather(timers, FRESH, gather(timers, SOONER, 0, sooner), fresh);
	ret = tell_mixed(hwt, timers, sooner + fresh);
	if (ret < 0)
		return ret;
	err = take_results(timers, ret, &taken);
	/* An error has ended the call early: whatever it was, it comes again, or has passed. */
	return err ? err : tell_list(hwt, SOONER);
}

/* Many changes of both kinds are faster as two system calls. */
static int tell_all(struct hwt *hwt)
{
	struct timers *timers = hwt->timers;
	unsigned int fresh = timers->count[FRESH], sooner;
	int err, ret;

	drop_later(timers);
	sooner = timers->count[SOONER];
	if (sooner && fresh && sooner + fresh <= MIXED)
		err = tell_few(hwt, sooner, fresh);
	else
		err = tell_list(hwt, SOONER);
	/* Also those that turned out to need another timer. */
	ret = tell_list(hwt, FRESH);
	return err ? err : ret;
}

/* Cancels the oldest spares until @keep are left. */
static void cancel_spares(struct hwt *hwt, unsigned int keep)
{
	struct timers *timers = hwt->timers;
	unsigned int i, n, count;
	int ret = 1;

	while (timers->count[SPARE] > keep && ret > 0) {
		count = timers->count[SPARE] - keep;
		n = count < BATCH ? count : BATCH;
		for (i = 0; i < n; i++) {
			struct hwt_slot *slot = last_of(timers, SPARE);

			timers->batch[i] = slot;
			timers->results[i] = slot->id;
			move_to_front(timers, slot, SPARE);
		}
		ret = hwt_cancel_many(hwt, HWTIMER_REQ_DISCARD, timers->results,
				      NULL, n);
		for (i = 0; (int)i < ret; i++) {
			timers->batch[i]->id = 0;
			move_to_front(timers, timers->batch[i], FREE);
		}
	}
}

/*
 * Gives memory back of which three quarters are free. First cancels all spares, as a single one
 * keeps a chunk; the next ones will be in chunks that other slots keep.
 */
static void give_back(struct hwt *hwt)
{
	struct timers *timers = hwt->timers;

	if (!timers->unused || timers->slots / 4 <= active(timers) + SPARES)
		return;
	cancel_spares(hwt, 0);
	chunks_free_unused(timers);
}

int hwt_flush(struct hwt *hwt)
{
	struct timers *timers = hwt->timers;
	int err;

	hwt->now = NOW_UNKNOWN;
	hwt->told = false;
	if (!timers)
		return 0;
	if (hwt_timers_foreign(hwt))
		return -EBADF;
	cancel_spares(hwt, active(timers) + SPARES);
	give_back(hwt);
	err = tell_all(hwt);
	if ((err == -ENOSPC || err == -ENOMEM) && timers->count[SPARE]) {
		cancel_spares(hwt, 0);
		err = tell_all(hwt);
	}
	timers->refused = err;
	return err;
}

int hwt_refused(const struct hwt *hwt)
{
	return hwt->timers ? hwt->timers->refused : 0;
}

int hwt_wait_ms(const struct hwt *hwt, int timeout)
{
	int err = hwt_refused(hwt);

	if (hwt->count || hwt->left)
		return 0;
	if (!err || err == -ESHUTDOWN || (timeout >= 0 && timeout < RETRY_MS))
		return timeout;
	return RETRY_MS;
}

uint64_t hwt_now(struct hwt *hwt)
{
	return clock_need(hwt) ? 0 : current_time(hwt);
}

void hwt_cache_time(struct hwt *hwt, int yes)
{
	hwt->uncached = !yes || hwt->manual;
	hwt->now = NOW_UNKNOWN;
}

void hwt_on_change(struct hwt *hwt, void (*callback)(void *arg), void *arg)
{
	hwt->on_change = callback;
	hwt->on_change_arg = arg;
	hwt->told = false;
}

void hwt_wrap_callbacks(struct hwt *hwt,
			void (*wrapper)(void *arg, struct hwt_timer *timer),
			void *arg)
{
	hwt->wrapper = wrapper;
	hwt->wrapper_arg = arg;
}
