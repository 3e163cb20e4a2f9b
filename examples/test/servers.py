#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives the echo servers of the guide from outside, and prints TAP.

    servers.py COMMAND...   each is a server that takes a port and a timeout in ms

How long something takes decides nothing. What the client knows by its own clock does: a silent
connection must not be closed before its timeout, and one that has never been silent for as long
must not be closed at all. A machine that stands still makes it silent; then the timeout is
doubled, and the server driven again.
"""

import select
import signal
import socket
import struct
import subprocess
import sys
import time

PORT = 7171
LONG = bytes(range(256)) * 60  # more than a server's buffer
MANY = 50

tests = 0
failed = False


def check(what, passed):
    global tests, failed
    tests += 1
    failed |= not passed
    print(f"{'ok' if passed else 'not ok'} {tests} - {what}", flush=True)


class Ended(Exception):
    """The server has ended by itself."""


class Server:
    """A server that runs, until the end of a with statement"""

    def __init__(self, command, timeout):
        self.timeout = timeout
        self.process = subprocess.Popen([*command.split(), str(PORT),
                                         str(round(timeout * 1000))])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def connect(self):
        """Connects, once the server listens. Nobody waits for one that has ended."""
        while self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", PORT))
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise Ended


def echoes(connection, text):
    """Whether the text comes back, and nothing else; False: the connection is closed."""
    try:
        connection.sendall(text)
        heard = b""
        while len(heard) < len(text):
            more = connection.recv(65536)
            if not more:
                return False
            heard += more
        return heard == text
    except ConnectionError:
        return False


def is_closed(connection, wait):
    """Whether the server closes it within so many s"""
    if not select.select([connection], [], [], wait)[0]:
        return False
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def keep_up(server):
    """Talks on one connection, and is silent on another one, for three timeouts and until the
    silent one is closed. Returns how long it was open, and whether the other one was closed
    though it was not silent for a timeout; None as the latter: nobody can tell."""
    begin = time.monotonic()
    silent, active = server.connect(), server.connect()
    open_for, asked = None, time.monotonic()
    while open_for is None or time.monotonic() < begin + 3 * server.timeout:
        before, asked = asked, time.monotonic()
        if not echoes(active, b"still there?\n"):
            early = time.monotonic() - before < server.timeout
            return open_for, early or None
        if open_for is not None:
            time.sleep(server.timeout / 5)
        elif is_closed(silent, server.timeout / 5):
            open_for = time.monotonic() - begin
    return open_for, False


def drive_timeouts(command):
    timeout, early = 0.5, None
    while early is None:
        timeout *= 2
        with Server(command, timeout) as server:
            open_for, early = keep_up(server)
    check(f"{command}: a silent connection is closed", open_for is not None)
    check(f"{command}: not before its timeout", open_for is None or open_for >= timeout)
    check(f"{command}: each text pushes the timeout out", not early)


def drive_clients(command):
    """All that clients do but to be silent"""
    with Server(command, 3600) as server:
        first, leaves, resets = (server.connect() for _ in range(3))
        check(f"{command}: what is sent comes back", echoes(first, b"x") and
              echoes(first, b"hello\n" * 3) and echoes(leaves, b"y") and echoes(resets, b"z"))
        check(f"{command}: also if it is long", all(
            echoes(first, LONG[i:i + 4000]) for i in range(0, len(LONG), 4000)))
        leaves.close()
        reset(resets)
        first.shutdown(socket.SHUT_WR)
        check(f"{command}: who has no more to say is closed", is_closed(first, None))
        check(f"{command}: and others are served", echoes(server.connect(), b"x"))


def stop_meanwhile(server, connections):
    """Stops the server until the timeouts have passed, and sends a text on each connection.
    Returns False if some may have been closed before."""
    asked = time.monotonic()
    answered = all([echoes(connection, b"x") for connection in connections])
    server.process.send_signal(signal.SIGSTOP)
    in_time = answered and time.monotonic() < asked + server.timeout
    time.sleep(1.5 * server.timeout)
    for connection in connections:
        if in_time:
            connection.send(b"late\n")
    server.process.send_signal(signal.SIGCONT)
    return in_time


def drive_rounds(command):
    """Texts that come with the timeouts of their connections: the server is stopped, so that
    it finds both in one round of its loop."""
    timeout, in_time = 0.5, False
    while not in_time:
        timeout *= 2
        with Server(command, timeout) as server:
            connections = [server.connect() for _ in range(MANY)]
            in_time = stop_meanwhile(server, connections)
            closed = in_time and sum(is_closed(connection, None) for connection in connections)
            served = echoes(server.connect(), b"x")
    check(f"{command}: serves after texts that came with their timeouts", served)
    if "epoll" in command:
        check(f"{command}: such a text counts, as timers come last", closed == 0)


def main():
    for command in sys.argv[1:]:
        for drive in drive_clients, drive_timeouts, drive_rounds:
            try:
                drive(command)
            except Ended:
                check(f"{command}: does not end", False)
    print(f"1..{tests}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
