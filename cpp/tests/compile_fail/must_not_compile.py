#!/usr/bin/env python3
"""Passes when the compiler refuses a case with HARENA_MUST_NOT_COMPILE, for the reason it states."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

EXPECTATION = re.compile(r"^// must-not-compile: (.+)$", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", type=Path, help="the .cc file")
    parser.add_argument("compile", nargs="+", help="compiler and flags, after --")
    args = parser.parse_args()
    expectation = EXPECTATION.search(args.case.read_text(encoding="utf-8"))
    if not expectation:
        print(f"{args.case}: say `// must-not-compile: <regular expression of the message>`")
        return 1
    command = [*args.compile, str(args.case)]
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    if plain.returncode != 0:
        print(f"{args.case} must compile as it is, but:\n{plain.stderr}")
        return 1
    mistake = subprocess.run([*command, "-DHARENA_MUST_NOT_COMPILE"], capture_output=True,
                             text=True, check=False)
    if mistake.returncode == 0:
        print(f"{args.case} compiles with HARENA_MUST_NOT_COMPILE: the API lets the mistake through")
        return 1
    if not re.search(expectation.group(1), mistake.stderr):
        print(f"{args.case} fails, but not with `{expectation.group(1)}`:\n{mistake.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
