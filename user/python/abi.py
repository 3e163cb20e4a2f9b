#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Makes hwtimer/_abi.py: what uapi/linux/hwtimer.h declares, for ctypes.

Whoever builds or tests the package runs this first: setup.py, the Makefile, test/vm/. It fails at a
declaration that it does not understand. test/layout.py compares the file with what a compiler
makes of the header.
"""

import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "uapi/linux/hwtimer.h"
RESULT = HERE / "hwtimer/_abi.py"

# What the kernel describes: these structures become tuples, too, for programs.
DESCRIPTIONS = ("info", "timer", "stats", "event")

TYPES = {"__u64": "c_uint64", "__s64": "c_int64", "__u32": "c_uint32", "__s32": "c_int32"}

HEAD = '''\
# SPDX-License-Identifier: MIT
"""<linux/hwtimer.h>; user/python/abi.py has made this file."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_uint32, c_uint64
from typing import NamedTuple
'''

# Macros with parameters and ioctls are the library's business.
LEFT_OUT = re.compile(r"#include .*|#ifn?def .*|#else|#endif|#define \w+|#define HWTIMER_\w+\(.*|"
                      r"#define HWTIMER_\w+ _IOW?R?\(.*")
CONSTANT = re.compile(r"#define HWTIMER_(\w+) \(?(1U << \d+|\w+)\)?")
ENUM = re.compile(r"enum hwtimer_\w+ \{((?: HWTIMER_\w+ = \d+,)+) \};")
STRUCT = re.compile(r"struct hwtimer_(\w+) \{(.*)\};")
FIELD = re.compile(r"(__[us]\d\d) (\w+)(?:\[HWTIMER_(\w+)\])?")
# Its members have one size; the first one stands for all.
UNION = re.compile(r"__extension__ union \{ ([^;]*;)[^}]*\};")


def declarations(text):
    """Yields each declaration as one line, without comments"""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", "")
    for match in re.finditer(r"^(?:#[^\n]*|\w[^;{]*(?:\{.*?^\})?;)|\S", text, re.M | re.S):
        yield " ".join(match[0].split())


def number(text):
    """A constant of C in Python"""
    return re.sub(r"\b(0x[0-9a-f]+|\d+)U?L*\b", r"\1", text, flags=re.I)


def lines_of(name, fields):
    """The classes of a structure. @fields: [(type, name, length or None)]"""
    title = name.title().replace("_", "")
    yield f'\n\nclass {title}(ctypes.Structure):\n    """struct hwtimer_{name}"""'
    yield "    _fields_ = ["
    for kind, field, length in fields:
        yield f'        ("{field}", {TYPES[kind]}{f" * {length}" if length else ""}),'
    yield "    ]"
    if name in DESCRIPTIONS:
        yield f'\n\nclass {title}Fields(NamedTuple):\n    """The fields of {title}"""'
        for _, field, length in fields:
            if field != "reserved":
                yield f"    {field}: {'tuple[int, ...]' if length else 'int'}"


def main():
    """Constants, then structures, in the order of the header"""
    lines, structs = [HEAD], []
    for line in declarations(HEADER.read_text(encoding="ascii")):
        if match := CONSTANT.fullmatch(line):
            lines.append(f"{match[1]} = {number(match[2])}")
        elif match := ENUM.fullmatch(line):
            lines += [f"{name} = {value}" for name, value in
                      re.findall(r"HWTIMER_(\w+) = (\d+),", match[1])]
        elif match := STRUCT.fullmatch(line):
            fields = UNION.sub(r"\1", match[2]).split(";")[:-1]
            structs += lines_of(match[1], [FIELD.fullmatch(field.strip()).groups()
                                           for field in fields])
        elif not LEFT_OUT.fullmatch(line):
            sys.exit(f"abi.py does not understand: {line}")
    # Nobody reads a part of it, and the owner of the directory can replace what root has made.
    new = RESULT.with_suffix(".new")
    new.write_text("\n".join(lines + structs) + "\n", encoding="ascii")
    os.replace(new, RESULT)


main()
