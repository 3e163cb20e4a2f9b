#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reports the results of the benchmark of timers in Redis.

user/daemon/bench/bench.sh calls it as: report.py RESULTS OUTPUT

RESULTS is a directory of files with one JSON object per line. The program writes
OUTPUT.json (all medians) and OUTPUT.txt (the table and the bounds), and prints the
latter.
"""

import json
import os
import statistics
import sys
from collections import defaultdict

# Columns of the table: heading, phase, decimals
COLUMNS = [
    ("schedule/s, single", "schedule, one per call", 0),
    ("batches of 100", "schedule, batches of 100", 0),
    ("fire/s", "fire", 0),
    ("at rate/s", "rate", 0),
    ("lateness p50 ms", "lateness, p50", 1),
    ("p99 ms", "lateness, p99", 1),
    ("bytes", "memory", 0),
    ("round trips", "round trips", 3),
    ("commands", "commands", 2),
    ("idle cmd/s", "idle", 1),
]

ROUND_TRIP = "one round trip"
TICK = 1.0  # ms


class Results:
    """The figures of all repetitions. A subject is a system, its variant and its place; each
    of its phases has a number of timers of its own."""

    def __init__(self, directory):
        # subject -> phase -> repetition -> value
        self.values = defaultdict(lambda: defaultdict(dict))
        self.timers = {}
        self.units = {}
        for name in sorted(os.listdir(directory)):
            if name.endswith(".part"):
                continue  # its program failed, or still runs
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                for line in file:
                    if line.startswith("{"):
                        self.take(json.loads(line))

    def take(self, row):
        subject = row["system"], row["variant"], row["where"]
        phase = row["phase"]
        self.values[subject][phase][row["rep"]] = row["value"]
        self.timers[subject, phase] = row["timers"]
        self.units[phase] = row["unit"]

    def median(self, subject, phase):
        """Returns None if the figure does not exist."""
        values = self.values.get(subject, {}).get(phase)
        return statistics.median(values.values()) if values else None

    def subjects(self):
        """hwtimerd first, then its rivals"""
        return sorted(self.values, key=lambda subject: (
            subject[0] != "hwtimerd", subject[0], subject[2], subject[1]))

    def rows(self):
        for subject in self.subjects():
            for phase, values in sorted(self.values[subject].items()):
                figures = list(values.values())
                yield {
                    "system": subject[0], "variant": subject[1],
                    "where": subject[2], "phase": phase,
                    "timers": self.timers[subject, phase],
                    "median": statistics.median(figures),
                    "min": min(figures), "max": max(figures),
                    "runs": len(figures), "unit": self.units[phase],
                }


# ---- the table ----

def number(value, decimals):
    return "-" if value is None else f"{value:,.{decimals}f}"


def table(results):
    """Yields the lines of the table."""
    lines = [["system", "variant", "where"] +
             [heading for heading, _, _ in COLUMNS]]
    for subject in results.subjects():
        lines.append(list(subject) + [
            number(results.median(subject, phase), decimals)
            for _, phase, decimals in COLUMNS])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))).rstrip()


def sizes(results):
    """Yields which figures are of how many timers."""
    by_size = defaultdict(set)
    for (subject, phase), timers in results.timers.items():
        for heading, its, _ in COLUMNS:
            if its == phase:
                by_size[heading, timers].add(subject[0])
    for heading, _, _ in COLUMNS:
        texts = [f"{timers:,} ({', '.join(sorted(systems))})"
                 for (its, timers), systems in sorted(by_size.items())
                 if its == heading]
        if texts and heading != "at rate/s":
            yield f"timers, {heading}: {'; '.join(texts)}"


# ---- the bounds ----

class Bounds:
    """The bounds that hwtimerd has to meet. A ratio is the median of the ratios within each
    repetition, because the machine's speed changes from one to the next."""

    def __init__(self, results):
        self.results = results
        self.lines = []

    def ratio(self, subject, phase, other, its_phase):
        ours = self.results.values.get(subject, {}).get(phase, {})
        theirs = self.results.values.get(other, {}).get(its_phase, {})
        ratios = [ours[rep] / theirs[rep] for rep in ours if theirs.get(rep)]
        return statistics.median(ratios) if ratios else None

    def add(self, name, bound, value, decimals, at_least=False, detail=""):
        if value is None:
            verdict, text = "not measured", "-"
        else:
            met = value >= bound if at_least else value <= bound
            verdict = "pass" if met else "MISS"
            text = number(value, decimals)
        sign = ">=" if at_least else "<="
        self.lines.append(
            [name, text, f"{sign} {number(bound, decimals)}", verdict, detail])

    def collect(self):
        host = ("hwtimerd", "", "host")
        self.add("bytes per timer against sorted set + hash", 0.7,
                 self.ratio(host, "memory", ("poller", "", "host"), "memory"), 2)
        for subject in self.results.subjects():
            if subject[0] == "hwtimerd" and subject[2] != "host":
                self.add_daemon(subject)
        return self.lines

    def add_daemon(self, subject):
        name = f"{subject[2]}, {subject[1]}: "
        median = self.results.median
        if median(subject, "round trips") is not None:
            self.add(name + "round trips per timer", 0.01,
                     median(subject, "round trips"), 4,
                     detail=f"at {median(subject, 'rate'):,.0f}/s")
            trip = median(subject, ROUND_TRIP) / 1000
            self.add(name + "lateness p99, ms", 2 * TICK + trip,
                     median(subject, "lateness, p99"), 2,
                     detail=f"2 ticks and one round trip of {trip:.2f} ms")
        if median(subject, "idle") is not None:
            self.add(name + "idle commands per second", 0,
                     median(subject, "idle"), 2,
                     detail=f"beside {median(subject, 'idle, leases and heartbeats'):.1f}"
                            " leases and heartbeats")


def functions_alone(directory):
    """The lines of redis.sh: name, figure, and for some bound and ratio, and "missed" """
    path = os.path.join(directory, "functions")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if line.startswith(("#", "name\t")) or len(cells) < 4:
                continue
            name, figure, bound, ratio, *missed = cells
            verdict = "" if not bound else "MISS" if missed else "pass"
            yield [name, ratio or figure, bound, verdict, figure if ratio else ""]


def bounds(results, directory):
    lines = [["bound", "value", "limit", "verdict", ""]]
    lines += functions_alone(directory)
    lines += Bounds(results).collect()
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        yield "  ".join(cell.ljust(width)
                        for cell, width in zip(line, widths)).rstrip()


def main():
    directory, output = sys.argv[1:]
    results = Results(directory)
    lines = [*table(results), "", *sizes(results), "", *bounds(results, directory)]
    text = "\n".join(lines) + "\n"
    with open(output + ".json", "w", encoding="utf-8") as file:
        json.dump(list(results.rows()), file, indent="\t")
        file.write("\n")
    with open(output + ".txt", "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")


main()
