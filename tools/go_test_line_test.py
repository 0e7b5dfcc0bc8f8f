#!/usr/bin/env python3
"""Gives go_test_line the events of runs of `go test -json`, and reads its line."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("go_test_line.py")


def event(action, test=None, package="x"):
    return {"Action": action, "Package": package} | ({"Test": test} if test else {})


def line(events, errors=0):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write("".join(json.dumps(each) + "\n" for each in events))
        file.flush()
        environment = os.environ | {"GOTESTSUM_JSONFILE": file.name, "TESTS_ERRORS": str(errors)}
        done = subprocess.run([sys.executable, str(SCRIPT), "go/pb", "race"], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


class GoTestLine(unittest.TestCase):
    def test_counts(self):
        events = [event("pass", "A"), event("skip", "B"), event("pass", "C/sub"), event("pass", "C"), event("output", "D"), event("pass")]
        self.assertEqual(line(events), "go test: 3 passed, 0 failed, 1 skipped (go/pb, race)\n")

    def test_what_passed_when_it_was_run_again_passed(self):
        events = [event("fail", "A"), event("fail"), event("pass", "A"), event("pass")]
        self.assertEqual(line(events), "go test: 1 passed, 0 failed, 0 skipped (go/pb, race)\n")

    def test_what_failed_twice_failed_once(self):
        events = [event("fail", "A"), event("pass", "B"), event("fail"), event("fail", "A"), event("fail")]
        self.assertEqual(line(events), "go test: 1 passed, 1 failed, 0 skipped (go/pb, race)\n")

    def test_same_names_in_two_packages_are_two(self):
        events = [event("fail", "A"), event("fail"), event("pass", "A", "y"), event("pass", package="y")]
        self.assertEqual(line(events), "go test: 1 passed, 1 failed, 0 skipped (go/pb, race)\n")

    def test_a_package_that_fails_as_a_whole_is_a_failed_test(self):
        self.assertIn(" 1 failed", line([event("pass", "A"), event("fail")]))
        self.assertIn(" 1 failed", line([event("pass", "A"), event("pass")], errors=1))
        self.assertIn(" 1 failed", line([event("fail", "A"), event("fail")], errors=1))


if __name__ == "__main__":
    unittest.main()
