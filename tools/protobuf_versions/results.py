"""Rows of the matrix: from ctest's answers to out/protobuf/results.json and the table of docs/codec.md."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

COUNTS = ("tests", "passed", "failed", "skipped")


@dataclass(frozen=True)
class Counts:
    tests: int
    passed: int
    failed: int
    skipped: int
    failures: tuple[str, ...] = ()  # their names


def count(junit: str) -> Counts:
    """Of a file that `ctest --output-junit` wrote. A test whose program is missing has failed."""
    cases = ElementTree.fromstring(junit).findall("testcase")
    failures, skipped = [], 0
    for case in cases:
        status, why = case.get("status"), case.find("skipped")
        if status == "disabled" or (why is not None and why.get("message", "").startswith("SKIP_")):
            skipped += 1
        elif status != "run":
            failures.append(case.get("name"))
    return Counts(len(cases), len(cases) - len(failures) - skipped, len(failures), skipped, tuple(failures))


@dataclass(frozen=True)
class Codec:
    """What a built tree says of itself (pb::Capabilities().ToText())."""
    protobuf: str
    parser: str
    serializer: str


def read_codec(text: str) -> Codec:
    first = re.match(r"protobuf ([\d.]+), codec (on|serializer only|off), arena strings (?:on|off)\n", text)
    if not first:
        raise ValueError(f"not the report of a codec: {text[:100]!r}")
    # Counts only where classes were generated with it.
    generated = re.search(r"^  \S+: codec$", text, re.MULTILINE) is not None
    state = first[2] if generated else "off"
    return Codec(first[1], "harena" if state == "on" else "stock", "stock" if state == "off" else "harena")


def row(version: str, codec: Codec, built_with: dict, counts: Counts) -> dict:
    return {"version": version, "protobuf": codec.protobuf, "grpc": built_with["grpc"] or None,
            "compiler": built_with["compiler"], "parser": codec.parser, "serializer": codec.serializer,
            **{name: getattr(counts, name) for name in COUNTS}, "tried": True,
            "failures": list(counts.failures)}


def row_without(version: str, reason: str, tried: bool = False) -> dict:
    """Of a version that gave no results."""
    nothing = dict.fromkeys(("grpc", "compiler", "parser", "serializer", *COUNTS))
    return {"version": version, "protobuf": version, **nothing, "tried": tried, "reason": reason}


def good(rows: list[dict]) -> bool:
    """Whether nothing failed of what was tried. What was not tried does not count."""
    return all(not row["tried"] or ("reason" not in row and row["failed"] == 0 and row["passed"] > 0)
               for row in rows)


def markdown(rows: list[dict]) -> str:
    lines = ["| protobuf | gRPC | compiler | parser | serializer | tests | passed | failed | skipped |",
             "|---|---|---|---|---|--:|--:|--:|--:|"]
    for row in rows:
        if "reason" in row:
            what = "did not build" if row["tried"] else "not tried"
            lines.append(f"| {row['protobuf']} | {what}: {first_line(row['reason'])} | | | | | | | |")
            continue
        cells = [row["protobuf"], row["grpc"] or "without", row["compiler"], row["parser"], row["serializer"],
                 *(f"{row[name]:,}" for name in COUNTS)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def first_line(text: str) -> str:
    return text.strip().splitlines()[0].replace("|", "/") if text.strip() else "no reason"
