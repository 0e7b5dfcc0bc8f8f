"""Tests of the pure parts of make bench-go: ratios, tables, benchstat's format, the page."""

import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
import page
import rpc_cells
import run
import summary
from programs import BenchError


def cell(group, row, missing=""):
    """A cell as bench-go lists it."""
    return {"group": group, "row": row, "unit": "message", "units": 1, "missing": missing}


def result(group, row, cpu, **more):
    """A result of one process."""
    return {"group": group, "row": row, "unit": "message", "ops": 100, "units": 1,
            "cpu_ns_per_unit": cpu, "wall_ns_per_unit": cpu, "gc_cpu_ns_per_unit": 1.0,
            "allocs_per_op": 3.0, "bytes_per_op": 4096.0, "gcs_per_1000_ops": 0.5,
            "rss_peak_bytes": 20 << 20, **more}


CELLS = [cell("codec/read/tile", "proto"), cell("codec/read/tile", "harena"),
         cell("codec/read/tile", "easyproto", "no <generator>"), *rpc_cells.cells()]


def sample():
    """Two rounds of two rows; the second on a machine half as fast. One grpc group."""
    latencies = {"p50_us": 900.0, "p90_us": 1200.0, "p99_us": 2000.0, "send_lag_p99_us": 90.0,
                 "qps": 100.0, "qps_target": 100.0, "busy_share": 0.5}
    results = {("codec/read/tile", "proto"): [result("codec/read/tile", "proto", cpu)
                                              for cpu in (1000.0, 2000.0)],
               ("codec/read/tile", "harena"): [result("codec/read/tile", "harena", cpu)
                                               for cpu in (250.0, 500.0)]}
    for number, mode in enumerate(rpc_cells.MODES["grpc"]):
        results["grpc/ranking_200k", mode] = [
            result("grpc/ranking_200k", mode, 4e6 / (number + 1), **latencies)]
    return results


class Rows(unittest.TestCase):
    """From results to rows."""

    def rows(self):
        """The sample's rows by (group, row)."""
        return {(r["group"], r["row"]): r for r in summary.rows(CELLS, sample())}

    def test_ratios_are_taken_within_a_round(self):
        self.assertEqual(self.rows()["codec/read/tile", "harena"]["cpu_to_baseline"], 0.25)
        self.assertEqual(self.rows()["codec/read/tile", "proto"]["cpu_to_baseline"], 1.0)

    def test_what_is_missing_stays_with_its_reason(self):
        rows = self.rows()
        self.assertEqual(rows["codec/read/tile", "easyproto"]["missing"], "no <generator>")
        self.assertIn("not measured", rows["grpc/ranking_8k", "codec"]["missing"])

    def test_latencies_have_ratios_too(self):
        self.assertEqual(self.rows()["grpc/ranking_200k", "codec"]["p99_to_baseline"], 1.0)

    def test_a_rate_that_was_not_held_is_a_problem(self):
        results = sample()
        self.assertEqual(run.problems(summary.rows(CELLS, results), {}), [])
        results["grpc/ranking_200k", "heap"][0]["qps"] = 90.0
        self.assertIn("rate was not held", run.problems(summary.rows(CELLS, results), {})[0])

    def test_a_cell_that_fails_does_not_end_the_run(self):
        class Broken:
            """Programs of which one cell crashes in its second round."""
            calls = 0

            def measure(self, cell, seconds):
                """The second harena fails."""
                if cell["row"] == "harena":
                    self.calls += 1
                    if self.calls == 2:
                        raise BenchError("it crashed")
                return result(cell["group"], cell["row"], 100.0 * seconds)

        cells = CELLS[:2]
        results, failures = run.measure(Broken(), cells, run.parse(["--runs", "3"]))
        rows = summary.rows(cells, results, failures)
        self.assertEqual([r.get("runs") for r in rows], [3, None])
        self.assertEqual(rows[1]["missing"], "it failed")
        self.assertEqual(run.problems(rows, failures),
                         ["codec/read/tile/harena failed: it crashed"])


class Outputs(unittest.TestCase):
    """What readers see."""

    def test_the_terminal_has_every_row(self):
        text = summary.terminal(summary.rows(CELLS, sample()))
        self.assertRegex(text, r"(?m)^harena +375 +0\.25 ")
        self.assertIn("easyproto: not available: no <generator>", text)
        self.assertIn("p99 us", text)
        self.assertNotIn("grpc/ranking_8k", text)

    def test_benchstat_can_read_it(self):
        text = summary.benchstat(sample(), {"Go": "1.26"})
        line = next(x for x in text.split("\n") if "row=harena" in x)
        name, ops, *values = line.split("\t")
        self.assertEqual(name, "BenchmarkCodec/read/tile/row=harena")
        self.assertEqual(ops, "100")
        for value in values:
            self.assertRegex(value, r"^[\d.]+ \S+$")

    def test_the_page_says_limits_first_and_refers_to_nothing(self):
        rows = summary.rows(CELLS, sample())
        rows[0]["group"] = "codec/</script>"
        text = page.html_page({"limits": run.LIMITS, "facts": {"runs": "2"}, "problems": [],
                               "rows": rows}, library="/* charts */")
        self.assertLess(text.index("Limits"), text.index("<table>"))
        self.assertIn("no &lt;generator&gt;", text)
        self.assertNotRegex(text, r'(src|href)="(?!#)')
        data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1)
        self.assertIn("harena", data)


class Plans(unittest.TestCase):
    """The command line."""

    def test_quick_is_shorter(self):
        full, quick = run.parse([]), run.parse(["--quick"])
        self.assertLess(quick.runs * quick.seconds, full.runs * full.seconds)
        self.assertEqual(run.parse(["--quick", "--runs", "7"]).runs, 7)

    def test_groups_are_picked_by_their_beginning(self):
        self.assertEqual(len(run.pick(CELLS, ["codec/"])), 3)
        self.assertEqual(len(run.pick(CELLS, ["trpc/"])), 4)
        self.assertEqual(run.pick(CELLS, None), CELLS)
        with self.assertRaisesRegex(BenchError, "no group begins with magic; there are: codec"):
            run.pick(CELLS, ["magic"])

    def test_every_other_round_goes_backwards(self):
        self.assertEqual(list(run.in_turn([1, 2, 3], 0)), [1, 2, 3])
        self.assertEqual(list(run.in_turn([1, 2, 3], 1)), [3, 2, 1])


if __name__ == "__main__":
    unittest.main()
