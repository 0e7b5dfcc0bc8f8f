"""Protobuf's wire format: writing it, and finding the fields of what is there."""

from collections import Counter
from dataclasses import dataclass

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
LEVELS_MAX = 12


class NoMessage(Exception):
    """These bytes are no message."""


@dataclass(frozen=True, eq=False)
class Field:
    """Where a field is. Bytes from `begin` are its tag, from `after_tag` its length, where it has one, and from
    `value` to `end` its value."""

    begin: int
    after_tag: int
    value: int
    end: int
    number: int
    wire_type: int
    inside: "Field | None"  # the field whose value is the message around it


def varint(number):
    """A number's wire form."""
    made = bytearray()
    while number > 0x7f:
        made.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes([*made, number])


def tag(number, wire_type):
    """A field's tag."""
    return varint(number << 3 | wire_type)


def delimited(number, body):
    """A field with a length: bytes, a string's too, or a message."""
    body = body.encode() if isinstance(body, str) else body
    return tag(number, DELIMITED) + varint(len(body)) + body


def number_at(wire, at, end):
    """(the varint there, where the next byte is). Raises NoMessage."""
    value = shift = 0
    while at < end and shift < 70:
        value |= (wire[at] & 0x7f) << shift
        shift += 7
        at += 1
        if wire[at - 1] < 0x80:
            return value, at
    raise NoMessage


def fields_of(wire, begin=0, end=None, inside=None):
    """The fields of one message, without those of the messages in it. Raises NoMessage."""
    end = len(wire) if end is None else end
    found = []
    while begin < end:
        key, after_tag = number_at(wire, begin, end)
        number, wire_type = key >> 3, key & 7
        value = after_tag
        if wire_type == VARINT:
            _, after = number_at(wire, value, end)
        elif wire_type == DELIMITED:
            length, value = number_at(wire, after_tag, end)
            after = value + length
        elif wire_type in (FIXED32, FIXED64):
            after = value + (4 if wire_type == FIXED32 else 8)
        else:
            raise NoMessage
        if after > end or number == 0:
            raise NoMessage
        found.append(Field(begin, after_tag, value, after, number, wire_type, inside))
        begin = after
    return found


def all_fields(wire, begin=0, end=None, inside=None, levels=LEVELS_MAX):
    """The fields of all messages. A string that could be a message counts as one. Raises NoMessage when the whole
    is none."""
    found = []
    for field in fields_of(wire, begin, end, inside):
        found.append(field)
        if field.wire_type == DELIMITED and field.end > field.value and levels > 0:
            try:
                found += all_fields(wire, field.value, field.end, field, levels - 1)
            except NoMessage:
                pass  # a string, bytes or packed numbers
    return found


def replaced(wire, inside, begin, end, new):
    """The wire with `new` in place of the bytes from `begin` to `end`. The lengths of the messages around them,
    `inside` and those that it is in, are made to fit."""
    while inside is not None:
        body = wire[inside.value:begin] + new + wire[end:inside.end]
        new = varint(len(body)) + body
        begin, end, inside = inside.after_tag, inside.end, inside.inside
    return wire[:begin] + new + wire[end:]


def thinned(wire, dice, bytes_max):
    """A message of about that size, which is valid where the whole is: of the fields that stand there more than once
    only some that follow each other are left."""
    if len(wire) <= bytes_max:
        return wire
    fields = fields_of(wire)
    times = Counter(field.number for field in fields)
    many = [field for field in fields if times[field.number] > 1]
    left = bytes_max - sum(field.end - field.begin for field in fields if times[field.number] == 1)
    kept = set()
    for field in many[dice.randrange(len(many)):] if many else ():
        left -= field.end - field.begin
        if left < 0 and kept:
            break
        kept.add(field)
    made = b""
    for field in fields:
        if times[field.number] == 1 or field in kept:
            part = wire[field.begin:field.end]
            if len(part) > bytes_max and field.wire_type == DELIMITED:
                part = delimited(field.number, thinned(wire[field.value:field.end], dice, bytes_max))
            made += part
    return made
