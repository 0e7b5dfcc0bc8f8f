#!/usr/bin/env python3
"""Installs the replay and replays a real feed with it, whole: from the .proto and captured files to
numbers, report and verdict."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODES = ["heap", "heap_clear", "arena", "pages", "reuse", "codec"]
FEED = (ROOT / "testdata/mbta-vehicle-positions.pb").read_bytes()


def varint(value):
    """A length as the wire has it."""
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A field of bytes."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def make_capture(folder):
    """Three good calls, one of another method, a message that is none, and a record that is cut off."""
    folder.mkdir(parents=True)
    method = b"/harena.bench.v1.DemoService/BoardFeed"
    board = field(1, b"2.0")
    records = [field(1, method) + field(2, FEED) + field(3, board),
               field(1, method) + field(2, FEED),
               field(1, b"/harena.bench.v1.DemoService/Rank")]
    stream = b"".join(varint(len(record)) + record for record in records)
    (folder / "live.harena-capture").write_bytes(stream + varint(1000) + b"cut")
    (folder / "one.req.bin").write_bytes(FEED)
    (folder / "one.resp.bin").write_bytes(board)
    (folder / "bad.req.bin").write_bytes(b"\x0a\x7f")


def install(args):
    """What users get, which compiles its own copies of the sources; the program."""
    prefix = args.work_dir / "prefix"
    environment = {key: value for key, value in os.environ.items() if key != "DESTDIR"}
    subprocess.run(["cmake", "--install", args.harena, "--component", "tools", "--prefix", prefix],
                   check=True, stdout=subprocess.DEVNULL, env=environment)
    return prefix / "share/harena/replay/bench/replay/run.py"


def replay(args, program, out, *more):
    """Runs it; its output."""
    command = [sys.executable, "-B", program, out.parent / "capture",
               "--proto", ROOT / "proto/harena/bench/v1/demo.proto", "-I", ROOT / "proto",
               "--harena", args.harena, "--protoc", args.protoc, "--cxx", args.cxx, "--jobs", "2",
               "--quick", "--rounds", "1", "--slice-ms", "5", "--out", out, *more]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)


def check(condition, what):
    """A failure ends the test."""
    if not condition:
        sys.exit(f"feed_test: {what}")


def main():
    """0 when everything is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--harena", type=Path, required=True)
    parser.add_argument("--work-dir", type=Path, required=True, help="is emptied first")
    parser.add_argument("--protoc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--codec-report", required=True, help="the program that says what this build's codec does")
    args = parser.parse_args()
    shutil.rmtree(args.work_dir, ignore_errors=True)
    make_capture(args.work_dir / "capture")
    out = args.work_dir / "out"
    program = install(args)

    done = replay(args, program, out, "--service-method", "/harena.bench.v1.DemoService/None")
    check(done.returncode == 1 and "--service-method" in done.stderr, f"unknown: {done.stderr}")

    done = replay(args, program, out)
    print(done.stdout, done.stderr)
    check(done.returncode == 0, "the replay failed")
    results = json.loads((out / "replay.json").read_text(encoding="utf-8"))
    said = subprocess.run([args.codec_report], check=True, capture_output=True, text=True).stdout
    has_codec = ", codec off," not in said
    modes = [mode for mode in MODES if has_codec or mode != "codec"]
    check([row["mode"] for row in results["rows"]] == modes, "a mode is missing")
    for row, ratio in zip(results["rows"], results["ratios"]):
        check(row["ns_per_request"] > 0 and row["cpu_ns_per_request"] > 0
              and ratio["to_heap"] > 0, f"no numbers of {row['mode']}")
    plan = results["plan"]
    check(plan["method"].endswith("/BoardFeed"), "the most frequent method was not taken")
    check((plan["captured"], plan["used"]["exchanges"], plan["used"]["with_response"]) == (5, 3, 2),
          f"counted otherwise: {plan}")
    check({problem["source"] for problem in plan["problems"]}
          == {"bad.req.bin", "live.harena-capture, record 4"}, f"problems: {plan['problems']}")
    types = results["types"]["codec"]
    check((types["request_codec"], types["response_codec"]) == (has_codec, has_codec), f"the codec: {types}, and {said}")
    page = (out / "report.html").read_text(encoding="utf-8")
    check(results["verdict"] and "bad.req.bin" in page, "the report lacks something")
    check(not list(out.rglob("exchanges.harena-capture")), "captured messages were left behind")


if __name__ == "__main__":
    main()
