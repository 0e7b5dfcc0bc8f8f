"""The Go half of the demo: building the server, describing it."""

import json
import subprocess
from pathlib import Path

from servers import DemoError, modes_of

from common import gotool

PROGRAMS = ("demo-server", "demo-bomb")


class GoPrograms:
    """The built Go programs of the demo."""

    def __init__(self, folder):
        self.server = Path(folder) / "demo-server"
        self.bomb = Path(folder) / "demo-bomb"

    def modes(self):
        """The modes of the Go server, heap first."""
        return modes_of(self.server)

    def versions(self):
        """Names and versions of what the Go server is made of."""
        text = subprocess.run([self.server, "--versions"], capture_output=True, text=True,
                              check=True).stdout
        return json.loads(text)


def prepare(folder):
    """The Go programs, built. Raises gotool.GoMissing when there is no Go, DemoError when they do
    not build."""
    try:
        gotool.build(gotool.find_go(), folder, PROGRAMS)
    except gotool.GoBroken as error:
        raise DemoError(str(error)) from error
    return GoPrograms(folder)
