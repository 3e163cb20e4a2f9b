#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reports the benchmark's results.

bench/bench.sh calls it as: report.py RESULTS OUTPUT

RESULTS is a directory of files with one JSON object per line. The program writes
OUTPUT.json (the machine, all medians, and how they meet the targets), OUTPUT.txt (all
medians as a table) and OUTPUT.png (the life-cycle of some of them against the number of timers,
drawn by gnuplot). To standard output it prints the machine, the table for a million timers, the
curve from 1,000 to 10,000,000 and the targets.
"""

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict

BULKS = "bulks of 4096"
REQUESTS = "batches of 4096"
SINGLE = "one by one"
MILLION = 1000000

LIFE = "life-cycle"
# For places where work in interrupts cannot be timed
AT_LEAST = "life-cycle, expiry not counted"
PHASES = ("schedule", "cancel", "expire + deliver")
# The names of these numbers of timers in bulks
BATCHES = (1, 4, 16, 64, 256, 4096)

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
        self.machine = {}
        for name in sorted(os.listdir(directory)):
            if name.endswith(".part"):
                continue  # its program failed, or still runs
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                for line in file:
                    if line.startswith("{"):
                        self.take(json.loads(line))
        self.derive()

    def take(self, row):
        if "machine" in row:
            self.machine = row["machine"]
            return
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


def neighbours(ours, theirs):
    """Returns pairs of figures that were measured next to each other."""
    turns = [when for when in ours if when in theirs and when[1]]
    if not turns:
        ours, theirs = by_repetition(ours), by_repetition(theirs)
        turns = [rep for rep in ours if theirs.get(rep)]
    return [(ours[when], theirs[when]) for when in turns]


def worst(found):
    """Returns the greatest of pairs (value, what it is of), or (None, "")."""
    return max((pair for pair in found if pair[0] is not None),
               default=(None, ""))


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

    def ours(self, phase, timers=MILLION, variant=BULKS, where=None):
        return self.values("hwtimer", variant, where or self.where, timers,
                           phase)

    def floor(self, where, timers=MILLION, phase=LIFE):
        return self.values("floor", "vectors", where, timers, phase)

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

    def add(self, name, bound, value, at_least=False, detail=""):
        target = {"name": name, "value": value, "bound": bound,
                  "at_least": at_least, "detail": detail}
        if value is None:
            target["met"] = None
            target["detail"] = "not measured in this run"
        else:
            target["met"] = value >= bound if at_least else value <= bound
        self.list.append(target)

    def add_ratio(self, name, bound, ours, theirs, detail=""):
        """The detail says how many pairs there were, and how far apart they were."""
        ratios = [our / their for our, their in neighbours(ours, theirs)]
        if ratios:
            spread = f"{len(ratios)} pairs, {min(ratios):.2f} to {max(ratios):.2f}"
            detail = f"{spread}; {detail}" if detail else spread
        self.add(name, bound, self.ratio(ours, theirs), detail=detail)

    @staticmethod
    def ratio(ours, theirs):
        both = [our / their for our, their in neighbours(ours, theirs)]
        return statistics.median(both) if both else None

    def collect(self):
        self.add_core()
        self.add_life_cycles()
        self.add_sizes()
        self.add_batches()
        self.add_threads()
        self.add_bytes()
        self.add_rivals()
        self.add_server()
        self.add_dead()
        return self.list

    # ---- beside the floor ----

    def add_core(self):
        for timers, bound in ((10000, 2.5), (100000, 1.7), (MILLION, 1.5),
                              (10 * MILLION, 1.8)):
            self.add_ratio(f"life-cycle / floor, core, {timers:,}", bound,
                           self.ours(LIFE, timers, where="core"),
                           self.floor("core", timers),
                           detail=self.counted(timers))
        self.add_ratio("SUBMIT / floor, core, 1,000,000", 2.0,
                       self.ours(LIFE, variant=REQUESTS, where="core"),
                       self.floor("core"))

    def counted(self, timers):
        """Describes the same ratio in instructions."""
        ratio = self.ratio(self.ours(LIFE, timers, "bulks", "counts"),
                           self.floor("counts", timers))
        return f"by instructions {ratio:.2f}" if ratio else ""

    def add_life_cycles(self):
        """The floor runs natively, the module where it can."""
        life = self.ours(LIFE)
        more = ""
        if self.where != self.beside:
            ratio = self.ratio(life, self.floor(self.where))
            more = f"floor in {self.where}: {ratio:.2f}" if ratio else ""
        self.add_ratio(f"life-cycle / floor, {self.where}, 1,000,000", 1.7,
                       life, self.floor(self.beside), detail=more)

    def add_sizes(self):
        for where in dict.fromkeys(("core", self.where)):
            value, phase = worst(
                (self.ratio(self.ours(phase, 10 * MILLION, where=where),
                            self.ours(phase, where=where)), phase)
                for phase in PHASES)
            self.add(f"any phase, 10,000,000 / 1,000,000, {where}", 1.5, value,
                     detail=phase)

    # ---- calls ----

    def add_batches(self):
        push = self.ours("push", 1000, "timer objects", "counts")
        self.add("pushing a timeout out, instructions", 15,
                 statistics.median(push.values()) if push else None)
        four, one = "bulks of 4", SINGLE
        value, what = worst(
            (self.ratio(self.ours(phase, 10000, four),
                        self.ours(phase, 10000, one)), phase)
            for phase in ("schedule", "cancel"))
        self.add(f"BULK of 4 / four single calls, {self.where}, 10,000", 0.5,
                 value, detail=what)
        self.add_ratio("one SCHEDULE / one settime, instructions", 1.0,
                       self.ours("one SCHEDULE", 1, where="instructions"),
                       self.ours("one settime", 1, where="instructions"))

    def add_threads(self):
        """The worst size of bulks counts."""
        for where, instances, bound in (("core", "an instance each", 1.95),
                                        (self.where, "one instance", 0.7)):
            found = []
            for batch in BATCHES:
                values = self.ours(f"two threads, {instances}, against one",
                                   1, f"bulks of {batch}", where)
                if values:
                    found.append((statistics.median(values.values()), batch))
            value, batch = min(found, default=(None, 0))
            self.add(f"two threads, {instances} / one thread, {where}", bound,
                     value, at_least=True,
                     detail=f"bulks of {batch}; what limits it is in "
                            "performance.md, Two threads on one instance")

    # ---- memory ----

    def add_bytes(self):
        peak = self.ours("peak")
        self.add("bytes a pending timer, 1,000,000", 48,
                 max(peak.values()) if peak else None)
        small = self.ours("64 instances, bytes each by STATS", 1)
        self.add("bytes of an instance with 4 timers", 16 * 1024,
                 max(small.values()) if small else None)

    def add_dead(self):
        pairs = [who[3] for (who, phase) in self.results.values
                 if phase == "dead entries at the most"
                 and who[2] == self.where]
        dead = self.ours("dead entries at the most", max(pairs, default=0))
        self.add("dead entries beyond the live", 65535,
                 max(dead.values(), default=None),
                 detail=f"after {max(pairs, default=0):,} pairs")

    # ---- rivals ----

    def add_rivals(self):
        life = self.ours(LIFE)
        for rival, variant in (("libuv", "heap"), ("libevent", "heap"),
                               ("netty", None)):
            values = self.values(rival, variant, self.beside, MILLION, LIFE) \
                if variant else self.best(rival, LIFE, self.beside)[0]
            self.add_ratio(f"life-cycle / {rival}, 1,000,000", 1 / 10, life,
                           values)
        theirs, who = self.best("timerfd", LIFE, self.where)
        if not theirs:
            theirs, who = self.best("timerfd", AT_LEAST, self.where)
            who = f"{who}; its expiry is not counted" if who else ""
        self.add_ratio("life-cycle / timerfd + epoll, same kernel", 1 / 50, life,
                       theirs, detail=who)
        self.add_ratio("expire + deliver / wheel of lists", 1 / 2,
                       self.ours("expire + deliver"),
                       self.values("floor-list", "lists", self.beside, MILLION,
                                   "expire + deliver"))

    # ---- the server ----

    def add_server(self):
        values = self.values("hwtimer", "server, paced", self.where, 10000,
                             "calls for timers")
        self.add("system calls for timers a request, 10,000 connections", 0.01,
                 max(values.values(), default=None),
                 detail="a request a second each, timeouts of 30 s")


def largest_of(results, phase):
    return set(largest([who for who, its in results.values if its == phase]))


def print_targets(targets):
    verdicts = {True: "met", False: "not met", None: "not measured"}
    print()
    for target in targets:
        value = target["value"]
        sign = ">=" if target["at_least"] else "<="
        more = target["detail"]
        print(f"{target['name']:<66} "
              f"{'-' if value is None else format(value, '.4g'):>9} "
              f"{sign} {target['bound']:<8.4g} "
              f"{verdicts[target['met']]}{'; ' + more if more else ''}")


# ---- many instances ----

# How the names of the phases begin that say what many instances cost
INSTANCES = ("64 instances", "1000 instances", "4096 instances")


def print_instances(results):
    """Prints what many instances cost."""
    print()
    for row in results.rows():
        if row["phase"].startswith(INSTANCES):
            print(f"{row['phase']:<45} {row['where']:<5} "
                  f"{number(row['median']):>12} {row['unit']}")


# ---- the curve ----

# What the plot and the curve show: title, system, its variant, where it runs. Of a system
# without a variant, the cheapest with the most timers. MODULE is where the module is
# loaded, BESIDE where user space ran natively at the same time.
MODULE, BESIDE = "module", "beside"
CURVES = [
    ("hwtimer, bulks of 4,096", "hwtimer", BULKS, MODULE),
    ("hwtimer, bulks of 64", "hwtimer", "bulks of 64", MODULE),
    ("hwtimer, one call a timer", "hwtimer", SINGLE, MODULE),
    ("hwtimer's core, bulks of 4,096", "hwtimer", BULKS, "core"),
    ("hwtimer's core, one call a timer", "hwtimer", SINGLE, "core"),
    ("the floor: a bare wheel in the program", "floor", "vectors", BESIDE),
    ("libevent", "libevent", None, BESIDE),
    ("libuv", "libuv", None, BESIDE),
    ("Netty's HashedWheelTimer", "netty", None, BESIDE),
    ("timerfd + epoll", "timerfd", None, BESIDE),
]


def curves(results, where, beside):
    """Yields a title and a dictionary, timers: ns, for each of CURVES that was
    measured."""
    places = {MODULE: where, BESIDE: beside}
    for title, system, variant, place in CURVES:
        place = places.get(place, place)
        found = defaultdict(dict)
        for (who, phase), values in results.values.items():
            if phase == LIFE and (who[0], who[2]) == (system, place) \
                    and variant in (None, who[1]):
                found[who[1]][who[3]] = statistics.median(values.values())
        if found:
            points = min(found.values(),
                         key=lambda curve: (-max(curve), curve[max(curve)]))
            yield title, dict(sorted(points.items()))


def print_curves(found):
    sizes = sorted({timers for _, points in found for timers in points
                    if str(timers).strip("0") == "1"})
    print("\nlife-cycle, ns a timer")
    print(f"{'':<40}" + "".join(f"{timers:>12,}" for timers in sizes))
    for title, points in found:
        print(f"{title:<40}" + "".join(
            f"{number(points.get(timers)):>12}" for timers in sizes))


# What the plot shows of these: title, label at the line's end, colour, width. A plot that
# shows more tells less.
PLOTTED = [
    ("hwtimer's core, bulks of 4,096", "{/:Bold hwtimer's core}", "#0b4fd0", 5),
    ("the floor: a bare wheel in the program", "a bare wheel", "#808080", 2),
    ("libevent", "libevent", "#b03a2e", 2),
    ("libuv", "libuv", "#b9770e", 2),
]


def plot(found, output):
    """Draws the lines of PLOTTED, with a label at the end of each."""
    lines = [(label, color, width, {int(x): y for x, y in points.items()})
             for wanted, label, color, width in PLOTTED
             for title, points in found if title == wanted]
    if not lines:
        return
    script = [
        "set terminal pngcairo size 860,440 font 'sans,12'",
        f"set output '{output}'",
        "set logscale xy",
        "set title 'ns for a timer, from schedule to cancel or delivery: lower is better'"
        " font 'sans,14'",
        "set xlabel 'timers at a time'",
        "set xrange [800:12000000]",
        "set yrange [8:5000]",
        "set format '%.0f'",
        "set xtics ('1,000' 1e3, '10,000' 1e4, '100,000' 1e5, '1,000,000' 1e6,"
        " '10,000,000' 1e7)",
        "set ytics ('10 ns' 10, '100 ns' 100, '1,000 ns' 1000)",
        "set grid linecolor '#e0e0e0'",
        "set border 3",
        "set tics nomirror",
        "set rmargin 24",
        "unset key",
    ]
    # A label that would lie on the one above moves down by the height of a line.
    lines.sort(key=lambda line: -line[3][max(line[3])])
    height = float("inf")
    for i, (label, color, _, points) in enumerate(lines):
        end = max(points)
        height = min(points[end], height * 0.72)
        script.append(f"$curve{i} << END")
        script += [f"{x} {y}" for x, y in points.items()]
        script.append("END")
        script.append(f'set label "{label}, {points[end]:,.0f} ns" at {end},{height}'
                      f" left offset 1.5,0 textcolor '{color}'")
    script.append("plot " + ", ".join(
        f"$curve{i} with linespoints pointtype 7 pointsize 1 linewidth {width}"
        f" linecolor '{color}'" for i, (_, color, width, _) in enumerate(lines)))
    subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)


# ---- the machine ----

def print_machine(machine):
    for name, value in machine.items():
        if isinstance(value, dict):
            value = "; ".join(f"{key}: {state}" for key, state in value.items()) \
                or "none needed"
        if value not in ("", None):
            print(f"{name + ':':<24} {value}")
    print()


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
    curve = list(curves(results, where, beside))

    print_machine(results.machine)
    print("\n".join(table(results, largest(timed))))
    print_curves(curve)
    print_targets(targets)
    print_instances(results)
    with open(output + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(table(results, timed)) + "\n")
    with open(output + ".json", "w", encoding="utf-8") as file:
        json.dump({"machine": results.machine, "where": where,
                   "beside": beside, "targets": targets, "curves": curve,
                   "rows": list(results.rows())}, file, indent=1)
    plot(curve, output + ".png")


if __name__ == "__main__":
    main()
