"""Builds an archive's protobuf and installs it into the cache folder, once."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import archives
import commands
import sources
import table

HERE = Path(__file__).resolve().parent
# What decides what is in a prefix, beside the archive and the compiler.
RECIPE = ("CMakeLists.txt", "protoc_main.cc", "sources.py")


def stamp(version: table.Version, compiler: str) -> str:
    """Names what a prefix was made from."""
    digest = hashlib.sha256()
    for name in RECIPE:
        digest.update((HERE / name).read_bytes())
    said = subprocess.run([compiler, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return f"{version.archive} {version.sha256}\nrecipe {digest.hexdigest()}\n{said.splitlines()[0]}\n"


def make(version: table.Version, index: str, cache: Path, jobs: int) -> Path:
    """The prefix with this protobuf. Downloads and builds what is missing."""
    archive = archives.get(index, version.archive, version.sha256, cache / "archives")
    folder = cache / version.name
    prefix, done = folder / "prefix", folder / "made_from.txt"
    wanted = stamp(version, os.environ.get("CXX", "c++"))
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return prefix
    print(f"protobuf {version.name}: building protobuf {version.release} in {folder}", flush=True)
    done.unlink(missing_ok=True)
    shutil.rmtree(folder / "build", ignore_errors=True)
    shutil.rmtree(prefix, ignore_errors=True)
    source, build = folder / "source", folder / "build"
    archives.unpack(archive, source)
    includes = sources.write_lists(source, build)
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    launcher = shutil.which("ccache")
    launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX") if launcher]
    environment = dict(os.environ)
    commands.must(commands.on_host, [
        "cmake", "-G", "Ninja", "-S", HERE, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *launchers,
        f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DSOURCE_DIR={source}", f"-DLISTS_DIR={build}",
        f"-DINCLUDES={';'.join(includes)}", f"-DRELEASE={version.release}",
    ], log, environment, f"protobuf {version.release} could not be configured")
    commands.must(commands.on_host, ["cmake", "--build", build, "-j", jobs], log, environment,
                  f"protobuf {version.release} did not build")
    commands.must(commands.on_host, ["cmake", "--install", build], log, environment,
                  f"protobuf {version.release} could not be installed")
    done.write_text(wanted, encoding="utf-8")
    # Only its headers and libraries are needed from here on.
    for left in (source, build):
        shutil.rmtree(left)
    return prefix


def environment(prefix: Path) -> dict:
    """In which everything finds this protobuf first: this build, and what tests build and run."""
    (packages,) = prefix.glob("lib*/pkgconfig")
    found = {"CMAKE_PREFIX_PATH": prefix, "PKG_CONFIG_PATH": packages, "LD_LIBRARY_PATH": packages.parent}
    return {**os.environ, **{name: ":".join(filter(None, (str(first), os.environ.get(name))))
                             for name, first in found.items()}}
