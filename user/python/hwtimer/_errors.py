# SPDX-License-Identifier: MIT
"""What an error means, and what to do about it"""

from __future__ import annotations

import errno
import os

from ._abi import EVENTS_MAX

DEVICE = "/dev/hwtimer"

# What a function says about its errors. hwt_open and hwt_from_fd are about the device, all
# other functions about an instance.
OF_FUNCTION = {
    ("hwt_open", errno.ENOENT):
        "there is no such device: load the module, with 'sudo modprobe hwtimer'. In a"
        " container, give it the device, with --device /dev/hwtimer",
    ("hwt_open", errno.ENODEV):
        "the module is gone: load it, with 'sudo modprobe hwtimer'",
    ("hwt_open", errno.EACCES):
        "you may not open the device: join its group, with 'sudo adduser $USER hwtimer',"
        " and log in again",
    ("hwt_advance", errno.ENOTSUP):
        "the kernel moves this clock: open the instance with manual=True",
    ("hwt_advance", errno.EINVAL): "the clock ends at NEVER",
    ("hwt_read", errno.EDEADLK):
        "no event waits, and none comes before advance(), which this thread calls",
    ("hwt_open", errno.EMFILE):
        "you have as many descriptors as you may have: close some, or raise 'ulimit -n'",
    ("hwt_from_fd", errno.ENOTTY): "the descriptor is not an open /dev/hwtimer",
    ("hwt_from_fd", errno.EBADF): "the descriptor is not open",
    ("hwt_setup", errno.EBUSY):
        "it is too late to choose settings: the instance has had timers, or is stopped",
    ("hwt_setup", errno.EINVAL):
        "a setting is out of range, or does not fit another one: see info(), and struct"
        " hwtimer_setup in <linux/hwtimer.h>",
    ("hwt_reschedule", errno.EALREADY):
        "the timer has expired, and its event waits: use rearm(), or read it, and schedule"
        " a new timer",
    ("hwt_schedule", errno.EINVAL):
        "with CLOCK_REALTIME and CLOCK_TAI, timers need deadlines, and have no fixed_delay: use"
        " schedule_at()",
    ("hwt_reschedule", errno.EINVAL):
        "with CLOCK_REALTIME and CLOCK_TAI, timers need deadlines: use reschedule_at()",
    ("hwt_notify", errno.EINVAL): f"more than {EVENTS_MAX:,} events never wait",
    ("hwt_timer_start", errno.EINVAL):
        "an instance with at_least_once has no timers with callbacks, as these end with their"
        " process",
    ("hwt_ack", errno.EINVAL):
        "fewer events were read since the last rewind(), or the instance was opened without"
        " at_least_once",
    ("hwt_rewind", errno.EINVAL): "the instance was opened without at_least_once",
    ("hwt_read", errno.ENOTCONN):
        "the instance is stopped, and all its events have been read",
    ("hwt_read", errno.ECANCELED): "the clock was set. Nothing is lost: read again",
    ("hwt_read", errno.EBUSY):
        "the instance has timers with callbacks, whose events are for dispatch()",
}

OF_ALL = {
    errno.EPROTO:
        "the module and libhwtimer do not fit each other: install the same version of both,"
        " and load the module again",
    errno.ENOENT: "there is no such timer: it has ended, or is one of another instance",
    errno.ENOSPC:
        "the limit of timers is reached: cancel some, read events, or open with timers=",
    errno.ENOMEM:
        "there is no memory for it: the machine, the cgroup or the user is at its limit, or the"
        " machine has too many threads",
    errno.ESHUTDOWN: "the instance is stopped: open another one",
    errno.ENOTTY: "the module is older than this call: install a newer one",
}


def error(function: str, number: int) -> OSError:
    """The exception for a function that has failed with errno @number"""
    text = OF_FUNCTION.get((function, number)) or OF_ALL.get(number) or os.strerror(number)
    if function == "hwt_open":
        return OSError(number, text, DEVICE)
    return OSError(number, text)


def closed() -> OSError:
    """The exception for the use of an instance after close()"""
    return OSError(errno.EBADF, "the instance is closed")


def forked() -> OSError:
    """The exception for the use of an instance in another process than its own"""
    return OSError(
        errno.EBADF,
        "the instance belongs to the process that has forked this one: open one here, or"
        " share it with Instance.from_fd(os.dup(instance.fileno()))")
