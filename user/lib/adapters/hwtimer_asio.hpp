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
 *	hwt_asio::timer timer(timers, std::chrono::seconds(30));
 *
 *	timer.async_wait(token);		as steady_timer, with every completion token
 *	co_await timer.async_wait(asio::use_awaitable);
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

#include <atomic>
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
#define HWT_ASIO_VERSION ASIO_VERSION
#else
#include <boost/asio.hpp>
namespace hwt_asio_library = boost::asio;
using hwt_asio_error = boost::system::error_code;
#define HWT_ASIO_VERSION BOOST_ASIO_VERSION
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
		/* A pass without a change does not call hwt_flush(). */
		hwt_cache_time(hwt, 0);
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

	class timer;

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

/*
 * A timer object that is used as a steady_timer of Asio: waits of any number and with any
 * completion token, which end with operation_aborted if they are cancelled, by their cancellation
 * slots, too, if the expiry changes, or if the timer is destroyed, as it has to be before
 * hwt_close(). If the timer cannot be started, as in a child of fork(), they end with that error.
 *
 * The waits are those of a steady_timer that never expires, and that the callback of the timer
 * object cancels. Handlers may run anywhere; all else belongs to the loop's thread, or strand.
 *
 * An expiry is converted to the instance's clock when it is set, and follows that clock. There are
 * no wait() and no cancel_one(), and a timer that was moved from can only be assigned to, or
 * destroyed.
 *
 * Such a wait takes 1.8 times the instructions of one of a steady_timer. Where each request pushes
 * a timeout out, use a timer object with a callback, for which that is a store.
 */
class hwt_asio::timer {
    public:
	using executor_type = hwt_asio::executor;
	using clock_type = std::chrono::steady_clock;
	using duration = clock_type::duration;
	using time_point = clock_type::time_point;

    private:
	struct data;

	/* The waits that end together, and how: a positive errno, or 0: the timer has expired */
	struct round {
		explicit round(data *of)
			: timer(of)
			, executor(of->queue.get_executor())
			, waits(0)
			, result(-1)
		{
		}

		/* The last wait leaves no timer that would keep run() from returning. */
		void leave()
		{
			if (timer && !--waits)
				hwt_timer_stop(&timer->object);
		}

		data *timer; /* null: they have ended */
		hwt_asio::executor executor; /* the loop's */
		std::size_t waits;
		std::atomic<int> result; /* negative: they have not ended */
	};

	/* What waits know, wherever the timer is moved to */
	struct data {
		explicit data(state &loop)
			: queue(loop.ready.get_executor(),
				std::chrono::steady_clock::time_point::max())
		{
			hwt_timer_init(&object, loop.hwt, [](hwt_timer *due) {
				hwt_timer_object(due, data, object)->end(0);
			});
		}

		~data()
		{
			end(ECANCELED);
		}

		std::size_t end(int result)
		{
			hwt_timer_stop(&object);
			if (!current)
				return 0;
			current->timer = nullptr;
			current->result = result;
			current.reset();
			return queue.cancel();
		}

		std::size_t expire(time_point when, duration delay)
		{
			std::chrono::nanoseconds ns = delay;

			expiry = when;
			deadline = hwt_now(object.hwt);
			if (ns.count() > 0)
				deadline += static_cast<uint64_t>(ns.count());
			return end(ECANCELED);
		}

		/* For a wait that was added */
		void start()
		{
			int err = 0;

			if (hwt_timer_active(&object))
				return;
			if (deadline > hwt_now(object.hwt))
				err = hwt_timer_start_at(&object, deadline);
			if (!hwt_timer_active(&object))
				end(-err);
		}

		time_point expiry;
		uint64_t deadline; /* the same, on the instance's clock */
		hwt_asio_library::steady_timer queue;
		std::shared_ptr<round> current; /* null: no wait */
		struct hwt_timer object;
	};

	/* One wait: Asio calls it to begin, which may be long after async_wait(), and at its end. */
	struct wait {
		template <typename Self> void operator()(Self &self)
		{
			data *begun = timer;

			if (!begun->current)
				begun->current = std::make_shared<round>(begun);
			of = begun->current;
#if HWT_ASIO_VERSION >= 101900
			self.reset_cancellation_state(
				hwt_asio_library::enable_total_cancellation());
#endif
			/* It may throw. */
			begun->queue.async_wait(std::move(self));
			begun->current->waits++;
			begun->start();
		}

		template <typename Self>
		void operator()(Self &self, const hwt_asio_error &)
		{
			auto ended = std::move(of);
			int result = ended->result;
			hwt_asio_error error;

			if (result < 0) {
				/* Its cancellation slot has ended it. */
				result = ECANCELED;
				hwt_asio_library::post(ended->executor,
						       [ended] {
							       ended->leave();
						       });
			}
			if (result)
				error.assign(result,
					     hwt_asio_library::error::
						     get_system_category());
			self.complete(error);
		}

		data *timer;
		std::shared_ptr<round> of;
	};

	std::unique_ptr<data> own;

    public:
	explicit timer(hwt_asio &timers, time_point when = time_point())
		: own(new data(*timers.loop))
	{
		expires_at(when);
	}

	timer(hwt_asio &timers, duration delay)
		: own(new data(*timers.loop))
	{
		expires_after(delay);
	}

	executor_type get_executor()
	{
		return own->queue.get_executor();
	}

	time_point expiry() const
	{
		return own->expiry;
	}

	/* These return the number of waits that they have ended. */
	std::size_t expires_at(time_point when)
	{
		time_point now = clock_type::now();

		return own->expire(when,
				   when > now ? when - now : duration::zero());
	}

	std::size_t expires_after(duration delay)
	{
		time_point now = clock_type::now(), last = time_point::max();

		return own->expire(delay < last - now ? now + delay : last,
				   delay);
	}

	std::size_t cancel()
	{
		return own->end(ECANCELED);
	}

	template <typename Token>
	auto async_wait(Token &&token) -> decltype(
		hwt_asio_library::async_compose<Token, void(hwt_asio_error)>(
			std::declval<wait>(), token,
			std::declval<hwt_asio_library::steady_timer &>()))
	{
		return hwt_asio_library::async_compose<Token,
						       void(hwt_asio_error)>(
			wait{ own.get(), nullptr }, token, own->queue);
	}
};

#endif /* HWTIMER_ASIO_HPP */
