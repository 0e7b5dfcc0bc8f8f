#!/usr/bin/env python3
"""Makes a release of a small repository, step by step, and sees each thing that is wrong reported."""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import check_versions  # noqa: E402 (the path line above makes it importable)
import release  # noqa: E402

OURS = check_versions.OURS
FILES = {
    "CMakeLists.txt": "project(harena VERSION 0.1.0 LANGUAGES CXX)\n",
    "MODULE.bazel": 'module(\n    name = "harena",\n    version = "0.1.0",\n)\nbazel_dep(name = "grpc", version = "1.65.0")\n',
    "packaging/vcpkg/ports/harena/vcpkg.json": '{\n  "name": "harena",\n  "version": "0.1.0"\n}\n',
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n### Added\n- all of it\n",
    "go.work": "go 1.26.0\n\nuse (\n\t./bench/go\n\t./go\n\t./go/cmd/harena\n\t./go/pb\n\t./go/tools\n)\n",
    "go/go.mod": f"module {OURS}go\n",
    "go/pb/go.mod": f"module {OURS}go/pb\n\nreplace {OURS}go => ../\n\nrequire {OURS}go v0.0.0-00010101000000-000000000000\n",
    "go/cmd/harena/go.mod": f"module {OURS}go/cmd/harena\n\nreplace {OURS}go => ../../\n\n"
                            f"require (\n\t{OURS}go v0.0.0-00010101000000-000000000000\n\tgolang.org/x/sys v0.48.0\n)\n",
    "go/cmd/harena/main.go": "// Harena's command line.\npackage main\n",
    "bench/go/go.mod": f"module {OURS}bench/go\n",
    "go/tools/go.mod": f"module {OURS}go/tools\n",
}


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in FILES.items():
            self.write(name, text)
        self.git("init", "-q")
        self.commit()

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *arguments: str) -> str:
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
                              cwd=self.root, check=True, text=True, stdout=subprocess.PIPE).stdout

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "--message", "all")

    def run_release(self, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        environment = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
        with mock.patch.object(sys, "argv", ["release.py", "--root", str(self.root), *arguments]), \
             mock.patch.dict("os.environ", environment), \
             contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return release.main(), out.getvalue()

    def prepared(self, version: str) -> None:
        self.assertEqual(self.run_release("--prepare", version)[0], 0)
        self.commit()

    def test_prepared_and_tagged(self):
        self.prepared("0.2.0")
        self.assertEqual(release.problems_of(self.root, "0.2.0"), [])
        self.assertIn(f"{OURS}go v0.2.0\n\tgolang.org/x/sys v0.48.0", (self.root / "go/cmd/harena/go.mod").read_text())
        self.assertIn('name = "grpc", version = "1.65.0"', (self.root / "MODULE.bazel").read_text())
        code, said = self.run_release()
        self.assertEqual((code, self.git("tag")), (0, ""), "a dry run makes no tag")
        self.assertIn("git tag go/cmd/harena/v0.2.0", said)
        self.assertEqual(self.run_release("--tag")[0], 0)
        self.assertEqual(self.git("tag").split(), ["go/pb/v0.2.0", "go/v0.2.0", "v0.2.0"])

    def test_no_release_before_it_is_prepared(self):
        code, said = self.run_release("--tag")
        self.assertEqual((code, self.git("tag")), (1, ""))
        self.assertIn("CHANGELOG.md: begins with `## Unreleased`", said)
        self.assertIn(f"go/pb/go.mod: requires {OURS}go v0.0.0-00010101000000-000000000000, not v0.1.0", said)

    def test_no_tag_twice_and_none_of_a_changed_tree(self):
        self.prepared("0.2.0")
        self.assertEqual(self.run_release("--tag")[0], 0)
        self.write("go/new.go", "package harena\n")
        problems = release.problems_of(self.root, "0.2.0")
        self.assertIn("the tag go/pb/v0.2.0 exists", problems)
        self.assertIn("the tree has changes that are not committed", problems)

    def test_a_program_without_replace_lines_is_tagged_with_the_rest(self):
        self.write("go/cmd/harena/go.mod", f"module {OURS}go/cmd/harena\n")
        self.assertEqual(release.tags(self.root, "0.1.0"),
                         (["v0.1.0", "go/v0.1.0", "go/cmd/harena/v0.1.0", "go/pb/v0.1.0"], []))

    def test_go_wants_another_path_from_version_two_on(self):
        self.prepared("2.0.0")
        self.assertIn("/v2", "".join(release.problems_of(self.root, "2.0.0")))

    def test_versions_that_differ(self):
        self.assertEqual(check_versions.check_project(self.root), [])
        self.write("MODULE.bazel", FILES["MODULE.bazel"].replace("0.1.0", "0.1.1"))
        self.write("packaging/vcpkg/ports/harena/vcpkg.json", "{}\n")
        self.write("go/pb/go.mod", f"module {OURS}go/pd\n\nrequire {OURS}go v0.3.0\n")
        problems = "\n".join(check_versions.check_project(self.root))
        for expected in ("MODULE.bazel: version 0.1.1; CMakeLists.txt says 0.1.0", "vcpkg.json: no version",
                         f"go/pb/go.mod: is not the module {OURS}go/pb", f"go/pb/go.mod: requires {OURS}go v0.3.0",
                         "in several versions"):
            self.assertIn(expected, problems)

    def test_the_versions_of_this_repository(self):
        self.assertEqual(check_versions.check_project(), [])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--quiet"],
                  verbosity=0 if "--quiet" in sys.argv else 1)
