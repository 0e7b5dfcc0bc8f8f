"""Honest calls, with the right answers."""

import struct
from pathlib import Path

from calls import Call, cut_points, framed
from wire import VARINT, delimited, tag, thinned, varint

TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
FEEDS = ("mbta-vehicle-positions.pb", "mbta-trip-updates.pb")
TILES = ("osm-montevideo-12-1410-2472.mvt",)
# Of the real payloads, besides the smaller two as they are.
SIZES = (700, 700, 4_000, 16_000)


def double(number, value):
    """A field with a double."""
    return tag(number, 1) + struct.pack("<d", value)


def doubles(number, values):
    """A packed field."""
    return delimited(number, struct.pack(f"<{len(values)}d", *values))


def integer(number, value):
    """A field with an integer."""
    return tag(number, VARINT) + varint(value)


def integers(number, values):
    """A packed field."""
    return delimited(number, b"".join(map(varint, values)))


class Ranking:
    """A call of Rank and what it must be answered, computed here. Maps have one entry, since their order is open, and
    numbers are eighths, so that sums are exact. No two calls share their texts: nothing of another call can be
    taken for an answer."""

    def __init__(self, dice):
        self._dice = dice
        place = double(1, dice.randint(1, 700) / 8) + double(2, dice.randint(1, 1400) / 8) + delimited(3, self._text())
        request_id, viewer_id = self._text(), self._text()
        context = delimited(3, delimited(1, self._text()) + delimited(2, self._text()))
        self._weights = self._eighths()
        viewer = delimited(1, viewer_id) + delimited(2, "en-GB") + doubles(3, self._weights) + delimited(4, place)
        groups = [self._group(place) for _ in range(dice.randint(1, 3))]
        self.request = (delimited(1, request_id) + delimited(2, viewer) + context
                        + b"".join(delimited(4, wire) for wire, _, _ in groups))
        groups.sort(key=lambda group: -group[2])
        self.answer = (delimited(1, request_id) + delimited(2, viewer_id) + context
                       + b"".join(delimited(4, ranked) for _, ranked, _ in groups))

    def _text(self):
        return self._dice.randbytes(self._dice.choice((4, 8, 16, 30))).hex()

    def _eighths(self):
        return [self._dice.randint(1, 8000) / 8 for _ in range(8)]

    def _group(self, place):
        """(a group, what becomes of it, its best score)"""
        head = delimited(1, self._text()) + delimited(2, delimited(1, self._text()) + delimited(2, self._text()))
        head += delimited(3, delimited(1, self._text()) + integer(2, self._dice.randint(1, 1 << 40)))
        items = [self._item(place) for _ in range(self._dice.randint(1, 6))]
        wire = head + b"".join(delimited(4, item) for item, _, _, _ in items)
        items.sort(key=lambda item: -item[3])
        ranked = head + double(4, items[0][3])
        for position, (_, first, last, score) in enumerate(items, 1):
            ranked += delimited(5, first + double(5, score) + integer(6, position) + last)
        return wire, ranked, items[0][3]

    def _item(self, place):
        """(an item, the parts of it before and after its score and position, its score)"""
        scores = self._eighths()
        names = delimited(1, self._text()) + delimited(2, self._text()) + delimited(3, "https://" + self._text())
        names += double(4, self._dice.randint(1, 9999) / 8)
        origin = delimited(1, self._text()) + integer(2, self._dice.randint(1, 1 << 30))
        tags = [delimited(1, self._text()) + delimited(2, self._text()) + tag(3, 5) + struct.pack("<f", 0.125)
                + delimited(4, origin) for _ in range(self._dice.randint(1, 3))]
        categories = [self._dice.randint(0, 30_000) for _ in range(5)]
        history = [self._dice.randint(0, 2_000_000) for _ in range(9)]
        stock, fingerprint = self._dice.randint(0, 5000), self._dice.randbytes(16)
        wire = (names + b"".join(delimited(5, part) for part in tags) + doubles(6, scores) + integers(7, categories)
                + integers(8, history) + delimited(9, place) + integer(10, stock) + delimited(11, fingerprint))
        terms = [weight * score for weight, score in zip(self._weights, scores)]
        last = (doubles(7, terms) + integers(8, categories) + integers(9, history)
                + b"".join(delimited(10, part) for part in tags) + delimited(11, place) + integer(12, stock)
                + delimited(13, fingerprint))
        return wire, names, last, sum(terms)


def real_payloads(dice):
    """(method, wire) of real feeds and of a real tile: the smaller two as they are, and pieces of all of them."""
    found = []
    for method, names in (("BoardFeed", FEEDS), ("RestyleTile", TILES)):
        for number, name in enumerate(names):
            wire = (TESTDATA / name).read_bytes()
            found += [(method, wire)] if number == 0 else []
            found += [(method, thinned(wire, dice, size)) for size in SIZES]
    return found


def honest_call(dice, known):
    """A call of Rank, or now and then one of `known`: {(method, wire): the right answer}."""
    if known and dice.random() < 0.3:
        smaller = [key for key in known if len(key[1]) < 20_000]
        method, wire = dice.choice(smaller if smaller and dice.random() < 0.9 else list(known))
        answer = known[method, wire]
    else:
        ranking = Ranking(dice)
        method, wire, answer = "Rank", ranking.request, ranking.answer
    body = framed(wire)
    return Call(method, body, cut_points(dice, len(body)), "honest", answer=answer)
