#!/usr/bin/env python3
"""Runs fuzz tests of Go, one after the other, each for so many seconds of new inputs.

The time counts from where the known inputs have been run: `go test -fuzztime` counts from the start, and a
busy machine may need all of it for them. What is found worth keeping lies in the folder KEPT, and the next
run begins with it; the logs are for tools/fuzz_report.py, which says what came of it.

    tools/go_fuzz.py --go GO --kept FOLDER --logs FOLDER [--seconds N] [--jobs N] PACKAGE/FuzzName...
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

# A test binary's own words when the known inputs are through.
BEGUN = "now fuzzing with"
# The known inputs of any target take seconds; on a machine that has much else to do, minutes.
KNOWN_SECONDS_MAX = 900
# Workers have a second to end an input that they are at.
END_SECONDS = 60


def build(go, package, name, program):
    """The fuzz test as a program, instrumented. Raises CalledProcessError."""
    subprocess.run([go, "test", "-c", "-fuzz", f"^{name}$", "-o", program, "."], cwd=package, check=True,
                   env={**os.environ, "GOWORK": "off"})


def fuzz(command, folder, log, seconds, known_seconds_max=KNOWN_SECONDS_MAX):
    """Runs a program in a folder until it has tried new inputs for so long, or ends by itself."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        # As Ctrl-C: it writes its last line, and ends well. One that does not is killed.
        timers = [threading.Timer(known_seconds_max, process.send_signal, [signal.SIGINT]),
                  threading.Timer(known_seconds_max + END_SECONDS, process.kill)]
        timers[0].start()
        timers[1].start()
        for line in process.stdout:
            log.write(line)
            if BEGUN in line:
                for timer in timers:
                    timer.cancel()
                timers = [threading.Timer(seconds, process.send_signal, [signal.SIGINT]),
                          threading.Timer(seconds + END_SECONDS, process.kill)]
                for timer in timers:
                    timer.start()
        process.wait()
        for timer in timers:
            timer.cancel()
    return process.returncode


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("target", nargs="+", help="such as go/pb/FuzzDecode")
    add("--go", required=True, help="the Go program")
    add("--kept", type=Path, required=True, help="folder of the inputs that are kept for the next run")
    add("--logs", type=Path, required=True, help="folder of the logs, one per target")
    add("--seconds", type=float, default=60, help="of new inputs (60)")
    add("--jobs", type=int, default=os.cpu_count(), help="inputs at a time (as many as there are cores)")
    options = parser.parse_args(arguments)
    options.logs.mkdir(parents=True, exist_ok=True)
    options.kept.mkdir(parents=True, exist_ok=True)
    for target in options.target:
        package, _, name = target.rpartition("/")
        print(f"fuzz: {target}, {options.seconds:g} s", flush=True)
        path = options.logs / f"{name}.log"
        with tempfile.TemporaryDirectory() as folder, path.open("w", encoding="utf-8") as log:
            program = Path(folder) / f"{name}.test"
            build(options.go, package, name, program)
            # Minimizing what is interesting would take most of the time.
            code = fuzz([program, "-test.run=^$", f"-test.fuzz=^{name}$", "-test.fuzzminimizetime=1x",
                         f"-test.fuzzcachedir={options.kept.resolve()}", f"-test.parallel={options.jobs}"],
                        package, log, options.seconds)
        if code != 0:
            print("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[-40:]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
