"""The benchmark's processes: one per mode, all at once, each runs a slice when it is told to."""

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

BASELINE = "heap"
# In the order of the tables. The codec's types have the same C++ names as the others, so that mode
# has a program of its own.
MODES = ["heap", "heap_clear", "arena", "pages", "reuse", "codec"]
BOUNDS = ["bound_memcpy", "bound_scan"]
CODEC_MODES = {"codec"}

ANSWER_SECONDS = 600


class BenchError(Exception):
    """Something the reader can mend; the message says how."""


class Programs:
    """The built programs."""

    def __init__(self, stock, codec, counter, advice):
        """The last is what to do when one of them is missing."""
        self.stock, self.codec, self.counter = stock, codec, counter
        for needed in (self.stock, self.codec, self.counter):
            if not needed.exists():
                raise BenchError(f"{needed} is missing: {advice}")

    @classmethod
    def of_build(cls, build_dir):
        """Those of a build of this tree."""
        folder = (Path(build_dir) / "bench").resolve()
        return cls(folder / "messages/harena_bench_messages",
                   folder / "messages/harena_bench_messages_codec",
                   folder / "tools/libharena_alloc_count.so",
                   "build first (make build), or name the build with --build-dir")

    def of(self, mode):
        """The program that has this mode."""
        return self.codec if mode in CODEC_MODES else self.stock


def environment_with(libraries, **variables):
    """This process's environment, with these libraries preloaded and no others."""
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | variables
    if libraries:
        environment["LD_PRELOAD"] = ":".join(map(str, libraries))
    return environment


def run_once(program, arguments, allocator="glibc", preload=(), **variables):
    """One run of the program; its JSON."""
    libraries = [*preload, *filter(None, [library_of(allocator)])]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False,
                          env=environment_with(libraries, **variables))
    if done.returncode != 0:
        raise BenchError(f"{program.name} {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


class ModeProcess:
    """One mode of one workload under one allocator, warm and waiting. It ends when its standard input
    closes: it cannot outlive us."""

    def __init__(self, programs, mode, arguments, allocator):
        self._name = f"{mode}, {allocator}"
        self._mode = mode
        self._errors = tempfile.TemporaryFile(mode="w+")
        self._process = subprocess.Popen(
            [str(programs.of(mode)), "--serve", "--modes", mode, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env=environment_with(list(filter(None, [library_of(allocator)]))))
        self._ready = None

    def request_bytes(self):
        """Waits until the process is warm; the mean size of its requests."""
        if self._ready is None:
            self._ready = self._answer()
        return self._ready["request_bytes"]

    def slice(self):
        """Runs one slice: nanoseconds per request by phase, CPU, throughput."""
        self.request_bytes()
        with contextlib.suppress(BrokenPipeError):  # why it ended is told by the answer
            self._process.stdin.write(self._mode + "\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise BenchError(f"{self._name}: no answer. {self.stop()}")
        return json.loads(line)

    def stop(self):
        """Ends the process: gracefully, and after ten seconds by force. Returns its last words."""
        if self._errors.closed:
            return ""
        if self._process.poll() is None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stdout.close()
        with self._errors:
            self._errors.seek(0)
            return self._errors.read()[-2000:].strip()


def interleaved(programs, modes, arguments, allocator, rounds):
    """Slices by mode, and the mean size of the requests. All modes are alive at once and take turns,
    every other round backwards: what disturbs the machine disturbs neighbours alike."""
    processes = {}
    try:
        for mode in modes:
            processes[mode] = ModeProcess(programs, mode, arguments, allocator)
            # One after the other: two that warm up at once would be two busy cores.
            request_bytes = processes[mode].request_bytes()
        slices = {mode: [] for mode in modes}
        for number in range(rounds):
            for mode in modes if number % 2 == 0 else reversed(modes):
                slices[mode].append(processes[mode].slice())
        return slices, request_bytes
    finally:
        for process in processes.values():
            process.stop()


def count_allocations(programs, modes, arguments):
    """Heap allocations per request by mode, in processes of their own. They are counted before they
    reach an allocator, so one allocator stands for all."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for mode in modes:
            counted = run_once(programs.of(mode), [*arguments, "--modes", mode, "--count"],
                               preload=[programs.counter],
                               HARENA_ALLOC_COUNT_FILE=f"{folder}/{mode}")
            counts[mode] = counted["heap_allocs_per_request"][mode]
    return counts
