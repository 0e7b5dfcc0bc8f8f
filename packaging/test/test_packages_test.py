#!/usr/bin/env python3
"""Shows apt's answers and READMEs to what test_packages.py makes of them."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import test_packages  # noqa: E402 (the path line above makes it importable)

LISTED = """\
Debian|bookworm|bookworm|main|http://mirror.example/debian/
Debian|bookworm-security|bookworm-security|main|http://mirror.example/security/
Debian|trixie|testing|main|http://mirror.example/debian/
Somebody|bookworm|bookworm|main|http://elsewhere.example/apt/
"""
DUMP = """\
Acquire "";
Acquire::AllowInsecureRepositories "0";
Acquire::Check-Date "false";
Acquire::http::Proxy "http://proxy.example:3128/";
Acquire::http::Dl-Limit "";
Acquire::IndexTargets::deb::Packages::Optional "0";
Dir::Cache "var/cache/apt";
"""


class TestPackagesTest(unittest.TestCase):
    def test_the_mirrors_are_those_of_the_system(self):
        self.assertEqual(test_packages.sources(LISTED, "bookworm"),
                         ["deb http://mirror.example/debian/ bookworm main",
                          "deb http://mirror.example/security/ bookworm-security main"])
        self.assertEqual(test_packages.sources(LISTED, "sid"), [])

    def test_settings_are_how_to_reach_a_mirror(self):
        self.assertEqual(test_packages.settings(DUMP),
                         ['Acquire::Check-Date "false";', 'Acquire::http::Proxy "http://proxy.example:3128/";'])

    def test_the_example_is_the_readmes(self):
        text = test_packages.example((test_packages.ROOT / "README.md").read_text(encoding="utf-8"))
        self.assertIn('#include "handlers.inc"', text)
        self.assertIn("int main()", text)
        self.assertNotIn("```", text)

    def test_a_readme_without_the_place_for_handlers_is_refused(self):
        with self.assertRaisesRegex(ValueError, "handlers.inc"):
            test_packages.example("```cpp\nint main() {}\n```\n")


if __name__ == "__main__":
    unittest.main()
