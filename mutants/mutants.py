#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Changes the module's sources mechanically, one place at a time, and counts the changes
that the tests find. `make mutants` runs it.

    usage: mutants/mutants.py [--sample N] [--seed N] [--require PERCENT] [--kunit]
                              [--list] [FILE...]

A mutant is a file with one change. Its name is FILE:LINE:OPERATOR, with a number if a line
has several. A mutant that does not compile, or compiles to the same object, is counted
apart. The others run through the suites, the cheapest first, until one fails:

    sim       the simulation (sim/), for a moment
    states    all states of small wheels (tests/states/), for the sources of the wheel
    sim       the simulation for longer, with usual and with small constants
    kunit     with --kunit: the KUnit suites in User-Mode Linux, for those that are left

A mutant that none of them finds survives, unless mutants/harmless says why it does no
harm. Results are kept in build/mutants/results, by a hash of the mutant, of all sources and
of the suite, so a run that was interrupted goes on. --require fails if fewer than PERCENT
are found.
"""
import argparse
import atexit
import collections
import difflib
import hashlib
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
SIM = BUILD / "sim"
SOURCE = BUILD / "source"

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
# What runs of the simulation, in which build
SIM_RUNS = [
    ("plain", "--seeds 1 --ops 150000"),
    ("small", "--seeds 1 --ops 300000"),
    ("plain", "--seeds 100 --ops 800000"),
]
KINDS = ["plain", "small"]

# Seconds after which a program hangs, on a machine that may do other things; and seconds of
# a processor
TIMEOUT = 900
PROCESSOR = 60

# One in so many of KUnit's random operations; and seconds after which it hangs
KUNIT_SCALE = 10
KUNIT_TIMEOUT = 300


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
        self.begin = change.begin
        self.before = text
        line = text.count("\n", 0, change.begin) + 1
        self.name = "%s:%d:%s" % (file, line, change.operator) + (
            "#%d" % again if again else "")

    def diff(self):
        """The changed lines, without numbers: mutants/harmless names a mutant by them."""
        lines = difflib.unified_diff(self.before.splitlines(), self.text.splitlines(),
                                     n=0, lineterm="")
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]

    def digest(self):
        """Names the change, not its line, so that it lasts when other lines change."""
        function = re.findall(r"^\w[^;={}]*?\b(\w+)\(", blank(self.before)[:self.begin],
                              re.M)[-1:]
        text = "\n".join([self.file, *function, *self.diff()])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def mutants_of(file):
    text = (ROOT / file).read_text()
    names = collections.Counter()
    for change in sorted(changes(text), key=lambda change: (change.begin, change.operator)):
        key = (text.count("\n", 0, change.begin), change.operator)
        yield Mutant(file, text, change, names[key])
        names[key] += 1


def limit_processor():
    """A mutant that runs in circles does not take longer than this."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))


def run(command, timeout=TIMEOUT, **options):
    """Returns the exit status; None after the timeout, which counts as a failure."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT,
                               stderr=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return None


class NotBuilt(Exception):
    """The mutant does not compile, or is no other program."""


class Suite:
    """A suite: whether it finds a mutant, and the files on which that depends"""

    def __init__(self, name, finds, *patterns, what=""):
        self.name, self.finds, self.what = name, finds, what
        parts = sorted(part for pattern in ("hwtimer*.[ch]", "compat.h", *patterns)
                       for part in ROOT.glob(pattern))
        text = b"".join(part.read_bytes() for part in parts)
        self.hash = hashlib.sha256(text + pathlib.Path(__file__).read_bytes()).hexdigest()

    def judge(self, mutant):
        """The name of the suite, if it finds the mutant. Keeps what it has seen."""
        key = hashlib.sha256("\0".join(
            (self.name, self.what, self.hash, mutant.file, mutant.text)).encode()).hexdigest()
        known = BUILD / "results" / key
        if not known.exists():
            try:
                result = self.name if self.finds(mutant) else ""
            except NotBuilt as reason:
                result = str(reason)
            known.write_text(result)
        return known.read_text()


class Trees:
    """The copies of the sources in which mutants are compiled"""

    def __init__(self):
        """Compiles the simulation from a copy."""
        self.mutant, self.kept, self.made = None, [], {}
        (BUILD / "results").mkdir(parents=True, exist_ok=True)
        for path in [ROOT / "Kbuild", *ROOT.glob("hwtimer*.[ch]"), ROOT / "compat.h",
                     ROOT / "include", ROOT / "uapi"]:
            subprocess.run(["rsync", "-a", "--checksum", path, "%s/" % SOURCE], check=True)
        for kind in KINDS:
            if self.make(kind, 1800) != 0:
                sys.exit("mutants: the simulation does not compile")
        for kind, arguments in SIM_RUNS:
            if run([SIM / kind / "simulate", *arguments.split()]) != 0:
                sys.exit("mutants: the simulation fails without a mutant: %s %s" % (
                    kind, arguments))

    @staticmethod
    def make(kind, timeout=TIMEOUT):
        """Compiles what has changed in the copy, and links the simulation."""
        return run(["make", "-C", "sim", "OUT=%s" % SIM, "SOURCES=%s" % SOURCE,
                    "KIND=%s" % kind, "EXTRA=-g0 -Wno-error"], timeout)

    def put(self, mutant):
        """Puts the mutant into the copy instead of the one before."""
        if mutant is self.mutant:
            return
        self.take_out()
        path = SOURCE / mutant.file
        self.mutant, self.made = mutant, {}
        self.kept = [(file, file.read_bytes(), file.stat()) for file in (
            path, *(self.object(kind, mutant) for kind in KINDS))]
        path.write_text(mutant.text)

    def take_out(self):
        """Leaves the copy as it was."""
        for file, content, stat in self.kept:
            file.write_bytes(content)
            os.utime(file, (stat.st_atime, stat.st_mtime))
        self.mutant, self.kept = None, []

    @staticmethod
    def object(kind, mutant):
        """What is compiled from the mutant's file"""
        return SIM / kind / (pathlib.Path(mutant.file).stem + ".o")

    def compile(self, kind, mutant):
        """Compiles the mutant, unless that is done. Raises NotBuilt."""
        self.put(mutant)
        if kind not in self.made:
            self.made[kind] = self.make(kind) == 0
        if not self.made[kind]:
            raise NotBuilt("does not compile")

    def builds(self, mutant):
        """Raises NotBuilt, unless the mutant is another program. Finds nothing."""
        self.compile("plain", mutant)
        if self.object("plain", mutant).read_bytes() == self.kept[1][1]:
            raise NotBuilt("same object")

    def simulated(self, kind, arguments):
        """Returns a suite that runs the simulation."""
        def finds(mutant):
            self.compile(kind, mutant)
            return run([SIM / kind / "simulate", *arguments.split()],
                       preexec_fn=limit_processor) != 0
        return finds

    @staticmethod
    def states(mutant):
        """All states of small wheels"""
        if mutant.file not in WHEEL:
            return False
        program = BUILD / "wheel-states-1"
        changed = BUILD / mutant.file
        changed.write_text(mutant.text)
        sources = [changed if name == mutant.file else ROOT / name
                   for name in sorted(WHEEL | {"hwtimer_chunk.c"})]
        if run(["make", "-B", "-C", "tests/states", "OUT=%s" % BUILD, str(program),
                "CFLAGS_MORE=-w", "WHEEL=%s" % " ".join(map(str, sources))
                ]) != 0:
            raise NotBuilt("does not compile")
        kinds = {"hwtimer_hashed.c": ["hashed"], "hwtimer_hierarchy.c": ["hierarchical"]}
        return any(run([program, *arguments.split()], preexec_fn=limit_processor) != 0
                   for kind in kinds.get(mutant.file, ["hashed", "hierarchical"])
                   for arguments in STATES[kind])


class Kernel:
    """KUnit in User-Mode Linux: the module, in a directory where kbuild compiles only what
    has changed"""

    def __init__(self):
        self.dir = None

    def prepare(self):
        """Builds the module without a mutant, in a copy of the sources."""
        tree = BUILD / "tree"
        tree.mkdir(parents=True, exist_ok=True)
        subprocess.run(["rsync", "-a", "--checksum", "--delete", "--exclude=/build",
                        "--exclude=/.git", "%s/" % ROOT, "%s/" % tree], check=True)
        if run([tree / "vm/build.sh", "uml-7.3-kunit"], 3600) != 0:
            sys.exit("mutants: the module does not compile")
        self.dir = tree / "build/uml-7.3-kunit"
        self.kdir = subprocess.run([ROOT / "vm/kernel.sh", "uml-7.3"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip() + "/build"

    def kunit(self, mutant):
        """Whether KUnit finds the mutant"""
        if not self.dir:
            self.prepare()
        files = [self.dir / mutant.file, self.dir / (pathlib.Path(mutant.file).stem + ".o")]
        kept = [(file, file.read_bytes(), file.stat()) for file in files]
        files[0].write_text(mutant.text)
        try:
            if run(["make", "-C", self.kdir, "M=%s" % self.dir, "HWTIMER_KUNIT=y", "ARCH=um",
                    "HWTIMER_WERROR=n", "modules"]) != 0:
                raise NotBuilt("does not compile")
            return self.fails(self.dir / "hwtimer.ko")
        finally:
            for file, content, stat in kept:
                file.write_bytes(content)
                os.utime(file, (stat.st_atime, stat.st_mtime))

    @staticmethod
    def fails(module):
        """Whether a test of the module fails; the first one that does is enough."""
        with subprocess.Popen(
                [ROOT / "vm/run.sh", "--kernel", "uml-7.3", "--timeout", str(KUNIT_TIMEOUT),
                 "--append", "log_buf_len=4M", "--file", "%s=/hwtimer/hwtimer.ko" % module,
                 "--file", "%s=/hwtimer/guest-kunit" % (ROOT / "vm/guest-kunit"),
                 "--", "sh", "guest-kunit", "kunit_scale=%d" % KUNIT_SCALE],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True) as machine:
            for line in machine.stdout:
                if re.match(rb" *not ok ", line):
                    os.killpg(machine.pid, signal.SIGTERM)
                    return True
            return machine.wait() != 0


def suites_of(kunit):
    """All suites, in the order in which they run"""
    trees = Trees()
    atexit.register(trees.take_out)
    native = ["sim/*.[ch]", "sim/include/**/*.h", "bench/wheel/include/**/*.h"]
    simulations = [Suite("sim", trees.simulated(kind, arguments), *native,
                         what=kind + arguments) for kind, arguments in SIM_RUNS]
    suites = [Suite("builds", trees.builds), simulations[0],
              Suite("states", trees.states, "tests/states/*.[ch]"), *simulations[1:]]
    if kunit:
        suites.append(Suite("kunit", Kernel().kunit, "tests/*.[ch]"))
    return suites


def harmless():
    """The digests that mutants/harmless has: each line is a digest and a reason."""
    path = ROOT / "mutants/harmless"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(None, 1) for line in lines if line and line[0] != "#")


def choose(files, sample, seed):
    chosen = [mutant for file in files for mutant in mutants_of(file)]
    if sample and sample < len(chosen):
        # In random order: what a run that is interrupted has done is a sample, too.
        chosen = random.Random(seed).sample(chosen, sample)
    return chosen


COLUMNS = ["sim", "states", "kunit", "survives", "harmless", "same object",
           "does not compile"]


def report(table):
    print("%-22s %7s" % ("file", "mutants"), *("%8s" % name.split()[-1] for name in COLUMNS),
          "%7s" % "found")
    total = collections.Counter()
    for file, counts in table.items():
        total.update(counts)
    for file, counts in [*table.items(), ("all", total)]:
        found, counted = score(counts)
        print("%-22s %7d" % (file, sum(counts.values())),
              *("%8d" % counts[name] for name in COLUMNS),
              "%6.1f%%" % (100 * found / counted) if counted else "")
    return score(total)


def score(counts):
    found = counts["states"] + counts["sim"] + counts["kunit"]
    return found, found + counts["survives"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--require", type=float)
    parser.add_argument("--kunit", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    chosen = choose(arguments.files or FILES, arguments.sample, arguments.seed)
    if arguments.list:
        for mutant in chosen:
            print(mutant.digest(), mutant.name, *mutant.diff(), sep="\n    ")
        return

    suites = suites_of(arguments.kunit)
    excused = harmless()
    table = collections.defaultdict(collections.Counter)
    for mutant in chosen:
        result = next(filter(None, (suite.judge(mutant) for suite in suites)), "survives")
        if result == "survives" and mutant.digest() in excused:
            result = "harmless"
        table[mutant.file][result] += 1
        print("%-18s %s" % (result, mutant.name), flush=True)
        if result == "survives":
            print("    " + mutant.digest(), *mutant.diff(), sep="\n    ", flush=True)
    found, counted = report(table)
    if not counted:
        sys.exit("mutants: none of them counts")
    if arguments.require and 100 * found < arguments.require * counted:
        sys.exit("mutants: fewer than %g%% are found" % arguments.require)


if __name__ == "__main__":
    main()
