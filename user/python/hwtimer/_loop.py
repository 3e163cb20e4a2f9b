# SPDX-License-Identifier: MIT
"""Timers of /dev/hwtimer in a loop of asyncio"""

from __future__ import annotations

import asyncio
import contextvars
import errno
import functools
import math
import weakref
from typing import Any, AsyncGenerator, Callable, Optional

from ._abi import NEVER
from ._instance import CALLBACK_DATA, Instance, Timer, _request, seconds

# In seconds. Deadlines of the kernel's clock end in the third one.
CENTURY = 36525 * 86400.0

# Maximum number of callbacks before other work of the loop gets its turn
TURN = 256


class TimerHandle(Timer):
    """What call_later() and call_at() return, as asyncio.TimerHandle"""

    def __init__(self, timers: LoopTimers, when: float, callback: Callable[..., object],
                 args: tuple[Any, ...], context: Optional[contextvars.Context],
                 fail: Optional[Callable[[BaseException], object]] = None) -> None:
        super().__init__(timers.instance, callback)
        self._timers = timers
        self._when = when
        self._args = args
        self._context = context or contextvars.copy_context()
        self._cancelled = False
        self._fail = fail

    def when(self) -> float:
        """When the callback is due, by loop.time()"""
        return self._when

    def cancelled(self) -> bool:
        """Whether it was cancelled"""
        return self._cancelled

    def cancel(self) -> bool:
        """After this, the callback does not begin, whatever has expired or was read. Returns
        False if it has begun before."""
        self._cancelled = True
        cancelled = super().cancel()
        self._args = ()
        self._callback = _nothing
        self._fail = None
        return cancelled

    def _run(self) -> None:
        callback, args = self._callback, self._args
        try:
            self._context.run(callback, *args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # as asyncio's own handles do
            self._timers._report("a callback of hwtimer has failed", error, self)


def _nothing(*_: object) -> None:
    pass


def _delay_ns(delay: float) -> int:
    """As seconds(), and what the kernel takes for never: asyncio takes math.inf, too."""
    if math.isinf(delay):
        return NEVER if delay > 0 else 0
    return seconds(delay)


class LoopTimers:
    """An instance as a source of timers for one loop of asyncio.

    sleep(), call_later() and call_at() of the package use one for the running loop, which
    is closed with the loop. Make another one for a @tick of your own, in ns: timers of one
    tick wake the loop once. It belongs to the loop's thread, as asyncio itself.

    @manual: for tests, without the module: only advance() lets time pass. Until it is closed,
    sleep(), call_later() and call_at() of the package use this one in the loop. All else in
    the loop, such as asyncio.sleep(), asyncio.timeout() and loop.time(), goes by the real time.
    """

    def __init__(self, loop: Optional[asyncio.AbstractEventLoop] = None, *,
                 tick: int = 0, manual: bool = False) -> None:
        loop = loop or asyncio.get_running_loop()
        self.instance = Instance(tick=tick, manual=manual)
        self._loop = loop
        self._error: Optional[OSError] = None
        self._keeper: Optional[AsyncGenerator[None, None]] = None
        try:
            loop.add_reader(self.instance.fileno(), self._ready)
        except BaseException:
            self.instance.close()
            raise
        if manual:
            _of_loop[loop] = weakref.ref(self)

    def __enter__(self) -> LoopTimers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all timers: no callback comes, and who sleeps gets an OSError."""
        if self.instance.closed:
            return
        self._keeper = None
        self._remove_reader()
        pending = list(self.instance._timers.values())
        self.instance.close()
        if pending:
            self._fail(OSError(errno.ECANCELED, "the timers were closed"), pending)

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any,
                   context: Optional[contextvars.Context] = None) -> TimerHandle:
        """Calls callback(*args) @delay seconds from now, never earlier, and once."""
        return self._call(self._loop.time() + delay, False, _delay_ns(delay), callback, args,
                          context)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any,
                context: Optional[contextvars.Context] = None) -> TimerHandle:
        """Calls callback(*args) at the time @when of loop.time()."""
        # If the time were made a delay, the timer would be later by as long as the machine
        # stands still between here and the kernel.
        if type(self._loop).time is asyncio.BaseEventLoop.time and 0 <= when < CENTURY and \
                not self.instance._manual:
            return self._call(when, True, seconds(when), callback, args, context)
        return self._call(when, False, _delay_ns(when - self._loop.time()), callback, args,
                          context)

    async def sleep(self, delay: float, result: Any = None) -> Any:
        """Returns @result after @delay seconds, never earlier."""
        if delay <= 0:
            return await asyncio.sleep(0, result)
        future = self._loop.create_future()
        handle = self._call(self._loop.time() + delay, False, _delay_ns(delay), _set_result,
                            (future, result), None,
                            functools.partial(_set_exception, future))
        try:
            return await future
        finally:
            handle.cancel()

    async def advance(self, delay: float) -> None:
        """With manual=True: lets @delay seconds pass, from one timer to the next. At each, its
        callback runs, or the task that sleeps goes on."""
        left = _delay_ns(delay)
        # What has just become a task begins first.
        await asyncio.sleep(0)
        while not self.instance.closed:
            next_time = self.instance.next_time()
            if not left and next_time:
                return
            step = min(next_time, left)
            self.instance.advance(step)
            left -= step
            self._ready()
            await asyncio.sleep(0)

    def _call(self, when: float, absolute: bool, time: int, callback: Callable[..., object],
              args: tuple[Any, ...], context: Optional[contextvars.Context],
              fail: Optional[Callable[[BaseException], object]] = None) -> TimerHandle:
        if self._error is not None:
            raise self._error
        handle = TimerHandle(self, when, callback, args, context, fail)
        handle._start(_request(absolute, time, CALLBACK_DATA, 0, 0, 0, False))
        return handle

    def _ready(self) -> None:
        if self._error is not None:
            return
        try:
            events = self.instance._take(TURN, 0)
        except OSError as error:
            self._broken(error)
            return
        try:
            self.instance._handle_events(events, None)
        finally:
            # If a callback has ended the loop, the events behind it do not make the
            # descriptor ready for the next run.
            if self.instance._left:
                self._loop.call_soon(self._ready)

    def _broken(self, error: OSError) -> None:
        """The instance cannot be read, and its descriptor may stay ready."""
        if self.instance.closed:
            return
        self._error = error
        self._remove_reader()
        self._fail(error, list(self.instance._timers.values()))

    def _fail(self, error: OSError, timers: list[Timer]) -> None:
        """Tells those who wait for @timers that they wait in vain."""
        lost = 0
        for timer in timers:
            fail = getattr(timer, "_fail", None)
            if fail is None:
                lost += 1
            else:
                fail(error)
        if lost and not self.instance.closed:
            self._report(f"hwtimer: {lost} callbacks will not come", error, None)

    def _remove_reader(self) -> None:
        # A child has the epoll of the parent, which would then never hear of its timers again.
        if not self._loop.is_closed() and not self.instance._handle.forked:
            self._loop.remove_reader(self.instance.fileno())

    def _report(self, message: str, error: BaseException,
                handle: Optional[TimerHandle]) -> None:
        context: dict[str, Any] = {"message": message, "exception": error}
        if handle is not None:
            context["handle"] = handle
        self._loop.call_exception_handler(context)


def _set_result(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _set_exception(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


# ---- the running loop ----

# The loop keeps them, in its reader. They refer to the loop: if they were kept here, it would
# never be freed.
_of_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop,
                                    weakref.ref[LoopTimers]] = weakref.WeakKeyDictionary()


async def _close_with_loop(timers: LoopTimers) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        timers.close()


def _running() -> LoopTimers:
    """The timers of the running loop"""
    loop = asyncio.get_running_loop()
    known = _of_loop.get(loop)
    timers = known() if known is not None else None
    if timers is None or timers.instance.closed or timers._error is not None:
        timers = LoopTimers(loop)
        _of_loop[loop] = weakref.ref(timers)
        # asyncio.run() ends all asynchronous generators before it closes the loop. This one
        # runs up to its yield now, without a task.
        timers._keeper = _close_with_loop(timers)
        try:
            timers._keeper.asend(None).__await__().__next__()
        except StopIteration:
            pass
    return timers


async def sleep(delay: float, result: Any = None) -> Any:
    """As asyncio.sleep(), by a timer in the kernel: returns @result after @delay seconds,
    never earlier, and late by a tick of 1 ms at most if the machine is not busy."""
    return await asyncio.sleep(0, result) if delay <= 0 else \
        await _running().sleep(delay, result)


def call_later(delay: float, callback: Callable[..., object], *args: Any,
               context: Optional[contextvars.Context] = None) -> TimerHandle:
    """As loop.call_later() of the running loop, by a timer in the kernel"""
    return _running().call_later(delay, callback, *args, context=context)


def call_at(when: float, callback: Callable[..., object], *args: Any,
            context: Optional[contextvars.Context] = None) -> TimerHandle:
    """As loop.call_at() of the running loop, by a timer in the kernel"""
    return _running().call_at(when, callback, *args, context=context)
