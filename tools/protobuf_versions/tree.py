"""Builds this tree with one protobuf, runs its tests and asks it what it does."""

import json
import shutil
from pathlib import Path

import commands
import problem
import results

ROOT = Path(__file__).resolve().parents[2]
REPORT = "cpp/tests/codec_report/harena_codec_report"
# Without gRPC and what is built upon it: those of other protobufs are not there.
WITHOUT_GRPC = ("-DHARENA_GRPC=OFF", "-DHARENA_BRPC=OFF", "-DHARENA_TRPC=OFF", "-DHARENA_BENCHES=OFF",
                "-DHARENA_REPLAY=ON")


def environment_for(base: dict) -> dict:
    """With which ccache finds in one build folder what it compiled in another."""
    return {**base, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}


def configure(build: Path, options: list, log: Path, runner: commands.Runner, environment: dict) -> None:
    # Precompiled headers differ from folder to folder, so ccache could not share what was compiled with them.
    shared = ["-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"] if shutil.which("ccache") else []
    commands.must(runner, ["cmake", "--preset", "release", "-S", ROOT, "-B", build, *shared, *options], log,
                  environment, "the tree could not be configured")


def test(version: str, release: str, build: Path, options: list, jobs: int, runner: commands.Runner,
         environment: dict) -> dict:
    """The version's row. A release that is not empty is the one that the tree has to report."""
    build.mkdir(parents=True, exist_ok=True)
    log, junit, report = (build / name for name in ("matrix.log", "matrix_junit.xml", "matrix_report.txt"))
    for left in (log, junit, report):
        left.unlink(missing_ok=True)
    environment = environment_for(environment)
    print(f"protobuf {version}: building the tree in {build} (log: {log})", flush=True)
    configure(build, options, log, runner, environment)
    commands.must(runner, ["cmake", "--build", build, "-j", jobs], log, environment, "the tree did not build")
    commands.must(runner, [build / REPORT], report, environment, "the tree's report of its codec failed")
    said = report.read_text(encoding="utf-8")
    codec = results.read_codec(said.partition("\n")[2])  # behind the command
    if release and codec.protobuf != release:
        raise problem.NotBuilt(f"the tree reports protobuf {codec.protobuf}, and {release} was built for it")
    print(f"protobuf {version}: running the tests", flush=True)
    runner([str(part) for part in ("ctest", "--test-dir", build, "-LE", "^slow$", "-j", jobs, "--output-on-failure",
                                   "--no-tests=error", "--output-junit", junit)], log, environment)
    if not junit.is_file():
        raise problem.NotBuilt(f"ctest wrote no results; the log is {log}\n{commands.tail(log)}")
    counts = results.count(junit.read_text(encoding="utf-8"))
    built_with = json.loads((build / "built_with.json").read_text(encoding="utf-8"))
    print(f"protobuf {version}: {counts.passed} of {counts.tests} tests passed, {counts.failed} failed, "
          f"{counts.skipped} skipped; parser: {codec.parser}", flush=True)
    for name in counts.failures:
        print(f"protobuf {version}: failed: {name}", flush=True)
    return results.row(version, codec, built_with, counts)

