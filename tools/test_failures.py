#!/usr/bin/env python3
"""Repeats from a log of `make test` what the failed tests printed, so that they can be read at its end.

    tools/test_failures.py LOG

Knows ctest's output (--output-on-failure, also with --repeat until-pass) and gotestsum's (also with
--rerun-fails). Prints nothing where no test failed.
"""

import re
import sys
from pathlib import Path

LINES_MAX = 80  # of one test: its last ones, which name what failed

# One that is repeated is not counted again: it comes without the "12/34".
CTEST_RESULT = re.compile(r"\s*(?P<first>\d+/\d+ )?Test\s+#\d+: (?P<name>\S+) \.*\s*(?P<outcome>\*\*\*(?!Skipped)\S+)?")
CTEST_OTHER = re.compile(r"\s*Start\s+\d+: |\d+% tests passed, ")
GO_FAILURE = re.compile(r"=== FAIL: (?P<name>.+)")
GO_OTHER = re.compile(r"=== ")
GO_DONE = re.compile(r"DONE (?P<repeated>\d+ runs, )?\d+ tests")
GO_AGAIN = re.compile(r"( \(re-run \d+\))? \([\d.]+s\)$")


def with_repeated(found):
    """The failures of a Go module whose failed tests were run again: those that failed then too, and those that did not."""
    again = {GO_AGAIN.sub("", name) for name, *_ in found if "(re-run " in name}
    return [[name, lines, GO_AGAIN.sub("", name) not in again] for name, lines, _ in found if "(re-run " not in name]


def failures(lines):
    """[name, lines printed, whether it passed when it was repeated] of each failed test, in the log's order."""
    found = []
    current = None
    go_module = 0  # where in found the failures of this module begin
    for line in lines:
        result = CTEST_RESULT.match(line)
        go = GO_FAILURE.match(line)
        done = GO_DONE.match(line)
        if result or go or done or CTEST_OTHER.match(line) or GO_OTHER.match(line):
            current = None
        if done:
            if done["repeated"]:
                found[go_module:] = with_repeated(found[go_module:])
            go_module = len(found)
        repeated = result and not result["first"]
        if go or (result and result["outcome"] and not repeated):
            current = []
            found.append([(go or result)["name"], current, False])
        if repeated and not result["outcome"]:
            for failure in reversed(found):
                if failure[0] == result["name"]:
                    failure[2] = True
                    break
        if current is not None:
            current.append(line)
    return found


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    for name, lines, passed_then in failures(Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace").splitlines()):
        print(f"-- failed once, and passed when it was repeated: {name}" if passed_then else f"-- failed: {name}")
        if len(lines) > LINES_MAX:
            print(f"   ({len(lines) - LINES_MAX} lines before these)")
        print("\n".join(lines[-LINES_MAX:]))


if __name__ == "__main__":
    main()
