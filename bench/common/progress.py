"""Telling whoever waits how far a run is."""

import sys
import time


class Progress:
    """One line that is rewritten on a terminal, and plain lines elsewhere."""

    def __init__(self, seconds_total):
        self._start = time.monotonic()
        self._total = seconds_total
        self._terminal = sys.stderr.isatty()

    def step(self, what, _seconds):
        """Says what begins now."""
        elapsed = time.monotonic() - self._start
        line = f"[{elapsed:4.0f} of about {max(self._total, elapsed):.0f} s] {what}"
        if self._terminal:
            print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def end(self):
        """Leaves the line."""
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def say(text):
    """A line that the next one takes the place of on a terminal, and plain lines elsewhere; the
    empty text clears it. For runs whose length nobody knows beforehand."""
    if sys.stderr.isatty():
        print(f"\r{text[:78]:<78}\r", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)
