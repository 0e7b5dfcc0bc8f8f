#!/usr/bin/env python3
"""Plants broken pages in a small tree and sees each fault reported; reads the extracted sources."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_docs  # noqa: E402 (the path line above makes it importable)

MAKEFILE = "help:  ## This list\n\ntest-a test-b: test-%: x\nJOBS ?= 2\nbuild: setup\nVAR := 1\n"


class CheckDocsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("Makefile", MAKEFILE)
        self.write("cpp/tests/docs/preludes/scope.h", "")
        self.write("docs/other.md", "# Other page\n\n## A `part`, here\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def problems(self, readme):
        self.write("README.md", readme)
        return check_docs.check(self.root)[0]

    def assert_only_problem(self, readme, *fragments):
        problems = self.problems(readme)
        self.assertEqual(len(problems), 1, problems)
        for fragment in fragments:
            self.assertIn(fragment, problems[0])

    def test_go_is_quoted(self):
        self.write("go/example_test.go", "func Example() {\n\ta := 1\n\tb := 2\n\tc := 3\n}\n")
        quote = "<!-- from: go/example_test.go -->\n```go\n%s```\n"
        self.assertEqual(self.problems(quote % "a := 1\n\n  b := 2\n"), [])
        self.assertEqual(self.problems(quote % "a := 1\n...\nc := 3\n"), [])
        self.assert_only_problem(quote % "a := 1\nc := 3\n", "README.md:2", "a := 1")
        self.assert_only_problem(quote % "c := 3\n...\na := 1\n", "do not stand in go/example_test.go")
        self.assert_only_problem("```go\na := 1\n```\n", "needs `<!-- from: FILE -->`")
        self.assert_only_problem("<!-- from: go/none.go -->\n```go\na := 1\n```\n", "no Go file")

    def test_named_tests_exist(self):
        self.write("cpp/a_test.cc", "TEST_F(Arena, Ends) {\n}\nTYPED_TEST(Room, IsLeft) {}\n"
                   "RC_GTEST_PROP(Model, Holds, ()) {}\n")
        self.write("go/a_test.go", "func TestEnds(t *testing.T) {}\n")
        self.assertEqual(self.problems(
            "[`Arena.Ends`](cpp/a_test.cc), [`Room.IsLeft`](cpp/a_test.cc), [`Model.Holds`](cpp/a_test.cc), "
            "[`TestEnds`](go/a_test.go)\n"), [])
        self.assert_only_problem("[`Arena.End`](cpp/a_test.cc)\n", "README.md:1", "has no test `Arena.End`")
        self.assert_only_problem("[`Other.Ends`](cpp/a_test.cc)\n", "has no test `Other.Ends`")
        self.assert_only_problem("[`TestEnd`](go/a_test.go)\n", "has no test `TestEnd`")
        self.assert_only_problem("[`Arena.Ends`](cpp/b_test.cc)\n", "no such file")

    def test_every_promise_is_held(self):
        self.write("cpp/a_test.cc", "TEST(Arena, Ends) {}\n")
        table = "| promise | held by |\n|---|--:|\n| it ends | [`Arena.Ends`](cpp/a_test.cc) |\n"
        self.assertEqual(self.problems(table + "\n| word | |\n|---|---|\n| free | |\n"), [])
        self.assert_only_problem(table + "| it lasts | a test |\n", "README.md:4", "names no test")

    def test_clean_page(self):
        self.assertEqual(self.problems(
            "# T\n\n<!-- compile: file -->\n```cpp\nint x;\n```\n\n<!-- compile: body scope -->\n\n"
            "```cpp\nreturn 1;\n```\n```sh\nmake build JOBS=2 && make -k test-b\n```\n"
            "See `make help`, [a](docs/other.md), [b](docs/other.md#a-part-here), [c](#t), "
            "[d](https://example.org/x), ![e](docs).\n"), [])

    def test_unmarked_block(self):
        self.assert_only_problem("```cpp\nint x;\n```\n", "README.md:1", "compile: file")

    def test_marker_must_stand_directly_above(self):
        self.assert_only_problem("<!-- compile: file -->\nprose\n```cpp\nint x;\n```\n",
                                 "README.md:3", "compile: file")

    def test_no_marker_excuses_a_block(self):
        self.assert_only_problem("<!-- compile: no because -->\n```cpp\nint x;\n```\n",
                                 "compile: file")

    def test_unknown_prelude(self):
        self.assert_only_problem("<!-- compile: body gone -->\n```cpp\nint x;\n```\n",
                                 "preludes/gone.h")

    def test_other_spellings_of_cpp(self):
        self.assert_only_problem("```c++\nint x;\n```\n", "```cpp")

    def test_marker_over_another_language(self):
        self.assert_only_problem("<!-- compile: file -->\n```sh\nls\n```\n", "```sh")

    def test_unknown_make_target_in_a_shell_block(self):
        self.assert_only_problem("```sh\ncd x\nmake build nothing\n```\n", "README.md:3", "nothing")

    def test_unknown_make_target_in_prose(self):
        self.assert_only_problem("Say `make tea`, and make haste.\n", "`tea`")

    def test_variables_are_no_targets(self):
        self.assertEqual(self.problems("`make VAR=1 build`, `cmake --build x`, make it so\n"), [])

    def test_broken_links(self):
        self.assert_only_problem("[a](docs/none.md)\n", "docs/none.md", "no such file")
        self.assert_only_problem("[a](../outside.md)\n", "no such file")
        self.assert_only_problem("[a](docs/other.md#none)\n", "no such heading")

    def test_links_inside_code_do_not_count(self):
        self.assertEqual(self.problems("`[a](none)`\n```text\n[a](none)\n```\n"), [])

    def extracted(self, readme):
        self.write("README.md", readme)
        folder = self.root / "build" / "docs"
        names = check_docs.extract(check_docs.check(self.root)[1], folder)
        return folder, names

    def test_extracted_file(self):
        folder, names = self.extracted("\n<!-- compile: file -->\n```cpp\nint x;\n```\n")
        self.assertEqual(names, ["README_1.cc"])
        self.assertEqual((folder / "README_1.cc").read_text(), '#line 4 "README.md"\nint x;\n')

    def test_extracted_body_hoists_its_includes(self):
        folder, _ = self.extracted(
            "<!-- compile: body scope -->\n```cpp\n#include <new>\nreturn 1;\n```\n")
        self.assertEqual((folder / "README_1.cc").read_text(),
                         '#include "scope.h"\n#line 3 "README.md"\n#include <new>\n'
                         'auto README_1() {\n#line 3 "README.md"\n\nreturn 1;\n}\n')

    def test_extraction_removes_stale_files_and_keeps_equal_ones(self):
        page = "<!-- compile: file -->\n```cpp\nint x;\n```\n"
        folder, names = self.extracted(page + page)
        self.assertEqual(len(names), 2)
        before = (folder / "README_1.cc").stat().st_mtime_ns
        self.extracted(page)
        self.assertEqual([f.name for f in folder.iterdir()], ["README_1.cc"])
        self.assertEqual((folder / "README_1.cc").stat().st_mtime_ns, before)

    def test_indented_block_in_a_list(self):
        folder, _ = self.extracted("- item\n\n  <!-- compile: file -->\n  ```cpp\n  int x;\n  ```\n")
        self.assertIn("\nint x;\n", (folder / "README_1.cc").read_text())


if __name__ == "__main__":
    unittest.main()
