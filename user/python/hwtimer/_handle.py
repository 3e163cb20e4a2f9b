# SPDX-License-Identifier: MIT
"""Owns the struct hwt of an instance, whatever threads, signals and fork() do."""

from __future__ import annotations

import operator
import os
import threading
import weakref
from ctypes import byref, c_void_p
from typing import Optional

from . import _errors
from ._library import NONBLOCK, lib

_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


def descriptor(value: int, name: str) -> int:
    """@value as the number of a descriptor, open or not: ctypes would cut off what does not
    fit, and name another one."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if not -2**31 <= value < 2**31:
        raise ValueError(f"{name} must be the number of a descriptor, not {value}")
    return value


class Handle:
    """A struct hwt, which is freed once it is closed and nobody uses it.

    `with handle as hwt:` gives the pointer for a call. close() in another thread, or in a
    signal handler that interrupts this one, then leaves it to the last user to free it.
    hwt_close() must not run beside another call.

    The order of the statements matters, as a signal handler may run between any two of them
    and call all of these functions.
    """

    def __init__(self, fd: Optional[int], manual: bool) -> None:
        function = "hwt_open_manual" if manual else \
            "hwt_open" if fd is None else "hwt_from_fd"
        hwt = c_void_p()
        # To end the waits of other threads: counts what there is to see
        try:
            self.wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK |
                                   os.EFD_SEMAPHORE)
        except OSError as error:
            raise _errors.error(function, error.errno or 0) from None
        if fd is not None:
            ret = lib.hwt_from_fd(byref(hwt), fd, NONBLOCK)
        else:
            ret = getattr(lib, function)(byref(hwt), NONBLOCK)
        if ret:
            os.close(self.wake)
            raise _errors.error(function, -ret)
        self._lock = threading.RLock()
        # For the timers of the instance; taken before the other one
        self.table_lock = threading.RLock()
        self._users = 0
        self._pointer = hwt.value
        self._dead: Optional[int] = None
        self._forked = False
        _handles.add(self)

    def __enter__(self) -> int:
        with self._lock:
            # First: close() must find the user, or the user must find it closed.
            self._users += 1
            pointer = self._pointer
        if pointer is None or self._forked:
            self.__exit__()
            raise _errors.forked() if pointer is not None else _errors.closed()
        return pointer

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            self._free_if_unused()

    @property
    def closed(self) -> bool:
        """Whether close() was called"""
        return self._pointer is None

    @property
    def forked(self) -> bool:
        """Whether it belongs to the process that has forked this one"""
        return self._forked

    def fileno(self) -> int:
        """The descriptor, in a process that has forked, too"""
        with self._lock:
            if self._pointer is None:
                raise _errors.closed()
            return int(lib.hwt_fd(self._pointer))

    def close(self) -> None:
        """Ends the waits of other threads; may be called again."""
        with self._lock:
            if self._pointer is None:
                return
            self._dead, self._pointer = self._pointer, None
            # After fork() this would wake the threads of the other process.
            if not self._forked:
                os.eventfd_write(self.wake, 1)
            self._free_if_unused()

    def _free_if_unused(self) -> None:
        if self._users > 0 or self._dead is None:
            return
        dead, self._dead = self._dead, None
        lib.hwt_close(dead)
        os.close(self.wake)

    def after_fork(self) -> None:
        """In the child: the threads that have used it or held its lock are not here."""
        self._lock = threading.RLock()
        self.table_lock = threading.RLock()
        self._users = 0
        self._forked = True
        self._free_if_unused()


def _after_fork() -> None:
    for handle in list(_handles):
        handle.after_fork()


os.register_at_fork(after_in_child=_after_fork)
