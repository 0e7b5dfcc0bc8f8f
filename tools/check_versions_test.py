#!/usr/bin/env python3
"""Shows wrong versions to the check and sees each reported."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_versions  # noqa: E402 (the path line above makes it importable)

WANTED = {"CLANG_VERSION": "14", "GXX_OLDEST": "12", "CMAKE_OLDEST": "3.25", "NINJA_OLDEST": "1.11",
          "PYTHON_OLDEST": "3.9", "PROTOC_TESTED": "3.21.12", "GRPC_TESTED": "1.51.1"}
GOOD = {"clang++-14": "14.0.6", "clang-format-14": "14.0.6", "clang-tidy-14": "14.0.6", "g++": "12.2.0",
        "cmake": "3.25.1", "ninja": "1.11.1", "protoc": "3.21.12", "pkg-config": "1.51.1"}


class CheckVersionsTest(unittest.TestCase):
    def found(self, **changed):
        answers = GOOD | {name.replace("_", "-").replace("pp", "++"): version for name, version in changed.items()}
        return check_versions.check(WANTED, ask=lambda command: answers[command[0]])

    def test_the_pinned_versions_are_fine(self):
        self.assertEqual(self.found(), ([], []))

    def test_another_clang_is_refused(self):
        problems, _ = self.found(clang_tidy_14="15.0.1")
        self.assertEqual(len(problems), 1)
        self.assertIn("clang-tidy-14 is version 15.0.1", problems[0])

    def test_an_absent_tool_is_setups_business(self):
        problems, notes = self.found(clang_format_14=None, ninja=None)
        self.assertEqual(problems, [])
        self.assertIn("make setup", notes[0])

    def test_older_than_the_oldest(self):
        self.assertIn("3.24.9", self.found(cmake="3.24.9")[0][0])
        self.assertEqual(self.found(cmake="4.1")[0], [])

    def test_another_than_the_tested_is_said(self):
        problems, notes = self.found(protoc="36.2")
        self.assertEqual(problems, [])
        self.assertIn("protoc is 36.2; the tests ran with 3.21.12", notes[0])

    def test_the_file_of_the_repository(self):
        wanted = check_versions.pins(check_versions.ROOT / "tools/versions.env")
        self.assertLessEqual(set(WANTED) | {"GO_TOOLCHAIN", "DEBIAN_RELEASE"}, set(wanted))
        for key, value in wanted.items():
            self.assertRegex(value, r"^(go|v)?\d+(\.\d+)*$", key)

    def test_versions_stand_in_one_place(self):
        self.assertEqual(check_versions.check_places({"CLANG_VERSION": "14"}), [])
        with tempfile.TemporaryDirectory() as folder:
            for name in check_versions.PLACES:
                file = Path(folder, name)
                file.parent.mkdir(exist_ok=True)
                file.write_text("CXX=clang++-14\n# go1.26.3\n" if name == "Makefile" else "true\n")
            problems = check_versions.check_places({"CLANG_VERSION": "14"}, Path(folder))
            self.assertEqual([problem.split(": ")[0] for problem in problems], ["Makefile:1", "Makefile:2"])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--quiet"],
                  verbosity=0 if "--quiet" in sys.argv else 1)
