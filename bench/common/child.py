"""Child processes that answer in lines of JSON and end with their standard input."""

import contextlib
import json
import select
import subprocess
import tempfile

ANSWER_SECONDS = 60


class ChildError(Exception):
    """A child did not do what it should; the message has its last words."""


class Child:
    """One process. It cannot outlive us: it ends when its standard input closes."""

    failure = ChildError

    def __init__(self, command, cwd=None):
        self._command = [str(part) for part in command]
        self._errors = tempfile.TemporaryFile(mode="w+")  # closed by stop()
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._errors, text=True,
                                         cwd=cwd)
        self.pid = self._process.pid
        self.words = ""  # what it wrote to standard error; complete after stop()
        self.exit_code = None

    def say(self, line):
        """Writes a line to it."""
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failed("has ended") from None

    def answer(self, seconds=ANSWER_SECONDS):
        """Its next line."""
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise self._failed("no answer")
        return json.loads(line)

    def _failed(self, what):
        self.stop()
        name = " ".join(self._command[:4])
        return self.failure(f"{name}: {what} (exit code {self.exit_code}). "
                            f"{self.words[-2000:].strip()}")

    def stop(self):
        """Ends it: gracefully, and after ten seconds by force. Returns what it printed last."""
        if self.exit_code is not None:
            return ""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.exit_code = self._process.returncode
        self._errors.seek(0)
        self.words = self._errors.read()
        self._errors.close()
        with self._process.stdout as rest:
            return rest.read()
