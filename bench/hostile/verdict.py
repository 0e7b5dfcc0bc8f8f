"""Which answers are right."""

import hashlib
from dataclasses import dataclass

from calls import framed
from connection import ANSWERED, GIVEN_UP

STATUSES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
            "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
            "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")
OK = STATUSES.index("OK")
INVALID_ARGUMENT = STATUSES.index("INVALID_ARGUMENT")
RESOURCE_EXHAUSTED = STATUSES.index("RESOURCE_EXHAUSTED")


def name_of(answer):
    """A call's outcome in a word or a few."""
    if answer.ended != ANSWERED:
        return answer.ended
    if answer.status is None or answer.status >= len(STATUSES):
        return f"no gRPC status but {answer.status}"
    return STATUSES[answer.status]


@dataclass(frozen=True)
class Verdict:
    """What the stock server made of a call. The order of a map's entries is open, so answers are compared by the bytes
    that they consist of, in whatever order."""

    status: int | None
    digest: bytes

    @classmethod
    def of(cls, answer):
        """Of an answer."""
        return cls(answer.status, hashlib.sha256(bytes(sorted(answer.body))).digest())


def wrong_honest(answer):
    """What is wrong with an honest call's answer, or None."""
    if answer.status != OK:
        return f"an honest call was answered {name_of(answer)} {answer.reason!r}"
    if answer.body != framed(answer.call.answer):
        return f"an honest call has a wrong answer: {answer.body.hex()}"
    return None


def wrong(answer, server, stock=None):
    """What is wrong with an answer of `server`, or None. `stock` is the Verdict of the same framework without Harena
    on the same call, where it is known."""
    call, status = answer.call, answer.status
    if answer.ended == GIVEN_UP:
        return None
    if answer.ended != ANSWERED or status is None:
        return f"no answer: {name_of(answer)}"
    if call.answer is not None:
        return wrong_honest(answer)
    if call.refused and status == OK:
        return "a malformed request was served"
    over_limit = server.limited and status == RESOURCE_EXHAUSTED
    if stock is not None and not over_limit:
        if (status == OK) != (stock.status == OK):
            return f"answered {name_of(answer)} {answer.reason!r}, stock {STATUSES[stock.status]}"
        if status == OK and Verdict.of(answer) != stock:
            return "served with another answer than by stock"
    if status == OK or not server.harena:
        return None
    if not answer.reason.strip():
        return f"{name_of(answer)} without a reason"
    if not call.whole:
        return None  # frameworks have many words for bad frames
    expected = server.malformed if server.malformed is not None else stock and stock.status
    if expected is not None and status != expected and not over_limit:
        return f"{name_of(answer)} {answer.reason!r} instead of {STATUSES[expected]}"
    return None
