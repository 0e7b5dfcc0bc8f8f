"""A gRPC server of the tests, which may do what no server should."""

import socket
import threading

import h2.config
import h2.connection
import h2.events

CLOSE, SILENCE, DIE = "close", "silence", "die"


class FakeServer:
    """Answers what `behave(body)` returns: (status, reason, body), or one of CLOSE, for this connection, SILENCE, and
    DIE, for all of them. It keeps the sizes of the DATA frames of each call."""

    def __init__(self, behave, harena=True, limited=False, malformed=3):
        self.harena, self.limited, self.malformed = harena, limited, malformed
        self.frames = {}  # {body: sizes}
        self._behave = behave
        self._dead = ""
        self._clients = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def has_ended(self, _seconds):
        """As servers.Server says it."""
        return self._dead

    def close(self):
        """Ends it and its connections."""
        for one in (self._listener, *self._clients):
            try:
                one.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits there
            except OSError:
                pass
            one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._clients.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        bodies = {}
        try:
            while data := client.recv(1 << 16):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.DataReceived):
                        connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                        bodies.setdefault(event.stream_id, []).append(event.data)
                    elif isinstance(event, h2.events.StreamEnded):
                        if not self._answer(connection, event.stream_id, bodies.pop(event.stream_id, [])):
                            client.shutdown(socket.SHUT_RDWR)
                            return
                client.sendall(connection.data_to_send())
        except OSError:
            pass

    def _answer(self, connection, stream, pieces):
        """Whether the connection goes on."""
        body = b"".join(pieces)
        self.frames[body] = [len(piece) for piece in pieces]
        what = self._behave(body)
        if what == DIE:
            self._dead = "ended with -6: as it was told"
            self.close()
        if what in (DIE, CLOSE):
            return False
        if what != SILENCE:
            status, reason, answer = what
            connection.send_headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
            connection.send_data(stream, answer)
            connection.send_headers(stream, [("grpc-status", str(status)), ("grpc-message", reason)], end_stream=True)
        return True
