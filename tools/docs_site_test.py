#!/usr/bin/env python3
"""Shows pages to the staging of the docs site, and broken sites to its checker."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_site  # noqa: E402 (the path line above makes it importable)
import docs_site  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)


class StageTest(Folder):
    def staged(self, text: str) -> str:
        self.write("docs/a.md", text)
        return docs_site.stage_page(self.root, Path("docs/a.md"), {Path("docs/a.md"), Path("README.md")})

    def test_links_to_pages_stay_and_others_lead_to_the_sources(self):
        self.assertEqual(self.staged("[x](../README.md#y) [t](../cpp/a_test.cc) [h](#h) [w](https://a.example/)\n"),
                         f"[x](../README.md#y) [t]({docs_site.SOURCES}cpp/a_test.cc) [h](#h) [w](https://a.example/)\n")

    def test_inline_code_is_no_link_and_may_be_in_one(self):
        self.assertEqual(self.staged("`NewOf[P](a)`, [`a.h`](../cpp/a.h), [`b.h`](../cpp/b.h)\n"),
                         f"`NewOf[P](a)`, [`a.h`]({docs_site.SOURCES}cpp/a.h), [`b.h`]({docs_site.SOURCES}cpp/b.h)\n")

    def test_code_stays_as_it_is(self):
        code = "```md\n[t](../cpp/a_test.cc)\n- item\n<!-- from: x.go -->\n```\n"
        self.assertEqual(self.staged(code), code)

    def test_markers_go(self):
        self.assertEqual(self.staged("<!-- compile: file -->\n```cpp\nint x;\n```\n"), "```cpp\nint x;\n```\n")

    def test_a_list_is_parted_from_its_paragraph(self):
        self.assertEqual(self.staged("Two:\n- a\n  b\n- c\n"), "Two:\n\n- a\n  b\n- c\n")

    def test_every_page_needs_a_place(self):
        config = "nav:\n  - Home: README.md\n  - Docs:\n      - A: docs/a.md\n"
        names = [Path("README.md"), Path("docs/a.md"), Path("docs/b.md"), Path("docs/decisions/c.md")]
        self.assertEqual(docs_site.missing_in_nav(names, config), ["docs/b.md"])


class StageFolderTest(Folder):
    def test_pictures_come_with_their_pages(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write("README.md", "![A](docs/images/a.png) [t](docs/a.txt)\n")
        self.write("docs/images/a.png", "picture")
        pages = self.root / "pages"
        self.assertEqual(docs_site.stage(self.root, pages), [Path("README.md")])
        self.assertEqual((pages / "README.md").read_text(),
                         f"![A](docs/images/a.png) [t]({docs_site.SOURCES}docs/a.txt)\n")
        self.assertEqual((pages / "docs/images/a.png").read_text(), "picture")


class OwnPagesTest(unittest.TestCase):
    """Of this repository: `make docs` takes minutes, and would be the first to notice."""

    @unittest.skipUnless((docs_site.ROOT / ".git").exists(), "no checkout")
    def test_each_has_a_place(self):
        pages = docs_site.staged_pages(docs_site.ROOT)
        self.assertGreater(len(pages), 40)
        nav = (docs_site.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
        self.assertEqual(docs_site.missing_in_nav(pages, nav), [])


class CheckSiteTest(Folder):
    def test_links_and_anchors(self):
        self.write("index.html", '<a href="a/b.html#here">1</a> <a href="a/">2</a> <a href="#top">3</a>'
                                 '<a href="https://elsewhere.example/x">4</a> <img src="a/p%20q.png">')
        self.write("a/b.html", '<h2 id="here">x</h2> <a name="there"></a> <a href="../index.html">5</a> <a href="#there">6</a>')
        self.write("a/index.html", "")
        self.write("a/p q.png", "")
        self.assertEqual(check_site.check(self.root), ([], 3))

    def test_what_leads_nowhere(self):
        self.write("index.html", '<a href="a.html#gone">1</a> <a href="none.html">2</a> <a href="#gone">3</a>')
        self.write("a.html", '<img src="none.png"><script src="https://cdn.example/x.js"></script><a href="https://b.example/">b</a>')
        self.assertEqual(check_site.check(self.root)[0], [
            "a.html: loads `https://cdn.example/x.js` from elsewhere", "a.html: `none.png`: no such file",
            "index.html: `#gone`: no such anchor", "index.html: `a.html#gone`: no such anchor",
            "index.html: `none.html`: no such file"])


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--quiet"],
                  verbosity=0 if "--quiet" in sys.argv else 1)
