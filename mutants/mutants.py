#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Changes the module's sources mechanically, one place at a time, and counts the changes
that the tests find. `make mutants` runs it.

    usage: mutants/mutants.py [--sample N] [--seed N] [--require PERCENT] [--native]
                              [--jobs N] [--fresh] [--list] [FILE...]

A mutant is a file with one change. Its name is FILE:LINE:OPERATOR, with a number if a line
has several. A mutant that does not compile, or compiles to the same object, is counted
apart. The others run through the suites until one fails; those come first that find most in
little processor time. All of them are part of `make check`:

    sim       the simulation (sim/), for a moment, then for longer, then 10^7 operations
    small     the simulation with small constants
    asan      the simulation with AddressSanitizer and UBSan
    states    all states of small wheels (tests/states/), for the sources of the wheel
    kunit     the KUnit suites in User-Mode Linux; not with --native
    tsan      the simulation with ThreadSanitizer, for changes of locks and barriers

A mutant that none of them finds survives, unless mutants/harmless says why it does no
harm. --require fails if fewer than PERCENT are found.

What the suites said is kept in build/mutants/results, so a run that was interrupted goes
on, and several runs at a time share the work. "Not found" holds for the very sources and
tests on which it was seen. "Found" also holds when others change, as long as the function
with the change and the suite's arguments are the same; the report counts such mutants, and
--fresh judges them anew.
"""
import argparse
import atexit
import collections
import difflib
import fcntl
import hashlib
import itertools
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/mutants"
RESULTS = BUILD / "results"

# What the module is compiled from
MODULE = ["Kbuild", "hwtimer*.[ch]", "compat.h", "include/**/*.h", "uapi/**/*.h"]

FILES = ["hwtimer_%s.c" % name for name in (
    "wheel", "hashed", "hierarchy", "table", "harvest", "instance", "exchange", "worker",
    "client")]
WHEEL = {"hwtimer_wheel.c", "hwtimer_hashed.c", "hwtimer_hierarchy.c"}

# Calls that only make the module faster, or that check or trace: without them it does the
# same.
IDLE = re.compile(r"(lockdep_\w+|might_\w+|cond_resched|prefetchw?|hwtimer_\w*prefetch\w*|"
                  r"chunk_look|queue_look|trace_\w+|hwtimer_trace_\w+|\w+_traced|"
                  r"WARN\w*|static_assert|MODULE_\w+|EXPORT_\w+)\b")

# Arguments of wheel-states for each kind of wheel; each finds most of its mutants.
STATES = {
    "hierarchical": ["hierarchical 4 2 1 5", "hierarchical 4 3 0 5 compacts",
                     "hierarchical 4 2 0 3 rewinds", "hierarchical 4 2 1 3 moves slack"],
    "hashed": ["hashed 8 2 1 0,1,8,9 moves shift=40",
               "hashed 8 2 1 0,1,8,9 compacts shift=40",
               "hashed 8 2 0 0,1,8,9 rewinds shift=40"],
}
# The builds of the simulation
KINDS = ["plain", "small", "asan", "tsan"]

# Changes that only threads which truly run at the same time may notice
ORDERS = {"barrier", "lock-dropped", "lock-later", "unlock-earlier"}

# Seconds of a processor after which a program runs in circles, if nothing else is said: ten
# times what it takes without a mutant, and more. Bytes that it may have; sanitizers reserve
# more.
PROCESSOR = 20
MEMORY = 8 << 30

# Seconds after which a program hangs, on a machine that may do other things
TIMEOUT = 900
KUNIT_TIMEOUT = 400


def blank(text):
    """Replaces comments, strings and preprocessor lines by spaces of the same length."""
    pattern = r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:[^\n\\]|\\\n|\\.)*$'
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text,
                  flags=re.S | re.M)


class Change:
    """A change of text[begin:end] to `new`; `more` are further (begin, end, new)."""

    def __init__(self, operator, begin, end, new, more=()):
        self.operator, self.begin = operator, begin
        self.edits = [(begin, end, new), *more]

    def apply(self, text):
        for begin, end, new in sorted(self.edits, reverse=True):
            text = text[:begin] + new + text[end:]
        return text


def replaced(code, operator, pattern, table):
    for match in re.finditer(pattern, code):
        yield Change(operator, *match.span(1), table[match[1]])


def statements(code):
    """(begin, end) of each simple statement that begins a line within a function."""
    for match in re.finditer(r"^\t+(?=[a-z_*+(-])", code, re.M):
        begin, depth = match.end(), 0
        for end in range(begin, len(code)):
            depth += (code[end] in "([{") - (code[end] in ")]}")
            if depth < 0 or (code[end] == "{" and depth == 1):
                break
            if code[end] == ";" and not depth:
                yield begin, end + 1
                break


KEYWORDS = re.compile(r"(if|for|while|else|do|switch|return|goto|case|default|break|"
                      r"continue)\b")
DECLARATION = re.compile(r"(const |static |struct |unsigned |enum )*\w+ \**\w+( = |;|,|\[)")
ASSIGNED = re.compile(r"[\w>.*\[\]()&-]+(\[[^\]]*\])? ?([-+|&]?=(?!=)|\+\+|--)")


def conditions(code):
    for match in re.finditer(r"\b(if|while) \(", code):
        begin, depth = match.end(), 1
        end = begin
        while depth:
            depth += (code[end] == "(") - (code[end] == ")")
            end += 1
        yield begin, end - 1


def locks(code, found):
    """Drops a lock and its releases within a function, or moves it by a statement."""
    for index, (begin, end) in enumerate(found):
        match = re.match(r"(spin|mutex|raw_spin)_(un)?lock\((.*)\);$", code[begin:end], re.S)
        if not match:
            continue
        if match[2]:
            if index and code[found[index - 1][1]:begin].isspace():
                before = found[index - 1]
                yield Change("unlock-earlier", before[0], before[1], code[begin:end],
                             [(begin, end, code[slice(*before)])])
            continue
        function_end = code.find("\n}\n", begin)
        release = "%s_unlock(%s);" % (match[1], match[3])
        more = [(at.start(), at.end(), ";") for at in
                re.finditer(re.escape(release), code[:function_end]) if at.start() > begin]
        if more:
            yield Change("lock-dropped", begin, end, ";", more)
        if index + 1 < len(found) and code[end:found[index + 1][0]].isspace():
            after = found[index + 1]
            yield Change("lock-later", begin, end, code[slice(*after)],
                         [(*after, code[begin:end])])


def idle_conditions(code):
    """(begin, end) of each condition of nothing but a call of IDLE."""
    for begin, end in conditions(code):
        if IDLE.match(code[end + 1:].lstrip()):
            yield begin, end


def changes(text):
    """All changes that may matter."""
    idle = list(idle_conditions(blank(text)))
    for change in all_changes(text):
        if not any(begin <= change.begin < end for begin, end in idle):
            yield change


def all_changes(text):
    code = blank(text)
    yield from replaced(code, "comparison", r" (<=|>=|<|>|==|!=) ", {
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="})
    yield from replaced(code, "and-or", r" (&&|\|\|)\s", {"&&": "||", "||": "&&"})
    yield from replaced(code, "off-by-one", r"( [+-] 1)(?=[;), ])", {" + 1": "", " - 1": ""})
    yield from replaced(code, "return", r"\breturn (true|false|0);", {
        "true": "false", "false": "true", "0": "1"})
    for match in re.finditer(r"\b(smp_(?:mb|wmb|rmb)\(\);)", code):
        yield Change("barrier", *match.span(), ";")
    for match in re.finditer(r"\bsmp_store_release\(&([^,;]+), ([^;]+)\);", code):
        yield Change("barrier", *match.span(), "WRITE_ONCE(%s, %s);" % (match[1], match[2]))
    for match in re.finditer(r"\bsmp_load_acquire\(&([^;()]+)\)", code):
        yield Change("barrier", *match.span(), "READ_ONCE(%s)" % match[1])
    for begin, end in conditions(code):
        yield Change("condition", begin, end, "!(%s)" % text[begin:end])
    found = list(statements(code))
    yield from locks(code, found)
    for begin, end in found:
        statement = code[begin:end]
        if KEYWORDS.match(statement) or IDLE.match(statement):
            continue
        if re.match(r"\w+\(", statement) and not re.match(
                r"(spin|mutex|raw_spin)_(un)?lock\b|smp_\w*mb\b", statement):
            yield Change("call-dropped", begin, end, ";")
        elif ASSIGNED.match(statement) and not DECLARATION.match(statement):
            yield Change("assignment-dropped", begin, end, ";")


class Mutant:
    def __init__(self, file, text, change, again):
        self.file, self.text = file, change.apply(text)
        self.operator, self.begin = change.operator, change.begin
        self.before = text
        line = text.count("\n", 0, change.begin) + 1
        self.name = "%s:%d:%s" % (file, line, change.operator) + (
            "#%d" % again if again else "")
        self.digest = None

    def diff(self):
        """The changed lines, without numbers: mutants/harmless names a mutant by them."""
        lines = difflib.unified_diff(self.before.splitlines(), self.text.splitlines(),
                                     n=0, lineterm="")
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]

    def hash(self):
        """Names the change, not its line, so that it lasts when other lines change."""
        function = re.findall(r"^\w[^;={}]*?\b(\w+)\(", blank(self.before)[:self.begin],
                              re.M)[-1:]
        return sha256(self.file, *function, *self.diff())[:12]

    def function(self):
        """The function with the change"""
        begin = max(self.before.rfind(end, 0, self.begin) for end in ("\n}\n", "\n};\n"))
        return self.text[begin + 1:self.text.find("\n}\n", self.begin)]


def sha256(*parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def mutants_of(file):
    """All mutants of a file. If a function has the same lines twice, their digests differ."""
    text = (ROOT / file).read_text()
    names, digests = collections.Counter(), collections.Counter()
    for change in sorted(changes(text), key=lambda change: (change.begin, change.operator)):
        key = (text.count("\n", 0, change.begin), change.operator)
        mutant = Mutant(file, text, change, names[key])
        names[key] += 1
        again = mutant.hash()
        mutant.digest = again + ("#%d" % digests[again] if digests[again] else "")
        digests[again] += 1
        yield mutant


def limit(processor, memory):
    """A mutant that runs in circles does not take longer than this."""
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return apply


def run(command, timeout=TIMEOUT, processor=None, memory=None):
    """Returns the exit status; None after the timeout, which counts as a failure."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT,
                               stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=limit(processor, memory) if processor else None)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(process, signal.SIGKILL)


def end(process, by):
    """Ends a process, if it still runs, and all that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, by)
        process.wait()


class NotBuilt(Exception):
    """The mutant does not compile, or is no other program."""


class Suite:
    """A suite: whether it finds a mutant, and the files on which that depends"""

    def __init__(self, name, what, finds, *patterns, judges=lambda mutant: True):
        self.name, self.what, self.finds, self.judges = name, what, finds, judges
        parts = sorted(part for pattern in (*MODULE, *patterns) for part in ROOT.glob(pattern))
        self.sources = sha256(*(part.read_text() for part in parts))
        self.passes = False

    def known(self, mutant):
        """The file with what the suite has said of this change of the function"""
        return RESULTS / sha256(self.name, self.what, mutant.file, mutant.function())

    def said(self, mutant, fresh):
        """
        What the suite has said: ("", True) if it does not find the mutant, None if it has
        to run; and whether that was with these sources.
        """
        try:
            sources, result = self.known(mutant).read_text().split("\n")
        except FileNotFoundError:
            return None
        now = sources == self.sources
        return (result, now) if now or (result == self.name and not fresh) else None

    def judge(self, mutant, fresh):
        """The same, and has the suite run if it has to."""
        if not self.judges(mutant):
            return "", True
        said = self.said(mutant, fresh)
        if said is None:
            self.check()
            try:
                result = self.name if self.finds(mutant) else ""
            except NotBuilt as reason:
                result = str(reason)
            write(self.known(mutant), "%s\n%s" % (self.sources, result))
            said = result, True
        return said

    def check(self):
        """Without a mutant, the suite has to pass. Otherwise it would find all of them."""
        done = RESULTS / sha256("passes", self.name, self.what, self.sources)
        if not self.passes and not done.exists():
            if self.finds(None):
                sys.exit("mutants: %s fails without a mutant: %s" % (self.name, self.what))
            write(done, "")
        self.passes = True


def write(file, text):
    """Writes a file that another process sees either whole or not at all."""
    temporary = file.with_name("%s.%d" % (file.name, os.getpid()))
    temporary.write_text(text)
    temporary.rename(file)


class Place:
    """A directory with copies of the sources, in which one process at a time compiles"""

    def __init__(self):
        for number in itertools.count(1):
            self.dir = BUILD / ("place-%d" % number)
            self.dir.mkdir(parents=True, exist_ok=True)
            self.held = open(self.dir / ".lock", "w")
            try:
                fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self.held.close()
        self.source, self.sim = self.dir / "source", self.dir / "sim"
        self.mutant, self.kept = None, []
        self.clean()
        self.copy(self.source, *MODULE)

    def clean(self):
        """If a process was killed, what was compiled from its mutant must not stay."""
        mark = self.dir / "mutant"
        if mark.exists():
            for file in self.dir.rglob(mark.read_text() + ".*o"):
                file.unlink()
            mark.unlink()

    @staticmethod
    def copy(there, *patterns):
        files = [str(file.relative_to(ROOT)) for pattern in patterns
                 for file in ROOT.glob(pattern)]
        # A copy that changes gets a new time, whatever time its original has.
        subprocess.run(["rsync", "--checksum", "--relative", *files, there], check=True,
                       cwd=ROOT)

    def put(self, mutant, source, *objects):
        """
        Puts the mutant's text into a copy. What is compiled from it goes with it. Nothing if
        there is no mutant.
        """
        if not mutant:
            return
        (self.dir / "mutant").write_text(pathlib.Path(mutant.file).stem)
        for file in (source / mutant.file, *objects):
            if file.exists():
                self.kept.append((file, file.read_bytes(), file.stat()))
        (source / mutant.file).write_text(mutant.text)

    def take_out(self):
        """
        Leaves the copies as they were. The objects are newer, so that programs are linked
        again.
        """
        for file, content, stat in self.kept:
            file.write_bytes(content)
            if file.suffix == ".c":
                os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.kept = []
        (self.dir / "mutant").unlink(missing_ok=True)


class Simulation:
    """The simulation, compiled from a copy of the sources"""

    def __init__(self, place):
        self.place, self.mutant, self.made, self.whole = place, None, {}, set()

    def make(self, kind, timeout=TIMEOUT):
        """Compiles what has changed in the copy, and links the simulation."""
        return run(["make", "-C", "sim", "OUT=%s" % self.place.sim,
                    "SOURCES=%s" % self.place.source, "KIND=%s" % kind,
                    "EXTRA=-g0 -Wno-error"], timeout) == 0

    def object(self, kind, mutant):
        return self.place.sim / kind / (pathlib.Path(mutant.file).stem + ".o")

    def compile(self, kind, mutant):
        """Compiles the mutant, unless that is done. Raises NotBuilt."""
        if kind not in self.whole:
            self.take_out()
            if not self.make(kind, 1800):
                sys.exit("mutants: the simulation does not compile")
            self.whole.add(kind)
        if mutant is not self.mutant:
            self.take_out()
            self.place.put(mutant, self.place.source,
                           *(self.object(kind, mutant) for kind in KINDS if mutant))
            self.mutant = mutant
        if mutant and kind not in self.made:
            self.made[kind] = self.make(kind)
        if mutant and not self.made[kind]:
            raise NotBuilt("does not compile")

    def take_out(self):
        self.place.take_out()
        self.mutant, self.made = None, {}

    def builds(self, mutant):
        """Raises NotBuilt, unless the mutant is another program. Finds nothing."""
        self.compile("plain", mutant)
        if mutant:
            file = self.object("plain", mutant)
            before = [content for kept, content, _ in self.place.kept if kept == file]
            if file.read_bytes() in before:
                raise NotBuilt("same object")
        return False

    def finds(self, what, processor=PROCESSOR):
        """Returns a function that runs the simulation: a kind, and arguments"""
        kind, *arguments = what.split()
        memory = MEMORY if kind in ("plain", "small") else None

        def finds(mutant):
            self.compile(kind, mutant)
            return run([self.place.sim / kind / "simulate", *arguments],
                       processor=processor, memory=memory) != 0
        return finds


class States:
    """All states of small wheels"""

    def __init__(self, place):
        self.place = place

    def finds(self, mutant):
        file = mutant.file if mutant else ""
        program = self.place.dir / "wheel-states-1"
        changed = self.place.dir / file
        if mutant:
            changed.write_text(mutant.text)
        sources = [changed if name == file else ROOT / name
                   for name in sorted(WHEEL | {"hwtimer_chunk.c"})]
        if run(["make", "-B", "-C", "tests/states", "OUT=%s" % self.place.dir, str(program),
                "CFLAGS_MORE=-w", "WHEEL=%s" % " ".join(map(str, sources))]) != 0:
            raise NotBuilt("does not compile")
        kinds = {"hwtimer_hashed.c": ["hashed"], "hwtimer_hierarchy.c": ["hierarchical"]}
        return any(run([program, *arguments.split()], processor=PROCESSOR, memory=MEMORY) != 0
                   for kind in kinds.get(file, ["hashed", "hierarchical"])
                   for arguments in STATES[kind])


class Kernel:
    """KUnit in User-Mode Linux: the module, in a directory where kbuild compiles only what
    has changed"""

    def __init__(self, place, leave):
        self.place, self.leave, self.kdir = place, leave, None
        self.dir = place.dir / "kernel"

    def prepare(self):
        """Builds the module without a mutant."""
        self.place.copy(self.dir, *MODULE, "tests/*.[ch]")
        self.kdir = subprocess.run([ROOT / "vm/kernel.sh", "uml-7.3"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip() + "/build"
        if not self.make(3600):
            sys.exit("mutants: the module does not compile")

    def make(self, timeout=TIMEOUT):
        return run(["make", "-C", self.kdir, "M=%s" % self.dir, "HWTIMER_KUNIT=y", "ARCH=um",
                    "HWTIMER_WERROR=n", "modules"], timeout) == 0

    def finds(self, mutant):
        self.leave()
        if not self.kdir:
            self.prepare()
        stem = pathlib.Path(mutant.file if mutant else "hwtimer").stem
        try:
            self.place.put(mutant, self.dir, self.dir / (stem + ".o"))
            if not self.make():
                raise NotBuilt("does not compile")
            failed = self.fails()
            # No test failed, but the kernel died or hung. As that might be the host's fault,
            # it has to happen again.
            return self.fails() is not False if failed is None else failed
        finally:
            self.place.take_out()

    def fails(self):
        """
        Whether a test of the module fails; the first one that does is enough. None: no test
        failed, but the kernel did.
        """
        machine = subprocess.Popen(
            [ROOT / "vm/run.sh", "--kernel", "uml-7.3", "--timeout", str(KUNIT_TIMEOUT),
             "--append", "log_buf_len=4M",
             "--file", "%s=/hwtimer/hwtimer.ko" % (self.dir / "hwtimer.ko"),
             "--file", "%s=/hwtimer/guest-kunit" % (ROOT / "vm/guest-kunit"),
             "--", "sh", "guest-kunit"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=limit(5 * PROCESSOR, None))
        try:
            for line in machine.stdout:
                if re.match(rb" *not ok ", line):
                    return True
            return None if machine.wait() else False
        finally:
            end(machine, signal.SIGTERM)
            machine.stdout.close()


def suites_of(native):
    """All suites, in the order in which they run"""
    place = Place()
    simulation = Simulation(place)
    kernel = Kernel(place, simulation.take_out)
    atexit.register(place.take_out)
    shims = ["sim/*.[ch]", "sim/include/**/*.h", "bench/wheel/include/**/*.h"]

    def simulated(name, what, processor=PROCESSOR, **more):
        return Suite(name, what, simulation.finds(what, processor), *shims, **more)

    suites = [
        Suite("builds", "", simulation.builds),
        simulated("sim", "plain --seeds 1 --ops 150000"),
        simulated("sim", "plain --seeds 100 --ops 1000000"),
        simulated("small", "small --seeds 1 --ops 300000"),
        Suite("states", str(STATES), States(place).finds, "tests/states/*.[ch]", "bench/wheel/*.[ch]",
              judges=lambda mutant: mutant.file in WHEEL),
        simulated("asan", "asan --seeds 1 --ops 300000"),
        Suite("kunit", "uml-7.3", kernel.finds, "tests/*.[ch]"),
        simulated("sim", "plain --seeds 1000 --ops 10000000", 5 * PROCESSOR),
        simulated("tsan", "tsan --seeds 1 --ops 3000 --run 500", 5 * PROCESSOR,
                  judges=lambda mutant: mutant.operator in ORDERS),
    ]
    return [suite for suite in suites if suite.name != "kunit" or not native]


def harmless():
    """The digests that mutants/harmless has: each line is a digest and a reason."""
    path = ROOT / "mutants/harmless"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(None, 1) for line in lines if line and line[0] != "#")


def choose(files, sample, seed):
    """In random order: what a run that is interrupted has done is a sample, too. A mutant
    keeps its place in that order when others come or go."""
    chosen = [mutant for file in files for mutant in mutants_of(file)]
    chosen.sort(key=lambda mutant: sha256(str(seed), mutant.digest))
    return chosen[:sample or None]


def claim(mutant, wait):
    """Has other processes leave this mutant to us. None: another process has it."""
    claimed = open(BUILD / "claims" / mutant.digest, "w")
    try:
        fcntl.flock(claimed, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        claimed.close()
        return None
    return claimed


def judge_all(chosen, suites, fresh, excused):
    """Yields each mutant, what became of it, and whether that was with these sources."""
    judged = set()
    for wait in (False, True):
        for mutant in chosen:
            claimed = claim(mutant, wait) if mutant.digest not in judged else None
            if not claimed:
                continue
            with claimed:
                result, now = judge(mutant, suites, fresh)
            judged.add(mutant.digest)
            if result == "survives" and mutant.digest in excused:
                result = "harmless"
            yield mutant, result, now


def judge(mutant, suites, fresh):
    # A suite that has found it before need not wait for those that come earlier.
    known = [suite.said(mutant, fresh) for suite in suites]
    for said, suite in zip(known, suites):
        if said and said[0] == suite.name:
            return said
    for suite in suites:
        result, now = suite.judge(mutant, fresh)
        if result:
            return result, now
    return "survives", True


FOUND = ["sim", "small", "asan", "states", "kunit", "tsan"]
COLUMNS = FOUND + ["survives", "harmless", "same object", "does not compile"]


def report(table):
    print("%-22s %7s" % ("file", "mutants"), *("%8s" % name.split()[-1] for name in COLUMNS),
          "%7s" % "found")
    total = collections.Counter()
    for counts in table.values():
        total.update(counts)
    for file, counts in [*sorted(table.items()), ("all", total)]:
        found, counted = score(counts)
        print("%-22s %7d" % (file, sum(counts.values())),
              *("%8d" % counts[name] for name in COLUMNS),
              "%6.1f%%" % (100 * found / counted) if counted else "")
    return score(total)


def score(counts):
    found = sum(counts[name] for name in FOUND)
    return found, found + counts["survives"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--require", type=float)
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    chosen = choose(arguments.files or FILES, arguments.sample, arguments.seed)
    if arguments.list:
        for mutant in chosen:
            print(mutant.digest, mutant.name, *mutant.diff(), sep="\n    ")
        return

    # make may have called us. Its options must not reach the makes that we call.
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    # As an exit, so that the copies of the sources are put in order
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for directory in (RESULTS, BUILD / "claims"):
        directory.mkdir(parents=True, exist_ok=True)
    for _ in range(arguments.jobs - 1):
        if os.fork() == 0:
            sys.stdout = open(os.devnull, "w")
            break
    suites = suites_of(arguments.native)
    excused = harmless()
    table = collections.defaultdict(collections.Counter)
    earlier = 0
    for mutant, result, now in judge_all(chosen, suites, arguments.fresh, excused):
        table[mutant.file][result] += 1
        earlier += not now
        print("%-18s %s" % (result, mutant.name), flush=True)
        if result == "survives":
            print("    " + mutant.digest, *mutant.diff(), sep="\n    ", flush=True)
    found, counted = report(table)
    print("%d of those that were found were found in earlier sources, of which the changed "
          "function is the same" % earlier)
    if not counted:
        sys.exit("mutants: none of them counts")
    if arguments.require and 100 * found < arguments.require * counted:
        sys.exit("mutants: fewer than %g%% are found" % arguments.require)


if __name__ == "__main__":
    main()
