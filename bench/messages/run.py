#!/usr/bin/env python3
"""What a request's messages cost in each memory mode, under each malloc: `make bench-messages`.

Runs every payload, allocator and thread count several times over, each mode in a process of its own
and slice by slice in turn, prints tables of medians with ratios, and writes out/bench/messages.json.
"""

import argparse
import json
import sys
from pathlib import Path
from statistics import median

import tables
from blocks import measure_blocks, slice_arguments
from programs import BASELINE, BOUNDS, MODES, BenchError, Programs, interleaved, run_once

from common.allocators import ALLOCATORS, AllocatorMissing
from common.progress import say

PAYLOADS = ["ranking_8k", "ranking_200k", "ranking_200k_one", "trips", "vehicles", "tile",
            "small_proto2", "small_proto3"]
SIZES = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
TASK_WORKLOAD, TASK_THREADS, TASKS = "ranking_200k_one", 4, 500
TASK_ALLOCATORS = ["glibc", "tcmalloc"]

LIMITS = """\
Limits: processes that do nothing else, so caches and heap are warmer and less fragmented than in a
service; a buffer for the response that is there already; the handlers of bench/workloads, whose own
work is in `build`. Medians over rounds in which the modes, each a process of its own, take turns;
compare within a block only. With more threads than cores a phase counts the waiting for a core too.
`arena` is protobuf's own arena, `heap_clear` is Clear()-reuse on the heap: neither holds a line of
Harena. `bound_memcpy` only copies the request twice, `bound_scan` only checks it against its schema:
neither has messages. ranking_200k has 16 variants of different size, ranking_200k_one a single
constant shape."""


def measure_sizes(programs, options, say):
    """Cost per byte of ranking requests from 1 KB to 16 MB, one thread, the first allocator."""
    entries = []
    for size in options.size_list:
        say(f"sizes: {size:,} bytes")
        slices, request_bytes = interleaved(
            programs, options.modes, ["--ranking-bytes", str(size), *slice_arguments(options, 1)],
            options.allocators[0], options.rounds)
        for mode in options.modes:
            spent = median(tables.nanoseconds(one, tables.PHASES) for one in slices[mode])
            entries.append({"mode": mode, "allocator": options.allocators[0],
                            "request_bytes": request_bytes,
                            "ns_per_byte": round(spent / request_bytes, 3),
                            "to_heap": tables.ratio_of([slices], mode, tables.RATIOS[0])})
    say("")
    print(tables.size_table(entries), flush=True)
    return entries


def measure_tasks(programs, options, say):
    """tRPC-Cpp's own test: 4 threads, 500 tasks each, request and response of about 200 KB."""
    results = []
    modes = [mode for mode in options.modes if mode not in BOUNDS]
    print(f"\n{TASK_THREADS} threads x {options.tasks} tasks, request and response of ~200 KB "
          f"(the test of tRPC-Cpp's arena page), milliseconds")
    for allocator in [a for a in TASK_ALLOCATORS if a in options.allocators]:
        runs = {mode: [] for mode in modes}
        for number in range(options.runs):
            for mode in modes if number % 2 == 0 else reversed(modes):
                say(f"tasks, {allocator}, {mode}: run {number + 1} of {options.runs}")
                runs[mode].append(run_once(programs.of(mode), [
                    "--workload", TASK_WORKLOAD, "--threads", str(TASK_THREADS), "--modes", mode,
                    "--tasks", str(options.tasks), "--rounds", "1"], allocator)["milliseconds"]
                    [mode][0])
        say("")
        results += [{"allocator": allocator, "mode": mode,
                     "milliseconds": round(median(runs[mode]), 1),
                     "to_heap": round(median(own / base for own, base
                                             in zip(runs[mode], runs[BASELINE])), 3)}
                    for mode in modes]
        print(f"  {allocator}: " + ", ".join(
            f"{entry['mode']} {entry['milliseconds']:,.0f} ({entry['to_heap']:.2f})"
            for entry in results[-len(modes):]), flush=True)
    return results


def parse_arguments(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build/release", type=Path)
    parser.add_argument("--out", default="out/bench/messages.json", type=Path)
    parser.add_argument("--payloads", nargs="*", default=PAYLOADS, metavar="NAME",
                        help=f"default: {' '.join(PAYLOADS)}; without a name: leave them out")
    parser.add_argument("--modes", nargs="+", choices=MODES + BOUNDS, default=MODES + BOUNDS,
                        metavar="MODE", help=f"only heap and these, of: {' '.join(MODES + BOUNDS)}")
    parser.add_argument("--allocators", nargs="+", default=list(ALLOCATORS), metavar="NAME",
                        help=f"default: {' '.join(ALLOCATORS)}")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], metavar="N",
                        help="default: 1 2; several add a table of CPU and throughput by threads")
    parser.add_argument("--sizes", action="store_true",
                        help="also: cost per byte of ranking requests from 1 KB to 16 MB")
    parser.add_argument("--runs", type=int, default=3,
                        help="sets of processes per block (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in each (default 5)")
    parser.add_argument("--slice-ms", type=float, default=60,
                        help="how long a mode runs in a round (default 60)")
    parser.add_argument("--tasks", type=int, default=TASKS,
                        help=f"of tRPC-Cpp's test, per thread (default {TASKS}); 0 leaves it out")
    parser.add_argument("--quick", action="store_true",
                        help="glibc, one thread, two payloads, one run: a look in seconds")
    options = parser.parse_args(arguments)
    options.modes = [m for m in MODES + BOUNDS if m in options.modes or m == BASELINE]
    options.size_list = SIZES
    if options.quick:
        options.payloads, options.allocators = ["ranking_8k", "ranking_200k"], ["glibc"]
        options.threads, options.runs, options.tasks = [1], 1, 50
    return options


def main():
    """Runs it all; 0 when every number is there."""
    options = parse_arguments()
    results = {"limits": LIMITS, "rows": [], "ratios": [], "tasks": [], "sizes": []}
    try:
        programs = Programs.of_build(options.build_dir)
        print(LIMITS)
        for workload in options.payloads:
            rows, ratios = measure_blocks(programs, options, workload,
                                          ["--workload", workload], say)
            results["rows"] += rows
            results["ratios"] += ratios
        if options.tasks:
            results["tasks"] = measure_tasks(programs, options, say)
        if options.sizes:
            results["sizes"] = measure_sizes(programs, options, say)
    except (BenchError, AllocatorMissing) as error:
        print(f"bench-messages: {error}", file=sys.stderr)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\nwrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
