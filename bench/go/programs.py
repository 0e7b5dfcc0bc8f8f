"""The Go programs of make bench-go: building them, and running one cell in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import gotool  # noqa: E402

EXPERIMENT = "goexperiment"


class BenchError(Exception):
    """Something the reader can mend; the message says how."""


class Programs:
    """The built programs. Cells of the row `goexperiment` run in a second build of bench-go, since
    GOEXPERIMENT changes the whole program."""

    def __init__(self, folder):
        folder = Path(folder).resolve()
        self.folders = {"": folder, "arenas": folder / "arenas"}
        self.bench = folder / "bench-go"
        self.bench_experiment = folder / "arenas/bench-go"
        self._trpc_load = folder / "trpc-load"
        # By framework: the demo's server, and the command that loads it.
        self.servers = {"grpc": folder / "demo-server", "trpc": folder / "trpc-server"}
        self.loaders = {"grpc": [self.bench, "load"], "trpc": [self._trpc_load]}

    def build(self):
        """Builds them. Raises BenchError."""
        try:
            go = gotool.find_go()
            gotool.build(go, self.folders[""], ("bench-go", "demo-server", "trpc-load", "trpc-server"))
            gotool.build(go, self.folders["arenas"], ("bench-go",), GOEXPERIMENT="arenas")
        except (gotool.GoMissing, gotool.GoBroken) as error:
            raise BenchError(str(error)) from error

    def cells(self):
        """All cells with their group, row, unit and, for what cannot be measured, the reason."""
        cells = run_json([self.bench, "list"])
        experiment = {(c["group"], c["row"]): c for c in run_json([self.bench_experiment, "list"])}
        return [experiment.get((c["group"], c["row"]), c) if c["row"] == EXPERIMENT else c
                for c in cells]

    def versions(self):
        """Versions of Go and of the measured modules."""
        return run_json([self.bench, "versions"]) | run_json([self._trpc_load, "versions"])

    def measure(self, cell, seconds):
        """One cell in a fresh process; its result."""
        program = self.bench_experiment if cell["row"] == EXPERIMENT else self.bench
        return run_json([program, "run", "-seconds", str(seconds),
                         f"{cell['group']}/{cell['row']}"])


def run_json(command):
    """What a program prints, as JSON. It runs inside the source tree: the payloads are there."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, cwd=HERE)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command[1:]))}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)
