#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Tests `make vm` on a terminal: the machine's terminal has the size of ours, 24 rows of 80
characters if ours has none, and ours is as before at the end. hwtimerd and Redis are there.
Prints TAP. Called by test/vm/check.sh.

    usage: test/vm/terminal-test.py COMMAND [ARGUMENT...]

COMMAND is what starts the machine, with a shell on the terminal.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

# The size of the terminal, and what the machine's has then, in rows and columns
SIZES = [((47, 131), b"47 131"), ((0, 0), b"24 80")]

# How long the machine may print nothing, in seconds, as in test/vm/run.sh
PATIENCE = 600

# What the shell prints when it waits for a command, after the machine's greeting
PROMPT = re.compile(rb"exit ends the VM.*# ", re.DOTALL)

# Redis may still be starting. Without redis-cli, nothing is awaited.
COMMANDS = (b"stty size; hwtimerd --version; redis-cli --version && "
            b"until redis-cli ping 2>/dev/null; do usleep 100000; done; exit\r")


def take_terminal():
    """In the child: its standard input becomes the terminal of its session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def talk(master, process):
    """Gives the shell the COMMANDS; returns all that was printed."""
    said, asked, printed = b"", False, time.monotonic()
    while time.monotonic() < printed + PATIENCE:
        if select.select([master], [], [], 0.2)[0]:
            said += os.read(master, 65536)
            printed = time.monotonic()
        elif process.poll() is not None:
            return said
        if not asked and PROMPT.search(said):
            os.write(master, COMMANDS)
            asked = True
    print("# the machine hung: it printed nothing for", PATIENCE, "s")
    os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    return said


def run(command, size):
    """
    Runs COMMAND on a terminal of that size. Returns what it printed, its exit status, and
    whether the terminal is as it was.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True, preexec_fn=take_terminal,
                               env={**os.environ, "TERM": "xterm"})
    said = talk(master, process)
    same = termios.tcgetattr(slave) == before
    os.close(slave)
    os.close(master)
    return said, process.wait(), same


def main():
    number, failed = 0, 0

    def check(name, passed, said):
        nonlocal number, failed
        number += 1
        print("ok" if passed else "not ok", number, "-", name, flush=True)
        if not passed:
            failed = 1
            for line in said.decode(errors="replace").splitlines():
                print("#", line)

    print("TAP version 13")
    for size, expected in SIZES:
        said, status, same = run(sys.argv[1:], size)
        sizes = re.findall(rb"^(\d+ \d+)\s*$", said, re.MULTILINE)
        name = "a terminal of {} x {}".format(*size)
        check(f"{name}: the machine's has {expected.decode()}", sizes == [expected], said)
        for program, answer in ("hwtimerd", rb"^hwtimerd \d"), ("Redis", rb"^PONG\s*$"):
            check(f"{name}: {program} is there", re.search(answer, said, re.MULTILINE), said)
        check(f"{name}: the machine ends well", status == 0, said)
        check(f"{name} is as before", same, said)
    print(f"1..{number}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
