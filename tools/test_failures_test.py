#!/usr/bin/env python3
"""Gives test_failures logs of ctest and of gotestsum, and reads what it repeats."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import test_failures  # noqa: E402 (the path line above makes it importable)

CTEST = """      Start  1: mem.pool
      Start  2: mem.page
1/4 Test  #1: mem.pool .....................   Passed    0.01 sec
2/4 Test  #2: mem.page .....................***Failed    0.02 sec
page_test.cc:12: Failure
      Start  3: mem.huge
3/4 Test  #3: mem.huge .....................***Skipped   0.02 sec
not here
      Start  4: mem.hang
4/4 Test  #4: mem.hang .....................***Timeout  60.00 sec
the last words

75% tests passed, 2 tests failed out of 4
""".splitlines()
GO = """ok
=== Failed
=== FAIL: scope TestReset (0.01s)
    reset_test.go:7: not reset

=== Skipped
=== SKIP: scope TestOther (0.00s)

=== FAIL: live TestPage (0.10s)
    page_test.go:3: no page
DONE 367 tests, 1 skipped, 2 failures in 5.252s
""".splitlines()


class TestFailures(unittest.TestCase):
    def test_of_ctest(self):
        failed = test_failures.failures(CTEST)
        self.assertEqual([name for name, *_ in failed], ["mem.page", "mem.hang"])
        self.assertFalse(failed[0][2])
        self.assertEqual(failed[0][1][1:], ["page_test.cc:12: Failure"])
        self.assertIn("the last words", failed[1][1])

    def test_of_go(self):
        failed = test_failures.failures(GO)
        self.assertEqual([name for name, *_ in failed], ["scope TestReset (0.01s)", "live TestPage (0.10s)"])
        self.assertIn("    reset_test.go:7: not reset", failed[0][1])
        self.assertEqual(failed[1][1][1:], ["    page_test.go:3: no page"])

    def test_repeated(self):
        failed = test_failures.failures("""1/2 Test #1: a.flaky ..........................***Failed    0.01 sec
the reason
    Start 1: a.flaky
1/2 Test #2: a.bad ............................***Failed    0.01 sec
    Test #1: a.flaky ..........................   Passed    0.01 sec
    Start 2: a.bad
    Test #2: a.bad ............................***Failed    0.00 sec
""".splitlines())
        self.assertEqual([(name, again) for name, _, again in failed], [("a.flaky", True), ("a.bad", False)])
        self.assertIn("the reason", failed[0][1])

    def test_only_the_build_that_passed_then_did(self):
        failed = test_failures.failures("""1/1 Test #1: a.test ..........................***Failed    0.01 sec
    Start 1: a.test
    Test #1: a.test ..........................***Failed    0.01 sec
0% tests passed, 1 tests failed out of 1
1/1 Test #1: a.test ..........................***Failed    0.01 sec
    Start 1: a.test
    Test #1: a.test ..........................   Passed    0.01 sec
""".splitlines())
        self.assertEqual([again for *_, again in failed], [False, True])

    def test_go_repeated(self):
        failed = test_failures.failures("""DONE 5 tests, 3 failures in 0.005s
=== Failed
=== FAIL: scope TestOnce (0.00s)
    the reason

=== FAIL: scope TestBad (0.00s)

=== FAIL: scope TestBad (re-run 1) (0.00s)

DONE 2 runs, 8 tests, 4 failures in 0.888s
=== FAIL: live TestOnce (0.00s)
DONE 8 tests, 1 failure in 0.888s
""".splitlines())
        self.assertEqual(
            [(name, again) for name, _, again in failed],
            [("scope TestOnce (0.00s)", True), ("scope TestBad (0.00s)", False), ("live TestOnce (0.00s)", False)],
        )
        self.assertIn("    the reason", failed[0][1])

    def test_nothing_failed(self):
        self.assertEqual(test_failures.failures(["1/1 Test #1: a ....   Passed    0.01 sec", "100% tests passed, 0 tests failed out of 1"]), [])


if __name__ == "__main__":
    unittest.main()
