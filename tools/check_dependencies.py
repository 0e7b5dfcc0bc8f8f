#!/usr/bin/env python3
"""Looks for known vulnerabilities in the libraries that the C++ build is linked with.

    tools/check_dependencies.py out/sbom/harena-cpp.cdx.json

The libraries and their versions are those of the document, which `make sbom` writes. Each is held
against tools/advisories.txt, and against apt's package lists: a newer package from Debian's security
archive is a problem, one from elsewhere a note. Needs no network; says how old the package lists are,
and that this half was not checked where there are none.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTS = Path("/var/lib/apt/lists")
LISTS_OLD_DAYS = 7


@dataclass
class Library:
    """One library of the document."""

    name: str
    version: str
    source: str  # the source package; the library's own name where there is no package
    upstream: str  # the source's version, without Debian's additions


@dataclass
class Advisory:
    source: str
    name: str
    ranges: list[tuple[str | None, str]]
    what: str


@dataclass
class Findings:
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)  # packages with a newer one in the security archive


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def upstream_of(version: str) -> str:
    """`1:1.2.13.dfsg-1+b1` is 1.2.13 of its authors."""
    return re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version).group(1)


def read_advisories(text: str) -> tuple[list[Advisory], dict[tuple[str, str], str]]:
    advisories, accepted = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.removeprefix("accepted:").split("|")]
        if line.startswith("accepted:") and len(cells) == 3:
            accepted[cells[0], cells[1]] = cells[2]
            continue
        ranges = [None] if len(cells) != 4 else [
            re.fullmatch(r"(?:>=(\S+) )?<(\S+)", part.strip()) for part in cells[2].split(",")]
        if None in ranges:
            sys.exit(f"tools/advisories.txt:{number}: this line is not of the form that its head names")
        advisories.append(Advisory(cells[0], cells[1], [found.groups() for found in ranges], cells[3]))
    return advisories, accepted


def is_affected(advisory: Advisory, version: str) -> bool:
    return any((oldest is None or numbers(oldest) <= numbers(version)) and numbers(version) < numbers(mended)
               for oldest, mended in advisory.ranges)


def libraries_of(bom: dict) -> list[Library]:
    found = []
    for part in bom["components"]:
        if part["bom-ref"].startswith("harena:"):
            continue
        properties = {each["name"]: each["value"] for each in part.get("properties", ())}
        version = part.get("version", "")
        source_version = properties.get("harena:source-version", version)
        found.append(Library(part["name"], version, properties.get("harena:source-package", part["name"]),
                             upstream_of(source_version) if source_version else ""))
    return found


def changelog_of(package: str) -> str:
    """Debian's changelog of an installed package, empty where there is none."""
    for name in ("changelog.Debian.gz", "changelog.Debian.amd64.gz", "changelog.gz"):
        file = Path("/usr/share/doc") / package / name
        if file.is_file():
            return gzip.open(file, "rt", encoding="utf-8", errors="replace").read()
    return ""


def check_advisories(libraries, advisories, accepted, changelog=changelog_of) -> Findings:
    findings = Findings()
    seen, used = set(), set()
    for library in libraries:
        for advisory in advisories:
            key = (library.source, advisory.name)
            if advisory.source != library.source or not library.upstream or key in seen:
                continue
            if not is_affected(advisory, library.upstream) or advisory.name in changelog(library.name):
                continue
            seen.add(key)
            text = f"{library.source} {library.upstream} has {advisory.name}: {advisory.what}"
            if key in accepted:
                used.add(key)
                findings.notes.append(f"{text}. Accepted: {accepted[key]}")
            else:
                findings.problems.append(text)
    findings.problems += [f"{library.name}: its version is not known, so nothing is known of it"
                          for library in libraries if not library.upstream]
    return findings


def apt_policy(packages: list[str]) -> str:
    return subprocess.run(["apt-cache", "policy", *packages], text=True, capture_output=True, check=False,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def installed_version(package: str) -> str:
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True, capture_output=True,
                          check=True).stdout


def renewed(libraries: list[Library], packages: list[str], installed=installed_version) -> list[Library]:
    """The same libraries, those of `packages` as they are installed now. Others may be no packages at all."""
    return [replace(library, version=installed(library.name)) if library.name in packages else library
            for library in libraries]


def check_apt(libraries, policy=apt_policy) -> Findings:
    """Whether apt knows a newer package than the one that is linked, and from where."""
    findings = Findings()
    answer = policy([library.name for library in libraries])
    texts = {text.split(":\n", 1)[0]: text for text in re.split(r"^(?=\S+:\n)", answer, flags=re.MULTILINE)}
    for library in libraries:
        text = texts.get(library.name, "")
        candidate = re.search(r"^  Candidate: (\S+)", text, re.MULTILINE)
        if not candidate or candidate.group(1) in ("(none)", library.version):
            continue
        block = re.search(rf"^ (?:\*\*\*|   ) {re.escape(candidate.group(1))} .*\n((?:        .*\n?)*)",
                          text, re.MULTILINE)
        secure = block is not None and "security" in block.group(1)
        what = f"{library.name} is {library.version}, {candidate.group(1)} is there"
        if secure:
            findings.outdated.append(library.name)
            findings.problems.append(f"{what}, in the security archive: "
                                     f"apt-get install --only-upgrade {library.name}")
        else:
            findings.notes.append(what)
    return findings


def age_of_lists() -> float | None:
    """Days since apt last got its package lists; None where it has none."""
    files = list(LISTS.glob("*InRelease")) + list(LISTS.glob("*_Release"))
    return (time.time() - max(file.stat().st_mtime for file in files)) / 86400 if files else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sbom", type=Path)
    parser.add_argument("--upgrade", action="store_true",
                        help="first bring libraries up to date for which there is a newer one in the security archive")
    args = parser.parse_args()
    libraries = libraries_of(json.loads(args.sbom.read_text(encoding="utf-8")))
    if args.upgrade and (outdated := check_apt(libraries).outdated):
        subprocess.run([ROOT / "tools/setup.sh", "--upgrade", *outdated], check=True)
        libraries = renewed(libraries, outdated)
    advisories, accepted = read_advisories((ROOT / "tools/advisories.txt").read_text(encoding="utf-8"))
    found = check_advisories(libraries, advisories, accepted)
    age = age_of_lists()
    if age is None:
        found.notes.append("apt has no package lists here: NOT checked against the security archive")
    else:
        from_apt = check_apt(libraries)
        found.problems += from_apt.problems
        found.notes += from_apt.notes
        if age > LISTS_OLD_DAYS:
            found.notes.append(f"apt's package lists are {age:.0f} days old: `apt-get update` gets new ones")
    for note in found.notes:
        print(f"dependencies: note: {note}")
    for problem in found.problems:
        print(f"dependencies: {problem}", file=sys.stderr)
    if not libraries:
        print("dependencies: the document names no library", file=sys.stderr)
        return 1
    if not found.problems:
        print(f"dependencies: {len(libraries)} libraries, {len(advisories)} advisories, "
              "no problem that is not accepted")
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
