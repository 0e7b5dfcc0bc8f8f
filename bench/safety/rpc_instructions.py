#!/usr/bin/env python3
"""How many instructions limits add to a whole RPC, per payload and mode: the demo's gRPC servers under valgrind.

`make bench-safety-rpc-instructions`. The limits are those of bench-safety-rpc, without and with decoded_ratio_max.
Each case is two runs of a server under callgrind, one with more calls, so that its start drops out; what is left is
what the server's own code and its libraries do for a call, in instructions. The system's part of a call is not seen,
so the shares are of less than the whole. Instructions are no time, but they are almost the same on a machine that
others use; the second server without limits of each mode says how far that goes.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH / "demo"))
# pylint: disable=wrong-import-position
import rpc  # noqa: E402
from instructions import callgrind, counted  # noqa: E402
from plan import Cell  # noqa: E402
from servers import DemoError, Programs, Server, load  # noqa: E402

from common.machine import cores  # noqa: E402
from common.progress import Progress  # noqa: E402

# Few calls and many; large ones take valgrind longer.
CALLS = {"ranking_8k": (200, 1200), "ranking_200k": (50, 250)}
# Without a quarantine, whose samples would be luck.
LIMITED, RATIO = "limits", "and a ratio"
CASES = {
    rpc.OFF: rpc.PROTECTIONS[rpc.OFF],
    rpc.AGAIN: rpc.PROTECTIONS[rpc.OFF],
    LIMITED: (*rpc.LIMITS, *rpc.PROTECTIONS[rpc.OFF]),
    RATIO: (*rpc.BUDGETS, *rpc.PROTECTIONS[rpc.OFF]),
}
RUN_SECONDS = 8  # about


def per_call(few, many):
    """Instructions of one call, of two runs' (instructions, calls)."""
    return (many[0] - few[0]) / (many[1] - few[1])


def instructions(programs, cell, flags, calls, cpus):
    """(instructions, calls) of one whole run of a server."""
    with tempfile.TemporaryDirectory() as folder:
        under = [*callgrind(folder), "--fair-sched=yes"]
        server = Server(programs, cell, cpus[0], options=[*map(str, flags)], under=under)
        try:
            # The loader's timed part is as short as can be, and counted like the rest.
            report = load(programs, server, cpus[1], in_flight=1, seconds=0.001, warm_up=calls)
        finally:
            code, words = server.end()
    if report["errors"]:
        raise DemoError(f"{cell.workload}, {cell.mode}: {report['errors']} calls failed: {report['first_error']}")
    total = counted(words)
    if code != 0 or total is None:
        raise DemoError(f"{cell.workload}, {cell.mode}: valgrind counted nothing (exit code {code}). {words[-2000:]}")
    return total, calls + report["requests"]


def line(payload, mode, counts):
    """One line of the table, of {case: instructions of a call}."""
    shares = " | ".join(f"{counts[case] / counts[rpc.OFF] - 1:+.1%}" for case in CASES if case != rpc.OFF)
    return f"| {rpc.PAYLOADS[payload]}, {mode} | {counts[rpc.OFF]:,.0f} | {shares} |"


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build-dir", type=Path, default=BENCH.parent / "build/release", help="default: build/release")
    add("--out", type=Path, help="file for the results as JSON")
    add("--payloads", nargs="+", choices=rpc.PAYLOADS, default=list(rpc.PAYLOADS))
    add("--modes", nargs="+", choices=rpc.MODES, default=list(rpc.MODES))
    add("--request-bytes-max", type=int, help="another limit than that of bench-safety-rpc")
    return parser.parse_args(arguments)


def with_request_limit(flags, request_bytes_max):
    """The flags with another request_bytes_max, where they have one and another is asked for."""
    if request_bytes_max is None or "--request-bytes-max" not in flags:
        return flags
    at = flags.index("--request-bytes-max") + 1
    return (*flags[:at], request_bytes_max, *flags[at + 1:])


def main(arguments=None):
    """Prints the table; returns the exit code."""
    options = parse(arguments)
    results = []
    progress = Progress(2 * RUN_SECONDS * len(options.payloads) * len(options.modes) * len(CASES))
    try:
        programs, cpus = Programs(options.build_dir), cores()
        lines = [f"| payload, mode | instructions of a call | {rpc.AGAIN} | {LIMITED} | {RATIO} |",
                 "|---|" + 4 * "--:|"]
        for payload in options.payloads:
            for mode in options.modes:
                counts = {}
                for case, flags in CASES.items():
                    progress.step(f"{payload}, {mode}: {case}", 2 * RUN_SECONDS)
                    all_flags = with_request_limit(flags, options.request_bytes_max)
                    runs = [instructions(programs, Cell(payload, mode), all_flags, calls, cpus)
                            for calls in CALLS[payload]]
                    counts[case] = per_call(*runs)
                results.append({"payload": payload, "mode": mode, "instructions": counts})
                lines.append(line(payload, mode, counts))
    except DemoError as error:
        print(f"bench-safety-rpc-instructions: {error}", file=sys.stderr)
        return 1
    progress.end()
    print("\n".join(lines))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(results) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
