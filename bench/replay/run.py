#!/usr/bin/env python3
"""What your own messages would cost under Harena: captured requests in every memory mode and under
every malloc.

Compiles the benchmark with the types of your .proto files, checks that all modes read and answer the
same, measures, and writes OUT/report.html and OUT/replay.json. docs/replay.md is the guide.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "messages")]

# pylint: disable=wrong-import-position
import build
import report
import verdict
from blocks import measure_blocks
from programs import BASELINE, MODES, BenchError
from common.allocators import ALLOCATORS, AllocatorMissing, library_of
from common.machine import cores, machine
from common.progress import say

LIMITS = """\
Limits: processes that do nothing but this, so caches and heap are warmer than in a service; no RPC,
and of the handler only the copying of the captured response into the response message, in `build`.
Medians over rounds in which the modes, each a process of its own, take turns; compare within a block
only. `arena` is protobuf's own arena, `heap_clear` is Clear()-reuse on the heap: neither holds a line
of Harena."""


def modes_of(wanted, stock, codec):
    """The modes that these types have, and why the others are left out."""
    left_out = {}
    if stock["why_not_reusable"]:
        left_out["reuse"] = f"messages of these types are not reused: {stock['why_not_reusable']}"
    if not codec["request_codec"] and not codec["response_codec"]:
        left_out["codec"] = ("neither type has a codec with this protobuf; servers would run mode "
                             "pages instead (docs/codec.md)")
    modes = [mode for mode in MODES if mode in wanted and mode not in left_out]
    return modes, [f"{mode}: {why}" for mode, why in left_out.items() if mode in wanted]


def answers_of(program, mode, arguments):
    """A digest of what a mode reads and answers."""
    digest = hashlib.sha256()
    with subprocess.Popen([str(program), "--answers", "--modes", mode, *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for block in iter(lambda: process.stdout.read(1 << 20), b""):
            digest.update(block)
        words = process.stderr.read().decode(errors="replace").strip()
    if process.returncode != 0:
        raise BenchError(f"mode {mode}: {words[-2000:]}")
    return digest.hexdigest()


def compare_answers(programs, modes, arguments):
    """Raises BenchError unless all modes read and answer what the heap does."""
    expected = answers_of(programs.of(BASELINE), BASELINE, arguments)
    for mode in modes:
        if answers_of(programs.of(mode), mode, arguments) != expected:
            raise BenchError(f"mode {mode} reads or answers otherwise than {BASELINE}: this is a bug "
                             "of Harena, please report it; nothing was measured")


def allocators_of(options):
    """Those that can be measured, and why others cannot; the one in use must be there."""
    found, left_out = [], []
    for name in dict.fromkeys([options.running_on, *options.allocators]):
        try:
            library_of(name)
            found.append(name)
        except AllocatorMissing as error:
            if name == options.running_on:
                raise
            left_out.append(str(error))
    return found, left_out


def told(plan):
    """What was chosen of the capture, as lines."""
    used, good = plan["used"], plan["good"]
    kind = plan["method"] or plan["request"]["name"]
    lines = [f"{kind}: {plan['captured']:,} captured, {good['exchanges']:,} of it and good, "
             f"{used['exchanges']:,} replayed"]
    if plan["response"] is None or not used["with_response"]:
        lines.append("Without responses: requests are parsed and ended; nothing is built and nothing "
                     "serialized")
    elif used["with_response"] < used["exchanges"]:
        lines.append(f"{used['exchanges'] - used['with_response']:,} of them have no response: those "
                     "are parsed and ended")
    if plan["problems"]:
        first = plan["problems"][0]
        lines.append(f"{len(plan['problems']):,} could not be used; the first: {first['source']}: "
                     f"{first['what']}")
    return lines


def measured(options, harena, folders, exchanges, left_out):
    """Chooses, compiles, compares and measures: (plan, types, rows, ratios, what was left out)."""
    work = exchanges.parent
    plan = build.prepare(harena, options, work / "descriptors.pb", exchanges)
    say("compiling the types, without and with the codec")
    programs = build.build_programs(harena, build.schemas_of(plan, folders), work / "build",
                                    options.cxx, options.jobs)
    stock, codec = build.types_of(programs.stock), build.types_of(programs.codec)
    options.modes, without = modes_of(options.modes, stock, codec)
    arguments = ["--exchanges", str(exchanges)]
    say("comparing the modes' answers")
    compare_answers(programs, options.modes, arguments)
    say("")
    left_out = left_out + without
    print("\n".join(told(plan) + left_out))
    print(LIMITS)
    rows, ratios = measure_blocks(programs, options, "replay", arguments, say)
    return plan, {"stock": stock, "codec": codec}, rows, ratios, left_out


def replay(options):
    """The whole run; the results as they are written."""
    allocators, left_out = allocators_of(options)
    options.allocators = allocators
    harena = build.Harena(options.harena) if options.harena else build.Harena.default()
    work = options.out / "work"
    work.mkdir(parents=True, exist_ok=True)
    folders = build.import_dirs(options.proto, options.import_dir)
    say("reading the capture")
    build.describe(options.protoc, options.proto, folders, work / "descriptors.pb")
    exchanges = (work / "exchanges.harena-capture").resolve()
    with os.fdopen(os.open(exchanges, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)):
        pass  # what was captured is nobody else's to read
    try:
        plan, types, rows, ratios, left_out = measured(options, harena, folders, exchanges, left_out)
    finally:
        if not options.keep:
            exchanges.unlink()
    facts = machine(cores())
    return {"limits": LIMITS, "plan": plan, "left_out": left_out, "types": types, "machine": facts,
            "running_on": options.running_on, "rounds": options.runs * options.rounds,
            "slice_ms": options.slice_ms, "rows": rows, "ratios": ratios,
            "verdict": verdict.sentences(rows, ratios, options.running_on)}


def parse_arguments(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(prog="harena replay", description=__doc__.splitlines()[0])
    parser.add_argument("capture", type=Path, metavar="CAPTURE",
                        help="a directory of *.harena-capture files, or of files with one message's "
                             "wire bytes each (NAME.req.bin with NAME.resp.bin); or one such file")
    parser.add_argument("--proto", nargs="+", type=Path, required=True, metavar="FILE",
                        help="your .proto files")
    parser.add_argument("-I", "--import-dir", action="append", type=Path, metavar="DIR",
                        help="where imports are found; default: beside the files")
    parser.add_argument("--service-method", metavar="/PKG.SERVICE/METHOD",
                        help="default: the method that the capture has most of")
    parser.add_argument("--request", metavar="PKG.MESSAGE", help="instead: the requests' type")
    parser.add_argument("--response", metavar="PKG.MESSAGE", help="and the responses'")
    parser.add_argument("--running-on", default="glibc", choices=list(ALLOCATORS),
                        help="the malloc that your service runs under (default glibc)")
    parser.add_argument("--allocators", nargs="+", default=list(ALLOCATORS), metavar="NAME",
                        choices=list(ALLOCATORS), help=f"default: {' '.join(ALLOCATORS)}")
    parser.add_argument("--modes", nargs="+", default=MODES, choices=MODES, metavar="MODE",
                        help=f"only heap and these, of: {' '.join(MODES)}")
    parser.add_argument("--threads", nargs="+", type=int, default=[1], metavar="N",
                        help="default: 1; several add a table of CPU and throughput by threads")
    parser.add_argument("--exchanges-max", type=int, default=256,
                        help="replay at most so many, evenly chosen (default 256)")
    parser.add_argument("--runs", type=int, default=3, help="sets of processes (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in each (default 5)")
    parser.add_argument("--slice-ms", type=float, default=60,
                        help="how long a mode runs in a round (default 60)")
    parser.add_argument("--out", type=Path, default=Path("out/replay"))
    parser.add_argument("--keep", action="store_true",
                        help="keep the chosen messages in OUT/work (they are removed otherwise)")
    parser.add_argument("--harena", type=Path, metavar="DIR",
                        help="a build of harena or the prefix where it is installed; default: the "
                             "one that this program is part of")
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--cxx", help="the compiler, where it is not to be CMake's choice")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="of the compilation")
    parser.add_argument("--quick", action="store_true",
                        help="the malloc in use alone, one run: a look in seconds")
    options = parser.parse_args(arguments)
    if options.response and not options.request:
        parser.error("--response needs --request")
    options.modes = [mode for mode in MODES if mode in options.modes or mode == BASELINE]
    if options.quick:
        options.allocators, options.threads, options.runs = [options.running_on], [1], 1
    return options


def main():
    """Runs it all; 0 when every number is there."""
    options = parse_arguments()
    try:
        results = replay(options)
        (options.out / "replay.json").write_text(json.dumps(results, indent=1) + "\n",
                                                 encoding="utf-8")
        (options.out / "report.html").write_text(report.html_page(results), encoding="utf-8")
    except (BenchError, AllocatorMissing, OSError) as error:
        say("")
        print(f"replay: {error}", file=sys.stderr)
        return 1
    print("\n" + "\n".join(results["verdict"]))
    print(f"\nwrote {options.out}/report.html and replay.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
