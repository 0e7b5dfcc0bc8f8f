#!/usr/bin/env python3
"""Prints what fuzzers did as a table: target, seconds, new inputs tried, how many a second, findings.

A log is what libFuzzer printed with -print_final_stats=1, or a fuzz test of Go; the file's name, without
its ending, is the target's. The known inputs, with which each begins, do not count.

    tools/fuzz_report.py LOG...    exit status 1 when there is a finding, when a fuzzer has tried
                                   nothing new, or for a log of no fuzzer
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

DONE = re.compile(r"^Done \d+ runs in (\d+) second", re.MULTILINE)
STAT = re.compile(r"^stat::(\w+):\s+(\d+)$", re.MULTILINE)
# How many of libFuzzer's executions were the corpus.
INITED = re.compile(r"^#(\d+)\s+INITED\b", re.MULTILINE)
# Go's "execs" have the known inputs in them too.
GO = re.compile(r"^fuzz: elapsed: ([\dhms]+), .*?execs: (\d+)", re.MULTILINE)
GO_STARTED = re.compile(r"^fuzz: elapsed: [\dhms]+, gathering baseline coverage", re.MULTILINE)
GO_BEGUN = re.compile(
    r"^fuzz: elapsed: ([\dhms]+), gathering baseline coverage: (\d+)/\2 completed, now fuzzing", re.MULTILINE)
# What libFuzzer says of a crash, a leak, a timeout and too much memory; what Go says.
FINDING = re.compile(r"Test unit written to|Failing input written to|^--- FAIL", re.MULTILINE)


class NoFuzzer(Exception):
    """A log that no fuzzer has ended."""


@dataclass
class Row:
    target: str
    seconds: int
    inputs: int  # new ones that were tried
    findings: int


def seconds_of(text):
    """`1m3s` as a number."""
    seconds = 0
    for number, unit in re.findall(r"(\d+)([hms])", text):
        seconds += int(number) * {"h": 3600, "m": 60, "s": 1}[unit]
    return seconds


def row_of(target, log):
    """What one log says."""
    findings = 1 if FINDING.search(log) else 0
    stats = dict(STAT.findall(log))
    if "number_of_executed_units" in stats:
        done, inited = DONE.search(log), INITED.search(log)
        executed = int(stats["number_of_executed_units"])
        # One that stopped at a finding says no more than its average.
        per_second = max(int(stats.get("average_exec_per_sec", 0)), 1)
        return Row(target, int(done.group(1)) if done else executed // per_second,
                   executed - int(inited.group(1)) if inited else 0, findings)
    begun, elapsed = GO_BEGUN.search(log), GO.findall(log)
    if begun and elapsed:
        return Row(target, seconds_of(elapsed[-1][0]) - seconds_of(begun.group(1)),
                   int(elapsed[-1][1]) - int(begun.group(2)), findings)
    if findings or GO_STARTED.search(log):
        return Row(target, 0, 0, findings)
    raise NoFuzzer(f"{target}: this is no fuzzer's log, or it did not start")


def table(rows):
    """The rows, their sum and a head, as lines of equal columns."""
    total = Row("all", *(sum(getattr(row, name) for row in rows) for name in ("seconds", "inputs", "findings")))
    lines = [("target", "seconds", "new inputs", "a second", "findings")]
    for row in [*rows, total]:
        lines.append((row.target, f"{row.seconds:,}", f"{row.inputs:,}",
                      f"{row.inputs // max(row.seconds, 1):,}", f"{row.findings}"))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return ["  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))])
            for line in lines]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, nargs="+")
    rows = []
    try:
        for path in parser.parse_args(arguments).log:
            rows.append(row_of(path.stem, path.read_text(encoding="utf-8", errors="replace")))
    except NoFuzzer as problem:
        print(f"fuzz_report: {problem}", file=sys.stderr)
        return 1
    print("\n".join(table(rows)))
    idle = [row.target for row in rows if row.inputs <= 0 and not row.findings]
    if idle:
        print(f"fuzz_report: nothing new was tried by {', '.join(idle)}: the known inputs took all of the time",
              file=sys.stderr)
    return 1 if idle or any(row.findings for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
