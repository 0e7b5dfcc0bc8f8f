#!/usr/bin/env python3
"""Compiles what protoc and protoc-gen-harena make of schemas that nobody would write.

Each seed is a schema (random_schema.h). Its C++ with the codec in it must compile wherever protoc's own
does; where protoc's own does not, the schema says nothing about the plugin and is counted.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def generate(options, directory, plugin):
    directory.mkdir()
    command = [options.protoc, f"--proto_path={directory.parent}", f"--cpp_out={directory}"]
    if plugin:
        command += [f"--plugin=protoc-gen-harena={options.plugin}",
                    f"--harena_out=codec:{directory}"]
    subprocess.run([*command, "random.proto"], check=True, capture_output=True, text=True)


def compiles(options, directory):
    """What the compiler has against it, or nothing."""
    done = subprocess.run(
        [options.compiler, "-std=c++20", "-fsyntax-only", f"-I{options.include}", f"-I{directory}",
         str(directory / "random.pb.cc")],
        capture_output=True, text=True, check=False)
    return done.stderr[:4000] or "no reason" if done.returncode else ""


def check(options, seed, directory):
    """Fails, as a text, or "stock", or ""."""
    schema = output([options.schemas, str(seed)])
    (directory / "random.proto").write_text(schema)
    try:
        generate(options, directory / "codec", plugin=True)
    except subprocess.CalledProcessError as error:
        try:
            generate(options, directory / "stock", plugin=False)
        except subprocess.CalledProcessError:
            return "stock"
        return f"protoc refuses seed {seed}: {error.stderr}\n{schema}"
    reason = compiles(options, directory / "codec")
    if not reason:
        return ""
    generate(options, directory / "stock", plugin=False)
    if compiles(options, directory / "stock"):
        return "stock"
    return f"seed {seed} does not compile: {reason}\n{schema}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("plugin", "protoc", "schemas", "compiler", "include"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--seeds", type=int, default=24, help="how many schemas")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    failed = stock = 0
    for seed in range(options.first, options.first + options.seeds):
        with tempfile.TemporaryDirectory() as directory:
            found = check(options, seed, Path(directory))
        if found == "stock":
            stock += 1
        elif found:
            failed += 1
            print(found, file=sys.stderr)
    print(f"{options.seeds - failed - stock} compiled, {stock} are no C++ without the plugin either, "
          f"{failed} failed")
    return 1 if failed or 2 * stock > options.seeds else 0


if __name__ == "__main__":
    sys.exit(main())
