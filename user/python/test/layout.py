#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a program in C that compiles only if the structures and constants of the Python
package are those of <linux/hwtimer.h> and libhwtimer.h. Needs libhwtimer, and no device."""

import ctypes

from hwtimer import _abi, _instance, _library


def check(condition):
    """A line that compiles only if @condition holds"""
    print(f'_Static_assert({condition}, "{condition}");')


def main():
    """All structures and constants of hwtimer/_abi.py"""
    print("#include <stddef.h>\n#include <libhwtimer.h>")
    for name, value in vars(_abi).items():
        if isinstance(value, int):
            check(f"HWTIMER_{name} == {value}")
        if not (isinstance(value, type) and issubclass(value, ctypes.Structure)):
            continue
        struct = value.__doc__
        check(f"sizeof({struct}) == {ctypes.sizeof(value)}")
        for field, _ in value._fields_:
            place = getattr(value, field)
            check(f"offsetof({struct}, {field}) == {place.offset}")
            check(f"sizeof((({struct} *)0)->{field}) == {place.size}")
    check(f"HWT_NONBLOCK == {_library.NONBLOCK}")
    check(f"sizeof(struct hwtimer_event) == {_instance._EVENT.size}")


main()
