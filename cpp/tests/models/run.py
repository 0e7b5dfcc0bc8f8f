#!/usr/bin/env python3
"""Checks models with spin: every order in which their processes can run, each invariant in every state.

    cpp/tests/models/run.py            all models and all of their mutants
    cpp/tests/models/run.py NAME...    some, by file name without .pml
    --deep                             longer runs, where a model has them: minutes
    --trail                            of the first model that fails, the steps that lead there

A line `mutation: NAME  what it breaks` in a model's head names a macro that seeds a bug: with it, spin has to
find something, or the model would say nothing. Needs spin (Debian: spin) and a C compiler.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MUTATION = re.compile(r"^ \* mutation: (\w+)", re.MULTILINE)
# Longest path and memory: a search that needs more is not complete, which is an error.
DEPTH_MAX = 4_000_000
MEMORY_MB_MAX = 8_000


class ModelError(Exception):
    """The checker itself did not work."""


def call(command, folder):
    """Standard output and error of a command that has to succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ModelError(f"{' '.join(map(str, command))}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def check(model, macros, trail=False):
    """(what spin found or None, states explored) of a model, with these macros defined."""
    define = [f"-D{macro}" for macro in macros]
    with tempfile.TemporaryDirectory() as folder:
        call(["spin", "-a", *define, model], folder)
        call([os.environ.get("CC", "cc"), "-O1", "-w", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MB_MAX}",
              "-o", "pan", "pan.c"], folder)
        out = call(["./pan", f"-m{DEPTH_MAX}"], folder)
        errors = re.search(r"errors: (\d+)", out)
        states = re.search(r"(\d+) states, stored", out)
        if errors is None or states is None:
            raise ModelError(f"{model.name}: spin's answer cannot be read:\n{out}")
        found = re.search(r"pan:1: (.*?) \(at depth", out)
        if errors.group(1) == "0":
            if "Search not completed" in out or "max search depth too small" in out:
                raise ModelError(f"{model.name}: the search was not complete:\n{out}")
            return None, int(states.group(1))
        if trail:
            print(call(["spin", "-t", "-p", "-g", *define, model], folder))
        return (found.group(1) if found else "an error"), int(states.group(1))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--trail", action="store_true")
    options = parser.parse_args(arguments)
    if shutil.which("spin") is None:
        print("models: spin is missing: apt-get install spin (make model does it)", file=sys.stderr)
        return 1
    names = options.names or sorted(path.stem for path in HERE.glob("*.pml"))
    states_in_all, caught, failed = 0, 0, False
    for name in names:
        model = HERE / f"{name}.pml"
        if not model.exists():
            print(f"models: there is no {model}", file=sys.stderr)
            return 1
        start = time.monotonic()
        found, states = check(model, ["DEEP"] if options.deep else [], options.trail)
        states_in_all += states
        print(f"{name}: {found or 'holds'}, {states:,} states, {time.monotonic() - start:.1f} s", flush=True)
        if found:
            failed = True
            if options.trail:
                return 1
            continue
        mutations = MUTATION.findall(model.read_text(encoding="utf-8"))
        if not mutations:
            print(f"  {name} names no mutation: nothing says that it can fail", file=sys.stderr)
            failed = True
        for mutation in mutations:
            found, _ = check(model, [mutation])
            print(f"  with {mutation}: {found or 'NOTHING FOUND'}", flush=True)
            caught += found is not None
            failed |= found is None
    print(f"safety: model_states={states_in_all} model_mutants_caught={caught}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ModelError as error:
        print(f"models: {error}", file=sys.stderr)
        sys.exit(1)
