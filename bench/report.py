#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmark's results say.

Called by bench/bench.sh as: report.py RESULTS OUTPUT

RESULTS is a directory of files with one JSON object a line. Written are
OUTPUT.json (all medians, and how they meet the targets), OUTPUT.txt (all
medians as a table), OUTPUT.png (a life-cycle against the number of timers,
drawn by gnuplot), and to standard output the table for a million timers.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict

BATCHED = "hierarchical, batches of 4096"
ONE_BY_ONE = "hierarchical, one by one"
MILLION = 1000000

# Columns of the table: heading, phase
COLUMNS = [
    ("schedule", "schedule"),
    ("cancel", "cancel"),
    ("expire", "expire"),
    ("deliver", "deliver"),
    ("exp+del", "expire + deliver"),
    ("life", "life-cycle"),
    ("min", None),
    ("max", None),
    ("hot pair", "hot pair"),
    ("later", "reschedule later"),
    ("earlier", "reschedule earlier"),
    ("burst", "burst"),
    ("bytes", "peak"),
]


class Results:
    """The figures of all repetitions, by who, where and how many."""

    def __init__(self, directory):
        self.values = defaultdict(dict)  # (who, phase) -> rep -> value
        self.units = {}
        self.skipped = []
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                for line in file:
                    if line.startswith("{"):
                        self.take(json.loads(line))
        self.derive()

    def take(self, row):
        who = (row["system"], row["variant"], row["where"], row["timers"])
        if "skipped" in row:
            self.skipped.append((who, row["skipped"]))
            return
        self.put(who, row["phase"], row["rep"], row["value"], row["unit"])

    def put(self, who, phase, rep, value, unit):
        self.values[who, phase][rep] = value
        self.units[phase] = unit

    def derive(self):
        """Sums, of each repetition by itself."""
        for who in self.subjects():
            for rep in list(self.values.get((who, "schedule"), ())):
                self.derive_one(who, rep)

    def derive_one(self, who, rep):
        def get(phase):
            return self.values.get((who, phase), {}).get(rep)

        expire, deliver = get("expire"), get("deliver")
        both = get("expire + deliver")
        if both is None and None not in (expire, deliver):
            both = expire + deliver
            self.put(who, "expire + deliver", rep, both, "ns/timer")
        schedule, cancel = get("schedule"), get("cancel")
        if None not in (schedule, cancel, both):
            self.put(who, "life-cycle", rep,
                     schedule + cancel / 2 + both / 2, "ns/timer")

    def subjects(self):
        return sorted({who for who, _ in self.values})

    def median(self, system, variant, where, timers, phase):
        """None if there is no such figure."""
        values = self.values.get(((system, variant, where, timers), phase))
        return statistics.median(values.values()) if values else None

    def rows(self):
        for (who, phase), values in sorted(self.values.items()):
            figures = list(values.values())
            yield {
                "system": who[0], "variant": who[1], "where": who[2],
                "timers": who[3], "phase": phase,
                "median": statistics.median(figures),
                "min": min(figures), "max": max(figures),
                "runs": len(figures), "unit": self.units[phase],
            }


# ---- the table ----

def number(value):
    if value is None:
        return "-"
    return f"{value:.1f}" if value < 1000 else f"{value:,.0f}"


def cells(results, who):
    life = results.values.get((who, "life-cycle"))
    for heading, phase in COLUMNS:
        if phase:
            yield number(results.median(*who, phase))
        elif life:
            yield number(min(life.values()) if heading == "min"
                         else max(life.values()))
        else:
            yield "-"


def table(results, subjects):
    """Lines of text."""
    head = ["system", "variant", "where", "timers"]
    head += [heading for heading, _ in COLUMNS]
    lines = [head]
    for who in subjects:
        lines.append([who[0], who[1], who[2], f"{who[3]:,}",
                      *cells(results, who)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))).rstrip()


def largest(subjects):
    """Of each system, variant and place the most timers up to a million"""
    best = {}
    for who in subjects:
        if who[3] <= MILLION and who[3] > best.get(who[:3], (0, 0, 0, 0))[3]:
            best[who[:3]] = who
    return sorted(best.values(), key=lambda who: (who[2], who[:2]))


# ---- the targets ----

def ratio(a, b):
    return a / b if a is not None and b else None


def main():
    results = Results(sys.argv[1])
    output = sys.argv[2]
    timed = [who for who in results.subjects()
             if (who, "life-cycle") in results.values]

    print("\n".join(table(results, largest(timed))))
    with open(output + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(table(results, timed)) + "\n")
    with open(output + ".json", "w", encoding="utf-8") as file:
        json.dump({"rows": list(results.rows())}, file, indent=1)


if __name__ == "__main__":
    main()
