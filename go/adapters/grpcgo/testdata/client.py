"""A client of another gRPC stack: sends bytes, prints what comes back. Usage: client.py ADDRESS"""

import sys

import grpc

SERVICE = "/harena.test.echo.Echo/"


def same(data):
    return data


def text(value):
    """A Note with `value` as its text (field 1)."""
    data = value.encode()
    length = len(data)
    out = bytearray(b"\x0a")
    while length >= 0x80:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    out.append(length)
    return bytes(out) + data


with grpc.insecure_channel(sys.argv[1]) as channel:
    say = channel.unary_unary(SERVICE + "Say", same, same)
    for i in range(50):
        assert say(text(f"hello {i}"), timeout=10) == text(f"HELLO {i}"), i
    big = "x" * 90_000
    assert say(text(big), timeout=10) == text(big.upper())
    assert say(text(big), timeout=10, compression=grpc.Compression.Gzip) == text(big.upper())

    for request, want in [(text("y" * 150_000), grpc.StatusCode.RESOURCE_EXHAUSTED), (b"\x0a\xff", grpc.StatusCode.INTERNAL)]:
        try:
            say(request, timeout=10)
        except grpc.RpcError as error:
            assert error.code() == want, error
            print(error.details())
        else:
            raise AssertionError(want)

    repeat = channel.unary_stream(SERVICE + "Repeat", same, same)
    # Field 2 is how often.
    assert list(repeat(text("again") + b"\x10\x03", timeout=10)) == [text("AGAIN") + b"\x10\x03"] * 3
    chat = channel.stream_stream(SERVICE + "Chat", same, same)
    assert list(chat((text(f"c{i}") for i in range(20)), timeout=10)) == [text(f"C{i}") for i in range(20)]
print("done")
