#!/usr/bin/env python3
"""Holds harena.schema.json, by which editors look at files of settings, against the files that both languages read in
their tests: what these accept it accepts, and it points at the lines at which these do. Needs PyYAML and jsonschema."""

import json
import re
import sys
import unittest
from pathlib import Path

import jsonschema
import yaml

HERE = Path(__file__).resolve().parent
FILES = HERE.parent / "testdata/config"
SCHEMA = json.loads((HERE / "harena.schema.json").read_text(encoding="utf-8"))
# What no schema sees, by file: it looks at one value after the other, after YAML was read.
NOT_SEEN = {"duplicate_key": "readers keep the last of two keys",
            "heap_in_method": "the limit stands in another section",
            "override": "the environment is laid over the file", "override_pair": "the same"}
# Lines, likewise.
LINES_NOT_SEEN = {"wrong_value": {13: "0x100 is a number to YAML", 21: "only the unit makes it too large"}}
# Both say that these two settings exclude each other, and point at different ones.
OTHER_LINES = ("heap_with_limit",)
# YAML 1.2's core schema, by which editors read; PyYAML's own is that of 1.1.
SCALARS = ((re.compile(r"[-+]?[0-9]+"), int), (re.compile(r"0o[0-7]+"), lambda text: int(text[2:], 8)),
           (re.compile(r"0x[0-9a-fA-F]+"), lambda text: int(text[2:], 16)),
           (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
           (re.compile(r"true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
           (re.compile(r"|~|null|Null|NULL"), lambda text: None))


def read(node, lines, path=()):
    """The value of a YAML node. `lines` gets the line of every value by its path, and of keys by path + (KEY, key)."""
    if node is None:
        lines[path] = 1
        return None
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [read(each, lines, (*path, number)) for number, each in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode):
        if node.style is None:
            for form, value_of in SCALARS:
                if form.fullmatch(node.value):
                    return value_of(node.value)
        return node.value
    values = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else repr(key.value)
        lines[(*path, "KEY", name)] = key.start_mark.line + 1
        if isinstance(value, yaml.ScalarNode) and value.value == "":
            lines[(*path, name)] = key.start_mark.line + 1  # its mark is where the next key begins
        values[name] = read(value, lines, (*path, name))
    return values


def lines_of(text: str) -> set[int]:
    """The lines that an editor underlines. Raises yaml.YAMLError for what is no YAML."""
    lines: dict[tuple, int] = {}
    value = read(yaml.compose(text, yaml.SafeLoader), lines)
    found = set()
    for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(value):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            found |= {lines[(*path, "KEY", name)] for name in error.instance.keys() - error.schema["properties"].keys()}
        elif "propertyNames" in error.absolute_schema_path:
            found.add(lines[(*path, "KEY", error.instance)])
        else:
            found.add(lines[path])
    return found


def expected_lines(path: Path) -> set[int]:
    return {int(line.split(":", 1)[0]) for line in path.with_suffix(".errors").read_text(encoding="utf-8").splitlines()}


class SchemaTest(unittest.TestCase):
    def test_it_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_good_files_are_good(self):
        files = sorted(FILES.glob("valid/*.yaml"))
        self.assertGreater(len(files), 5)
        for path in files:
            with self.subTest(path.name):
                self.assertEqual(lines_of(path.read_text(encoding="utf-8")), set())

    def test_bad_files_are_bad_at_the_same_lines(self):
        files = sorted(FILES.glob("invalid/*.yaml"))
        self.assertGreater(len(files), 15)
        for path in files:
            with self.subTest(path.name):
                try:
                    found = lines_of(path.read_text(encoding="utf-8"))
                except yaml.YAMLError:
                    self.assertTrue(path.stem.startswith("syntax_") or path.stem == "two_documents")
                    continue
                if path.stem in NOT_SEEN:
                    self.assertEqual(found, set(), "it is seen after all: take it from NOT_SEEN")
                elif path.stem in OTHER_LINES:
                    self.assertTrue(found)
                else:
                    self.assertEqual(found, expected_lines(path) - LINES_NOT_SEEN.get(path.stem, {}).keys())

    def test_its_keys_are_those_of_the_guide(self):
        guide = (HERE.parent / "docs/configuration.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(\w+)` \| `?(top|page_pool|method)`? \|", guide, re.MULTILINE))
        top = SCHEMA["properties"]
        self.assertEqual({key for key, where in rows.items() if where == "method"},
                         SCHEMA["definitions"]["method"]["properties"].keys())
        self.assertEqual({key for key, where in rows.items() if where == "page_pool"},
                         top["page_pool"]["properties"].keys())
        self.assertEqual({key for key, where in rows.items() if where == "top"},
                         top.keys() - {"version", "page_pool", "defaults", "methods"})

    def test_the_advisor_names_it(self):
        source = HERE.parent / "go/cmd/harena/internal/advise/file.go"
        self.assertIn(f'"{SCHEMA["$id"]}"', source.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--quiet"],
                  verbosity=0 if "--quiet" in sys.argv else 1)
