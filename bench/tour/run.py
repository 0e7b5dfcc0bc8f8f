#!/usr/bin/env python3
"""From packages to a saving that was predicted: `make tour`.

Installs the packages in a clean Debian and builds the README's example there, starts the demo server
with a file of settings that keeps too much, opens its live page, drives load, asks the advisor,
applies its file while the server runs, and compares what was saved with what was predicted. Fails if
a step does. Screenshots, profiles and a page that shows them go into the output folder.

With --quick it takes the checkout's tool instead of the packages, asks for the page without a browser, and
looks at the server ten times a second, so that the advisor has its samples in half a minute.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import grpc

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
import pages  # noqa: E402 (the path line above makes it importable)
from live_servers import ROOT, LiveServer, Load  # noqa: E402

# What somebody might have written who did not know better: nothing is ever given back.
SETTINGS_BEFORE = """\
version: 1
page_pool: {decay_after: 0s}
"""
FEED, FEED_METHOD = ROOT / "testdata/mbta-trip-updates.pb", "/harena.bench.v1.DemoService/BoardFeed"
MESSAGE_BYTES_MAX = 64 << 20  # the demo server's
STEADY_WORKLOAD, STEADY_QPS, STEADY_SECONDS = "ranking_8k", 50, 1800
# What the advisor takes (go/cmd/harena/internal/advise): from how much idle memory on it speaks of it, how many
# samples of a timeline it wants, how many requests.
IDLE_BYTES_LEAST, SAMPLES_LEAST, REQUESTS_LEAST = 16 << 20, 300, 1000
QUICK_SAMPLE_SECONDS = 0.1
TOLERANCE = 0.2
# Only where something hangs: what is waited for comes long before.
PATIENCE_SECONDS, WATCH_SECONDS_MAX = 60, 900


class StepFailed(Exception):
    """A step did not do what it should; the message says what."""


def expect(condition, message):
    """Fails the step unless the condition holds."""
    if not condition:
        raise StepFailed(message)


def wait_until(condition, what, seconds=PATIENCE_SECONDS, every_seconds=0.1):
    """Asks until the condition holds. Fails the step after that many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, f"not within {seconds:.0f} s: {what}")
        time.sleep(every_seconds)


class Tour:
    """The steps in their order. Each returns what is to be told of it."""

    def __init__(self, options):
        self.options = options
        self.out = options.out
        self.settings = self.out / "harena.yaml"
        self.server = self.steady = self.browser = None
        self.samples = []  # with --quick
        self.burst_ended_ms = self.predicted_bytes = self.before_bytes = 0
        self.told = []

    def run(self):
        """All steps. Raises StepFailed, or what a step's tools raise."""
        self.out.mkdir(parents=True, exist_ok=True)
        begin = self.build if self.options.quick else self.install
        try:
            for step in (begin, self.start, self.burst, self.watch, self.advise, self.apply, self.compare):
                title = step.__doc__.split("\n")[0].rstrip(".")
                print(f"tour: {title} ...", flush=True)
                text = step()
                print(f"      {text}", flush=True)
                self.told.append((title, text, self.shoot(step.__name__)))
        finally:
            self.end()
            pages.write(self.out / "index.html", self.told)

    def build(self):
        """Take the tool of this checkout."""
        self.tool = ROOT / "build/harena"
        return f"`make cli` built {self.command(self.tool, 'version').strip()}"

    def install(self):
        """Install the packages in a clean Debian and build the README's example there."""
        packages = sorted(self.options.packages.glob("*.deb"))
        expect(packages, f"no package in {self.options.packages}: `make package` builds them")
        self.command("python3", ROOT / "packaging/test/test_packages.py", self.options.packages)
        root = self.out / "packages"
        tools = next(package for package in packages if package.name.startswith("harena-tools_"))
        self.command("dpkg-deb", "-x", tools, root)
        self.tool = root / "usr/bin/harena"
        return ("installed, built with CMake and with pkg-config, one call each, removed; "
                f"{self.command(self.tool, 'version').strip()}")

    def start(self):
        """Start the demo server with a file of settings, and open its page."""
        self.settings.write_text(SETTINGS_BEFORE, encoding="utf-8")
        self.command(self.tool, "config", "check", self.settings)
        self.server = LiveServer("c++", self.options.build_dir, options=["--config", self.settings])
        if self.options.quick:
            self.fetch_page()
        else:
            from browser import open_browser  # it needs Selenium
            self.browser = open_browser()
            self.browser.get(self.server.url)
        return f"the page is at {self.server.url}; free memory is kept for ever (decay_after: 0s)"

    def fetch_page(self):
        """Asks for the page and for all that it names, as a browser does."""
        page = self.server.ask("GET", "/harena")[1]
        parts = re.findall(r'(?:src|href)="(/harena/[^"]+)"', page)
        expect(parts, f"the page names no part of itself: {page[:200]!r}")
        for part in parts:
            status = self.server.ask("GET", part)[0]
            expect(status == 200, f"{part} of the page is answered with {status}")

    def burst(self):
        """Send a few requests, each twice the last, until much free memory is kept; then a little load."""
        feed, copies = FEED.read_bytes(), 1
        with grpc.insecure_channel(f"127.0.0.1:{self.server.port}",
                                   options=[("grpc.max_receive_message_length", MESSAGE_BYTES_MAX)]) as channel:
            board = channel.unary_unary(FEED_METHOD)
            # So much that the few MiB that threads keep for themselves are little beside it.
            while self.pool()["bytes_retained"] < 4 * IDLE_BYTES_LEAST:
                copies *= 2
                expect(copies * len(feed) <= MESSAGE_BYTES_MAX,
                       f"only {mib(self.pool()['bytes_retained'])} are kept after a request of {copies // 2} feeds")
                board(feed * copies, timeout=PATIENCE_SECONDS)  # protobuf merges what stands one after another
                wait_until(lambda: self.server.method(FEED_METHOD)["scopes"]["live"] == 0,
                           "the request's memory is free")
        largest, pool = self.server.method(FEED_METHOD)["bytes"]["max"], self.pool()
        expect(pool["bytes_retained"] + pool["bytes_thread_cached"] >= largest,
               f"a request took {mib(largest)}, and only {mib(pool['bytes_retained'])} are kept after it")
        self.burst_ended_ms = time.time() * 1000
        self.steady = Load(self.options.build_dir, self.server, STEADY_WORKLOAD, STEADY_SECONDS, STEADY_QPS)
        return (f"the largest request, of {mib(copies * len(feed))}, took {mib(largest)}; "
                f"{mib(pool['bytes_retained'])} of free memory are kept after it")

    def watch(self):
        """Watch until there are the samples and the requests that the advisor takes."""
        wait_until(self.seen_enough, f"{SAMPLES_LEAST} samples and {REQUESTS_LEAST} requests",
                   WATCH_SECONDS_MAX, QUICK_SAMPLE_SECONDS if self.options.quick else 1)
        return self.command(self.tool, "top", self.server.address, "--once")

    def seen_enough(self):
        """Whether the advisor has enough to go by since the burst."""
        expect(self.steady.is_running(), "the load has ended")
        status = self.server.status()
        if self.options.quick:
            self.samples.append(sample(status))
            count = len(self.samples)
        else:
            path = f"/harena/api/timeline?after_ms={self.burst_ended_ms:.0f}"
            count = len(self.server.ask("GET", path)[1]["samples"])
        return count >= SAMPLES_LEAST and sum(method["requests"] for method in status["methods"]) >= REQUESTS_LEAST

    def record(self, path):
        """Has the tool write a profile; with --quick the timeline in it is ours."""
        self.command(self.tool, "status", self.server.address, "-o", path)
        if self.options.quick:
            profile = json.loads(path.read_text(encoding="utf-8"))
            profile["timeline"] = {"interval_ms": int(QUICK_SAMPLE_SECONDS * 1000), "samples": self.samples}
            path.write_text(json.dumps(profile, indent=1), encoding="utf-8")

    def advise(self):
        """Record a profile and ask the advisor."""
        profile, advised = self.out / "before.json", self.out / "advised.yaml"
        advised.unlink(missing_ok=True)
        self.record(profile)
        text = self.command(self.tool, "advise", profile, "--write", advised)
        advice = json.loads(self.command(self.tool, "advise", profile, "--json"))["advice"]
        saving = [each for each in advice if each["key"] == "decay_after"]
        expect(saving, f"nothing is advised for decay_after:\n{text}")
        self.predicted_bytes = saving[0]["saved_bytes"]
        expect(self.predicted_bytes >= IDLE_BYTES_LEAST, f"the advice is to save {mib(self.predicted_bytes)}")
        return text

    def apply(self):
        """Apply the advisor's file while the server runs."""
        self.before_bytes = self.pool()["bytes_retained"]
        self.command(self.tool, "config", "check", self.out / "advised.yaml")
        # As editors and deployments do it: in one step.
        os.replace(self.out / "advised.yaml", self.settings)
        wait_until(lambda: self.pool()["decay_after_ms"] > 0, "the server takes the file")
        return "taken without a restart:\n" + self.settings.read_text(encoding="utf-8")

    def compare(self):
        """Compare what was saved with what was predicted."""
        # What lay idle goes back when the period that was advised has passed; the rest is for slow machines.
        least, seconds = (1 - TOLERANCE) * self.predicted_bytes, 6 * self.pool()["decay_after_ms"] / 1000
        wait_until(lambda: self.saved_bytes() >= least,
                   f"{mib(least)} less is kept than before, as was predicted ({mib(self.predicted_bytes)})", seconds)
        self.record(self.out / "after.json")
        saved = self.saved_bytes()
        text = (f"predicted {mib(self.predicted_bytes)}, saved {mib(saved)}: "
                f"{100 * (saved / self.predicted_bytes - 1):+.1f} %")
        expect(abs(saved / self.predicted_bytes - 1) <= TOLERANCE, text)
        return text

    def end(self):
        """Ends what was started."""
        if self.browser:
            self.browser.quit()
        if self.steady:
            self.steady.stop()
        if self.server:
            self.server.stop()

    def shoot(self, name):
        """A screenshot of the page; None before there is one."""
        if not self.browser:
            return None
        time.sleep(2.5)  # the page asks each second
        self.browser.set_window_size(1280, 1400)
        path = self.out / f"{name}.png"
        self.browser.save_screenshot(str(path))
        return path.name

    def pool(self):
        """The default page pool's counts."""
        return self.server.status()["pools"][0]

    def saved_bytes(self):
        """How much less free memory is kept than before the advice was applied."""
        return self.before_bytes - self.pool()["bytes_retained"]

    def command(self, *parts):
        """A program's output; it is kept, and shown when the program fails."""
        done = subprocess.run([str(part) for part in parts], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        with open(self.out / "commands.log", "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(str(part) for part in parts)}\n{done.stdout}\n")
        expect(done.returncode == 0, f"{parts[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}")
        return done.stdout


def sample(status):
    """A status as a sample of the timeline, without what the advisor does not look at."""
    pool = status["pools"][0]
    return {"at_ms": int(time.time() * 1000), "requests_per_s": 0, "refused_per_s": 0,
            "process_bytes_used": status["process"]["bytes_used"],
            "pool_bytes_in_use": pool["bytes_in_use"], "pool_bytes_retained": pool["bytes_retained"]}


def mib(count):
    """Bytes for people."""
    return f"{count / (1 << 20):.1f} MiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--packages", type=Path, default=Path("out/packages"))
    parser.add_argument("--out", type=Path, default=Path("out/tour"))
    parser.add_argument("--quick", action="store_true",
                        help="no packages, no browser, the samples in half a minute; needs no root")
    tour = Tour(parser.parse_args())
    try:
        tour.run()
    except StepFailed as failure:
        sys.exit(f"tour: FAILED: {failure}")
    print(f"tour: done; {tour.out}/index.html shows it")


if __name__ == "__main__":
    main()
