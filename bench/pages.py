#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the benchmark's tables into the pages of the documentation.

    pages.py --take BUILD   takes the figures that the pages show from BUILD/bench.json to
                            Documentation/bench.json, and writes the tables and the plot,
                            Documentation/bench.png
    pages.py                writes them again, from Documentation/bench.json
    pages.py --check        fails if a table is not what that file makes

A table stands between two comments, "<!-- bench NAME -->" and "<!-- end of bench NAME -->",
so that no figure is typed by hand. The function of the same name makes it.
"""

import json
import os
import re
import sys

from report import plot

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIGURES = os.path.join(ROOT, "Documentation/bench.json")
PLOT = os.path.join(ROOT, "Documentation/bench.png")
PAGES = ("README.md", "Documentation/benchmark.md")

BULKS = "bulks of 4096"
SINGLE = "one by one"
MILLION = 1000000
SIZES = (1000, 10000, 100000, MILLION, 10 * MILLION)
PHASES = ("schedule", "cancel", "expire + deliver")
LIFE = "life-cycle"
AT_LEAST = "life-cycle, expiry not counted"


class Figures:
    """The figures of a bench.json; remembers which were asked for."""

    def __init__(self, data):
        self.data = data
        self.rows = {self.key(row): row for row in data["rows"]}
        self.used = set()

    @staticmethod
    def key(row):
        return (row["system"], row["variant"], row["where"], row["timers"],
                row["phase"])

    def row(self, *key):
        if key not in self.rows:
            return None
        self.used.add(key)
        return self.rows[key]

    def median(self, *key):
        row = self.row(*key)
        return row and row["median"]

    def variants(self, system, where, timers):
        return sorted({row["variant"] for row in self.data["rows"]
                       if (row["system"], row["where"], row["timers"]) ==
                       (system, where, timers)})

    @property
    def where(self):
        return self.data["where"]

    @property
    def beside(self):
        return self.data["beside"]

    def machine(self, name):
        return self.data["machine"].get(name)

    @property
    def calls_timed(self):
        """Whether the time of a call means something: in User-Mode Linux it is that of
        switches between processes of the host, and varies by more than a call costs."""
        return self.where != "uml"

    def place(self):
        return {"uml": "User-Mode Linux", "this": "this machine's kernel",
                "qemu": "an emulated machine"}.get(self.where, self.where)


# ---- cells and tables ----

def cell(value, form=None):
    """Formats a number with about three digits."""
    if value is None:
        return ""
    if form:
        return format(value, form)
    if abs(value) < 10 and value != int(value):
        return f"{value:.1f}"
    return f"{value:,.0f}"


def spread(row):
    """A median, and how far apart the figures are, if there are several."""
    text = cell(row["median"])
    return text if row["min"] == row["max"] else \
        f"{text} ({cell(row['min'])}–{cell(row['max'])})"


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def size(timers):
    return f"{timers:,}"


# ---- README ----

def readme(figures):
    """What a server's author wants to know: instructions, which repeat on any machine"""
    def rows():
        for system, title in (("hwtimer", "**hwtimer's timer objects**"),
                              ("libevent", "libevent's timers"),
                              ("timerfd", "a timerfd for each connection")):
            who = (system, "server", "instructions", 1000)
            yield [title, cell(beyond_none(figures, *who)),
                   cell(figures.median(*who, "calls for timers"), ".3f")]

    yield from table(["timeouts by", "instructions", "system calls"], rows())
    yield ""
    yield (f"1,000 connections in a loop of libevent; program, library, kernel and module "
           f"counted in an emulated Debian, {figures.machine('date')}.")


def picture(figures):
    """What the plot leaves out"""
    bytes_each = figures.median("hwtimer", BULKS, figures.where, MILLION, "peak")
    points = dict(figures.data["curves"])["hwtimer, bulks of 4,096"]
    ns = {int(timers): cell(value) for timers, value in points.items()}
    yield (f"*hwtimer's core* is the module compiled as a program, called for 4,096 timers at a "
           f"time. In {figures.place()}, with its system calls and wake-ups, one of a million "
           f"timers takes {ns.get(MILLION)} ns, and {cell(bytes_each)} bytes; one of "
           f"{size(SIZES[0])} takes {ns.get(SIZES[0])} ns, as few timers share a wake-up "
           f"({figures.machine('processor')}, {figures.machine('date')}"
           f"{'' if quiet(figures) else '; provisional, as the machine was busy'}). "
           f"[Benchmark](Documentation/benchmark.md) says what distorts these figures, and how "
           f"to measure your machine.")


# ---- the page about the benchmark ----

def quiet(figures):
    """Whether the machine had nothing else to do, by its load before and after."""
    return max(figures.machine("load before"), figures.machine("load after")) <= \
        figures.machine("processors") * 1.5


def machine(figures):
    if not quiet(figures):
        yield ("**The machine was busy with other things.** Times of these tables are "
               "provisional; what is missing in them was not measured. Counts of "
               "instructions and of calls hold.")
        yield ""
    names = ["processor", "processors", "caches", "hypervisor", "governor",
             "memory, MiB", "large pages", "kernel", "compiler", "commit", "date"]
    rows = [[name, str(figures.machine(name))] for name in names
            if figures.machine(name)]
    faults = figures.machine("mitigations") or {}
    rows.append(["mitigations of the host's kernel", "; ".join(
        f"{fault}: {state}" for fault, state in faults.items()) or "none needed"])
    rows.append(["load, before and after; stolen by the host of the machine",
                 f"{figures.machine('load before')}, "
                 f"{figures.machine('load after')}; "
                 f"{figures.machine('stolen by the host, %')}%"])
    yield from table(["", ""], rows)


def curve(figures):
    def rows():
        for title, points in figures.data["curves"]:
            points = {int(timers): value for timers, value in points.items()}
            yield [title, *(cell(points.get(timers)) for timers in SIZES)]

    yield from table(["life-cycle, ns a timer", *map(size, SIZES)], rows())


def rivals(figures):
    subjects = [
        ("**hwtimer, bulks of 4,096**", "hwtimer", BULKS, figures.where, MILLION),
        ("hwtimer, batches of 4,096 requests (SUBMIT)", "hwtimer",
         "batches of 4096", figures.where, MILLION),
        ("hwtimer, bulks of 4,096, 10,000,000 timers", "hwtimer", BULKS,
         figures.where, 10 * MILLION),
        ("*the floor*: a bare wheel of vector buckets in user space", "floor",
         "vectors", figures.beside, MILLION),
        ("a wheel of linked lists in user space", "floor-list", "lists",
         figures.beside, MILLION),
        ("Netty's HashedWheelTimer", "netty", "hashed wheel", figures.beside,
         MILLION),
        ("libevent", "libevent", "heap", figures.beside, MILLION),
        ("libuv", "libuv", "heap", figures.beside, MILLION),
    ]
    subjects += timerfds(figures)

    def rows():
        for title, *who in subjects:
            life = figures.row(*who, LIFE)
            both = figures.median(*who, "expire + deliver")
            low = figures.median(*who, AT_LEAST)
            if not life and low is None:
                continue
            yield [title, cell(figures.median(*who, "schedule")),
                   cell(figures.median(*who, "cancel")),
                   cell(both) if both else "not timed",
                   spread(life) if life else f"> {cell(low)}",
                   cell(figures.median(*who, "peak"))]

    yield from table(["ns a timer", *PHASES, "life-cycle (min–max)", "bytes"], rows())


def timerfds(figures):
    """Returns a subject for timerfd in each place, with the most timers there."""
    for where, name in ((figures.beside, "natively"),
                        (figures.where, "same kernel as hwtimer")):
        found = max((row["timers"] for row in figures.data["rows"]
                     if row["system"] == "timerfd" and row["where"] == where
                     and row["phase"] == "schedule" and row["timers"] <= MILLION),
                    default=None)
        for variant in figures.variants("timerfd", where, found):
            yield (f"timerfd, {variant} ({found:,} timers), {name}", "timerfd",
                   variant, where, found)


WAYS = [
    ("bulks of 4,096", BULKS, "bulks"),
    ("bulks of 256", "bulks of 256", None),
    ("bulks of 64", "bulks of 64", None),
    ("bulks of 16", "bulks of 16", None),
    ("bulks of 4", "bulks of 4", "bulks of 4"),
    ("bulks of 1", "bulks of 1", None),
    ("one call a timer", SINGLE, "single calls"),
    ("SUBMIT of 4,096", "batches of 4096", "SUBMIT"),
]


def ways(figures):
    """In each place, with 10,000 timers; instructions with as many as are counted."""
    def rows():
        for title, variant, counted in WAYS:
            core = ("hwtimer", variant, "core", 10000)
            ours = ("hwtimer", variant, figures.where, 10000)
            few = 10000 if figures.row("hwtimer", counted, "counts", 10000,
                                       "schedule") else 1000
            counts = ("hwtimer", counted, "counts", few)
            yield [title,
                   *(cell(figures.median(*ours, phase))
                     for phase in (*PHASES, LIFE)),
                   *(cell(figures.median(*core, phase))
                     for phase in (*PHASES, LIFE)),
                   cell(figures.median(*counts, LIFE)) +
                   (" ¹" if counted and few == 1000 else "")]

    head = ["", *(f"{figures.where}: {phase}" if phase == "schedule" else phase
                  for phase in (*PHASES, LIFE)),
            *(f"core: {phase}" if phase == "schedule" else phase
              for phase in (*PHASES, LIFE)), "instructions"]
    yield from table(head, rows())


def conditions(figures):
    def rows():
        for where, timers, aside, title in (
                ("core", 100000, "", "core: read when all are due"),
                ("core", 100000, ", each tick",
                 "core: read at each tick, wake-ups included"),
                ("core", 100000, ", after 5 s", "core: after 5 s without timers"),
                (figures.where, 100000, "", f"{figures.where}: read when all are due"),
                (figures.where, 100000, ", after 5 s",
                 f"{figures.where}: after 5 s without timers")):
            who = ("hwtimer", BULKS + aside, where, timers)
            if figures.row(*who, "schedule"):
                yield [title, *(cell(figures.median(*who, phase))
                                for phase in (*PHASES, LIFE))]

    yield from table(["100,000 timers, bulks of 4,096, ns a timer", *PHASES, LIFE],
                     rows())


def threads(figures):
    places = ["core"] + [figures.where] * figures.calls_timed

    def rows():
        for batch in (1, 4, 16, 64, 256, 4096):
            cells = []
            for where in places:
                who = ("hwtimer", f"bulks of {batch}", where, 1)
                cells += [cell(figures.median(*who, "one thread, a pair"))]
                cells += [cell(figures.median(*who, phase), ".2f")
                          if figures.row(*who, phase) else "" for phase in (
                              "two threads, an instance each, against one",
                              "two threads, one instance, against one")]
            yield [f"{batch:,}", *cells]

    head = ["timers in a bulk"]
    for where in places:
        head += [f"{where}: one thread, ns a pair", "two, an instance each, × one",
                 "two, one instance, × one"]
    yield from table(head, rows())


def single(figures):
    """One timer by one call. Where a ns is an instruction, so says the heading."""
    places = [figures.where] * figures.calls_timed + ["instructions"]

    def rows():
        for phase, title in (("one SCHEDULE", "SCHEDULE"),
                             ("one settime", "timerfd_settime()"),
                             ("one CANCEL", "CANCEL"),
                             ("one settime to 0", "timerfd_settime() to 0"),
                             ("one SCHEDULE of 16 by io_uring", "one of 16 SCHEDULEs by io_uring"),
                             ("one CANCEL of 16 by io_uring", "one of 16 CANCELs by io_uring")):
            values = [figures.median("hwtimer", BULKS, where, 1, phase)
                      for where in places]
            # Where io_uring is not allowed, there are none.
            if any(value is not None for value in values):
                yield [title, *map(cell, values)]

    head = [f"{figures.where}, ns"] * figures.calls_timed + ["QEMU, instructions"]
    yield from table(["", *head], rows())


# Columns of the tables of the server
CONNECTIONS = ["connections", "timers by"]
COSTS = ["{} a request", "beyond none"]
CALLS = ["calls for timers a request", "clock readings"]
LATE = ["late, ms", "p99, ms"]


def request(figures, *who):
    """Returns the cost of a request, that of hwtimer's threads included."""
    own = figures.median(*who, "processor time")
    return None if own is None else own + (figures.median(*who, "worker's time") or 0)


def beyond_none(figures, system, *who):
    """Returns what of it the timers cost."""
    cost, none = request(figures, system, *who), request(figures, "none", *who)
    return None if None in (cost, none) else cost - none


def server(figures):
    def costs(system, *who):
        """Returns the cost of a request, and what of it the timers cost."""
        cost, beyond = request(figures, system, *who), beyond_none(figures, system, *who)
        if system == "none" or beyond is None:
            return [cell(cost), ""]
        # A server does not become cheaper by timers: that is noise.
        return [cell(cost), cell(beyond) if beyond > 0 else "-"]

    def calls(*who):
        return [cell(figures.median(*who, "calls for timers"), ".4f"),
                cell(figures.median(*who, "clock readings"), ".2f")]

    def late(*who):
        values = (figures.median(*who, f"timeout's lateness, {which}")
                  for which in ("median", "99 of 100"))
        return [cell(value / 1e6, ".2f") if value is not None else ""
                for value in values]

    def rows(variant, where, sizes, columns, more=""):
        for n in sizes:
            for system in ("none", "libevent", "timerfd", "hwtimer"):
                who = (system, variant, where, n)
                if figures.row(*who, "processor time"):
                    yield [f"{n:,}{more}", system,
                           *(text for column in columns for text in column(*who))]

    timed = figures.calls_timed
    columns = [costs] * timed + [calls, late]
    head = CONNECTIONS + COSTS * timed + CALLS + LATE
    yield f"In {figures.place()}:"
    yield ""
    yield from table(
        [name.format("ns") for name in head],
        [*rows("server", figures.where, (1000, 10000, 100000), columns),
         *rows("server, paced", figures.where, (10000,), columns, " ¹")])
    yield ""
    yield "Emulated, in instructions, those of the kernel included:"
    yield ""
    head = CONNECTIONS + COSTS + CALLS
    yield from table([name.format("instructions") for name in head],
                     rows("server", "instructions", (1000,), [costs, calls]))


def instances(figures):
    def rows():
        for count in (64, 1000, 4096):
            def median(what, count=count):
                return figures.median("hwtimer", BULKS, figures.where, 1,
                                      f"{count} instances, {what}")

            yield [f"{count:,}", cell(median("bytes each by STATS")),
                   cell(median("machine's memory each")),
                   cell(median("turns a second")),
                   *(cell(value / 1e6, ".2f") if value is not None else ""
                     for value in (median("lateness, mean"),
                                   median("lateness, longest")))]

    yield from table(["instances of four timers", "bytes each, by STATS",
                      "machine's memory each", "turns a second",
                      "late, mean, ms", "longest, ms"], rows())


TABLES = {function.__name__: function for function in (
    readme, picture, machine, curve, rivals, ways, conditions, threads, single, server,
    instances)}


# ---- the pages ----

def written(text, figures):
    """Returns a page with its tables made anew."""
    def replace(found):
        name = found.group(1)
        body = "\n".join(TABLES[name](figures))
        return (f"<!-- bench {name} -->\n\n{body}\n\n<!-- end of bench {name} -->")

    return re.sub(r"<!-- bench (\w+) -->\n.*?<!-- end of bench \1 -->", replace,
                  text, flags=re.DOTALL)


def save(figures):
    """Keeps what the pages show; a row on a line, so that differences can be read."""
    data = dict(figures.data)
    rows = [figures.rows[key] for key in sorted(figures.used)]
    head = {name: data[name] for name in data if name not in ("rows", "targets")}
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    text += ',\n "rows": [\n' + ",\n".join(
        "  " + json.dumps(row) for row in rows) + "\n ]\n}\n"
    with open(FIGURES, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    options = sys.argv[1:]
    taking = len(options) == 2 and options[0] == "--take"
    checking = options == ["--check"]
    if options and not taking and not checking:
        sys.exit(__doc__)
    source = os.path.join(options[1], "bench.json") if taking else FIGURES
    with open(source, encoding="utf-8") as file:
        figures = Figures(json.load(file))
    wrong = []
    for page in PAGES:
        path = os.path.join(ROOT, page)
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = written(before, figures)
        if after == before:
            continue
        wrong.append(page)
        if not checking:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)
    if taking:
        save(figures)
    if not checking:
        plot(figures.data["curves"], PLOT)
    if checking and wrong:
        sys.exit(f"bench/pages.py has not written the tables of {', '.join(wrong)}")


if __name__ == "__main__":
    main()
