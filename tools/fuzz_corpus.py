#!/usr/bin/env python3
"""Makes the corpora that the tests replay out of what libFuzzer has kept.

For each target the inputs of `<build-dir>/corpus/<target>` and of `<out>/<target>` are merged, smallest
first, and as many of the smallest are left as a corpus in the repository may have. Inputs whose names
say what they are (anything but a hash) are kept always: they are findings that were mended.

    tools/fuzz_corpus.py --build-dir build/fuzz --out testdata/fuzz TARGET...
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FILES_MAX = 200
BYTES_MAX = 200_000
HASH = re.compile(r"^[0-9a-f]{40}$")


def fitting(sizes, files_max=FILES_MAX, bytes_max=BYTES_MAX):
    """The names of the smallest inputs that a corpus has room for; `sizes` are by name."""
    names = []
    for name in sorted(sizes, key=lambda name: (sizes[name], name)):
        bytes_max -= sizes[name]
        if len(names) == files_max or bytes_max < 0:
            break
        names.append(name)
    return names


def named(folder):
    """The inputs that are kept always."""
    return [path for path in sorted(folder.iterdir()) if not HASH.match(path.name)] if folder.is_dir() else []


def make(program, kept, corpus):
    """Puts the corpus of one program into the folder `corpus`; returns how many inputs it has."""
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        merged = Path(temporary)
        folders = [folder for folder in (corpus, kept) if folder.is_dir()]
        subprocess.run([program, "-merge=1", "-timeout=25", merged, *folders], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        keep = named(corpus)
        known = {path.read_bytes() for path in keep}
        sizes = {path.name: path.stat().st_size for path in merged.iterdir() if path.read_bytes() not in known}
        names = fitting(sizes, FILES_MAX - len(keep), BYTES_MAX - sum(path.stat().st_size for path in keep))
        for path in corpus.iterdir():
            if path not in keep:
                path.unlink()
        for name in names:
            shutil.copyfile(merged / name, corpus / name)
        return len(names) + len(keep)


def find(build_dir, target):
    """The programs of that name in a build."""
    return [path for room in ("cpp", "bench") for path in (build_dir / room).rglob(target) if path.is_file()]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("target", nargs="+")
    options = parser.parse_args(arguments)
    for target in options.target:
        programs = find(options.build_dir, target)
        if len(programs) != 1:
            print(f"fuzz_corpus: {target} is not in {options.build_dir}; build it first", file=sys.stderr)
            return 1
        inputs = make(programs[0], options.build_dir / "corpus" / target, options.out / target)
        print(f"{target}: {inputs} inputs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
