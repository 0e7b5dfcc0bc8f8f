#!/usr/bin/env python3
"""Installs a build into a fresh prefix, moves it, and builds and runs consumers against it."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# Of cmake/HarenaFlags.cmake and cmake/HarenaHardening.cmake.
FLAGS_OF_OUR_OWN = ("-Wall", "-Werror", "-fstack-protector", "-fcf-protection", "_FORTIFY_SOURCE", "-Wl,", "-fPIE",
                    "_GLIBCXX_ASSERTIONS", "-fsanitize")
# The pkg-config file of each layer's users, where there is one.
PACKAGES = {"mem": "harena", "guard": "harena", "pb": "harena", **{
    layer: f"harena-{layer}" for layer in ("config", "grpc", "brpc", "prometheus", "live")}}


def run(*command, env=None, cwd=None) -> str:
    """Runs a command and returns its output; a failure ends the test with that output."""
    command = [str(word) for word in command]
    print("+", shlex.join(command), flush=True)
    done = subprocess.run(command, env=env, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nexit code {done.returncode}")
    return done.stdout


class Consumers:
    """The consumers of one installed tree."""

    def __init__(self, args, prefix: Path):
        self.args = args
        self.prefix = prefix
        self.work = args.work_dir
        libdir = next(prefix.glob("**/pkgconfig"))
        # In front of the system's packages, not in place of them: harena requires protobuf.
        paths = [str(libdir)]
        if args.brpc_prefix:
            paths += [str(path) for path in args.brpc_prefix.glob("**/pkgconfig")]
        paths += filter(None, [os.environ.get("PKG_CONFIG_PATH")])
        self.env = dict(os.environ, PKG_CONFIG_PATH=":".join(paths))

    def by_find_package(self) -> None:
        """One project with a program per layer, each checking its own result."""
        build = self.work / "find_package"
        others = [self.args.brpc_prefix, self.args.trpc_prefix]
        prefixes = [self.prefix] + [other for other in others if other]
        run(self.args.cmake, "-S", HERE / "consumer", "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={';'.join(map(str, prefixes))}", f"-DCMAKE_CXX_COMPILER={self.args.cxx}",
            f"-DLAYERS={';'.join(self.args.layers)}")
        run(self.args.cmake, "--build", build)
        for layer in self.args.layers:
            run(build / f"use_{layer}")

    def by_pkg_config(self, layer: str) -> None:
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", PACKAGES[layer], env=self.env))
        program = self.work / f"pkg_config_{layer}"
        sources = [HERE / "consumer" / f"use_{layer}.cc"]
        if layer == "grpc":
            sources += self.generate_by_hand()
        run(self.args.cxx, "-std=c++20", f"-I{self.work}/gen", *sources, "-o", program, *flags)
        run(program, env=self.library_env())

    def library_env(self) -> dict[str, str]:
        """pkg-config says where a shared brpc is to be linked from, not where it is to be run from."""
        if not self.args.brpc_prefix:
            return dict(os.environ)
        folders = {str(path.parent) for path in self.args.brpc_prefix.glob("**/libbrpc.so")}
        return dict(os.environ, LD_LIBRARY_PATH=":".join(sorted(folders)))

    def generate_by_hand(self) -> list[Path]:
        """What harena_generate() does, for a build without CMake."""
        out = self.work / "gen"
        out.mkdir(exist_ok=True)
        run("protoc", f"-I{HERE / 'consumer'}", f"--cpp_out={out}", f"--grpc_out={out}",
            f"--harena_out={out}",
            f"--plugin=protoc-gen-grpc={shutil.which('grpc_cpp_plugin')}",
            f"--plugin=protoc-gen-harena={self.prefix / 'bin' / 'protoc-gen-harena'}",
            HERE / "consumer" / "echo.proto")
        return [out / "echo.pb.cc", out / "echo.grpc.pb.cc"]

    def no_flags_for_users(self) -> None:
        """What Harena is compiled with is its own business: users keep their warnings and hardening."""
        allowed = re.compile(r"-I\S+|-L\S+|-l\S+|-pthread")
        for package in sorted(path.stem for path in self.prefix.glob("**/pkgconfig/*.pc")):
            file = next(self.prefix.glob(f"**/pkgconfig/{package}.pc")).read_text(encoding="utf-8")
            for line in re.findall(r"^(?:Cflags|Libs): *(.*)$", file, re.MULTILINE):
                for flag in shlex.split(line):
                    if not allowed.fullmatch(flag):
                        sys.exit(f"{package}.pc gives its users the flag {flag}")
        targets = next(self.prefix.glob("**/harenaTargets.cmake")).read_text(encoding="utf-8")
        for name in ("INTERFACE_COMPILE_OPTIONS", "INTERFACE_COMPILE_DEFINITIONS", "INTERFACE_LINK_OPTIONS"):
            if name in targets:
                sys.exit(f"harenaTargets.cmake gives its users {name}")
        for flag in FLAGS_OF_OUR_OWN:
            if flag in targets:
                sys.exit(f"harenaTargets.cmake names {flag}")

    def no_boost_for_users(self) -> None:
        """A program may have another Boost, whose inline functions must not be taken for the live page's."""
        for library in sorted(self.prefix.glob("**/libharena_live.a")):
            if named := re.search(r"(?<!\w)boost::.*", run("nm", "-C", library)):
                sys.exit(f"{library.name} has names of Boost's: {named.group()}")

    def every_header_is_there(self) -> None:
        """A translation unit that includes each installed header: none may miss another."""
        include = self.prefix / "include"
        headers = sorted(path.relative_to(include) for path in include.rglob("*.h"))
        if not headers:
            sys.exit("no header was installed")
        unit = self.work / "headers.cc"
        unit.write_text("".join(f'#include "{header}"\n' for header in headers))
        others = [f"-isystem{other}/include" for other in (self.args.brpc_prefix, self.args.trpc_prefix) if other]
        others += ["-DTRPC_PROTO_USE_ARENA"] if self.args.trpc_prefix else []
        run(self.args.cxx, "-std=c++20", "-fsyntax-only", f"-I{include}", *others, unit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, required=True, help="a complete build")
    parser.add_argument("--work-dir", type=Path, required=True, help="is emptied first")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--layers", nargs="+", required=True, choices=[*PACKAGES, "trpc"])
    parser.add_argument("--brpc-prefix", type=Path, help="where brpc is installed")
    parser.add_argument("--trpc-prefix", type=Path, help="where tRPC-Cpp is installed")
    args = parser.parse_args()

    shutil.rmtree(args.work_dir, ignore_errors=True)
    args.work_dir.mkdir(parents=True)
    staged, prefix = args.work_dir / "staged", args.work_dir / "moved" / "prefix"
    environment = {key: value for key, value in os.environ.items() if key != "DESTDIR"}
    run(args.cmake, "--install", args.build_dir, "--prefix", staged, env=environment)
    prefix.parent.mkdir()
    staged.rename(prefix)  # an installed tree may be moved

    consumers = Consumers(args, prefix)
    consumers.no_flags_for_users()
    consumers.no_boost_for_users()
    consumers.every_header_is_there()
    consumers.by_find_package()
    for layer in args.layers:
        if layer in PACKAGES:
            consumers.by_pkg_config(layer)


if __name__ == "__main__":
    main()
