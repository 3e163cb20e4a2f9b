# SPDX-License-Identifier: MIT
"""The functions and structures of libhwtimer, as ctypes sees them.

ctypes and not cffi or a module in C: it is part of Python, needs no compiler and no build,
and one package serves all architectures and all versions of Python. A call through it takes
about a microsecond; programs with many timers use the calls for many.

vm/userland.sh compares each structure with <linux/hwtimer.h>.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint, c_uint32, c_uint64
from ctypes import c_size_t, c_void_p

NAME = "libhwtimer.so.1"

NONBLOCK = 1 << 0
ABSOLUTE = 1 << 0
DISCARD = 1 << 1
FIXED_DELAY = 1 << 2
REARM = 1 << 3
REPORT_CLOCK_SET = 1 << 0
AT_LEAST_ONCE = 1 << 1
NEVER = 2**64 - 1
LATENESS_BUCKETS = 96

# What SETUP and INFO call CLOCK_REALTIME; other clocks have their numbers of <time.h>
CLOCK_REALTIME = 256

OP_SCHEDULE = 1

STATE_PENDING = 1
STATE_EXPIRED = 2


class Info(ctypes.Structure):
    """struct hwtimer_info"""
    _fields_ = [
        ("size", c_uint32), ("abi_version", c_uint32), ("tick_min", c_uint64),
        ("tick_max", c_uint64), ("buckets_min", c_uint32), ("buckets_max", c_uint32),
        ("timers_max", c_uint64), ("tick", c_uint64), ("timers", c_uint64),
        ("buckets", c_uint32), ("kind", c_uint32), ("clock", c_uint32),
        ("started", c_uint32), ("flags", c_uint32), ("reserved", c_uint32),
    ]


class Setup(ctypes.Structure):
    """struct hwtimer_setup"""
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("tick", c_uint64),
        ("buckets", c_uint32), ("kind", c_uint32), ("clock", c_uint32),
        ("reserved", c_uint32), ("timers", c_uint64),
    ]


class Request(ctypes.Structure):
    """struct hwtimer_request"""
    _fields_ = [
        ("op", c_uint32), ("flags", c_uint32), ("id", c_uint64), ("time", c_uint64),
        ("interval", c_uint64), ("slack", c_uint64), ("user_data", c_uint64),
        ("count", c_uint32), ("result", c_int32), ("reserved", c_uint64),
    ]


class BulkTimer(ctypes.Structure):
    """struct hwtimer_bulk_timer"""
    _fields_ = [("user_data", c_uint64), ("time", c_uint64)]


class Bulk(ctypes.Structure):
    """struct hwtimer_bulk"""
    _fields_ = [
        ("size", c_uint32), ("op", c_uint32), ("flags", c_uint32), ("count", c_uint32),
        ("timers", c_uint64), ("results", c_uint64), ("slack", c_uint64),
    ]


class Query(ctypes.Structure):
    """struct hwtimer_query"""
    _fields_ = [
        ("id", c_uint64), ("user_data", c_uint64), ("deadline", c_uint64),
        ("remaining", c_uint64), ("interval", c_uint64), ("slack", c_uint64),
        ("state", c_uint32), ("count", c_uint32), ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


class Unprocessed(ctypes.Structure):
    """struct hwtimer_unprocessed"""
    _fields_ = [
        ("id", c_uint64), ("user_data", c_uint64), ("deadline", c_uint64),
        ("remaining", c_uint64), ("interval", c_uint64), ("slack", c_uint64),
        ("count", c_uint32), ("flags", c_uint32),
    ]


class Listed(ctypes.Structure):
    """struct hwtimer_listed"""
    _fields_ = [
        ("id", c_uint64), ("user_data", c_uint64), ("deadline", c_uint64),
        ("remaining", c_uint64), ("interval", c_uint64), ("slack", c_uint64),
        ("count", c_uint32), ("flags", c_uint32), ("state", c_uint32),
        ("expirations", c_uint32),
    ]


class Stats(ctypes.Structure):
    """struct hwtimer_stats"""
    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("pending", c_uint64),
        ("ready", c_uint64), ("scheduled", c_uint64), ("cancelled", c_uint64),
        ("rescheduled", c_uint64), ("expired", c_uint64), ("delivered", c_uint64),
        ("discarded", c_uint64), ("unprocessed", c_uint64), ("entries", c_uint64),
        ("dead", c_uint64), ("walked", c_uint64), ("passed_over", c_uint64),
        ("refiled", c_uint64), ("buried", c_uint64), ("compactions", c_uint64),
        ("turns", c_uint64), ("wakeups", c_uint64), ("bytes", c_uint64),
        ("bytes_peak", c_uint64), ("lateness_max", c_uint64), ("lateness_sum", c_uint64),
        ("lateness", c_uint64 * LATENESS_BUCKETS), ("rearmed", c_uint64),
        ("missed", c_uint64), ("cascaded", c_uint64), ("clock_sets", c_uint64),
    ]


class Event(ctypes.Structure):
    """struct hwtimer_event"""
    _fields_ = [
        ("id", c_uint64), ("user_data", c_uint64), ("deadline", c_uint64),
        ("lateness", c_uint32), ("expirations", c_uint32),
    ]


# The functions that this package calls: their results and parameters
FUNCTIONS = {
    "hwt_version": (c_uint, []),
    "hwt_open": (c_int, [POINTER(c_void_p), c_uint]),
    "hwt_from_fd": (c_int, [POINTER(c_void_p), c_int, c_uint]),
    "hwt_close": (None, [c_void_p]),
    "hwt_fd": (c_int, [c_void_p]),
    "hwt_setup_sized": (c_int, [c_void_p, POINTER(Setup), c_size_t]),
    "hwt_info_sized": (c_int, [c_void_p, POINTER(Info), c_size_t]),
    "hwt_stats_sized": (c_int, [c_void_p, POINTER(Stats), c_size_t]),
    "hwt_schedule_request": (c_int, [c_void_p, POINTER(Request)]),
    "hwt_cancel": (c_int, [c_void_p, c_uint64]),
    "hwt_discard": (c_int, [c_void_p, c_uint64]),
    "hwt_reschedule": (c_int, [c_void_p, c_uint64, c_int64]),
    "hwt_reschedule_at": (c_int, [c_void_p, c_uint64, c_uint64]),
    "hwt_bulk": (c_int, [c_void_p, POINTER(Bulk)]),
    "hwt_cancel_all": (c_int, [c_void_p, c_uint, POINTER(c_uint64), POINTER(c_uint64)]),
    "hwt_next_time": (c_int, [c_void_p, POINTER(c_uint64)]),
    "hwt_reschedule_request": (c_int, [c_void_p, POINTER(Request)]),
    "hwt_reschedule_many": (c_int, [c_void_p, c_uint, c_void_p, c_void_p, c_uint]),
    "hwt_cancel_many": (c_int, [c_void_p, c_uint, c_void_p, c_void_p, c_uint]),
    "hwt_query": (c_int, [c_void_p, POINTER(Query)]),
    "hwt_list": (c_int, [c_void_p, POINTER(c_uint64), POINTER(Listed), c_uint]),
    "hwt_stop": (c_int, [c_void_p, POINTER(Unprocessed), c_uint, POINTER(c_uint64)]),
    "hwt_notify": (c_int, [c_void_p, c_uint, c_uint64]),
    "hwt_read": (c_int, [c_void_p, c_char_p, c_uint]),
    "hwt_ack": (c_int, [c_void_p, c_uint]),
    "hwt_rewind": (c_int, [c_void_p]),
}


def load() -> ctypes.CDLL:
    """Returns the library, whose functions know their parameters."""
    try:
        library = ctypes.CDLL(NAME)
    except OSError as error:
        raise ImportError(
            f"{error}: install libhwtimer: the package libhwtimer1, or 'sudo make install'"
            " in the sources of hwtimer. If it is in a directory of its own, name that in"
            " LD_LIBRARY_PATH") from error
    for name, (result, parameters) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library


lib = load()
