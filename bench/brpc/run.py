#!/usr/bin/env python3
"""The seeds' experiment: a real brpc server in every memory mode, side by side. `make bench-brpc`.

Each (mode, allocator) is a server process of its own on one core; the loader drives it from another
core at a fixed rate on an absolute schedule. The rate is what heap mode under glibc holds at 55 % of
its core. What brpc costs without messages is measured in the same rounds. Prints tables and writes
results.json and report.html, of the demo's shape. Ends with 1 if anything in the run was wrong.
"""

import argparse
import datetime
import json
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/demo"))

# pylint: disable=wrong-import-position
import beyond
import measure
import report
import stats
import table
from brpc_plan import DEFAULT, FULL, QUICK
from brpc_programs import BrpcPrograms
from plan import BASELINE
from servers import DemoError

from common.allocators import ALLOCATORS, AllocatorMissing, library_of
from common.machine import OtherWork, cores, machine
from common.page import ChartsMissing, chart_library
from common.progress import Progress

# Around a slice: the loader's start, its pool, one request of each size for warm-up.
SLICE_OVERHEAD_SECONDS = 0.9
SETUP_SECONDS = 15
MODES = ("heap", "brpc_arena", "pages", "reuse", "codec")


def estimated_seconds(plan):
    """About how long the run takes."""
    slices = len(plan.cells()) * plan.rounds
    counts = len(plan.counted("")) * (1.5 + plan.count_warm_up * 0.0025)
    return SETUP_SECONDS + slices * (plan.seconds + SLICE_OVERHEAD_SECONDS) + counts


def measure_all(programs, plan, cpus, progress):
    """Runs the plan; returns results.json's content."""
    description = programs.describe()
    others = OtherWork()
    slices = measure.measure_workload(programs, cpus, plan, plan.cells(), progress)
    counts = measure.count_allocations(programs, cpus, plan, progress)
    rows, comparisons = stats.summarise(slices, counts)
    problems = stats.problems(slices)
    other_work_share = others.share()
    cautions = stats.cautions(slices, other_work_share)
    # A quick run is a look at whether it all works: a busy machine does not make it fail.
    (cautions if plan.name == QUICK.name else problems).extend(stats.disturbances(slices))
    if not description["optimized"]:
        problems.append("the programs were built without optimisation")
    return {
        "rows": rows,
        "comparisons": comparisons,
        "beyond": beyond.entries(slices, counts),
        "problems": problems,
        "cautions": cautions,
        "run": {
            "kind": plan.name,
            "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "rounds": plan.rounds,
            "slice_seconds": {"every workload": plan.seconds},
            "go_slice_seconds": {},
            "left_out": [],
            "machine": {**machine(cpus), "other_work_share": round(other_work_share, 3)},
            "versions": description["versions"],
            "workloads": description["workloads"],
        },
    }


def plan_of(arguments, modes):
    """The plan that the command line asks for."""
    plan = FULL if arguments.full else QUICK if arguments.quick else DEFAULT
    if arguments.modes:
        modes = tuple(m for m in modes if m in arguments.modes or m == BASELINE)
    allocators = plan.allocators
    if arguments.allocators:
        allocators = tuple(dict.fromkeys(["glibc", *arguments.allocators]))
    return replace(plan, modes=modes, allocators=allocators,
                   rounds=arguments.rounds or plan.rounds,
                   seconds=arguments.slice_seconds or plan.seconds)


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="about a minute, two allocators")
    size.add_argument("--full", action="store_true",
                      help="four allocators, ten rounds of ten seconds: an hour")
    parser.add_argument("--modes", nargs="+", choices=MODES, metavar="MODE",
                        help=f"only heap and these, of: {', '.join(MODES)}")
    parser.add_argument("--allocators", nargs="+", choices=list(ALLOCATORS), metavar="NAME",
                        help=f"glibc and these, of: {', '.join(ALLOCATORS)}")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often every cell is loaded")
    parser.add_argument("--slice-seconds", type=float, metavar="S", help="for how long each time")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/release",
                        help="where the programs were built (default: build/release)")
    parser.add_argument("--out", type=Path, default=ROOT / "out/bench-brpc",
                        help="where results.json and report.html go (default: out/bench-brpc)")
    return parser.parse_args(arguments)


def write(results, folder):
    """Writes results.json and report.html."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "report.html").write_text(report.html_page(results), encoding="utf-8")


def show(results, folder):
    """Prints the tables and where the files are; returns the exit code."""
    print(table.terminal(results))
    print(f"\nreport: {folder / 'report.html'}\nrows:   {folder / 'results.json'}")
    for caution in results["cautions"]:
        print(f"caution: {caution}", file=sys.stderr)
    for problem in results["problems"]:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if results["problems"] else 0


def main():
    """Measures; returns the exit code."""
    arguments = parse()
    try:
        chart_library()
        programs = BrpcPrograms(arguments.build_dir)
        plan = plan_of(arguments, programs.modes())
        for allocator in plan.allocators:
            library_of(allocator)
        cpus = cores()
        if cpus[0] == cpus[1]:
            print("only one core may be used: server and loader share it, so the latencies "
                  "include the loader's work", file=sys.stderr)
        progress = Progress(estimated_seconds(plan))
        results = measure_all(programs, plan, cpus, progress)
        progress.end()
        write(results, arguments.out)
        return show(results, arguments.out)
    except (DemoError, AllocatorMissing, ChartsMissing) as error:
        print(f"bench-brpc: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbench-brpc: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
