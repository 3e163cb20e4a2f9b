// SPDX-License-Identifier: GPL-2.0
/* Loops of Boost.Asio; see adapters_asio.h. */
#include "adapters_asio.h"

#include "hwtimer_asio.hpp"

#include <thread>

namespace asio = boost::asio;

static hwt_asio::callback with(hwt_callback on_event, void *arg)
{
	if (!on_event)
		return nullptr;
	return [=](const struct hwtimer_event &event) {
		on_event(arg, &event);
	};
}

static hwt_asio::error_callback with(void (*on_error)(void *arg, int err),
				     void *arg)
{
	if (!on_error)
		return nullptr;
	return [=](int err) { on_error(arg, err); };
}

int asio_loop(struct hwt *hwt, hwt_callback on_event,
	      void (*on_error)(void *arg, int err), void *arg,
	      unsigned int *beats)
{
	asio::io_context context(1);
	hwt_asio timers(context, hwt, with(on_event, arg), with(on_error, arg));
	asio::steady_timer beat(context, std::chrono::milliseconds(1));
	int err = timers.start();

	if (err)
		return err;
	if (timers.start() != -EALREADY)
		return -EPROTO;
	if (beats)
		beat.async_wait([=](const hwt_asio_error &) { ++*beats; });
	context.run();
	timers.stop();
	return 0;
}

int asio_busy(struct hwt *hwt, void (*on_error)(void *arg, int err), void *arg,
	      bool (*work)(void))
{
	asio::io_context context(1);
	hwt_asio timers(context, hwt, nullptr, with(on_error, arg));
	std::function<void()> again = [&] {
		if (work())
			asio::post(context, again);
		else
			context.stop();
	};
	int err = timers.start();

	if (err)
		return err;
	asio::post(context, again);
	context.run();
	return 0;
}

int asio_flood(struct hwt *hwt, hwt_callback on_event,
	       void (*on_error)(void *arg, int err), void *arg, int fd,
	       void (*other)(void))
{
	asio::io_context context(1);
	hwt_asio timers(context, hwt, with(on_event, arg), with(on_error, arg));
	asio::posix::stream_descriptor ready(context, fd);
	int err = timers.start();

	if (!err) {
		ready.async_wait(asio::posix::stream_descriptor::wait_read,
				 [=](const boost::system::error_code &) {
					 other();
				 });
		context.run();
	}
	ready.release();
	return err;
}

int asio_restarted(struct hwt *hwt, void (*event)(void), int times)
{
	asio::io_context context(1);
	hwt_asio timers(asio::make_strand(context), hwt,
			[](const struct hwtimer_event &) {});
	int i, err;

	for (i = 0; i < times; i++) {
		event();
		err = timers.start();
		if (err)
			return err;
		for (int n = i % 8; n; n--)
			context.poll_one();
		timers.stop();
	}
	err = timers.start();
	if (err)
		return err;
	context.poll();
	event();
	return context.poll();
}

int asio_strand(struct hwt *hwt, hwt_callback on_event,
		void (*on_error)(void *arg, int err), void *arg)
{
	asio::io_context context;
	hwt_asio timers(asio::make_strand(context), hwt, with(on_event, arg),
			with(on_error, arg));
	int err = timers.start();

	if (err)
		return err;
	std::thread other([&] { context.run(); });
	context.run();
	other.join();
	return 0;
}

int asio_abandoned(struct hwt *hwt)
{
	asio::io_context context(1);
	unsigned int calls = 0;

	{
		hwt_asio timers(
			context, hwt,
			[&](const struct hwtimer_event &) { calls++; },
			[&](int) { calls++; });

		if (timers.start())
			return -EINVAL;
	}
	context.run();
	return calls;
}
