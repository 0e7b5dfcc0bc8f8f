#!/usr/bin/env python3
"""Runs a demo server with its live page and load, until Ctrl-C or for a time."""

import argparse
import contextlib
import secrets
import time

from live_servers import LANGUAGES, LiveServer, Load

WORKLOADS = (("ranking_mixed", 40), ("vehicles", 20), ("tile", 5))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", default="build/release")
    parser.add_argument("--language", choices=LANGUAGES, default="c++")
    parser.add_argument("--address", default="127.0.0.1:9090", help="of the page; port 0 for any")
    parser.add_argument("--seconds", type=float, default=3600, help="when to end by itself")
    options = parser.parse_args()
    token = secrets.token_hex(16)
    server = LiveServer(options.language, options.build_dir, token, options.address,
                        ["--request-bytes-max", str(64 << 20)])
    loads = [Load(options.build_dir, server, workload, options.seconds, qps)
             for workload, qps in WORKLOADS]
    print(f"\n  {server.url}\n  token for changes: {token}\n\n"
          f"The {options.language} demo server, with load; Ctrl-C ends it, as does the clock after "
          f"{options.seconds:.0f} s.", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        end = time.monotonic() + options.seconds
        while time.monotonic() < end and any(load.is_running() for load in loads):
            time.sleep(0.2)
    for load in loads:
        load.stop()
    server.stop()


if __name__ == "__main__":
    main()
