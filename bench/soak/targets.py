"""The servers that are soaked, one per framework, each with its load."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import gotool  # noqa: E402
from common.child import Child, ChildError  # noqa: E402
from common.machine import cpu_seconds_of, rss_bytes_of  # noqa: E402

# Honest requests need a quarter of these at most; the bombs of bench/go/soak a multiple.
REQUEST_BYTES_MAX = 8 << 20
PROCESS_BYTES_MAX = 256 << 20
DECODED_RATIO_MAX = 30
DEPTH_MAX = 32
QUARANTINE_ONE_IN = 100
LIMITS = ("--request-bytes-max", REQUEST_BYTES_MAX, "--process-bytes-max", PROCESS_BYTES_MAX,
          "--decoded-ratio-max", DECODED_RATIO_MAX, "--depth-max", DEPTH_MAX,
          "--quarantine-one-in", QUARANTINE_ONE_IN)
GO_PROGRAMS = ("demo-server", "connect-server", "trpc-server", "soak-load")
# (framework, program, protocol); gRPC C++ has its program from another build.
GO_SERVERS = (("grpc-go", "demo-server", "grpc"), ("connect-go", "connect-server", "grpc"),
              ("trpc-go", "trpc-server", "trpc"))
GRPC_CPP = "grpc-cpp"
BRPC = "brpc"
TRPC_CPP = "trpc-cpp"
NAMES = (GRPC_CPP, *(name for name, _, _ in GO_SERVERS), BRPC, TRPC_CPP)
MISSING_PROGRAM = "{} is missing: `make build`, or name another --build-dir"
MISSING = {TRPC_CPP: "{} is missing. It is built where tRPC-Cpp is (docs/trpc.md); or name "
                     "another build with --trpc-build-dir"}
# Before its main(), tRPC-Cpp measures the processor's clock until the result is steady: on a busy
# machine for minutes.
START_SECONDS = 600
# Calls have a minute, and machines may stand still.
LATE_SECONDS = 150


class Target:
    """A server of bench/demo or bench/go in mode codec, and a soak-load that drives it."""

    def __init__(self, name, server, protocol, loader, cpus, seed):
        self.name = name
        self._server = Child([server, "--mode", "codec", "--cpu", cpus[0], *LIMITS, "--counts"])
        self._loader = None
        try:
            port = self._server.answer(START_SECONDS)["port"]
            self._loader = Child([loader, "-protocol", protocol, "-port", port, "-cpu", cpus[1],
                                  "-seed", seed], cwd=gotool.ROOT)
            self._loader.answer(START_SECONDS)
        except ChildError:
            self.stop()
            raise

    def run(self, seconds, qps, rude):
        """One slice of load; soak-load's report of it."""
        self._loader.say(json.dumps({"seconds": seconds, "qps": qps, "rude": rude}))
        return self._loader.answer(seconds + LATE_SECONDS)

    def rss_bytes(self):
        """The server's resident memory. Raises OSError when it is gone."""
        return rss_bytes_of(self._server.pid)

    def cpu_seconds(self):
        """What both have used. Raises OSError when one is gone."""
        return cpu_seconds_of(self._server.pid) + cpu_seconds_of(self._loader.pid)

    def stop(self):
        """Ends both, and returns (the server's counts or None, its exit code, what it said)."""
        if self._loader is not None:
            self._loader.stop()
        last = self._server.stop().strip()
        return json.loads(last) if last else None, self._server.exit_code, self._server.words


def find(build_dir, trpc_build_dir, go_folder, wanted):
    """({framework: how to start it: a call of (cpus, seed)}, {framework: why it is left out});
    without brpc."""
    starts, left_out = {}, {}
    try:
        gotool.build(gotool.find_go(), go_folder, GO_PROGRAMS)
    except gotool.GoMissing as error:
        return {}, {name: str(error) for name in wanted}  # the load is Go's
    go_folder = Path(go_folder).resolve()
    servers = [(name, go_folder / program, protocol) for name, program, protocol in GO_SERVERS]
    cpp = Path(build_dir).resolve() / "bench/demo/harena_demo_server_codec"
    servers.insert(0, (GRPC_CPP, cpp, "grpc"))
    trpc = Path(trpc_build_dir).resolve() / "bench/trpc/harena_trpc_server_codec"
    servers.append((TRPC_CPP, trpc, "trpc"))
    for name, program, protocol in servers:
        if not program.exists():
            left_out[name] = MISSING.get(name, MISSING_PROGRAM).format(program)
            continue
        starts[name] = (lambda cpus, seed, name=name, program=program, protocol=protocol:
                        Target(name, program, protocol, go_folder / "soak-load", cpus, seed))
    return ({name: start for name, start in starts.items() if name in wanted},
            {name: why for name, why in left_out.items() if name in wanted})
