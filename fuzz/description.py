#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Checks the description for syzkaller, fuzz/hwtimer.txt, against uapi/linux/hwtimer.h, as
syzkaller itself is not at hand. A compiler computes numbers, offsets and sizes. Prints TAP.

    usage: fuzz/description.py [--write]

Checks that each ioctl is described, that each constant of the header is used, that each
structure is described with the same members at the same offsets, that everything which the
description uses is defined, and that hwtimer.txt.const has the right numbers. --write writes
that file. Called by vm/check.sh.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
UAPI = HERE.parent / "uapi"
HEADER = UAPI / "linux/hwtimer.h"
DESCRIPTION = HERE / "hwtimer.txt"
CONSTANTS = HERE / "hwtimer.txt.const"

# The numbers of system calls, where not all machines have the same ones
ARCHES = ["amd64", "arm64", "riscv64"]
CALLS = {"openat": (257, 56), "ioctl": (16, 29), "read": (0, 63)}

# Types, flags and resources of syzkaller's other files, and the size of those that members
# have
KNOWN = {"fd"}
SIZES = {"int8": 1, "int16": 2, "int32": 4, "int64": 8}

# What the header has for programs, and no call takes
UNUSED = {"HWTIMER_IOC_MAGIC"}

# Entries of io_uring are described in a file of syzkaller's, which ours cannot add to.
UNDESCRIBED = {"hwtimer_uring"}


def compiled(lines):
    """The numbers that a program prints, one for each of some expressions"""
    body = "\n".join(f'printf("%llu\\n", (unsigned long long)({line}));' for line in lines)
    program = f"""#include <fcntl.h>
        #include <stddef.h>
        #include <stdio.h>
        #include <time.h>
        #include <linux/hwtimer.h>
        int main(void) {{ {body} return 0; }}"""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "numbers.c")
        source.write_text(program)
        subprocess.run(["gcc", f"-I{UAPI}", "-o", f"{directory}/numbers", str(source)],
                       check=True)
        output = subprocess.run([f"{directory}/numbers"], check=True, text=True,
                                capture_output=True).stdout
    return [int(line) for line in output.split()]


# ---- the header ----


def header_text():
    return re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)


def header_constants(text):
    names = re.findall(r"#define (HWTIMER_\w+)[ \t\\]+\S", text)
    names += re.findall(r"^\t(HWTIMER_\w+) = ", text, flags=re.M)
    return set(names)


def header_structures(text):
    """The members of each structure; those of a union have the structure's"""
    structures = {}
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, flags=re.S | re.M):
        structures[name] = re.findall(r"__[us]\d+ (\w+)(?:\[\w+\])?;", body)
    return structures


# ---- the description ----


def described_text():
    return re.sub(r"#.*", "", DESCRIPTION.read_text())


def blocks(text, opening, closing):
    """The structures or unions: for each, its members and their types"""
    pattern = rf"^(\w+) \{opening}\n(.*?)^\{closing}"
    return {name: [tuple(line.split(None, 1)) for line in body.strip().splitlines()]
            for name, body in re.findall(pattern, text, flags=re.S | re.M)}


class Description:
    def __init__(self):
        self.text = described_text()
        self.structures = blocks(self.text, "{", "}")
        self.unions = blocks(self.text, "[", "]")
        self.resources = dict(re.findall(r"^resource (\w+)\[(\w+)\]", self.text, flags=re.M))
        self.flags = dict(re.findall(r"^(\w+) = (.*)", self.text, flags=re.M))
        self.calls = re.findall(r"^(\w+)\$(\w+)\(", self.text, flags=re.M)

    def size(self, kind, numbers):
        """The size of a type, in bytes"""
        kind = re.sub(r"\s*\((?:in|out|inout)\)$", "", kind.strip())
        name, _, rest = kind.partition("[")
        arguments = rest[:-1]
        if kind.startswith("ptr64["):
            return 8
        if name in SIZES:
            return SIZES[name]
        if name in self.resources:
            return self.size(self.resources[name], numbers)
        if name in self.unions:
            return max(self.size(member[1], numbers) for member in self.unions[name])
        if name == "array":
            element, count = arguments.rsplit(",", 1)
            return self.size(element, numbers) * numbers(count.strip())
        if name in ("const", "flags", "len", "bytesize"):
            return self.size(arguments.rsplit(",", 1)[1], numbers)
        raise ValueError(f"no size of {kind}")

    def offsets(self, name, numbers):
        """The members of a structure, with their offsets, and its size"""
        members, offset, align = [], 0, 1
        for member, kind in self.structures[name]:
            size = self.size(kind, numbers)
            unit = 4 if "int32" in kind or kind.startswith("fd_event") else 8
            offset += -offset % unit
            align = max(align, unit)
            union = self.unions.get(kind.split()[0])
            members += [(m[0], offset) for m in union] if union else [(member, offset)]
            offset += size
        return members, offset + -offset % align

    def constants(self):
        """All names that stand for a number"""
        return set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", re.sub(r"\$\w+|<.*?>|\".*?\"", "", self.text)))

    def names(self):
        """What is defined, and what is used as a type, a resource or flags"""
        defined = set(self.structures) | set(self.unions) | set(self.resources)
        defined |= set(self.flags) | KNOWN
        return defined, set(re.findall(r"\b(?:hwtimer|fd)_\w+\b", re.sub(r"\$\w+", "", self.text)))


# ---- the constants ----


def constants_file(description, numbers):
    lines = ["# Code generated by fuzz/description.py. DO NOT EDIT.",
             f"arches = {', '.join(ARCHES)}"]
    lines += [f"{name} = {numbers(name)}" for name in sorted(description.constants())]
    for name in sorted(CALLS):
        amd64, others = CALLS[name]
        lines.append(f"__NR_{name} = {amd64}, arm64:riscv64:{others}")
    return "\n".join(lines) + "\n"


# ---- the checks ----


class Tap:
    def __init__(self):
        self.number, self.failed = 0, 0

    def check(self, name, wrong):
        self.number += 1
        self.failed += bool(wrong)
        for what in wrong:
            print(f"# {what}")
        print(f"{'not ' if wrong else ''}ok {self.number} {name}")

    def end(self):
        print(f"1..{self.number}")
        return 1 if self.failed or not self.number else 0


def base_of(name, structures):
    """The structure of the header that a structure of the description is a variant of"""
    return max((s for s in structures if name == s or name.startswith(s + "_")),
               key=len, default=None)


def wrong_layout(description, name, base, members, numbers):
    expected = compiled([f"offsetof(struct {base}, {m})" for m in members]
                        + [f"sizeof(struct {base})"])
    try:
        found, size = description.offsets(name, numbers)
    except ValueError as error:
        return [str(error)]
    want = list(zip(members, expected))
    wrong = [f"{name}: {m} at {o}, but the header has {w}"
             for (m, o), w in zip(found, want) if (m, o) != w]
    if len(found) != len(want):
        wrong.append(f"{name}: {len(found)} members, but the header has {len(want)}")
    if size != expected[-1]:
        wrong.append(f"{name}: {size} bytes, but the header has {expected[-1]}")
    return wrong


def check_structures(tap, description, structures, numbers):
    found = {name: base_of(name, structures) for name in description.structures}
    tap.check("each structure of the header is described",
              set(structures) - set(found) - UNDESCRIBED)
    for name, base in found.items():
        if base is None:
            tap.check(f"{name} is in the header", [name])
        else:
            tap.check(f"{name} has the header's layout",
                      wrong_layout(description, name, base, structures[base], numbers))


def check_calls(tap, description, constants):
    ioctls = {c for c in constants if c.startswith("HWTIMER_IOC_")} - UNUSED
    named = {variant for call, variant in description.calls if call == "ioctl"}
    tap.check("each ioctl is described", ioctls ^ named)
    other = {call for call, _ in description.calls}
    tap.check("open and read are described", {"openat", "read"} - other)


def check_names(tap, description):
    defined, used = description.names()
    tap.check("all that is used is defined", used - defined)
    text = re.sub(r"^(resource )?\w+( = | [{[]\n|\[)", "", description.text, flags=re.M)
    tap.check("all that is defined is used",
              [name for name in defined - KNOWN if not re.search(rf"\b{name}\b", text)])


def main():
    text = header_text()
    constants, structures = header_constants(text), header_structures(text)
    description = Description()
    names = sorted(description.constants())
    values = dict(zip(names, compiled(names)))

    def numbers(name):
        return values[name] if name in values else int(name, 0)

    if sys.argv[1:] == ["--write"]:
        CONSTANTS.write_text(constants_file(description, numbers))
        return 0
    print("TAP version 13")
    tap = Tap()
    check_calls(tap, description, constants)
    tap.check("each constant of the header is used",
              constants - UNUSED - description.constants())
    check_structures(tap, description, structures, numbers)
    check_names(tap, description)
    tap.check("hwtimer.txt.const is up to date (--write writes it)",
              [] if CONSTANTS.exists() and
              CONSTANTS.read_text() == constants_file(description, numbers) else ["it is not"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
