#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Changes the module's sources mechanically, one place at a time, and counts the changes
that the tests find. `make mutants` runs it.

    usage: test/mutants/mutants.py [--sample N] [--seed N] [--require PERCENT] [--native]
                              [--jobs N] [--fresh] [--list] [FILE...]

A mutant is a file with one change. Its name is FILE:LINE:OPERATOR, with a number if a line
has several. All mutants are compiled at once: each function with mutants gets a copy for
each of them, and calls the one that is chosen when the program starts. So a mutant costs
little more than the test that finds it.

The mutants run through the suites. Those that a suite finds do not run in the next one. The
suites that find most in little processor time come first. All are part of `make check`:

    lint      whether each barrier still has its pair (test/vm/barriers.awk), for barriers
    sim       the simulation (test/sim/), for a moment, then for longer, then 10^7 operations
    small     the simulation with small constants
    kunit     the KUnit suites in User-Mode Linux, those first that look at the changed
              source; not with --native
    states    all states of small wheels (test/proofs/states/), for the sources of the wheel
    asan      the simulation with AddressSanitizer and UBSan
    tsan      the simulation with ThreadSanitizer, for changes of locks and barriers

A mutant that none of them finds survives, unless test/mutants/harmless says why it does no
harm; the slow suites do not run for those. A mutant that does not compile, or compiles to the
same object, does not count. --require fails if fewer than PERCENT of the others are found.

What the suites said is kept in build/mutants/results, so a run that was interrupted goes
on. "Not found" holds for the very sources and tests on which it was seen. "Found" also holds
when others change, as long as the function with the change and the suite's arguments are the
same; the report counts such mutants, and --fresh judges them anew.
"""
import argparse
import collections
import concurrent.futures
import difflib
import fcntl
import hashlib
import os
import pathlib
import queue
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/mutants"
RESULTS = BUILD / "results"
SOURCE = BUILD / "source"
SIM = BUILD / "sim"

# What the module is compiled from
ROOMS = sorted(set(re.findall(r"^\t(?!test/kunit/)(\w+)/\w+\.o", (ROOT / "Kbuild").read_text(), re.M)))
SOURCES = ["*.[ch]", *("%s/*.[ch]" % room for room in ROOMS), "uapi/linux/*.h"]
MODULE = ["Kbuild", *SOURCES]

WHEEL = {"wheel/%s.c" % name for name in ("wheel", "bucket", "walk", "expire", "refile", "sweep",
                                          "reserve", "hashed", "hierarchy")}
FILES = [*sorted(WHEEL), "wheel/table.c", "events/read.c", "instance/instance.c",
         "worker/worker.c", "worker/tenant.c", "worker/job.c"]

# Calls that only make the module faster, or that check or trace: without them it does the
# same.
IDLE = re.compile(r"(lockdep_\w+|might_\w+|cond_resched\w*|prefetchw?|hwtimer_\w*prefetch\w*|"
                  r"chunk_look|hwtimer_queue_look\w*|trace_\w+|"
                  r"WARN\w*|static_assert|MODULE_\w+)\b")

# Arguments of wheel-states for each kind of wheel; each finds most of its mutants.
STATES = {
    "hierarchical": ["hierarchical 4 2 1 5", "hierarchical 4 3 0 5 compacts",
                     "hierarchical 4 2 0 3 rewinds", "hierarchical 4 2 1 3 moves slack"],
    "hashed": ["hashed 8 2 1 0,1,8,9 moves shift=40",
               "hashed 8 2 1 0,1,8,9 compacts shift=40",
               "hashed 8 2 0 0,1,8,9 rewinds shift=40"],
}
# KUnit's suites that look at a source, as a pattern for the kernel. They run before all others.
SUITES = {
    "wheel": "hwtimer_wheel", "hashed": "hwtimer_wheel", "hierarchy": "hwtimer_wheel",
    "table": "hwtimer_table", "read": "hwtimer_[eilpr]*", "instance": "hwtimer_i*",
    "worker": "hwtimer_worker",
}

# Tests of how slices share a processor: one of them fails now and then if the host has so much
# to do that the machine stands still in the middle of most slices.
UNSTEADY = {"jobs_share_by_time", "a_job_that_is_rarely_due_is_served_soon",
            "a_tenant_that_is_rarely_due_is_served_soon",
            "a_job_that_rested_does_not_catch_up", "tenants_share_by_time"}

# Chooses a mutant, in a program and in a kernel
CHOICE = """
unsigned int hwtimer_mutant;
char *getenv(const char *name);
int atoi(const char *text);

__attribute__((constructor)) static void hwtimer_mutant_choose(void)
{
	const char *text = getenv("HWTIMER_MUTANT");

	hwtimer_mutant = text ? atoi(text) : 0;
}
"""
PARAMETER = """
unsigned int hwtimer_mutant;
module_param(hwtimer_mutant, uint, 0444);
"""

# The sources that test/vm/lint.sh has checked for barriers
BARRIERS = SOURCES

# Changes that only threads which truly run at the same time may notice
ORDERS = {"barrier", "lock-dropped", "lock-later", "unlock-earlier"}

# Seconds of a processor after which a seed of the simulation runs in circles, a hundred times
# what it takes without a mutant, and after which another program does. Bytes that a program
# may have; sanitizers reserve more.
SEED = 2
PROCESSOR = 60
MEMORY = 8 << 30

# Seconds after which a program hangs, on a machine that may do other things, and after which a
# kernel does that says nothing
TIMEOUT = 900
SILENCE = 400


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


# A function: what stands before its name, its name, its parameters, and its body
FUNCTION = re.compile(r"^(?=[A-Za-z_])([^;{}=()]*?)\b(\w+)\(([^;{}=]*?)\)[^;{}=()]*"
                      r"(?:\([^;{}()]*\)\s*)*\n\{\n.*?\n\}\n", re.M | re.S)


class Function:
    def __init__(self, match):
        self.begin, self.end = match.span()
        self.name_at = match.start(2) - self.begin
        self.name = match[2]
        self.body_at = match[0].index("\n{\n") + 3
        self.static = match[1].startswith("static")
        self.void = re.search(r"\bvoid\s*$", match[1])
        names = [re.search(r"(\w+)(\[\])?\s*$", part)[1] for part in match[3].split(",")]
        self.arguments = [] if names == ["void"] else names

    def copy(self, text, number):
        """The copy of the function with the change that `text` has"""
        return "%s%s%s__%d%s" % ("" if self.static else "static ", text[:self.name_at],
                                 self.name, number, text[self.name_at + len(self.name):])

    def choice(self, number):
        """Has the function call that copy."""
        call = "%s__%d(%s);" % (self.name, number, ", ".join(self.arguments))
        return "\tcase %d: %s\n" % (number, call + " return;" if self.void else
                                    "return " + call)


class Mutant:
    def __init__(self, file, text, function, change, again):
        self.file, self.text, self.before = file, change.apply(text), text
        self.operator, self.function = change.operator, function
        line = text.count("\n", 0, change.begin) + 1
        self.name = "%s:%d:%s" % (file, line, change.operator) + (
            "#%d" % again if again else "")
        self.number = self.digest = None
        end = function.end + len(self.text) - len(text)
        self.changed = self.text[function.begin:end]

    def diff(self):
        """The changed lines, without numbers: test/mutants/harmless names a mutant by them."""
        lines = difflib.unified_diff(self.before.splitlines(), self.text.splitlines(),
                                     n=0, lineterm="")
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]

    def hash(self):
        """Names the change, not its line, so that it lasts when other lines change."""
        return sha256(self.file, self.function.name, *self.diff())[:12]


def sha256(*parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def mutants_of(file):
    """
    All mutants of a file. If a function has the same lines twice, their digests differ.
    What stands outside of functions is the business of the compiler.
    """
    text = (ROOT / file).read_text()
    functions = [Function(match) for match in FUNCTION.finditer(blank(text))]
    names, digests = collections.Counter(), collections.Counter()
    for change in sorted(changes(text), key=lambda change: (change.begin, change.operator)):
        function = [function for function in functions
                    if function.begin + function.body_at <= change.begin < function.end]
        if not function:
            continue
        key = (text.count("\n", 0, change.begin), change.operator)
        mutant = Mutant(file, text, function[0], change, names[key])
        names[key] += 1
        again = mutant.hash()
        mutant.digest = again + ("#%d" % digests[again] if digests[again] else "")
        digests[again] += 1
        yield mutant


def all_in_one(mutants):
    """The text of a file with all of these mutants of it, and the mutant of each line"""
    text = mutants[0].before
    parts, owners, done = [], [], 0

    def add(part, owner=None):
        parts.append(part)
        owners.extend([owner] * part.count("\n"))

    by_function = collections.defaultdict(list)
    for mutant in mutants:
        by_function[mutant.function].append(mutant)
    for function, group in sorted(by_function.items(), key=lambda item: item[0].begin):
        add(text[done:function.begin] + "extern unsigned int hwtimer_mutant;\n\n")
        for mutant in group:
            add(function.copy(mutant.changed, mutant.number) + "\n", mutant)
        done = function.begin + function.body_at
        add(text[function.begin:done] + "\tswitch (hwtimer_mutant) {\n")
        add("".join(function.choice(mutant.number) for mutant in group) + "\t}\n")
    add(text[done:])
    return "".join(parts), owners


def run(command, timeout=TIMEOUT, processor=None, memory=None, **options):
    """Returns the exit status; None after the timeout, which counts as a failure."""
    limits = ["--cpu=%d" % processor] if processor else []
    limits += ["--as=%d" % memory] if memory else []
    if limits:
        command = ["prlimit", *limits, *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT,
                               stderr=subprocess.DEVNULL, start_new_session=True, **options)
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


def environment(mutant):
    return {**os.environ, "HWTIMER_MUTANT": str(mutant.number if mutant else 0)}


class Suite:
    """
    A suite. `finds` takes a list of mutants and yields (mutant, whether it finds it, the test
    that fails). A mutant None is the module as it is. `patterns`: the files on which the suite
    depends besides the module's.
    """

    def __init__(self, name, what, finds, *patterns, judges=lambda mutant: True, slow=False):
        self.name, self.what, self.finds, self.judges = name, what, finds, judges
        self.slow = slow
        parts = sorted(part for pattern in (*MODULE, *patterns) for part in ROOT.glob(pattern))
        self.sources = sha256(*(part.read_text() for part in parts))

    def known(self, mutant):
        """The file with what the suite has said of this change of the function"""
        return RESULTS / sha256(self.name, self.what, mutant.file, mutant.changed)

    def said(self, mutant, fresh):
        """
        What the suite has said: its name if it finds the mutant, "" if not; the test that
        failed; and whether that was with these sources. None: it has to run.
        """
        try:
            sources, result, test = self.known(mutant).read_text().split("\n")
        except FileNotFoundError:
            return None
        now = sources == self.sources
        return (result, test, now) if now or (result and not fresh) else None

    def judge(self, mutants):
        """Has the suite run. Yields the mutants, and what said() then returns."""
        self.check()
        for mutant, found, test in self.finds(mutants):
            result = self.name if found else ""
            write(self.known(mutant), "\n".join((self.sources, result, test)))
            yield mutant, (result, test, True)

    def check(self):
        """Without a mutant, the suite has to pass. Otherwise it would find all of them."""
        # Whichever suites of KUnit begin, all of them have passed.
        what = "" if self.name == "kunit" else self.what
        done = RESULTS / sha256("passes", self.name, what, self.sources)
        if not done.exists():
            for _, found, test in self.finds([None]):
                if found:
                    sys.exit("mutants: %s %s fails without a mutant: %s" % (
                        self.name, self.what, test))
            write(done, "")


def write(file, text):
    """Writes a file that is there either whole or not at all."""
    temporary = file.with_name(file.name + ".new")
    temporary.write_text(text)
    temporary.rename(file)


class Copies:
    """Copies of the sources, in which all mutants are"""

    def __init__(self, mutants, jobs):
        self.jobs = jobs
        self.mutants = collections.defaultdict(list)
        for mutant in mutants:
            self.mutants[mutant.file].append(mutant)
        self.made = set()
        self.copy(SOURCE, *MODULE, but="wheel/chunk.c")

    @staticmethod
    def copy(there, *patterns, but):
        """Copies files, but not those that are changed there."""
        there.mkdir(parents=True, exist_ok=True)
        files = [str(file.relative_to(ROOT)) for pattern in patterns
                 for file in ROOT.glob(pattern) if str(file.relative_to(ROOT)) not in (*FILES, but)]
        # A copy that changes gets a new time, whatever time its original has.
        subprocess.run(["rsync", "--checksum", "--relative", *files, there], check=True,
                       cwd=ROOT)

    @staticmethod
    def put(path, text):
        """Leaves a file alone that has this text."""
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def fill(self, there):
        for file in FILES:
            mutants = self.mutants[file]
            self.put(there / file, all_in_one(mutants)[0] if mutants else
                     (ROOT / file).read_text())

    def compile(self):
        """Leaves out the mutants that do not compile, and returns them."""
        broken = []
        for file, mutants in self.mutants.items():
            while mutants:
                text, owners = all_in_one(mutants)
                self.put(SOURCE / file, text)
                messages = subprocess.run(
                    ["make", "-C", "sim", "object", "SOURCES=%s" % SOURCE,
                     "FILE=%s" % (SOURCE / file), "OBJECT=/dev/null",
                     "EXTRA=-g0 -fsyntax-only"], cwd=ROOT, text=True,
                    stderr=subprocess.PIPE, stdout=subprocess.DEVNULL).stderr
                lines = [int(line) for line in re.findall(
                    r"/%s:(\d+):\d+: error:" % re.escape(file), messages)]
                bad = {owners[line - 1] for line in lines}
                if None in bad:
                    sys.exit("mutants: %s does not compile:\n%s" % (file, messages))
                if not bad:
                    break
                broken += bad
                mutants[:] = [mutant for mutant in mutants if mutant not in bad]
        self.fill(SOURCE)
        chunk = (ROOT / "wheel/chunk.c").read_text()
        self.put(SOURCE / "wheel/chunk.c", chunk + CHOICE)
        return broken

    def each(self, finds, mutants):
        """Has `finds` judge several mutants at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            try:
                futures = {pool.submit(finds, mutant): mutant for mutant in mutants}
                for future in concurrent.futures.as_completed(futures):
                    yield futures[future], future.result(), ""
            finally:
                pool.shutdown(cancel_futures=True)

    def simulation(self, what, processor=SEED):
        """Returns a function that runs the simulation: a kind, and arguments"""
        kind, *arguments = what.split()
        memory = MEMORY if kind in ("plain", "small") else None

        def finds(mutants):
            if kind not in self.made:
                if run(["make", "-j%d" % self.jobs, "-C", "sim", "OUT=%s" % SIM,
                        "SOURCES=%s" % SOURCE, "KIND=%s" % kind,
                        "EXTRA=-g0 -w -Wno-error"], 3600) != 0:
                    sys.exit("mutants: the simulation does not compile")
                self.made.add(kind)
            yield from self.each(lambda mutant: run(
                [SIM / kind / "simulate", *arguments], processor=processor, memory=memory,
                env=environment(mutant)) != 0, mutants)
        return finds

    def states(self, mutants):
        """All states of small wheels"""
        program = BUILD / "wheel-states-1"
        sources = [SOURCE / name for name in sorted(WHEEL | {"wheel/chunk.c"})]
        if run(["make", "-C", "test/proofs/states", "OUT=%s" % BUILD, str(program),
                "CFLAGS_MORE=-w", "WHEEL=%s" % " ".join(map(str, sources))]) != 0:
            sys.exit("mutants: the states of wheels do not compile")
        kinds = {"wheel/hashed.c": ["hashed"], "wheel/hierarchy.c": ["hierarchical"]}

        def finds(mutant):
            file = mutant.file if mutant else ""
            return any(run([program, *arguments.split()], processor=PROCESSOR,
                           memory=MEMORY, env=environment(mutant)) != 0
                       for kind in kinds.get(file, ["hashed", "hierarchical"])
                       for arguments in STATES[kind])
        yield from self.each(finds, mutants)


def barriers(mutants):
    """Whether test/vm/barriers.awk misses the barrier that another one's comment names"""
    sources = sorted(file for pattern in BARRIERS for file in ROOT.glob(pattern))
    for mutant in mutants:
        with tempfile.TemporaryDirectory() as directory:
            for file in sources:
                copy = pathlib.Path(directory) / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(mutant.text if mutant and mutant.file == str(file.relative_to(ROOT))
                                else file.read_text())
            names = [str(file.relative_to(ROOT)) for file in sources]
            yield mutant, subprocess.run(
                ["awk", "-f", ROOT / "test/vm/barriers.awk", *names], cwd=directory,
                stdout=subprocess.DEVNULL).returncode != 0, ""


def same(mutants):
    """Whether a mutant compiles to the same object as the source"""
    with tempfile.TemporaryDirectory() as directory:
        def compiled(name, text):
            file = pathlib.Path(directory) / pathlib.PurePath(name).name
            file.write_text(text)
            run(["make", "-C", "sim", "object", "SOURCES=%s" % ROOT, "FILE=%s" % file,
                 "OBJECT=%s.o" % file, "EXTRA=-g0"])
            return pathlib.Path("%s.o" % file).read_bytes()

        before = {}
        for mutant in mutants:
            if mutant:
                if mutant.file not in before:
                    before[mutant.file] = compiled(mutant.file, mutant.before)
                yield mutant, compiled(mutant.file, mutant.text) == before[mutant.file], ""


class Kernel:
    """KUnit in User-Mode Linux"""

    def __init__(self, copies):
        self.copies, self.dir, self.made = copies, BUILD / "kernel", False

    def prepare(self):
        """Builds the module, with all mutants."""
        if self.made:
            return
        self.copies.copy(self.dir, *MODULE, "test/kunit/*.[ch]", but="test/kunit/random.c")
        self.copies.fill(self.dir)
        parameters = (ROOT / "test/kunit/random.c").read_text()
        self.copies.put(self.dir / "test/kunit/random.c", parameters + PARAMETER)
        kernel = subprocess.run([ROOT / "test/vm/kernel.sh", "uml-7.3"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.strip()
        if run(["make", "-j%d" % self.copies.jobs, "-C", kernel + "/build",
                "M=%s" % self.dir, "HWTIMER_KUNIT=y", "ARCH=um", "HWTIMER_WERROR=n",
                "modules"], 7200) != 0:
            sys.exit("mutants: the module does not compile: see build/mutants/kernel")
        self.made = True

    def first(self, mutants):
        """The suites that look at the mutant's source"""
        yield from self.finds(mutants, lambda mutant: SUITES[
            pathlib.PurePath(mutant.file).stem] if mutant else "*")

    def all(self, mutants):
        """
        All suites. A test of another source that fails may be an unsteady one, whatever its
        name, so it has to fail again.
        """
        yield from self.finds(mutants, lambda mutant: "*", True)

    def finds(self, mutants, suites, twice=False):
        self.prepare()
        results = queue.SimpleQueue()

        def judge(share):
            try:
                for result in self.in_machines(share, suites, twice):
                    results.put(result)
            finally:
                results.put(None)

        jobs = min(self.copies.jobs, len(mutants))
        for share in range(jobs):
            threading.Thread(target=judge, args=(mutants[share::jobs],), daemon=True).start()
        while jobs:
            result = results.get()
            if result:
                yield result
            else:
                jobs -= 1

    def in_machines(self, mutants, suites, twice):
        """
        A machine judges one mutant after the other until one fails. If no test failed but
        the kernel died or hung, or if an unsteady test failed, that might be the host's
        fault, so it has to happen again.
        """
        left, suspect = list(mutants), ()
        while left:
            passed, failed = self.machine(left if left[0] is not suspect else left[:1],
                                          suites)
            for mutant in left[:passed]:
                yield mutant, False, ""
            left = left[passed:]
            if not left:
                break
            steady = failed and failed not in UNSTEADY and not twice
            if left[0] is suspect or steady:
                yield left[0], True, failed or "no test, but the kernel"
                left, suspect = left[1:], ()
            else:
                suspect = left[0]

    def machine(self, mutants, suites):
        """
        Returns how many mutants, from the first on, have passed, and which test of the next
        one has failed; None: no test, but the machine has ended.
        """
        items = ["%d:%s" % (mutant.number if mutant else 0, suites(mutant))
                 for mutant in mutants]
        machine = subprocess.Popen(
            ["prlimit", "--cpu=%d" % (PROCESSOR * len(items)),
             ROOT / "test/vm/run.sh", "--kernel", "uml-7.3",
             "--append", "log_buf_len=4M",
             "--file", "%s=/hwtimer/hwtimer.ko" % (self.dir / "hwtimer.ko"),
             "--file", "%s=/hwtimer/guest" % (ROOT / "test/mutants/guest"),
             "--", "sh", "guest", *items], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True)
        begun, text, test = 0, b"", b""
        try:
            while select.select([machine.stdout], [], [], SILENCE)[0]:
                read = os.read(machine.stdout.fileno(), 65536)
                if not read:
                    if machine.wait() == 0 and begun == len(items):
                        return begun, None
                    break
                *lines, text = (text + read).split(b"\n")
                for line in lines:
                    begun += line.startswith(b"HWTIMER-MUTANT ")
                    named = re.match(rb" *# Subtest: (\w+)", line)
                    test = named[1] if named else test
                    failed = re.match(rb"( *)not ok \d+ (\w+)", line)
                    if failed:
                        # A test with parameters is a subtest, and fails with one of them.
                        return begun - 1, (test if len(failed[1]) > 4 else
                                           failed[2]).decode()
            return max(begun - 1, 0), None
        finally:
            end(machine, signal.SIGTERM)
            machine.stdout.close()


def suites_of(copies, native):
    """All suites, in the order in which they run"""
    kernel = Kernel(copies)
    shims = ["test/sim/*.[ch]", "test/sim/include/**/*.h", "bench/wheel/include/**/*.h"]

    def simulated(name, what, *processor, **more):
        return Suite(name, what, copies.simulation(what, *processor), *shims, **more)

    suites = [
        Suite("lint", "barriers", barriers, *BARRIERS, "test/vm/barriers.awk",
              judges=lambda mutant: mutant.operator == "barrier"),
        simulated("sim", "plain --seeds 1 --ops 150000"),
        simulated("sim", "plain --seeds 100 --ops 400000"),
        simulated("small", "small --seeds 1 --ops 300000"),
        Suite("kunit", "first", kernel.first, "test/kunit/*.[ch]", slow=True),
        Suite("same object", "", same, slow=True),
        simulated("asan", "asan --seeds 1 --ops 300000", slow=True),
        Suite("kunit", "all", kernel.all, "test/kunit/*.[ch]", slow=True),
        Suite("states", str(STATES), copies.states, "test/proofs/states/*.[ch]",
              "bench/wheel/*.[ch]", judges=lambda mutant: mutant.file in WHEEL, slow=True),
        simulated("sim", "plain --seeds 1000 --ops 10000000", slow=True),
        simulated("tsan", "tsan --seeds 1 --ops 3000 --run 500", PROCESSOR,
                  judges=lambda mutant: mutant.operator in ORDERS, slow=True),
    ]
    return [suite for suite in suites if suite.name != "kunit" or not native]


def harmless():
    """The digests that test/mutants/harmless has: each line is a digest and a reason."""
    path = ROOT / "test/mutants/harmless"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(None, 1) for line in lines if line and line[0] != "#")


def choose(files, sample, seed):
    """In random order. A mutant keeps its place in that order when others come or go."""
    chosen = [mutant for file in files for mutant in mutants_of(file)]
    chosen.sort(key=lambda mutant: sha256(str(seed), mutant.digest))
    chosen = chosen[:sample or None]
    for number, mutant in enumerate(chosen, 1):
        mutant.number = number
    return chosen


def judge_all(mutants, suites, fresh, excused):
    """Yields each mutant, what became of it, the test that failed, and whether that was with
    these sources."""
    left = []
    for mutant in mutants:
        # A suite that has found it before need not wait for those that come earlier.
        found = [said for said in (suite.said(mutant, fresh) for suite in suites)
                 if said and said[0]]
        if found:
            yield mutant, *found[0]
        else:
            left.append(mutant)
    for suite in suites:
        judged = [mutant for mutant in left if suite.judges(mutant) and
                  not (suite.slow and mutant.digest in excused) and
                  not suite.said(mutant, fresh)]
        if not judged:
            continue
        print("# %s %s: %d mutants" % (suite.name, suite.what, len(judged)), flush=True)
        for mutant, said in suite.judge(judged):
            if said[0]:
                left.remove(mutant)
                yield mutant, *said
    for mutant in left:
        yield mutant, "harmless" if mutant.digest in excused else "survives", "", True


FOUND = ["lint", "sim", "small", "asan", "states", "kunit", "tsan"]
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
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
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
    # What the compiler says is looked for.
    os.environ["LC_ALL"] = "C"
    # As an exit, so that no machine goes on
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    RESULTS.mkdir(parents=True, exist_ok=True)
    held = open(BUILD / ".lock", "w")
    fcntl.flock(held, fcntl.LOCK_EX)

    copies = Copies(chosen, arguments.jobs)
    broken = copies.compile()
    excused = harmless()
    table = collections.defaultdict(collections.Counter)
    earlier = 0
    for mutant in broken:
        table[mutant.file]["does not compile"] += 1
    for mutant, result, test, now in judge_all(
            [mutant for mutant in chosen if mutant not in broken],
            suites_of(copies, arguments.native), arguments.fresh, excused):
        table[mutant.file][result] += 1
        earlier += not now
        print("%-18s %s %s" % (result, mutant.name, test), flush=True)
        if result == "survives":
            print("    " + mutant.digest, *mutant.diff(), sep="\n    ", flush=True)
    found, counted = report(table)
    if earlier:
        print("%d of those that were found were found in earlier sources, of which the "
              "changed function is the same" % earlier)
    if not counted:
        sys.exit("mutants: none of them counts")
    if arguments.require and 100 * found < arguments.require * counted:
        sys.exit("mutants: fewer than %g%% are found" % arguments.require)


if __name__ == "__main__":
    main()
