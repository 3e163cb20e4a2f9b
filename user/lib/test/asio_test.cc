// SPDX-License-Identifier: MIT
/*
 * As adapters_test.c, for Boost.Asio: programs stop the adapter in a callback, start it anew
 * there, or destroy it. Built with sanitizers and run by test/vm/userland.sh; see device.h.
 */
#include <cstdio>
#include <cstdlib>

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
	context.run_for(std::chrono::milliseconds(20));
	device_reads = 0;
	if (timers)
		device_add_event(hwt_fd(hwt));
	context.run_for(std::chrono::milliseconds(20));
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

/* Callbacks that were to come in this turn may come. */
static void stops(unsigned int at)
{
	CHECK(run(at, stop) == 1000);
	CHECK(run(at, destroy) == 1000);
	CHECK(run(at, destroy_and_close, true) == at);
	device_report = 501;
	CHECK(run(at, stop) == 500);
	CHECK(!errors);
}

int main()
{
	restarts();
	stops(1);
	stops(300);
	device_report = 501;
	CHECK(run(0, nullptr) == DEVICE_EVENTS + 1);
	CHECK(errors == 1);
	printf("all is well\n");
	return 0;
}
