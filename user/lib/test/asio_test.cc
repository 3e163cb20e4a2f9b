// SPDX-License-Identifier: MIT
/*
 * As adapters_test.c, for Asio: programs stop the loop or the adapter in a callback, start the
 * adapter anew there, or destroy it; they throw there, or run the loop. Then what steady_timer can
 * do. Built with sanitizers, with Boost and without, and run by test/vm/userland.sh; see device.h.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>

#include <hwtimer_asio.hpp>
#if HWT_ASIO_VERSION >= 102000
#ifdef HWTIMER_ASIO_STANDALONE
#include <asio/experimental/deferred.hpp>
#else
#include <boost/asio/experimental/deferred.hpp>
#endif
#endif

#include "check.h"
#include "device.h"
#include "memory.h"

namespace lib = hwt_asio_library;
#ifdef HWTIMER_ASIO_STANDALONE
using system_error = std::system_error;
#else
using system_error = boost::system::system_error;
#endif

using program = std::function<void(struct hwt *, std::unique_ptr<hwt_asio> &)>;

static unsigned int errors;

/* How often the device is read for an event after all others */
static unsigned int reads_at_last;

/* Calls @act in the callback number @at. Returns the number of callbacks. */
static unsigned int run(unsigned int at, const program &act,
			bool closes = false)
{
	lib::io_context context(1);
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
static void stop_the_loop(lib::io_context &context, const Executor &executor)
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
	lib::io_context context(1);
	auto strand = lib::make_strand(context);

	stop_the_loop(context, context.get_executor());
	stop_the_loop(context, hwt_asio::executor(context.get_executor()));
	stop_the_loop(context, strand);
	stop_the_loop(context, hwt_asio::executor(strand));
}

/* Returns whether the loop has ended with an exception. */
static bool throws(lib::io_context &context)
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
	lib::io_context context(1);

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
	lib::io_context context(1);
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
	lib::io_context context(1);
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
	lib::io_context context(1);

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
	lib::io_context context(1);
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
		lib::io_context context(1);
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

/* Another thread has the loop start a timer object, and stop one. */
static void post_from_another_thread()
{
	lib::io_context context(1);

	acts_at = 0;
	with(context.get_executor(), 0, [&] {
		context.run();
		CHECK(!hwt_timer_start_at(&objects[0], HWTIMER_NEVER));
		context.restart();
		std::thread other([&] {
			lib::post(context, [] {
				CHECK(!hwt_timer_start(&objects[1], 0));
				hwt_timer_stop(&objects[0]);
			});
		});
		context.run();
		other.join();
		CHECK(callbacks == DEVICE_EVENTS + 1);
		callbacks = DEVICE_EVENTS;
	});
}

/* ---- timers as those of Asio ---- */

using timer = hwt_asio::timer;

static const timer::time_point never = timer::time_point::max();
static const std::chrono::hours hour(1);

/* What the waits have ended with */
static std::vector<hwt_asio_error> ends;

static void note(const hwt_asio_error &error)
{
	ends.push_back(error);
}

static void wait(timer &of, unsigned int count = 1)
{
	while (count--)
		of.async_wait(note);
}

/* Runs the loop until it has nothing left. All @count waits have ended with @expected. */
static void check_ends(lib::io_context &context, size_t count,
		       const hwt_asio_error &expected)
{
	context.restart();
	context.run();
	CHECK(ends.size() == count);
	for (const hwt_asio_error &error : ends)
		CHECK(error == expected);
	ends.clear();
}

static void check_none_ends(lib::io_context &context)
{
	context.restart();
	context.poll();
	CHECK(!context.stopped());
	CHECK(ends.empty());
}

static const hwt_asio_error expired;
static const hwt_asio_error aborted = lib::error::operation_aborted;

/* With a loop whose device has timers expire at once, but for those that never do */
static void
with_loop(const std::function<void(lib::io_context &, hwt_asio &)> &body)
{
	lib::io_context context(1);

	ends.clear();
	device_events = 0;
	CHECK(!hwt_open(&instance, HWT_NONBLOCK));
	{
		hwt_asio timers(context, instance, nullptr);

		CHECK(!timers.start());
		body(context, timers);
	}
	hwt_close(instance);
}

static void waits_until_it_expires()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		auto before = timer::clock_type::now();
		timer one(timers), other(timers, hour);

		CHECK(one.get_executor() == context.get_executor());
		CHECK(one.expires_after(hour) == 0);
		CHECK(one.expiry() >= before + hour);
		CHECK(other.expiry() >= before + hour);
		wait(one, 2);
		wait(other);
		check_ends(context, 3, expired);
		CHECK(one.expires_at(before + hour) == 0);
		CHECK(one.expiry() == before + hour);
		wait(one, 300);
		check_ends(context, 300, expired);
		one.expires_after(timer::duration::max());
		CHECK(one.expiry() == never);
		wait(one);
		check_none_ends(context);
	});
}

/* Such a wait needs no system call. */
static void waits_for_what_is_past()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers);

		device_reads = 0;
		wait(one);
		one.expires_after(-hour);
		wait(one);
		check_ends(context, 2, expired);
		one.expires_at(timer::time_point::min());
		wait(one);
		check_ends(context, 1, expired);
		CHECK(!device_reads);
	});
}

static void waits_are_aborted()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, never);

		CHECK(one.cancel() == 0);
		wait(one, 3);
		CHECK(one.cancel() == 3);
		check_ends(context, 3, aborted);
		CHECK(one.expiry() == never);
		wait(one, 2);
		check_none_ends(context);
		CHECK(one.expires_after(hour) == 2);
		check_ends(context, 2, aborted);
		wait(one);
		CHECK(one.expires_at(never) == 1);
		check_ends(context, 1, aborted);
	});
}

static void destruction_aborts()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		{
			timer one(timers, never), replaced(timers, never);

			wait(one, 2);
			wait(replaced);
			check_none_ends(context);
			replaced = timer(timers, hour);
			CHECK(ends.empty());
		}
		check_ends(context, 3, aborted);
	});
}

static void a_timer_is_moved()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		std::vector<timer> many;

		for (int i = 0; i < 100; i++) {
			many.emplace_back(timers, hour);
			wait(many.back(), 2);
		}
		check_ends(context, 200, expired);
	});
}

/* What has ended stays so, whatever is done before its handler is called. */
static void an_end_is_one()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour), other(timers, hour);
		unsigned int passes;

		for (passes = 0; passes < 2; passes++) {
			one.async_wait([&](const hwt_asio_error &error) {
				note(error);
				other.cancel();
				other.expires_at(never);
			});
			other.async_wait([&](const hwt_asio_error &error) {
				note(error);
				one.cancel();
				one.expires_at(never);
			});
			check_ends(context, 2, expired);
			one.expires_after(-hour);
			other.expires_after(-hour);
		}
		one.expires_at(never);
		wait(one);
		one.cancel();
		one.expires_at(timer::time_point());
		check_ends(context, 1, aborted);
	});
}

static void use_future()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour), other(timers, never);
		std::future<void> ended = one.async_wait(lib::use_future);
		std::future<void> cancelled = other.async_wait(lib::use_future);

		other.cancel();
		context.run();
		ended.get();
		try {
			cancelled.get();
			CHECK(false);
		} catch (const system_error &error) {
			CHECK(error.code() == aborted);
		}
	});
}

/* A handler that says where it wants to run, and what memory its wait has */
struct associated {
	using executor_type = lib::strand<lib::io_context::executor_type>;

	template <typename Type> struct allocator {
		using value_type = Type;

		explicit allocator(size_t *bytes)
			: used(bytes)
		{
		}

		template <typename Other>
		allocator(const allocator<Other> &other)
			: used(other.used)
		{
		}

		Type *allocate(size_t count)
		{
			*used += count * sizeof(Type);
			return std::allocator<Type>().allocate(count);
		}

		void deallocate(Type *memory, size_t count)
		{
			std::allocator<Type>().deallocate(memory, count);
		}

		bool operator==(const allocator &other) const
		{
			return used == other.used;
		}

		size_t *used;
	};
	using allocator_type = allocator<void *>;

	executor_type get_executor() const
	{
		return strand;
	}

	allocator_type get_allocator() const
	{
		return allocator_type(bytes);
	}

	void operator()(const hwt_asio_error &error)
	{
		CHECK(strand.running_in_this_thread());
		note(error);
	}

	executor_type strand;
	size_t *bytes;
};

static void executors_and_allocators()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour);
		size_t bytes = 0;
		associated handler{ lib::make_strand(context), &bytes };

		one.async_wait(handler);
		check_ends(context, 1, expired);
		CHECK(bytes);
		one.expires_at(never);
		one.async_wait(handler);
		one.cancel();
		check_ends(context, 1, aborted);
	});
}

/* The exception comes out of run(), and the other handlers when that is called again. */
static void handlers_throw()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour), other(timers, hour);
		unsigned int calls = 0;

		for (timer *of : { &one, &one, &other })
			of->async_wait([&](const hwt_asio_error &error) {
				CHECK(!error);
				calls++;
				throw std::runtime_error("test");
			});
		while (calls < 3) {
			unsigned int before = calls;

			CHECK(throws(context));
			CHECK(calls == before + 1);
		}
		CHECK(!throws(context) && context.stopped());
	});
}

static void handlers_stop_the_loop()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour), other(timers, hour);

		for (timer *of : { &one, &one, &other })
			of->async_wait([&](const hwt_asio_error &error) {
				note(error);
				context.stop();
			});
		for (size_t calls = 1; calls <= 3; calls++) {
			context.restart();
			context.run();
			CHECK(ends.size() == calls);
		}
		check_ends(context, 3, expired);
	});
}

static void handlers_run_the_loop()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour), other(timers, hour);

		one.async_wait([&](const hwt_asio_error &error) {
			wait(other, 2);
			while (ends.size() < 3)
				context.poll();
			note(error);
		});
		wait(one);
		check_ends(context, 4, expired);
	});
}

static void handlers_wait_again()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers);
		std::function<void(const hwt_asio_error &)> again =
			[&](const hwt_asio_error &error) {
				note(error);
				one.expires_after(hour);
				if (ends.size() < 2000)
					one.async_wait(again);
			};

		one.async_wait(again);
		check_ends(context, 2000, expired);
	});
}

/* A child has no timers, and destroys all that it finds. The parent's goes on. */
static void fork_and_wait()
{
	pid_t child;
	int status;

	with_loop([&](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, never), other(timers, hour);

		wait(one);
		check_none_ends(context);
		child = fork();
		if (!child) {
			context.notify_fork(lib::io_context::fork_child);
			wait(other);
			context.poll();
			CHECK(ends.size() == 1);
			CHECK(ends[0] == lib::error::bad_descriptor);
			return;
		}
		CHECK(::wait(&status) == child);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
		wait(other);
		context.poll();
		CHECK(ends.size() == 1 && ends[0] == expired);
		one.cancel();
		ends.clear();
		check_ends(context, 1, aborted);
	});
	if (!child)
		_exit(0);
}

static void no_memory()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour);

		allocations_left = 0;
		wait(one, 2);
		allocations_left = -1;
		check_ends(context, 2, lib::error::no_memory);
		wait(one);
		check_ends(context, 1, expired);
	});
}

static void a_stopped_adapter_waits()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour);

		timers.stop();
		wait(one);
		check_none_ends(context);
		CHECK(!timers.start());
		check_ends(context, 1, expired);
	});
}

static void waits_of_another_thread()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, hour), other(timers, never);

		wait(other);
		std::thread thread([&] {
			lib::post(context, [&] {
				wait(one);
				other.cancel();
			});
		});
		context.run();
		thread.join();
		CHECK(ends.size() == 2);
		CHECK(ends[0] == aborted && ends[1] == expired);
	});
}

/* Moves the clock of a manual instance by 10 s. So many waits have ended then. */
static void check_after_ten_seconds(lib::io_context &context, size_t count)
{
	context.restart();
	context.poll();
	CHECK(!hwt_advance(instance, 10000000000));
	context.restart();
	context.poll();
	CHECK(ends.size() == count);
}

/* Waits go by the manual clock, whenever they begin. What has expired stays so. */
static void waits_on_a_manual_clock()
{
	lib::io_context context(1);

	ends.clear();
	CHECK(!hwt_open_manual(&instance, HWT_NONBLOCK));
	{
		hwt_asio timers(context, instance, nullptr);
		timer one(timers, std::chrono::seconds(40));

		CHECK(!timers.start());
		wait(one);
		check_after_ten_seconds(context, 0);
		CHECK(one.cancel() == 1);
		check_after_ten_seconds(context, 1);
		CHECK(ends[0] == aborted);
		wait(one);
		check_after_ten_seconds(context, 1);
		check_after_ten_seconds(context, 2);
		CHECK(ends[1] == expired);
		wait(one);
		context.restart();
		context.poll();
		CHECK(ends.size() == 3 && ends[2] == expired);
		one.expires_after(std::chrono::seconds(5));
		wait(one);
		check_after_ten_seconds(context, 4);
	}
	hwt_close(instance);
}

#if HWT_ASIO_VERSION >= 102000
/* A handler for whose wait there is no memory */
struct too_large {
	template <typename Type> struct allocator : std::allocator<Type> {
		allocator() = default;

		template <typename Other> allocator(const allocator<Other> &)
		{
		}

		Type *allocate(size_t)
		{
			throw std::bad_alloc();
		}
	};
	using allocator_type = allocator<int>;

	allocator_type get_allocator() const noexcept
	{
		return allocator_type();
	}

	void operator()(const hwt_asio_error &)
	{
	}
};

/* A wait that has not begun does not keep the loop. */
static void a_wait_has_no_memory()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		lib::cancellation_signal signal;
		timer one(timers, never);
		bool thrown = false;

		try {
			one.async_wait(too_large());
		} catch (const std::bad_alloc &) {
			thrown = true;
		}
		CHECK(thrown);
		one.async_wait(
			lib::bind_cancellation_slot(signal.slot(), note));
		check_none_ends(context);
		signal.emit(lib::cancellation_type::all);
		context.poll();
		CHECK(context.stopped());
		check_ends(context, 1, aborted);
	});
}

/* It begins when it is told so, and then waits for the expiry of that time. */
static void deferred()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, never);
		auto begin = one.async_wait(lib::experimental::deferred);

		one.expires_after(hour);
		context.run();
		std::move(begin)(note);
		check_ends(context, 1, expired);
	});
}

/* It ends one wait, and a loop that has no other one. */
static void cancellation_slots(lib::cancellation_type type)
{
	with_loop([&](lib::io_context &context, hwt_asio &timers) {
		lib::cancellation_signal signals[2];
		timer one(timers, never);

		for (lib::cancellation_signal &signal : signals)
			one.async_wait(lib::bind_cancellation_slot(
				signal.slot(), note));
		wait(one);
		check_none_ends(context);
		signals[0].emit(type);
		context.poll();
		CHECK(ends.size() == 1 && ends[0] == aborted);
		CHECK(!context.stopped());
		signals[1].emit(type);
		one.cancel();
		check_ends(context, 3, aborted);
		one.async_wait(
			lib::bind_cancellation_slot(signals[0].slot(), note));
		check_none_ends(context);
		signals[0].emit(type);
		check_ends(context, 1, aborted);
	});
}
/* The handler of a wait that its slot has ended destroys the timer. */
static void destroy_after_a_cancellation()
{
	with_loop([&](lib::io_context &context, hwt_asio &timers) {
		std::unique_ptr<timer> one(new timer(timers, never));
		lib::cancellation_signal signal;

		one->async_wait(lib::bind_cancellation_slot(
			signal.slot(), [&](const hwt_asio_error &error) {
				note(error);
				one.reset();
			}));
		check_none_ends(context);
		signal.emit(lib::cancellation_type::all);
		check_ends(context, 1, aborted);
	});
}
#endif

#if defined(BOOST_ASIO_HAS_CO_AWAIT) || defined(ASIO_HAS_CO_AWAIT)
static lib::awaitable<void> sleep_often(hwt_asio &timers)
{
	timer one(timers);

	for (int i = 0; i < 10; i++) {
		one.expires_after(hour);
		co_await one.async_wait(lib::use_awaitable);
		note(expired);
	}
}

static lib::awaitable<void> sleep_in_vain(timer &of)
{
	try {
		co_await of.async_wait(lib::use_awaitable);
	} catch (const system_error &error) {
		note(error.code());
	}
}

static void co_await_it()
{
	with_loop([](lib::io_context &context, hwt_asio &timers) {
		timer one(timers, never);

		lib::co_spawn(context, sleep_often(timers), lib::detached);
		lib::co_spawn(context, sleep_often(timers), lib::detached);
		check_ends(context, 20, expired);
		lib::co_spawn(context, sleep_in_vain(one), lib::detached);
		lib::co_spawn(context, sleep_in_vain(one), lib::detached);
		check_none_ends(context);
		one.cancel();
		check_ends(context, 2, aborted);
	});
}

/* A coroutine that is never resumed ends with the context. */
static void end_in_a_coroutine()
{
	device_events = 0;
	CHECK(!hwt_open(&instance, HWT_NONBLOCK));
	{
		lib::io_context context(1);
		hwt_asio timers(context, instance, nullptr);

		CHECK(!timers.start());
		lib::co_spawn(context, sleep_often(timers), lib::detached);
		context.run_one();
	}
	hwt_close(instance);
}
#endif

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
	post_from_another_thread();
	waits_until_it_expires();
	waits_for_what_is_past();
	waits_are_aborted();
	destruction_aborts();
	a_timer_is_moved();
	an_end_is_one();
	use_future();
	executors_and_allocators();
	handlers_throw();
	handlers_stop_the_loop();
	handlers_run_the_loop();
	handlers_wait_again();
	fork_and_wait();
	no_memory();
	a_stopped_adapter_waits();
	waits_of_another_thread();
	waits_on_a_manual_clock();
#if HWT_ASIO_VERSION >= 102000
	a_wait_has_no_memory();
	deferred();
	cancellation_slots(lib::cancellation_type::terminal);
	cancellation_slots(lib::cancellation_type::total);
	destroy_after_a_cancellation();
#endif
#if defined(BOOST_ASIO_HAS_CO_AWAIT) || defined(ASIO_HAS_CO_AWAIT)
	co_await_it();
	end_in_a_coroutine();
#endif
	device_report = 501;
	CHECK(run(0, nullptr) == DEVICE_EVENTS + 1);
	CHECK(errors == 1);
	printf("all is well\n");
	return 0;
}
