"""What is in Harena's own files of others' work: vendored files, and headers that are compiled in. For tools/sbom.py."""

import base64
import re
import subprocess
from pathlib import Path

VENDORED_ROW = re.compile(r"^\| (`[^|]+`) \| \[(\S+)\]\((\S+)\) (\S+), npm package `(\S+)`, .* \| (\S+), `(\S+)` \|$",
                          re.MULTILINE)
INTEGRITY = re.compile(r"`sha512-([A-Za-z0-9+/=]+)`")
# What Debian's copyright files call them, and SPDX.
SPDX = {"Expat": "MIT", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "Apache-2.0": "Apache-2.0"}
# The compiler's and the system's own headers are those of every C++ program.
TOOLCHAIN = re.compile(r"gcc-\d+|glibc|linux|libxcrypt|llvm-toolchain-\d+")


def vendored(folder: Path) -> tuple[dict, set[str]]:
    """(component, its files) of a folder of vendored files, as the folder's README says."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    row, integrity = VENDORED_ROW.search(text), INTEGRITY.search(text)
    if row is None or integrity is None:
        raise ValueError(f"{folder}/README.md: no row of a table, or no integrity, that says what is here")
    files, name, website, version, package, licence, licence_file = row.groups()
    purl = f"pkg:npm/{package}@{version}"
    component = {
        "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
        "licenses": [{"license": {"id": licence}}],
        "hashes": [{"alg": "SHA-512", "content": base64.b64decode(integrity.group(1)).hex()}],
        "externalReferences": [{"type": "website", "url": website}],
        "properties": [{"name": "harena:embedded", "value": "files of it, in the live page"}]}
    return component, {*re.findall(r"`([^`]+)`", files), licence_file}


def licence_of(package: str, documents: Path = Path("/usr/share/doc")) -> dict | None:
    """The licence of most of a Debian package's files; None where its copyright file does not say so to programs."""
    path = documents / package / "copyright"
    if not path.is_file():
        return None
    found = re.search(r"^Files: *\*$(?:\n(?!\n).*)*?\nLicense: *(.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        return None
    name = found.group(1).strip()
    return {"license": {"id": SPDX[name]} if name in SPDX else {"name": name}}


def headers_of(build: Path, target: str) -> list[Path]:
    """The files outside of the project that the objects of a CMake target were compiled from, as Ninja noted them."""
    said = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, text=True, stdout=subprocess.PIPE).stdout
    found: set[Path] = set()
    inside = False
    for line in said.splitlines():
        if line and not line.startswith(" "):
            inside = f"/CMakeFiles/{target}.dir/" in line
        elif inside and line.startswith("    /usr/"):
            found.add(Path(line.strip()))
    return sorted(found)


def is_headers_alone(package: str) -> bool:
    """Whether a Debian package has no library: what is used of it is then compiled in."""
    listed = subprocess.run(["dpkg-query", "-L", package], check=True, text=True, stdout=subprocess.PIPE).stdout
    return not re.search(r"\.(?:so|a)$", listed, re.MULTILINE)


def used_packages(packages: list[dict]) -> list[dict]:
    """The components of packages whose headers were compiled in, with their licence and how they are used."""
    used = []
    for package in packages:
        source = next(each["value"] for each in package["properties"] if each["name"] == "harena:source-package")
        if TOOLCHAIN.fullmatch(source):
            continue
        how = ({"name": "harena:embedded", "value": "headers, compiled in"} if is_headers_alone(package["name"])
               else {"name": "harena:note", "value": "headers; a program links its library"})
        licence = licence_of(package["name"])
        used.append({**package, **({"licenses": [licence]} if licence else {}),
                     "properties": [*package["properties"], how]})
    return used
