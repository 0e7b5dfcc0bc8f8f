"""Tests of the demo's pure parts: statistics, tables, plans, the report. No server is started."""

import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
import report
import run
import servers
import stats
import table
from plan import DEFAULT, FULL, GO_ALLOCATOR, QUICK, Cell
from servers import DemoError, Programs

from common import gotool
from common.allocators import AllocatorMissing, library_of

MODES = ("heap", "arena", "pages", "reuse", "codec")
GO_MODES = ("heap", "vtproto", "codec")
ROW_KEYS = {"workload", "language", "framework", "mode", "allocator", "qps_target", "qps",
            "latency_us", "cpu_us_per_request", "rss_bytes", "rss_peak_bytes", "heap_allocs_per_request",
            "gc_cycles_per_1000_requests", "gc_cpu_us_per_request", "gc_pause_us_per_request",
            "requests", "errors"}


def loader_report(latencies, cpu_seconds=1.0, **changes):
    """A loader report with a plausible shape."""
    made = {"qps_target": 50.0, "qps": 50.0, "seconds": 2.0, "requests": len(latencies),
            "warm_up_requests": 16,
            "errors": 0, "first_error": "", "send_lag_us": {"p99": 80.0, "max": 200.0},
            "server_cpu_seconds": cpu_seconds, "loader_cpu_seconds": 0.1,
            "rss_bytes": 20 << 20, "rss_peak_bytes": 30 << 20, "latencies_us": latencies}
    return {**made, **changes}


def sample_slices(allocators=("glibc",)):
    """Two workloads in every mode, two rounds, the second on a machine half as fast."""
    slices = {}
    for workload in ("trips", "ranking_200k"):
        for allocator in allocators:
            for number, mode in enumerate(MODES):
                share = 1 - 0.15 * number
                slices[Cell(workload, mode, allocator)] = [
                    loader_report([share * speed * (1000 + i) for i in range(100)],
                                  cpu_seconds=share * speed) for speed in (0.5, 1.0)]
    return slices


def sample_go_slices():
    """The sample's workloads in Go's modes."""
    used = {"gc_cycles": 29, "gc_cpu_seconds": 0.0116, "gc_pause_seconds": 0.00116}
    return {Cell(workload, mode, GO_ALLOCATOR, "Go"): [
                loader_report([3000.0 + i for i in range(100)], cpu_seconds=0.3, go_usage=used)]
            for workload in ("trips", "ranking_200k") for mode in GO_MODES}


def sample_results(allocators=("glibc",), slices=None):
    """A results.json of the sample, with a saturation section."""
    slices = slices or sample_slices(allocators)
    counts = {stats.count_key(cell): 1000.0 for cell in slices}
    rows, comparisons = stats.summarise(slices, counts)
    entries = [{"mode": mode, "qps": 400.0, "latency_us": {"p50": 9000.0, "p99": 20000.0},
                "cpu_us_per_request": 2000.0, "cpu_to_heap": 1.0, "p99_to_heap": 1.0,
                "rss_start_bytes": 20 << 20, "rss_burst_bytes": 60 << 20,
                "rss_idle_bytes": 21 << 20, "rss_idle_to_start": 1.05, "errors": 0}
               for mode in MODES]
    return {
        "rows": rows, "comparisons": comparisons, "problems": stats.problems(slices),
        "cautions": stats.cautions(slices, other_work_share=0.0),
        "saturation": {"workload": "ranking_200k", "idle_seconds": 60, "entries": entries},
        "run": {"kind": "test", "when": "2024-11-20T00:00:00+00:00", "rounds": 2,
                "slice_seconds": {"trips": 2.0, "ranking_200k": 2.0},
                "go_slice_seconds": {"trips": 1.0, "ranking_200k": 1.0}, "left_out": [],
                "machine": {"cpu": "a CPU <fast>", "cores": 2, "server_core": 0, "loader_core": 1,
                            "memory_gib": 8, "other_work_share": 0.01,
                            "system": "a system", "kernel": "6"},
                "versions": {"gRPC": "1", "protobuf": "3"},
                "workloads": [{"workload": "trips", "method": "BoardFeed",
                               "request_bytes": [100], "response_bytes": [120]}]},
    }


class Stats(unittest.TestCase):
    """Percentiles, medians and ratios."""

    def test_percentiles_are_values_that_occurred(self):
        ordered = list(range(1, 101))
        self.assertEqual(stats.percentile(ordered, 0.50), 50)
        self.assertEqual(stats.percentile(ordered, 0.99), 99)
        self.assertEqual(stats.percentile(ordered, 0.999), 100)
        self.assertEqual(stats.percentile([7], 0.5), 7)

    def test_p999_is_pooled_and_the_rest_are_medians_of_rounds(self):
        rounds = [loader_report([1.0] * 99 + [worst]) for worst in (10.0, 20.0, 30.0)]
        summary = stats.over_rounds(rounds)
        self.assertEqual(summary["p50"], 1.0)
        self.assertEqual(summary["p999"], 30.0)

    def test_ratios_are_taken_within_a_round(self):
        # The second round's machine is five times slower for both: the ratio must not see it.
        mine = [loader_report([5.0], cpu_seconds=1.0), loader_report([5.0], cpu_seconds=5.0)]
        heap = [loader_report([10.0], cpu_seconds=2.0), loader_report([10.0], cpu_seconds=10.0)]
        self.assertEqual(stats.paired_ratio(mine, heap, stats.cpu_us), 0.5)

    def test_rows_have_exactly_the_published_keys(self):
        for row in sample_results()["rows"]:
            self.assertEqual(set(row), ROW_KEYS)
            self.assertEqual(set(row["latency_us"]),
                             {"mean", "p50", "p80", "p90", "p99", "p999"})

    def test_ratios_compare_with_heap_under_the_same_allocator(self):
        slices = sample_slices(("glibc", "jemalloc"))
        for rounds in (slices[Cell("trips", m, "jemalloc")] for m in MODES):
            for report_ in rounds:
                report_["server_cpu_seconds"] /= 2
        _, comparisons = stats.summarise(slices, {})
        ratios = {(c["mode"], c["allocator"]): c["cpu_to_heap"]
                  for c in comparisons if c["workload"] == "trips"}
        self.assertEqual(ratios["pages", "glibc"], ratios["pages", "jemalloc"])
        self.assertEqual(ratios["heap", "jemalloc"], 1.0)

    def test_no_replies_do_not_divide_by_zero(self):
        silent = loader_report([], errors=5, first_error="gone")
        self.assertEqual(stats.over_rounds([silent])["p99"], 0.0)
        self.assertIsNone(stats.paired_ratio([silent], [silent],
                                             lambda r: len(r["latencies_us"])))


class Go(unittest.TestCase):
    """The Go rows beside those of C++."""

    def results(self):
        """Both languages."""
        return sample_results(slices={**sample_slices(), **sample_go_slices()})

    def test_go_compares_with_its_own_heap_mode(self):
        slices = {**sample_slices(), **sample_go_slices()}
        _, comparisons = stats.summarise(slices, {})
        ratios = {(c["mode"], c["workload"]): c["cpu_to_heap"]
                  for c in comparisons if c["language"] == "Go"}
        self.assertEqual(set(ratios.values()), {1.0})
        self.assertEqual(len(ratios), 6)

    def test_the_collector_is_counted_per_request_with_warm_up(self):
        row = next(r for r in self.results()["rows"] if r["language"] == "Go")
        self.assertEqual(row["gc_cycles_per_1000_requests"], 250.0)  # 29 in 100 + 16
        self.assertEqual(row["gc_cpu_us_per_request"], 100.0)
        self.assertEqual(row["gc_pause_us_per_request"], 10.0)

    def test_a_language_without_a_collector_shows_none(self):
        row = sample_results()["rows"][0]
        self.assertIsNone(row["gc_cycles_per_1000_requests"])
        self.assertEqual(len(table.cells_of(row, sample_results()["comparisons"][0])),
                         len(table.HEADER))

    def test_each_language_has_its_tables(self):
        text = table.terminal(self.results())
        self.assertIn("trips, C++, glibc: ", text)
        self.assertIn("trips, Go: ", text)
        self.assertEqual(text.count("GC/1000"), 2)
        for mode in GO_MODES:
            self.assertRegex(text, rf"(?m)^{mode} ")

    def test_the_page_has_charts_of_both_languages(self):
        page = report.html_page(self.results(), library="")
        self.assertIn('data-chart="cpu" data-workload="trips" data-allocator="go"', page)
        self.assertIn('data-chart="cpu" data-workload="trips" data-allocator="glibc"', page)
        self.assertIn("<dt>Go, vtproto</dt>", page)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
        self.assertEqual(data["modes"], list(MODES))

    def test_the_over_budget_request_is_shown(self):
        results = self.results()
        results["over_budget"] = [{
            "language": "Go", "mode": "codec", "wire_bytes": 6 << 20, "next_status": "OK",
            "status": "ResourceExhausted", "request_bytes_max": 64 << 20,
            "rss_before_bytes": 20 << 20, "rss_peak_bytes": 90 << 20}]
        self.assertIn("ResourceExhausted", table.terminal(results))
        self.assertIn("ResourceExhausted", report.html_page(results, library=""))

    def test_what_is_left_out_is_said(self):
        results = sample_results()
        results["run"]["left_out"] = ["Go, because there is no toolchain"]
        self.assertIn("no toolchain", report.html_page(results, library=""))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            run.show(results, Path("out"))
        self.assertIn("left out: Go, because there is no toolchain", said.getvalue())

    def test_without_go_the_plan_has_cpp_alone(self):
        with unittest.mock.patch.object(gotool, "find_go",
                                        side_effect=gotool.GoMissing("none here")), \
             contextlib.redirect_stderr(io.StringIO()) as said:
            programs, left_out = run.with_go(run.parse([]))
        self.assertIsNone(programs)
        self.assertIn("none here", left_out[0])
        self.assertIn("C++ runs alone", said.getvalue())
        plan = run.plan_of(run.parse([]), MODES)
        self.assertEqual(plan.suites("trips"), [plan.cells("trips")])


class Problems(unittest.TestCase):
    """What makes a run wrong is said."""

    def problem_of(self, **changes):
        """The problems of one heap cell whose report has these changes."""
        slices = {Cell("trips", "heap"): [loader_report([1.0], **changes)]}
        return stats.problems(slices) + stats.disturbances(slices)

    def test_a_good_run_has_none(self):
        self.assertEqual(self.problem_of(), [])

    def test_each_fault_is_named(self):
        self.assertIn("2 errors, the first: broken", self.problem_of(
            errors=2, first_error="broken")[0])
        self.assertIn("rate was not held", self.problem_of(qps=40.0)[0])
        self.assertIn("core is busy", self.problem_of(server_cpu_seconds=1.5)[0])

    def test_a_disturbed_machine_is_a_caution(self):
        late = {Cell("trips", "heap"): [
            loader_report([1.0], send_lag_us={"p99": 5000.0, "max": 9000.0})]}
        self.assertEqual(stats.problems(late), [])
        self.assertIn("by more than 5,000 us", stats.cautions(late, 0.0)[0])
        self.assertIn("used 40% of", stats.cautions({}, 0.4)[0])
        self.assertEqual(stats.cautions(sample_slices(), 0.01), [])

    def test_the_exit_code_says_so(self):
        results = sample_results()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(run.show(results, Path("out")), 0)
            results["problems"] = ["something"]
            self.assertEqual(run.show(results, Path("out")), 1)


class Tables(unittest.TestCase):
    """The terminal's tables."""

    def test_columns_line_up(self):
        lines = table.render(["mode", "x"], [["heap", "1"], ["a-long-mode", "22,000"]]).split("\n")
        self.assertEqual(len({len(line) for line in lines}), 1)

    def test_every_cell_appears(self):
        text = table.terminal(sample_results(("glibc", "mimalloc")))
        self.assertEqual(text.count("requests per second"), 4)
        for mode in MODES:
            self.assertEqual(len(re.findall(rf"^{mode} ", text, re.MULTILINE)), 5)

    def test_unknown_counts_are_not_shown_as_zero(self):
        row = {**sample_results()["rows"][0], "heap_allocs_per_request": None}
        cells = table.cells_of(row, sample_results()["comparisons"][0])
        self.assertEqual(cells[table.HEADER.index("allocs")], "-")


class Report(unittest.TestCase):
    """The HTML page."""

    def page(self, results):
        """The page without the real chart library."""
        return report.html_page(results, library="/* charts */")

    def test_limits_come_before_numbers(self):
        page = self.page(sample_results())
        self.assertLess(page.index("Limits"), page.index("What was run"))
        self.assertLess(page.index("What was run"), page.index("<table>"))

    def test_it_refers_to_nothing_outside_itself(self):
        page = self.page(sample_results())
        self.assertNotRegex(page, r'(src|href)="(?!#)')
        self.assertNotRegex(page, r"@import|url\(")

    def test_text_is_escaped(self):
        self.assertIn("a CPU &lt;fast&gt;", self.page(sample_results()))

    def test_data_cannot_end_its_script(self):
        results = sample_results()
        results["rows"][0]["workload"] = "</script><b>"
        self.assertNotIn("</script><b>", self.page(results))

    def test_its_data_are_the_rows(self):
        results = sample_results()
        data = re.search(r'id="data">(.*?)</script>', self.page(results), re.DOTALL).group(1)
        self.assertEqual(json.loads(data)["rows"], results["rows"])

    def test_a_wrong_run_says_so_first(self):
        results = sample_results()
        results["problems"] = ["trips, pages: 3 errors"]
        page = self.page(results)
        self.assertLess(page.index("This run is wrong"), page.index("Limits"))
        self.assertNotIn("No errors", page)

    def test_cautions_are_shown_beside_a_good_verdict(self):
        results = sample_results()
        results["cautions"] = ["a noisy neighbour"]
        page = self.page(results)
        self.assertIn("No errors", page)
        self.assertLess(page.index("a noisy neighbour"), page.index("Limits"))

    def test_the_allocator_chart_needs_several(self):
        self.assertNotIn('data-chart="allocators"', self.page(sample_results()))
        self.assertIn('data-chart="allocators"', self.page(sample_results(("glibc", "jemalloc"))))

    def test_files_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "new/demo"
            run.write(sample_results(), out)
            self.assertIn("rows", json.loads((out / "results.json").read_text()))
            self.assertIn("<!doctype html>", (out / "report.html").read_text())


class Servers(unittest.TestCase):
    """Which program serves which mode."""

    def built_in(self, folder):
        """The programs of a build folder that has them all."""
        for name in ("demo/harena_demo_server", "demo/harena_demo_server_codec",
                     "demo/harena_demo_loader", "tools/libharena_alloc_count.so"):
            path = Path(folder) / "bench" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return Programs(folder, unittest.mock.Mock(server="go server"))

    def test_the_codec_has_a_server_of_its_own_in_cpp_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = self.built_in(folder)
        self.assertEqual(programs.server_of(Cell("trips", "pages")).name, "harena_demo_server")
        self.assertEqual(programs.server_of(Cell("trips", "codec")).name,
                         "harena_demo_server_codec")
        self.assertEqual(programs.server_of(Cell("trips", "codec", GO_ALLOCATOR, "Go")),
                         "go server")

    def test_the_modes_are_those_of_both(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = self.built_in(folder)
        listed = {programs.server: MODES[:-1], programs.server_codec: MODES[-1:]}
        with unittest.mock.patch.object(servers, "modes_of", listed.get):
            self.assertEqual(programs.modes(), MODES)

    def test_a_missing_server_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.built_in(folder).server_codec.unlink()
            with self.assertRaisesRegex(DemoError, "harena_demo_server_codec is missing"):
                Programs(folder)


class Plans(unittest.TestCase):
    """How long runs take, and which allocators they need."""

    def test_runs_keep_their_time(self):
        for plan, seconds_max, go_seconds_max in ((DEFAULT, 180, 120), (QUICK, 60, 60)):
            with_modes = run.replace(plan, modes=MODES)
            self.assertLessEqual(run.estimated_seconds(with_modes), seconds_max, plan.name)
            self.assertLessEqual(run.go_seconds(run.replace(plan, go_modes=GO_MODES)),
                                 go_seconds_max, plan.name)

    def test_slices_use_exactly_the_load_time(self):
        plan = run.replace(FULL, modes=MODES)
        total = sum(plan.slice_seconds(w) * len(plan.cells(w)) * plan.rounds
                    for w in plan.workloads)
        self.assertAlmostEqual(total, plan.load_seconds)

    def test_fewer_workloads_take_less_time(self):
        plan = run.plan_of(run.parse(["--workloads", "vehicles"]), MODES)
        self.assertLess(plan.load_seconds, DEFAULT.load_seconds)
        self.assertEqual(plan.modes, MODES)

    def test_heap_is_always_there_to_compare_with(self):
        self.assertEqual(run.plan_of(run.parse(["--modes", "pages"]), MODES).modes,
                         ("heap", "pages"))
        self.assertIn("glibc", run.plan_of(run.parse(["--allocators", "jemalloc"]), MODES)
                      .allocators)

    def test_a_mode_may_be_of_one_language(self):
        plan = run.plan_of(run.parse(["--modes", "vtproto"]), MODES, GO_MODES)
        self.assertEqual((plan.modes, plan.go_modes), (("heap",), ("heap", "vtproto")))

    def test_an_unknown_mode_is_refused(self):
        with self.assertRaisesRegex(DemoError, "no mode named magic"):
            run.plan_of(run.parse(["--modes", "magic"]), MODES)

    def test_a_missing_allocator_names_its_package(self):
        with self.assertRaisesRegex(AllocatorMissing, "apt-get install libjemalloc2"):
            library_of("jemalloc", listing="")
        listing = "\tlibjemalloc.so.2 (libc6,x86-64) => /usr/lib/libjemalloc.so.2\n"
        self.assertEqual(library_of("jemalloc", listing), "/usr/lib/libjemalloc.so.2")
        self.assertIsNone(library_of("glibc"))


if __name__ == "__main__":
    unittest.main()
