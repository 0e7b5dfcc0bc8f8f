#!/usr/bin/env python3
"""The main job: one gRPC service on real input, in every memory mode, side by side, in C++ and Go.

Each (mode, workload, allocator) is a server process of its own on one core; the loader drives it
from another core at a fixed rate on an absolute schedule. Prints a table for each workload and
writes results.json and report.html. Ends with 1 if anything in the run was wrong.
"""

import argparse
import datetime
import json
import sys
from dataclasses import replace
from pathlib import Path

import go_programs
import measure
import report
import stats
import table
from plan import BASELINE, DEFAULT, FULL, QUICK, SLICE_WEIGHTS
from servers import DemoError, Programs

from common.allocators import ALLOCATORS, AllocatorMissing, library_of
from common.gotool import GoMissing
from common.machine import OtherWork, cores, machine
from common.page import ChartsMissing, chart_library
from common.progress import Progress

ROOT = Path(__file__).resolve().parents[2]
# Around a slice: the loader's start, its own answers to compare with, warm-up.
SLICE_OVERHEAD_SECONDS = 0.7


def estimated_seconds(plan):
    """About how long the run takes."""
    slices = sum(len(plan.cells(w)) for w in plan.workloads) * plan.rounds
    total = plan.load_seconds + slices * SLICE_OVERHEAD_SECONDS + len(plan.workloads) * 4
    total += len(plan.workloads) * len(plan.modes) * 1.5
    total += go_seconds(plan)
    if plan.saturation:
        per_mode = 2 + plan.rounds * (plan.saturation_seconds + 1) + plan.burst_seconds
        total += len(plan.modes) * per_mode + plan.idle_seconds
    return total


def go_seconds(plan):
    """What of that the Go servers take."""
    if not plan.go_modes:
        return 0
    slices = sum(len(plan.go_cells(w)) for w in plan.workloads) * plan.rounds
    total = plan.go_load_seconds + slices * SLICE_OVERHEAD_SECONDS + len(plan.workloads) * 4
    # Counting allocations, and the over-budget request.
    return total + len(plan.workloads) * len(plan.go_modes) * 1.5 + len(plan.go_modes) * 2


def measure_all(programs, plan, cpus, progress, left_out=()):
    """Runs the plan; returns results.json's content. `left_out` says what is missing, in
    sentences."""
    description = programs.describe()
    versions = dict(description["versions"])
    if plan.go_modes:
        versions.update(programs.go.versions())
    slices = {}
    others = OtherWork()
    for workload in plan.workloads:
        for cells in plan.suites(workload):
            slices.update(measure.measure_workload(programs, cpus, plan, cells, progress))
    counts = measure.count_allocations(programs, cpus, plan, progress)
    rows, comparisons = stats.summarise(slices, counts)
    problems = stats.problems(slices)
    other_work_share = others.share()
    cautions = stats.cautions(slices, other_work_share)
    # A quick run is a look at whether it all works: a busy machine does not make it fail.
    (cautions if plan.name == QUICK.name else problems).extend(stats.disturbances(slices))
    over_budget, more = measure.measure_over_budget(programs, cpus, plan, progress)
    problems += more
    saturation = None
    if plan.saturation:
        saturation, more = measure.measure_saturation(programs, cpus, plan, progress)
        problems += [f"saturation: {problem}" for problem in more]
    if not description["optimized"]:
        problems.append("the programs were built without optimisation")
    return {
        "rows": rows,
        "comparisons": comparisons,
        "saturation": saturation,
        "over_budget": over_budget,
        "problems": problems,
        "cautions": cautions,
        "run": {
            "kind": plan.name,
            "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "rounds": plan.rounds,
            "slice_seconds": {w: round(plan.slice_seconds(w), 2) for w in plan.workloads},
            "go_slice_seconds": {w: round(plan.slice_seconds(w, "Go"), 2)
                                 for w in plan.workloads if plan.go_modes},
            "left_out": list(left_out),
            "machine": {**machine(cpus), "other_work_share": round(other_work_share, 3)},
            "versions": versions,
            "workloads": [w for w in description["workloads"] if w["workload"] in plan.workloads],
        },
    }


def write(results, folder):
    """Writes results.json and report.html."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "report.html").write_text(report.html_page(results), encoding="utf-8")


def show(results, folder):
    """Prints the tables and where the files are; returns the exit code."""
    print(table.terminal(results))
    print("\nallocs: heap allocations per request. busy: the server's share of its core. "
          "Ratios are medians over rounds.")
    for sentence in results["run"]["left_out"]:
        print(f"left out: {sentence}")
    print(f"report: {folder / 'report.html'}\nrows:   {folder / 'results.json'}")
    for caution in results["cautions"]:
        print(f"caution: {caution}", file=sys.stderr)
    for problem in results["problems"]:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if results["problems"] else 0


def plan_of(arguments, modes, go_modes=()):
    """The plan that the command line asks for. `modes` are those of the C++ server; `go_modes`
    those of the Go server, none when there is no Go."""
    plan = FULL if arguments.full else QUICK if arguments.quick else DEFAULT
    if arguments.modes:
        known = dict.fromkeys([*modes, *go_modes])
        unknown = set(arguments.modes) - set(known)
        if unknown:
            raise DemoError(f"no mode named {', '.join(sorted(unknown))}; there are: "
                            f"{', '.join(known)}")
        modes = tuple(m for m in modes if m in arguments.modes or m == BASELINE)
        go_modes = tuple(m for m in go_modes if m in arguments.modes or m == BASELINE)
    plan = replace(plan, modes=modes, go_modes=go_modes,
                   saturation=plan.saturation or arguments.saturation,
                   idle_seconds=arguments.idle_seconds)
    if arguments.workloads:
        share = sum(SLICE_WEIGHTS[w] for w in arguments.workloads)
        share /= sum(SLICE_WEIGHTS[w] for w in plan.workloads)
        plan = replace(plan, workloads=tuple(arguments.workloads),
                       load_seconds=plan.load_seconds * share,
                       go_load_seconds=plan.go_load_seconds * share)
    if arguments.allocators:
        names = tuple(dict.fromkeys(["glibc", *arguments.allocators]))
        share = len(names) / len(plan.allocators)
        plan = replace(plan, allocators=names, load_seconds=plan.load_seconds * share)
    return plan


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true",
                      help="two workloads, at most a minute per language")
    size.add_argument("--full", action="store_true",
                      help="all workloads, four allocators and the saturation section")
    parser.add_argument("--saturation", action="store_true",
                        help="add 4 calls in flight, a burst of 32 and a minute of idling")
    parser.add_argument("--idle-seconds", type=float, default=60, metavar="S",
                        help="how long to idle after the burst (default: 60)")
    parser.add_argument("--workloads", nargs="+", choices=list(SLICE_WEIGHTS), metavar="NAME",
                        help=f"only these, of: {', '.join(SLICE_WEIGHTS)}")
    parser.add_argument("--modes", nargs="+", metavar="MODE", help="only heap and these")
    parser.add_argument("--no-go", action="store_true", help="leave the Go servers out")
    parser.add_argument("--allocators", nargs="+", choices=list(ALLOCATORS), metavar="NAME",
                        help=f"of: {', '.join(ALLOCATORS)}")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/release",
                        help="where the programs were built (default: build/release)")
    parser.add_argument("--out", type=Path, default=ROOT / "out/demo",
                        help="where results.json and report.html go (default: out/demo)")
    parser.add_argument("--report-only", action="store_true",
                        help="write report.html again from an earlier results.json")
    return parser.parse_args(arguments)


def with_go(arguments):
    """The Go programs, or None and why they are left out, as a list of sentences."""
    if arguments.no_go:
        return None, ["Go, because of --no-go."]
    try:
        return go_programs.prepare(arguments.build_dir.parent / "go-demo"), []
    except GoMissing as missing:
        print(f"Go is missing, so the Go servers are left out and C++ runs alone: {missing}",
              file=sys.stderr)
        return None, [f"Go, because there is no toolchain: {missing}"]


def main():
    """Runs the demo; returns the exit code."""
    arguments = parse()
    try:
        chart_library()
        if arguments.report_only:
            results = json.loads((arguments.out / "results.json").read_text(encoding="utf-8"))
        else:
            go, left_out = with_go(arguments)
            programs = Programs(arguments.build_dir, go)
            plan = plan_of(arguments, programs.modes(), go.modes() if go else ())
            for allocator in plan.allocators:
                library_of(allocator)
            cpus = cores()
            if cpus[0] == cpus[1]:
                print("only one core may be used: server and loader share it, so the latencies "
                      "include the loader's work", file=sys.stderr)
            progress = Progress(estimated_seconds(plan))
            results = measure_all(programs, plan, cpus, progress, left_out)
            progress.end()
        write(results, arguments.out)
        return show(results, arguments.out)
    except (DemoError, AllocatorMissing, ChartsMissing) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
