#!/usr/bin/env python3
"""Tests of the parts of the matrix that neither download nor build."""

import io
import json
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import archives  # noqa: E402 (the path line above makes these importable)
import problem  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402
import sources  # noqa: E402
import table  # noqa: E402

JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="6" failures="1" disabled="1" skipped="2">
  <testcase name="a" status="run"><system-out>[  PASSED  ]</system-out></testcase>
  <testcase name="b" status="fail"><failure message=""/></testcase>
  <testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
  <testcase name="d" status="disabled"><disabled message="Disabled"/></testcase>
  <testcase name="e" status="notrun"><skipped message="Unable to find executable: e"/></testcase>
  <testcase name="f" status="run"/>
</testsuite>
"""
REPORT = "protobuf 3.21.12, codec on, arena strings on\n  harena.test.Shapes: codec\n"
BUILT_WITH = {"compiler": "g++ 12.2.0", "grpc": "1.51.1"}
ARCHIVE = {"name": "29", "from": "archive", "release": "29.0", "archive": "a.tar.gz", "sha256": "0" * 64}


def table_of(*rows) -> str:
    return json.dumps({"index": "https://example.org/simple/a/", "versions": rows})


class TableTest(unittest.TestCase):
    def test_the_real_one(self):
        index, versions = table.load()
        self.assertTrue(index.startswith("https://"))
        self.assertEqual({"debian", "archive", "unstable"}, {version.way for version in versions})

    def test_refuses(self):
        for row, word in (({**ARCHIVE, "name": "x"}, "named"), ({**ARCHIVE, "from": "ftp"}, "ftp"),
                          ({**ARCHIVE, "sha256": "12"}, "sha256"), ({**ARCHIVE, "release": ""}, "release")):
            with self.assertRaisesRegex(ValueError, word):
                table.parse(table_of(row))
        with self.assertRaisesRegex(ValueError, "twice"):
            table.parse(table_of(ARCHIVE, ARCHIVE))

    def test_pick(self):
        versions = table.parse(table_of({"name": "3.21", "from": "debian"}, ARCHIVE))[1]
        self.assertEqual(["3.21", "29"], [version.name for version in table.pick(versions, [])])
        self.assertEqual(["29"], [version.name for version in table.pick(versions, ["29"])])
        with self.assertRaisesRegex(ValueError, "no version 30; there are 3.21 29"):
            table.pick(versions, ["30"])


class ArchivesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_another_checksum_is_refused(self):
        (self.folder / "a.tar.gz").write_bytes(b"other bytes")
        with self.assertRaisesRegex(problem.NotTried, "a.tar.gz: its sha256 is .* it is not used"):
            archives.get("https://example.org/simple/a/", "a.tar.gz", "0" * 64, self.folder)

    def test_a_download_with_another_checksum_is_not_kept(self):
        page = b'<a href="../../files/a.tar.gz#sha256=00">a</a>'
        with mock.patch.object(archives, "read", side_effect=[page, b"other bytes"]) as read:
            with self.assertRaises(problem.NotTried):
                archives.get("https://example.org/simple/a/", "a.tar.gz", "0" * 64, self.folder)
        self.assertEqual("https://example.org/files/a.tar.gz", read.call_args.args[0])
        self.assertEqual([], list(self.folder.iterdir()))

    def test_no_network(self):
        with mock.patch("urllib.request.urlopen", side_effect=OSError("no route")):
            with self.assertRaisesRegex(problem.NotTried, "could not be read: no route"):
                archives.read("https://example.org/")

    def test_not_in_the_index(self):
        with self.assertRaisesRegex(problem.NotTried, "does not name a.tar.gz"):
            archives.address('<a href="b.tar.gz">', "https://example.org/simple/a/", "a.tar.gz")

    def test_unpack_replaces(self):
        packed = self.folder / "a.tar.gz"
        with tarfile.open(packed, "w:gz") as content:
            entry = tarfile.TarInfo("a-1.0/file")
            entry.size = 2
            content.addfile(entry, io.BytesIO(b"it"))
        (self.folder / "source").mkdir()
        (self.folder / "source/old").touch()
        archives.unpack(packed, self.folder / "source")
        self.assertEqual(["file"], [path.name for path in (self.folder / "source").iterdir()])


class SourcesTest(unittest.TestCase):
    def test_listed(self):
        self.assertEqual((["a.cc"], ["b"]), sources.listed("CC_FILES=['a.cc']\nX = 1\nCC_INCLUDES=['b']\n"))
        with self.assertRaises(ValueError):
            sources.listed("CC_FILES=[]\n")

    def test_split(self):
        library, compiler = sources.split(["third_party/abseil-cpp/absl/a.cc", "third_party/protobuf/upb/b.c",
                                           *(sources.PROTOBUF + name for name in (
                                               "arena.cc", "compiler/main.cc", "compiler/parser.cc",
                                               "compiler/cpp/file.cc", "compiler/java/file.cc"))])
        self.assertEqual(["third_party/abseil-cpp/absl/a.cc", sources.PROTOBUF + "arena.cc",
                          sources.PROTOBUF + "compiler/parser.cc"], library)
        self.assertEqual([sources.PROTOBUF + "compiler/cpp/file.cc"], compiler)


class ResultsTest(unittest.TestCase):
    def test_count(self):
        self.assertEqual(results.Counts(6, 2, 2, 2, ("b", "e")), results.count(JUNIT))

    def test_codec(self):
        self.assertEqual(results.Codec("3.21.12", "harena", "harena"), results.read_codec(REPORT))
        self.assertEqual(results.Codec("36.2", "stock", "harena"), results.read_codec(
            "protobuf 36.2, codec serializer only, arena strings off\n  a.B: codec\n"))
        # The library could, and the classes do not.
        self.assertEqual(results.Codec("36.2", "stock", "stock"), results.read_codec(
            "protobuf 36.2, codec on, arena strings on\n  a.B: protobuf, because it says so\n"))
        with self.assertRaises(ValueError):
            results.read_codec("Segmentation fault\n")

    def row(self, **counts):
        return results.row("3.21", results.read_codec(REPORT), BUILT_WITH,
                           results.Counts(**{"tests": 1234, "passed": 1230, "failed": 0, "skipped": 4, **counts}))

    def test_row(self):
        row = self.row()
        self.assertEqual(("3.21.12", "1.51.1", "g++ 12.2.0", "harena", 1230),
                         tuple(row[key] for key in ("protobuf", "grpc", "compiler", "parser", "passed")))
        json.dumps(row)

    def test_what_was_not_tried_never_counts_as_passed(self):
        row = results.row_without("36", "a chroot needs root")
        self.assertEqual((False, None, "a chroot needs root"), (row["tried"], row["passed"], row["reason"]))
        self.assertTrue(results.good([self.row(), row]))

    def test_good(self):
        self.assertFalse(results.good([self.row(), self.row(failed=1)]))
        self.assertFalse(results.good([self.row(passed=0)]))
        self.assertFalse(results.good([results.row_without("29", "it did not build", tried=True)]))

    def test_markdown(self):
        said = results.markdown([self.row(), results.row_without("36", "no root | none\nmore")]).splitlines()
        self.assertEqual("| 3.21.12 | 1.51.1 | g++ 12.2.0 | harena | harena | 1,234 | 1,230 | 0 | 4 |", said[2])
        self.assertEqual("| 36 | not tried: no root / none | | | | | | | |", said[3])


class RunTest(unittest.TestCase):
    def test_one_that_fails_does_not_stop_the_others(self):
        versions = table.parse(table_of({"name": "3.21", "from": "debian"}, ARCHIVE))[1]
        with mock.patch.object(run, "row", side_effect=[problem.NotTried("no package"), {"tried": True}]), \
                mock.patch("sys.stderr", io.StringIO()):
            rows = run.rows(versions, "", Path(), 1)
        self.assertEqual([False, True], [row["tried"] for row in rows])
        self.assertEqual("no package", rows[0]["reason"])

    def test_another_package(self):
        version = table.Version("3.21", "debian")
        with mock.patch.object(run, "debian_release", return_value="3.2.1"):
            with self.assertRaisesRegex(problem.NotTried, "is 3.2.1"):
                run.row(version, "", Path(), 1)


if __name__ == "__main__":
    unittest.main()
