#!/usr/bin/env python3
"""Holds the arrows of layers.txt and the size budgets: 500 lines per file, in some folders less.

Reads the text of every C++ `#include` and Go `import` below the repository and compares it with the
table. It does not preprocess: an include under #if counts, and a foreign header is known by its name.
"""

import argparse
import fnmatch
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

LINES_MAX = 500
LINES_MAX_BELOW = {"cpp/harena/pb/": 300}
GO_MODULE = "github.com/harena-project/harena/"
# What `#include "..."` is resolved against, besides the including file's own folder.
INCLUDE_ROOTS = ("cpp", ".")

LAYERED_SUFFIXES = {".h", ".hpp", ".inc", ".c", ".cc", ".cpp", ".go"}
SIZED_SUFFIXES = LAYERED_SUFFIXES | {".py", ".sh", ".cmake", ".proto", ".js", ".css", ".html"}
SIZED_NAMES = {"CMakeLists.txt", "Makefile", "run"}
# Neither walked nor measured: results, payloads, checked-in generated code.
SKIPPED_FOLDERS = {".git", ".cache", "build", "out", "testdata", "gen", "testpb", "__pycache__"}
# Go packages that only tests may import.
GO_TEST_FOLDERS = {"testpb"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
RAW_STRING = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"', re.DOTALL)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Go's imports end where the first declaration starts.
GO_DECLARATION = re.compile(r"^(?:func|type|var|const)\b", re.MULTILINE)
GO_IMPORT_BLOCK = re.compile(r"^import\s*\(\s*$(.*?)^\)", re.MULTILINE | re.DOTALL)
GO_IMPORT_LINE = re.compile(r'^import\s+(?:[\w.]+\s+)?"([^"]+)"', re.MULTILINE)
GO_IMPORT_IN_BLOCK = re.compile(r'^\s*(?:[\w.]+\s+)?"([^"]+)"', re.MULTILINE)


@dataclass
class Row:
    """One folder of the table."""

    role: str
    folder: str
    own: set[str]
    foreign: set[str]
    line: int

    def holds(self, path: str) -> bool:
        if self.folder.endswith("/."):
            return path.rpartition("/")[0] == self.folder[:-2]
        return path.startswith(self.folder + "/")

    @property
    def free(self) -> bool:
        return "free" in self.own


@dataclass
class Table:
    """layers.txt in memory."""

    rows: list[Row] = field(default_factory=list)
    foreign: list[tuple[str, list[str]]] = field(default_factory=list)

    def row_of(self, path: str) -> Row | None:
        """The row of the deepest folder that holds `path`."""
        holding = [row for row in self.rows if row.holds(path)]
        return max(holding, key=lambda row: len(row.folder), default=None)

    def group_of(self, name: str, suffix: str) -> str | None:
        """The foreign group of an include that is none of ours, or None when nobody knows it."""
        for group, patterns in self.foreign:
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                return group
        # The standard libraries: <vector>; Go's packages have no dot in their first element.
        if suffix == ".go":
            return "std" if "." not in name.split("/")[0] else None
        return "std" if re.fullmatch(r"[a-z0-9_]+", name) else None


def read_table(text: str) -> Table:
    """Parses layers.txt. Raises ValueError with the line that is wrong."""
    table = Table()
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        if line.startswith("["):
            section = line
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if section == "[folders]" and len(cells) == 4:
            role, folder, own, foreign = cells
            table.rows.append(Row(role, folder, set(own.split()), set(foreign.split()), number))
        elif section == "[foreign]" and len(cells) == 2:
            table.foreign.append((cells[0], cells[1].split()))
        else:
            raise ValueError(f"layers.txt:{number}: cannot read `{line}` in section {section!r}")
    check_names(table)
    check_circles(table)
    return table


def check_names(table: Table) -> None:
    """Raises ValueError on a row that uses a role or a group nobody defined."""
    roles = {row.role for row in table.rows} | {"free"}
    groups = {group for group, _ in table.foreign} | {"std", "free"}
    for row in table.rows:
        for unknown in sorted((row.own - roles) | (row.foreign - groups)):
            raise ValueError(f"layers.txt:{row.line}: `{unknown}` is neither a role nor a group")


def check_circles(table: Table) -> None:
    """Raises ValueError on rows of which each may include the next, and the last one the first."""
    own = {row.role: row.own - {"free", row.role} for row in table.rows}
    done: set[str] = set()

    def visit(role: str, path: list[str]) -> None:
        if role in path:
            circle = " -> ".join([*path[path.index(role):], role])
            line = next(row.line for row in table.rows if row.role == role)
            raise ValueError(f"layers.txt:{line}: rows form a circle: {circle}")
        if role not in done:
            for lower in sorted(own[role]):
                visit(lower, [*path, role])
            done.add(role)

    for role in own:
        visit(role, [])


def source_files(root: Path) -> list[Path]:
    """Every file below root that is ours to judge, in a stable order."""
    files = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in SKIPPED_FOLDERS)
        files += [Path(folder, name) for name in sorted(names)]
    return files


def is_test(path: Path) -> bool:
    if GO_TEST_FOLDERS.intersection(path.parts):
        return True
    return path.stem.endswith(("_test", "_bench", "_fuzz")) or path.stem.startswith("test_")


def includes(path: Path, text: str) -> list[tuple[int, str]]:
    """(line, name) of each #include or import, in order."""
    def blank(match: re.Match) -> str:  # keeps the line numbers
        return "\n" * match.group().count("\n")

    if path.suffix == ".go":
        text = BLOCK_COMMENT.sub(blank, text)
        declaration = GO_DECLARATION.search(text)
        text = text[:declaration.start()] if declaration else text
        found = [(m.start(1), m.group(1)) for m in GO_IMPORT_LINE.finditer(text)]
        for block in GO_IMPORT_BLOCK.finditer(text):
            found += [(block.start(1) + m.start(1), m.group(1))
                      for m in GO_IMPORT_IN_BLOCK.finditer(block.group(1))]
    else:
        text = BLOCK_COMMENT.sub(blank, RAW_STRING.sub(blank, text))
        found = [(m.start(1), m.group(1)) for m in INCLUDE.finditer(text)]
    return [(text.count("\n", 0, start) + 1, name) for start, name in found]


def own_path(root: Path, includer: Path, name: str) -> str | None:
    """The repository path an include names, or None when the header is not ours."""
    if includer.suffix == ".go":
        return name[len(GO_MODULE):] + "/" if name.startswith(GO_MODULE) else None
    for start in (includer.parent, *(root / include_root for include_root in INCLUDE_ROOTS)):
        candidate = Path(os.path.normpath(start / name))
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    # A header of ours that does not exist (yet) is still ours: judge it by its place.
    return "cpp/" + name if name.startswith("harena/") else None


def judge_include(table: Table, root: Path, path: Path, row: Row, name: str) -> str | None:
    """What is wrong with one include, or None."""
    target = own_path(root, path, name)
    if target is None:
        group = table.group_of(name, path.suffix)
        if group is None:
            return f"`{name}` belongs to no group in layers.txt: add a pattern, or do without it"
        if group not in row.foreign:
            return f"{row.role} may not include `{name}` ({group})"
        return None
    target_row = table.row_of(target)
    if target_row is None:
        return f"{row.role} includes `{name}`, whose folder has no row in layers.txt"
    if is_test(Path(target)):
        return f"`{name}` belongs to tests"
    if target_row.role == row.role:
        return None
    if target_row.role not in row.own:
        return f"{row.role} may not include `{name}` ({target_row.role})"
    if "/internal/" in target[len(target_row.folder):]:  # a row of its own opens an internal folder
        return f"`{name}` is internal to {target_row.role}"
    return None


def check_file(table: Table, root: Path, path: Path) -> list[str]:
    """Every complaint about one file."""
    relative = path.relative_to(root).as_posix()
    layered = path.suffix in LAYERED_SUFFIXES
    if not layered and path.suffix not in SIZED_SUFFIXES and path.name not in SIZED_NAMES:
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    problems = []
    lines = text.count("\n")
    lines_max = min([LINES_MAX, *(n for folder, n in LINES_MAX_BELOW.items()
                                  if layered and not is_test(path) and relative.startswith(folder))])
    if lines > lines_max and not path.stem.endswith("_test"):
        problems.append(f"{relative}:{lines_max + 1}: {lines} lines, budget {lines_max}: split it")
    if not layered:
        return problems
    row = table.row_of(relative)
    if row is None:
        problems.append(f"{relative}:1: folder `{path.parent.relative_to(root)}` has no row "
                        "in layers.txt")
    elif not row.free and not is_test(path):
        for line, name in includes(path, text):
            problem = judge_include(table, root, path, row, name)
            if problem:
                problems.append(f"{relative}:{line}: {problem}")
    return problems


def check(root: Path) -> tuple[list[str], int]:
    """(complaints, number of files) for the tree at root."""
    table = read_table((root / "layers.txt").read_text(encoding="utf-8"))
    problems = [f"layers.txt:{row.line}: folder `{row.folder}` does not exist"
                for row in table.rows if not (root / row.folder).is_dir()]
    files = source_files(root)
    for path in files:
        problems += check_file(table, root, path)
    return problems, len(files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1],
                        help="repository to check (default: the one this script stands in)")
    root = parser.parse_args().root.resolve()
    try:
        problems, files = check(root)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"layers: {files} files, no problem")
    return 0


if __name__ == "__main__":
    sys.exit(main())
