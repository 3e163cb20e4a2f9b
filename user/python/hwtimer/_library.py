# SPDX-License-Identifier: MIT
"""The functions of libhwtimer, as ctypes sees them.

ctypes and not cffi or a module in C: it is part of Python, needs no compiler and no build,
and one package serves all architectures and all versions of Python. A call through it takes
about a microsecond; programs with many timers use the calls for many.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

from . import _abi

NAME = "libhwtimer.so.1"

# HWT_NONBLOCK
NONBLOCK = 1 << 0

# The functions that this package calls: their results and parameters
FUNCTIONS = {
    "hwt_open": (c_int, [POINTER(c_void_p), c_uint]),
    "hwt_from_fd": (c_int, [POINTER(c_void_p), c_int, c_uint]),
    "hwt_open_manual": (c_int, [POINTER(c_void_p), c_uint]),
    "hwt_advance": (c_int, [c_void_p, c_int64]),
    "hwt_now": (c_uint64, [c_void_p]),
    "hwt_close": (None, [c_void_p]),
    "hwt_fd": (c_int, [c_void_p]),
    "hwt_setup_sized": (c_int, [c_void_p, POINTER(_abi.Setup), c_size_t]),
    "hwt_info_sized": (c_int, [c_void_p, POINTER(_abi.Info), c_size_t]),
    "hwt_stats_sized": (c_int, [c_void_p, POINTER(_abi.Stats), c_size_t]),
    "hwt_schedule_request": (c_int, [c_void_p, POINTER(_abi.Request)]),
    "hwt_cancel": (c_int, [c_void_p, c_uint64]),
    "hwt_discard": (c_int, [c_void_p, c_uint64]),
    "hwt_reschedule": (c_int, [c_void_p, c_uint64, c_int64]),
    "hwt_reschedule_at": (c_int, [c_void_p, c_uint64, c_uint64]),
    "hwt_bulk": (c_int, [c_void_p, POINTER(_abi.Bulk)]),
    "hwt_cancel_all": (c_int, [c_void_p, c_uint, POINTER(c_uint64)]),
    "hwt_reschedule_request": (c_int, [c_void_p, POINTER(_abi.Request)]),
    "hwt_query": (c_int, [c_void_p, POINTER(_abi.Timer)]),
    "hwt_list": (c_int, [c_void_p, POINTER(c_uint64), POINTER(_abi.Timer), c_uint]),
    "hwt_stop": (c_int, [c_void_p, POINTER(c_uint64), POINTER(_abi.Timer), c_uint]),
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
