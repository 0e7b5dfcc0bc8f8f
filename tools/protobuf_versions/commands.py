"""Runs commands with their output in a log, and says where to read when one fails."""

import subprocess
from pathlib import Path
from typing import Callable

import problem

TAIL_LINES = 15
# (command, log, environment) -> exit code
Runner = Callable[[list, Path, dict], int]


def on_host(command: list, log: Path, environment: dict) -> int:
    with log.open("a", encoding="utf-8") as output:
        output.write(f"+ {' '.join(map(str, command))}\n")
        output.flush()
        return subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment).returncode


def tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:])


def must(runner: Runner, command: list, log: Path, environment: dict, what: str,
         refusal: type = problem.NotBuilt) -> None:
    """Runs it, and says `what` went wrong, with the end of the log."""
    if runner([str(part) for part in command], log, environment) != 0:
        raise refusal(f"{what}; the log is {log}\n{tail(log)}")
