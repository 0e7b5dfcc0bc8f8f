#!/usr/bin/env python3
"""Says whether this checkout can be released, and what is to be done; changes nothing unless it is asked to.

  tools/release.py                    what is wrong, the tags, and what to do with them
  tools/release.py --prepare VERSION  writes the version into every file that has it, and the Go modules' names
                                      for each other; to be looked at and committed
  tools/release.py --tag              makes the tags, if nothing is wrong

The version is CMake's. A Go module is tagged by its folder, all on one commit. `replace` lines stay: they are for
builds of this repository, and a user's build does not read them. `go install` of a program does refuse them, so
that a program's module gets its tag from a commit of its own, once the others can be fetched.
"""

import argparse
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_versions  # noqa: E402 (the path line above makes it importable)

ROOT = Path(__file__).parents[1]
UNRELEASED = "## Unreleased"


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, text=True, stdout=subprocess.PIPE).stdout


def released_modules(root: Path) -> list[str]:
    """Their folders. The benchmarks and the pinned tools are for this repository alone."""
    return [module for module in check_versions.go_modules(root)
            if not module.startswith("bench/") and module != "go/tools"]


def is_program(root: Path, module: str) -> bool:
    return any(re.search(r"^package main$", file.read_text(encoding="utf-8"), re.MULTILINE)
               for file in (root / module).glob("*.go"))


def has_replace(root: Path, module: str) -> bool:
    return re.search(r"^replace\b", (root / module / "go.mod").read_text(encoding="utf-8"), re.MULTILINE) is not None


def replaced(root: Path, module: str) -> list[str]:
    """Our modules that the replace lines of a go.mod name."""
    return re.findall(rf"^\s*(?:replace )?({re.escape(check_versions.OURS)}\S+) => ",
                      (root / module / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)


def tags(root: Path, version: str) -> tuple[list[str], list[str]]:
    """(tags of this commit, modules that are tagged later: programs whose go.mod has replace lines)."""
    modules = released_modules(root)
    later = [module for module in modules if is_program(root, module) and has_replace(root, module)]
    return [f"v{version}", *(f"{module}/v{version}" for module in modules if module not in later)], later


def problems_of(root: Path, version: str) -> list[str]:
    problems = check_versions.check_project(root)
    heading = next((line for line in (root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
                    if line.startswith("## ")), "nothing")
    if not re.fullmatch(rf"## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        problems.append(f"CHANGELOG.md: begins with `{heading}`, not with `## {version} (<date>)`")
    if int(version.split(".")[0]) > 1:
        problems.append(f"from version 2 on the paths of Go modules end with /v{version.split('.')[0]}")
    for module in check_versions.go_modules(root):
        for name, required in check_versions.requires_of_ours(root, module):
            if required != f"v{version}":
                problems.append(f"{module}/go.mod: requires {name} {required}, not v{version}")
    if git(root, "status", "--porcelain").strip():
        problems.append("the tree has changes that are not committed")
    existing = set(git(root, "tag").split())
    problems += [f"the tag {tag} exists" for tag in tags(root, version)[0] if tag in existing]
    return problems


def prepare(root: Path, version: str, today: str) -> list[str]:
    """Writes the version wherever it stands; returns the files that changed."""
    changed = []

    def rewrite(name: str, pattern: str, replacement: str) -> None:
        file = root / name
        old = file.read_text(encoding="utf-8")
        new = re.sub(pattern, replacement, old, flags=re.MULTILINE)
        if new != old:
            file.write_text(new, encoding="utf-8")
            changed.append(name)

    for name, pattern in check_versions.PROJECT_VERSIONS.items():
        rewrite(name, pattern, rf"\g<1>{version}\g<3>")
    for module in check_versions.go_modules(root):
        rewrite(f"{module}/go.mod", check_versions.REQUIRE_OF_OURS, rf"\g<1>\g<2> v{version}")
    rewrite("CHANGELOG.md", rf"^{UNRELEASED}$", f"## {version} ({today})")
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="the default")
    what.add_argument("--prepare", metavar="VERSION")
    what.add_argument("--tag", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: that of this script)")
    args = parser.parse_args()
    if args.prepare:
        if not re.fullmatch(r"\d+\.\d+\.\d+", args.prepare):
            parser.error(f"a version is three numbers, not `{args.prepare}`")
        for name in prepare(args.root, args.prepare, datetime.now(timezone.utc).strftime("%Y-%m-%d")):
            print(f"release: wrote {name}")
        return 0

    version = check_versions.project_version(args.root)
    made, later = tags(args.root, version)
    problems = problems_of(args.root, version)
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    print(f"release: {version}, tags of {git(args.root, 'rev-parse', '--short', 'HEAD').strip()}:")
    print("".join(f"  {tag}\n" for tag in made), end="")
    if args.tag and not problems:
        for tag in made:
            git(args.root, "tag", "--annotate", "--message", f"Harena {version}", tag)
        print("release: made")
    print(f"then:\n  git push origin {' '.join(made)}\n  make package test-packages   # its packages are those of the tag")
    for module in later:
        drops = " ".join(f"-dropreplace={name}" for name in replaced(args.root, module))
        print(f"and, when these can be fetched, for `go install` of {module}, on a branch of its own:\n"
              f"  go mod edit {drops} && GOWORK=off go mod tidy   # in {module}\n"
              f"  git commit and git tag {module}/v{version}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
