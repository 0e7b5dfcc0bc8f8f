#!/usr/bin/env python3
"""Half an hour of a real brpc server under load, while operators and clients do their worst.

One server, its messages generated with the codec, answers a loader at a fixed rate. Every ten seconds
its mode is changed on brpc's /flags page, limits are reloaded and nonsense is refused there; all the
time other clients leave within their requests or replies, send bytes that are no message, bodies
beyond brpc's limit and requests beyond the memory limit. Wanted: not one error for the loader, the
right answer to each rude client, all memory back at the end, and resident memory that does not grow
from one round of modes to the next. Ends with 1 otherwise.
"""

import argparse
import contextlib
import json
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/demo"))

# pylint: disable=wrong-import-position
from brpc_programs import BrpcPrograms
from plan import Cell
from rude_clients import RudeClients, Unexpected
from servers import DemoError, load, running

from common.allocators import ALLOCATORS, AllocatorMissing
from common.machine import cores
from common.trend import grows, trend

REQUEST_BYTES_MAX = 32 << 20
PROCESS_BYTES_MAX = 4 << 30
NO_LIMIT = (1 << 64) - 1
# heap and reuse hold no limit: it is lifted before them.
MODES = (("codec", True), ("pages", True), ("heap", False), ("arena", True), ("reuse", False))
# Values that no server may take.
NONSENSE = (("harena_mode", "heapp"), ("harena_page_bytes", "4096"),
            ("harena_request_bytes_max", "-1"))
METHOD_VARS = "harena_harena_bench_v1_terms_service_echo"
SAMPLE_SECONDS = 0.5
RUDE_PAUSE_SECONDS = 0.1
# The first rounds fill caches and the heap.
WARM_UP_SHARE = 0.25
MEBIBYTE = 1 << 20


class Console:
    """brpc's pages of one server, as text."""

    def __init__(self, port):
        self._root = f"http://127.0.0.1:{port}"

    def _get(self, path):
        with urllib.request.urlopen(self._root + path, timeout=60) as reply:
            return reply.read().decode()

    def set_flag(self, name, value):
        """Whether the server took it."""
        with contextlib.suppress(urllib.error.HTTPError):
            return "Set `" in self._get(f"/flags/{name}?setvalue={value}&console=1")
        return False

    def number(self, name):
        """A variable's value."""
        return int(self._get(f"/vars/{name}?console=1").rsplit(":", maxsplit=1)[1])


class Operator:
    """Changes flags. `limited` says whether requests have a limit now."""

    def __init__(self, console):
        self._console = console
        self.limited = False
        self.changes = 0
        # Held by a rude client while it counts on the limit, and by whoever changes that.
        self.lock = threading.Lock()

    def _set(self, name, value):
        if not self._console.set_flag(name, value):
            raise Unexpected(f"--{name}={value} was refused")
        self.changes += 1

    def switch(self, mode, limited):
        """Puts the server into a mode, with or without a limit for requests."""
        if not limited:
            self.limited = False
            self._set("harena_request_bytes_max", NO_LIMIT)
        self._set("harena_mode", mode)
        if limited:
            self._set("harena_request_bytes_max", REQUEST_BYTES_MAX)
            self.limited = True
        self._set("harena_process_bytes_max", PROCESS_BYTES_MAX if self.changes % 2 else 0)
        self._set("harena_reuse_instances_max", 1 + self.changes % 16)
        for name, value in NONSENSE:
            if self._console.set_flag(name, value):
                raise Unexpected(f"--{name}={value} was taken")


class Soak:
    """The run: what was seen, and what was wrong."""

    def __init__(self, options):
        self.options = options
        self.problems = []
        self.rounds = []  # samples of resident memory, one list per round of all modes
        self._end = threading.Event()

    def _guard(self, what, work):
        """Runs `work` until it ends; what it raises is a problem of the run."""
        try:
            work()
        except (Unexpected, DemoError, OSError, ValueError) as error:
            self.problems.append(f"{what}: {error}")
            self._end.set()

    def _be_rude(self, clients, operator):
        while not self._end.wait(RUDE_PAUSE_SECONDS):
            with operator.lock:
                clients.one(operator.limited)

    def _sample(self, server):
        until = time.monotonic() + self.options.switch_seconds
        while time.monotonic() < until and not self._end.wait(SAMPLE_SECONDS):
            server.check_alive()
            self.rounds[-1].append(server.rss_bytes())

    def _operate(self, operator, server):
        start = time.monotonic()
        while not self._end.is_set():
            self.rounds.append([])
            for mode, limited in MODES:
                with operator.lock:
                    operator.switch(mode, limited)
                self._sample(server)
                samples = self.rounds[-1]
                if self._end.is_set() or not samples:
                    self.rounds.pop()  # not a full one
                    return
                print(f"  {time.monotonic() - start:5.0f} of {60 * self.options.minutes:.0f} s: "
                      f"{mode}, {samples[-1] / MEBIBYTE:.1f} MiB", flush=True)

    def _load(self, programs, server, cpu, reports):
        reports.append(load(programs, server, cpu, qps=self.options.qps,
                            seconds=60 * self.options.minutes))
        self._end.set()

    def run(self, programs):
        """Drives the server; returns the loader's report, None without one, and the rude clients'
        counts."""
        cpus = cores()
        cell = Cell("terms", "codec", self.options.allocator, framework="brpc")
        reports = []
        with running(programs, [cell], cpus[0]) as servers:
            server = servers[cell]
            console, clients = Console(server.port), RudeClients(server.port)
            operator = Operator(console)
            threads = [threading.Thread(target=self._guard, args=work) for work in (
                ("load", lambda: self._load(programs, server, cpus[1], reports)),
                ("operator", lambda: self._operate(operator, server)),
                ("rude clients", lambda: self._be_rude(clients, operator)))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self._guard("the end", lambda: self._check_memory(operator, console))
        return (reports[0] if reports else None), clients.counts, operator.changes

    def _check_memory(self, operator, console):
        operator.switch("codec", True)  # what mode reuse kept goes
        for name in (f"{METHOD_VARS}_scopes_live", "harena_pages_bytes_in_use"):
            deadline = time.monotonic() + 20
            while console.number(name) != 0 and time.monotonic() < deadline:
                time.sleep(0.2)
            if console.number(name) != 0:
                raise Unexpected(f"{name} is {console.number(name)} when all is over")
        for name in ("malformed", "refused"):
            if console.number(f"{METHOD_VARS}_{name}") == 0:
                raise Unexpected(f"no request was counted as {name}")


def judge(soak, report):
    """Lines on the run; problems are added to the soak's."""
    lines = []
    if report is None:
        soak.problems.append("the load did not end")
    else:
        lines.append(f"load: {report['requests']} requests, {report['errors']} errors")
        if report["errors"]:
            soak.problems.append(f"errors for the loader, the first: {report['first_error']}")
    means = [mean(samples) for samples in soak.rounds]
    means = means[int(len(means) * WARM_UP_SHARE):]
    if len(means) < 3:
        lines.append(f"resident memory: {len(means)} full rounds of modes are too few for a trend")
        return lines
    growth, uncertainty = trend(means, len(means))
    lines.append(f"resident memory: {mean(means) / MEBIBYTE:.1f} MiB, {growth / MEBIBYTE:+.2f} "
                 f"+- {uncertainty / MEBIBYTE:.2f} MiB over {len(means)} rounds of modes")
    if grows(means, len(means)):
        soak.problems.append("resident memory grows")
    return lines


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=30, help="how long (default: 30)")
    parser.add_argument("--switch-seconds", type=float, default=10,
                        help="how long each mode stays (default: 10)")
    parser.add_argument("--qps", type=float, default=60, help="requests per second (default: 60)")
    parser.add_argument("--allocator", choices=list(ALLOCATORS), default="glibc",
                        help="the server's malloc (default: glibc)")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/release",
                        help="where the programs were built (default: build/release)")
    parser.add_argument("--out", type=Path, help="also write what was seen to this file, as JSON")
    return parser.parse_args(arguments)


def main():
    """Runs the soak; returns the exit code."""
    options = parse()
    soak = Soak(options)
    try:
        report, rude, changes = soak.run(BrpcPrograms(options.build_dir))
    except (DemoError, AllocatorMissing) as error:
        print(f"brpc soak: {error}", file=sys.stderr)
        return 1
    lines = judge(soak, report)
    lines.append("rude clients: " + ", ".join(f"{n} {way}" for way, n in sorted(rude.items())))
    lines.append(f"flags: {changes} changes")
    print("\n".join(lines))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({"rounds": soak.rounds, "rude": rude,
                                           "problems": soak.problems}) + "\n", encoding="utf-8")
    for problem in soak.problems:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if soak.problems else 0


if __name__ == "__main__":
    sys.exit(main())
