"""Server and loader processes: starting, preloading, watching, stopping."""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common.allocators import library_of  # noqa: E402
from common.machine import rss_bytes_of  # noqa: E402

START_SECONDS = 20


class DemoError(Exception):
    """Something the reader can mend; the message says how."""


def modes_of(server):
    """The modes that a server program knows, heap first."""
    listing = subprocess.run([server, "--list-modes"], capture_output=True, text=True,
                             check=True).stdout
    return tuple(listing.split())


class Programs:
    """The built programs. `go` is None, or the Go programs (go_programs.GoPrograms)."""

    def __init__(self, build_dir, go=None):
        self.go = go
        self.server = Path(build_dir) / "bench/demo/harena_demo_server"
        self.server_codec = Path(build_dir) / "bench/demo/harena_demo_server_codec"
        self.loader = Path(build_dir) / "bench/demo/harena_demo_loader"
        self.counter = Path(build_dir) / "bench/tools/libharena_alloc_count.so"
        for program in (self.server, self.server_codec, self.loader, self.counter):
            if not program.exists():
                raise DemoError(f"{program} is missing: build first (make build), "
                                f"or name the build with --build-dir")

    def server_of(self, cell):
        """The server program of a cell's language and mode. The messages of mode codec are other
        C++ types of the same names, so they need a program of their own."""
        if cell.language == "Go":
            return self.go.server
        return self.server_codec if cell.mode == "codec" else self.server

    def modes(self):
        """The modes that the C++ servers were built with, heap first."""
        return modes_of(self.server) + modes_of(self.server_codec)

    def describe(self):
        """Workloads with their sizes, and versions."""
        text = subprocess.run([self.loader, "--describe"], capture_output=True, text=True,
                              check=True).stdout
        return json.loads(text)


class Server:
    """One server process. It ends when its standard input closes: it cannot outlive us. `under` is a
    command to run it under."""

    def __init__(self, programs, cell, cpu, count_file=None, options=(), under=()):
        self.cell = cell
        preload = []
        if cell.language == "C++":  # Go counts and allocates by itself
            allocator = library_of(cell.allocator)
            preload = [str(programs.counter.resolve())] if count_file else []
            preload += [allocator] if allocator else []
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        if preload:
            environment["LD_PRELOAD"] = ":".join(preload)
        if count_file:
            environment["HARENA_ALLOC_COUNT_FILE"] = str(count_file)
        self._errors = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(
            [*under, programs.server_of(cell), "--mode", cell.mode, "--cpu", str(cpu), "--port", "0",
             *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=environment)
        answer = self._answer("did not start")
        self.port, self.pid = answer["port"], answer["pid"]
        for library in preload:
            if Path(library).resolve().name not in Path(f"/proc/{self.pid}/maps").read_text():
                raise self.failure(f"{library} was not loaded")

    def _answer(self, failed):
        """The next line that the process prints, as JSON."""
        ready, _, _ = select.select([self._process.stdout], [], [], START_SECONDS)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise self.failure(failed)
        return json.loads(line)

    def usage(self):
        """What the process has used so far by its own count. Go servers only."""
        self._process.stdin.write("usage\n")
        self._process.stdin.flush()
        return self._answer("did not say what it has used")

    def failure(self, what):
        """An error with the process's own last words."""
        _, words = self.end()
        return DemoError(f"server {self.cell.language}, {self.cell.mode} "
                         f"({self.cell.allocator}): {what}. {words[-2000:].strip()}")

    def end(self):
        """Ends the process; returns (its exit code, what it wrote to standard error)."""
        self.stop()
        self._errors.seek(0)
        return self._process.returncode, self._errors.read()

    def check_alive(self):
        """Raises if the process has ended."""
        if self._process.poll() is not None:
            raise self.failure(f"ended with {self._process.returncode} while it was needed")

    def rss_bytes(self):
        """Resident memory now."""
        return rss_bytes_of(self.pid)

    def rss_peak_bytes(self):
        """Resident memory at its highest."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def stop(self):
        """Ends the process: gracefully, and after ten seconds by force."""
        if self._process.poll() is None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


@contextlib.contextmanager
def running(programs, cells, cpu, options=()):
    """One server for each cell, all on the same core and with the same options; they idle until they are loaded."""
    servers = {}
    try:
        for cell in cells:
            servers[cell] = Server(programs, cell, cpu, options=options)
        yield servers
    finally:
        for server in servers.values():
            server.stop()


def load(programs, server, cpu, **options):
    """Runs the loader once against `server` and returns its report; for a Go server with what the
    server used meanwhile, warm-up included."""
    command = [str(programs.loader), "--port", str(server.port), "--pid", str(server.pid),
               "--cpu", str(cpu), "--workload", server.cell.workload]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    is_go = server.cell.language == "Go"
    before = server.usage() if is_go else {}
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=float(options.get("seconds", 1)) + 60)
    server.check_alive()
    if done.returncode != 0:
        raise DemoError(f"loader for {server.cell.workload}, {server.cell.mode}: "
                        f"{done.stderr.strip()[-2000:]}")
    report = json.loads(done.stdout)
    if is_go:
        after = server.usage()
        report["go_usage"] = {key: after[key] - before[key] for key in before}
    return report


def send_bomb(programs, server):
    """Sends a Go server a request that takes far more memory than it has bytes, and then an
    ordinary one; returns what became of both."""
    done = subprocess.run([programs.go.bomb, "-port", str(server.port)], capture_output=True,
                          text=True, check=False, timeout=60)
    server.check_alive()
    if done.returncode != 0:
        raise DemoError(f"the over-budget request: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)
