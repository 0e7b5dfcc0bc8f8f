#!/usr/bin/env python3
"""What the generated codec adds to a .pb.cc: machine code and compile time: `make bench-codegen`.

Compiles every bench schema's .pb.cc as protoc alone writes it and with the codec, in turn, several
times over. Prints a table per file and per message, and writes out/bench/codegen.json.
"""

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from programs import BenchError
from tables import aligned

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-O2", "-DNDEBUG", "-std=c++20", "-c", "-w"]
VARIANTS = {"stock": "harena_bench_proto.gen", "codec": "harena_bench_codec_proto.gen"}
# Code that no message's name stands in: templates of protobuf and the standard library.
SHARED = "(shared)"

LIMITS = f"""\
Compiled with {' '.join(FLAGS)}, without ccache. Bytes are those of the sections .text*; templates that
several files instantiate are counted in each, though a program keeps them once. Seconds are the
compiler's CPU time, medians. `source` is the ratio of the .pb.cc files' own sizes. A function belongs
to the first message that its name names."""


def sections_text_bytes(listing):
    """The sum of the .text sections in the output of `size -A`."""
    return sum(int(size) for size in re.findall(r"^\.text\S*\s+(\d+)", listing, re.MULTILINE))


def message_classes(header):
    """The message classes that a .pb.h declares, map entries among their owners: {class: message}."""
    names = re.findall(r"^class (\w+)(?: final)? ?:", header, re.MULTILINE)
    messages = [name for name in names if not name.endswith("_DoNotUse")]
    owner = {name: name for name in messages}
    for entry in set(names) - set(messages):
        owners = [m for m in messages if entry.startswith(m + "_")]
        if owners:
            owner[entry] = max(owners, key=len)
    return owner


def bytes_by_message(listing, classes):
    """Code bytes by message from the output of `nm -S -C`. Constructors that are one function under
    two names count once."""
    pattern = re.compile(r"\b(" + "|".join(sorted(map(re.escape, classes), key=len, reverse=True))
                         + r")\b")
    functions = set()
    for line in listing.splitlines():
        found = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwWiu] (.*)", line)
        if found:
            functions.add(found.groups())
    sums = dict.fromkeys(classes.values(), 0)
    sums[SHARED] = 0
    for _, size, name in functions:
        named = pattern.search(name)
        sums[classes[named.group(1)] if named else SHARED] += int(size, 16)
    return sums


def compile_once(compiler, source, generated, output):
    """CPU seconds of one compilation."""
    command = [*compiler, *FLAGS, f"-I{generated}", f"-I{ROOT / 'cpp'}", str(source), "-o",
               str(output)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise BenchError(f"{shlex.join(command)}:\n{done.stderr.strip()[-3000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def output_of(*command):
    """What a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def measure(name, folders, compiler, times):
    """One schema in both variants."""
    sources = {variant: folder / f"{name}.pb.cc" for variant, folder in folders.items()}
    if sources["stock"].read_bytes() == sources["codec"].read_bytes():
        raise BenchError(f"{sources['codec']} carries no codec: there is nothing to compare")
    classes = message_classes((folders["stock"] / f"{name}.pb.h").read_text(encoding="utf-8"))
    seconds = {variant: [] for variant in sources}
    result = {"file": f"{name}.pb.cc", "messages": len(set(classes.values()))}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            for variant in sources if number % 2 == 0 else reversed(sources):
                seconds[variant].append(compile_once(
                    compiler, sources[variant], folders[variant], f"{folder}/{variant}.o"))
        for variant, source in sources.items():
            built = f"{folder}/{variant}.o"
            result[variant] = {
                "source_bytes": source.stat().st_size,
                "text_bytes": sections_text_bytes(output_of("size", "-A", built)),
                "cpu_seconds": round(median(seconds[variant]), 2),
                "text_bytes_by_message": bytes_by_message(output_of("nm", "-S", "-C", built),
                                                          classes)}
    result["text_ratio"] = round(result["codec"]["text_bytes"] / result["stock"]["text_bytes"], 3)
    result["cpu_ratio"] = round(median(c / s for c, s in zip(seconds["codec"], seconds["stock"])),
                                3)
    return result


def file_lines(results):
    """The table of the files, with a line for all of them."""
    def line(name, messages, stock, codec, cpu_ratio):
        return [name, str(messages), f"{stock['text_bytes']:,}", f"{codec['text_bytes']:,}",
                f"{codec['text_bytes'] / stock['text_bytes']:.2f}",
                f"{stock['text_bytes'] / messages:,.0f}", f"{codec['text_bytes'] / messages:,.0f}",
                f"{stock['cpu_seconds']:.2f}", f"{codec['cpu_seconds']:.2f}", f"{cpu_ratio:.2f}",
                f"{stock['cpu_seconds'] / messages:.3f}", f"{codec['cpu_seconds'] / messages:.3f}",
                f"{codec['source_bytes'] / stock['source_bytes']:.2f}"]
    lines = [line(r["file"], r["messages"], r["stock"], r["codec"], r["cpu_ratio"])
             for r in results]
    total = {variant: {key: sum(r[variant][key] for r in results)
                       for key in ("text_bytes", "cpu_seconds", "source_bytes")}
             for variant in VARIANTS}
    cpu_ratio = total["codec"]["cpu_seconds"] / total["stock"]["cpu_seconds"]
    return [*lines, line("all", sum(r["messages"] for r in results), total["stock"],
                         total["codec"], cpu_ratio)]


def message_lines(results):
    """The table of the messages."""
    lines = []
    for result in results:
        stock, codec = (result[v]["text_bytes_by_message"] for v in ("stock", "codec"))
        lines += [[f"{Path(result['file']).name}: {message}", f"{stock[message]:,}",
                   f"{codec[message]:,}",
                   f"{codec[message] / stock[message]:.2f}" if stock[message] else "-"]
                  for message in stock]
    return lines


def main():
    """Compiles it all; 0 when every number is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build/release", type=Path)
    parser.add_argument("--out", default="out/bench/codegen.json", type=Path)
    parser.add_argument("--times", type=int, default=3, help="compilations of each (default 3)")
    options = parser.parse_args()
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    folders = {variant: (options.build_dir / "proto" / folder).resolve()
               for variant, folder in VARIANTS.items()}
    try:
        names = sorted(str(path.relative_to(folders["stock"]))[:-len(".pb.cc")]
                       for path in folders["stock"].rglob("*.pb.cc")
                       if not path.name.endswith(".grpc.pb.cc"))
        if not names or not folders["codec"].exists():
            raise BenchError(f"no generated code in {options.build_dir}/proto: build first (make "
                             "build), or name the build with --build-dir")
        results = [measure(name, folders, compiler, options.times) for name in names]
    except (BenchError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench-codegen: {error}", file=sys.stderr)
        return 1
    version = output_of(*compiler, "--version").splitlines()[0]
    print(f"{LIMITS}\nCompiler: {version}\n")
    print(aligned(["file", "messages", "stock text", "codec text", "ratio", "stock/msg",
                   "codec/msg", "stock s", "codec s", "ratio", "stock/msg", "codec/msg", "source"],
                  file_lines(results)))
    print()
    print(aligned(["message", "stock text", "codec text", "ratio"], message_lines(results)))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"limits": LIMITS, "compiler": version, "flags": FLAGS,
                                       "files": results}, indent=1) + "\n", encoding="utf-8")
    print(f"\nwrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
