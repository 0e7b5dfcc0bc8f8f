"""Finding Go and building programs of bench/go with it."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class GoMissing(Exception):
    """There is no Go to build with; the message says so and how to get one."""


class GoBroken(Exception):
    """A program does not build; the message has the compiler's words."""


def find_go():
    """The Go program to use. Raises GoMissing."""
    found = subprocess.run([ROOT / "tools/go_path.sh"], capture_output=True, text=True,
                           check=False)
    if found.returncode != 0:
        raise GoMissing(found.stderr.strip())
    return found.stdout.strip()


def build(go, folder, programs, **variables):
    """Builds programs of bench/go/cmd into a folder, by that module's own go.mod; quick when
    nothing has changed. `variables` are added to the environment. Raises GoBroken."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [go, "build", "-o", f"{folder.resolve()}/", *(f"./cmd/{name}" for name in programs)],
        cwd=ROOT / "bench/go", env={**os.environ, "GOWORK": "off", **variables},
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GoBroken(f"the Go programs do not build:\n{done.stderr.strip()[-3000:]}")
