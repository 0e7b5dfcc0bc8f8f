"""The versions of protobuf that the matrix knows, and how each is had: versions.json."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

WAYS = ("debian", "archive", "unstable")
OF_ARCHIVES = ("release", "archive", "sha256")


@dataclass(frozen=True)
class Version:
    name: str            # as VERSIONS= names it, and the build folder
    way: str             # one of WAYS
    release: str = ""    # protobuf's, of an archive
    archive: str = ""    # its file name in the package index
    sha256: str = ""


def parse(text: str) -> tuple[str, list[Version]]:
    """The package index's address and the versions, oldest first as they stand there."""
    table = json.loads(text)
    versions = []
    for row in table["versions"]:
        name, way = row.get("name", ""), row.get("from", "")
        if not re.fullmatch(r"[\d.]+", name) or name in (version.name for version in versions):
            raise ValueError(f"versions.json: a version is named {name!r}: no number, or named twice")
        if way not in WAYS:
            raise ValueError(f"versions.json: version {name} is from {way!r}; one of {', '.join(WAYS)}")
        missing = [key for key in OF_ARCHIVES if way == "archive" and not row.get(key)]
        if missing:
            raise ValueError(f"versions.json: version {name} has no {', '.join(missing)}")
        if way == "archive" and not re.fullmatch(r"[0-9a-f]{64}", row["sha256"]):
            raise ValueError(f"versions.json: the sha256 of version {name} is none")
        versions.append(Version(name, way, *(row.get(key, "") for key in OF_ARCHIVES)))
    return table["index"], versions


def load(path: Path = Path(__file__).with_name("versions.json")) -> tuple[str, list[Version]]:
    return parse(path.read_text(encoding="utf-8"))


def pick(versions: list[Version], names: list[str]) -> list[Version]:
    """Those of these names, in the table's order; all of them without names."""
    known = [version.name for version in versions]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no version {', '.join(unknown)}; there are {' '.join(known)}")
    return [version for version in versions if not names or version.name in names]
