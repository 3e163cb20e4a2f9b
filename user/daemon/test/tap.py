# SPDX-License-Identifier: GPL-2.0-only
"""Runs test functions and prints TAP; the first line of a docstring is the test's name."""

import signal
import sys
import time
import traceback

import redis

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def expect_error(code, function, *args):
    """The call fails with this first word."""
    try:
        result = function(*args)
    except Exception as error:  # redis-py turns some codes into classes of their own
        text = str(error)
        known = {'READONLY': 'You can\'t write against a read only', 'OOM': 'command not allowed'}
        assert text.split(' ')[0] == code or text.startswith(known.get(code, '\0')), text
        return text
    raise AssertionError('%s expected, but the result is %r' % (code, result))


def fails(function, *args):
    """Calls it, and returns whether Redis refused that"""
    try:
        function(*args)
    except redis.RedisError:
        return True
    return False


def main(title):
    """Without arguments all tests; otherwise those whose function names begin so"""
    chosen = [t for t in TESTS if not sys.argv[1:] or
              any(t.__name__.startswith(prefix) for prefix in sys.argv[1:])]
    # An exit by exception ends the servers, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failures = 0
    print('TAP version 13\n1..%d' % len(chosen), flush=True)
    for number, function in enumerate(chosen, 1):
        start = time.monotonic()
        result = 'ok'
        try:
            function()
        except Exception:
            result = 'not ok'
            failures += 1
            for line in traceback.format_exc().splitlines():
                print('# ' + line[:600])
        print('%s %d - %s: %s # %.1f s' % (result, number, title, function.__doc__.splitlines()[0],
                                           time.monotonic() - start), flush=True)
    sys.exit(failures > 0)
