#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls every function that libhwtimer exports, from a language that includes no C.

usage: all_functions.py LIBRARY

The instance has a manual clock, so this needs no device. Prints the functions that were not
called; the exit status is 0 if there is none, and all did what they should.
"""

import ctypes
import errno
import struct
import subprocess
import sys

SCHEDULE_AT = 1
CANCEL = 2
REARM_OR_CREATE = 1 << 3 | 1 << 4
NONBLOCK = 1
NEVER = 2**63 - 1
SECOND = 10**9
# Structures, in bytes
EVENT = 32
REQUEST = 64
INFO = 80
SETUP = 32
STATS = 888
TIMER = 64

library = ctypes.CDLL(sys.argv[1], use_errno=True)
called = set()
u64 = ctypes.c_uint64
pointer = ctypes.c_void_p


def call(name, *arguments, returns=ctypes.c_int):
    function = getattr(library, name)
    function.restype = returns
    called.add(name)
    return function(*arguments)


def expect(value, *arguments, returns=ctypes.c_int):
    got = call(*arguments, returns=returns)
    assert got == value, f"{arguments[0]}: {got}, not {value}"


def exported():
    """The functions that the map of versions names"""
    lines = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions",
                            sys.argv[1]], capture_output=True, text=True, check=True)
    names = [line.split()[2] for line in lines.stdout.splitlines()
             if line.split()[1] == "T"]
    return {name.split("@@")[0] for name in names if "@@LIBHWTIMER_" in name}


def calls_of_an_instance(hwt):
    """What goes to the module and comes back"""
    now = 86400 * SECOND
    info = ctypes.create_string_buffer(b"\xff" * 4096)
    ident = u64()
    expect(0, "hwt_info", hwt, info)
    assert struct.unpack_from("I", info)[0] == 1  # abi_version
    assert info[INFO] == b"\xff"
    expect(0, "hwt_info_sized", hwt, info, ctypes.c_size_t(INFO + 8))
    assert info[INFO:INFO + 9] == bytes(8) + b"\xff"
    expect(0, "hwt_stats", hwt, info)
    assert info[:STATS] == bytes(STATS)
    expect(0, "hwt_stats_sized", hwt, info, ctypes.c_size_t(STATS + 8))
    setup = ctypes.create_string_buffer(64)
    expect(0, "hwt_setup", hwt, setup)
    expect(0, "hwt_setup_sized", hwt, setup, ctypes.c_size_t(SETUP + 8))
    expect(-errno.EINVAL, "hwt_setup_sized", hwt, setup, ctypes.c_size_t(SETUP - 8))
    expect(0, "hwt_schedule_at", hwt, u64(now), u64(1), ctypes.byref(ident))
    assert ident.value
    expect(0, "hwt_reschedule_at", hwt, ident, u64(now + SECOND))
    remaining = u64()
    expect(0, "hwt_next_time", hwt, ctypes.byref(remaining))
    assert remaining.value == SECOND
    # A larger deadline, and a delay that ends after all times, is never.
    for function, time in (("hwt_reschedule_at", u64(2**64 - 1)),
                           ("hwt_reschedule", ctypes.c_int64(NEVER))):
        expect(0, function, hwt, ident, time)
        expect(0, "hwt_next_time", hwt, ctypes.byref(remaining))
        assert remaining.value == NEVER
    expect(0, "hwt_cancel", hwt, ident)
    expect(-errno.ENOENT, "hwt_discard", hwt, ident)
    request = struct.pack("IIQqQQQIiQ", 0, SCHEDULE_AT, 0, now + SECOND, 0, 0, 7,
                          0, 0, 0)
    request = ctypes.create_string_buffer(request, REQUEST)
    expect(0, "hwt_schedule_request", hwt, request)
    ident = struct.unpack_from("Q", request, 8)[0]
    expect(0, "hwt_discard", hwt, u64(ident))
    struct.pack_into("IIQ", request, 0, 0, SCHEDULE_AT | REARM_OR_CREATE, 0)
    expect(0, "hwt_reschedule_request", hwt, request)
    ident = u64(struct.unpack_from("Q", request, 8)[0])
    assert ident.value
    expect(0, "hwt_rearm_at", hwt, ctypes.byref(ident), u64(now + SECOND), u64(7))
    expect(0, "hwt_rearm", hwt, ctypes.byref(ident), ctypes.c_int64(SECOND), u64(7))
    expect(0, "hwt_discard", hwt, ident)
    timers = (u64 * 4)(1, now + SECOND, 2, now + SECOND)
    results = (u64 * 2)()
    expect(2, "hwt_schedule_many", hwt, SCHEDULE_AT, timers, results, 2)
    timers[0], timers[2] = results
    assert not any(call("hwt_error", u64(result)) for result in results)
    expect(2, "hwt_reschedule_many", hwt, SCHEDULE_AT, timers, results, 2)
    expect(2, "hwt_cancel_many", hwt, 0, (u64 * 2)(timers[0], timers[2]), results, 2)
    ids = (u64 * 2)(timers[0], timers[2])
    bulk = struct.pack("IIQQQII", CANCEL, 0, ctypes.addressof(ids),
                       ctypes.addressof(results), 0, 2, 0)
    expect(2, "hwt_bulk", hwt, bulk)
    assert [call("hwt_error", u64(result)) for result in results] == [-errno.ENOENT] * 2
    cancelled = u64(9)
    expect(0, "hwt_cancel_all", hwt, 0, ctypes.byref(cancelled))
    assert cancelled.value == 0
    struct.pack_into("IIQ", request, 0, 1, SCHEDULE_AT, 0)
    expect(1, "hwt_submit", hwt, request, 1)
    expect(-errno.ENOENT, "hwt_error", u64(2**64 - errno.ENOENT))
    cursor = u64()
    timer = ctypes.create_string_buffer(TIMER)
    expect(1, "hwt_list", hwt, ctypes.byref(cursor), timer, 1)
    expect(0, "hwt_list", hwt, ctypes.byref(cursor), timer, 1)
    expect(0, "hwt_query", hwt, timer)
    assert struct.unpack_from("QQQ", timer, 8) == (7, now + SECOND, SECOND)
    expect(0, "hwt_notify", hwt, 0, u64(0))
    expect(-errno.EAGAIN, "hwt_read", hwt, ctypes.create_string_buffer(EVENT), 1)
    expect(-errno.EAGAIN, "hwt_next", hwt, ctypes.create_string_buffer(EVENT))
    expect(-errno.EINVAL, "hwt_ack", hwt, 1)
    expect(-errno.EINVAL, "hwt_rewind", hwt)
    expect(0, "hwt_dispatch_failed", -errno.EAGAIN)
    expect(1, "hwt_dispatch_failed", -errno.ENOTCONN)
    assert call("hwt_fd", hwt) >= 0
    expect(0, "hwt_dispatch_check", hwt)
    expect(-errno.EBADF, "hwt_from_fd", ctypes.byref(pointer()), -1, 0)
    ident = u64()
    expect(0, "hwt_schedule", hwt, ctypes.c_int64(SECOND), u64(1), ctypes.byref(ident))
    expect(0, "hwt_reschedule", hwt, ident, ctypes.c_int64(2 * SECOND))
    expect(0, "hwt_cancel", hwt, ident)


def timer_objects(hwt):
    """A timer that expires, and what can be asked about it"""
    expired = []
    callback = ctypes.CFUNCTYPE(None, pointer)(expired.append)
    changed = ctypes.CFUNCTYPE(None, pointer)(lambda arg: expired.append("changed"))
    timer = ctypes.create_string_buffer(64)
    call("hwt_on_change", hwt, changed, None, returns=None)
    call("hwt_cache_time", hwt, 1, returns=None)
    call("hwt_timer_init", timer, hwt, callback, returns=None)
    now = call("hwt_now", hwt, returns=u64)
    expect(0, "hwt_timer_start_at", timer, u64(now + SECOND))
    expect(now + SECOND, "hwt_timer_deadline", timer, returns=u64)
    expect(0, "hwt_timer_start_every", timer, ctypes.c_int64(SECOND),
           ctypes.c_int64(SECOND), 0)
    expect(0, "hwt_timer_again", timer)
    expect(1, "hwt_active", hwt)
    call("hwt_timer_stop", timer, returns=None)
    expect(0, "hwt_timer_active", timer)
    expect(NEVER, "hwt_timer_deadline", timer, returns=u64)
    expect(0, "hwt_timer_start", timer, ctypes.c_int64(0))
    expect(0, "hwt_flush", hwt)
    expect(0, "hwt_refused", hwt)
    expect(-1, "hwt_wait_ms", hwt, -1)
    expect(0, "hwt_advance", hwt, ctypes.c_int64(2 * SECOND))
    # This one, and the one that hwt_submit() has scheduled
    events = []
    on_event = ctypes.CFUNCTYPE(None, pointer, pointer)(lambda arg, event:
                                                        events.append(event))
    wrap = ctypes.CFUNCTYPE(None, pointer, pointer)(lambda arg, timer: callback(timer))
    call("hwt_wrap_callbacks", hwt, wrap, None, returns=None)
    call("hwt_break", hwt, returns=None)
    expect(2, "hwt_dispatch", hwt, on_event, None, 10)
    # It became active, and inactive.
    assert expired == ["changed", "changed", ctypes.addressof(timer)] and len(events) == 1
    expect(1, "hwt_timer_expirations", timer, returns=u64)
    expect(0, "hwt_stop", hwt, None, None, 0)
    expect(-errno.ENOTCONN, "hwt_dispatch", hwt, on_event, None, 10)


def main():
    """Returns whether all functions were called."""
    hwt = pointer()
    assert call("hwt_version") == 9
    # Without the module it fails.
    call("hwt_open", ctypes.byref(hwt), NONBLOCK)
    call("hwt_close", hwt, returns=None)
    expect(0, "hwt_open_manual", ctypes.byref(hwt), NONBLOCK)
    calls_of_an_instance(hwt)
    timer_objects(hwt)
    call("hwt_close", hwt, returns=None)
    missing = exported() - called
    for name in sorted(missing):
        print("not called:", name)
    return bool(missing)


sys.exit(main())
