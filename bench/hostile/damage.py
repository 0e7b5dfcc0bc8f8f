"""Ways to damage a message. Each takes (dice, a message, all messages), and returns the damaged wire and where the
damage is."""

from wire import DELIMITED, END_GROUP, START_GROUP, VARINT, all_fields, replaced, tag, varint

HUGE = ((1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, (1 << 64) - 1)
NUMBERS = (0, 15, 16, 19_000, (1 << 29) - 1, 1 << 29, 1 << 60)
UNKNOWN = 1 << 20  # a number that no type here has
REPEATED_BYTES_MAX = 1 << 14


class Message:
    """An undamaged one, and the method that it is for."""

    def __init__(self, method, wire):
        self.method = method
        self.wire = wire
        self.fields = all_fields(wire)


def flipped_bits(dice, message, _all):
    """A few bits are others."""
    made, at = bytearray(message.wire), 0
    for _ in range(dice.choice((1, 1, 2, 4, 16))):
        at = dice.randrange(len(made))
        made[at] ^= 1 << dice.randrange(8)
    return bytes(made), at


def cut_short(dice, message, _all):
    """The end is missing."""
    at = dice.randrange(len(message.wire))
    return message.wire[:at], at


def inserted(dice, message, new, mended=0.7):
    """Something before a field, or after it. In most cases the lengths around it are made to fit."""
    field = dice.choice(message.fields)
    at = dice.choice((field.begin, field.end))
    inside = field.inside if dice.random() < mended else None
    return replaced(message.wire, inside, at, at, new), at


def early_end(dice, message, _all):
    """Tags that end a message where none may end: 0, and ends of groups that have not begun."""
    number = dice.choice((1, dice.choice(message.fields).number, UNKNOWN))
    stray = dice.choice((b"\0", tag(number, END_GROUP)))
    return inserted(dice, message, stray * dice.randint(1, 17))


def early_end_of_all(dice, message, _all):
    """The same at the outermost level and near the end."""
    stray = dice.choice((b"\0", b"\x0c")) * dice.randint(1, 17)
    outer = [field for field in message.fields if field.inside is None]
    at = dice.choice(outer[-3:]).begin
    return message.wire[:at] + stray + message.wire[at:], at


def wrong_length(dice, message, _all):
    """A length says more or less than there is, or what nobody has."""
    field = dice.choice([f for f in message.fields if f.wire_type == DELIMITED])
    there, left = field.end - field.value, len(message.wire) - field.value
    length = dice.choice((there + dice.randint(1, 20), max(0, there - dice.randint(1, 20)), left, left + 1,
                          dice.choice(HUGE)))
    return message.wire[:field.after_tag] + varint(length) + message.wire[field.value:], field.after_tag


def other_tag(dice, message, _all):
    """A field has another number, or another type."""
    field = dice.choice(message.fields)
    if dice.random() < 0.5:
        new = tag(dice.choice([number for number in (*NUMBERS, dice.randint(1, 20)) if number != field.number]),
                  field.wire_type)
    else:
        new = tag(field.number, (field.wire_type + dice.randint(1, 7)) % 8)
    inside = field.inside if dice.random() < 0.7 else None
    return replaced(message.wire, inside, field.begin, field.after_tag, new), field.begin


def repeated(dice, message, _all):
    """A piece comes again and again, which may be valid."""
    field = dice.choice(message.fields)
    piece = message.wire[field.begin:field.end]
    times = min(dice.choice((1, 2, 17, 3000)), REPEATED_BYTES_MAX // len(piece) + 1)
    return replaced(message.wire, field.inside, field.end, field.end, piece * times), field.end


def long_varint(dice, message, _all):
    """A tag, a length or a number takes ten bytes or more."""
    field = dice.choice(message.fields)
    places = [(field.begin, field.after_tag)]
    if field.wire_type == VARINT:
        places.append((field.value, field.end))
    elif field.wire_type == DELIMITED:
        places.append((field.after_tag, field.value))
    begin, end = dice.choice(places)
    old = message.wire[begin:end]
    filler = bytes([dice.choice((0x80, 0xff))]) * (dice.choice((10, 10, 11, 12, 16, 40)) - len(old) - 1)
    new = old[:-1] + bytes([old[-1] | 0x80]) + filler + bytes([dice.choice((0, 0, 1, 2, 0x7f))])
    return replaced(message.wire, field.inside, begin, end, new), begin


def deep(dice, message, _all):
    """Groups in groups, or messages in messages, as deep as is allowed or deeper."""
    levels = dice.choice((5, 31, 98, 99, 100, 101, 300, 6000))
    number = dice.choice((UNKNOWN, dice.choice(message.fields).number))
    if dice.random() < 0.6:
        new = tag(number, START_GROUP) * levels
        new += tag(number, END_GROUP) * dice.choice((levels, levels, levels - 1, levels + 1, 0))
    else:
        new = b""
        for _ in range(min(levels, 300)):
            new = tag(number, DELIMITED) + varint(len(new)) + new
    return inserted(dice, message, new)


def garbage(dice, message, _all):
    """Random bytes: instead of all, of some, or between others."""
    new = dice.randbytes(dice.choice((1, 3, 16, 200)))
    if dice.random() < 0.2:
        return new, 0
    at = dice.randrange(len(message.wire))
    rest = at + dice.choice((0, len(new)))
    return message.wire[:at] + new + message.wire[rest:], at


def spliced(dice, message, every):
    """A piece of another message, maybe of another type."""
    other = dice.choice(every)
    field = dice.choice(other.fields)
    return inserted(dice, message, other.wire[field.begin:field.end])


KINDS = (flipped_bits, cut_short, early_end, early_end_of_all, wrong_length, other_tag, repeated, long_varint, deep,
         garbage, spliced)


def damaged(dice, message, every):
    """(its name, the wire, where). One kind of damage; once in a while with some bits flipped, or cut short, too."""
    kind = dice.choice(KINDS)
    wire, at = kind(dice, message, every)
    if wire and dice.random() < 0.15:
        made = bytearray(wire[:dice.randrange(len(wire)) + 1] if dice.random() < 0.5 else wire)
        made[dice.randrange(len(made))] ^= 1 << dice.randrange(8)
        wire = bytes(made)
    return kind.__name__, wire, min(at, len(wire))
