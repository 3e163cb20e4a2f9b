#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Compares the table of Documentation/calls.md with the header: prints the calls and the errnos
that only one of them has, a line each. test/vm/userland.sh calls it.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "uapi/linux/hwtimer.h").read_text()
PAGE = (ROOT / "Documentation/calls.md").read_text()

# Where the header has the errors of the calls that are no ioctl: the structure
OTHERS = {"hwtimer_event": "read()", "hwtimer_uring": "io_uring"}


def errnos(text):
    return set(re.findall(r"\bE[A-Z0-9]{3,}\b", text))


def in_header():
    """{call: errnos}"""
    calls = {}
    structs = {}
    for name, struct in re.findall(r"#define HWTIMER_IOC_(\w+)[\s\\]+_IO.*struct (\w+)\)",
                                   HEADER):
        structs.setdefault(struct, []).append(name)
    for comment in re.findall(r"/\*.*?\*/", HEADER, re.S):
        name = re.match(r"/\*\*\s+\* struct (\w+)", comment)
        owners = name and (structs.get(name[1]) or [OTHERS.get(name[1])])
        text = re.sub(r"^ \* ?", "", comment, flags=re.M)
        for paragraph in re.split(r"\n\s*\n", text):
            errors = re.search(r"Errors( of (open\(\)|any ioctl))?[^:]*:\s(.*)",
                               paragraph, re.S)
            if not errors:
                continue
            if operation := re.match(r"([A-Z]+)\. ", paragraph):
                named = [operation[1]]
            else:
                named = [errors[2]] if errors[2] else owners
            for owner in named:
                calls[owner] = errnos(errors[3])
    for name in sum(structs.values(), []):
        calls.setdefault(name, set())
    return calls


def in_table():
    """{call: errnos}"""
    calls = {}
    for line in PAGE.split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and not re.match(r"-|call$", cells[0]):
            found = errnos(cells[2])
            if other := re.search(r"\bas ([A-Z]+)", cells[2]):
                found |= calls[other[1]]
            calls[cells[0].strip("`").removeprefix("HWTIMER_IOC_")] = found
    return calls


def main():
    header, table = in_header(), in_table()
    for call in sorted(header.keys() | table.keys() - {"poll()"}):
        if call not in table or call not in header:
            print(f"{call}: only in {'the header' if call in header else 'calls.md'}")
            continue
        for errno in sorted(header[call] ^ table[call]):
            where = "the header" if errno in header[call] else "calls.md"
            print(f"{call}: {errno} is only in {where}")


main()
