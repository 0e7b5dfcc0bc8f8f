#!/usr/bin/env python3
"""Sums what the safety tests counted, and fails when a count says that Harena was not safe.

A test of any language prints, on a line of its own, as often as it likes:

    safety: faults_injected=123
    safety: inputs_tried=1000 budgets_refused=998

The lines are found in the output of ctest (LastTest.log, or `ctest -V`), of `go test -v` and of
`go test -json`. C++ tests print them with cpp/tests/safety_count.h. A count that is not in COUNTS below
is an error, so that a misspelt one cannot be missed; so is a log without any count.

    tools/safety_report.py LOG...    names the sums; exit status 1 when one of them may not be
"""

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

MUST_BE_ZERO = "must be 0"
MUST_NOT_BE_ZERO = "must not be 0"

# name: (what is printed, what is demanded)
COUNTS = {
    "inputs_tried": ("hostile inputs tried", MUST_NOT_BE_ZERO),
    "budgets_refused": ("budgets crossed and refused", MUST_NOT_BE_ZERO),
    "detectors_fired": ("detectors that fired when they had to", MUST_NOT_BE_ZERO),
    "faults_injected": ("faults injected", MUST_NOT_BE_ZERO),
    "requests_refused": ("requests refused because of a fault", None),
    "requests_served": ("requests served after or beside a fault", None),
    "foreign_deaths": ("deaths in other libraries that no caller can prevent, each named by its test", None),
    "model_states": ("states of the models explored", None),
    "model_mutants_caught": ("seeded bugs that the models caught", None),
    "detectors_silent": ("detectors that stayed silent", MUST_BE_ZERO),
    "processes_lost": ("processes lost", MUST_BE_ZERO),
    "requests_wrongly_refused": ("requests wrongly refused", MUST_BE_ZERO),
    "bytes_leaked": ("bytes leaked", MUST_BE_ZERO),
}

# ctest -V puts the test's number before it, testing.T.Log the file's name, cmake's log nothing.
LINE = re.compile(r"^\s*(?:\d+:\s+)?(?:[\w.]+\.go:\d+:\s+)?safety:\s+(.*?)\s*$")
COUNT = re.compile(r"(\w+)=(\d+)")


class BadLine(Exception):
    """A safety line that cannot be read."""


def texts(log):
    """The lines that tests printed, from a log of ctest or go."""
    for line in log.splitlines():
        if line.startswith('{"') and '"Action":"output"' in line:
            try:
                yield json.loads(line).get("Output", "").rstrip("\n")
            except json.JSONDecodeError:
                continue
        else:
            yield line


def counts_of(log):
    """(sums by name, safety lines) of one log's text."""
    sums, lines = Counter(), 0
    for text in texts(log):
        found = LINE.match(text)
        if not found:
            continue
        lines += 1
        for part in found.group(1).split():
            count = COUNT.fullmatch(part)
            if not count:
                raise BadLine(f"`{text.strip()}`: `{part}` is not name=number")
            if count.group(1) not in COUNTS:
                raise BadLine(f"`{text.strip()}`: no count is called {count.group(1)}; "
                              f"there are {', '.join(COUNTS)}")
            sums[count.group(1)] += int(count.group(2))
    return sums, lines


def problems_of(sums):
    """What the sums must not be, one sentence each."""
    problems = []
    for name, (title, demand) in COUNTS.items():
        if demand == MUST_BE_ZERO and sums[name] != 0:
            problems.append(f"{name} is {sums[name]} and must be 0")
        elif demand == MUST_NOT_BE_ZERO and sums[name] == 0:
            problems.append(f"{name} is 0: no test counted any ({title})")
    return problems


def report(sums, lines, logs):
    """The table, as lines of text."""
    yield f"safety: summed {lines} lines of {logs} logs"
    for name, (title, demand) in COUNTS.items():
        note = f" ({demand})" if demand == MUST_BE_ZERO else ""
        yield f"  {sums[name]:>12,}  {title}{note}"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    options = parser.parse_args(arguments)
    sums, lines = Counter(), 0
    for path in options.logs:
        try:
            found, count = counts_of(path.read_text(encoding="utf-8", errors="replace"))
        except BadLine as bad:
            print(f"safety_report: {path}: {bad}", file=sys.stderr)
            return 1
        except OSError as error:
            print(f"safety_report: {path}: {error.strerror}", file=sys.stderr)
            return 1
        if count == 0:
            print(f"safety_report: {path} holds no line `safety: ...`", file=sys.stderr)
            return 1
        sums += found
        lines += count
    for line in report(sums, lines, len(options.logs)):
        print(line)
    problems = problems_of(sums)
    for problem in problems:
        print(f"safety_report: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
