#!/usr/bin/env python3
"""Gives safety_report logs of every kind, good and bad, and reads its sums and its exit status."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import safety_report  # noqa: E402 (the path line above makes it importable)

SOUND = "safety: inputs_tried=5 budgets_refused=4\nsafety: detectors_fired=3 faults_injected=2\n"


class SafetyReportTest(unittest.TestCase):
    def run_on(self, *logs):
        """(exit status, standard output, standard error) for logs of these texts."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, text in enumerate(logs):
                paths.append(Path(folder) / f"{i}.log")
                paths[-1].write_text(text, encoding="utf-8")
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = safety_report.main([str(path) for path in paths])
        return status, out.getvalue(), err.getvalue()

    def test_sums_over_lines_and_logs(self):
        status, out, err = self.run_on(SOUND, SOUND + "safety: faults_injected=1000\n")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("summed 5 lines of 2 logs", out)
        self.assertIn("1,004  faults injected", out)
        self.assertIn("10  hostile inputs tried", out)
        self.assertIn("0  processes lost (must be 0)", out)

    def test_every_way_that_a_line_is_printed(self):
        log = ("safety: faults_injected=1\n"
               "  safety: faults_injected=10\n"
               "123: safety: faults_injected=100\n"
               "    budget_test.go:41: safety: faults_injected=1000\n"
               '{"Time":"x","Action":"output","Package":"p","Test":"T",'
               '"Output":"    budget_test.go:4: safety: faults_injected=10000\\n"}\n'
               '{"Action":"output","Package":"p","Output":"safety: faults_injected=100000\\n"}\n')
        sums, lines = safety_report.counts_of(log)
        self.assertEqual(sums["faults_injected"], 111111)
        self.assertEqual(lines, 6)

    def test_other_text_is_no_count(self):
        log = ("harena: safety: faults_injected=1\nfor safety: see the docs\nunsafety: x=1\n"
               '{"Action":"run","Test":"safety: faults_injected=1"}\n{"Action":"output" broken\n')
        self.assertEqual(safety_report.counts_of(log)[1], 0)

    def test_what_must_be_zero(self):
        for name in ("processes_lost", "requests_wrongly_refused", "detectors_silent", "bytes_leaked"):
            status, out, err = self.run_on(SOUND + f"safety: {name}=1\n")
            self.assertEqual(status, 1, name)
            self.assertIn(f"{name} is 1 and must be 0", err)
            self.assertIn("summed", out)

    def test_what_must_have_been_counted(self):
        status, _, err = self.run_on("safety: inputs_tried=5 budgets_refused=4 faults_injected=2\n")
        self.assertEqual(status, 1)
        self.assertIn("detectors_fired is 0", err)

    def test_a_misspelt_count(self):
        status, _, err = self.run_on(SOUND + "safety: fault_injected=1\n")
        self.assertEqual(status, 1)
        self.assertIn("no count is called fault_injected", err)

    def test_a_count_without_number(self):
        for part in ("faults_injected", "faults_injected=", "faults_injected=-1", "faults_injected=1.5"):
            status, _, err = self.run_on(SOUND + f"safety: {part}\n")
            self.assertEqual(status, 1, part)
            self.assertIn("is not name=number", err)

    def test_a_log_without_counts_and_an_absent_one(self):
        status, _, err = self.run_on(SOUND, "nothing here\n")
        self.assertEqual(status, 1)
        self.assertIn("holds no line", err)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(safety_report.main(["/nowhere/at/all.log"]), 1)
        self.assertIn("No such file", err.getvalue())


if __name__ == "__main__":
    unittest.main()
