#!/usr/bin/env python3
"""Installs the packages in a clean Debian and builds and runs the README's example there.

  packaging/test/test_packages.py out/packages

The clean Debian is of this machine's release and from the mirrors of its apt, with apt's settings. Its base
and what it downloads are kept in the user's cache folder (XDG_CACHE_HOME); the rest is removed at the end.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench/replay"))
import feed_test  # noqa: E402 (the path line above makes it importable)

PROTOS = ("harena/bench/v1/demo.proto", "harena/bench/v1/ranking.proto",
          "transit_realtime/gtfs_realtime.proto", "vector_tile/vector_tile.proto")
BUILD_TOOLS = ("g++", "cmake", "make", "pkg-config")
EMPTY_SERVICE = "CallbackService {};  // your handlers"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def output(*command) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def sources(listed: str, release: str) -> list[str]:
    """sources.list of the mirrors from which apt has this release of Debian."""
    lines = set()
    for line in listed.splitlines():
        origin, codename, suite, component, uri = line.split("|")
        if origin == "Debian" and codename.startswith(release):
            lines.add(f"deb {uri} {suite} {component}")
    return sorted(lines)


def settings(dump: str) -> list[str]:
    """The lines of `apt-config dump` that say how to reach a mirror, and what to think of its dates."""
    wanted = re.compile(r"Acquire::(?:https?|ftp|Retries|Check-Date|Check-Valid-Until)(?:::\S+)? \".+\";")
    return [line for line in dump.splitlines() if wanted.fullmatch(line)]


def example(readme: str) -> str:
    """The README's first C++ block, with a handler where it says that there are some."""
    block = re.search(r"^```cpp\n(.*?)^```", readme, re.MULTILINE | re.DOTALL).group(1)
    if block.count(EMPTY_SERVICE) != 1:
        raise ValueError(f"README.md: no `{EMPTY_SERVICE}` in its first C++ block; see handlers.inc")
    return block.replace(EMPTY_SERVICE, 'CallbackService {\n#include "handlers.inc"\n};')


class CleanDebian:
    """One chroot, removed at the end. Commands in it see their own processes and mounts only."""

    def __init__(self, base: Path, archives: Path):
        self.root = Path(tempfile.mkdtemp(prefix="harena-debian-", dir="/var/tmp"))
        self.archives = archives
        subprocess.run(["tar", "-xf", base, "-C", self.root], check=True)

    def run(self, *command, network: bool = True) -> None:
        """Runs it, and shows what it says."""
        print("+", *command, flush=True)
        self.start(command, network)

    def output(self, *command) -> str:
        """What it says, without a network."""
        return self.start(command, network=False, text=True, stdout=subprocess.PIPE).stdout

    def start(self, command, network: bool, **more) -> subprocess.CompletedProcess:
        script = 'mount -t proc proc "$0/proc"; mount --bind "$1" "$0/var/cache/apt/archives"; '
        if not network:
            script += "ip link set lo up; "
        script += 'root=$0; shift; exec chroot "$root" "$@"'
        isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"])]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive",
                       **{name: os.environ[name] for name in PROXIES if name in os.environ}}
        return subprocess.run([*isolated, "sh", "-euc", script, self.root, self.archives, *command], check=True,
                              env=environment, timeout=3600, **more)

    def remove(self) -> None:
        shutil.rmtree(self.root)


def make_base(cache: Path, release: str) -> Path:
    """A minimal Debian as a tarball, made once."""
    base = cache / f"{release}-{output('dpkg', '--print-architecture').strip()}.tar"
    if not base.is_file():
        print(f"packages: making a clean Debian in {base}", flush=True)
        fields = "$(ORIGIN)|$(CODENAME)|$(RELEASE)|$(COMPONENT)|$(REPO_URI)"
        mirrors = sources(output("apt-get", "indextargets", "--format", fields, "Created-By: Packages"), release)
        if not mirrors:
            sys.exit(f"packages: apt knows no mirror of Debian's {release}: `apt-get update`, then again")
        options = [f"--aptopt={line}" for line in settings(output("apt-config", "dump"))]
        unfinished = base.with_suffix(".unfinished.tar")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", *options, release, unfinished, *mirrors],
                       check=True)
        unfinished.rename(base)
    return base


def lay_out(debian: Path, packages: list[Path]) -> None:
    """The repository with the packages, and the project that will use them."""
    repository = debian / "srv/packages"
    repository.mkdir(parents=True)
    for package in packages:
        shutil.copy(package, repository)
    (repository / "Packages").write_text(subprocess.run(
        ["dpkg-scanpackages", "--multiversion", "."], cwd=repository, check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    (debian / "etc/apt/sources.list.d/harena.list").write_text("deb [trusted=yes] file:/srv/packages ./\n")

    project = debian / "srv/example"
    project.mkdir()
    for name in ("CMakeLists.txt", "client.cc", "handlers.inc", "build_example.sh", "call_example.sh",
                 "replay_example.sh"):
        shutil.copy(HERE / name, project)
    for name in PROTOS:
        (project / "proto" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "proto" / name, project / "proto" / name)
    (project / "server.cc").write_text(example((ROOT / "README.md").read_text(encoding="utf-8")))
    feed_test.make_capture(project / "capture")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path, help="the folder with the packages")
    args = parser.parse_args()
    packages = sorted(args.packages.glob("*.deb"))
    if not packages:
        sys.exit(f"packages: no package in {args.packages}: `make package` builds them")
    if os.geteuid() != 0:
        sys.exit("packages: a chroot needs root: `sudo make test-packages`, or run it in a container as root")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "harena"
    archives = cache / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    release = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.MULTILINE).group(1)
    debian = CleanDebian(make_base(cache, release), archives)
    try:
        lay_out(debian.root, packages)
        names = [output("dpkg-deb", "--field", package, "Package").strip() for package in packages]
        debian.run("apt-get", "-q", "update")
        debian.run("apt-get", "-qq", "-y", "--no-install-recommends", "install", *BUILD_TOOLS, *names)
        debian.run("/srv/example/build_example.sh")
        debian.run("/srv/example/call_example.sh", network=False)
        told, packaged = debian.output("harena", "version"), output("dpkg-deb", "--field", packages[0], "Version")
        if not told.startswith(f"harena {packaged.rpartition('-')[0]}, "):
            sys.exit(f"packages: `harena version` says {told!r} in packages of version {packaged}")
        debian.run("/srv/example/replay_example.sh", network=False)
        debian.run("apt-get", "-qq", "-y", "purge", *names)
        left = [str(path) for folder in ("usr/include/harena", "usr/bin/protoc-gen-harena", "usr/bin/harena",
                                                     "usr/share/harena", "usr/libexec/harena")
                if (path := debian.root / folder).exists()]
        if left:
            sys.exit(f"packages: left behind by their removal: {' '.join(left)}")
    finally:
        debian.remove()
    print(f"packages: {', '.join(names)}: installed, used and removed in a clean {release}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
