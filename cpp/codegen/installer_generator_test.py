#!/usr/bin/env python3
"""Runs protoc with protoc-gen-harena and compares what it writes with what it should.

The whole output of one file stands in installer_generator_test.golden; --update rewrites it.
"""

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GOLDEN = Path(__file__).with_suffix(".golden")
OPTIONS: argparse.Namespace

# Two services; a method named as its service; nested and imported types;
# every kind of stream.
SEVERAL = """
syntax = "proto3";
package golden.v1;
import "google/protobuf/empty.proto";
message Outer { message Inner { string text = 1; } }
service Feed {
  rpc Get(Outer.Inner) returns (Outer);
  rpc Watch(Outer) returns (stream Outer);
  rpc Store(stream Outer) returns (Outer);
  rpc Talk(stream Outer) returns (stream Outer);
}
service Ping { rpc Ping(google.protobuf.Empty) returns (google.protobuf.Empty); }
"""

NO_PACKAGE = """
syntax = "proto2";
message Plain { required string name = 1; }
service Bare { rpc Call(Plain) returns (Plain); }
"""


def run_protoc(source: str, name: str = "golden.proto", parameter: str = ""):
    """(finished process, {file name: text}) of one protoc run."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "in").mkdir()
        (root / "out").mkdir()
        file = root / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
        out = f"--harena_out={parameter}:{root}/out" if parameter else f"--harena_out={root}/out"
        done = subprocess.run(
            [OPTIONS.protoc, f"--plugin=protoc-gen-harena={OPTIONS.plugin}", out,
             f"-I{root}/in", str(file)],
            capture_output=True, text=True, check=False)
        written = {path.relative_to(root / "out").as_posix(): path.read_text(encoding="utf-8")
                   for path in (root / "out").rglob("*") if path.is_file()}
    return done, written


class InstallerGeneratorTest(unittest.TestCase):
    maxDiff = None

    def generate(self, source: str, name: str = "golden.proto") -> str:
        done, written = run_protoc(source, name)
        self.assertEqual(done.returncode, 0, done.stderr)
        header = name.removesuffix(".proto") + ".harena.grpc.h"
        self.assertEqual(list(written), [header])
        return written[header]

    def test_golden(self):
        text = self.generate(SEVERAL)
        if OPTIONS.update:
            GOLDEN.write_text(text, encoding="utf-8")
        difference = "".join(difflib.unified_diff(
            GOLDEN.read_text(encoding="utf-8").splitlines(True), text.splitlines(True),
            GOLDEN.name, "generated"))
        self.assertEqual(difference, "", f"run {Path(__file__).name} --update and look at the diff")

    def test_every_method_is_either_bound_or_explained(self):
        text = self.generate(SEVERAL)
        for path in ("Feed/Get", "Ping/Ping"):
            self.assertRegex(text, rf'\d+, "/golden.v1.{path}",')
        for path, kind in (("Watch", "server streaming"), ("Store", "client streaming"),
                           ("Talk", "bidirectional streaming")):
            found = re.search(rf'Uncovered\("/golden.v1.Feed/{path}",\s*"(\w+ streaming)', text)
            self.assertIsNotNone(found, path)
            self.assertEqual(found.group(1), kind)
        self.assertIn("::golden::v1::Outer_Inner", text)
        self.assertIn("::google::protobuf::Empty", text)

    def test_no_package(self):
        text = self.generate(NO_PACKAGE)
        self.assertNotRegex(text, r"(?m)^(namespace|}  // namespace)")
        self.assertIn('0, "/Bare/Call",', text)
        self.assertIn("const ::Plain* request", text)

    def test_a_file_without_services(self):
        text = self.generate('syntax = "proto3"; message M {}')
        self.assertIn("has no services", text)
        self.assertNotIn("#include", text)

    def test_a_service_without_methods(self):
        text = self.generate('syntax = "proto3"; package p; service Idle {}')
        self.assertIn("std::is_base_of_v<Idle::Service, Service>", text)

    def test_the_header_stands_beside_grpcs_in_the_same_folder(self):
        text = self.generate(SEVERAL, name="some/folder/golden-2.proto")
        self.assertIn('#include "some/folder/golden-2.grpc.pb.h"', text)

    def test_proto3_optional_is_understood(self):
        self.generate('syntax = "proto3"; message M { optional int32 number = 1; }')

    def test_a_parameter_is_an_error(self):
        done, written = run_protoc(SEVERAL, parameter="fast=yes")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('knows the parameters `codec` and `grpc`, not `fast=yes`', done.stderr)
        self.assertEqual(written, {})

    def test_help(self):
        for flag in ("--help", "-h"):
            done = subprocess.run([OPTIONS.plugin, flag], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0)
            self.assertIn("--harena_out=codec,grpc:DIR", done.stdout)
        done = subprocess.run([OPTIONS.plugin, "--wrong"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("protoc runs it", done.stderr)


def main() -> int:
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True, help="the built protoc-gen-harena")
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--update", action="store_true", help="rewrite the golden file")
    OPTIONS = parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(InstallerGeneratorTest)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
