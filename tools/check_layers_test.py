#!/usr/bin/env python3
"""Plants violations in a small tree and sees each of them reported, and nothing else."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import check_layers  # noqa: E402 (the path line above makes it importable)

LAYERS = """
[folders]
base | cpp/harena/base          |           | std
mem  | cpp/harena/mem           | base      | std os
grpc | cpp/harena/adapters/grpc | base mem  | std protobuf grpc
brpc | cpp/harena/adapters/brpc | base mem  | std protobuf
goar | go/arena                 |           | std
gopb | go/pb                    | goar      | std protobuf
goin | go/internal/text         |           | std
gogr | go/adapters/grpcgo       | goar gopb goin | std grpc
free | cpp/tests                | free      | free
[foreign]
os       | sys/* unistd.h
protobuf | google/protobuf/* google.golang.org/protobuf/*
grpc     | grpcpp/* google.golang.org/grpc google.golang.org/grpc/*
cgo      | C
"""

CLEAN = {
    "cpp/harena/base/check.h": "#include <cstdint>\n",
    "cpp/harena/mem/arena.h": '#include "harena/base/check.h"\n#include <sys/mman.h>\n',
    "cpp/harena/mem/arena.cc": '#include "arena.h"\n#include "harena/mem/internal/page.h"\n',
    "cpp/harena/mem/internal/page.h": "#include <vector>\n",
    "cpp/harena/adapters/grpc/server.h":
        '#include "harena/mem/arena.h"\n#include <grpcpp/grpcpp.h>\n',
    "cpp/harena/adapters/brpc/factory.h": "#include <google/protobuf/message.h>\n",
    "cpp/tests/anything.cc": '#include <other/thing.h>\n#include "harena/mem/internal/page.h"\n',
    "go/arena/arena.go": 'package arena\n\nimport "sync"\n',
    "go/pb/pb.go": 'package pb\n\nimport (\n\t"fmt"\n\n\t'
                   'p "google.golang.org/protobuf/proto"\n\t'
                   '"github.com/harena-project/harena/go/arena"\n)\n',
    "go/internal/text/text.go": 'package text\n\nimport "unsafe"\n',
    "go/adapters/grpcgo/server.go": 'package grpcgo\n\nimport (\n\t"context"\n\n'
                                    '\t"google.golang.org/grpc"\n\t_ "google.golang.org/grpc/stats"\n\n'
                                    '\t"github.com/harena-project/harena/go/internal/text"\n)\n',
}


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("layers.txt", LAYERS)
        for path, text in CLEAN.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def problems(self):
        return check_layers.check(self.root)[0]

    def assert_only_problem(self, *fragments):
        problems = self.problems()
        self.assertEqual(len(problems), 1, problems)
        for fragment in fragments:
            self.assertIn(fragment, problems[0])

    def test_clean_tree_has_no_problem(self):
        self.assertEqual(self.problems(), [])

    def test_upward_include(self):
        self.write("cpp/harena/base/bad.h", '#pragma once\n\n#include "harena/mem/arena.h"\n')
        self.assert_only_problem("cpp/harena/base/bad.h:3", "base may not include", "(mem)")

    def test_upward_include_by_relative_path(self):
        self.write("cpp/harena/base/bad.h", '#include "../mem/arena.h"\n')
        self.assert_only_problem("bad.h:1", "(mem)")

    def test_upward_include_of_a_missing_header(self):
        self.write("cpp/harena/base/bad.h", '#include "harena/mem/later.h"\n')
        self.assert_only_problem("bad.h:1", "(mem)")

    def test_one_adapter_including_another(self):
        self.write("cpp/harena/adapters/brpc/bad.h", '#include "harena/adapters/grpc/server.h"\n')
        self.assert_only_problem("brpc may not include", "(grpc)")

    def test_forbidden_foreign_header(self):
        self.write("cpp/harena/mem/bad.cc", "#include <google/protobuf/arena.h>\n")
        self.assert_only_problem("mem may not include", "(protobuf)")

    def test_forbidden_foreign_header_under_a_condition(self):
        self.write("cpp/harena/mem/bad.cc", "#if 0\n  #  include <grpcpp/grpcpp.h>\n#endif\n")
        self.assert_only_problem("bad.cc:2", "(grpc)")

    def test_unknown_foreign_header(self):
        self.write("cpp/harena/mem/bad.cc", "#include <folly/Range.h>\n")
        self.assert_only_problem("folly/Range.h", "no group")

    def test_internal_header_of_another_layer(self):
        self.write("cpp/harena/adapters/grpc/bad.cc", '#include "harena/mem/internal/page.h"\n')
        self.assert_only_problem("internal to mem")

    def test_folder_without_a_row(self):
        self.write("cpp/harena/extra/new.h", "#include <vector>\n")
        self.assert_only_problem("cpp/harena/extra", "no row")

    def test_include_of_a_folder_without_a_row(self):
        self.write("cpp/harena/extra/new_test.h", "")
        self.write("cpp/harena/mem/bad.h", '#include "harena/extra/new_test.h"\n')
        self.assertEqual(len([p for p in self.problems() if "mem/bad.h:1" in p]), 1)

    def test_row_without_a_folder(self):
        self.write("layers.txt", LAYERS.replace("[foreign]", "gone | cpp/gone | base | std\n[foreign]"))
        self.assert_only_problem("cpp/gone", "does not exist")

    def test_rows_that_form_a_circle(self):
        self.write("layers.txt", LAYERS.replace("| base      | std os", "| base grpc | std os"))
        with self.assertRaisesRegex(ValueError, "form a circle: (mem -> grpc|grpc -> mem) -> "):
            self.problems()

    def test_rows_that_form_a_circle_of_three(self):
        self.write("layers.txt", LAYERS.replace("|           | std\nmem", "| brpc      | std\nmem"))
        with self.assertRaisesRegex(ValueError, "base -> brpc -> base|brpc -> mem -> base -> brpc"):
            self.problems()

    def test_row_of_a_folder_alone(self):
        self.write("layers.txt", LAYERS.replace("mem  | cpp/harena/mem  ", "mem  | cpp/harena/mem/."))
        self.assertEqual(len([p for p in self.problems() if "folder `cpp/harena/mem/internal` has no row" in p]), 1)

    def test_smaller_budget_of_a_folder(self):
        self.write("layers.txt", LAYERS.replace("[foreign]", "pb | cpp/harena/pb | base | std\n[foreign]"))
        self.write("cpp/harena/pb/long.cc", "\n" * 301)
        self.write("cpp/harena/pb/long_test.cc", "\n" * 301)
        self.assert_only_problem("pb/long.cc:301", "budget 300")

    def test_go_import_of_a_foreign_module(self):
        self.write("go/arena/bad.go", 'package arena\n\nimport "google.golang.org/protobuf/proto"\n')
        self.assert_only_problem("go/arena/bad.go:3", "(protobuf)")

    def test_go_import_upwards_in_a_block(self):
        self.write("go/arena/bad.go", 'package arena\n\nimport (\n\t"fmt"\n'
                   '\t"github.com/harena-project/harena/go/pb"\n)\n')
        self.assert_only_problem("go/arena/bad.go:5", "(gopb)")

    def test_go_import_of_an_unknown_module(self):
        self.write("go/arena/bad.go", 'package arena\n\nimport _ "example.org/x"\n')
        self.assert_only_problem("example.org/x", "no group")

    def test_go_import_of_another_packages_internals(self):
        self.write("go/adapters/grpcgo/bad.go", 'package grpcgo\n\n'
                   'import "github.com/harena-project/harena/go/pb/internal/wire"\n')
        self.assert_only_problem("go/adapters/grpcgo/bad.go:3", "internal to gopb")

    def test_go_import_of_cgo(self):
        self.write("go/arena/bad.go", 'package arena\n\n// #include <stdlib.h>\nimport "C"\n')
        self.assert_only_problem("go/arena/bad.go:4", "(cgo)")

    def test_go_dot_import_and_renamed_import(self):
        self.write("go/arena/bad.go", 'package arena\n\nimport (\n'
                   '\t. "google.golang.org/grpc/codes"\n'
                   '\tp "google.golang.org/protobuf/proto"\n)\n')
        self.assertEqual(len(self.problems()), 2)

    def test_go_import_of_generated_test_messages(self):
        self.write("go/pb/internal/testpb/long.pb.go", "package testpb\n" * 501)
        text = 'package pb\n\nimport "github.com/harena-project/harena/go/pb/internal/testpb/gtfspb"\n'
        self.write("go/pb/x_test.go", text)
        self.assertEqual(self.problems(), [])
        self.write("go/pb/bad.go", text)
        self.assert_only_problem("go/pb/bad.go:3", "belongs to tests")

    def test_go_tests_may_import_anything(self):
        self.write("go/arena/x_test.go", 'package arena_test\n\nimport "example.org/x"\n')
        self.assertEqual(self.problems(), [])

    def test_go_imports_in_comments_and_strings_do_not_count(self):
        self.write("go/arena/ok.go", 'package arena\n\n/*\nimport "example.org/x"\n*/\n\n'
                   'import "fmt"\n\nvar s = `\nimport "example.org/y"\n`\n')
        self.assertEqual(self.problems(), [])

    def test_go_line_numbers_survive_a_comment(self):
        self.write("go/arena/bad.go", '/*\n\n*/\npackage arena\n\nimport "example.org/x"\n')
        self.assert_only_problem("bad.go:6")

    def test_file_over_the_budget(self):
        self.write("cpp/harena/mem/long.cc", "\n" * 501)
        self.assert_only_problem("long.cc:501", "501 lines")

    def test_long_files_of_every_kind(self):
        for path in ("tools/long.py", "tools/long.sh", "cpp/tests/long.cc", "cmake/long.cmake",
                     "cpp/tests/CMakeLists.txt"):
            self.write(path, "\n" * 501)
        self.assertEqual(len(self.problems()), 5)

    def test_budget_spares_tests_payloads_and_prose(self):
        for path in ("cpp/harena/mem/long_test.cc", "testdata/long.h", "cpp/tests/gen/long.cc",
                     "README.md", "cpp/harena/mem/exact.cc"):
            self.write(path, "\n" * (500 if "exact" in path else 501))
        self.assertEqual(self.problems(), [])

    def test_tests_may_include_anything(self):
        self.write("cpp/harena/mem/x_test.cc", "#include <gtest/gtest.h>\n")
        self.write("cpp/harena/mem/x_bench.cc", "#include <benchmark/benchmark.h>\n")
        self.assertEqual(self.problems(), [])

    def test_helpers_of_tests_are_for_tests_only(self):
        self.write("cpp/harena/mem/test_pool.h", "#include <gtest/gtest.h>\n")
        self.write("cpp/harena/mem/x_test.cc", '#include "harena/mem/test_pool.h"\n')
        self.assertEqual(self.problems(), [])
        self.write("cpp/harena/mem/bad.cc", '#include "harena/mem/test_pool.h"\n')
        self.assert_only_problem("bad.cc:1", "belongs to tests")

    def test_includes_in_comments_and_raw_strings_do_not_count(self):
        self.write("cpp/harena/base/ok.cc",
                   '/*\n#include <grpcpp/a.h>\n*/\nauto s = R"cc(\n#include <grpcpp/b.h>\n)cc";\n'
                   "// #include <grpcpp/c.h>\n")
        self.assertEqual(self.problems(), [])

    def test_line_numbers_survive_a_comment(self):
        self.write("cpp/harena/base/bad.cc", "/*\n\n*/\n#include <grpcpp/a.h>\n")
        self.assert_only_problem("bad.cc:4")

    def test_table_with_an_unknown_role_is_refused(self):
        self.write("layers.txt", LAYERS.replace("base mem  | std protobuf grpc",
                                                "base memo | std protobuf grpc"))
        with self.assertRaisesRegex(ValueError, "memo"):
            self.problems()

    def test_table_with_a_broken_line_is_refused(self):
        self.write("layers.txt", LAYERS.replace("| std os", ""))
        with self.assertRaisesRegex(ValueError, "cannot read"):
            self.problems()

    def run_main(self):
        with mock.patch.object(sys, "argv", ["check_layers.py", str(self.root)]), \
                contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()) as errors:
            return check_layers.main(), errors.getvalue()

    def test_exit_codes(self):
        self.assertEqual(self.run_main()[0], 0)
        self.write("cpp/harena/base/bad.h", '#include "harena/mem/arena.h"\n')
        code, errors = self.run_main()
        self.assertEqual(code, 1)
        self.assertIn("bad.h:1", errors)
        self.write("layers.txt", "nonsense\n")
        self.assertEqual(self.run_main()[0], 2)


if __name__ == "__main__":
    unittest.main()
