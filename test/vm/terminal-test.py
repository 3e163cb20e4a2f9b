#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Tests `make vm` on a terminal: the machine's terminal has the size of ours, 24 rows of 80
characters if ours has none, and ours is as before at the end. What one tries first works there: the
first programs of the pages, typed as they are printed; Python; a picture that comes out; hwtimerd and
Redis. Prints TAP. Called by test/vm/check.sh.

    usage: test/vm/terminal-test.py [--once] COMMAND [ARGUMENT...]

COMMAND is what starts the machine, with a shell on the terminal. --once: with one size.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
OUT = HERE / "build/vm"

# The size of the terminal, and what the machine's has then, in rows and columns
SIZES = [((47, 131), "47 131"), ((0, 0), "24 80")]

# How long the machine may print nothing, in seconds, as in test/vm/run.sh
PATIENCE = 600

# What the shell prints when it waits for a command, and then asks the terminal where the cursor is
PROMPT = re.compile(r"/hwtimer # (\x1b\[6n)?$")

END_OF_FILE = "\x04"

# What the user's terminal says
LANGUAGE = {"LANG": "de_DE.UTF-8", "TERM": "xterm"}

PYTHON = """
import hwtimer
timers = hwtimer.Instance()
timers.schedule(1000, 5)
print([event.user_data for event in timers.read(1)])
"""


def pages():
    """
    What the README, and the page about the calls, have their reader type, and the result: for the
    first program of each, the name of its file, the program, the command that compiles it, and a
    pattern of what it prints.
    """
    text = "".join((HERE / page).read_text() for page in ("README.md", "Documentation/calls.md"))
    programs = [block for block in re.findall(r"^```c\n(.*?)^```", text, re.M | re.S)
                if "main(" in block]
    prints = re.search(r"it prints$\s*```\n(.*?)```", text, re.M | re.S)[1]
    with_library, with_header = (re.search(pattern, text)[1] for pattern in
                                 (r"`(gcc [^`]*libhwtimer\))`", r"`(gcc -Iuapi[^`]*)`"))
    return [(re.search(r"\w+\.c", command)[0], program, command, expected)
            for program, command, expected in
            ((programs[0], with_library, re.escape(prints)),
             (programs[1], with_header, r"timer 7, \d+ ns late\n"))]


def take_terminal():
    """In the child: its standard input becomes the terminal of its session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Machine:
    """A machine on a terminal of its own. `said` is all that it printed."""

    def __init__(self, command, size):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.said = ""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("HWTIMER_LANG", "LC_ALL", "LC_CTYPE")}
        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, start_new_session=True,
                                        preexec_fn=take_terminal,
                                        env={**environment, **LANGUAGE})

    def wait(self, awaited):
        """Reads until `awaited` says so, or the machine has ended; returns what it printed."""
        here, printed = len(self.said), time.monotonic()
        while time.monotonic() < printed + PATIENCE:
            if select.select([self.master], [], [], 0.2)[0]:
                self.said += os.read(self.master, 65536).decode(errors="replace")
                # QEMU leaves our terminal's own \r in front of each \n.
                self.said = re.sub(r"\r+\n", "\n", self.said)
                printed = time.monotonic()
                if awaited(self.said):
                    return self.said[here:]
            elif self.process.poll() is not None:
                return self.said[here:]
        print("# the machine hung: it printed nothing for", PATIENCE, "s")
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        return self.said[here:]

    def type(self, text):
        os.write(self.master, text.replace("\n", "\r").encode())

    def ask(self, command):
        """What a command prints, without the command itself and the next prompt"""
        here = len(self.said)
        self.type(command + "\n")
        return PROMPT.sub("", self.wait(lambda said: "\n" in said[here:] and PROMPT.search(said))
                          .partition("\n")[2])

    def write(self, name, text):
        """Pastes a file, as a person would: when the shell does not read the keys any more"""
        self.type(f"echo now; cat >{name}\n")
        self.wait(lambda said: said.endswith("\nnow\n"))
        self.type(text + END_OF_FILE)
        self.wait(PROMPT.search)

    def end(self):
        """The exit status, and whether the terminal is as it was"""
        self.type("exit\n")
        self.wait(lambda said: False)
        same = termios.tcgetattr(self.slave) == self.before
        os.close(self.slave)
        os.close(self.master)
        return self.process.wait(), same


class Tap:
    number = failed = 0

    def check(self, name, passed, said):
        self.number += 1
        print("ok" if passed else "not ok", self.number, "-", name, flush=True)
        if not passed:
            self.failed = 1
            for line in said.splitlines():
                print("#", line)

    def prints(self, name, machine, command, expected):
        said = machine.ask(command)
        self.check(name, re.fullmatch(expected, said), f"{command}\n{said}")


def try_out(tap, machine):
    """What a newcomer tries"""
    tap.prints("the host has a name, and the language is ours", machine,
               "echo $(hostname) $LANG $TERM", "hwtimer de_DE.UTF-8 xterm\n")
    for name, program, command, expected in pages():
        machine.write(name, program)
        tap.prints(f"{command} compiles the page's {name}", machine, command, "")
        tap.prints(f"the page's {name} prints what the page says", machine, "./a.out", expected)
    machine.write("first.py", PYTHON)
    tap.prints("Python has the package", machine, "python3 first.py", r"\[5\]\n")
    # Redis may still be starting.
    tap.prints("Redis is there", machine,
               "until redis-cli ping 2>/dev/null; do usleep 100000; done", "PONG\n")
    tap.prints("hwtimerd is there", machine, "hwtimerd --version", r"hwtimerd \d.*\n")
    # By busybox, which is static, and by the C library
    tap.prints("localhost has an address", machine, r"printf 'PING\nQUIT\n' | nc localhost 6379",
               r"\+PONG\n\+OK\n")
    tap.prints("for Python, too", machine,
               "python3 -c 'import socket; print(socket.gethostbyname(\"localhost\"))'",
               r"127\.0\.0\.1\n")
    mine = OUT / f"mine-{os.getpid()}"
    mine.write_text("from outside\n")
    tap.prints("what is put into /out is there", machine, f"cat /out/{mine.name}",
               "from outside\n")
    mine.unlink()
    picture = OUT / f"picture-{os.getpid()}.png"
    said = machine.ask("(./hwtimer-demo >/dev/null 2>&1 &); "
                       f"hwtimerctl plot /out/{picture.name} --seconds 2")
    tap.check("a picture comes out", picture.exists() and
              picture.read_bytes().startswith(b"\x89PNG"), said)
    picture.unlink(missing_ok=True)


def main():
    command, sizes = sys.argv[1:], SIZES
    if command[0] == "--once":
        command, sizes = command[1:], SIZES[:1]
    tap = Tap()
    print("TAP version 13")
    for i, (size, expected) in enumerate(sizes):
        name = "a terminal of {} x {}".format(*size)
        machine = Machine(command, size)
        said = machine.wait(PROMPT.search)
        tap.check(f"{name}: the machine says that /out is {OUT}", f"/out is {OUT} on" in said, said)
        tap.prints(f"{name}: the machine's has {expected}", machine, "stty size", expected + "\n")
        if i == 0:
            try_out(tap, machine)
        status, same = machine.end()
        tap.check(f"{name}: the machine ends well", status == 0, machine.said)
        tap.check(f"{name} is as before", same, machine.said)
    print(f"1..{tap.number}")
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
