#!/usr/bin/env python3
"""From packages to a saving that was predicted: `make tour`.

Installs the packages in a clean Debian and builds the README's example there, starts the demo server
with a file of settings that keeps too much, opens its live page, drives load, asks the advisor,
applies its file while the server runs, and compares what was saved with what was predicted. Fails if
a step does. Screenshots, profiles and a page that shows them go into the output folder.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
import pages  # noqa: E402 (the path line above makes it importable)
from browser import open_browser  # noqa: E402
from live_servers import ROOT, LiveServer, Load  # noqa: E402

# What somebody might have written who did not know better: nothing is ever given back.
SETTINGS_BEFORE = """\
version: 1
page_pool: {decay_after: 0s}
"""
BURST_WORKLOAD, BURST_QPS, BURST_SECONDS = "trips", 40, 10
STEADY_WORKLOAD, STEADY_QPS = "ranking_8k", 20
PROFILE_SECONDS = 310  # the advisor wants a timeline of five minutes
SETTLE_SECONDS = 40    # the decay period that it advises, and room for it to happen
TOLERANCE = 0.2


class StepFailed(Exception):
    """A step did not do what it should; the message says what."""


def expect(condition, message):
    """Fails the step unless the condition holds."""
    if not condition:
        raise StepFailed(message)


class Tour:
    """The steps in their order. Each returns what is to be told of it."""

    def __init__(self, options):
        self.options = options
        self.out = options.out
        self.settings = self.out / "harena.yaml"
        self.server = self.steady = self.browser = None
        self.predicted_bytes = 0
        self.told = []

    def run(self):
        """All steps. Raises StepFailed, or what a step's tools raise."""
        self.out.mkdir(parents=True, exist_ok=True)
        try:
            for step in (self.install, self.start, self.burst, self.wait, self.advise, self.apply, self.compare):
                title = step.__doc__.split("\n")[0].rstrip(".")
                print(f"tour: {title} ...", flush=True)
                text = step()
                print(f"      {text}", flush=True)
                self.told.append((title, text, self.shoot(step.__name__)))
        finally:
            self.end()
            pages.write(self.out / "index.html", self.told)

    def install(self):
        """Install the packages in a clean Debian and build the README's example there."""
        packages = sorted(self.options.packages.glob("*.deb"))
        expect(packages, f"no package in {self.options.packages}: `make package` builds them")
        if self.options.no_chroot:
            text = "left out, as --no-chroot says; only the tool was unpacked"
        else:
            self.command("python3", ROOT / "packaging/test/test_packages.py", self.options.packages)
            text = "installed, built with CMake and with pkg-config, one call each, removed"
        root = self.out / "packages"
        tools = next(package for package in packages if package.name.startswith("harena-tools_"))
        self.command("dpkg-deb", "-x", tools, root)
        self.tool = root / "usr/bin/harena"
        return f"{text}; {self.command(self.tool, 'version').strip()}"

    def start(self):
        """Start the demo server with a file of settings, and open its page."""
        self.settings.write_text(SETTINGS_BEFORE, encoding="utf-8")
        self.command(self.tool, "config", "check", self.settings)
        self.server = LiveServer("c++", self.options.build_dir, options=["--config", self.settings])
        self.browser = open_browser()
        self.browser.get(self.server.url)
        return f"the page is at {self.server.url}; free memory is kept for ever (decay_after: 0s)"

    def burst(self):
        """Drive a burst of large requests, and a little load from then on."""
        self.load(BURST_WORKLOAD, BURST_SECONDS, BURST_QPS).wait()
        self.steady = self.load(STEADY_WORKLOAD, PROFILE_SECONDS + 600, STEADY_QPS)
        retained = self.retained_bytes()
        expect(retained > 16 << 20, f"only {mib(retained)} are kept after the burst")
        return f"{mib(retained)} of free memory are kept after it"

    def wait(self):
        """Watch for five minutes, as the advisor takes no shorter timeline."""
        end = time.monotonic() + PROFILE_SECONDS
        while (left := end - time.monotonic()) > 0:
            expect(self.steady.is_running(), "the load has ended")
            print(f"      {left:3.0f} s left, {mib(self.retained_bytes())} kept", flush=True)
            time.sleep(min(left, 30))
        return self.command(self.tool, "top", self.server.address, "--once")

    def advise(self):
        """Record a profile and ask the advisor."""
        profile, advised = self.out / "before.json", self.out / "advised.yaml"
        advised.unlink(missing_ok=True)
        self.command(self.tool, "status", self.server.address, "-o", profile)
        text = self.command(self.tool, "advise", profile, "--write", advised)
        advice = json.loads(self.command(self.tool, "advise", profile, "--json"))["advice"]
        saving = [each for each in advice if each["key"] == "decay_after"]
        expect(saving, f"nothing is advised for decay_after:\n{text}")
        self.predicted_bytes = saving[0]["saved_bytes"]
        expect(self.predicted_bytes > 0, "the advice names no bytes")
        return text

    def apply(self):
        """Apply the advisor's file while the server runs."""
        self.before_bytes = self.retained_bytes()
        self.command(self.tool, "config", "check", self.out / "advised.yaml")
        # As editors and deployments do it: in one step.
        os.replace(self.out / "advised.yaml", self.settings)
        end = time.monotonic() + 10
        while self.server.status()["pools"][0]["decay_after_ms"] == 0:
            expect(time.monotonic() < end, "the server has not taken the file")
            time.sleep(0.2)
        time.sleep(SETTLE_SECONDS)
        return "taken without a restart:\n" + self.settings.read_text(encoding="utf-8")

    def compare(self):
        """Compare what was saved with what was predicted."""
        self.command(self.tool, "status", self.server.address, "-o", self.out / "after.json")
        saved = self.before_bytes - self.retained_bytes()
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

    def load(self, workload, seconds, qps):
        return Load(self.options.build_dir, self.server, workload, seconds, qps)

    def retained_bytes(self):
        return self.server.status()["pools"][0]["bytes_retained"]

    def command(self, *parts):
        """A program's output; it is kept, and shown when the program fails."""
        done = subprocess.run([str(part) for part in parts], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        with open(self.out / "commands.log", "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(str(part) for part in parts)}\n{done.stdout}\n")
        expect(done.returncode == 0, f"{parts[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}")
        return done.stdout


def mib(count):
    """Bytes for people."""
    return f"{count / (1 << 20):.1f} MiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=Path("build/release"))
    parser.add_argument("--packages", type=Path, default=Path("out/packages"))
    parser.add_argument("--out", type=Path, default=Path("out/tour"))
    parser.add_argument("--no-chroot", action="store_true",
                        help="do not try the packages in a clean Debian, which takes root and some minutes")
    tour = Tour(parser.parse_args())
    try:
        tour.run()
    except StepFailed as failure:
        sys.exit(f"tour: FAILED: {failure}")
    print(f"tour: done; {tour.out}/index.html shows it")


if __name__ == "__main__":
    main()
