#!/usr/bin/env python3
"""Builds this tree and runs its C++ tests with each protobuf that can be had.

    tools/protobuf_versions/run.py [--versions 3.21 36] [--jobs N] [--out out/protobuf]

The versions stand in versions.json beside this file. Some come as Debian packages, some are built out of
archives that are downloaded into the cache folder and compared with their pinned sha256, and one needs a
chroot, hence root. A version that cannot be had is a row that says why; it neither passes nor fails.

Writes results.json into --out, and prints the table of docs/codec.md. Exit code: 0 when all tests that ran
passed, 1 when one failed or something did not build, 2 when the arguments are wrong.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import chroot
import prefixes
import problem
import results
import table
import tree


def debian_release() -> str:
    """protobuf's version in this machine's packages."""
    try:
        return subprocess.run(["pkg-config", "--modversion", "protobuf"], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise problem.NotTried("this machine has no package of protobuf (`make setup` installs it)") from error


def row(version: table.Version, index: str, cache: Path, jobs: int) -> dict:
    build = tree.ROOT / "build" / f"protobuf-{version.name}"
    if version.way == "debian":
        release = debian_release()
        if not f"{release}.".startswith(f"{version.name}."):
            raise problem.NotTried(f"this machine's package of protobuf is {release}")
        return tree.test(version.name, release, build, [], jobs, tree.commands.on_host, dict(os.environ))
    if version.way == "archive":
        prefix = prefixes.make(version, index, cache, jobs)
        return tree.test(version.name, version.release, build, [*tree.WITHOUT_GRPC], jobs, tree.commands.on_host,
                         prefixes.environment(prefix))
    with chroot.Unstable(cache / "unstable") as unstable:
        return tree.test(version.name, unstable.release(), build, ["-DHARENA_BRPC=OFF", "-DHARENA_TRPC=OFF"], jobs,
                         unstable.run, unstable.environment())


def rows(versions: list[table.Version], index: str, cache: Path, jobs: int) -> list[dict]:
    found = []
    for version in versions:
        try:
            found.append(row(version, index, cache, jobs))
        except (problem.NotTried, problem.NotBuilt) as error:
            tried = isinstance(error, problem.NotBuilt)
            print(f"protobuf {version.name}: {'did not build' if tried else 'not tried'}: {error}", file=sys.stderr,
                  flush=True)
            found.append(results.row_without(version.name, str(error), tried))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", nargs="*", default=[], metavar="VERSION", help="these alone, e.g. 3.21 36")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many commands at once")
    parser.add_argument("--out", type=Path, default=tree.ROOT / "out/protobuf", help="for results.json")
    parser.add_argument("--cache", type=Path, help="default: $XDG_CACHE_HOME/harena/protobuf, or ~/.cache/...",
                        default=Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "harena/protobuf")
    args = parser.parse_args()
    try:
        index, versions = table.load()
        picked = table.pick(versions, args.versions)
    except ValueError as error:
        parser.error(str(error))
    found = rows(picked, index, args.cache.resolve(), args.jobs)
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "results.json"
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(f"\n{results.markdown(found)}\nprotobuf: written to {path}")
    return 0 if results.good(found) else 1


if __name__ == "__main__":
    sys.exit(main())
