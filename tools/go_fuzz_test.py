#!/usr/bin/env python3
"""Lets go_fuzz run programs in place of fuzz tests: its time is that of new inputs, and all of them end."""

import io
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import go_fuzz  # noqa: E402 (the path line above makes it importable)

# `program KNOWN_SECONDS`: as a fuzz test, which ends well when it is interrupted.
PROGRAM = """
import signal, sys, time
def end(*_):
    print("PASS", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, end)
print("fuzz: elapsed: 0s, gathering baseline coverage: 0/9 completed", flush=True)
time.sleep(float(sys.argv[1]))
print("fuzz: elapsed: 1s, gathering baseline coverage: 9/9 completed, now fuzzing with 2 workers", flush=True)
while True:
    time.sleep(0.1)
"""
BEGUN = "9/9 completed"


class GoFuzzTest(unittest.TestCase):
    def run_on(self, program, known_seconds, seconds, known_seconds_max):
        """(exit code, what it said, how long it took)"""
        log, start = io.StringIO(), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            code = go_fuzz.fuzz([sys.executable, "-c", program, str(known_seconds)], folder, log, seconds,
                                known_seconds_max)
        return code, log.getvalue(), time.monotonic() - start

    def test_the_time_begins_with_the_first_new_input(self):
        code, words, took = self.run_on(PROGRAM, known_seconds=1.5, seconds=1, known_seconds_max=60)
        self.assertEqual(code, 0)
        self.assertIn(BEGUN, words)
        self.assertTrue(words.endswith("PASS\n"), words)
        self.assertGreaterEqual(took, 2.5)

    def test_known_inputs_that_take_for_ever_are_given_up(self):
        code, words, took = self.run_on(PROGRAM, known_seconds=300, seconds=1, known_seconds_max=1)
        self.assertEqual(code, 0)
        self.assertNotIn(BEGUN, words)
        self.assertLess(took, 200)

    def test_one_that_fails_is_not_waited_for(self):
        code, words, _ = self.run_on("print('--- FAIL: FuzzX'); raise SystemExit(1)", known_seconds=0,
                                     seconds=300, known_seconds_max=300)
        self.assertEqual((code, words), (1, "--- FAIL: FuzzX\n"))


if __name__ == "__main__":
    unittest.main()
