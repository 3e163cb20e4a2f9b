#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs unittest's tests of modules in this directory, and prints TAP.

usage: tap.py MODULE...

The exit status is 0 if all tests passed and there was at least one.
"""

import faulthandler
import gc
import os
import sys
import unittest

# A test that waits for what never comes ends here, and shows where it waited.
HANG_SECONDS = 300


class Tap(unittest.TestResult):
    """One line for each test. Its subtests are shown only if they fail."""

    count = 0

    def startTest(self, test):
        super().startTest(test)
        self.bad = False
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)

    def stopTest(self, test):
        super().stopTest(test)
        faulthandler.cancel_dump_traceback_later()
        self.count += 1
        skipped = [reason for one, reason in self.skipped if one is test]
        print("not ok" if self.bad else "ok", self.count, test.id(),
              f"# SKIP {skipped[0]}" if skipped else "", flush=True)

    def _show(self, test, err):
        self.bad = True
        for line in self._exc_info_to_string(err, test).splitlines():
            print("#", line, flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        self._show(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._show(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._show(subtest, err)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.bad = True


def main():
    """Returns the exit status."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    print(f"1..{suite.countTestCases()}", flush=True)
    result = Tap()
    suite.run(result)
    gc.collect()
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
