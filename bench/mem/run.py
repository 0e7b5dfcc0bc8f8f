#!/usr/bin/env python3
"""Compares the nanoseconds of Harena's memory core with malloc and the standard memory resources.

Runs the given benchmark programs under glibc's malloc and under LD_PRELOADed tcmalloc, jemalloc and
mimalloc, interleaved over several rounds, and prints one table of medians. Builds nothing.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from common.allocators import ALLOCATORS, AllocatorMissing, library_of  # noqa: E402

# Rows of the table: benchmark name before the `/`, and what it is.
OPERATIONS = {
    "allocate_64": "allocate 64 B, warm",
    "allocate_mixed": "allocate 8-160 B, mixed, warm",
    "reset": "allocate 64 B, give all back",
    "block_pair": "64 KiB block, take and give",
    "cross_thread": "64 KiB block, given by another thread",
    "scope_one_page": "scope: make, touch one page, end",
    "scope_pool": "scope from a ScopePool, the same",
    "scope_pool_two_threads": "the same on two threads at once",
    "scope_detached": "scope: detach, end",
    "profile_record": "profile: record one request",
    "profile_percentile": "profile: ask for a percentile",
}

# Columns: benchmark name after the `/`, its heading. malloc has one column per allocator.
RIVALS = {
    "harena": "harena",
    "monotonic": "monotonic_buffer_resource",
    "pool_resource": "unsynchronized_pool_resource",
}

LIMITS = [
    "Loops of one operation on warm caches: the best case of every column. Whole requests differ; "
    "see `make bench-messages` and `make demo`.",
    "malloc columns pay for one free() per allocation, which arenas do not need; that is the point "
    "of an arena, but code that frees singly cannot have it.",
    "monotonic_buffer_resource starts on a buffer that stays; without one it would call malloc.",
    "Blocks are not written but for one byte, so what the system takes for fresh pages does not "
    "show unless an allocator gives memory back in the loop.",
    "Not pinned to cores; what else runs on the machine is in the numbers. Medians over rounds; the "
    "JSON has the range.",
]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=(
        "A ratio above 1 means that harena takes less time than that column."))
    parser.add_argument("--bin", action="append", required=True, type=pathlib.Path, metavar="PROGRAM",
                        help="benchmark program (mem_bench, scope_bench); may be repeated")
    parser.add_argument("--rounds", type=int, help="rounds over all allocators (default 7)")
    parser.add_argument("--seconds", type=float,
                        help="least measured seconds per row and round (default 0.2)")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.02 s per row")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out" / "bench" / "mem.json",
                        help="where the JSON goes (default out/bench/mem.json)")
    arguments = parser.parse_args()
    if arguments.rounds is None:
        arguments.rounds = 3 if arguments.quick else 7
    if arguments.seconds is None:
        arguments.seconds = 0.02 if arguments.quick else 0.2
    if arguments.rounds < 1 or arguments.seconds <= 0:
        parser.error("--rounds and --seconds must be above zero")
    for program in arguments.bin:
        if not os.access(program, os.X_OK) or program.is_dir():
            parser.error(f"{program} is not a program; build it first")
    return arguments


def find_preloads():
    """Path of each allocator's library; exits with the package's name when one is missing."""
    try:
        return {name: library_of(name) for name in ALLOCATORS}
    except AllocatorMissing as error:
        sys.exit(f"bench/mem/run.py: {error}")


def run_once(program, preload, rivals, seconds):
    """Yields (operation, rival, nanoseconds) for each row of one run."""
    environment = dict(os.environ)
    environment.pop("LD_PRELOAD", None)
    if preload:
        environment["LD_PRELOAD"] = preload
    command = [str(program.resolve()), "--benchmark_format=json",
               f"--benchmark_filter=/({rivals})(/|$)", f"--benchmark_min_time={seconds}"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"bench/mem/run.py: {program} failed:\n{result.stderr}")
    if "cannot be preloaded" in result.stderr:
        sys.exit(f"bench/mem/run.py: {preload} could not be preloaded:\n{result.stderr}")
    # A program without a row of these rivals prints no JSON.
    for row in json.loads(result.stdout)["benchmarks"] if result.stdout.strip() else []:
        if row.get("error_occurred"):
            sys.exit(f"bench/mem/run.py: {row['name']}: {row.get('error_message')}")
        operation, rival, *rest = row["name"].split("/")
        # Rows over several threads count wall time, the others their thread's CPU.
        yield operation, rival, row["real_time" if "real_time" in rest else "cpu_time"]


def measure(arguments, preloads):
    """{(operation, rival, allocator): [nanoseconds of each round]}"""
    samples = {}
    for number in range(arguments.rounds):
        # Another first one in each round, so that a drift of the machine favours nobody.
        shift = number % len(ALLOCATORS)
        names = list(ALLOCATORS)
        for allocator in names[shift:] + names[:shift]:
            if sys.stderr.isatty():
                print(f"\rround {number + 1} of {arguments.rounds}: {allocator:<10}", end="",
                      file=sys.stderr, flush=True)
            rivals = "|".join(["malloc"] + (list(RIVALS) if allocator == "glibc" else []))
            for program in arguments.bin:
                for operation, rival, nanoseconds in run_once(
                        program, preloads[allocator], rivals, arguments.seconds):
                    samples.setdefault((operation, rival, allocator), []).append(nanoseconds)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    return samples


def make_rows(samples):
    rows = []
    for (operation, rival, allocator), values in samples.items():
        ours = statistics.median(samples[operation, "harena", "glibc"])
        median = statistics.median(values)
        rows.append({
            "operation": operation, "rival": rival, "allocator": allocator,
            "ns_median": round(median, 3), "ns_min": round(min(values), 3),
            "ns_max": round(max(values), 3), "ratio_to_harena": round(median / ours, 3),
        })
    order = list(OPERATIONS)
    rows.sort(key=lambda row: order.index(row["operation"]) if row["operation"] in order else 99)
    return rows


def print_table(rows):
    columns = ([(rival, "glibc", heading) for rival, heading in RIVALS.items()] +
               [("malloc", allocator, f"malloc, {allocator}") for allocator in ALLOCATORS])
    by_cell = {(row["operation"], row["rival"], row["allocator"]): row for row in rows}
    lines = [["ns (ratio to harena)"] + [heading for _, _, heading in columns]]
    for operation in dict.fromkeys(row["operation"] for row in rows):
        line = [OPERATIONS.get(operation, operation)]
        for rival, allocator, _ in columns:
            cell = by_cell.get((operation, rival, allocator))
            if cell is None:
                line.append("-")
            elif rival == "harena":
                line.append(f"{cell['ns_median']:.2f}")
            else:
                line.append(f"{cell['ns_median']:.2f} ({cell['ratio_to_harena']:.2f}x)")
        lines.append(line)
    lines.insert(1, ["---"] * len(lines[0]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = [cell.ljust(width, "-" if cell == "---" else " ") for cell, width in zip(line, widths)]
        print("| " + " | ".join(cells) + " |")


def main():
    arguments = parse_arguments()
    preloads = find_preloads()
    print("Limits of these numbers:")
    for limit in LIMITS:
        print(f"- {limit}")
    print(flush=True)
    samples = measure(arguments, preloads)
    rows = make_rows(samples)
    print_table(rows)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({
        "limits": LIMITS, "rounds": arguments.rounds, "seconds_per_row": arguments.seconds,
        "machine": {"processors": os.cpu_count(), "system": platform.platform()}, "rows": rows,
    }, indent=1) + "\n")
    print(f"\nwritten: {arguments.out}")


if __name__ == "__main__":
    main()
