"""Calls as they go over the wire: honest and damaged ones, cut into DATA frames."""

import struct
from dataclasses import dataclass

from damage import damaged

METHODS = ("Rank", "BoardFeed", "RestyleTile")
PATH = "/harena.bench.v1.DemoService/"
PREFIX_BYTES = 5  # a byte of flags and four of length


@dataclass(frozen=True, eq=False)
class Call:
    """One unary call."""

    method: str
    body: bytes  # all of its DATA
    cuts: tuple  # where one DATA frame ends and the next begins
    kind: str
    answer: bytes | None = None  # of an honest call
    reset: bool = False  # the client resets the stream after this, instead of ending it
    whole: bool = True  # the body is one message with its prefix, whatever the message is
    refused: bool = False  # any answer but an error is wrong

    def pieces(self):
        """What each DATA frame has."""
        edges = (0, *self.cuts, len(self.body))
        return [self.body[begin:end] for begin, end in zip(edges, edges[1:])]

    def __str__(self):
        end = ", then RST_STREAM" if self.reset else ""
        return (f"{self.kind}: {self.method}, {len(self.body)} bytes of DATA{end}: "
                + "|".join(piece.hex() for piece in self.pieces()))


def framed(wire, length=None, flags=0):
    """A message with gRPC's prefix, which may tell lies."""
    return struct.pack(">BI", flags, len(wire) if length is None else length) + wire


def message_in(body):
    """The first message of an answer."""
    return body[PREFIX_BYTES:]


def cut_points(dice, size, at=None):
    """Where a body is cut: near its end, around the damage, or anywhere; now and then into single bytes, or with empty
    frames in between."""
    if size < 2:
        return ()
    if dice.random() < 0.03:
        begin = dice.randrange(size)
        return tuple(range(max(1, begin), min(size, begin + 40)))
    points = set()
    for _ in range(dice.choice((0, 1, 1, 2, 3, 8))):
        around = dice.random()
        if around < 0.4:
            point = size - dice.randint(1, 16)
        elif around < 0.8 and at is not None:
            point = at + dice.randint(-16, 24)
        else:
            point = dice.randrange(size)
        points.add(min(max(point, 1), size - 1))
    return tuple(sorted(points) if dice.random() < 0.95 else sorted([*points, *points]))


def killers():
    """What once ended each C++ server but those of stock gRPC: a message that ends early at its outermost level, with
    that tag in the last bytes of a slice, and another slice behind it. First the two that were found."""
    text = b"\x0a\x1e" + b"a" * 30
    tails = [(3, stray) for stray in (b"\0", b"\x0c")]
    tails += [(times, stray) for times in range(1, 18) for stray in (b"\0", b"\x0c")]
    for times, stray in tails:
        first = text + stray * times
        body = framed(first + b"b" * 40)
        yield Call("Rank", body, (PREFIX_BYTES + len(first),), "killer", refused=True)


def longer_prefix(dice, wire):
    """The message is longer than its DATA."""
    return framed(wire, len(wire) + dice.choice((1, 2, 16, 70_000, (1 << 32) - 1 - len(wire))))


def shorter_prefix(dice, wire):
    """What follows the message is no other one."""
    return framed(wire, max(0, len(wire) - dice.choice((1, 2, 16, len(wire)))))


def several_messages(dice, wire):
    """Where one is awaited."""
    return framed(wire) * dice.choice((2, 3, 20))


def compressed_flag(dice, wire):
    """Compressed by nothing that was named; or flags that nobody knows."""
    return framed(wire, flags=dice.choice((1, 1, 2, 0x80, 0xff)))


def part_of_prefix(dice, _wire):
    """Nothing, or less than a prefix."""
    return framed(b"")[:dice.randrange(PREFIX_BYTES)]


FRAMINGS = (longer_prefix, shorter_prefix, several_messages, compressed_flag, part_of_prefix)


def damaged_call(dice, messages):
    """One of the damages of damage.py in a good frame; or a good message, or a damaged one, in a bad frame; or one
    that is given up in the middle."""
    message = dice.choice(messages)
    kind, wire, at = damaged(dice, message, messages)
    method = message.method if dice.random() < 0.95 else dice.choice(METHODS)
    chance = dice.random()
    if chance < 0.12:
        framing = dice.choice(FRAMINGS)
        if dice.random() < 0.5:
            kind, wire = framing.__name__, message.wire
        else:
            kind = f"{framing.__name__}, {kind}"
        body = framing(dice, wire)
        return Call(method, body, cut_points(dice, len(body)), kind, whole=False)
    body = framed(wire)
    if chance < 0.17:
        body = body[:dice.choice((len(body), dice.randrange(len(body)) + 1))]
        return Call(method, body, cut_points(dice, len(body)), f"reset, {kind}", reset=True, whole=False)
    return Call(method, body, cut_points(dice, len(body), PREFIX_BYTES + at), kind)
