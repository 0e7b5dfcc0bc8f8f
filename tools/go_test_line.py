#!/usr/bin/env python3
"""Prints what came of one module's Go tests, in the line that .ci/run adds up. gotestsum calls it.

    GOTESTSUM_JSONFILE=EVENTS TESTS_ERRORS=N go_test_line.py MODULE VARIANT

    go test: 123 passed, 0 failed, 1 skipped (go/pb, race)

gotestsum's own total leaves out packages that failed as a whole, its failures count what passed when it
was run again, and so the events of `go test -json` are counted.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path


def outcomes(events):
    """How many tests ended with "pass", "fail" and "skip", each by its last run."""
    last = {}
    for event in events:
        if event.get("Test") and event["Action"] in ("pass", "fail", "skip"):
            last[event["Package"], event["Test"]] = event["Action"]
    return Counter(last.values())


def line(events, broken, module, variant):
    """broken: whether something failed that is no test, such as a package that does not build."""
    ended = outcomes(events)
    failed = max(ended["fail"], 1 if broken else 0)
    return f"go test: {ended['pass']} passed, {failed} failed, {ended['skip']} skipped ({module}, {variant})"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    text = Path(os.environ["GOTESTSUM_JSONFILE"]).read_text(encoding="utf-8", errors="replace")
    events = [json.loads(each) for each in text.splitlines() if each.startswith("{")]
    # A package fails as a whole, with no test of its own that did, when it ends its process or runs out of time.
    packages = {e["Package"]: e["Action"] for e in events if "Package" in e and not e.get("Test") and e["Action"] in ("pass", "fail")}
    broken = int(os.environ["TESTS_ERRORS"]) > 0 or "fail" in packages.values()
    print(line(events, broken, *sys.argv[1:]))


if __name__ == "__main__":
    main()
