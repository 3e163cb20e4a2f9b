#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Keeps the manual pages of section 3 as the header of the library says.

    usage: user/man/synopsis.py [--update]

Each function in the SYNOPSIS of a page must have the prototype of the header; --update
writes it there. Each errno that the comment of a function names must be in the ERRORS of its
page, and each function of a page's NAME in its SYNOPSIS. Without --update, prints what is
wrong, a line each. test/vm/userland.sh calls it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "user/lib/libhwtimer.h"

PROTOTYPE = re.compile(r"(?P<comment>/\*(?:[^*]|\*(?!/))*\*/\n)?"
                       r"^(?:static inline )?(?P<type>(?:const )?\w+(?: \w+)*)\s"
                       r"(?P<stars>\**)\s*(?P<name>\w+)\((?P<arguments>[^()]*"
                       r"(?:\([^()]*\)[^()]*)*)\)(?:;|\n\{)", re.M)


def one_line(text):
    return " ".join(text.split())


def prototypes(text):
    """{name: (type, [argument], {errno})} of the functions in a header"""
    found = {}
    for match in PROTOTYPE.finditer(text):
        kind = match["type"] + (" " + match["stars"] if match["stars"] else "")
        arguments = re.split(r",\s*(?![^(]*\))", one_line(match["arguments"]))
        errnos = set(re.findall(r"-(E[A-Z0-9]+)\b", match["comment"] or ""))
        found[match["name"]] = (kind, arguments, errnos)
    return found


def lines_of(kind, name, arguments):
    """The two lines of a function in a SYNOPSIS"""
    quoted = [f'"{argument}"' if " " in argument else argument
              for argument in arguments]
    return [f'.Ft "{kind}"' if kind.endswith("*") else f".Ft {kind}",
            f".Fn {name} " + " ".join(quoted)]


def section(lines, name):
    """The range of the lines of a section"""
    begin = lines.index(f".Sh {name}") + 1
    return range(begin, next(i for i in range(begin, len(lines))
                             if lines[i].startswith(".Sh ")))


def check(page, found, update):
    """Prints what is wrong with a page; with @update, writes its prototypes instead"""
    lines = page.read_text().split("\n")
    functions, wrong = [], []
    for i in section(lines, "SYNOPSIS"):
        match = re.match(r"\.Fn (\w+)", lines[i])
        if not match:
            continue
        name = match[1]
        functions.append(name)
        if name not in found:
            wrong.append(f"no header declares {name}()")
            continue
        expected = lines_of(name=name, kind=found[name][0], arguments=found[name][1])
        if update:
            lines[i - 1:i + 1] = expected
        elif lines[i - 1:i + 1] != expected:
            wrong.append(f"the header has: {' '.join(expected)}; run: user/man/synopsis.py --update")
    errors = set(re.findall(r"\bE[A-Z0-9]{2,}\b",
                            "\n".join(lines[i] for i in section(lines, "ERRORS"))))
    for name in functions:
        for errno in sorted(found.get(name, (0, 0, set()))[2] - errors):
            wrong.append(f"{name}() may fail with {errno}, which is not in ERRORS")
    for i in section(lines, "NAME"):
        match = re.match(r"\.Nm (hwt_\w+)", lines[i])
        if match and match[1] not in functions and match[1] != page.stem:
            wrong.append(f"{match[1]}() is in the NAME, but not in the SYNOPSIS")
    if update:
        page.write_text("\n".join(lines))
    for what in wrong:
        print(f"{page.relative_to(ROOT)}: {what}")


def main():
    found = prototypes(HEADER.read_text())
    pages = sorted((ROOT / "user/man").glob("*.3"))
    if not pages:
        print("there is no page")
    for page in pages:
        check(page, found, sys.argv[1:] == ["--update"])


main()
