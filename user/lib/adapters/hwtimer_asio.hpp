/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of Boost.Asio, in C++11 or later; see libhwtimer(3).
 *
 *	hwt_asio timers(context, hwt, on_timer, on_error);
 *
 *	timers.start();		the loop calls on_timer(event), and the callbacks of
 *				timer objects
 *	timers.stop();		before hwt_close(), or when @timers is destroyed. Both may be in
 *				a callback; no other one follows then
 *
 * After io_context::stop() in a callback, no other one follows; they come when the loop runs again.
 * A callback may throw: the exception comes out of run(), and the other callbacks come when that is
 * called again. While a callback runs the loop itself, by poll() or the like, other timers go on.
 *
 * In a child of fork(), stop or destroy @timers before any other object of the context.
 *
 * Without on_timer(), run() returns when no timer object is active any more; with it, only after
 * stop(), as any thread may schedule.
 *
 * With HWTIMER_ASIO_STANDALONE defined, it uses Asio without Boost.
 */
#ifndef HWTIMER_ASIO_HPP
#define HWTIMER_ASIO_HPP

#include <cerrno>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <unistd.h>

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
 * One thread at a time may run the handlers: the context has one thread, or the executor is a
 * strand, in which the program also calls the functions of timer objects. After stop() of a context
 * whose executor is neither io_context's nor a strand of that, the callbacks that are due may come.
 *
 * The callback gets each event that is not of a timer object, and may be empty. The function
 * for errors may be empty, too, and gets a negative errno: -ECANCELED: the clock was set, and
 * the loop goes on. An error of hwt_flush(): the loop goes on, and tries again. After any
 * other errno, the loop serves the instance no more: -ENOTCONN: the instance is stopped;
 * others: as hwt_read().
 */
class hwt_asio {
    public:
	using descriptor = hwt_asio_library::posix::stream_descriptor;
	using executor = descriptor::executor_type;
	using callback = std::function<void(const struct hwtimer_event &)>;
	using error_callback = std::function<void(int err)>;

	template <typename Executor>
	hwt_asio(const Executor &on, struct hwt *hwt, callback on_event,
		 error_callback on_error = error_callback())
		: loop(std::make_shared<state>(on, context_of(on), hwt,
					       std::move(on_event),
					       std::move(on_error)))
	{
	}

	hwt_asio(hwt_asio_library::io_context &context, struct hwt *hwt,
		 callback on_event, error_callback on_error = error_callback())
		: hwt_asio(context.get_executor(), hwt, std::move(on_event),
			   std::move(on_error))
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
		loop->pid = getpid();
		loop->starts++;
		/* A pass without a change does not call hwt_flush(). */
		hwt_cache_time(loop->hwt, 0);
		hwt_wrap_callbacks(loop->hwt, &state::call_timer, loop.get());
		hwt_on_change(loop->hwt, &state::changed, loop.get());
		state::changed(loop.get());
		return 0;
	}

	/* After that no callback comes. May be called again, and start(), too. */
	void stop()
	{
		loop->end();
	}

    private:
	using io_context = hwt_asio_library::io_context;

	/* The context that may be stopped, if it can be asked */
	static io_context *context_of(const io_context::executor_type &executor)
	{
		return &executor.context();
	}

	template <typename Inner>
	static io_context *
	context_of(const hwt_asio_library::strand<Inner> &strand)
	{
		return context_of(strand.get_inner_executor());
	}

	static io_context *context_of(const executor &any)
	{
		using inner = io_context::executor_type;
		using strand = hwt_asio_library::strand<inner>;

		if (any.target<inner>())
			return context_of(*any.target<inner>());
		return any.target<strand>() ?
			       context_of(*any.target<strand>()) :
			       nullptr;
	}

	template <typename Other> static io_context *context_of(const Other &)
	{
		return nullptr;
	}

	/* Handlers that Asio still has when @hwt_asio is gone keep this. */
	struct state : std::enable_shared_from_this<state> {
		using pointer = std::shared_ptr<state>;

		/* Maximum number of callbacks before other handlers get their turn */
		static constexpr int turn()
		{
			return 1000;
		}

		state(const executor &executor, io_context *stops,
		      struct hwt *instance, callback &&event,
		      error_callback &&error)
			: hwt(instance)
			, context(stops)
			, on_event(std::move(event))
			, on_error(std::move(error))
			, ready(executor)
			, retry(executor)
			, starts(0)
			, waits(0)
			, waiting(false)
			, soon(false)
			, retries(false)
			, running(false)
			, pid(0)
		{
		}

		/* Asio calls nothing before it waits. Nothing is thrown through functions in C. */
		static void changed(void *arg) noexcept
		{
			pointer loop =
				static_cast<state *>(arg)->shared_from_this();
			unsigned int start = loop->starts;

			hwt_asio_library::post(
				loop->ready.get_executor(), [loop, start] {
					if (start == loop->starts)
						loop->flush();
				});
		}

		/* Waits for events as long as one may come: this keeps run() from returning. */
		void keep_waiting()
		{
			bool wanted = on_event || hwt_active(hwt);

			if (wanted && !waiting) {
				wait();
			} else if (!wanted && waiting) {
				waiting = false;
				waits++;
				ready.cancel();
			}
		}

		void wait()
		{
			pointer self = shared_from_this();
			unsigned int number = ++waits;

			waiting = true;
			ready.async_wait(
				descriptor::wait_read,
				[self, number](const hwt_asio_error &error) {
					if (error || number != self->waits)
						return;
					self->waiting = false;
					/* First, for a loop that runs in a callback */
					self->keep_waiting();
					self->serve();
				});
		}

		/* A callback may end the loop, or start it anew. */
		void serve()
		{
			unsigned int start = starts;
			int ret = hwt_dispatch(hwt,
					       on_event ? call_event : nullptr,
					       this, turn());
			std::exception_ptr exception;

			exception.swap(thrown);
			if (running && start == starts)
				served(ret);
			if (exception)
				std::rethrow_exception(exception);
		}

		void served(int ret)
		{
			if (hwt_dispatch_failed(ret)) {
				end();
			} else {
				keep_waiting();
				serve_soon();
			}
			if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) &&
			    on_error)
				on_error(ret);
		}

		/* For events that are left, and do not make the descriptor ready */
		void serve_soon()
		{
			pointer self = shared_from_this();
			unsigned int start = starts;

			if (soon || hwt_wait_ms(hwt, -1))
				return;
			soon = true;
			hwt_asio_library::post(ready.get_executor(), [self,
								      start] {
				if (start != self->starts)
					return;
				self->soon = false;
				if (!hwt_wait_ms(self->hwt, -1))
					self->serve();
			});
		}

		void flush()
		{
			int err = hwt_flush(hwt);

			keep_waiting();
			serve_soon();
			/* In a loop that never rests, each change would put it off. */
			if (!retries)
				try_again(hwt_wait_ms(hwt, -1));
			if (err && on_error)
				on_error(err);
		}

		/* For what the module has refused */
		void try_again(int ms)
		{
			pointer self = shared_from_this();
			unsigned int start = starts;

			if (ms <= 0)
				return;
			retries = true;
			retry.expires_after(std::chrono::milliseconds(ms));
			retry.async_wait(
				[self, start](const hwt_asio_error &error) {
					if (error || start != self->starts)
						return;
					self->retries = false;
					changed(self.get());
					self->serve();
				});
		}

		/* What is left when a callback has thrown comes with the next turn. */
		template <typename Call> void call(const Call &callback)
		{
			struct hwt *instance = hwt;

			/* For a loop that runs in the callback */
			serve_soon();
			try {
				callback();
			} catch (...) {
				thrown = std::current_exception();
				hwt_break(instance);
			}
			if (context && context->stopped())
				hwt_break(instance);
		}

		static void
		call_event(void *arg,
			   const struct hwtimer_event *event) noexcept
		{
			state *loop = static_cast<state *>(arg);

			loop->call([=] { loop->on_event(*event); });
		}

		static void call_timer(void *arg,
				       struct hwt_timer *timer) noexcept
		{
			static_cast<state *>(arg)->call(
				[=] { timer->callback(timer); });
		}

		/* Otherwise the parent's loop would lose what is taken out of the child's. */
		void leave_the_parent()
		{
			using context_of =
				hwt_asio_library::execution::context_as_t<
					hwt_asio_library::execution_context &>;

			if (pid != getpid())
				hwt_asio_library::query(ready.get_executor(),
							context_of())
					.notify_fork(
						hwt_asio_library::
							execution_context::
								fork_child);
		}

		void end()
		{
			if (!running)
				return;
			running = false;
			waiting = false;
			soon = false;
			retries = false;
			starts++;
			waits++;
			hwt_break(hwt);
			hwt_on_change(hwt, nullptr, nullptr);
			hwt_wrap_callbacks(hwt, nullptr, nullptr);
			leave_the_parent();
			retry.cancel();
			/* The descriptor is the instance's. */
			ready.release();
		}

		struct hwt *hwt;
		io_context *context;
		callback on_event;
		error_callback on_error;
		descriptor ready;
		hwt_asio_library::steady_timer retry;
		std::exception_ptr thrown;
		unsigned int starts; /* handlers of former ones do nothing */
		unsigned int waits; /* the same */
		bool waiting;
		bool soon; /* a handler will serve what is left */
		bool retries; /* the timer waits */
		bool running;
		pid_t pid;
	};

	std::shared_ptr<state> loop;
};

#endif /* HWTIMER_ASIO_HPP */
