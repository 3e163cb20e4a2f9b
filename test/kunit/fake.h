/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance whose clock is a variable, and whose worker is the test. Unit tests
 * use it to see what an instance does over hours and years, and how often it asks
 * to be turned.
 */
#ifndef HWTIMER_TESTS_FAKE_H
#define HWTIMER_TESTS_FAKE_H

#include <kunit/test.h>

#include "hwtimer.h"
#include "instance/instance.h"
#include "timers/timers.h"

/* The user whose account fake_create() uses */
#define FAKE_UID 4711

#define FAKE_HOUR (3600ULL * NSEC_PER_SEC)

/* Where the clock begins: not at 0, so that it can be set back. */
#define FAKE_START (1000 * FAKE_HOUR)

/* The time on the fake clock, ns. */
extern u64 fake_now;

struct hwtimer_instance *fake_create(u32 timers);
struct hwtimer_instance *fake_create_on(u32 timers,
					struct hwtimer_account *account);
int fake_test_init(struct kunit *test, u32 timers);
void fake_test_exit(struct kunit *test);
void fake_settable(struct hwtimer_instance *instance);

int fake_run(struct hwtimer_instance *instance,
	     struct hwtimer_request *request);
int fake_schedule(struct hwtimer_instance *instance, s64 delay, u64 *id);
int fake_schedule_at(struct hwtimer_instance *instance, s64 deadline);
int fake_cancel(struct hwtimer_instance *instance, u64 id, u32 flags);
int fake_reschedule(struct hwtimer_instance *instance, u64 id, s64 delay);

unsigned int fake_turn_until(struct hwtimer_instance *instance, u64 time);
u32 fake_read_some(struct hwtimer_instance *instance,
		   struct hwtimer_event *events, u32 max);
u32 fake_read(struct hwtimer_instance *instance, struct hwtimer_event *event);
void __user *fake_user_memory(struct kunit *test, size_t bytes);
void fake_check_books(struct kunit *test, struct hwtimer_instance *instance);

/* How often the reader of fake_fall_asleep() was woken */
extern unsigned int fake_nr_woken;

void fake_fall_asleep(struct hwtimer_instance *instance,
		      struct wait_queue_entry *sleeper);

void fake_kill(void);
void fake_revive(void);
void fake_fail_allocation(unsigned int nth);
bool fake_allocation_failed(void);

#endif /* HWTIMER_TESTS_FAKE_H */
