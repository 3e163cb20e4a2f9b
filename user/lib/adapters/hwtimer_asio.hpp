/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of Boost.Asio, in C++11 or later; see libhwtimer(3).
 *
 *	hwt_asio timers(context, hwt, on_timer, on_error);
 *
 *	timers.start();		the loop calls on_timer(event), and the callbacks of
 *				timer objects
 *	timers.stop();		before hwt_close(), or when @timers is destroyed. Both may be in
 *				a callback; without hwt_close() other callbacks may follow then
 *
 * With HWTIMER_ASIO_STANDALONE defined, it uses Asio without Boost.
 */
#ifndef HWTIMER_ASIO_HPP
#define HWTIMER_ASIO_HPP

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <libhwtimer.h>

#ifdef HWTIMER_ASIO_STANDALONE
#include <asio.hpp>
namespace hwt_asio_library = ::asio;
using hwt_asio_error = std::error_code;
#else
#include <boost/asio.hpp>
namespace hwt_asio_library = boost::asio;
using hwt_asio_error = boost::system::error_code;
#endif

/*
 * An instance in a loop, opened with HWT_NONBLOCK.
 *
 * One thread at a time may run the handlers: the context has one thread, or @executor is a
 * strand, in which the program also calls the functions of timer objects.
 *
 * The callback gets each event that is not of a timer object, and may be empty. The function
 * for errors may be empty, too, and gets a negative errno: -ECANCELED: the clock was set, and
 * the loop goes on. An error of hwt_flush(): the loop goes on, and tries again. After any
 * other errno, the loop serves the instance no more: -ENOTCONN: the instance is stopped;
 * others: as hwt_read(). Neither may throw, and no callback of a timer object.
 */
class hwt_asio {
    public:
	using descriptor = hwt_asio_library::posix::stream_descriptor;
	using executor = descriptor::executor_type;
	using callback = std::function<void(const struct hwtimer_event &)>;
	using error_callback = std::function<void(int err)>;

	hwt_asio(const executor &executor, struct hwt *hwt, callback on_event,
		 error_callback on_error = error_callback())
		: loop(std::make_shared<state>(executor, hwt,
					       std::move(on_event),
					       std::move(on_error)))
	{
	}

	hwt_asio(hwt_asio_library::io_context &context, struct hwt *hwt,
		 callback on_event, error_callback on_error = error_callback())
		: hwt_asio(executor(context.get_executor()), hwt,
			   std::move(on_event), std::move(on_error))
	{
	}

	hwt_asio(const hwt_asio &) = delete;
	hwt_asio &operator=(const hwt_asio &) = delete;

	~hwt_asio()
	{
		stop();
	}

	/* Returns 0 or a negative errno; -EINVAL as hwt_dispatch_check(). */
	int start()
	{
		hwt_asio_error error;
		int err = hwt_dispatch_check(loop->hwt);

		if (err || loop->running)
			return err ? err : -EALREADY;
		loop->ready.assign(hwt_fd(loop->hwt), error);
		if (error)
			return -error.value();
		loop->running = true;
		loop->starts++;
		/* A pass without a change does not call hwt_flush(). */
		hwt_cache_time(loop->hwt, 0);
		hwt_on_change(loop->hwt, &state::changed, loop.get());
		state::wait(loop);
		state::changed(loop.get());
		return 0;
	}

	/*
	 * After that no callback comes, but for those of the hwt_dispatch() that has called this
	 * in a callback. May be called again, and start(), too.
	 */
	void stop()
	{
		loop->end();
	}

    private:
	/* Handlers that Asio still has when @hwt_asio is gone keep this. */
	struct state : std::enable_shared_from_this<state> {
		using pointer = std::shared_ptr<state>;

		/* Maximum number of callbacks before other handlers get their turn */
		static constexpr int turn()
		{
			return 1000;
		}

		state(const executor &executor, struct hwt *instance,
		      callback &&event, error_callback &&error)
			: hwt(instance)
			, on_event(std::move(event))
			, on_error(std::move(error))
			, ready(executor)
			, retry(executor)
			, starts(0)
			, retries(false)
			, running(false)
		{
		}

		static void wait(const pointer &loop)
		{
			unsigned int start = loop->starts;

			loop->ready.async_wait(
				descriptor::wait_read,
				[loop, start](const hwt_asio_error &error) {
					if (!error && start == loop->starts &&
					    loop->serve())
						wait(loop);
				});
		}

		/* Asio calls nothing before it waits. Nothing is thrown through functions in C. */
		static void changed(void *arg) noexcept
		{
			pointer loop =
				static_cast<state *>(arg)->shared_from_this();

			hwt_asio_library::post(loop->ready.get_executor(),
					       [loop] { loop->flush(); });
		}

		/* Returns whether the loop goes on. A callback may end it, or start it anew. */
		bool serve()
		{
			unsigned int start = starts;
			int ret;

			if (!running)
				return false;
			ret = hwt_dispatch(hwt, call, this, turn());
			if (!running || start != starts)
				return false;
			/*
			 * If fewer events are left than hwt_notify() asks for, the
			 * descriptor is not ready.
			 */
			if (ret == turn())
				serve_in(0);
			if (hwt_dispatch_failed(ret))
				end();
			if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) &&
			    on_error)
				on_error(ret);
			return running && start == starts;
		}

		void flush()
		{
			int err, ms;

			if (!running)
				return;
			err = hwt_flush(hwt);
			ms = hwt_wait_ms(hwt, -1);
			/* In a loop that never rests, each change would put it off. */
			if (ms >= 0 && !retries)
				serve_in(ms);
			if (err && on_error)
				on_error(err);
		}

		/* For what the module has refused, and for events beyond a turn */
		void serve_in(int ms)
		{
			pointer loop = shared_from_this();
			unsigned int start = starts;

			retries = true;
			retry.expires_after(std::chrono::milliseconds(ms));
			retry.async_wait(
				[loop, start](const hwt_asio_error &error) {
					if (error || start != loop->starts)
						return;
					loop->retries = false;
					if (loop->serve())
						loop->flush();
				});
		}

		static void call(void *arg,
				 const struct hwtimer_event *event) noexcept
		{
			state *loop = static_cast<state *>(arg);

			if (loop->on_event)
				loop->on_event(*event);
		}

		void end()
		{
			if (!running)
				return;
			running = false;
			retries = false;
			hwt_on_change(hwt, nullptr, nullptr);
			retry.cancel();
			/* The descriptor is the instance's. */
			ready.release();
		}

		struct hwt *hwt;
		callback on_event;
		error_callback on_error;
		descriptor ready;
		hwt_asio_library::steady_timer retry;
		unsigned int starts; /* handlers of former ones do nothing */
		bool retries; /* the timer waits */
		bool running;
	};

	std::shared_ptr<state> loop;
};

#endif /* HWTIMER_ASIO_HPP */
