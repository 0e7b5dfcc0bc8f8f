#!/usr/bin/env python3
"""Ten minutes of mixed sizes in every memory mode: does resident memory grow? `make test-slow`.

One server per mode is driven at a fixed rate with ranking requests from 1 KB to 1 MB. Resident
memory is sampled, the first part is left out as warm-up, and a trend is fitted to the rest. The run
fails when a mode's trend is upward beyond what chance and the tolerance explain.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
from plan import Cell  # noqa: E402
from servers import DemoError, Programs, running  # noqa: E402

from common.machine import cores  # noqa: E402
from common.trend import grows, trend  # noqa: E402

WORKLOAD = "ranking_mixed"
SAMPLE_SECONDS = 1.0
WARM_UP_SHARE = 0.25


def drive(programs, server, cpu, options, report):
    """The load on one server, in a process of its own."""
    command = [str(programs.loader), "--port", str(server.port), "--pid", str(server.pid),
               "--cpu", str(cpu), "--workload", WORKLOAD, "--qps", str(options.qps),
               "--seconds", str(options.seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=options.seconds + 120)
    report["loader"] = json.loads(done.stdout) if done.returncode == 0 else {}
    report["failure"] = done.stderr.strip()[-500:] if done.returncode != 0 else ""


def soak(programs, options):
    """Drives all modes side by side and returns their samples and loader reports by mode."""
    cpus = cores()
    cells = [Cell(WORKLOAD, mode) for mode in options.modes or programs.modes()]
    reports = {cell.mode: {"samples": []} for cell in cells}
    with running(programs, cells, cpus[0]) as servers:
        drivers = [threading.Thread(target=drive, args=(programs, server, cpus[1], options,
                                                        reports[cell.mode]))
                   for cell, server in servers.items()]
        for driver in drivers:
            driver.start()
        start = time.monotonic()
        while any(driver.is_alive() for driver in drivers):
            time.sleep(SAMPLE_SECONDS)
            elapsed = time.monotonic() - start
            # The load has ended at different moments; only full samples count.
            if elapsed > options.seconds:
                continue
            for cell, server in servers.items():
                reports[cell.mode]["samples"].append(server.rss_bytes())
            if int(elapsed) % 30 == 0:
                print(f"  {elapsed:5.0f} of {options.seconds:.0f} s: " + ", ".join(
                    f"{mode} {report['samples'][-1] / (1 << 20):.0f} MiB"
                    for mode, report in reports.items()), flush=True)
        for driver in drivers:
            driver.join()
    return reports


def judge(mode, report):
    """One line on a mode, and whether it passed."""
    loader = report["loader"]
    if not loader:
        return f"{mode:<7} the load failed: {report['failure']}", False
    samples = report["samples"][int(len(report["samples"]) * WARM_UP_SHARE):]
    growth, uncertainty = trend(samples)
    errors = loader["errors"]
    passed = not grows(samples) and errors == 0 and loader["requests"] > 0
    mebibyte = 1 << 20
    return (f"{mode:<7} {mean(samples) / mebibyte:8.1f} MiB mean  {growth / mebibyte:+8.2f} "
            f"+- {uncertainty / mebibyte:.2f} MiB over the run  {loader['requests']:>7} requests  "
            f"{errors} errors  {'ok' if passed else 'FAILED'}"), passed


def main():
    """Runs the soak; 0 when no mode grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build/release", type=Path)
    parser.add_argument("--seconds", type=float, default=600, help="default 600")
    parser.add_argument("--qps", type=float, default=60, help="requests per second and mode")
    parser.add_argument("--modes", nargs="+", metavar="MODE", help="default: all")
    options = parser.parse_args()
    if options.seconds < 20:
        parser.error("--seconds below 20 gives too few samples for a trend")
    try:
        reports = soak(Programs(options.build_dir), options)
    except DemoError as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    verdicts = [judge(mode, report) for mode, report in reports.items()]
    for line, _ in verdicts:
        print(line)
    passed = sum(ok for _, ok in verdicts)
    print(f"{passed} passed, {len(verdicts) - passed} failed")
    return 0 if passed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
