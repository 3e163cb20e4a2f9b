#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Says which lines and branches of the module have run, in all of several builds together.
Called by test/vm/coverage.sh.

    usage: coverage.py --exceptions FILE --branches PERCENT --list FILE
                       [--native DIRECTORY]... [--sanitized DIRECTORY]... DIRECTORY...

Each DIRECTORY has the objects of one build, with gcov's .gcno and .gcda files; one that
--native names is a build of the simulation (test/sim/), which is no kernel; one that --sanitized
names is for a kernel with sanitizers. Prints a table,
the lines that never ran, and TAP. Fails if a line never ran and is not in the file of
exceptions, if an exception has run after all or names no line, or if a smaller part of the
branches than PERCENT was taken. Writes the branches that were never taken to the file that
--list names.

What counts:

- Lines and branches of the module's own files: those that Kbuild lists, and headers, but
  not trace.h, which has nothing but arguments of the kernel's macros.
- A line has run if it has in any build. A line that no build has code for does not count.
- A branch is one way out of a condition: each operand of && and || has two. Lines that
  use one of KERNEL_MACROS do not count here, nor do excepted lines: what gcov sees there
  are branches of the macro. Inline functions of the kernel's headers do not matter: the
  builds have -fno-inline, and where a function is inlined nevertheless, gcov counts its
  branches in the header.
- Several builds, and several objects that include a header, have copies of a line. A
  compiler that knows more about a copy leaves branches out. So only those copies that
  have the most branches count, and each branch has to be taken in one of them.
- The simulation compiles the same sources, with macros and inline functions of its own
  instead of the kernel's. So it adds nothing but what it has run: a line that a kernel's
  build has, too, in the same function; and its branches only if there are as many as in
  the kernel's build.
- Sanitizers and lockdep add branches and lines that we did not write. So a build with them
  adds nothing but what it has run, as the simulation does.
- A line that uses one of HELPER_MACROS has branches of the macro in a kernel's build, and
  only those that we wrote in the simulation, where they are functions. So the branches of
  such a line are those of the simulation.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# Macros of the kernel with branches of their own, which a line of ours contains therefore.
# min(), max() and the loops through lists are not among them: both of their ways count.
KERNEL_MACROS = re.compile(r"""\b(
    WARN | WARN_ON | WARN_ON_ONCE | cond_resched(?:_tasks_rcu_qs)? | might_sleep
    | lockdep_assert\w* | wait_event\w* | trace_hwtimer\w* | pr_\w+
    | module_param\w* | MODULE_\w+ | kmem_cache_\w+ | DEFINE_\w+
    )\b""", re.X)

# Macros of the kernel that are functions in the simulation: there, only our branches are left.
HELPER_MACROS = re.compile(r"""\b(
    _*(set|clear|test)_bit | _*ff[sz] | _*fls(64)? | find_\w+_bit | bitmap_\w+ | hweight\w+
    | ilog2 | round(up|down)_pow_of_two | kfree_rcu | kthread_create | alloc_workqueue
    | k\w*[mz]alloc\w* | kv\w*alloc\w* | __vmalloc | kmemdup | alloc_pages? | get_zeroed_page
    | get_user | put_user | copy_(to|from)_user
    )\b""", re.X)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = {path.parts[0] for path in map(pathlib.PurePath, re.findall(
    r"^\t(?!test/kunit/)(\w+/\w+)\.o", (ROOT / "Kbuild").read_text(), re.M))}
LEFT_OUT = {"trace.h"}


class Wrong(Exception):
    """The file of exceptions breaks a rule of this script."""


def taken(line):
    """Whether each branch was taken, in one of gcov's records"""
    return [branch["count"] > 0 for branch in line["branches"]]


def merged(some, others):
    """The branches that were taken in either copy; those of the one that has more"""
    if len(some) != len(others):
        return max(some, others, key=len)
    return [a or b for a, b in zip(some, others)]


class Line:
    """What is known of one line of a source"""

    def __init__(self):
        self.count = 0
        self.functions = set()
        self.branches = []
        self.own_branches = []

    def add(self, line):
        """Adds one of gcov's records of the line"""
        self.count += line["count"]
        self.functions.add(line.get("function_name", ""))
        self.branches = merged(self.branches, taken(line))

    def add_sanitized(self, line):
        """Adds one of gcov's records from a build with sanitizers"""
        if line.get("function_name", "") not in self.functions:
            return
        self.count += line["count"]
        if len(line["branches"]) == len(self.branches):
            self.branches = merged(self.branches, taken(line))

    def add_native(self, line):
        """Adds one of gcov's records from the simulation"""
        if line.get("function_name", "") not in self.functions:
            return
        branches = taken(line)
        self.count += line["count"]
        self.own_branches = merged(self.own_branches, branches)
        if len(branches) == len(self.branches):
            self.branches = merged(self.branches, branches)


def gcov(directory):
    """Yields what gcov knows of each source of each object in a directory."""
    data = sorted(path for path in directory.rglob("*.gcda")
                  if path.parent.name in ROOMS or path.name == "hwtimer_main.gcda")
    if not data:
        sys.exit(f"coverage.py: no counters in {directory}")
    output = subprocess.run(
        ["gcov", "--json-format", "--branch-probabilities", "--stdout",
         *(str(path.relative_to(directory)) for path in data)],
        cwd=directory, check=True, stdout=subprocess.PIPE).stdout
    for document in output.splitlines():
        if document:
            yield from json.loads(document)["files"]


def own_name(path):
    """Returns the name of a file of the module, from the root of the sources, or None."""
    if path.parent.name in ROOMS:
        return f"{path.parent.name}/{path.name}"
    own = "include" not in path.parts and (ROOT / path.name).exists()
    return path.name if own else None


def own_lines(directory):
    """Yields the name of the file, and gcov's record, of each line of the module."""
    for source in gcov(pathlib.Path(directory)):
        name = own_name(pathlib.PurePath(source["file"]))
        if name and name not in LEFT_OUT:
            for line in source["lines"]:
                yield name, line


def read_builds(directories, native, sanitized):
    """Returns the lines of all builds: file name -> number -> Line"""
    files = collections.defaultdict(lambda: collections.defaultdict(Line))
    for directory in directories:
        for name, line in own_lines(directory):
            files[name][line["line_number"]].add(line)
    for directory in sanitized:
        for name, line in own_lines(directory):
            if line["line_number"] in files[name]:
                files[name][line["line_number"]].add_sanitized(line)
    for directory in native:
        for name, line in own_lines(directory):
            if line["line_number"] in files[name]:
                files[name][line["line_number"]].add_native(line)
    return files


class ExceptionRule:
    """A line that need not run: its file, a function, its text, and the reason"""

    def __init__(self, name, function, text):
        self.name, self.function, self.text = name, function, text
        self.reason = ""

    def __str__(self):
        return f"{self.name} {self.function}: {self.text}"

    def covers(self, name, line, text):
        """Whether the exception is about this line"""
        return (name == self.name and text == self.text
                and self.function in line.functions)


def read_exceptions(path):
    """Reads the file of exceptions; its head says what is in it."""
    rules = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        if text.startswith("\t"):
            if not rules:
                raise Wrong(f"{path}:{number}: a reason without a line")
            rules[-1].reason += text
            continue
        match = re.fullmatch(r"(\S+) (\w+): (\S.*)", text)
        if not match:
            raise Wrong(f"{path}:{number}: neither a line nor a reason")
        rules.append(ExceptionRule(*match.groups()))
    for rule in rules:
        if not rule.reason:
            raise Wrong(f"{path}: no reason for {rule}")
    return rules


class Report:
    """Compares what has run with what should have, and counts the results"""

    def __init__(self, files, sources, rules):
        self.files = files
        self.sources = sources
        self.rules = rules
        self.never = []    # lines that should have run
        self.untaken = []  # branches that were not taken
        self.used = {}     # exception -> whether all of its lines never ran
        self.rows = []

    def look(self):
        """Looks at all files."""
        for name in sorted(self.files):
            self.look_at(name)

    def look_at(self, name):
        """Looks at all lines of a file, and counts them."""
        lines = run = branches = chosen = 0
        for number, line in sorted(self.files[name].items()):
            text = self.sources[name][number - 1].strip()
            excepted = self.is_excepted(name, line, text)
            if not excepted:
                lines += 1
                run += line.count > 0
                if not line.count:
                    self.never.append(self.describe(name, number, line))
            if excepted or KERNEL_MACROS.search(text):
                continue
            own = line.own_branches if HELPER_MACROS.search(text) else line.branches
            branches += len(own)
            chosen += sum(own)
            if not all(own):
                ways = "".join("+" if way else "-" for way in own)
                self.untaken.append(
                    f"{self.describe(name, number, line)}\t[{ways}]")
        self.rows.append((name, run, lines, chosen, branches))

    def is_excepted(self, name, line, text):
        """Whether the line is in the file of exceptions"""
        for rule in self.rules:
            if rule.covers(name, line, text):
                self.used[rule] = self.used.get(rule, True) and not line.count
                return True
        return False

    def describe(self, name, number, line):
        """A line, as the file of exceptions names it, with its number"""
        text = self.sources[name][number - 1].strip()
        return f"{number:5} {name} {min(line.functions)}: {text}"

    def total(self):
        """The sums of all rows"""
        return [sum(row[i] for row in self.rows) for i in range(1, 5)]

    def print_table(self):
        """Prints a row for each file, and the sums."""
        print(f"# {'file':25} {'lines':>17} {'branches':>17}")
        for name, *numbers in [*self.rows, ("all", *self.total())]:
            run, lines, taken, branches = numbers
            print(f"# {name:25} {run:5}/{lines:<4} {percent(run, lines):5.1f}%"
                  f" {taken:5}/{branches:<4} {percent(taken, branches):5.1f}%")


def percent(part, whole):
    """A part of nothing is all of it."""
    return 100 * part / whole if whole else 100.0


class Tap:
    """Prints the results"""

    def __init__(self):
        self.number = 0
        self.failed = False

    def check(self, name, problems):
        """A line of TAP, after the problems that make it fail"""
        self.number += 1
        self.failed = self.failed or bool(problems)
        for problem in problems:
            print(f"#   {problem}")
        print(f"{'not ok' if problems else 'ok'} {self.number} {name}")


def main():
    """Reads the counters, prints the report, and judges."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--exceptions", type=pathlib.Path, required=True)
    parser.add_argument("--branches", type=float, required=True)
    parser.add_argument("--list", type=pathlib.Path, required=True)
    parser.add_argument("--native", action="append", default=[])
    parser.add_argument("--sanitized", action="append", default=[])
    parser.add_argument("directories", nargs="+")
    options = parser.parse_args()

    rules = read_exceptions(options.exceptions)
    files = read_builds(options.directories, options.native, options.sanitized)
    top = pathlib.Path(options.directories[0])
    sources = {name: (top / name).read_text().splitlines() for name in files}
    report = Report(files, sources, rules)
    report.look()
    report.print_table()
    options.list.write_text("".join(f"{way}\n" for way in report.untaken))

    taken, branches = report.total()[2:]
    share = percent(taken, branches)
    few = [] if share >= options.branches else [
        f"{taken} of {branches} branches, {share:.1f}%: see {options.list}"]
    tap = Tap()
    tap.check(f"each line runs, or is one of {len(rules)} exceptions",
              report.never)
    tap.check("each exception names a line",
              [rule for rule in rules if rule not in report.used])
    tap.check("no exception has run",
              [rule for rule in rules if not report.used.get(rule, True)])
    tap.check(f"{options.branches:g}% of the branches are taken", few)
    print(f"1..{tap.number}")
    return tap.failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as error:
        sys.exit(f"coverage.py: {error}")
