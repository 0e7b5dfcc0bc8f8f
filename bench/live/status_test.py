#!/usr/bin/env python3
"""The answers of the live listeners of both languages: one schema, one behaviour."""

import argparse
import json
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path

import jsonschema

from live_servers import LANGUAGES, METHOD, ROOT, LiveServer, Load

SCHEMA = json.loads((ROOT / "testdata/live/status.schema.json").read_text(encoding="utf-8"))
TOKEN = "a-token-of-the-tests"
OPTIONS = argparse.Namespace(build_dir="build/release", languages=list(LANGUAGES))
# What belongs to one language alone, by design.
OWN = {"c++": {"pools", "malformed", "memory", "detached", "detached_live", "detached_oldest_ms", "moved",
               "blocks", "no_codec", "not_reusable", "no_scope", "first_block_bytes", "kept"},
       "go": {"retained", "arenas", "uncovered"}}


def keys_of(value, path=""):
    """Every key of a JSON value, by its path; lists are one place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from keys_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, f"{path}[]")


class EachLanguage(unittest.TestCase):
    """What holds for every listener."""

    servers = {}

    @classmethod
    def setUpClass(cls):
        cls.servers = {language: LiveServer(language, OPTIONS.build_dir, TOKEN)
                       for language in OPTIONS.languages}
        loads = [Load(OPTIONS.build_dir, server, "ranking_8k", 1, 50)
                 for server in cls.servers.values()]
        for load in loads:
            while load.is_running():
                time.sleep(0.05)

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers.values():
            server.stop()

    def each(self):
        for language, server in self.servers.items():
            with self.subTest(language=language):
                yield server

    def change(self, server, settings, method=METHOD):
        body = {"method": method, "settings": settings}
        return server.ask("POST", "/harena/api/settings", body, TOKEN)

    def test_status_follows_the_schema(self):
        for server in self.each():
            self.assertEqual(self.change(server, {"depth_max": 50})[0], 200)
            status = server.status()
            jsonschema.validate(status, SCHEMA)
            self.assertEqual(status["language"], server.language)
            self.assertEqual(status["pid"], server.pid)
            self.assertGreater(server.method()["requests"], 40)
            self.assertGreaterEqual(len(status["changes"]), 1)
            self.assertEqual(sum(b["count"] for b in server.method()["bytes"]["histogram"]),
                             server.method()["scopes"]["ended"])

    def test_changes_by_a_watched_file_are_its_own(self):
        for language in self.servers:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "harena.yaml"
                file.write_text("{version: 1, defaults: {depth_max: 60}}\n", encoding="utf-8")
                server = LiveServer(language, OPTIONS.build_dir, TOKEN, options=["--config", str(file)])
                self.addCleanup(server.stop)
                self.assertEqual(self.change(server, {"depth_max": 50})[0], 200)
                file.write_text("{version: 1, defaults: {depth_max: 70}}\n", encoding="utf-8")
                end = time.monotonic() + 20
                while server.method()["settings"]["depth_max"] != 70 and time.monotonic() < end:
                    time.sleep(0.1)
                changes = [(change["who"], change["from"], change["to"]) for change in server.status()["changes"]
                           if change["method"] == METHOD and change["setting"] == "depth_max"]
                self.assertEqual(changes[-2:], [("page", "60", "50"), ("config", "50", "70")], changes)
                jsonschema.validate(server.status(), SCHEMA)

    def test_the_schema_refuses_what_it_should(self):
        for server in self.each():
            for spoil in (lambda s: s.pop("pid"), lambda s: s.update(extra=1),
                          lambda s: s["methods"][0].update(requests=-1),
                          lambda s: s["methods"][0]["settings"].update(mode="magic"),
                          lambda s: s.update(language="rust")):
                status = server.status()
                spoil(status)
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate(status, SCHEMA)

    def test_both_have_the_same_keys_but_for_their_own(self):
        if len(self.servers) < 2:
            self.skipTest("one language alone")
        keys = {}
        for language, server in self.servers.items():
            self.change(server, {"depth_max": 40})
            own = OWN[language]
            keys[language] = {key for key in keys_of(server.status()) if not own & set(key.replace("[]", "").split("."))}
        self.assertEqual(keys["c++"], keys["go"])
        timelines = [set(keys_of(server.ask("GET", "/harena/api/timeline")[1]))
                     for server in self.servers.values()]
        self.assertEqual({key for key in timelines[0] if "pool_" not in key},
                         {key for key in timelines[1] if "arena_" not in key})

    def test_changes_are_listed_and_undone(self):
        for server in self.each():
            status, answer, _ = self.change(server, {"request_bytes_max": 32 << 20})
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["changes"][0]["to"], str(32 << 20))
            self.assertEqual(server.method()["settings"]["request_bytes_max"], 32 << 20)
            undo = server.ask("POST", "/harena/api/undo", {"id": answer["changes"][0]["id"]}, TOKEN)
            self.assertEqual(undo[0], 200, undo[1])
            self.assertIsNone(server.method()["settings"]["request_bytes_max"])

    def test_what_is_wrong_is_said(self):
        for server in self.each():
            for settings, reason in (({"mode": "magic"}, "want"), ({"depth_max": 0}, "from 1 to 100"),
                                     ({"request_bytes_max": "1GiB"}, "whole number"),
                                     ({"quarantine_one_in": 5}, "while the server runs"), ({}, "nothing to change")):
                status, answer, _ = self.change(server, settings)
                self.assertEqual(status, 400, settings)
                self.assertIn(reason, answer["error"])
            status, answer, _ = self.change(server, {"mode": "heap"}, "/no/method")
            self.assertEqual(status, 400)
            self.assertIn(METHOD, answer["error"])

    def test_who_may_do_what(self):
        for server in self.each():
            body = {"settings": {"depth_max": 9}}
            path = "/harena/api/settings"
            self.assertEqual(server.ask("POST", path, body)[0], 401)
            self.assertEqual(server.ask("POST", path, body, TOKEN + "x")[0], 401)
            self.assertEqual(server.ask("POST", path, body, TOKEN, {"Content-Type": "text/plain"})[0], 415)
            self.assertEqual(server.ask("GET", "/harena/api/status", None, None, {"Host": "evil.example"})[0], 421)
            self.assertEqual(server.ask("PUT", path, body, TOKEN)[0], 405)
            self.assertEqual(server.ask("OPTIONS", path)[0], 405)
            self.assertNotEqual(server.method()["settings"]["depth_max"], 9)

    def test_answers_have_the_same_headers(self):
        names = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cache-Control",
                 "Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy", "Content-Type",
                 "Access-Control-Allow-Origin")
        answers = [[(path, name, server.ask("GET", path)[2].get(name)) for name in names
                    for path in ("/harena", "/harena/app.js", "/harena/api/status", "/harena/none")]
                   for server in self.servers.values()]
        for answer in answers:
            self.assertEqual(answer, answers[0])
            self.assertIn(("/harena", "X-Content-Type-Options", "nosniff"), answer)

    def test_every_file_of_the_page_is_the_same(self):
        folder = ROOT / "go/live/page"
        for server in self.each():
            for file in sorted(folder.rglob("*.*")):
                name = file.relative_to(folder)
                status, text, _ = server.ask("GET", f"/harena/{name}")
                if file.suffix == ".md":
                    self.assertEqual(status, 404)
                else:
                    self.assertEqual(text, file.read_text(encoding="utf-8"), name)

    def test_a_body_that_never_comes_does_not_stop_the_others(self):
        for server in self.each():
            host, port = server.address.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=5) as stuck:
                stuck.sendall(b"POST /harena/api/settings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
                self.assertEqual(server.ask("GET", "/harena")[0], 200)


class ReadOnly(unittest.TestCase):
    """A listener without a token."""

    def test_nothing_can_be_changed(self):
        for language in OPTIONS.languages:
            server = LiveServer(language, OPTIONS.build_dir)
            try:
                self.assertFalse(server.status()["writable"])
                answer = server.ask("POST", "/harena/api/settings", {"settings": {"depth_max": 9}}, TOKEN)
                self.assertEqual(answer[0], 403)
                self.assertIn("HARENA_LIVE_TOKEN", answer[1]["error"])
            finally:
                server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=Path, default=OPTIONS.build_dir)
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.parse_args(namespace=OPTIONS)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
