"""brpc among the servers that are soaked: its server, loader and rude clients are bench/brpc's."""

import sys
import threading
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH / "brpc"), str(BENCH / "demo")]

# pylint: disable=wrong-import-position
import soak as brpc_soak  # noqa: E402
from brpc_programs import BrpcPrograms  # noqa: E402
from plan import Cell  # noqa: E402
from rude_clients import RudeClients, Unexpected  # noqa: E402
from servers import DemoError, Server, load  # noqa: E402

from common.child import ChildError  # noqa: E402
from common.machine import cpu_seconds_of  # noqa: E402

# Its ways to be rude and what they are owed.
OWED = {"malformed": "malformed", "over_budget": "exhausted"}
END_SECONDS = 20


class BrpcTarget:
    """As targets.Target."""

    def __init__(self, programs, limits, cpus, seed):
        self.name = "brpc"
        self._programs, self._cpus = programs, cpus
        try:
            self._server = Server(programs, Cell("terms", "codec", framework="brpc"), cpus[0])
        except DemoError as error:
            raise ChildError(str(error)) from error
        self._console = brpc_soak.Console(self._server.port)
        self._clients = RudeClients(self._server.port, seed)
        for name, value in limits.items():
            if not self._console.set_flag(name, value):
                self._server.stop()
                raise ChildError(f"brpc: {name}={value} was refused")

    def _be_rude(self, seconds, rate, report):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self._clients.one(limited=True)
            except (Unexpected, OSError) as error:
                report["unowed"] += 1
                report["examples"].append(str(error)[:300])
            time.sleep(1 / rate)

    def run(self, seconds, qps, rude):
        """One slice of load."""
        report = {"rude": {}, "unowed": 0, "examples": []}
        before = dict(self._clients.counts)
        clients = threading.Thread(target=self._be_rude, args=(seconds, rude or 1, report))
        if rude:
            clients.start()
        try:
            loaded = load(self._programs, self._server, self._cpus[1], qps=qps, seconds=seconds)
        except DemoError as error:
            raise ChildError(str(error)) from error
        finally:
            if rude:
                clients.join()
        for way, count in self._clients.counts.items():
            if count > before.get(way, 0):
                report["rude"][way] = {OWED.get(way, "broken"): count - before.get(way, 0)}
        if loaded["errors"]:
            report["examples"].append(loaded["first_error"][:300])
        return {**report, "sent": loaded["requests"], "errors": loaded["errors"],
                "latencies_us": loaded["latencies_us"]}

    def rss_bytes(self):
        """The server's resident memory."""
        return self._server.rss_bytes()

    def cpu_seconds(self):
        """What it has used; its loaders are children that end."""
        return cpu_seconds_of(self._server.pid)

    def stop(self):
        """Ends it, and returns (its counts, its exit code, what it said)."""
        try:
            counts = self._counts()
        except (OSError, ValueError):
            counts = None
        code, words = self._server.end()
        return counts, code, words

    def _counts(self):
        number = self._console.number
        of_method = brpc_soak.METHOD_VARS
        deadline = time.monotonic() + END_SECONDS
        while number(f"{of_method}_scopes_live") and time.monotonic() < deadline:
            time.sleep(0.2)
        return {"scopes_made": number(f"{of_method}_requests"),
                "scopes_live": number(f"{of_method}_scopes_live"),
                "refused": number(f"{of_method}_refused"),
                "bytes_in_use": number("harena_pages_bytes_in_use")}


def find(build_dir, limits):
    """How to start it: a call of (cpus, seed). Raises DemoError where it is not built."""
    programs = BrpcPrograms(build_dir)
    return lambda cpus, seed: BrpcTarget(programs, limits, cpus, seed)
