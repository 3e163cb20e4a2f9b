#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a program in C that compiles only if the structures and constants of the Python
package are those of <linux/hwtimer.h> and libhwtimer.h. Needs libhwtimer, and no device."""

import ctypes

from hwtimer import _instance, _library

NAMES = {
    "Info": "hwtimer_info", "Setup": "hwtimer_setup", "Request": "hwtimer_request",
    "BulkTimer": "hwtimer_bulk_timer", "Bulk": "hwtimer_bulk", "Query": "hwtimer_query",
    "Unprocessed": "hwtimer_unprocessed", "Listed": "hwtimer_listed",
    "Stats": "hwtimer_stats", "Event": "hwtimer_event",
}

CONSTANTS = {
    "NONBLOCK": "HWT_NONBLOCK", "ABSOLUTE": "HWTIMER_ABSOLUTE",
    "DISCARD": "HWTIMER_DISCARD", "FIXED_DELAY": "HWTIMER_FIXED_DELAY",
    "REPORT_CLOCK_SET": "HWTIMER_REPORT_CLOCK_SET",
    "AT_LEAST_ONCE": "HWTIMER_AT_LEAST_ONCE", "NEVER": "HWTIMER_NEVER",
    "LATENESS_BUCKETS": "HWTIMER_LATENESS_BUCKETS",
    "OP_SCHEDULE": "HWTIMER_OP_SCHEDULE", "STATE_PENDING": "HWTIMER_STATE_PENDING",
    "STATE_EXPIRED": "HWTIMER_STATE_EXPIRED",
}


def check(condition):
    """A line that compiles only if @condition holds"""
    print(f'_Static_assert({condition}, "{condition}");')


def main():
    """All structures of the package must be in NAMES."""
    print("#include <stddef.h>\n#include <libhwtimer.h>")
    for name, value in vars(_library).items():
        if not (isinstance(value, type) and issubclass(value, ctypes.Structure)):
            continue
        struct = f"struct {NAMES[name]}"
        check(f"sizeof({struct}) == {ctypes.sizeof(value)}")
        for field, _ in value._fields_:
            place = getattr(value, field)
            check(f"offsetof({struct}, {field}) == {place.offset}")
            check(f"sizeof((({struct} *)0)->{field}) == {place.size}")
    for name, constant in CONSTANTS.items():
        check(f"{constant} == {getattr(_library, name)}ULL")
    print("#ifdef HWTIMER_CLOCK")
    check(f"HWTIMER_CLOCK(0) == {_library.CLOCK_REALTIME}")
    print("#endif")
    check(f"sizeof(struct hwtimer_event) == {_instance._EVENT.size}")


main()
