#!/usr/bin/env python3
"""Compares what protoc-gen-harena puts into protoc's C++ with what it should.

Every insertion for one file stands in codec_generator_test.golden, for protobuf 29 in
codec_generator_test_29.golden and for 36 in codec_generator_test_36.golden; --update rewrites it.
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__)
# By protoc's release. With others the plugin leaves everything to protobuf.
GOLDEN = {"3.21": HERE.with_suffix(".golden"), "29": HERE.with_name(f"{HERE.stem}_29.golden"),
          "36": HERE.with_name(f"{HERE.stem}_36.golden")}
OPTIONS: argparse.Namespace

# One of each: what has its own shape in the generated code.
SEVERAL = """
syntax = "proto2";
package golden.v1;
enum Kind { KIND_A = 1; KIND_B = 2; }
message Item {
  optional string name = 1 [default = "none"];
  required sint32 number = 2;
  optional Kind kind = 3;
  repeated fixed64 packed = 4 [packed = true];
  repeated int32 numbers = 2047;
  repeated Item items = 5;
  map<string, bytes> data_by_name = 6;
  map<int32, Item> item_by_number = 7;
  oneof choice {
    string text = 8;
    Item item = 9;
    double ratio = 10;
    group Inner = 11 { repeated bytes lines = 1; }
  }
  extensions 100 to 199;
  message Nested {}
}
message Set { option message_set_wire_format = true; extensions 4 to max; }
"""

PROTO3 = """
syntax = "proto3";
package golden.v3;
message Item { string text = 1; optional string maybe = 2; map<string, string> texts = 3; }
"""

# Stands in for the plugin and keeps what protoc asks it.
RECORDER = """#!{python}
import sys
open({path!r}, "wb").write(sys.stdin.buffer.read())
"""


def fields(wire: bytes):
    """(number, value) of each field of a message that has varints and strings only."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = wire[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(wire):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            yield tag >> 3, wire[at:at + value]
            at += value
        else:
            yield tag >> 3, value


def release() -> str:
    """As in the names of tags, without the patch: "3.21", "36"."""
    said = subprocess.run([OPTIONS.protoc, "--version"], check=True, capture_output=True, text=True)
    numbers = said.stdout.split()[-1].split(".")
    return ".".join(numbers[:2] if numbers[0] == "3" else numbers[:1])


def insertions(source: str, name: str = "golden.proto") -> list[tuple[str, str, str]]:
    """(file, insertion point, text) in the plugin's own order."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / name).write_text(source, encoding="utf-8")
        recorder = root / "recorder"
        request = root / "request"
        recorder.write_text(RECORDER.format(python=sys.executable, path=str(request)),
                            encoding="utf-8")
        recorder.chmod(0o755)
        subprocess.run([OPTIONS.protoc, f"--plugin=protoc-gen-recorder={recorder}",
                        f"--recorder_out=codec:{folder}", f"-I{folder}", str(root / name)],
                       check=True, capture_output=True)
        response = subprocess.run([OPTIONS.plugin], input=request.read_bytes(),
                                  capture_output=True, check=True).stdout
    found = []
    for number, value in fields(response):
        if number == 1:
            raise ValueError(value.decode())
        if number == 15:
            parts = {key: text.decode() for key, text in fields(value)}
            found.append((parts.get(1, ""), parts.get(2, ""), parts.get(15, "")))
    return found


def run_protoc(source: str, *outputs: str, name: str = "golden.proto"):
    """(finished process, {file name: text}) of one protoc run; OUT in outputs is the folder."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "in").mkdir()
        (root / "out").mkdir()
        (root / "in" / name).write_text(source, encoding="utf-8")
        done = subprocess.run(
            [OPTIONS.protoc, f"--plugin=protoc-gen-harena={OPTIONS.plugin}",
             *[output.replace("OUT", str(root / "out")) for output in outputs],
             f"-I{root}/in", str(root / "in" / name)],
            capture_output=True, text=True, check=False)
        written = {path.name: path.read_text(encoding="utf-8")
                   for path in (root / "out").iterdir()}
    return done, written


class UnknownReleaseTest(unittest.TestCase):
    def test_everything_is_left_to_protobuf(self):
        self.assertEqual(
            insertions(SEVERAL),
            [("golden.pb.h", "includes",
              "// No codec by protoc-gen-harena: it does not know the classes of protobuf "
              f"{release()}.\n")])


class CodecGeneratorTest(unittest.TestCase):
    maxDiff = None

    def generate(self, source: str) -> dict[str, str]:
        """The files of a run that must succeed."""
        done, written = run_protoc(source, "--cpp_out=OUT", "--harena_out=codec:OUT")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(written), ["golden.pb.cc", "golden.pb.h"])
        return written

    def test_golden(self):
        text = "".join(f"=== {file} @ {point}\n{content}"
                       for file, point, content in insertions(SEVERAL))
        golden = GOLDEN[release()]
        if OPTIONS.update:
            golden.write_text(text, encoding="utf-8")
        difference = "".join(difflib.unified_diff(
            golden.read_text(encoding="utf-8").splitlines(True), text.splitlines(True),
            golden.name, "generated"))
        self.assertEqual(difference, "", f"run {HERE.name} --update and look at the diff")

    def test_every_insertion_finds_its_place(self):
        written = self.generate(SEVERAL)
        for file, _, content in insertions(SEVERAL):
            for line in content.splitlines():
                self.assertIn(line, written[file])

    def test_proto3_strings_are_checked_and_proto2_strings_are_not(self):
        proto3 = self.generate(PROTO3)["golden.pb.cc"]
        proto2 = self.generate(SEVERAL)["golden.pb.cc"]
        self.assertIn('_internal_text(), "golden.v3.Item.text");', proto3)
        self.assertIn("_internal_name(), nullptr);", proto2)
        # The parser's as well.
        self.assertIn('_impl_.text_, "golden.v3.Item.text");', proto3)
        self.assertIn("_impl_.name_, nullptr);", proto2)

    def test_what_is_left_to_protobuf_says_why(self):
        self.assertIn("No codec: it has message_set_wire_format.",
                      self.generate(SEVERAL)["golden.pb.h"])
        for value in ("LITE_RUNTIME", "CODE_SIZE"):
            source = f'syntax = "proto3"; option optimize_for = {value}; message M {{ string s = 1; }}'
            written = self.generate(source)
            self.assertRegex(written["golden.pb.h"], rf"// No codec by .*: .*{value}")
            self.assertNotIn("HarenaWrite", "".join(written.values()))

    def test_files_without_fields(self):
        self.generate('syntax = "proto3"; message Empty {}')
        self.generate('syntax = "proto3"; message Outer { message Inner { int32 i = 1; } }')
        self.generate('syntax = "proto3"; enum E { ZERO = 0; }')
        self.generate('syntax = "proto3";')

    def test_without_cpp_out_it_says_what_is_missing(self):
        done, written = run_protoc(SEVERAL, "--harena_out=codec:OUT")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("golden.pb.h: Tried to insert into file that doesn't exist.", done.stderr)
        self.assertEqual(written, {})

    def test_another_folder_than_cpp_outs(self):
        with tempfile.TemporaryDirectory() as other:
            done, _ = run_protoc(SEVERAL, "--cpp_out=OUT", f"--harena_out=codec:{other}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Tried to insert into file that doesn't exist.", done.stderr)
            self.assertEqual(os.listdir(other), [])

    def test_unknown_parameters(self):
        for parameter, named in (("fast=yes", "fast=yes"), ("codec,arena", "arena"),
                                 ("codec=on", "codec=on")):
            done, written = run_protoc(SEVERAL, "--cpp_out=OUT", f"--harena_out={parameter}:OUT")
            self.assertNotEqual(done.returncode, 0, parameter)
            self.assertIn(f"protoc-gen-harena knows the parameters `codec` and `grpc`, not `{named}`",
                          done.stderr)
            self.assertEqual(written, {})

    def test_both_outputs_in_one_run(self):
        done, written = run_protoc(PROTO3, "--cpp_out=OUT", "--harena_out=codec,grpc:OUT")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(written), ["golden.harena.grpc.h", "golden.pb.cc", "golden.pb.h"])
        self.assertIn("HarenaWrite", written["golden.pb.cc"])


def main() -> int:
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True, help="the built protoc-gen-harena")
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--update", action="store_true", help="rewrite the golden file")
    OPTIONS = parser.parse_args()
    case = CodecGeneratorTest if release() in GOLDEN else UnknownReleaseTest
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
