#!/usr/bin/env python3
"""Compares the tools of this machine with tools/versions.env and, for Go's tools, with go/tools/go.mod; and
the project's own version, wherever it stands, with CMake's.

A tool whose verdict depends on its version must be of that version, others must not be older than the
oldest that is known to work. What is merely another version than the tested one is said, not refused.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLANG_TOOLS = ("clang++", "clang-format", "clang-tidy")
OLDEST = {"GXX_OLDEST": ["g++", "-dumpfullversion"], "CMAKE_OLDEST": ["cmake", "--version"],
          "NINJA_OLDEST": ["ninja", "--version"]}
TESTED = {"PROTOC_TESTED": ["protoc", "--version"], "GRPC_TESTED": ["pkg-config", "--modversion", "grpc++"]}


def pins(path: Path) -> dict[str, str]:
    lines = (line.split("=", 1) for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#"))
    return {key: value for key, value in lines}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def answer(command: list[str]) -> str | None:
    """The first version number that a command prints; None where the tool is not there."""
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    found = re.search(r"\d+(\.\d+)+|\d+", done.stdout)
    return found.group(0) if done.returncode == 0 and found else None


def is_exact(pinned: str, version: str) -> bool:
    return numbers(version)[:len(numbers(pinned))] == numbers(pinned)


def check(wanted: dict[str, str], ask=answer) -> tuple[list[str], list[str]]:
    """(problems, notes) of the programs on the PATH. A tool that is absent is setup's business."""
    problems, notes = [], []
    clang = wanted["CLANG_VERSION"]
    for tool in CLANG_TOOLS:
        version = ask([f"{tool}-{clang}", "--version"])
        if version is None:
            notes.append(f"{tool}-{clang} is not here: `make setup` installs it")
        elif not is_exact(clang, version):
            problems.append(f"{tool}-{clang} is version {version}; tools/versions.env pins {clang}")
    for key, command in OLDEST.items():
        version = ask(command)
        if version is not None and numbers(version) < numbers(wanted[key]):
            problems.append(f"{command[0]} is version {version}; it has to be {wanted[key]} or newer")
    if sys.version_info[:2] < numbers(wanted["PYTHON_OLDEST"]):
        problems.append(f"python3 is older than {wanted['PYTHON_OLDEST']}")
    for key, command in TESTED.items():
        version = ask(command)
        if version is not None and version != wanted[key]:
            notes.append(f"{command[-1] if command[0] == 'pkg-config' else command[0]} is {version}; "
                         f"the tests ran with {wanted[key]}")
    return problems, notes


PLACES = ("Makefile", "tools/setup.sh", "tools/setup_go.sh", "tools/go_check.sh", "tools/go_test.sh", ".ci/run")


def check_places(wanted: dict[str, str], root: Path = ROOT) -> list[str]:
    """A version that is written a second time, where tools/versions.env would not reach it."""
    problems = []
    literal = re.compile(r"clang(?:\+\+|-format|-tidy|-rt)?-" + wanted["CLANG_VERSION"] + r"\b|\bgo1\.\d+\.\d+\b")
    for name in PLACES:
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            if literal.search(line):
                problems.append(f"{name}:{number}: names a version that belongs into tools/versions.env")
    return problems


# Where the project's version stands: CMake's is the one that the others follow.
PROJECT_VERSIONS = {
    "CMakeLists.txt": r"(project\(harena VERSION )(\S+?)( )",
    "MODULE.bazel": r'(module\(\n    name = "harena",\n    version = ")([^"]+)(")',
    "packaging/vcpkg/ports/harena/vcpkg.json": r'("version": ")([^"]+)(")',
}
OURS = "github.com/harena-project/harena/"
REQUIRE_OF_OURS = rf"^(\s+|require )({re.escape(OURS)}\S+) (v\S+)"
NOT_RELEASED = "v0.0.0-00010101000000-000000000000"  # what Go writes for a module that is replaced


def project_version(root: Path = ROOT) -> str:
    return re.search(PROJECT_VERSIONS["CMakeLists.txt"], (root / "CMakeLists.txt").read_text("utf-8")).group(2)


def go_modules(root: Path = ROOT) -> list[str]:
    return re.findall(r"^\t\./(\S+)$", (root / "go.work").read_text(encoding="utf-8"), re.MULTILINE)


def requires_of_ours(root: Path, module: str) -> list[tuple[str, str]]:
    """(module, version) of what a go.mod requires of this repository."""
    text = (root / module / "go.mod").read_text(encoding="utf-8")
    return [(found[1], found[2]) for found in re.findall(REQUIRE_OF_OURS, text, re.MULTILINE)]


def check_project(root: Path = ROOT) -> list[str]:
    """The project's version is the same wherever it stands; so are the Go modules' names for each other."""
    problems = []
    version = project_version(root)
    for name, pattern in PROJECT_VERSIONS.items():
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"))
        if found is None:
            problems.append(f"{name}: no version of the project")
        elif found.group(2) != version:
            problems.append(f"{name}: version {found.group(2)}; CMakeLists.txt says {version}")
    required = set()
    for module in go_modules(root):
        text = (root / module / "go.mod").read_text(encoding="utf-8")
        if not re.search(rf"^module {re.escape(OURS + module)}$", text, re.MULTILINE):
            problems.append(f"{module}/go.mod: is not the module {OURS}{module}")
        for name, wanted in requires_of_ours(root, module):
            required.add(wanted)
            if wanted not in (NOT_RELEASED, f"v{version}"):
                problems.append(f"{module}/go.mod: requires {name} {wanted}; CMakeLists.txt says {version}")
    if len(required) > 1:
        problems.append(f"the go.mod files require one another in several versions: {', '.join(sorted(required))}")
    return problems


def check_go_tools(go: str) -> tuple[list[str], int]:
    """The programs in build/go-tools were made from the modules that go/tools/go.mod pins."""
    env = dict(os.environ, GOWORK="off")
    run = {"check": True, "text": True, "capture_output": True, "env": env}
    listed = subprocess.run([go, "list", "-m", "-f", "{{.Path}} {{.Version}}", "all"], cwd=ROOT / "go/tools", **run)
    pinned = dict(line.split(" ", 1) for line in listed.stdout.splitlines() if " " in line)
    problems, count = [], 0
    for program in sorted((ROOT / "build/go-tools").glob("*")):
        info = subprocess.run([go, "version", "-m", str(program)], **run).stdout
        module = re.search(r"^\tmod\t(\S+)\t(\S+)", info, re.MULTILINE)
        if module is None or module.group(1) not in pinned or not pinned[module.group(1)]:
            continue  # our own
        count += 1
        if pinned[module.group(1)] != module.group(2):
            problems.append(f"{program.relative_to(ROOT)} was made from {module.group(1)} {module.group(2)}; "
                            f"go/tools/go.mod pins {pinned[module.group(1)]}: remove the file")
    return problems, count


def main() -> int:
    wanted = pins(ROOT / "tools/versions.env")
    problems, notes = check(wanted)
    problems += check_places(wanted) + check_project()
    go = subprocess.run([ROOT / "tools/go_path.sh"], text=True, capture_output=True, check=False).stdout.strip()
    count = 0
    if go:
        wrong, count = check_go_tools(go)
        problems += wrong
        version = subprocess.run([go, "env", "GOVERSION"], text=True, capture_output=True, check=True).stdout.strip()
        if numbers(version) < numbers(wanted["GO_TOOLCHAIN"]):
            notes.append(f"Go is {version}; {wanted['GO_TOOLCHAIN']} is newer")
    for note in notes:
        print(f"versions: note: {note}")
    for problem in problems:
        print(f"versions: {problem}", file=sys.stderr)
    if not problems:
        print(f"versions: Harena {project_version()}; tools as tools/versions.env says; {count} Go tools as go/tools/go.mod says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
