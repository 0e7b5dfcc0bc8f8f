#!/usr/bin/env python3
"""Holds what the Markdown pages promise: their code compiles, their `make` targets, links and tests exist.

Each ```cpp block stands under a comment that says how it compiles:
  <!-- compile: file -->          a complete translation unit
  <!-- compile: body PRELUDE -->  statements; they are put into a function, after
                                  cpp/tests/docs/preludes/PRELUDE.h (their #include lines go first)
There is no marker for a block that does not compile. With --extract the blocks are written as .cc
files, which the build then compiles (cpp/tests/docs).

Each ```go block is a quotation from a Go file that is compiled anyway, an example_test.go as a rule:
  <!-- from: FILE -->             the block's lines stand in FILE in this order, indented as one likes;
                                  a line that is only `...` stands for lines left out

A link from a test's name to a test's file, [`Suite.Name`](../cpp/x_test.cc) or [`TestName`](../go/x_test.go),
holds only while that file has that test. In a table with a column `held by` every row has one.
"""

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

PRELUDES = "cpp/tests/docs/preludes"
SKIPPED_FOLDERS = {".git", ".cache", "build", "out", "node_modules"}
SHELL_LANGUAGES = {"sh", "bash", "shell", "console"}
CPP_MISSPELLED = {"c++", "cc", "cxx", "C++", "Cpp", "CPP"}

FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*([^\s`]*)")
MARKER = re.compile(r"^\s*<!--\s*(compile|from):\s*(.*?)\s*-->\s*$")
INLINE_CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\s*\)")
TEST_LINK = re.compile(r"\[`([^`\]]+)`\]\(([^)\s]+_test\.(?:cc|go|py))\)")
HELD_BY = "held by"
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
MAKE_COMMAND = re.compile(r"(?:^|[;&|$]\s*|\s)make((?:\s+\S+)*)")
MAKE_RULE = re.compile(r"^([a-z][a-z0-9 -]*):(?!=)", re.MULTILINE)


@dataclass
class Block:
    """One fenced block: where it stands and what it holds."""

    page: Path  # relative to the repository
    line: int  # of its first line of text
    language: str
    marker: str | None
    text: list[str]
    source: str | None = None  # of a ```go block


@dataclass
class Page:
    """One Markdown file, taken apart."""

    path: Path
    blocks: list[Block]
    prose: list[tuple[int, str]]  # (line number, text) outside of blocks


def read_page(root: Path, path: Path) -> Page:
    page = Page(path, [], [])
    marker = source = None
    block = None
    fence = indent = ""
    for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
        opening = FENCE.match(line)
        if block is not None:
            if opening and opening.group(2).startswith(fence) and not opening.group(3):
                page.blocks.append(block)
                block = None
            else:
                block.text.append(line.removeprefix(indent))
        elif opening:
            indent, fence, language = opening.groups()
            block = Block(path, number + 1, language, marker, [], source)
            marker = source = None
        else:
            found = MARKER.match(line)
            if found and found.group(1) == "compile":
                marker = found.group(2)
            elif found:
                source = found.group(2)
            elif line.strip():
                marker = source = None
            page.prose.append((number, line))
    if block is not None:
        page.blocks.append(block)
    return page


def pages_of(root: Path) -> list[Page]:
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in SKIPPED_FOLDERS)
        found += [Path(folder, name).relative_to(root) for name in sorted(names)
                  if name.endswith(".md")]
    return [read_page(root, path) for path in found]


def check_block(root: Path, block: Block) -> list[str]:
    """What is wrong with the marker of one block."""
    where = f"{block.page}:{block.line - 1}"
    if block.language in CPP_MISSPELLED:
        return [f"{where}: write the language as ```cpp"]
    if block.language == "go":
        return check_quotation(root, block, where)
    if block.language != "cpp":
        return [f"{where}: `compile: {block.marker}` stands over a ```{block.language} block"
                ] if block.marker else []
    if block.marker == "file":
        return []
    body = re.fullmatch(r"body\s+([a-z0-9_]+)", block.marker or "")
    if not body:
        return [f"{where}: a ```cpp block needs `<!-- compile: file -->` or "
                "`<!-- compile: body PRELUDE -->` on the line above it"]
    if not (root / PRELUDES / f"{body.group(1)}.h").is_file():
        return [f"{where}: there is no prelude {PRELUDES}/{body.group(1)}.h"]
    return []


def check_quotation(root: Path, block: Block, where: str) -> list[str]:
    """What is wrong with a ```go block, which has to stand in a Go file."""
    if not block.source:
        return [f"{where}: a ```go block needs `<!-- from: FILE -->` on the line above it"]
    file = root / block.source
    if file.suffix != ".go" or not file.is_file():
        return [f"{where}: there is no Go file {block.source}"]
    lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    runs: list[list[str]] = [[]]
    for line in filter(None, map(str.strip, block.text)):
        if line == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    place = 0
    for run in filter(None, runs):
        starts = (start for start in range(place, len(lines)) if lines[start:start + len(run)] == run)
        start = next(starts, None)
        if start is None:
            return [f"{where}: the lines from `{run[0]}` on do not stand in {block.source}"]
        place = start + len(run)
    return []


def make_targets(root: Path) -> set[str]:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    return {name for rule in MAKE_RULE.finditer(makefile) for name in rule.group(1).split()}


def named_targets(command: str) -> list[str]:
    """The targets that a shell line asks make for."""
    names = []
    for found in MAKE_COMMAND.finditer(command.split(" #", 1)[0]):
        for word in found.group(1).split():
            if word.startswith("-") or "=" in word:
                continue
            if not re.fullmatch(r"[a-z][a-z0-9-]*", word):
                break
            names.append(word)
    return names


def check_make(page: Page, targets: set[str]) -> list[str]:
    commands = [(number, code) for number, line in page.prose
                for code in INLINE_CODE.findall(line) if code.startswith("make ")]
    commands += [(block.line + offset, line) for block in page.blocks
                 if block.language in SHELL_LANGUAGES for offset, line in enumerate(block.text)]
    return [f"{page.path}:{number}: the Makefile has no target `{name}`"
            for number, command in commands for name in named_targets(command)
            if name not in targets]


def anchors_of(page: Page) -> set[str]:
    """The anchors that a Markdown viewer gives the page's headings."""
    anchors: set[str] = set()
    for _, line in page.prose:
        heading = HEADING.match(line)
        if heading:
            text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading.group(1)).lower()
            slug = base = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            count = 0
            while slug in anchors:
                count += 1
                slug = f"{base}-{count}"
            anchors.add(slug)
    return anchors


def check_links(root: Path, page: Page, anchors: dict[Path, set[str]]) -> list[str]:
    problems = []
    for number, line in page.prose:
        for target in LINK.findall(INLINE_CODE.sub("", line)):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, anchor = target.partition("#")
            place = Path(os.path.normpath(page.path.parent / name)) if name else page.path
            if place.is_absolute() or place.parts[:1] == ("..",) or not (root / place).exists():
                problems.append(f"{page.path}:{number}: link to `{target}`: no such file")
            elif anchor and place in anchors and anchor not in anchors[place]:
                problems.append(f"{page.path}:{number}: link to `{target}`: no such heading")
    return problems


def has_test(file: Path, name: str) -> bool:
    """Whether the file has a test of this name, as its language writes it."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".go":
        return re.search(rf"^func {re.escape(name)}\(", text, re.MULTILINE) is not None
    if file.suffix == ".py":
        return re.search(rf"^ *def {re.escape(name)}\(", text, re.MULTILINE) is not None
    suite, _, case = name.partition(".")
    return re.search(rf"^(?:TEST(?:_F|_P)?|TYPED_TEST|RC_GTEST_PROP)\(\s*{re.escape(suite)},\s*"
                     rf"{re.escape(case)}\s*[,)]", text, re.MULTILINE) is not None


def check_tests(root: Path, page: Page) -> list[str]:
    """What is wrong with the tests that a page names."""
    problems = []
    held = False
    for number, line in page.prose:
        for name, target in TEST_LINK.findall(line):
            file = root / os.path.normpath(page.path.parent / target)
            if file.is_file() and not has_test(file, name):
                problems.append(f"{page.path}:{number}: {target} has no test `{name}`")
        if not line.startswith("|"):
            held = False
        elif HELD_BY in [cell.strip() for cell in line.split("|")]:
            held = True
        elif held and not re.fullmatch(r"[|\-: ]+", line) and not TEST_LINK.search(line):
            problems.append(f"{page.path}:{number}: this row names no test that holds it")
    return problems


def check(root: Path) -> tuple[list[str], list[Page]]:
    """(complaints, pages) for the repository at root."""
    pages = pages_of(root)
    targets = make_targets(root)
    anchors = {page.path: anchors_of(page) for page in pages}
    problems = []
    for page in pages:
        for block in page.blocks:
            problems += check_block(root, block)
        problems += check_make(page, targets)
        problems += check_links(root, page, anchors)
        problems += check_tests(root, page)
    return problems, pages


def source_of(block: Block, name: str) -> str:
    """The translation unit a block becomes; compiler messages keep the page's line numbers."""
    here = f'#line {block.line} "{block.page}"\n'
    text = "\n".join(block.text) + "\n"
    if block.marker == "file":
        return here + text
    prelude = (block.marker or "").split()[1]
    is_include = re.compile(r"^\s*#\s*include\b")
    hoisted = "".join(f'#line {block.line + offset} "{block.page}"\n{line}\n'
                      for offset, line in enumerate(block.text) if is_include.match(line))
    body = "\n".join("" if is_include.match(line) else line for line in block.text)
    # `auto`: a block may end with a return of any type.
    return f'#include "{prelude}.h"\n{hoisted}auto {name}() {{\n{here}{body}\n}}\n'


def extract(pages: list[Page], folder: Path) -> list[str]:
    """Writes every cpp block into folder, removes what is stale there, returns the file names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for page in pages:
        stem = re.sub(r"\W", "_", page.path.with_suffix("").as_posix())
        blocks = [block for block in page.blocks if block.language == "cpp"]
        for ordinal, block in enumerate(blocks, 1):
            name = f"{stem}_{ordinal}"
            names.append(f"{name}.cc")
            text = source_of(block, name)
            file = folder / names[-1]
            if not file.is_file() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
    for file in folder.glob("*.cc"):
        if file.name not in names:
            file.unlink()
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1],
                        help="repository to check (default: the one this script stands in)")
    parser.add_argument("--extract", type=Path, metavar="DIR",
                        help="write the C++ blocks into DIR and print their file names")
    args = parser.parse_args()
    root = args.root.resolve()
    problems, pages = check(root)
    if args.extract:
        problems = [p for page in pages for block in page.blocks for p in check_block(root, block)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print("\n".join(extract(pages, args.extract)) if args.extract
          else f"docs: {len(pages)} pages, no problem")
    return 0


if __name__ == "__main__":
    sys.exit(main())
