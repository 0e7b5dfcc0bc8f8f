#!/usr/bin/env python3
"""Lets fuzz_corpus choose inputs, with a program in place of libFuzzer that merges by copying."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fuzz_corpus  # noqa: E402 (the path line above makes it importable)

# `program -merge=1 -timeout=25 TO FROM...`
MERGE = """#!/bin/sh
shift 2
to=$1
shift
for from; do cp "$from"/* "$to" 2>/dev/null; done
exit 0
"""


class FuzzCorpusTest(unittest.TestCase):
    def test_the_smallest_fit(self):
        sizes = {"large": 90, "small": 1, "middle": 10, "alike": 10}
        self.assertEqual(fuzz_corpus.fitting(sizes), ["small", "alike", "middle", "large"])
        self.assertEqual(fuzz_corpus.fitting(sizes, files_max=2), ["small", "alike"])
        self.assertEqual(fuzz_corpus.fitting(sizes, bytes_max=20), ["small", "alike"])
        self.assertEqual(fuzz_corpus.fitting({}), [])

    def test_findings_are_kept(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            program = folder / "fuzzer"
            program.write_text(MERGE, encoding="utf-8")
            program.chmod(0o755)
            kept, corpus = folder / "kept", folder / "corpus"
            for place, name, size in ((kept, "a" * 40, 5), (kept, "b" * 40, fuzz_corpus.BYTES_MAX),
                                      (corpus, "c" * 40, 7), (corpus, "a-finding", 100)):
                place.mkdir(exist_ok=True)
                (place / name).write_bytes(b"x" * size)
            self.assertEqual(fuzz_corpus.make(program, kept, corpus), 3)
            self.assertEqual(sorted(path.name for path in corpus.iterdir()), ["a-finding", "a" * 40, "c" * 40])

    def test_programs_are_found_in_both_rooms(self):
        with tempfile.TemporaryDirectory() as temporary:
            build = Path(temporary)
            places = [build / "cpp/pb/one_fuzz", build / "bench/replay/other_fuzz"]
            for place in places:
                place.parent.mkdir(parents=True)
                place.touch()
            (build / "cpp/CMakeFiles/one_fuzz").mkdir(parents=True)
            self.assertEqual([fuzz_corpus.find(build, place.name) for place in places], [[place] for place in places])
            self.assertEqual(fuzz_corpus.find(build, "none_fuzz"), [])


if __name__ == "__main__":
    unittest.main()
