# SPDX-License-Identifier: MIT
"""An instance of /dev/hwtimer, and timers with callbacks"""

from __future__ import annotations

import errno
import math
import operator
import os
import select
import struct
import threading
import time
import warnings
from array import array
from collections import deque
from ctypes import Array, Structure, byref, create_string_buffer, c_uint32, c_uint64, sizeof
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

from . import _abi, _errors
from ._abi import NEVER
from ._handle import Handle, descriptor
from ._library import lib

# user_data of timers with callbacks: "hwtimer" and a byte. The id tells which one it is.
CALLBACK_DATA = 0x687774696D657250

_UINT32_MAX = 2**32 - 1
_UINT64_MAX = 2**64 - 1
_EVENT = struct.Struct("=" + "".join("I" if kind is c_uint32 else "Q"
                                     for _, kind in _abi.Event._fields_))

# The numbers of the module's clocks are those of <time.h> and this one.
_CLOCKS = _abi.CLOCK_REALTIME - time.CLOCK_REALTIME

# Maximum number of timers that one call of LIST or CANCEL_ALL returns
_PAGE = 256


class Event(_abi.EventFields):
    """One expiration of a timer. `lateness` is how late it was queued, in ns;
    `expirations` the number of deadlines of a periodic timer that have passed."""
    __slots__ = ()


class TimerInfo(_abi.TimerFields):
    """A timer as query(), list_timers() and stop() describe it; see struct hwtimer_timer"""
    __slots__ = ()

    @property
    def expired(self) -> bool:
        """Whether its event waits"""
        return self.state == _abi.STATE_EXPIRED

    @property
    def fixed_delay(self) -> bool:
        """Whether its interval counts from when its event is read"""
        return bool(self.flags & _abi.REQ_FIXED_DELAY)


class Info(_abi.InfoFields):
    """The module and the settings of the instance; see struct hwtimer_info. `clock` is a
    number of the module `time`."""
    __slots__ = ()


class Stats(_abi.StatsFields):
    """Counters since the instance was opened; see struct hwtimer_stats"""
    __slots__ = ()


class BulkError(OSError):
    """Some timers of schedule_many() were refused. `results` has a result for each timer
    that the module came to: its id, or a negative errno."""

    def __init__(self, number: int, text: str, results: Sequence[int]) -> None:
        super().__init__(number, text)
        self.results = results


def seconds(number: float) -> int:
    """Returns @number seconds as whole ns, rounded up: a timer is never early. What a float is
    above the number that was written, such as 2.1, does not make it a ns more, nor a tick."""
    whole = math.floor(number)
    rest = (number - whole) * 10**9
    nearest = round(rest)
    # So much may writing it, and multiplying it, have changed.
    written = abs(rest - nearest) <= math.ulp(number) * 0.5e9 + math.ulp(rest)
    return whole * 10**9 + (nearest if written else math.ceil(rest))


def _number(value: int, name: str, most: int) -> int:
    """@value as an integer from 0 to @most: ctypes would cut off what does not fit."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}; times are ns:"
                        " seconds(1.5) makes them of seconds") from None
    if not 0 <= value <= most:
        raise ValueError(f"{name} must be from 0 to {most}, not {value}")
    return value


def _time(value: int) -> int:
    """A delay or a deadline that the module takes: a negative one is over, one that ends
    after the end of the clock never is."""
    try:
        return min(max(operator.index(value), 0), NEVER)
    except TypeError:
        return _number(value, "a time", NEVER)


def _values(structure: Structure) -> Iterator[Any]:
    """Its fields, in their order, as in the named tuple"""
    for field, *_ in structure._fields_:
        value = getattr(structure, field)
        if field != "reserved":
            yield tuple(value) if isinstance(value, Array) else value


def _request(absolute: bool, when: int, user_data: int, interval: int, count: int,
             slack: int, fixed_delay: bool) -> _abi.Request:
    return _abi.Request(
        flags=(_abi.REQ_ABSTIME if absolute else 0) |
        (_abi.REQ_FIXED_DELAY if fixed_delay else 0),
        time=_time(when),
        interval=_number(interval, "interval", NEVER),
        slack=_number(slack, "slack", NEVER),
        user_data=_number(user_data, "user_data", _UINT64_MAX),
        expirations_max=_number(count, "count", _UINT32_MAX))


def _schedule(function: Any, hwt: int, request: _abi.Request) -> int:
    ret = function(hwt, byref(request))
    if ret:
        raise _errors.error("hwt_schedule", -ret)
    return int(request.id)


def _rearm(hwt: int, ident: int, request: _abi.Request) -> int:
    request.id = ident
    request.flags |= _abi.REQ_REARM | _abi.REQ_CREATE
    return _schedule(lib.hwt_reschedule_request, hwt, request)


def _signed(results: array[int]) -> list[int]:
    """A result is an id, or a negative errno."""
    return [result if result < 2**64 - 4095 else result - 2**64 for result in results]


class Timer:
    """A timer with a callback, made by Instance.timer(). It may be started again and again.

    Times are ns. `instance.dispatch()` calls `callback(timer)`, and `timer.event` then says
    when it was due, and how often. After cancel() has returned True, no callback begins.
    """

    def __init__(self, instance: Instance, callback: Callable[[Timer], object]) -> None:
        self._instance = instance
        self._callback = callback
        self._id = 0
        # Those of the request that has started it; of the count, what is left
        self._interval = 0
        self._count: Optional[int] = None
        self.event: Optional[Event] = None

    def __repr__(self) -> str:
        return f"<Timer {self._id} {'active' if self._id else 'inactive'}>"

    @property
    def active(self) -> bool:
        """Whether a callback will come"""
        return self._id != 0

    @property
    def id(self) -> int:
        """The id of the timer in the instance, which each start may change; 0: inactive"""
        return self._id

    def start(self, delay: int, *, slack: int = 0) -> None:
        """Has the callback called once, @delay ns from now, instead of any earlier plan.
        On an error, the earlier plan stays."""
        self._start(_request(False, delay, CALLBACK_DATA, 0, 0, slack, False))

    def start_at(self, deadline: int, *, slack: int = 0) -> None:
        """The same at @deadline on the instance's clock, or never: at NEVER"""
        self._start(_request(True, deadline, CALLBACK_DATA, 0, 0, slack, False))

    def start_every(self, interval: int, first: Optional[int] = None, *,
                    first_at: Optional[int] = None, count: int = 0, slack: int = 0,
                    fixed_delay: bool = False) -> None:
        """Has the callback called each @interval ns, for the first time after @first ns or
        at @first_at, and @count times, or without end. The phase does not drift; one
        callback stands for all deadlines that have passed: `timer.event.expirations`. With
        @fixed_delay, the interval counts from when the event is read."""
        _number(interval, "interval", NEVER)
        if not interval:
            raise ValueError("interval must not be 0")
        when = interval if first is None else first
        self._start(_request(first_at is not None, when if first_at is None else first_at,
                             CALLBACK_DATA, interval, count, slack, fixed_delay))

    def cancel(self) -> bool:
        """Returns True if no callback begins after this. False: there is none to come, or it
        has begun, in this thread or another one."""
        return self._instance._cancel_timer(self)

    def _start(self, request: _abi.Request) -> None:
        self._instance._start_timer(self, request)

    def _run(self) -> None:
        self._callback(self)


class Instance:
    """An instance: a timing wheel in the kernel with its own timers and events.

        with hwtimer.Instance() as timers:
            ident = timers.schedule(hwtimer.seconds(1.5), user_data=7)
            for event in timers:
                print(event.user_data, event.lateness)

    Times are whole ns, on the instance's clock; seconds(1.5) makes them of seconds. The
    timers end with the instance: with close(), the end of `with`, or the process, unless
    another process has a descriptor of it, too.

    @clock: time.CLOCK_MONOTONIC (if not given), CLOCK_BOOTTIME; CLOCK_REALTIME or CLOCK_TAI,
        which take deadlines only
    @tick: ns by which a timer may be late; 0: 1 ms
    @timers: limit of timers; 0: the module's own
    @at_least_once: events stay until ack()
    @buckets, @report_clock_set: see struct hwtimer_setup in <linux/hwtimer.h>
    @manual: the clock stands until advance() moves it, for tests. Such an instance needs no
        module, and lives in this process alone; see hwt_open_manual(3)

    Any thread may call any method at any time, close() too: then the others' calls, also
    those that wait, fail with EBADF. So do all methods but close() and fileno() in a process
    that was forked; Instance.from_fd(os.dup(instance.fileno())) shares it on purpose.
    """

    def __init__(self, *, clock: Optional[int] = None, tick: int = 0, buckets: int = 0,
                 timers: int = 0, report_clock_set: bool = False,
                 at_least_once: bool = False, manual: bool = False) -> None:
        self._begin(None, manual)
        flags = (_abi.SETUP_REPORT_CLOCK_SET if report_clock_set else 0) | \
            (_abi.SETUP_AT_LEAST_ONCE if at_least_once else 0)
        if clock is None and not (tick or buckets or timers or flags):
            return
        try:
            self._setup(_abi.Setup(
                flags=flags,
                tick=_number(tick, "tick", NEVER),
                buckets=_number(buckets, "buckets", _UINT32_MAX),
                clock=_abi.CLOCK_DEFAULT if clock is None else
                _CLOCKS + _number(clock, "clock", _UINT32_MAX - _CLOCKS),
                timers=_number(timers, "timers", NEVER)))
        except BaseException:
            self.close()
            raise

    @classmethod
    def from_fd(cls, fd: int) -> Instance:
        """Uses a descriptor of /dev/hwtimer that was inherited, or received. It then belongs
        to the instance, and reading from it does not wait, for any of those who share it.
        After an error, it is still the caller's."""
        self = cls.__new__(cls)
        self._begin(descriptor(fd, "fd"))
        return self

    def _begin(self, fd: Optional[int], manual: bool = False) -> None:
        self._handle = Handle(fd, manual)
        self._manual = manual
        # The thread that was the last to move a manual clock
        self._mover = threading.get_ident() if manual else None
        self._timers: dict[int, Timer] = {}
        self._left: deque[Event] = deque()
        self._left_told = False
        # Of each thread, `read`: what the dispatch() calls that run have read, the innermost
        # last
        self._running = threading.local()
        self._clock: Optional[int] = None
        self._has_callbacks = False

    @property
    def _lock(self) -> threading.RLock:
        return self._handle.table_lock

    def _setup(self, setup: _abi.Setup) -> None:
        with self._handle as hwt:
            ret = lib.hwt_setup_sized(hwt, byref(setup), sizeof(setup))
        if ret:
            raise _errors.error("hwt_setup", -ret)

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is None or handle.closed:
            return
        warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self)
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<hwtimer.Instance closed>"
        return f"<hwtimer.Instance fd={self._handle.fileno()}>"

    def fileno(self) -> int:
        """The descriptor, which is ready to read when events wait. Only the instance may
        close it."""
        return self._handle.fileno()

    @property
    def closed(self) -> bool:
        """Whether it was closed"""
        return self._handle.closed

    def close(self) -> None:
        """Ends the instance in this process, and its timers, if no other one has it. May be
        called again, and by any thread or callback."""
        self._handle.close()
        self._forget_timers()
        self._left.clear()

    def _forget_timers(self) -> None:
        for timer in list(self._timers.values()):
            timer._id = 0
        self._timers.clear()

    # ---- the instance ----

    def info(self) -> Info:
        """Describes the module, and the settings of the instance."""
        info = _abi.Info()
        with self._handle as hwt:
            ret = lib.hwt_info_sized(hwt, byref(info), sizeof(info))
        if ret:
            raise _errors.error("hwt_info", -ret)
        info.clock -= _CLOCKS
        return Info._make(_values(info))

    def stats(self) -> Stats:
        """Returns the counters of the instance."""
        stats = _abi.Stats()
        with self._handle as hwt:
            ret = lib.hwt_stats_sized(hwt, byref(stats), sizeof(stats))
        if ret:
            raise _errors.error("hwt_stats", -ret)
        return Stats._make(_values(stats))

    def now(self) -> int:
        """The time on the instance's clock, ns"""
        if self._manual:
            with self._handle as hwt:
                return int(lib.hwt_now(hwt))
        if self._clock is None:
            self._clock = self.info().clock
        return time.clock_gettime_ns(self._clock)

    def advance(self, ns: int) -> None:
        """With manual=True: moves the clock. Timers that become due expire in their order, and
        their events wait for read() or dispatch(). Without, OSError with ENOTSUP."""
        with self._handle as hwt:
            ret = lib.hwt_advance(hwt, _number(ns, "ns", NEVER))
        if ret:
            raise _errors.error("hwt_advance", -ret)
        self._mover = threading.get_ident()

    def notify(self, events: int, delay: int = 0) -> None:
        """Makes the descriptor ready only when @events events wait, or, if that is earlier
        and @delay is not 0, @delay ns after the first one."""
        with self._handle as hwt:
            ret = lib.hwt_notify(hwt, _number(events, "events", _UINT32_MAX),
                                 _number(delay, "delay", NEVER))
        if ret:
            raise _errors.error("hwt_notify", -ret)

    # ---- timers by their ids ----

    def schedule(self, delay: int, user_data: int = 0, *, interval: int = 0, count: int = 0,
                 slack: int = 0, fixed_delay: bool = False) -> int:
        """Schedules a timer @delay ns from now, and returns its id. With an @interval it is
        periodic, for @count expirations or without end; with @fixed_delay, the interval
        counts from when the event is read. @slack: ns by which it may be late."""
        return self._schedule_raw(_request(False, delay, user_data, interval, count, slack,
                                           fixed_delay))

    def schedule_at(self, deadline: int, user_data: int = 0, *, interval: int = 0,
                    count: int = 0, slack: int = 0, fixed_delay: bool = False) -> int:
        """The same at @deadline on the instance's clock; it may be past, or NEVER."""
        return self._schedule_raw(_request(True, deadline, user_data, interval, count,
                                           slack, fixed_delay))

    def _schedule_raw(self, request: _abi.Request) -> int:
        if request.user_data == CALLBACK_DATA:
            raise ValueError("this user_data is for timers with callbacks")
        with self._handle as hwt:
            return _schedule(lib.hwt_schedule_request, hwt, request)

    def cancel(self, ident: int, *, discard: bool = False) -> bool:
        """Ends a timer. Returns True if no event of it comes, and False if one still waits to
        be read, which @discard drops. OSError with ENOENT: it had ended before."""
        function = lib.hwt_discard if discard else lib.hwt_cancel
        with self._handle as hwt:
            ret = function(hwt, _number(ident, "an id", _UINT64_MAX))
        if ret < 0:
            raise _errors.error("hwt_cancel", -ret)
        return not ret

    def reschedule(self, ident: int, delay: int) -> None:
        """Moves a pending timer to @delay ns from now. OSError with ENOENT: it has ended;
        EALREADY: its event waits to be read."""
        with self._handle as hwt:
            ret = lib.hwt_reschedule(hwt, _number(ident, "an id", _UINT64_MAX), _time(delay))
        if ret:
            raise _errors.error("hwt_reschedule", -ret)

    def reschedule_at(self, ident: int, deadline: int) -> None:
        """The same, to @deadline"""
        with self._handle as hwt:
            ret = lib.hwt_reschedule_at(hwt, _number(ident, "an id", _UINT64_MAX),
                                        _time(deadline))
        if ret:
            raise _errors.error("hwt_reschedule", -ret)

    def rearm(self, ident: int, delay: int, user_data: int = 0, *, interval: int = 0,
              count: int = 0, slack: int = 0, fixed_delay: bool = False) -> int:
        """Schedules a timer whatever became of it before, and returns its id: a pending
        timer moves and keeps its id, a waiting event is dropped. @ident is 0 if there is no
        timer yet; all else is as for schedule(). An event with another id than the last one
        that was returned is older: it had been read before, or was just being read."""
        return self._rearm(ident, _request(False, delay, user_data, interval, count, slack,
                                           fixed_delay))

    def rearm_at(self, ident: int, deadline: int, user_data: int = 0, *, interval: int = 0,
                 count: int = 0, slack: int = 0, fixed_delay: bool = False) -> int:
        """The same at @deadline"""
        return self._rearm(ident, _request(True, deadline, user_data, interval, count,
                                           slack, fixed_delay))

    def _rearm(self, ident: int, request: _abi.Request) -> int:
        if request.user_data == CALLBACK_DATA:
            raise ValueError("this user_data is for timers with callbacks")
        with self._handle as hwt:
            return _rearm(hwt, _number(ident, "an id", _UINT64_MAX), request)

    def cancel_all(self, *, discard: bool = False) -> int:
        """Ends all pending timers that have no callback, and those that have one never call
        it; returns their number. @discard also drops all events that wait. The instance can
        be used on."""
        cancelled = c_uint64()
        flags = _abi.LIST_DISCARD if discard else 0
        with self._lock, self._handle as hwt:
            ret = lib.hwt_cancel_all(hwt, flags, byref(cancelled))
            if not ret:
                self._forget_timers()
        if ret:
            raise _errors.error("hwt_cancel_all", -ret)
        return cancelled.value

    def next_time(self) -> int:
        """ns for which no timer expires: 0 if an event waits, NEVER if none will come"""
        return self.info().until_next

    def query(self, ident: int) -> TimerInfo:
        """Describes a timer. OSError with ENOENT: it has ended."""
        timer = _abi.Timer(id=_number(ident, "an id", _UINT64_MAX))
        with self._handle as hwt:
            ret = lib.hwt_query(hwt, byref(timer))
        if ret:
            raise _errors.error("hwt_query", -ret)
        return TimerInfo._make(_values(timer))

    def list_timers(self) -> Iterator[TimerInfo]:
        """Describes all timers that are pending or whose events wait, and takes none. Each
        timer that exists all the while is listed exactly once."""
        return self._pages("hwt_list", lib.hwt_list)

    def _pages(self, name: str, function: Any) -> Iterator[TimerInfo]:
        cursor = c_uint64()
        page = (_abi.Timer * _PAGE)()
        while True:
            with self._handle as hwt:
                ret = function(hwt, byref(cursor), page, _PAGE)
            if ret == -errno.EINTR:
                continue
            if ret < 0:
                raise _errors.error(name, -ret)
            if ret == 0:
                return
            yield from [TimerInfo._make(_values(page[i])) for i in range(ret)]

    # ---- many timers ----

    def schedule_many(self, times: Sequence[int],
                      user_data: Optional[Iterable[int]] = None, *,
                      absolute: bool = False, slack: int = 0) -> list[int]:
        """Schedules a timer for each of @times, which are delays or, with @absolute,
        deadlines, and returns their ids. @user_data has a value for each timer; without it,
        they are 0, 1, 2, ... All timers have the same @slack. If some timers are refused:
        BulkError, whose `results` has the ids of the others."""
        total = len(times)
        data = array("Q", range(total) if user_data is None else user_data)
        if CALLBACK_DATA in data:
            raise ValueError("this user_data is for timers with callbacks")
        results = self._bulk("hwt_schedule", _abi.OP_SCHEDULE,
                             _abi.REQ_ABSTIME if absolute else 0,
                             _pairs(data, times, total), total,
                             _number(slack, "slack", NEVER))
        if len(results) < total or min(results, default=0) < 0:
            number = next((-result for result in results if result < 0), errno.EINTR)
            text = str(_errors.error("hwt_schedule", number).strerror)
            raise BulkError(number, f"some timers were refused, see results: {text}",
                            results)
        return results

    def reschedule_many(self, idents: Sequence[int], times: Sequence[int], *,
                        absolute: bool = False) -> list[int]:
        """Moves each of the timers, and returns for each 0, or the errno of reschedule() as a
        negative number."""
        return self._bulk("hwt_reschedule", _abi.OP_RESCHEDULE,
                          _abi.REQ_ABSTIME if absolute else 0,
                          _pairs(idents, times, len(idents)), len(idents))

    def cancel_many(self, idents: Sequence[int], *, discard: bool = False) -> list[int]:
        """Ends each of the timers, and returns for each 0: no event of it comes; 1: one still
        waits to be read; or the errno of cancel() as a negative number."""
        ids = array("Q", idents)
        return self._bulk("hwt_cancel", _abi.OP_CANCEL,
                          _abi.REQ_DISCARD if discard else 0, ids, len(ids))

    def _bulk(self, name: str, op: int, flags: int, timers: array[int], count: int,
              slack: int = 0) -> list[int]:
        results = array("Q", bytes(8 * count))
        bulk = _abi.Bulk(op=op, flags=flags, count=count, timers=timers.buffer_info()[0],
                         results=results.buffer_info()[0], slack=slack)
        with self._handle as hwt:
            ret = lib.hwt_bulk(hwt, byref(bulk))
        if ret < 0:
            raise _errors.error(name, -ret)
        return _signed(results[:ret])

    # ---- events ----

    def read(self, most: int = 256, timeout: Optional[int] = None) -> list[Event]:
        """Waits for up to @timeout ns, or without end, and returns up to @most events, or
        none. OSError with ENOTCONN: the instance is stopped, and no event will come;
        ECANCELED: the clock was set, and nothing is lost; EBUSY: there were timers with
        callbacks, whose events are for dispatch().

        No time passes for the thread that moves a manual clock: any @timeout is over at once;
        without one, EDEADLK if no event waits."""
        with self._handle:
            if self._has_callbacks:
                raise _errors.error("hwt_read", errno.EBUSY)
        return list(self._take(most, timeout))

    def __iter__(self) -> Iterator[Event]:
        """Waits for events, and yields them until the instance is stopped. Events that were
        read and not yielded come when the next reader asks."""
        while True:
            try:
                events: deque[Event] = deque(self.read())
            except OSError as error:
                if error.errno == errno.ENOTCONN:
                    return
                raise
            try:
                while events:
                    yield events.popleft()
            finally:
                self._give_back(events)

    def ack(self, count: int) -> int:
        """With at_least_once: ends the @count oldest events that were read, on which the
        program has acted, and returns their number."""
        with self._handle as hwt:
            ret = lib.hwt_ack(hwt, _number(count, "count", _UINT32_MAX))
        if ret < 0:
            raise _errors.error("hwt_ack", -ret)
        return int(ret)

    def rewind(self) -> None:
        """With at_least_once: has all events come again that were not acknowledged. For a
        process that has taken over the descriptor, before it reads."""
        with self._lock:
            with self._handle as hwt:
                ret = lib.hwt_rewind(hwt)
            if ret:
                raise _errors.error("hwt_rewind", -ret)
            while self._take_left(256):
                pass

    def timer(self, callback: Callable[[Timer], object]) -> Timer:
        """Makes a timer with a callback, which is not started."""
        return Timer(self, callback)

    def dispatch(self, timeout: Optional[int] = None, most: int = 256,
                 callback: Optional[Callable[[Event], object]] = None) -> int:
        """Waits for up to @timeout ns, or without end, calls the callbacks of up to @most
        timers, and returns their number. @callback is called for events of timers without
        one. Callbacks may call dispatch(), too. It raises what a callback raises; the events
        behind it wait for the next dispatch(), and do not make fileno() ready: a loop of
        select calls dispatch(timeout=0) again. OSError: as read()."""
        return self._handle_events(self._take(most, timeout), callback)

    def _handle_events(self, events: deque[Event],
                       callback: Optional[Callable[[Event], object]]) -> int:
        done = 0
        running: list[deque[Event]] = self._running.__dict__.setdefault("read", [])
        running.append(events)
        try:
            while events and not self._handle.forked:
                event = events.popleft()
                done += 1
                if event.user_data != CALLBACK_DATA:
                    if callback is not None:
                        callback(event)
                    continue
                timer = self._claim(event)
                if timer is not None:
                    timer._run()
        finally:
            running.pop()
            self._give_back(events)
        return done

    def stop(self) -> list[TimerInfo]:
        """Stops the wheel, and returns the timers that have not expired, and the periodic
        ones. Events that wait can still be read, and then there are no more. Timers with
        callbacks that are returned do not call them any more."""
        timers = list(self._pages("hwt_stop", lib.hwt_stop))
        with self._lock:
            for ended in timers:
                timer = self._timers.pop(ended.id, None)
                if timer is not None:
                    timer._id = 0
        return timers

    def _take(self, most: int, timeout: Optional[int]) -> deque[Event]:
        """Up to @most events: those that were given back, or else from the kernel"""
        most = _number(most, "most", 2**20)
        if not most:
            return deque()
        with self._handle:
            events = self._take_behind(most)
        if events:
            return events
        if self._mover == threading.get_ident():
            return self._take_at_once(most, timeout is None)
        end = None if timeout is None else time.monotonic_ns() + _time(timeout)
        while True:
            events = self._take_left(most)
            if not events:
                # Only if there is time to wait: a read takes events before notify()'s
                # number of them is there.
                if end is None or timeout:
                    self._wait(end)
                events = self._take_left(most) or self._read(most)
            if events or (end is not None and time.monotonic_ns() >= end):
                return events

    def _take_at_once(self, most: int, endless: bool) -> deque[Event]:
        """For the thread that moves a manual clock, which would wait for itself"""
        events = self._take_left(most)
        if not events and (not endless or select.select([self], [], [], 0)[0]):
            events = self._read(most)
        if not events and endless:
            raise _errors.error("hwt_read", errno.EDEADLK)
        return events

    def _take_behind(self, most: int) -> deque[Event]:
        """For a callback: events that were read behind its own"""
        taken: deque[Event] = deque()
        for events in reversed(self._running.__dict__.get("read", [])):
            while events and len(taken) < most:
                taken.append(events.popleft())
        return taken

    def _take_left(self, most: int) -> deque[Event]:
        taken: deque[Event] = deque()
        if not self._left:
            return taken
        with self._lock:
            try:
                while len(taken) < most:
                    taken.append(self._left.popleft())
            except IndexError:
                pass  # that were all, or a signal handler or a thread has closed it
            if not self._left and self._left_told:
                with self._handle:
                    self._left_told = False
                    os.eventfd_read(self._handle.wake)
        return taken

    def _give_back(self, events: deque[Event]) -> None:
        """Keeps events for the next who asks, and wakes whoever waits."""
        if not events:
            return
        with self._lock:
            if self.closed:
                return
            self._left.extendleft(reversed(events))
            if self._left_told:
                return
            with self._handle:
                self._left_told = True
                os.eventfd_write(self._handle.wake, 1)

    def _wait(self, end: Optional[int]) -> None:
        """Waits until the descriptor is ready, events were given back, it was closed, or
        the time is @end."""
        poll = select.poll()
        with self._handle as hwt:
            poll.register(lib.hwt_fd(hwt), select.POLLIN)
            poll.register(self._handle.wake, select.POLLIN)
            if end is None:
                poll.poll()
            else:
                # Longer is not possible, and the caller asks again.
                poll.poll(min(max(end - time.monotonic_ns(), 0) / 10**6, 10**9))

    def _read(self, most: int) -> deque[Event]:
        buffer = create_string_buffer(most * _EVENT.size)
        with self._handle as hwt:
            ret = lib.hwt_read(hwt, buffer, most)
        if ret in (-errno.EAGAIN, -errno.EINTR):
            return deque()
        if ret < 0:
            raise _errors.error("hwt_read", -ret)
        return deque(map(Event._make, _EVENT.iter_unpack(memoryview(buffer)[:ret * _EVENT.size])))

    # ---- timers with callbacks ----

    # The lock is held from before a timer is scheduled until its id is known. So a thread
    # that reads the event meanwhile finds the timer.
    def _start_timer(self, timer: Timer, request: _abi.Request) -> None:
        if not self._has_callbacks and self.info().flags & _abi.SETUP_AT_LEAST_ONCE:
            raise _errors.error("hwt_timer_start", errno.EINVAL)
        with self._lock, self._handle as hwt:
            self._has_callbacks = True
            # With a period, each plan has an id of its own: an event of the earlier one may have
            # been read.
            once = not (timer._interval or request.interval)
            ident = _rearm(hwt, timer._id if once else 0, request)
            old, timer._id = timer._id, ident
            timer._interval = request.interval
            timer._count = request.expirations_max or None
            self._timers[ident] = timer
            if old not in (0, ident):
                self._timers.pop(old, None)
                lib.hwt_discard(hwt, old)
            if self.closed:
                self._forget_timers()

    def _cancel_timer(self, timer: Timer) -> bool:
        with self._lock:
            ident, timer._id = timer._id, 0
            if not ident or self._timers.pop(ident, None) is None:
                return False
            # An event that was read already is dropped, as it finds no timer.
            try:
                with self._handle as hwt:
                    lib.hwt_discard(hwt, ident)
            except OSError:
                pass  # closed meanwhile
            return True

    def _claim(self, event: Event) -> Optional[Timer]:
        """Returns the timer whose callback is to be called."""
        with self._lock:
            timer = self._timers.get(event.id)
            if timer is None:
                return None
            timer.event = event
            if timer._count is not None:
                timer._count -= event.expirations
            if not timer._interval or (timer._count is not None and timer._count <= 0):
                timer._id = 0
                # A signal handler may have closed the instance meanwhile.
                return self._timers.pop(event.id, None)
            return timer


def _pairs(first: Iterable[int], times: Iterable[int], count: int) -> array[int]:
    """An array of @count struct hwtimer_bulk_timer"""
    pairs = array("Q", bytes(16 * count))
    columns = array("Q", first), array("Q", map(_time, times))
    if any(len(column) != count for column in columns):
        raise ValueError(f"{len(columns[0])} timers and {len(columns[1])} times")
    pairs[::2], pairs[1::2] = columns
    return pairs
