"""Clients that do what a server must survive, over baidu_std on plain sockets."""

import random
import socket
import struct

SERVICE, METHOD = b"harena.bench.v1.TermsService", b"Echo"
SECONDS = 60  # machines may stand still for long
# What brpc answers to a request that it cannot parse, or that a limit refuses while it is parsed.
EREQUEST = 1003
# brpc's -max_body_size is 64 MiB.
OVERSIZE_BYTES = 65 << 20
# So many empty groups are 2 MB of wire and far beyond any limit in memory.
BOMB_GROUPS = 1_000_000


class Unexpected(Exception):
    """The server did what it should not; the message says what."""


def varint(number):
    """The wire form of a number."""
    made = bytearray()
    while number > 0x7f:
        made.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes([*made, number])


def field(number, body):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(body)) + body


def frame(payload, claimed_bytes=None):
    """A baidu_std request; its header may claim another size than the body has."""
    meta = field(1, field(1, SERVICE) + field(2, METHOD)) + varint(4 << 3) + varint(1)
    body_bytes = len(meta) + len(payload) if claimed_bytes is None else claimed_bytes
    return b"PRPC" + struct.pack(">II", body_bytes, len(meta)) + meta + payload


def tree(groups):
    """An EchoRequest with a tree of `groups`, each in wire form."""
    return field(2, b"".join(field(1, group) for group in groups))


def ordinary():
    """Some hundred kilobytes."""
    return tree([b"".join(field(2, b"a term that is not short") for _ in range(100))] * 40)


def bomb():
    """Cheap to send and dear to hold."""
    return tree([b""] * BOMB_GROUPS)


def read_exactly(connection, count):
    """Bytes, or what there were when the server closed the connection."""
    made = bytearray()
    while len(made) < count:
        some = connection.recv(min(1 << 16, count - len(made)))
        if not some:
            break
        made += some
    return bytes(made)


def number_at(wire, at):
    """(a varint, where the next byte is)."""
    value = shift = 0
    while True:
        value |= (wire[at] & 0x7f) << shift
        shift += 7
        at += 1
        if wire[at - 1] < 0x80:
            return value, at


def numbers_and_bodies(wire):
    """The fields of a message as {number: value or bytes}."""
    fields, at = {}, 0
    while at < len(wire):
        tag, at = number_at(wire, at)
        value, at = number_at(wire, at)
        if tag & 7 == 2:
            value, at = wire[at:at + value], at + value
        fields[tag >> 3] = value
    return fields


def error_code_of(connection):
    """Reads a reply; its error code, 0 for none."""
    header = read_exactly(connection, 12)
    if len(header) < 12 or header[:4] != b"PRPC":
        raise Unexpected(f"no reply but {header!r}")
    body_bytes, meta_bytes = struct.unpack(">II", header[4:])
    body = read_exactly(connection, body_bytes)
    if len(body) < body_bytes:
        raise Unexpected("the connection ended within a reply")
    response = numbers_and_bodies(body[:meta_bytes]).get(2, b"")
    return numbers_and_bodies(response).get(1, 0)


class RudeClients:
    """Each way to be rude, by its name. `refused` says what the last two must get."""

    def __init__(self, port, seed=1):
        self._port = port
        self._dice = random.Random(seed)
        self._ordinary = frame(ordinary())
        self._bomb = frame(bomb())
        self.counts = {}

    def _connect(self):
        return socket.create_connection(("127.0.0.1", self._port), timeout=SECONDS)

    def _leave(self, connection):
        """Half of them with a reset, as a process does that is killed."""
        if self._dice.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def cut_request(self):
        """Leaves in the middle of its request."""
        with self._connect() as connection:
            connection.sendall(self._ordinary[:self._dice.randrange(1, len(self._ordinary))])
            self._leave(connection)

    def leave_before_reply(self):
        """Sends a request and leaves."""
        with self._connect() as connection:
            connection.sendall(self._ordinary)
            self._leave(connection)

    def leave_within_reply(self):
        """Reads a little of the reply and leaves."""
        with self._connect() as connection:
            connection.sendall(self._ordinary)
            connection.recv(self._dice.randrange(1, 5000))
            self._leave(connection)

    def malformed(self):
        """A request that is no message."""
        self._expect(frame(field(2, b"\x0a\x7f")), EREQUEST)

    def oversize(self):
        """Claims a body beyond brpc's limit: brpc closes the connection."""
        with self._connect() as connection:
            connection.sendall(frame(b"only the beginning", claimed_bytes=OVERSIZE_BYTES))
            if connection.recv(1) != b"":
                raise Unexpected("an oversize request got an answer")

    def over_budget(self):
        """Beyond request_bytes_max: refused, and the connection goes on."""
        self._expect(self._bomb, EREQUEST, self._ordinary)

    def _expect(self, request, code, then=None):
        with self._connect() as connection:
            for wire, wanted in ((request, code), (then, 0)):
                if wire is None:
                    continue
                connection.sendall(wire)
                got = error_code_of(connection)
                if got != wanted:
                    raise Unexpected(f"error code {got} instead of {wanted}")

    def one(self, limited):
        """Somebody is rude. Bombs come only while there is a limit: raises Unexpected."""
        ways = [self.cut_request, self.leave_before_reply, self.leave_within_reply, self.malformed,
                self.oversize]
        if limited:
            ways.append(self.over_budget)
        way = self._dice.choice(ways)
        try:
            way()
        except Unexpected as error:
            raise Unexpected(f"{way.__name__}: {error}") from error
        self.counts[way.__name__] = self.counts.get(way.__name__, 0) + 1
