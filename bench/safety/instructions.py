#!/usr/bin/env python3
"""How many instructions a request's limits add to parsing it, per request and mode.

`make bench-budgets-instructions`: runs each case of pb_budget_bench under valgrind's callgrind twice, once with
more iterations, so that what the program does besides drops out. Instructions are no time, but they are the same
on a machine that others use, where times differ by more than what limits cost.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REQUESTS = ("160kb_parts", "180kb_noise", "160kb_struct", "160kb_blob", "small")
MODES = ("arena", "pages", "codec")
ITERATIONS = 4, 12  # few and many
ITERATIONS_OF_SMALL = 200, 1200
COLLECTED = re.compile(r"Collected : (\d+)")


def callgrind(folder):
    """The command to run a program under, which leaves its files in `folder`."""
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]


def counted(words):
    """The instructions of which callgrind tells at the end of a run; None where it does not."""
    found = COLLECTED.search(words)
    return int(found[1]) if found else None


def instructions(program, case, iterations):
    """Of a whole run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*callgrind(folder), str(program), f"--benchmark_filter=^ParseRequest/{case}/"],
            env={**os.environ, "HARENA_BENCH_ITERATIONS": str(iterations)}, capture_output=True, text=True, check=False)
    collected = counted(done.stderr)
    if done.returncode != 0 or collected is None or f"{case}/iterations:{iterations}" not in done.stdout:
        sys.exit(f"{case}: valgrind counted nothing\n{done.stdout}{done.stderr}")
    return collected


def per_parse(program, request, mode, limit):
    """Instructions of one parse."""
    few, many = ITERATIONS_OF_SMALL if request == "small" else ITERATIONS
    case = f"{request}_{mode}_{limit}"
    return (instructions(program, case, many) - instructions(program, case, few)) / (many - few)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--requests", nargs="+", choices=REQUESTS, default=list(REQUESTS))
    options = parser.parse_args()
    program = options.build_dir / "cpp/harena/pb/pb_budget_bench"
    print("| request, mode | without a limit | 400 times its need | 4 times |\n|---|--:|--:|--:|")
    for request in options.requests:
        for mode in MODES:
            none, far, near = (per_parse(program, request, mode, limit)
                               for limit in ("unlimited", "400_times", "4_times"))
            print(f"| {request}, {mode} | {none:,.0f} | {far / none - 1:+.1%} | {near / none - 1:+.1%} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
