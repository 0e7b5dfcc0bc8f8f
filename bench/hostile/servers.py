"""The demo's servers of both languages in every mode, with limits and without."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from verdict import INVALID_ARGUMENT

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import gotool  # noqa: E402
from common.child import Child, ChildError  # noqa: E402
from soak.targets import LIMITS  # noqa: E402

STOCK = "heap"
# Modes of the demos that are neither Harena's nor the framework as it is.
FOREIGN = ("vtproto",)
# Modes that keep messages, which count as in use.
KEEPING = ("reuse",)
# The modes that each program must have: none may be left out unseen.
CPP_MODES = ("heap", "arena", "pages", "reuse")
PROGRAMS = (("grpc-cpp", "harena_demo_server", CPP_MODES), ("grpc-cpp", "harena_demo_server_codec", ("codec",)),
            ("grpc-go", "demo-server", ("heap", "vtproto", "codec")),
            ("connect-go", "connect-server", ("heap", "codec")))
GO_PROGRAMS = ("demo-server", "connect-server")
SIGNS = ("harena: FAULT", "panic:", "fatal error:", "was written after the Reset or Free")


@dataclass(frozen=True)
class Kind:
    """A server that can be started. `malformed` is the status that a malformed request gets; None for whatever the
    stock server answers."""

    framework: str
    program: Path
    mode: str
    limited: bool = False

    @property
    def harena(self):
        """Whether calls go through Harena."""
        return self.mode != STOCK and self.mode not in FOREIGN

    @property
    def malformed(self):
        """The stock gRPC C++ server answers UNIMPLEMENTED without a word. Harena's does not."""
        return INVALID_ARGUMENT if self.framework == "grpc-cpp" and self.harena else None

    def __str__(self):
        return f"{self.framework} {self.mode}{' with limits' if self.limited else ''}"


class Server(Child):
    """One that runs. It ends when this object is stopped, or we are."""

    def __init__(self, kind):
        super().__init__([kind.program, "--mode", kind.mode, "--counts", *(LIMITS if kind.limited else ())])
        self.harena, self.limited, self.malformed = kind.harena, kind.limited, kind.malformed
        self._left = ("scopes_live", "stale_writes", *(() if kind.mode in KEEPING else ("bytes_in_use",)))
        self.port = self.answer()["port"]

    def close(self):
        """Ends it."""
        self.stop()

    def has_ended(self, seconds):
        """How it has ended, after waiting so long for that; empty if it has not."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return ""
        self.stop()
        return f"ended with {self.exit_code}: {self.words[-300:].strip()}"

    def end(self):
        """Ends it; returns sentences on what is wrong then."""
        last = self.stop().strip()
        found = [f"it ended with {self.exit_code}"] if self.exit_code else []
        found += [f"it said '{self.words[self.words.index(sign):][:300]}'" for sign in SIGNS if sign in self.words]
        if not last:
            return found or ["it did not say what it counted"]
        counts = json.loads(last)
        for name in self._left:
            if counts.get(name):
                found.append(f"{name} is {counts[name]} when all is over")
        return found


def kinds(build_dir, go_folder):
    """All of them, those of stock first. Raises ChildError when one cannot be."""
    try:
        gotool.build(gotool.find_go(), go_folder, GO_PROGRAMS)
    except (gotool.GoMissing, gotool.GoBroken) as error:
        raise ChildError(str(error)) from error
    found = []
    for framework, name, expected in PROGRAMS:
        folder = Path(go_folder) if name in GO_PROGRAMS else Path(build_dir) / "bench/demo"
        program = (folder / name).resolve()
        if not program.exists():
            raise ChildError(f"{program} is missing: `make build`, or name another --build-dir")
        listed = subprocess.run([program, "--list-modes"], capture_output=True, text=True, check=True).stdout.split()
        if sorted(listed) != sorted(expected):
            raise ChildError(f"{program} has the modes {listed}, not {list(expected)}: mend PROGRAMS")
        for mode in expected:
            kind = Kind(framework, program, mode)
            found += [kind, Kind(framework, program, mode, limited=True)] if kind.harena else [kind]
    return found
