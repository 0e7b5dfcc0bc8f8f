"""The programs that bench/brpc/CMakeLists.txt builds."""

import json
import subprocess
from pathlib import Path

from servers import DemoError, modes_of


class BrpcPrograms:
    """The built programs."""

    def __init__(self, build_dir):
        folder = Path(build_dir) / "bench/brpc"
        self.server = folder / "harena_brpc_server"
        self.server_codec = folder / "harena_brpc_server_codec"
        self.loader = folder / "harena_brpc_loader"
        self.counter = Path(build_dir) / "bench/tools/libharena_alloc_count.so"
        for program in (self.server, self.server_codec, self.loader, self.counter):
            if not program.exists():
                raise DemoError(f"{program} is missing. They are built where brpc is found: see "
                                "docs/brpc.md, then `make bench-brpc`, or name another build with "
                                "--build-dir")

    def server_of(self, cell):
        """The messages of mode codec are other C++ types, so they need a program of their own."""
        return self.server_codec if cell.mode == "codec" else self.server

    def modes(self):
        """The modes of both servers, heap first."""
        return modes_of(self.server) + modes_of(self.server_codec)

    def describe(self):
        """Workloads with their sizes, and versions."""
        text = subprocess.run([self.loader, "--describe"], capture_output=True, text=True,
                              check=True).stdout
        return json.loads(text)
