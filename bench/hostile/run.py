#!/usr/bin/env python3
"""Damaged gRPC requests, cut anywhere into DATA frames, to the demo's servers. `make test-hostile`.

Every server of both languages gets its own damaged requests in each mode, with limits and without, honest calls right
in between. Each must be answered: honest ones rightly, damaged ones as by the same framework without Harena, malformed
ones with a reason. All servers must live, serve and have nothing left at the end. Ends with 1 otherwise, and names
the seed and the bytes.
"""

import argparse
import contextlib
import math
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
# pylint: disable=wrong-import-position
import report  # noqa: E402
from calls import Call, damaged_call, framed, killers, message_in  # noqa: E402
from damage import Message  # noqa: E402
from honest import Ranking, honest_call, real_payloads  # noqa: E402
from servers import STOCK, Server, kinds  # noqa: E402
from sweep import Dead, Sweep, answers_of  # noqa: E402
from verdict import OK, name_of  # noqa: E402

from common.child import ChildError  # noqa: E402
from common.progress import say  # noqa: E402

ROOT = HERE.parents[1]
REQUESTS, QUICK_REQUESTS = 10_000, 4_000
DAMAGED_PER_HONEST = 8
RANKINGS = 8
DAMAGED_BYTES_MAX = 20_000
LAST_CALLS = 10
# A server may end so long after its answer.
CULPRIT_SECONDS = 0.2


class Plan:
    """What is sent. The seed decides all of it."""

    def __init__(self, seed):
        self.seed = seed
        dice = random.Random(seed)
        self._payloads = real_payloads(dice)
        self._messages = [Message(method, wire) for method, wire in self._payloads if len(wire) <= DAMAGED_BYTES_MAX]
        self._messages += [Message("Rank", Ranking(dice).request) for _ in range(RANKINGS)]
        self._known = {}

    def payload_calls(self):
        """The real payloads, whose right answers are a stock server's."""
        return [Call(method, framed(wire), (), "payload") for method, wire in self._payloads]

    def learn(self, answers):
        """What they are: an answer for each payload."""
        self._known = dict(zip(self._payloads, answers))

    def last_calls(self, name):
        """Honest ones."""
        dice = random.Random(f"{self.seed} {name}, the last")
        return [honest_call(dice, self._known) for _ in range(LAST_CALLS)]

    def calls(self, name, damaged):
        """Those for a server of that name: what once was deadly, and so many damaged ones, with honest ones in
        between."""
        dice = random.Random(f"{self.seed} {name}")
        all_damaged = list(killers())
        all_damaged += [damaged_call(dice, self._messages) for _ in range(damaged - len(all_damaged))]
        made = []
        for number, call in enumerate(all_damaged):
            if number % DAMAGED_PER_HONEST == 0:
                made.append(honest_call(dice, self._known))
            made.append(call)
        return made


class Run:
    """Sweeps one framework's servers after the other."""

    def __init__(self, options, plan):
        self._options = options
        self._plan = plan
        self.rows = []

    def learn(self, kind):
        """Asks a stock server for the right answers to the real payloads. Raises Dead."""
        with contextlib.closing(Server(kind)) as server:
            answers = answers_of(server, self._plan.payload_calls(), self._options.answer_seconds)
        if any(answer.status != OK for answer in answers):
            raise Dead(f"{kind} refuses real payloads: {[name_of(answer) for answer in answers]}", ())
        self._plan.learn([message_in(answer.body) for answer in answers])

    def framework(self, stock_kind, others):
        """The calls for a server go to its framework's stock server too."""
        stock = _Running(stock_kind, self._options)
        with contextlib.closing(stock):
            for kind in others:
                say(f"hostile: {kind}, {self._options.each:,} damaged calls")
                calls = self._plan.calls(str(kind), self._options.each)
                verdicts = stock.sweep(calls)
                running = _Running(kind, self._options)
                with contextlib.closing(running):
                    running.sweep(calls, verdicts if kind.harena else None)
                    self.rows.append(running.end(self._plan))
            self.rows.append(stock.end(self._plan))


class _Running:
    """A server, its sweep and its row of the report."""

    def __init__(self, kind, options):
        self._seconds = options.answer_seconds
        self._server = Server(kind)
        self._sweep = Sweep(self._server, self._seconds)
        self._row = report.Row(kind, self._sweep.outcome)

    def close(self):
        """Ends the server."""
        self._sweep.close()
        self._server.stop()

    def sweep(self, calls, stock=None):
        """What it made of the calls, or None."""
        if not self._row.alive:
            return None
        try:
            return self._sweep.run(calls, stock)
        except Dead as dead:
            self._row.died(dead, culprit(self._row.kind, dead, self._seconds))
            return None

    def end(self, plan):
        """Honest calls over new connections; then there must be nothing left. Returns the row."""
        self._sweep.close()
        self.sweep(plan.last_calls(self._row.kind))
        self._sweep.close()
        if self._row.alive:
            self._row.wrong_at_end = self._server.end()
        return self._row


def culprit(kind, dead, seconds):
    """The call that by itself ends a new server, or None."""
    for call in (*dead.calls, *reversed(dead.recent)):
        with contextlib.closing(Server(kind)) as server:
            sweep = Sweep(server, seconds, connections=1)
            try:
                sweep.run([call])
            except Dead:
                return call
            finally:
                sweep.close()
            if server.has_ended(CULPRIT_SECONDS):
                return call
    return None


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build-dir", type=Path, default=ROOT / "build/release", help="default: build/release")
    add("--go-dir", type=Path, default=ROOT / "build/hostile-go", help="where to build Go's (build/hostile-go)")
    add("--out", type=Path, default=ROOT / "out/hostile", help="folder of the report (out/hostile)")
    add("--seed", type=int, default=random.SystemRandom().randrange(1 << 32),
        help="decides all that is sent (another each time)")
    add("--requests", type=int, help=f"damaged ones, shared by the servers; stock servers get all of them ({REQUESTS})")
    add("--quick", action="store_true", help=f"{QUICK_REQUESTS} of them")
    add("--only", default="", metavar="PART", help="servers with this in their name only, such as 'grpc-cpp codec'")
    add("--answer-seconds", type=float, default=30, help="after so long without an answer a server hangs (30)")
    options = parser.parse_args(arguments)
    if options.requests is None:
        options.requests = QUICK_REQUESTS if options.quick else REQUESTS
    if options.requests < 1 or options.answer_seconds <= 0:
        parser.error("--requests and --answer-seconds want numbers above 0")
    return options


def run(options):
    """The run; returns its rows."""
    everything = kinds(options.build_dir, options.go_dir)
    stock = {kind.framework: kind for kind in everything if kind.mode == STOCK}
    swept = [kind for kind in everything if kind.mode != STOCK and options.only in str(kind)]
    if not swept:
        raise ChildError(f"no server but a stock one has {options.only!r} in its name")
    options.each = math.ceil(options.requests / len(swept))
    whole = Run(options, Plan(options.seed))
    whole.learn(next(iter(stock.values())))
    for framework, kind in stock.items():
        others = [other for other in swept if other.framework == framework]
        if others:
            whole.framework(kind, others)
    say("")
    return whole.rows


def main():
    """Runs the sweep; returns the exit code."""
    options = parse()
    only = f" --only '{options.only}'" if options.only else ""
    repeat = f'make test-hostile REQUESTS={options.requests} ARGS="--seed {options.seed}{only}"'
    print(f"hostile: seed {options.seed}; again with {repeat}", flush=True)
    start = time.monotonic()
    try:
        rows = run(options)
    except (ChildError, Dead) as error:
        print(f"hostile: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "wrong.txt").write_text("".join(map(report.wrong_in_full, rows)), encoding="utf-8")
    print(report.text(rows, options.out / "wrong.txt", time.monotonic() - start), end="")
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
