#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Counts the tracepoints in a module's machine code, and the instructions they add.

usage: trace_cost.py WITH.ko WITHOUT.ko FUNCTION...

For each function it prints the instructions without and with tracepoints, and the places
at which a tracepoint can be switched on. Such a place is a nop while the tracepoint is
off. All other additional instructions run only while it is on. Called by
vm/trace-cost.sh.
"""
import re
import subprocess
import sys


def instructions(module):
    """Returns, by function, a list of (address, instruction)."""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "-j", ".text", module],
        capture_output=True, check=True, text=True).stdout
    functions, name = {}, None
    for line in text.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = head[1]
            functions[name] = []
        elif code := re.match(r"\s*([0-9a-f]+):\t(.*)$", line):
            functions[name].append((int(code[1], 16), code[2]))
    return functions


def switches(module):
    """Returns the addresses of the static branches in .text."""
    text = subprocess.run(["readelf", "-rW", module], capture_output=True,
                          check=True, text=True).stdout
    section = text.split("'.rela__jump_table'")
    if len(section) < 2:
        return set()
    entries = []
    for line in section[1].splitlines()[2:]:
        if not line.strip():
            break
        entries.append(line)
    # An entry is code, target and key; the code is the address of the branch.
    found = (re.search(r"\.text \+ ([0-9a-f]+)", line)
             for line in entries[0::3])
    return {int(place[1], 16) for place in found if place}


def count_in(code, places):
    return sum(code[0][0] <= place <= code[-1][0] for place in places)


def main():
    with_code, without_code = map(instructions, sys.argv[1:3])
    with_places, without_places = map(switches, sys.argv[1:3])

    print(f"{'function':<28} {'without':>8} {'with':>8} {'places':>7}")
    for name in sys.argv[3:]:
        after, before = with_code[name], without_code[name]
        places = (count_in(after, with_places) -
                  count_in(before, without_places))
        print(f"{name:<28} {len(before):>8} {len(after):>8} {places:>7}")


main()
