"""A Debian unstable with protobuf and gRPC from experimental, in a folder of the cache. Root only."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import problem

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging/test"))
import test_packages  # noqa: E402 (the path line above makes it importable)

MIRROR = "http://deb.debian.org/debian"
PACKAGES = ("g++", "cmake", "ninja-build", "ccache", "pkg-config", "python3", "python3-grpcio", "python3-h2",
            "libabsl-dev", "prometheus-cpp-dev", "libboost-dev", "nlohmann-json3-dev", "libyaml-cpp-dev",
            "libgtest-dev", "libgmock-dev", "librapidcheck-dev", "libbenchmark-dev", "libcli11-dev")
FROM_EXPERIMENTAL = ("libprotobuf-dev", "libprotoc-dev", "protobuf-compiler", "libgrpc++-dev",
                     "protobuf-compiler-grpc")
# Mounts and processes of a command are its own, and gone with it.
ENTER = """
root=$0; tree=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir -p "$root$tree"
mount --bind "$tree" "$root$tree"
exec chroot "$root" "$@"
"""


class Unstable:
    """Made once, then used again. Remove the folder to have it made of the packages of the day."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.root = folder / "root"
        self.log = folder / "chroot.log"

    def __enter__(self) -> "Unstable":
        if os.geteuid() != 0:
            raise problem.NotTried("a chroot of Debian unstable needs root")
        done = self.folder / "done.txt"
        wanted = "\n".join((*PACKAGES, *FROM_EXPERIMENTAL)) + "\n"
        if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
            self.make()
            done.write_text(wanted, encoding="utf-8")
        return self

    def __exit__(self, *_) -> None:
        pass

    def make(self) -> None:
        if not shutil.which("mmdebstrap"):
            raise problem.NotTried("mmdebstrap is missing: `tools/setup.sh mmdebstrap` installs it")
        print(f"protobuf: making a Debian unstable in {self.root} (log: {self.log})", flush=True)
        shutil.rmtree(self.root, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)
        options = [f"--aptopt={line}" for line in test_packages.settings(test_packages.output("apt-config", "dump"))]
        self.had(commands.on_host, ["mmdebstrap", "--variant=minbase", *options, "unstable", self.root, MIRROR],
                 dict(os.environ), "Debian unstable could not be made")
        (self.root / "etc/apt/sources.list.d/experimental.list").write_text(
            f"deb {MIRROR} experimental main\n", encoding="utf-8")
        install = ["apt-get", "-qq", "-y", "--no-install-recommends", "install"]
        for command in (["apt-get", "-q", "update"], [*install, *PACKAGES],
                        [*install, "-t", "experimental", *FROM_EXPERIMENTAL],
                        # What protobuf and gRPC were built with.
                        [*install, "-t", "unstable", "libabsl-dev"]):
            self.had(self.run, command, self.environment(), "its packages could not be installed")

    def had(self, runner: commands.Runner, command: list, environment: dict, what: str) -> None:
        commands.must(runner, command, self.log, environment, what, problem.NotTried)

    def environment(self) -> dict:
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                "DEBIAN_FRONTEND": "noninteractive",
                **{name: os.environ[name] for name in test_packages.PROXIES if name in os.environ}}

    def run(self, command: list, log: Path, environment: dict) -> int:
        """In the chroot, in which the tree lies where it lies outside."""
        inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                  "sh", "-euc", ENTER, self.root, ROOT, *command]
        return commands.on_host([str(part) for part in inside], log, environment)

    def release(self) -> str:
        """protobuf's version there, without Debian's revision."""
        said = subprocess.run(["dpkg-query", f"--root={self.root}", "-W", "-f", "${Version}", "libprotobuf-dev"],
                              check=True, text=True, stdout=subprocess.PIPE).stdout
        return said.rpartition("-")[0]
