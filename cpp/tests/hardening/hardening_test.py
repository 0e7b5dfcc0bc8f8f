#!/usr/bin/env python3
"""Holds the hardening flags: asks the compile commands, the shipped files and a program that breaks.

  compile commands   every source of a shipped library or program was compiled with each wanted flag
  libraries          each object has a stack that cannot be executed and, where wanted, the mark for the
                     shadow stack; the libraries call the stack protector
  programs           position independent, all relocations read-only before main(), no segment that
                     may be written and executed
  the probe          says what it was compiled with, and dies when it writes past a buffer
"""

import argparse
import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

# The flag of each protection, and the words of which the last on a command line counts.
FLAGS = {
    "stack-protector": (re.compile(r"-fstack-protector(-strong|-all)$"), re.compile(r"-f(no-)?stack-protector\b")),
    "fortify": (re.compile(r"-D_FORTIFY_SOURCE=[23]$"), re.compile(r"-[DU]_FORTIFY_SOURCE\b")),
}
# Harena's own exceptions: harena_harden_lightly() in cmake/HarenaHardening.cmake.
LIGHTLY = {"cpp/harena/pb/codec/read.cc", "cpp/harena/pb/arena/string_buffers.cc"}
# What the probe says of itself at compile time.
SAID_BY_PROBE = {"stack-protector", "cf-protection", "fortify", "pie"}


def output(*command) -> str:
    """What a command prints, in English."""
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    return subprocess.run([str(word) for word in command], check=True, text=True, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def is_archive(path: Path) -> bool:
    return path.suffix == ".a"


def compile_commands(build: Path, shipped: list[Path]) -> dict[str, list[list[str]]]:
    """The commands of each shipped file's own sources, by the file's name."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found: dict[str, list[list[str]]] = {}
    for path in shipped:
        target = path.name.removeprefix("lib").removesuffix(".a")
        found[path.name] = [shlex.split(entry["command"]) for entry in entries
                            if f"/CMakeFiles/{target}.dir/" in entry["command"]]
    return found


def has_flag(command: list[str], protection: str) -> bool:
    flag, counts = FLAGS[protection]
    last = next((word for word in reversed(command) if counts.match(word)), "")
    light = protection == "stack-protector" and any(command[-1].endswith(f"/{name}") for name in LIGHTLY)
    return flag.match(last) is not None or (light and last == "-fstack-protector")


def check_commands(build: Path, shipped: list[Path], wanted: set[str]) -> list[str]:
    problems = []
    for name, commands in compile_commands(build, shipped).items():
        if not commands:
            problems.append(f"{name}: no compile command is known of it")
        for command in commands:
            missing = [flag for flag in sorted(wanted & FLAGS.keys()) if not has_flag(command, flag)]
            if missing:
                problems.append(f"{name}: {command[-1]} was compiled without {', '.join(missing)}")
    return problems


def check_archive(path: Path, wanted: set[str]) -> list[str]:
    problems = []
    objects = re.split(r"^File: ", output("readelf", "-W", "-S", "-n", path), flags=re.MULTILINE)[1:]
    if not objects:
        return [f"{path.name}: no object in it"]
    for text in objects:
        name = text.split("\n", 1)[0]
        stack = re.search(r"\.note\.GNU-stack +PROGBITS +\S+ +\S+ +\S+ +\S+ +(\S*)", text)
        if not stack or "X" in stack.group(1):
            problems.append(f"{name}: asks for a stack that can be executed")
        if "cf-protection" in wanted and not re.search(r"x86 feature:.*SHSTK", text):
            problems.append(f"{name}: no mark for the shadow stack")
    return problems


def calls_stack_protector(path: Path) -> bool:
    return "__stack_chk_fail" in output("readelf", "-W", "-s", path)


def check_program(path: Path, wanted: set[str]) -> list[str]:
    text = output("readelf", "-W", "-h", "-l", "-d", path)
    facts = {
        "pie": bool(re.search(r"Type: +DYN", text) and re.search(r"FLAGS_1\).*\bPIE\b", text)),
        "relro": "GNU_RELRO" in text,
        "now": bool(re.search(r"\(BIND_NOW\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", text)),
        "noexecstack": bool(re.search(r"GNU_STACK +(\S+ +){5}RW +", text)),
        "stack-protector": calls_stack_protector(path),
    }
    problems = [f"{path.name}: {fact} is missing" for fact, holds in facts.items()
                if fact in wanted and not holds]
    if re.search(r"LOAD +(\S+ +){5}RWE", text):
        problems.append(f"{path.name}: a segment may be written and executed")
    if "(TEXTREL)" in text:
        problems.append(f"{path.name}: its code is changed while it is loaded")
    return problems


def check_probe(probe: Path, wanted: set[str]) -> list[str]:
    said = set(output(probe).split())
    problems = [f"{probe.name}: compiled without {flag}" for flag in sorted((wanted & SAID_BY_PROBE) - said)]
    for what, flag, message in (("stack", "stack-protector", "stack smashing detected"),
                                ("fortify", "fortify", "buffer overflow detected")):
        if flag not in wanted:
            continue
        done = subprocess.run([probe, what], text=True, capture_output=True, check=False)
        if done.returncode != -signal.SIGABRT or message not in done.stderr:
            problems.append(f"{probe.name} {what}: ended with {done.returncode} and {done.stderr!r}, "
                            f"not stopped with {message!r}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--probe", type=Path, required=True)
    parser.add_argument("--wanted", nargs="+", required=True)
    parser.add_argument("--shipped", type=Path, nargs="+", required=True)
    args = parser.parse_args()
    wanted = set(args.wanted)
    problems = check_commands(args.build_dir, args.shipped, wanted)
    for path in args.shipped:
        problems += check_archive(path, wanted) if is_archive(path) else check_program(path, wanted)
    # A small library may have no function that needs it.
    archives = [path for path in args.shipped if is_archive(path)]
    if "stack-protector" in wanted and not any(map(calls_stack_protector, archives)):
        problems.append("no library calls the stack protector")
    problems += check_program(args.probe, wanted) + check_probe(args.probe, wanted)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"hardening: {len(args.shipped)} files with {', '.join(sorted(wanted))}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
