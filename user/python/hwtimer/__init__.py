# SPDX-License-Identifier: MIT
"""Millions of timers behind one file descriptor: /dev/hwtimer for Python

In a loop of asyncio:

    await hwtimer.sleep(1.5)
    handle = hwtimer.call_later(30, connection.close)
    handle.reschedule(hwtimer.time() + 30) # a store, if that is later than before
    handle.cancel()                        # after this, no callback comes

Everywhere else, Instance has timers by their ids, with events to be read, and timers with
callbacks. Its times are whole ns: hwtimer.seconds(1.5).

Tests need neither the module nor time: Instance(manual=True), LoopTimers(manual=True). The
latter moves hwtimer.time(), which is loop.time() otherwise.

Errors are OSError: ENOENT without the module, EACCES without access to the device, ENOSPC at
a limit, EBADF after close(). Their texts say what to do.

The package calls libhwtimer.so.1 through ctypes. libhwtimer(3) and <linux/hwtimer.h> describe
what it does not have: operations of several kinds in one call.
"""

from ._abi import NEVER
from ._instance import BulkError, Event, Info, Instance, Stats, Timer, TimerInfo, seconds
from ._loop import LoopTimers, TimerHandle, call_at, call_later, sleep, time
from ._version import __version__

__all__ = [
    "BulkError", "Event", "Info", "Instance", "LoopTimers",
    "NEVER", "Stats", "Timer", "TimerHandle", "TimerInfo", "__version__",
    "call_at", "call_later", "seconds", "sleep", "time",
]
