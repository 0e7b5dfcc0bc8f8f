"""Sends calls to one server over several connections, many at once, and judges each answer."""

import contextlib
import select
import time
from collections import Counter, deque
from dataclasses import dataclass, field

from connection import ANSWERED, Connection
from verdict import Verdict, name_of, wrong

CONNECTIONS = 4
CALLS_EACH = 8
# A process that has crashed may take so long to be gone.
ENDING_SECONDS = 5
RECENT = 16
# Nothing is learnt from more.
CLOSINGS_MAX = 10


class Dead(Exception):
    """The server has ended, or answers no more. `calls` were without an answer, `recent` had theirs just before."""

    def __init__(self, what, calls, recent=()):
        super().__init__(what)
        self.calls, self.recent = list(calls), list(recent)


@dataclass
class Outcome:
    """What a server's sweeps have come to."""

    sent: int = 0
    honest: int = 0
    honest_right: int = 0
    statuses: Counter = field(default_factory=Counter)  # of damaged calls
    wrong: list = field(default_factory=list)  # (what, call)


def answers_of(server, calls, seconds):
    """The answers to calls that are sent one after the other. Raises Dead."""
    answers = []
    with contextlib.closing(Connection(server.port, seconds)) as connection:
        for call in calls:
            connection.start(call)
            while not (found := connection.ended()):
                if not select.select([connection], [], [], seconds)[0]:
                    raise Dead(f"no answer within {seconds} s", [call])
                connection.receive()
            answers += found
    return answers


class Sweep:
    """Calls to one server. It outlives the server, but raises Dead once that is no more."""

    def __init__(self, server, seconds, connections=CONNECTIONS):
        self._server = server  # has port, harena, limited, malformed and has_ended(seconds)
        self._seconds = seconds
        self._wanted = connections
        self._connections = []
        self._started = {}  # {call: when}
        self._closings = 0
        self._recent = deque(maxlen=RECENT)
        self.outcome = Outcome()

    def run(self, calls, stock=None):
        """Sends them all; returns {damaged call: Verdict}. `stock` is what it returned for the stock server."""
        verdicts = {}
        for number, call in enumerate(calls):
            self._start(call, number)
            while len(self._started) >= CALLS_EACH * self._wanted:
                self._wait(verdicts, stock)
        while self._started:
            self._wait(verdicts, stock)
        return verdicts

    def close(self):
        """Ends the connections; the next calls begin with new ones."""
        for connection in self._connections:
            connection.close()
        self._connections = []

    def _start(self, call, number):
        outcome = self.outcome
        outcome.sent += call.answer is None
        outcome.honest += call.answer is not None
        self._started[call] = time.monotonic()
        while len(self._connections) < self._wanted:
            try:
                self._connections.append(Connection(self._server.port, self._seconds))
            except OSError as error:
                ended = self._server.has_ended(ENDING_SECONDS)
                raise self._dead(f"the server {ended or 'cannot be reached'}: {error!r}") from error
        self._guarded(self._connections[number % self._wanted].start, call)

    def _guarded(self, do, *arguments):
        try:
            do(*arguments)
        except TimeoutError as error:
            raise self._dead(f"it has read nothing for {self._seconds} s") from error

    def _wait(self, verdicts, stock):
        if all(connection.is_open for connection in self._connections):
            for connection in select.select(self._connections, [], [], 0.2)[0]:
                self._guarded(connection.receive)
        answers = [answer for connection in self._connections for answer in connection.ended()]
        closed = [connection for connection in self._connections if not connection.is_open]
        if closed:
            ended = self._server.has_ended(ENDING_SECONDS)
            if ended:
                raise self._dead(f"the server {ended}")
            self.outcome.wrong.append(("it has closed a connection", None))
            self._closings += len(closed)
            if self._closings >= CLOSINGS_MAX:
                raise self._dead(f"it has closed {self._closings} connections")
            self._connections = [connection for connection in self._connections if connection.is_open]
        for answer in answers:
            self._judge(answer, verdicts, stock)
        if self._started and time.monotonic() - min(self._started.values()) > self._seconds:
            raise self._dead(f"no answer within {self._seconds} s")

    def _judge(self, answer, verdicts, stock):
        call, outcome = answer.call, self.outcome
        del self._started[call]
        self._recent.append(call)
        what = wrong(answer, self._server, stock and stock.get(call))
        if what:
            outcome.wrong.append((what, call))
        if call.answer is not None:
            outcome.honest_right += not what
            return
        outcome.statuses[name_of(answer)] += 1
        if answer.ended == ANSWERED:
            verdicts[call] = Verdict.of(answer)

    def _dead(self, what):
        self.close()
        return Dead(what, self._started, self._recent)
