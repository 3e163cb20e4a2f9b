// SPDX-License-Identifier: MIT
/* Timers of a shard in the kernel; see wheel.h. */
#include "wheel.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * ns. Deadlines are whole ms of Redis's clock, so a shorter tick than 1 ms costs no more
 * wake-ups; it only makes timers less late. Slots are loaded a few revolutions of the
 * wheel's lowest level ahead, which is 4,096 ticks.
 */
#define TICK 250000

/* user_data of the alarm; other timers have the address of their record. */
#define ALARM 0

/*
 * Timers to arm, which go to the kernel with one call. One wheel at a time fills it, and
 * leaves it empty. New timers are scheduled; armed ones are moved.
 */
#define BATCH_MAX 1024

struct batch {
	struct hwtimer_bulk_timer timers[BATCH_MAX];
	struct record *records[BATCH_MAX];
	unsigned int count;
};

static struct batch arming, moving;

/*
 * Returns the error after which more has to be done; 0 if both are 0. After -ESTALE the
 * wheel must be closed. After any other errno it lacks timers that Redis still has.
 */
int graver_error(int one, int other)
{
	return other == -ESTALE ? other : one ?: other;
}

/* ---- lists ---- */

void list_add(struct record_list *list, struct record *record)
{
	record->next_fired = NULL;
	if (list->last)
		list->last->next_fired = record;
	else
		list->first = record;
	list->last = record;
	list->count++;
}

/* Takes the first record; NULL: the list is empty. */
struct record *list_take(struct record_list *list)
{
	struct record *record = list->first;

	if (!record)
		return NULL;
	list->first = record->next_fired;
	if (!list->first)
		list->last = NULL;
	list->count--;
	return record;
}

/* Puts all records of @front before those of @list, and empties @front. */
void list_put_back(struct record_list *list, struct record_list *front)
{
	if (!front->first)
		return;
	front->last->next_fired = list->first;
	list->first = front->first;
	if (!list->last)
		list->last = front->last;
	list->count += front->count;
	*front = (struct record_list){ 0 };
}

/* ---- the instance ---- */

static void on_event(void *arg, const struct hwtimer_event *event)
{
	struct wheel *wheel = arg;
	struct record *record = (void *)(uintptr_t)event->user_data;

	if (event->user_data == ALARM) {
		wheel->alarm = 0;
	} else {
		record->state = RECORD_FIRED;
		list_add(&wheel->fired, record);
	}
	/* Whoever knows of the first one takes all. */
	if (wheel->fired.count <= 1)
		wheel->events->fired(wheel->arg);
}

static void on_error(void *arg, int error)
{
	struct wheel *wheel = arg;

	if (error == -ECANCELED)
		wheel->events->clock_set(wheel->arg);
	else
		wheel->events->failed(wheel->arg, error);
}

static const char *advice(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return "the module is not loaded: modprobe hwtimer";
	case -EACCES:
	case -EPERM:
		return "no permission: run hwtimerd in the group hwtimer";
	case -EPROTO:
		return "the module has another ABI version: install this one's";
	case -ENOMEM:
		return "no memory is left, or the user is at the limit max_memory_user";
	default:
		return strerror(-error);
	}
}

static int open_instance(struct hwt **hwt)
{
	struct hwtimer_setup setup = {
		.tick = TICK,
		.clock = HWTIMER_CLOCK_REALTIME,
		.flags = HWTIMER_SETUP_REPORT_CLOCK_SET,
	};
	int error = hwt_open(hwt, HWT_NONBLOCK);

	if (!error) {
		error = hwt_setup(*hwt, &setup);
		if (error)
			hwt_close(*hwt);
	}
	if (error)
		say(LOG_ERR, "/dev/hwtimer: %s", advice(error));
	return error;
}

/* Returns 0 if instances can be opened; otherwise says what is wrong. */
int wheel_check(void)
{
	struct hwt *hwt;
	int error = open_instance(&hwt);

	if (!error)
		hwt_close(hwt);
	return error;
}

/**
 * wheel_open - open a wheel without timers
 * @wheel: the wheel, which is closed
 * @base: the loop
 * @clock: difference to Redis's clock
 * @events: functions of the owner
 * @arg: their argument
 *
 * Return: 0 or a negative errno, after a message.
 */
int wheel_open(struct wheel *wheel, struct event_base *base,
	       const struct clock *clock, const struct wheel_events *events,
	       void *arg)
{
	int error;

	*wheel = (struct wheel){
		.events = events,
		.arg = arg,
		.clock = clock,
		.armed_with = clock->best.offset,
	};
	error = open_instance(&wheel->hwt);
	if (error) {
		wheel->hwt = NULL;
		return error;
	}
	wheel->loop = (struct hwt_libevent){ wheel->hwt, on_event, wheel,
					     on_error, NULL };
	error = hwt_libevent_add(&wheel->loop, base);
	if (error) {
		say(LOG_ERR, "/dev/hwtimer: %s", strerror(-error));
		hwt_close(wheel->hwt);
		wheel->hwt = NULL;
	}
	return error;
}

/* Closes the instance and forgets all timers. A closed wheel stays closed. */
void wheel_close(struct wheel *wheel)
{
	if (!wheel->hwt)
		return;
	hwt_libevent_remove(&wheel->loop);
	hwt_close(wheel->hwt);
	table_empty(&wheel->table);
	*wheel = (struct wheel){ 0 };
}

/* ---- arming ---- */

/* Keeps the kernel's answer to a new timer, or forgets the timer: Redis still has it. */
static int keep_result(struct wheel *wheel, struct record *record,
		       uint64_t result)
{
	int error = hwt_error(result);

	if (error) {
		table_remove(&wheel->table, record);
		return error;
	}
	record->timer = result;
	record->state = RECORD_ARMED;
	return 0;
}

static int flush_arming(struct wheel *wheel)
{
	static uint64_t results[BATCH_MAX];
	struct batch *batch = &arming;
	unsigned int i;
	int error = 0, done, one;

	if (!batch->count)
		return 0;
	done = hwt_schedule_many(wheel->hwt, HWTIMER_REQ_ABSTIME, batch->timers,
				 results, batch->count);
	for (i = 0; i < batch->count; i++) {
		one = keep_result(wheel, batch->records[i],
				  (int)i < done ? results[i] :
				  done < 0	? (uint64_t)(int64_t)done :
						  (uint64_t)-EAGAIN);
		error = graver_error(error, one);
	}
	batch->count = 0;
	return error;
}

/* A timer that has just expired cannot be moved; its turn will say what is true. */
static bool is_moved(uint64_t result)
{
	int error = hwt_error(result);

	return !error || error == -ENOENT || error == -EALREADY;
}

static int flush_moving(struct wheel *wheel)
{
	static uint64_t results[BATCH_MAX];
	int i, count = moving.count, done = 0;

	moving.count = 0;
	if (count)
		done = hwt_reschedule_many(wheel->hwt, HWTIMER_REQ_ABSTIME,
					   moving.timers, results, count);
	for (i = 0; i < done; i++)
		if (!is_moved(results[i]))
			return -ESTALE;
	return done == count ? 0 : -ESTALE;
}

/**
 * wheel_arm - give all timers that were learned to the kernel
 * @wheel: the wheel
 *
 * Return: 0. -ESTALE: armed timers could not be moved; the wheel must be closed. Another
 * negative errno: the kernel has no room for some new timers, which are forgotten.
 */
int wheel_arm(struct wheel *wheel)
{
	int moved = flush_moving(wheel), armed = flush_arming(wheel);

	return graver_error(moved, armed);
}

static int add_to_batch(struct wheel *wheel, struct record *record)
{
	struct batch *batch = record->state == RECORD_ARMED ? &moving : &arming;
	struct hwtimer_bulk_timer *timer = &batch->timers[batch->count];

	timer->time = clock_to_local(wheel->clock, record->deadline);
	if (record->state == RECORD_ARMED)
		timer->id = record->timer;
	else
		timer->user_data = (uintptr_t)record;
	batch->records[batch->count++] = record;
	return batch->count == BATCH_MAX ? wheel_arm(wheel) : 0;
}

/**
 * wheel_learn - get to know a timer, or its new deadline
 * @wheel: the wheel
 * @id: the timer's id
 * @length: length of @id
 * @deadline: Redis's time, ms
 *
 * The kernel knows it after wheel_arm().
 *
 * Return: 1: the timer is new; 0: it is not; a negative errno as wheel_arm(), or
 * -ENOMEM.
 */
int wheel_learn(struct wheel *wheel, const char *id, size_t length,
		int64_t deadline)
{
	struct record *record = table_find(&wheel->table, id, length);
	bool known = record;
	int error;

	/* A fired timer is on its way to Redis, whose answer says what is true. */
	if (known &&
	    (record->state == RECORD_FIRED || record->deadline == deadline))
		return 0;
	/* It is in the batch, and may be there once. */
	if (known && record->state == RECORD_NEW) {
		error = wheel_arm(wheel);
		return error ?: wheel_learn(wheel, id, length, deadline);
	}
	if (!known)
		record = table_add(&wheel->table, id, length);
	if (!record)
		return -ENOMEM;
	record->deadline = deadline;
	error = add_to_batch(wheel, record);
	return error ?: !known;
}

/**
 * wheel_again - arm a fired timer for a later time; see wheel_learn()
 * @wheel: the wheel
 * @record: the timer, which is in no list
 * @deadline: Redis's time, ms
 */
int wheel_again(struct wheel *wheel, struct record *record, int64_t deadline)
{
	record->state = RECORD_NEW;
	record->deadline = deadline;
	return add_to_batch(wheel, record);
}

/* Whether timers were armed with another difference of the clocks than that of now */
bool wheel_is_off(const struct wheel *wheel)
{
	return llabs(wheel->armed_with - wheel->clock->best.offset) >
	       CLOCK_JUMP + wheel->clock->best.error;
}

/**
 * wheel_rearm - give all timers to the kernel anew, after the clock has jumped
 * @wheel: the wheel
 *
 * Return: as wheel_arm().
 */
int wheel_rearm(struct wheel *wheel)
{
	struct record *record;
	int error = 0, one;
	size_t i;

	wheel->armed_with = wheel->clock->best.offset;
	for (i = 0; i < wheel->table.size; i++)
		for (record = wheel->table.chains[i]; record;
		     record = record->next)
			if (record->state == RECORD_ARMED) {
				one = add_to_batch(wheel, record);
				error = graver_error(error, one);
			}
	return graver_error(error, wheel_arm(wheel));
}

/**
 * wheel_alarm - have @fired called at a time, too
 * @wheel: the wheel
 * @time: Redis's time, ms; -1: no alarm
 *
 * Return: 0 or a negative errno.
 */
int wheel_alarm(struct wheel *wheel, int64_t time)
{
	if (wheel->alarm)
		hwt_discard(wheel->hwt, wheel->alarm);
	wheel->alarm = 0;
	if (time < 0)
		return 0;
	return hwt_schedule_at(wheel->hwt, clock_to_local(wheel->clock, time),
			       ALARM, &wheel->alarm);
}

/* Forgets a fired timer, which is in no list. */
void wheel_forget(struct wheel *wheel, struct record *record)
{
	table_remove(&wheel->table, record);
}
