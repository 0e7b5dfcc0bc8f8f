#!/usr/bin/env python3
"""Gives fuzz_report logs of both fuzzers, with and without findings, and reads its table."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fuzz_report  # noqa: E402 (the path line above makes it importable)

LIBFUZZER = """#4\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb
#90000\tDONE   cov: 9 ft: 9 corp: 3/9b lim: 4096 exec/s: 1500 rss: 40Mb
Done 90000 runs in 60 second(s)
stat::number_of_executed_units: 90000
stat::average_exec_per_sec:     1500
stat::new_units_added:          12
"""
CRASHED = """#4\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb
harena.test.Shapes, open
==1== ERROR: libFuzzer: deadly signal
artifact_prefix='out/'; Test unit written to out/crash-1
stat::number_of_executed_units: 700
stat::average_exec_per_sec:     70
"""
GO = """fuzz: elapsed: 0s, gathering baseline coverage: 0/4 completed
fuzz: elapsed: 2s, gathering baseline coverage: 4/4 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 2352 (784/sec), new interesting: 199 (total: 203)
fuzz: elapsed: 1m3s, execs: 63000 (1000/sec), new interesting: 210 (total: 214)
PASS
"""
GO_FAILED = """fuzz: elapsed: 0s, gathering baseline coverage: 0/4 completed
--- FAIL: FuzzX (0.02s)
    Failing input written to testdata/fuzz/FuzzX/1
FAIL
"""
GO_LATE = """fuzz: elapsed: 0s, gathering baseline coverage: 0/476 completed
fuzz: elapsed: 3s, gathering baseline coverage: 43/476 completed
PASS
"""
GO_AT_ONCE = """fuzz: elapsed: 0s, gathering baseline coverage: 0/4 completed
fuzz: elapsed: 0s, gathering baseline coverage: 4/4 completed, now fuzzing with 2 workers
fuzz: elapsed: 0s, execs: 4 (0/sec), new interesting: 0 (total: 4)
PASS
"""
LIBFUZZER_LATE = """#200\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb
#200\tDONE   cov: 9 ft: 9 corp: 3/9b lim: 4096 exec/s: 20 rss: 40Mb
Done 200 runs in 10 second(s)
stat::number_of_executed_units: 200
stat::average_exec_per_sec:     20
"""


class FuzzReportTest(unittest.TestCase):
    def run_on(self, **logs):
        """(exit status, lines of standard output, standard error) for logs of these names and texts."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, text in logs.items():
                paths.append(Path(folder) / f"{name}.log")
                paths[-1].write_text(text, encoding="utf-8")
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = fuzz_report.main([str(path) for path in paths])
        return status, [line.split() for line in out.getvalue().splitlines()], err.getvalue()

    def test_both_fuzzers_and_their_sum(self):
        status, lines, err = self.run_on(pb_codec_fuzz=LIBFUZZER, FuzzDecode=GO)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(lines, [["target", "seconds", "new", "inputs", "a", "second", "findings"],
                                 ["pb_codec_fuzz", "60", "89,996", "1,499", "0"],
                                 ["FuzzDecode", "61", "62,996", "1,032", "0"],
                                 ["all", "121", "152,992", "1,264", "0"]])

    def test_a_finding_fails(self):
        status, lines, _ = self.run_on(pb_codec_fuzz=CRASHED, FuzzDecode=GO)
        self.assertEqual(status, 1)
        self.assertEqual(lines[1], ["pb_codec_fuzz", "10", "696", "69", "1"])
        status, lines, _ = self.run_on(FuzzX=GO_FAILED)
        self.assertEqual(status, 1)
        self.assertEqual(lines[1], ["FuzzX", "0", "0", "0", "1"])

    def test_who_never_got_past_the_known_inputs_fails(self):
        for log in (GO_LATE, GO_AT_ONCE, LIBFUZZER_LATE):
            status, lines, err = self.run_on(FuzzX=log, FuzzDecode=GO)
            self.assertEqual(status, 1)
            self.assertEqual([lines[1][0], lines[1][2]], ["FuzzX", "0"])
            self.assertIn("nothing new was tried by FuzzX:", err)

    def test_a_log_of_nothing_fails(self):
        status, lines, err = self.run_on(pb_codec_fuzz=LIBFUZZER, broken="setarch: not found\n")
        self.assertEqual((status, lines), (1, []))
        self.assertIn("broken: this is no fuzzer's log", err)


if __name__ == "__main__":
    unittest.main()
