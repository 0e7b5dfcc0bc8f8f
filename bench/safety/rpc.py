#!/usr/bin/env python3
"""What each protection costs a whole RPC: the demo's gRPC servers with one protection after the other.

`make bench-safety-rpc`. Each (payload, mode, protection) is a server process of its own, on one core;
the loader calls it from another core, one call at a time. They take turns within each round, so that a
machine that changes its speed changes it for all; and each round has servers of its own, as where the
memory of a process happens to lie makes it faster or slower for its life. The table has the server's
CPU time per call without any protection, and what each one adds: the median over the rounds of the
ratio to the server without.
The second server without any shows how far chance alone goes.
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH / "demo"))
# pylint: disable=wrong-import-position
import stats  # noqa: E402
from plan import Cell  # noqa: E402
from servers import DemoError, Programs, load, running  # noqa: E402

from common.machine import OtherWork, cores, machine  # noqa: E402
from common.progress import Progress  # noqa: E402

PAYLOADS = {"ranking_8k": "8 KB", "ranking_200k": "200 KB"}
MODES = ("arena", "pages", "reuse", "codec")
# So often that what it costs stands out of the noise; the cost of a sample does not depend on it.
SAMPLED_ONE_IN = 10
DEFAULT_ONE_IN = 1000
# What sampling may cost a call.
SHARE_MAX = 0.005
# Limits that no call of the load comes near.
LIMITS = ("--request-bytes-max", 64 << 20, "--process-bytes-max", 1 << 30, "--depth-max", 64)
BUDGETS = (*LIMITS, "--decoded-ratio-max", 200)
LOADER_SECONDS = 0.7  # of its own around each slice, about
OFF, AGAIN, LIMITED, SAMPLED, HARDENED, ALL = (
    "off", "off again", "budgets", f"quarantine, 1 in {SAMPLED_ONE_IN}", "hardened", "all")
PROTECTIONS = {
    OFF: ("--quarantine-one-in", 0),
    AGAIN: ("--quarantine-one-in", 0),
    LIMITED: (*BUDGETS, "--quarantine-one-in", 0),
    SAMPLED: ("--quarantine-one-in", SAMPLED_ONE_IN),
    HARDENED: ("--hardened", "--quarantine-one-in", 0),
    ALL: (*BUDGETS, "--hardened", "--quarantine-one-in", DEFAULT_ONE_IN),
}
SHORT_NAMES = {"budgets": LIMITED, "quarantine": SAMPLED, "hardened": HARDENED, "all": ALL}


@dataclass(frozen=True)
class Place:
    """One server of the run."""

    payload: str
    mode: str
    protection: str


def more(cpu_us, of):
    """The share that a protection adds: the median over rounds. `cpu_us` is {protection: [a number
    per round]}."""
    return median(with_it / without for with_it, without in zip(cpu_us[of], cpu_us[OFF])) - 1


def one_in(share):
    """The smallest N so that sampling one call in N costs less than SHARE_MAX, when one in
    SAMPLED_ONE_IN adds `share`; 1 when it costs nothing that is seen."""
    return max(1, math.ceil(share * SAMPLED_ONE_IN / SHARE_MAX))


def row(payload, mode, cpu_us):
    """What the table says of one payload and mode."""
    shares = {name: more(cpu_us, name) for name in cpu_us if name != OFF}
    seen = {"payload": payload, "mode": mode, "off_us": median(cpu_us[OFF]), "more": shares, "cpu_us": cpu_us}
    if SAMPLED in shares:
        seen |= {"by_default": shares[SAMPLED] * SAMPLED_ONE_IN / DEFAULT_ONE_IN,
                 "one_in": one_in(shares[SAMPLED])}
    return seen


def table(rows):
    """The rows in Markdown, with "-" for what was not measured."""
    lines = [f"| payload, mode | off | {AGAIN} | {LIMITED} | {SAMPLED} | so 1 in {DEFAULT_ONE_IN} | "
             f"below {SHARE_MAX:.1%} from 1 in | {HARDENED} | {ALL} |", "|---|" + 8 * "--:|"]
    for one in rows:
        seen = {name: f"{one['more'][name]:+.1%}" if name in one["more"] else "-" for name in PROTECTIONS}
        by_default, one_in_n = (f"{one['by_default']:+.2%}", one["one_in"]) if "one_in" in one else ("-", "-")
        lines.append(
            f"| {PAYLOADS[one['payload']]}, {one['mode']} | {one['off_us']:,.0f} us | {seen[AGAIN]} | "
            f"{seen[LIMITED]} | {seen[SAMPLED]} | {by_default} | {one_in_n} | "
            f"{seen[HARDENED]} | {seen[ALL]} |")
    return "\n".join(lines)


def measure(programs, options, progress):
    """{place: [CPU time of a call in microseconds, one number a round]}"""
    cpus = cores()
    cpu_us = {}
    for payload in options.payloads:
        places = [Place(payload, mode, name) for mode in options.modes for name in options.protections]
        cpu_us.update({place: [] for place in places})
        for number in range(options.rounds + 1):
            # Another first one in each round, so that a drift of the machine favours nobody.
            for place in [*places[number % len(places):], *places[:number % len(places)]]:
                progress.step(f"{payload}, round {number} of {options.rounds}: {place.mode}, "
                              f"{place.protection}", options.slice_seconds)
                cell = Cell(payload, place.mode)
                with running(programs, [cell], cpus[0], [*map(str, PROTECTIONS[place.protection])]) as servers:
                    report = load(programs, servers[cell], cpus[1], in_flight=1, seconds=options.slice_seconds)
                if report["errors"]:
                    raise DemoError(f"{place}: {report['errors']} calls failed: {report['first_error']}")
                if number > 0:  # the first one warms up the machine
                    cpu_us[place].append(stats.cpu_us(report))
    return cpu_us


def rows_of(cpu_us):
    """The table's rows, in the order in which they were measured."""
    pairs = dict.fromkeys((place.payload, place.mode) for place in cpu_us)
    return [row(payload, mode, {place.protection: times for place, times in cpu_us.items()
                                if (place.payload, place.mode) == (payload, mode)})
            for payload, mode in pairs]


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build-dir", type=Path, default=BENCH.parent / "build/release", help="default: build/release")
    add("--out", type=Path, help="file for the results as JSON")
    add("--rounds", type=int, default=9, help="over all servers (9)")
    add("--slice-seconds", type=float, default=0.6, help="of each server and round (0.6)")
    add("--payloads", nargs="+", choices=PAYLOADS, default=list(PAYLOADS))
    add("--modes", nargs="+", choices=MODES, default=list(MODES))
    add("--only", choices=SHORT_NAMES, help="one protection alone, in less time or more rounds")
    options = parser.parse_args(arguments)
    options.protections = (OFF, AGAIN, SHORT_NAMES[options.only]) if options.only else tuple(PROTECTIONS)
    if options.rounds < 1 or options.slice_seconds <= 0:
        parser.error("--rounds and --slice-seconds want numbers above 0")
    return options


def main(arguments=None):
    """Prints the table; returns the exit code."""
    options = parse(arguments)
    servers = len(options.payloads) * len(options.modes) * len(options.protections)
    progress = Progress(servers * (options.rounds + 1) * (options.slice_seconds + LOADER_SECONDS))
    others = OtherWork()
    try:
        rows = rows_of(measure(Programs(options.build_dir), options, progress))
    except DemoError as error:
        print(f"bench-safety-rpc: {error}", file=sys.stderr)
        return 1
    progress.end()
    share = others.share()
    print(table(rows))
    print(f"\nServer's CPU time per call, {options.rounds} rounds. Others used {share:.0%} of the machine.")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({"rows": rows, "other_work_share": share, "rounds": options.rounds,
                                           "machine": machine(cores())}) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
