// SPDX-License-Identifier: MIT
/*
 * As adapters_test.c, for Boost.Asio: programs stop the loop or the adapter in a callback, start
 * the adapter anew there, or destroy it; they throw there, or run the loop. Built with sanitizers
 * and run by test/vm/userland.sh; see device.h.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include <hwtimer_asio.hpp>

#include "check.h"
#include "device.h"

using program = std::function<void(struct hwt *, std::unique_ptr<hwt_asio> &)>;

static unsigned int errors;

/* How often the device is read for an event after all others */
static unsigned int reads_at_last;

/* Calls @act in the callback number @at. Returns the number of callbacks. */
static unsigned int run(unsigned int at, const program &act,
			bool closes = false)
{
	boost::asio::io_context context(1);
	std::unique_ptr<hwt_asio> timers;
	unsigned int callbacks = 0;
	struct hwt *hwt;

	device_events = DEVICE_EVENTS;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	errors = 0;
	timers.reset(new hwt_asio(
		context, hwt,
		[&](const struct hwtimer_event &) {
			if (++callbacks == at)
				act(hwt, timers);
		},
		[&](int err) {
			CHECK(err == -ECANCELED);
			errors++;
		}));
	CHECK(!timers->start());
	context.poll();
	device_reads = 0;
	if (timers)
		device_add_event(hwt_fd(hwt));
	context.restart();
	context.poll();
	reads_at_last = device_reads;
	timers.reset();
	context.restart();
	context.run();
	if (!closes)
		hwt_close(hwt);
	return callbacks;
}

static void stop(struct hwt *, std::unique_ptr<hwt_asio> &timers)
{
	timers->stop();
}

static void destroy(struct hwt *, std::unique_ptr<hwt_asio> &timers)
{
	timers.reset();
}

static void destroy_and_close(struct hwt *hwt,
			      std::unique_ptr<hwt_asio> &timers)
{
	timers.reset();
	hwt_close(hwt);
}

static void restart(struct hwt *, std::unique_ptr<hwt_asio> &timers)
{
	timers->stop();
	CHECK(!timers->start());
}

static void restart_often(struct hwt *hwt, std::unique_ptr<hwt_asio> &timers)
{
	for (int i = 0; i < 20; i++)
		restart(hwt, timers);
}

/* Of all starts, one goes on. */
static void restarts()
{
	unsigned int reads;

	CHECK(run(0, nullptr) == DEVICE_EVENTS + 1);
	reads = reads_at_last;
	CHECK(run(1, restart) == DEVICE_EVENTS + 1);
	CHECK(reads_at_last == reads);
	CHECK(run(300, restart_often) == DEVICE_EVENTS + 1);
	CHECK(reads_at_last == reads);
}

static void stops(unsigned int at)
{
	CHECK(run(at, stop) == at);
	CHECK(run(at, destroy) == at);
	CHECK(run(at, destroy_and_close, true) == at);
	CHECK(!errors);
}

/* ---- a loop that ends, or runs, in a callback ---- */

static struct hwt *instance;
static unsigned int callbacks, acts_at;
static std::function<void()> action;
static struct hwt_timer objects[DEVICE_EVENTS];

static void called()
{
	if (++callbacks == acts_at)
		action();
}

static void on_event(const struct hwtimer_event &)
{
	called();
}

static void on_timer(struct hwt_timer *)
{
	called();
}

static void start_objects(unsigned int count)
{
	while (count--) {
		hwt_timer_init(&objects[count], instance, on_timer);
		CHECK(!hwt_timer_start(&objects[count], 0));
	}
}

/*
 * Runs @body with an instance in a loop, whose timers have a callback each, however it is. So many
 * as @events are no objects.
 */
template <typename Executor>
static void with(const Executor &executor, unsigned int events,
		 const std::function<void()> &body)
{
	callbacks = 0;
	device_events = events;
	CHECK(!hwt_open(&instance, HWT_NONBLOCK));
	start_objects(DEVICE_EVENTS - events);
	{
		hwt_asio timers(executor, instance,
				events ? on_event : hwt_asio::callback());

		CHECK(!timers.start());
		body();
		CHECK(callbacks == DEVICE_EVENTS);
	}
	hwt_close(instance);
}

static const unsigned int mixtures[] = { 0, 20, DEVICE_EVENTS };

/* What is left comes when the loop runs again. */
template <typename Executor>
static void stop_the_loop(boost::asio::io_context &context,
			  const Executor &executor)
{
	acts_at = 30;
	action = [&] { context.stop(); };
	for (unsigned int events : mixtures)
		with(executor, events, [&] {
			context.restart();
			context.run();
			CHECK(callbacks == 30);
			context.restart();
			context.poll();
		});
}

static void stop_the_loop_of_executors()
{
	boost::asio::io_context context(1);
	auto strand = boost::asio::make_strand(context);

	stop_the_loop(context, context.get_executor());
	stop_the_loop(context, hwt_asio::executor(context.get_executor()));
	stop_the_loop(context, strand);
	stop_the_loop(context, hwt_asio::executor(strand));
}

/* Returns whether the loop has ended with an exception. */
static bool throws(boost::asio::io_context &context)
{
	try {
		context.restart();
		context.poll();
	} catch (const std::runtime_error &error) {
		return true;
	}
	return false;
}

/* What is left comes when the loop runs again. */
static void throw_in_a_callback()
{
	boost::asio::io_context context(1);

	action = [] { throw std::runtime_error("test"); };
	for (unsigned int at : { 1, 30, DEVICE_EVENTS })
		for (unsigned int events : mixtures)
			with(context.get_executor(), events, [&] {
				acts_at = at;
				CHECK(throws(context));
				CHECK(callbacks == at);
				CHECK(!throws(context));
			});
}

static void on_period(struct hwt_timer *)
{
	callbacks++;
	throw std::runtime_error("test");
}

/* In the device, each interval has ended at once. */
static void throw_in_callbacks_of_a_period(unsigned int flags)
{
	boost::asio::io_context context(1);
	struct hwt_timer timer;

	acts_at = 0;
	with(context.get_executor(), DEVICE_EVENTS, [&] {
		context.poll();
		callbacks = 0;
		hwt_timer_init(&timer, instance, on_period);
		CHECK(!hwt_timer_start_every(&timer, 0, 1, flags));
		while (callbacks < 3)
			CHECK(throws(context));
		hwt_timer_stop(&timer);
		CHECK(!throws(context));
		callbacks = DEVICE_EVENTS;
	});
}

static void run_in_a_callback()
{
	boost::asio::io_context context(1);
	unsigned int inner;

	acts_at = 1;
	action = [&] {
		context.poll();
		inner = callbacks;
	};
	for (unsigned int events : mixtures)
		with(context.get_executor(), events, [&] {
			context.restart();
			context.poll();
			CHECK(inner == DEVICE_EVENTS);
			/* These are read together, and the descriptor is not ready. */
			callbacks = 0;
			start_objects(50);
			context.restart();
			context.poll();
			CHECK(inner == 50);
			callbacks = DEVICE_EVENTS;
		});
}

/* The loop ends with its last timer, which may come from anywhere if there is a callback. */
static void end_with_the_last_timer()
{
	boost::asio::io_context context(1);

	acts_at = 0;
	with(context.get_executor(), 0, [&] {
		context.run();
		callbacks = 0;
		start_objects(DEVICE_EVENTS);
		context.restart();
		context.run();
		hwt_timer_start_at(&objects[0], HWTIMER_NEVER);
		context.restart();
		context.poll();
		CHECK(!context.stopped());
		hwt_timer_stop(&objects[0]);
		context.run();
		context.restart();
		context.run();
	});
	with(context.get_executor(), 1, [&] {
		context.restart();
		context.poll();
		CHECK(!context.stopped());
	});
}

/* A timer object and another timer, on a clock that the program moves. */
static void on_a_manual_clock()
{
	boost::asio::io_context context(1);
	unsigned int events = 0;
	struct hwt_timer timer;
	struct hwt *hwt;

	acts_at = 0;
	callbacks = 0;
	CHECK(!hwt_open_manual(&hwt, HWT_NONBLOCK));
	{
		hwt_asio timers(context, hwt,
				[&](const struct hwtimer_event &) {
					events++;
				});

		CHECK(!timers.start());
		hwt_timer_init(&timer, hwt, on_timer);
		CHECK(!hwt_timer_start(&timer, 5000000000));
		CHECK(!hwt_schedule(hwt, 10000000000, 0, nullptr));
		context.poll();
		CHECK(!hwt_advance(hwt, 4999999999));
		context.poll();
		CHECK(!callbacks);
		CHECK(!hwt_advance(hwt, 1));
		context.poll();
		CHECK(callbacks == 1 && !events);
		CHECK(!hwt_advance(hwt, 5000000000));
		context.poll();
		CHECK(callbacks == 1 && events == 1);
	}
	hwt_close(hwt);
}

/* A child destroys all that it finds; the parent's loop goes on. */
static void fork_and_destroy()
{
	unsigned int calls = 0;
	struct hwt *hwt;
	int status;

	device_events = 1;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	{
		boost::asio::io_context context(1);
		hwt_asio timers(context, hwt,
				[&](const struct hwtimer_event &) { calls++; });
		pid_t child;

		CHECK(!timers.start());
		context.poll();
		child = fork();
		if (child) {
			CHECK(wait(&status) == child);
			CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
			device_add_event(hwt_fd(hwt));
			context.poll();
			CHECK(calls == 2);
		}
		calls = !child;
	}
	hwt_close(hwt);
	if (calls)
		_exit(0);
}

int main()
{
	restarts();
	stops(1);
	stops(300);
	stop_the_loop_of_executors();
	throw_in_a_callback();
	throw_in_callbacks_of_a_period(0);
	throw_in_callbacks_of_a_period(HWTIMER_REQ_FIXED_DELAY);
	run_in_a_callback();
	end_with_the_last_timer();
	fork_and_destroy();
	on_a_manual_clock();
	device_report = 501;
	CHECK(run(0, nullptr) == DEVICE_EVENTS + 1);
	CHECK(errors == 1);
	printf("all is well\n");
	return 0;
}
