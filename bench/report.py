#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reports the benchmark's results.

bench/bench.sh calls it as: report.py RESULTS OUTPUT

RESULTS is a directory of files with one JSON object per line. The program writes
OUTPUT.json (all medians, and how they meet the targets), OUTPUT.txt (all medians as a
table) and OUTPUT.png (the life-cycle against the number of timers, drawn by gnuplot).
To standard output it prints the table for a million timers and the targets.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict

BULKS = "hierarchical, bulks of 4096"
REQUESTS = "hierarchical, batches of 4096"
RINGS = "hierarchical, rings"
MILLION = 1000000

LIFE = "life-cycle"
# For places where work in interrupts cannot be timed
AT_LEAST = "life-cycle, expiry not counted"

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
    """The figures of all repetitions, by subject: the system, the variant, the place
    and the number of timers."""

    def __init__(self, directory):
        # (subject, phase) -> (repetition, turn) -> value
        self.values = defaultdict(dict)
        self.units = {}
        self.skipped = []
        for name in sorted(os.listdir(directory)):
            if name.endswith(".part"):
                continue  # its program failed, or still runs
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
        when = row["rep"], row.get("turn", 0)
        self.put(who, row["phase"], when, row["value"], row["unit"])

    def put(self, who, phase, when, value, unit):
        self.values[who, phase][when] = value
        self.units[phase] = unit

    def derive(self):
        """Adds the sums of phases, separately for each run."""
        for who in self.subjects():
            for when in list(self.values.get((who, "schedule"), ())):
                self.derive_one(who, when)

    def derive_one(self, who, when):
        def get(phase):
            return self.values.get((who, phase), {}).get(when)

        expire, deliver = get("expire"), get("deliver")
        both = get("expire + deliver")
        if both is None and None not in (expire, deliver):
            both = expire + deliver
            self.put(who, "expire + deliver", when, both, "ns/timer")
        schedule, cancel = get("schedule"), get("cancel")
        if None in (schedule, cancel):
            return
        if both is not None:
            self.put(who, LIFE, when, schedule + cancel / 2 + both / 2,
                     "ns/timer")
        elif deliver is not None:
            self.put(who, AT_LEAST, when, schedule + cancel / 2 + deliver / 2,
                     "ns/timer")

    def subjects(self):
        return sorted({who for who, _ in self.values})

    def median(self, system, variant, where, timers, phase):
        """Returns None if the figure does not exist."""
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
    life = results.values.get((who, LIFE))
    for heading, phase in COLUMNS:
        if phase == LIFE and not life:
            yield ">" + number(results.median(*who, AT_LEAST))
        elif phase:
            yield number(results.median(*who, phase))
        elif life:
            yield number(min(life.values()) if heading == "min"
                         else max(life.values()))
        else:
            yield "-"


def table(results, subjects):
    """Yields the lines of the table."""
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
    """Returns, for each system, variant and place, the subject with the most timers up
    to a million."""
    best = {}
    for who in subjects:
        if who[3] <= MILLION and who[3] > best.get(who[:3], (0, 0, 0, 0))[3]:
            best[who[:3]] = who
    return sorted(best.values(), key=lambda who: (who[2], who[:2]))


# ---- the targets ----

def by_repetition(values):
    """Returns the median of each repetition."""
    runs = defaultdict(list)
    for (rep, _), value in values.items():
        runs[rep].append(value)
    return {rep: statistics.median(figures) for rep, figures in runs.items()}


def singly(values):
    """Converts figures by repetition to figures by repetition and turn."""
    return {(rep, 0): value for rep, value in values.items()}


def neighbours(ours, theirs):
    """Returns pairs of figures that were measured next to each other."""
    turns = [when for when in ours if when in theirs and when[1]]
    if not turns:
        ours, theirs = by_repetition(ours), by_repetition(theirs)
        turns = [rep for rep in ours if theirs.get(rep)]
    return [(ours[when], theirs[when]) for when in turns]


class Targets:
    """The table of targets, each with the value that was measured.

    A ratio is the median of the ratios of neighbouring runs, because a disturbance of the
    machine affects both of them. Neighbours are runs that took turns if such runs exist,
    otherwise runs of the same repetition. `where` is the place where the module ran,
    `beside` the place where user space ran at the same time.
    """

    def __init__(self, results, where, beside):
        self.results = results
        self.where = where
        self.beside = beside
        self.list = []

    def values(self, system, variant, where, timers, phase):
        """Returns the figures of a phase by repetition and turn."""
        who = (system, variant, where, timers)
        return self.results.values.get((who, phase), {})

    def ours(self, phase, timers=MILLION, variant=BULKS):
        return self.values("hwtimer", variant, self.where, timers, phase)

    def best(self, system, phase, where):
        """Returns the figures and the name of a system's cheapest variant. Each variant
        counts with its largest number of timers up to a million."""
        found = [(statistics.median(values.values()), who, values)
                 for (who, its), values in self.results.values.items()
                 if its == phase and who in largest_of(self.results, phase)
                 and who[0] == system and who[2] == where]
        if not found:
            return {}, ""
        _, who, values = min(found, key=lambda item: item[0])
        return values, f"{who[0]}, {who[1]}, {who[3]:,} timers, {who[2]}"

    def add(self, name, bound, value, reason="", at_least=False, detail=""):
        target = {"name": name, "value": value, "bound": bound,
                  "at_least": at_least}
        if value is None:
            target["met"] = None
            target["reason"] = reason or "not measured in this run"
        else:
            target["met"] = value >= bound if at_least else value <= bound
        if detail:
            target["detail"] = detail
        self.list.append(target)

    def add_ratio(self, name, bound, ours, theirs, **more):
        self.add(name, bound, self.ratio(ours, theirs), **more)

    @staticmethod
    def ratio(ours, theirs):
        both = [our / their for our, their in neighbours(ours, theirs)]
        return statistics.median(both) if both else None

    def collect(self):
        self.add_life_cycles()
        self.add_sizes()
        self.add_extras()
        self.add_rings()
        return self.list

    def add_life_cycles(self):
        life = self.ours("life-cycle")
        self.add_ratio("life-cycle against the floor", 2.0, life,
                       self.values("floor", "vectors", self.beside, MILLION,
                                   "life-cycle"), detail=self.other_lives(life))
        for rival in ("libuv", "libevent"):
            self.add_ratio(f"life-cycle against {rival}", 1 / 10, life,
                           self.values(rival, "heap", self.beside, MILLION,
                                       "life-cycle"))
        theirs, who = self.best("timerfd", LIFE, self.where)
        if not theirs:
            theirs, who = self.best("timerfd", AT_LEAST, self.where)
            who = f"{who}; its expiry is not counted" if who else ""
        self.add_ratio("life-cycle against timerfd + epoll, same kernel",
                       1 / 50, life, theirs, detail=who)
        self.add_ratio("expire + deliver against the floor's lists", 1 / 2,
                       self.ours("expire + deliver"),
                       self.values("floor-list", "lists", self.beside, MILLION,
                                   "expire + deliver"))

    def other_lives(self, life):
        """Describes the spread of the turns, and the ratios with requests instead of
        bulks and against the floor in the module's own place, where it may be slower."""
        def floor(where):
            return self.values("floor", "vectors", where, MILLION, LIFE)

        ratios = [("by requests", self.ratio(self.ours(LIFE, variant=REQUESTS),
                                             floor(self.beside)))]
        if self.where != self.beside:
            ratios.append((f"against the floor in {self.where}",
                           self.ratio(life, floor(self.where))))
        texts = [f"{what}: {ratio:.2f}" for what, ratio in ratios if ratio]
        pairs = [our / their for our, their in
                 neighbours(life, floor(self.beside))]
        if pairs:
            texts.insert(0, f"{len(pairs)} pairs, {min(pairs):.2f} to "
                            f"{max(pairs):.2f}")
        return "; ".join(texts)

    def add_sizes(self):
        worst = None
        for phase in ("schedule", "cancel", "expire", "deliver"):
            ratio = self.ratio(self.ours(phase, 10 * MILLION),
                               self.ours(phase))
            if ratio and (worst is None or ratio > worst[0]):
                worst = (ratio, phase)
        self.add("10M timers against 1M, the worst phase", 1.5,
                 worst[0] if worst else None,
                 detail=worst[1] if worst else "")
        peak = self.ours("peak")
        self.add("kernel bytes per pending timer, 1M one-shot", 48,
                 max(peak.values()) if peak else None)

    def add_extras(self):
        self.add_dead()
        self.add_wait()
        self.add_ratio("two producers against one", 1.8,
                       self.ours("two producers", 1),
                       self.ours("one producer", 1), at_least=True,
                       detail=self.floor_producers())
        for where in dict.fromkeys((self.where, "qemu")):
            self.add_single(where)

    def add_single(self, where):
        ours, theirs = (self.values("hwtimer", BULKS, where, 1, phase)
                        for phase in ("one SCHEDULE", "one settime"))
        if ours:
            self.add_ratio(f"one SCHEDULE against one settime, {where}", 1.0,
                           ours, theirs)

    def add_rings(self):
        """Adds the program's own costs while the worker has another processor, and
        the costs of both on one processor."""
        def floor(phase):
            return self.values("floor", "vectors", self.beside, MILLION, phase)

        def rings(phase):
            return self.ours(phase, variant=RINGS)

        def part(phase):
            return by_repetition(
                self.ours(f"ring, the program's part of {phase}"))

        def more(ours, theirs):
            both = [our - their for our, their in neighbours(ours, theirs)]
            return statistics.median(both) if both else None

        schedule, cancel, deliver = (
            part(phase) for phase in ("schedule", "cancel", "deliver"))
        life = {rep: schedule[rep] + cancel[rep] / 2 + deliver[rep] / 2
                for rep in schedule if rep in cancel and rep in deliver}
        self.add_part("life-cycle", 1.5, life, floor(LIFE))
        self.add_part("schedule", 1.3, schedule, floor("schedule"))
        self.add("rings, the program's part: deliver, ns more than the floor",
                 10, more(singly(deliver), floor("deliver")))
        self.add_ratio("rings, both ends on one processor: life-cycle", 1.5,
                       rings(LIFE), floor(LIFE))
        self.add_ratio("rings, both ends on one processor: schedule", 1.3,
                       rings("schedule"), floor("schedule"))
        self.add("rings, both ends on one processor: deliver, ns more", 10,
                 more(rings("deliver"), floor("deliver")))

    def add_part(self, name, bound, values, theirs):
        detail = ""
        if values:
            detail = f"{statistics.median(values.values()):.1f} ns"
        self.add_ratio(f"rings, the program's part: {name} against the floor",
                       bound, singly(values), theirs, detail=detail)

    def floor_producers(self):
        ratio = self.ratio(
            self.values("floor", "vectors", self.where, 1, "two producers"),
            self.values("floor", "vectors", self.where, 1, "one producer"))
        return f"the floor, which shares nothing: {ratio:.2f}" if ratio else ""

    def add_dead(self):
        pairs = [who[3] for (who, phase) in self.results.values
                 if phase == "dead entries at the most"
                 and who[2] == self.where]
        if not pairs:
            self.add("dead entries beyond the live", 65535, None)
            return
        dead = self.ours("dead entries at the most", max(pairs))
        self.add("dead entries beyond the live", 65535, max(dead.values()),
                 detail=f"after {max(pairs):,} pairs")

    def add_wait(self):
        """Adds the wait for the lock, as the kernel's tracer measured it."""
        phase = "lock wait in a burst, longest"
        crowds = [(who[2] == self.where, who[2], who[3])
                  for (who, its) in self.results.values if its == phase]
        name = "longest wait for the lock in a burst, in expirations"
        if not crowds:
            self.add(name, 256, None)
            return
        _, where, crowd = max(crowds)
        who = ("hwtimer", BULKS, where, crowd)
        each = self.results.values[who, "burst, the last is late"]

        def in_expirations(phase):
            waits = self.results.values[who, phase]
            return statistics.median(waits[when] / (each[when] / crowd)
                                     for when in waits)

        count = sum(self.results.values[who, "lock waits in a burst"].values())
        usual = in_expirations("lock wait in a burst, 99 of 100")
        self.add(name, 256, in_expirations(phase),
                 detail=f"{where}, crowd {crowd:,}, {count:,.0f} waits; "
                        f"99 of 100: {usual:.0f}")


def largest_of(results, phase):
    return set(largest([who for who, its in results.values if its == phase]))


def print_targets(targets):
    verdicts = {True: "met", False: "not met", None: "not measured"}
    print()
    for target in targets:
        value = target["value"]
        sign = ">=" if target["at_least"] else "<="
        more = target.get("detail") or target.get("reason") or ""
        print(f"{target['name']:<54} "
              f"{'-' if value is None else format(value, '.3g'):>9} "
              f"{sign} {target['bound']:<8.4g} "
              f"{verdicts[target['met']]}{'; ' + more if more else ''}")


# ---- owners ----

# How the names of the phases begin that say what workers of owners cost
OWNERS = ("start", "one instance", "64 instances", "1000 instances",
          "4096 instances")


def print_owners(results):
    """Prints what it costs that each owner has a worker of its own."""
    print()
    for row in results.rows():
        if row["phase"].startswith(OWNERS):
            print(f"{row['phase']:<45} {row['where']:<5} "
                  f"{number(row['median']):>12} {row['unit']}")


# ---- the plot ----

def plot(results, output):
    """Draws the best variant of each system in each place: among the variants with the
    largest number of timers, the cheapest there."""
    lines = defaultdict(list)
    for (who, phase), values in results.values.items():
        if phase == "life-cycle":
            lines[who[:3]].append((who[3], statistics.median(values.values())))
    best = {}
    for who, points in lines.items():
        most, cost = max(points)
        key = (who[0], who[2])
        if key not in best or (-most, cost) < best[key][0]:
            best[key] = ((-most, cost), who, sorted(points))
    curves = sorted(best.values(), key=lambda curve: -curve[0][1])
    if not curves:
        return
    script = [
        "set terminal pngcairo size 1200,800 font 'sans,11'",
        f"set output '{output}'",
        "set logscale xy",
        "set title 'A timer's life: schedule + 1/2 cancel"
        " + 1/2 (expire + deliver)'".replace("r's", "r''s"),
        "set xlabel 'timers'",
        "set ylabel 'ns per timer'",
        "set xrange [800:12000000]",
        "set format x '10^{%L}'",
        "set grid",
        "set key outside right top",
    ]
    for i, (_, who, points) in enumerate(curves):
        script.append(f"$curve{i} << END")
        script += [f"{x} {y}" for x, y in points]
        script.append("END")
    script.append("plot " + ", ".join(
        f"$curve{i} with linespoints pointsize 1.2"
        f" linewidth {4 if who[0] == 'hwtimer' else 2}"
        f" title '{who[0]}, {who[2]}' noenhanced"
        for i, (_, who, _) in enumerate(curves)))
    subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)


def main():
    results = Results(sys.argv[1])
    output = sys.argv[2]
    timed = [who for who in results.subjects()
             if (who, LIFE) in results.values
             or (who, AT_LEAST) in results.values]
    places = {who[2] for who in timed if who[0] == "hwtimer"}
    where = next((p for p in ("this", "uml", "qemu") if p in places), "uml")
    beside = "host" if where == "uml" else where
    targets = Targets(results, where, beside).collect()

    print("\n".join(table(results, largest(timed))))
    print_targets(targets)
    print_owners(results)
    with open(output + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(table(results, timed)) + "\n")
    with open(output + ".json", "w", encoding="utf-8") as file:
        json.dump({"rows": list(results.rows()), "targets": targets}, file,
                  indent=1)
    plot(results, output + ".png")


if __name__ == "__main__":
    main()
