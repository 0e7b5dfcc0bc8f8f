"""Tests of the replay's pure parts: the verdict, the report, the schemas, the command line."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "messages")]

# pylint: disable=wrong-import-position
import build
import report
import run
import verdict
from programs import BenchError


def measured(ratios, allocators=("glibc",), heap_us=1000.0):
    """Rows and ratios with these ratios to heap."""
    rows, entries = [], []
    for allocator in allocators:
        for mode, ratio in {"heap": 1.0, **ratios}.items():
            rows.append({"mode": mode, "allocator": allocator, "threads": 1, "workload": "replay",
                         "ns_per_request": heap_us * 1000 * ratio, "cpu_ns_per_request": 1.0,
                         "phases_ns": dict.fromkeys(["parse", "build", "serialize", "destroy"], 1.0),
                         "requests_per_second": 1.0, "heap_allocs_per_request": 0.0})
            entries.append({"mode": mode, "to_heap": ratio, "to_arena": None})
    return rows, entries


def said(ratios, running_on="glibc", **more):
    """The verdict as one text."""
    return " ".join(verdict.sentences(*measured(ratios, **more), running_on))


class Verdict(unittest.TestCase):
    """What is said of which numbers."""

    def test_a_gain_is_told_in_microseconds_and_cores(self):
        text = said({"arena": 0.8, "codec": 0.4, "pages": 0.7})
        self.assertIn("Mode codec takes 0.40", text)
        self.assertIn("400.0 instead of 1,000.0", text)
        self.assertIn("0.6 of a core", text)
        self.assertNotIn("Do not adopt", text)
        self.assertNotIn("nearly as well", text)

    def test_no_gain_is_told_as_such(self):
        self.assertIn("Do not adopt Harena for speed", said({"codec": 0.95, "pages": 1.1}))

    def test_what_does_without_harena_is_named(self):
        text = said({"arena": 0.52, "heap_clear": 0.3, "codec": 0.5})
        self.assertIn("Protobuf's own arena does nearly as well (0.52)", text)
        self.assertIn("Clearing and reusing messages on the heap does nearly as well (0.30)", text)

    def test_small_messages_are_not_worth_it(self):
        self.assertIn("hardly notice", said({"codec": 0.4}, heap_us=3.0))

    def test_the_allocator_in_use_counts(self):
        text = said({"codec": 0.4}, allocators=("glibc", "tcmalloc"), running_on="tcmalloc")
        self.assertIn("under tcmalloc", text)
        self.assertIn("0.40 under glibc (codec)", text)

    def test_without_a_mode_of_harena_nothing_is_said(self):
        self.assertIn("nothing can be said", said({"arena": 0.5}))


def results(problems=()):
    """What a run hands to the report."""
    rows, ratios = measured({"codec": 0.4}, allocators=("glibc", "tcmalloc"))
    summary = {"exchanges": 2, "with_response": 0, "response_bytes": None,
               "request_bytes": {"min": 1, "p50": 2, "max": 3}}
    return {"plan": {"method": "/p.S/<M>", "request": {"name": "p.Ask"}, "response": None,
                     "captured": 9, "good": summary, "used": summary, "problems": list(problems)},
            "left_out": ["reuse: why"], "types": {"stock": {"protobuf": "3.21.12"}},
            "machine": {"cpu": "c", "cores": 2, "memory_gib": 1, "system": "s", "kernel": "k"},
            "running_on": "glibc", "rounds": 5, "slice_ms": 60.0, "rows": rows, "ratios": ratios,
            "verdict": verdict.sentences(rows, ratios, "glibc")}


class Report(unittest.TestCase):
    """The page."""

    def test_it_holds_what_was_found_and_escapes_it(self):
        page = report.html_page(results([{"source": "<f>", "what": "is cut off"}]), library="//chart")
        for part in ("/p.S/&lt;M&gt;", "&lt;f&gt;", "Left out: reuse: why", "Mode codec takes 0.40",
                     "The capture has no responses", 'data-chart="allocators"', "//chart"):
            self.assertIn(part, page)
        self.assertNotIn("<f>", page)


class Schemas(unittest.TestCase):
    """Where the files of a schema are, and which names their types have."""

    def test_each_file_belongs_to_the_directory_that_has_it(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            (Path(second) / "b.proto").touch()
            plan = {"files": ["b.proto"], "response": None,
                    "request": {"cpp": "::p::B", "header": "b.pb.h"}}
            text = build.schemas_of(plan, [Path(first), Path(second)])
            self.assertIn(f'set(REPLAY_PROTOS_1 "{second}/b.proto")', text)
            self.assertIn('set(REPLAY_REQUEST "::p::B")', text)
            self.assertIn("::google::protobuf::Empty", text)
            with self.assertRaisesRegex(BenchError, "c.proto"):
                build.schemas_of({**plan, "files": ["c.proto"]}, [Path(first), Path(second)])

    def test_imports_are_looked_for_beside_the_files(self):
        self.assertEqual(build.import_dirs([Path("/x/a.proto"), Path("/x/b.proto")], None), [Path("/x")])
        self.assertEqual(build.import_dirs([Path("/x/a.proto")], [Path("/y")]), [Path("/y")])

    def test_a_place_without_harena_is_named(self):
        with self.assertRaisesRegex(BenchError, "/no/such/place"):
            build.Harena(Path("/no/such/place"))


class CommandLine(unittest.TestCase):
    """What is run."""

    def parse(self, *more):
        """Its options."""
        return run.parse_arguments(["capture", "--proto", "a.proto", *more])

    def test_heap_is_always_there(self):
        self.assertEqual(self.parse("--modes", "codec").modes, ["heap", "codec"])

    def test_quick_measures_the_malloc_in_use(self):
        self.assertEqual(self.parse("--quick", "--running-on", "jemalloc").allocators, ["jemalloc"])

    def test_a_response_needs_its_request(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            self.parse("--response", "p.Answer")

    def test_modes_that_the_types_do_not_have_are_left_out_with_the_reason(self):
        stock, codec = {"why_not_reusable": "extensions"}, {"request_codec": False,
                                                            "response_codec": False}
        modes, why = run.modes_of(["heap", "reuse", "codec"], stock, codec)
        self.assertEqual(modes, ["heap"])
        self.assertEqual(len(why), 2)
        self.assertIn("extensions", why[0])

    def test_missing_responses_are_told(self):
        self.assertIn("Without responses", "\n".join(run.told(results()["plan"])))


if __name__ == "__main__":
    unittest.main()
