// SPDX-License-Identifier: GPL-2.0
/*
 * Schedules the timers batch by batch, and cancels a random half of them, the victims,
 * while they run.
 *
 * When the submitter has scheduled a victim, it chooses the time of the CANCEL. Three
 * victims in four get a random time before the deadline, like a timeout whose answer
 * comes in time. One in four gets a time within a slot of the deadline, so that cancel
 * and expiry race. Victims wait for that time in slots of SLOT_NS each. The slots form a
 * ring that is longer than any delay.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>

#include "demo.h"

#define SLOT_NS (2 * NSEC_PER_MSEC)
#define NO_TIMER (~0U)

/* The shortest delay: each deadline must come after the scheduling of its batch. */
#define DELAY_MIN (50 * NSEC_PER_MSEC)

/**
 * struct submitter - the submitting thread
 * @demo: the run
 * @requests: the requests of one batch
 * @victims: for each CANCEL of a batch, its timer
 * @batched: number of requests in the batch
 * @slots: the ring: for each slot, its first victim
 * @nr_slots: length of the ring
 * @slot: the earliest slot with victims that have not been cancelled
 * @waiting: number of victims in all slots
 * @next: the first timer that has not been scheduled
 * @wanted: number of victims still to be chosen
 * @random: state of the random numbers
 */
struct submitter {
	struct demo *demo;
	struct hwtimer_request *requests;
	__u32 *victims;
	__u32 batched;
	__u32 *slots;
	__u64 nr_slots;
	__u64 slot;
	__u32 waiting;
	__u32 next;
	__u32 wanted;
	__u64 random;
};

static __u64 delay_max(const struct submitter *s)
{
	return s->demo->options.seconds * NSEC_PER_SEC;
}

static __u64 slot_of(const struct submitter *s, __u64 time)
{
	return (time - s->demo->start) / SLOT_NS;
}

static __u64 random_between(struct submitter *s, __u64 low, __u64 high)
{
	return low + random_next(&s->random) % (high - low);
}

/* Chooses at random, but so that exactly half of all timers become victims. */
static bool is_victim(struct submitter *s, __u32 index)
{
	__u32 left = s->demo->options.timers - index;

	if (random_next(&s->random) % left >= s->wanted)
		return false;
	s->wanted--;
	return true;
}

static void plan_cancel(struct submitter *s, __u32 index, __u64 now)
{
	struct timer *timer = &s->demo->timers[index];
	bool race = random_next(&s->random) % 4 == 0;
	__u64 slot;

	if (race)
		slot = slot_of(s, timer->deadline) + random_between(s, 0, 2);
	else
		slot = slot_of(s, random_between(s, now, timer->deadline));
	if (slot < s->slot)
		slot = s->slot;
	timer->next = s->slots[slot % s->nr_slots];
	s->slots[slot % s->nr_slots] = index;
	s->waiting++;
}

static void batch_schedule(struct submitter *s, __u64 now)
{
	struct timer *timer = &s->demo->timers[s->next + s->batched];

	timer->deadline = now + random_between(s, DELAY_MIN, delay_max(s));
	s->requests[s->batched] = (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.time = timer->deadline,
		.user_data = s->next + s->batched,
	};
	s->batched++;
}

static void refused(struct submitter *s, int error)
{
	if (!s->demo->submitted.refused++)
		s->demo->submitted.refusal = error;
}

static void note_scheduled(struct submitter *s, __u32 index, __u64 now,
			   const struct hwtimer_request *request)
{
	struct timer *timer = &s->demo->timers[index];
	bool victim = is_victim(s, index);

	if (request->result) {
		refused(s, -request->result);
		return;
	}
	timer->id = request->id;
	timer->fate = FATE_EXPIRES;
	if (victim)
		plan_cancel(s, index, now);
	atomic_fetch_add(&s->demo->scheduled, 1);
}

static void note_peak(struct submitter *s)
{
	struct submitted *submitted = &s->demo->submitted;
	struct hwtimer_stats stats;

	device_stats(s->demo->fd, &stats);
	if (stats.pending + stats.ready > submitted->peak)
		submitted->peak = stats.pending + stats.ready;
}

static void schedule_batch(struct submitter *s, __u64 now)
{
	struct options *options = &s->demo->options;
	__u32 i;

	s->batched = 0;
	while (s->batched < options->batch &&
	       s->next + s->batched < options->timers)
		batch_schedule(s, now);
	device_submit(s->demo->fd, s->requests, s->batched);
	for (i = 0; i < s->batched; i++)
		note_scheduled(s, s->next + i, now, &s->requests[i]);
	s->next += s->batched;
	note_peak(s);
	s->demo->submitted.schedule_ns = now_ns() - s->demo->start;
}

static void note_cancelled(struct submitter *s, __u32 index, int result)
{
	struct submitted *submitted = &s->demo->submitted;
	struct timer *timer = &s->demo->timers[index];

	submitted->attempts++;
	switch (result) {
	case 0:
		timer->fate = FATE_CANCELLED;
		atomic_fetch_add(&s->demo->cancelled, 1);
		break;
	case 1:
		timer->fate = FATE_TOO_LATE;
		submitted->unread++;
		break;
	case -ENOENT:
		timer->fate = FATE_TOO_LATE;
		submitted->gone++;
		break;
	default:
		submitted->odd++;
	}
}

static void cancel_batch(struct submitter *s)
{
	__u32 i;

	device_submit(s->demo->fd, s->requests, s->batched);
	for (i = 0; i < s->batched; i++)
		note_cancelled(s, s->victims[i], s->requests[i].result);
	s->waiting -= s->batched;
	s->batched = 0;
}

static void batch_cancel(struct submitter *s, __u32 index)
{
	s->victims[s->batched] = index;
	s->requests[s->batched] = (struct hwtimer_request){
		.op = HWTIMER_OP_CANCEL,
		.id = s->demo->timers[index].id,
	};
	if (++s->batched == s->demo->options.batch)
		cancel_batch(s);
}

static void cancel_slot(struct submitter *s, __u64 slot)
{
	__u32 *first = &s->slots[slot % s->nr_slots];
	__u32 index;

	for (index = *first; index != NO_TIMER;
	     index = s->demo->timers[index].next)
		batch_cancel(s, index);
	*first = NO_TIMER;
}

static void cancel_due(struct submitter *s, __u64 now)
{
	s->batched = 0;
	for (; s->slot <= slot_of(s, now); s->slot++)
		cancel_slot(s, s->slot);
	if (s->batched)
		cancel_batch(s);
}

static void sleep_until_slot(const struct submitter *s)
{
	sleep_until(s->demo->start + s->slot * SLOT_NS);
}

static void submitter_init(struct submitter *s, struct demo *demo)
{
	__u64 i;

	*s = (struct submitter){
		.demo = demo,
		.wanted = demo->options.timers / 2,
		.random = demo->options.seed,
	};
	s->requests = allocate(demo->options.batch, sizeof(*s->requests));
	s->victims = allocate(demo->options.batch, sizeof(*s->victims));
	s->nr_slots = delay_max(s) / SLOT_NS + 4;
	s->slots = allocate(s->nr_slots, sizeof(*s->slots));
	for (i = 0; i < s->nr_slots; i++)
		s->slots[i] = NO_TIMER;
}

static void submitter_release(struct submitter *s)
{
	free(s->requests);
	free(s->victims);
	free(s->slots);
}

/* Reads the clock once per round: a later one could give a slot beyond the ring. */
void *submitter_run(void *demo)
{
	struct submitter s;
	__u64 now;

	submitter_init(&s, demo);
	while (s.next < s.demo->options.timers || s.waiting) {
		now = now_ns();
		cancel_due(&s, now);
		if (s.next < s.demo->options.timers)
			schedule_batch(&s, now);
		else
			sleep_until_slot(&s);
	}
	submitter_release(&s);
	atomic_store(&s.demo->submitter_done, true);
	return NULL;
}
