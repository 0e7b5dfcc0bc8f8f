#!/usr/bin/env python3
"""The Go arena, codec and adapters against their rivals: `make bench-go`.

Runs every cell in fresh processes, all cells in turn and round after round, and prints a table of
medians for each group. Writes go.json, go.txt (for benchstat) and go.html. Ends with 1 if anything
in the run was wrong.
"""

import argparse
import datetime
import json
import os
import platform
import sys
import time
from pathlib import Path

import page
import rpc_cells
import summary
from programs import HERE, BenchError, Programs

from common.page import ChartsMissing, chart_library

ROOT = HERE.parents[1]

LIMITS = [
    "One machine, one process at a time (grpc and trpc: two), loops that do nothing else: caches are warmer "
    "and heaps smaller than in a service. With a large live heap every collection costs more, and "
    "rows that make garbage pay for it.",
    "CPU is user and system time of the whole process, the collector's threads included. Wall times "
    "are in the JSON; on a shared machine they say little.",
    "Compare within a group only. Ratios are medians over rounds of the ratio within the round.",
    "Rows differ in what they promise: vt does not check UTF-8; rows named alias or unsafe share "
    "the caller's bytes; hyperpb's messages are read through reflection only; pools and arenas have "
    "to be given back, and what is kept beyond that is lost, or worse.",
    "alloc/grow_1m and alloc/parallel_2m are published tests of other arenas as they stand: memory "
    "grows without bound in them, which no request does.",
    "grpc, trpc: a p99 over a few seconds is a sign, not a result.",
]


class Progress:
    """One line that is rewritten on a terminal; nothing elsewhere."""

    def __init__(self, total):
        self._start, self._total, self._done = time.monotonic(), total, 0

    def step(self, what):
        """Says what begins now."""
        self._done += 1
        if sys.stderr.isatty():
            spent = time.monotonic() - self._start
            print(f"\r\033[K[{spent:4.0f} s, {self._done} of {self._total}] {what[:90]}", end="",
                  file=sys.stderr, flush=True)

    @staticmethod
    def end():
        """Leaves the line."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def in_turn(cells, number):
    """The cells of one round: every other round backwards, so that none always follows the same."""
    return cells if number % 2 == 0 else reversed(cells)


def measure(programs, cells, options):
    """{(group, row): [result of each round]}, and what went wrong by (group, row): a cell that fails
    is left out from then on, and the others go on."""
    measured = [c for c in cells if not c["missing"]]
    results = {(c["group"], c["row"]): [] for c in measured}
    plain = [c for c in measured if not rpc_cells.is_rpc(c["group"])]
    served = [c for c in measured if rpc_cells.is_rpc(c["group"])]
    failures = {}
    progress = Progress(len(measured) * options.runs)

    def attempt(cell, run):
        key = cell["group"], cell["row"]
        if key in failures:
            return
        try:
            results[key].append(run())
        except BenchError as error:
            failures[key] = str(error)
            results[key].clear()

    for number in range(options.runs):
        for cell in in_turn(plain, number):
            progress.step(f"{cell['group']}/{cell['row']}")
            attempt(cell, lambda cell=cell: programs.measure(cell, options.seconds))
    rates = {group: rpc_cells.rate(programs, group, min(1.0, options.rpc_seconds))
             for group in dict.fromkeys(c["group"] for c in served)}
    for number in range(options.runs):
        for cell in in_turn(served, number):
            qps = rates[cell["group"]]
            progress.step(f"{cell['group']}/{cell['row']} at {qps:.0f}/s")
            attempt(cell, lambda cell=cell, qps=qps: rpc_cells.measure(
                programs, cell["group"], cell["row"], options.rpc_seconds, qps))
    progress.end()
    return results, failures


def problems(rows, failures):
    """What was wrong, as sentences."""
    failed = [f"{group}/{row} failed: {error}" for (group, row), error in failures.items()]
    return failed + [f"{row['group']}, {row['row']}: the rate was not held: {row['qps']:.1f} of "
            f"{row['qps_target']:.1f} per second"
            for row in rows if "qps" in row and row["qps"] < 0.97 * row["qps_target"]]


def facts(options, versions):
    """What was run, by name."""
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}",
        "versions": ", ".join(f"{name} {text}" for name, text in versions.items()),
        "runs": f"{options.runs} processes per cell, {options.seconds:g} s each after a fifth of "
                f"that; grpc and trpc {options.rpc_seconds:g} s",
        "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def write(results, singles, versions, out):
    """go.json, go.txt and go.html."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    out.with_suffix(".txt").write_text(summary.benchstat(singles, versions), encoding="utf-8")
    out.with_suffix(".html").write_text(page.html_page(results), encoding="utf-8")


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true",
                        help="2 short runs per cell: about 5 minutes")
    parser.add_argument("--runs", type=int, help="processes per cell (default 5)")
    parser.add_argument("--seconds", type=float, help="time per process (default 0.3)")
    parser.add_argument("--rpc-seconds", type=float,
                        help="time per process of grpc/ and trpc/ (default 5)")
    parser.add_argument("--groups", nargs="+", metavar="PREFIX",
                        help="only groups that begin so, such as alloc/ codec/read trpc/ranking_8k")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/go-bench",
                        help="where the programs are built (default build/go-bench)")
    parser.add_argument("--out", type=Path, default=ROOT / "out/bench/go.json",
                        help="where go.json goes; go.txt and go.html beside it")
    options = parser.parse_args(arguments)
    for name, full, quick in (("runs", 5, 2), ("seconds", 0.3, 0.1), ("rpc_seconds", 5, 1.5)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
        elif getattr(options, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} must be above zero")
    return options


def pick(cells, prefixes):
    """The cells whose groups begin with one of the prefixes; all without one."""
    picked = [c for c in cells if not prefixes or c["group"].startswith(tuple(prefixes))]
    if not picked:
        raise BenchError(f"no group begins with {' or '.join(prefixes)}; there are: "
                         + ", ".join(dict.fromkeys(c["group"] for c in cells)))
    return picked


def main():
    """Runs the benchmarks; returns the exit code."""
    options = parse()
    try:
        chart_library()
        programs = Programs(options.build_dir)
        programs.build()
        cells = pick(programs.cells() + rpc_cells.cells(), options.groups)
        versions = programs.versions()
        print("Limits of these numbers:", *(f"- {limit}" for limit in LIMITS), sep="\n", flush=True)
        singles, failures = measure(programs, cells, options)
        rows = summary.rows(cells, singles, failures)
        results = {"limits": LIMITS, "facts": facts(options, versions), "versions": versions,
                   "rows": rows, "problems": problems(rows, failures)}
        write(results, singles, versions, options.out)
    except (BenchError, ChartsMissing) as error:
        print(f"bench-go: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbench-go: interrupted", file=sys.stderr)
        return 130
    print(summary.terminal(rows))
    print(f"\nwritten: {options.out}, and .txt and .html beside it. Compare two runs with:\n"
          f"  (cd bench/go && go tool benchstat OLD.txt NEW.txt)")
    for problem in results["problems"]:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if results["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
