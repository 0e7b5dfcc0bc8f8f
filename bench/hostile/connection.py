"""One HTTP/2 connection with many gRPC calls at once, whose DATA frames are cut where the caller wants."""

import contextlib
import socket
from collections import deque
from dataclasses import dataclass, field
from urllib.parse import unquote

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from calls import PATH

WINDOW_BYTES = 1 << 24
READ_BYTES = 1 << 18
ANSWERED, GIVEN_UP = "answered", "given up by us"


@dataclass
class Answer:
    """What became of a call: how it ended, and with ANSWERED gRPC's status, its words and the messages."""

    call: object
    ended: str = ""
    status: int | None = None
    reason: str = ""
    body: bytes = b""


@dataclass
class _Stream:
    answer: Answer
    left: deque
    headers: dict = field(default_factory=dict)
    body: list = field(default_factory=list)


class Connection:
    """Not for use by several threads. Raises OSError when the server cannot be reached, and TimeoutError when it reads
    nothing for so many seconds."""

    def __init__(self, port, seconds):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._h2.initiate_connection()
        self._h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: WINDOW_BYTES})
        self._h2.increment_flow_control_window(WINDOW_BYTES)
        self._streams = {}
        self._ended = []
        self.is_open = True
        self._send()

    def fileno(self):
        """For select()."""
        return self._socket.fileno()

    def close(self):
        """Leaves."""
        self.is_open = False
        self._socket.close()

    def start(self, call):
        """Begins a call."""
        stream = self._h2.get_next_available_stream_id()
        self._h2.send_headers(stream, [
            (":method", "POST"), (":scheme", "http"), (":path", PATH + call.method), (":authority", "localhost"),
            ("te", "trailers"), ("content-type", "application/grpc")])
        self._streams[stream] = _Stream(Answer(call), deque(call.pieces()))
        self._pump()

    def calls(self):
        """Those without an answer."""
        return [stream.answer.call for stream in self._streams.values()]

    def _pump(self):
        """A frame of each stream in turn, as long as the server admits some."""
        moved = True
        while moved:
            moved = False
            for number, stream in list(self._streams.items()):
                if stream.left and self.is_open:
                    moved |= self._frame(number, stream)
        self._send()

    def _frame(self, number, stream):
        piece = stream.left[0]
        room = min(self._h2.local_flow_control_window(number), self._h2.max_outbound_frame_size)
        if piece and room <= 0:
            return False
        stream.left.popleft()
        if len(piece) > room:
            stream.left.appendleft(piece[room:])
        last = not stream.left
        reset = stream.answer.call.reset
        self._h2.send_data(number, piece[:room], end_stream=last and not reset)
        if last and reset:
            self._send()  # so that the server may have begun
            if self.is_open:
                self._h2.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
                self._end(number, GIVEN_UP)
        return True

    def _send(self):
        try:
            self._socket.sendall(self._h2.data_to_send())
        except TimeoutError:
            raise
        except OSError as error:
            self._end_all(f"the connection broke: {error!r}")

    def _end(self, number, ended):
        stream = self._streams.pop(number)
        answer, status = stream.answer, stream.headers.get("grpc-status", "")
        answer.ended = ended
        answer.status = int(status) if status.isdigit() else None
        answer.reason = unquote(stream.headers.get("grpc-message", ""))
        answer.body = b"".join(stream.body)
        self._ended.append(answer)

    def _end_all(self, why):
        self.close()
        for number in list(self._streams):
            self._end(number, why)

    def ended(self):
        """The calls that have ended since this was asked last, as answers."""
        ended, self._ended = self._ended, []
        return ended

    def receive(self):
        """Reads what is there, and goes on sending. When the connection is over, so are all calls."""
        try:
            data = self._socket.recv(READ_BYTES)
            if not data:
                self._end_all("the connection was closed")
                return
            for event in self._h2.receive_data(data):
                self._on(event)
            if self.is_open:
                self._pump()
        except (ConnectionError, h2.exceptions.ProtocolError) as error:
            self._end_all(f"the connection broke: {error!r}")

    def _on(self, event):
        if isinstance(event, h2.events.ConnectionTerminated):
            self._end_all(f"the server said GOAWAY, {event.error_code!r} {event.additional_data!r}")
            return
        if isinstance(event, h2.events.DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        number = getattr(event, "stream_id", None)
        stream = self._streams.get(number)
        if stream is None:
            return
        if isinstance(event, h2.events.DataReceived):
            stream.body.append(event.data)
        elif isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
            stream.headers.update(event.headers)
        elif isinstance(event, h2.events.StreamReset):
            self._end(number, f"the server reset the stream, {event.error_code!r}")
        elif isinstance(event, h2.events.StreamEnded):
            self._end(number, ANSWERED)
            if stream.left:  # it wants no more of the call, and may have said so already
                with contextlib.suppress(h2.exceptions.StreamClosedError):
                    self._h2.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
