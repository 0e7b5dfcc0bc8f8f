#!/usr/bin/env python3
"""Plants vulnerable and old libraries and sees each reported."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_dependencies as deps  # noqa: E402 (the path line above makes it importable)

TABLE = """# a comment
grpc | CVE-1 | <1.53.2, >=1.54.0 <1.54.3 | too much memory
zlib | CVE-2 | <1.2.14 | a crash
accepted: zlib | CVE-2 | nobody mended it
"""


def library(source, upstream, version=None):
    return deps.Library(f"lib{source}", version or upstream, source, upstream)


class CheckDependenciesTest(unittest.TestCase):
    def found(self, *libraries, changelog=lambda package: ""):
        return deps.check_advisories(libraries, *deps.read_advisories(TABLE), changelog=changelog)

    def test_versions_below_within_and_above_the_ranges(self):
        for version, affected in (("1.51.1", True), ("1.53.1", True), ("1.53.2", False), ("1.53.10", False),
                                  ("1.54.0", True), ("1.54.3", False), ("1.60.0", False)):
            problems = self.found(library("grpc", version)).problems
            self.assertEqual(len(problems), affected, version)
        self.assertIn("CVE-1", self.found(library("grpc", "1.51.1")).problems[0])

    def test_what_is_accepted_is_said_and_does_not_fail(self):
        found = self.found(library("zlib", "1.2.13"))
        self.assertEqual(found.problems, [])
        self.assertIn("Accepted: nobody mended it", found.notes[0])

    def test_what_debian_has_mended_is_no_problem(self):
        found = self.found(library("grpc", "1.51.1"), changelog=lambda package: "* Fix CVE-1.\n")
        self.assertEqual((found.problems, found.notes), ([], []))

    def test_two_packages_of_one_source_are_one_finding(self):
        self.assertEqual(len(self.found(library("grpc", "1.51.1"), library("grpc", "1.51.1")).problems), 1)

    def test_a_library_of_unknown_version(self):
        self.assertIn("not known", self.found(library("trpc", "")).problems[0])

    def test_a_line_of_another_form(self):
        with self.assertRaises(SystemExit) as stopped:
            deps.read_advisories("grpc | CVE-1 | before 1.53 | words\n")
        self.assertIn("advisories.txt:1", str(stopped.exception))

    def test_the_table_of_the_repository(self):
        text = (deps.ROOT / "tools/advisories.txt").read_text(encoding="utf-8")
        advisories, accepted = deps.read_advisories(text)
        self.assertLessEqual(set(accepted), {(each.source, each.name) for each in advisories})

    def test_versions_of_debian(self):
        self.assertEqual(deps.upstream_of("1:1.2.13.dfsg-1+b1"), "1.2.13")
        self.assertEqual(deps.upstream_of("3.21.12-3+deb12u1"), "3.21.12")

    def test_newer_packages(self):
        policy = ("libother:\n  Installed: 1.0\n  Candidate: 9.9\n  Version table:\nlibgrpc:\n  Installed: 1.0\n  Candidate: 1.1\n  Version table:\n     1.1 500\n"
                  "        500 http://example.org/%s bookworm/main amd64 Packages\n *** 1.0 100\n"
                  "        100 /var/lib/dpkg/status\n")
        found = deps.check_apt([library("grpc", "1.0")], policy=lambda packages: policy % "debian-security")
        self.assertIn("--only-upgrade libgrpc", found.problems[0])
        self.assertEqual(found.outdated, ["libgrpc"])
        found = deps.check_apt([library("grpc", "1.0")], policy=lambda packages: policy % "debian")
        self.assertEqual((found.problems, found.outdated), ([], []))
        self.assertIn("1.1 is there", found.notes[0])
        found = deps.check_apt([library("grpc", "1.1")], policy=lambda packages: policy % "debian-security")
        self.assertEqual((found.problems, found.notes), ([], []))

    def test_what_was_upgraded_has_its_new_version(self):
        def installed(package):
            self.assertEqual(package, "libgrpc", "what is no package of Debian's cannot be asked for")
            return "1.53.2-1"

        page = deps.Library("uPlot", "1.6.0", "uPlot", "1.6.0")
        after = deps.renewed([library("grpc", "1.51.1"), page], ["libgrpc"], installed)
        self.assertEqual([each.version for each in after], ["1.53.2-1", "1.6.0"])

    def test_libraries_of_a_document(self):
        bom = {"components": [
            {"bom-ref": "harena:libharena_base.a", "name": "libharena_base.a", "version": "0.1.0"},
            {"bom-ref": "x", "name": "libssl3", "version": "3.0.22-1~deb12u2", "properties": [
                {"name": "harena:source-package", "value": "openssl"},
                {"name": "harena:source-version", "value": "3.0.22-1~deb12u2"}]},
            {"bom-ref": "file:libbrpc.so", "name": "libbrpc.so"}]}
        self.assertEqual([(each.source, each.upstream) for each in deps.libraries_of(bom)],
                         [("openssl", "3.0.22"), ("libbrpc.so", "")])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--quiet"],
                  verbosity=0 if "--quiet" in sys.argv else 1)
