"""Tests of the benchmark's pure parts: ratios, rows, tables, the command line, and how processes are
driven, with a small program in the place of the real ones."""

import contextlib
import io
import stat
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# pylint: disable=wrong-import-position
import codegen_cost
import programs
import run
import tables

KEY = {"workload": "w", "allocator": "glibc", "threads": 1, "request_bytes": 8000}


def one_slice(scale, **changes):
    """A slice whose phases are 1, 2, 3 and 4 times `scale`."""
    phases = {name: scale * (i + 1) for i, name in enumerate(tables.PHASES)}
    return {**phases, "cpu": 10 * scale, "requests_per_second": 1e9 / max(scale, 1), **changes}


def sample_runs():
    """Two runs of three rounds; in the last round the machine is ten times slower for everybody."""
    def slices(scale):
        return [one_slice(scale), one_slice(scale), one_slice(10 * scale)]
    return [{"heap": slices(1000.0), "arena": slices(500.0), "codec": slices(100.0),
             "bound_scan": [one_slice(0, parse=50.0 * k) for k in (1, 1, 10)]} for _ in range(2)]


class Ratios(unittest.TestCase):
    """What is compared with what."""

    def by_mode(self, runs):
        """Ratios by mode."""
        return {entry["mode"]: entry for entry in tables.ratios_of(KEY, runs)}

    def test_they_are_taken_within_a_round(self):
        runs = sample_runs()
        # A disturbance of one whole round must not be seen.
        for mode in runs[0]:
            runs[0][mode][1] = {k: 7 * v for k, v in runs[0][mode][1].items()}
        ratios = self.by_mode(runs)
        self.assertEqual(ratios["codec"]["to_heap"], 0.1)
        self.assertEqual(ratios["codec"]["to_arena"], 0.2)
        self.assertEqual(ratios["heap"]["to_heap"], 1.0)

    def test_phases_have_their_own(self):
        ratios = self.by_mode(sample_runs())
        self.assertEqual(ratios["codec"]["parse_to_scan"], 2.0)
        self.assertEqual(ratios["codec"]["serialize_to_arena"], 0.2)
        self.assertEqual(ratios["codec"]["wire_to_arena"], 0.2)
        self.assertEqual(ratios["bound_scan"]["parse_to_scan"], 1.0)

    def test_without_a_baseline_there_is_none(self):
        runs = [{mode: slices for mode, slices in run_.items() if mode in ("heap", "codec")}
                for run_ in sample_runs()]
        ratios = self.by_mode(runs)
        self.assertIsNone(ratios["codec"]["to_arena"])
        self.assertIsNone(ratios["codec"]["parse_to_scan"])
        self.assertEqual(ratios["codec"]["to_heap"], 0.1)


class Tables(unittest.TestCase):
    """Rows and text."""

    def rows(self, threads=1):
        """The rows of the sample."""
        counts = {"heap": 30000.0, "arena": 7000.5, "codec": 0.0}
        return tables.rows_of({**KEY, "threads": threads}, sample_runs(), counts)

    def test_rows_are_medians(self):
        row = next(r for r in self.rows() if r["mode"] == "codec")
        self.assertEqual(row["ns_per_request"], 1000.0)
        self.assertEqual(row["phases_ns"]["serialize"], 300.0)
        self.assertEqual(row["cpu_ns_per_request"], 1000.0)
        self.assertEqual(row["heap_allocs_per_request"], 0.0)

    def test_a_block_has_every_mode_and_lines_up(self):
        text = tables.block(self.rows(), tables.ratios_of(KEY, sample_runs()))
        lines = text.strip().split("\n")
        self.assertIn("w, glibc, 1 thread, 8,000 bytes", lines[0])
        self.assertEqual([line.split()[0] for line in lines[2:]],
                         ["heap", "arena", "codec", "bound_scan"])
        self.assertEqual(len({len(line) for line in lines[1:]}), 1)

    def test_no_allocations_and_not_counted_are_told_apart(self):
        text = tables.block(self.rows(), tables.ratios_of(KEY, sample_runs()))
        header, *lines = text.strip().split("\n")[1:]
        column = header.split().index("allocs")
        cells = {line.split()[0]: line.split()[column] for line in lines}
        self.assertEqual(cells["codec"], "0.0")
        self.assertEqual(cells["bound_scan"], "-")

    def test_threads_stand_side_by_side(self):
        text = tables.thread_table(self.rows(1) + self.rows(8))
        self.assertIn("8 thr, CPU us", text)
        self.assertIn("1 thr, req/s", text)
        self.assertRegex(text, r"(?m)^  codec .*1\.0 .*1\.0 .*10,000,000 .*10,000,000$")

    def test_sizes_stand_side_by_side(self):
        entries = [{"mode": mode, "request_bytes": size, "ns_per_byte": size / 1000}
                   for size in (1024, 16777216) for mode in ("heap", "codec")]
        text = tables.size_table(entries)
        self.assertRegex(text, r"mode +1,024 +16,777,216")
        self.assertRegex(text, r"codec +1\.02 +16777\.22")


class CommandLine(unittest.TestCase):
    """What is run."""

    def test_all_modes_in_the_tables_order(self):
        self.assertEqual(run.parse_arguments([]).modes, programs.MODES + programs.BOUNDS)

    def test_heap_is_always_there(self):
        self.assertEqual(run.parse_arguments(["--modes", "codec"]).modes, ["heap", "codec"])

    def test_unknown_modes_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            run.parse_arguments(["--modes", "magic"])

    def test_sizes_alone(self):
        options = run.parse_arguments(["--payloads", "--tasks", "0", "--sizes"])
        self.assertEqual((options.payloads, options.tasks, options.sizes), ([], 0, True))
        self.assertEqual((run.SIZES[0], run.SIZES[-1]), (1 << 10, 16 << 20))


HEADER = """\
class Origin final :
    public ::PROTOBUF_NAMESPACE_ID::Message {
class Tag_LabelsEntry_DoNotUse : public ::PROTOBUF_NAMESPACE_ID::internal::MapEntry<
class Tag final :
class TagList;
"""

SYMBOLS = """\
0000000000000000 0000000000000010 T pkg::Tag::Tag(pkg::Tag const&)
0000000000000000 0000000000000010 T pkg::Tag::Tag(pkg::Tag const&)
0000000000000010 0000000000000020 T pkg::Origin::MergeFrom(pkg::Tag const&)
0000000000000000 0000000000000004 W pkg::Tag_LabelsEntry_DoNotUse::~Tag_LabelsEntry_DoNotUse()
0000000000000000 0000000000000008 W std::vector<int>::push_back(int)
0000000000000000 0000000000000100 V vtable for pkg::Tag
                 U pkg::Tag::Elsewhere()
"""


class CodegenCost(unittest.TestCase):
    """Reading what binutils print."""

    def test_classes_and_map_entries(self):
        self.assertEqual(codegen_cost.message_classes(HEADER),
                         {"Origin": "Origin", "Tag": "Tag", "Tag_LabelsEntry_DoNotUse": "Tag"})

    def test_functions_count_once_and_go_to_the_first_message_named(self):
        sums = codegen_cost.bytes_by_message(SYMBOLS, codegen_cost.message_classes(HEADER))
        self.assertEqual(sums, {"Origin": 32, "Tag": 20, codegen_cost.SHARED: 8})

    def test_text_sections_are_summed(self):
        listing = ".text  100  0\n.text._ZN3pkg  20  0\n.rodata  9  0\n.rela.text  7  0\n"
        self.assertEqual(codegen_cost.sections_text_bytes(listing), 120)

    def test_the_last_line_is_the_sum(self):
        def variant(text, seconds):
            return {"text_bytes": text, "cpu_seconds": seconds, "source_bytes": 10}
        results = [{"file": name, "messages": 2, "stock": variant(1000, 1.0),
                    "codec": variant(1500, 3.0), "cpu_ratio": 3.0} for name in ("a", "b")]
        self.assertEqual(codegen_cost.file_lines(results)[-1][:6],
                         ["all", "4", "2,000", "3,000", "1.50", "500"])


# Answers as the real program does, and writes down who was asked.
FAKE = """#!{python}
import json, sys
arguments = sys.argv[1:]
if "broken" in arguments:
    sys.exit("no such workload")
print(json.dumps({{"ready": [], "request_bytes": 8000}}), flush=True)
for line in sys.stdin:
    with open("{log}", "a", encoding="ascii") as log:
        log.write(line)
    print(json.dumps({{"parse": 1}}), flush=True)
"""


class Processes(unittest.TestCase):
    """How the processes of the modes take turns."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "log"
        for name in ("messages/harena_bench_messages", "messages/harena_bench_messages_codec",
                     "tools/libharena_alloc_count.so"):
            path = Path(folder.name) / "bench" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(FAKE.format(python=sys.executable, log=self.log), encoding="ascii")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.programs = programs.Programs.of_build(folder.name)

    def test_the_codec_has_its_own_program(self):
        self.assertEqual(self.programs.of("codec"), self.programs.codec)
        for mode in programs.MODES + programs.BOUNDS:
            if mode != "codec":
                self.assertEqual(self.programs.of(mode), self.programs.stock)

    def test_they_take_turns_and_every_other_round_goes_backwards(self):
        slices, request_bytes = programs.interleaved(self.programs, ["heap", "codec"], [], "glibc",
                                                     3)
        self.assertEqual(self.log.read_text().split(),
                         ["heap", "codec", "codec", "heap", "heap", "codec"])
        self.assertEqual({mode: len(s) for mode, s in slices.items()}, {"heap": 3, "codec": 3})
        self.assertEqual(request_bytes, 8000)

    def test_one_that_fails_says_why(self):
        with self.assertRaisesRegex(programs.BenchError, "codec, glibc: .*no such workload"):
            programs.interleaved(self.programs, ["codec"], ["broken"], "glibc", 1)

    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(programs.BenchError, "harena_bench_messages is missing"):
            programs.Programs.of_build("/no/such/folder")


if __name__ == "__main__":
    unittest.main()
