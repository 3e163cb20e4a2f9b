// SPDX-License-Identifier: GPL-2.0
/*
 * Creates instances under a fake clock, and does what their callers and workers do;
 * see fake.h.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "fake.h"
#include "memory/supply.h"

u64 fake_now;

static u64 fake_clock_now(void)
{
	return fake_now;
}

static const struct hwtimer_clock_desc fake_clock = {
	.now = fake_clock_now,
	.id = CLOCK_MONOTONIC,
	.nr = HWTIMER_MONOTONIC,
};

/* Like CLOCK_REALTIME, this clock can be set back. */
static const struct hwtimer_clock_desc fake_settable_clock = {
	.now = fake_clock_now,
	.id = CLOCK_REALTIME,
	.nr = HWTIMER_REALTIME,
	.settable = true,
};

/**
 * fake_create_on - create an instance on an account; otherwise as fake_create()
 * @timers: its limit
 * @account: the account; the caller keeps its reference
 *
 * Return: the instance, or NULL.
 */
struct hwtimer_instance *fake_create_on(u32 timers,
					struct hwtimer_account *account)
{
	struct hwtimer_instance *instance;

	fake_now = FAKE_START;
	/* The instance's reference */
	if (!hwtimer_account_get(account->uid))
		return NULL;
	instance = hwtimer_instance_create(account);
	if (!instance) {
		hwtimer_account_put(account);
		return NULL;
	}
	/* The worker that its first timer brings does not serve it. */
	instance->job.detached = true;
	/* The tests do not depend on the default. */
	instance->settings.shape.tick = NSEC_PER_MSEC;
	instance->settings.timers = timers;
	instance->settings.clock = &fake_clock;
	return instance;
}

/**
 * fake_create - create an instance that no worker turns, and set the time to FAKE_START
 * @timers: its limit
 *
 * The instance is on an account, which warns if the instance leaves something charged.
 *
 * Return: the instance, or NULL.
 */
struct hwtimer_instance *fake_create(u32 timers)
{
	struct hwtimer_account *account =
		hwtimer_account_get(KUIDT_INIT(FAKE_UID));
	struct hwtimer_instance *instance =
		account ? fake_create_on(timers, account) : NULL;

	hwtimer_account_put(account);
	return instance;
}

/**
 * fake_test_init - create the instance that a suite's tests have in test->priv
 * @test: the test
 * @timers: its limit
 *
 * Return: 0 or -ENOMEM.
 */
int fake_test_init(struct kunit *test, u32 timers)
{
	test->priv = fake_create(timers);
	return test->priv ? 0 : -ENOMEM;
}

/* The exit function of a suite whose tests have an instance in test->priv. */
void fake_test_exit(struct kunit *test)
{
	if (test->priv)
		hwtimer_instance_destroy(test->priv);
}

/* Gives @instance, which has not started, a clock that can be set back. */
void fake_settable(struct hwtimer_instance *instance)
{
	instance->settings.clock = &fake_settable_clock;
}

/* Runs one request and returns its result. */
int fake_run(struct hwtimer_instance *instance, struct hwtimer_request *request)
{
	hwtimer_request_run(instance, request, 1);
	return request->result;
}

int fake_schedule(struct hwtimer_instance *instance, s64 delay, u64 *id)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = delay };
	int err = fake_run(instance, &request);

	*id = request.id;
	return err;
}

/* Schedules a timer with a deadline, ns, instead of a delay. */
int fake_schedule_at(struct hwtimer_instance *instance, s64 deadline)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .flags = HWTIMER_REQ_ABSTIME,
					   .time = deadline };

	return fake_run(instance, &request);
}

int fake_cancel(struct hwtimer_instance *instance, u64 id, u32 flags)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_CANCEL,
					   .id = id,
					   .flags = flags };

	return fake_run(instance, &request);
}

int fake_reschedule(struct hwtimer_instance *instance, u64 id, s64 delay)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_RESCHEDULE,
		.id = id,
		.time = delay,
	};

	return fake_run(instance, &request);
}

/**
 * fake_turn_until - do what the worker does until a time
 * @instance: the instance, which is turned whenever it asks for a turn, until it is parked
 * @time: the time on the clock at the end, ns; the clock does not go back for it
 *
 * Return: the number of times that a worker would have woken up.
 */
unsigned int fake_turn_until(struct hwtimer_instance *instance, u64 time)
{
	unsigned int wakeups = 0;

	while (instance->wakeup.at <= time && !instance->events.parked) {
		wakeups += instance->wakeup.at > fake_now;
		fake_now = max(fake_now, instance->wakeup.at);
		hwtimer_turn(&instance->job.turns);
		/* Now it must be parked. If it is not, it would ask for ever. */
		if (hwtimer_events_full(&instance->events))
			break;
	}
	fake_now = max(fake_now, time);
	return wakeups;
}

/**
 * fake_read_some - do what read() does, but into kernel memory
 * @instance: the instance
 * @events: room for @max events
 * @max: maximum number of events
 *
 * Return: the number of events.
 */
u32 fake_read_some(struct hwtimer_instance *instance,
		   struct hwtimer_event *events, u32 max)
{
	struct kvec buffer = { .iov_base = events,
			       .iov_len = max * sizeof(*events) };
	struct iov_iter to;
	ssize_t ret;

	iov_iter_kvec(&to, READ, &buffer, 1, buffer.iov_len);
	ret = hwtimer_read_events(instance, &to);
	return ret > 0 ? ret / sizeof(*events) : 0;
}

/* The same with one event; returns 1, or 0 if no event waits. */
u32 fake_read(struct hwtimer_instance *instance, struct hwtimer_event *event)
{
	return fake_read_some(instance, event, 1);
}

/**
 * fake_user_memory - map memory such as a program has
 * @test: the test, whose thread can use the memory until the test ends
 * @bytes: number of bytes
 *
 * No page is there before it is used, and behind the last byte no memory is mapped.
 *
 * Return: address of the first byte.
 */
void __user *fake_user_memory(struct kunit *test, size_t bytes)
{
	size_t size = PAGE_ALIGN(bytes);
	unsigned long start;

	start = kunit_vm_mmap(test, NULL, 0, size + PAGE_SIZE,
			      PROT_READ | PROT_WRITE,
			      MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, start, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(start));
	KUNIT_ASSERT_EQ(test, vm_munmap(start + size, PAGE_SIZE), 0);
	return (void __user *)(start + size - bytes);
}

/*
 * Checks the books: the equations between counters that <linux/hwtimer.h> states, and
 * that the instance has charged exactly what it takes.
 */
void fake_check_books(struct kunit *test, struct hwtimer_instance *instance)
{
	const struct hwtimer_stats *stats = &instance->stats;
	struct hwtimer_account *account = instance->account;
	u64 before = stats->bytes;

	spin_lock(&instance->lock);
	hwtimer_account_returned(instance);
	spin_unlock(&instance->lock);
	KUNIT_EXPECT_EQ(test, before, stats->bytes);
	/* Nobody else is charged to the same account. */
	if (account && account->users == 1)
		KUNIT_EXPECT_EQ(test, atomic64_read(&account->bytes),
				stats->bytes);
	KUNIT_EXPECT_EQ(test, stats->scheduled + stats->rearmed,
			stats->pending + stats->cancelled + stats->expired);
	KUNIT_EXPECT_EQ(test, stats->expired,
			stats->ready + stats->delivered + stats->discarded);
	KUNIT_EXPECT_EQ(test, hwtimer_instance_timers(instance),
			stats->pending + stats->ready);
	KUNIT_EXPECT_LE(test, hwtimer_instance_timers(instance),
			instance->settings.timers);
}

unsigned int fake_nr_woken;

static int count_wakeup(struct wait_queue_entry *entry, unsigned int mode,
			int flags, void *key)
{
	fake_nr_woken++;
	return 0;
}

/* Adds a reader who sleeps. @fake_nr_woken is how often he is woken from now on. */
void fake_fall_asleep(struct hwtimer_instance *instance,
		      struct wait_queue_entry *sleeper)
{
	fake_nr_woken = 0;
	init_waitqueue_func_entry(sleeper, count_wakeup);
	add_wait_queue(&instance->readers, sleeper);
}

/*
 * Marks this thread as being killed. It goes on, but gets no memory for timers. fake_revive()
 * takes the mark away.
 */
void fake_kill(void)
{
	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
}

void fake_revive(void)
{
	flush_signals(current);
	disallow_signal(SIGKILL);
}

#ifdef CONFIG_FAULT_INJECTION
/* Makes the @nth allocation of this thread from now on fail; 0: none. */
void fake_fail_allocation(unsigned int nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

/* Returns whether that allocation has failed. */
bool fake_allocation_failed(void)
{
	return !READ_ONCE(current->fail_nth);
}
#else
void fake_fail_allocation(unsigned int nth)
{
}

bool fake_allocation_failed(void)
{
	return false;
}
#endif
