#!/usr/bin/env python3
"""Plants faults in a small document and sees each reported; reads the libraries of a real program."""

import copy
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import sbom  # noqa: E402 (the path line above makes it importable)
import sbom_embedded  # noqa: E402

MAIN = {"type": "framework", "bom-ref": "main", "name": "main", "version": "1"}
PURL = "pkg:deb/debian/a@1%2B2"
PART = {"type": "library", "bom-ref": PURL, "name": "a", "version": "1+2", "purl": PURL}


class SbomTest(unittest.TestCase):
    def setUp(self):
        self.bom = sbom.document(copy.deepcopy(MAIN), {PART["bom-ref"]: copy.deepcopy(PART)},
                                 {"main": {PART["bom-ref"]}}, [])

    def assert_only_problem(self, *fragments):
        problems = sbom.problems_of(self.bom)
        self.assertEqual(len(problems), 1, problems)
        for fragment in fragments:
            self.assertIn(fragment, problems[0])

    def test_a_sound_document_has_no_problem(self):
        self.assertEqual(sbom.problems_of(self.bom), [])

    def test_the_same_inputs_give_the_same_document(self):
        again = sbom.document(copy.deepcopy(MAIN), {PART["bom-ref"]: copy.deepcopy(PART)},
                              {"main": {PART["bom-ref"]}}, [])
        self.assertEqual(self.bom, again)

    def test_another_form(self):
        self.bom["specVersion"] = "1.4"
        self.assert_only_problem("CycloneDX 1.5")

    def test_a_part_without_version(self):
        del self.bom["components"][0]["version"]
        self.assert_only_problem("a: neither version nor hash")

    def test_a_purl_without_version(self):
        self.bom["components"][0]["purl"] = "pkg:deb/debian/a"
        self.assert_only_problem("is no package URL")

    def test_a_part_that_stands_there_twice(self):
        self.bom["components"].append(copy.deepcopy(PART))
        self.assertTrue(any("twice" in problem for problem in sbom.problems_of(self.bom)))

    def test_an_edge_that_leads_nowhere(self):
        self.bom["dependencies"][0]["dependsOn"].append("pkg:deb/debian/b@1")
        self.assert_only_problem("b@1, which is not listed")

    def test_a_part_that_nothing_needs(self):
        self.bom["dependencies"][0]["dependsOn"] = []
        self.assert_only_problem("nothing depends on it")

    def test_an_embedded_part_without_licence(self):
        self.bom["components"][0]["properties"] = [{"name": "harena:embedded", "value": "headers, compiled in"}]
        self.assert_only_problem("a: is embedded, and has no licence")

    def test_the_live_page_without_its_chart_library(self):
        ref = f"harena:{sbom.PAGE_LIBRARY}"
        self.bom["components"].append({"type": "library", "bom-ref": ref, "name": sbom.PAGE_LIBRARY, "version": "1"})
        self.bom["dependencies"][0]["dependsOn"].append(ref)
        self.assert_only_problem("embeds pkg:npm/uplot@")

    def test_an_empty_document(self):
        self.bom["components"] = []
        self.assertIn("no component", sbom.problems_of(self.bom))

    @unittest.skipUnless(shutil.which("dpkg-query") and shutil.which("readelf"), "needs Debian's tools")
    def test_libraries_of_a_real_program(self):
        program = Path(shutil.which("cmake"))
        loaded = sbom.loaded_by(program)
        self.assertIn("libc.so.6", loaded)
        own = Path(__file__).resolve()
        packages = sbom.debian_packages([loaded["libc.so.6"], own])
        package = packages[loaded["libc.so.6"]]
        self.assertEqual(package["name"], "libc6")
        self.assertRegex(package["purl"], r"^pkg:deb/debian/libc6@\d")
        self.assertNotIn(own, packages)


class EmbeddedTest(unittest.TestCase):
    def test_every_vendored_file_belongs_to_the_component(self):
        part, files = sbom_embedded.vendored(sbom.PAGE_VENDOR)
        there = {path.name for path in sbom.PAGE_VENDOR.iterdir()} - {"README.md"}
        self.assertEqual(files, there)
        self.assertEqual(part["licenses"], [{"license": {"id": "MIT"}}])
        self.assertIn("MIT License", (sbom.PAGE_VENDOR / "uPlot.LICENSE.txt").read_text(encoding="utf-8"))
        self.assertEqual(len(part["hashes"][0]["content"]), 128)

    def test_the_version_is_that_of_the_files(self):
        part = sbom_embedded.vendored(sbom.PAGE_VENDOR)[0]
        banner = (sbom.PAGE_VENDOR / "uPlot.iife.min.js").read_text(encoding="utf-8")[:200]
        self.assertIn(f"(v{part['version']})", banner)

    def test_the_rest_of_the_page_is_our_own(self):
        for path in sbom.PAGE_VENDOR.parent.glob("*.*"):
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"(?i)@license|/\*!|copyright|\(c\) \d{4}", path.name)

    def test_a_folder_that_does_not_say_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "README.md").write_text("# Vendored\n", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "no row of a table"):
                sbom_embedded.vendored(Path(folder))

    def test_licences_of_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"a": "Files: *\nCopyright: x\n y\nLicense: Expat\n", "b": "Files: *\nLicense: Odd-1\n",
                               "c": "Files: debian/*\nLicense: Expat\n\nFiles: *\n\nLicense: Expat\n"}.items():
                Path(folder, name).mkdir()
                Path(folder, name, "copyright").write_text(text, encoding="utf-8")
            self.assertEqual(sbom_embedded.licence_of("a", Path(folder)), {"license": {"id": "MIT"}})
            self.assertEqual(sbom_embedded.licence_of("b", Path(folder)), {"license": {"name": "Odd-1"}})
            self.assertIsNone(sbom_embedded.licence_of("c", Path(folder)))
            self.assertIsNone(sbom_embedded.licence_of("d", Path(folder)))


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--quiet"],
                  verbosity=0 if "--quiet" in sys.argv else 1)
