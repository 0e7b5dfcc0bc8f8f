"""Tests of the pure parts of the brpc measurements. No server is started."""

import io
import socket
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "demo")]

# pylint: disable=wrong-import-position
import beyond
import report
import rude_clients
import run
import soak
import stats
import table
from brpc_plan import DEFAULT, QUICK
from plan import Cell

# CPU in microseconds per request, in the first round; the second one's machine is half as fast.
COSTS = {"heap": 2100, "brpc_arena": 1600, "pages": 1500, "reuse": 1300, "codec": 700}
FIXED = {"terms_attached": 300, "empty": 100}


def slice_of(cpu_us):
    """A loader's report of ten requests."""
    return {"qps_target": 200.0, "qps": 200.0, "seconds": 1.0, "requests": 10,
            "warm_up_requests": 100, "errors": 0, "first_error": "",
            "send_lag_us": {"p99": 80.0, "max": 200.0}, "server_cpu_seconds": 10 * cpu_us / 1e6,
            "loader_cpu_seconds": 0.1, "rss_bytes": cpu_us << 10, "rss_peak_bytes": cpu_us << 10,
            "latencies_us": [float(cpu_us)] * 10}


def plan():
    """A plan of all modes."""
    return run.plan_of(run.parse(["--quick"]), run.MODES)


def sample_slices():
    """All cells of a quick run."""
    costs = {cell: COSTS[cell.mode] if cell.workload == "terms" else FIXED[cell.workload]
             for cell in plan().cells()}
    return {cell: [slice_of(cost), slice_of(2 * cost)] for cell, cost in costs.items()}


def sample_results():
    """What a run would write."""
    slices = sample_slices()
    counts = {("terms", mode, "C++"): 20.0 for mode in COSTS}
    counts["terms_attached", "heap", "C++"] = 18.0
    rows, comparisons = stats.summarise(slices, counts)
    return {"rows": rows, "comparisons": comparisons, "beyond": beyond.entries(slices, counts),
            "problems": [], "cautions": [],
            "run": {"kind": "quick", "when": "2026-01-01T00:00:00+00:00", "rounds": 2,
                    "slice_seconds": {"every workload": 1.0}, "go_slice_seconds": {},
                    "left_out": [], "versions": {"brpc": "1"}, "workloads": [],
                    "machine": {"cpu": "a CPU", "cores": 2, "server_core": 0, "loader_core": 1,
                                "memory_gib": 8, "other_work_share": 0.0, "system": "a system",
                                "kernel": "6"}}}


class Beyond(unittest.TestCase):
    """The framework's share is subtracted within each round."""

    def test_costs_and_ratios(self):
        entries = {(e["allocator"], e["mode"]): e
                   for e in beyond.entries(sample_slices(), {})}
        codec = entries["tcmalloc", "codec"]
        self.assertEqual(codec["cpu_us"], 1050)
        self.assertEqual(codec["cpu_us_beyond_empty"], 900)
        self.assertEqual(codec["beyond_empty_to_heap"], 0.3)
        self.assertEqual(codec["beyond_empty_to_brpc_arena"], 0.4)
        self.assertEqual(codec["beyond_attached_to_heap"], round(400 / 1800, 3))
        self.assertEqual(entries["glibc", "heap"]["beyond_empty_to_heap"], 1)
        self.assertEqual(codec["rss_to_heap"], round(700 / 2100, 3))

    def test_without_the_rival_or_counts_the_cells_are_empty(self):
        slices = {cell: rounds for cell, rounds in sample_slices().items()
                  if cell.mode != "brpc_arena"}
        entry = beyond.entries(slices, {})[0]
        self.assertIsNone(entry["beyond_empty_to_brpc_arena"])
        self.assertIsNone(entry["heap_allocs_beyond_attached"])

    def test_a_rival_that_drowns_in_noise_gives_no_ratio(self):
        slices = sample_slices()
        for allocator in QUICK.allocators:
            slices[Cell("terms", "heap", allocator, framework="brpc")] = [slice_of(50)] * 2
        entry = beyond.entries(slices, {})[-1]
        self.assertIsNone(entry["beyond_empty_to_heap"])


class Results(unittest.TestCase):
    """Rows, tables and the page."""

    def test_rows_are_those_of_the_framework(self):
        rows = sample_results()["rows"]
        self.assertEqual({row["framework"] for row in rows}, {"brpc"})
        self.assertEqual(len(rows), (len(COSTS) + len(FIXED)) * len(QUICK.allocators))

    def test_the_terminal_shows_both_tables(self):
        text = table.terminal(sample_results())
        self.assertIn("terms, C++, tcmalloc", text)
        self.assertIn("glibc, brpc_arena", text)

    def test_the_page_speaks_of_brpc(self):
        page = report.html_page(sample_results(), library="")
        self.assertIn("Harena under brpc", page)
        self.assertIn("Beyond the framework", page)
        self.assertIn("arena factory", page)
        self.assertNotIn("gRPC", page)

    def test_errors_make_a_run_wrong(self):
        results = sample_results()
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            self.assertEqual(run.show(results, Path("out")), 0)
            self.assertEqual(run.show({**results, "problems": ["bad"]}, Path("out")), 1)


class Rude(unittest.TestCase):
    """Frames and the wire, as rude clients write and read them."""

    def test_numbers_and_bodies_come_back(self):
        wire = rude_clients.field(2, b"x" * 300) + rude_clients.varint(1 << 3) + \
            rude_clients.varint(1 << 40)
        self.assertEqual(rude_clients.numbers_and_bodies(wire), {2: b"x" * 300, 1: 1 << 40})

    def test_a_frame_may_claim_more_than_it_has(self):
        honest = rude_clients.frame(b"body")
        self.assertEqual(int.from_bytes(honest[4:8], "big"), len(honest) - 12)
        self.assertEqual(int.from_bytes(rude_clients.frame(b"", 1 << 20)[4:8], "big"), 1 << 20)

    def test_an_error_code_is_read_from_a_reply(self):
        meta = rude_clients.field(2, rude_clients.varint(1 << 3) + rude_clients.varint(1003))
        mine, other = socket.socketpair()
        with mine, other:
            size = len(meta).to_bytes(4, "big")
            other.sendall(b"PRPC" + size + size + meta)
            self.assertEqual(rude_clients.error_code_of(mine), 1003)
            other.sendall(b"PRPC" + size)
            other.shutdown(socket.SHUT_WR)
            with self.assertRaises(rude_clients.Unexpected):
                rude_clients.error_code_of(mine)


class SoakVerdict(unittest.TestCase):
    """Errors of the loader and growth make a soak wrong, and nothing else does."""

    def judged(self, rounds, **report_):
        """The soak's problems."""
        made = soak.Soak(soak.parse([]))
        made.rounds = rounds
        soak.judge(made, {"requests": 10, "errors": 0, "first_error": "", **report_})
        return made.problems

    def test_level_memory_is_right(self):
        self.assertEqual(self.judged([[100, 101 + i % 2] for i in range(20)]), [])

    def test_growth_is_wrong(self):
        self.assertEqual(self.judged([[100 + 2 * i, 101 + 2 * i] for i in range(20)]),
                         ["resident memory grows"])

    def test_errors_are_wrong(self):
        self.assertIn("gone", self.judged([], errors=1, first_error="gone")[0])


class Plans(unittest.TestCase):
    """The command line."""

    def test_a_quick_run_is_short_and_a_default_one_bearable(self):
        self.assertLess(run.estimated_seconds(plan()), 90)
        default = run.plan_of(run.parse([]), run.MODES)
        self.assertEqual(default.allocators, DEFAULT.allocators)
        self.assertLess(run.estimated_seconds(default), 1000)

    def test_heap_under_glibc_is_always_there_and_first(self):
        chosen = run.plan_of(run.parse(["--modes", "codec", "--allocators", "jemalloc"]),
                             run.MODES)
        self.assertEqual(chosen.cells()[0], Cell("terms", "heap", framework="brpc"))
        self.assertEqual(chosen.modes, ("heap", "codec"))

    def test_without_the_programs_the_message_names_the_page(self):
        with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()) as said, \
                patch.object(sys, "argv", ["run.py", "--build-dir", folder]):
            self.assertEqual(run.main(), 1)
        self.assertIn("docs/brpc.md", said.getvalue())


if __name__ == "__main__":
    unittest.main()
