#!/usr/bin/env python3
"""Honest, hostile and aborted traffic on every framework that can run here. `make soak`.

First, one framework after the other: pairs of slices, in one of which rude callers are beside the
honest ones. Are honest callers' latencies the same? (`--beside honest` has as many more honest ones
in their place: what any load costs the others.) Then all of them side by side for an hour, with
rude callers all the time: errors only where they are owed, resident memory that does not grow, and
nothing left when all is over. The servers have limits, and a quarantine. Ends with 1 otherwise.
"""

import argparse
import contextlib
import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
# pylint: disable=wrong-import-position
import targets  # noqa: E402
import traffic_report  # noqa: E402
import verdict  # noqa: E402

from common.child import ChildError  # noqa: E402
from common.gotool import ROOT, GoBroken  # noqa: E402
from common.machine import OtherWork, cores, machine  # noqa: E402
from common.progress import Progress  # noqa: E402

SAMPLE_SECONDS = 1.0
DEFAULT = {"seconds": 3600.0, "pair_seconds": 300.0, "slice_seconds": 3.0}
QUICK = {"seconds": 30.0, "pair_seconds": 80.0, "slice_seconds": 2.0}
MEBIBYTE = 1 << 20
RUDE, HONEST = "rude", "honest"
BRPC_LIMITS = {"harena_request_bytes_max": targets.REQUEST_BYTES_MAX * 4,
               "harena_process_bytes_max": targets.PROCESS_BYTES_MAX}


class Run:
    """One run: what each framework's slices and samples were."""

    def __init__(self, options, running):
        self.options = options
        self.running = running  # {name: target}
        self.reports = {name: [] for name in running}
        self.pairs = {name: [] for name in running}
        self.samples = {name: [] for name in running}
        self.broken = {}  # {name: why}
        self.other_work = 0.0

    def _slice(self, name, seconds, qps, rude):
        report = self.running[name].run(seconds, qps, rude)
        self.reports[name].append({k: v for k, v in report.items() if k != "latencies_us"})
        return report["latencies_us"]

    def _callers(self, company):
        """(honest calls per second, rude ones) of a slice of a pair, with company or without."""
        o = self.options
        if company and o.beside == HONEST:
            return o.qps_pairs + o.rude_beside, 0
        return o.qps_pairs, o.rude_beside if company else 0

    def compare(self, progress):
        """Pairs of slices of one framework after the other."""
        o = self.options
        if o.pair_seconds <= 0:
            return
        others, ours = OtherWork(), self._cpu_seconds()
        pair_seconds = 2 * o.slice_seconds
        rounds = max(2, int(o.pair_seconds / pair_seconds / max(1, len(self.running))))
        for turn in range(rounds):
            for name in self.running:
                if name in self.broken:
                    continue
                progress.step(f"latencies, round {turn + 1} of {rounds}: {name}", pair_seconds)
                order = (False, True) if turn % 2 == 0 else (True, False)
                with self._guarded(name):
                    seen = {company: self._slice(name, o.slice_seconds, *self._callers(company))
                            for company in order}
                    # Without a single good answer there is no latency; the errors fail the run.
                    if seen[False] and seen[True]:
                        self.pairs[name].append((seen[False], seen[True]))
        self.other_work = others.share(self._cpu_seconds() - ours)

    def _cpu_seconds(self):
        """Of servers and loads, which are children that have not ended."""
        with contextlib.suppress(OSError):
            return sum(target.cpu_seconds() for target in self.running.values())
        return 0.0  # one has died, which is an error anyway

    @contextlib.contextmanager
    def _guarded(self, name):
        try:
            yield
        except (ChildError, OSError) as error:
            self.broken[name] = str(error)

    def _soak_one(self, name, end):
        o = self.options
        with self._guarded(name):
            while (left := end - time.monotonic()) > 0.5:
                self._slice(name, min(o.soak_slice_seconds, left), o.qps, o.rude)

    def soak(self, progress):
        """All side by side."""
        end = time.monotonic() + self.options.seconds
        threads = [threading.Thread(target=self._soak_one, args=(name, end))
                   for name in self.running if name not in self.broken]
        for thread in threads:
            thread.start()
        said = 0.0
        while any(thread.is_alive() for thread in threads):
            time.sleep(SAMPLE_SECONDS)
            if time.monotonic() > end:
                continue  # the last calls
            for name, target in self.running.items():
                if name not in self.broken:
                    with self._guarded(name):
                        self.samples[name].append(target.rss_bytes())
            if time.monotonic() > said + 10:
                said = time.monotonic()
                progress.step("MiB: " + ", ".join(
                    f"{name} {samples[-1] / MEBIBYTE:.0f}"
                    for name, samples in self.samples.items() if samples), 0)
        for thread in threads:
            thread.join()

    def results(self, left_out):
        """Ends the servers, and judges."""
        rows = []
        for name, target in self.running.items():
            counts, code, words = target.stop()
            total = verdict.added(self.reports[name])
            wrong = verdict.errors(total, counts, code, words)
            if name in self.broken:
                wrong.insert(0, self.broken[name])
            rows.append({
                "framework": name, **total, "counts": counts, "wrong": wrong,
                "latency": (verdict.latency(self.pairs[name], self.other_work)
                            if len(self.pairs[name]) > 1 else None),
                "memory": verdict.memory(self.samples[name], SAMPLE_SECONDS),
                "samples": self.samples[name]})
        return {"rows": rows, "left_out": left_out, "other_work_share": self.other_work,
                "beside": self.options.beside,
                "machine": machine(cores()), "seconds": self.options.seconds,
                "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
                "command": " ".join(sys.argv)}


def find(options):
    """({framework: how to start it}, {framework: why it is left out})."""
    starts, left_out = targets.find(
        options.build_dir, options.trpc_build_dir or options.build_dir, options.go_dir,
        options.frameworks)
    if targets.BRPC in options.frameworks and targets.BRPC not in left_out:
        import brpc_target  # pylint: disable=import-outside-toplevel
        try:
            starts[targets.BRPC] = brpc_target.find(options.brpc_build_dir or options.build_dir,
                                                    BRPC_LIMITS)
        except brpc_target.DemoError as error:
            left_out[targets.BRPC] = str(error)
    return starts, left_out


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    add = parser.add_argument
    add("--build-dir", type=Path, default=ROOT / "build/release", help="default: build/release")
    add("--brpc-build-dir", type=Path, help="a build with brpc, where that is another one")
    add("--trpc-build-dir", type=Path, help="a build with tRPC-Cpp, likewise")
    add("--go-dir", type=Path, default=ROOT / "build/bench-go-soak",
        help="where to build the Go programs (default: build/bench-go-soak)")
    add("--out", type=Path, default=ROOT / "out/soak", help="folder of the report")
    add("--seconds", type=float, help="all side by side (default: 3600)")
    add("--pair-seconds", type=float,
        help="for latencies, shared by the frameworks; 0 for none (default: 300)")
    add("--quick", action="store_true", help="two minutes, most of them for latencies")
    add("--frameworks", nargs="+", choices=targets.NAMES, default=list(targets.NAMES))
    add("--qps", type=float, default=75, help="honest calls per second and framework (75)")
    add("--rude", type=float, default=30, help="rude ones (30)")
    add("--qps-pairs", type=float, default=80, help="honest ones for latencies (80)")
    add("--rude-beside", type=float, default=5, help="those beside them (5)")
    add("--beside", choices=(RUDE, HONEST), default=RUDE,
        help="who those are: rude, or as many more honest ones for comparison (rude)")
    add("--slice-seconds", type=float, help="of each slice of a pair (3)")
    add("--soak-slice-seconds", type=float, default=10, help=argparse.SUPPRESS)
    add("--seed", type=int, default=1, help="decides what rude callers send (1)")
    options = parser.parse_args(arguments)
    defaults = QUICK if options.quick else DEFAULT
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    for name in ("seconds", "qps", "rude", "qps_pairs", "rude_beside", "slice_seconds"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} wants a number above 0")
    return options


def run(options):
    """The run; returns its results."""
    starts, left_out = find(options)
    if not starts:
        raise ChildError("nothing can run here: " + "; ".join(sorted(set(left_out.values()))))
    for name, why in left_out.items():
        print(f"soak: without {name}: {why}", flush=True)
    running = {}
    try:
        for name, start in starts.items():
            running[name] = start(cores(), options.seed)
        progress = Progress(options.seconds + options.pair_seconds)
        whole = Run(options, running)
        whole.compare(progress)
        whole.soak(progress)
        progress.end()
        return whole.results(left_out)
    finally:
        for target in running.values():
            target.stop()


def main():
    """Runs the soak; returns the exit code."""
    options = parse()
    try:
        results = run(options)
    except (ChildError, GoBroken) as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(json.dumps(results) + "\n", encoding="utf-8")
    (options.out / "report.html").write_text(traffic_report.html_page(results), encoding="utf-8")
    text = traffic_report.text(results)
    (options.out / "report.txt").write_text(text, encoding="utf-8")
    print(text, end="")
    return 1 if traffic_report.problems(results) else 0


if __name__ == "__main__":
    sys.exit(main())
