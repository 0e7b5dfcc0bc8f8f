#!/usr/bin/env python3
"""Talks to conformance_testee in frames whose wire bytes are written by hand.

It knows nothing of protobuf but the wire format, so that it cannot share a mistake with the codec.
Every route (--stock, --open, ...) has to give the same answers.
"""

import argparse
import resource
import subprocess
import sys
import unittest

PROTO2 = b"protobuf_test_messages.proto2.TestAllTypesProto2"
PROTO3 = b"protobuf_test_messages.proto3.TestAllTypesProto3"
# Fields of ConformanceRequest, then of ConformanceResponse, then the values of WireFormat.
WIRE_IN, JSON_IN, FORMAT, TYPE, CATEGORY, JSPB_IN, TEXT_IN, PRINT_UNKNOWN = 1, 2, 3, 4, 5, 7, 8, 9
PARSE_ERROR, RUNTIME_ERROR, SERIALIZE_ERROR, SKIPPED = 1, 2, 6, 5
WIRE_OUT, JSON_OUT, TEXT_OUT = 3, 4, 8
WIRE, JSON, JSPB, TEXT = 1, 2, 3, 4
COMMAND: list[str] = []


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def body(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(4, "little") + content


def request(payload: bytes, source: int = WIRE_IN, output: int = WIRE, message: bytes = PROTO3,
            more: bytes = b"") -> bytes:
    return body(source, payload) + number(FORMAT, output) + body(TYPE, message) + more


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def answers(stream: bytes) -> list[tuple[int, bytes]]:
    """(field, content) of each ConformanceResponse, which has exactly one."""
    found, at = [], 0
    while at < len(stream):
        end = at + 4 + int.from_bytes(stream[at:at + 4], "little")
        tag, at = read_varint(stream, at + 4)
        size, at = read_varint(stream, at)
        assert tag & 7 == 2 and at + size == end <= len(stream), stream.hex()
        found.append((tag >> 3, stream[at:end]))
        at = end
    return found


def run(stream: bytes, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *options], input=stream, capture_output=True, timeout=60,
                          check=False)


class TesteeTest(unittest.TestCase):
    testee = ""

    def ask(self, *requests: bytes) -> list[tuple[int, bytes]]:
        done = run(b"".join(frame(one) for one in requests))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{len(requests)} requests served".encode(), done.stderr)
        got = answers(done.stdout)
        self.assertEqual(len(got), len(requests))
        return got

    def test_wire_comes_back_for_both_messages(self):
        payloads = [
            b"",
            number(1, 7) + body(14, b"short") + body(15, b"\x00\xff bytes \x00"),
            body(14, b"a string that is far too long for any inline buffer"),
            body(18, number(1, 5)) + body(27, body(14, b"down") + body(27, number(1, 1))),
            body(44, b"one") + body(44, b"") + body(44, b"three" * 100),
            body(56, number(1, 3) + number(2, 4)),
            body(69, body(1, b"key") + body(2, b"value" * 10)),
            body(113, b"the chosen one"),
            number(1, 2 ** 64 - 1),  # -1: ten bytes
            number(3000, 1) + body(3001, b"an unknown field"),
        ]
        requests = [request(payload, message=message)
                    for message in (PROTO2, PROTO3) for payload in payloads]
        self.assertEqual(self.ask(*requests), [(WIRE_OUT, payload) for payload in payloads * 2])

    def test_wire_is_put_into_its_normal_form(self):
        backwards = [body(69, body(1, bytes([key])) + body(2, b"value")) for key in b"zyxwvutsrq"]
        cases = [
            # Sent, and what comes back: the last of a singular field counts, of a oneof too.
            (number(1, 1) + number(1, 2), number(1, 2)),
            (number(111, 1) + body(113, b"text"), body(113, b"text")),
            # Fields in the order of their numbers, maps in that of their keys.
            (body(14, b"later") + number(1, 1), number(1, 1) + body(14, b"later")),
            (b"".join(backwards), b"".join(reversed(backwards))),
            # To packed and from packed.
            (number(75, 1) + number(75, 300), body(75, b"\x01\xac\x02")),
            (body(89, b"\x01\x02"), number(89, 1) + number(89, 2)),
            # Two pieces of one sub-message are merged.
            (body(27, number(1, 1)) + body(27, number(2, 2)),
             body(27, number(1, 1) + number(2, 2))),
            # A tag longer than it need be.
            (b"\x88\x00\x05", number(1, 5)),
        ]
        self.assertEqual(self.ask(*(request(sent) for sent, _ in cases)),
                         [(WIRE_OUT, expected) for _, expected in cases])

    def test_every_format_to_every_other(self):
        wire = number(1, 7) + body(14, b"text of more than fifteen bytes")
        shown = {
            WIRE: (WIRE_IN, WIRE_OUT, wire),
            JSON: (JSON_IN, JSON_OUT,
                   b'{"optionalInt32":7,"optionalString":"text of more than fifteen bytes"}'),
            TEXT: (TEXT_IN, TEXT_OUT,
                   b'optional_int32: 7\noptional_string: "text of more than fifteen bytes"\n'),
        }
        pairs = [(source, target) for source in shown for target in shown]
        for message in (PROTO2, PROTO3):
            got = self.ask(*(request(shown[source][2], shown[source][0], target, message)
                             for source, target in pairs))
            self.assertEqual(got, [shown[target][1:] for _, target in pairs])

    def test_unknown_fields_are_ignored_or_printed_as_asked(self):
        ignore = number(CATEGORY, 3)
        self.assertEqual(self.ask(
            request(b'{"nobody":1,"optionalInt32":2}', JSON_IN, more=ignore),
            request(number(3000, 5), output=TEXT),
            request(number(3000, 5), output=TEXT, more=number(PRINT_UNKNOWN, 1)),
        ), [(WIRE_OUT, number(1, 2)), (TEXT_OUT, b""), (TEXT_OUT, b"3000: 5\n")])

    def test_utf8_is_checked_in_proto3_only(self):
        bad = body(14, b"not \xff UTF-8, and longer than an inline buffer")
        got = self.ask(request(bad), request(bad, message=PROTO2), request(body(44, b"\xc0\x80")))
        self.assertEqual([field for field, _ in got], [PARSE_ERROR, WIRE_OUT, PARSE_ERROR])
        self.assertEqual(got[1][1], bad)

    def test_a_payload_cut_anywhere_is_an_error_unless_a_field_ends_there(self):
        fields = [number(1, 300), body(14, b"x" * 40), body(27, number(1, 1) + body(44, b"deep")),
                  body(69, body(1, b"k") + body(2, b"v" * 20)), body(75, b"\x01\xac\x02")]
        payload = b"".join(fields)
        ends = {len(b"".join(fields[:count])) for count in range(len(fields) + 1)}
        got = self.ask(*(request(payload[:size]) for size in range(len(payload) + 1)))
        for size, (field, content) in enumerate(got):
            if size in ends:
                self.assertEqual((field, content), (WIRE_OUT, payload[:size]))
            else:
                self.assertEqual(field, PARSE_ERROR, f"{size} bytes")

    def test_a_hundred_levels_are_read_and_one_more_is_not(self):
        nested = [b""]
        for _ in range(101):
            nested.append(body(27, nested[-1]))
        got = self.ask(request(nested[100]), request(nested[101]))
        self.assertEqual(got[0], (WIRE_OUT, nested[100]))
        self.assertEqual(got[1][0], PARSE_ERROR)

    def test_input_that_is_no_message(self):
        got = self.ask(request(b'{"optionalInt32":"seven"}', JSON_IN), request(b"{", JSON_IN),
                       request(b"optional_int32: seven", TEXT_IN),
                       request(b"\x00"), request(varint(1 << 3 | 4)), request(varint(1 << 3 | 7)))
        self.assertEqual([field for field, _ in got], [PARSE_ERROR] * len(got))

    def test_a_message_that_json_cannot_show_is_a_serialize_error(self):
        of_no_type = body(305, body(1, b"type.googleapis.com/nobody.Knows") + body(2, b"\x08\x01"))
        got = self.ask(request(of_no_type, output=JSON), request(of_no_type))
        self.assertEqual([field for field, _ in got], [SERIALIZE_ERROR, WIRE_OUT])

    def test_requests_that_make_no_sense_are_answered_and_the_next_is_served(self):
        good = request(number(1, 1))
        got = self.ask(
            b"\xff\xff\xff", good,                                   # not a ConformanceRequest
            b"", good,                                               # empty
            request(b"", message=b"nobody.Knows"), good,
            number(FORMAT, WIRE) + body(TYPE, PROTO3), good,         # no payload
            body(WIRE_IN, b"") + body(TYPE, PROTO3), good,           # no output format
            request(b"", output=77), good)
        self.assertEqual([field for field, _ in got], [RUNTIME_ERROR, WIRE_OUT] * 6)
        self.assertIn(b"not a conformance.ConformanceRequest", got[0][1])
        self.assertIn(b"`nobody.Knows`", got[4][1])
        self.assertIn(b"no payload", got[6][1])

    def test_jspb_is_skipped_and_no_failure_is_expected(self):
        got = self.ask(request(b"[]", JSPB_IN), request(b"", output=JSPB),
                       request(b"", message=b"conformance.FailureSet"))
        self.assertEqual([field for field, _ in got], [SKIPPED, SKIPPED, WIRE_OUT])
        self.assertEqual(got[2][1], b"")

    def test_nothing_asked_nothing_answered(self):
        self.assertEqual(self.ask(), [])

    def test_input_that_ends_inside_a_frame(self):
        good = frame(request(number(1, 1)))
        for cut in (good[:1], good[:3], good[:4], good[:-1]):
            done = run(good + cut)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(answers(done.stdout), [(WIRE_OUT, number(1, 1))])
            self.assertIn(b"1 requests served", done.stderr)
            self.assertIn(b"ended in the middle of a frame", done.stderr)

    def test_a_length_that_no_message_has(self):
        done = run(b"\x00\x00\x00\x80" + b"x" * 100)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"more than 2147483647 bytes", done.stderr)

    def test_memory_is_taken_for_what_arrives_only(self):
        done = run(b"\xff\xff\xff\x7f" + b"x" * 100)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"ended in the middle of a frame", done.stderr)
        largest_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(largest_kib, 1 << 20)

    def test_answers_come_one_by_one_however_the_bytes_arrive(self):
        with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, bufsize=0) as testee:
            for value in (1, 2):
                for byte in frame(request(number(1, value))):
                    testee.stdin.write(bytes([byte]))
                expected = frame(body(WIRE_OUT, number(1, value)))
                got = b""
                while len(got) < len(expected):
                    piece = testee.stdout.read(len(expected) - len(got))
                    self.assertTrue(piece, "no whole answer before the next request")
                    got += piece
                self.assertEqual(got, expected)
            testee.stdin.close()
            self.assertEqual(testee.wait(timeout=60), 0)

    def test_a_reader_that_went_away_is_reported(self):
        with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as testee:
            testee.stdout.close()
            testee.stdin.write(frame(request(b"")))
            testee.stdin.close()
            self.assertIn(b"writing an answer", testee.stderr.read())
            self.assertEqual(testee.wait(timeout=60), 1)

    def test_options(self):
        done = run(b"", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"--stock", done.stdout)
        for wrong in ("--wrong", "--chunk-bytes=", "--chunk-bytes=0", "--chunk-bytes=7x"):
            done = run(b"", wrong)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(f"unknown option `{wrong}`".encode(), done.stderr)

    def test_the_programs_own_name_may_come_first(self):
        at = COMMAND.index(self.testee)
        done = subprocess.run([*COMMAND[:at], self.testee, *COMMAND[at:]],
                              input=frame(request(b"")), capture_output=True, timeout=60,
                              check=False)
        self.assertEqual((done.returncode, answers(done.stdout)), (0, [(WIRE_OUT, b"")]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="options", action="append", default=[], metavar="OPTION",
                        help="an option of the program, as in --with=--stock")
    parser.add_argument("command", nargs="+",
                        help="after `--`: the built conformance_testee, or what starts it and it")
    options = parser.parse_args()
    global COMMAND
    COMMAND = options.command + options.options
    TesteeTest.testee = options.command[-1]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(TesteeTest)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
