# SPDX-License-Identifier: MIT
"""Timers of /dev/hwtimer in a loop of asyncio"""

from __future__ import annotations

import asyncio
import contextvars
import errno
import functools
import math
import weakref
from typing import Any, Callable, Optional

from ._abi import NEVER
from ._instance import CALLBACK_DATA, Instance, Timer, _request, seconds

# In seconds. Deadlines of the kernel's clock end in the third one.
CENTURY = 36525 * 86400.0

# Maximum number of callbacks before other work of the loop gets its turn
TURN = 256


class TimerHandle(asyncio.TimerHandle, Timer):
    """What call_later() and call_at() return: an asyncio.TimerHandle that can be pushed out"""

    # Not those of asyncio, which know handles by a time that does not change.
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, timers: LoopTimers, when: float, callback: Callable[..., object],
                 args: tuple[Any, ...], context: Optional[contextvars.Context],
                 fail: Optional[Callable[[BaseException], object]] = None) -> None:
        Timer.__init__(self, timers.instance, callback)
        super().__init__(when, callback, args, timers._loop, context)
        self._timers = timers
        # When the timer in the kernel is due, by LoopTimers.time()
        self._armed = when
        self._fail = fail

    def reschedule(self, when: float) -> bool:
        """Has the callback come at the time @when of hwtimer.time() instead. If that is later than
        before, it is only a store: the timer in the kernel keeps its time, and gets the new one
        when it expires. Returns False if the callback has begun, or was cancelled: it stays so."""
        if not self.active:
            return False
        if not when >= self._armed:
            self._timers._arm(self, when)
        self._when = when
        return True

    def cancel(self) -> bool:
        """After this, the callback does not begin, whatever has expired or was read. Returns
        False if it has begun before."""
        cancelled = Timer.cancel(self)
        asyncio.Handle.cancel(self)
        self._fail = None
        return cancelled

    def _run(self) -> None:
        if self._when == self._armed or self._when <= self._timers.time():
            super()._run()
            return
        try:
            self._timers._arm(self, self._when)
        except OSError as error:
            self._timers._fail(error, [self])


def _written(delay: float, when: float) -> float:
    """@delay as it was before the time of the loop was added to it, which made it @when, and
    subtracted again: what that has changed would make it a tick."""
    whole = round(delay, 6)
    return whole if abs(delay - whole) <= 4 * math.ulp(when) else delay


def _delay_ns(delay: float) -> int:
    """As seconds(), and what the kernel takes for never: asyncio takes math.inf, too."""
    if math.isinf(delay):
        return NEVER if delay > 0 else 0
    return seconds(delay)


class LoopTimers:
    """An instance as a source of timers for one loop of asyncio.

    sleep(), call_later() and call_at() of the package use one for the running loop. Make
    another one for a @tick of your own, in ns: timers of one tick wake the loop once. It is
    closed with the loop, and belongs to the loop's thread, as asyncio itself.

    @manual: for tests, without the module: only advance() lets time pass. Until it is closed,
    sleep(), call_later(), call_at() and time() of the package use this one in the loop. All else
    in the loop, such as asyncio.sleep(), asyncio.timeout() and loop.time(), goes by the real time.
    """

    def __init__(self, loop: Optional[asyncio.AbstractEventLoop] = None, *,
                 tick: int = 0, manual: bool = False) -> None:
        loop = loop or asyncio.get_running_loop()
        self.instance = Instance(tick=tick, manual=manual)
        self._loop = loop
        # When the clock that the program moves began, by loop.time() and by itself
        self._start = (loop.time(), self.instance.now()) if manual else None
        self._monotonic = not manual and \
            getattr(loop.time, "__func__", None) is asyncio.BaseEventLoop.time
        self._error: Optional[OSError] = None
        try:
            loop.add_reader(self.instance.fileno(), _Reader(self))
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
        sleepers = [timer for timer in self.instance._timers.values()
                    if getattr(timer, "_fail", None)]
        self._drop()
        self._fail(OSError(errno.ECANCELED, "the timers were closed"), sleepers)

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any,
                   context: Optional[contextvars.Context] = None) -> TimerHandle:
        """Calls callback(*args) @delay seconds from now, never earlier, and once."""
        return self._call(self.time() + delay, callback, args, context)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any,
                context: Optional[contextvars.Context] = None) -> TimerHandle:
        """Calls callback(*args) at the time @when of time()."""
        return self._call(when, callback, args, context)

    async def sleep(self, delay: float, result: Any = None) -> Any:
        """Returns @result after @delay seconds, never earlier."""
        if delay <= 0:
            return await asyncio.sleep(0, result)
        future = self._loop.create_future()
        handle = self._call(self.time() + delay, _set_result, (future, result), None,
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

    def time(self) -> float:
        """The time by which call_at() and reschedule() go: loop.time(). With manual=True, that of
        the beginning, and what advance() has added."""
        if self._start is None:
            return self._loop.time()
        start, ns = self._start
        return start + (self.instance.now() - ns) / 1e9

    def _call(self, when: float, callback: Callable[..., object], args: tuple[Any, ...],
              context: Optional[contextvars.Context],
              fail: Optional[Callable[[BaseException], object]] = None) -> TimerHandle:
        if self._error is not None:
            raise self._error
        handle = TimerHandle(self, when, callback, args, context, fail)
        self._arm(handle, when)
        return handle

    def _arm(self, handle: TimerHandle, when: float) -> None:
        """Starts the timer in the kernel."""
        # If the time were made a delay, the timer would be later by as long as the machine
        # stands still between here and the kernel.
        absolute = self._monotonic and 0 <= when < CENTURY
        if not absolute:
            time = _delay_ns(_written(when - self.time(), when))
        handle._start(_request(absolute, seconds(when) if absolute else time,
                               CALLBACK_DATA, 0, 0, 0, False))
        handle._armed = when

    def _ready(self) -> None:
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
        timers = list(self.instance._timers.values())
        self._drop()
        self._fail(error, timers)

    def _fail(self, error: OSError, timers: list[Timer]) -> None:
        """Tells those who wait for @timers that they wait in vain."""
        lost = 0
        for timer in timers:
            fail = getattr(timer, "_fail", None)
            if fail is None:
                lost += 1
            else:
                fail(error)
        if lost:
            self._loop.call_exception_handler({
                "message": f"hwtimer: {lost} callbacks will not come", "exception": error})

    def _drop(self) -> None:
        """Takes the instance out of the loop, and closes it."""
        # A child has the epoll of the parent, which would then never hear of its timers again.
        if not (self.instance.closed or self.instance._handle.forked or self._loop.is_closed()):
            self._loop.remove_reader(self.instance.fileno())
        self.instance.close()


class _Reader:
    """What a loop has of a LoopTimers. Nobody else has it, so it ends with the loop."""

    def __init__(self, timers: LoopTimers) -> None:
        self._timers = timers

    def __call__(self) -> None:
        timers = self._timers
        del self  # The traceback of an exception, which a program keeps, would have it, too.
        timers._ready()

    def __del__(self) -> None:
        self._timers._drop()


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


def _running() -> LoopTimers:
    """The timers of the running loop"""
    loop = asyncio.get_running_loop()
    known = _of_loop.get(loop)
    timers = known() if known is not None else None
    if timers is None or timers.instance.closed or timers._error is not None:
        timers = LoopTimers(loop)
        _of_loop[loop] = weakref.ref(timers)
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
    """As loop.call_at() of the running loop, by a timer in the kernel: @when is one of time()."""
    return _running().call_at(when, callback, *args, context=context)


def time() -> float:
    """As loop.time() of the running loop, and the same but with LoopTimers(manual=True), where it
    is the time that the test has moved. So call_at() and reschedule() are to be given this one."""
    return _running().time()
