"""An independent baidu_std client (brpc-java) against the real brpc server, in every memory mode.

Builds the client with Maven in a copy of this folder, runs it against one server per mode, and wants
the right answers and the same lines from all of them. Ends with 77, "absent: ...", when Maven cannot
have the client's packages.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODES = ("heap", "arena", "pages", "reuse", "codec")
ABSENT = 77
# Four compressions, six calls each.
LINES = 24
# cglib, by which brpc-java makes its proxies, defines classes by reflection.
JAVA_OPTIONS = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")


def protobuf_version(protoc):
    """The release of the Java library that goes with a protoc."""
    said = subprocess.run([protoc, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"libprotoc ([\d.]+)", said).group(1)
    return version if version.startswith("3.") else f"4.{version}"


def build(options):
    """The client's class path, or None when its packages cannot be had."""
    folder = options.build_dir
    shutil.rmtree(folder / "src", ignore_errors=True)
    shutil.copytree(HERE / "src", folder / "src")
    shutil.copy(HERE / "pom.xml", folder)
    subprocess.run([options.protoc, f"--proto_path={options.proto_dir}",
                    f"--java_out={folder / 'src/main/java'}", "harena/test/brpc_work.proto"],
                   check=True)
    done = subprocess.run([options.mvn, "-q", "-B", "compile", "dependency:copy-dependencies",
                           f"-Dprotobuf.version={protobuf_version(options.protoc)}",
                           "-DoutputDirectory=target/lib"], cwd=folder, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        said = done.stdout + done.stderr
        if re.search(r"Could not (transfer|resolve|find)|Unknown host|offline mode", said):
            print(f"absent: Maven cannot have the client's packages:\n{said[:1500]}")
            return None
        raise SystemExit(f"the client does not build:\n{said[-3000:]}")
    return f"{folder / 'target/classes'}:{folder / 'target/lib'}/*"


def lines_of(options, class_path, mode):
    """What the client prints about a server in `mode`."""
    server = subprocess.Popen([options.server, mode], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().strip()
        done = subprocess.run([options.java, *JAVA_OPTIONS, "-cp", class_path,
                               "harena.interop.Client", port], capture_output=True, text=True,
                              check=False, timeout=400)
    finally:
        server.stdin.close()
        code = server.wait(timeout=60)
    if done.returncode != 0 or code != 0:
        raise SystemExit(f"mode {mode}: client {done.returncode}, server {code}\n"
                         f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout.splitlines()


def main():
    """Compares all modes; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for program in ("server", "protoc", "mvn", "java"):
        parser.add_argument(f"--{program}", required=True)
    parser.add_argument("--proto-dir", required=True, type=Path)
    parser.add_argument("--build-dir", required=True, type=Path)
    options = parser.parse_args()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    class_path = build(options)
    if class_path is None:
        return ABSENT
    reference = lines_of(options, class_path, MODES[0])
    if len(reference) != LINES:
        raise SystemExit(f"{len(reference)} lines instead of {LINES}: {reference}")
    for mode in MODES[1:]:
        lines = lines_of(options, class_path, mode)
        if lines != reference:
            differing = [pair for pair in zip(reference, lines) if pair[0] != pair[1]]
            raise SystemExit(f"mode {mode} answers otherwise than heap: {differing or lines}")
    print(f"{LINES} calls in {len(MODES)} modes: the same answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
