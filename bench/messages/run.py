#!/usr/bin/env python3
"""What a request's messages cost in each memory mode, under each malloc: `make bench-messages`.

Runs harena_bench_messages for every payload, allocator and thread count, several times over in turn,
prints tables of medians with ratios to the heap, and writes out/bench/messages.json.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common.allocators import ALLOCATORS, AllocatorMissing, library_of  # noqa: E402

PAYLOADS = ["ranking_8k", "ranking_200k", "ranking_200k_one", "trips", "vehicles", "tile"]
PHASES = ["parse", "build", "serialize", "destroy"]
BASELINE = "heap"
TASK_WORKLOAD, TASK_THREADS, TASKS = "ranking_200k_one", 4, 500
TASK_ALLOCATORS = ["glibc", "tcmalloc"]

LIMITS = """\
Limits: one process that does nothing else, so caches and heap are warmer and less fragmented than
in a service; a buffer for the response that is there already; the handlers of bench/workloads, whose
own work is in `build`. Medians over rounds that take the modes in turn; compare within a block only.
`arena` is protobuf's own arena, `heap_clear` is Clear()-reuse on the heap: neither holds a line of
Harena. ranking_200k has 16 variants of different size, ranking_200k_one a single constant shape."""


class BenchError(Exception):
    """Something the reader can mend; the message says how."""


def run_program(program, arguments, allocator="glibc", preload=(), environment=None):
    """One run of the program; its JSON."""
    libraries = [*preload, *filter(None, [library_of(allocator)])]
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | (environment or {})
    if libraries:
        env["LD_PRELOAD"] = ":".join(map(str, libraries))
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, env=env,
                          check=False)
    if done.returncode != 0:
        raise BenchError(f"{program.name} {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def median_phases(runs, mode):
    """Median over all rounds of all runs, phase by phase, and of the whole."""
    rounds = [phases for run in runs for phases in run["phases_ns"][mode]]
    phases = {name: median(r[name] for r in rounds) for name in PHASES}
    return phases, median(sum(r.values()) for r in rounds)


def rows_of(workload, allocator, threads, runs, counts):
    """The result rows of one block, and the median ratio of each mode to the heap round by round."""
    rows, ratios = [], {}
    modes = list(runs[0]["phases_ns"])
    for mode in sorted(modes, key=lambda m: (m != BASELINE, m)):
        phases, total = median_phases(runs, mode)
        rows.append({"workload": workload, "mode": mode, "allocator": allocator,
                     "threads": threads, "ns_per_request": round(total, 1),
                     "phases_ns": {name: round(value, 1) for name, value in phases.items()},
                     "heap_allocs_per_request": counts[mode]})
        # Round by round: neighbours in time share the machine's mood.
        ratios[mode] = median(sum(own.values()) / sum(base.values())
                              for run in runs
                              for own, base in zip(run["phases_ns"][mode],
                                                   run["phases_ns"][BASELINE]))
    return rows, ratios


def print_block(workload, allocator, threads, rows, ratios):
    """One block of the table."""
    print(f"\n{workload}, {allocator}, {threads} thread{'s' if threads > 1 else ''}")
    print(f"  {'mode':<11}{'us/request':>11}{'to heap':>9}" +
          "".join(f"{name:>11}" for name in PHASES) + f"{'allocs':>9}")
    for row in rows:
        print(f"  {row['mode']:<11}{row['ns_per_request'] / 1000:>11.1f}"
              f"{ratios[row['mode']]:>9.2f}" +
              "".join(f"{row['phases_ns'][name] / 1000:>11.1f}" for name in PHASES) +
              f"{row['heap_allocs_per_request']:>9,.0f}")


def measure(program, options, say):
    """All blocks: payload x threads, each over the allocators in turn."""
    rows, ratios = [], []
    for workload in options.payloads:
        with tempfile.TemporaryDirectory() as folder:
            counts = run_program(program, ["--workload", workload, "--count"],
                                 preload=[options.counter],
                                 environment={"HARENA_ALLOC_COUNT_FILE": f"{folder}/count"}
                                 )["heap_allocs_per_request"]
        for threads in options.threads:
            runs = {allocator: [] for allocator in options.allocators}
            for number in range(options.runs):
                for allocator in options.allocators:
                    say(f"{workload}, {threads} thread(s), {allocator}: run {number + 1} of "
                        f"{options.runs}")
                    runs[allocator].append(run_program(
                        program, ["--workload", workload, "--threads", str(threads),
                                  "--rounds", str(options.rounds),
                                  "--slice-ms", str(options.slice_ms)], allocator))
            say("")
            for allocator in options.allocators:
                block, ratio = rows_of(workload, allocator, threads, runs[allocator], counts)
                print_block(workload, allocator, threads, block, ratio)
                rows += block
                ratios += [{"workload": workload, "allocator": allocator, "threads": threads,
                            "mode": mode, "to_heap": round(value, 3)}
                           for mode, value in ratio.items()]
    return rows, ratios


def measure_tasks(program, options, say):
    """tRPC-Cpp's own test: 4 threads, 500 tasks each, request and response of about 200 KB."""
    results = []
    print(f"\n{TASK_THREADS} threads x {options.tasks} tasks, request and response of ~200 KB "
          f"(the test of tRPC-Cpp's arena page), milliseconds")
    for allocator in [a for a in TASK_ALLOCATORS if a in options.allocators]:
        runs = []
        for number in range(options.runs):
            say(f"tasks, {allocator}: run {number + 1} of {options.runs}")
            runs.append(run_program(program, [
                "--workload", TASK_WORKLOAD, "--threads", str(TASK_THREADS),
                "--tasks", str(options.tasks), "--rounds", "1"], allocator)["milliseconds"])
        say("")
        print(f"  {allocator}: " + ", ".join(
            f"{mode} {median(run[mode][0] for run in runs):,.0f} "
            f"({median(run[mode][0] / run[BASELINE][0] for run in runs):.2f})" for mode in runs[0]))
        results += [{"allocator": allocator, "mode": mode,
                     "milliseconds": round(median(run[mode][0] for run in runs), 1),
                     "to_heap": round(median(run[mode][0] / run[BASELINE][0] for run in runs), 3)}
                    for mode in runs[0]]
    return results


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build/release", type=Path)
    parser.add_argument("--out", default="out/bench/messages.json", type=Path)
    parser.add_argument("--payloads", nargs="+", default=PAYLOADS, metavar="NAME",
                        help=f"default: {' '.join(PAYLOADS)}")
    parser.add_argument("--allocators", nargs="+", default=list(ALLOCATORS), metavar="NAME",
                        help=f"default: {' '.join(ALLOCATORS)}")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--runs", type=int, default=3, help="processes per block (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in each (default 5)")
    parser.add_argument("--slice-ms", type=float, default=60)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--quick", action="store_true",
                        help="glibc, one thread, two payloads, one run: a look in seconds")
    options = parser.parse_args()
    if options.quick:
        options.payloads, options.allocators = ["ranking_8k", "ranking_200k"], ["glibc"]
        options.threads, options.runs, options.tasks = [1], 1, 50
    options.counter = (options.build_dir / "bench/tools/libharena_alloc_count.so").resolve()
    return options


def main():
    """Runs it all; 0 when every number is there."""
    options = parse_arguments()
    program = (options.build_dir / "bench/messages/harena_bench_messages").resolve()
    progress = sys.stderr.isatty()

    def say(text):
        if progress:
            print(f"\r{text:<78}\r", end="", file=sys.stderr, flush=True)
        elif text:
            print(text, file=sys.stderr, flush=True)

    try:
        for needed in (program, options.counter):
            if not needed.exists():
                raise BenchError(f"{needed} is missing: build first (make build), or name the "
                                 "build with --build-dir")
        print(LIMITS)
        rows, ratios = measure(program, options, say)
        tasks = measure_tasks(program, options, say)
    except (BenchError, AllocatorMissing) as error:
        print(f"bench-messages: {error}", file=sys.stderr)
        return 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"limits": LIMITS, "rows": rows, "ratios": ratios,
                                       "tasks": tasks}, indent=1) + "\n")
    print(f"\nwrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
