# SPDX-License-Identifier: Apache-2.0

"""Runs the tests of the console's page, or makes the pictures of the README. See scripts/test-console."""

import sys
import time
import traceback
import unittest

import test_console_actions
import test_console_faults
import test_console_pages
from console_pictures import make_pictures
from console_session import Session


class Result(unittest.TestResult):
    """Prints a line for each test."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def line(self, mark, test):
        print(f"{mark} {test.id().split('.')[-1].removeprefix('test_').replace('_', ' ')} ({time.monotonic() - self.began:.1f} s)", flush=True)

    def addSuccess(self, test):
        self.line("✓", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.line("✕", test)
        traceback.print_exception(*error)

    def addError(self, test, error):
        super().addError(test, error)
        print("✕", test)
        traceback.print_exception(*error)


def main(arguments):
    if arguments[:1] == ["--pictures"]:
        make_pictures(arguments[1])
        return 0
    suite = unittest.TestSuite()
    for module in (test_console_pages, test_console_actions, test_console_faults):
        for group in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in group:
                if not arguments or any(name in test.id() for name in arguments):
                    suite.addTest(test)
    result = Result()
    began = time.monotonic()
    try:
        suite.run(result)
    finally:
        Session.stop()
    failed = len(result.failures) + len(result.errors)
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
