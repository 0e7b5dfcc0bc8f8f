"""The demo's servers with their live pages, and load for them."""

import contextlib
import http.client
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from common.child import Child  # noqa: E402
from common.gotool import build, find_go  # noqa: E402

LANGUAGES = ("c++", "go")
METHOD = "/harena.bench.v1.DemoService/Rank"


def server_program(language, build_dir):
    """The demo server of a language, in the mode `codec`."""
    if language == "c++":
        return Path(build_dir) / "bench/demo/harena_demo_server_codec"
    folder = Path(build_dir) / "bench/live/go"
    build(find_go(), folder, ["demo-server"])
    return folder / "demo-server"


class LiveServer:
    """A demo server that has a live page. It ends with this object's stop()."""

    def __init__(self, language, build_dir, token="", address="127.0.0.1:0", options=()):
        self.language = language
        self.token = token
        command = ["env", f"HARENA_LIVE_TOKEN={token}", server_program(language, build_dir),
                   "--mode", "codec", "--live", address, *options]
        self.child = Child(command)
        ready = self.child.answer()
        self.port, self.pid, self.address = ready["port"], ready["pid"], ready["live"]
        self.url = f"http://{self.address}/harena"

    def stop(self):
        """Ends the server."""
        self.child.stop()

    def ask(self, method, path, body=None, token=None, headers=()):
        """One answer of the page: (status, JSON or text, headers)."""
        connection = http.client.HTTPConnection(self.address, timeout=10)
        with contextlib.closing(connection):
            asked = {"Content-Type": "application/json", **dict(headers)}
            if token:
                asked["Authorization"] = f"Bearer {token}"
            connection.request(method, path, None if body is None else json.dumps(body), asked)
            answer = connection.getresponse()
            text = answer.read().decode()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, json.loads(text) if is_json else text, answer.headers

    def status(self):
        """What the page is told."""
        return self.ask("GET", "/harena/api/status")[1]

    def method(self, name=METHOD):
        """One method of it."""
        return next(method for method in self.status()["methods"] if method["name"] == name)


class Load:
    """A loader that sends requests for a while."""

    def __init__(self, build_dir, server, workload, seconds, qps):
        self._process = subprocess.Popen(
            [Path(build_dir) / "bench/demo/harena_demo_loader", "--port", str(server.port),
             "--pid", str(server.pid), "--workload", workload, "--qps", str(qps),
             "--seconds", str(seconds)], stdout=subprocess.DEVNULL)

    def is_running(self):
        """Whether it goes on."""
        return self._process.poll() is None

    def wait(self):
        """Waits for its end. Raises subprocess.CalledProcessError when it failed."""
        if self._process.wait():
            raise subprocess.CalledProcessError(self._process.returncode, self._process.args)

    def stop(self):
        """Ends it."""
        self._process.terminate()
        self._process.wait()
