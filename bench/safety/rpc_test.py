"""Tests of the table of what protections cost a call. No server is started."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import rpc  # noqa: E402
import rpc_instructions  # noqa: E402


def measured(**changes):
    """CPU times of three rounds, of which the machine was twice as slow in the last."""
    times = {name: [100.0, 100.0, 200.0] for name in rpc.PROTECTIONS}
    for name, factor in changes.items():
        times[getattr(rpc, name)] = [value * factor for value in times[rpc.OFF]]
    return times


class RpcTest(unittest.TestCase):
    def test_shares_are_those_of_each_round(self):
        row = rpc.row("ranking_8k", "codec", measured(LIMITED=1.02, HARDENED=1.3))
        self.assertAlmostEqual(row["more"][rpc.LIMITED], 0.02)
        self.assertAlmostEqual(row["more"][rpc.HARDENED], 0.3)
        self.assertAlmostEqual(row["more"][rpc.AGAIN], 0)
        self.assertEqual(row["off_us"], 100)

    def test_what_sampling_costs_goes_with_how_often(self):
        row = rpc.row("ranking_8k", "codec", measured(SAMPLED=1.2))
        self.assertAlmostEqual(row["by_default"], 0.002)
        # 1 in 400 costs 20 % / 40.
        self.assertEqual(row["one_in"], 400)
        self.assertEqual(rpc.one_in(-0.01), 1)

    def test_the_table_has_a_line_for_each_row(self):
        cpu_us = {rpc.Place(payload, mode, name): times for payload in rpc.PAYLOADS for mode in rpc.MODES
                  for name, times in measured(SAMPLED=1.2).items()}
        lines = rpc.table(rpc.rows_of(cpu_us)).splitlines()
        self.assertEqual(len(lines), 2 + len(rpc.PAYLOADS) * len(rpc.MODES))
        self.assertEqual({line.count("|") for line in lines}, {10})
        self.assertIn("| 8 KB, arena | 100 us | +0.0% | +0.0% | +20.0% | +0.20% | 400 | +0.0% | +0.0% |", lines)

    def test_what_was_not_measured_is_a_dash(self):
        options = rpc.parse(["--only", "budgets"])
        self.assertEqual(options.protections, (rpc.OFF, rpc.AGAIN, rpc.LIMITED))
        times = measured(LIMITED=1.02)
        lines = rpc.table(rpc.rows_of({rpc.Place("ranking_8k", "arena", name): times[name]
                                       for name in options.protections})).splitlines()
        self.assertEqual(lines[2], "| 8 KB, arena | 100 us | +0.0% | +2.0% | - | - | - | - | - |")


class InstructionsTest(unittest.TestCase):
    def test_what_callgrind_says(self):
        self.assertEqual(rpc_instructions.counted("==1== Events    : Ir\n==1== Collected : 123456\n"), 123456)
        self.assertIsNone(rpc_instructions.counted("valgrind: no such tool"))

    def test_the_start_drops_out(self):
        self.assertEqual(rpc_instructions.per_call((5_000_000 + 10 * 300, 10), (5_000_000 + 110 * 300, 110)), 300)

    def test_another_limit(self):
        flags = rpc_instructions.CASES[rpc_instructions.LIMITED]
        self.assertEqual(rpc_instructions.with_request_limit(flags, 9), ("--request-bytes-max", 9, *flags[2:]))
        self.assertEqual(rpc_instructions.with_request_limit(flags, None), flags)
        off = rpc_instructions.CASES[rpc.OFF]
        self.assertEqual(rpc_instructions.with_request_limit(off, 9), off)

    def test_a_line(self):
        counts = dict(zip(rpc_instructions.CASES, (10_000, 10_020, 10_100, 9_000)))
        self.assertEqual(rpc_instructions.line("ranking_8k", "pages", counts),
                         "| 8 KB, pages | 10,000 | +0.2% | +1.0% | -10.0% |")


if __name__ == "__main__":
    unittest.main()
