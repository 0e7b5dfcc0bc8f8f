"""Tests of the soak: what it judges, what it says, and that it does not lose what goes wrong."""

import argparse
import contextlib
import io
import random
import sys
import time
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import traffic  # noqa: E402
import traffic_report  # noqa: E402
import verdict  # noqa: E402

from common.child import Child, ChildError  # noqa: E402
from common.progress import Progress  # noqa: E402

MEBIBYTE = 1 << 20
COUNTS = {"scopes_made": 9000, "scopes_live": 0, "refused": 7, "sampled": 90, "stale_writes": 0,
          "bytes_in_use": 0}


def pairs(slower, seed=1, disturbed=0.03):
    """Slices of latencies, the second of each pair so many times as slow."""
    dice = random.Random(seed)

    def some(factor):
        drift = factor * dice.lognormvariate(0, disturbed)
        return [drift * dice.lognormvariate(7, 0.4) for _ in range(300)]
    return [(some(1), some(slower)) for _ in range(12)]


def total(**changed):
    """What slices add up to, in a good run."""
    return {"sent": 5000, "errors": 0, "unowed": 0, "examples": [],
            "rude": {"bomb": {"exhausted": 7}, "cut": {"broken": 3, "ok": 1}}, **changed}


def row(name, **changed):
    """One framework's results, of a good run."""
    dice = random.Random(1)
    samples = [100 * MEBIBYTE + dice.gauss(0, MEBIBYTE) for _ in range(1000)]
    return {"framework": name, **total(), "counts": COUNTS, "wrong": [], "samples": samples,
            "latency": verdict.latency(pairs(1.0), 0.01),
            "memory": verdict.memory(samples, 1.0), **changed}


def results(*rows):
    """Of a run."""
    return {"rows": rows, "left_out": {"brpc": "not <built>"}, "other_work_share": 0.01,
            "machine": {"cpu": "a cpu", "cores": 2, "server_core": 0, "loader_core": 1,
                        "system": "a system"},
            "beside": "rude", "seconds": 1000, "when": "today", "command": "traffic.py"}


class LatencyTest(unittest.TestCase):
    def verdict(self, *arguments):
        return verdict.latency(pairs(*arguments), 0.0)["verdict"]

    def test_the_same_is_ok(self):
        for seed in range(20):
            self.assertEqual(self.verdict(1.0, seed), verdict.OK, seed)

    def test_a_third_slower_fails(self):
        for seed in range(20):
            self.assertEqual(self.verdict(1.33, seed), verdict.FAILED, seed)

    def test_slower_within_much_noise_is_not_judged(self):
        self.assertEqual(self.verdict(1.3, 1, 0.8), verdict.OPEN)

    def test_a_disturbed_machine_is_not_judged(self):
        self.assertEqual(verdict.latency(pairs(2.0), 0.2)["verdict"], verdict.OPEN)

    def test_the_ratio_is_right(self):
        p50 = verdict.latency(pairs(1.2), 0.0)["p50"]
        self.assertAlmostEqual(p50["ratio"], 1.2, delta=0.05)
        self.assertLess(p50["low"], p50["ratio"])
        self.assertLess(p50["ratio"], p50["high"])

    def test_percentiles_are_nearest_ranks(self):
        values = list(range(1, 101))
        self.assertEqual([verdict.percentile(values, share) for share in (0.5, 0.99, 1.0)],
                         [50, 99, 100])


class MemoryTest(unittest.TestCase):
    def samples(self, leak, count=1200):
        dice = random.Random(3)
        return [100 * MEBIBYTE + i * leak + dice.gauss(0, MEBIBYTE) for i in range(count)]

    def test_noise_is_ok_and_a_leak_fails(self):
        self.assertEqual(verdict.memory(self.samples(0), 1.0)["verdict"], verdict.OK)
        leaking = verdict.memory(self.samples(10_000), 1.0)
        self.assertEqual(leaking["verdict"], verdict.FAILED)
        self.assertAlmostEqual(leaking["slope_per_hour"], 36e6, delta=3e6)

    def test_a_step_is_no_leak(self):
        step = [value + (i > 1000) * 5 * MEBIBYTE for i, value in enumerate(self.samples(0))]
        self.assertEqual(verdict.memory(step, 1.0)["verdict"], verdict.OK)

    def test_a_leak_with_a_step_in_it_fails(self):
        leaking = [value + (i > 1000) * 5 * MEBIBYTE
                   for i, value in enumerate(self.samples(10_000))]
        self.assertEqual(verdict.memory(leaking, 1.0)["verdict"], verdict.FAILED)

    def test_noise_is_ok_whatever_it_is(self):
        for seed in range(30):
            dice = random.Random(seed)
            noise = [100 * MEBIBYTE + dice.gauss(0, 3 * MEBIBYTE) for _ in range(900)]
            self.assertEqual(verdict.memory(noise, 1.0)["verdict"], verdict.OK, seed)

    def test_short_runs_are_not_judged(self):
        self.assertEqual(verdict.memory(self.samples(10_000, 100), 1.0)["verdict"], verdict.OPEN)
        self.assertEqual(verdict.memory([], 1.0)["verdict"], verdict.OPEN)


class ErrorsTest(unittest.TestCase):
    def test_a_good_run_has_none(self):
        self.assertEqual(verdict.errors(total(), COUNTS, 0, "libprotobuf ERROR: invalid"), [])

    def test_each_is_said(self):
        for part, arguments in {
            "honest calls failed": (total(errors=1), COUNTS, 0, ""),
            "no honest call": (total(sent=0), COUNTS, 0, ""),
            "another outcome": (total(unowed=1), COUNTS, 0, ""),
            "ended with -11": (total(), COUNTS, -11, ""),
            "harena: FAULT: read": (total(), COUNTS, 0, "x\nharena: FAULT: read after the end"),
            "did not say": (total(), None, 0, ""),
            "2 scopes": (total(), {**COUNTS, "scopes_live": 2}, 0, ""),
            "3 bytes": (total(), {**COUNTS, "bytes_in_use": 3}, 0, ""),
            "4 stale writes": (total(), {**COUNTS, "stale_writes": 4}, 0, ""),
            "no scope was sampled": (total(), {**COUNTS, "sampled": 0}, 0, ""),
            "counted as refused": (total(), {**COUNTS, "refused": 0}, 0, ""),
        }.items():
            found = verdict.errors(*arguments)
            self.assertEqual(len(found), 1, found)
            self.assertIn(part, found[0])

    def test_reports_add_up(self):
        one = {"sent": 2, "errors": 1, "unowed": 0, "examples": ["a", "b", "c"],
               "rude": {"cut": {"ok": 1}}}
        two = {"sent": 3, "errors": 0, "unowed": 1, "examples": ["d", "e", "f"],
               "rude": {"cut": {"ok": 2, "broken": 4}}}
        self.assertEqual(verdict.added([one, two]), {
            "sent": 5, "errors": 1, "unowed": 1, "examples": ["a", "b", "c", "d", "e"],
            "rude": {"cut": {"ok": 3, "broken": 4}}})


class ReportTest(unittest.TestCase):
    def test_a_good_run(self):
        shown = results(row("grpc-go"), row("trpc-go"))
        self.assertEqual(traffic_report.problems(shown), [])
        text = traffic_report.text(shown)
        self.assertIn("soak: 2 frameworks passed, 0 failed", text)
        self.assertIn("left out: brpc: not <built>", text)
        page = traffic_report.html_page(shown)
        self.assertEqual(page.count("<polyline"), 2)
        self.assertIn("not &lt;built&gt;", page)
        self.assertIn("7 exhausted", page)

    def test_it_says_who_was_beside(self):
        shown = results(row("b", latency=verdict.latency(pairs(2.0), 0.0)))
        self.assertIn("beside rude ones", traffic_report.problems(shown)[0])
        shown["beside"] = "honest"
        self.assertIn("beside as many more honest ones", traffic_report.problems(shown)[0])
        self.assertIn("beside as many more honest ones", traffic_report.text(shown))

    def test_whatever_fails_is_said(self):
        bad = results(row("a", wrong=["the server ended with -11"]),
                      row("b", latency=verdict.latency(pairs(2.0), 0.0)),
                      row("c", memory=verdict.memory(
                          [100 * MEBIBYTE + i * 10_000 for i in range(1000)], 1.0)),
                      row("d", examples=["bomb: ok instead of [exhausted]"]), row("e"))
        self.assertEqual(len(traffic_report.problems(bad)), 4)
        self.assertIn("soak: 1 frameworks passed, 4 failed", traffic_report.text(bad))
        self.assertIn("Failed.", traffic_report.html_page(bad))

    def test_a_run_without_samples_has_a_report(self):
        empty = row("a", samples=[], latency=None, counts=None, memory=verdict.memory([], 1.0))
        self.assertIn("no samples", traffic_report.html_page(results(empty)))
        self.assertIn("not judged", traffic_report.text(results(empty)))


class FakeTarget:
    """A server that answers, until it does not."""

    def __init__(self, slices):
        self.left = slices
        self.asked = []

    def run(self, seconds, qps, rude):
        self.asked.append((qps, rude))
        if self.left == 0:
            raise ChildError("it has died")
        self.left -= 1
        time.sleep(seconds / 5)
        return {**total(sent=int(qps)), "rude": {"cut": {"broken": int(rude)}},
                "latencies_us": [100.0, 200.0]}

    def cpu_seconds(self):
        return 1.0

    def rss_bytes(self):
        return 5 * MEBIBYTE

    def stop(self):
        return COUNTS, 0, ""


class RunTest(unittest.TestCase):
    def options(self):
        return argparse.Namespace(pair_seconds=4, slice_seconds=0.25, seconds=1.5, qps=10,
                                  rude=3, qps_pairs=20, rude_beside=2, soak_slice_seconds=0.5,
                                  beside=traffic.RUDE)

    def run_with(self, **running):
        whole = traffic.Run(self.options(), running)
        progress = Progress(1)
        whole.compare(progress)
        whole.soak(progress)
        return {row["framework"]: row for row in whole.results({})["rows"]}

    def test_one_that_dies_is_wrong_and_the_others_go_on(self):
        rows = self.run_with(good=FakeTarget(10_000), bad=FakeTarget(5))
        self.assertEqual(rows["good"]["wrong"], [])
        self.assertEqual(rows["good"]["latency"]["pairs"], 4)
        self.assertGreaterEqual(len(rows["good"]["samples"]), 1)
        self.assertIn("it has died", rows["bad"]["wrong"])
        self.assertEqual(rows["bad"]["latency"]["pairs"], 2)

    def test_company_is_rude_or_honest(self):
        for beside, expected in ((traffic.RUDE, {(20, 0), (20, 2)}),
                                 (traffic.HONEST, {(20, 0), (22, 0)})):
            options = self.options()
            options.beside, options.pair_seconds = beside, 1
            target = FakeTarget(10_000)
            traffic.Run(options, {"one": target}).compare(Progress(1))
            self.assertEqual(set(target.asked), expected)

    def test_what_is_left_out_is_said_first(self):
        def broken(_cpus, _seed):
            raise ChildError("it does not start")
        said = io.StringIO()
        found = {"one": broken}, {"two": "it is <missing>"}
        with unittest.mock.patch.object(traffic, "find", return_value=found), \
                contextlib.redirect_stdout(said), self.assertRaises(ChildError):
            traffic.run(traffic.parse([]))
        self.assertIn("soak: without two: it is <missing>", said.getvalue())

    def test_the_command_line(self):
        options = traffic.parse(["--quick", "--seconds", "7", "--frameworks", "grpc-go"])
        self.assertEqual(options.seconds, 7)
        self.assertEqual(options.pair_seconds, traffic.QUICK["pair_seconds"])
        self.assertEqual(traffic.parse([]).seconds, 3600)
        with self.assertRaises(SystemExit):
            traffic.parse(["--rude", "0"])


class ChildTest(unittest.TestCase):
    def test_it_answers_and_ends_with_its_input(self):
        child = Child([sys.executable, "-c", "import sys\nfor l in sys.stdin: print(l, flush=True)"
                       "\nprint('the end')"])
        child.say('{"a": 1}')
        self.assertEqual(child.answer(), {"a": 1})
        self.assertEqual(child.stop().split()[-2:], ["the", "end"])
        self.assertEqual(child.exit_code, 0)
        self.assertEqual(child.stop(), "")

    def test_its_last_words_are_told(self):
        child = Child([sys.executable, "-c", "import sys; sys.exit('help')"])
        with self.assertRaisesRegex(ChildError, "no answer .exit code 1.*help"):
            child.answer()


if __name__ == "__main__":
    unittest.main()
